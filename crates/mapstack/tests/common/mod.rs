//! Reads records of the reference and compares them.

#![allow(dead_code, reason = "every test file uses its own part of this")]

use std::sync::atomic::{AtomicUsize, Ordering};

use mapstack::minion::Minion;
use mapstack::value::{Map, Value, json};

/// The records of a file.
pub fn records(text: &str) -> Vec<Map> {
    let Value::List(records) = json::loads(text).unwrap() else {
        panic!("a list")
    };
    records
        .iter()
        .map(|record| record.as_map().unwrap().clone())
        .collect()
}

/// A mapping in a record; empty if the record does not have it.
pub fn map(record: &Map, key: &str) -> Map {
    record
        .get(key)
        .and_then(Value::as_map)
        .cloned()
        .unwrap_or_default()
}

/// The minion with the facts of a record.
pub fn minion(record: &Map) -> Minion {
    let (grains, pillar, opts) = (
        map(record, "grains"),
        map(record, "pillar"),
        map(record, "opts"),
    );
    Minion {
        grains,
        pillar,
        opts,
        ..Minion::default()
    }
    .complete()
}

/// The results of some work for each item, in order. Two threads take turns: what is recorded is often the longest test of
/// its program.
pub fn of_each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let taken = std::iter::from_fn(|| {
            let at = next.fetch_add(1, Ordering::Relaxed);
            items.get(at).map(|item| (at, work(item)))
        });
        taken.collect::<Vec<_>>()
    };
    let mut done = std::thread::scope(|scope| {
        let other = scope.spawn(take);
        let mut done = take();
        done.extend(other.join().expect("the other thread does not panic"));
        done
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Check each record. Records that are listed with a reason must differ, all others must not.
pub fn assert_repeated(
    records: &[Map],
    differences: &[(&str, &str)],
    check: impl Fn(&Map) -> Result<(), String> + Sync,
) {
    assert!(!records.is_empty(), "nothing is recorded");
    let problem = |record: &Map| {
        let name = record.get("name").unwrap().to_string();
        let expected = differences.iter().any(|(known, _)| *known == name);
        match check(record) {
            Ok(()) if expected => Some(format!("{name}: is equal now; strike it from the list")),
            Err(problem) if !expected => Some(format!("{name}\n    {problem}")),
            _ => None,
        }
    };
    let problems: Vec<String> = of_each(records, problem).into_iter().flatten().collect();
    assert!(
        problems.is_empty(),
        "{} of {} differ:\n{}",
        problems.len(),
        records.len(),
        problems.join("\n")
    );
}
