//! Upper, lower and title case.

use crate::pytext::classes::is_space;

/// `str.title`: the first letter of each word in title case, the others in lower case.
///
/// ```
/// assert_eq!(mapstack_value::pytext::case::title("it's me"), "It'S Me");
/// ```
#[must_use]
pub fn title(s: &str) -> String {
    let chars: Vec<char> = s.chars().collect();
    let mut out = String::with_capacity(s.len());
    let mut inside = false;
    for (i, &c) in chars.iter().enumerate() {
        if inside {
            push_lower(&chars, i, &mut out);
        } else {
            push_title(c, &mut out);
        }
        inside = is_cased(c);
    }
    out
}

/// `str.capitalize`: the first character in title case, the others in lower case.
///
/// ```
/// assert_eq!(mapstack_value::pytext::case::capitalize("aB"), "Ab");
/// ```
#[must_use]
pub fn capitalize(s: &str) -> String {
    let chars: Vec<char> = s.chars().collect();
    let mut out = String::with_capacity(s.len());
    for (i, &c) in chars.iter().enumerate() {
        if i == 0 {
            push_title(c, &mut out);
        } else {
            push_lower(&chars, i, &mut out);
        }
    }
    out
}

/// ```
/// assert_eq!(mapstack_value::pytext::case::swapcase("aB"), "Ab");
/// ```
#[must_use]
pub fn swapcase(s: &str) -> String {
    let chars: Vec<char> = s.chars().collect();
    let mut out = String::with_capacity(s.len());
    for (i, &c) in chars.iter().enumerate() {
        if c.is_uppercase() {
            push_lower(&chars, i, &mut out);
        } else if c.is_lowercase() {
            out.extend(c.to_uppercase());
        } else {
            out.push(c);
        }
    }
    out
}

/// `str.casefold`: full case folding. By Unicode, it equals the lower case of the upper case, except for the dotless i
/// and Cherokee.
///
/// ```
/// assert_eq!(mapstack_value::pytext::case::casefold("Straße"), "strasse");
/// ```
#[must_use]
pub fn casefold(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    for c in s.chars() {
        match c {
            'ı' | '\u{13a0}'..='\u{13f5}' => out.push(c),
            '\u{13f8}'..='\u{13fd}' => out.extend(char::from_u32(u32::from(c) - 8)),
            '\u{ab70}'..='\u{abbf}' => out.extend(char::from_u32(u32::from(c) - 0xab70 + 0x13a0)),
            c if c.is_ascii() => out.push(c.to_ascii_lowercase()),
            c => {
                let upper = c.to_lowercase().flat_map(char::to_uppercase);
                out.extend(upper.flat_map(char::to_lowercase));
            }
        }
    }
    out
}

/// `str.islower`.
///
/// ```
/// assert!(mapstack_value::pytext::case::is_lower("a1"));
/// ```
#[must_use]
pub fn is_lower(s: &str) -> bool {
    s.chars().any(char::is_lowercase) && !s.chars().any(|c| c.is_uppercase() || is_titlecase(c))
}

/// `str.isupper`.
///
/// ```
/// assert!(mapstack_value::pytext::case::is_upper("A1"));
/// ```
#[must_use]
pub fn is_upper(s: &str) -> bool {
    s.chars().any(char::is_uppercase) && !s.chars().any(|c| c.is_lowercase() || is_titlecase(c))
}

/// `str.istitle`.
///
/// ```
/// assert!(mapstack_value::pytext::case::is_title("A Title"));
/// ```
#[must_use]
pub fn is_title(s: &str) -> bool {
    let (mut cased, mut inside) = (false, false);
    for c in s.chars() {
        let begins = c.is_uppercase() || is_titlecase(c);
        if begins == inside && (begins || c.is_lowercase()) {
            return false;
        }
        inside = begins || c.is_lowercase();
        cased |= inside;
    }
    cased
}

fn is_cased(c: char) -> bool {
    c.is_lowercase() || c.is_uppercase() || is_titlecase(c)
}

fn is_titlecase(c: char) -> bool {
    matches!(c, 'ǅ' | 'ǈ' | 'ǋ' | 'ǲ' | '\u{1f88}'..='\u{1f8f}' | '\u{1f98}'..='\u{1f9f}' | '\u{1fa8}'..='\u{1faf}')
        || matches!(c, '\u{1fbc}' | '\u{1fcc}' | '\u{1ffc}')
}

/// Push a character in title case: its upper case, or for a digraph or ligature the form in which only the first part
/// is upper case.
fn push_title(c: char, out: &mut String) {
    match c {
        'ŉ' => out.push_str("ʼN"),
        'Ǆ'..='ǆ' => out.push('ǅ'),
        'Ǉ'..='ǉ' => out.push('ǈ'),
        'Ǌ'..='ǌ' => out.push('ǋ'),
        'Ǳ'..='ǳ' => out.push('ǲ'),
        '\u{10d0}'..='\u{10ff}' => out.push(c),
        '\u{1f80}'..='\u{1faf}' => out.extend(char::from_u32(u32::from(c) | 8)),
        '\u{1fb3}' | '\u{1fbc}' => out.push('\u{1fbc}'),
        '\u{1fc3}' | '\u{1fcc}' => out.push('\u{1fcc}'),
        '\u{1ff3}' | '\u{1ffc}' => out.push('\u{1ffc}'),
        c => {
            let mut upper = c.to_uppercase();
            out.extend(upper.next());
            for rest in upper {
                match rest {
                    // The iota written below the letter stays below it.
                    'Ι' if ('\u{1fb2}'..='\u{1ff7}').contains(&c) => out.push('\u{345}'),
                    rest => out.extend(rest.to_lowercase()),
                }
            }
        }
    }
}

fn push_lower(chars: &[char], i: usize, out: &mut String) {
    match chars[i] {
        'Σ' if ends_word(chars, i) => out.push('ς'),
        c => out.extend(c.to_lowercase()),
    }
}

/// True if a sigma is the last letter of a word.
fn ends_word(chars: &[char], i: usize) -> bool {
    // Accents, apostrophes and the like neither begin nor end a word.
    let ignored = |c: &&char| {
        !is_cased(**c)
            && !is_space(**c)
            && matches!(
                **c,
                '\'' | '.' | ':' | '^' | '`' | '\u{ad}' | '\u{300}'..='\u{36f}' | '\u{2019}'
            )
    };
    let before = chars[..i].iter().rev().find(|c| !ignored(c));
    let after = chars[i + 1..].iter().find(|c| !ignored(c));
    before.is_some_and(|c| is_cased(*c)) && !after.is_some_and(|c| is_cased(*c))
}
