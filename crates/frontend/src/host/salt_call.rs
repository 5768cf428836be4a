//! An installed Salt that answers the remaining calls.

use std::collections::HashMap;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mapstack::value::{Value, json};
use mapstack::{Call, CallError, Functions};
use mapstack_value::pytext::shlex;

use crate::host::process::{self, ProcessOutcome, ProcessSettings};

/// Calls handed to a command such as `salt-call --local`.
///
/// The command is given `--out=json`, the function's name and its arguments as JSON, and has to
/// print `{"local": result}`. The same call is made once.
///
/// ```no_run
/// use mapstack::{Call, Functions};
/// use mapstack_frontend::host::SaltCall;
///
/// let salt = SaltCall::new("salt-call --local").unwrap();
/// let answer = salt.call(&Call::new("pkg.version").arg("openssh-server")).unwrap();
/// println!("{}", answer.unwrap());
/// ```
#[derive(Debug)]
pub struct SaltCall {
    command: Vec<String>,
    answers: Mutex<HashMap<Vec<String>, Result<Value, CallError>>>,
}

/// A command that cannot be read as words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnreadableCommand {
    /// It has no words.
    #[error("No command")]
    Empty,
    /// A quotation or an escape has no end.
    #[error(transparent)]
    Unfinished(#[from] shlex::UnfinishedCommand),
}

/// Salt takes seconds to start.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Answers that are kept.
const MAX_ANSWERS: usize = 10_000;

impl SaltCall {
    /// Hand calls to a command; quotes are those of a shell, which is not used.
    ///
    /// # Errors
    /// A quotation has no end, or the command is empty.
    pub fn new(command: &str) -> Result<Self, UnreadableCommand> {
        let command = shlex::split(command)?;
        if command.is_empty() {
            return Err(UnreadableCommand::Empty);
        }
        Ok(SaltCall {
            command,
            answers: Mutex::default(),
        })
    }

    fn ask(&self, arguments: &[String]) -> Result<Value, CallError> {
        let (program, rest) = self
            .command
            .split_first()
            .ok_or_else(|| CallError::new("No command"))?;
        let mut command = Command::new(program);
        command.args(rest).arg("--out=json").args(arguments);
        let failed = |why: String| CallError::new(format!("{}: {why}", self.command.join(" ")));
        let setting = ProcessSettings {
            stdin: None,
            merged: false,
            time: TIMEOUT,
        };
        let output = match process::run(command, setting)
            .map_err(|e| failed(format!("cannot be run: {e}")))?
        {
            ProcessOutcome::Done(output) => output,
            ProcessOutcome::Late => {
                return Err(failed(format!(
                    "it did not end within {} seconds",
                    TIMEOUT.as_secs()
                )));
            }
            ProcessOutcome::Talkative => return Err(failed(process::talkative())),
        };
        let said = String::from_utf8_lossy(&output.stderr);
        let with_said = |why: String| {
            let error = failed(why);
            if said.trim().is_empty() {
                error
            } else {
                error.with_help(format!("it said: {}", ending(said.trim())))
            }
        };
        if !output.status.success() {
            return Err(with_said(format!("it failed, {}", output.status)));
        }
        let printed = String::from_utf8_lossy(&output.stdout);
        match json::loads(printed.trim()) {
            Ok(Value::Map(map)) if map.len() == 1 && map.contains_key("local") => {
                Ok(map.get("local").cloned().unwrap_or_default())
            }
            Ok(_) => Err(with_said(
                "it printed JSON without the one key 'local'".into(),
            )),
            Err(e) => Err(with_said(format!("its output is not JSON: {e}"))),
        }
    }
}

/// The last lines of a long message, where the reason is.
fn ending(text: &str) -> String {
    const MAX_CHARS: usize = 1_000;
    let start = text
        .char_indices()
        .rev()
        .nth(MAX_CHARS)
        .map_or(0, |(start, _)| start);
    let lines: Vec<&str> = text[start..].lines().rev().take(8).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join("\n")
}

impl Functions for SaltCall {
    /// True if Salt has a function shows when it is called.
    fn has(&self, name: &str) -> bool {
        name.split_once('.')
            .is_some_and(|(module, function)| is_name(module) && is_name(function))
    }

    fn has_module(&self, module: &str) -> bool {
        is_name(module)
    }

    fn call(&self, call: &Call) -> Option<Result<Value, CallError>> {
        if !self.has(&call.name) {
            return None;
        }
        let arguments = match arguments(call) {
            Ok(arguments) => arguments,
            Err(e) => return Some(Err(e)),
        };
        let answers = || self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = answers().get(&arguments) {
            return Some(known.clone());
        }
        let answer = self.ask(&arguments);
        let mut answers = answers();
        if answers.len() < MAX_ANSWERS {
            answers.insert(arguments, answer.clone());
        }
        Some(answer)
    }
}

/// Nothing that could be an option of the command.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The function and its arguments, as `salt-call` reads them: each is YAML in quotes or brackets, so
/// that no text is taken for a number, an option or a named argument.
fn arguments(call: &Call) -> Result<Vec<String>, CallError> {
    // A text that starts with a hyphen from here on is a number and not an option.
    let mut all = vec![call.name.to_string(), "--".into()];
    for value in &call.args {
        if value.as_str().is_some_and(looks_named) {
            let message = format!(
                "{}: salt-call takes the argument {} for a named one",
                call.name,
                value.repr()
            );
            return Err(
                CallError::new(message).with_help("write its name in the template: cmd='A=b …'")
            );
        }
        all.push(written(call, value)?);
    }
    for (name, value) in &call.kwargs {
        all.push(format!("{name}={}", written(call, value)?));
    }
    Ok(all)
}

/// True if `salt-call` takes text for `name=value`, which quotes do not keep it from.
fn looks_named(text: &str) -> bool {
    let Some((name, value)) = text.split_once('=') else {
        return false;
    };
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || "_.-".contains(c))
        && !value.starts_with('=')
        && !value.trim_end_matches('\n').contains('\n')
}

/// A value as JSON that is the same in YAML.
fn written(call: &Call, value: &Value) -> Result<String, CallError> {
    let options = json::DumpOptions {
        ensure_ascii: false,
        ..json::DumpOptions::default()
    };
    let text = json::dumps(value, &options).map_err(|e| {
        CallError::new(format!(
            "an argument of {call} cannot be handed to another program: {e}"
        ))
    })?;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        // These are inside strings. Salt looks for `=` and `#` before it reads the text around
        // them, and YAML knows no pairs of surrogates.
        match u32::from(c) {
            n if c == '#' || c == '=' || (0x7f..0x1_0000).contains(&n) => {
                out.push_str(&format!("\\u{n:04x}"));
            }
            n if n >= 0x1_0000 => out.push_str(&format!("\\U{n:08x}")),
            _ => out.push(c),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_distinguished_from_everything_else() {
        let call = Call::new("test.arg")
            .arg("a b=c # \u{e9}\u{1f600}\n")
            .arg(-1)
            .arg("-1")
            .arg(Value::None)
            .kwarg("k", "x=\"y\"")
            .kwarg("n", Value::map());
        let expected = [
            "test.arg",
            "--",
            r#""a b\u003dc \u0023 \u00e9\U0001f600\n""#,
            "-1",
            r#""-1""#,
            "null",
            r#"k="x\u003d\"y\"""#,
            "n={}",
        ];
        assert_eq!(arguments(&call).unwrap(), expected);
        for (text, named) in [
            ("A=b c", true),
            ("a.b-c=", true),
            ("a==b", false),
            ("=b", false),
            ("1=b", false),
        ] {
            assert_eq!(
                arguments(&Call::new("cmd.run").arg(text)).is_err(),
                named,
                "{text}"
            );
            assert!(
                arguments(&Call::new("cmd.run").kwarg("cmd", text)).is_ok(),
                "{text}"
            );
        }
        let bytes = Value::Bytes(b"x".as_slice().into());
        assert!(arguments(&Call::new("test.arg").arg(bytes)).is_err());
    }

    #[test]
    fn commands_are_words() {
        assert_eq!(SaltCall::new("a 'b c'").unwrap().command, ["a", "b c"]);
        assert_eq!(
            SaltCall::new("a 'b").unwrap_err().to_string(),
            "No closing quotation"
        );
        assert_eq!(SaltCall::new(" ").unwrap_err().to_string(), "No command");
    }
}
