//! Accidents in a text: the markers of a merge conflict, characters that cannot be seen, and keys without
//! the blank behind their `:`.

use std::collections::HashSet;

use mapstack::value::{Value, is_printable};
use mapstack::{Place, named, yaml};

use crate::Rule;
use crate::document::{Document, Scalar, SourceFile};
use crate::finding::Finding;
use crate::subject::FormulaSubject;

pub(crate) fn check(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    let mut found = accidents(subject.files.values().map(|file| &**file));
    found.extend(joined(&subject.documents));
    let states = subject
        .files
        .values()
        .filter(|file| file.name().ends_with(".sls"));
    found.extend(states.flat_map(|file| joined_arguments(file)));
    found
}

/// Markers of merge conflicts in files, and characters that cannot be seen.
///
/// ```
/// use mapstack_lint::{Rule, SourceFile, accidents};
/// let of = |text: &str| accidents([&SourceFile::new("a.sls", "a.sls", text)]);
/// assert_eq!(of("<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> b\n")[0].rule, Rule::ConflictMarker);
/// assert_eq!(of("id\u{200b}: 1\n")[0].rule, Rule::InvisibleCharacter);
/// assert!(of("a: 1\n").is_empty());
/// ```
#[must_use]
pub fn accidents<'f>(files: impl IntoIterator<Item = &'f SourceFile>) -> Vec<Finding> {
    let is_prose = |file: &&SourceFile| {
        let name = file.name().to_lowercase();
        [".md", ".rst", ".txt"]
            .iter()
            .any(|end| name.ends_with(end))
    };
    let files = files.into_iter().filter(|file| !is_prose(file));
    files
        .flat_map(|file| conflict(file).into_iter().chain(invisible(file)))
        .collect()
}

/// The lines of a file, each with the byte at which it begins.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let at = start;
        start += line.len();
        (at, line.trim_end_matches(['\n', '\r']))
    })
}

/// A marker that `git merge` writes at the start of a line.
fn is_marker(line: &str, sign: &str) -> bool {
    let rest = line.strip_prefix(sign);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

fn conflict(file: &SourceFile) -> Option<Finding> {
    let (at, first) = lines(&file.text).find(|(_, line)| is_marker(line, "<<<<<<<"))?;
    let rest = file.text.get(at..)?;
    let ends = |sign: &str| lines(rest).any(|(_, line)| is_marker(line, sign));
    if !ends("=======") && !ends(">>>>>>>") {
        return None;
    }
    let message = "a merge conflict is not resolved here";
    let finding = Finding::new(
        Rule::ConflictMarker,
        file.place(at, at + first.len()),
        message,
    );
    Some(finding.help(
        "remove the lines with `<<<<<<<`, `=======` and `>>>>>>>`, and the unwanted lines between them",
    ))
}

/// The first character of a file that cannot be seen where it is a mistake.
fn invisible(file: &SourceFile) -> Option<Finding> {
    let name = file.name();
    let is_yaml = [".sls", ".yaml", ".yml"]
        .iter()
        .any(|end| name.ends_with(end));
    if !is_yaml && !name.ends_with(".jinja") && !name.ends_with(".j2") {
        return None;
    }
    let (at, c) = lines(&file.text)
        .filter(|(_, line)| !line.trim_start().starts_with('#'))
        .find_map(|(start, line)| {
            let (at, c) = unseen(line, start == 0, is_yaml)?;
            Some((start + at, c))
        })?;
    let what = match is_blank(c) {
        true => "looks like a blank and is another character",
        false => "cannot be seen",
    };
    let place = file.place(at, at + c.len_utf8());
    let message = format!("a character of this line {what}: {}", named(c));
    let finding = Finding::new(Rule::InvisibleCharacter, place, message);
    Some(finding.help(match is_blank(c) {
        true => "write a blank",
        false => "remove it, or write it as an escape in double quotes",
    }))
}

/// A character of a line that has no place there, and where.
fn unseen(line: &str, is_first: bool, is_yaml: bool) -> Option<(usize, char)> {
    let key_end = line
        .find(": ")
        .or_else(|| line.strip_suffix(':').map(str::len));
    line.char_indices().find(|&(at, c)| {
        let is_mark = c == '\u{feff}' && is_first && at == 0;
        if c.is_ascii() || is_mark || is_printable(c) {
            return false;
        }
        if !is_blank(c) {
            return is_hidden(c);
        }
        let before = line[..at].trim_end_matches(is_blank);
        let is_structure = before.trim_start_matches([' ', '-']).is_empty()
            || before.ends_with([':', '-'])
            || key_end.is_some_and(|end| at < end);
        is_yaml && is_structure
    })
}

/// Blanks that no language of data takes for one.
fn is_blank(c: char) -> bool {
    matches!(
        c,
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// Characters without width. Joiners make one picture of several, and letters of some scripts.
fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
    )
}

/// Texts of documents in which a mapping was meant: `key:value`.
///
/// ```
/// use std::sync::Arc;
/// use mapstack_lint::{Content, Document, Rule, SourceFile, joined};
/// let of = |text: &str| {
///     let file = SourceFile::new("a.sls", "pillar/a.sls", text);
///     joined(&[Document::parse("a.sls", Content::Plain(Arc::new(file))).unwrap()])
/// };
/// assert_eq!(of("web:\n  port:80\n")[0].rule, Rule::MissingBlank);
/// assert!(of("images: [nginx:latest]\nurl: http://a\n").is_empty());
/// ```
#[must_use]
pub fn joined(documents: &[Document]) -> Vec<Finding> {
    let mut seen = HashSet::new();
    let mut findings = Vec::new();
    for document in documents {
        document.visit(&mut |scalar| {
            let Some(key) = joined_key(scalar) else {
                return;
            };
            let (place, computed) = scalar.place(key.len() + 1);
            if computed || !seen.insert((place.file.clone(), place.start)) {
                return;
            }
            findings.push(no_blank(place, &key));
        });
    }
    findings
}

/// Arguments of states without the blank after the colon, next to arguments with it.
fn joined_arguments(file: &SourceFile) -> Vec<Finding> {
    let is_text = |line: &(usize, &str)| {
        let content = line.1.trim();
        !content.is_empty() && !content.starts_with('#')
    };
    let lines: Vec<(usize, &str)> = lines(&file.text).filter(is_text).collect();
    let item = |at: Option<usize>| {
        let (_, line) = lines.get(at?)?;
        let content = line.trim_start_matches(' ').strip_prefix("- ")?;
        Some((line.len() - content.len(), content.trim_end()))
    };
    let is_argument = |at: Option<usize>, column: usize| {
        item(at).is_some_and(|(own, content)| {
            own == column && (content.contains(": ") || content.ends_with(':'))
        })
    };
    let of = |(number, (start, _)): (usize, &(usize, &str))| {
        let (column, content) = item(Some(number))?;
        let key = yaml::joined_key(content).filter(|_| !content.contains([' ', '{']))?;
        let is_beside = is_argument(number.checked_sub(1), column)
            || is_argument(number.checked_add(1), column);
        let at = start + column;
        (is_beside && !is_address(content))
            .then(|| no_blank(file.place(at, at + key.len() + 1), key))
    };
    lines.iter().enumerate().filter_map(of).collect()
}

fn no_blank(place: Place, key: &str) -> Finding {
    let message = format!("no blank follows `{key}:`, so this is text and sets no `{key}`");
    let finding = Finding::new(Rule::MissingBlank, place, message);
    finding.help("put a blank behind the `:`, or the text in quotes")
}

/// The key that a plain text seems to set.
fn joined_key(scalar: &Scalar<'_>) -> Option<String> {
    let Value::Str(text) = &scalar.value else {
        return None;
    };
    let mut words = text.split_whitespace();
    if scalar.is_key || !words.all(|word| yaml::joined_key(word).is_some()) {
        return None;
    }
    let key = yaml::joined_key(text)?;
    scalar.plain()?;
    // Lists have paths of Salt's as texts, such as `a:b`.
    let is_match = scalar.parent?.as_list().is_none() && begins_its_line(scalar);
    (is_match && !is_address(text)).then(|| key.to_owned())
}

/// True for a host with a port, as far as that can be told.
fn is_address(text: &str) -> bool {
    text.split_once(':').is_some_and(|(host, port)| {
        let is_number = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
        is_number && (host.contains('.') || host == "localhost")
    })
}

/// True if only blanks precede a text on its line.
fn begins_its_line(scalar: &Scalar<'_>) -> bool {
    let (place, computed) = scalar.place(0);
    let before = place.source.get(..place.start).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    !computed && line.trim_start_matches(' ').is_empty() && !scalar.path.is_empty()
}
