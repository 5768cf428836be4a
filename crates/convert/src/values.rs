//! YAML texts of layers.

use mapstack::value::Value;
use mapstack::yaml::{DumpOptions, dump};

/// The lines that a new layer begins with.
pub(crate) const HEADER: &str = "# -*- coding: utf-8 -*-\n# vim: ft=yaml\n";

/// A value as lines of YAML, lists indented below their keys.
pub(crate) fn lines_of(value: &Value) -> String {
    dump(value, &DumpOptions::output())
}

/// Lines with this many blanks before each that is not empty.
pub(crate) fn indented(text: &str, by: usize) -> String {
    let pad = " ".repeat(by);
    let line = |line: &str| match line.trim().is_empty() {
        true => "\n".to_owned(),
        false => format!("{pad}{line}\n"),
    };
    text.lines().map(line).collect()
}

/// Lines without the blanks that all of them begin with.
pub(crate) fn dedented(text: &str) -> String {
    let indent = |line: &&str| line.len() - line.trim_start_matches(' ').len();
    let is_full = |line: &&str| !line.trim().is_empty();
    // A comment may stand further to the left than what it is about.
    let is_data = |line: &&str| is_full(line) && !line.trim_start().starts_with('#');
    let data = text.lines().filter(is_data).map(|line| indent(&line));
    let common = data.min().unwrap_or_else(|| {
        let all = text.lines().filter(is_full).map(|line| indent(&line));
        all.min().unwrap_or(0)
    });
    let line = |line: &str| {
        let cut = common.min(indent(&line));
        format!("{}\n", line[cut..].trim_end())
    };
    text.lines().map(line).collect()
}

/// A text without the empty lines around it.
pub(crate) fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let is_full = |line: &&str| !line.trim().is_empty();
    let first = lines.iter().position(&is_full);
    let last = lines.iter().rposition(is_full);
    match (first, last) {
        (Some(first), Some(last)) => lines[first..=last].join("\n") + "\n",
        _ => String::new(),
    }
}
