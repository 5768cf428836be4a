//! Top files and includes, as real Salt has them: `cargo xtask reference` records them again.

use std::collections::BTreeSet;

use mapstack::loader::MemoryFiles;
use mapstack::minion::{Minion, Part, SaltVersion};
use mapstack::value::{Map, Value, json};
use mapstack::{Engine, yaml};
use mapstack_states::{Gatherer, TopOptions};

/// The tops that differ on purpose: by their description, with the reason.
const DIFFERENT: [(&str, &str); 0] = [];

fn records() -> Vec<Map> {
    let recorded = json::loads(include_str!("data/tops.json")).unwrap();
    let records = recorded.as_list().unwrap().iter();
    records.map(|one| one.as_map().unwrap().clone()).collect()
}

fn map(record: &Map, name: &str) -> Map {
    let value = record.get(name).and_then(Value::as_map);
    value.cloned().unwrap_or_default()
}

fn text(record: &Map, name: &str) -> String {
    record
        .get(name)
        .map(ToString::to_string)
        .unwrap_or_default()
}

fn minion(record: &Map) -> Minion {
    let minion = Minion::new("m")
        .with(Part::Grains, map(record, "grains"))
        .with(Part::Opts, map(record, "opts"));
    let pillar = yaml::load(&text(record, "pillar")).unwrap_or_default();
    let pillar = pillar.as_map().cloned().unwrap_or_default();
    minion.with(Part::Pillar, pillar).complete()
}

/// The data of the top files, and the sls of the high state if it has no errors, as the records have them.
fn ours(record: &Map) -> (String, Option<BTreeSet<String>>) {
    let mut files = MemoryFiles::new();
    for (env, own) in &map(record, "envs") {
        for (path, content) in own.as_map().unwrap() {
            files = files.file(&env.to_string(), &path.to_string(), content.to_string());
        }
    }
    let engine = Engine::new(files);
    let mut options = map(record, "opts");
    options.insert("file_roots", map(record, "envs"));
    let options = TopOptions::of(&options);
    let gathered = Gatherer::new(&engine, options).gather(&minion(record));
    let top = match &gathered.top {
        Some(Ok(top)) => {
            let envs = top.entries.iter().map(|(env, entries)| {
                let names: Value = entries.iter().map(|entry| entry.sls.as_str()).collect();
                (env.as_str(), names)
            });
            Value::from(envs.collect::<Map>()).repr()
        }
        _ => "{}".into(),
    };
    let is_whole = gathered.problems.is_empty()
        && gathered.sls.iter().all(|sls| sls.rendered.data.is_ok())
        && !gathered.sls.is_empty();
    let names = gathered.sls.iter();
    let names = names
        .map(|sls| format!("{}:{}", sls.saltenv, sls.name))
        .collect();
    (top, is_whole.then_some(names))
}

#[test]
fn every_recorded_top_file_gives_what_salt_gives() {
    let mut different = Vec::new();
    for record in records() {
        let description = text(&record, "description");
        let (top, found) = ours(&record);
        let expected = record.get("result").map(Value::repr).unwrap_or_default();
        let expected_found = record.get("found").and_then(Value::as_list).map(|names| {
            names
                .iter()
                .map(ToString::to_string)
                .collect::<BTreeSet<_>>()
        });
        // Salt gives nothing if it ends, or lists the mistakes of top files.
        let gives = record.get("result").and_then(Value::as_map);
        let expected = gives.map_or_else(|| "{}".into(), |_| expected);
        let expected_found = expected_found.filter(|found| !found.is_empty());
        let is_same = top == expected && found == expected_found;
        let is_known = DIFFERENT.iter().any(|(name, _)| *name == description);
        if is_same == is_known {
            different.push(format!(
                "{description}\n  salt: {expected} {expected_found:?} {:?}\n  ours: {top} {found:?}",
                record.get("errors").or_else(|| record.get("message")).map(Value::repr)
            ));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// The sls that the minion `m` gets from these files and options, and the warnings.
fn given(files: MemoryFiles, options: &str) -> (Vec<(String, String)>, Vec<String>) {
    let options = yaml::load(options).unwrap();
    let options = options.as_map().unwrap();
    let minion = Minion::new("m").with(Part::Opts, options.clone());
    let engine = Engine::new(files);
    let top = Gatherer::new(&engine, TopOptions::of(options)).gather(&minion.complete());
    let top = top.top.unwrap().unwrap();
    let entries = top.entries.into_iter().flat_map(|(env, entries)| {
        let entry = move |entry: mapstack_states::Entry| (env.clone(), entry.sls);
        entries.into_iter().map(entry)
    });
    let warnings = top.warnings.into_iter().map(|warning| warning.message);
    (entries.collect(), warnings.collect())
}

fn names(given: &[(String, String)]) -> String {
    let names = given.iter().map(|(env, sls)| format!("{env}:{sls}"));
    names.collect::<Vec<_>>().join(" ")
}

/// As Salt 3008.3 does, with the same files in its `extension_modules`.
#[test]
fn matchers_of_the_tree_replace_those_of_salt() {
    let files = MemoryFiles::new()
        .file(
            "base",
            "top.sls",
            "base: {web: [{match: foo}, a], db: [{match: foo}, b], 'm*': [{match: glob}, c], x: [{match: list}, {match: foo}, d]}",
        )
        .file(
            "base",
            "_matchers/foo_match.py",
            "def match(tgt):\n    return tgt in ('web', 'x') and __opts__['id'] == 'm'\n",
        )
        .file(
            "base",
            "_matchers/glob_match.py",
            "def match(tgt, opts=None, minion_id=None):\n    return False\n",
        );
    let (sls, warnings) = given(files, "{}");
    assert_eq!((names(&sls), warnings), ("base:a base:d".into(), vec![]));
    let inside = MemoryFiles::new()
        .file(
            "base",
            "top.sls",
            "base: {'G@id:m': [a], 'm and not G@id:m': [b], m: [c]}",
        )
        .file(
            "base",
            "_matchers/grain_match.py",
            "def match(tgt, delimiter=':', opts=None, minion_id=None):\n    return False\n",
        );
    let (sls, _) = given(inside, "{id: m}");
    assert_eq!(names(&sls), "base:b base:c");
}

#[test]
fn a_test_of_targets_in_the_tree_is_refused() {
    let files = MemoryFiles::new()
        .file("base", "top.sls", "base: {'*': [a]}")
        .file(
            "base",
            "_matchers/confirm_top.py",
            "def confirm_top(match, data, nodegroups=None): pass",
        );
    let engine = Engine::new(files);
    let minion = Minion::new("m").complete();
    let top = Gatherer::new(&engine, TopOptions::default())
        .gather(&minion)
        .top;
    let error = top.unwrap().unwrap_err().to_string();
    assert!(
        error.contains("salt://_matchers/confirm_top.py replaces Salt's test of targets"),
        "{error}"
    );
}

#[test]
fn master_tops_give_sls_beside_top_files() {
    let files = |text: &str| {
        MemoryFiles::new()
            .file("base", "top.sls", "base: {'*': [web, own.m]}")
            .file("base", "_tops/own.py", text)
    };
    let own = "def top(**kwargs):\n    return {'base': ['own.' + kwargs['opts']['id'], __opts__['master_tops']['own']['more']]}\n";
    let options = "{id: m, master_tops: {own: {more: also}}}";
    let (sls, warnings) = given(files(own), options);
    assert_eq!(names(&sls), "base:web base:own.m base:also");
    assert_eq!(warnings, Vec::<String>::new());
    let first = "{id: m, master_tops_first: true, master_tops: {own: {more: also}}}";
    let (sls, _) = given(files(own), first);
    assert_eq!(names(&sls), "base:own.m base:also base:web");
    let (sls, warnings) = given(files("def top(**kwargs):\n    return 1 / 0\n"), options);
    assert_eq!(names(&sls), "base:web base:own.m");
    assert!(
        warnings[0].starts_with("the sls of the master top 'own' are missing: ZeroDivisionError"),
        "{warnings:?}"
    );
    let (_, warnings) = given(files(own), "{id: m, master_tops: {ext_nodes: /bin/true}}");
    assert_eq!(
        warnings,
        ["the sls of the master top 'ext_nodes' are missing: it is not built in"]
    );
}

#[test]
fn inventories_of_classes_give_sls() {
    let files = MemoryFiles::new().file("base", "top.sls", "base: {'*': [web]}");
    let directory = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        "nodes/m.yml",
        "environment: base\nclasses: [app]\nstates: [node]\napplications: [node]\n",
    );
    write(
        "classes/app.yml",
        "states: [app.install, app.{{ minion_id }}]\napplications: [app]\n",
    );
    let at = directory.path().display();
    let (sls, warnings) = given(
        files.clone(),
        &format!("{{id: m, master_tops: {{saltclass: {{path: {at}}}}}}}"),
    );
    assert_eq!(
        (names(&sls), warnings),
        (
            "base:web base:app.install base:app.m base:node".into(),
            vec![]
        )
    );
    // Without a master, such minions get them since Salt 3007.
    let options = format!("{{file_client: local, master_tops: {{saltclass: {{path: {at}}}}}}}");
    let options = yaml::load(&options).unwrap();
    for (version, count) in [(SaltVersion::V3006, 1), (SaltVersion::V3007, 4)] {
        let engine = Engine::new(files.clone()).with_salt_version(version);
        let gatherer = Gatherer::new(&engine, TopOptions::of(options.as_map().unwrap()));
        let top = gatherer.gather(&Minion::new("m").complete()).top.unwrap();
        assert_eq!(top.unwrap().entries["base"].len(), count, "{version}");
    }
    std::fs::write(
        directory.path().join("classes/app.yml"),
        "applications: [app]\n",
    )
    .unwrap();
    let options = format!("{{id: m, master_tops: {{reclass: {{inventory_base_uri: {at}}}}}}}");
    let (sls, warnings) = given(files, &options);
    assert_eq!(
        (names(&sls), warnings),
        ("base:web base:app base:node".into(), vec![])
    );
}

/// Salt says nothing of such sections but in its log of debugging.
#[test]
fn sections_that_the_strategy_ignores_are_warned_of() {
    let files = || {
        MemoryFiles::new()
            .file("base", "top.sls", "base: {'*': [a]}\nqa: {'*': [a]}\n")
            .file("dev", "top.sls", "base: {'*': [b]}\ndev: {'*': [b]}\n")
            .file("qa", "top.sls", "qa: {'*': [c]}\n")
    };
    let merged = [
        "the section 'base' of the top file of 'dev' is ignored: only the top file of 'base' has targets of other saltenvs",
        "the section 'qa' of the top file of 'qa' is ignored: that of 'base' has one, which counts",
    ];
    let same = [
        "the section 'qa' of the top file of 'base' is ignored: top_file_merging_strategy is 'same'",
        "the section 'base' of the top file of 'dev' is ignored: top_file_merging_strategy is 'same'",
    ];
    let roots = "file_roots: {base: [], dev: [], qa: []}";
    for (strategy, sls, warned) in [
        ("merge", "base:a qa:a dev:b", &merged[..]),
        ("same, default_top: base", "base:a dev:b qa:c", &same),
        ("merge_all", "base:a base:b qa:a qa:c dev:b", &[]),
    ] {
        let options = format!("{{{roots}, top_file_merging_strategy: {strategy}}}");
        let (given, warnings) = given(files(), &options);
        assert_eq!(
            (&*names(&given), &warnings[..]),
            (
                sls,
                &warned.iter().map(ToString::to_string).collect::<Vec<_>>()[..]
            )
        );
    }
    // One top file that all saltenvs share has sections for all.
    let text = "base: {'*': [a]}\ndev: {'*': [b]}\n";
    let shared = MemoryFiles::new()
        .file("base", "top.sls", text)
        .file("dev", "top.sls", text);
    assert_eq!(given(shared, "{}").1, Vec::<String>::new());
}

#[test]
fn warnings_of_matchers_have_the_places_of_their_targets() {
    let text = "base:\n  web: [{match: nodegroup}, a]\n  it's: [{match: nodegroup}, b]\n";
    let engine = Engine::new(MemoryFiles::new().file("base", "top.sls", text));
    let opts = json::loads(r#"{"nodegroups": {"web": [1], "it's": [1]}}"#).unwrap();
    let minion = Minion::new("m").with(Part::Opts, opts.as_map().unwrap().clone());
    let gathered = Gatherer::new(&engine, TopOptions::default()).gather(&minion.complete());
    let warnings = gathered.top.unwrap().unwrap().warnings.into_iter();
    let placed = warnings.filter_map(|one| Some((one.place?.line(), one.message)));
    let expected = [
        (2, "the nodegroup 'web' is not a target".to_owned()),
        (3, "the nodegroup 'it's' is not a target".to_owned()),
    ];
    assert_eq!(placed.collect::<Vec<_>>(), expected);
}
