//! Decrypting with the keys of this machine.

use std::collections::HashMap;
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use mapstack::value::Value;
use mapstack::{Call, CallError};

use crate::host::args::{Result, text, truth_or};
use crate::host::process::{self, ProcessOutcome, ProcessSettings};
use crate::host::table::FunctionTable;

pub(crate) const TABLE: FunctionTable = &[("gpg.decrypt", decrypt)];

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
    let home = match home.filter(Value::truthy) {
        Some(home) => Some(text(Some(home), call, "gnupghome")?),
        None => None,
    };
    let plain = KNOWN
        .decrypted(&Encrypted { home, message }, gpg)
        .map_err(|problem| CallError::new(format!("gpg cannot be run: {problem}")))?;
    let is_done = plain.is_some();
    if truth_or(bare, false) {
        return Ok(plain.map_or(Value::from(false), Value::Bytes));
    }
    let comment = plain.map_or_else(
        || "decryption failed.\nPlease check the salt-minion log.".into(),
        Value::Bytes,
    );
    let result = [("res", Value::from(is_done)), ("comment", comment)];
    Ok(Value::Map(result.into_iter().collect()))
}

/// A message that gpg decrypts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Encrypted {
    /// The home of gpg with the keys, if it is not the user's.
    home: Option<String>,
    message: String,
}

/// The bytes of a message; `None` if gpg cannot decrypt it, and an error if gpg cannot be run.
type GpgAnswer = std::result::Result<Option<Arc<[u8]>>, String>;

/// Ask gpg.
fn gpg(encrypted: &Encrypted) -> GpgAnswer {
    let mut command = Command::new("gpg");
    if let Some(home) = &encrypted.home {
        command.args(["--homedir", home]);
    }
    // gpg must not ask for a passphrase.
    command.args(["--batch", "--no-tty", "--decrypt"]);
    let setting = ProcessSettings {
        stdin: Some(encrypted.message.clone().into_bytes()),
        merged: false,
        time: TIME,
    };
    match process::run(command, setting).map_err(|e| e.to_string())? {
        ProcessOutcome::Done(output) if output.status.success() => Ok(Some(output.stdout.into())),
        ProcessOutcome::Done(_) => Ok(None),
        ProcessOutcome::Late => Err(format!("it took more than {} s", TIME.as_secs())),
        ProcessOutcome::Talkative => Err(process::talkative()),
    }
}

/// The messages that this process has decrypted: the same one is requested by each minion and each state of the files.
static KNOWN: LazyLock<GpgAnswers> = LazyLock::new(GpgAnswers::default);

/// Limit on the messages that are kept.
const MOST_KNOWN: usize = 4096;

/// The time for which a failure is kept: whoever watches files may have imported a key.
const FAILURE: Duration = Duration::from_secs(20);

/// An answer and when it was given, once there is one.
type DatedAnswer = Arc<OnceLock<(GpgAnswer, Instant)>>;

/// Answers by the messages. Each is asked once, however many threads want it.
#[derive(Default)]
struct GpgAnswers(Mutex<HashMap<Encrypted, DatedAnswer>>);

impl GpgAnswers {
    fn decrypted(
        &self,
        encrypted: &Encrypted,
        ask: impl FnOnce(&Encrypted) -> GpgAnswer,
    ) -> GpgAnswer {
        let is_old = |kept: &DatedAnswer| {
            kept.get().is_some_and(|(answer, at)| {
                !matches!(answer, Ok(Some(_))) && at.elapsed() > FAILURE
            })
        };
        let kept = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= MOST_KNOWN || known.get(encrypted).is_some_and(is_old) {
                known.clear();
            }
            known.entry(encrypted.clone()).or_default().clone()
        };
        let (answer, _) = kept.get_or_init(|| (ask(encrypted), Instant::now()));
        answer.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_message_is_decrypted_once() {
        let (known, asked) = (GpgAnswers::default(), AtomicUsize::new(0));
        let ask = |message: &str| {
            let encrypted = Encrypted {
                home: None,
                message: message.into(),
            };
            known.decrypted(&encrypted, |Encrypted { message, .. }| {
                asked.fetch_add(1, Ordering::Relaxed);
                Ok((message != "b").then(|| message.as_bytes().into()))
            })
        };
        std::thread::scope(|scope| {
            (0..8).for_each(|_| drop(scope.spawn(|| ask("a"))));
        });
        assert_eq!(ask("a"), Ok(Some(b"a"[..].into())));
        assert_eq!((ask("b"), ask("b")), (Ok(None), Ok(None)));
        assert_eq!(asked.into_inner(), 2);
    }
}
