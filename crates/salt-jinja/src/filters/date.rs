//! Salt's `strftime` filter, in UTC.

use std::cell::Cell;
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::strtime;
use mapstack_pyobject::{CallArgs, Error, Obj, Result, as_float, to_str};
use mapstack_pytext::number;

use super::date_digits;
use mapstack_jinja::Filters;
use mapstack_jinja::Vm;
use mapstack_jinja::call::{plain, quoted, room};

pub(super) const TABLE: Filters = &[("date_format", strftime), ("strftime", strftime)];

const DAY: i64 = 86_400;
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

thread_local! {
    /// How often a template of this thread asked for the time.
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

/// Midnight, so many days from today.
fn from_today(days: i64) -> Option<DateTime> {
    let midnight = now()?.date().to_datetime(Time::midnight());
    midnight
        .checked_add(SignedDuration::from_secs(days * DAY))
        .ok()
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
        Obj::Str(s) | Obj::Markup(s) => parse(s).ok_or_else(cannot),
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

/// Read a date as text: the common forms of those the reference understands.
fn parse(text: &str) -> Option<DateTime> {
    let lower = text.trim().to_lowercase();
    match lower.as_str() {
        "" | "now" => return now(),
        "today" | "midnight" => return from_today(0),
        "tomorrow" => return from_today(1),
        "yesterday" => return from_today(-1),
        _ => {}
    }
    if let Some(seconds) = lower.strip_prefix('@') {
        return since_1970(seconds.parse().ok()?, 0);
    }
    let is_in_digits = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '\t');
    let unsigned = lower.strip_prefix(['+', '-']);
    if lower.chars().all(|c| is_in_digits(c) || c == '.')
        || unsigned.is_some_and(|digits| digits.chars().all(is_in_digits))
    {
        return date_digits::moment(&lower, now).or_else(|| seconds_of(text));
    }
    parse_words(&lower).or_else(|| seconds_of(text))
}

/// A text as seconds since 1970: with all digits an integer, and otherwise a float.
fn seconds_of(text: &str) -> Option<DateTime> {
    match text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => since_1970(text.parse().ok()?, 0),
        false => number::float(text).and_then(from_float),
    }
}

/// So many seconds after the start of a day. Behind the end of a month, days count on.
pub(super) fn at(year: i64, month: i64, day: i64, seconds: i64) -> Option<DateTime> {
    // The month before the first, and the day before the first of a month, have the number 0.
    let (year, month) = match month {
        0 => (year - 1, 12),
        month => (year, month),
    };
    let first = Date::new(year.try_into().ok()?, month.try_into().ok()?, 1).ok()?;
    let after = SignedDuration::from_secs((day - 1) * DAY + seconds);
    let at = first.to_datetime(Time::midnight()).checked_add(after).ok();
    at.filter(|at| year >= 1 && at.year() >= 1)
}

fn clock_seconds(hours: i64, minutes: i64, seconds: i64) -> Option<i64> {
    let fits =
        (0..=23).contains(&hours) && (0..=59).contains(&minutes) && (0..=60).contains(&seconds);
    fits.then_some(hours * 3600 + minutes * 60 + seconds)
}

/// A date with or without a time of day, in words, numbers and separators.
fn parse_words(text: &str) -> Option<DateTime> {
    let (date_text, time_text) = split_time(text);
    let seconds = time_text.map_or(Some(0), parse_clock)?;
    if date_text.trim().is_empty() && time_text.is_some() {
        return from_today(0)?
            .checked_add(SignedDuration::from_secs(seconds))
            .ok();
    }
    let parts: Vec<&str> = date_text
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | '-' | '/' | '.'))
        .filter(|p| !p.is_empty())
        .collect();
    let [a, b, c] = parts[..] else { return None };
    let number = |s: &str| {
        s.trim_end_matches(|c: char| c.is_ascii_alphabetic())
            .parse::<i64>()
            .ok()
    };
    let month = |s: &str| {
        let found = MONTHS
            .iter()
            .position(|name| s.len() >= 3 && name.starts_with(s))?;
        i64::try_from(found + 1).ok()
    };
    if let Some(month) = month(a) {
        return at(number(c)?, month, number(b)?, seconds);
    }
    if let Some(month) = month(b) {
        // 2 Jan 2024 or 2024-Jan-2
        let (year, day) = if a.len() == 4 { (a, c) } else { (c, a) };
        return at(number(year)?, month, number(day)?, seconds);
    }
    if a.len() == 4 {
        return at(number(a)?, number(b)?, number(c)?, seconds);
    }
    if c.len() != 4 {
        return None;
    }
    // Month first with slashes, day first otherwise.
    let (month, day) = if date_text.contains('/') {
        (a, b)
    } else {
        (b, a)
    };
    at(number(c)?, number(month)?, number(day)?, seconds)
}

/// The date and what follows it.
fn split_time(text: &str) -> (&str, Option<&str>) {
    let Some(colon) = text.find(':') else {
        return (text, None);
    };
    let start = text[..colon]
        .trim_end_matches(|c: char| c.is_ascii_digit())
        .len();
    let date = text[..start].trim_end();
    let date = date
        .strip_suffix('t')
        .filter(|d| d.ends_with(|c: char| c.is_ascii_digit()))
        .unwrap_or(date);
    (date, Some(&text[start..]))
}

/// A time of day. The reference ignores fractions and time zones.
fn parse_clock(text: &str) -> Option<i64> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.')
        .unwrap_or(text.len());
    let (clock, rest) = text.split_at(end);
    let mut fields = clock
        .split('.')
        .next()?
        .split(':')
        .map(|field| field.parse::<i64>().ok());
    let (hours, minutes) = (fields.next()??, fields.next()??);
    let seconds = fields.next().unwrap_or(Some(0))?;
    if fields.next().is_some() {
        return None;
    }
    let rest = rest.trim();
    let hours = match rest {
        "am" if hours == 12 => 0,
        "pm" if hours < 12 => hours + 12,
        "" | "am" | "pm" | "z" | "utc" | "gmt" => hours,
        zone if zone.starts_with(['+', '-']) => hours,
        _ => return None,
    };
    clock_seconds(hours, minutes, seconds)
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

/// What stands behind a `%`, as the C library of GNU reads it.
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
    /// The directive at the start of a text, and what stands behind it.
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

    /// What a letter prints.
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
