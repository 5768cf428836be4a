//! Finding the texts of secrets inside of others.

use std::collections::HashMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use mapstack_value::{Value, json, quote_str};

use crate::redact::words::is_ordinary;

/// The least bytes of a secret that is searched for as a whole.
const TELLING: usize = 5;
/// The least bytes of a line that is searched for by itself, if the secret has several lines.
const TELLING_LINE: usize = 6;
/// The same for a line that is not a word; shorter forms are not searched for.
const TELLING_REST: usize = 4;

/// Words that are never secret, even as the value of a secret.
const COMMON: [&str; 4] = ["False", "false", "FALSE", "False."];

/// The words of a message that precede a quoted line of a file.
const EXCERPT: &str = "of the rendered text";

/// All secret texts, in every form in which messages and files show them.
#[derive(Debug, Clone)]
pub(crate) struct SecretSearch {
    forms: Option<AhoCorasick>,
    /// For each form, the index of its secret in `texts`.
    owners: Vec<usize>,
    texts: Vec<String>,
}

/// A piece of a text that shows a secret.
#[derive(Debug, PartialEq)]
pub(crate) struct SecretSpan<'s> {
    pub range: Range<usize>,
    /// The whole secret.
    pub secret: &'s str,
}

impl SecretSearch {
    pub fn new<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut texts: Vec<String> = texts
            .filter(|text| text.len() >= TELLING_REST)
            .map(String::from)
            .collect();
        // Secrets can share a form: with sorted texts, its owner is the same in every run.
        texts.sort_unstable_by(|a, b| (b.len(), a).cmp(&(a.len(), b)));
        let mut known: HashMap<String, usize> = HashMap::new();
        for (owner, text) in texts.iter().enumerate() {
            for form in forms(text) {
                known.entry(form).or_insert(owner);
            }
        }
        let mut forms: Vec<(String, usize)> = known.into_iter().collect();
        forms.sort_unstable();
        let (patterns, owners): (Vec<String>, Vec<usize>) = forms.into_iter().unzip();
        // A run of the command searches few and short texts, so time to build counts more than time to search.
        let build = || {
            AhoCorasick::builder()
                .kind(Some(AhoCorasickKind::ContiguousNFA))
                .match_kind(MatchKind::LeftmostLongest)
                .build(&patterns)
                .ok()
        };
        let forms = if patterns.is_empty() { None } else { build() };
        SecretSearch {
            forms,
            owners,
            texts,
        }
    }

    /// True if a text shows a secret.
    pub fn finds(&self, text: &str) -> bool {
        self.forms
            .as_ref()
            .is_some_and(|forms| forms.is_match(text))
    }

    /// The secrets that a text shows, in order. Pieces of one secret that only white space separates are one hit.
    pub fn hits(&self, text: &str) -> Vec<SecretSpan<'_>> {
        let mut hits: Vec<SecretSpan<'_>> = Vec::new();
        let Some(forms) = &self.forms else {
            return hits;
        };
        for found in forms.find_iter(text) {
            let owner = self
                .owners
                .get(found.pattern().as_usize())
                .and_then(|owner| self.texts.get(*owner));
            let secret = owner.map_or("", String::as_str);
            match hits.last_mut() {
                Some(last)
                    if last.secret == secret
                        && is_space(text.get(last.range.end..found.start())) =>
                {
                    last.range.end = found.end();
                }
                _ => hits.push(SecretSpan {
                    range: found.range(),
                    secret,
                }),
            }
        }
        hits
    }
}

/// A message; some of its own words may equal secrets.
pub(crate) struct Message<'m> {
    text: &'m str,
    /// The start of a quotation from a file, or the end of the message.
    excerpt: usize,
}

impl<'m> Message<'m> {
    pub(crate) fn new(text: &'m str) -> Self {
        let excerpt = text.find(EXCERPT).unwrap_or(text.len());
        Message { text, excerpt }
    }

    /// True if a hit is the secret, and not an ordinary word of the message that equals it. An ordinary word is taken
    /// for the secret in quotes, in an excerpt, as a value after `:` or `=`, alone, and in the login of a URL.
    pub(crate) fn has_value(&self, hit: &SecretSpan<'_>) -> bool {
        if hit.range.start > self.excerpt || !is_ordinary(hit.secret) {
            return true;
        }
        let before = self.text.get(..hit.range.start).unwrap_or_default();
        let after = self.text.get(hit.range.end..).unwrap_or_default();
        let is_quoted = before.ends_with(['\'', '"', '`']) && after.starts_with(['\'', '"', '`']);
        let rest = after.trim_start_matches('.');
        let ends = rest.is_empty() || rest.starts_with(['\n', ',', ';', ')', '}', ']']);
        let is_set = before.trim_end_matches(' ').ends_with([':', '=']) || before.is_empty();
        is_quoted
            || (is_set && ends)
            || before.ends_with("//")
            || before.ends_with([':', '=']) && after.starts_with('@')
    }
}

/// True if a piece of text is only white space, literal or escaped.
fn is_space(between: Option<&str>) -> bool {
    between.is_some_and(|between| {
        between
            .replace("\\n", " ")
            .replace("\\r", " ")
            .trim()
            .is_empty()
    })
}

/// The forms that a secret takes in messages: literal and as Python, JSON and YAML quote it, and each line of
/// a secret of several lines.
fn forms(text: &str) -> Vec<String> {
    let whole = text.trim();
    let mut all = Vec::new();
    if whole.len() >= TELLING && !COMMON.contains(&whole) {
        quoted(whole, &mut all);
    }
    if whole.contains(['\n', '\r']) {
        let is_word = |line: &str| line.chars().all(char::is_alphabetic);
        let reveals = |line: &&str| {
            line.len() >= TELLING_LINE || (line.len() >= TELLING_REST && !is_word(line))
        };
        whole
            .split(['\n', '\r'])
            .map(str::trim)
            .filter(reveals)
            .for_each(|line| quoted(line, &mut all));
    }
    all
}

fn quoted(text: &str, all: &mut Vec<String>) {
    let inside = |quoted: &str| {
        quoted
            .get(1..quoted.len().saturating_sub(1))
            .unwrap_or_default()
            .to_owned()
    };
    all.push(text.to_owned());
    let is_plain = |c: char| {
        c == ' ' || (c.is_ascii_graphic() && !matches!(c, '\'' | '"' | '\\' | '&' | '<' | '>'))
    };
    if text.chars().all(is_plain) {
        return;
    }
    all.push(inside(&quote_str(text)));
    // Python escapes `'` only if the text has both quotation marks.
    all.push(
        inside(&quote_str(&format!("{text}'\"")))
            .trim_end_matches("\\'\"")
            .to_owned(),
    );
    if let Ok(json) = json::dumps(&Value::from(text), &json::DumpOptions::default()) {
        all.push(inside(&json));
    }
    all.push(text.escape_debug().to_string());
    all.push(text.replace('\'', "''"));
    all.push(text.replace('\n', "\\n"));
    let html = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    all.push(html.replace('\'', "&#39;").replace('"', "&#34;"));
    all.push(html);
    all.retain(|form| form.len() >= TELLING_REST);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrubbed(secrets: &[&str], text: &str) -> String {
        let search = SecretSearch::new(secrets.iter().copied());
        let (mut shown, mut at) = (String::new(), 0);
        for hit in search.hits(text) {
            shown.push_str(&text[at..hit.range.start]);
            shown.push('#');
            at = hit.range.end;
        }
        shown + &text[at..]
    }

    #[test]
    fn texts_are_found_in_every_quotation() {
        for (secret, text, shown) in [
            ("hunter2", "a hunter2b", "a #b"),
            ("it's \"x\"", r#"KeyError: 'it\'s "x"'"#, "KeyError: '#'"),
            ("it's long", r#"KeyError: "it's long""#, "KeyError: \"#\""),
            ("it's long", "a: 'it''s long'", "a: '#'"),
            ("pässwörd", "a: p\\u00e4ssw\\u00f6rd.", "a: #."),
            ("tab\there", "'tab\\there'", "'#'"),
            ("one line\nanother\n", "'one line\\nanother\\n'", "'#\\n'"),
            (
                "one line\nanother",
                "x\n  one line\n  another\ny",
                "x\n  #\ny",
            ),
            ("one line\nab1=", "line 3: ab1=", "line 3: #"),
            ("one line\nport", "port: 1", "port: 1"),
            ("hunt", "hunt", "hunt"),
            ("False", "False", "False"),
        ] {
            assert_eq!(scrubbed(&[secret], text), shown, "{secret:?} in {text:?}");
        }
    }

    #[test]
    fn an_ordinary_word_is_a_secret_only_as_a_value() {
        let search = SecretSearch::new(["secret", "Hunter"].into_iter());
        let hidden = |text: &str| {
            let message = Message::new(text);
            search.hits(text).iter().any(|hit| message.has_value(hit))
        };
        for text in [
            "note: secrets are masked: --show-secrets prints them",
            "a secret of the pillar in plain text",
            "`secret_key` is undefined",
        ] {
            assert!(!hidden(text), "{text}");
        }
        for text in [
            "'secret' is not a number",
            "line 2: password: secret",
            "secret",
            "password=secret, and more",
            "https://user:secret@example.org",
            "the Hunter is no word of a message",
        ] {
            assert!(hidden(text), "{text}");
        }
    }

    #[test]
    fn the_longest_secret_is_found() {
        assert_eq!(
            scrubbed(&["secret", "secretive", "active"], "secretives, inactive"),
            "#s, in#"
        );
        assert_eq!(scrubbed(&[], "nothing"), "nothing");
    }
}
