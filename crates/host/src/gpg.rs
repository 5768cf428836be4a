//! Decrypting with the keys of this machine.

use std::process::Command;
use std::time::Duration;

use mapstack::value::Value;
use mapstack::{Call, CallError};

use crate::args::{Result, text, truth_or};
use crate::process::{self, Ended, Setting};
use crate::table::Table;

pub(crate) const TABLE: Table = &[("gpg.decrypt", decrypt)];

/// The time that the program has.
const TIME: Duration = Duration::from_secs(60);

/// Arguments that are not supported, and would change the result.
const UNSUPPORTED: [&str; 5] = ["user", "filename", "output", "use_passphrase", "keyring"];

/// `gpg.decrypt(text=…, gnupghome=…, bare=…)`.
fn decrypt(call: &Call) -> Result<Value> {
    let names = [
        "user",
        "text",
        "filename",
        "output",
        "use_passphrase",
        "gnupghome",
        "bare",
        "keyring",
    ];
    let given = call.bind(names)?;
    for (name, value) in names.iter().zip(&given) {
        let is_given = value.as_ref().is_some_and(Value::truthy);
        if is_given && UNSUPPORTED.contains(name) {
            let message = format!("gpg.decrypt(): the argument '{name}' is not supported here");
            return Err(CallError::python("TypeError", message)
                .with_help("it takes text, gnupghome and bare"));
        }
    }
    let [_, message, _, _, _, home, bare, _] = given;
    let message = text(message, call, "text")?;
    let mut command = Command::new("gpg");
    if let Some(home) = home.filter(Value::truthy) {
        command.args(["--homedir", &text(Some(home), call, "gnupghome")?]);
    }
    // gpg must not ask for a passphrase.
    command.args(["--batch", "--no-tty", "--decrypt"]);
    let setting = Setting {
        stdin: Some(message.into_bytes()),
        merged: false,
        time: TIME,
    };
    let failed = |problem: String| CallError::new(format!("gpg cannot be run: {problem}"));
    let output = match process::run(command, setting).map_err(|e| failed(e.to_string()))? {
        Ended::Done(output) => output,
        Ended::Late => return Err(failed(format!("it took more than {} s", TIME.as_secs()))),
        Ended::Talkative => return Err(failed(process::talkative())),
    };
    let is_done = output.status.success();
    if truth_or(bare, false) {
        return Ok(match is_done {
            true => Value::Bytes(output.stdout.into()),
            false => false.into(),
        });
    }
    let comment = match is_done {
        true => Value::Bytes(output.stdout.into()),
        false => "decryption failed.\nPlease check the salt-minion log.".into(),
    };
    let result = [("res", Value::from(is_done)), ("comment", comment)];
    Ok(Value::Map(result.into_iter().collect()))
}
