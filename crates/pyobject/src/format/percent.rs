//! The `%` operator on text.

use mapstack_value::pytext::float::{self, Style};
use std::iter::Peekable;
use std::str::Chars;

use mapstack_value::Int;

use super::ascii;
use super::spec::{char_of, digits_of, truncated};
use crate::Interpreter;
use crate::limits::{Error, Result};
use crate::methods::limit;
use crate::object::{Obj, as_float, as_index, get_item, repr, to_str};

/// `text % values`.
///
/// # Errors
/// Python's errors for wrong conversions and for too few or too many values.
pub fn percent(vm: &dyn Interpreter, text: &Obj, values: &Obj) -> Result<Obj> {
    let Some(template) = text.as_str() else {
        return Err(Error::type_error(format!(
            "cannot format {}",
            text.type_name()
        )));
    };
    let markup = matches!(text, Obj::Markup(_));
    let mut job = Job {
        vm,
        values: Values::new(values),
        escape: markup,
        out: String::new(),
    };
    let mut rest = Template {
        chars: template.chars().peekable(),
        at: 0,
    };
    while let Some(c) = rest.next() {
        match c {
            '%' => job.conversion(&mut rest)?,
            c => job.out.push(c),
        }
    }
    job.values.check_used()?;
    Ok(if markup {
        Obj::Markup(job.out.into())
    } else {
        Obj::from(job.out)
    })
}

/// The characters of the template and the position of the next.
struct Template<'a> {
    chars: Peekable<Chars<'a>>,
    at: usize,
}

impl Template<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.chars.next()?;
        self.at += 1;
        Some(c)
    }

    fn next_if(&mut self, accept: impl FnOnce(&char) -> bool) -> Option<char> {
        let c = self.chars.next_if(accept)?;
        self.at += 1;
        Some(c)
    }

    fn flags(&mut self) -> Flags {
        let mut flags = Flags::default();
        while let Some(c) = self.next_if(|c| matches!(c, '-' | '+' | ' ' | '#' | '0')) {
            match c {
                '-' => flags.left = true,
                '+' => flags.plus = true,
                ' ' => flags.blank = true,
                '#' => flags.alternate = true,
                _ => flags.zero = true,
            }
        }
        flags
    }

    /// Digits as a number no larger than C's `int` type allows.
    fn number(&mut self, what: &str) -> Result<Option<usize>> {
        let mut number: Option<usize> = None;
        while let Some(c) = self.next_if(char::is_ascii_digit) {
            let digit = c.to_digit(10).unwrap_or(0) as usize;
            let next = number
                .unwrap_or(0)
                .checked_mul(10)
                .and_then(|n| n.checked_add(digit));
            let fits = next.filter(|n| {
                i32::try_from(*n).is_ok() || (what == "width" && isize::try_from(*n).is_ok())
            });
            number = Some(fits.ok_or_else(|| Error::value_error(format!("{what} too big")))?);
        }
        Ok(number)
    }
}

/// The right operand: a tuple of values, or one value that may be a mapping.
struct Values<'a> {
    all: &'a Obj,
    used: usize,
    /// The value that `%(name)s` selected.
    selected: Option<Obj>,
}

impl<'a> Values<'a> {
    fn new(all: &'a Obj) -> Self {
        Values {
            all,
            used: 0,
            selected: None,
        }
    }

    fn next(&mut self) -> Result<Obj> {
        let next = match (&self.selected, self.all) {
            (Some(_), _) => self.selected.take(),
            (None, Obj::Tuple(items)) => items.get(self.used).cloned(),
            (None, only) if self.used == 0 => Some(only.clone()),
            _ => None,
        };
        self.used += 1;
        next.ok_or_else(|| Error::type_error("not enough arguments for format string"))
    }

    /// True if Python takes the operand for a mapping: whatever has items and is not a tuple or text.
    fn is_mapping(&self) -> bool {
        match self.all {
            Obj::Dict(_) | Obj::List(_) | Obj::Bytes(_) | Obj::Undefined(_) => true,
            Obj::Native(native) => native.is_subscriptable(),
            _ => false,
        }
    }

    fn select(&mut self, vm: &dyn Interpreter, name: &str) -> Result<()> {
        if !self.is_mapping() {
            return Err(Error::type_error("format requires a mapping"));
        }
        let key = Obj::from(name);
        let found = match self.all {
            Obj::List(_) => {
                return Err(Error::type_error(
                    "list indices must be integers or slices, not str",
                ));
            }
            Obj::Bytes(_) => {
                return Err(Error::type_error(
                    "byte indices must be integers or slices, not str",
                ));
            }
            mapping => get_item(vm, mapping, &key)?,
        };
        match found {
            Some(value) => {
                self.selected = Some(value);
                // From here on only selected values count.
                self.used = self.used.max(1);
                Ok(())
            }
            None => Err(Error::python("KeyError", repr(&key)?)),
        }
    }

    fn check_used(&self) -> Result<()> {
        let unused = match self.all {
            Obj::Tuple(items) => self.used < items.len(),
            _ => self.used == 0 && !self.is_mapping(),
        };
        if unused {
            return Err(Error::type_error(
                "not all arguments converted during string formatting",
            ));
        }
        Ok(())
    }
}

#[derive(Default)]
struct Flags {
    left: bool,
    plus: bool,
    blank: bool,
    alternate: bool,
    zero: bool,
}

/// The text between `%` and the conversion's letter.
struct Conversion {
    flags: Flags,
    width: usize,
    precision: Option<usize>,
}

struct Job<'a> {
    vm: &'a dyn Interpreter,
    values: Values<'a>,
    escape: bool,
    out: String,
}

impl Job<'_> {
    fn conversion(&mut self, rest: &mut Template<'_>) -> Result<()> {
        let incomplete = || Error::value_error("incomplete format");
        if rest.next_if(|c| *c == '(').is_some() {
            let name = key(rest)?;
            self.values.select(self.vm, &name)?;
        }
        let mut flags = rest.flags();
        let mut width = rest.number("width")?.unwrap_or(0);
        if width == 0 && rest.next_if(|c| *c == '*').is_some() {
            let given = self.star()?;
            flags.left |= given < 0;
            width = usize::try_from(given.unsigned_abs()).unwrap_or(usize::MAX);
        }
        let mut precision = None;
        if rest.next_if(|c| *c == '.').is_some() {
            precision = Some(if rest.next_if(|c| *c == '*').is_some() {
                usize::try_from(self.star()?).unwrap_or(0)
            } else {
                rest.number("precision")?.unwrap_or(0)
            });
        }
        rest.next_if(|c| matches!(c, 'h' | 'l' | 'L'));
        let letter = rest.next().ok_or_else(incomplete)?;
        if letter == '%' {
            self.out.push('%');
            return Ok(());
        }
        self.vm.burn(1)?;
        limit::size(
            self.vm,
            width
                .saturating_add(precision.unwrap_or(0))
                .saturating_add(self.out.len()),
        )?;
        let value = self.values.next()?;
        if let Obj::Undefined(u) = &value {
            u.check()?;
        }
        let conversion = Conversion {
            flags,
            width,
            precision,
        };
        match letter {
            's' | 'r' | 'a' => self.text(letter, &value, &conversion),
            'd' | 'i' | 'u' | 'o' | 'x' | 'X' => self.integer(letter, &value, &conversion),
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' => self.float(letter, &value, &conversion),
            'c' => self.character(&value, &conversion),
            other => Err(unsupported(other, rest.at - 1)),
        }
    }

    /// A width or precision given as a value.
    fn star(&mut self) -> Result<i64> {
        let value = self.values.next()?;
        match (&value, as_index(&value)) {
            (Obj::Undefined(u), _) => Err(u.error()),
            (_, Some(i)) => i.to_i64().ok_or_else(|| {
                Error::python(
                    "OverflowError",
                    "Python int too large to convert to C ssize_t",
                )
            }),
            _ => Err(Error::type_error("* wants int")),
        }
    }

    fn text(&mut self, letter: char, value: &Obj, conversion: &Conversion) -> Result<()> {
        let text = match letter {
            's' => to_str(value)?,
            'r' => repr(value)?,
            _ => ascii(value)?,
        };
        self.vm.burn(text.len() / 16)?;
        let text = match value {
            Obj::Markup(_) if letter == 's' => text,
            _ if self.escape => mapstack_value::pytext::markup::escape(&text),
            _ => text,
        };
        self.padded(
            "",
            "",
            &truncated(&text, conversion.precision),
            conversion,
            ' ',
        )
    }

    fn character(&mut self, value: &Obj, conversion: &Conversion) -> Result<()> {
        let c = match (value, as_index(value)) {
            (Obj::Str(s) | Obj::Markup(s), _) => {
                let mut chars = s.chars();
                chars.next().filter(|_| chars.next().is_none())
            }
            (_, Some(i)) => Some(char_of(&i)?),
            _ => None,
        };
        let c = c.ok_or_else(|| Error::type_error("%c requires int or char"))?;
        self.padded("", "", c.encode_utf8(&mut [0; 4]), conversion, ' ')
    }

    fn integer(&mut self, letter: char, value: &Obj, conversion: &Conversion) -> Result<()> {
        let number = whole_number(letter, value)?;
        let radix = match letter {
            'o' => 8,
            'x' | 'X' => 16,
            _ => 10,
        };
        let mut digits = digits_of(self.vm, &number.abs(), radix)?;
        if let Some(missing) = conversion
            .precision
            .and_then(|precision| precision.checked_sub(digits.len()))
        {
            digits.insert_str(0, &"0".repeat(missing));
        }
        if letter == 'X' {
            digits.make_ascii_uppercase();
        }
        let prefix = match (conversion.flags.alternate, letter) {
            (true, 'o') => "0o",
            (true, 'x') => "0x",
            (true, 'X') => "0X",
            _ => "",
        };
        let fill = if conversion.flags.zero { '0' } else { ' ' };
        self.padded(
            sign(number.is_negative(), conversion),
            prefix,
            &digits,
            conversion,
            fill,
        )
    }

    fn float(&mut self, letter: char, value: &Obj, conversion: &Conversion) -> Result<()> {
        let Some(x) = as_float(value)? else {
            return Err(Error::type_error(format!(
                "must be real number, not {}",
                value.type_name()
            )));
        };
        let style = match letter.to_ascii_lowercase() {
            'e' => Style::Exponent,
            'f' => Style::Fixed,
            _ => Style::General,
        };
        let mut digits = float::digits(
            x,
            style,
            conversion.precision.unwrap_or(6),
            conversion.flags.alternate,
            false,
        );
        if letter.is_ascii_uppercase() {
            digits.make_ascii_uppercase();
        }
        let fill = if conversion.flags.zero { '0' } else { ' ' };
        self.padded(
            sign(float::is_negative(x), conversion),
            "",
            &digits,
            conversion,
            fill,
        )
    }

    fn padded(
        &mut self,
        sign: &str,
        prefix: &str,
        body: &str,
        conversion: &Conversion,
        fill: char,
    ) -> Result<()> {
        let length = sign.len() + prefix.len() + body.chars().count();
        let missing = conversion.width.saturating_sub(length);
        limit::size(
            self.vm,
            self.out
                .len()
                .saturating_add(length)
                .saturating_add(missing),
        )?;
        self.vm.burn((length + missing) / 16)?;
        let padding = std::iter::repeat_n(if conversion.flags.left { ' ' } else { fill }, missing);
        if conversion.flags.left {
            self.out.extend([sign, prefix, body]);
            self.out.extend(padding);
        } else if fill == ' ' {
            self.out.extend(padding);
            self.out.extend([sign, prefix, body]);
        } else {
            self.out.extend([sign, prefix]);
            self.out.extend(padding);
            self.out.push_str(body);
        }
        Ok(())
    }
}

fn unsupported(letter: char, index: usize) -> Box<Error> {
    let shown = if (' '..='~').contains(&letter) {
        letter
    } else {
        '?'
    };
    Error::value_error(format!(
        "unsupported format character '{shown}' ({:#x}) at index {index}",
        u32::from(letter)
    ))
}

/// The name between parentheses, which may hold balanced parentheses itself.
fn key(rest: &mut Template<'_>) -> Result<String> {
    let mut name = String::new();
    let mut open = 1;
    while let Some(c) = rest.next() {
        match c {
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Ok(name);
        }
        name.push(c);
    }
    Err(Error::value_error("incomplete format key"))
}

fn sign(negative: bool, conversion: &Conversion) -> &'static str {
    match (negative, conversion.flags.plus, conversion.flags.blank) {
        (true, ..) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

/// The integer that `%d` and its kin print.
fn whole_number(letter: char, value: &Obj) -> Result<Int> {
    if let Some(i) = as_index(value) {
        return Ok(i);
    }
    match value {
        Obj::Float(f) if !matches!(letter, 'o' | 'x' | 'X') => {
            if f.is_nan() {
                return Err(Error::value_error("cannot convert float NaN to integer"));
            }
            Int::from_f64(*f).filter(|_| f.is_finite()).ok_or_else(|| {
                Error::python("OverflowError", "cannot convert float infinity to integer")
            })
        }
        other => {
            let wanted = if matches!(letter, 'o' | 'x' | 'X') {
                "an integer"
            } else {
                "a real number"
            };
            let message = format!(
                "%{letter} format: {wanted} is required, not {}",
                other.type_name()
            );
            Err(Error::type_error(message))
        }
    }
}
