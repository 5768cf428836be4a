//! `mapstack pillar`: what it prints, where it puts the blame, and Salt's `cmd_json` and `cmd_yaml` beside it.

use crate::common::{
    Tree, assert_file, assert_line, assert_snapshot, command, repository, run, run_line,
};
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

#[test]
fn many_minions_come_by_their_ids_and_traces_list_their_files() {
    let all = [
        "--stack=examples/pillars/stack/stack.cfg",
        "--minions=examples/pillars/minions",
    ];
    let one = [
        MASTER,
        "--minions=examples/pillars/minions",
        "--id=db1.example.org",
        "--trace",
    ];
    for (name, given, more) in [
        (
            "all.json",
            &all[..],
            &["--get=web1.example.org", "-o", "json"][..],
        ),
        ("all-trace.txt", &all, &["--trace"]),
        ("trace.txt", &one, &[]),
        ("trace.json", &one, &["-o", "json"]),
    ] {
        let shown = printed(&[given, more].concat());
        assert_snapshot(&format!("pillar/{name}"), &shown);
    }
    let tree = Tree::new(&[
        MINION,
        ("s.cfg", "a.yml\nmiss.yml\nl.yml\ne.yml\nbad.yml\nb.yml"),
        ("a.yml", "__: overwrite\na: 1"),
        ("l.yml", "[1]"),
        ("e.yml", ""),
        ("bad.yml", "a: b: c"),
        ("b.yml", "b: 1"),
    ]);
    let line = "pillar --minion=m.yaml --stack=s.cfg --trace";
    let ran = run_line(tree.path(), line);
    assert_eq!(ran.status, Some(1));
    assert_snapshot("pillar/trace-to-an-error.txt", &ran.stdout);
    // For a program, the output is a pillar; for a person, it is the trace, and its messages are elsewhere.
    let line = format!("{line} --keep-going");
    let (out, err) = ("failed       bad.yml", "error: the value of `a` has a `: `");
    assert_line(tree.path(), &line, 0, out, err);
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

const MINION: (&str, &str) = (
    "m.yaml",
    "id: web1\ngrains: {os: Debian, roles: [a]}\npillar: {p: 1}\n",
);

#[test]
fn flags_give_stacks_in_order_and_directories_that_they_may_read() {
    let tree = Tree::new(&[
        MINION,
        ("1.cfg", "1.yml"),
        ("2.cfg", "2.yml"),
        ("3.cfg", "3.yml"),
        ("1.yml", "l: [1]"),
        ("2.yml", "l: [2]"),
        ("3.yml", "l: [3]"),
        ("k.cfg", "k.yml"),
        ("k.yml", "p: {80: x}\nb: !!binary aGk=\n"),
        ("shared/x.yml", "x: 1\n"),
    ]);
    // Neighbours of a kind are one stack; lists of another stack replace.
    for (stacks, list) in [
        ("--stack=1.cfg --stack=2.cfg", "[1,2]"),
        ("--stack=2.cfg --stack=1.cfg --makostack=3.cfg", "[3]"),
        ("--makostack=3.cfg --stack=1.cfg", "[1]"),
        ("--makostack=3.cfg --makostack=1.cfg:m", "[3]"),
    ] {
        let line = format!("pillar --minion=m.yaml {stacks} --get=l -o json");
        let ran = run_line(tree.path(), &line);
        assert_eq!(ran.stdout.replace(['\n', ' '], ""), list, "{line}");
    }
    let line = "pillar --minion=m.yaml --stack=nope.cfg --stack=k.cfg -o json";
    let ran = run_line(tree.path(), line);
    assert_eq!(ran.status, Some(0));
    let shown = format!("{}---\n{}", ran.stdout, ran.stderr);
    assert_snapshot("pillar/warnings.txt", &shown);
    let strict = run_line(tree.path(), &format!("{line} --strict"));
    assert_eq!((strict.status, &*strict.stdout), (Some(1), ""));
    let says = "error: nope.cfg";
    assert!(strict.stderr.starts_with(says), "{}", strict.stderr);
    let path = tree.path().join("shared/x.yml").display().to_string();
    tree.write("c/m.cfg", path.as_bytes());
    let line = "pillar --minion=m.yaml --makostack=c/m.cfg";
    assert_line(tree.path(), line, 1, "", "allow another with --stack-root");
    let allowed = run_line(tree.path(), &format!("{line} --stack-root=shared"));
    assert_eq!((&*allowed.stdout, &*allowed.stderr), ("x: 1\n", ""));
}

#[test]
fn wrong_usage_is_status_2() {
    let files: &[(&str, &str)] = &[
        ("s.cfg", "b.yml"),
        ("b.yml", "b: 1"),
        ("master", "x: 1"),
        ("ms/a.yaml", "{}"),
    ];
    for (args, says) in [
        (&["--minion=m.yaml"][..], "--stack CFG"),
        (
            &["--minion=m.yaml", "--config=master"],
            "sets neither pillar_roots nor ext_pillar",
        ),
        (&["--stack=s.cfg"], "no minion given"),
        (
            &["--stack=s.cfg", "--minions=ms", "--id=../m"],
            "is not a valid minion id",
        ),
        (
            &["--stack=s.cfg", "--minions=-", "--pillar=-"],
            "standard input",
        ),
        (
            &["--stack=s.cfg", "--minions=ms", "--minion=m.yaml"],
            "cannot be used with",
        ),
        (
            &["--stack=s.cfg", "--minion=m.yaml", "--trace", "--merged"],
            "cannot be used with",
        ),
    ] {
        let tree = Tree::new(&[&[MINION], files].concat());
        let ran = run(tree.path(), &[&["pillar"], args].concat());
        assert_eq!(
            (ran.status, &*ran.stdout),
            (Some(2), ""),
            "{args:?}: {}",
            ran.stderr
        );
        assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
    }
}

/// A master whose pillar has an error, and a formula that reads the pillar.
fn broken_tree(web: &str) -> Tree {
    Tree::new(&[
        (
            "master",
            "pillar_roots: {base: [pillar]}\nfile_roots: {base: [salt]}\n",
        ),
        (
            "pillar/top.sls",
            "base:\n  'web*': [web]\n  '*': [common]\n",
        ),
        ("pillar/common.sls", "f: {a: 1}\n"),
        ("pillar/web.sls", web),
        ("salt/f/parameters/defaults.yaml", "values: {a: 0, b: 0}\n"),
    ])
}

#[test]
fn a_pillar_has_its_errors_which_are_the_exit_status() {
    let tree = broken_tree("f:\n  b: {{ grains.nosuch }}\n");
    let minion = ["--config=master", "--platform=debian-12", "--id=web1"];
    let given = [&["pillar"][..], &minion].concat();
    let ran = run(tree.path(), &given);
    assert_eq!(ran.status, Some(1));
    assert!(ran.stdout.contains("f:\n  a: 1\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("_errors:"), "{}", ran.stdout);
    assert!(ran.stderr.contains("pillar/web.sls:2:9"), "{}", ran.stderr);
    let ran = run(tree.path(), &[&given[..], &["--keep-going"]].concat());
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
    assert!(
        ran.stdout.contains("Rendering SLS 'web' failed"),
        "{}",
        ran.stdout
    );
    let ran = run(tree.path(), &[&["data", "f"][..], &minion].concat());
    assert_eq!((ran.status, &*ran.stdout), (Some(1), ""));
    assert!(
        ran.stderr.contains("in the pillar of 'web1'"),
        "{}",
        ran.stderr
    );
    // A checkout needs no configuration. A stack that is named is compiled alone.
    let tree = broken_tree("f: {b: 2}\n");
    std::fs::remove_file(tree.path().join("master")).unwrap();
    tree.write(".mapstack.yaml", b"pillar_roots: pillar\n");
    tree.write("stack.cfg", b"one.yml\n");
    tree.write("one.yml", b"one: 1\n");
    for (flags, out) in [
        ("--get f:b", "2\n"),
        ("--trace", "web"),
        ("--stack stack.cfg", "one: 1\n"),
    ] {
        let line = format!("pillar --platform debian-12 --id web1 {flags}");
        let ran = run_line(tree.path(), &line);
        assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{line}");
        let is_said = ran.stdout == out || flags == "--trace" && ran.stdout.contains(out);
        assert!(is_said, "{line}: {}", ran.stdout);
    }
}

#[test]
fn every_verb_compiles_the_pillars_of_its_minions() {
    let tree = broken_tree("f: {b: '{{ grains.id }}'}\n");
    let data = |flags: &[&str]| {
        let given = [
            "data",
            "f",
            "--config=master",
            "--platform=debian-12",
            "--get=a",
        ];
        let ran = run(tree.path(), &[&given[..], flags].concat());
        assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{flags:?}");
        ran.stdout
    };
    assert_eq!(data(&["--id=db1"]), "1\n");
    // Flags win over what is compiled, and a pillar that is given replaces it.
    assert_eq!(data(&["--id=web1", "--set=pillar.f.a=2"]), "2\n");
    tree.write("own.yaml", b"f: {a: 3}\n");
    assert_eq!(data(&["--id=web1", "--pillar=own.yaml"]), "3\n");
    let given = [
        "fleet",
        "f",
        "--config=master",
        "--platform=debian-12",
        "--get=a",
    ];
    let ran = run(tree.path(), &given);
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
    assert!(ran.stdout.ends_with("\t1\n"), "{}", ran.stdout);
    // Warnings are counted, not shown: a text could have a secret of one minion.
    tree.write(
        "pillar/top.sls",
        b"include: [nowhere]\nbase: {'*': [common]}\n",
    );
    let ran = run(tree.path(), &given);
    assert_eq!(
        (ran.status, &*ran.stdout),
        (Some(0), "minion\tf:a\ndebian-12\t1\n")
    );
    let counted = "1 warning about the pillars of the minions";
    assert!(ran.stderr.contains(counted), "{}", ran.stderr);
    let ran = run(tree.path(), &[&given[..], &["--strict"]].concat());
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
}
