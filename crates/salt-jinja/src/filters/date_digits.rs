//! Dates in digits alone, or in digits behind a sign or between dots, as `timelib` reads them: piece by piece, each
//! the longest that is one. A text that is not a date counts as seconds since 1970.

use std::ops::Range;

use jiff::civil::DateTime;
use jiff::civil::Time;

use super::date::at;

/// What the pieces of a text say.
#[derive(Default)]
struct Said {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    /// The seconds of the day.
    clock: Option<i64>,
    has_date: bool,
}

/// The moment that a text of digits, signs and dots means; `None` if it is not a date. Parts that it lacks are those of
/// the present, which a date without a time of day has none of.
pub(super) fn moment(text: &str, now: impl FnOnce() -> Option<DateTime>) -> Option<DateTime> {
    let mut said = Said::default();
    let mut rest = match text.strip_prefix(['+', '-']) {
        // Zones do not count.
        Some(zone) => &zone[zone_length(zone)?..],
        None => text,
    };
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        if rest.is_empty() {
            return said.moment(now()?);
        }
        let length = said.piece(rest)?;
        rest = rest.get(length..)?;
    }
}

/// The length of a time zone behind its sign: an hour, and perhaps a minute.
fn zone_length(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let hour = |length: usize| {
        number(text, 0..length)
            .filter(|hour| *hour < 24)
            .map(|_| length)
    };
    let minute = |start: usize, length: usize| {
        let minute = number(text, start..start + length).filter(|minute| *minute < 60);
        minute
            .filter(|_| start + length <= digits)
            .map(|_| start + length)
    };
    let with_minute = |length: usize| {
        let hour = hour(length).filter(|hour| *hour <= digits)?;
        [2, 1]
            .into_iter()
            .find_map(|more| minute(hour, more))
            .or(Some(hour))
    };
    [2, 1].into_iter().filter_map(with_minute).max()
}

fn number(text: &str, range: Range<usize>) -> Option<i64> {
    let digits = text.get(range)?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

impl Said {
    /// Take the longest piece at the start of a text; its length.
    fn piece(&mut self, text: &str) -> Option<usize> {
        let digits = [14, 8, 7, 6, 4]
            .into_iter()
            .find(|length| is_digits(text, *length));
        let found = [
            dotted_clock(text),
            dotted_date(text),
            digits.map(|length| (length, Piece::Digits)),
        ];
        let (length, piece) =
            found
                .into_iter()
                .flatten()
                .reduce(|best, other| match other.0 > best.0 {
                    true => other,
                    false => best,
                })?;
        match piece {
            Piece::Clock(clock) => self.time(clock)?,
            Piece::Date(year, month, day) => self.date(year, month, day)?,
            Piece::Digits => self.digits(text.get(..length)?)?,
        }
        Some(length)
    }

    fn digits(&mut self, piece: &str) -> Option<()> {
        let part = |range: Range<usize>| number(piece, range);
        let year = part(0..4)?;
        match piece.len() {
            14 => {
                self.date(year, part(4..6)?, part(6..8)?)?;
                self.time(clock(&piece[8..])?)
            }
            8 => self.date(year, part(4..6)?, part(6..8)?),
            7 => self.date(full_year(year), 1, part(4..7)?),
            6 => self.time(clock(piece)?),
            // Four digits are a time of day, and a year behind one or if no clock shows them.
            _ => match clock(piece).filter(|_| self.clock.is_none()) {
                Some(clock) => self.time(clock),
                None => {
                    self.year = Some(year);
                    Some(())
                }
            },
        }
    }

    fn date(&mut self, year: i64, month: i64, day: i64) -> Option<()> {
        if self.has_date {
            return None;
        }
        (self.year, self.month, self.day) = (Some(year), Some(month), Some(day));
        self.has_date = true;
        Some(())
    }

    fn time(&mut self, clock: i64) -> Option<()> {
        self.clock.replace(clock).is_none().then_some(())
    }

    fn moment(self, now: DateTime) -> Option<DateTime> {
        let clock = match (self.clock, self.has_date) {
            (Some(clock), _) => clock,
            (None, true) => 0,
            (None, false) => {
                let since = now.duration_since(now.date().to_datetime(Time::midnight()));
                since.as_secs()
            }
        };
        at(
            self.year.unwrap_or(now.year().into()),
            self.month.unwrap_or(now.month().into()),
            self.day.unwrap_or(now.day().into()),
            clock,
        )
    }
}

/// What a piece of a text is.
enum Piece {
    /// A time of day with dots.
    Clock(i64),
    /// A date with dots: its year, month and day.
    Date(i64, i64, i64),
    /// Digits alone.
    Digits,
}

/// True if so many digits at the start of a text are a date, a time of day, both, or a year.
fn is_digits(text: &str, length: usize) -> bool {
    let part = |range: Range<usize>| number(text, range);
    let at_most = |range, most| part(range).is_some_and(|number| number <= most);
    let has_date = || at_most(4..6, 12) && at_most(6..8, 31);
    let has_clock = |range| {
        text.get(range)
            .is_some_and(|digits| clock(digits).is_some())
    };
    part(0..length).is_some()
        && match length {
            14 => has_date() && has_clock(8..14),
            8 => has_date(),
            7 => part(4..7).is_some_and(|day| (1..=366).contains(&day)),
            6 => has_clock(0..6),
            _ => true,
        }
}

/// `H.M`, `H.M.S` or that with a fraction, at the start of a text.
fn dotted_clock(text: &str) -> Option<(usize, Piece)> {
    let (hours, at) = field(text, 0, 23)?;
    let (minutes, at) = field(text, dot(text, at)?, 59)?;
    let short = (at, Piece::Clock(clock_of(hours, minutes, 0)?));
    let Some((seconds, mut at)) = dot(text, at).and_then(|at| field(text, at, 60)) else {
        return Some(short);
    };
    if let Some(fraction) = dot(text, at) {
        let digits = text[fraction..]
            .bytes()
            .take_while(u8::is_ascii_digit)
            .count();
        at = if digits > 0 { fraction + digits } else { at };
    }
    Some((at, Piece::Clock(clock_of(hours, minutes, seconds)?)))
}

/// `D.M.YYYY`, `D.M.YY` or `YYYY.DDD`, at the start of a text.
fn dotted_date(text: &str) -> Option<(usize, Piece)> {
    if let (Some(year), Some(b'.'), Some(day)) = (
        number(text, 0..4),
        text.as_bytes().get(4),
        number(text, 5..8),
    ) {
        let piece = Piece::Date(full_year(year), 1, day);
        return (1..=366).contains(&day).then_some((8, piece));
    }
    let (day, at) = field(text, 0, 31)?;
    let (month, at) = field(text, dot(text, at)?, 12)?;
    let at = dot(text, at)?;
    let year = |length: usize| Some((at + length, number(text, at..at + length)?));
    match year(4) {
        Some((end, year)) => Some((end, Piece::Date(year, month, day))),
        None => year(2).map(|(end, year)| (end, Piece::Date(full_year(year), month, day))),
    }
}

/// A number of two digits, or of one, up to the largest, and where it ends.
fn field(text: &str, at: usize, largest: i64) -> Option<(i64, usize)> {
    let of = |length: usize| Some((number(text, at..at + length)?, at + length));
    let fits = |(number, _): &(i64, usize)| *number <= largest;
    of(2).filter(fits).or_else(|| of(1).filter(fits))
}

/// Where a dot ends.
fn dot(text: &str, at: usize) -> Option<usize> {
    (text.as_bytes().get(at) == Some(&b'.')).then_some(at + 1)
}

/// A year that may be short of its century.
fn full_year(year: i64) -> i64 {
    match year {
        ..70 => year + 2000,
        70..100 => year + 1900,
        _ => year,
    }
}

/// The seconds of a day from `HHMM` or `HHMMSS`.
fn clock(digits: &str) -> Option<i64> {
    let seconds = match digits.len() {
        4 => 0,
        _ => number(digits, 4..6)?,
    };
    clock_of(number(digits, 0..2)?, number(digits, 2..4)?, seconds)
}

fn clock_of(hours: i64, minutes: i64, seconds: i64) -> Option<i64> {
    let fits = hours < 24 && minutes < 60 && seconds <= 60;
    fits.then_some(hours * 3600 + minutes * 60 + seconds)
}
