//! The exports of all nodes, as far as inventory queries look at them (reclass: `Core._get_inventory`).

use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Result};
use mapstack_value::Value;

use super::answers::Exports;
use super::failed;
use super::interpolate::{KeyProblem, Parameters, Queries, Role};
use super::memo::InventoryQuestion;
use super::merging::Reader;
use super::value::{Dict, Node};

/// The exports of the nodes of an environment, or of all.
///
/// # Errors
/// The file of any node is wrong; or a class of a node that is asked, or an export that is looked at.
pub fn exports(reader: &Reader<'_>, queries: &Queries, environment: &Value) -> Result<Exports> {
    let inventory = reader.inventory;
    let Some(memo) = inventory.memo else {
        return of_all(reader, queries, environment).map(|(exports, _)| exports);
    };
    let asked = InventoryQuestion {
        options: inventory.options,
        environment,
        queries,
        files: [&reader.nodes, &reader.classes],
    };
    if let Some((known, steps)) = memo.find(asked, &|reading| reader.read_again(reading))
        && inventory.host.spend(steps).is_ok()
    {
        reader.meter.is_shared.set(true);
        return Ok(known);
    }
    let (before, read_before) = (reader.meter.spent.get(), steps_of(reader));
    let (exports, is_whole) = of_all(reader, queries, environment)?;
    let of_reading = steps_of(reader) - read_before;
    if is_whole && reader.is_silent() {
        let steps = reader.meter.spent.get() - before - of_reading;
        memo.keep(asked, &reader.readings(), &exports, steps);
    }
    Ok(exports)
}

/// The steps that reading has cost so far.
fn steps_of(reader: &Reader<'_>) -> usize {
    reader.readings().iter().map(|reading| reading.steps).sum()
}

/// The exports of the nodes, computed, and whether none is left out.
fn of_all(reader: &Reader<'_>, queries: &Queries, environment: &Value) -> Result<(Exports, bool)> {
    let (mut all, mut is_whole) = (Vec::new(), true);
    for name in reader.node_names() {
        let node = match reader.node(name) {
            Err(error) if is_left_out(reader, &error) => {
                reader.inventory.host.warn(left_out(name, &error));
                is_whole = false;
                continue;
            }
            node => node.map_err(|error| asks(name, error))?,
        };
        if queries.all_environments || node.environment == *environment {
            let merged = reader.merged(name, &node);
            let merged = merged.map_err(|error| asks(name, error))?;
            let exports = computed(reader, queries, merged.parameters, merged.exports);
            let exports = exports.map_err(|failure| asks(name, failed(reader, &failure)))?;
            all.push((name.to_owned(), exports));
        }
    }
    Ok((all.into(), is_whole))
}

/// The exports of one node.
fn computed(
    reader: &Reader<'_>,
    queries: &Queries,
    parameters: Dict,
    exports: Dict,
) -> std::result::Result<Node, KeyProblem> {
    let (settings, host) = (reader.settings, reader.inventory.host);
    let mut parameters = Parameters::new(parameters, settings, host, Role::Parameters)?;
    let mut exports = Parameters::new(exports, settings, host, Role::Exports)?;
    for (path, leaves_out) in &queries.exports {
        exports.interpolate_at(path, *leaves_out, &mut parameters)?;
    }
    Ok(exports.base)
}

fn asks(name: &str, error: Error) -> Error {
    error.note(format!(
        "an inventory query asks all nodes, among them '{name}'"
    ))
}

fn is_left_out(reader: &Reader<'_>, error: &Error) -> bool {
    reader.settings.ignores_failed_nodes && reader.inventory.host.has_no_tokens(error)
}

fn left_out(name: &str, error: &Error) -> Diagnostic {
    let message = format!(
        "inventory queries leave out the node '{name}', as its file is not YAML: {}",
        error.diagnostic().message
    );
    Diagnostic {
        place: error.diagnostic().place.clone(),
        ..Diagnostic::warning(ErrorKind::Yaml, message).with_help("correct its file")
    }
}
