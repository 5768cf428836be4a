//! Requisites and what Salt takes for them.

use mapstack::minion::Behaviour;

/// A requisite between two states, by its weight for their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Requisite {
    /// `onfail`
    Onfail,
    /// `onfail_any`
    OnfailAny,
    /// `onfail_all`
    OnfailAll,
    /// `require`
    Require,
    /// `require_any`
    RequireAny,
    /// `onchanges`
    Onchanges,
    /// `onchanges_any`
    OnchangesAny,
    /// `watch`
    Watch,
    /// `watch_any`
    WatchAny,
    /// `prereq`
    Prereq,
}

impl Requisite {
    /// All of them, in the order in which Salt looks for them.
    pub(crate) const ALL: [Requisite; 10] = [
        Requisite::Require,
        Requisite::RequireAny,
        Requisite::Watch,
        Requisite::WatchAny,
        Requisite::Prereq,
        Requisite::Onfail,
        Requisite::OnfailAny,
        Requisite::OnfailAll,
        Requisite::Onchanges,
        Requisite::OnchangesAny,
    ];

    /// The name of the argument.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Requisite::Onfail => "onfail",
            Requisite::OnfailAny => "onfail_any",
            Requisite::OnfailAll => "onfail_all",
            Requisite::Require => "require",
            Requisite::RequireAny => "require_any",
            Requisite::Onchanges => "onchanges",
            Requisite::OnchangesAny => "onchanges_any",
            Requisite::Watch => "watch",
            Requisite::WatchAny => "watch_any",
            Requisite::Prereq => "prereq",
        }
    }
}

/// Arguments that are lists of states (Salt: `STATE_REQUISITE_KEYWORDS`).
const LISTS: [&str; 13] = [
    "onfail",
    "onfail_any",
    "onfail_all",
    "require",
    "require_any",
    "onchanges",
    "onchanges_any",
    "watch",
    "watch_any",
    "prereq",
    "prerequired",
    "listen",
    "onfail_stop",
];

/// True if an argument has to be a list of states.
#[must_use]
pub fn is_requisite(name: &str) -> bool {
    LISTS.contains(&name)
}

/// Arguments whose form Salt checked before 3008.
const CHECKED_BEFORE_3008: [&str; 4] = ["require", "watch", "prereq", "onchanges"];

/// True if a version of Salt checks that an argument is a list of states.
pub(super) fn is_checked(behaviour: &Behaviour, name: &str) -> bool {
    match behaviour.requisites_order_states {
        true => is_requisite(name),
        false => CHECKED_BEFORE_3008.contains(&name),
    }
}

/// Arguments that are moved to other states, or take from them.
const MOVED: [&str; 7] = [
    "require_in",
    "watch_in",
    "onfail_in",
    "onchanges_in",
    "use",
    "use_in",
    "prereq_in",
];

/// True if an argument is moved to other states, or takes from them.
pub(crate) fn is_moved(name: &str) -> bool {
    MOVED.contains(&name)
}

/// True if `use` leaves an argument where it is.
pub(crate) fn is_never_used(name: &str) -> bool {
    const MORE: [&str; 8] = [
        "require",
        "watch",
        "prereq",
        "onfail",
        "onfail_stop",
        "onchanges",
        "name",
        "names",
    ];
    is_moved(name) || MORE.contains(&name)
}

/// Arguments that Salt itself takes from a state, whatever its function (Salt: `STATE_RUNTIME_KEYWORDS`).
const OF_SALT: [&str; 21] = [
    "fun",
    "state",
    "check_cmd",
    "cmd_opts_exclude",
    "failhard",
    "onlyif",
    "unless",
    "creates",
    "retry",
    "order",
    "parallel",
    "reload_modules",
    "reload_grains",
    "reload_pillar",
    "runas",
    "runas_password",
    "no_log",
    "fire_event",
    "saltenv",
    "umask",
    "listen_in",
];

/// Arguments that Salt adds to states, and those of the state itself (Salt: `_STATE_INTERNAL_KEYWORDS` without the above).
const ADDED: [&str; 11] = [
    "__env__",
    "__sls__",
    "__id__",
    "__sls_included_from__",
    "__orchestration_jid__",
    "__prereq__",
    "__prerequiring__",
    "__umask__",
    "__reqs__",
    "name",
    "env",
];

fn is_of_salt(argument: &str) -> bool {
    is_requisite(argument) || is_moved(argument) || OF_SALT.contains(&argument)
}

/// True if functions that pass on their unknown arguments, such as `file.managed`, leave one out (Salt:
/// `STATE_INTERNAL_KEYWORDS`).
///
/// ```
/// use mapstack_states::compile::is_internal;
/// assert!(is_internal("require_in") && is_internal("name") && is_internal("__id__"));
/// assert!(!is_internal("port"));
/// ```
#[must_use]
pub fn is_internal(argument: &str) -> bool {
    is_of_salt(argument) || ADDED.contains(&argument)
}

/// True if every state may have an argument, such as a requisite: its function does not get it, unless it names it.
///
/// ```
/// use mapstack_states::compile::is_of_every_state;
/// assert!(is_of_every_state("require_in") && is_of_every_state("unless"));
/// assert!(!is_of_every_state("require_any_in") && !is_of_every_state("aggregate"));
/// ```
#[must_use]
pub fn is_of_every_state(argument: &str) -> bool {
    argument.starts_with("__") || is_of_salt(argument)
}

/// True if a name is a shell pattern.
pub(crate) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '[', ']'])
}
