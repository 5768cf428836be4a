//! Filling text up to a width.

use crate::Interpreter;
use crate::limits::Result;
use crate::methods::limit;

/// The position of a text in its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
    Center,
}

/// `ljust`, `rjust` and `center`.
pub fn justify(
    vm: &dyn Interpreter,
    s: &str,
    width: i64,
    fill: char,
    align: Align,
) -> Result<String> {
    let width = usize::try_from(width).unwrap_or(0);
    let missing = width.saturating_sub(s.chars().count());
    let left = match align {
        Align::Left => 0,
        Align::Right => missing,
        // `str.center` puts the odd one left only in fields of odd width.
        Align::Center => missing / 2 + (missing & width & 1),
    };
    around(vm, s, left, missing - left, fill)
}

/// Text with this many fill characters on both sides.
pub fn around(
    vm: &dyn Interpreter,
    s: &str,
    left: usize,
    right: usize,
    fill: char,
) -> Result<String> {
    let padding = left.saturating_add(right).saturating_mul(fill.len_utf8());
    limit::text(vm, s.len().saturating_add(padding))?;
    let fill = |n: usize| std::iter::repeat_n(fill, n);
    Ok(fill(left).chain(s.chars()).chain(fill(right)).collect())
}

/// `zfill`: zeros between sign and digits.
pub fn zfill(vm: &dyn Interpreter, s: &str, width: i64) -> Result<String> {
    let missing = usize::try_from(width)
        .unwrap_or(0)
        .saturating_sub(s.chars().count());
    let signed = s.starts_with(['+', '-']);
    let (sign, rest) = s.split_at(usize::from(signed));
    Ok(format!("{sign}{}", around(vm, rest, missing, 0, '0')?))
}

/// `expandtabs`: blanks up to the next multiple of `size` columns.
pub fn expand_tabs(vm: &dyn Interpreter, s: &str, size: usize) -> Result<String> {
    limit::text(
        vm,
        s.len()
            .saturating_add(s.matches('\t').count().saturating_mul(size)),
    )?;
    let mut out = String::with_capacity(s.len());
    let mut column = 0;
    for c in s.chars() {
        match c {
            '\t' if size == 0 => {}
            '\t' => {
                let blanks = size - column % size;
                out.extend(std::iter::repeat_n(' ', blanks));
                column += blanks;
            }
            c => {
                out.push(c);
                column = if matches!(c, '\n' | '\r') {
                    0
                } else {
                    column + 1
                };
            }
        }
    }
    Ok(out)
}
