//! Python's regular expressions: Salt's `regex_*` filters.

mod replacement;
mod translate;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use fancy_regex::{Captures, Regex, RegexBuilder};
use mapstack_pyobject::{CallArgs, Error, Obj, Result, spend};
use mapstack_value::Str;
use mapstack_value::pytext::Fnmatch;

use mapstack_jinja::Filters;
use mapstack_jinja::Vm;
use mapstack_jinja::call::{flag, plain, room_for_more};
use translate::TranslatedPattern;

pub(super) const TABLE: Filters = &[
    ("regex_escape", regex_escape),
    ("regex_match", |vm, x, args| {
        groups(vm, &x, args, "regex_match", Anchor::Start)
    }),
    ("regex_replace", regex_replace),
    ("regex_search", |vm, x, args| {
        groups(vm, &x, args, "regex_search", Anchor::None)
    }),
];

/// The place at which a match must begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Anchor {
    /// Anywhere.
    None,
    /// The start of the text.
    Start,
    /// And end where the text ends.
    Whole,
}

/// A compiled pattern.
#[derive(Clone)]
pub struct Pattern(Rc<Compiled>);

struct Compiled {
    regex: Regex,
    groups: usize,
    names: Vec<(String, usize)>,
}

type Cache = HashMap<(Str, bool, bool, Anchor), Pattern>;

thread_local! {
    static CACHE: RefCell<Cache> = RefCell::default();
}

/// So many compiled patterns are kept.
const CACHE_SIZE: usize = 64;
/// Bytes a compiled pattern may take.
const SIZE_LIMIT: usize = 2 << 20;
/// Steps one search with look-around or back-references may take.
const BACKTRACK_LIMIT: usize = 1_000_000;

/// Steps that each byte of a pattern costs once.
const STEPS_TO_COMPILE: usize = 4;

/// Compile a pattern for a match at the start of the text.
///
/// # Errors
/// Python's `re.error`.
pub(crate) fn compile(
    pattern: &Obj,
    ignore_case: Option<Obj>,
    multi_line: Option<Obj>,
) -> Result<Pattern> {
    compile_at(
        pattern,
        flag(ignore_case, false)?,
        flag(multi_line, false)?,
        Anchor::Start,
    )
}

fn compile_at(
    pattern: &Obj,
    ignore_case: bool,
    multi_line: bool,
    anchor: Anchor,
) -> Result<Pattern> {
    let Some(text) = pattern.as_str() else {
        let hashable = mapstack_pyobject::hash_key(pattern);
        hashable?;
        return Err(Error::type_error(
            "first argument must be string or compiled pattern",
        ));
    };
    Pattern::new(text, ignore_case, multi_line, anchor)
}

fn too_many_steps() -> Box<Error> {
    Error::limit(format!(
        "the regular expression needed more than {BACKTRACK_LIMIT} steps"
    ))
    .with_help("nested repetition such as (a+)+ makes a search explode; write it without")
}

/// True if a text matches a regular expression of Python's: anywhere, or from its start.
///
/// ```
/// use mapstack_salt_jinja::regex_matches;
/// assert!(regex_matches("b+$", "abb\n", false, false).unwrap());
/// assert!(!regex_matches("b+", "abb", false, true).unwrap());
/// assert_eq!(regex_matches("(", "", false, false).unwrap_err().message, "missing ), unterminated subpattern at position 0");
/// ```
///
/// # Errors
/// Python's `re.error`; a limit error when the search takes too long.
pub fn regex_matches(
    pattern: &str,
    text: &str,
    ignore_case: bool,
    from_start: bool,
) -> Result<bool> {
    let anchor = if from_start {
        Anchor::Start
    } else {
        Anchor::None
    };
    let pattern = Pattern::new(&pattern.into(), ignore_case, false, anchor)?;
    pattern.0.regex.is_match(text).map_err(|_| too_many_steps())
}

/// True if a text matches a shell pattern or, as a whole, a regular expression (Salt:
/// `salt.utils.stringutils.expr_match`).
///
/// ```
/// use mapstack_salt_jinja::expr_match;
/// assert!(expr_match("web1", "web*") && expr_match("web1", "we[b]\\d"));
/// assert!(!expr_match("web1", "we"));
/// ```
#[must_use]
pub fn expr_match(text: &str, pattern: &str) -> bool {
    Fnmatch::new(pattern).matches(text)
        || regex_matches(&format!(r"\A{pattern}\Z"), text, false, true).unwrap_or(false)
}

impl Pattern {
    /// Compile a pattern.
    ///
    /// # Errors
    /// Python's `re.error`; a limit error for a pattern that is too large.
    pub fn new(text: &Str, ignore_case: bool, multi_line: bool, anchor: Anchor) -> Result<Self> {
        let key = (text.clone(), ignore_case, multi_line, anchor);
        if let Some(found) = CACHE.with(|cache| cache.borrow().get(&key).cloned()) {
            return Ok(found);
        }
        // Each character is read, translated, and becomes some instructions.
        spend(text.len().saturating_mul(STEPS_TO_COMPILE))?;
        let translated = translate::translate(text, multi_line)?;
        let pattern = Self::build(translated, ignore_case, anchor)?;
        CACHE.with(|cache| {
            let mut cache = cache.borrow_mut();
            if cache.len() >= CACHE_SIZE {
                cache.clear();
            }
            cache.insert(key, pattern.clone());
        });
        Ok(pattern)
    }

    fn build(translated: TranslatedPattern, ignore_case: bool, anchor: Anchor) -> Result<Self> {
        let TranslatedPattern {
            pattern,
            flags,
            groups,
            names,
        } = translated;
        let case = if ignore_case { "i" } else { "" };
        let flags = if flags.is_empty() && case.is_empty() {
            String::new()
        } else {
            format!("(?{flags}{case})")
        };
        let source = match anchor {
            Anchor::None => format!("{flags}{pattern}"),
            Anchor::Start => format!(r"\A{flags}(?:{pattern})"),
            Anchor::Whole => format!(r"\A{flags}(?:{pattern})\z"),
        };
        let built = RegexBuilder::new(&source)
            .backtrack_limit(BACKTRACK_LIMIT)
            .delegate_size_limit(SIZE_LIMIT)
            .build();
        let regex = built.map_err(|e| {
            Error::python(
                "error",
                format!("this regular expression is not supported: {e}"),
            )
        })?;
        Ok(Pattern(Rc::new(Compiled {
            regex,
            groups,
            names,
        })))
    }

    /// The groups of a match, if there is one; the whole match where the pattern has no groups.
    ///
    /// # Errors
    /// A limit error when the search takes too long.
    pub fn at_start(&self, vm: &Vm<'_>, text: &str) -> Result<Option<Vec<Obj>>> {
        let Some(found) = self.captures(vm, text, 0)? else {
            return Ok(None);
        };
        let object = |i: usize| found.get(i).map_or(Obj::None, |m| Obj::from(m.as_str()));
        Ok(Some(match self.0.groups {
            0 => vec![object(0)],
            n => (1..=n).map(object).collect(),
        }))
    }

    fn captures<'t>(
        &self,
        vm: &Vm<'_>,
        text: &'t str,
        from: usize,
    ) -> Result<Option<Captures<'t, str>>> {
        vm.burn(1 + (text.len() - from) / 64)?;
        self.0
            .regex
            .captures_from_pos(text, from)
            .map_err(|_| too_many_steps())
    }

    /// Replace every match.
    fn replace(&self, vm: &Vm<'_>, text: &str, template: &str) -> Result<String> {
        let template = replacement::parse(template, self.0.groups, &self.0.names)?;
        let mut out = String::new();
        let (mut copied, mut from) = (0, 0);
        while from <= text.len() {
            let Some(found) = self.captures(vm, text, from)? else {
                break;
            };
            let Some(whole) = found.get(0) else { break };
            let before = out.len();
            out.push_str(&text[copied..whole.start()]);
            for part in &template {
                match part {
                    replacement::ReplacementPart::Text(text) => out.push_str(text),
                    replacement::ReplacementPart::Group(i) => {
                        out.push_str(found.get(*i).map_or("", |m| m.as_str()));
                    }
                }
            }
            room_for_more(vm, before, out.len() - before)?;
            copied = whole.end();
            // An empty match must not be found again.
            from = match text[copied..].chars().next() {
                Some(next) if whole.start() == whole.end() => copied + next.len_utf8(),
                None if whole.start() == whole.end() => break,
                _ => copied,
            };
        }
        out.push_str(&text[copied..]);
        Ok(out)
    }
}

/// The text to search in.
///
/// # Errors
/// A `TypeError` for a value that is not text.
pub(crate) fn subject(x: &Obj) -> Result<Str> {
    match x.as_str() {
        Some(text) => Ok(text.clone()),
        None => Err(Error::type_error(format!(
            "expected string or bytes-like object, got '{}'",
            x.type_name()
        ))),
    }
}

fn groups(
    vm: &Vm<'_>,
    x: &Obj,
    args: CallArgs,
    function: &'static str,
    anchor: Anchor,
) -> Result<Obj> {
    let names = ["rgx", "ignorecase", "multiline"];
    let [pattern, ignore_case, multi_line] = plain(function, "txt").bind(args, 1, names)?;
    let (ignore_case, multi_line) = (flag(ignore_case, false)?, flag(multi_line, false)?);
    let pattern = compile_at(
        &pattern.unwrap_or_default(),
        ignore_case,
        multi_line,
        anchor,
    )?;
    Ok(pattern
        .at_start(vm, &subject(x)?)?
        .map_or(Obj::None, Obj::tuple))
}

fn regex_replace(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let names = ["rgx", "val", "ignorecase", "multiline"];
    let [pattern, value, ignore_case, multi_line] =
        plain("regex_replace", "txt").bind(args, 2, names)?;
    let (ignore_case, multi_line) = (flag(ignore_case, false)?, flag(multi_line, false)?);
    let pattern = compile_at(
        &pattern.unwrap_or_default(),
        ignore_case,
        multi_line,
        Anchor::None,
    )?;
    let value = value.unwrap_or_default();
    let Some(template) = value.as_str() else {
        if let Obj::Undefined(u) = &value {
            return Err(u.error());
        }
        return Err(Error::type_error(format!(
            "decoding to str: need a bytes-like object, {} found",
            value.type_name()
        )));
    };
    pattern.replace(vm, &subject(&x)?, template).map(Obj::from)
}

fn regex_escape(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("regex_escape", "value").alone(args)?;
    let Some(text) = x.as_str() else {
        let found = x.type_name();
        return Err(Error::type_error(format!(
            "decoding to str: need a bytes-like object, {found} found"
        )));
    };
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\t' | '\n' | '\x0b' | '\x0c' | '\r') || " #$&()*+-.?[\\]^{|}~".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    Ok(Obj::from(out))
}
