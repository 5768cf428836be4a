//! The sls, states, packages and files of a fleet, with the minions that get them.

use std::collections::{BTreeMap, BTreeSet};

use mapstack::{Error, ErrorKind, nearest};
use mapstack_fleet::Census;
use mapstack_states::Compiled;
use serde::Serialize;

use crate::fleet_files::{FileItem, FleetFile, PathTexts};
use crate::terminal::printable;
use crate::words::{count, some, width};

/// The minions that are named for each line.
const NAMED: usize = 6;

/// The states of many minions.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FleetStates {
    /// The number of minions.
    minions: usize,
    /// The number of those whose states compile.
    compiled: usize,
    /// The name that was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    /// The sls, states, packages or files that minions get.
    gotten: Vec<ItemMinions>,
    /// The minions to which top files give nothing.
    without: Vec<String>,
    /// The minions that do not compile, by cause.
    failed: Vec<FailureCause>,
}

/// An sls, a state, a package or a file.
#[derive(Serialize, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct StateItem {
    kind: ItemKind,
    /// The sls, the ID, the package or the path.
    name: String,
    /// The function of the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<String>,
    /// The ID of the state that names the package, or makes the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The sls of the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    sls: Option<String>,
    /// The owner, the mode and the text of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<FileItem>,
}

#[derive(Serialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum ItemKind {
    Sls,
    State,
    Package,
    File,
}

/// An sls, a state, a package or a file, and the minions that get it.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct ItemMinions {
    #[serde(flatten)]
    item: StateItem,
    /// A trait that these minions have, and no others.
    #[serde(skip_serializing_if = "Option::is_none")]
    common: Option<String>,
    /// The number of minions.
    count: usize,
    /// Their ids.
    minions: Vec<String>,
}

/// A cause for which minions get no states.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct FailureCause {
    message: String,
    /// file:line:column
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    /// The number of minions.
    count: usize,
    /// Their ids.
    minions: Vec<String>,
}

/// The parts of a fleet's states that are listed; only the sls by default.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListedParts<'l> {
    /// The states with a name. `sls:NAME`, `id:NAME`, `pkg:NAME` and `file:NAME` are names of one kind.
    pub of: Option<&'l str>,
    /// All states.
    pub states: bool,
    /// All files.
    pub files: bool,
    /// Only what is of the sls in some folders, if any are named.
    pub folders: &'l [String],
}

impl ListedParts<'_> {
    /// True if the files of minions have to be known. A name without a kind is one of a file if it is a path.
    #[must_use]
    pub fn has_files(&self) -> bool {
        let is_path = |of: &str| of.starts_with('/') || of.get(1..3) == Some(":\\");
        let is_of_files = |of: &str| match parsed_name(of) {
            (Some(ItemKind::File), _) => true,
            (Some(_), _) => false,
            (None, name) => is_path(name) && self.lists_all(),
        };
        self.files || self.of.is_some_and(is_of_files)
    }

    /// True if no kind is chosen.
    fn lists_all(&self) -> bool {
        !self.states && !self.files
    }

    fn means(&self, item: &StateItem) -> bool {
        let is_of_kind = match item.kind {
            ItemKind::State => self.states,
            ItemKind::File => self.files,
            ItemKind::Sls | ItemKind::Package => false,
        };
        let is_named = match self.of.map(parsed_name) {
            None => {
                return self.is_below(item)
                    && match self.lists_all() {
                        true => item.kind == ItemKind::Sls,
                        false => is_of_kind,
                    };
            }
            Some((None, _)) if self.of == Some(&*item.name) => true,
            Some((kind, name)) => item.name == name && kind.is_none_or(|kind| kind == item.kind),
        };
        is_named && (self.lists_all() || is_of_kind) && self.is_below(item)
    }

    fn is_below(&self, item: &StateItem) -> bool {
        let sls = item.sls.as_ref().unwrap_or(&item.name);
        let is_below = |folder: &String| {
            let rest = sls.strip_prefix(folder.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.folders.is_empty() || self.folders.iter().any(is_below)
    }
}

/// Files of a fleet, each with the minions that get it.
pub type FilesOfFleet = [(FleetFile, Vec<String>)];

/// Minions with the same states, and those states.
pub type MinionGroup<'g> = (&'g Compiled, &'g [String]);

impl FleetStates {
    /// Those that groups of minions get, and the files that these make, as far as they are listed.
    ///
    /// The error says that no minion that compiles gets anything of the name.
    pub fn new<'e>(
        groups: &[MinionGroup<'_>],
        failed: impl IntoIterator<Item = (&'e Error, &'e [String])>,
        listed: ListedParts<'_>,
        files: &FilesOfFleet,
        census: &Census,
    ) -> (Self, Option<Error>) {
        let failed = failed
            .into_iter()
            .map(|(error, ids)| FailureCause::of(error, ids));
        let failed: Vec<FailureCause> = failed.collect();
        let compiled = groups.iter().map(|(_, ids)| ids.len()).sum();
        let unlucky: BTreeSet<&String> = failed.iter().flat_map(|one| &one.minions).collect();
        let mut all = FleetStates {
            minions: compiled + unlucky.len(),
            compiled,
            of: listed.of.map(str::to_owned),
            gotten: gotten(groups, files, listed, census),
            without: groups
                .iter()
                .filter(|(states, _)| states.sls.is_empty())
                .flat_map(|(_, ids)| ids.iter().cloned())
                .collect(),
            failed,
        };
        all.failed.sort_by_key(|one| std::cmp::Reverse(one.count));
        let missing = match (listed.of, listed.folders) {
            _ if !all.gotten.is_empty() => None,
            (Some(of), _) => Some(nothing(groups, files, of, &all)),
            (None, []) => None,
            (None, folders) => {
                let minions = count(all.compiled, "minion");
                let message = format!("{minions} get nothing of {}", folders.join(", "));
                Some(Error::new(ErrorKind::Lookup, message))
            }
        };
        (all, missing)
    }

    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let shown: Vec<String> = self.gotten.iter().map(ItemMinions::shown).collect();
        let widest = width(&shown, 60);
        for (one, shown) in self.gotten.iter().zip(&shown) {
            let minions = match &one.common {
                Some(common) => common.clone(),
                None => some(&one.minions, NAMED),
            };
            let number = count(one.count, "minion");
            text.push_str(&format!("{shown:widest$}  {number}: {minions}\n"));
        }
        for one in &self.failed {
            let at = one.at.as_ref().map(|at| format!("{at}: "));
            text.push_str(&format!(
                "does not compile  {}{}  {}: {}\n",
                at.unwrap_or_default(),
                printable(&one.message),
                count(one.count, "minion"),
                some(&one.minions, NAMED)
            ));
        }
        if !self.without.is_empty() {
            text.push_str(&format!(
                "no states from top files  {}: {}\n",
                count(self.without.len(), "minion"),
                some(&self.without, NAMED)
            ));
        }
        let all = count(self.minions, "minion");
        text.push_str(&match (self.failed(), self.minions) {
            _ if self.gives_none() => format!("{all}, none gets states\n"),
            (0, 1) => "1 minion, which compiles\n".to_owned(),
            (0, _) => format!("{all}, all compile\n"),
            (1, _) => format!("{all}, 1 does not compile\n"),
            (failed, _) => format!("{all}, {failed} do not compile\n"),
        });
        text
    }

    /// True if no minion gets states.
    #[must_use]
    pub fn gives_none(&self) -> bool {
        self.without.len() == self.minions
    }

    /// The number of minions that do not compile.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.minions - self.compiled
    }
}

impl ItemMinions {
    /// Its kind and names, in words.
    fn shown(&self) -> String {
        let StateItem {
            kind,
            name,
            function,
            id,
            sls,
            file,
        } = &self.item;
        let of = sls.as_ref().map(|sls| format!(" of the sls {sls}"));
        let of = of.unwrap_or_default();
        let function = function.as_deref().unwrap_or_default();
        let name = printable(name);
        match kind {
            ItemKind::Sls => format!("sls {name}"),
            ItemKind::State => format!("state {name}: {function}{of}"),
            ItemKind::Package => {
                let id = id.as_deref().unwrap_or_default();
                format!("package {name}: {function} in {}{of}", printable(id))
            }
            ItemKind::File => {
                let shown = file.as_ref().map(FileItem::shown).unwrap_or_default();
                format!("file {name}: {function}{of} {shown}")
                    .trim_end()
                    .to_owned()
            }
        }
    }
}

impl FailureCause {
    fn of(error: &Error, ids: &[String]) -> Self {
        let diagnostic = error.diagnostic();
        FailureCause {
            message: diagnostic.message.clone(),
            at: diagnostic.place.as_ref().map(ToString::to_string),
            count: ids.len(),
            minions: ids.to_vec(),
        }
    }
}

/// The kind that a name is requested with, and the name.
fn parsed_name(of: &str) -> (Option<ItemKind>, &str) {
    match of.split_once(':') {
        Some(("sls", name)) => (Some(ItemKind::Sls), name),
        Some(("id", name)) => (Some(ItemKind::State), name),
        Some(("pkg", name)) => (Some(ItemKind::Package), name),
        Some(("file", name)) => (Some(ItemKind::File), name),
        _ => (None, of),
    }
}

/// All that the states of a minion are.
fn items(compiled: &Compiled) -> BTreeSet<StateItem> {
    let mut items = BTreeSet::new();
    for sls in &compiled.sls {
        items.insert(StateItem {
            kind: ItemKind::Sls,
            name: sls.name.clone(),
            function: None,
            id: None,
            sls: None,
            file: None,
        });
    }
    for state in &compiled.states {
        let of = |kind, name: &String, id| StateItem {
            kind,
            name: name.clone(),
            function: Some(state.function.clone()),
            id,
            sls: Some(state.sls.clone()),
            file: None,
        };
        items.insert(of(ItemKind::State, &state.id, None));
        for package in &state.packages {
            items.insert(of(ItemKind::Package, package, Some(state.id.clone())));
        }
    }
    items
}

/// The files of a fleet as items.
fn file_items(files: &FilesOfFleet) -> impl Iterator<Item = (StateItem, &Vec<String>)> {
    let texts = PathTexts::of(files.iter().map(|(file, ids)| (file, &ids[..])));
    files.iter().map(move |(file, ids)| {
        let item = StateItem {
            kind: ItemKind::File,
            name: file.path.clone(),
            function: Some(file.function.clone()),
            id: Some(file.id.clone()),
            sls: Some(file.sls.clone()),
            file: Some(file.item(&texts)),
        };
        (item, ids)
    })
}

fn gotten(
    groups: &[MinionGroup<'_>],
    files: &FilesOfFleet,
    listed: ListedParts<'_>,
    census: &Census,
) -> Vec<ItemMinions> {
    let mut all: BTreeMap<StateItem, Vec<String>> = BTreeMap::new();
    for (compiled, ids) in groups {
        for item in items(compiled)
            .into_iter()
            .filter(|item| listed.means(item))
        {
            all.entry(item).or_default().extend_from_slice(ids);
        }
    }
    for (item, ids) in file_items(files).filter(|(item, _)| listed.means(item)) {
        all.entry(item).or_default().extend_from_slice(ids);
    }
    let row = |(item, mut minions): (StateItem, Vec<String>)| {
        minions.sort();
        let common = (minions.len() > NAMED).then(|| census.common(&minions));
        ItemMinions {
            item,
            common: common.flatten().map(|common| common.to_string()),
            count: minions.len(),
            minions,
        }
    };
    all.into_iter().map(row).collect()
}

/// The failure to find a name.
fn nothing(groups: &[MinionGroup<'_>], files: &FilesOfFleet, of: &str, all: &FleetStates) -> Error {
    let (kind, name) = parsed_name(of);
    let items = groups.iter().flat_map(|(compiled, _)| items(compiled));
    let items = items.chain(file_items(files).map(|(item, _)| item));
    let names = items.filter(|item| kind.is_none_or(|kind| kind == item.kind));
    let names: BTreeSet<String> = names.map(|item| item.name).collect();
    let what = match kind {
        None => "sls, state or package",
        Some(ItemKind::Sls) => "sls",
        Some(ItemKind::State) => "state",
        Some(ItemKind::Package) => "package",
        Some(ItemKind::File) => "file",
    };
    let minions = count(all.compiled, "minion");
    let message = format!("no {what} '{name}' is among the states of {minions}");
    let mut error = Error::new(ErrorKind::Lookup, message);
    if all.failed() > 0 {
        let failed = count(all.failed(), "minion");
        error = error.note(format!("unknown for {failed}, whose states do not compile"));
    }
    match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => error.help(format!("did you mean '{near}'?")),
        None => error.help("without a name, the sls that minions get are listed"),
    }
}
