//! The result of one comparison.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Write};

/// The judgement of one pair of answers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// Both give the same.
    Equal,
    /// Both refuse.
    BothRefuse,
    /// The reference would touch this machine.
    Blocked(String),
    /// Not compared, for this reason.
    NotComparable(String),
    /// A line that says what differs.
    Differs(String),
}

/// Outcomes counted, with a line for each that differs.
#[derive(Debug, Default)]
pub struct Tally {
    counts: BTreeMap<&'static str, usize>,
    reasons: BTreeMap<String, usize>,
    lines: Vec<String>,
}

impl Tally {
    /// Add the outcome of the comparison of this name.
    pub fn add(&mut self, name: &dyn Display, outcome: Judgement) {
        let (kind, reason) = match outcome {
            Judgement::Equal => ("equal", None),
            Judgement::BothRefuse => ("both refuse", None),
            Judgement::Blocked(function) => ("blocked", Some(format!("blocked: {function}"))),
            Judgement::NotComparable(reason) => ("not comparable", Some(reason)),
            Judgement::Differs(line) => {
                self.lines.push(format!("{name}: {line}"));
                ("differ", None)
            }
        };
        *self.counts.entry(kind).or_default() += 1;
        if let Some(reason) = reason {
            *self.reasons.entry(reason).or_default() += 1;
        }
    }

    /// The number of pairs that differ.
    pub fn differing(&self) -> usize {
        self.lines.len()
    }

    /// The lines of a report: each difference, then why some were not compared, then the counts.
    pub fn titled(&self, title: &str) -> String {
        let mut out = String::new();
        for line in &self.lines {
            writeln!(out, "{title}: {line}").ok();
        }
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (reason, count) in reasons {
            writeln!(out, "{title}: {count:6} {reason}").ok();
        }
        writeln!(out, "{title}: {self}").ok();
        out
    }
}

impl Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total: usize = self.counts.values().sum();
        write!(f, "{total} compared")?;
        for kind in [
            "equal",
            "both refuse",
            "blocked",
            "not comparable",
            "differ",
        ] {
            write!(
                f,
                ", {} {kind}",
                self.counts.get(kind).copied().unwrap_or_default()
            )?;
        }
        Ok(())
    }
}

/// The first line of a message, cut where it gets long.
pub fn brief(message: &str) -> String {
    let line = message
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default()
        .trim();
    match line.char_indices().nth(200) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_a_line_each_and_reasons_are_counted() {
        let mut tally = Tally::default();
        tally.add(&"a", Judgement::Equal);
        tally.add(&"b", Judgement::BothRefuse);
        tally.add(&"c", Judgement::Blocked("cmd.run".into()));
        tally.add(&"d", Judgement::Blocked("cmd.run".into()));
        tally.add(&"e", Judgement::Differs("ours 1, theirs 2".into()));
        assert_eq!(
            tally.titled("map"),
            "map: e: ours 1, theirs 2\n\
             map:      2 blocked: cmd.run\n\
             map: 5 compared, 1 equal, 1 both refuse, 2 blocked, 0 not comparable, 1 differ\n"
        );
        assert_eq!(tally.differing(), 1);
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        assert_eq!(brief("\n  a\nb"), "a");
        assert_eq!(brief(&"é".repeat(300)).chars().count(), 201);
    }
}
