//! `mapstack file`: the files of a minion, as states would write them.

use crate::common::{Ran, Tree, assert_snapshot, run_line};

const SLS: &str = "\
motd:
  file.managed:
    - name: /etc/motd
    - source: [salt://web/files/m/motd, salt://web/files/motd.j]
    - template: jinja
    - context: {who: world}
    - user: root
    - group: wheel
    - mode: 644

/etc/binary:
  file.managed:
    - source: salt://web/files/binary
    - mode: keep

/etc/remote:
  file.managed: [{source: 'https://me:secret@example.org/x'}, {source_hash: abc}]

/etc/asks:
  file.managed: [{source: salt://web/files/asks.j}, {template: jinja}]

/etc/wrong:
  file.managed:
    - source: salt://web/files/wrong.j
    - template: jinja

/etc/nowhere:
  file.managed: [{source: salt://web/files/mott.j}]

/etc/conf.json:
  file.serialize:
    - dataset: {b: [1, 2], a: é}
    - formatter: json
    - onlyif: test -e /etc/x

/etc/conf.d:
  file.recurse: [{source: salt://web/conf.d}, {file_mode: '0600'}, {clean: true}]

/var/lib/x:
  file.directory: [{user: x}, {dir_mode: 755}]

/etc/link:
  file.symlink: [{target: /etc/motd}]

gone:
  file.absent: [{name: /etc/gone}]

/etc/hosts:
  file.append: [{text: [127.0.0.1 a, 127.0.0.2 b]}]
";

fn tree() -> Tree {
    Tree::new(&[
        ("r/top.sls", "base:\n  '*': [web]\n"),
        ("r/web/init.sls", SLS),
        (
            "r/web/files/motd.j",
            "Hello {{ who }}, here is {{ grains.id }} as {{ mode }}\n",
        ),
        ("r/web/files/binary", "\u{0}\u{1}"),
        (
            "r/web/files/asks.j",
            "one\n{{ salt['cmd.run']('uptime') }}\n",
        ),
        ("r/web/files/wrong.j", "one\n{{ nosuch.thing }}\n"),
        ("r/web/conf.d/a.conf", "a\n"),
        ("r/web/conf.d/sub/b.conf", "b\n"),
        (
            "r/twice.sls",
            "a: {file.append: [{name: /etc/x}, {text: one}]}\nb: {file.append: [{name: /etc/x}, {text: two}]}\n",
        ),
        ("m.yaml", "id: m\ngrains: {os: Debian}\n"),
        ("all/m.yaml", "id: m\ngrains: {os: Debian}\n"),
        ("all/n.yaml", "id: n\ngrains: {os: Debian}\n"),
    ])
}

fn file(tree: &Tree, args: &str) -> Ran {
    run_line(
        tree.path(),
        &format!("file {args} --root r --minion m.yaml"),
    )
}

#[test]
fn all_files_are_listed_and_what_is_wrong_is_said() {
    let ran = file(&tree(), "");
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert_snapshot(
        "file/list.txt",
        &format!("{}---\n{}", ran.stdout, ran.stderr),
    );
}

#[test]
fn a_name_is_a_path_an_id_or_a_source() {
    let tree = tree();
    for name in ["/etc/motd", "motd", "salt://web/files/motd.j"] {
        let ran = file(&tree, name);
        let said = "Hello world, here is m as 0644\n";
        assert_eq!(
            (ran.status, &*ran.stdout),
            (Some(0), said),
            "{name}: {}",
            ran.stderr
        );
    }
    assert_eq!(file(&tree, "/etc/conf.d/sub/b.conf").stdout, "b\n");
    assert_eq!(
        file(&tree, "/etc/hosts").stdout,
        "127.0.0.1 a\n127.0.0.2 b\n"
    );
    assert_eq!(file(&tree, "/etc/binary").stdout, "\u{0}\u{1}");
}

#[test]
fn what_is_not_known_and_what_is_wrong_have_a_status_each() {
    let tree = tree();
    for (name, status, said) in [
        (
            "/etc/remote",
            2,
            "the source https://example.org/x is fetched by the minion",
        ),
        ("/etc/asks", 2, "r/web/files/asks.j:2:4"),
        ("/etc/wrong", 1, "r/web/files/wrong.j:2:4"),
        ("/etc/nowhere", 1, "did you mean salt://web/files/motd.j?"),
        ("/etc/mott", 2, "did you mean '/etc/motd'?"),
        ("/var/lib/x", 0, "has no content"),
    ] {
        let ran = file(&tree, name);
        assert_eq!(
            (ran.status, &*ran.stdout),
            (Some(status), ""),
            "{name}: {}",
            ran.stderr
        );
        assert!(ran.stderr.contains(said), "{name}: {}", ran.stderr);
        assert!(!ran.stderr.contains("secret"), "{name}: {}", ran.stderr);
    }
}

#[test]
fn several_texts_have_a_line_above_each() {
    let tree = tree();
    let ran = file(&tree, "/etc/x --sls twice");
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_snapshot("file/several.txt", &ran.stdout);
    let ran = run_line(tree.path(), "file motd --root r --minions all");
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_snapshot("file/minions.txt", &ran.stdout);
}

#[test]
fn json_has_all_that_is_known() {
    let ran = file(&tree(), "-o json");
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert_snapshot("file/all.json", &ran.stdout);
}

#[test]
fn files_of_the_sls_that_compile_are_beside_those_that_are_left_out() {
    let tree = Tree::new(&[
        ("r/broken.sls", "a: {{ nope }}\n"),
        (
            "r/motd.sls",
            "/etc/motd: {file.managed: [{contents: hi}]}\n",
        ),
        ("m.yaml", "id: m\ngrains: {os: Debian}\n"),
    ]);
    let sls = "--sls broken,motd --keep-going";
    let list = file(&tree, sls);
    let json = file(&tree, &format!("{sls} -o json"));
    assert_eq!((list.status, json.status), (Some(1), Some(1)));
    assert_snapshot("file/keep-going.txt", &(list.stdout + &json.stdout));
    let one = file(&tree, &format!("/etc/motd {sls}"));
    assert_eq!((one.status, &*one.stdout), (Some(1), "hi\n"));
    assert!(one.stderr.contains("broken.sls:1:7"), "{}", one.stderr);
    let whole = file(&tree, "--sls broken,motd");
    assert!(whole.stderr.contains("--keep-going"), "{}", whole.stderr);
}
