//! Floats as decimal text, digit for digit as C's `printf` and Python print them.

/// The style of a float.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `repr`: the shortest digits that read back.
    Shortest,
    /// `e`: one digit, a point, this many digits, an exponent.
    Exponent,
    /// `f`: this many digits after the point.
    Fixed,
    /// `g`: so many significant digits, in the shorter of the other two.
    General,
}

/// The float without its sign, which [`is_negative`] returns.
///
/// `alternate` keeps the point and trailing zeros (`#`); `dot_zero` adds `.0` to a number that
/// would look like an integer.
///
/// ```
/// use mapstack_value::pytext::float::{Style, digits};
/// assert_eq!(digits(0.5, Style::Fixed, 2, false, false), "0.50");
/// ```
#[must_use]
pub fn digits(x: f64, style: Style, precision: usize, alternate: bool, dot_zero: bool) -> String {
    let x = x.abs();
    if x.is_nan() {
        return "nan".into();
    }
    if x.is_infinite() {
        return "inf".into();
    }
    match style {
        Style::Shortest => shortest(x, alternate),
        Style::Fixed => fixed(x, precision, alternate),
        Style::Exponent => exponential(x, precision, alternate),
        Style::General => general(x, precision.max(1), alternate, dot_zero),
    }
}

/// True if the number has a minus sign.
///
/// ```
/// assert!(mapstack_value::pytext::float::is_negative(-0.0));
/// ```
#[must_use]
pub fn is_negative(x: f64) -> bool {
    x.is_sign_negative() && !x.is_nan()
}

/// No float has more digits than this; what is asked beyond it is zeros.
const EXACT: usize = 1100;

fn shortest(x: f64, alternate: bool) -> String {
    let text = crate::pytext::float_repr(x);
    match text.split_once('e') {
        Some((digits, exponent)) if alternate && !digits.contains('.') => {
            format!("{digits}.e{exponent}")
        }
        _ => text,
    }
}

fn fixed(x: f64, precision: usize, alternate: bool) -> String {
    let mut text = format!("{x:.*}", precision.min(EXACT));
    text.extend(std::iter::repeat_n('0', precision.saturating_sub(EXACT)));
    if precision == 0 && alternate {
        text.push('.');
    }
    text
}

/// Digits (one, then `precision`) and the power of ten of the first.
fn scientific(x: f64, precision: usize) -> (String, i32) {
    let text = format!("{x:.*e}", precision.min(EXACT));
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mut digits = digits.replace('.', "");
    digits.extend(std::iter::repeat_n('0', precision.saturating_sub(EXACT)));
    (digits, exponent.parse().unwrap_or(0))
}

fn exponential(x: f64, precision: usize, alternate: bool) -> String {
    let (digits, exponent) = scientific(x, precision);
    with_exponent(&digits, exponent, alternate)
}

fn with_exponent(digits: &str, exponent: i32, alternate: bool) -> String {
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() && !alternate {
        ""
    } else {
        "."
    };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{first}{point}{rest}e{sign}{:02}", exponent.abs())
}

fn general(x: f64, precision: usize, alternate: bool, dot_zero: bool) -> String {
    let (all, exponent) = scientific(x, precision - 1);
    let significant = if alternate {
        &*all
    } else {
        all.trim_end_matches('0')
    };
    let significant = if significant.is_empty() {
        "0"
    } else {
        significant
    };
    // The number of digits before the point, were it written plainly.
    let point = i64::from(exponent) + 1;
    let most = i64::try_from(precision).unwrap_or(i64::MAX) - i64::from(dot_zero);
    if point <= -4 || point > most {
        return with_exponent(significant, exponent, alternate);
    }
    let Ok(point) = usize::try_from(point) else {
        let zeros = "0".repeat(usize::try_from(-point).unwrap_or(0));
        return format!("0.{zeros}{significant}");
    };
    if point == 0 {
        return format!("0.{significant}");
    }
    let whole: String = significant
        .chars()
        .chain(std::iter::repeat('0'))
        .take(point)
        .collect();
    let fraction = significant.get(point..).unwrap_or("");
    match (fraction.is_empty(), dot_zero, alternate) {
        (false, ..) => format!("{whole}.{fraction}"),
        (true, true, _) => format!("{whole}.0"),
        (true, false, true) => format!("{whole}."),
        (true, false, false) => whole,
    }
}
