//! Differences for a comment on a pull request.

use std::fmt::Write;

use mapstack::Means;

use super::folded::{ShownChange, ShownDifferences, ShownFailure};
use super::states::StatesEntry;
use super::{DiffReport, NAMED};
use crate::origin::place;
use crate::terminal::printable;
use crate::words::{count, some};

/// Longer comments are refused by the places they are for.
const MAX_LENGTH: usize = 60_000;

/// The differences as a comment on a pull request.
pub fn comment(report: &DiffReport<'_>) -> String {
    let shown = ShownDifferences::of(report);
    let [from, to] = report.sides();
    let mut text = format!(
        "### What this does to the fleet\n\n**{}** ({} → {})\n",
        escaped(&report.summary(&shown)),
        code(&from),
        code(&to)
    );
    for line in report.closing() {
        // Writing to text does not fail.
        let _ = write!(text, "\n{}\n", escaped(&line));
    }
    let mut left_out = 0;
    let failed = |failure: &ShownFailure<'_>| failed(report, failure);
    let failures = shown.failures.iter().map(failed);
    let broken = report.not_compared();
    let broken = broken
        .iter()
        .map(|(message, ids)| not_compared(message, ids));
    let changes = shown.changes.iter().map(|change| one(report, change));
    let still = shown.still.iter().map(failed);
    let states = shown.states.iter().map(|entry| of_states(report, entry));
    let changes = changes.chain(states);
    for part in failures.chain(broken).chain(changes).chain(still) {
        if text.len() + part.len() > MAX_LENGTH {
            left_out += 1;
        } else {
            text.push_str(&part);
        }
    }
    if left_out > 0 {
        // Writing to text does not fail.
        let _ = write!(
            text,
            "\n…and {left_out} more; {} prints all of them.\n",
            Means::Diff
        );
    }
    printable(&text).into_owned()
}

fn failed(report: &DiffReport<'_>, failure: &ShownFailure<'_>) -> String {
    let title = match failure.of(report) {
        of if of.is_empty() => escaped(&failure.title()),
        of => format!(
            "{} {} · {}",
            escaped(&of),
            escaped(&failure.title()),
            count(failure.minions.ids.len(), "minion")
        ),
    };
    let lines = failure.lines(report).into_iter();
    let lines: Vec<String> = lines
        .map(|(sign, message)| match sign {
            ' ' => message,
            _ => format!("{sign} {message}"),
        })
        .collect();
    let missing = failure.missing(report);
    let missing = missing.map(|missing| format!("{}\n\n", escaped(&missing)));
    let body = format!(
        "{}\n\n{}{}",
        fenced("", &lines.join("\n")),
        missing.unwrap_or_default(),
        escaped(&failure.minions.text(report))
    );
    details(&title, &body)
}

fn not_compared(message: &str, ids: &[&str]) -> String {
    let minions = count(ids.len(), "minion");
    let body = format!(
        "{}\n\non {minions}: {}",
        fenced("", message),
        escaped(&some(ids, NAMED))
    );
    details(&format!("not compared · {minions}"), &body)
}

fn one(report: &DiffReport<'_>, change: &ShownChange<'_>) -> String {
    let group = change.group;
    let (of, heading) = report.heading(change);
    let title = format!(
        "{}: {} · {}",
        escaped(&of),
        html_code(&heading),
        count(change.minions.ids.len(), "minion")
    );
    let changed: Vec<String> = report
        .lines(change)
        .iter()
        .map(|line| format!("{} {}", line.sign.as_char(), line.text))
        .collect();
    let mut body = fenced("diff", &changed.join("\n"));
    for (what, origin) in [
        ("was set", &group.old_origin),
        ("is set", &change.renamed.unwrap_or(group).new_origin),
    ] {
        if let Some(origin) = origin {
            let _ = write!(body, "\n\n{what} at {}", code(&place(origin)));
        }
    }
    let _ = write!(body, "\n\n{}", escaped(&change.minions.text(report)));
    details(&title, &body)
}

fn of_states(report: &DiffReport<'_>, entry: &StatesEntry<'_>) -> String {
    let title = html_code(&entry.title);
    let title = match entry.minions.ids.len() {
        0 => title,
        minions => format!("{title} · {}", count(minions, "minion")),
    };
    let title = match entry.reactions.is_empty() {
        true => title,
        false => format!("{title} · {}", escaped(&entry.reactions)),
    };
    let lines = entry.lines.iter().map(|line| {
        let text = format!("{} {}", line.sign.as_char(), line.text);
        match line.from.is_empty() {
            true => text,
            false => format!("{text}  {}", line.from),
        }
    });
    let lines: Vec<String> = lines.collect();
    let mut body = String::new();
    if !lines.is_empty() {
        let _ = write!(body, "{}\n\n", fenced("diff", &lines.join("\n")));
    }
    if !entry.place.is_empty() {
        let _ = write!(body, "at {}\n\n", code(&entry.place));
    }
    if !entry.from.is_empty() {
        let _ = write!(body, "{}\n\n", code(&entry.from));
    }
    body.push_str(&escaped(&entry.minions.text(report)));
    details(&title, &body)
}

fn details(title: &str, body: &str) -> String {
    format!("\n<details><summary>{title}</summary>\n\n{body}\n\n</details>\n")
}

/// Text escaped for Markdown and HTML.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '@' | '!' => {
                let _ = write!(escaped, "&#{};", u32::from(c));
            }
            '\n' | '\r' => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

fn html_code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}

/// Text in a span of code, which may have backticks.
fn code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    let fence = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Text in a block of code, which may have backticks.
fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

fn longest_run(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::tests::hostile;

    #[test]
    fn nothing_ends_a_block_a_span_or_a_cell_from_inside() {
        for text in hostile() {
            let block = fenced("diff", &text);
            let fence = block.split("diff").next().unwrap_or_default();
            assert_eq!(block.matches(fence).count(), 2, "{block}");
            let span = code(&text);
            assert!(!span.contains(['\n', '\r']), "{span:?}");
            let escaped = escaped(&text);
            assert!(
                !escaped.contains(['\n', '\r', '|', '<', '`', '\\']),
                "{escaped}"
            );
        }
    }
}
