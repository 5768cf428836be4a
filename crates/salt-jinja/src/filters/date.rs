//! Salt's `strftime` filter, in UTC.

use std::cell::Cell;
use std::time::{SystemTime, UNIX_EPOCH};

use mapstack_pyobject::{CallArgs, Error, Obj, Result, as_float, to_str};

use mapstack_jinja::Filters;
use mapstack_jinja::Vm;
use mapstack_jinja::call::{plain, quoted, room};
use mapstack_jinja::filters::number::parse_float;

pub(super) const TABLE: Filters = &[("date_format", strftime), ("strftime", strftime)];

const DAY: i64 = 86_400;
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// A date and time of the proleptic Gregorian calendar.
#[derive(Clone, Copy)]
struct Moment {
    /// Seconds since 1970.
    seconds: i64,
    microseconds: u32,
    year: i64,
    month: u32,
    day: u32,
}

/// Days from 1970 to a date.
fn days_from_civil(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let shifted = i64::from((month + 9) % 12);
    let day_of_year = (153 * shifted + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

thread_local! {
    /// How often a template of this thread asked for the time.
    static CLOCK_READS: Cell<u64> = const { Cell::new(0) };
}

/// How often templates of this thread have asked for the present time so far. What they print then is
/// not the same every time.
#[must_use]
pub fn clock_reads() -> u64 {
    CLOCK_READS.try_with(Cell::get).unwrap_or_default()
}

impl Moment {
    /// A moment of the years 1 to 9999.
    fn new(seconds: i64, microseconds: u32) -> Option<Self> {
        let days = seconds.div_euclid(DAY) + 719_468;
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * day_of_year + 2) / 153;
        let day = u32::try_from(day_of_year - (153 * shifted + 2) / 5 + 1).ok()?;
        let month = u32::try_from(if shifted < 10 {
            shifted + 3
        } else {
            shifted - 9
        })
        .ok()?;
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        (1..=9999).contains(&year).then_some(Moment {
            seconds,
            microseconds,
            year,
            month,
            day,
        })
    }

    fn from_float(f: f64) -> Option<Self> {
        if !f.is_finite() || f.abs() > 1e12 {
            return None;
        }
        let microseconds = (f * 1e6).round_ties_even();
        #[expect(clippy::cast_possible_truncation, reason = "at most 1e18")]
        let microseconds = microseconds as i64;
        Self::new(
            microseconds.div_euclid(1_000_000),
            u32::try_from(microseconds.rem_euclid(1_000_000)).ok()?,
        )
    }

    fn now() -> Option<Self> {
        // At the end of a thread the count does not matter.
        let _ = CLOCK_READS.try_with(|reads| reads.set(reads.get().wrapping_add(1)));
        let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        Self::new(i64::try_from(since.as_secs()).ok()?, since.subsec_micros())
    }

    fn of_day(&self) -> i64 {
        self.seconds.rem_euclid(DAY)
    }

    /// The day of the week, Sunday first.
    fn weekday(&self) -> i64 {
        (self.seconds.div_euclid(DAY) + 4).rem_euclid(7)
    }

    /// The day of the year, from 0.
    fn yearday(&self) -> i64 {
        self.seconds.div_euclid(DAY) - days_from_civil(self.year, 1, 1)
    }

    /// Year and week of ISO 8601.
    fn iso_week(&self) -> (i64, i64) {
        let monday_based = (self.weekday() + 6) % 7;
        // The week belongs to the year of its Thursday.
        let thursday = self.seconds.div_euclid(DAY) - monday_based + 3;
        let year = Moment::new(thursday * DAY, 0).map_or(self.year, |m| m.year);
        (year, (thursday - days_from_civil(year, 1, 1)) / 7 + 1)
    }
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
    Ok(Obj::from(print(&moment, format)))
}

fn moment_of(x: &Obj) -> Result<Moment> {
    let cannot = || {
        let shown = to_str(x).unwrap_or_else(|_| quoted(x));
        Error::value_error(format!("Unable to parse {shown}"))
            .with_help("dates that are understood: seconds since 1970, 2024-12-31, 2024-12-31 23:59:59, 31 Dec 2024")
    };
    match x {
        Obj::None => Moment::now().ok_or_else(cannot),
        Obj::Str(s) | Obj::Markup(s) => parse(s).ok_or_else(cannot),
        Obj::Undefined(u) => {
            u.check()?;
            Err(cannot())
        }
        other => as_float(other)
            .ok()
            .flatten()
            .and_then(Moment::from_float)
            .ok_or_else(cannot),
    }
}

/// Read a date as text: the common forms of those the reference understands.
fn parse(text: &str) -> Option<Moment> {
    let lower = text.trim().to_lowercase();
    let today = || Moment::now().map(|now| now.seconds - now.of_day());
    match lower.as_str() {
        "" | "now" => return Moment::now(),
        "today" | "midnight" => return Moment::new(today()?, 0),
        "tomorrow" => return Moment::new(today()? + DAY, 0),
        "yesterday" => return Moment::new(today()? - DAY, 0),
        _ => {}
    }
    if let Some(seconds) = lower.strip_prefix('@') {
        return Moment::new(seconds.parse().ok()?, 0);
    }
    if lower.bytes().all(|b| b.is_ascii_digit()) {
        let number = |range: std::ops::Range<usize>| lower[range].parse::<i64>().ok();
        return match lower.len() {
            8 => at(number(0..4)?, number(4..6)?, number(6..8)?, 0),
            14 => at(number(0..4)?, number(4..6)?, number(6..8)?, {
                clock_seconds(number(8..10)?, number(10..12)?, number(12..14)?)?
            }),
            _ => Moment::new(lower.parse().ok()?, 0),
        };
    }
    parse_words(&lower).or_else(|| parse_float(&lower).and_then(Moment::from_float))
}

fn at(year: i64, month: i64, day: i64, seconds: i64) -> Option<Moment> {
    let (month, day) = (u32::try_from(month).ok()?, u32::try_from(day).ok()?);
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    Moment::new(days_from_civil(year, month, day) * DAY + seconds, 0)
}

fn clock_seconds(hours: i64, minutes: i64, seconds: i64) -> Option<i64> {
    let fits =
        (0..=24).contains(&hours) && (0..=59).contains(&minutes) && (0..=60).contains(&seconds);
    fits.then_some(hours * 3600 + minutes * 60 + seconds)
}

/// A date with or without a time of day, in words, numbers and separators.
fn parse_words(text: &str) -> Option<Moment> {
    let (date_text, time_text) = split_time(text);
    let seconds = time_text.map_or(Some(0), parse_clock)?;
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
            .position(|name| s.len() >= 3 && name.to_lowercase().starts_with(s))?;
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

fn print(m: &Moment, format: &str) -> String {
    let mut out = String::new();
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        // A flag of the C library and a width, which only changes how numbers are filled.
        let flag = after.chars().next().filter(|c| "-_0^#".contains(*c));
        let after_flag = &after[usize::from(flag.is_some())..];
        let Some(directive) = after_flag.chars().next() else {
            out.push('%');
            rest = after;
            continue;
        };
        match directive_text(m, directive) {
            Some(text) => out.push_str(&flagged(&text, flag)),
            None => {
                out.push('%');
                out.extend(flag);
                out.push(directive);
            }
        }
        rest = &after_flag[directive.len_utf8()..];
    }
    out + rest
}

fn flagged(text: &str, flag: Option<char>) -> String {
    let number = !text.is_empty() && text.trim_start().bytes().all(|b| b.is_ascii_digit());
    match flag {
        Some('-') if number => {
            let stripped = text.trim_start_matches([' ', '0']);
            if stripped.is_empty() {
                "0".into()
            } else {
                stripped.into()
            }
        }
        Some('_') if number => {
            let zeros = text.len() - text.trim_start_matches('0').len();
            let zeros = zeros.min(text.len() - 1);
            " ".repeat(zeros) + &text[zeros..]
        }
        Some('0') if number => text.replace(' ', "0"),
        Some('^') => text.to_uppercase(),
        _ => text.to_string(),
    }
}

fn directive_text(m: &Moment, directive: char) -> Option<String> {
    let of_day = m.of_day();
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let twelve = if hour % 12 == 0 { 12 } else { hour % 12 };
    let weekday = m.weekday();
    let monday_based = (weekday + 6) % 7;
    let yearday = m.yearday();
    let name = |names: &[&'static str], i: i64| {
        usize::try_from(i)
            .ok()
            .and_then(|i| names.get(i))
            .copied()
            .unwrap_or("")
    };
    let month_name = name(&MONTHS, i64::from(m.month) - 1);
    let day_name = name(&DAYS, weekday);
    Some(match directive {
        'a' => day_name[..3].to_string(),
        'A' => day_name.to_string(),
        'b' | 'h' => month_name[..3].to_string(),
        'B' => month_name.to_string(),
        'c' => print(m, "%a %b %e %H:%M:%S %Y"),
        'C' => format!("{:02}", m.year / 100),
        'd' => format!("{:02}", m.day),
        'D' | 'x' => print(m, "%m/%d/%y"),
        'e' => format!("{:2}", m.day),
        'f' => format!("{:06}", m.microseconds),
        'F' => print(m, "%Y-%m-%d"),
        'g' => format!("{:02}", m.iso_week().0 % 100),
        'G' => m.iso_week().0.to_string(),
        'H' => format!("{hour:02}"),
        'I' => format!("{twelve:02}"),
        'j' => format!("{:03}", yearday + 1),
        'k' => format!("{hour:2}"),
        'l' => format!("{twelve:2}"),
        'm' => format!("{:02}", m.month),
        'M' => format!("{minute:02}"),
        'n' => "\n".into(),
        'p' => if hour < 12 { "AM" } else { "PM" }.into(),
        'P' => if hour < 12 { "am" } else { "pm" }.into(),
        'r' => print(m, "%I:%M:%S %p"),
        'R' => print(m, "%H:%M"),
        's' => m.seconds.to_string(),
        'S' => format!("{second:02}"),
        't' => "\t".into(),
        'T' | 'X' => print(m, "%H:%M:%S"),
        'u' => (monday_based + 1).to_string(),
        'U' => format!("{:02}", (yearday + 7 - weekday) / 7),
        'V' => format!("{:02}", m.iso_week().1),
        'w' => weekday.to_string(),
        'W' => format!("{:02}", (yearday + 7 - monday_based) / 7),
        'y' => format!("{:02}", m.year % 100),
        'Y' => m.year.to_string(),
        // The moments have no time zone.
        'z' | 'Z' => String::new(),
        '%' => "%".into(),
        _ => return None,
    })
}
