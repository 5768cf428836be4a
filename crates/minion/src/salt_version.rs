//! The versions of Salt that compile pillars and states, and match targets, differently.

use std::fmt;
use std::str::FromStr;

/// A version of Salt whose behaviour can be followed.
///
/// ```
/// use mapstack_minion::SaltVersion;
/// let version: SaltVersion = "3006.9".parse().unwrap();
/// assert_eq!(version, SaltVersion::V3006);
/// assert!(!version.behaviour().env_order_orders_merges);
/// assert_eq!(SaltVersion::default().to_string(), "3008");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum SaltVersion {
    /// Salt 3006, compared with 3006.9.
    V3006,
    /// Salt 3007, compared with 3007.13.
    V3007,
    /// Salt 3008, compared with 3008.3.
    #[default]
    V3008,
}

/// The behaviour of a version of Salt. Code checks these fields, never the number of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behaviour {
    /// The environments of a pillar have the order of `pillar_roots`. Otherwise the order changes with each
    /// start of a master.
    pub environments_keep_their_order: bool,
    /// `env_order` orders the merge of environments. Otherwise it has no effect on pillars.
    pub env_order_orders_merges: bool,
    /// The pattern of a target by grain or pillar is matched with the keys of a mapping. Otherwise only the
    /// exact text of a key matches.
    pub targets_match_keys: bool,
    /// There are targets by resource and by managing minion: `T@`, `M@`, `match: resource`, `match: managing_minion`.
    pub has_resource_targets: bool,
    /// In a pillar's compile, functions and targets have the same grains and pillar as templates: they see external
    /// pillars that come first and what templates change in place, and the latter is a part of the result.
    pub functions_share_facts: bool,
    /// An item of `ext_pillar` that is not a mapping does not discard the pillar of the top files.
    pub keeps_pillar_of_malformed_items: bool,
    /// The option `pillar_opts` adds the grains to the master's options.
    pub pillar_opts_have_grains: bool,
    /// Without a cache of minions, no minion is in a nodegroup by grain or pillar. Otherwise all minions are.
    pub nodegroups_need_a_cache: bool,
    /// A `#jinja2:` line sets options of its template.
    pub reads_jinja_headers: bool,
    /// The variables about the place of an sls ignore slashes at the end of its name, and a file of another
    /// name has no directory. Otherwise they have the whole path.
    pub trims_names_of_sls: bool,
    /// All slashes in front of a path are ignored. Otherwise only one or three are, and a path with another
    /// number finds no file.
    pub takes_off_all_slashes: bool,
    /// Slashes after `salt://` are ignored. Otherwise a URL with one finds no file.
    pub urls_take_off_slashes: bool,
    /// saltclass keeps the classes that classes of classes name, and each state once. Otherwise it keeps what the node
    /// and its own classes name.
    pub keeps_nested_classes: bool,
    /// Variables that an sls is given override those about its place, such as `slspath`. Otherwise they lose.
    pub given_variables_override_places: bool,
    /// The renderer `pyobjects` makes variables of a `context`. Otherwise it ignores one.
    pub pyobjects_take_context: bool,
    /// A list that external pillars give is ignored if they come first. Otherwise it has to be a list of
    /// pairs.
    pub ignores_external_lists: bool,
    /// If the options forbid every renderer of the default pipe, other pipes work as long as the usual
    /// renderers are allowed.
    pub usual_renderers_are_enough: bool,
    /// Requisites order low data, and are checked when it is made. Otherwise `order` alone does, and requisites are followed
    /// when states run.
    pub requisites_order_states: bool,
    /// States name the sls that include their sls, and a requisite on such an sls covers them as well.
    pub states_name_what_includes_them: bool,
    /// Minions without a master get the sls of `master_tops`.
    pub masterless_minions_have_master_tops: bool,
    /// The core has the state modules that were removed later and that no other package has.
    pub has_departed_states: bool,
}

/// The behaviour of 3006 where it differs from 3007.
const BEFORE_3007: Behaviour = Behaviour {
    keeps_nested_classes: false,
    pyobjects_take_context: false,
    ignores_external_lists: false,
    usual_renderers_are_enough: false,
    states_name_what_includes_them: false,
    masterless_minions_have_master_tops: false,
    has_departed_states: true,
    ..BEFORE_3008
};

const BEFORE_3008: Behaviour = Behaviour {
    environments_keep_their_order: false,
    env_order_orders_merges: false,
    targets_match_keys: false,
    has_resource_targets: false,
    functions_share_facts: false,
    keeps_pillar_of_malformed_items: false,
    pillar_opts_have_grains: false,
    nodegroups_need_a_cache: false,
    reads_jinja_headers: false,
    trims_names_of_sls: false,
    takes_off_all_slashes: false,
    urls_take_off_slashes: false,
    keeps_nested_classes: true,
    given_variables_override_places: false,
    pyobjects_take_context: true,
    ignores_external_lists: true,
    usual_renderers_are_enough: true,
    requisites_order_states: false,
    states_name_what_includes_them: true,
    masterless_minions_have_master_tops: true,
    has_departed_states: true,
};

const SINCE_3008: Behaviour = Behaviour {
    environments_keep_their_order: true,
    env_order_orders_merges: true,
    targets_match_keys: true,
    has_resource_targets: true,
    functions_share_facts: true,
    keeps_pillar_of_malformed_items: true,
    pillar_opts_have_grains: true,
    nodegroups_need_a_cache: true,
    reads_jinja_headers: true,
    trims_names_of_sls: true,
    takes_off_all_slashes: true,
    urls_take_off_slashes: true,
    keeps_nested_classes: true,
    given_variables_override_places: true,
    pyobjects_take_context: true,
    ignores_external_lists: false,
    usual_renderers_are_enough: true,
    requisites_order_states: true,
    states_name_what_includes_them: true,
    masterless_minions_have_master_tops: true,
    has_departed_states: false,
};

/// Each version with its name, the release that it is compared with, and what it does.
const VERSIONS: [(SaltVersion, &str, &str, &Behaviour); 3] = [
    (SaltVersion::V3006, "3006", "3006.9", &BEFORE_3007),
    (SaltVersion::V3007, "3007", "3007.13", &BEFORE_3008),
    (SaltVersion::V3008, "3008", "3008.3", &SINCE_3008),
];

impl SaltVersion {
    /// All of them, the oldest first.
    pub const ALL: [SaltVersion; 3] = [VERSIONS[0].0, VERSIONS[1].0, VERSIONS[2].0];

    fn row(self) -> &'static (SaltVersion, &'static str, &'static str, &'static Behaviour) {
        &VERSIONS[self as usize]
    }

    /// The name without a release, such as `3007`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The release that it is compared with, such as `3007.13`.
    #[must_use]
    pub fn release(self) -> &'static str {
        self.row().2
    }

    /// The behaviour.
    #[must_use]
    pub fn behaviour(self) -> &'static Behaviour {
        self.row().3
    }
}

impl fmt::Display for SaltVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A version that cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the versions of Salt that can be followed are 3006, 3007 and 3008")]
pub struct UnknownVersion;

impl FromStr for SaltVersion {
    type Err = UnknownVersion;

    /// A version by its name, or by that of one of its releases.
    fn from_str(text: &str) -> Result<Self, UnknownVersion> {
        let name = match text.split_once('.') {
            Some((name, release)) if release.starts_with(|c: char| c.is_ascii_digit()) => name,
            _ => text,
        };
        let found = SaltVersion::ALL.into_iter().find(|it| it.name() == name);
        found.ok_or(UnknownVersion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_known_by_its_name_and_by_its_releases() {
        for version in SaltVersion::ALL {
            assert_eq!(version.to_string().parse(), Ok(version));
            assert_eq!(version.release().parse(), Ok(version));
        }
        for unknown in [
            "",
            "3005",
            "3009.1",
            "3006rc1",
            "v3006",
            "latest",
            "3006..3008",
            "3006.",
        ] {
            assert_eq!(unknown.parse::<SaltVersion>(), Err(UnknownVersion));
        }
    }

    #[test]
    fn the_default_is_the_version_that_options_are_recorded_from() {
        let recorded = crate::builtin::salt_version();
        assert_eq!(SaltVersion::default().release(), recorded);
    }
}
