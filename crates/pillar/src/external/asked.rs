//! The input of external pillars that follow from files, options and the minion's question.

use mapstack::Run;
use mapstack_diagnostic::{Diagnostic, ErrorKind, Result};
use mapstack_minion::Minion;
use mapstack_salt_config::disk::FileTree;
use mapstack_value::{Map, Value};

use crate::cache::StackCache;
use crate::config::ExtPillar;

/// The input of such an external pillar.
pub(crate) struct ExternalPillarInput<'a, 'e> {
    pub one: &'a ExtPillar,
    /// A run for a minion with the pillar so far.
    pub run: &'a Run<'e>,
    /// The options of external pillars.
    pub opts: &'a Map,
    /// The options that the minion passes on.
    pub extra: &'a Map,
    /// The files below a directory.
    pub tree: &'a dyn Fn(&str) -> FileTree,
    /// True if the compile is explained: where values come from is recorded.
    pub is_explained: bool,
    /// The data of texts, for all minions.
    pub cache: &'a StackCache,
}

impl ExternalPillarInput<'_, '_> {
    /// The id of the minion.
    pub fn id(&self) -> String {
        self.run.given_id().to_string()
    }

    pub fn option(&self, name: &str) -> Value {
        self.opts.get(name).cloned().unwrap_or_default()
    }

    /// Warn about something at the place of the external pillar in the configuration.
    pub fn warn(&self, kind: ErrorKind, message: &str, help: &str) {
        let message = format!("the external pillar '{}': {message}", self.one.name);
        let warning = Diagnostic::warning(kind, message).with_help(help);
        self.run.warn(Diagnostic {
            place: self.one.place.clone(),
            ..warning
        });
    }

    /// True if the minion is in a nodegroup with this target. The reference asks a master's cache; the minion counts
    /// as accepted here, and as having its grains and the pillar so far in the cache.
    pub fn is_in(&self, target: &Value) -> Result<bool> {
        if !self.option("minion_data_cache").truthy() {
            self.warn_of_no_cache();
            return Ok(false);
        }
        let facts = self.run.facts_of_templates();
        let Ok(Some([_, pillar])) = facts else {
            return self.run.is_in_group(&self.id(), target);
        };
        // Functions see another pillar, and a master's cache has one for all.
        let minion = Minion {
            pillar,
            ..self.run.minion().clone()
        };
        let run = self.run.engine().run(&minion);
        let is_in = run.is_in_group(&self.id(), target);
        run.warnings().into_iter().for_each(|it| self.run.warn(it));
        is_in
    }

    fn warn_of_no_cache(&self) {
        let version = self.run.engine().salt_version();
        if version.behaviour().nodegroups_need_a_cache {
            return;
        }
        let message = format!(
            "without minion_data_cache, a master of Salt {version} puts every minion in nodegroups by grain and pillar; \
             here no minion is in any"
        );
        let help = "set minion_data_cache, or name the nodegroup's minions";
        self.warn(ErrorKind::Options, &message, help);
    }
}
