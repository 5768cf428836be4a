//! Character classes after Python's `str.is…` methods.

use std::borrow::Cow;

use unicode_ident::{is_xid_continue, is_xid_start};
use unicode_normalization::{UnicodeNormalization, is_nfkc};
use unicode_properties::{GeneralCategory as G, UnicodeGeneralCategory};

/// `str.isspace` for one character.
///
/// ```
/// assert!(mapstack_value::pytext::classes::is_space('\u{1f}'));
/// ```
#[must_use]
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

/// True if there is a character and every one is in the class.
///
/// ```
/// use mapstack_value::pytext::classes::{every, is_space};
/// assert!(every(" \t", is_space) && !every("", is_space));
/// ```
#[must_use]
pub fn every(s: &str, class: fn(char) -> bool) -> bool {
    !s.is_empty() && s.chars().all(class)
}

/// `str.isalpha`.
///
/// ```
/// assert!(mapstack_value::pytext::classes::is_alpha("añ"));
/// ```
#[must_use]
pub fn is_alpha(s: &str) -> bool {
    every(s, is_letter)
}

/// `str.isdecimal`.
///
/// ```
/// assert!(!mapstack_value::pytext::classes::is_decimal("²"));
/// ```
#[must_use]
pub fn is_decimal(s: &str) -> bool {
    every(s, is_decimal_digit)
}

/// `str.isdigit`.
///
/// ```
/// assert!(mapstack_value::pytext::classes::is_digit("²"));
/// ```
#[must_use]
pub fn is_digit(s: &str) -> bool {
    every(s, is_digit_char)
}

/// `str.isnumeric`.
///
/// ```
/// assert!(mapstack_value::pytext::classes::is_numeric("½"));
/// ```
#[must_use]
pub fn is_numeric(s: &str) -> bool {
    every(s, is_number)
}

/// `str.isalnum`.
///
/// ```
/// assert!(mapstack_value::pytext::classes::is_alnum("a1"));
/// ```
#[must_use]
pub fn is_alnum(s: &str) -> bool {
    every(s, |c| is_letter(c) || is_number(c))
}

/// Python's `str.isidentifier`.
///
/// ```
/// use mapstack_value::pytext::classes::is_identifier;
/// assert!(is_identifier("हिन्दी") && !is_identifier("1a"));
/// ```
#[must_use]
pub fn is_identifier(s: &str) -> bool {
    let mut chars = s.chars();
    chars.next().is_some_and(|c| c == '_' || is_xid_start(c)) && chars.all(continues_identifier)
}

/// Joiners and middle dots are newer in Unicode than the identifiers of Salt's Python.
fn continues_identifier(c: char) -> bool {
    is_xid_continue(c) && !matches!(c, '\u{200c}' | '\u{200d}' | '\u{30fb}' | '\u{ff65}')
}

/// A character that Jinja's lexer takes into a word: what `\w` is in Python, or can go on with an identifier.
///
/// ```
/// assert!(mapstack_value::pytext::classes::is_word('‿'));
/// ```
#[must_use]
pub fn is_word(c: char) -> bool {
    continues_identifier(c) || is_letter(c) || is_number(c)
}

/// A name as Python's compiler knows it (NFKC): spellings that come to the same are one name.
///
/// ```
/// assert_eq!(mapstack_value::pytext::classes::normalised("ﬁ"), "fi");
/// ```
#[must_use]
#[inline]
pub fn normalised(name: &str) -> Cow<'_, str> {
    if name.is_ascii() || is_nfkc(name) {
        name.into()
    } else {
        name.nfkc().collect::<String>().into()
    }
}

fn is_letter(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphabetic();
    }
    use G::{LowercaseLetter, ModifierLetter, OtherLetter, TitlecaseLetter, UppercaseLetter};
    matches!(
        c.general_category(),
        LowercaseLetter | UppercaseLetter | TitlecaseLetter | ModifierLetter | OtherLetter
    )
}

/// A digit of a positional decimal system.
///
/// ```
/// assert!(mapstack_value::pytext::classes::is_decimal_digit('٣'));
/// ```
#[must_use]
pub fn is_decimal_digit(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_digit()
    } else {
        c.general_category() == G::DecimalNumber
    }
}

fn is_digit_char(c: char) -> bool {
    is_decimal_digit(c)
        || DIGITS
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&c))
}

fn is_number(c: char) -> bool {
    c.is_numeric() || NUMERALS.contains(c)
}

/// Digits that are not decimal: superscripts, circled digits and the like.
const DIGITS: &[(char, char)] = &[
    ('\u{b2}', '\u{b3}'),
    ('\u{b9}', '\u{b9}'),
    ('\u{1369}', '\u{1371}'),
    ('\u{19da}', '\u{19da}'),
    ('\u{2070}', '\u{2070}'),
    ('\u{2074}', '\u{2079}'),
    ('\u{2080}', '\u{2089}'),
    ('\u{2460}', '\u{2468}'),
    ('\u{2474}', '\u{247c}'),
    ('\u{2488}', '\u{2490}'),
    ('\u{24ea}', '\u{24ea}'),
    ('\u{24f5}', '\u{24fd}'),
    ('\u{24ff}', '\u{24ff}'),
    ('\u{2776}', '\u{277e}'),
    ('\u{2780}', '\u{2788}'),
    ('\u{278a}', '\u{2792}'),
    ('\u{10a40}', '\u{10a43}'),
    ('\u{10e60}', '\u{10e68}'),
    ('\u{11052}', '\u{1105a}'),
    ('\u{1f100}', '\u{1f10a}'),
];

/// Letters that are numbers.
const NUMERALS: &str = "㐅㒃㠪㭍一七万三九二五世亿什仟仨伍佰億兆兩八六十千卅升卌叁参參叄四壱壹幺廾廿弌弍弎弐拾捌柒漆玖百肆萬貮貳贰阡陆陌陸零";
