//! Laying out a number: sign, prefix, groups of digits, padding.

use crate::Interpreter;
use crate::limits::Result;
use crate::methods::limit;

/// A number in parts.
pub struct NumberParts<'a> {
    pub negative: bool,
    /// `0x` and the like.
    pub prefix: &'a str,
    /// Digits before the point, or `nan` and `inf`.
    pub whole: &'a str,
    /// The text that follows them: point, fraction, exponent, percent sign.
    pub rest: &'a str,
}

/// The layout of a number.
pub struct Layout {
    /// `+`, `-` or blank.
    pub sign: char,
    /// The separator of groups, and the number of digits of a group.
    pub groups: Option<(char, usize)>,
    pub fill: char,
    /// `<`, `>`, `=` or `^`.
    pub align: char,
    pub width: usize,
}

/// The number as text.
pub fn lay_out(vm: &dyn Interpreter, number: &NumberParts<'_>, layout: &Layout) -> Result<String> {
    limit::text(
        vm,
        layout
            .width
            .saturating_mul(layout.fill.len_utf8())
            .saturating_mul(2),
    )?;
    let sign = match (number.negative, layout.sign) {
        (true, _) => "-",
        (false, '+') => "+",
        (false, ' ') => " ",
        (false, _) => "",
    };
    let around = sign.len() + number.prefix.len() + number.rest.len();
    // Zeros between sign and digits are grouped like digits.
    let zeros = layout.fill == '0' && layout.align == '=';
    let least = if zeros {
        layout.width.saturating_sub(around)
    } else {
        0
    };
    let whole = match layout.groups {
        Some((separator, size)) => grouped(number.whole, separator, size, least),
        None => number.whole.to_string(),
    };
    let body = format!("{whole}{}", number.rest);
    let length = sign.len() + number.prefix.len() + body.chars().count();
    let missing = layout.width.saturating_sub(length);
    let fill = |n: usize| std::iter::repeat_n(layout.fill, n).collect::<String>();
    let prefix = number.prefix;
    Ok(match layout.align {
        '<' => format!("{sign}{prefix}{body}{}", fill(missing)),
        '^' => format!(
            "{}{sign}{prefix}{body}{}",
            fill(missing / 2),
            fill(missing - missing / 2)
        ),
        '=' => format!("{sign}{prefix}{}{body}", fill(missing)),
        _ => format!("{}{sign}{prefix}{body}", fill(missing)),
    })
}

/// The digits in groups from the right, with zeros in front up to `least` characters.
fn grouped(digits: &str, separator: char, size: usize, least: usize) -> String {
    if !digits.starts_with(|c: char| c.is_ascii_hexdigit()) || digits == "inf" || digits == "nan" {
        return digits.to_string();
    }
    let mut reversed = String::new();
    let mut left = digits.chars().rev().peekable();
    let mut in_group = 0;
    loop {
        let more = left.peek().is_some();
        if !more && reversed.len() >= least {
            break;
        }
        if in_group == size {
            reversed.push(separator);
            in_group = 0;
            // A separator never comes first: a digit follows even when the width is reached.
            reversed.push(left.next().unwrap_or('0'));
            in_group += 1;
            continue;
        }
        reversed.push(left.next().unwrap_or('0'));
        in_group += 1;
    }
    reversed.chars().rev().collect()
}
