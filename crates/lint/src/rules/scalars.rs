//! Scalars that YAML reads as something else than what they look like.

use std::collections::{HashMap, HashSet};

use mapstack::Place;
use mapstack::secrets::Secrets;
use mapstack::value::{Key, Value};

use crate::Rule;
use crate::document::{Document, Scalar};
use crate::finding::Finding;
use crate::subject::FormulaSubject;

/// Keys whose values are names or codes, never a yes or no.
const CODES: [&str; 11] = [
    "country",
    "country_code",
    "countrycode",
    "state",
    "province",
    "lang",
    "language",
    "locale",
    "layout",
    "keyboard",
    "keymap",
];

pub(crate) fn check(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    traps(&subject.documents, subject.secrets)
}

/// The scalars that YAML reads as another type than they look like. Documents of one formula or pillar are
/// checked together, since the values of a key in one show its type in the others.
///
/// ```
/// use std::sync::Arc;
/// use mapstack::secrets::Secrets;
/// use mapstack_lint::{Content, Document, Rule, SourceFile, traps};
/// let file = SourceFile::new("a.sls", "pillar/a.sls", "mode: 0644");
/// let document = Document::parse("a.sls", Content::Plain(Arc::new(file))).unwrap();
/// let found = traps(&[document], &Secrets::numbered());
/// assert_eq!(found[0].rule, Rule::YamlOctal);
/// ```
#[must_use]
pub fn traps(documents: &[Document], secrets: &Secrets) -> Vec<Finding> {
    let texts = KindsElsewhere::of(documents);
    let mut findings = Vec::new();
    let mut seen = HashSet::new();
    for (index, document) in documents.iter().enumerate() {
        document.visit(&mut |scalar| {
            let written = scalar.plain();
            let (mut place, computed) = scalar.place(written.unwrap_or_default().len());
            let is_secret = !scalar.is_key && secrets.hide(scalar.path, false, &scalar.value);
            let mut found = match (computed, written) {
                (true, _) => printed(scalar),
                (false, Some(written)) => {
                    literal(scalar, written, &|scalar| texts.means_text(index, scalar))
                }
                (false, None) => None,
            };
            if found.is_none()
                && document.is_rendered()
                && scalar.value.is_none()
                && written.is_none_or(|written| written.is_empty() || written.starts_with('#'))
                && let Some(expression) = printed_nothing(scalar)
            {
                place = expression;
                let message = "the expression prints nothing or a comment, so the value is null";
                let help = "end the expression with `| json`, which writes \"\" for an empty text";
                found = Some((Rule::UnquotedExpression, message.into(), help.into()));
            }
            let Some((rule, mut message, mut help)) = found else {
                return;
            };
            if is_secret {
                message = "a secret is read as something else than the text that is written".into();
                help = "write it in quotes".into();
            }
            if !seen.insert((
                rule,
                place.file.clone(),
                place.start,
                if computed {
                    String::new()
                } else {
                    message.clone()
                },
            )) {
                return;
            }
            findings.push(Finding::new(rule, place, message).help(help));
        });
    }
    findings
}

type Trap = (Rule, String, String);

/// A scalar that is literally in the file.
fn literal(
    scalar: &Scalar<'_>,
    written: &str,
    means_text: &dyn Fn(&Scalar<'_>) -> bool,
) -> Option<Trap> {
    let quoted = || format!("write '{written}' in quotes for the text");
    match &scalar.value {
        Value::Bool(value) if is_word(written) && means_text(scalar) => {
            let value = if *value { "true" } else { "false" };
            let what = if scalar.is_key { "the key " } else { "" };
            Some((
                Rule::YamlBool,
                format!("{what}{written} is read as the boolean {value}"),
                quoted(),
            ))
        }
        Value::Int(_) | Value::Float(_) if written.contains(':') => {
            let message = format!(
                "{written} is read to base 60, as the number {}",
                scalar.value
            );
            Some((Rule::YamlSexagesimal, message, quoted()))
        }
        Value::Int(_) if has_leading_zero(written) => {
            let message = format!("{written} is read as the number {}", scalar.value);
            Some((Rule::YamlOctal, message, quoted()))
        }
        Value::Float(_) if loses_a_zero(written) && is_version(scalar) => {
            let message = format!("{written} is read as the number {}", scalar.value);
            Some((Rule::YamlFloat, message, quoted()))
        }
        Value::Str(text) if is_date(text) && **text == *written => {
            let message =
                format!("{written} is text for Salt, and a date for other readers of YAML");
            Some((
                Rule::YamlDate,
                message,
                format!("write '{written}' in quotes: it is text for all of them then"),
            ))
        }
        _ => None,
    }
}

/// A scalar that a template expression printed as the text of a value.
fn printed(scalar: &Scalar<'_>) -> Option<Trap> {
    let help = "end the expression with `| json`, which quotes text where needed";
    let line = scalar.rest_of_line();
    let trap = |message: String| Some((Rule::UnquotedExpression, message, help.to_owned()));
    let Some(written) = scalar.plain() else {
        let what = match line.chars().next()? {
            '!' => "a tag",
            '&' => "an anchor",
            '*' => "an alias",
            _ => return None,
        };
        return scalar
            .is_text_of_value(1)
            .then(|| trap(format!("the expression prints text that is read as {what}")))
            .flatten();
    };
    if !scalar.is_text_of_value(written.len()) {
        return None;
    }
    if let Some(rest) = line
        .get(written.len()..)
        .filter(|rest| rest.trim_start().starts_with('#'))
        && scalar.is_text_of_value(written.len() + rest.find('#').unwrap_or_default() + 1)
    {
        return trap("the expression prints text that is read as a comment from its # on".into());
    }
    let read_as = match &scalar.value {
        Value::Bool(value) if is_word(written) => {
            format!("the boolean {}", if *value { "true" } else { "false" })
        }
        Value::Int(_) if written.contains(':') || has_leading_zero(written) => {
            format!("the number {}", scalar.value)
        }
        Value::Float(_) => format!("the number {}", scalar.value),
        _ => return None,
    };
    trap(format!(
        "the expression prints the text {written}, which is read as {read_as}"
    ))
}

/// A null value whose expression printed nothing.
fn printed_nothing(scalar: &Scalar<'_>) -> Option<Place> {
    let (key, _) = scalar.place(0);
    let line_start = key
        .source
        .get(..key.start)?
        .rfind('\n')
        .map_or(0, |newline| newline + 1);
    let line = key.source.get(line_start..)?.lines().next()?;
    let (before, after) = line.split_at_checked(line.find(": {{")? + 2)?;
    let is_whole = after.trim_end().ends_with("}}") && after.matches("{{").count() == 1;
    let own_key = before
        .trim_start_matches([' ', '-'])
        .trim_end_matches([':', ' ']);
    let last = scalar.path.last()?.to_string();
    if !is_whole || own_key.trim_matches(['"', '\'']) != last {
        return None;
    }
    let start = line_start + before.len();
    Some(Place {
        start,
        end: start + after.trim_end().len(),
        ..key
    })
}

/// A word for a boolean that people also write as text.
fn is_word(written: &str) -> bool {
    ["yes", "no", "on", "off"]
        .iter()
        .any(|word| written.eq_ignore_ascii_case(word))
}

fn has_leading_zero(written: &str) -> bool {
    let digits = written.trim_start_matches(['+', '-']);
    digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit())
}

/// `1.10` is the number 1.1.
fn loses_a_zero(written: &str) -> bool {
    let Some((whole, fraction)) = written.split_once('.') else {
        return false;
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits(whole) && digits(fraction) && fraction.len() > 1 && fraction.ends_with('0')
}

/// True if one of the keys above speaks of a version.
fn is_version(scalar: &Scalar<'_>) -> bool {
    let says = |key: &Key| {
        let key = key.to_string().to_lowercase();
        let is_one = |word: &str| {
            matches!(
                word,
                "version" | "versions" | "release" | "releases" | "branch" | "ver"
            )
        };
        key.split(|c: char| !c.is_alphanumeric()).any(is_one)
    };
    scalar.path.iter().any(says)
}

/// A date, or a date and a time.
fn is_date(text: &str) -> bool {
    let is_digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let date = [0, 1, 2, 3, 5, 6, 8, 9].into_iter().all(is_digit);
    let date = date
        && [4, 7]
            .iter()
            .all(|&at| text.as_bytes().get(at) == Some(&b'-'));
    let is_time = |time: &str| {
        let time = time.trim_start_matches(['T', 't', ' ']);
        time.split(':').count() == 3 && time.starts_with(|c: char| c.is_ascii_digit())
    };
    date && text
        .get(10..)
        .is_some_and(|rest| rest.is_empty() || (rest.starts_with(['T', 't', ' ']) && is_time(rest)))
}

/// The numbers of values of each kind under a path.
#[derive(Default)]
struct Kinds {
    texts: usize,
    booleans: usize,
    /// True if one of the texts is a word for a boolean.
    has_words: bool,
}

/// Booleans are intended if there are at least this many for each other text, such as `unknown`.
const OUTNUMBERED: usize = 4;

impl Kinds {
    fn are_text(&self) -> bool {
        self.has_words || self.texts > 0 && self.booleans < OUTNUMBERED * self.texts
    }
}

/// The kinds of values under the same keys elsewhere in the formula.
struct KindsElsewhere {
    /// The kinds of values that documents have under a path.
    paths: HashMap<Vec<Key>, Kinds>,
    /// Mappings and lists that quote a word for a boolean, by document and path.
    quoted: HashMap<usize, HashSet<Vec<Key>>>,
    /// Keys that have such a word as text somewhere in a document.
    keys: HashMap<usize, HashSet<Key>>,
}

impl KindsElsewhere {
    fn of(documents: &[Document]) -> Self {
        let mut texts = KindsElsewhere {
            paths: HashMap::new(),
            quoted: HashMap::new(),
            keys: HashMap::new(),
        };
        for (index, document) in documents.iter().enumerate() {
            document.visit(&mut |scalar| {
                let (false, Value::Bool(_) | Value::Str(_)) = (scalar.is_key, &scalar.value) else {
                    return;
                };
                let known = texts
                    .paths
                    .entry(common_path(document, scalar.path))
                    .or_default();
                let Value::Str(text) = &scalar.value else {
                    known.booleans += 1;
                    return;
                };
                known.texts += usize::from(!text.is_empty());
                known.has_words |= is_word(text);
                if is_word(text)
                    && let Some((last, parent)) = scalar.path.split_last()
                {
                    texts.keys.entry(index).or_default().insert(last.clone());
                    texts
                        .quoted
                        .entry(index)
                        .or_default()
                        .insert(parent.to_vec());
                }
            });
        }
        texts
    }

    /// True if a word for a boolean is meant as text here, judging by other values.
    fn means_text(&self, document: usize, scalar: &Scalar<'_>) -> bool {
        if scalar.is_key {
            return true;
        }
        let Some((last, parent)) = scalar.path.split_last() else {
            return false;
        };
        let has_text = |items: &[Value]| items.iter().any(|item| matches!(item, Value::Str(_)));
        scalar.parent.and_then(Value::as_list).is_some_and(has_text)
            || last
                .as_str()
                .is_some_and(|key| CODES.contains(&&*key.to_lowercase()))
            || self
                .paths
                .get(&common_path(scalar.document, scalar.path))
                .is_some_and(Kinds::are_text)
            || self
                .quoted
                .get(&document)
                .is_some_and(|parents| parents.contains(parent))
            || self
                .keys
                .get(&document)
                .is_some_and(|keys| last.as_str().is_some() && keys.contains(last))
    }
}

/// A path as other layers have it too: data sources have `values` above, and maps of the old kind
/// the name of a system.
fn common_path(document: &Document, path: &[Key]) -> Vec<Key> {
    let name = document.path.rsplit('/').next().unwrap_or_default();
    let is_map = name.contains("map.") && !name.starts_with("map_jinja");
    let has_values = path
        .first()
        .is_some_and(|key| key.as_str() == Some("values"));
    path.iter()
        .skip(usize::from(has_values || is_map))
        .cloned()
        .collect()
}
