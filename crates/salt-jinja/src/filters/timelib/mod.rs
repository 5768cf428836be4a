//! Dates in words and digits, as `timelib` reads them, piece by piece. Of zones only the names count: a moment is the
//! date and the time of day that the text says.

mod calendar;
mod cursor;
mod grammar;

use jiff::civil::DateTime;

use calendar::Fields;
use cursor::Cursor;
use grammar::DatePiece;

/// The names of zones that count, one a line (recorded from `timelib`).
const ZONES: &str = include_str!("../../../data/zones.txt");

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
const ROMAN: [&str; 12] = [
    "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii",
];
const DAYS: [&str; 7] = [
    "sunday",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
];
const NUMBERS: [&str; 12] = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eight", "ninth", "tenth",
    "eleventh", "twelfth",
];

/// The moment that a text means; `None` if it is not a date. Parts that it lacks are those of the present, and a date
/// without a time of day begins with the day.
pub fn moment(text: &str, now: impl FnOnce() -> Option<DateTime>) -> Option<DateTime> {
    // C ends a text there.
    let text = text.split('\0').next()?.as_bytes();
    if text.is_empty() {
        return None;
    }
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let start = text.iter().take_while(|byte| is_space(byte)).count();
    let start = start.min(text.len() - 1);
    let behind = text[start + 1..].iter().rev();
    let end = text.len() - behind.take_while(|byte| is_space(byte)).count();
    let mut text = text[start..end].to_vec();
    text.push(0);
    let (mut said, mut rest) = (PartialDate::default(), &*text);
    while !rest.is_empty() {
        let (piece, length) = grammar::piece(rest)?;
        let (own, behind) = rest.split_at(length);
        said.piece(piece, own)?;
        rest = behind;
    }
    said.moment(now()?)
}

/// The date that the pieces describe, as far as it is known.
#[derive(Debug, Default)]
struct PartialDate {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    /// The hour, the minute and the second.
    clock: [Option<i64>; 3],
    has_date: bool,
    /// The number of times of day; four digits are a year behind one.
    clocks: u8,
    has_zone: bool,
    /// The difference to be added.
    relative: Fields,
    /// The day of the week, from Sunday on.
    weekday: Option<i128>,
    /// 0 if today counts for it, or else 1.
    behavior: i128,
    /// The number of working days.
    weekdays: Option<i128>,
}

impl PartialDate {
    /// Take a piece; `None` if it is an error.
    fn piece(&mut self, piece: DatePiece, text: &[u8]) -> Option<()> {
        let cursor = &mut Cursor { rest: text };
        match piece {
            DatePiece::Now | DatePiece::Separator => {}
            DatePiece::Other => return None,
            DatePiece::Yesterday | DatePiece::Tomorrow | DatePiece::Noon | DatePiece::Midnight => {
                self.day_in_words(piece);
            }
            DatePiece::Timestamp => self.timestamp(cursor)?,
            DatePiece::Clock12 => {
                self.time()?;
                self.clock_12(cursor, false)?;
            }
            DatePiece::Clock24 => {
                self.time()?;
                self.clock_24(cursor, b":.")?;
            }
            DatePiece::ShortClock => self.short_clock(cursor)?,
            DatePiece::Clock => {
                self.time()?;
                self.clock = [cursor.number(2), cursor.number(2), cursor.number(2)];
                zone_behind(cursor)?;
            }
            DatePiece::DateAndClock | DatePiece::Log => self.date_and_clock(piece, cursor)?,
            DatePiece::WeekDay | DatePiece::Week => self.week(piece, cursor)?,
            DatePiece::MonthDayClock12 | DatePiece::MonthDayClock24 => {
                self.date()?;
                (self.month, self.day) = (month(cursor), cursor.number(2));
                self.time()?;
                match piece {
                    DatePiece::MonthDayClock12 => self.clock_12(cursor, true)?,
                    _ => self.clock_24(cursor, b":")?,
                }
            }
            DatePiece::Year => self.year = cursor.number(4),
            DatePiece::Ago => self.ago(),
            DatePiece::DayName => self.day_name(&cursor.until(b" \t")),
            DatePiece::RelativeText | DatePiece::Relative => self.relative(piece, cursor),
            DatePiece::Zone if self.has_zone => {}
            DatePiece::Zone => {
                self.has_zone = true;
                zone(cursor)?;
            }
            _ => self.plain_date(piece, cursor)?,
        }
        Some(())
    }

    fn date(&mut self) -> Option<()> {
        (!std::mem::replace(&mut self.has_date, true)).then_some(())
    }

    fn time(&mut self) -> Option<()> {
        let is_first = self.clocks == 0;
        self.clocks = 1;
        self.clock = [Some(0); 3];
        is_first.then_some(())
    }

    fn no_time(&mut self) {
        self.clocks = 0;
        self.clock = [Some(0); 3];
    }

    fn day_in_words(&mut self, piece: DatePiece) {
        self.no_time();
        match piece {
            DatePiece::Yesterday => (self.relative.day, self.behavior) = (-1, 1),
            DatePiece::Tomorrow => (self.relative.day, self.behavior) = (1, 1),
            DatePiece::Noon => {
                self.clocks = 1;
                self.clock[0] = Some(12);
            }
            _ => {}
        }
    }

    fn timestamp(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        self.no_time();
        self.has_date = false;
        self.behavior = 1;
        (self.year, self.month, self.day) = (Some(1970), Some(1), Some(1));
        self.relative.second += i128::from(cursor.signed()?);
        Some(())
    }

    fn short_clock(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        match self.clocks {
            0 => self.clock = [cursor.number(2), cursor.number(2), Some(0)],
            1 => self.year = cursor.number(4),
            _ => return None,
        }
        self.clocks += 1;
        Some(())
    }

    /// A time of day before or after noon, with as many minutes and seconds as it has, or with minutes
    /// somewhere behind the hour.
    fn clock_12(&mut self, cursor: &mut Cursor<'_>, has_minutes: bool) -> Option<()> {
        let is_behind = |cursor: &Cursor<'_>| matches!(cursor.next(), Some(b':' | b'.'));
        self.clock[0] = cursor.number(2);
        if has_minutes || is_behind(cursor) {
            self.clock[1] = cursor.number(2);
            if is_behind(cursor) {
                self.clock[2] = cursor.number(2);
            }
        }
        cursor.skip(|byte| !matches!(byte, b'a' | b'A' | b'p' | b'P'));
        let hour = self.clock[0]?;
        let is_before_noon = matches!(cursor.next(), Some(b'a' | b'A'));
        self.clock[0] = Some(match (is_before_noon, hour) {
            (true, 12) => 0,
            (true, _) | (false, 12) => hour,
            (false, _) => hour + 12,
        });
        Some(())
    }

    /// A time of day whose seconds follow one of these.
    fn clock_24(&mut self, cursor: &mut Cursor<'_>, before_seconds: &[u8]) -> Option<()> {
        (self.clock[0], self.clock[1]) = (cursor.number(2), cursor.number(2));
        if cursor
            .next()
            .is_some_and(|next| before_seconds.contains(&next))
        {
            self.clock[2] = cursor.number(2);
            if cursor.next() == Some(b'.') {
                cursor.fraction(8);
            }
        }
        zone_behind(cursor)
    }

    fn date_and_clock(&mut self, piece: DatePiece, cursor: &mut Cursor<'_>) -> Option<()> {
        self.time()?;
        self.date()?;
        match piece {
            DatePiece::Log => {
                (self.day, self.month) = (cursor.number(2), month(cursor));
                self.year = cursor.number(4);
            }
            _ => {
                self.year = cursor.number(4);
                (self.month, self.day) = (cursor.number(2), cursor.number(2));
            }
        }
        self.clock = [cursor.number(2), cursor.number(2), cursor.number(2)];
        match (piece, cursor.next()) {
            (DatePiece::Log, _) => zone(cursor),
            (_, Some(b'.')) => {
                cursor.fraction(9);
                zone_behind(cursor)
            }
            _ => Some(()),
        }
    }

    fn week(&mut self, piece: DatePiece, cursor: &mut Cursor<'_>) -> Option<()> {
        self.date()?;
        self.behavior = 1;
        let (year, week) = (cursor.number(4)?, cursor.number(2)?);
        let day = match piece {
            DatePiece::WeekDay => cursor.number(1)?,
            _ => 1,
        };
        (self.year, self.month, self.day) = (Some(year), Some(1), Some(1));
        let first = Fields {
            year: year.into(),
            month: 1,
            day: 1,
            ..Fields::default()
        };
        // The first week has the first Thursday of the year.
        let start = match first.weekday() {
            day @ 5.. => 7 - day,
            day => -day,
        };
        self.relative.day = start + i128::from(week - 1) * 7 + i128::from(day);
        Some(())
    }

    fn ago(&mut self) {
        let all = &mut self.relative;
        for part in [
            &mut all.year,
            &mut all.month,
            &mut all.day,
            &mut all.hour,
            &mut all.minute,
            &mut all.second,
        ] {
            *part = -*part;
        }
        self.weekday = self.weekday.map(|day| -day);
        self.weekdays = self.weekdays.map(|count| -count);
    }

    fn day_name(&mut self, name: &str) {
        self.no_time();
        self.behavior = 1;
        let day = match unit(name) {
            Some(Unit::Weekday(day)) => day,
            // All other units count as the number 1.
            _ => 1,
        };
        self.weekday = Some(day);
    }

    fn relative(&mut self, piece: DatePiece, cursor: &mut Cursor<'_>) {
        let (amount, behavior) = match piece {
            DatePiece::Relative => (cursor.signed().unwrap_or_default(), 1),
            _ => {
                let word = cursor.word();
                (amount(&word), i128::from(word == "this"))
            }
        };
        cursor.skip(|byte| matches!(byte, b' ' | b'\t'));
        let amount = i128::from(amount);
        let unit = unit(&cursor.until(b" \t"));
        self.behavior = 1;
        let add = &mut self.relative;
        match unit {
            Some(Unit::Second) => add.second += amount,
            Some(Unit::Minute) => add.minute += amount,
            Some(Unit::Hour) => add.hour += amount,
            Some(Unit::Day(days)) => add.day += amount * days,
            Some(Unit::Month) => add.month += amount,
            Some(Unit::Year) => add.year += amount,
            Some(Unit::Weekday(day)) => {
                add.day += 7 * if amount > 0 { amount - 1 } else { amount };
                (self.weekday, self.behavior) = (Some(day), behavior);
                self.no_time();
            }
            Some(Unit::Weekdays) => {
                self.weekdays = Some(amount);
                self.no_time();
            }
            None => {}
        }
    }

    /// A date of a year, a month and a day in some order.
    fn plain_date(&mut self, piece: DatePiece, cursor: &mut Cursor<'_>) -> Option<()> {
        self.date()?;
        match piece {
            DatePiece::DayMonthYear | DatePiece::DayMonth => {
                self.day_and_month(cursor);
                self.set_year(cursor.number(4));
            }
            DatePiece::MonthYear | DatePiece::MonthName => {
                self.month = month(cursor);
                if piece == DatePiece::MonthYear {
                    (self.year, self.day) = (cursor.number(4).map(full_year), Some(1));
                }
            }
            DatePiece::YearMonthName | DatePiece::YearNameDay => {
                self.year = cursor.number(4).map(full_year);
                self.month = month(cursor);
                self.day = cursor.number(2).or(Some(1));
            }
            DatePiece::MonthDay | DatePiece::MonthDayYear => {
                (self.month, self.day) = (month(cursor), cursor.number(2));
                self.year = cursor.number(4).map(full_year);
            }
            DatePiece::DayOfYear => {
                self.year = cursor.number(4).map(full_year);
                (self.month, self.day) = (Some(1), cursor.number(3));
            }
            piece => self.date_of_numbers(piece, cursor),
        }
        Some(())
    }

    fn date_of_numbers(&mut self, piece: DatePiece, cursor: &mut Cursor<'_>) {
        match piece {
            DatePiece::American => {
                (self.month, self.day) = (cursor.number(2), cursor.number(2));
                self.set_year(cursor.number(4));
            }
            DatePiece::DotsLongYear | DatePiece::DotsShortYear => {
                (self.day, self.month) = (cursor.number(2), cursor.number(2));
                self.year = match piece {
                    DatePiece::DotsLongYear => cursor.number(4),
                    _ => cursor.number(2).map(full_year),
                };
            }
            _ => {
                self.year = match piece {
                    DatePiece::YearFirst => signed_year(cursor),
                    DatePiece::Digits => cursor.number(4),
                    _ => cursor.number(4).map(full_year),
                };
                self.month = cursor.number(2);
                self.day = match piece {
                    DatePiece::YearMonth => Some(1),
                    _ => cursor.number(2),
                };
            }
        }
    }

    /// A year that may be short of its century, if there is one.
    fn set_year(&mut self, year: Option<i64>) {
        self.year = year.map(full_year).or(self.year);
    }

    fn day_and_month(&mut self, cursor: &mut Cursor<'_>) {
        self.day = cursor.number(2);
        let suffixes: [&[u8]; 4] = [b"nd", b"rd", b"st", b"th"];
        let next = cursor.rest.get(..2).map(<[u8]>::to_ascii_lowercase);
        if next.is_some_and(|next| suffixes.contains(&&*next)) {
            cursor.rest = &cursor.rest[2..];
        }
        self.month = month(cursor);
    }

    fn moment(self, now: DateTime) -> Option<DateTime> {
        let now = Fields::of(now);
        let [hour, minute, second] = match self.has_date && self.clocks == 0 {
            true => [Some(0); 3],
            false => self.clock,
        };
        let or = |said: Option<i64>, now: i128| said.map_or(now, i128::from);
        let mut at = Fields {
            year: or(self.year, now.year),
            month: or(self.month, now.month),
            day: or(self.day, now.day),
            hour: or(hour, now.hour),
            minute: or(minute, now.minute),
            second: or(second, now.second),
        };
        let relative = self.relative;
        if let Some(weekday) = self.weekday {
            at.day += to_weekday(&at, weekday, self.behavior, relative.day);
        }
        at.normalize();
        at.year += relative.year;
        at.month += relative.month;
        at.day += relative.day;
        at.hour += relative.hour;
        at.minute += relative.minute;
        at.second += relative.second;
        at.normalize();
        if let Some(count) = self.weekdays {
            add_weekdays(&mut at, count);
            at.normalize();
        }
        at.moment()
    }
}

/// The days to a day of the week.
fn to_weekday(at: &Fields, weekday: i128, behavior: i128, days: i128) -> i128 {
    let today = at.weekday();
    let mut difference = weekday - today;
    if (days < 0 && difference < 0) || (days >= 0 && difference <= -behavior) {
        difference += 7;
    }
    match weekday >= 0 {
        true => difference,
        false => weekday.abs() - today - 7,
    }
}

/// Go on by working days.
fn add_weekdays(at: &mut Fields, count: i128) {
    let today = at.weekday();
    at.day += match (count.signum(), today) {
        (0, 6) | (1, 5) => 2,
        (0, 0) | (1, 6) => 1,
        (-1, 1) => -2,
        (-1, 0) => -1,
        _ => 0,
    };
    at.day += count / 5 * 7;
    let (today, rest) = (at.weekday(), count % 5);
    at.day += rest;
    if count > 0 && rest + today > 5 {
        at.day += 2;
    } else if count < 0 && rest + today < 1 {
        at.day -= 2;
    }
}

/// The units that can be counted.
enum Unit {
    Second,
    Minute,
    Hour,
    Day(i128),
    Month,
    Year,
    /// A day of the week, from Sunday on.
    Weekday(i128),
    /// Working days.
    Weekdays,
}

fn unit(name: &str) -> Option<Unit> {
    let name = name.trim_end_matches('\0').to_lowercase();
    let day = DAYS
        .iter()
        .position(|day| *day == name || day[..3] == *name);
    if let Some(day) = day {
        return Some(Unit::Weekday(i128::try_from(day).ok()?));
    }
    Some(match name.strip_suffix('s').unwrap_or(&name) {
        "sec" | "second" => Unit::Second,
        "min" | "minute" => Unit::Minute,
        "hour" => Unit::Hour,
        "day" => Unit::Day(1),
        "week" => Unit::Day(7),
        "fortnight" | "forthnight" => Unit::Day(14),
        "month" => Unit::Month,
        "year" => Unit::Year,
        "weekday" => Unit::Weekdays,
        _ => return None,
    })
}

/// The number that a word such as `next` means.
fn amount(word: &str) -> i64 {
    match word {
        "next" => 1,
        "last" | "previous" => -1,
        word => NUMBERS
            .iter()
            .zip(1..)
            .find_map(|(name, number)| (*name == word).then_some(number))
            .unwrap_or_default(),
    }
}

fn month(cursor: &mut Cursor<'_>) -> Option<i64> {
    cursor.skip(|byte| matches!(byte, b' ' | b'\t' | b'-' | b'.' | b'/'));
    let word = cursor.word();
    let is_it = |name: &str| name == word || name[..3] == *word;
    let named = MONTHS.iter().position(|name| is_it(name));
    let named = named.or_else(|| ROMAN.iter().position(|name| *name == word));
    let named = named.or_else(|| (word == "sept").then_some(8));
    Some(named.map_or(0, |index| i64::try_from(index + 1).unwrap_or_default()))
}

fn signed_year(cursor: &mut Cursor<'_>) -> Option<i64> {
    let is_negative = cursor.next() == Some(b'-');
    let year = cursor.number(4)?;
    Some(if is_negative { -year } else { year })
}

/// A year that may be short of its century.
fn full_year(year: i64) -> i64 {
    match year {
        ..70 => year + 2000,
        70..100 => year + 1900,
        _ => year,
    }
}

/// A zone, if there is more of the piece.
fn zone_behind(cursor: &mut Cursor<'_>) -> Option<()> {
    match cursor.rest {
        [] => Some(()),
        _ => zone(cursor),
    }
}

/// An offset or the name of a zone.
fn zone(cursor: &mut Cursor<'_>) -> Option<()> {
    cursor.skip(|byte| matches!(byte, b' ' | b'\t' | b'('));
    if matches!(cursor.next(), Some(b'+' | b'-')) {
        return Some(());
    }
    let name = cursor.until(b") ");
    ZONES
        .lines()
        .any(|zone| zone.eq_ignore_ascii_case(&name))
        .then_some(())
}
