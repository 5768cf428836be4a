//! `mapstack pillar`: what it prints, where it puts the blame, and Salt's `cmd_json` and `cmd_yaml` beside it.

use crate::common::{Tree, assert_file, command, repository, run};
use mapstack::value::{Value, json};
use mapstack::yaml;

const MASTER: &str = "--config=examples/pillars/master.yaml";
const TREE: &str = "--config=examples/pillars/tree/master.yaml";

fn printed(args: &[&str]) -> String {
    let ran = run(&repository(), &[&["pillar"], args].concat());
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{args:?}");
    ran.stdout
}

#[test]
fn the_examples_have_what_their_expected_files_say() {
    let expected = |name: &str| repository().join("examples/expected").join(name);
    for minion in ["web1", "db1"] {
        let id = format!("--id={minion}.example.org");
        let minions = ["--minions=examples/pillars/minions", &id];
        let given = [&[MASTER][..], &minions].concat();
        assert_file(
            &expected(&format!("pillar-{minion}.yaml")),
            &printed(&given),
        );
        assert_file(
            &expected(&format!("pillar-{minion}-merged.yaml")),
            &printed(&[&given[..], &["--merged"]].concat()),
        );
        let given = [
            &["--makostack=examples/pillars/makostack/stack.cfg"][..],
            &minions,
        ]
        .concat();
        assert_file(
            &expected(&format!("pillar-makostack-{minion}.yaml")),
            &printed(&given),
        );
    }
    let given = ["--stack=examples/pillars/strategies/stack.cfg", "--id=any"];
    assert_file(&expected("pillar-strategies.yaml"), &printed(&given));
    let minion = ["--platform=debian-12", "--id=web1"];
    let whole = printed(&[&[TREE][..], &minion].concat());
    assert_file(&expected("pillar-tree-web1.yaml"), &whole);
    let trace = printed(&[&[TREE, "--trace"][..], &minion].concat());
    assert_file(&expected("pillar-tree-web1-trace.txt"), &trace);
    assert_documented();
}

/// The examples in PillarStack's and MakoStack's documents, with the answers of their modules.
fn assert_documented() {
    let documented = repository().join("examples/pillars/documented");
    let mut masters: Vec<_> = documented
        .join("masters")
        .read_dir()
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    masters.sort();
    assert!(!masters.is_empty());
    for master in &masters {
        for id in ["test-1-dev", "test-2-dev"] {
            let config = format!("--config=examples/pillars/documented/masters/{master}");
            let id = format!("--id={id}");
            let given = [
                &*config,
                "--minions=examples/pillars/documented/minions",
                &id,
            ];
            let expected = format!(
                "examples/expected/documented/{}-{}.yaml",
                master.trim_end_matches(".yaml"),
                &id[5..]
            );
            assert_file(&repository().join(expected), &printed(&given));
        }
    }
}

/// Salt's results for the command as its external pillars `cmd_json` and `cmd_yaml`, whatever goes wrong.
#[test]
fn a_master_gets_the_pillar_or_its_errors() {
    let records = json::loads(include_str!("data/master_commands.json")).unwrap();
    let records = records.as_list().unwrap();
    assert!(!records.is_empty());
    for record in records {
        let record = record.as_map().unwrap();
        let text = |name: &str| record.get(name).unwrap().to_string();
        let files = record
            .get("files")
            .and_then(Value::as_map)
            .cloned()
            .unwrap_or_default();
        let files: Vec<(String, String)> = files
            .iter()
            .map(|(path, text)| (path.to_string(), text.to_string()))
            .collect();
        // Only Unix can have a name for such a file.
        if cfg!(windows) && files.iter().any(|(path, _)| path.contains('*')) {
            continue;
        }
        let tree = Tree::new(
            &files
                .iter()
                .map(|(path, text)| (&**path, &**text))
                .collect::<Vec<_>>(),
        );
        let (repository_path, tree_path) = (
            repository().display().to_string(),
            tree.path().display().to_string(),
        );
        let line = text("command")
            .replace("<REPO>", &repository_path)
            .replace("<TREE>", &tree_path);
        let args = words(&line.replace("%s", &text("minion_id")));
        let ran = run(&repository(), &args[1..]);
        let name = format!("{} {}", text("by"), text("name"));
        assert_eq!(ran.stderr, "", "{name}");
        assert_eq!(
            ran.status,
            Some(if text("name") == "usage" { 2 } else { 0 }),
            "{name}"
        );
        let external = match &*text("by") {
            // It reads both streams as one.
            "cmd_json" => json::loads(&format!("{}{}", ran.stdout, ran.stderr)).unwrap(),
            _ => yaml::load(&ran.stdout).unwrap(),
        };
        // The given pillar has no key that a stack changes.
        let mut merged = record.get("pillar").unwrap().as_map().unwrap().clone();
        merged.extend(
            external
                .as_map()
                .unwrap()
                .iter()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        assert_eq!(
            Value::from(merged).repr().replace(&tree_path, "<TREE>"),
            text("result"),
            "{name}"
        );
    }
}

/// The words of a command line, split as a shell does as long as single quotes are its only quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words
}

/// Both streams are one for `cmd_json`: whatever goes wrong, they are a pillar that says so.
#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one row for each thing that goes wrong"
)]
fn going_on_gives_one_document_whatever_goes_wrong() {
    let files: &[(&str, &[u8])] = &[
        ("m/w.yaml", b"id: w\n"),
        ("m/broken.yaml", b"a: [\n"),
        ("m/other.yaml", b"id: x\n"),
        ("twice/a.yaml", b"id: a\n"),
        ("twice/a.json", b"{}\n"),
        ("m/latin.yaml", b"grains: {a: \xe4}\n"),
        ("ok.cfg", b"ok.yml\r\n"),
        ("ok.yml", b"a: 1\r\n"),
        ("latin.cfg", b"latin.yml\n"),
        ("latin.yml", b"a: \xe4\n"),
        ("dir.cfg", b"d.yml\n"),
        ("d.yml/", b""),
        ("self.cfg", b"self.yml\n"),
        (
            "self.yml",
            b"{% macro m() %}{{ m() }}{% endmacro %}a: {{ m() }}\n",
        ),
        ("strategy.cfg", b"strategy.yml\n"),
        ("strategy.yml", b"__: merge-frist\na: 1\n"),
        ("no-list", b"ext_pillar: {stack: ok.cfg}\n"),
        ("no-yaml", b"ext_pillar: [\n"),
        ("others", b"ext_pillar: [{svn: x}, {stack: ok.cfg}]\n"),
        ("nothing", b"x: 1\n"),
    ];
    let tree = Tree::new(files);
    let mut forms = ["json", "yaml"].into_iter().cycle();
    let mut assert = |args: &[&str], says: &str| {
        assert_document(&tree, forms.next().unwrap_or_default(), args, says);
    };
    for (args, says) in [
        (&["--stack=ok.cfg"][..], ""),
        (&["--stack=none.cfg"], "_warnings none.cfg is not a file"),
        (
            &["--stack=none/none.cfg"],
            "_warnings none/none.cfg is not a file",
        ),
        (&["--stack=latin.cfg"], "_errors latin.yml:1:4"),
        (&["--stack=dir.cfg"], "_errors d.yml is not a regular file"),
        (
            &["--stack=self.cfg"],
            "_errors Failed to load ext_pillar stack: self.yml:1",
        ),
        (
            &["--stack=strategy.cfg"],
            "_errors did you mean 'merge-first'?",
        ),
        (
            &["--stack=none.cfg", "--strict"],
            "_errors none.cfg is not a file",
        ),
        (
            &["--config=none"],
            "_errors the configuration file none does not exist",
        ),
        (
            &["--config=no-list"],
            "_errors no-list:1:13: `ext_pillar` must be a list",
        ),
        (&["--config=no-yaml"], "_errors no-yaml:1:13"),
        (
            &["--config=nothing"],
            "_errors nothing sets neither pillar_roots nor ext_pillar",
        ),
        (
            &["--config=others"],
            "_warnings the external pillar 'svn' is left out",
        ),
        (
            &["--stack=ok.cfg", "--root=none"],
            "_warnings the root none is not a directory",
        ),
        (
            &["--stack=ok.cfg", "--stub=none.yaml"],
            "_errors cannot read none.yaml",
        ),
        (&["--stack=ok.cfg", "--allow=bogus"], "_errors --allow: "),
        (&["--stack=ok.cfg", "--set=x"], "_errors --set x: "),
        (
            &[],
            "_errors no pillar given: pass --config MASTER, whose pillar_roots",
        ),
        (
            &["--stack=ok.cfg", "--get=a"],
            "_errors cannot be used with '--get",
        ),
        (
            &["--stack=ok.cfg", "--id=v"],
            "_errors cannot be used multiple times",
        ),
        (&["--stak=ok.cfg"], "_errors unexpected argument '--stak'"),
    ] {
        assert(&[&["--minions=m", "--id=w"], args].concat(), says);
    }
    for (args, says) in [
        (
            &["--minions=m", "--id=broken"][..],
            "_errors m/broken.yaml:1:4",
        ),
        (&["--minions=m", "--id=latin"], "_errors m/latin.yaml"),
        (
            &["--minions=m", "--id=other"],
            "_errors is named after 'other' and has the id 'x'",
        ),
        (
            &["--minions=m", "--id=nope"],
            "_errors no facts of 'nope' in m",
        ),
        (
            &["--minions=m", "--id=*"],
            "_errors no facts of '*' in m; an id is not a pattern",
        ),
        (
            &["--minions=m", "--id=[w]"],
            "_errors no facts of '[w]' in m; an id is not a pattern",
        ),
        (
            &["--minions=m", "--id="],
            "_errors '' is not a valid minion id",
        ),
        (
            &["--minions=m", "--id=.."],
            "_errors '..' is not a valid minion id",
        ),
        (
            &["--minions=m", "--id=../w"],
            "_errors '../w' is not a valid minion id",
        ),
        (
            &["--minions=m", "--id=a\\b"],
            "_errors 'a\\b' is not a valid minion id",
        ),
        (
            &["--minions=m", "--id", "--merged"],
            "_errors a value is required for '--id",
        ),
        (
            &["--minions=m", "--id=w", "--minion-glob=*"],
            "_errors cannot be used with '--minion-glob",
        ),
        (
            &["--minions=m", "--minion-glob=z*"],
            "_errors no minion matches 'z*' in m; there are",
        ),
        (&["--minions=none", "--id=w"], "_errors none"),
        (
            &["--minions=twice", "--id=a"],
            "_errors is for the same minion as twice/a.json",
        ),
        (&["--minion=none", "--id=w"], "_errors cannot read none"),
        (&[], "_errors no minion given"),
    ] {
        assert(&[&["--stack=ok.cfg"], args].concat(), says);
    }
    #[cfg(unix)]
    assert_document_without_unicode();
}

/// Print a pillar in a form, whatever happens, and look for a message in one of its lists.
fn assert_document(tree: &Tree, form: &str, args: &[&str], says: &str) {
    let (list, message) = says.split_once(' ').unwrap_or_default();
    let going_on = ["pillar", "--keep-going", "-o", form];
    let ran = run(tree.path(), &[&going_on, args].concat());
    let both = ran.stdout + &ran.stderr;
    let document = match form {
        "json" => json::loads(&both).map_err(|e| e.to_string()),
        _ => yaml::load(&both).map_err(|e| e.to_string()),
    };
    let document = document.unwrap_or_else(|e| panic!("{args:?}: {e} in {both}"));
    let pillar = document.as_map();
    let pillar = pillar.unwrap_or_else(|| panic!("{args:?}: {both}"));
    let messages = pillar.get(list).and_then(Value::as_list);
    let mut messages = messages.into_iter().flatten().map(ToString::to_string);
    let is_said = list.is_empty() || messages.any(|one| one.contains(message));
    assert!(is_said, "{args:?}: {both}");
    for key in ["_errors", "_warnings"] {
        assert_eq!(pillar.contains_key(key), list == key, "{args:?}: {both}");
    }
}

#[cfg(unix)]
fn assert_document_without_unicode() {
    use std::os::unix::ffi::OsStrExt as _;

    let id = std::ffi::OsStr::from_bytes(b"--id=\xff");
    let ran = command(&repository())
        .args(["pillar", "--keep-going"])
        .arg(id)
        .output()
        .unwrap();
    assert_eq!((ran.status.code(), &*ran.stderr), (Some(2), &b""[..]));
    let pillar = json::loads(&String::from_utf8(ran.stdout).unwrap()).unwrap();
    assert!(
        pillar
            .repr()
            .starts_with("{'_errors': [\"mapstack pillar: --id is not UTF-8"),
        "{}",
        pillar.repr()
    );
}

/// The output for one minion is its part of the output for many.
#[test]
fn going_on_gives_each_of_many_its_own_errors() {
    let tree = Tree::new(&[
        ("m/a.yaml", "grains: {os: x}\n"),
        ("m/b.yaml", "grains: [\n"),
        ("m/c.yaml", "grains: {os: y}\n"),
        ("s.cfg", "{{ __grains__.os }}.yml"),
        ("x.yml", "a: 1\n"),
        ("y.yml", "80: !!binary aGk=\n"),
        (
            "master",
            "ext_pillar: [{stack: s.cfg}]\nno_such_option_of_gitfs: 1\ninclude: none.conf\n",
        ),
    ]);
    let of = |more: &[&str]| {
        let args = [
            &[
                "pillar",
                "--config=master",
                "--minions=m",
                "--keep-going",
                "-o",
                "json",
            ],
            more,
        ]
        .concat();
        let ran = run(tree.path(), &args);
        assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
        json::loads(&ran.stdout).unwrap()
    };
    let all = of(&[]);
    let ids: Vec<String> = all
        .as_map()
        .unwrap()
        .keys()
        .map(ToString::to_string)
        .collect();
    assert_eq!(ids, ["a", "b", "c"]);
    for id in &ids {
        let one = of(&[&format!("--id={id}")]);
        let among = all.as_map().unwrap().get(&**id).unwrap();
        assert_eq!(
            one.repr(),
            among.repr().replace(&format!("for the minion {id}"), ""),
            "{id}"
        );
    }
    assert!(
        all.repr().contains("which JSON cannot express"),
        "{}",
        all.repr()
    );
}
