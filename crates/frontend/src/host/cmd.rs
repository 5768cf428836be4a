//! `cmd.*` that runs programs.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use mapstack::value::{Map, Value};
use mapstack::{Call, CallError};
use mapstack_value::pytext::shlex;
use nix::unistd::{AccessFlags, User, access, geteuid};

use crate::host::args::{
    Result, expand_home, home, listed, map, pairs, required, truth_or, unsupported,
};
use crate::host::process::{self, ProcessOutcome, ProcessSettings};
use crate::host::table::FunctionTable;

pub(crate) const TABLE: FunctionTable = &[
    ("cmd.retcode", |call| {
        Ok(execute(call, true)?.returned("retcode"))
    }),
    ("cmd.run", |call| {
        let given = CmdArgs::new(call)?;
        let ran = execute(call, given.truth("redirect_stderr", true))?;
        let failed =
            ran.returned("retcode") != Value::from(0) && !given.truth("ignore_retcode", false);
        if failed && given.truth("raise_err", false) {
            return Err(CallError::new(ran.shown("stdout").to_string()));
        }
        Ok(ran.shown("stdout"))
    }),
    ("cmd.run_all", |call| {
        let redirected = CmdArgs::new(call)?.truth("redirect_stderr", false);
        let ProgramRun { hidden, mut all } = execute(call, redirected)?;
        if hidden {
            all.insert("stdout", "");
            all.insert("stderr", "");
        }
        Ok(all.into())
    }),
    ("cmd.run_stderr", |call| {
        Ok(execute(call, false)?.shown("stderr"))
    }),
    ("cmd.run_stdout", |call| {
        Ok(execute(call, false)?.shown("stdout"))
    }),
    ("cmd.shell", |call| {
        let mut call = call.clone();
        if call.kwargs.get("python_shell").is_none_or(Value::is_none) {
            call.kwargs.insert("python_shell", true);
        }
        let ran = execute(&call, CmdArgs::new(&call)?.truth("redirect_stderr", true))?;
        Ok(ran.shown("stdout"))
    }),
];

/// Parameters that can be given without their names, in order; the rest differ from function to
/// function, and templates do not pass them by position.
const POSITIONAL: [&str; 7] = [
    "cmd",
    "cwd",
    "stdin",
    "runas",
    "group",
    "shell",
    "python_shell",
];

/// Arguments that are not supported, and would change the result.
const UNSUPPORTED: [&str; 8] = [
    "runas",
    "group",
    "template",
    "umask",
    "use_vt",
    "bg",
    "encoded_cmd",
    "output_encoding",
];

/// The time a program has unless `timeout` says otherwise.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The arguments of a call by name.
struct CmdArgs(Map);

impl CmdArgs {
    fn new(call: &Call) -> Result<Self> {
        // `cmd.shell` has no parameter `python_shell`.
        let names = if &*call.name == "cmd.shell" {
            &POSITIONAL[..6]
        } else {
            &POSITIONAL[..]
        };
        if call.args.len() > names.len() {
            let message = format!(
                "{} takes at most {} arguments without their names",
                call.name,
                names.len()
            );
            return Err(CallError::python("TypeError", message));
        }
        // Unknown names are ignored, as Salt does.
        let mut all = call.kwargs.clone();
        for (name, value) in names.iter().zip(&call.args) {
            if all.insert(*name, value.clone()).is_some() {
                let message = format!("{}() got multiple values for argument '{name}'", call.name);
                return Err(CallError::python("TypeError", message));
            }
        }
        match UNSUPPORTED
            .iter()
            .find(|name| all.get(**name).is_some_and(Value::truthy))
        {
            Some(name) => Err(unsupported(call, name)),
            None => Ok(CmdArgs(all)),
        }
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_none())
    }

    fn truth(&self, name: &str, default: bool) -> bool {
        truth_or(self.0.get(name).cloned(), default)
    }
}

/// The outcome of a program, as `cmd.run_all` returns it.
struct ProgramRun {
    all: Map,
    /// True if the caller does not want to see the output.
    hidden: bool,
}

impl ProgramRun {
    fn returned(&self, what: &str) -> Value {
        self.all.get(what).cloned().unwrap_or_default()
    }

    fn shown(&self, what: &str) -> Value {
        if self.hidden {
            "".into()
        } else {
            self.returned(what)
        }
    }
}

/// Run the program of a call (Salt: `cmdmod._run`).
fn execute(call: &Call, merged: bool) -> Result<ProgramRun> {
    let given = CmdArgs::new(call)?;
    let cmd = required(given.0.get("cmd").cloned(), call, "cmd")?;
    let cwd = directory(&given)?;
    let line = CommandLine::new(&given, &cmd)?;
    let mut command = line.command()?;
    command.current_dir(&cwd);
    set_environment(&mut command, &given);
    let stdin = given
        .get("stdin")
        .map(|text| text.to_string().replace("\\n", "\n").into_bytes());
    let (time, timeout) = time(&given)?;
    let hidden = given.truth("hide_output", false);
    let ended = process::run(
        command,
        ProcessSettings {
            stdin,
            merged,
            time,
        },
    );
    let ended = ended.map_err(|e| {
        let reason = crate::host::args::errno(&e);
        CallError::new(format!(
            "Unable to run command '{}' in {cwd}, reason: {reason}",
            line.shown()
        ))
    })?;
    let output = match ended {
        ProcessOutcome::Done(output) => output,
        ProcessOutcome::Late => return late(&line, timeout).map(|all| ProgramRun { all, hidden }),
        ProcessOutcome::Talkative => {
            let (shown, why) = (line.shown(), process::talkative());
            return Err(CallError::new(format!("{shown}: {why}")));
        }
    };
    let all = results(&given, &output)?;
    Ok(ProgramRun { all, hidden })
}

/// The result of a program that did not end in time, if the call set that time.
fn late(line: &CommandLine, timeout: Option<String>) -> Result<Map> {
    let shown = line.shown();
    let Some(timeout) = timeout else {
        let message = format!("{shown} did not end within {} seconds", TIMEOUT.as_secs());
        return Err(CallError::new(message).with_help("the argument timeout gives it more"));
    };
    let text = format!("{shown} : Timed out after {timeout} seconds");
    let all = map([
        ("stdout", text.into()),
        ("stderr", "".into()),
        ("retcode", 1.into()),
    ]);
    Ok(all.as_map().cloned().unwrap_or_default())
}

/// The output of a program, and its exit status.
fn results(given: &CmdArgs, output: &process::Output) -> Result<Map> {
    let strip = given.truth("rstrip", true);
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        if strip {
            text.trim_end_matches(is_space).to_string()
        } else {
            text.into_owned()
        }
    };
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    // A program that a signal ended has that as a negative number.
    let code = output
        .status
        .code()
        .or_else(|| output.status.signal().map(|n| -n))
        .unwrap_or(-1);
    let all = map([
        ("pid", i64::from(output.pid).into()),
        (
            "retcode",
            if given.succeeded(code, &stdout, &stderr)? {
                0
            } else {
                code
            }
            .into(),
        ),
        ("stdout", stdout.into()),
        ("stderr", stderr.into()),
    ]);
    Ok(all.as_map().cloned().unwrap_or_default())
}

/// True for characters that Python's `str.rstrip` takes off.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

impl CmdArgs {
    /// True if the caller counts this as success.
    fn succeeded(&self, code: i32, stdout: &str, stderr: &str) -> Result<bool> {
        let list = |name: &str| self.get(name).map(listed).unwrap_or_default();
        let codes = list("success_retcodes")
            .iter()
            .map(|code| code.parse::<i32>())
            .collect::<Result<Vec<_>, _>>();
        let codes =
            codes.map_err(|_| CallError::new("success_retcodes must be a list of integers"))?;
        Ok(codes.contains(&code)
            || list("success_stdout")
                .iter()
                .any(|text| stdout.contains(text))
            || list("success_stderr")
                .iter()
                .any(|text| stderr.contains(text)))
    }
}

/// The working directory.
fn directory(given: &CmdArgs) -> Result<String> {
    match given.get("cwd").filter(|cwd| cwd.truthy()) {
        None => Ok(home()
            .filter(|home| Path::new(home).is_dir() && access(&**home, AccessFlags::R_OK).is_ok())
            .unwrap_or_else(|| "/".into())),
        Some(cwd) => {
            let cwd = cwd.to_string();
            let path = Path::new(&cwd);
            if path.is_absolute() && path.is_dir() {
                return Ok(cwd);
            }
            Err(CallError::new(format!(
                "Specified cwd '{cwd}' either not absolute or does not exist"
            )))
        }
    }
}

/// The time it has, and the limit that the caller set.
fn time(given: &CmdArgs) -> Result<(Duration, Option<String>)> {
    let Some(timeout) = given.get("timeout").filter(|timeout| timeout.truthy()) else {
        return Ok((TIMEOUT, None));
    };
    let seconds = match timeout {
        Value::Int(n) => n.to_i64().map(|n| n as f64),
        Value::Float(n) => Some(*n),
        Value::Bool(_) => Some(1.0),
        _ => None,
    };
    let time =
        seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds.clamp(0.0, LONGEST)).ok());
    let time =
        time.ok_or_else(|| CallError::new(format!("Error: timeout {timeout} must be a number")))?;
    Ok((time, Some(timeout.to_string())))
}

/// Seconds after which a program is stuck, whatever it is given.
const LONGEST: f64 = 3600.0;

/// The command to run.
enum CommandLine {
    /// Words, the first of which is the program.
    Words(Vec<String>),
    /// Text for a shell, and its arguments.
    Shell {
        shell: String,
        text: String,
        rest: Vec<String>,
    },
}

impl CommandLine {
    fn new(given: &CmdArgs, cmd: &Value) -> Result<Self> {
        let shell = given
            .get("shell")
            .map_or_else(default_shell, ToString::to_string);
        let is_there = Path::new(&shell).is_file() && access(&*shell, AccessFlags::X_OK).is_ok();
        if !shell.is_empty() && !is_there {
            return Err(CallError::new(format!(
                "The shell {shell} is not available"
            )));
        }
        let words = cmd
            .as_list()
            .map(|words| words.iter().map(ToString::to_string).collect::<Vec<_>>());
        if given.get("python_shell") == Some(&Value::Bool(true)) {
            let mut words = words.unwrap_or_else(|| vec![cmd.to_string()]).into_iter();
            let text = words.next().unwrap_or_default();
            return Ok(CommandLine::Shell {
                shell,
                text,
                rest: words.collect(),
            });
        }
        let words = match words {
            Some(words) => words,
            None => shlex::split(&cmd.to_string())
                .map_err(|e| CallError::python("ValueError", e.to_string()))?,
        };
        Ok(CommandLine::Words(words))
    }

    fn command(&self) -> Result<Command> {
        match self {
            CommandLine::Words(words) => {
                let Some((program, rest)) = words.split_first() else {
                    return Err(CallError::python("IndexError", "list index out of range")
                        .with_help("the command is empty"));
                };
                let mut command = Command::new(program);
                command.args(rest);
                Ok(command)
            }
            CommandLine::Shell { shell, text, rest } => {
                let mut command = Command::new(shell);
                command.arg("-c").arg(text).args(rest);
                // Python passes the shell its full path.
                command.arg0(shell);
                Ok(command)
            }
        }
    }

    fn shown(&self) -> String {
        match self {
            CommandLine::Words(words) => words.iter().collect::<Value>().repr(),
            CommandLine::Shell { text, .. } => text.clone(),
        }
    }
}

/// The user's shell.
fn default_shell() -> String {
    std::env::var("SHELL").ok().unwrap_or_else(|| {
        let user = User::from_uid(geteuid()).ok().flatten();
        user.map_or_else(
            || "/bin/sh".into(),
            |user| user.shell.to_string_lossy().into_owned(),
        )
    })
}

const LOCALE: [&str; 13] = [
    "LC_CTYPE",
    "LC_NUMERIC",
    "LC_TIME",
    "LC_COLLATE",
    "LC_MONETARY",
    "LC_MESSAGES",
    "LC_PAPER",
    "LC_NAME",
    "LC_ADDRESS",
    "LC_TELEPHONE",
    "LC_MEASUREMENT",
    "LC_IDENTIFICATION",
    "LANGUAGE",
];

fn set_environment(command: &mut Command, given: &CmdArgs) {
    let env = given.get("env").map(pairs).unwrap_or_default();
    if given.truth("clean_env", false) {
        command.env_clear();
    }
    command.env_remove("NOTIFY_SOCKET");
    if given
        .0
        .get("reset_system_locale")
        .is_none_or(|reset| *reset == Value::Bool(true))
    {
        command.envs(LOCALE.iter().map(|name| (name, "C")));
    }
    for (name, value) in &env {
        let text = if value.is_none() {
            String::new()
        } else {
            value.to_string()
        };
        command.env(name, text);
    }
    if let Some(first) = given.get("prepend_path").filter(|path| path.truthy()) {
        let given_path = env
            .iter()
            .find(|(name, _)| name == "PATH")
            .map(|(_, value)| value.to_string());
        let rest = given_path
            .or_else(|| std::env::var("PATH").ok())
            .unwrap_or_default();
        command.env(
            "PATH",
            format!("{}:{rest}", expand_home(&first.to_string()).display()),
        );
    }
}
