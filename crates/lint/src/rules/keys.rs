//! Keys of overrides that are slips for keys of the defaults.

use std::collections::{BTreeMap, BTreeSet};

use mapstack::value::{Key, Map, Value};
use mapstack::yaml::{self, Limits, Marks};
use mapstack::{Place, TemplateOptions};
use mapstack_render::jinja::ast::{Expr, ExprKind};

use crate::Rule;
use crate::document::{Document, SourceFile};
use crate::finding::Finding;
use crate::names::is_slip;
use crate::origins::salt_function;
use crate::subject::Subject;
use crate::templates::{Parsed, words};

pub(crate) fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let used = used(subject);
    for group in [parameters(subject), maps(subject)]
        .into_iter()
        .chain(dicts(subject))
    {
        findings.extend(group.slips(&used));
    }
    findings
}

/// The words by which templates could look something up: those of expressions, and of the text of all
/// templates that are not data.
fn used(subject: &Subject<'_>) -> BTreeSet<String> {
    let is_data = |parsed: &&Parsed| {
        subject.is_parameter_file(&parsed.path) || parsed.path.ends_with(".yaml")
    };
    let said: Vec<String> = subject
        .templates
        .all()
        .flat_map(|parsed| {
            if is_data(&parsed) {
                parsed.literals()
            } else {
                parsed.said()
            }
        })
        .collect();
    words(said.iter().map(String::as_str))
}

/// Layers of one kind, and the keys that they are held against.
#[derive(Default)]
struct Group {
    /// Keys with the keys below them.
    defaults: Tree,
    overrides: Vec<Override>,
}

/// What a layer sets.
struct Override {
    tree: Tree,
    /// What distinguishes layers.
    name: String,
}

/// Keys by name, with the keys below and where they stand.
#[derive(Default)]
struct Tree(BTreeMap<String, (Option<Place>, Tree)>);

impl Tree {
    /// The keys of a value, placed by a function of the mark and the key.
    fn of(
        value: &Value,
        marks: &Marks,
        place: &impl Fn(yaml::Mark, &str) -> Option<Place>,
    ) -> Self {
        let Value::Map(map) = value else {
            return Tree::default();
        };
        let entry = |(index, (key, inside)): (usize, (&Key, &Value))| {
            let name = key.as_str()?.to_owned();
            let at = marks.key(index).and_then(|mark| place(mark, &name));
            let below = marks
                .child(index)
                .map(|marks| Tree::of(inside, marks, place))
                .unwrap_or_default();
            Some((name, (at, below)))
        };
        Tree(map.iter().enumerate().filter_map(entry).collect())
    }

    /// The keys of a literal.
    fn of_literal(parsed: &Parsed, e: &Expr) -> Self {
        let ExprKind::Dict(entries) = &e.kind else {
            return Tree::default();
        };
        let entry = |(key, value): &(Expr, Expr)| match &key.kind {
            ExprKind::Const(Value::Str(name)) => Some((
                name.to_string(),
                (
                    Some(parsed.place(key.span)),
                    Tree::of_literal(parsed, value),
                ),
            )),
            _ => None,
        };
        Tree(entries.iter().filter_map(entry).collect())
    }

    fn extend(&mut self, other: Tree) {
        for (name, (place, below)) in other.0 {
            let known = self.0.entry(name).or_default();
            known.0 = known.0.take().or(place);
            known.1.extend(below);
        }
    }

    fn names<'t>(&'t self, found: &mut BTreeSet<&'t str>) {
        for (name, (_, below)) in &self.0 {
            found.insert(name);
            below.names(found);
        }
    }
}

impl Group {
    fn slips(&self, used: &BTreeSet<String>) -> Vec<Finding> {
        let mut setters: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for one in &self.overrides {
            let mut names = BTreeSet::new();
            one.tree.names(&mut names);
            for name in names {
                setters.entry(name).or_default().insert(&one.name);
            }
        }
        let is_known =
            |name: &str| used.contains(name) || setters.get(name).is_some_and(|set| set.len() > 1);
        let mut findings = Vec::new();
        for one in &self.overrides {
            slips(&one.tree, &self.defaults, used, &is_known, &mut findings);
        }
        findings
    }
}

fn slips(
    tree: &Tree,
    defaults: &Tree,
    used: &BTreeSet<String>,
    is_known: &dyn Fn(&str) -> bool,
    findings: &mut Vec<Finding>,
) {
    for (name, (place, below)) in &tree.0 {
        if let Some((_, defaults)) = defaults.0.get(name) {
            slips(below, defaults, used, is_known, findings);
            continue;
        }
        let Some(place) = place.clone().filter(|_| !is_known(name)) else {
            continue;
        };
        // A key that nothing names either is data of its own kind, such as options of a program.
        let meant = |known: &&String| {
            used.contains(*known) && !tree.0.contains_key(*known) && is_slip(name, known)
        };
        let Some(near) = defaults.0.keys().find(meant) else {
            continue;
        };
        let message = format!("nothing uses the key '{name}', which no other layer has");
        let finding =
            Finding::new(Rule::MisspeltKey, place, message).help(format!("did you mean '{near}'?"));
        findings.push(
            match defaults.0.get(near).and_then(|(place, _)| place.clone()) {
                Some(place) => finding.related("the default", place),
                None => finding,
            },
        );
    }
}

/// Parameter files, held against the defaults among them.
fn parameters(subject: &Subject<'_>) -> Group {
    let mut group = Group::default();
    for document in subject.layers() {
        let Some((values, marks)) = document.at(&["values"]) else {
            continue;
        };
        let tree = Tree::of(values, marks, &|mark, name| literal(document, mark, name));
        let is_default = document
            .path
            .rsplit('/')
            .next()
            .is_some_and(|name| name.starts_with("defaults.yaml"));
        match is_default {
            true => group.defaults.extend(tree),
            false => group.overrides.push(Override {
                tree,
                name: document.path.clone(),
            }),
        }
    }
    group
}

fn literal(document: &Document, mark: yaml::Mark, name: &str) -> Option<Place> {
    let (place, is_computed) = document.content.place(mark, name.len());
    (!is_computed).then_some(place)
}

/// Maps of formulas of old (`osfamilymap.yaml`), held against their `defaults.yaml`.
fn maps(subject: &Subject<'_>) -> Group {
    let mut group = Group::default();
    let own = format!("{}/", subject.formula);
    let is_top = |file: &&std::sync::Arc<SourceFile>| {
        file.path
            .strip_prefix(&own)
            .is_some_and(|rest| !rest.contains('/'))
    };
    for file in subject.files.values().filter(is_top) {
        let Some((value, marks, source)) = read(subject, file) else {
            continue;
        };
        let place = |mark: yaml::Mark, name: &str| {
            in_source(file, mark.offset(&source), name, source == *file.text)
        };
        match file.name() {
            "defaults.yaml" => group
                .defaults
                .extend(without_formula(subject, &value, &marks, &place)),
            name if name.ends_with("map.yaml") => {
                for (system, (_, tree)) in Tree::of(&value, &marks, &place).0 {
                    group.overrides.push(Override {
                        tree,
                        name: format!("{}:{system}", file.path),
                    });
                }
            }
            _ => {}
        }
    }
    group
}

/// The defaults below the key that is the formula's name, or all of them.
fn without_formula(
    subject: &Subject<'_>,
    value: &Value,
    marks: &Marks,
    place: &impl Fn(yaml::Mark, &str) -> Option<Place>,
) -> Tree {
    let mut tree = Tree::of(value, marks, place);
    let is_alone = value.as_map().is_some_and(|map: &Map| map.len() == 1);
    let named = [
        subject.formula.clone(),
        subject.formula.replace('-', "_"),
        "default".into(),
    ];
    match named
        .iter()
        .find(|name| is_alone && tree.0.contains_key(*name))
    {
        Some(name) => tree
            .0
            .remove(name)
            .map(|(_, below)| below)
            .unwrap_or_default(),
        None => tree,
    }
}

/// A map as YAML, as the first run renders it.
fn read(subject: &Subject<'_>, file: &SourceFile) -> Option<(Value, Marks, String)> {
    if !(file.name() == "defaults.yaml" || file.name().ends_with("map.yaml")) {
        return None;
    }
    let text = match file.is_template() {
        false => file.text.to_string(),
        true => {
            let run = subject.runs.iter().find(|run| run.supported)?;
            let run = subject
                .engine
                .run(run.minion)
                .with_saltenv(subject.saltenv.as_str());
            run.template(&file.path, &TemplateOptions::default()).ok()?
        }
    };
    let (value, marks) = yaml::load_marked(&text, &Limits::default()).ok()?;
    Some((value, marks, text))
}

/// Where a key of a text stands in the file behind it.
fn in_source(file: &SourceFile, at: usize, name: &str, is_plain: bool) -> Option<Place> {
    if is_plain {
        return Some(file.place(at, at + name.len()));
    }
    let found = file.text.find(&format!("{name}:"))?;
    Some(file.place(found, found + name.len()))
}

/// Look-ups by `grains.filter_by` in literals: each system against what the others have.
fn dicts(subject: &Subject<'_>) -> Vec<Group> {
    let mut groups = Vec::new();
    for parsed in subject.templates.all() {
        for e in parsed.expressions() {
            let ExprKind::Call { callee, args } = &e.kind else {
                continue;
            };
            let is_lookup = salt_function(callee) == Some("grains.filter_by");
            let Some(ExprKind::Dict(entries)) = args
                .positional
                .first()
                .map(|e| &e.kind)
                .filter(|_| is_lookup)
            else {
                continue;
            };
            let mut group = Group::default();
            for (system, value) in entries {
                let name = parsed.source(system.span).to_owned();
                group.overrides.push(Override {
                    tree: Tree::of_literal(parsed, value),
                    name,
                });
            }
            group.defaults = common(parsed, entries);
            groups.push(group);
        }
    }
    groups
}

/// The keys that at least two systems have.
fn common(parsed: &Parsed, entries: &[(Expr, Expr)]) -> Tree {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let trees: Vec<Tree> = entries
        .iter()
        .map(|(_, value)| Tree::of_literal(parsed, value))
        .collect();
    for name in trees.iter().flat_map(|tree| tree.0.keys()) {
        *counts.entry(name.clone()).or_default() += 1;
    }
    let mut all = Tree::default();
    trees.into_iter().for_each(|tree| all.extend(tree));
    all.0
        .retain(|name, _| counts.get(name).is_some_and(|n| *n > 1));
    all
}
