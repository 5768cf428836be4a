//! The format specification mini-language: `[[fill]align][sign][z][#][0][width][group][.precision][type]`.

use crate::pytext::classes::is_decimal_digit;

/// Why a specification cannot be read, in Python's words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// Both separators of groups.
    #[error("Cannot specify both ',' and '_'.")]
    TwoGroups,
    /// A separator of groups with a type that has none.
    #[error("Cannot specify '{group}' with '{}'.", shown(*.kind))]
    GroupWith {
        /// The separator.
        group: char,
        /// The type.
        kind: char,
    },
    /// A point without digits.
    #[error("Format specifier missing precision")]
    NoPrecision,
    /// A width or precision that no machine has.
    #[error("Too many decimal digits in format string")]
    TooManyDigits,
    /// Something else behind it.
    #[error("Invalid format specifier '{text}' for object of type '{type_name}'")]
    Invalid {
        /// The specification.
        text: String,
        /// The type of what is formatted.
        type_name: String,
    },
}

/// A specification taken apart.
///
/// ```
/// use mapstack_value::pytext::spec::Spec;
/// let spec = Spec::parse("*>+10,.2f", '<', 'd', "float").unwrap();
/// assert_eq!((spec.fill, spec.align, spec.sign, spec.width), ('*', '>', '+', 10));
/// assert_eq!((spec.group, spec.precision, spec.kind), (Some(','), Some(2), 'f'));
/// assert_eq!(Spec::parse(".", '<', 'd', "int").unwrap_err().to_string(), "Format specifier missing precision");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The character that fills up to the width.
    pub fill: char,
    /// `<`, `>`, `=` or `^`.
    pub align: char,
    /// `+`, `-`, blank, or `\0` when not given.
    pub sign: char,
    /// `z`: what rounds to nothing has no minus.
    pub no_negative_zero: bool,
    /// `#`
    pub alternate: bool,
    /// The least number of characters.
    pub width: usize,
    /// `,` or `_`.
    pub group: Option<char>,
    /// Digits behind the point, or the most characters of a text.
    pub precision: Option<usize>,
    /// The letter of the type, or `\0` when not given.
    pub kind: char,
}

impl Spec {
    /// Take a specification apart, for a type with these defaults.
    ///
    /// # Errors
    /// Python's `ValueError`s for what is not one.
    pub fn parse(
        text: &str,
        default_align: char,
        default_kind: char,
        type_name: &str,
    ) -> Result<Self, SpecError> {
        let chars: Vec<char> = text.chars().collect();
        let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
        let is_align = |c: char| matches!(c, '<' | '>' | '=' | '^');
        let mut i = 0;
        let mut spec = Spec::with_defaults(default_align, default_kind);
        let (mut fill_given, mut align_given) = (false, false);
        if is_align(at(1)) {
            (spec.fill, spec.align) = (at(0), at(1));
            (fill_given, align_given) = (true, true);
            i = 2;
        } else if is_align(at(0)) {
            spec.align = at(0);
            align_given = true;
            i = 1;
        }
        if matches!(at(i), '+' | '-' | ' ') {
            spec.sign = at(i);
            i += 1;
        }
        if at(i) == 'z' {
            spec.no_negative_zero = true;
            i += 1;
        }
        if at(i) == '#' {
            spec.alternate = true;
            i += 1;
        }
        if !fill_given && at(i) == '0' {
            spec.fill = '0';
            if !align_given && default_align == '>' {
                spec.align = '=';
            }
            i += 1;
        }
        spec.width = number(&chars, &mut i)?.unwrap_or(0);
        spec.group = group(&chars, &mut i)?;
        if at(i) == '.' {
            i += 1;
            let precision = number(&chars, &mut i)?;
            spec.precision = Some(precision.ok_or(SpecError::NoPrecision)?);
        }
        match chars.len() - i.min(chars.len()) {
            0 => {}
            1 => spec.kind = at(i),
            _ => {
                return Err(SpecError::Invalid {
                    text: text.to_owned(),
                    type_name: type_name.to_owned(),
                });
            }
        }
        spec.check_group()?;
        Ok(spec)
    }

    fn with_defaults(align: char, kind: char) -> Self {
        Spec {
            fill: ' ',
            align,
            sign: '\0',
            no_negative_zero: false,
            alternate: false,
            width: 0,
            group: None,
            precision: None,
            kind,
        }
    }

    /// Check that numbers of the kind have groups of digits.
    fn check_group(&self) -> Result<(), SpecError> {
        match (self.group, self.kind) {
            (None, _)
            | (Some(_), 'd' | 'e' | 'f' | 'g' | 'E' | 'F' | 'G' | '%' | '\0')
            | (Some('_'), 'b' | 'o' | 'x' | 'X') => Ok(()),
            (Some(group), kind) => Err(SpecError::GroupWith { group, kind }),
        }
    }
}

/// The sign that separates groups of digits.
fn group(chars: &[char], i: &mut usize) -> Result<Option<char>, SpecError> {
    let mut group = None;
    for symbol in [',', '_'] {
        if chars.get(*i) == Some(&symbol) {
            if group.is_some() {
                return Err(SpecError::TwoGroups);
            }
            group = Some(symbol);
            *i += 1;
        }
    }
    if chars.get(*i) == Some(&',') && group == Some('_') {
        return Err(SpecError::TwoGroups);
    }
    Ok(group)
}

/// Digits at a position, as a number.
fn number(chars: &[char], at: &mut usize) -> Result<Option<usize>, SpecError> {
    let start = *at;
    let mut number: usize = 0;
    while let Some(c) = chars.get(*at).filter(|c| is_decimal_digit(**c)) {
        let digit = c.to_digit(10).unwrap_or(0) as usize;
        number = number
            .checked_mul(10)
            .and_then(|n| n.checked_add(digit))
            .filter(|n| isize::try_from(*n).is_ok())
            .ok_or(SpecError::TooManyDigits)?;
        *at += 1;
    }
    Ok((*at > start).then_some(number))
}

/// A character as Python's messages about specifications show it.
#[must_use]
pub fn shown(c: char) -> String {
    if c > ' ' && c < '\u{80}' {
        c.to_string()
    } else {
        format!("\\x{:x}", u32::from(c))
    }
}
