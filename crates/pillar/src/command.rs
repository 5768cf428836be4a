//! The external pillars that read what a command prints: `cmd_json`, `cmd_yaml`, and `cmd_yamlex`, which Salt 3008 no longer
//! has.
//!
//! The command is run by the function that the reference calls, so that it runs only if the user permitted this, or
//! wrote down what it returns.

use mapstack::Run;
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Result};
use mapstack_value::{Map, Value, json};
use mapstack_yaml::{Limits, load_aggregating};

use super::config::ExtPillar;

/// The format of a command's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Json,
    Yaml,
    Yamlex,
}

impl Command {
    /// By its name in `ext_pillar`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "cmd_json" => Some(Command::Json),
            "cmd_yaml" => Some(Command::Yaml),
            "cmd_yamlex" => Some(Command::Yamlex),
            _ => None,
        }
    }

    /// Run the command of an external pillar, and read the data that it prints.
    ///
    /// # Errors
    /// The command is missing, or may not be run. Output that is not data is a warning, and gives nothing, as in the
    /// reference.
    pub fn run(self, run: &Run<'_>, one: &ExtPillar) -> Result<Value> {
        let Some(command) = given(&one.arguments) else {
            let message = format!("'{}' needs one command as text", one.name);
            return Err(Error::new(ErrorKind::Options, message).at(one.place.clone()));
        };
        let command = command.replace("%s", &run.given_id().to_string());
        let (function, kwargs) = match self {
            Command::Json | Command::Yamlex => ("cmd.run", Map::new()),
            Command::Yaml => (
                "cmd.run_stdout",
                [("python_shell", true)].into_iter().collect(),
            ),
        };
        let output = run
            .call_function(function, &[command.as_str().into()], &kwargs)
            .map_err(|e| {
                e.at(one.place.clone())
                    .note(format!("for the external pillar '{}'", one.name))
            })?;
        let text = output.to_string();
        let read = match self {
            Command::Json => json::loads(&text).map_err(|e| e.to_string()),
            Command::Yaml => mapstack_yaml::load(&text).map_err(|e| e.to_string()),
            Command::Yamlex => load_aggregating(&text, &Limits::default())
                .map(|loaded| loaded.value)
                .map_err(|e| e.to_string()),
        };
        Ok(read.unwrap_or_else(|problem| {
            let message = format!(
                "what the command of '{}' prints cannot be read, so it gives nothing: {problem}",
                one.name
            );
            let warning = Diagnostic::warning(ErrorKind::DataSource, message);
            run.warn(Diagnostic {
                place: one.place.clone(),
                ..warning
            });
            Value::map()
        }))
    }
}

/// The command among the arguments: text, the only item of a list, or under its name.
fn given(arguments: &Value) -> Option<&str> {
    match arguments {
        Value::Str(command) => Some(command),
        Value::List(items) => match &**items {
            [command] => command.as_str(),
            _ => None,
        },
        Value::Map(named) if named.len() == 1 => named.get("command")?.as_str(),
        _ => None,
    }
}
