//! The results that were compared, and the changed files that had no part in them.

use std::collections::BTreeMap;

use mapstack::ConfigurationMethod;
use mapstack::loader::Unserved;
use mapstack::minion::SaltVersion;
use mapstack_fleet::modules_leave;
use mapstack_fleet::states::ComparedStates;

use crate::words::{count, some, unserved};

/// Changed files that are named of each kind.
const NAMED: usize = 3;

/// The results that were compared, and the files that were not.
#[derive(Debug, Default)]
pub struct Accounting {
    /// The formulas, each with the way in which its configuration is made.
    pub configurations: Vec<(String, ConfigurationMethod)>,
    /// The changed files that no compared result is made of.
    pub not_compared: Vec<String>,
    /// The number of further ones in the folders of formulas that were not to be compared.
    pub elsewhere: usize,
    /// The number of files that changed, without those that do not matter to Salt.
    pub changed: usize,
    /// The changed files that do not matter to Salt, such as documents and tests.
    pub unrelated: Vec<String>,
    /// The changed files of the pillar that no compared pillar is made of; `None` if pillars were not compared.
    pub pillars: Option<Vec<String>>,
    /// Why pillars were not compared, though the configuration compiles them.
    pub no_pillars: Option<String>,
    /// The changed files that lie outside of the roots.
    pub outside: Vec<String>,
    /// Why not all files outside of the roots were looked at.
    pub unknown_outside: Option<String>,
    /// The files that no compared result is made of and that have another name now: both names.
    pub renamed: Vec<(String, String)>,
    /// The names that are not served and different, or may be.
    pub unserved: Vec<Unserved>,
    /// The names that neither state serves, and that are the same.
    pub unserved_alike: Vec<Unserved>,
    /// The versions of Salt before and after, where they differ.
    pub versions: Option<[SaltVersion; 2]>,
    /// The parts of states that were compared.
    states: Option<String>,
    /// True if changes of pillars are left out.
    omits_pillars: bool,
    /// True if only the formulas at hand were to be compared.
    only: bool,
}

/// The purpose of a file of a formula, by its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FileKind {
    Parameters,
    Template,
    State,
    Managed,
    Module,
    Other,
}

impl FileKind {
    fn of(path: &str) -> Self {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_in = |wanted: &[&str]| folders.split('/').any(|folder| wanted.contains(&folder));
        let ends = |ending: &str| name.ends_with(ending);
        match () {
            () if folders.starts_with('_') => FileKind::Module,
            () if is_in(&["files", "templates"]) => FileKind::Managed,
            () if ends(".sls") => FileKind::State,
            () if is_in(&["parameters"]) || ends("map.yaml") || ends("defaults.yaml") => {
                FileKind::Parameters
            }
            () if ends(".jinja") || ends(".j2") => FileKind::Template,
            () => FileKind::Other,
        }
    }

    fn counted(self, n: usize) -> String {
        count(
            n,
            match self {
                FileKind::Parameters => "parameter file",
                FileKind::Template => "template",
                FileKind::State => "state file",
                FileKind::Managed => "managed file",
                FileKind::Module => "module",
                FileKind::Other => "other file",
            },
        )
    }
}

/// True if a file lies in the folder of one of some formulas.
fn is_match(configurations: &[(String, ConfigurationMethod)], path: &str) -> bool {
    let folder = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
    let of_path = folder(path);
    let mut formulas = configurations.iter();
    formulas.any(|(formula, _)| folder(formula) == of_path)
}

impl Accounting {
    /// The account of a comparison, where `changed` files changed of which no result is made of the `unread` ones. If
    /// `only` the formulas at hand were to be compared, those in other folders are just counted.
    #[must_use]
    pub fn new(
        configurations: Vec<(String, ConfigurationMethod)>,
        changed: usize,
        unread: Vec<String>,
        only: bool,
    ) -> Self {
        let is_match = |path: &String| !only || is_match(&configurations, path);
        let (not_compared, elsewhere): (Vec<_>, Vec<_>) = unread.into_iter().partition(is_match);
        Accounting {
            not_compared,
            elsewhere: elsewhere.len(),
            configurations,
            changed,
            only,
            ..Accounting::default()
        }
    }

    /// With files outside of the roots that changed, or why they were not all looked at.
    #[must_use]
    pub fn with_outside(mut self, changed: Vec<String>, unknown: Option<String>) -> Self {
        self.outside = changed;
        self.unknown_outside = unknown;
        self
    }

    /// With files that were not compared and have another name now.
    #[must_use]
    pub fn with_renamed(mut self, renamed: Vec<(String, String)>) -> Self {
        let is_match = |path: &String| !self.only || is_match(&self.configurations, path);
        let (renamed, elsewhere): (Vec<_>, Vec<_>) = renamed
            .into_iter()
            .partition(|(old, new)| is_match(old) || is_match(new));
        self.renamed = renamed;
        self.elsewhere += elsewhere.len();
        self
    }

    /// With what is not served: what is different, or may be, and what is the same in both states.
    #[must_use]
    pub fn with_unserved(self, different: Vec<Unserved>, same: Vec<Unserved>) -> Self {
        let meant = |mut all: Vec<Unserved>| {
            all.retain(|one| !self.only || is_match(&self.configurations, &one.path));
            all
        };
        let (unserved, unserved_alike) = (meant(different), meant(same));
        Accounting {
            unserved,
            unserved_alike,
            ..self
        }
    }

    /// Adds changed files that do not matter to Salt.
    #[must_use]
    pub fn with_unrelated(mut self, unrelated: Vec<String>) -> Self {
        self.unrelated = unrelated;
        self
    }

    /// With pillars that were compared: how many of their files changed, and which no pillar is made of.
    #[must_use]
    pub fn with_pillars(mut self, changed: usize, unread: Option<Vec<String>>) -> Self {
        self.changed += changed;
        match self.only {
            true => self.elsewhere += unread.map_or(0, |unread| unread.len()),
            false => self.pillars = unread,
        }
        self
    }

    /// With the states that are compared.
    #[must_use]
    pub fn with_states(mut self, compared: Option<ComparedStates>) -> Self {
        self.states = compared.map(|compared| {
            let parts = match (compared.shown.states, compared.shown.files) {
                (true, true) => "states and files",
                (true, false) => "states",
                (false, _) => "files",
            };
            match compared.of_top {
                true => format!("{parts} of top files"),
                false => format!("{parts} of each sls"),
            }
        });
        self
    }

    /// With changes of pillars, or without: then pillars are compiled for states and formulas alone.
    #[must_use]
    pub fn listing_pillars(mut self, lists: bool) -> Self {
        self.omits_pillars = !lists;
        self
    }

    /// With the versions of Salt before and after, where they differ.
    #[must_use]
    pub fn between_versions(mut self, versions: [SaltVersion; 2]) -> Self {
        self.versions = (versions[0] != versions[1]).then_some(versions);
        self
    }

    /// With why pillars were not compared.
    #[must_use]
    pub fn without_pillars(mut self, why: Option<String>) -> Self {
        self.no_pillars = why;
        self
    }

    /// The changed files of the pillar that no compared pillar is made of.
    pub(crate) fn unread_pillar(&self) -> &[String] {
        self.pillars.as_deref().unwrap_or_default()
    }

    /// True if a file changed that was to be compared, and no compared result is made of it.
    fn is_incomplete(&self) -> bool {
        !self.not_compared.is_empty()
            || !self.unread_pillar().is_empty()
            || !self.unserved.is_empty()
            || !self.renamed.is_empty()
            || (!self.only && !self.outside.is_empty())
    }

    /// True if it is not known of everything around whether it changed.
    fn is_unsure(&self) -> bool {
        self.unknown_outside.is_some() || self.no_pillars.is_some()
    }

    /// True if files changed that were to be compared, and no compared result is made of any of them.
    fn is_empty_handed(&self) -> bool {
        let unread = self.not_compared.len()
            + self.renamed.len()
            + self.elsewhere
            + self.unread_pillar().len();
        self.is_incomplete() && unread == self.changed
    }

    /// True if no compared result is made of some served file that changed.
    fn has_unread(&self) -> bool {
        !self.not_compared.is_empty()
            || !self.renamed.is_empty()
            || !self.unread_pillar().is_empty()
    }

    /// Why "no change" cannot be said, if it cannot: of minions that fail in both states, `still_failing` of them, it is
    /// unknown which files they would use, and how two versions of Salt differ for them. Under `strict`, all that changed has
    /// to be compared.
    #[must_use]
    pub fn refusal(&self, strict: bool, still_failing: usize) -> Option<String> {
        let is_partial = strict && (self.is_incomplete() || self.is_unsure());
        match still_failing {
            _ if self.is_empty_handed() => Some("nothing that changed was compared".into()),
            _ if is_partial => Some("not all that changed was compared".into()),
            1.. if self.has_unread() || self.versions.is_some() => {
                let fail = if still_failing == 1 { "fails" } else { "fail" };
                let minions = count(still_failing, "minion");
                Some(match self.has_unread() {
                    true => format!(
                        "not all that changed was compared, and {minions} {fail} in both states"
                    ),
                    false => format!("{minions} {fail} by both versions of Salt"),
                })
            }
            _ => None,
        }
    }

    /// Sentences about what was compared, and what was not.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.compared()];
        lines.extend(self.followed());
        lines.extend(self.no_change());
        if !self.not_compared.is_empty() {
            lines.push(format!("changed, and not compared: {}", self.kinds()));
        }
        if !self.renamed.is_empty() {
            let renamed = self.renamed.iter();
            let renamed: Vec<String> = renamed.map(|(old, new)| format!("{old} → {new}")).collect();
            lines.push(format!(
                "renamed, the same otherwise, and not compared: {}",
                some(&renamed, NAMED)
            ));
        }
        let of_pillar = self.unread_pillar();
        if !of_pillar.is_empty() {
            lines.push(format!(
                "changed, and in the pillar of no minion: {} ({})",
                count(of_pillar.len(), "pillar file"),
                some(of_pillar, NAMED)
            ));
        }
        for line in unserved(&self.unserved) {
            lines.push(format!("not served, and not compared: {line}"));
        }
        for line in unserved(&self.unserved_alike) {
            lines.push(format!("not served, and the same in both states: {line}"));
        }
        if let Some(reason) = &self.no_pillars {
            lines.push(format!("pillars were not compared: {reason}"));
        }
        if self.elsewhere > 0 {
            lines.push(format!(
                "changed in other folders, and not compared: {}",
                count(self.elsewhere, "file")
            ));
        }
        if !self.outside.is_empty() {
            lines.push(format!(
                "changed outside of the roots, and not compared: {} ({})",
                count(self.outside.len(), "file"),
                some(&self.outside, NAMED)
            ));
        }
        if !self.unrelated.is_empty() {
            lines.push(format!(
                "changed, but not used by Salt: {}",
                some(&self.unrelated, NAMED)
            ));
        }
        if let Some(reason) = &self.unknown_outside {
            lines.push(format!(
                "files outside of the roots were not looked at: {reason}"
            ));
        }
        lines
    }

    /// A sentence for files that are the same.
    fn no_change(&self) -> Option<String> {
        let is_same = self.changed == 0 && self.unrelated.is_empty() && self.unserved.is_empty();
        is_same.then(|| match self.outside.is_empty() {
            true => "no file's content differs".into(),
            false => "no file's content differs in the roots".into(),
        })
    }

    /// The behaviour that is followed of two versions of Salt.
    fn followed(&self) -> Option<String> {
        let [before, after] = self.versions?;
        let left = match modules_leave([before, after]) {
            true => " and what left the core",
            false => "",
        };
        Some(format!(
            "followed of Salt {before} and {after}: how pillars, targets, templates and states are read{left}; functions \
             answer and states work as in {}",
            SaltVersion::default()
        ))
    }

    fn compared(&self) -> String {
        let has_pillars = self.pillars.is_some() && !self.omits_pillars;
        let pillars = has_pillars.then(|| "pillars".to_owned());
        let all: Vec<String> = pillars
            .into_iter()
            .chain(self.states.clone())
            .chain(made_by(&self.configurations))
            .collect();
        match all.is_empty() {
            true => "nothing was compared".into(),
            false => format!("compared: {}", all.join("; ")),
        }
    }

    fn kinds(&self) -> String {
        let mut by_kind: BTreeMap<FileKind, Vec<&str>> = BTreeMap::new();
        for path in &self.not_compared {
            by_kind.entry(FileKind::of(path)).or_default().push(path);
        }
        let kinds = by_kind
            .iter()
            .map(|(kind, paths)| format!("{} ({})", kind.counted(paths.len()), some(paths, NAMED)));
        kinds.collect::<Vec<_>>().join(", ")
    }
}

/// Formulas by the way in which their configurations are made.
pub(crate) fn made_by(
    configurations: &[(String, ConfigurationMethod)],
) -> impl Iterator<Item = String> {
    let both = [
        (ConfigurationMethod::Map, "map.jinja"),
        (ConfigurationMethod::Data, "parameters"),
    ];
    both.into_iter().filter_map(|(way, what)| {
        let of_way = configurations.iter().filter(|(_, own)| *own == way);
        let formulas: Vec<&str> = of_way.map(|(formula, _)| formula.as_str()).collect();
        (!formulas.is_empty()).then(|| format!("{what} of {}", formulas.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use mapstack_fleet::states::ShownParts;

    use super::*;

    #[test]
    fn files_are_counted_by_what_they_are_for() {
        let unread = || {
            [
                "_modules/x.py",
                "ssh/files/default/sshd_config",
                "ssh/init.sls",
                "ssh/config/file.sls",
                "ssh/osmap.yaml",
                "ssh/parameters/os/Debian.yaml.jinja",
                "ssh/libtofs.jinja",
                "README.md",
            ]
            .map(String::from)
            .to_vec()
        };
        let formulas = || {
            vec![
                ("ssh".into(), ConfigurationMethod::Map),
                ("users".into(), ConfigurationMethod::Data),
            ]
        };
        let accounting = Accounting::new(formulas(), 9, unread(), false);
        assert_eq!(
            accounting.lines(),
            [
                "compared: map.jinja of ssh; parameters of users",
                "changed, and not compared: 2 parameter files (ssh/osmap.yaml, ssh/parameters/os/Debian.yaml.jinja), \
                 1 template (ssh/libtofs.jinja), 2 state files (ssh/init.sls, ssh/config/file.sls), 1 managed file \
                 (ssh/files/default/sshd_config), 1 module (_modules/x.py), 1 other file (README.md)"
            ]
        );
        assert!(!accounting.is_empty_handed());
        assert!(Accounting::new(formulas(), 8, unread(), false).is_empty_handed());
        let only = Accounting::new(formulas(), 8, unread(), true);
        assert_eq!((only.not_compared.len(), only.elsewhere), (6, 2));
        assert!(only.is_empty_handed());
        let others = vec!["web/init.sls".into()];
        assert!(!Accounting::new(formulas(), 1, others, true).is_empty_handed());
    }

    #[test]
    fn only_the_parts_that_are_listed_count_as_compared() {
        let said = |pillar, states, files| {
            let shown = ShownParts { states, files };
            let compared = ComparedStates {
                of_top: true,
                shown,
            };
            Accounting::new(Vec::new(), 1, Vec::new(), false)
                .with_pillars(1, Some(Vec::new()))
                .with_states((states || files).then_some(compared))
                .listing_pillars(pillar)
                .compared()
        };
        assert_eq!(
            said(true, true, true),
            "compared: pillars; states and files of top files"
        );
        assert_eq!(said(false, false, true), "compared: files of top files");
        assert_eq!(said(false, true, false), "compared: states of top files");
        assert_eq!(said(true, false, false), "compared: pillars");
        assert_eq!(said(false, false, false), "nothing was compared");
    }

    #[test]
    fn two_versions_are_not_compared_for_minions_that_fail_by_both() {
        let versions = [SaltVersion::V3006, SaltVersion::V3008];
        let accounting = Accounting::new(Vec::new(), 0, Vec::new(), false);
        assert_eq!(accounting.refusal(false, 2), None, "the files are the same");
        let upgrade = accounting.between_versions(versions);
        assert_eq!(upgrade.refusal(false, 0), None);
        assert_eq!(
            upgrade.refusal(false, 2).as_deref(),
            Some("2 minions fail by both versions of Salt")
        );
    }
}
