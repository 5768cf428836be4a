//! The arguments of the functions of state modules.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use mapstack::Home;
use mapstack::minion::SaltVersion;

/// The functions of Salt 3008.3, of extensions, and of 3006.29 and 3007.16 that have left since, with their arguments
/// (`xtask/reference/state_functions.py` writes and describes it).
const FUNCTIONS: &str = include_str!("functions.txt");

/// The functions of a state module that have one home.
struct Functions {
    home: Home,
    /// The version of the extension.
    version: Option<&'static str>,
    /// The functions, with their arguments as written.
    arguments: BTreeMap<&'static str, &'static str>,
}

static MODULES: LazyLock<BTreeMap<&str, Vec<Functions>>> = LazyLock::new(|| {
    let mut modules: BTreeMap<&str, Vec<Functions>> = BTreeMap::new();
    for section in FUNCTIONS.split("[").skip(1) {
        let Some((head, lines)) = section.split_once("]\n") else {
            continue;
        };
        let mut words = head.split(' ');
        let module = words.next().unwrap_or_default();
        let home = match words.next() {
            None => Home::Salt,
            Some("-") => Home::Gone,
            Some(package) => Home::Extension(package),
        };
        let functions = lines.lines();
        let arguments = functions.map(|line| line.split_once(' ').unwrap_or((line, "")));
        modules.entry(module).or_default().push(Functions {
            home,
            version: words.next(),
            arguments: arguments.collect(),
        });
    }
    modules
});

/// A function of a state module.
///
/// ```
/// use mapstack_states::{Home, StateFunction};
/// let copy = StateFunction::named("file", "copy").unwrap();
/// assert_eq!(copy.home, Home::Salt);
/// assert_eq!(copy.required().collect::<Vec<_>>(), ["name", "source"]);
/// assert!(copy.takes("force") && copy.takes("anything else"));
/// assert!(!StateFunction::named("file", "touch").unwrap().takes("anything else"));
/// let grants = StateFunction::named("mysql_grants", "present").unwrap();
/// assert_eq!(grants.home, Home::Extension("saltext-mysql"));
/// assert!(StateFunction::named("file", "manged").is_none());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct StateFunction {
    /// The package that has it.
    pub home: Home,
    version: Option<&'static str>,
    arguments: &'static str,
}

impl StateFunction {
    /// A function by its state module and its own name. Of several homes, Salt itself comes first.
    #[must_use]
    pub fn named(module: &str, function: &str) -> Option<Self> {
        let homes = MODULES.get(module)?.iter();
        let having = homes.filter_map(|functions| {
            let arguments = functions.arguments.get(function)?;
            Some(StateFunction {
                home: functions.home,
                version: functions.version,
                arguments,
            })
        });
        having.min_by_key(|one| one.home)
    }

    /// The extension that has it, with the version whose arguments these are.
    ///
    /// ```
    /// # use mapstack_states::StateFunction;
    /// let bucket = StateFunction::named("boto3_s3", "object_present").unwrap();
    /// let (package, version) = bucket.extension().unwrap();
    /// assert_eq!(package, "saltext-boto3");
    /// assert!(version.starts_with(|first: char| first.is_ascii_digit()));
    /// ```
    #[must_use]
    pub fn extension(&self) -> Option<(&'static str, &'static str)> {
        match self.home {
            Home::Extension(package) => Some((package, self.version?)),
            Home::Salt | Home::Gone => None,
        }
    }

    /// The arguments without which it fails.
    pub fn required(&self) -> impl Iterator<Item = &'static str> {
        let (required, _) = self.arguments.split_once('|').unwrap_or((self.now(), ""));
        required.split_whitespace()
    }

    /// The arguments that it names.
    pub fn arguments(&self) -> impl Iterator<Item = &'static str> {
        let words = self.now().split_whitespace();
        words.filter(|word| !matches!(*word, "|" | "**"))
    }

    /// True if it takes an argument, because it names it or takes any.
    #[must_use]
    pub fn takes(&self, argument: &str) -> bool {
        self.now().ends_with("**") || self.arguments().any(|one| one == argument)
    }

    /// True if it took an argument before Salt 3008.
    #[must_use]
    pub fn took(&self, argument: &str) -> bool {
        let before = self.arguments.split_once('~');
        before.is_some_and(|(_, before)| before.split_whitespace().any(|one| one == argument))
    }

    /// Its arguments in the present version.
    fn now(&self) -> &'static str {
        let now = self.arguments.split_once('~').map(|(now, _)| now);
        now.unwrap_or(self.arguments).trim_end()
    }
}

/// The state modules that are known, with the homes of each.
pub fn state_modules() -> impl Iterator<Item = (&'static str, impl Iterator<Item = Home>)> {
    let homes = |all: &'static [Functions]| all.iter().map(|functions| functions.home);
    MODULES.iter().map(move |(name, all)| (*name, homes(all)))
}

/// The homes of a state module; without any, it is unknown.
pub fn homes(module: &str) -> impl Iterator<Item = Home> {
    MODULES
        .get(module)
        .into_iter()
        .flatten()
        .map(|functions| functions.home)
}

/// The functions of a state module that states are made of, without those that Salt calls by itself.
pub fn functions_of(module: &str) -> impl Iterator<Item = &'static str> {
    let homes = MODULES.get(module).into_iter().flatten();
    let names = homes.flat_map(|functions| functions.arguments.keys().copied());
    names.filter(|name| !name.starts_with("mod_"))
}

/// True if a state module does something about what it watches (`mod_watch`), where a version of Salt loads it. Elsewhere
/// Salt takes `watch` for `require`.
///
/// ```
/// use mapstack::minion::SaltVersion;
/// use mapstack_states::watches;
/// assert!(watches("service", SaltVersion::V3008) && !watches("file", SaltVersion::V3008));
/// // It left the core with 3008, and no other package has it.
/// assert!(watches("supervisord", SaltVersion::V3007) && !watches("supervisord", SaltVersion::V3008));
/// ```
#[must_use]
pub fn watches(module: &str, version: SaltVersion) -> bool {
    let function = StateFunction::named(module, "mod_watch");
    function.is_some_and(|function| {
        function.home != Home::Gone || version.behaviour().has_departed_states
    })
}
