//! States that change a part of a file, and the part that real Salt wrote.

use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::{Map, Value, json};
use mapstack_files::{Content, ManagedFiles};

/// The text of the last state, or nothing if Salt refuses it.
fn last(engine: &Engine, minion: &Minion, low: &[Value]) -> Option<String> {
    let files = ManagedFiles::new(engine, minion, low);
    let last = files.all().last().map(|file| files.content(file));
    match last.unwrap() {
        Content::Bytes(bytes) => Some(String::from_utf8(bytes.to_vec()).unwrap()),
        Content::Failed(_) => None,
        other => panic!("{other:?}"),
    }
}

fn difference(engine: &Engine, minion: &Minion, record: &Map) -> Option<String> {
    let text = record.get("low").unwrap().to_string();
    let low = mapstack_yaml::load(&text).unwrap();
    let ours = last(engine, minion, low.as_list().unwrap());
    let theirs = record.get("text").map(ToString::to_string);
    (ours != theirs).then(|| format!("{text}  Salt: {theirs:?}\n  ours: {ours:?}"))
}

#[test]
fn recorded_states_change_the_same_part() {
    let recorded = json::loads(include_str!("../data/fragments.json")).unwrap();
    let [setup, records @ ..] = recorded.as_list().unwrap() else {
        panic!("nothing is recorded");
    };
    let files = setup.as_map().and_then(|setup| setup.get("files"));
    let files = files.and_then(Value::as_map).unwrap().iter();
    let served = files.fold(MemoryFiles::new(), |served, (path, text)| {
        served.file("base", &path.to_string(), text.to_string())
    });
    let (engine, minion) = (Engine::new(served), Minion::new("m").complete());
    let different: Vec<String> = records
        .iter()
        .filter_map(|one| difference(&engine, &minion, one.as_map().unwrap()))
        .collect();
    assert!(different.is_empty(), "{}", different.join("\n\n"));
    assert!(records.len() > 150);
}
