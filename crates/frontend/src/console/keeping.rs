//! A pillar for a master, whatever happens: it lists the errors.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};

use mapstack::Severity;
use mapstack::value::Map;
use mapstack_report::pillar::add_messages;
use mapstack_report::values::as_json;

use crate::console::{Failure, Reporter};

/// A pillar, or none, with the messages about it and those about all.
#[must_use]
pub fn finished(
    pillar: Result<Map, String>,
    before: &[(Severity, String)],
    reporter: &Reporter,
) -> Map {
    let (mut pillar, failure) = match pillar {
        Ok(pillar) => (pillar, None),
        Err(failure) => (Map::new(), Some(failure)),
    };
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    for (severity, message) in before.iter().cloned().chain(reporter.take_kept()) {
        let list = if severity == Severity::Error {
            &mut errors
        } else {
            &mut warnings
        };
        list.push(message);
    }
    errors.extend(failure.map(|failure| reporter.redact(&failure).into_inner()));
    add_messages(&mut pillar, &errors, &warnings);
    pillar
}

/// A pillar that is an error alone, as JSON, which is YAML as well.
///
/// # Errors
/// None that is known: the message has a form in JSON.
pub fn alone(message: &str) -> Result<String, Failure> {
    let mut pillar = Map::new();
    add_messages(&mut pillar, &[message.to_owned()], &[]);
    Ok(as_json(&pillar.into())?)
}

/// Run some work. A fault of the program is an error like others.
///
/// # Errors
/// The failure, or what a panic says.
pub fn caught<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, String> {
    match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|failure| failure.to_string()),
        Err(panicked) => Err(format!(
            "this is a fault of mapstack: {}",
            panic_message(&*panicked)
        )),
    }
}

/// The message of a panic.
fn panic_message(panicked: &(dyn Any + Send)) -> String {
    let text = panicked
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    text.or_else(|| panicked.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "it panicked".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        let error = caught::<()>(|| panic!("index {} of {}", 3, 2)).unwrap_err();
        assert_eq!(error, "this is a fault of mapstack: index 3 of 2");
        assert_eq!(
            caught::<()>(|| panic!("plain")).unwrap_err(),
            "this is a fault of mapstack: plain"
        );
        assert_eq!(caught(|| Ok(1)).unwrap(), 1);
    }
}
