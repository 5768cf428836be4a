//! `mapstack test`.

use std::fs;

use crate::common;
use crate::common::{Tree, run_line};

fn read(tree: &Tree, path: &str) -> String {
    fs::read_to_string(tree.path().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
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
