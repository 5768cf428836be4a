//! Built-in minions, one for each of the usual platforms.
//!
//! Their grains are what Salt's own code computes on such a system, as recorded by
//! `xtask/reference/platforms.py`; what describes one machine, such as addresses and names, is
//! neutral. Salt gives `osrelease_info` as a tuple, and so it is one here.

use std::sync::LazyLock;

use mapstack_value::{Map, Value, json};

use crate::error::cut;
use crate::{Minion, Part};

/// A platform.
///
/// ```
/// use mapstack_minion::platforms;
/// let debian = platforms::find("debian-12").unwrap();
/// let minion = debian.minion();
/// assert_eq!(minion.grains.get("osfinger").unwrap().as_str(), Some("Debian-12"));
/// assert_eq!(minion.id.as_str(), Some("debian-12"));
/// assert_eq!(platforms::find("rocky-9").unwrap().name, "rockylinux-9");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Platform {
    /// The name it is requested by.
    pub name: &'static str,
    /// Its maker's name for it.
    pub title: &'static str,
    /// Other names for it.
    pub aliases: Vec<&'static str>,
    /// The grains that are tuples.
    tuples: Vec<&'static str>,
    /// The grains as JSON, which is read when they are requested.
    grains: &'static str,
}

static PLATFORMS: LazyLock<Vec<Platform>> = LazyLock::new(|| {
    include_str!("../data/platforms.tsv")
        .lines()
        .filter_map(Platform::read)
        .collect()
});

/// A name that no platform has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown platform '{name}'{}", meant(near))]
pub struct UnknownPlatform {
    /// The name.
    pub name: String,
    /// The platforms that were probably meant; of one system, all there are.
    pub near: Vec<&'static str>,
}

/// All platforms, sorted by their names, versions as numbers.
#[must_use]
pub fn all() -> &'static [Platform] {
    &PLATFORMS
}

/// The platform of a name or an alias; upper and lower case are the same.
///
/// # Errors
/// [`UnknownPlatform`], which names the ones that were probably meant.
///
/// ```
/// use mapstack_minion::platforms;
/// let error = platforms::find("debain-12").unwrap_err();
/// assert_eq!(error.to_string(), "unknown platform 'debain-12'; did you mean debian-12?");
/// ```
pub fn find(name: &str) -> Result<&'static Platform, UnknownPlatform> {
    let wanted = name.to_lowercase();
    let found = PLATFORMS
        .iter()
        .find(|platform| platform.names().any(|known| known == wanted));
    found.ok_or_else(|| UnknownPlatform {
        name: cut(name),
        near: near(&wanted),
    })
}

/// True if a platform has a grain of this name.
///
/// ```
/// use mapstack_minion::platforms::have_grain;
/// assert!(have_grain("oscodename") && !have_grain("role"));
/// ```
#[must_use]
pub fn have_grain(name: &str) -> bool {
    // The names are recorded beside the grains: reading these takes as long as much of a comparison.
    static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| {
        include_str!("../data/platform_grains.txt")
            .lines()
            .collect()
    });
    NAMES.binary_search(&name).is_ok()
}

impl Platform {
    fn read(line: &'static str) -> Option<Self> {
        let mut columns = line.split('\t');
        let mut next = || columns.next();
        let (name, title, aliases, tuples, grains) = (next()?, next()?, next()?, next()?, next()?);
        let words = |list: &'static str| list.split(',').filter(|word| !word.is_empty()).collect();
        Some(Platform {
            name,
            title,
            aliases: words(aliases),
            tuples: words(tuples),
            grains,
        })
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// A minion on the platform: its id is the platform's name, it has no pillar and no options.
    #[must_use]
    pub fn minion(&self) -> Minion {
        // The text is part of the program and a test reads all of it.
        let mut grains: Map = json::loads(self.grains)
            .ok()
            .and_then(|grains| grains.as_map().cloned())
            .unwrap_or_default();
        for name in &self.tuples {
            if let Some(value) = grains.get_mut(*name)
                && let Some(items) = value.as_list().map(|items| items.iter().cloned().collect())
            {
                *value = Value::Tuple(items);
            }
        }
        let mut minion = Minion::new(self.name).with(Part::Grains, grains);
        minion.sources.of_platform(self.name);
        minion
    }
}

impl Minion {
    /// The built-in platform whose grains the minion has, if they were not replaced: then what modules of the tree
    /// compute is not among them.
    ///
    /// ```
    /// use mapstack_minion::{Minion, platforms};
    /// let minion = platforms::find("debian-12").unwrap().minion();
    /// assert_eq!(minion.platform().unwrap().name, "debian-12");
    /// let known = minion.with_tree_grains([("role", "web")].into_iter().collect(), vec![("role".into(), "_grains/role.py".into())]);
    /// assert!(known.platform().is_none() && known.has_tree_grains());
    /// assert!(Minion::parse(b"grains: {os: Debian}", "web1.yaml").unwrap().platform().is_none());
    /// ```
    #[must_use]
    pub fn platform(&self) -> Option<&'static Platform> {
        match self.has_tree_grains() {
            true => None,
            false => find(self.sources.platform()?).ok(),
        }
    }
}

/// The names that were probably meant.
fn near(wanted: &str) -> Vec<&'static str> {
    // A long text is not a typo, and comparing it takes long.
    if wanted.len() > 40 {
        return Vec::new();
    }
    let system = |name: &str| {
        name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'))
            .to_owned()
    };
    let plain = |name: &str| {
        name.chars()
            .filter(char::is_ascii_alphanumeric)
            .collect::<String>()
    };
    let all = || {
        PLATFORMS
            .iter()
            .flat_map(|platform| platform.names().map(move |known| (known, platform.name)))
    };
    let same = all()
        .find(|(known, _)| plain(known) == plain(wanted))
        .map(|(_, name)| name);
    if let Some(name) = same {
        return vec![name];
    }
    let mut of_system: Vec<&'static str> = all()
        .filter(|(known, _)| !system(wanted).is_empty() && system(known) == system(wanted))
        .map(|(_, name)| name)
        .collect();
    of_system.dedup();
    if !of_system.is_empty() {
        return of_system;
    }
    let nearest = mapstack_diagnostic::nearest(wanted, all().map(|(known, _)| known));
    let named = |near| all().find(|(known, _)| *known == near);
    let near = nearest.and_then(named).map(|(_, name)| name);
    near.into_iter().collect()
}

fn meant(near: &[&str]) -> String {
    match near {
        [] => String::new(),
        [one] => format!("; did you mean {one}?"),
        [first @ .., last] => format!("; did you mean {} or {last}?", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_is_whole() {
        assert_eq!(
            PLATFORMS.len(),
            include_str!("../data/platforms.tsv").lines().count()
        );
        let mut names: Vec<&str> = PLATFORMS.iter().flat_map(Platform::names).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "a name is there twice");
        for platform in all() {
            let minion = platform.minion();
            for grain in [
                "os",
                "os_family",
                "kernel",
                "osrelease",
                "saltversion",
                "host",
                "cpuarch",
            ] {
                assert!(
                    minion.grains.get(grain).and_then(Value::as_str).is_some(),
                    "{}: {grain}",
                    platform.name
                );
            }
            assert!(!minion.grains.contains_key("id"), "{}", platform.name);
            assert_eq!(platform.name.to_lowercase(), platform.name);
        }
    }

    #[test]
    fn the_recorded_names_are_those_of_the_grains_of_all_platforms() {
        let minions: Vec<Minion> = all().iter().map(Platform::minion).collect();
        let grains = minions.iter().flat_map(|minion| minion.grains.keys());
        let mut names: Vec<String> = grains.map(ToString::to_string).collect();
        names.sort();
        names.dedup();
        let recorded = include_str!("../data/platform_grains.txt").lines();
        assert_eq!(recorded.collect::<Vec<_>>(), names);
    }

    #[test]
    fn a_name_that_is_none_leads_to_those_that_are() {
        for (name, message) in [
            ("Debian-12", ""),
            ("rocky9", "did you mean rockylinux-9?"),
            ("ubuntu_22.04", "did you mean ubuntu-22.04?"),
            (
                "debian",
                "did you mean debian-10, debian-11, debian-12 or debian-13?",
            ),
            (
                "centos-9.1",
                "did you mean centos-7, centos-8 or centosstream-9?",
            ),
            ("freebsd-99", "did you mean freebsd-13 or freebsd-14?"),
            ("debain-12", "did you mean debian-12?"),
            ("solaris-11", "unknown platform 'solaris-11'"),
            ("", "unknown platform ''"),
        ] {
            let found = find(name).map_or_else(|error| error.to_string(), |_| String::new());
            assert!(
                found.contains(message) && found.is_empty() == message.is_empty(),
                "{name}: {found}"
            );
        }
        let long = find(&"x".repeat(1_000_000)).unwrap_err().to_string();
        assert!(long.len() < 200, "{long}");
    }
}
