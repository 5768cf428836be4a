//! The files of a map's layers.

use std::collections::{BTreeMap, BTreeSet};

use mapstack_salt_jinja::ast::Span;

use super::imports::Imports;
use super::layer::{LeftTable, MapLayer, TablePlace};
use super::reader::{Bound, KnownNames, Main, Reader};
use super::repeated::DistinctLayers;
use super::rest::OtherStatements;
use super::stop::Obstacle;
use crate::libraries::used_by_others;
use crate::proposal::{FormulaKind, Left};
use crate::source::{built_in, pillar_keys};
use crate::table::{Block, TableRow};
use crate::values::HEADER;
use crate::{Formula, Proposal};

/// The proposal for a map of layers.
pub(crate) fn proposal(
    reader: &Reader<'_>,
    main: &Main,
    rest: &OtherStatements,
    imports: &Imports,
    shares: bool,
) -> KnownNames<Proposal> {
    let formula = reader.formula;
    let span = reader
        .set_at
        .get(&main.name)
        .map_or(Span { start: 0, end: 1 }, |stmt| stmt.span);
    let mut files = NewFiles {
        proposal: Proposal {
            kind: FormulaKind::Tables,
            variable: main.name.clone(),
            ..Proposal::default()
        },
        sources: Vec::new(),
        keys: Vec::new(),
        grains: BTreeSet::new(),
        map: None,
        kept: BTreeSet::new(),
        span,
    };
    let once = DistinctLayers::of(main.layers.clone(), shares);
    for (at, layer) in once.layers.iter().enumerate() {
        files.layer(at, layer)?;
    }
    let NewFiles {
        mut proposal,
        sources,
        keys,
        kept,
        ..
    } = files;
    proposal.shared = once.shared;
    proposal.keys = keys;
    if sources != built_in(formula.name()) {
        let list: String = sources.iter().map(|one| format!("    - {one}\n")).collect();
        let list = match list.is_empty() {
            true => "  sources: []\n".to_owned(),
            false => format!("  sources:\n{list}"),
        };
        let text = format!("{HEADER}---\nvalues:\n{list}");
        proposal = proposal.writing("parameters/map_jinja.yaml", &text);
        proposal.done.push(format!(
            "parameters/map_jinja.yaml: the sources in the order of map.jinja: {}",
            sources.join(", ")
        ));
    }
    let proposal = map_and_rest(proposal, formula, reader, main, rest, imports);
    Ok(remove_tables(proposal, formula, reader, &kept))
}

/// Files that are being made.
struct NewFiles {
    proposal: Proposal,
    sources: Vec<String>,
    /// The keys of the pillar that the sources look up.
    keys: Vec<Vec<String>>,
    /// The grains whose folders are taken.
    grains: BTreeSet<String>,
    /// The first table of the map whose files are named after it.
    map: Option<String>,
    /// The files of tables that stay.
    kept: BTreeSet<String>,
    span: Span,
}

impl NewFiles {
    fn stop(&self, why: String) -> Obstacle {
        Obstacle::new(why, self.span)
    }

    /// The name for the files of a table that are not the first of their kind.
    fn stem(&mut self, origin: &TablePlace) -> String {
        match origin {
            TablePlace::File(path) => {
                let name = path.rsplit('/').next().unwrap_or(path);
                name.split('.').next().unwrap_or(name).to_owned()
            }
            TablePlace::Entries => "map".into(),
            TablePlace::Map(name) => match self.map.get_or_insert_with(|| name.clone()) {
                first if first == name => "map".into(),
                _ => name.clone(),
            },
        }
    }

    fn write(&mut self, path: &str, block: &Block) -> KnownNames<()> {
        if self.proposal.write.contains_key(path) {
            return Err(self.stop(format!("two tables would be {path}")));
        }
        self.proposal = std::mem::take(&mut self.proposal).writing(path, &block.file());
        Ok(())
    }

    fn layer(&mut self, at: usize, layer: &MapLayer) -> KnownNames<()> {
        match layer {
            MapLayer::Raw(definition) => {
                self.keys.extend(pillar_keys(definition));
                self.sources.push(definition.clone());
            }
            MapLayer::Overwriting(definition) => self.overwriting(definition)?,
            MapLayer::Always(block, origin) if at == 0 => {
                self.write("parameters/defaults.yaml", block)?;
                self.say(origin, "parameters/defaults.yaml");
            }
            MapLayer::Always(block, origin) => {
                let stem = self.stem(origin);
                let path = format!("parameters/{stem}.yaml");
                self.write(&path, block)?;
                self.sources.push(format!("Y!P@{stem}"));
                self.say(origin, &path);
            }
            MapLayer::ByGrain {
                grain,
                rows,
                origin,
            } => self.by_grain(grain, rows, origin)?,
            MapLayer::Left(table) => self.left(table)?,
        }
        Ok(())
    }

    /// The layer of a look-up whose keys replace those below.
    fn overwriting(&mut self, definition: &str) -> KnownNames<()> {
        let function = match definition.split_once('@') {
            Some(("C", _)) => "config.get",
            _ => "pillar.get",
        };
        let Some(key) = pillar_keys(definition) else {
            return Err(self.stop(format!("{definition} replaces keys")));
        };
        let joined = key.join(":");
        let stem = key.last().map_or("lookup", String::as_str);
        let path = format!("parameters/{stem}.yaml");
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if !stem.chars().all(is_name) || self.proposal.write.contains_key(&path) {
            return Err(self.stop(format!("`{joined}` replaces the keys below it")));
        }
        let text = format!(
            "{HEADER}---\nstrategy: overwrite\nvalues: {{{{ salt[\"{function}\"]({joined:?}, {{}}) | json(sort_keys=False) }}}}\n"
        );
        self.proposal = std::mem::take(&mut self.proposal).writing(&path, &text);
        self.sources.push(format!("Y!P@{stem}"));
        self.keys.push(key);
        let done =
            format!("{path}: `{joined}` replaces whole keys, as it did (strategy: overwrite)");
        self.proposal.done.push(done);
        Ok(())
    }

    /// The layer that picks from a table which stays.
    fn left(&mut self, table: &LeftTable) -> KnownNames<()> {
        let stem = self.stem(&table.origin);
        let path = format!("parameters/{stem}.yaml");
        if self.proposal.write.contains_key(&path) {
            return Err(table.why.clone());
        }
        self.proposal = std::mem::take(&mut self.proposal).writing(&path, &table.text);
        self.sources.push(format!("Y!P@{stem}"));
        let (what, kept) = match &table.origin {
            TablePlace::File(path) => (path.clone(), Some(path.clone())),
            TablePlace::Map(_) | TablePlace::Entries => ("the table in map.jinja".into(), None),
        };
        self.kept.extend(kept);
        let why = &table.why.why;
        let why = why.strip_prefix(&format!("{what}: ")).unwrap_or(why);
        let why = format!("{why}, so {path} picks from it");
        self.proposal.left.push(Left {
            what,
            why,
            place: None,
        });
        Ok(())
    }

    fn by_grain(&mut self, grain: &str, rows: &[TableRow], origin: &TablePlace) -> KnownNames<()> {
        let is_first = self.grains.insert(grain.to_owned());
        let (folder, source) = match is_first {
            true => (grain.to_owned(), format!("Y!G@{grain}")),
            false => {
                let stem = self.stem(origin);
                (format!("{stem}/{grain}"), format!("Y!P@{stem}|G@{grain}"))
            }
        };
        self.sources.push(source);
        let mut written = 0;
        for row in rows {
            if row.block.is_empty() {
                continue;
            }
            let name = row.key.to_string();
            if name.contains(['*', '?', '[']) {
                return Err(self.stop(format!(
                    "the entry `{name}` is a pattern for several systems"
                )));
            }
            let parts = || name.split('/');
            if parts().any(|part| matches!(part, "" | "." | ".."))
                || name.contains(['\\', '\0', '\n'])
            {
                return Err(self.stop(format!("the entry `{name}` cannot be the name of a file")));
            }
            if name.ends_with(".yaml") || name.ends_with(".jinja") {
                return Err(self.stop(format!("map.data would look for `{name}` itself")));
            }
            self.write(&format!("parameters/{folder}/{name}.yaml"), &row.block)?;
            written += 1;
        }
        let files = match written {
            0 => {
                if let TablePlace::File(path) = origin {
                    self.proposal.done.push(format!("{path} has no entry"));
                }
                return Ok(());
            }
            1 => "1 file".to_owned(),
            n => format!("{n} files"),
        };
        self.say(origin, &format!("{files} in parameters/{folder}/"));
        Ok(())
    }

    fn say(&mut self, origin: &TablePlace, what: &str) {
        let from = match origin {
            TablePlace::File(path) => path,
            TablePlace::Map(_) => "the table in map.jinja",
            TablePlace::Entries => "what all entries of the table have",
        };
        self.proposal.done.push(format!("{from} becomes {what}"));
    }
}

/// The way in which a map is written.
struct Style {
    open: &'static str,
    quote: char,
    /// The argument of `map.data`.
    tpldir: String,
}

impl Style {
    fn of(reader: &Reader<'_>) -> Self {
        let source = reader.map.source();
        let quote = match source.matches("salt[\"").count() > source.matches("salt['").count() {
            true => '"',
            false => '\'',
        };
        // A map that names itself may be imported from anywhere.
        let is_relative = ["tpldir", "\"./", "'./"]
            .iter()
            .any(|word| source.contains(word));
        Style {
            open: match source.contains("{%-") {
                true => "{%-",
                false => "{%",
            },
            quote,
            tpldir: match is_relative {
                true => "tpldir".to_owned(),
                false => format!("{quote}{}{quote}", reader.formula.name()),
            },
        }
    }

    fn set(&self, name: &str, value: &str) -> String {
        format!("{} set {name} = {value} %}}\n", self.open)
    }
}

/// The new `map.jinja`, and the statements that ran after its tables.
fn map_and_rest(
    mut proposal: Proposal,
    formula: &Formula,
    reader: &Reader<'_>,
    main: &Main,
    rest: &OtherStatements,
    imports: &Imports,
) -> Proposal {
    let style = Style::of(reader);
    let in_map = rest.is_code && (rest.stays || formula.has("post-map.jinja"));
    let cache = match imports.changes || in_map {
        true => ", cache=False",
        false => "",
    };
    let (quote, tpldir) = (style.quote, &style.tpldir);
    let call = format!("salt[{quote}map.data{quote}]({tpldir}{cache})");
    let remarks = match rest.remarks.is_empty() {
        true => String::new(),
        false => format!("{}\n", rest.remarks),
    };
    let set = style.set(&main.name, &call);
    let mut map = format!("{}\n{remarks}{set}", rest.header);
    let others = main.aliases.iter().filter(|alias| **alias != main.name);
    let is_used = |name: &&String| rest.text.contains(name.as_str()) || imports.has(name);
    let kept: Vec<&String> = others.filter(is_used).collect();
    for alias in kept.iter().filter(|name| in_map || imports.has(name)) {
        map.push_str(&style.set(alias, &main.name));
    }
    if in_map {
        map.push_str(&format!("{}\n{}", needs(reader, rest, false), rest.text));
    } else if rest.is_code {
        let mut post = format!("{}\n", rest.header);
        for name in [&main.name].into_iter().chain(kept) {
            post.push_str(&style.set(name, "mapdata"));
        }
        post.push_str(&format!("{}\n{}", needs(reader, rest, true), rest.text));
        proposal = proposal.writing("post-map.jinja", post.trim_start_matches('\n'));
        let done = "post-map.jinja has what map.jinja did with the merged values";
        proposal.done.push(done.into());
    }
    if imports.changes {
        proposal.advice.push(
            "states change the map that they import, so map.jinja has cache=False: without such changes it can be cached".into(),
        );
    }
    if !rest.comments.is_empty() {
        let lines: Vec<String> = rest.comments.iter().map(usize::to_string).collect();
        let lines = lines.join(", ");
        let what = match rest.comments.len() {
            1 => format!("the comment above a table of map.jinja went with it (line {lines})"),
            _ => format!("comments above the tables of map.jinja went with them (lines {lines})"),
        };
        proposal.advice.push(format!(
            "{what}: keep what says more than the order of merging"
        ));
    }
    if formula.has("_mapdata/init.sls") {
        let advice = "tests that compare what _mapdata shows: it has the key map_jinja now, so record them again";
        proposal.advice.push(advice.into());
    }
    let lines = |text: &str| text.lines().count();
    let were = match lines(reader.map.source()) {
        1 => "1 line becomes".to_owned(),
        n => format!("{n} lines become"),
    };
    let done = format!("map.jinja calls map.data: {were} {}", lines(&map));
    proposal.done.push(done);
    proposal.writing("map.jinja", map.trim_start_matches('\n'))
}

/// The statements of the map that the rest needs again.
fn needs(reader: &Reader<'_>, rest: &OtherStatements, has_tplroot: bool) -> String {
    let names = rest
        .needs
        .iter()
        .filter(|name| !has_tplroot || *name != "tplroot");
    let statements = names.filter_map(|name| reader.set_at.get(name));
    statements
        .map(|stmt| format!("{}\n", reader.map.text(stmt.span)))
        .collect()
}

/// Remove the files of tables that are layers now.
fn remove_tables(
    mut proposal: Proposal,
    formula: &Formula,
    reader: &Reader<'_>,
    kept: &BTreeSet<String>,
) -> Proposal {
    let files = reader.names.values().filter_map(|bound| match bound {
        Bound::File(path) if !kept.contains(path) => Some(path.clone()),
        _ => None,
    });
    let files: BTreeSet<String> = files.collect();
    let used = used_by_others(formula, &proposal, &files).unwrap_or_default();
    let mut of: BTreeMap<bool, Vec<String>> = BTreeMap::new();
    for path in files {
        of.entry(used.contains(&path)).or_default().push(path);
    }
    for path in of.remove(&true).unwrap_or_default() {
        proposal.left.push(Left {
            what: path,
            why: "another template reads it, so its values are in two places".into(),
            place: None,
        });
    }
    proposal
        .remove
        .extend(of.remove(&false).unwrap_or_default());
    proposal
}
