//! The states and managed files that have a value of a configuration, found by the places of values.

use mapstack::minion::{Minion, Part};
use mapstack::value::{Key, Value};
use mapstack_files::{ContentMethod, ManagedFiles};
use mapstack_lineage::{
    Ancestry, ExplainedStates, FileLines, StateOrigin, StatesExplainer, ValuePosition,
};
use mapstack_states::Gatherer;

use crate::reached_file::{FileOfState, FileReach};
use crate::traced_high::TracedHigh;

/// The place of a value, as far as another explanation has the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum PlaceOfValue {
    /// A file and the first byte.
    File(String, usize),
    /// A fact.
    Fact(Part, Vec<Key>),
}

impl PlaceOfValue {
    /// The place of a value that no template computed.
    pub fn of(spot: &ValuePosition) -> Option<Self> {
        match spot {
            ValuePosition::File {
                place,
                computed: false,
                ..
            } => Some(PlaceOfValue::File(place.file.clone(), place.start)),
            ValuePosition::Fact {
                part: Some(part),
                path,
                ..
            } => Some(PlaceOfValue::Fact(*part, path.clone())),
            _ => None,
        }
    }
}

/// The states of a minion, of top files or of an sls, that have one of some values in an argument, and the files whose
/// lines have it.
pub(crate) fn used(
    gatherer: &Gatherer<'_>,
    minion: &Minion,
    run: Option<(&str, &str)>,
    places: &[PlaceOfValue],
) -> Vec<FileOfState> {
    let engine = gatherer.engine();
    let Some(TracedHigh {
        high,
        settled,
        compiled,
    }) = TracedHigh::of(gatherer, minion, run)
    else {
        return Vec::new();
    };
    let managed = ManagedFiles::new(engine, high.minion_of_files(minion), &compiled.low);
    let mut explainer = StatesExplainer::new(engine, minion, &high, settled);
    let explained = explainer.states(&[]);
    let mut found = Vec::new();
    for file in managed.all() {
        let is_followed = matches!(
            file.way(),
            ContentMethod::Template(_) | ContentMethod::Arguments
        );
        let lines = is_followed.then(|| explainer.file(&managed, &file).ok());
        if lines
            .flatten()
            .is_some_and(|lines| has_line(&lines, places))
        {
            found.push(FileOfState::of(&file, FileReach::Printed));
        }
    }
    for state in &explained.states {
        let is_printed = |file: &FileOfState| {
            state.id == Key::from(&*file.id) && state.function == file.function
        };
        if !found.iter().any(is_printed) {
            found.extend(in_argument(&explained, state, places));
        }
    }
    found
}

fn is_made_of(known: &Ancestry, places: &[PlaceOfValue]) -> bool {
    let spots = known.sources().into_iter().map(|(_, spot)| spot);
    let mut spots = spots.filter_map(PlaceOfValue::of);
    spots.any(|place| places.contains(&place))
}

/// True if a line of a file, or a value that is printed into it, is made of one of some values.
fn has_line(lines: &FileLines, places: &[PlaceOfValue]) -> bool {
    let mut has = false;
    let below = [Key::from(&*lines.path)];
    let lineage = &lines.explained.lineage;
    lineage.visit_below(&below, &mut |path, known| {
        let is_of_line = matches!(path, [_, Key::Int(_), _, ..]);
        has = has || is_of_line && is_made_of(known, places);
    });
    has
}

/// The first argument of a state that is made of one of some values.
fn in_argument(
    explained: &ExplainedStates,
    state: &StateOrigin,
    places: &[PlaceOfValue],
) -> Option<FileOfState> {
    let above = [state.id.clone(), Key::from(&*state.function)];
    let mut argument: Option<Key> = None;
    explained.lineage.visit_below(&above, &mut |path, known| {
        let name = path.get(above.len());
        if let (None, Some(name)) = (&argument, name)
            && is_made_of(known, places)
        {
            argument = Some(name.clone());
        }
    });
    let name = explained
        .lineage
        .at(&[&above[..], &["name".into()]].concat());
    let name = name.map(|known| known.value);
    let name = name.as_ref().and_then(Value::as_str);
    Some(FileOfState {
        path: name.map_or_else(|| state.id.to_string(), str::to_owned),
        function: state.function.clone(),
        id: state.id.to_string(),
        sls: state.sls.clone(),
        how: FileReach::Argument(argument?.to_string()),
    })
}
