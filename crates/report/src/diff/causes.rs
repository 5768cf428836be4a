//! The places from which changed lines and arguments come.

use std::collections::BTreeMap;

use mapstack::secrets::Secrets;
use mapstack_fleet::states::{Cause, Causes, FileCauses};
use mapstack_lineage::ValuePosition;
use serde::Serialize;

use crate::origin::{OriginRow, place};
use crate::yaml_form::{Sign, YamlChangeLine};

/// Causes of one line that are named.
const NAMED: usize = 3;

/// A place from which a value or a line comes.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct CauseRow {
    /// The expression of a template that printed it into the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    expression: Option<String>,
    origin: OriginRow,
}

/// The places from which a line of a file comes.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct LineRow {
    /// `-` for a line that goes, `+` for one that comes
    sign: char,
    /// The number of the line in the file before or now.
    #[cfg_attr(feature = "schemas", schemars(range(min = 1)))]
    line: usize,
    origins: Vec<CauseRow>,
}

impl CauseRow {
    fn of(cause: &Cause, secrets: &Secrets) -> Self {
        let expression = cause.expression.as_ref();
        CauseRow {
            expression: expression.map(|source| secrets.scrubbed(source)),
            origin: OriginRow::from(&cause.spot),
        }
    }

    /// The causes on one side.
    pub fn all(causes: &[Cause], secrets: &Secrets) -> Vec<Self> {
        let rows = causes.iter().map(|cause| CauseRow::of(cause, secrets));
        rows.collect()
    }
}

impl LineRow {
    /// The causes of the lines that are shown.
    pub fn all(lines: &[YamlChangeLine], causes: &FileCauses, secrets: &Secrets) -> Vec<Self> {
        let row = |line: &YamlChangeLine| {
            let known = of_line(line, causes)?;
            Some(LineRow {
                sign: line.sign.as_char(),
                line: line.number? + 1,
                origins: CauseRow::all(known, secrets),
            })
        };
        lines.iter().filter_map(row).collect()
    }
}

/// The causes of a line that goes or comes.
fn of_line<'c>(line: &YamlChangeLine, causes: &'c FileCauses) -> Option<&'c [Cause]> {
    let of_side: &BTreeMap<usize, Vec<Cause>> = match line.sign {
        Sign::Gone => &causes.lines[0],
        Sign::New => &causes.lines[1],
        Sign::Same | Sign::Omitted => return None,
    };
    of_side.get(&line.number?).map(Vec::as_slice)
}

/// The causes in words, each after an arrow.
pub(super) fn in_words(causes: &[Cause], secrets: &Secrets) -> String {
    let chain = |cause: &Cause| {
        let expression = cause.expression.as_ref();
        let expression = expression.map(|source| secrets.scrubbed(source));
        let steps = expression.into_iter().chain(steps(&cause.spot));
        steps.collect::<Vec<_>>().join(" <- ")
    };
    let named: Vec<String> = causes.iter().take(NAMED).map(chain).collect();
    let more = causes.len().saturating_sub(NAMED);
    match (&named[..], more) {
        ([], _) => String::new(),
        (named, 0) => format!("<- {}", named.join("; ")),
        (named, more) => format!("<- {}; {more} more", named.join("; ")),
    }
}

/// True if a cause is the line that a place names, as a file below a root and a number.
pub(super) fn is_at(cause: &Cause, place: &str) -> bool {
    let known = match (&cause.expression, &cause.spot) {
        (None, ValuePosition::File { place, .. }) => format!("{}:{}", place.file, place.line()),
        _ => return false,
    };
    !place.is_empty() && known.ends_with(place)
}

/// A fact and the place where it was read, or the place alone.
fn steps(spot: &ValuePosition) -> Vec<String> {
    match spot {
        ValuePosition::Fact {
            place: Some(read), ..
        } => {
            let mut bare = spot.clone();
            if let ValuePosition::Fact { place, .. } = &mut bare {
                *place = None;
            }
            vec![bare.to_string(), read.to_string()]
        }
        spot => vec![place(spot)],
    }
}

/// The lines of an argument with the causes after the last line that goes and the last that comes.
pub(super) fn after_argument(
    lines: Vec<YamlChangeLine>,
    causes: &Causes,
    secrets: &Secrets,
) -> Vec<YamlChangeLine> {
    let [old, new] = causes.each_ref().map(|causes| in_words(causes, secrets));
    let lines = lines.into_iter().map(|line| {
        let from = match line.sign {
            Sign::Gone if line.is_last => old.clone(),
            Sign::New if line.is_last => new.clone(),
            _ => String::new(),
        };
        YamlChangeLine { from, ..line }
    });
    lines.collect()
}

/// The lines of a text, each with its causes. Of lines that follow each other in a template only the first is named.
pub(super) fn after_lines(
    lines: Vec<YamlChangeLine>,
    causes: &FileCauses,
    secrets: &Secrets,
) -> Vec<YamlChangeLine> {
    let mut before: Option<(Sign, &[Cause])> = None;
    let lines = lines.into_iter().map(|line| {
        let known = of_line(&line, causes);
        let follows = before
            .zip(known)
            .is_some_and(|((sign, before), known)| sign == line.sign && is_next(before, known));
        before = known.map(|known| (line.sign, known));
        let from = match known {
            Some(known) if !follows => in_words(known, secrets),
            _ => String::new(),
        };
        YamlChangeLine { from, ..line }
    });
    lines.collect()
}

/// True if a line comes from the line of a file after that of the line before it, or from the same places.
fn is_next(before: &[Cause], known: &[Cause]) -> bool {
    let at = |causes: &[Cause]| match causes {
        [
            Cause {
                expression: None,
                spot: ValuePosition::File { place, .. },
            },
        ] => Some((place.file.clone(), place.line())),
        _ => None,
    };
    let is_after = match (at(before), at(known)) {
        (Some((one, line)), Some((other, next))) => one == other && next == line + 1,
        _ => false,
    };
    is_after || before == known
}
