//! Finding and replacing.

use crate::Interpreter;
use crate::limits::{Error, Result};
use crate::methods::limit;
use crate::methods::signature::bounds;
use crate::object::Obj;

/// The part of a text that `start` and `end` arguments select.
pub struct Window<'a> {
    pub text: &'a str,
    /// Characters before it.
    pub before: usize,
}

impl<'a> Window<'a> {
    /// `None` when the part begins after its end, where not even empty text is found.
    pub fn new(s: &'a str, start: Option<&Obj>, end: Option<&Obj>) -> Result<Option<Self>> {
        if start.is_none() && end.is_none() {
            return Ok(Some(Window { text: s, before: 0 }));
        }
        let Some((start, end)) = bounds(s.chars().count(), start, end, true)? else {
            return Ok(None);
        };
        let from = byte_of_char(s, start);
        let to = from + byte_of_char(&s[from..], end - start);
        Ok(Some(Window {
            text: &s[from..to],
            before: start,
        }))
    }
}

/// The byte at which the character of that position starts.
pub fn byte_of_char(s: &str, position: usize) -> usize {
    if s.is_ascii() {
        return position.min(s.len());
    }
    s.char_indices().nth(position).map_or(s.len(), |(i, _)| i)
}

/// `find`, `rfind`, `index`, `rindex` and `count`.
pub fn find(method: &str, window: Option<Window<'_>>, needle: &str) -> Result<Obj> {
    if method == "count" {
        return Ok(Obj::from(
            window.map_or(0, |window| count(window.text, needle)),
        ));
    }
    let found = window.and_then(|window| {
        let byte = if method.starts_with('r') {
            window.text.rfind(needle)
        } else {
            window.text.find(needle)
        };
        byte.map(|byte| window.before + window.text[..byte].chars().count())
    });
    match found {
        Some(position) => Ok(Obj::from(position)),
        None if method.ends_with("index") => Err(Error::value_error("substring not found")),
        None => Ok(Obj::from(-1)),
    }
}

fn count(s: &str, needle: &str) -> usize {
    if needle.is_empty() {
        s.chars().count() + 1
    } else {
        s.matches(needle).count()
    }
}

/// Replace the first `most` occurrences.
pub fn replace(vm: &dyn Interpreter, s: &str, old: &str, new: &str, most: usize) -> Result<String> {
    let found = if most == usize::MAX && new.len() <= old.len() {
        0
    } else {
        count(s, old).min(most)
    };
    limit::text(vm, s.len().saturating_add(found.saturating_mul(new.len())))?;
    Ok(s.replacen(old, new, most))
}
