//! The moment that what is said of a date comes to.

use jiff::civil::{Date, DateTime, Time};

/// A date and a time of day, each part of which may be out of its range.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fields {
    pub year: i128,
    pub month: i128,
    pub day: i128,
    pub hour: i128,
    pub minute: i128,
    pub second: i128,
}

/// The days of 400 years.
const PERIOD: i128 = 146_097;

impl Fields {
    pub fn of(moment: DateTime) -> Self {
        Fields {
            year: moment.year().into(),
            month: moment.month().into(),
            day: moment.day().into(),
            hour: moment.hour().into(),
            minute: moment.minute().into(),
            second: moment.second().into(),
        }
    }

    /// Bring each part into its range.
    pub fn normalize(&mut self) {
        carry(60, &mut self.second, &mut self.minute);
        carry(60, &mut self.minute, &mut self.hour);
        carry(24, &mut self.hour, &mut self.day);
        self.normalize_months();
        self.year += 400 * (self.day / PERIOD);
        self.day %= PERIOD;
        while self.day <= 0 {
            self.month -= 1;
            self.normalize_months();
            self.day += self.days_of_month();
        }
        while self.day > self.days_of_month() {
            self.day -= self.days_of_month();
            self.month += 1;
            self.normalize_months();
        }
    }

    fn normalize_months(&mut self) {
        let mut month = self.month - 1;
        carry(12, &mut month, &mut self.year);
        self.month = month + 1;
    }

    fn is_leap(&self) -> bool {
        let year = self.year;
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    fn days_of_month(&self) -> i128 {
        match self.month {
            2 if self.is_leap() => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    /// The day of the week, from Sunday on, as timelib computes it: in years before 1701 it can be another one, and days
    /// before a month have negative ones.
    pub fn weekday(&self) -> i128 {
        const MONTHS: [i128; 13] = [-1, 0, 3, 3, 6, 1, 4, 6, 2, 5, 0, 3, 5];
        let century = self.year / 100 - 17;
        let century = (4 - century * 2 + (century + 1) / 4) % 7;
        let year = self.year % 100;
        let of_month = |month| MONTHS.get(usize::try_from(month).ok()?);
        let month = match self.month {
            month @ (1 | 2) if self.is_leap() => [6, 2][usize::from(month == 2)],
            month => of_month(month).copied().unwrap_or_default(),
        };
        (century + if century < 0 { 7 } else { 0 } + year + year / 4 + month + self.day) % 7
    }

    /// The moment, if Python has a date for it.
    pub fn moment(&self) -> Option<DateTime> {
        #[expect(clippy::cast_possible_truncation, reason = "as C does")]
        let year = self.year as i32;
        let date = Date::new(
            i16::try_from(year).ok().filter(|year| *year >= 1)?,
            self.month.try_into().ok()?,
            self.day.try_into().ok()?,
        );
        let time = Time::new(
            self.hour.try_into().ok()?,
            self.minute.try_into().ok()?,
            self.second.try_into().ok()?,
            0,
        );
        Some(date.ok()?.to_datetime(time.ok()?))
    }
}

fn carry(size: i128, part: &mut i128, next: &mut i128) {
    *next += part.div_euclid(size);
    *part = part.rem_euclid(size);
}
