//! Lines of files around places, without secrets.
//!
//! A line is shown to people who may not see what is in it, so what is hidden is rather too much:
//! the rest of the line behind every name that looks like a secret's, and whatever stands below it;
//! each place that a masked value has; and the text of every masked value wherever else it is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use mapstack::lineage::Spot;
use mapstack::secrets::Secrets;
use mapstack::value::Value;

/// What stands for what is hidden.
const MASK: &str = "••••••";

/// How many lines are shown before and behind.
const AROUND: usize = 3;

/// A text this short says nothing by itself.
const TELLING: usize = 4;

/// The lines that are wanted of files, and what no line may show.
pub struct Excerpts<'s> {
    secrets: &'s Secrets,
    files: BTreeMap<String, Sheet>,
    texts: BTreeSet<String>,
}

struct Sheet {
    text: Arc<str>,
    wanted: BTreeSet<usize>,
    hidden: Vec<Range<usize>>,
}

impl<'s> Excerpts<'s> {
    pub fn new(secrets: &'s Secrets) -> Self {
        Excerpts { secrets, files: BTreeMap::new(), texts: BTreeSet::new() }
    }

    /// A value is a secret: neither its place nor its text may be shown.
    pub fn hide(&mut self, spot: &Spot, value: &Value) {
        self.learn(value);
        if let Spot::File { place, .. } = spot {
            let sheet = self.sheet(&place.file, &place.source);
            let end = token_end(&sheet.text, place.start);
            sheet.hidden.push(place.start..end);
        }
    }

    fn learn(&mut self, value: &Value) {
        match value {
            Value::Map(map) => map.values().for_each(|value| self.learn(value)),
            Value::List(items) => items.iter().for_each(|item| self.learn(item)),
            Value::Tuple(items) => items.iter().for_each(|item| self.learn(item)),
            Value::None | Value::Bool(_) => {}
            scalar => {
                let text = scalar.to_string();
                let pieces = text.lines().map(str::trim).filter(|piece| piece.len() >= TELLING);
                self.texts.extend(pieces.map(String::from));
            }
        }
    }

    /// Show a line and those around it.
    pub fn want(&mut self, file: &str, text: &Arc<str>, line: usize) {
        let wanted = line.saturating_sub(AROUND).max(1)..=line.saturating_add(AROUND);
        self.sheet(file, text).wanted.extend(wanted);
    }

    /// The same for a file of facts, which are shown only where everything is.
    pub fn want_facts(&mut self, file: &str, line: usize) -> bool {
        if !self.secrets.shows_everything() {
            return false;
        }
        let known = self.files.get(file).map(|sheet| sheet.text.clone());
        // What cannot be read again has been told of by its name.
        let is_file = || std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file());
        let read = || is_file().then(|| std::fs::read_to_string(file).ok().map(Arc::from)).flatten();
        match known.or_else(read) {
            Some(text) => {
                self.want(file, &text, line);
                true
            }
            None => false,
        }
    }

    fn sheet(&mut self, file: &str, text: &Arc<str>) -> &mut Sheet {
        self.files.entry(file.into()).or_insert_with(|| Sheet {
            text: text.clone(),
            wanted: BTreeSet::new(),
            hidden: Vec::new(),
        })
    }

    /// The lines that are wanted, by file and number.
    pub fn into_files(self) -> BTreeMap<String, BTreeMap<usize, String>> {
        // Longer ones first: they may have shorter ones inside.
        let mut texts: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        let mut files = BTreeMap::new();
        for (file, sheet) in &self.files {
            let lines = sheet.lines(self.secrets);
            let wanted = sheet.wanted.iter().filter_map(|number| Some((*number, lines.get(number - 1)?)));
            let scrubbed = |line: &String| {
                if self.secrets.shows_everything() {
                    return line.clone();
                }
                let line = self.secrets.scrubbed(line);
                texts.iter().fold(line, |line, text| line.replace(text, MASK))
            };
            let lines: BTreeMap<usize, String> = wanted.map(|(number, line)| (number, scrubbed(line))).collect();
            if !lines.is_empty() {
                files.insert(file.clone(), lines);
            }
        }
        files
    }
}

impl Sheet {
    /// All lines, without what is hidden.
    fn lines(&self, secrets: &Secrets) -> Vec<String> {
        let mut hidden: Vec<&Range<usize>> = self.hidden.iter().collect();
        hidden.sort_by_key(|range| (range.start, range.end));
        let (mut below, mut start, mut lines) = (None, 0, Vec::new());
        for line in self.text.split_inclusive('\n') {
            let own = start..start + line.len();
            let line = line.trim_end_matches(['\n', '\r']);
            let ranges = hidden.iter().filter(|range| range.start < own.end && own.start < range.end);
            let mut shown = String::new();
            let mut at = 0;
            for range in ranges {
                let from = range.start.saturating_sub(own.start).min(line.len());
                let to = range.end.saturating_sub(own.start).min(line.len());
                if let Some(kept) = line.get(at..from.max(at)).filter(|_| to > at) {
                    shown.push_str(kept);
                    shown.push_str(MASK);
                    at = to;
                }
            }
            shown.push_str(line.get(at..).unwrap_or_default());
            lines.push(if secrets.shows_everything() { line.to_owned() } else { named(&shown, &mut below, secrets) });
            start = own.end;
        }
        lines
    }
}

/// A line without what stands behind the name of a secret, or below one: `below` is how far the line
/// with the name was indented.
fn named(line: &str, below: &mut Option<usize>, secrets: &Secrets) -> String {
    let inside = line.trim_start();
    let indent = line.len() - inside.len();
    if let Some(above) = *below {
        if inside.is_empty() {
            return String::new();
        }
        if indent > above || (indent == above && inside.starts_with('-')) {
            return format!("{}{MASK}", &line[..indent]);
        }
        *below = None;
    }
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut from = 0;
    for word in line.split(|c| !is_part(c)) {
        let end = from + word.len();
        if !word.is_empty() && secrets.is_secret_key(word) {
            *below = Some(indent);
            let rest = line.get(end..).unwrap_or_default();
            let kept = rest.len()
                - rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '=' | '"' | '\'')).len();
            return match rest.len() == kept {
                true => line.to_owned(),
                false => format!("{}{MASK}", line.get(..end + kept).unwrap_or_default()),
            };
        }
        from = end + line.get(end..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    }
    line.to_owned()
}

/// Where the text ends that begins at a byte: an expression or a tag, a quotation, or else the line with
/// all that is indented deeper behind it.
fn token_end(text: &str, start: usize) -> usize {
    let Some(rest) = text.get(start..) else { return text.len() };
    let behind = |end: &str, from: usize| {
        rest.get(from..).and_then(|inside| inside.find(end)).map_or(text.len(), |at| start + from + at + end.len())
    };
    let first = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let depth = |line: &str| line.len() - line.trim_start().len();
    let indent = depth(&text[first..]).min(start - first);
    let lines = || {
        let mut end = start;
        for (number, line) in rest.split_inclusive('\n').enumerate() {
            if number > 0 && !line.trim().is_empty() && depth(line) <= indent {
                break;
            }
            end += line.len();
        }
        end
    };
    match rest.get(..2) {
        Some("{{") => behind("}}", 2),
        Some("{%") => behind("%}", 2),
        _ if rest.starts_with('"') => behind("\"", 1).max(lines()),
        _ if rest.starts_with('\'') => behind("'", 1).max(lines()),
        _ => lines(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_or_below_the_name_of_a_secret_is_not_shown() {
        let secrets = Secrets::new(b"x");
        for (text, expected) in [
            ("a: 1\npassword: x y\nb: 2", "a: 1\npassword: ••••••\nb: 2"),
            ("db_password:\n  one: x\n  two:\n    - y\nb: 2", "db_password:\n  ••••••\n  ••••••\n    ••••••\nb: 2"),
            ("tokens:\n- x\n- y\nb: 2", "tokens:\n••••••\n••••••\nb: 2"),
            ("a: {port: 1, api_key: 'x', b: 2}", "a: {port: 1, api_key: '••••••"),
            ("{% set secret = 'x' %}", "{% set secret = '••••••"),
            ("pem_passphrase: |\n  x\n\n  y\nb: 2", "pem_passphrase: ••••••\n  ••••••\n\n  ••••••\nb: 2"),
            ("Admin_Password: x", "Admin_Password: ••••••"),
            ("key: value", "key: value"),
        ] {
            let sheet = Sheet { text: text.into(), wanted: BTreeSet::new(), hidden: Vec::new() };
            assert_eq!(sheet.lines(&secrets).join("\n"), expected, "{text}");
            let shown = sheet.lines(&Secrets::new(b"x").shown_anyway(true)).join("\n");
            assert_eq!(shown, text);
        }
    }

    #[test]
    fn places_of_masked_values_are_not_shown_wherever_they_end() {
        for (text, at, expected) in [
            ("a: x\nb: 2", 3, "a: ••••••\nb: 2"),
            ("a: >-\n  x\n  y\nb: 2", 3, "a: ••••••\n••••••\n••••••\nb: 2"),
            ("l:\n- x\n- b", 5, "l:\n- ••••••\n- b"),
            ("a: \"x\ny\"\nb: 2", 3, "a: ••••••\n••••••\nb: 2"),
            ("a: p{{ b }}q\nb: 2", 4, "a: p••••••q\nb: 2"),
            ("{% do f({\n'a': 'x'}) %}\nb", 0, "••••••\n••••••\nb"),
            ("a: x", 99, "a: x"),
        ] {
            let end = token_end(text, at);
            let sheet =
                Sheet { text: text.into(), wanted: BTreeSet::new(), hidden: std::iter::once(at..end).collect() };
            assert_eq!(sheet.lines(&Secrets::new(b"x")).join("\n"), expected, "{text}");
        }
    }
}
