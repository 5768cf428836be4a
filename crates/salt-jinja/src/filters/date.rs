//! Salt's `strftime` filter, in UTC.

use std::cell::Cell;
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::SignedDuration;
use jiff::civil::DateTime;
use jiff::fmt::strtime;
use mapstack_pyobject::{CallArgs, Error, Obj, Result, as_float, to_str};
use mapstack_value::pytext::number;

use super::timelib;
use mapstack_jinja::Filters;
use mapstack_jinja::Vm;
use mapstack_jinja::call::{plain, quoted, room};

pub(super) const TABLE: Filters = &[("date_format", strftime), ("strftime", strftime)];

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
thread_local! {
    /// The number of times that a template of this thread read the clock.
    static CLOCK_READS: Cell<u64> = const { Cell::new(0) };
}

/// The number of times that templates of this thread have asked for the present time so far. What they print then is
/// not the same every time.
#[must_use]
pub fn clock_reads() -> u64 {
    CLOCK_READS.try_with(Cell::get).unwrap_or_default()
}

/// So long after 1970, in the years 1 to 9999, which Python's dates have.
fn since_1970(seconds: i64, microseconds: u32) -> Option<DateTime> {
    let since = SignedDuration::new(
        seconds,
        i32::try_from(microseconds).ok()?.checked_mul(1000)?,
    );
    EPOCH.checked_add(since).ok().filter(|at| at.year() >= 1)
}

fn from_float(f: f64) -> Option<DateTime> {
    if !f.is_finite() || f.abs() > 1e12 {
        return None;
    }
    let microseconds = (f * 1e6).round_ties_even();
    #[expect(clippy::cast_possible_truncation, reason = "at most 1e18")]
    let microseconds = microseconds as i64;
    since_1970(
        microseconds.div_euclid(1_000_000),
        u32::try_from(microseconds.rem_euclid(1_000_000)).ok()?,
    )
}

fn now() -> Option<DateTime> {
    // At the end of a thread the count does not matter.
    let _ = CLOCK_READS.try_with(|reads| reads.set(reads.get().wrapping_add(1)));
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    since_1970(i64::try_from(since.as_secs()).ok()?, since.subsec_micros())
}

fn strftime(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [format] = plain("strftime", "date").bind(args, 0, ["format"])?;
    let format = format.unwrap_or_else(|| Obj::from("%Y-%m-%d"));
    let moment = moment_of(&x)?;
    let Some(format) = format.as_str() else {
        if let Obj::Undefined(u) = &format {
            return Err(u.error());
        }
        let message = format!(
            "strftime() argument 1 must be str, not {}",
            format.type_name()
        );
        return Err(Error::type_error(message));
    };
    room(vm, format.len())?;
    Ok(Obj::from(print(moment, format)))
}

fn moment_of(x: &Obj) -> Result<DateTime> {
    let cannot = || {
        let shown = to_str(x).unwrap_or_else(|_| quoted(x));
        Error::value_error(format!("Unable to parse {shown}"))
            .with_help("dates that are understood: seconds since 1970, 2024-12-31, 2024-12-31 23:59:59, 31 Dec 2024")
    };
    match x {
        Obj::None => now().ok_or_else(cannot),
        Obj::Str(s) | Obj::Markup(s) => timelib::moment(s, now)
            .or_else(|| seconds_of(s))
            .ok_or_else(cannot),
        Obj::Undefined(u) => {
            u.check()?;
            Err(cannot())
        }
        other => as_float(other)
            .ok()
            .flatten()
            .and_then(from_float)
            .ok_or_else(cannot),
    }
}

/// A text as seconds since 1970: with all digits an integer, and otherwise a float.
fn seconds_of(text: &str) -> Option<DateTime> {
    match text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => since_1970(text.parse().ok()?, 0),
        false => number::float(text).and_then(from_float),
    }
}

fn print(at: DateTime, format: &str) -> String {
    let mut out = String::new();
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let (text, behind) = Directive::split(after).map_or_else(
            || ("%".into(), after),
            |(directive, behind)| (directive.print(at), behind),
        );
        out.push_str(&text);
        rest = behind;
    }
    out + rest
}

/// Whole seconds since 1970.
fn seconds(at: DateTime) -> i64 {
    let since = at.duration_since(EPOCH);
    since.as_secs() - i64::from(since.subsec_nanos() < 0)
}

/// The part behind a `%`, as the C library of GNU reads it.
struct Directive<'a> {
    /// All of it, without the `%`.
    spec: &'a str,
    flag: Option<char>,
    width: usize,
    letter: char,
}

/// More than this is not filled up.
const MAX_WIDTH: usize = 1_000;

impl<'a> Directive<'a> {
    /// The directive at the start of a text, and the rest.
    fn split(text: &'a str) -> Option<(Self, &'a str)> {
        let flag = text.chars().next().filter(|c| "-_0^#".contains(*c));
        let start = flag.map_or(0, char::len_utf8);
        let digits = text[start..].find(|c: char| !c.is_ascii_digit())?;
        let behind_width = start + digits;
        let mut letters = text[behind_width..].char_indices();
        let (mut at, mut letter) = letters.next()?;
        // Other forms for another locale, which the C library has only for some letters.
        let others = match letter {
            'E' => "cCxXyY",
            'O' => "deHImMSuUVwWy",
            _ => "",
        };
        if let Some((behind, next)) = letters.next().filter(|(_, next)| others.contains(*next)) {
            (at, letter) = (behind, next);
        }
        let (spec, behind) = text.split_at(behind_width + at + letter.len_utf8());
        let directive = Directive {
            spec,
            flag,
            width: text[start..behind_width].parse().unwrap_or_default(),
            letter,
        };
        Some((directive, behind))
    }

    fn print(&self, at: DateTime) -> String {
        let number = |fill, least| self.number(at, fill, least);
        match self.letter {
            'd' | 'g' | 'H' | 'I' | 'm' | 'M' | 'S' | 'U' | 'V' | 'W' | 'y' => number('0', 2),
            'j' => number('0', 3),
            'C' | 'G' | 'u' | 'w' | 'Y' => number('0', 1),
            'e' | 'k' | 'l' => number(' ', 2),
            's' => self.filled(&seconds(at).to_string(), ' ', 1),
            // Python's own directive, which has neither a flag nor a width.
            'f' if self.spec == "f" => format!("{:06}", at.subsec_nanosecond() / 1000),
            'c' => self.text(print(at, "%a %b %e %H:%M:%S %Y")),
            'r' => self.text(print(at, "%I:%M:%S %p")),
            'x' => self.text(print(at, "%m/%d/%y")),
            'X' => self.text(print(at, "%H:%M:%S")),
            'F' => self.text(print(at, "%Y-%m-%d")),
            // The moments have no time zone.
            'z' => String::new(),
            'Z' => self.text(String::new()),
            '%' | 'a' | 'A' | 'b' | 'B' | 'D' | 'h' | 'n' | 'p' | 'P' | 'R' | 't' | 'T' => {
                self.text(self.of(at, ""))
            }
            _ => self.text(format!("%{}", self.spec)),
        }
    }

    /// The text that a letter prints.
    fn of(&self, at: DateTime, flag: &str) -> String {
        strtime::format(format!("%{flag}{}", self.letter), at).unwrap_or_default()
    }

    fn number(&self, at: DateTime, fill: char, least: usize) -> String {
        self.filled(&self.of(at, "-"), fill, least)
    }

    fn filled(&self, digits: &str, fill: char, least: usize) -> String {
        let (fill, least) = match self.flag {
            Some('-') => (' ', 0),
            Some('_') => (' ', least),
            Some('0') => ('0', least),
            _ => (fill, least),
        };
        fill_up(digits, fill, least.max(self.width))
    }

    fn text(&self, text: String) -> String {
        let text = match (self.flag, self.letter) {
            (Some('^'), letter) if letter != 'P' => text.to_uppercase(),
            (Some('#'), 'a' | 'A' | 'b' | 'B' | 'h') => text.to_uppercase(),
            (Some('#'), 'p') => text.to_lowercase(),
            _ => text,
        };
        let fill = if self.flag == Some('0') { '0' } else { ' ' };
        fill_up(&text, fill, self.width)
    }
}

fn fill_up(text: &str, fill: char, width: usize) -> String {
    let missing = width.min(MAX_WIDTH).saturating_sub(text.chars().count());
    std::iter::repeat_n(fill, missing)
        .chain(text.chars())
        .collect()
}
