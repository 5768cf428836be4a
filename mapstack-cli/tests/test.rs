//! `mapstack test`.

use std::fs;

use crate::common;
use crate::common::{Tree, assert_line, assert_snapshot, repository, run, run_line};

const DEFAULTS: &str =
    "values:\n  port: 22\n  shell: /bin/sh\n  admins: [root, toor]\n  api_token: hunter2-is-here\n";
const DEBIAN: &str = "values:\n  shell: /bin/bash\n";

/// A formula whose layers are its configuration, and one with a `map.jinja`.
fn formulas() -> Tree {
    Tree::new(&[
        ("salt/ssh/parameters/defaults.yaml", DEFAULTS),
        ("salt/ssh/parameters/os_family/Debian.yaml", DEBIAN),
        (
            "salt/ntp/map.jinja",
            "{% set ntp = {'family': grains.os_family, 'zone': salt['pillar.get']('zone', 'UTC')} %}\n",
        ),
        (
            "salt/ntp/init.sls",
            "{% from 'ntp/map.jinja' import ntp with context %}\n",
        ),
    ])
}

fn read(tree: &Tree, path: &str) -> String {
    fs::read_to_string(tree.path().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The file that says for Debian what comes out, with something else in place of a text.
fn with_expectation(tree: &Tree, name: &str, from: &str, to: &str) {
    let ran = run_line(tree.path(), "data ssh --root salt --platform debian-12");
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
    assert!(ran.stdout.contains(from), "{from} is not in {}", ran.stdout);
    tree.write(
        &format!("tests/mapstack/ssh/{name}.yaml"),
        ran.stdout.replace(from, to).as_bytes(),
    );
}

/// One expectation for every way that a comparison can end.
fn everything() -> Tree {
    let tree = formulas();
    with_expectation(&tree, "debian-12", "", "");
    with_expectation(&tree, "ubuntu-24", "- toor", "- torr");
    with_expectation(
        &tree,
        "debian-11",
        "shell: /bin/bash",
        "shell: /bin/zsh\nbanner: 'Grüße — <&>'",
    );
    with_expectation(
        &tree,
        "debian-13",
        "api_token: hunter2-is-here",
        "api_token: swordfish-it-is",
    );
    with_expectation(&tree, "solaris-11", "", "");
    tree.write(
        "tests/mapstack/ssh/debian-10.yaml",
        b"port: 22\nshell: [/bin/sh\napi_token: hunter2\n",
    );
    tree.write(
        "salt/broken/parameters/defaults.yaml.jinja",
        b"values:\n  a: {{ nosuch.thing }}\n",
    );
    tree.write("tests/mapstack/broken/debian-12.yaml", b"a: 1\n");
    tree.write(
        "tests/mapstack/ntp/freebsd-14.yaml",
        b"family: FreeBSD\nzone: CET\n",
    );
    tree
}

#[test]
fn every_outcome_is_reported_in_every_format() {
    let tree = everything();
    for (file, flags) in [
        ("all.txt", ""),
        ("all.json", "--format json"),
        ("all.xml", "--format junit"),
        ("colored.txt", "--color always"),
        ("strict.txt", "--strict"),
    ] {
        let ran = run_line(
            tree.path(),
            &format!("test --root salt --digest-salt x {flags}"),
        );
        assert_eq!(ran.status, Some(1), "{}", ran.stderr);
        assert_snapshot(&format!("test/{file}"), &ran.stdout);
        for secret in ["hunter2", "swordfish"] {
            assert!(
                !ran.stdout.contains(secret) && !ran.stderr.contains(secret),
                "{file} prints a secret"
            );
        }
        if file == "all.txt" {
            assert_snapshot("test/errors.txt", &ran.stderr);
        }
    }
    let ran = run_line(
        tree.path(),
        "test ssh --root salt --platform debian-13 --show-secrets",
    );
    assert!(
        ran.stdout.contains("- swordfish-it-is") && ran.stdout.contains("+ hunter2-is-here"),
        "{}",
        ran.stdout
    );
}

#[test]
fn equal_failures_and_differences_are_reported_once() {
    let tree = formulas();
    tree.write("salt/ntp/map.jinja", b"{% set ntp = {'a': 1}\n");
    tree.write("salt/chrony/init.sls", b"chrony: {}\n");
    tree.write(
        "salt/chrony/map.jinja",
        b"{% from 'ntp/map.jinja' import ntp with context %}{% set chrony = ntp %}\n",
    );
    for name in ["debian-11", "debian-12", "freebsd-14"] {
        tree.write(&format!("tests/mapstack/ntp/{name}.yaml"), b"a: 1\n");
        with_expectation(&tree, name, "port: 22", "port: 2222");
    }
    tree.write("tests/mapstack/chrony/arch.yaml", b"a: 1\n");
    // One difference is the same on two platforms and from another file on the third; one is of a single platform.
    let line = "test --root salt --digest-salt x";
    let file = "tests/mapstack/ssh/debian-12.yaml";
    tree.write(
        file,
        read(&tree, file).replace("- toor", "- torr").as_bytes(),
    );
    let ran = run_line(tree.path(), line);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert_snapshot("test/folded.txt", &ran.stdout);
    assert_snapshot("test/folded-errors.txt", &ran.stderr);
    // Programs get each case.
    let ran = run_line(tree.path(), &format!("{line} --format junit"));
    assert_eq!(ran.stdout.matches("<testcase").count(), 7, "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("+ 22  ").count(), 3, "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("<error").count(), 4, "{}", ran.stdout);
}

#[test]
#[expect(clippy::too_many_lines, reason = "one row for each command line")]
fn the_exit_status_says_how_it_went() {
    let tree = everything();
    tree.write("elsewhere/ssh/solaris-11.yaml", b"port: 22\n");
    tree.write("gone/gone/arch.yaml", b"port: 22\n");
    tree.write("empty/", b"");
    for (line, status, said) in [
        (
            "test ssh --root salt --platform debian-12",
            0,
            "1 as expected\n",
        ),
        (
            "test ssh --root salt --platform debian-11",
            1,
            "0 as expected, 1 differs\n",
        ),
        ("test broken --root salt", 1, "0 as expected, 1 fails\n"),
        (
            "test ssh --root salt --platform debian-11 --ignore shell --ignore banner",
            0,
            "1 as expected\n",
        ),
        (
            "test ssh --root salt --platform debian-11 --get port",
            0,
            "1 as expected\n",
        ),
        (
            "test ssh --root salt --platform debian-11 --get shell",
            1,
            "0 as expected, 1 differs\n",
        ),
        (
            "test ssh --root salt --platform debian-11 --get prot",
            1,
            "did you mean 'port'?",
        ),
        (
            "test ssh --root salt --platform debian-12 --set grains.os_family=Suse",
            1,
            "1 differs\n",
        ),
        (
            "test ntp --root salt --set pillar.zone=CET",
            0,
            "1 as expected\n",
        ),
        (
            "test ntp --root salt --var nosuch",
            1,
            "sets no variable 'nosuch'",
        ),
        (
            "test ssh --root salt --expectations elsewhere",
            2,
            "1 skipped\n",
        ),
        (
            "test ssh --root salt --expectations elsewhere --strict",
            1,
            "unknown platform 'solaris-11'",
        ),
        (
            "test --root salt --expectations gone",
            1,
            "salt://gone/ has no files",
        ),
        (
            "test ssh --root salt --expectations nowhere",
            2,
            "the directory does not exist",
        ),
        (
            "test ssh --root salt --expectations empty",
            2,
            "nothing to test",
        ),
        ("test nosuch --root salt", 2, "nothing to test"),
        (
            "test ssh --root salt --platform freebsd-14",
            2,
            "nothing was compared",
        ),
        (
            "test ssh --root salt --update --platform debian-99",
            2,
            "did you mean",
        ),
        ("test ssh", 1, "states in salt"),
    ] {
        let ran = run_line(tree.path(), line);
        assert_eq!(
            ran.status,
            Some(status),
            "{line}: {}{}",
            ran.stdout,
            ran.stderr
        );
        assert!(
            format!("{}{}", ran.stdout, ran.stderr).contains(said),
            "{line}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

#[test]
fn update_records_what_differs_and_what_is_not_there() {
    let tree = formulas();
    let update = "test ssh ntp --root salt --update --platform debian-12 --platform freebsd-14 --set pillar.zone=CET";
    let ran = run_line(tree.path(), update);
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{}", ran.stdout);
    assert_snapshot("test/recorded.txt", &ran.stdout);
    // The root has no tests/mapstack beside it, so new files are below it; existing files stay where they are.
    let file = "salt/tests/mapstack/ntp/freebsd-14.yaml";
    assert_eq!(
        read(&tree, file),
        "set:\n  pillar.zone: CET\n---\nfamily: FreeBSD\nzone: CET\n"
    );
    let ran = run_line(tree.path(), "test --root salt");
    assert_eq!(
        (ran.status, &*ran.stdout),
        (Some(0), "4 as expected\n"),
        "{}",
        ran.stderr
    );

    // The text before the data stays.
    tree.write(
        file,
        b"# Central Europe\nset: {pillar.zone: CET}\n---\nfamily: FreeBSD\nzone: UTC\n",
    );
    tree.write(
        "salt/tests/mapstack/ssh/debian-12.yaml",
        b"# kept\r\n---\r\nport: 23\r\n",
    );
    let before = read(&tree, "salt/tests/mapstack/ssh/freebsd-14.yaml");
    let ran = run_line(tree.path(), "test --root salt --update");
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{}", ran.stdout);
    assert_snapshot("test/recorded-again.txt", &ran.stdout);
    assert_eq!(
        read(&tree, file),
        "# Central Europe\nset: {pillar.zone: CET}\n---\nfamily: FreeBSD\nzone: CET\n"
    );
    let windows = read(&tree, "salt/tests/mapstack/ssh/debian-12.yaml");
    assert!(
        windows.starts_with("# kept\r\n---\r\nport: 22\r\nshell: /bin/bash\r\n"),
        "{windows:?}"
    );
    assert!(
        !windows.replace("\r\n", "").contains(['\r', '\n']),
        "{windows:?}"
    );
    assert_eq!(
        read(&tree, "salt/tests/mapstack/ssh/freebsd-14.yaml"),
        before
    );
    assert_eq!(run_line(tree.path(), "test --root salt").status, Some(0));

    // A file that says nothing is not written over.
    tree.write(file, b"zone: [\n");
    let ran = run_line(tree.path(), "test ntp --root salt --update");
    assert_eq!(
        (ran.status, read(&tree, file)),
        (Some(1), "zone: [\n".into()),
        "{}",
        ran.stdout
    );
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one row for each header and command line"
)]
fn a_minion_is_named_by_the_file_or_by_its_first_document() {
    let tree = formulas();
    tree.write(
        "minions/web1.yaml",
        b"id: web1\ngrains: {os_family: Debian}\npillar: {zone: CET}\n",
    );
    tree.write(
        "db.yaml",
        b"id: db.example.org\ngrains: {os_family: RedHat}\npillar: {zone: GMT}\n",
    );
    // A minion's file is found again from the expectation; one of a directory is named by its id.
    let new = "test ntp --root salt --expectations tests/deep --update --minion db.yaml";
    assert_eq!(run_line(tree.path(), new).status, Some(0));
    let file = "tests/deep/ntp/db.example.org.yaml";
    assert_eq!(
        read(&tree, file),
        "minion: ../../../db.yaml\n---\nfamily: RedHat\nzone: GMT\n"
    );
    let new = "test ntp --root salt --expectations tests/deep --update --minions minions";
    assert_eq!(run_line(tree.path(), new).status, Some(0));
    assert_eq!(
        read(&tree, "tests/deep/ntp/web1.yaml"),
        "family: Debian\nzone: CET\n"
    );
    for (line, status, said) in [
        (
            "test --root salt --expectations tests/deep",
            0,
            "unknown platform 'web1'",
        ),
        (
            "test --root salt --expectations tests/deep --minions minions",
            0,
            "1 as expected\n",
        ),
        (
            "test --root salt --expectations tests/deep --minion db.yaml",
            0,
            "1 as expected\n",
        ),
        (
            "test --root salt --expectations tests/deep --minion db.yaml --set pillar.zone=X",
            1,
            "1 differs\n",
        ),
    ] {
        let ran = run_line(tree.path(), line);
        assert_eq!(
            ran.status,
            Some(status),
            "{line}: {}{}",
            ran.stdout,
            ran.stderr
        );
        assert!(ran.stdout.contains(said), "{line}: {}", ran.stdout);
    }
    for (header, said) in [
        (
            "platform: debian-12\nset: {pillar.zone: GMT}",
            "1 as expected",
        ),
        ("platform: debian-12\npillar: ../zone.json", "1 as expected"),
        (
            "platform: debian-12\npillar: ../nowhere.json",
            "nowhere.json",
        ),
        ("platform: debain-12", "did you mean debian-12?"),
        (
            "platfrom: debian-12",
            "x.yaml:1:1: the document before the data has no `platfrom`; did you mean `platform`?",
        ),
        (
            "minion: 3",
            "x.yaml:1:9: `minion` is an integer, not a text",
        ),
        (
            "of: map\nvariable: ntp\nset: {grains.os_family: Debian, pillar.zone: GMT}\nplatform: arch",
            "1 as expected",
        ),
        (
            "of: mapp",
            "x.yaml:1:5: `of` is mapp; it can be data or map",
        ),
        ("set: [1]", "x.yaml:1:6: `set` is not a mapping"),
        (
            "[1]",
            "x.yaml:1:1: the document before the data is a list, not a mapping",
        ),
        (
            "platform: debian-12\nset: {grain.os: x}",
            "did you mean `grains`?",
        ),
    ] {
        let files = [
            ("t/zone.json", r#"{"zone": "GMT"}"#.to_owned()),
            (
                "t/ntp/x.yaml",
                format!("{header}\n---\nfamily: Debian\nzone: GMT\n"),
            ),
        ];
        files
            .iter()
            .for_each(|(path, text)| tree.write(path, text.as_bytes()));
        let ran = run_line(tree.path(), "test ntp --root salt --expectations t");
        assert!(
            ran.stdout.contains(said),
            "{header}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

const KITCHEN: &str = "\
provisioner:
  name: salt_solo
  formula: ssh
  pillars_from_directories: [test/salt/pillar]
suites:
  - name: small
    includes: [debian-12-master]
    verifier: {inspec_tests: [{path: test/integration/default}]}
    provisioner:
      grains: {small: true}
      pillars: {top.sls: {base: {'*': [ssh]}}}
      pillars_from_files: {ssh.sls: pillar.example}
  - name: default
    excludes: [freebsd-14]
    driver: {hostname: example.net}
    verifier: {inspec_tests: [{path: test/integration/default}]}
";

/// A formula's repository as those of the Salt project are.
fn repository_of_formula() -> Tree {
    let state = "{% from tpldir.split('/')[0] ~ '/map.jinja' import mapdata with context %}\ndump:\n  file.managed:\n    - name: /tmp/x\n    - context:\n        map: {{ {'values': mapdata} | yaml }}\n";
    let mapdata = "test/integration/default/files/_mapdata";
    Tree::new(&[
        ("kitchen.yml", KITCHEN.to_owned()),
        ("pillar.example", "ssh: {port: 2222, motd: \"hello\\n\"}\n".into()),
        (
            "test/salt/pillar/top.sls",
            "base:\n  '*': [default]\n  'G@os_family:RedHat and not G@os:CentOS': [redhat.more]\n  'os:Arch':\n    - match: grain\n    - arch\n".into(),
        ),
        ("test/salt/pillar/default.sls", "ssh:\n  port: {{ 1000 + 22 }}\n  list: [{b: 1, a: 2}]\n".into()),
        ("test/salt/pillar/redhat/more.sls", "ssh: {more: redhat}\n".into()),
        ("test/salt/pillar/arch.sls", "ssh: {more: arch}\n".into()),
        ("ssh/_mapdata/init.sls", state.into()),
        (
            "ssh/map.jinja",
            "{% set mapdata = {'host': grains.host, 'small': grains.get('small', false)} %}{% do mapdata.update(salt['pillar.get']('ssh')) %}\n".into(),
        ),
        (&format!("{mapdata}/debian-12.yaml"), "# Debian-12\n---\nvalues:\n  host: minion\n  motd: 'hello\n\n  '\n  port: 2222\n  small: true\n".into()),
        (&format!("{mapdata}/rockylinux-9.yaml"), "---\nvalues:\n  host: example.net\n  list:\n  - a: 2\n    b: 1\n  more: redhat\n  port: 1022\n  small: false\n".into()),
        // The oldest files have no `values`.
        (&format!("{mapdata}/arch-base-latest.yaml"), "---\nhost: example.net\nlist: [{a: 2, b: 1}]\nmore: arch\nport: 1022\nsmall: false\n".into()),
        (&format!("{mapdata}/freebsd-14.yaml"), "---\nvalues: {port: 1}\n".into()),
        (&format!("{mapdata}/fedora-31.yaml"), "---\nvalues: {port: 1}\n".into()),
        (&format!("{mapdata}/debian-11.yaml"), "---\n".into()),
    ])
}

#[test]
fn files_of_platforms_are_compared_as_the_test_suites_run() {
    let tree = repository_of_formula();
    let ran = run_line(tree.path(), "test --root .");
    assert_snapshot("test/platforms.txt", &ran.stdout);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    let ran = run_line(
        tree.path(),
        "test ssh --root ssh/.. --platform arch --platform rockylinux-9",
    );
    assert_eq!(
        (ran.status, &*ran.stdout),
        (Some(0), "2 as expected\n"),
        "{}",
        ran.stderr
    );

    // Recording again keeps the form of the file.
    let file = "test/integration/default/files/_mapdata/rockylinux-9.yaml";
    tree.write(
        "test/salt/pillar/redhat/more.sls",
        b"ssh: {more: \"new\\n\"}\n",
    );
    let ran = run_line(
        tree.path(),
        "test --root . --update --platform rockylinux-9",
    );
    assert_eq!(ran.status, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(
        read(&tree, file),
        "---\nvalues:\n  host: example.net\n  list:\n  - a: 2\n    b: 1\n  more: 'new\n\n    '\n  port: 1022\n  small: false\n"
    );
    let new = "test ssh --root . --update --platform debian-13 --expectations test/integration/default/files/_mapdata";
    assert_eq!(run_line(tree.path(), new).status, Some(0));
    let file = "test/integration/default/files/_mapdata/debian-13.yaml";
    assert!(
        read(&tree, file).starts_with("---\nvalues:\n  host: example.net\n"),
        "{}",
        read(&tree, file)
    );
}

#[test]
fn errors_in_a_kitchen_file_are_reported() {
    for (kitchen, said) in [
        ("suites: [\n", "kitchen.yml:1:9"),
        ("<% if x %>\nsuites: []\n", "kitchen.yml:1:1"),
        (
            &KITCHEN.replace("test/salt/pillar]", "../../etc]"),
            "'../../etc' is not a path below the repository",
        ),
        (
            &KITCHEN.replace("test/salt/pillar]", "nowhere]"),
            "the directory nowhere does not exist",
        ),
        (
            &KITCHEN.replace("test/salt/pillar]", "other]"),
            "top.sls names 'default'",
        ),
    ] {
        let tree = repository_of_formula();
        tree.write("kitchen.yml", kitchen.as_bytes());
        tree.write("other/top.sls", b"base: {'*': [default]}\n");
        let ran = run_line(tree.path(), "test ssh --root . --platform rockylinux-9");
        assert_eq!(ran.status, Some(1), "{said}: {}", ran.stdout);
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
    for (top, said) in [
        ("[1]", "top.sls: it is a list, not a mapping"),
        (
            "prod: {'*': [default]}",
            "top.sls: it has the saltenv 'prod'",
        ),
        ("base: {'*': default}", "the value of '*' is not a list"),
        (
            "base: {'*': [{match: nodegroup}, default]}",
            "matched by 'nodegroup'",
        ),
        ("base: {'*': [inc]}", "inc.sls includes others"),
        (
            "base: {'*': [bad]}",
            "in the pillar of the test suite default",
        ),
    ] {
        let tree = repository_of_formula();
        tree.write("test/salt/pillar/top.sls", top.as_bytes());
        tree.write("test/salt/pillar/inc.sls", b"include: [default]\n");
        tree.write("test/salt/pillar/bad.sls", b"{{ nosuch.thing }}\n");
        let ran = run_line(tree.path(), "test ssh --root . --platform rockylinux-9");
        assert_eq!(ran.status, Some(1), "{said}: {}", ran.stdout);
        assert!(
            format!("{}{}", ran.stdout, ran.stderr).contains(said),
            "{said}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

#[test]
fn whose_the_files_of_platforms_are_has_to_be_clear() {
    let tree = Tree::new(&[
        ("a/map.jinja", "{% set mapdata = {'x': 1} %}"),
        ("b/map.jinja", "{% set mapdata = {'x': 2} %}"),
        (
            "test/integration/default/files/_mapdata/arch.yaml",
            "values: {x: 1}\n",
        ),
    ]);
    let ran = run_line(tree.path(), "test --root .");
    assert_eq!(ran.status, Some(1), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("the formula of the") && ran.stderr.contains("name the formula"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        run_line(tree.path(), "test a --root .").stdout,
        "1 as expected\n"
    );
    tree.write("kitchen.yml", b"provisioner: {formula: b}\nsuites: [{name: d, verifier: {inspec_tests: [{path: test/integration/default}]}}]\n");
    assert_eq!(run_line(tree.path(), "test --root .").status, Some(1));
    let ran = run_line(tree.path(), "test a --root .");
    assert_eq!(
        ran.status,
        Some(2),
        "the files are those of b: {}",
        ran.stdout
    );
}

#[test]
fn the_examples_are_as_expected() {
    let ran = run(&repository(), &["test", "--root", "examples/formulas"]);
    assert_eq!(
        (ran.status, &*ran.stdout, &*ran.stderr),
        (Some(0), "7 as expected\n", "")
    );
}

/// A path that a repository names stays in it: people test repositories whose files they have not read.
#[cfg(unix)]
#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one row for each way out of a repository"
)]
fn no_file_outside_of_the_repository_is_read() {
    use std::os::unix::fs::symlink;

    let data = "family: Debian\n";
    let tree = Tree::new(&[
        ("repo/.git/HEAD", ""),
        (
            "repo/f/parameters/defaults.yaml",
            "values: {family: '{{ grains.os_family }}'}\n",
        ),
        (
            "repo/minions/web1.yaml",
            "id: web1\ngrains: {os_family: Debian}\n",
        ),
        ("outside/secret.yaml", "the secret: [\n"),
        (
            "outside/fine.yaml",
            "id: web1\ngrains: {os_family: Debian}\n",
        ),
    ]);
    let outside = tree.path().join("outside");
    symlink(
        outside.join("secret.yaml"),
        tree.path().join("repo/minions/link.yaml"),
    )
    .unwrap();
    symlink("web1.yaml", tree.path().join("repo/minions/inside.yaml")).unwrap();
    for (header, status) in [
        ("minion: ../../../minions/web1.yaml", 0),
        ("minion: ../../../minions/inside.yaml", 0),
        ("minion: ../../../minions/link.yaml", 1),
        ("minion: ../../../../outside/secret.yaml", 1),
        ("minion: ../../../../outside/fine.yaml", 1),
        ("minion: /etc/passwd", 1),
        ("minion: ../../../minions/../../outside/secret.yaml", 1),
        (
            "platform: debian-12\npillar: ../../../../outside/secret.yaml",
            1,
        ),
        ("platform: debian-12\npillar: ../../../minions/link.yaml", 1),
        ("platform: debian-12\npillar: /etc/passwd", 1),
    ] {
        tree.write(
            "repo/tests/mapstack/f/x.yaml",
            format!("{header}\n---\n{data}").as_bytes(),
        );
        let ran = run_line(tree.path(), "test --root repo --ignore map_jinja");
        assert_eq!(
            ran.status,
            Some(status),
            "{header}: {}{}",
            ran.stdout,
            ran.stderr
        );
        assert_stays_inside(&ran, status, header);
    }
    std::fs::remove_dir_all(tree.path().join("repo/tests")).unwrap();
    for link in [
        "repo/tests/mapstack/f/x.yaml",
        "repo/tests/mapstack/f",
        "repo/tests/mapstack",
        "repo/tests",
    ] {
        tree.write("outside/mapstack/f/x.yaml", b"the secret: [\n");
        tree.write("outside/f/x.yaml", b"the secret: [\n");
        tree.write("outside/x.yaml", b"the secret: [\n");
        let link = tree.path().join(link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        let target = if link.ends_with("x.yaml") {
            outside.join("secret.yaml")
        } else {
            outside.clone()
        };
        symlink(target, &link).unwrap();
        let ran = run_line(tree.path(), "test --root repo --ignore map_jinja");
        assert_stays_inside(&ran, 1, &link.display().to_string());
        std::fs::remove_dir_all(tree.path().join("repo/tests"))
            .or_else(|_| std::fs::remove_file(&link))
            .unwrap();
    }
    // The pillars of a suite, and its kitchen.yml.
    tree.write(
        "repo/test/integration/default/files/_mapdata/debian-12.yaml",
        b"values:\n  family: Debian\n",
    );
    let kitchen = |pillars: &str| {
        format!(
            "provisioner: {{formula: f}}\nsuites:\n  - name: default\n    provisioner: {{{pillars}}}\n    \
             verifier: {{inspec_tests: [{{path: test/integration/default}}]}}\n"
        )
    };
    symlink(&outside, tree.path().join("repo/pillars")).unwrap();
    for pillars in [
        "pillars_from_files: {a.sls: minions/link.yaml}",
        "pillars_from_files: {a.sls: pillars/secret.yaml}",
        "pillars_from_directories: [pillars]",
        "pillars_from_directories: [minions]",
    ] {
        tree.write("repo/kitchen.yml", kitchen(pillars).as_bytes());
        let ran = run_line(tree.path(), "test --root repo --ignore map_jinja");
        assert_stays_inside(&ran, 1, pillars);
    }
    std::fs::remove_file(tree.path().join("repo/kitchen.yml")).unwrap();
    symlink(
        outside.join("secret.yaml"),
        tree.path().join("repo/kitchen.yml"),
    )
    .unwrap();
    assert_stays_inside(
        &run_line(tree.path(), "test --root repo --ignore map_jinja"),
        1,
        "kitchen.yml",
    );
}

fn assert_stays_inside(ran: &common::Ran, status: i32, what: &str) {
    let reported = format!("{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.status, Some(status), "{what}: {reported}");
    assert!(
        !reported.contains("the secret") && !reported.contains("root:x"),
        "{what}: {reported}"
    );
    assert_eq!(
        reported.contains("leads out of the repository"),
        status != 0,
        "{what}: {reported}"
    );
}

#[cfg(unix)]
#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one case for each way out of a repository"
)]
fn update_writes_nothing_outside_of_the_repository() {
    use std::os::unix::fs::symlink;

    let tree = Tree::new(&[
        ("repo/f/parameters/defaults.yaml", "values: {a: 1}\n"),
        ("repo/other/debian-13.yaml", "a: 0\n"),
        ("home/.keep", ""),
        ("home/debian-12.yaml", "a: 0\n"),
        ("web1.yaml", "id: web1\n"),
    ]);
    let at = |path: &str| tree.path().join(path);
    let line = "test f --root repo --update --platform debian-11 --platform debian-12 --platform debian-13";
    // A folder that is a link, there and dangling.
    std::fs::create_dir_all(at("repo/tests/mapstack")).unwrap();
    for target in ["../../../home", "../../../home/new"] {
        symlink(target, at("repo/tests/mapstack/f")).unwrap();
        let ran = run_line(tree.path(), line);
        assert_eq!(
            ran.status,
            Some(1),
            "{target}: {}{}",
            ran.stdout,
            ran.stderr
        );
        std::fs::remove_file(at("repo/tests/mapstack/f")).unwrap();
    }
    // Files that are links: to nowhere, to a file outside, and to one inside.
    std::fs::create_dir(at("repo/tests/mapstack/f")).unwrap();
    symlink(
        "../../../../home/new.yaml",
        at("repo/tests/mapstack/f/debian-11.yaml"),
    )
    .unwrap();
    symlink(
        "../../../../home/debian-12.yaml",
        at("repo/tests/mapstack/f/debian-12.yaml"),
    )
    .unwrap();
    symlink(
        "../../../other/debian-13.yaml",
        at("repo/tests/mapstack/f/debian-13.yaml"),
    )
    .unwrap();
    let ran = run_line(tree.path(), line);
    assert_eq!(ran.status, Some(1), "{}{}", ran.stdout, ran.stderr);
    assert!(at("repo/tests/mapstack/f/debian-13.yaml").is_symlink());
    assert!(read(&tree, "repo/other/debian-13.yaml").starts_with("a: 1\n"));
    let mut home: Vec<_> = at("home")
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    home.sort();
    assert_eq!(home, [".keep", "debian-12.yaml"]);
    assert_eq!(read(&tree, "home/debian-12.yaml"), "a: 0\n");
    // A path outside the repository would not exist for other users of it.
    std::fs::remove_dir_all(at("repo/tests")).unwrap();
    let ran = run_line(
        tree.path(),
        "test f --root repo --update --minion web1.yaml",
    );
    assert_eq!(ran.status, Some(1));
    let reported = format!("{}{}", ran.stdout, ran.stderr);
    assert!(
        reported.contains("web1.yaml leads out of the repository")
            && reported.contains("copy the file into"),
        "{reported}"
    );
}

/// A formula with states.
fn with_states() -> Tree {
    Tree::new(&[
        ("r/web/map.jinja", "{% set web = {'port': 80} %}\n"),
        (
            "r/web/init.sls",
            "{% from 'web/map.jinja' import web %}\ninclude: [web.more]\n/etc/web.conf:\n  file.managed:\n    - source: salt://web/web.conf\n    \
             - template: jinja\n    - mode: '0640'\n    - port: {{ web.port }}\nfar:\n  file.managed:\n    - name: /etc/far\n    - source: http://x/y\n    - skip_verify: true\n",
        ),
        (
            "r/web/more.sls",
            "web-pkg:\n  pkg.installed:\n    - name: web-{{ grains.os_family }}\n",
        ),
        ("r/web/web.conf", "# managed\nport {{ port }}\nend\n"),
    ])
}

#[test]
fn states_and_files_are_recorded_and_compared() {
    let tree = with_states();
    let run = |line: &str, status: i32| {
        let ran = run_line(tree.path(), &format!("test web --root r {line}"));
        assert_eq!(
            ran.status,
            Some(status),
            "{line}: {}{}",
            ran.stdout,
            ran.stderr
        );
        ran.stdout
    };
    let recorded = run(
        "--update --states --platform debian-12 --platform rockylinux-9",
        0,
    );
    assert!(
        recorded.contains(
            "web debian-12 states recorded in r/tests/mapstack/web/debian-12.states.yaml"
        ),
        "{recorded}"
    );
    let file = tree
        .path()
        .join("r/tests/mapstack/web/debian-12.states.yaml");
    assert_snapshot("test/states.yaml", &std::fs::read_to_string(&file).unwrap());
    assert!(run("", 0).contains("2 as expected"));
    run("--update --platform debian-12", 0);
    assert!(run("", 0).contains("3 as expected"));
    tree.write("r/web/web.conf", b"# managed\nport {{ port }}\nmore\nend\n");
    let more =
        "web-pkg:\n  pkg.installed:\n    - name: web-{{ grains.os_family }}\n    - version: 2\n";
    tree.write("r/web/more.sls", more.as_bytes());
    let differs = run("", 1);
    assert_snapshot("test/states-differ.txt", &differs);
    run("--update", 0);
    assert!(run("", 0).contains("3 as expected"));
    // Other sls, as the document before the data says.
    tree.write(
        "r/tests/mapstack/web/debian-12.states.yaml",
        b"sls: [web.more]\n---\n{}\n",
    );
    run("--update", 0);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with("sls: [web.more]\n---\n") && !text.contains("web.conf"),
        "{text}"
    );
    tree.write(
        "r/web/more.sls",
        b"a: {test.nop: [{require: [{test: b}]}]}\n",
    );
    assert!(run("", 1).contains("fail"));
}

#[test]
fn recording_states_leaves_recorded_maps_alone() {
    let tree = with_states();
    let update = "test web --root r --update --platform debian-12";
    assert_line(tree.path(), update, 0, "1 recorded", "");
    tree.write("r/web/map.jinja", b"{% set web = {'port': 81} %}\n");
    let line = format!("{update} --states");
    assert_line(tree.path(), &line, 0, "0 as expected, 1 recorded", "");
    let text = |name: &str| {
        let file = tree.path().join("r/tests/mapstack/web").join(name);
        std::fs::read_to_string(file).unwrap()
    };
    assert!(text("debian-12.yaml").contains("port: 80"));
    assert!(text("debian-12.states.yaml").contains("port 81"));
}

#[test]
fn a_formula_without_an_sls_has_no_states() {
    let tree = Tree::new(&[("r/web/map.jinja", "{% set web = {'port': 80} %}\n")]);
    let line = "test web --root r --update --states --platform debian-12";
    assert_line(tree.path(), line, 1, "", "saltenv base has no sls 'web'");
}

#[test]
fn the_only_formula_is_recorded_without_its_name() {
    let text = "{% set mapdata = {'port': 80} %}\n";
    let tree = Tree::new(&[("r/web/map.jinja", text)]);
    let update = "test --root r --update --platform debian-12";
    assert_line(tree.path(), update, 0, "1 recorded", "");
    tree.write("r/ssh/map.jinja", text.as_bytes());
    let update = "test --root r --update --platform debian-13";
    assert_line(tree.path(), update, 2, "", "nothing was compared");
}
