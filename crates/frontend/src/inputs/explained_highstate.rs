//! A minion's states, with where their arguments come from.

use mapstack::minion::Minion;
use mapstack::value::{Key, Value};
use mapstack::{Engine, Error, ErrorKind, nearest};
use mapstack_lineage::{ExplainedStates, explain_pillar, explain_states};
use mapstack_states::{Gatherer, HighData, Places};

use crate::inputs::flags::Input;
use crate::inputs::functions::MemoryOf;
use crate::inputs::session::Session;
use crate::inputs::state_facts::{Refused, top_options, wanted};
use crate::inputs::{InputError, WarningSink};

/// A minion and its states, for questions about where they come from.
pub struct ExplainedHighstate {
    /// The minion with its pillar.
    pub minion: Minion,
    /// The states that are requested.
    pub states: ExplainedStates,
    /// The ID that is requested, and what is requested below it.
    pub asked: Option<(Key, Option<String>)>,
    engine: Engine,
    high: HighData,
}

impl ExplainedHighstate {
    /// The name by which states are requested in place of a formula.
    pub const NAME: &str = "highstate";

    /// The states of the minion of flags: those that top files give, or those of some sls. If an ID is
    /// requested, with arguments after colons, they are the states of this ID.
    ///
    /// # Errors
    /// Flags name no minion or more than one, something cannot be read, top files cannot be used, or the minion has no
    /// state of that ID.
    pub fn of(
        input: &Input,
        sls: &[String],
        asked: Option<&str>,
        memory: MemoryOf,
        warn: &dyn WarningSink,
    ) -> Result<Self, InputError> {
        let session = Session::new(input, warn, memory)?;
        let options = top_options(session.config.as_ref(), &input.files);
        let gatherer = Gatherer::new(&session.engine, options.clone());
        let high = gatherer.high(&session.minion, wanted(sls, &options));
        let high = high.with_usable_top()?;
        let settled = high.settled(&session.minion)?;
        let context = IdContext {
            gatherer: &gatherer,
            session: &session,
            high: &high,
        };
        let asked = match asked {
            Some(asked) => Some(found(asked, &settled.states, &context)?),
            None => None,
        };
        let only = asked.as_ref().map(|(id, _)| id.clone());
        let mut states = explain_states(
            &session.engine,
            &session.minion,
            &high,
            settled,
            only.as_slice(),
        );
        if let Some(pillar) = session.explained_pillar()?
            && let Some(pillar) = explain_pillar(&pillar, &session.minion, session.engine.policy())
        {
            states.lineage = states.lineage.with_pillar(pillar);
        }
        drop(gatherer);
        let Session { engine, minion, .. } = session;
        Ok(ExplainedHighstate {
            minion,
            states,
            asked,
            engine,
            high,
        })
    }

    /// The faults for which a state run refuses the minion's states.
    #[must_use]
    pub fn errors(&self) -> Refused {
        Places::new(&self.engine, &self.high.sls).errors(&self.states.refusals)
    }
}

/// The facts and files in which an ID is found.
struct IdContext<'w> {
    gatherer: &'w Gatherer<'w>,
    session: &'w Session,
    high: &'w HighData,
}

/// The ID at the start of a text, and the text after the colon that follows it. IDs can contain colons.
fn found(
    asked: &str,
    states: &Value,
    context: &IdContext<'_>,
) -> Result<(Key, Option<String>), Error> {
    let ids = states.as_map().into_iter().flatten().map(|(id, _)| id);
    let ids: Vec<&Key> = ids.filter(|id| !id.to_string().starts_with("__")).collect();
    let rest = |id: &str| match asked.strip_prefix(id) {
        Some("") => Some(None),
        Some(rest) => Some(Some(rest.strip_prefix(':')?.to_owned())),
        None => None,
    };
    let meant = ids.iter().filter_map(|id| {
        let text = id.to_string();
        Some((text.len(), *id, rest(&text)?))
    });
    if let Some((_, id, rest)) = meant.max_by_key(|(length, ..)| *length) {
        return Ok((id.clone(), rest));
    }
    match &by_name(states, &rest)[..] {
        [] => {}
        [(id, rest)] => return Ok((id.clone(), rest.clone())),
        several => {
            let ids: Vec<String> = several.iter().map(|(id, _)| format!("'{id}'")).collect();
            let message = format!("several states have the name '{asked}'");
            let error = Error::new(ErrorKind::Lookup, message);
            return Err(error.help(format!("ask for one of their IDs: {}", ids.join(", "))));
        }
    }
    if let Some(error) = of_others(&|id| rest(id).is_some(), context) {
        return Err(error);
    }
    let minion = context.session.minion.id();
    let message = format!("no state of '{minion}' has the ID '{asked}'");
    let error = Error::new(ErrorKind::Lookup, message);
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    Err(match nearest(asked, ids.iter().map(String::as_str)) {
        Some(near) => error.help(format!("did you mean '{near}'?")),
        None => error.help("`mapstack highstate` lists the minion's states"),
    })
}

/// The IDs of the states with a name that is requested, by `name` or among `names`.
fn by_name(
    states: &Value,
    rest: &dyn Fn(&str) -> Option<Option<String>>,
) -> Vec<(Key, Option<String>)> {
    let asked = |name: &Value| match name {
        // An entry of `names` can have arguments of its own.
        Value::Map(map) => map.iter().next().and_then(|(name, _)| rest(name.as_str()?)),
        name => rest(name.as_str()?),
    };
    let of_argument = |(argument, value): (&Key, &Value)| match argument.as_str()? {
        "name" => asked(value),
        "names" => value.as_list()?.iter().find_map(asked),
        _ => None,
    };
    let of_state = |body: &Value| {
        let functions = body.as_map()?.iter().map(|(_, arguments)| arguments);
        let arguments = functions.filter_map(Value::as_list).flatten();
        let mut arguments = arguments
            .filter_map(Value::as_map)
            .flat_map(|one| one.iter());
        arguments.find_map(of_argument)
    };
    let all = states.as_map().into_iter().flatten();
    let named = all.filter_map(|(id, body)| Some((id.clone(), of_state(body)?)));
    named.collect()
}

/// An error about a state with the ID that the minion does not get, if it exists.
fn of_others(is_match: &dyn Fn(&str) -> bool, context: &IdContext<'_>) -> Option<Error> {
    let IdContext {
        gatherer,
        session,
        high,
    } = *context;
    let id_of = |data: &Value| {
        let ids = data.as_map().into_iter().flatten().map(|(id, _)| id);
        let meant = ids.map(ToString::to_string).filter(|id| is_match(id));
        meant.max_by_key(String::len)
    };
    let minion = session.minion.id();
    for sls in &high.sls {
        if let Some(id) = sls.rendered.data.as_ref().ok().and_then(id_of) {
            let place = Places::new(&session.engine, &high.sls).place(sls, &[&id]);
            let message = format!("the state '{id}' is excluded, or refused before it counts");
            return Some(Error::new(ErrorKind::Lookup, message).at(place));
        }
    }
    // Of several IDs that the text begins with, the longest is meant.
    let mut found: Option<(String, Error)> = None;
    for (saltenv, name) in gatherer.all() {
        let alone = gatherer.alone(&session.minion, &saltenv, &name);
        let Some(sls) = alone.sls.first() else {
            continue;
        };
        let id = sls.rendered.data.as_ref().ok().and_then(id_of);
        let is_longer = |id: &String| {
            found
                .as_ref()
                .is_none_or(|(known, _)| known.len() < id.len())
        };
        if let Some(id) = id.filter(is_longer) {
            let place = Places::new(&session.engine, &alone.sls).place(sls, &[&id]);
            let message = format!("'{minion}' does not get '{id}', a state of the sls '{name}'");
            let error = Error::new(ErrorKind::Lookup, message).at(place).help(format!(
                "no target that matches the minion names the sls, and no sls that it gets includes it; \
                 --sls {name} explains its states nevertheless"
            ));
            found = Some((id, error));
        }
    }
    Some(found?.1)
}
