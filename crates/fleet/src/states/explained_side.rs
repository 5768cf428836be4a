//! The origins of a minion's states in one state of the files.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::slice::from_ref;
use std::sync::Arc;

use mapstack::Place;
use mapstack::loader::{Fetched, SaltPath};
use mapstack::minion::Minion;
use mapstack::value::{Key, MapKind, Value};
use mapstack_files::{ManagedFile, ManagedFiles};
use mapstack_lineage::{
    Ancestry, ExplainedStates, FileLines, Lineage, Reason, StateOrigin, StatesExplainer,
    ValuePosition,
};
use mapstack_states::GotSls;

use super::arguments::attribute;
use super::causes::{Cause, CausePart, CausePiece, KnownLines, LinesOfBothSides, in_file};
use super::compare::{FileChange, StateChange};
use super::hunks::{Hunk, hunks};
use super::plan::{PlannedFile, PlannedText, StateName};
use crate::change::Change;
use crate::fleet::Fleet;
use crate::traced_high::TracedHigh;

/// Files of a state that are followed; the same number is shown.
pub(super) const MAX_FILES: usize = 20;
/// Lines of a file that are followed.
const MAX_LINES: usize = 120;

/// The states that changed on a minion, as one state of the files has them.
pub(super) struct ChangedStates<'a> {
    /// The minion with its pillar there.
    pub minion: &'a Minion,
    /// The sls that is run, if it is not what top files give.
    pub run: Option<&'a str>,
    /// The changes.
    pub changes: &'a [&'a StateChange],
    /// 0 for the earlier state of the files, 1 for the later one.
    pub side: usize,
}

/// The files of sls, by saltenv and name.
type SlsTexts = HashMap<(String, String), Place>;

/// A changed state, as one state of the files explains it.
#[derive(Default)]
pub(super) struct ExplainedStateSide {
    /// The ID and the function, if the state is there.
    declared: Vec<CausePiece>,
    /// The place that gives the minion the sls of the state.
    given_by: Option<Place>,
    /// The sls of the minion.
    sls: Arc<SlsTexts>,
    /// The state is in this sls.
    own_sls: Option<(String, String)>,
    /// Beside the changes of arguments, the value or its items.
    pub arguments: Vec<Vec<CausePiece>>,
    /// Beside the changes of files.
    pub files: Vec<ExplainedFileSide>,
    /// The files of which the arguments are made.
    pub sources: Vec<Place>,
}

/// The same of a file.
#[derive(Default)]
pub(super) struct ExplainedFileSide {
    /// Beside the changes of attributes, the arguments that set them.
    pub attributes: Vec<Vec<CausePiece>>,
    /// Its text, if both states of the files know it.
    pub text: Arc<str>,
    /// The lines that changed.
    pub lines: BTreeMap<usize, CausePiece>,
    /// The templates that its lines are from.
    pub sources: Vec<Place>,
}

impl ExplainedStateSide {
    /// The causes of a state that is there and not in the other state of the files.
    pub fn of_state<'t>(
        &'t self,
        other: &'t ExplainedStateSide,
        known: &KnownLines<'t>,
    ) -> Vec<Cause> {
        if self.declared.is_empty() || !other.declared.is_empty() {
            return Vec::new();
        }
        let own = |side: &'t ExplainedStateSide| side.sls.get(self.own_sls.as_ref()?);
        let (Some(here), Some(there)) = (own(self), own(other)) else {
            // The minion gets the sls in this state of the files alone.
            let given_by = self.given_by.iter().filter(|_| !other.sls.is_empty());
            let cause = |place: &Place| Cause {
                expression: None,
                spot: in_file(place.clone()),
            };
            return given_by.map(cause).collect();
        };
        let [here, there] = [here, there].map(|place| known.of(from_ref(place)));
        let both = LinesOfBothSides {
            here: &here,
            there: &there,
        };
        let mut declared = self.declared.iter();
        if let Some(edited) = declared.find_map(|piece| piece.edited(false, both)) {
            return vec![edited];
        }
        let Some(id) = self.declared.first() else {
            return Vec::new();
        };
        match &id.parts[..] {
            [] => id.blocks().into_iter().take(1).collect(),
            parts => parts.iter().map(CausePart::cause).collect(),
        }
    }
}

/// Explain the changed states on one side; `None` if their origins cannot be known.
pub(super) fn explained(
    fleet: &Fleet<'_>,
    asked: &ChangedStates<'_>,
) -> Option<Vec<ExplainedStateSide>> {
    let (engine, gatherer) = (fleet.engine(), fleet.states()?.gatherer());
    let minion = &*engine.with_tree_grains(asked.minion);
    let pillar = fleet.pillars().and_then(|pillars| {
        let (data, lineage) = pillars.lineage(minion)?;
        data.is_same(&Value::Map(minion.pillar.clone()))
            .then(|| Arc::new(lineage))
    });
    let names = asked.names();
    let saltenv = asked.saltenv()?;
    let run = asked.run.map(|name| (saltenv, name));
    let TracedHigh {
        high,
        settled,
        compiled,
    } = TracedHigh::of(gatherer, minion, run)?;
    let of_files = high.minion_of_files(minion);
    let managed = ManagedFiles::new(engine, of_files, &compiled.low);
    let sls = compiled.sls.iter();
    let whole = |sls: &GotSls| {
        let path = SaltPath::from_relative(&sls.path);
        let file = match engine.fetch(&path, &sls.saltenv) {
            Ok(Fetched::Found { bytes, on_disk }) => {
                Place::in_bytes(&on_disk.display().to_string(), &bytes, |_| 0)
            }
            _ => return None,
        };
        Some(((sls.saltenv.clone(), sls.name.clone()), file))
    };
    let mut side = AskedSide {
        explainer: StatesExplainer::new(engine, minion, &high, settled),
        files: managed.all(),
        managed,
        pillar,
        number: asked.side,
        sls: Arc::new(sls.filter_map(whole).collect()),
    };
    Some(side.all(asked, &names))
}

impl ChangedStates<'_> {
    /// The names of the states, as far as they are there.
    fn names(&self) -> Vec<&StateName> {
        let names = self.changes.iter();
        names.filter_map(|change| self.name(change)).collect()
    }

    /// The saltenv of the first state.
    fn saltenv(&self) -> Option<&str> {
        let change = self.changes.first()?;
        let name = change.new.as_ref().or(change.old.as_ref())?;
        Some(&name.saltenv)
    }

    fn name<'c>(&self, change: &'c StateChange) -> Option<&'c StateName> {
        [&change.old, &change.new][self.side].as_ref()
    }
}

/// One state of the files, while it is asked.
struct AskedSide<'x> {
    explainer: StatesExplainer<'x>,
    managed: ManagedFiles<'x>,
    files: Vec<ManagedFile>,
    pillar: Option<Arc<Lineage>>,
    number: usize,
    sls: Arc<SlsTexts>,
}

impl AskedSide<'_> {
    fn all(&mut self, asked: &ChangedStates<'_>, names: &[&StateName]) -> Vec<ExplainedStateSide> {
        let ids: Vec<Key> = names.iter().map(|name| Key::from(&*name.id)).collect();
        let mut states = self.explainer.states(&ids);
        if let Some(pillar) = &self.pillar {
            states.lineage = states.lineage.with_pillar(pillar.clone());
        }
        let changes = asked.changes.iter();
        changes
            .map(|change| match asked.name(change) {
                Some(name) => self.state(&states, change, name),
                None => ExplainedStateSide {
                    sls: self.sls.clone(),
                    ..ExplainedStateSide::default()
                },
            })
            .collect()
    }

    fn state(
        &mut self,
        states: &ExplainedStates,
        change: &StateChange,
        name: &StateName,
    ) -> ExplainedStateSide {
        let state = OfState { states, name };
        let both = change.arguments.iter();
        let arguments = both.map(|change| {
            let values = [change.old.as_ref(), change.new.as_ref()];
            match values[self.number] {
                Some(value) => state.pieces(&change.path, value, values[1 - self.number]),
                None => Vec::new(),
            }
        });
        let arguments = arguments.collect();
        let files = change.files.iter().take(MAX_FILES);
        let files = files.map(|file| ExplainedFileSide {
            attributes: state.attributes(file),
            ..self.file(file, name).unwrap_or_default()
        });
        let files = files.collect();
        ExplainedStateSide {
            declared: state.declared(),
            given_by: state.origin().and_then(given_by),
            sls: self.sls.clone(),
            own_sls: Some((name.saltenv.to_string(), name.sls.to_string())),
            arguments,
            files,
            sources: state.sources(),
        }
    }

    /// The lines of a file that changed; nothing if a state of the files does not know its text.
    fn file(&mut self, change: &FileChange, name: &StateName) -> Option<ExplainedFileSide> {
        let sides = [change.old.as_ref()?, change.new.as_ref()?];
        let texts = [text(sides[0])?, text(sides[1])?];
        let own = sides[self.number];
        let function = format!("{}.{}", name.module, name.function);
        let is_it = |file: &&ManagedFile| {
            file.path == own.path
                && file.function == function
                && (&*file.state.id, &*file.state.sls) == (&*name.id, &*name.sls)
        };
        let file = self.files.iter().find(is_it)?;
        let mut lines = self.explainer.file(&self.managed, file).ok()?;
        if let Some(pillar) = &self.pillar {
            let lineage = lines.explained.lineage.with_pillar(pillar.clone());
            lines.explained.lineage = lineage;
        }
        let ranges = hunks(texts).into_iter().map(|Hunk(both)| both);
        let ranges = ranges.map(|both| both[self.number].clone());
        Some(of_lines(&lines, texts[self.number], ranges))
    }
}

/// The text of a file, if it is one.
fn text(file: &PlannedFile) -> Option<&str> {
    match &file.text {
        PlannedText::Bytes(bytes) if !bytes.contains(&0) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

fn of_lines(
    lines: &FileLines,
    text: &str,
    ranges: impl Iterator<Item = Range<usize>>,
) -> ExplainedFileSide {
    let lineage = &lines.explained.lineage;
    let path = Key::from(&*lines.path);
    let all: Vec<&str> = text.split('\n').collect();
    let mut side = ExplainedFileSide {
        text: text.into(),
        ..ExplainedFileSide::default()
    };
    let at = |number: usize| {
        let number = Key::from(i64::try_from(number + 1).unwrap_or(i64::MAX));
        [path.clone(), number]
    };
    let mut of_file = OfFile {
        lineage,
        last: None,
    };
    for number in ranges.flatten().take(MAX_LINES) {
        let planned = all.get(number).copied().unwrap_or_default();
        let known = lineage.at(&[&at(number)[..], &["text".into()]].concat());
        let is_it = |known: &Ancestry| known.value.as_str() == Some(planned.trim_end_matches('\r'));
        if let Some(known) = known.filter(is_it) {
            side.lines.insert(number, of_file.line(&at(number), &known));
        }
    }
    lineage.visit_below(std::slice::from_ref(&path), &mut |steps, known| {
        let is_line = matches!(steps, [_, Key::Int(_), last] if last.as_str() == Some("text"));
        if is_line && let ValuePosition::File { place, .. } = &known.spot {
            add_source(&mut side.sources, place);
        }
    });
    side
}

fn add_source(sources: &mut Vec<Place>, place: &Place) {
    let is_it = |known: &Place| {
        Arc::ptr_eq(&known.source, &place.source)
            || (known.file == place.file && known.source == place.source)
    };
    if !sources.iter().any(is_it) {
        sources.push(place.clone());
    }
}

/// Parts of one expression that are followed.
const MAX_PARTS: usize = 1_000;

/// The lines of a file, of which several can be printed by one expression.
struct OfFile<'l> {
    lineage: &'l Lineage,
    /// The last expression that printed a container, with its parts.
    last: Option<(String, Value, Vec<CausePart>)>,
}

impl OfFile<'_> {
    /// A line with the expressions that printed parts of it.
    fn line(&mut self, at: &[Key], known: &Ancestry) -> CausePiece {
        let mut expressions = Vec::new();
        if let Some(Value::Map(line)) = self.lineage.at(at).map(|line| line.value) {
            expressions.extend(
                line.into_iter()
                    .filter(|(key, _)| key.as_str() != Some("text")),
            );
        }
        let mut parts = Vec::new();
        for (key, value) in expressions {
            let (Some(expression), path) =
                (key.as_str(), [at, std::slice::from_ref(&key)].concat())
            else {
                continue;
            };
            match &self.last {
                Some((last, of, known)) if last == expression && of.is_same(&value) => {
                    parts.extend(known.iter().cloned());
                }
                _ => {
                    let own = self.parts(expression, &path);
                    parts.extend(own.iter().cloned());
                    self.last = Some((expression.to_owned(), value, own));
                }
            }
        }
        match parts.is_empty() {
            true => piece(known),
            false => CausePiece {
                spot: known.spot.clone(),
                parts,
            },
        }
    }

    /// The scalars in the value of an expression.
    fn parts(&self, expression: &str, at: &[Key]) -> Vec<CausePart> {
        let mut parts: Vec<CausePart> = Vec::new();
        self.lineage.visit_below(at, &mut |path, known| {
            let is_inside = match &known.value {
                Value::Map(map) => map.is_empty(),
                Value::List(items) => items.is_empty(),
                _ => true,
            };
            if is_inside && parts.len() < MAX_PARTS {
                let below = path.get(at.len()..).unwrap_or_default();
                parts.extend(parts_of(known, Some(expression), below));
            }
        });
        parts
    }
}

/// A value with what it is made of.
fn piece(known: &Ancestry) -> CausePiece {
    let is_own = known.printed.is_empty() && known.inputs.is_empty();
    CausePiece {
        spot: known.spot.clone(),
        parts: match is_own {
            true => Vec::new(),
            false => parts_of(known, None, &[]),
        },
    }
}

fn parts_of(known: &Ancestry, expression: Option<&str>, path: &[Key]) -> Vec<CausePart> {
    let sources = known.sources().into_iter();
    let parts = sources.map(|(value, spot)| CausePart {
        expression: expression.map(str::to_owned),
        path: path.to_vec(),
        value: value.cloned(),
        spot: spot.clone(),
    });
    parts.collect()
}

/// A state among those that are explained.
struct OfState<'s> {
    states: &'s ExplainedStates,
    name: &'s StateName,
}

impl OfState<'_> {
    fn function(&self) -> String {
        format!("{}.{}", self.name.module, self.name.function)
    }

    fn path(&self, below: &[Key]) -> Vec<Key> {
        let above = [Key::from(&*self.name.id), Key::from(self.function())];
        [&above[..], below].concat()
    }

    fn at(&self, below: &[Key]) -> Option<Ancestry> {
        self.states.lineage.at(&self.path(below))
    }

    fn origin(&self) -> Option<&StateOrigin> {
        let (id, function) = (Key::from(&*self.name.id), self.function());
        let mut all = self.states.states.iter();
        all.find(|state| state.id == id && state.function == function)
    }

    /// The pieces of an argument, or of a part of the name. The items of a changed list that the other list
    /// does not have.
    fn pieces(&self, path: &[Key], value: &Value, other: Option<&Value>) -> Vec<CausePiece> {
        let is = |part: &str| path == [Key::from(part)];
        let is_name = |part: &str, own: &str| is(part) && value.as_str() == Some(own);
        if is_name("name", &self.name.name) {
            return self.of_name().into_iter().collect();
        }
        if is_name("function", &self.name.function) {
            return self.of_function().into_iter().collect();
        }
        if is_name("ID", &self.name.id) {
            return self.of_id().into_iter().collect();
        }
        if is("source")
            && let Some(known) = self.of_source(value)
        {
            return vec![piece(&known)];
        }
        // Plans have no kinds of mappings.
        let is_it = |known: &Ancestry| known.value.with_map_kind(MapKind::Dict).is_same(value);
        let Some(known) = self.at(path).filter(is_it) else {
            return Vec::new();
        };
        let (Value::List(items), Some(Value::List(others))) = (value, other) else {
            return vec![piece(&known)];
        };
        let is_new = |item: &Value| !others.iter().any(|other| other.is_same(item));
        let fresh = items.iter().enumerate().filter(|(_, item)| is_new(item));
        let at = fresh.map(|(index, _)| [path, &[Key::of_index(index)]].concat());
        let known = at.filter_map(|path| self.at(&path));
        known.map(|known| piece(&known)).collect()
    }

    /// The item of a list of sources that counts: a plan has it in place of the list.
    fn of_source(&self, url: &Value) -> Option<Ancestry> {
        let known = self.at(&["source".into()])?;
        let items = known.value.as_list()?;
        let at = items.iter().position(|item| match item {
            // A source can have a hash.
            Value::Map(one) => one.keys().any(|key| key.as_str() == url.as_str()),
            item => item.is_same(url),
        })?;
        self.at(&["source".into(), Key::of_index(at)])
    }

    fn of_id(&self) -> Option<CausePiece> {
        let known = self.states.lineage.key_at(&[Key::from(&*self.name.id)])?;
        Some(piece(&known))
    }

    fn of_function(&self) -> Option<CausePiece> {
        let known = self.states.lineage.key_at(&self.path(&[]))?;
        Some(piece(&known))
    }

    /// The ID and the function.
    fn declared(&self) -> Vec<CausePiece> {
        [self.of_id(), self.of_function()]
            .into_iter()
            .flatten()
            .collect()
    }

    /// The pieces of the name that the function gets: one of several, or the ID.
    fn of_name(&self) -> Option<CausePiece> {
        let is_it = |known: &Ancestry| known.value.as_str() == Some(&*self.name.name);
        if let Some(known) = self.at(&["name".into()]).filter(is_it) {
            return Some(piece(&known));
        }
        let names = self.at(&["names".into()])?;
        let items = names.value.as_list()?;
        let at = items.iter().position(|item| match item {
            // A name can have arguments of its own.
            Value::Map(one) => one.keys().any(|key| key.as_str() == Some(&*self.name.name)),
            item => item.as_str() == Some(&*self.name.name),
        })?;
        let known = self.at(&["names".into(), Key::of_index(at)])?;
        Some(piece(&known))
    }

    /// Beside the changes of a file's attributes, the arguments that set them.
    fn attributes(&self, file: &FileChange) -> Vec<Vec<CausePiece>> {
        let all = self.at(&[]).map(|known| known.value);
        let names: Vec<Key> = all
            .iter()
            .filter_map(Value::as_map)
            .flat_map(|map| map.keys().cloned())
            .collect();
        let pieces = |change: &Change| {
            if change.path == [Key::from("kind")] {
                return self.of_function().into_iter().collect();
            }
            let wanted = change.path.first().and_then(Key::as_str);
            let sets = |name: &&Key| name.as_str().and_then(attribute) == wanted;
            let of = |name: &Key| Some(piece(&self.at(std::slice::from_ref(name))?));
            names.iter().filter(sets).filter_map(of).collect()
        };
        file.attributes.iter().map(pieces).collect()
    }

    /// The files in which the arguments are.
    fn sources(&self) -> Vec<Place> {
        let mut sources = Vec::new();
        if let Some(place) = self.origin().and_then(|state| state.place.as_ref()) {
            add_source(&mut sources, place);
        }
        let lineage = &self.states.lineage;
        lineage.visit_below(&self.path(&[]), &mut |_, known| {
            if let ValuePosition::File { place, .. } = &known.spot {
                add_source(&mut sources, place);
            }
        });
        sources
    }
}

/// The place that gives a minion the sls of a state: the include, or the entry of a top file.
fn given_by(state: &StateOrigin) -> Option<Place> {
    match state.reasons.first()? {
        Reason::Include { place, .. } | Reason::Target { place, .. } => place.clone(),
    }
}
