//! Calls that nothing answers, and the file of stubs that would answer them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use mapstack_diagnostic::sanitize;
use mapstack_value::{Map, Str, Value};
use mapstack_yaml::{DumpOptions, dump};

use crate::Call;
use crate::stubs::OPEN;

/// A call that nothing answers.
#[derive(Debug, Clone, PartialEq)]
pub struct UnansweredCall {
    /// The call; its minion is the first that made it.
    pub call: Call,
    /// The minions whose templates make it.
    pub minions: BTreeSet<Str>,
    /// The places of the calls, as `file:line:column`, as far as they are known.
    pub places: BTreeSet<String>,
}

impl UnansweredCall {
    /// Add calls to others: who else makes the same ones, and where.
    pub fn join(all: &mut Vec<UnansweredCall>, more: Vec<UnansweredCall>) {
        for one in more {
            let is_same = |known: &&mut UnansweredCall| {
                let (known, call) = (&known.call, &one.call);
                known.name == call.name && known.args == call.args && known.kwargs == call.kwargs
            };
            match all.iter_mut().find(is_same) {
                Some(known) => {
                    known.minions.extend(one.minions);
                    known.places.extend(one.places);
                }
                None => all.push(one),
            }
        }
    }
}

impl UnansweredCall {
    /// The calls without the arguments of those that are secret as a template would write them, and how many these are.
    pub fn without(
        all: Vec<UnansweredCall>,
        is_secret: impl Fn(&str) -> bool,
    ) -> (Vec<UnansweredCall>, usize) {
        let (mut plain, mut secret) = (Vec::new(), 0);
        for mut one in all {
            if is_secret(&one.call.to_string()) {
                one.call.args.clear();
                one.call.kwargs = Map::new();
                secret += 1;
            }
            UnansweredCall::join(&mut plain, vec![one]);
        }
        (plain, secret)
    }
}

/// So many minions and places are named beside a call.
const NAMED: usize = 5;

/// The text of a stub file with an entry for each call, whose answers are to be filled in. Entries that are not have no
/// effect.
///
/// ```
/// use mapstack_functions::{Call, Stubs, UnansweredCall, stub_file};
/// let call = Call::new("cmd.run").arg("hostname -f");
/// let lacking = UnansweredCall {
///     call,
///     minions: ["web1".into()].into(),
///     places: ["web/init.sls:3:5".into()].into(),
/// };
/// let text = stub_file(&[lacking]);
/// assert!(text.ends_with("- args: [hostname -f]\n    # minions: [web1]\n    return: ???\n"), "{text}");
/// assert!(Stubs::parse(&text, "stubs.yaml").is_ok());
/// ```
#[must_use]
pub fn stub_file(calls: &[UnansweredCall]) -> String {
    let functions: BTreeSet<&Str> = calls.iter().map(|one| &one.call.name).collect();
    let mut text = format!(
        "# {} that nothing answers: write what each returns in place of ???. Where that stays, a call has no answer.\n\
         # For answers that differ, take the # from `minions:`, which is a list of ids or globs, and repeat the entry.\n",
        counted(calls.len())
    );
    for function in functions {
        let own = calls.iter().filter(|one| one.call.name == *function);
        // Text goes nowhere where it could fail.
        let _ = write!(text, "\n{}:\n", scalar(&Value::Str(function.clone())));
        for one in own {
            entry(one, &mut text);
        }
    }
    text
}

fn counted(calls: usize) -> String {
    match calls {
        1 => "One call".into(),
        calls => format!("{calls} calls"),
    }
}

fn entry(one: &UnansweredCall, text: &mut String) {
    if !one.places.is_empty() {
        let (places, more) = named(one.places.iter().map(String::as_str), "places");
        // The name of a file must not end the comment, nor have what YAML does not allow.
        let places = sanitize(&places.join(", ")).replace('\n', "\u{fffd}");
        let _ = writeln!(text, "  # at {places}{more}");
    }
    let mut lines = Vec::new();
    if !one.call.args.is_empty() {
        let args: Value = one.call.args.iter().cloned().collect();
        lines.push(format!("args: {}", scalar(&args)));
    }
    if !one.call.kwargs.is_empty() {
        lines.push(format!("kwargs: {}", scalar(&of_map(&one.call.kwargs))));
    }
    lines.push(format!("return: {OPEN}"));
    if !one.minions.is_empty() {
        let (ids, more) = named(one.minions.iter().map(|id| &**id), "minions");
        let ids: Value = ids.into_iter().map(Value::from).collect();
        lines.insert(1, format!("# minions: {}{more}", scalar(&ids)));
        // The blank to fill in comes last, after all other lines.
        if lines.len() > 2 {
            let comment = lines.remove(1);
            lines.insert(lines.len() - 1, comment);
        }
    }
    let _ = writeln!(text, "  - {}", lines.join("\n    "));
}

/// The first ones, and a comment about the others.
fn named<'a>(all: impl ExactSizeIterator<Item = &'a str>, what: &str) -> (Vec<&'a str>, String) {
    let more = match all.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("  # and {more} more {what}"),
    };
    (all.take(NAMED).collect(), more)
}

fn of_map(map: &Map) -> Value {
    map.clone().into()
}

/// A value on one line.
fn scalar(value: &Value) -> String {
    let options = DumpOptions {
        width: usize::MAX,
        flow: true,
        literal: false,
        ..DumpOptions::output()
    };
    let text = dump(value, &options);
    // A plain scalar is a whole document.
    let text = text.trim_end();
    text.strip_suffix("...").unwrap_or(text).trim_end().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Functions as _, Stubs};

    #[test]
    fn names_of_files_stay_in_their_comment() {
        let lacking = UnansweredCall {
            call: Call::new("cmd.run"),
            minions: BTreeSet::new(),
            places: BTreeSet::from(["a\u{1b}[8m\u{202e}\nb: [c.sls:1:2".to_owned()]),
        };
        let text = stub_file(&[lacking]);
        assert!(
            text.contains("  # at a\u{fffd}[8m<U+202E>\u{fffd}b: [c.sls:1:2\n"),
            "{text}"
        );
        assert!(!Stubs::parse(&text, "s").unwrap().has("b"));
    }

    #[test]
    fn the_file_answers_the_calls_that_it_lists() {
        let calls = [
            Call::new("mine.get").arg("*").arg("network.ip_addrs"),
            Call::new("cmd.run")
                .arg("echo 'a: b'\nexit")
                .kwarg("env", of_map(&Map::from_iter([("A", 1)]))),
            Call::new("cmd.run"),
            Call::new("which").arg("bash"),
        ];
        let many: BTreeSet<Str> = (0..7).map(|n| format!("web{n}").into()).collect();
        let lacking = calls.clone().map(|call| UnansweredCall {
            call,
            minions: many.clone(),
            places: BTreeSet::new(),
        });
        let text = stub_file(&lacking);
        assert!(
            text.contains("    # minions: [web0, web1, web2, web3, web4]  # and 2 more minions\n"),
            "{text}"
        );
        let open = Stubs::parse(&text, "s").unwrap();
        assert!(!open.has("cmd.run") && !open.has_module("cmd") && open.call(&calls[0]).is_none());
        let filled = text.replace("return: ???", "return: 5");
        let stubs = Stubs::parse(&filled, "s").unwrap();
        for call in &calls {
            assert_eq!(stubs.call(call).unwrap().unwrap(), Value::from(5), "{text}");
        }
        // With the sign of a comment taken away, the entry is about the minions.
        let apart = Stubs::parse(&filled.replace("# minions:", "minions:"), "s").unwrap();
        let [mut call, ..] = calls;
        assert!(apart.call(&call).is_none());
        call.minion = "web1".into();
        assert!(apart.call(&call).is_some());
    }
}
