//! The pieces that dates are made of. At each place the longest one counts, and of equal ones the first.

use std::cell::RefCell;

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind};

/// The kind of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatePiece {
    Yesterday,
    Now,
    Noon,
    Midnight,
    Tomorrow,
    Timestamp,
    Clock12,
    Clock24,
    ShortClock,
    Clock,
    American,
    YearFirst,
    ShortYearFirst,
    YearMonth,
    AnyYearFirst,
    DayMonthYear,
    DotsLongYear,
    DotsShortYear,
    MonthYear,
    YearMonthName,
    MonthDay,
    DayMonth,
    Digits,
    DateAndClock,
    DayOfYear,
    WeekDay,
    Week,
    MonthDayYear,
    YearNameDay,
    Log,
    Year,
    Ago,
    DayName,
    RelativeText,
    MonthName,
    Zone,
    MonthDayClock12,
    MonthDayClock24,
    Relative,
    Separator,
    Other,
}

const SPACE: &str = r"[ \t]+";
const HOUR: &str = "(?:[01]?[0-9]|2[0-3])";
const HOUR_2: &str = "(?:[01][0-9]|2[0-3])";
const HOUR_12: &str = "(?:0?[1-9]|1[0-2])";
const MINUTE: &str = "(?:[0-5]?[0-9])";
const MINUTE_2: &str = "(?:[0-5][0-9])";
const SECOND: &str = "(?:[0-5]?[0-9]|60)";
const SECOND_2: &str = "(?:[0-5][0-9]|60)";
/// The end of the text is a NUL.
const MERIDIAN: &str = r"(?:[AaPp]\.?[Mm]\.?[\x00\t ])";
const ZONE: &str = r"(?:\(?[A-Za-z]{1,6}\)?|[A-Z][a-z]+(?:[_/][A-Z][a-z]+)+)";
const OFFSET: &str = "(?:[+-](?:[01]?[0-9]|2[0-3]):?[0-5]?[0-9]?)";
const MONTH: &str = "(?:0?[0-9]|1[0-2])";
const MONTH_2: &str = "(?:0[0-9]|1[0-2])";
const DAY: &str = "(?:(?:[0-2]?[0-9]|3[01])(?:st|nd|rd|th)?)";
const DAY_2: &str = "(?:0[0-9]|[1-2][0-9]|3[01])";
const YEAR: &str = "[0-9]{1,4}";
const YEAR_4: &str = "[0-9]{4}";
const DAY_OF_YEAR: &str = "(?:00[1-9]|0[1-9][0-9]|[12][0-9][0-9]|3[0-5][0-9]|36[0-6])";
const WEEK: &str = "(?:0[1-9]|[1-4][0-9]|5[0-3])";
const DAY_NAME: &str = "(?i:sunday|monday|tuesday|wednesday|thursday|friday|saturday|sun|mon|tue|wed|thu|fri|sat|weekdays?)";
const MONTH_LONG: &str =
    "(?i:january|february|march|april|may|june|july|august|september|october|november|december)";
const MONTH_SHORT: &str = "(?i:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)";
const MONTH_ROMAN: &str = "(?:I|II|III|IV|V|VI|VII|VIII|IX|X|XI|XII)";
const NUMBER_TEXT: &str = "(?i:first|next|second|third|fourth|fifth|sixth|seventh|eight|ninth|tenth|eleventh|twelfth|last|previous|this)";
const UNIT: &str = "(?i:(?:sec|second|min|minute|hour|day|week|fortnight|forthnight|month|year)s?)";

/// Times of day that other pieces end with: without and with seconds, and with a zone.
fn clocks() -> [String; 3] {
    let short = format!("(?i:t)?{HOUR}[:.]{MINUTE}");
    let long = format!("{short}[:.]{SECOND}");
    let zoned = format!("{short}[:.]{SECOND_2}(?:{SPACE})?(?:{OFFSET}|{ZONE})");
    [short, long, zoned]
}

/// The same before or after noon.
fn clocks_12() -> String {
    let end = format!("(?:{SPACE})?{MERIDIAN}");
    format!("{HOUR_12}[:.]{MINUTE_2}{end}|{HOUR_12}[:.]{MINUTE}[:.]{SECOND_2}{end}")
}

fn month() -> String {
    format!("(?:{MONTH_LONG}|{MONTH_SHORT}|{MONTH_ROMAN})")
}

fn month_day() -> String {
    format!(r"{}[ .\t-]*{DAY}[,.stndrh\t ]*", month())
}

/// The pieces that are days in words, and times of day.
fn times() -> Vec<(DatePiece, String)> {
    let [short, long, _] = clocks();
    let short_12 = format!("{HOUR_12}(?:{SPACE})?{MERIDIAN}|{}", clocks_12());
    vec![
        (DatePiece::Yesterday, "(?i:yesterday)".into()),
        (DatePiece::Now, "(?i:now)".into()),
        (DatePiece::Noon, "(?i:noon)".into()),
        (DatePiece::Midnight, "(?i:midnight|today)".into()),
        (DatePiece::Tomorrow, "(?i:tomorrow)".into()),
        (DatePiece::Timestamp, "@-?[0-9]+".into()),
        (DatePiece::Clock12, short_12),
        (
            DatePiece::Clock24,
            format!(r"{short}|{long}|{long}\.[0-9]+"),
        ),
        (DatePiece::ShortClock, format!("(?i:t)?{HOUR_2}{MINUTE_2}")),
        (
            DatePiece::Clock,
            format!("(?i:t)?{HOUR_2}{MINUTE_2}{SECOND_2}"),
        ),
    ]
}

/// The pieces that are dates of numbers and names of months.
fn dates() -> Vec<(DatePiece, String)> {
    let (month, month_day) = (month(), month_day());
    let dashed = format!("{YEAR_4}-{MONTH_2}-{DAY_2}");
    let year_first = format!("[+-]?{dashed}|{YEAR_4}/{MONTH_2}/{DAY_2}/?|{YEAR_4}/{MONTH}/{DAY}");
    let with_year = format!(r"{month}[ .\t-]*{DAY}[,.stndrh\t ]+{YEAR}");
    vec![
        (DatePiece::American, format!("{MONTH}/{DAY}(?:/{YEAR})?")),
        (DatePiece::YearFirst, year_first),
        (
            DatePiece::ShortYearFirst,
            format!("[0-9]{{2}}-{MONTH_2}-{DAY_2}"),
        ),
        (DatePiece::YearMonth, format!("{YEAR_4}-{MONTH}")),
        (DatePiece::AnyYearFirst, format!("{YEAR}-{MONTH}-{DAY}")),
        (
            DatePiece::DayMonthYear,
            format!(r"{DAY}[ \t.-]*{month}[ \t.-]*{YEAR}"),
        ),
        (
            DatePiece::DotsLongYear,
            format!(r"{DAY}[.\t-]{MONTH}[.-]{YEAR_4}"),
        ),
        (
            DatePiece::DotsShortYear,
            format!(r"{DAY}[.\t]{MONTH}\.[0-9]{{2}}"),
        ),
        (DatePiece::MonthYear, format!(r"{month}[ .\t-]*{YEAR_4}")),
        (
            DatePiece::YearMonthName,
            format!(r"{YEAR_4}[ .\t-]*{month}"),
        ),
        (DatePiece::MonthDay, format!("{with_year}|{month_day}")),
        (DatePiece::DayMonth, format!(r"{DAY}[ .\t-]*{month}")),
        (DatePiece::Digits, format!("{YEAR_4}{MONTH_2}{DAY_2}")),
        (DatePiece::DateAndClock, date_and_clock()),
        (DatePiece::DayOfYear, format!(r"{YEAR_4}\.?{DAY_OF_YEAR}")),
        (DatePiece::WeekDay, format!("{YEAR_4}-?W{WEEK}-?[0-7]")),
        (DatePiece::Week, format!("{YEAR_4}-?W{WEEK}")),
        (
            DatePiece::MonthDayYear,
            format!("{MONTH_SHORT}-{DAY_2}-{YEAR}"),
        ),
        (
            DatePiece::YearNameDay,
            format!("{YEAR}-{MONTH_SHORT}-{DAY_2}"),
        ),
        (
            DatePiece::Log,
            format!("{DAY}/{MONTH_SHORT}/{YEAR_4}:{HOUR_2}:{MINUTE_2}:{SECOND_2}{SPACE}{OFFSET}"),
        ),
        (DatePiece::Year, YEAR_4.into()),
    ]
}

fn date_and_clock() -> String {
    let digits = format!("{YEAR_4}{MONTH_2}{DAY_2}");
    let clock = format!("{HOUR_2}:{MINUTE_2}:{SECOND_2}");
    [
        format!("{digits}T{HOUR}:{MINUTE_2}:{SECOND_2}"),
        format!("{digits}(?i:t){HOUR}{MINUTE_2}{SECOND_2}"),
        format!(r"{YEAR_4}-{MONTH_2}-{DAY_2}T{clock}\.[0-9]+{OFFSET}?"),
        format!("{YEAR_4}-{MONTH}-{DAY}T{HOUR}:{MINUTE}:{SECOND}"),
        format!("{YEAR_4}:{MONTH_2}:{DAY_2} {clock}"),
    ]
    .join("|")
}

/// The other pieces.
fn others() -> Vec<(DatePiece, String)> {
    let (month_day, unit) = (month_day(), format!("(?:{UNIT}|{DAY_NAME})"));
    vec![
        (DatePiece::Ago, "(?i:ago)".into()),
        (DatePiece::DayName, DAY_NAME.into()),
        (
            DatePiece::RelativeText,
            format!("{NUMBER_TEXT}{SPACE}{unit}"),
        ),
        (DatePiece::MonthName, format!("{MONTH_LONG}|{MONTH_SHORT}")),
        (DatePiece::Zone, format!("{OFFSET}|{ZONE}")),
        (
            DatePiece::MonthDayClock12,
            format!("{month_day}(?:{})", clocks_12()),
        ),
        (
            DatePiece::MonthDayClock24,
            format!("{month_day}(?:{})", clocks().join("|")),
        ),
        (
            DatePiece::Relative,
            format!(r"[+-]*[ \t]*[0-9]+(?:{SPACE})?{unit}"),
        ),
        (DatePiece::Separator, r"[ .,\t]|\x00|\n".into()),
        (DatePiece::Other, "(?s:.)".into()),
    ]
}

/// Finds the pieces.
struct Scanner {
    pieces: Vec<DatePiece>,
    dfa: DFA,
    cache: Cache,
}

impl Scanner {
    fn new() -> Option<Self> {
        let (pieces, patterns): (Vec<DatePiece>, Vec<String>) =
            [times(), dates(), others()].concat().into_iter().unzip();
        let dfa = DFA::builder()
            .configure(DFA::config().match_kind(MatchKind::All))
            .syntax(syntax::Config::new().unicode(false).utf8(false))
            .thompson(regex_automata::nfa::thompson::Config::new().utf8(false))
            .build_many(&patterns)
            .ok()?;
        let cache = dfa.create_cache();
        Some(Scanner { pieces, dfa, cache })
    }
}

thread_local! {
    static SCANNER: RefCell<Option<Scanner>> = const { RefCell::new(None) };
}

/// The piece at the start of a text, and its length.
pub fn piece(text: &[u8]) -> Option<(DatePiece, usize)> {
    SCANNER.with_borrow_mut(|scanner| {
        if scanner.is_none() {
            *scanner = Scanner::new();
        }
        let scanner = scanner.as_mut()?;
        let input = Input::new(text).anchored(Anchored::Yes);
        let found = scanner
            .dfa
            .try_search_fwd(&mut scanner.cache, &input)
            .ok()??;
        let piece = scanner.pieces.get(found.pattern().as_usize())?;
        Some((*piece, found.offset()))
    })
}
