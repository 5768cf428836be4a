//! The states of a minion: each with its place, the reason for it, its requisites, and the origins of its arguments.

use anstyle::Style;
use mapstack::value::{Key, Path as KeyPath, Value};
use mapstack::{Error, ErrorKind, nearest};
use mapstack_lineage::{ExplainedStates, RequisiteOrigin, StateOrigin};
use serde::Serialize;

use super::history::{PLACE, reached};
use super::rows::{ExplanationRows, Reason, at};
use super::{ExplainReport, exact};
use crate::document::Plain;
use crate::terminal::{KEY, Styled};
use crate::words::joined;

/// The origin of each argument of a minion's states.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ExplainedHighstate<'r> {
    #[serde(flatten)]
    explained: ExplanationRows<'r>,
    /// The states; their arguments are among the values.
    states: Vec<StateRow<'r>>,
}

/// A state.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct StateRow<'r> {
    id: Plain,
    /// With its state module, such as pkg.installed.
    function: &'r str,
    sls: &'r str,
    saltenv: &'r str,
    /// file:line:column of the ID
    at: Option<String>,
    /// The chain by which the minion gets the sls: the sls that includes it, the one that includes that, up to the entry of a top file.
    reached: Vec<Reason<'r>>,
    requisites: Vec<RequisiteRow<'r>>,
}

/// A requisite of a state.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct RequisiteRow<'r> {
    /// Such as require.
    argument: &'r str,
    /// The state module of the other state.
    state: &'r str,
    /// The ID or the name of the other state.
    name: String,
    /// file:line:column
    at: Option<String>,
    /// The state and argument, such as `require_in`, that add the requisite, if another state does.
    #[serde(skip_serializing_if = "Option::is_none")]
    given_by: Option<GivenBy<'r>>,
}

/// The state that gives another a requisite.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct GivenBy<'r> {
    id: Plain,
    argument: &'r str,
}

/// The paths of an argument of an ID, one for each function that has it. `FUNCTION:ARGUMENT` selects one
/// function.
///
/// # Errors
/// The state has no such argument.
pub fn argument_paths(data: &Value, id: &Key, path: &KeyPath) -> Result<Vec<Vec<Key>>, Error> {
    let steps: Vec<Key> = path.steps().iter().map(|step| step.0.clone()).collect();
    let steps = &steps[..];
    let body = data.as_map().and_then(|data| data.get(id)?.as_map());
    let body = body.cloned().unwrap_or_default();
    let inside = |value: &Value, steps: &[Key]| {
        let found = steps
            .iter()
            .try_fold((value.clone(), Vec::new()), |(here, mut path), step| {
                let (key, value) = exact(&here, step)?;
                path.push(key);
                Some((value.clone(), path))
            });
        found.map(|(_, path)| path)
    };
    let mut paths = Vec::new();
    for (function, arguments) in &body {
        let own = steps.split_first().filter(|(first, _)| *first == function);
        let of_function = own.and_then(|(_, rest)| inside(arguments, rest));
        let found = of_function.or_else(|| inside(arguments, steps));
        let above = [id.clone(), function.clone()];
        paths.extend(found.map(|path| [&above[..], &path].concat()));
    }
    if !paths.is_empty() {
        return Ok(paths);
    }
    let arguments = body.values().filter_map(Value::as_map).flatten();
    let names: Vec<String> = arguments.map(|(name, _)| name.to_string()).collect();
    let asked = joined(steps);
    let error = Error::new(
        ErrorKind::Lookup,
        format!("the state '{id}' has no argument '{asked}'"),
    );
    let near = nearest(&asked, names.iter().map(String::as_str));
    Err(error.help(match near {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("it has {}", names.join(", ")),
    }))
}

impl ExplainReport<'_> {
    /// For people: the states of an ID with their reasons and requisites, then each argument with its origin.
    pub fn state(&self, explained: &ExplainedStates, id: &Key) -> Styled {
        let mut text = Styled::default();
        let states = explained.states.iter().filter(|state| state.id == *id);
        for state in states {
            self.head(state, &mut text);
        }
        text.plain("\n");
        text.append(&self.blame(&explained.data, std::slice::from_ref(id)));
        text
    }

    pub(super) fn head(&self, state: &StateOrigin, text: &mut Styled) {
        text.plain(&format!("{}: ", self.masked_key(&state.id)));
        text.add(KEY, &state.function);
        if let Some(place) = &state.place {
            text.plain("  ");
            text.add(PLACE, &place.to_string());
        }
        text.plain(&format!(
            "\n  of the sls {} of {}\n",
            state.sls, state.saltenv
        ));
        for reason in &state.reasons {
            text.plain(&format!("  {}\n", reached(reason)));
        }
        for requisite in &state.requisites {
            let RequisiteOrigin {
                argument,
                state: (module, name),
                place,
                given_by,
            } = requisite;
            let name = self.secrets.shown_key(name);
            text.plain(&format!("  {argument} {module}: {name}"));
            if let Some(place) = place {
                text.plain("  ");
                text.add(PLACE, &place.to_string());
            }
            if let Some((id, argument)) = given_by {
                let id = self.masked_key(id);
                text.add(Style::new(), &format!("  ({argument} of '{id}')"));
            }
            text.plain("\n");
        }
    }

    /// Everything that is known about the states, for programs.
    pub fn state_rows<'r>(
        &'r self,
        explained: &'r ExplainedStates,
        above: &[Key],
    ) -> ExplainedHighstate<'r> {
        let id = above.first();
        let states = explained.states.iter();
        let states = states.filter(|state| id.is_none_or(|id| *id == state.id));
        ExplainedHighstate {
            explained: self.rows(above),
            states: states.map(|state| self.state_row(state)).collect(),
        }
    }

    /// Everything that is known about the lines of a file and of its state, for programs.
    pub fn file_rows<'r>(
        &'r self,
        explained: &'r ExplainedStates,
        above: &[Key],
    ) -> ExplainedHighstate<'r> {
        let states = explained.states.iter();
        ExplainedHighstate {
            explained: self.rows(above),
            states: states.map(|state| self.state_row(state)).collect(),
        }
    }

    fn state_row<'r>(&self, state: &'r StateOrigin) -> StateRow<'r> {
        let plain = |key: &Key| Plain(self.masked_key(key).to_value());
        let requisites = state.requisites.iter().map(|requisite| RequisiteRow {
            argument: &requisite.argument,
            state: &requisite.state.0,
            name: self.secrets.shown_key(&requisite.state.1).into_owned(),
            at: at(requisite.place.as_ref()),
            given_by: requisite.given_by.as_ref().map(|(id, argument)| GivenBy {
                id: plain(id),
                argument,
            }),
        });
        StateRow {
            id: plain(&state.id),
            function: &state.function,
            sls: &state.sls,
            saltenv: &state.saltenv,
            at: at(state.place.as_ref()),
            reached: state.reasons.iter().map(Reason::from).collect(),
            requisites: requisites.collect(),
        }
    }
}
