//! The names that grains have, and whether a name can be one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use mapstack::minion::{Minion, platforms};
use mapstack::nearest;
use mapstack::value::Value;

/// Grains that say what system a minion is.
const GRAINS: [&str; 8] = [
    "os_family",
    "os",
    "osfinger",
    "oscodename",
    "kernel",
    "init",
    "osarch",
    "cpuarch",
];

/// Grains of which nearly all names are known: systems that Salt has no table for have their own.
const COMPLETE: [&str; 3] = ["os_family", "os", "osfinger"];

/// Recorded names of grains, in addition to those of the platforms.
static RECORDED: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let lines = include_str!("../data/names.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once('\t')).collect()
});

/// The names of grains, those of the minions at hand among them.
#[derive(Debug, Clone)]
pub(crate) struct GrainNames {
    known: BTreeMap<&'static str, KnownGrains>,
}

#[derive(Debug, Clone, Default)]
struct KnownGrains {
    /// As minions have them.
    names: BTreeSet<String>,
    /// With # for each run of digits.
    shapes: BTreeSet<String>,
}

/// The mistake in a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameMistake {
    /// The name that was probably meant.
    pub near: Option<String>,
    /// The grain that does have the name.
    pub other: Option<&'static str>,
}

impl NameMistake {
    /// The advice with the name that was probably intended.
    pub fn help(&self) -> Option<String> {
        let other = self
            .other
            .map(|grain| format!("it is a name of the grain {grain}"));
        other.or_else(|| {
            self.near
                .as_ref()
                .map(|near| format!("did you mean '{near}'?"))
        })
    }
}

/// The names that need no minions.
static BUILT_IN: LazyLock<GrainNames> = LazyLock::new(|| {
    let known = GRAINS
        .into_iter()
        .map(|grain| (grain, KnownGrains::default()))
        .collect();
    let mut names = GrainNames { known };
    for (grain, shape) in RECORDED.iter() {
        if let Some(known) = names.known.get_mut(grain) {
            known.shapes.insert((*shape).into());
            if !shape.contains('#') {
                known.names.insert((*shape).into());
            }
        }
    }
    platforms::all()
        .iter()
        .for_each(|platform| names.add(&platform.minion()));
    names
});

/// Grains that Salt gives every minion or most, and that formulas look at.
pub(crate) const USUAL: [&str; 24] = [
    "cpuarch",
    "domain",
    "fqdn",
    "host",
    "init",
    "kernel",
    "kernelrelease",
    "lsb_distrib_codename",
    "lsb_distrib_id",
    "mem_total",
    "nodename",
    "num_cpus",
    "os",
    "os_family",
    "osarch",
    "oscodename",
    "osfinger",
    "osfullname",
    "osmajorrelease",
    "osrelease",
    "osrelease_info",
    "saltversion",
    "saltversioninfo",
    "virtual",
];

/// The grain that a name is a slip for, if no minion at hand has one of that name.
pub(crate) fn near_grain(name: &str, known: &BTreeSet<&str>) -> Option<&'static str> {
    if known.contains(name) || USUAL.contains(&name) {
        return None;
    }
    USUAL.into_iter().find(|usual| is_slip(name, usual))
}

/// True if a name differs from one by a slip: letters that changed places, that are doubled or of another case, or one
/// or two of many that are wrong, but for digits. Short words have many similar words, so `pkgs` does not count as a
/// misspelt `pkg`.
pub(crate) fn is_slip(name: &str, meant: &str) -> bool {
    if name == meant || digits(name) != digits(meant) {
        return false;
    }
    let (own, other): (Vec<&str>, Vec<&str>) = (
        name.split(['_', '-']).collect(),
        meant.split(['_', '-']).collect(),
    );
    if own.len() == other.len() {
        return own
            .iter()
            .zip(&other)
            .all(|(own, other)| own == other || is_word_slip(own, other));
    }
    is_word_slip(name, meant)
}

fn is_word_slip(word: &str, meant: &str) -> bool {
    let single = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.dedup();
        letters
    };
    let is_case = word.to_lowercase() == meant.to_lowercase();
    if is_case || word.len() > 2 && meant.len() > 2 && single(word) == single(meant) {
        return true;
    }
    let letters = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    let length = word.chars().count().min(meant.chars().count());
    let distance = strsim::damerau_levenshtein(word, meant);
    let allowed = match length {
        0..=2 => 0,
        _ if letters(word) == letters(meant) => 1,
        3..=4 => 0,
        5..=7 => 1,
        _ => 2,
    };
    distance <= allowed
}

impl GrainNames {
    pub fn of<'m>(minions: impl IntoIterator<Item = &'m Minion>) -> Self {
        let mut names = BUILT_IN.clone();
        minions.into_iter().for_each(|minion| names.add(minion));
        names
    }

    fn add(&mut self, minion: &Minion) {
        for (grain, known) in &mut self.known {
            if let Some(name) = minion
                .grains
                .get(*grain)
                .and_then(Value::as_str)
                .filter(|name| !name.is_empty())
            {
                known.shapes.insert(shape(name));
                known.names.insert(name.into());
            }
        }
    }

    /// Why a grain never has a name; nothing if it may.
    pub fn never(&self, grain: &str, name: &str) -> Option<NameMistake> {
        let known = self.known.get(grain)?;
        if known.shapes.contains(&shape(name)) || known.names.contains(name) {
            return None;
        }
        let has = |other: &&&str| {
            **other != grain
                && self
                    .known
                    .get(**other)
                    .is_some_and(|known| known.names.contains(name))
        };
        let (near, other) = (known.near(name), GRAINS.iter().find(has).copied());
        (near.is_some() || COMPLETE.contains(&grain)).then_some(NameMistake { near, other })
    }
}

impl KnownGrains {
    /// A name that differs by its case, leaves words out, or is misspelt.
    fn near(&self, name: &str) -> Option<String> {
        let lower = name.to_lowercase();
        let same = self
            .names
            .iter()
            .find(|known| known.to_lowercase() == lower)
            .cloned();
        same.or_else(|| self.in_a_shape(&lower))
            .or_else(|| self.with_words(&lower))
            .or_else(|| {
                let near = nearest(&lower, self.names.iter().map(|known| known.to_lowercase()))?;
                // Other digits are another version, and no slip.
                let near = self
                    .names
                    .iter()
                    .find(|known| known.to_lowercase() == near)?;
                (digits(near) == digits(name)).then(|| near.clone())
            })
    }

    /// The name in a known shape that differs by its case.
    fn in_a_shape(&self, lower: &str) -> Option<String> {
        let wanted = shape(lower);
        let found = self
            .shapes
            .iter()
            .find(|known| known.to_lowercase() == wanted)?;
        Some(numbered(found, lower))
    }

    /// The shortest name that has all its words and more.
    fn with_words(&self, lower: &str) -> Option<String> {
        let wanted = words(lower);
        let has_all = |known: &&String| {
            let known = words(&known.to_lowercase());
            wanted.iter().all(|word| known.contains(word))
        };
        let found = self
            .names
            .iter()
            .filter(has_all)
            .min_by_key(|known| known.len());
        found.cloned().or_else(|| {
            let wanted = words(&shape(lower));
            let has_all = |known: &&String| {
                let known = words(&known.to_lowercase());
                wanted.len() > 1 && wanted.iter().all(|word| known.contains(word))
            };
            Some(numbered(
                self.shapes
                    .iter()
                    .filter(has_all)
                    .min_by_key(|known| known.len())?,
                lower,
            ))
        })
    }
}

/// A shape with the numbers of a name.
fn numbered(shape: &str, name: &str) -> String {
    let mut numbers = name
        .split(|c: char| !c.is_ascii_digit())
        .filter(|run| !run.is_empty());
    shape
        .chars()
        .map(|c| {
            if c == '#' {
                numbers.next().unwrap_or("#").into()
            } else {
                String::from(c)
            }
        })
        .collect()
}

fn words(name: &str) -> Vec<String> {
    name.split(|c: char| !c.is_alphanumeric() && c != '#')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The digits of a name: names that differ in a version are not misspelt.
pub(crate) fn digits(name: &str) -> String {
    name.chars().filter(char::is_ascii_digit).collect()
}

/// A name with # for each run of digits.
fn shape(name: &str) -> String {
    let mut shape = String::new();
    for c in name.chars() {
        match c {
            c if !c.is_ascii_digit() => shape.push(c),
            _ if !shape.ends_with('#') => shape.push('#'),
            _ => {}
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_few_letters_of_many() {
        for (name, meant) in [
            ("dig_pgk", "dig_pkg"),
            ("os_famly", "os_family"),
            ("servcie_name", "service_name"),
            ("pkgg_name", "pkg_name"),
            ("Pkg", "pkg"),
        ] {
            assert!(is_slip(name, meant), "{name}");
        }
        for (name, meant) in [
            ("user", "uid"),
            ("port1", "port2"),
            ("rsa", "dsa"),
            ("config", "conf"),
            ("pkg", "pkg"),
            ("x_rmem", "x_wmem"),
        ] {
            assert!(!is_slip(name, meant), "{name}");
        }
    }

    #[test]
    fn names_are_told_from_slips() {
        let names = GrainNames::of([]);
        let never = |grain, name| {
            names
                .never(grain, name)
                .map(|never| never.near.unwrap_or_default())
        };
        for (grain, name) in [
            ("os_family", "RedHat"),
            ("os_family", "Solaris"),
            ("os", "CentOS Stream"),
            ("osfinger", "Rocky Linux-11"),
            ("osfinger", "Ubuntu-26.04"),
            ("osfinger", "CentOS-6"),
            ("oscodename", "jessie"),
            ("oscodename", "some new name"),
            ("osarch", "armv7l"),
            ("role", "anything"),
        ] {
            assert_eq!(never(grain, name), None, "{grain} {name}");
        }
        for (grain, name, near) in [
            ("os_family", "Redhat", "RedHat"),
            ("os_family", "SUSE", "Suse"),
            ("os_family", "Debain", "Debian"),
            ("os_family", "Nothing at all", ""),
            ("osfinger", "Rocky-9", "Rocky Linux-9"),
            ("osfinger", "ubuntu-22.04", "Ubuntu-22.04"),
            ("osfinger", "debian-10", "Debian-10"),
            ("osfinger", "Ubuntu-18", "Ubuntu-18.04"),
            ("oscodename", "Bullseye", "bullseye"),
            ("kernel", "linux", "Linux"),
        ] {
            assert_eq!(never(grain, name).as_deref(), Some(near), "{grain} {name}");
        }
    }
}
