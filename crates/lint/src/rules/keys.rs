//! Keys of overrides that are slips for keys of the defaults.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use mapstack::value::{Key, Map, Value};
use mapstack::yaml::{self, Limits, Marks};
use mapstack::{Place, TemplateOptions};
use mapstack_salt_jinja::ast::{Expr, ExprKind};

use crate::Rule;
use crate::document::{Document, SourceFile};
use crate::finding::{Finding, Level};
use crate::names::{digits, is_slip};
use crate::origins::salt_function;
use crate::subject::FormulaSubject;
use crate::templates::{LocatedTemplate, text_without_comments, words};

pub(crate) fn check(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let used = UsedWords::of(subject);
    for group in [parameters(subject), maps(subject)]
        .into_iter()
        .chain(dicts(subject))
    {
        findings.extend(group.slips(&used));
    }
    findings
}

/// The words by which something could be looked up.
struct UsedWords {
    words: BTreeSet<String>,
    /// True if the formula is data alone, which others look up.
    is_elsewhere: bool,
}

impl UsedWords {
    /// Those of expressions, and of the text of all files that are not data.
    fn of(subject: &FormulaSubject<'_>) -> Self {
        let is_data = |path: &str| subject.is_parameter_file(path) || path.ends_with(".yaml");
        let of_templates = subject.templates.all().flat_map(|parsed| {
            if is_data(&parsed.path) {
                parsed.literals()
            } else {
                parsed.texts()
            }
        });
        let others = subject
            .files
            .values()
            .filter(|file| !is_data(&file.path) && subject.templates.get(&file.path).is_none());
        let of_others = others.filter_map(|file| text_without_comments(&file.path, &file.text));
        let said: Vec<String> = of_templates.chain(of_others).collect();
        let is_code = |path: &str| {
            [".sls", ".jinja", ".j2", ".py"]
                .iter()
                .any(|end| path.ends_with(end))
        };
        UsedWords {
            words: words(said.iter().map(String::as_str)),
            is_elsewhere: !subject
                .files
                .keys()
                .any(|path| is_code(path) && !is_data(path)),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.words.contains(name)
    }
}

/// Layers of one kind, and the keys that they are held against.
#[derive(Default)]
struct LayerGroup {
    /// Keys with the keys below them.
    defaults: KeyTree,
    overrides: Vec<Override>,
}

/// A value that a layer sets.
struct Override {
    tree: KeyTree,
    /// The name that distinguishes layers.
    name: String,
}

/// Keys by name, with their places and the keys below.
#[derive(Default, Clone)]
struct KeyTree(BTreeMap<String, (Option<Place>, KeyTree)>);

impl KeyTree {
    /// The keys of a value, placed by a function of the mark and the key.
    fn of(
        value: &Value,
        marks: &Marks,
        place: &impl Fn(yaml::Mark, &str) -> Option<Place>,
    ) -> Self {
        let Value::Map(map) = value else {
            return KeyTree::default();
        };
        let entry = |(index, (key, inside)): (usize, (&Key, &Value))| {
            let name = key.as_str()?.to_owned();
            let at = marks.key(index).and_then(|mark| place(mark, &name));
            let below = marks
                .child(index)
                .map(|marks| KeyTree::of(inside, marks, place))
                .unwrap_or_default();
            Some((name, (at, below)))
        };
        KeyTree(map.iter().enumerate().filter_map(entry).collect())
    }

    /// The keys of a literal.
    fn of_literal(parsed: &LocatedTemplate, e: &Expr) -> Self {
        let ExprKind::Dict(entries) = &e.kind else {
            return KeyTree::default();
        };
        let entry = |(key, value): &(Expr, Expr)| match &key.kind {
            ExprKind::Const(Value::Str(name)) => Some((
                name.to_string(),
                (
                    Some(parsed.place(key.span)),
                    KeyTree::of_literal(parsed, value),
                ),
            )),
            _ => None,
        };
        KeyTree(entries.iter().filter_map(entry).collect())
    }

    fn extend(&mut self, other: KeyTree) {
        for (name, (place, below)) in other.0 {
            let known = self.0.entry(name).or_default();
            known.0 = known.0.take().or(place);
            known.1.extend(below);
        }
    }

    /// The keys that are used, with those below them.
    fn used(&self, used: &UsedWords) -> KeyTree {
        let entry = |(name, (place, below)): (&String, &(Option<Place>, KeyTree))| {
            (name.clone(), (place.clone(), below.used(used)))
        };
        let named = self.0.iter().filter(|(name, _)| used.has(name));
        KeyTree(named.map(entry).collect())
    }

    fn names<'t>(&'t self, found: &mut BTreeSet<&'t str>) {
        for (name, (_, below)) in &self.0 {
            found.insert(name);
            below.names(found);
        }
    }
}

impl LayerGroup {
    fn slips(&self, used: &UsedWords) -> Vec<Finding> {
        let mut setters: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for one in &self.overrides {
            let mut names = BTreeSet::new();
            one.tree.names(&mut names);
            for name in names {
                setters.entry(name).or_default().insert(&one.name);
            }
        }
        // A key that one layer sets and templates use is right in the others as well.
        let mut meant = self.defaults.clone();
        for one in &self.overrides {
            meant.extend(one.tree.used(used));
        }
        let mut search = KeySearch {
            used,
            setters: &setters,
            alike: HashMap::new(),
            left: MOST_COMPARED,
            findings: Vec::new(),
        };
        for one in &self.overrides {
            search.slips(&one.tree, &meant, used.is_elsewhere);
        }
        search.findings
    }
}

/// Limit on the pairs of keys that are compared letter by letter. Formulas have some thousands.
const MOST_COMPARED: usize = 2_000_000;

struct KeySearch<'s> {
    used: &'s UsedWords,
    /// The layers that set a key, by its name.
    setters: &'s BTreeMap<&'s str, BTreeSet<&'s str>>,
    /// The keys of a tree by their digits, which slips have in common, for each tree that was asked.
    alike: HashMap<*const KeyTree, HashMap<String, Vec<&'s String>>>,
    /// The number of comparisons that are left.
    left: usize,
    findings: Vec<Finding>,
}

impl<'s> KeySearch<'s> {
    /// Find the keys of a tree that are slips for some that are meant.
    fn slips(&mut self, tree: &KeyTree, meant: &'s KeyTree, is_elsewhere: bool) {
        for (name, (place, below)) in &tree.0 {
            if let Some((_, meant)) = meant.0.get(name) {
                self.slips(below, meant, false);
                continue;
            }
            let Some(place) = place.clone().filter(|_| !self.used.has(name)) else {
                continue;
            };
            let Some(near) = self.near(name, tree, meant, is_elsewhere) else {
                if self.left == 0 {
                    self.findings.push(not_compared(place));
                    return;
                }
                continue;
            };
            let message = format!("nothing uses the key '{name}', and the defaults do not have it");
            let finding = Finding::new(Rule::MisspeltKey, place, message)
                .help(format!("did you mean '{near}'?"));
            let place = meant.0.get(near).and_then(|(place, _)| place.clone());
            self.findings.push(match place {
                Some(place) => finding.related("the similar key", place),
                None => finding,
            });
        }
    }

    /// The key that a key of a tree is a slip for.
    fn near(
        &mut self,
        name: &str,
        tree: &KeyTree,
        meant: &'s KeyTree,
        is_elsewhere: bool,
    ) -> Option<&'s String> {
        let is_shared = self
            .setters
            .get(name)
            .is_some_and(|layers| layers.len() > 1);
        // An unknown key that nothing names is data, such as options of a program.
        let is_near = |known: &str| {
            (is_elsewhere || self.used.has(known))
                && !tree.0.contains_key(known)
                && is_slip(name, known)
                && !(is_shared && is_plural(name, known))
        };
        let alike = self.alike.entry(meant).or_insert_with(|| {
            let mut alike: HashMap<String, Vec<&String>> = HashMap::new();
            for known in meant.0.keys() {
                alike.entry(digits(known)).or_default().push(known);
            }
            alike
        });
        let alike = alike.get(&digits(name))?;
        let compared = alike.iter().take(self.left);
        let mut looked = 0;
        let near = compared
            .inspect(|_| looked += 1)
            .find(|known| is_near(known));
        self.left -= looked;
        near.copied()
    }
}

/// Says that there are too many keys.
fn not_compared(place: Place) -> Finding {
    let message = format!(
        "the keys from here on were not compared with the defaults: there are more than {MOST_COMPARED} pairs of them"
    );
    let mut finding = Finding::new(Rule::MisspeltKey, place, message);
    finding.level = Level::Note;
    finding
}

/// True if names differ only in words being plural: two that several layers have may both be right.
fn is_plural(name: &str, other: &str) -> bool {
    let singular = |name: &str| {
        let words: Vec<String> = name
            .split(['_', '-'])
            .map(|word| word.trim_end_matches('s').to_owned())
            .collect();
        words
    };
    singular(name) == singular(other)
}

/// Parameter files, held against the defaults among them.
fn parameters(subject: &FormulaSubject<'_>) -> LayerGroup {
    let mut group = LayerGroup::default();
    for document in subject.layers() {
        let Some((values, marks)) = document.at(&["values"]) else {
            continue;
        };
        let tree = KeyTree::of(values, marks, &|mark, name| literal(document, mark, name));
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

/// Maps of the old form (`osfamilymap.yaml`), held against their `defaults.yaml`.
fn maps(subject: &FormulaSubject<'_>) -> LayerGroup {
    let mut group = LayerGroup::default();
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
                for (system, (_, tree)) in KeyTree::of(&value, &marks, &place).0 {
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
    subject: &FormulaSubject<'_>,
    value: &Value,
    marks: &Marks,
    place: &impl Fn(yaml::Mark, &str) -> Option<Place>,
) -> KeyTree {
    let mut tree = KeyTree::of(value, marks, place);
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
fn read(subject: &FormulaSubject<'_>, file: &SourceFile) -> Option<(Value, Marks, String)> {
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

/// The place in the source file of a key of a text.
fn in_source(file: &SourceFile, at: usize, name: &str, is_plain: bool) -> Option<Place> {
    if is_plain {
        return Some(file.place(at, at + name.len()));
    }
    let found = file.text.find(&format!("{name}:"))?;
    Some(file.place(found, found + name.len()))
}

/// Look-ups by `grains.filter_by` in literals: each system against what the others have.
fn dicts(subject: &FormulaSubject<'_>) -> Vec<LayerGroup> {
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
            let mut group = LayerGroup::default();
            for (system, value) in entries {
                let name = parsed.source(system.span).to_owned();
                group.overrides.push(Override {
                    tree: KeyTree::of_literal(parsed, value),
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
fn common(parsed: &LocatedTemplate, entries: &[(Expr, Expr)]) -> KeyTree {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let trees: Vec<KeyTree> = entries
        .iter()
        .map(|(_, value)| KeyTree::of_literal(parsed, value))
        .collect();
    for name in trees.iter().flat_map(|tree| tree.0.keys()) {
        *counts.entry(name.clone()).or_default() += 1;
    }
    let mut all = KeyTree::default();
    trees.into_iter().for_each(|tree| all.extend(tree));
    all.0
        .retain(|name, _| counts.get(name).is_some_and(|n| *n > 1));
    all
}
