//! Dates and times as Python prints them, once PyYAML has read them.

use std::fmt::Write;

/// The text that Python's `str` prints of the date, or of the date and time, that PyYAML makes of a scalar; `None` if
/// there is none (`SafeConstructor.construct_yaml_timestamp`).
///
/// The text has the form that YAML requires of such scalars.
pub(crate) fn printed(text: &str) -> Option<String> {
    let (date, rest) = match text.find(['T', 't', ' ', '\t']) {
        Some(end) => (
            &text[..end],
            text[end + 1..].trim_start_matches([' ', '\t']),
        ),
        None => (text, ""),
    };
    let mut parts = date.splitn(3, '-');
    let mut part = || parts.next()?.parse::<u32>().ok();
    let (year, month, day) = (part()?, part()?, part()?);
    if year == 0 || day == 0 || day > days_of(year, month)? {
        return None;
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    if rest.is_empty() {
        return Some(date);
    }
    let zone_at = rest.find(['Z', '+', '-']).unwrap_or(rest.len());
    let (time, zone) = (
        rest[..zone_at].trim_end_matches([' ', '\t']),
        &rest[zone_at..],
    );
    let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
    let mut parts = clock.splitn(3, ':');
    let mut part = || parts.next()?.parse::<u32>().ok();
    let (hour, minute, second) = (part()?, part()?, part()?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut printed = format!("{date} {hour:02}:{minute:02}:{second:02}");
    let digits: String = fraction.chars().take(6).collect();
    if digits.bytes().any(|b| b != b'0') {
        let _ = write!(printed, ".{digits:0<6}");
    }
    printed.push_str(&offset(zone)?);
    Some(printed)
}

/// The offset from UTC as Python prints it; empty without a zone.
fn offset(zone: &str) -> Option<String> {
    let Some(digits) = zone.strip_prefix(['+', '-']) else {
        return Some(if zone.is_empty() { "" } else { "+00:00" }.to_owned());
    };
    let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "0"));
    let (hours, minutes) = (hours.parse::<u32>().ok()?, minutes.parse::<u32>().ok()?);
    let all = hours * 60 + minutes;
    // Python's zones are less than a day away.
    if all >= 24 * 60 {
        return None;
    }
    let sign = if zone.starts_with('-') && all > 0 {
        '-'
    } else {
        '+'
    };
    Some(format!("{sign}{:02}:{:02}", all / 60, all % 60))
}

fn days_of(year: u32, month: u32) -> Option<u32> {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => Some(31),
        4 | 6 | 9 | 11 => Some(30),
        2 => Some(if is_leap { 29 } else { 28 }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::printed;

    #[test]
    fn as_python_prints_them() {
        for (text, expected) in [
            ("2001-12-14", Some("2001-12-14")),
            ("2000-02-29", Some("2000-02-29")),
            ("1900-02-29", None),
            ("2001-13-01", None),
            ("2001-1-2T1:02:03", Some("2001-01-02 01:02:03")),
            (
                "2001-12-14t21:59:43.10-05:00",
                Some("2001-12-14 21:59:43.100000-05:00"),
            ),
            (
                "2001-12-14 21:59:43.10 -5",
                Some("2001-12-14 21:59:43.100000-05:00"),
            ),
            (
                "2001-12-14 21:59:43.0000001Z",
                Some("2001-12-14 21:59:43+00:00"),
            ),
            ("2001-12-14 24:00:00", None),
            ("2001-12-14 01:02:03 +25", None),
        ] {
            assert_eq!(printed(text).as_deref(), expected, "{text}");
        }
    }
}
