//! The minions that a checkout is for, by what names them in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mapstack::Error;
use mapstack::minion::{Minion, platforms};
use mapstack::value::pytext::Fnmatch;
use mapstack::value::{Key, Map, Value};
use mapstack::yaml;

use super::folders::Folders;
use super::made_up::{TargetFacts, wanted};
use super::tools::Tools;
use super::top_text;

/// A minion, and why there is one.
#[derive(Debug, Clone)]
pub struct FoundMinion {
    /// Its facts: those that are known over those of the platform.
    pub minion: Minion,
    /// The source that names it.
    pub from: String,
    /// The built-in platform whose grains it is given.
    pub platform: &'static str,
    /// Grains that were set, in addition to those of the platform.
    pub grains: Vec<String>,
    /// True if no such minion is known: it was made up for a target.
    pub is_made_up: bool,
}

/// The minions of a checkout.
#[derive(Debug, Clone, Default)]
pub struct FoundMinions {
    /// Them, sorted by their ids.
    pub all: Vec<FoundMinion>,
    /// The sources that name them, each with the number that it names first.
    pub sources: Vec<(String, usize)>,
    /// Targets that no minion could be made up for.
    pub targets_left: Vec<String>,
    /// True if more are named than are taken.
    pub is_cut: bool,
    /// True if the project's file says which minions there are.
    pub is_given: bool,
    /// The platform of all whose own is not known.
    platform: &'static str,
    /// Grains that all have.
    grains: Map,
    /// The grains that are known of each later.
    given: Option<GivenGrains>,
}

/// Puts grains over those of a minion that are known when minions are looked for.
#[derive(Clone)]
pub(crate) struct GivenGrains(Arc<IdReceiver>);

type IdReceiver = dyn Fn(Minion) -> Result<Minion, Error> + Send + Sync;

impl GivenGrains {
    /// Grains that something gives a minion.
    pub(crate) fn new(
        give: impl Fn(Minion) -> Result<Minion, Error> + Send + Sync + 'static,
    ) -> Self {
        GivenGrains(Arc::new(give))
    }

    /// The minion with them.
    ///
    /// # Errors
    /// There are none to be had.
    pub(crate) fn over(&self, minion: Minion) -> Result<Minion, Error> {
        (self.0)(minion)
    }
}

impl fmt::Debug for GivenGrains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GivenGrains")
    }
}

impl FoundMinions {
    /// The same minions with more grains.
    pub(crate) fn with_given(mut self, grains: GivenGrains) -> Self {
        self.given = Some(grains);
        self
    }

    /// The source of further grains, if any.
    pub(crate) fn given_grains(&self) -> Option<&GivenGrains> {
        self.given.as_ref()
    }

    /// One of the minions, with all of its grains.
    ///
    /// # Errors
    /// The source of further grains fails.
    pub(crate) fn with_grains(&self, minion: Minion) -> Result<Minion, Error> {
        match &self.given {
            Some(given) => given.over(minion),
            None => Ok(minion),
        }
    }

    /// The platform of minions about which nothing is known.
    #[must_use]
    pub fn platform(&self) -> &'static str {
        self.platform
    }

    /// The names of a minion's grains that its platform does not have.
    ///
    /// # Errors
    /// The source of its further grains fails.
    pub fn names_of_grains(&self, one: &FoundMinion) -> Result<Vec<String>, Error> {
        let with = self.with_grains(one.minion.clone())?;
        let is_set = |(key, value): &(&Key, &Value)| {
            let before = one.minion.grains.get(*key);
            one.grains.contains(&key.to_string()) || before.is_none_or(|own| !own.is_same(value))
        };
        let set = with.grains.iter().filter(is_set);
        Ok(set.map(|(key, _)| key.to_string()).collect())
    }

    /// The ids of those that were made up for targets.
    pub fn made_up(&self) -> impl Iterator<Item = String> {
        let made_up = self.all.iter().filter(|one| one.is_made_up);
        made_up.map(|one| one.minion.id().to_string())
    }

    /// Another minion of the estate, of which only the id is known: one of the built-in platforms if all of these are
    /// used and the id is the name of one.
    #[must_use]
    pub fn another(&self, id: &str) -> Minion {
        let mut minion = match self.platform_of(id) {
            Some(platform) => platform.minion(),
            None => on_platform(self.platform, id),
        };
        extend(&mut minion.grains, &self.grains);
        minion
    }

    /// The built-in platform that an id names, where the platforms are the only minions.
    #[must_use]
    pub fn platform_of(&self, id: &str) -> Option<&'static platforms::Platform> {
        let mut all = platforms::all().iter();
        let named = self.all.is_empty().then(|| all.find(|one| one.name == id));
        named.flatten()
    }
}

/// Put grains over others.
pub(super) fn extend(grains: &mut Map, more: &Map) {
    let more = more.iter();
    grains.extend(more.map(|(key, value)| (key.clone(), value.clone())));
}

/// The minion of an id on a built-in platform.
fn on_platform(platform: &str, id: &str) -> Minion {
    let found = platforms::find(platform);
    let mut minion = found.map_or_else(|_| Minion::new(id), platforms::Platform::minion);
    name(&mut minion, id);
    minion
}

/// The minions as a project's file describes them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Assumed {
    /// The sources that name them; nothing where they are looked for.
    pub from: Vec<String>,
    /// The platform of all whose own is not known.
    pub platform: Option<&'static str>,
    /// Grains that all have.
    pub grains: Map,
    /// The key of the pillar whose mapping is grains.
    pub grains_of_pillar: Option<String>,
}

/// The largest number of minions that are taken of a checkout.
const MOST: usize = 5_000;

/// The largest size of a file that names minions.
const LONGEST: u64 = 4 << 20;

/// A path below a directory, unless it leads out of it.
pub(super) fn inside(directory: &Path, path: &Path) -> Option<PathBuf> {
    let home = directory.canonicalize().ok()?;
    let path = directory.join(path).canonicalize().ok()?;
    path.starts_with(home).then_some(path)
}

/// The text of a file below a directory, unless its path leads out of it or it is too long.
pub(super) fn read_inside(directory: &Path, path: &Path) -> Option<String> {
    let path = inside(directory, path)?;
    let is_file = fs::metadata(&path).ok()?;
    let fits = is_file.is_file() && is_file.len() <= LONGEST;
    fits.then(|| fs::read_to_string(&path).ok()).flatten()
}

/// Folders of a pillar with a file for each minion.
const FOLDERS: [&str; 14] = [
    "id",
    "ids",
    "minion",
    "minions",
    "minion_id",
    "host",
    "hosts",
    "node",
    "nodes",
    "server",
    "servers",
    "machine",
    "machines",
    "by_id",
];

/// The platform of minions about which nothing is known.
const USUAL: &str = "debian-12";

/// The places to search for minions.
pub struct MinionSearch<'s> {
    /// The checkout.
    pub directory: &'s Path,
    /// Its folders.
    pub folders: &'s Folders,
    /// The files of tools in it.
    pub tools: &'s Tools,
    /// The roots of the file server.
    pub roots: Vec<&'s Path>,
    /// The roots of the pillar.
    pub pillar_roots: Vec<&'s Path>,
    /// The option `nodegroups`.
    pub nodegroups: Map,
    /// The minions of the project's file.
    pub assumed: &'s Assumed,
}

/// The facts about a minion so far.
#[derive(Debug, Default)]
struct MinionFacts {
    from: String,
    is_made_up: bool,
    platform: Option<&'static str>,
    grains: Map,
    wanted: Vec<TargetFacts>,
}

/// The minions that were found so far.
#[derive(Default)]
struct GatheredMinions {
    known: BTreeMap<String, MinionFacts>,
    sources: Vec<(String, usize)>,
    left: Vec<String>,
    is_cut: bool,
}

impl GatheredMinions {
    fn add(&mut self, id: &str, source: &str, from: String) -> Option<&mut MinionFacts> {
        let is_id = !id.is_empty() && id.len() < 256 && !id.contains(['/', '\\', '\0', '\n']);
        if !is_id || self.known.contains_key(id) {
            return None;
        }
        if self.known.len() >= MOST {
            self.is_cut = true;
            return None;
        }
        match self.sources.iter_mut().find(|(known, _)| known == source) {
            Some((_, count)) => *count += 1,
            None => self.sources.push((source.into(), 1)),
        }
        let known = MinionFacts {
            from,
            ..MinionFacts::default()
        };
        Some(self.known.entry(id.into()).or_insert(known))
    }
}

impl MinionSearch<'_> {
    /// Find them.
    pub fn run(&self) -> FoundMinions {
        let mut found = GatheredMinions::default();
        if self.assumed.from.is_empty() {
            self.find(&mut found);
        } else {
            self.given(&mut found);
        }
        let guess = self.assumed.platform.unwrap_or_else(|| self.guess());
        let mut all = Vec::new();
        for (id, known) in found.known {
            all.push(self.minion(&id, known, guess));
        }
        FoundMinions {
            all,
            sources: found.sources,
            targets_left: found.left,
            is_cut: found.is_cut,
            is_given: !self.assumed.from.is_empty(),
            platform: guess,
            grains: self.assumed.grains.clone(),
            given: None,
        }
    }

    /// The minion of an id, on the platform of all unless its own is known.
    fn minion(&self, id: &str, known: MinionFacts, guess: &'static str) -> FoundMinion {
        let platform = known
            .platform
            .or_else(|| known.wanted.iter().find_map(|wanted| wanted.platform))
            .unwrap_or(guess);
        let mut minion = on_platform(platform, id);
        let before = minion.grains.clone();
        extend(&mut minion.grains, &self.assumed.grains);
        extend(&mut minion.grains, &known.grains);
        for wanted in &known.wanted {
            wanted.apply(&mut minion.grains);
        }
        let is_set = |(key, value): &(&Key, &Value)| {
            before
                .get(*key)
                .is_none_or(|own| own.repr() != value.repr())
        };
        let grains = minion.grains.iter().filter(is_set);
        let grains = grains.map(|(key, _)| key.to_string()).collect();
        FoundMinion {
            grains,
            minion,
            from: known.from,
            platform,
            is_made_up: known.is_made_up,
        }
    }

    fn find(&self, found: &mut GatheredMinions) {
        let rosters = self.folders.of_salt.iter().filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("roster"))
                && !super::layout::is_trial(path)
        });
        for roster in self.tools.rosters.iter().chain(rosters) {
            self.roster(roster, found);
        }
        for root in &self.pillar_roots {
            for folder in FOLDERS {
                let pattern = root.join(folder).join("*.sls");
                self.files(&pattern.to_string_lossy(), found);
            }
        }
        self.class_nodes(found);
        self.machines(found);
        self.targets(found);
    }

    /// The machines of Vagrantfiles.
    fn machines(&self, found: &mut GatheredMinions) {
        for (host, place) in &self.tools.hosts {
            let file = place.rsplit_once(':').map_or(&**place, |(file, _)| file);
            found.add(host, file, place.clone());
        }
    }

    /// The minions that a project's file names: by files, by a roster, or by their ids.
    fn given(&self, found: &mut GatheredMinions) {
        for from in &self.assumed.from {
            if from.contains(['*', '?', '[']) {
                self.files(from, found);
            } else if from.ends_with("Vagrantfile") {
                self.machines(found);
            } else if self.directory.join(from).is_file() {
                self.roster(Path::new(from), found);
            } else if from == "nodegroups" {
                self.targets(found);
            } else {
                found.add(from, ".mapstack.yaml", ".mapstack.yaml".into());
            }
        }
    }

    fn read(&self, path: &Path) -> Option<String> {
        read_inside(self.directory, path)
    }

    /// The keys of a roster, as salt-ssh has it.
    fn roster(&self, path: &Path, found: &mut GatheredMinions) {
        let Some(text) = self.read(path) else { return };
        let shown = path.display().to_string();
        let Ok(Value::Map(hosts)) = yaml::load(&top_text::without_template(&text)) else {
            return;
        };
        for (id, host) in &hosts {
            let options = host.as_map();
            let is_host =
                host.as_str().is_some() || options.is_some_and(|own| own.contains_key("host"));
            let (Some(id), true) = (id.as_str(), is_host) else {
                continue;
            };
            let grains = options
                .and_then(|own| own.get("minion_opts")?.as_map()?.get("grains")?.as_map())
                .cloned();
            if let Some(known) = found.add(id, &shown, shown.clone()) {
                known.grains = grains.unwrap_or_default();
            }
        }
    }

    /// One minion for each file of a pattern. Where top files make names of ids with other characters for the dots, the
    /// dots are put back.
    fn files(&self, pattern: &str, found: &mut GatheredMinions) {
        let path = Path::new(pattern);
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return;
        };
        let name = Fnmatch::new(&name.to_string_lossy());
        let Ok(entries) = fs::read_dir(self.directory.join(folder)) else {
            return;
        };
        let separator = self
            .top_texts()
            .find_map(|(_, text)| top_text::separator(&text));
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort();
        for file in files {
            let (Some(own), Some(stem)) = (file.file_name(), file.file_stem()) else {
                continue;
            };
            let (own, stem) = (own.to_string_lossy(), stem.to_string_lossy());
            if !name.matches(&own) || matches!(&*stem, "init" | "top" | "default" | "defaults") {
                continue;
            }
            let id = match separator {
                Some(separator) => stem.replace(separator, "."),
                None => stem.into_owned(),
            };
            let path = folder.join(&*own);
            found.add(&id, pattern, path.display().to_string());
        }
    }

    /// The nodes of reclass and saltclass: files in a folder `nodes` that has one `classes` beside it.
    fn class_nodes(&self, found: &mut GatheredMinions) {
        let is_nodes = |path: &&PathBuf| {
            let beside = path.parent().map(|above| above.join("classes"));
            path.ends_with("nodes") && beside.is_some_and(|path| self.folders.at(&path).is_some())
        };
        let all = self.folders.all.iter().map(|folder| &folder.path);
        let nodes: Vec<&PathBuf> = all.clone().filter(is_nodes).collect();
        for path in all {
            if nodes.iter().any(|nodes| path.starts_with(nodes)) {
                for extension in ["*.yml", "*.yaml"] {
                    self.files(&path.join(extension).to_string_lossy(), found);
                }
            }
        }
    }

    /// The top files of states and pillars, with their texts.
    fn top_texts(&self) -> impl Iterator<Item = (PathBuf, String)> {
        let roots = self.roots.iter().chain(&self.pillar_roots);
        roots.filter_map(|root| {
            let path = root.join("top.sls");
            let text = self.read(&path)?;
            Some((path, text))
        })
    }

    /// The ids that top files and nodegroups name, and a minion for each other target that can be met.
    fn targets(&self, found: &mut GatheredMinions) {
        let mut made_up: BTreeMap<String, (TargetFacts, String, String)> = BTreeMap::new();
        let of_groups = self.nodegroups.keys().map(|name| top_text::TopTarget {
            expression: name.to_string(),
            matcher: Some("nodegroup".into()),
            line: 0,
        });
        let of_groups: Vec<_> = of_groups
            .map(|target| ("nodegroups".to_owned(), target))
            .collect();
        let of_tops = self.top_texts().flat_map(|(path, text)| {
            let path = path.display().to_string();
            let targets = top_text::targets(&text).into_iter();
            targets
                .map(move |target| (path.clone(), target))
                .collect::<Vec<_>>()
        });
        let mut left = BTreeSet::new();
        for (file, target) in of_groups.into_iter().chain(of_tops) {
            let from = match target.line {
                0 => file.clone(),
                line => format!("{file}:{line}"),
            };
            let met = wanted(&target, &self.nodegroups);
            if met.is_empty() && target.expression.chars().any(|c| c != '*') {
                left.insert(target.expression.clone());
            }
            for wanted in met {
                let name = wanted.name();
                if wanted.is_named() {
                    found.add(&name, &file, from.clone());
                    let known = found.known.get_mut(&name);
                    // A minion that is made up by its name has the rest of what the target asks for.
                    let is_more = wanted.platform.is_some() || !wanted.grains.is_empty();
                    if let Some(known) = known.filter(|_| is_more) {
                        known.wanted.push(wanted);
                    }
                } else {
                    let new = (wanted, file.clone(), from.clone());
                    made_up.entry(name).or_insert(new);
                }
            }
        }
        found.left.extend(left);
        for (name, (wanted, _, from)) in made_up {
            // A pattern that a minion of the estate meets needs no other.
            if found.known.keys().any(|id| wanted.is_met_by(id)) {
                continue;
            }
            if let Some(known) = found.add(&name, "targets of top files", from) {
                known.is_made_up = true;
                known.wanted.push(wanted);
            }
        }
    }

    /// The platform that the estate's files name most. A tool's box names the one that people use.
    fn guess(&self) -> &'static str {
        let mut text = String::new();
        let roots = || self.roots.iter().chain(&self.pillar_roots);
        for root in roots() {
            for name in [
                "top.sls",
                "map.jinja",
                "common/init.sls",
                "common/map.jinja",
            ] {
                text.extend(self.read(&root.join(name)));
            }
        }
        let folders = self.folders.all.iter().map(|folder| &folder.path);
        for folder in folders.filter(|path| roots().any(|root| path.starts_with(root))) {
            text.push_str(&folder.to_string_lossy());
            text.push('\n');
        }
        let systems = &self.tools.systems;
        let of_tools = || system_of(&systems.join(" "));
        let of_files = || {
            of_tools()
                .or_else(|| system_of(&text))
                .map_or(USUAL, newest)
        };
        systems
            .iter()
            .find_map(|name| exact(name))
            .unwrap_or_else(of_files)
    }
}

/// The platform that a box such as `bento/debian-12` has in its name.
fn exact(name: &str) -> Option<&'static str> {
    let plain = |c: char| match c.is_ascii_alphanumeric() || c == '.' {
        true => c.to_ascii_lowercase(),
        false => '-',
    };
    let name: String = name.chars().map(plain).collect();
    let mut named = platforms::all().iter().map(|one| one.name);
    named.find(|platform| name.ends_with(platform))
}

/// Systems by other names than those of the platforms.
const SYSTEMS: [(&str, &str); 7] = [
    ("redhat", "rockylinux"),
    ("rhel", "rockylinux"),
    ("rocky", "rockylinux"),
    ("alma", "almalinux"),
    ("suse", "opensuse"),
    ("leap", "opensuse"),
    ("bento", ""),
];

/// The number of times that a text about a rare system names it.
const OFTEN: usize = 3;

/// The system that a text names most. Of equal ones Debian, Ubuntu, and then the first by name.
fn system_of(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in words {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let other = SYSTEMS.iter().find(|(name, _)| *name == word);
        *counts
            .entry(other.map_or(word, |(_, name)| name))
            .or_default() += 1;
    }
    let systems: BTreeSet<&'static str> = platforms::all().iter().map(system).collect();
    let named = systems.into_iter().filter_map(|system| {
        let count = counts.get(system).copied()?;
        let rank = match system {
            "debian" => 3,
            "ubuntu" => 2,
            "windows" | "macos" => 0,
            _ => 1,
        };
        let is_match = rank > 0 || count >= OFTEN;
        is_match.then_some((count, rank, std::cmp::Reverse(system)))
    });
    named.max().map(|(.., system)| system.0)
}

/// The system of a platform: its name without the version.
fn system(platform: &platforms::Platform) -> &'static str {
    platform.name.split('-').next().unwrap_or_default()
}

/// The newest platform of a system that has a version.
fn newest(of: &'static str) -> &'static str {
    let is_released = |name: &str| name.ends_with(|c: char| c.is_ascii_digit());
    let names = platforms::all().iter().filter(|one| system(one) == of);
    let newest = names
        .map(|one| one.name)
        .max_by_key(|name| is_released(name));
    match newest {
        Some(newest) if of != "debian" => newest,
        _ => USUAL,
    }
}

/// Give a minion an id, and the names that follow from it.
fn name(minion: &mut Minion, id: &str) {
    minion.set_id(id);
    let (host, domain) = match id.split_once('.') {
        Some((host, domain)) => (host, domain.to_owned()),
        None => {
            let own = minion.grains.get("domain").and_then(Value::as_str);
            (
                id,
                own.filter(|own| !own.is_empty())
                    .unwrap_or("example.org")
                    .to_owned(),
            )
        }
    };
    let fqdn = format!("{host}.{domain}");
    for name in ["host", "nodename", "localhost"] {
        minion.grains.insert(name, host);
    }
    minion.grains.insert("id", id);
    minion.grains.insert("domain", domain);
    minion
        .grains
        .insert("fqdns", Value::from_iter([fqdn.as_str()]));
    minion.grains.insert("fqdn", fqdn);
}
