//! The examples give what their expected files say, which is what Salt's `map.data` and its
//! templates give.

use crate::common::{assert_file, assert_snapshot, repository, run};

const INPUT: [&str; 5] = [
    "users",
    "--root",
    "examples/site",
    "--root",
    "examples/formulas",
];

/// The output of a verb for the formula `users` on an example minion, which has no messages.
fn printed(verb: &str, minion: &str, more: &[&str]) -> String {
    let minion = format!("--minion=examples/minions/{minion}.yaml");
    let args: Vec<&str> = [verb]
        .into_iter()
        .chain(INPUT)
        .chain([&*minion])
        .chain(more.iter().copied())
        .collect();
    let ran = run(&repository(), &args);
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{args:?}");
    ran.stdout
}

#[test]
fn every_minion_has_what_its_expected_file_says() {
    for minion in ["web1", "db1", "bsd1"] {
        let file = repository().join(format!("examples/expected/{minion}.yaml"));
        assert_file(&file, &printed("data", minion, &[]));
    }
    for minion in ["web1", "bsd1"] {
        let file = repository().join(format!("examples/expected/{minion}.json"));
        assert_file(&file, &printed("data", minion, &["-o", "json"]));
    }
}

#[test]
fn a_map_jinja_gives_what_its_expected_file_says() {
    for minion in ["web1", "db1", "bsd1"] {
        let minion_file = format!("--minion=examples/minions/{minion}.yaml");
        let map = ["map", "timesync", "--root=examples/formulas", &minion_file];
        let ran = run(&repository(), &[&map[..], &["-o", "json"]].concat());
        assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{minion}");
        assert_file(
            &repository().join(format!("examples/expected/timesync-{minion}.json")),
            &ran.stdout,
        );
    }
}

#[test]
fn every_example_minion_is_tested() {
    let minions = std::fs::read_dir(repository().join("examples/minions")).unwrap();
    let mut names: Vec<String> = minions
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["bsd1.yaml", "db1.yaml", "web1.yaml"]);
}

#[test]
fn sources_lists_every_path_in_order() {
    for minion in ["web1", "db1", "bsd1"] {
        assert_snapshot(
            &format!("sources/{minion}.txt"),
            &printed("sources", minion, &[]),
        );
    }
    assert_snapshot(
        "sources/bsd1.json",
        &printed("sources", "bsd1", &["-o", "json"]),
    );
}

#[test]
fn tofs_lists_candidates_best_first() {
    assert_snapshot("tofs/web1.txt", &printed("tofs", "web1", &["etc/motd"]));
    assert_snapshot(
        "tofs/web1-two-files.txt",
        &printed("tofs", "web1", &["etc/motd.jinja", "etc/motd"]),
    );
    assert_snapshot(
        "tofs/bsd1.json",
        &printed("tofs", "bsd1", &["etc/motd", "-o", "json"]),
    );
    let flags = [
        "etc/motd",
        "--path-prefix=elsewhere",
        "--files-dir=f",
        "--default-dir=d",
        "--include-query=false",
    ];
    assert_snapshot("tofs/bsd1-flags.txt", &printed("tofs", "bsd1", &flags));
}

#[test]
fn every_tofs_file_of_the_examples_is_a_candidate_for_some_minion() {
    let all: String = ["web1", "bsd1"]
        .map(|m| printed("tofs", m, &["etc/motd"]))
        .concat();
    for file in ["roles/web", "os_family/FreeBSD", "default"] {
        let path = format!("users/files/{file}/etc/motd");
        assert!(
            repository().join("examples/formulas").join(&path).is_file(),
            "{path}"
        );
        assert!(all.contains(&format!("salt://{path}")), "{path} in {all}");
    }
}

#[test]
fn stack_merges_the_sources_it_is_given() {
    let sources = [
        "defaults.yaml",
        "Y!G@os_family",
        "C@users",
        "--get",
        "accounts",
    ];
    assert_snapshot(
        "stack/web1-accounts.txt",
        &printed("stack", "web1", &sources),
    );
    let sources = [
        "defaults.yaml",
        "C:SUB@users",
        "--get",
        "users:packages",
        "-o",
        "json",
    ];
    assert_snapshot("stack/db1-sub.json", &printed("stack", "db1", &sources));
}

#[test]
fn a_fact_can_be_changed_and_one_key_be_shown() {
    let get = |more: &[&str]| printed("data", "web1", more);
    assert_eq!(get(&["--get", "sudo:group"]), "sudo\n");
    assert_eq!(
        get(&["--set", "grains.os_family=RedHat", "--get", "sudo:group"]),
        "wheel\n"
    );
    assert_eq!(get(&["--get", "login:max_tries"]), "5\n");
    assert_eq!(
        get(&[
            "--id",
            "other",
            "--set",
            "grains.id=other",
            "--get",
            "login:max_tries"
        ]),
        "3\n"
    );
}

#[test]
fn parse_says_how_a_definition_is_understood() {
    let definitions = [
        ("chain", "Y!G@os_family|C@roles"),
        ("bare-path", "defaults.yaml"),
        ("bare-query", "roles"),
        ("sub", "C:SUB@users:lookup"),
        ("delimiter", "Y!I::!@a!b"),
        ("legacy", "Y:G@os"),
        ("static", "Y!P@a|G@os"),
    ];
    for (name, definition) in definitions {
        for (extension, format) in [("txt", "text"), ("json", "json")] {
            let ran = run(&repository(), &["parse", definition, "-o", format]);
            assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{definition}");
            assert_snapshot(&format!("parse/{name}.{extension}"), &ran.stdout);
        }
    }
    let ran = run(&repository(), &["parse", "--path", "G@selinux:enabled"]);
    assert_eq!(ran.status, Some(0));
    assert_snapshot("parse/path.txt", &ran.stdout);
}
