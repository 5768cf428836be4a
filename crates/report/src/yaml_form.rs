//! Values for people: YAML on one line, and changes line by line.

use mapstack::secrets::Redacted;
use mapstack::value::{Value, json};
use mapstack::yaml::{DumpOptions, dump};
use similar::{ChangeTag, group_diff_ops};

use crate::line_diff::steps;

/// The number of lines that are printed of a change.
const MAX_LINES: usize = 60;
/// Unchanged lines before and after what changes.
const CONTEXT: usize = 2;
/// Values with more lines are not compared line by line.
const MAX_COMPARED: usize = 20_000;

/// A value on one line.
///
/// ```
/// use mapstack::secrets::Secrets;
/// use mapstack_report::yaml_form::inline;
/// let shown = |text: &str| {
///     let value = mapstack::yaml::load(text).unwrap();
///     inline(&Secrets::without_digests().redact_value(&[], &value, &|_| false))
/// };
/// assert_eq!(shown("yes"), "true");
/// assert_eq!(shown("'22'"), "'22'");
/// assert_eq!(shown("{b: [1, x], password: y}"), "{b: [1, x], password: <secret>}");
/// assert_eq!(shown("\"two\\nlines\""), "\"two\\nlines\"");
/// ```
pub fn inline(value: &Redacted<Value>) -> String {
    flow(value)
}

/// Data on one line.
pub(crate) fn flow(value: &Value) -> String {
    let line = dump(value, &DumpOptions::line());
    let line = line.strip_suffix('\n').unwrap_or(&line);
    if !line.contains('\n') {
        return line.into();
    }
    // A text of several lines: JSON escapes the line breaks, and JSON is YAML.
    let options = json::DumpOptions {
        ensure_ascii: false,
        ..json::DumpOptions::default()
    };
    json::dumps(value, &options).unwrap_or_else(|_| value.repr())
}

/// The kind of a line in a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// An unchanged line.
    Same,
    /// A removed line.
    Gone,
    /// A new line.
    New,
    /// A remark that lines are left out.
    Omitted,
}

impl Sign {
    /// The first character of the line in a unified diff.
    pub fn as_char(self) -> char {
        match self {
            Sign::Same | Sign::Omitted => ' ',
            Sign::Gone => '-',
            Sign::New => '+',
        }
    }
}

/// A line of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlChangeLine {
    /// Its kind.
    pub sign: Sign,
    /// YAML, or the number of lines that are left out.
    pub text: String,
    /// True if no other line of its sign follows.
    pub is_last: bool,
    /// The number of the line, from 0, before or now.
    pub number: Option<usize>,
    /// The places that it comes from, if they are shown.
    pub from: String,
}

/// The removed and new lines of a change: whole values if they fit on a line, or else the lines of their
/// YAML.
///
/// ```
/// use mapstack::secrets::Secrets;
/// use mapstack_report::yaml_form::lines;
/// let value = |text: &str| {
///     let value = mapstack::yaml::load(text).unwrap();
///     Secrets::without_digests().redact_value(&[], &value, &|_| false)
/// };
/// let shown = |old: &str, new: &str| {
///     let lines = lines(Some(&value(old)), Some(&value(new)));
///     let shown = lines.iter().map(|line| format!("{} {}\n", line.sign.as_char(), line.text));
///     shown.collect::<String>()
/// };
/// assert_eq!(shown("22", "'22'"), "- 22\n+ '22'\n");
/// assert_eq!(shown("[a, b]", "[a, c]"), "  - a\n- - b\n+ - c\n");
/// ```
pub fn lines(old: Option<&Redacted<Value>>, new: Option<&Redacted<Value>>) -> Vec<YamlChangeLine> {
    let [before, after] = [old, new].map(|value| value.map_or_else(Vec::new, block));
    let mut lines = match before.len().max(after.len()) {
        // Different data can have one YAML: a tuple is printed as a list.
        _ if before == after => whole(vec![repr(old)], vec![repr(new)]),
        0..=MAX_COMPARED => compared(&before, &after),
        _ => whole(before, after),
    };
    limit(&mut lines);
    for sign in [Sign::Gone, Sign::New] {
        if let Some(last) = lines.iter_mut().rfind(|line| line.sign == sign) {
            last.is_last = true;
        }
    }
    lines
}

/// The removed and new lines of a text, at most `most` of them, or the usual number.
pub(crate) fn text_lines(
    old: Option<&str>,
    new: Option<&str>,
    most: Option<usize>,
) -> Vec<YamlChangeLine> {
    let split = |text: Option<&str>| -> Vec<String> {
        let text = text.unwrap_or_default();
        let whole = text.strip_suffix('\n').unwrap_or(text);
        let lines = (!text.is_empty()).then(|| whole.split('\n'));
        lines.into_iter().flatten().map(str::to_owned).collect()
    };
    let (before, after) = (split(old), split(new));
    let mut lines = match before.len().max(after.len()) {
        _ if before == after => Vec::new(),
        0..=MAX_COMPARED => compared(&before, &after),
        _ => whole(before, after),
    };
    let ends = |text: Option<&str>| text.is_none_or(|text| text.is_empty() || text.ends_with('\n'));
    match most {
        Some(most) => cut(&mut lines, most, |line| {
            matches!(line.sign, Sign::Gone | Sign::New)
        }),
        None => limit(&mut lines),
    }
    match (ends(old), ends(new)) {
        (true, false) => lines.push(line(Sign::New, "(no line break at the end)")),
        (false, true) => lines.push(line(Sign::Gone, "(no line break at the end)")),
        _ if lines.is_empty() => lines.push(note("an empty text".into())),
        _ => {}
    }
    lines
}

/// A remark in place of lines.
pub(crate) fn note(text: String) -> YamlChangeLine {
    line(Sign::Omitted, text)
}

/// A line of a text.
pub(crate) fn line(sign: Sign, text: impl Into<String>) -> YamlChangeLine {
    YamlChangeLine {
        sign,
        text: text.into(),
        is_last: false,
        number: None,
        from: String::new(),
    }
}

/// The lines of a value.
fn block(value: &Redacted<Value>) -> Vec<String> {
    let text = dump(value, &DumpOptions::lines());
    text.lines().map(String::from).collect()
}

fn repr(value: Option<&Redacted<Value>>) -> String {
    value.map_or_else(String::new, |value| value.repr())
}

fn whole(before: Vec<String>, after: Vec<String>) -> Vec<YamlChangeLine> {
    let numbered = |sign: Sign, lines: Vec<String>| {
        let lines = lines.into_iter().enumerate();
        let lines = lines.map(move |(number, text)| YamlChangeLine {
            number: Some(number),
            ..line(sign, text)
        });
        lines.collect::<Vec<_>>()
    };
    [numbered(Sign::Gone, before), numbered(Sign::New, after)].concat()
}

fn compared(before: &[String], after: &[String]) -> Vec<YamlChangeLine> {
    let [before, after] = [before, after].map(|lines| lines.iter().map(String::as_str));
    let (before, after): (Vec<&str>, Vec<&str>) = (before.collect(), after.collect());
    let (mut lines, mut next) = (Vec::new(), 0);
    for group in group_diff_ops(steps(&before, &after), CONTEXT) {
        let start = group.first().map_or(next, |op| op.old_range().start);
        omitted(start.saturating_sub(next), "unchanged ", &mut lines);
        for change in group.iter().flat_map(|op| op.iter_changes(&before, &after)) {
            let (sign, number) = match change.tag() {
                ChangeTag::Equal => (Sign::Same, None),
                ChangeTag::Delete => (Sign::Gone, change.old_index()),
                ChangeTag::Insert => (Sign::New, change.new_index()),
            };
            lines.push(YamlChangeLine {
                number,
                ..line(sign, change.value())
            });
        }
        next = group.last().map_or(next, |op| op.old_range().end);
    }
    omitted(before.len().saturating_sub(next), "unchanged ", &mut lines);
    lines
}

fn omitted(n: usize, what: &str, lines: &mut Vec<YamlChangeLine>) {
    let plural = if n == 1 { "" } else { "s" };
    if n > 0 {
        lines.push(line(Sign::Omitted, format!("… {n} {what}line{plural}")));
    }
}

/// Leave out lines beyond [`MAX_LINES`]. Some removed and some new lines always stay.
fn limit(lines: &mut Vec<YamlChangeLine>) {
    if lines.len() <= MAX_LINES {
        return;
    }
    let is_change = |line: &YamlChangeLine| matches!(line.sign, Sign::Gone | Sign::New);
    let gone = lines.iter().filter(|line| line.sign == Sign::Gone).count();
    // A long removed block would hide the new lines.
    let split = lines.iter().take_while(|line| line.sign != Sign::New);
    let (split, half) = (split.count(), MAX_LINES / 2);
    if gone > half && split > half && split < lines.len() {
        let tail = lines.split_off(split);
        cut(lines, half, is_change);
        let mut tail = tail;
        cut(&mut tail, half, is_change);
        lines.append(&mut tail);
    } else {
        cut(lines, MAX_LINES, is_change);
    }
}

fn cut(lines: &mut Vec<YamlChangeLine>, most: usize, is_change: impl Fn(&YamlChangeLine) -> bool) {
    if lines.len() <= most {
        return;
    }
    let rest = lines.split_off(most);
    let more = rest.iter().filter(|line| is_change(line)).count();
    omitted(more, "more ", lines);
}

#[cfg(test)]
mod tests {
    use mapstack::secrets::Secrets;
    use mapstack::yaml::load;

    use super::*;

    fn shown(old: Option<&Value>, new: Option<&Value>) -> String {
        let secrets = Secrets::without_digests();
        let [old, new] =
            [old, new].map(|value| value.map(|value| secrets.redact_value(&[], value, &|_| false)));
        let mut text = String::new();
        for line in lines(old.as_ref(), new.as_ref()) {
            let last = if line.is_last { "  <" } else { "" };
            text.push_str(&format!("{} {}{last}\n", line.sign.as_char(), line.text));
        }
        text
    }

    #[test]
    fn mappings_and_lists_are_compared_by_their_lines() {
        let old = "[{name: a, port: 1, up: yes}, {name: b, port: 2}, c, d, e, f, g]";
        let new = "[{name: a, port: 1, up: no}, {name: b, port: 2}, c, d, e, f, x, y]";
        assert_eq!(
            shown(Some(&load(old).unwrap()), Some(&load(new).unwrap())),
            [
                "  - name: a",
                "    port: 1",
                "-   up: true",
                "+   up: false",
                "  - name: b",
                "    port: 2",
                "  … 2 unchanged lines",
                "  - e",
                "  - f",
                "- - g  <",
                "+ - x",
                "+ - y  <",
                ""
            ]
            .join("\n")
        );
        let added = load("{deploy: {uid: 1, groups: [x]}}").unwrap();
        assert_eq!(
            shown(None, Some(&added)),
            "+ deploy:\n+   uid: 1\n+   groups:\n+   - x  <\n"
        );
    }

    #[test]
    fn texts_of_several_lines_are_compared_by_these() {
        let text = |middle: &str| Value::from(format!("one\n{middle}\nthree\n"));
        assert_eq!(
            shown(Some(&text("two")), Some(&text("2"))),
            "  |\n    one\n-   two  <\n+   2  <\n    three\n"
        );
    }

    #[test]
    fn a_change_is_of_bounded_length_and_says_what_is_left_out() {
        let list = |from: i64, to: i64| (from..to).map(Value::from).collect::<Value>();
        let text = shown(Some(&list(0, 500)), Some(&list(500, 1000)));
        assert_eq!(text.lines().count(), MAX_LINES + 2, "{text}");
        assert!(
            text.contains("- - 29  <\n  … 470 more lines\n+ - 500\n"),
            "{text}"
        );
        assert!(text.ends_with("+ - 529  <\n  … 470 more lines\n"), "{text}");
        let added = shown(None, Some(&list(0, 100)));
        assert!(added.ends_with("+ - 59  <\n  … 40 more lines\n"), "{added}");
        let large = shown(Some(&list(0, 30_000)), Some(&list(1, 30_000)));
        assert_eq!(large.lines().count(), MAX_LINES + 2);
    }

    #[test]
    fn different_data_never_looks_unchanged() {
        let list = Value::from_iter(["a"]);
        let tuple = Value::Tuple(vec![Value::from("a")].into());
        assert_eq!(
            shown(Some(&list), Some(&tuple)),
            "- ['a']  <\n+ ('a',)  <\n"
        );
        assert_eq!(
            shown(Some(&Value::None), Some(&"null".into())),
            "- null  <\n+ 'null'  <\n"
        );
        assert_eq!(shown(None, Some(&"".into())), "+ ''  <\n");
    }
}
