//! Many minions: what Salt itself prints and keeps, every form of a text, directories, and what is broken.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mapstack_minion::cache::Cache;
use mapstack_minion::minions::{CacheOptions, Minions};
use mapstack_minion::{MAX_BYTES, Minion, platforms};
use mapstack_value::{Map, Value, json};
use proptest::prelude::*;
use tempfile::TempDir;

fn recorded(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(path)
}

fn parsed(text: &str) -> Minions {
    Minions::from_text(text.as_bytes(), "m.yaml").unwrap()
}

fn one(minions: &Minions, id: &str) -> Minion {
    minions
        .minion(id)
        .unwrap()
        .unwrap_or_else(|| panic!("no {id}"))
}

/// Every minion in a line, as Python shows its parts, or what is wrong with it.
fn shown(minions: &Minions) -> Vec<String> {
    let ids = minions.ids().unwrap();
    let minion = |id: &String| match minions.minion(id) {
        Ok(minion) => {
            let Minion {
                id,
                grains,
                pillar,
                opts,
                ..
            } = minion.expect("a listed minion");
            format!(
                "{id} {} {} {}",
                Value::from(grains).repr(),
                Value::from(pillar).repr(),
                Value::from(opts).repr()
            )
        }
        Err(error) => format!("{id}! {error}"),
    };
    ids.iter().map(minion).collect()
}

/// A value as the recorder describes one, with its types.
fn node(value: &Value) -> String {
    let member = |name: &str| {
        value
            .as_map()
            .and_then(|map| map.get(name))
            .cloned()
            .unwrap()
    };
    let inside = member("value");
    let items = || inside.as_list().unwrap().iter();
    match member("type").as_str().unwrap() {
        "map" => {
            let entry = |pair: &Value| {
                let pair = pair.as_list().unwrap();
                format!("{}: {}", node(&pair[0]), node(&pair[1]))
            };
            format!("{{{}}}", items().map(entry).collect::<Vec<_>>().join(", "))
        }
        "list" => format!("[{}]", items().map(node).collect::<Vec<_>>().join(", ")),
        _ => inside.repr(),
    }
}

#[test]
fn a_masters_cache_is_read_as_the_reference_reads_it() {
    let expected =
        json::loads(&fs::read_to_string(recorded("master/expected.json")).unwrap()).unwrap();
    let expected = expected.as_map().unwrap();
    assert_eq!(expected.get("salt").unwrap().as_str(), Some("3008.3"));
    let by_id = expected.get("minions").unwrap().as_map().unwrap();
    let cache = Cache::open(recorded("master/cache")).unwrap().unwrap();
    assert_eq!(cache.ids().unwrap(), ["db1", "web1"]);
    assert_eq!(by_id.len(), 2);
    for (id, parts) in by_id {
        let minion = cache.minion(id.as_str().unwrap()).unwrap().unwrap();
        let part = |name: &str| node(parts.as_map().unwrap().get(name).unwrap());
        assert_eq!(
            Value::from(minion.grains.clone()).repr(),
            part("grains"),
            "{id}"
        );
        assert_eq!(
            Value::from(minion.pillar.clone()).repr(),
            part("pillar"),
            "{id}"
        );
        assert!(
            minion.grains.len() > 70 && minion.pillar.contains_key("common"),
            "{id}"
        );
    }
    let opened = Minions::open(recorded("master/cache"), &CacheOptions::default()).unwrap();
    assert!(opened.is_cache());
    assert_eq!(one(&opened, "web1"), cache.minion("web1").unwrap().unwrap());
}

#[test]
fn what_salt_prints_is_read_in_every_format() {
    let open = |name: &str| {
        Minions::open(recorded("salt_output").join(name), &CacheOptions::default()).unwrap()
    };
    // JSON has no tuples, and the cache has none either.
    let cache = Cache::open(recorded("master/cache")).unwrap().unwrap();
    for name in ["each.json", "static.json"] {
        let minions = open(name);
        assert_eq!(minions.ids().unwrap(), ["db1", "web1"], "{name}");
        for id in ["db1", "web1"] {
            assert_eq!(
                one(&minions, id).grains,
                cache.minion(id).unwrap().unwrap().grains,
                "{name} {id}"
            );
        }
    }
    let local = open("local.json");
    assert_eq!(local.ids().unwrap(), ["web1"]);
    assert_eq!(
        one(&local, "web1").grains,
        cache.minion("web1").unwrap().unwrap().grains
    );
    for name in ["each.yaml", "static.yaml", "local.yaml"] {
        let minions = open(name);
        let web1 = one(&minions, "web1");
        assert_eq!(
            web1.grains.get("osfinger").unwrap().as_str(),
            Some("Debian-12"),
            "{name}"
        );
        assert_eq!(
            web1.grains.get("osrelease_info").unwrap().repr(),
            "[12]",
            "{name}"
        );
        assert_eq!(
            minions.ids().unwrap().len(),
            if name == "local.yaml" { 1 } else { 2 },
            "{name}"
        );
    }
    for (name, silent) in [("gone.json", 1), ("gone.yaml", 1), ("gone_static.json", 0)] {
        let minions = open(name);
        assert_eq!(minions.ids().unwrap(), ["web1"], "{name}");
        let said: Vec<(&str, &str)> = minions
            .silent()
            .iter()
            .map(|one| (&*one.id, &*one.said))
            .collect();
        assert_eq!(
            said,
            [("db1", "Minion did not return. [No response]")][..silent],
            "{name}"
        );
    }
}

#[test]
fn built_in_platforms_are_what_the_recorded_minions_were_given() {
    let cache = Cache::open(recorded("master/cache")).unwrap().unwrap();
    for (id, platform) in [("web1", "debian-12"), ("db1", "rockylinux-9")] {
        let ours: BTreeMap<String, Value> =
            sorted(&platforms::find(platform).unwrap().minion().grains);
        let theirs = sorted(&cache.minion(id).unwrap().unwrap().grains);
        for (name, value) in &ours {
            // A tuple goes through the configuration as a list.
            let same = theirs.get(name).is_some_and(|other| {
                other.repr()
                    == value
                        .repr()
                        .replace(['(', ')'], "")
                        .replace("12,", "[12]")
                        .replace("9, 5", "[9, 5]")
            });
            let is_tuple = matches!(value, Value::Tuple(_));
            assert!(
                if is_tuple {
                    same
                } else {
                    theirs.get(name) == Some(value)
                },
                "{platform}: {name}"
            );
        }
    }
}

fn sorted(grains: &Map) -> BTreeMap<String, Value> {
    grains
        .iter()
        .map(|(key, value)| (key.to_string(), value.clone()))
        .collect()
}

#[test]
fn every_form_of_a_text_is_read() {
    let two = ["a {'os': 'X'} {'k': 1} {}", "b {'os': 'Y'} {} {}"];
    for text in [
        "{b: {os: Y}, a: {grains: {os: X}, pillar: {k: 1}}}",
        "b: {grains: {os: Y}}\na: {grains: {os: X}, pillar: {k: 1}, opts: {}}\n",
        "id: b\ngrains: {os: Y}\n---\nid: a\ngrains: {os: X}\npillar: {k: 1}\n...\n",
        "---\nb: {os: Y}\n---\nid: a\ngrains: {os: X}\npillar: {k: 1}\n---\n",
        r#"{"b": {"os": "Y"}}{"a": {"grains": {"os": "X"}, "pillar": {"k": 1}}}"#,
        "{\"b\": {\"os\": \"Y\"}}\r\n{\"id\": \"a\", \"grains\": {\"os\": \"X\"}, \"pillar\": {\"k\": 1}}\r\n",
        "\u{feff}{\"b\": {\"os\": \"Y\"},\r\n \"a\": {\"grains\": {\"os\": \"X\"}, \"pillar\": {\"k\": 1}}}",
    ] {
        assert_eq!(shown(&parsed(text)), two, "{text}");
    }
    for (text, minion) in [
        ("id: a\ngrains: {os: X}\n", "a {'os': 'X'} {} {}"),
        ("local: {id: a, os: X}", "a {'id': 'a', 'os': 'X'} {} {}"),
        (
            "{\"local\": {\"id\": \"a\", \"os\": \"X\"}}",
            "a {'id': 'a', 'os': 'X'} {} {}",
        ),
        ("{id: a, os: X}", "a {'id': 'a', 'os': 'X'} {} {}"),
        ("a: {}", "a {} {} {}"),
        ("7: {os: X}", "7 {'os': 'X'} {} {}"),
        // A minion that has its options among its grains, as the option `grain_opts` does.
        (
            "a: {os: X, opts: {x: 1}}",
            "a {'os': 'X', 'opts': {'x': 1}} {} {}",
        ),
        ("ünï-☃: {os: X}", "ünï-☃ {'os': 'X'} {} {}"),
        // As JSON these are numbers, and as YAML texts.
        (
            r#"{"a": {"os": "X", "n": 1e5}}"#,
            "a {'os': 'X', 'n': 100000.0} {} {}",
        ),
    ] {
        assert_eq!(shown(&parsed(text)), [minion], "{text}");
    }
}

#[test]
fn a_broken_minion_says_where_and_hides_no_other() {
    let text = "ok: {os: X}\nlist: [1]\nwords: The minion function caused an exception\n../up: {os: X}\n\
                key: {grains: {}, pilar: {}}\npart: {pillar: text}\nnothing: {a: 1}\nother: {id: else, grains: {}}\n\
                gone: false\n";
    let minions = parsed(text);
    assert_eq!(
        shown(&minions),
        [
            "../up! m.yaml:4:1: '../up' is not a valid id: Salt refuses ids that are empty, `.` or `..`, or have `/` or `\\` in them",
            "key! m.yaml:5:19: unknown key 'pilar': a minion has `id`, `grains`, `pillar` and `opts`; did you mean `pillar`?",
            "list! m.yaml:2:7: a minion must be a mapping, not a list",
            "nothing! m.yaml:7:10: holds neither a minion's parts, `grains`, `pillar` or `opts`, nor grains, which have \
             `os` or `kernel` with a text",
            "ok {'os': 'X'} {} {}",
            "other! m.yaml:8:1: is named after 'other' and has the id 'else'",
            "part! m.yaml:6:16: pillar must be a mapping, not a string",
            "words! m.yaml:3:8: the minion gave no grains, but said: The minion function caused an exception",
        ]
    );
    assert_eq!(minions.silent()[0].to_string(), "m.yaml:9:1: gone: false");

    let json = "{\n \"ok\": {\"os\": \"X\"},\n \"b\\\"ad\": [1],\n \"gone\": \"Minion did not return. [Not connected]\\nx\"\n}\n{\"ok\": {}}";
    let minions = parsed(json);
    assert_eq!(
        shown(&minions),
        [
            "b\"ad! m.yaml:3:2: a minion must be a mapping, not a list",
            "ok! m.yaml:6:2: the minion was there already at m.yaml:2:2; keep one of the two"
        ]
    );
    assert_eq!(
        minions.silent()[0].to_string(),
        "m.yaml:4:2: gone: Minion did not return. [Not connected]"
    );
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one row for each text that is in no form"
)]
fn a_text_in_no_form_says_which_forms_there_are() {
    let forms = "a text with minions is one of: documents with `id`, `grains`, `pillar`, `opts`; a mapping from ids to \
                 such documents or to grains, as `salt --static --out=json '*' grains.items` prints it; several such \
                 mappings, as without `--static`; the grains of one minion, as `salt-call --out=json grains.items` prints them";
    let no_form =
        |at: &str, seen: &str| format!("m.yaml:{at}: holds no minions, but {seen}; {forms}");
    let deep = format!("{}1{}", "{\"a\": ".repeat(300), "}".repeat(300));
    let long = format!("{{{}: 1}}", "x".repeat(500));
    let cases: Vec<(&[u8], String)> = vec![
        (b"", "m.yaml: holds nothing; write `{}` for no facts".into()),
        (
            b" \r\n",
            "m.yaml: holds nothing; write `{}` for no facts".into(),
        ),
        (b"- id: a\n", no_form("1:1", "a list")),
        (b"text", no_form("1:1", "a string")),
        (
            b"{a: 1, b: 2, c: 3, d: 4}",
            no_form("1:1", "a mapping with `a`, `b`, `c`, …"),
        ),
        (
            b"\n\nusers: {joe: {uid: 1}}\n",
            no_form("3:1", "a mapping with `users`"),
        ),
        (
            b"{\"users\": {\"joe\": 1}}",
            no_form("1:1", "a mapping with `users`"),
        ),
        (
            long.as_bytes(),
            no_form("1:1", &format!("a mapping with `{}…`", "x".repeat(80))),
        ),
        (
            b"{\"a\": {\"os\": \"X\"}, \"b\": ]",
            "m.yaml:1:25: is not JSON: Expecting value: line 1 column 25".into(),
        ),
        (
            b"{\"a\": {\"os\": \"X\"}\n {\"b\": 1}",
            "m.yaml:2:2: ".into(),
        ),
        (
            b"{\"a\": {\"os\": \"X\"}} x",
            "m.yaml:1:20: is not JSON: Expecting value: line 1 column 20".into(),
        ),
        (
            b"{\"a\": {\"os\": \"X\"}} [1]",
            "m.yaml:1:20: is not JSON: Expecting an object: line 1 column 20".into(),
        ),
        (
            b"{\"a\": {\"os\": \"X\"}, \"a\": {}}",
            "m.yaml:1:1: the object has an id twice".into(),
        ),
        (
            b"a: {os: X}\na: {os: Y}\n",
            "m.yaml:2:1: the key 'a' was already set at line 1, column 1".into(),
        ),
        (
            b"a: \xff\n",
            "m.yaml:1:4: byte 3 does not start a UTF-8 character".into(),
        ),
        (
            b"grains: {os: X}\npilar: {}\n",
            "m.yaml:2:1: unknown key 'pilar'".into(),
        ),
        (
            b"grains: {os: X}\n",
            "m.yaml:1:1: has no id; write `id: NAME` beside its `grains`".into(),
        ),
        (deep.as_bytes(), "m.yaml:1:".into()),
    ];
    for (text, message) in cases {
        let shown = String::from_utf8_lossy(text)
            .chars()
            .take(60)
            .collect::<String>();
        let error = Minions::from_text(text, "m.yaml")
            .expect_err(&shown)
            .to_string();
        assert!(error.starts_with(&message), "{shown}\n{error}\n{message}");
    }
    let error = Minions::from_text(
        &vec![b' '; usize::try_from(MAX_BYTES).unwrap() + 1],
        "m.yaml",
    )
    .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("m.yaml: has more than 64 MiB")
    );
}

fn directory(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(directory.path().join(name), content).unwrap();
    }
    directory
}

#[test]
#[cfg(unix)]
fn pipes_and_devices_in_a_directory_are_not_read() {
    let found = directory(&[("a.yaml", "id: a\n")]);
    let pipe = found.path().join("pipe.yaml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for (name, to) in [("link.yaml", &*pipe), ("zero.yaml", "/dev/zero".as_ref())] {
        std::os::unix::fs::symlink(to, found.path().join(name)).unwrap();
    }
    let minions = Minions::open(found.path(), &CacheOptions::default()).unwrap();
    for id in ["link", "pipe", "zero"] {
        let error = minions.minion(id).unwrap_err().to_string();
        assert!(error.contains("is not a regular file"), "{error}");
    }
    assert!(minions.minion("a").is_ok());
}

#[test]
fn a_file_of_a_directory_has_any_form_of_one_minion() {
    let found = directory(&[
        ("a.yaml", "grains: {os: X}\n"),
        ("b.json", r#"{"local": {"os": "Y"}}"#),
        ("c.yml", "c: {os: Z}\n"),
        ("d.yaml", "{id: d, os: D}"),
        ("several.yaml", "e: {os: E}\nf: {os: F}\n"),
        ("g.json", r#"{"g": "Minion did not return. [No response]"}"#),
        ("h.yaml", "id: else\n"),
        ("i.yaml", ""),
        (".hidden.yaml", "x"),
        ("notes.txt", "x"),
    ]);
    let minions = Minions::open(found.path(), &CacheOptions::default()).unwrap();
    let here = format!("{}/", found.path().display());
    let lines: Vec<String> = shown(&minions)
        .iter()
        .map(|line| line.replace(&here, ""))
        .collect();
    assert_eq!(
        lines,
        [
            "a {'os': 'X'} {} {}",
            "b {'os': 'Y'} {} {}",
            "c {'os': 'Z'} {} {}",
            "d {'id': 'd', 'os': 'D'} {} {}",
            "g! g.json: the minion gave no grains, but said: Minion did not return. [No response]",
            "h! h.yaml: is named after 'h' and has the id 'else'",
            "i! i.yaml: holds nothing; write `{}` for no facts",
            "several! several.yaml: is named after one minion and has 2; pass the file itself, or give each a file",
        ]
    );
    for unknown in ["x", "", "../a", "a.yaml"] {
        assert!(minions.minion(unknown).unwrap().is_none(), "{unknown}");
    }
    let twice = directory(&[("a.yaml", "{}"), ("a.json", "{}")]);
    let error = Minions::open(twice.path(), &CacheOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("a.yaml: is for the same minion as ")
            && error.ends_with("a.json; keep one of the two"),
        "{error}"
    );
    let empty = directory(&[]);
    let error = Minions::open(empty.path(), &CacheOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("has no file of a minion, ID.yaml or ID.json, and is not a master's cache"),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_has_minions_or_an_error(
        text in proptest::collection::vec(
            proptest::sample::select(vec!["{", "}", "\"a\"", "\"os\"", ":", ",", "\"X\"", "[", "]", "\n", "---\n", "id", " ", "local", "false", "é", "\\"]),
            0..40,
        )
    ) {
        let text = text.concat();
        match Minions::from_text(text.as_bytes(), "m.yaml") {
            Ok(minions) => prop_assert_eq!(shown(&minions).len(), minions.ids().unwrap().len()),
            Err(error) => prop_assert!(error.to_string().starts_with("m.yaml"), "{}", error),
        }
    }

    /// Keys of an object are found where they are, whatever is inside and between.
    #[test]
    fn keys_of_json_are_where_they_are_said_to_be(ids in proptest::collection::btree_set("[a-c\\\\\"é{,:]{1,4}", 1..4), gap in "[ \n]{0,3}") {
        let quoted: Vec<String> = ids.iter().map(|id| json::dumps(&Value::from(id.as_str()), &json::DumpOptions::default()).unwrap()).collect();
        let text = format!("{{{}}}", quoted.iter().map(|id| format!("{gap}{id}:[{{\"x\": \"}},\"}}, 1]")).collect::<Vec<_>>().join(","));
        // A minion that is there, so that the others are broken ones.
        let text = format!("{text}{{\"zz\": {{}}}}");
        let minions = parsed(&text);
        let listed = minions.ids().unwrap();
        for (id, quoted) in ids.iter().zip(&quoted) {
            prop_assert!(listed.contains(id), "{}", text);
            let place = minions.minion(id).unwrap_err().place;
            let mark = place.mark.unwrap();
            let line = text.split('\n').nth(mark.line as usize - 1).unwrap();
            let rest: String = line.chars().skip(mark.column as usize - 1).collect();
            prop_assert!(rest.starts_with(quoted.as_str()), "{}: {}", quoted, rest);
        }
    }
}

#[test]
fn a_document_that_is_broken_keeps_no_other_from_being_read() {
    let text = "id: a\n---\npillar: {}\n---\n- x\n---\nid: d\ngrains: [\n---\nid: e\ngrains: 3\n---\nid: f\n";
    let minions = Minions::from_text(text.as_bytes(), "m.yaml").unwrap();
    let ids = minions.ids().unwrap();
    assert_eq!(ids, ["a", "d", "document 2", "document 3", "e", "f"]);
    for (id, message) in [
        ("document 2", "m.yaml:3:1: has no id"),
        ("document 3", "m.yaml:5:1: holds no minions, but a list"),
        ("d", "m.yaml:8:9: the `[` opened here is never closed"),
        ("e", "m.yaml:11:9: grains must be a mapping, not an integer"),
    ] {
        let error = minions.minion(id).unwrap_err().to_string();
        assert!(error.starts_with(message), "{id}: {error}");
    }
    assert!(minions.minion("f").unwrap().is_some());
    // A text in which no document has a minion is an error as a whole.
    for text in ["- a\n---\n- b\n", "a: [\n---\nb: [\n"] {
        Minions::from_text(text.as_bytes(), "m.yaml").expect_err(text);
    }
}
