//! The content of a file with an expectation.

use std::path::Path;
use std::sync::Arc;

use mapstack::value::{Key, Map, Path as KeyPath, Value};
use mapstack::yaml::{DumpOptions, Limits, Mark, Marks, dump, load_marked};
use mapstack::{Diagnostic, Error, ErrorKind, Place, nearest};

use crate::{edit, files};

/// The form of a file with an expectation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectationForm {
    /// The form in which formulas of the Salt project keep their `mapdata` for each platform: `values:` and
    /// the data below it.
    Mapdata,
    /// The data, and if need be a [`Header`] before it, as a separate document.
    Plain,
    /// As the plain form; the data are the states and managed files of a minion.
    States,
}

/// The description of the run, in the first document of a file in the plain form.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Header {
    /// A file with the minion, from the file's own directory.
    pub minion: Option<String>,
    /// The built-in platform.
    pub platform: Option<String>,
    /// A file with the pillar, from the file's own directory.
    pub pillar: Option<String>,
    /// Facts that are otherwise, by path.
    pub set: Vec<(String, Value)>,
    /// The verb: `data` or `map`.
    pub of: Option<String>,
    /// The variable of `map.jinja`.
    pub variable: Option<String>,
    /// The sls whose states are meant; those of the formula itself without any.
    pub sls: Vec<String>,
}

/// The content of a file with an expectation.
#[derive(Debug, Clone)]
pub struct RecordedExpectation {
    /// The description of the run.
    pub header: Header,
    /// The data.
    pub data: Value,
    form: ExpectationForm,
    /// True if the data is below the key `values`, as all but the oldest files have it.
    has_values: bool,
    shown: String,
    text: Arc<str>,
    marks: Marks,
    /// The text before the data.
    lead: String,
}

/// The key of the data in files of platforms.
pub(crate) const VALUES: &str = "values";

impl RecordedExpectation {
    /// Read a file.
    ///
    /// # Errors
    /// As [`parse`](RecordedExpectation::parse), and a file that cannot be read.
    pub fn read(form: ExpectationForm, file: &Path) -> Result<Self, Error> {
        RecordedExpectation::parse(form, &files::text(file)?, &file.display().to_string())
    }

    /// Read a text; `shown` is what errors call it.
    ///
    /// # Errors
    /// Text that is not YAML, a header with something else in it, and a platform's file without values.
    pub fn parse(form: ExpectationForm, text: &str, shown: &str) -> Result<Self, Error> {
        let text: Arc<str> = text.into();
        let at = |mark: Option<Mark>, message: String| refused(&text, shown, mark, message);
        let load = |text: &str| {
            load_marked(text, &Limits::default()).map_err(|e| at(e.mark(), e.kind().to_string()))
        };
        let (header, data) = match form {
            ExpectationForm::Mapdata => (None, 0),
            ExpectationForm::Plain | ExpectationForm::States => split(&text),
        };
        let (head, body) = (&text[..data], &text[data..]);
        let header = match header {
            None => Header::default(),
            Some(end) => {
                let (value, marks) = load(&text[..end])?;
                Header::read(&value, &marks).map_err(|(mark, message)| at(Some(mark), message))?
            }
        };
        // Lines that are not data keep their numbers.
        let blank: String = head.chars().filter(|c| *c == '\n').collect();
        let (value, marks) = load(&format!("{blank}{body}"))?;
        let data = if form == ExpectationForm::Mapdata {
            leading(&text)
        } else {
            data
        };
        let under = value
            .as_map()
            .filter(|map| form == ExpectationForm::Mapdata && map.len() == 1);
        let under = under.and_then(|map| Some((map.get(VALUES)?.clone(), marks.child(0)?.clone())));
        let has_values = under.is_some();
        let (value, marks) = under.unwrap_or((value, marks));
        if form == ExpectationForm::Mapdata
            && value.as_map().is_none_or(mapstack::value::Map::is_empty)
        {
            let what = if value.is_none() {
                "empty"
            } else {
                value.kind().described()
            };
            return Err(at(
                Some(marks.mark()),
                format!("the file of a platform is {what}; it has `values:` and data below"),
            ));
        }
        let lead = text[..data].to_owned();
        Ok(RecordedExpectation {
            header,
            data: value,
            form,
            has_values,
            shown: shown.into(),
            text,
            marks,
            lead,
        })
    }

    /// The form of the file.
    #[must_use]
    pub fn form(&self) -> ExpectationForm {
        self.form
    }

    /// The text of a file with such data, behind its lead.
    #[must_use]
    pub fn text(form: ExpectationForm, lead: &str, data: &Value) -> String {
        format!("{lead}{}", dumped(form, true, data))
    }

    /// The same file with other data. Only the lines that change are other lines; if the text cannot be edited, all
    /// data is written, and the text before it stays, and so does the way lines end.
    #[must_use]
    pub fn with_data(&self, data: &Value) -> String {
        let edited = edit::edited(
            &self.text,
            &self.data,
            &self.marks,
            data,
            &options(self.form),
        );
        edited
            .filter(|text| self.reads_back(text, data))
            .unwrap_or_else(|| self.rewritten(data))
    }

    /// True if a text says what this one says about the run, and is the file of such data.
    fn reads_back(&self, text: &str, data: &Value) -> bool {
        let read = RecordedExpectation::parse(self.form, text, &self.shown);
        read.is_ok_and(|read| read.header == self.header && edit::is_same_data(&read.data, data))
    }

    fn rewritten(&self, data: &Value) -> String {
        let text = dumped(self.form, self.has_values, data);
        let text = if self.text.contains("\r\n") {
            text.replace('\n', "\r\n")
        } else {
            text
        };
        // A border or a comment can be the last thing in the file.
        let open = !self.lead.is_empty() && !self.lead.ends_with(is_break);
        format!("{}{}{text}", self.lead, if open { "\n" } else { "" })
    }

    /// The data that came out, with the file's own in place of what it cannot say otherwise: the order of
    /// keys, and in the form of platforms a line break at the end of a text, which the state that
    /// writes such files turns into a blank.
    #[must_use]
    pub fn settled(&self, actual: &Value) -> Value {
        self.settle(&self.data, actual)
    }

    fn settle(&self, expected: &Value, actual: &Value) -> Value {
        match (expected, actual) {
            (Value::Map(wanted), Value::Map(map)) => {
                let settled = |(key, value): (&Key, &Value)| {
                    (
                        key.clone(),
                        wanted
                            .get(key)
                            .map_or_else(|| value.clone(), |wanted| self.settle(wanted, value)),
                    )
                };
                map.iter().map(settled).collect::<Map>().into()
            }
            (Value::List(wanted), Value::List(items)) if wanted.len() == items.len() => {
                let same = wanted
                    .iter()
                    .zip(items.iter())
                    .all(|(wanted, item)| self.is_alike(wanted, item));
                if same {
                    expected.clone()
                } else {
                    actual.clone()
                }
            }
            (Value::Str(wanted), Value::Str(text)) if self.form == ExpectationForm::Mapdata => {
                let is_cut = text.ends_with('\n')
                    && wanted
                        .strip_suffix(' ')
                        .is_some_and(|wanted| wanted == text.trim_end_matches('\n'));
                if is_cut {
                    expected.clone()
                } else {
                    actual.clone()
                }
            }
            _ => actual.clone(),
        }
    }

    /// True if two values are the same but for what a file cannot say.
    fn is_alike(&self, expected: &Value, actual: &Value) -> bool {
        match (expected, actual) {
            (Value::Map(wanted), Value::Map(map)) => {
                let same = |(key, value): (&Key, &Value)| {
                    wanted
                        .get(key)
                        .is_some_and(|wanted| self.is_alike(wanted, value))
                };
                wanted.len() == map.len() && map.iter().all(same)
            }
            _ => expected.is_same(&self.settle(expected, actual)),
        }
    }

    /// The place of the value under some keys.
    #[must_use]
    pub fn place(&self, path: &[Key]) -> Option<Place> {
        let keys = KeyPath::from_iter(path.iter().cloned());
        let mark = self.marks.at(&self.data, &keys)?.mark();
        Some(place(&self.text, &self.shown, mark))
    }
}

/// The options for printing data.
fn options(form: ExpectationForm) -> DumpOptions {
    let sorted = form == ExpectationForm::Mapdata;
    DumpOptions {
        sort_keys: sorted,
        sort_ordered: sorted,
        ..DumpOptions::output()
    }
}

fn dumped(form: ExpectationForm, has_values: bool, data: &Value) -> String {
    let options = options(form);
    match form {
        ExpectationForm::Mapdata if has_values => {
            dump(&Map::from_iter([(VALUES, data.clone())]).into(), &options)
        }
        _ => dump(data, &options),
    }
}

fn place(text: &Arc<str>, shown: &str, mark: Mark) -> Place {
    let start = mark.offset(text);
    let end = text[start..]
        .find(['\r', '\n'])
        .map_or(text.len(), |end| start + end);
    Place {
        file: shown.into(),
        source: text.clone(),
        start,
        end,
    }
}

fn refused(text: &Arc<str>, shown: &str, mark: Option<Mark>, message: String) -> Error {
    let mut diagnostic = Diagnostic::warning(ErrorKind::Yaml, message);
    diagnostic.place = Some(place(text, shown, mark.unwrap_or_default()));
    diagnostic.notes.push(
        "this file has the expected result of the formula; delete it to record it again".into(),
    );
    diagnostic.into()
}

/// True for line breaks of YAML.
fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The lines of a text with what ends them.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.find(is_break).map_or(rest.len(), |at| {
            let pair = rest[at..].starts_with("\r\n");
            at + if pair {
                2
            } else {
                rest[at..].chars().next().map_or(0, char::len_utf8)
            }
        });
        let (line, after) = rest.split_at(end);
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}

/// The end of a text's header, if it has one, and the start of its data.
fn split(text: &str) -> (Option<usize>, usize) {
    let is_border = |line: &str| line.trim_end() == "---";
    let mut at = 0;
    let mut significant = false;
    for line in lines(text) {
        let after = at + line.len();
        let plain = line.trim_start_matches('\u{feff}');
        if is_border(plain) {
            if significant {
                return (Some(at), after);
            }
        } else if !plain.trim().is_empty() && !plain.starts_with('#') {
            significant = true;
        }
        at = after;
    }
    (None, leading(text))
}

/// The start of the data in a file without a header: behind comments and `---`.
fn leading(text: &str) -> usize {
    let mut at = 0;
    for line in lines(text) {
        let plain = line.trim_start_matches('\u{feff}').trim_end();
        if !(plain.is_empty() || plain.starts_with('#') || plain == "---") {
            break;
        }
        at += line.len();
    }
    at
}

/// The keys of a header.
const KEYS: [&str; 7] = [
    "minion", "platform", "pillar", "set", "of", "variable", "sls",
];

fn unknown(key: &str) -> String {
    let advice = match nearest(key, KEYS) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("it can have {}", KEYS.join(", ")),
    };
    format!("the document before the data has no `{key}`; {advice}")
}

impl Header {
    /// The text of a header, with the border behind it; nothing if it says nothing.
    #[must_use]
    pub fn text(&self) -> String {
        let mut map = Map::new();
        let texts = [
            ("minion", &self.minion),
            ("platform", &self.platform),
            ("pillar", &self.pillar),
            ("of", &self.of),
        ];
        for (key, text) in texts.into_iter().chain([("variable", &self.variable)]) {
            if let Some(text) = text {
                map.insert(key, text.as_str());
            }
        }
        if !self.set.is_empty() {
            map.insert(
                "set",
                self.set
                    .iter()
                    .map(|(path, value)| (path.as_str(), value.clone()))
                    .collect::<Map>(),
            );
        }
        if !self.sls.is_empty() {
            map.insert(
                "sls",
                self.sls.iter().map(String::as_str).collect::<Value>(),
            );
        }
        match map.is_empty() {
            true => String::new(),
            false => format!("{}---\n", dump(&map.into(), &DumpOptions::output())),
        }
    }

    fn read(value: &Value, marks: &Marks) -> Result<Self, (Mark, String)> {
        let Some(map) = value.as_map() else {
            let what = value.kind().described();
            return Err((
                marks.mark(),
                format!(
                    "the document before the data is {what}, not a mapping of {}",
                    KEYS.join(", ")
                ),
            ));
        };
        let mut header = Header::default();
        for (index, (key, value)) in map.iter().enumerate() {
            let mark = marks.child(index).map(Marks::mark).unwrap_or_default();
            let text = || match value.as_str() {
                Some(text) if !text.is_empty() => Ok(Some(text.to_owned())),
                _ => Err((
                    mark,
                    format!("`{key}` is {}, not a text", value.kind().described()),
                )),
            };
            match key.as_str().unwrap_or_default() {
                "minion" => header.minion = text()?,
                "platform" => header.platform = text()?,
                "pillar" => header.pillar = text()?,
                "variable" => header.variable = text()?,
                "of" => {
                    header.of = text()?.filter(|of| matches!(&**of, "data" | "map"));
                    if header.of.is_none() {
                        return Err((mark, format!("`of` is {value}; it can be data or map")));
                    }
                }
                "sls" => {
                    let one = [value.clone()];
                    let names = value.as_list().unwrap_or(&one).iter();
                    let names = names.map(|name| name.as_str().map(str::to_owned));
                    let names = names.collect::<Option<Vec<String>>>();
                    header.sls = names.ok_or((mark, "`sls` is not a list of names".to_owned()))?;
                }
                "set" => {
                    let facts = value.as_map();
                    let facts = facts.ok_or_else(|| {
                        (
                            mark,
                            "`set` is not a mapping, such as {grains.os: Debian}".into(),
                        )
                    })?;
                    header.set = facts
                        .iter()
                        .map(|(path, value)| (path.to_string(), value.clone()))
                        .collect();
                }
                _ => {
                    let mark = marks.key(index).unwrap_or_default();
                    return Err((mark, unknown(&key.to_string())));
                }
            }
        }
        Ok(header)
    }
}

#[cfg(test)]
mod tests {
    use mapstack::yaml::load;

    use super::*;

    fn recorded(form: ExpectationForm, text: &str) -> RecordedExpectation {
        RecordedExpectation::parse(form, text, "x.yaml").unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "one row for each layout of a file")]
    fn a_file_has_comments_a_header_and_data() {
        for (form, text, header, data, place) in [
            (
                ExpectationForm::Plain,
                "a: {b: 1}\n",
                false,
                "{'a': {'b': 1}}",
                "x.yaml:1:8",
            ),
            (
                ExpectationForm::Plain,
                "# c\n---\na: {b: 1}\n",
                false,
                "{'a': {'b': 1}}",
                "x.yaml:3:8",
            ),
            (
                ExpectationForm::Plain,
                "platform: arch\n---\na: {b: 1}\n",
                true,
                "{'a': {'b': 1}}",
                "x.yaml:3:8",
            ),
            (
                ExpectationForm::Plain,
                "---\nplatform: arch\n---\n\na: {b: 1}\n",
                true,
                "{'a': {'b': 1}}",
                "x.yaml:5:8",
            ),
            (
                ExpectationForm::Plain,
                "\u{feff}platform: arch\r\n---\r\na:\r\n  b: 1\r\n",
                true,
                "{'a': {'b': 1}}",
                "x.yaml:4:6",
            ),
            (
                ExpectationForm::Mapdata,
                "# c\n---\nvalues: {a: {b: 1}}\n",
                false,
                "{'a': {'b': 1}}",
                "x.yaml:3:17",
            ),
            (
                ExpectationForm::Mapdata,
                "a:\n  b: 1\n",
                false,
                "{'a': {'b': 1}}",
                "x.yaml:2:6",
            ),
            (
                ExpectationForm::Mapdata,
                "values: {}\na:\n  b: 1\n",
                false,
                "{'values': {}, 'a': {'b': 1}}",
                "x.yaml:3:6",
            ),
        ] {
            let recorded = recorded(form, text);
            assert_eq!(recorded.header != Header::default(), header, "{text:?}");
            assert_eq!(recorded.data.repr(), data, "{text:?}");
            assert_eq!(
                recorded
                    .place(&["a".into(), "b".into()])
                    .unwrap()
                    .to_string(),
                place,
                "{text:?}"
            );
            assert_eq!(recorded.place(&["a".into(), "c".into()]), None);
            let again = recorded.with_data(&load("{a: {b: 2}}").unwrap());
            let again = self::recorded(form, &again);
            assert_eq!(
                (again.header, again.data.repr()),
                (recorded.header, "{'a': {'b': 2}}".into()),
                "{text:?}"
            );
        }
    }

    #[test]
    fn new_data_stands_on_a_line_of_its_own() {
        for (text, written) in [
            ("minion: m.yaml\n---", "minion: m.yaml\n---\na: 1\n"),
            ("minion: m.yaml\r\n---\r", "minion: m.yaml\r\n---\ra: 1\r\n"),
            ("# c", "# c\na: 1\n"),
            // A comment ends at every line break of YAML, so the text behind one is data.
            ("#\u{2028}b: 2\n", "#\u{2028}a: 1\n"),
            ("# c\rb: 2\n", "# c\ra: 1\n"),
        ] {
            let recorded = recorded(ExpectationForm::Plain, text);
            let again = recorded.with_data(&load("a: 1").unwrap());
            assert_eq!(again, written, "{text:?}");
            assert_eq!(
                self::recorded(ExpectationForm::Plain, &again).data.repr(),
                "{'a': 1}",
                "{text:?}"
            );
        }
    }

    #[test]
    fn values_that_a_file_cannot_represent_are_not_differences() {
        for (form, expected, actual, same) in [
            (ExpectationForm::Mapdata, "{a: 'x '}", "{a: \"x\\n\"}", true),
            (
                ExpectationForm::Mapdata,
                "{a: 'x '}",
                "{a: \"x\\n\\n\"}",
                true,
            ),
            (
                ExpectationForm::Mapdata,
                "{a: ['x ']}",
                "{a: [\"x\\n\"]}",
                true,
            ),
            (ExpectationForm::Mapdata, "{a: 'x'}", "{a: \"x\\n\"}", false),
            (ExpectationForm::Mapdata, "{a: 'x '}", "{a: x}", false),
            (ExpectationForm::Plain, "{a: 'x '}", "{a: \"x\\n\"}", false),
            (
                ExpectationForm::Plain,
                "{a: [{b: 1, c: 2}]}",
                "{a: [{c: 2, b: 1}]}",
                true,
            ),
            (
                ExpectationForm::Plain,
                "{a: [{b: 1, c: 2}]}",
                "{a: [{c: 2, b: 1, d: 3}]}",
                false,
            ),
            (
                ExpectationForm::Plain,
                "{a: [{b: 1}, 1]}",
                "{a: [1, {b: 1}]}",
                false,
            ),
            (ExpectationForm::Plain, "{a: 1}", "{a: 1.0}", false),
            (ExpectationForm::Plain, "{a: 1}", "{a: true}", false),
        ] {
            let recorded = recorded(form, expected);
            let found =
                mapstack_fleet::changes(&recorded.data, &recorded.settled(&load(actual).unwrap()));
            assert_eq!(found.is_empty(), same, "{expected} {actual}");
        }
    }

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let header = Header {
            minion: Some("../m.yaml".into()),
            pillar: Some("p: x.yaml".into()),
            set: vec![
                ("grains.os".into(), "no".into()),
                ("pillar:a.b".into(), 1.into()),
            ],
            of: Some("map".into()),
            variable: Some("ssh".into()),
            ..Header::default()
        };
        let text = RecordedExpectation::text(ExpectationForm::Plain, &header.text(), &1.into());
        assert_eq!(recorded(ExpectationForm::Plain, &text).header, header);
        assert_eq!(Header::default().text(), "");
    }
}
