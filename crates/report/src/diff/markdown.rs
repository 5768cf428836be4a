//! Differences for a comment on a pull request.

use std::fmt::Write;

use mapstack::Means;
use mapstack_fleet::Group;

use super::text::place;
use super::{Report, turned};
use crate::words::count;
use crate::yaml_form::lines;

/// Longer comments are refused by the places they are for.
const MAX_LENGTH: usize = 60_000;

/// The differences as a comment on a pull request.
pub fn comment(report: &Report<'_>) -> String {
    let mut text = format!(
        "### What this does to the fleet\n\n**{}** ({} → {})\n",
        escaped(&report.summary()),
        code(report.from),
        code(report.to)
    );
    for line in report.accounting.lines() {
        // Writing to text does not fail.
        let _ = write!(text, "\n{}\n", escaped(&line));
    }
    let mut left_out = 0;
    let groups = report
        .differences
        .groups()
        .iter()
        .map(|group| one(report, group));
    let failing = report.differences.failures().map(|(turn, failing)| {
        let formula = report.subjects(&[failing.subject]);
        let title = format!(
            "{} {} · {}",
            escaped(&formula),
            turned(turn),
            count(failing.minions.len(), "minion")
        );
        details(
            &title,
            &format!(
                "{}\n\n{}",
                fenced("", &report.message(failing)),
                escaped(&report.minions(&failing.minions))
            ),
        )
    });
    for part in groups.chain(failing) {
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
    text
}

fn one(report: &Report<'_>, group: &Group) -> String {
    let (old, new) = report.values(group);
    let title = format!(
        "{}: {} · {}",
        escaped(&report.subjects(&group.subjects)),
        html_code(&report.key(group)),
        count(group.minions.len(), "minion")
    );
    let changed: Vec<String> = lines(old.as_ref(), new.as_ref())
        .iter()
        .map(|line| format!("{} {}", line.sign.as_char(), line.text))
        .collect();
    let mut body = fenced("diff", &changed.join("\n"));
    for (what, origin) in [
        ("was set", &group.old_origin),
        ("is set", &group.new_origin),
    ] {
        if let Some(origin) = origin {
            let _ = write!(body, "\n\n{what} at {}", code(&place(origin)));
        }
    }
    let _ = write!(body, "\n\n{}", escaped(&report.minions(&group.minions)));
    details(&title, &body)
}

fn details(title: &str, body: &str) -> String {
    format!("\n<details><summary>{title}</summary>\n\n{body}\n\n</details>\n")
}

/// Text that means nothing to Markdown or HTML.
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
