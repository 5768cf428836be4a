//! The levels that users give to rules.

use std::collections::BTreeMap;

use mapstack::Means;

use crate::Rule;
use crate::finding::{Finding, Level};

/// The levels of rules, where these are not the usual ones.
///
/// ```
/// use mapstack_lint::Levels;
/// let mut levels = Levels::default();
/// levels.change("yaml-date=error").unwrap();
/// assert!(levels.change("yaml-date=loud").unwrap_err().contains("RULE=error"));
/// assert!(levels.ignore("yaml-dates").unwrap_err().contains("did you mean yaml-date?"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Levels(BTreeMap<Rule, Option<Level>>);

impl Levels {
    /// Set the level of a rule; `None` switches it off.
    pub fn set(&mut self, rule: Rule, level: Option<Level>) {
        self.0.insert(rule, level);
    }

    /// Switch off a rule by the name that a person gives.
    ///
    /// # Errors
    /// The message if no rule has the name.
    pub fn ignore(&mut self, name: &str) -> Result<(), String> {
        self.set(Rule::from_name(name)?, None);
        Ok(())
    }

    /// Change a level as a person asks for it: `RULE=LEVEL`.
    ///
    /// # Errors
    /// The message for anything else.
    pub fn change(&mut self, change: &str) -> Result<(), String> {
        let usage = || {
            format!(
                "{}: write RULE=error, RULE=warning, RULE=note or RULE=off",
                Means::Level(change)
            )
        };
        let (name, level) = change.split_once('=').ok_or_else(usage)?;
        self.set(
            Rule::from_name(name)?,
            Level::from_name(level).ok_or_else(usage)?,
        );
        Ok(())
    }

    /// Give a finding the level of its rule; false if the rule is switched off.
    pub(crate) fn apply(&self, finding: &mut Finding) -> bool {
        match self.0.get(&finding.rule) {
            Some(None) => return false,
            Some(Some(level)) => finding.level = *level,
            None => {}
        }
        true
    }
}
