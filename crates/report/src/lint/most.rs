//! Findings for people are limited: thousands of one rule are not read.

use std::collections::BTreeMap;

use mapstack_lint::Rule;

use crate::room::Room;
use crate::words::count;

/// Limit on the shown findings of one rule.
const MOST_OF_A_RULE: usize = 300;

/// The findings that were shown so far, and those that were not.
#[derive(Debug, Default)]
pub(super) struct ShownFindings {
    of_rules: BTreeMap<Rule, Shown>,
    room: Room,
}

#[derive(Debug, Default)]
struct Shown {
    shown: usize,
    left_out: usize,
}

impl ShownFindings {
    /// Show a finding of a rule and count its bytes, or only count it beyond the limit.
    pub fn show(&mut self, rule: Rule, show: impl FnOnce() -> usize) {
        let of_rule = self.of_rules.entry(rule).or_default();
        match of_rule.shown < MOST_OF_A_RULE && self.room.show(show) {
            true => of_rule.shown += 1,
            false => of_rule.left_out += 1,
        }
    }

    /// The number of findings that were not shown, a sentence for each rule.
    pub fn left_out(&self) -> impl Iterator<Item = String> {
        let left_out = |(rule, of_rule): (&Rule, &Shown)| {
            let more = count(of_rule.left_out, "more finding");
            (of_rule.left_out > 0)
                .then(|| format!("{more} of {} not shown; -o json has all", rule.name()))
        };
        self.of_rules.iter().filter_map(left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of shown findings of a rule that has `findings`, each of some bytes.
    fn shown(most: &mut ShownFindings, rule: Rule, findings: usize, bytes: usize) -> usize {
        let mut shown = 0;
        for _ in 0..findings {
            most.show(rule, || {
                shown += 1;
                bytes
            });
        }
        shown
    }

    #[test]
    fn three_hundred_findings_of_a_rule_are_shown_and_the_others_counted() {
        let mut most = ShownFindings::default();
        assert_eq!(shown(&mut most, Rule::ALL[0], 300, 100), 300);
        assert_eq!(most.left_out().count(), 0);
        assert_eq!(shown(&mut most, Rule::ALL[0], 7, 100), 0);
        assert_eq!(shown(&mut most, Rule::ALL[1], 2, 100), 2);
        let name = Rule::ALL[0].name();
        let said = format!("7 more findings of {name} not shown; -o json has all");
        assert_eq!(most.left_out().collect::<Vec<_>>(), [said]);
    }

    #[test]
    fn findings_take_ten_mebibytes_and_one_more_at_most() {
        let mut most = ShownFindings::default();
        assert_eq!(shown(&mut most, Rule::ALL[0], 12, 1 << 20), 10);
        assert_eq!(shown(&mut most, Rule::ALL[1], 1, 1), 0);
        assert_eq!(most.left_out().count(), 2);
    }
}
