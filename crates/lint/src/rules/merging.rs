//! The effects of layers on each other's values.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use mapstack::matcher::Mode;
use mapstack::value::{Key, Str, Value};
use mapstack::{Place, parse_definition};
use mapstack_lineage::{Ancestry, HistoryStep, Layer, LayerKind, Lineage, ValuePosition, WhyNot};

use crate::Rule;
use crate::document::SourceFile;
use crate::finding::Finding;
use crate::subject::FormulaSubject;

pub(crate) fn check(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    let templates = subject
        .files
        .values()
        .filter(|file| file.is_template())
        .map(|file| file.shown.clone())
        .collect();
    let mut observed = ObservedRuns {
        keys: keys(subject),
        templates,
        ..ObservedRuns::default()
    };
    for (data, _) in subject.results() {
        observed.after_facts.extend(after_facts(data));
    }
    subject
        .results()
        .for_each(|(_, lineage)| observed.run(lineage));
    let mut findings = observed.redundant(&Unmerged::of(subject));
    findings.extend(observed.kinds());
    findings.extend(observed.lists());
    findings.extend(shared(subject));
    findings
}

/// A place that can be compared.
type ComparablePlace = (String, usize);

/// The effects of a value in a file on the minions.
#[derive(Debug)]
struct Override {
    place: Place,
    path: Vec<Key>,
    /// Whose value it was equal to.
    inherited: Place,
    /// The source that led to it.
    definition: Option<Str>,
    /// True if it made a difference somewhere.
    matters: bool,
}

/// A value that took the place of another.
#[derive(Debug)]
struct Replacement {
    place: Place,
    earlier: Place,
    key: String,
    what: (&'static str, &'static str),
}

/// The record of all runs.
#[derive(Debug, Default)]
struct ObservedRuns {
    /// The place of a value's key, by the value's place.
    keys: HashMap<ComparablePlace, Place>,
    /// The files that are templates.
    templates: HashSet<String>,
    /// The sources that come after one which looks at facts that no platform has.
    after_facts: HashSet<String>,
    overrides: BTreeMap<ComparablePlace, Override>,
    kinds: BTreeMap<ComparablePlace, Replacement>,
    /// Lists that took the place of others, by their keys.
    replaced: BTreeMap<String, BTreeMap<ComparablePlace, Replacement>>,
    /// Lists whose items were appended, by their keys.
    joined: BTreeMap<String, Place>,
}

/// A value that came after another.
struct Succession<'a> {
    old: &'a Value,
    old_spot: &'a ValuePosition,
    new: &'a Value,
    new_spot: &'a ValuePosition,
    by: usize,
    how: HistoryStep,
}

/// The places of the keys of values that are literally in a file.
fn keys(subject: &FormulaSubject<'_>) -> HashMap<ComparablePlace, Place> {
    let mut found = HashMap::new();
    for document in subject.layers() {
        document.entries(&mut |key, key_mark, value_mark| {
            let (value, _) = document.content.place(value_mark, 0);
            let (key, computed) = document.content.place(key_mark, key.to_string().len());
            if !computed {
                found.insert((value.file, value.start), key);
            }
        });
    }
    found
}

impl ObservedRuns {
    /// The place of the key, or of the value if that is computed.
    fn at_key(&self, place: &Place) -> Place {
        self.keys
            .get(&(place.file.clone(), place.start))
            .unwrap_or(place)
            .clone()
    }

    /// True if a source of other minions can change what a layer finds.
    fn opens_before(&self, lineage: &Lineage, layer: usize) -> bool {
        definition(lineage, layer).is_some_and(|definition| self.after_facts.contains(&*definition))
    }

    fn run(&mut self, lineage: &Lineage) {
        // The layers that replaced something around the current value, by depth.
        let mut around: Vec<(usize, Vec<usize>, bool)> = Vec::new();
        lineage.visit(&mut |path, ancestry| {
            while around
                .last()
                .is_some_and(|(depth, ..)| *depth >= path.len())
            {
                around.pop();
            }
            let inherited = |by: usize| around.iter().any(|(_, layers, _)| layers.contains(&by));
            let in_list = around.last().is_some_and(|(.., is_list)| *is_list);
            let steps: Vec<Succession<'_>> = steps(ancestry).collect();
            let is_own = path.first().and_then(Key::as_str) != Some("map_jinja");
            if !path.is_empty() && is_own && !in_list {
                for step in steps.iter().filter(|step| !inherited(step.by)) {
                    self.step(lineage, path, step);
                }
                self.first(lineage, path, ancestry, &steps);
            }
            let replaced = steps
                .iter()
                .filter(|step| step.how == HistoryStep::Replaced)
                .map(|step| step.by)
                .collect();
            let is_list = in_list || matches!(ancestry.value, Value::List(_));
            around.push((path.len(), replaced, is_list));
        });
    }

    fn step(&mut self, lineage: &Lineage, path: &[Key], step: &Succession<'_>) {
        if step.how == HistoryStep::Joined {
            if let Some(place) = in_file(step.new_spot).or_else(|| in_file(step.old_spot)) {
                self.joined.entry(shown(path)).or_insert(place);
            }
            return;
        }
        if step.how != HistoryStep::Replaced || !is_file(lineage, step.by) {
            return;
        }
        let Some(place) = in_file(step.new_spot) else {
            return;
        };
        let spotted = (place.file.clone(), place.start);
        let earlier = in_file(step.old_spot);
        // A file that two sources lead to does not override itself.
        if earlier.as_ref() == Some(&place) {
            return;
        }
        let same = step.old.is_same(step.new);
        // Other minions' inherited values at this place are not known from these runs.
        let varies = earlier
            .as_ref()
            .is_none_or(|earlier| self.templates.contains(&earlier.file))
            || self.opens_before(lineage, step.by);
        if let Some(known) = self.overrides.get_mut(&spotted) {
            known.matters |= !same || varies;
        } else if let (true, false, Some(earlier)) =
            (is_leaf(step.new), is_computed(step.new_spot), &earlier)
        {
            let known = Override {
                place: place.clone(),
                path: path.to_vec(),
                inherited: earlier.clone(),
                definition: definition(lineage, step.by),
                matters: !same || varies,
            };
            self.overrides.insert(spotted, known);
        }
        let Some(earlier) = earlier else { return };
        let replacement = Replacement {
            place,
            earlier,
            key: shown(path),
            what: (shape(step.old), shape(step.new)),
        };
        self.replacement(lineage, step, replacement);
    }

    /// Note a value that another one replaced, if that loses something of it.
    fn replacement(&mut self, lineage: &Lineage, step: &Succession<'_>, replacement: Replacement) {
        let spotted = (replacement.place.file.clone(), replacement.place.start);
        let (old, new) = replacement.what;
        let appends = |layer: &Layer| {
            layer
                .merged
                .as_ref()
                .is_some_and(|merged| matches!(&*merged.strategy, "smart" | "recurse"))
        };
        let could_append = lineage.layers().get(step.by).is_some_and(appends);
        let same = step.old.is_same(step.new);
        if old == "a list" && new == "a list" && !same && !is_empty(step.old) && could_append {
            self.replaced
                .entry(replacement.key.clone())
                .or_default()
                .entry(spotted)
                .or_insert(replacement);
        } else if old != new && is_lossy(step.old, step.new) {
            self.kinds.entry(spotted).or_insert(replacement);
        }
    }

    /// A value that nothing was there before matters.
    fn first(
        &mut self,
        lineage: &Lineage,
        path: &[Key],
        ancestry: &Ancestry,
        steps: &[Succession<'_>],
    ) {
        if !is_leaf(&ancestry.value) || steps.iter().any(|step| step.how == HistoryStep::Replaced) {
            return;
        }
        let Some(place) = in_file(&ancestry.spot).filter(|_| is_file(lineage, ancestry.layer))
        else {
            return;
        };
        let spotted = (place.file.clone(), place.start);
        let inherited = place.clone();
        self.overrides
            .entry(spotted)
            .and_modify(|known| known.matters = true)
            .or_insert(Override {
                place,
                path: path.to_vec(),
                inherited,
                definition: None,
                matters: true,
            });
    }

    fn redundant(&self, unmerged: &Unmerged<'_>) -> Vec<Finding> {
        let redundant = self
            .overrides
            .values()
            .filter(|known| !known.matters && !unmerged.sets(known));
        let redundant = redundant.map(|known| {
            let message = format!(
                "'{}' is set to the value that it inherits anyway",
                shown(&known.path)
            );
            Finding::new(Rule::RedundantOverride, self.at_key(&known.place), message)
                .related("the same value", self.at_key(&known.inherited))
                .help("leave the key out, or change the value")
        });
        redundant.collect()
    }

    fn kinds(&self) -> Vec<Finding> {
        let kinds = self.kinds.values().map(|found| {
            let (old, new) = found.what;
            let message = format!(
                "'{}' is {new} here, and takes the place of {old}",
                found.key
            );
            Finding::new(Rule::KindChange, self.at_key(&found.place), message)
                .related(format!("{old} here"), self.at_key(&found.earlier))
                .help("give all layers the same kind of value")
        });
        kinds.collect()
    }

    fn lists(&self) -> Vec<Finding> {
        let lists = self.replaced.iter().flat_map(|(key, replaced)| {
            let joined = self.joined.get(key);
            replaced.values().filter_map(move |found| {
                let message =
                    format!("the list '{key}' takes the place of an earlier one, and another layer appends to it");
                let finding = Finding::new(Rule::ListReplaced, self.at_key(&found.place), message)
                    .related("replaced", self.at_key(&found.earlier))
                    .related("appended to here", self.at_key(joined?));
                Some(finding.help("also set `merge_lists: true` in this file if its items are meant to be added"))
            })
        });
        lists.collect()
    }
}

/// The source that led to a layer.
fn definition(lineage: &Lineage, layer: usize) -> Option<Str> {
    lineage.layers().get(layer)?.definition.clone()
}

/// The sources of a run, in order.
fn sources(data: &Value) -> impl Iterator<Item = &str> {
    let meta = data
        .as_map()
        .and_then(|data| data.get("map_jinja"))
        .and_then(Value::as_map);
    let sources = meta
        .and_then(|meta| meta.get("sources"))
        .and_then(Value::as_list);
    sources.into_iter().flatten().filter_map(Value::as_str)
}

/// The sources behind the first one that is a value: of configuration or pillar, which platforms do not
/// have.
fn after_facts(data: &Value) -> Vec<String> {
    let is_value = |text: &str| {
        parse_definition(text, Mode::Layer).is_ok_and(|definition| !definition.leads_to_files())
    };
    sources(data)
        .skip_while(|text| !is_value(text))
        .map(str::to_owned)
        .collect()
}

/// The data sources that took part in no run: on the minions they are for, they may change what later
/// sources find.
struct Unmerged<'s> {
    /// The sources, in order.
    sources: Vec<&'s str>,
    /// Each with the place of the first source that leads to it.
    values: Vec<(usize, &'s Value)>,
    /// The texts of templates that were not rendered, in the same way.
    templates: Vec<(usize, &'s str)>,
}

impl<'s> Unmerged<'s> {
    fn of(subject: &'s FormulaSubject<'_>) -> Self {
        let run = subject
            .runs
            .iter()
            .find_map(|run| Some((run, run.data()?.0)));
        let known: Vec<&str> = run
            .map(|(_, data)| sources(data).collect())
            .unwrap_or_default();
        let first = |path: &str| match subject.sought().map(|sought| sought.why_not(path)) {
            Some(Ok(WhyNot::Others { sources })) => {
                let places = sources
                    .iter()
                    .filter_map(|one| known.iter().position(|text| *text == one.definition));
                places.min().unwrap_or_default()
            }
            Some(Ok(WhyNot::NoSource { .. } | WhyNot::Elsewhere { .. })) => usize::MAX,
            _ => 0,
        };
        let merged = subject.merged();
        let others = subject
            .layers()
            .filter(|document| !merged.contains(&*document.path));
        let is_unread = |file: &&Arc<SourceFile>| {
            subject.is_parameter_file(&file.path)
                && file.is_template()
                && !merged.contains(&*file.path)
        };
        let values = others
            .filter_map(|document| Some((first(&document.path), document.at(&["values"])?.0)));
        let templates = subject
            .files
            .values()
            .filter(is_unread)
            .map(|file| (first(&file.path), &*file.text));
        Unmerged {
            values: values.collect(),
            templates: templates.collect(),
            sources: known,
        }
    }

    /// True if one of them sets something under the keys of an override before it comes.
    fn sets(&self, known: &Override) -> bool {
        let own = known
            .definition
            .as_deref()
            .and_then(|own| self.sources.iter().position(|text| *text == own));
        let comes_before = |first: usize| own.is_none_or(|own| first < own);
        let under = |value: &Value| {
            known
                .path
                .iter()
                .try_fold(value, |here, key| here.as_map()?.get(key))
                .is_some()
        };
        let name = known
            .path
            .last()
            .map(ToString::to_string)
            .unwrap_or_default();
        self.values
            .iter()
            .any(|(first, value)| comes_before(*first) && under(value))
            || self
                .templates
                .iter()
                .any(|(first, text)| comes_before(*first) && text.contains(&name))
    }
}

/// The successive values at a path.
fn steps(ancestry: &Ancestry) -> impl Iterator<Item = Succession<'_>> {
    let past: Vec<_> = ancestry
        .past
        .iter()
        .filter(|past| past.how != HistoryStep::Rejected)
        .collect();
    let next = past.iter().skip(1).map(|past| (&past.value, &past.spot));
    let next: Vec<_> = next.chain([(&ancestry.value, &ancestry.spot)]).collect();
    past.into_iter()
        .zip(next)
        .map(|(past, (new, new_spot))| Succession {
            old: &past.value,
            old_spot: &past.spot,
            new,
            new_spot,
            by: past.by,
            how: past.how,
        })
}

fn in_file(spot: &ValuePosition) -> Option<Place> {
    match spot {
        ValuePosition::File { place, .. } => Some(place.clone()),
        _ => None,
    }
}

fn is_computed(spot: &ValuePosition) -> bool {
    matches!(spot, ValuePosition::File { computed: true, .. })
}

fn is_file(lineage: &Lineage, layer: usize) -> bool {
    matches!(
        lineage.layers().get(layer).map(|layer| &layer.kind),
        Some(LayerKind::File { .. })
    )
}

/// A value that is replaced as a whole.
fn is_leaf(value: &Value) -> bool {
    !matches!(value, Value::Map(map) if !map.is_empty())
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Map(map) => map.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::None => true,
        _ => false,
    }
}

fn shape(value: &Value) -> &'static str {
    match value {
        Value::Map(_) => "a mapping",
        Value::List(_) => "a list",
        Value::None => "nothing",
        _ => "a scalar",
    }
}

/// True if something with parts goes, or comes where templates expect none. Emptied on purpose is
/// no mistake, and neither is an off switch: `false` or nothing.
fn is_lossy(old: &Value, new: &Value) -> bool {
    let has_parts = |value: &Value| matches!(value, Value::Map(_) | Value::List(_));
    let switch = |value: &Value| matches!(value, Value::None | Value::Bool(_));
    (has_parts(old) || has_parts(new)) && !is_empty(old) && !switch(old) && !switch(new)
}

fn shown(path: &[Key]) -> String {
    path.iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(":")
}

/// Aliases of collections that later layers merge into: Salt's values are one object then.
fn shared(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    let documents: Vec<_> = subject
        .layers()
        .filter(|document| document.shared)
        .collect();
    let mut findings: Vec<Finding> = Vec::new();
    for document in documents {
        let mut places: BTreeMap<mapstack::yaml::Mark, Vec<Vec<Key>>> = BTreeMap::new();
        if let Some((values, marks)) = document.at(&["values"]) {
            collections(values, marks, &mut Vec::new(), &mut places);
        }
        for (mark, paths) in places.into_iter().filter(|(_, paths)| paths.len() > 1) {
            let changed = paths.iter().find_map(|path| {
                let run = subject
                    .results()
                    .find_map(|(_, lineage)| changed(lineage, path, &document.path));
                run.map(|place| (path, place))
            });
            let Some((path, place)) = changed else {
                continue;
            };
            let others: Vec<String> = paths
                .iter()
                .filter(|other| *other != path)
                .map(|other| shown(other))
                .collect();
            let (here, _) = document.content.place(mark, 1);
            let message = format!(
                "'{}' is the same object as {} for Salt, and a later layer changes it",
                shown(path),
                others.join(", ")
            );
            if findings.iter().any(|known| known.place == here) {
                continue;
            }
            findings.push(
                Finding::new(Rule::SharedAnchor, here, message)
                    .related("changed here", place)
                    .help("write the values out in both places, or change both in the later layer"),
            );
        }
    }
    findings
}

/// The collections that have parts, by where they are written.
fn collections(
    value: &Value,
    marks: &mapstack::yaml::Marks,
    path: &mut Vec<Key>,
    found: &mut BTreeMap<mapstack::yaml::Mark, Vec<Vec<Key>>>,
) {
    if is_leaf(value) && !matches!(value, Value::List(_)) {
        return;
    }
    if !path.is_empty() {
        let known = found.entry(marks.mark()).or_default();
        known.push(path.clone());
        // Its parts are repeated with it.
        if known.len() > 1 {
            return;
        }
    }
    if let Value::Map(map) = value {
        for (index, (key, inside)) in map.iter().enumerate() {
            let Some(child) = marks.child(index) else {
                continue;
            };
            path.push(key.clone());
            collections(inside, child, path, found);
            path.pop();
        }
    }
}

/// The place at which a later layer than a file merges something into the value under a path.
fn changed(lineage: &Lineage, path: &[Key], file: &str) -> Option<Place> {
    let is_it = |kind: &LayerKind| matches!(kind, LayerKind::File { path, .. } if path == file);
    let own = lineage
        .layers()
        .iter()
        .position(|layer| is_it(&layer.kind))?;
    let mut place = None;
    let whole = lineage.at(path)?;
    if whole.layer != own {
        return None;
    }
    lineage.visit_below(path, &mut |inside, ancestry| {
        if place.is_none() && inside.len() > path.len() && ancestry.layer > own {
            place = in_file(&ancestry.spot);
        }
    });
    place
}
