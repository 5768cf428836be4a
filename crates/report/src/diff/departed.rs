//! States and functions that a later version of Salt no longer has.

use mapstack_fleet::states::StateGroups;
use mapstack_fleet::{Departed, DepartedPart};
use mapstack_states::Home;
use serde::Serialize;

use crate::words::count;
use crate::yaml_form::{Sign, YamlChangeLine, line};

/// Places that are listed of each.
const PLACES: usize = 10;

/// A state function, an argument or an execution function that Salt no longer has in the version of the later state.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct DepartedRow<'r> {
    kind: DepartedKind,
    /// The function, such as `mysql_grants.present`.
    function: &'r str,
    /// The argument that the function no longer takes.
    argument: Option<&'r str>,
    /// The package of the extension that has it now, if one is known.
    package: Option<&'static str>,
    /// The files and lines that use it.
    places: Vec<&'r str>,
    /// The number of minions whose states use it; 0 for functions, of which they are not known.
    count: usize,
    /// Their ids, sorted.
    minions: &'r [String],
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum DepartedKind {
    State,
    Argument,
    Function,
}

pub(super) fn rows(states: &StateGroups) -> Vec<DepartedRow<'_>> {
    fn row(one: &Departed) -> DepartedRow<'_> {
        let (kind, function, argument) = match &one.part {
            DepartedPart::State(state) => (DepartedKind::State, state, None),
            DepartedPart::Argument { state, argument } => {
                (DepartedKind::Argument, state, Some(&**argument))
            }
            DepartedPart::Function(name) => (DepartedKind::Function, name, None),
        };
        DepartedRow {
            kind,
            function,
            argument,
            package: package(one.home),
            places: one.places.iter().map(String::as_str).collect(),
            count: one.minions.len(),
            minions: &one.minions,
        }
    }
    states.departed().map(row).collect()
}

fn package(home: Home) -> Option<&'static str> {
    match home {
        Home::Extension(package) => Some(package),
        Home::Salt | Home::Gone => None,
    }
}

/// The sentence about one, and the places that use it.
pub(super) fn sentence(one: &Departed) -> (String, Vec<YamlChangeLine>) {
    let package = package(one.home).map(|package| format!("the package {package} has it"));
    let unknown = || "no extension is known to have it".to_owned();
    let title = match &one.part {
        DepartedPart::State(state) => format!("state {state} has left Salt"),
        DepartedPart::Argument { state, argument } => {
            format!("state {state} no longer takes the argument '{argument}'")
        }
        DepartedPart::Function(name) => format!("function {name} has left Salt"),
    };
    let is_argument = matches!(one.part, DepartedPart::Argument { .. });
    let title = match is_argument {
        true => title,
        false => format!("{title}: {}", package.unwrap_or_else(unknown)),
    };
    let places = one.places.iter().take(PLACES);
    let mut lines: Vec<_> = places.map(|place| line(Sign::Same, place)).collect();
    if one.places.len() > PLACES {
        let more = count(one.places.len() - PLACES, "more place");
        lines.push(line(Sign::Omitted, more));
    }
    (title, lines)
}

/// The number of things that have left, in short.
pub(super) fn in_short(states: &StateGroups) -> Option<String> {
    let [mut of_states, mut arguments, mut functions] = [0; 3];
    for one in states.departed() {
        match one.part {
            DepartedPart::State(_) => of_states += 1,
            DepartedPart::Argument { .. } => arguments += 1,
            DepartedPart::Function(_) => functions += 1,
        }
    }
    let counted = [
        (of_states, "state function"),
        (arguments, "argument"),
        (functions, "execution function"),
    ];
    let counted = counted.into_iter().filter(|(n, _)| *n > 0);
    let counted: Vec<String> = counted.map(|(n, what)| count(n, what)).collect();
    (!counted.is_empty()).then(|| format!("left Salt: {}", counted.join(", ")))
}
