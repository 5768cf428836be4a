//! `mapstack lint` and `mapstack schema`.

use crate::common::{Tree, assert_snapshot, run_line};

#[test]
fn hostile_trees_are_reported_and_survived() {
    let deep = format!("values: {}{}\n", "[".repeat(5000), "]".repeat(5000));
    let tree = Tree::new(&[
        (
            "r/f/parameters/defaults.yaml",
            "values:\r\n  a: 0644\r\n  ü: 2020-01-01\r\n",
        ),
        ("r/f/parameters/os/Debian.yaml", &deep),
        ("r/f/parameters/os/\u{202e}x.yaml", "values: {}\n"),
        (
            "r/f/parameters/os_family/Debian.yaml",
            "values: {{ (range(99999999) | list) }}\n",
        ),
        ("r/f/parameters/os_family/RedHat.yaml", ""),
        ("r/f/schema.yaml", "$ref: http://127.0.0.1:1/none.json\n"),
    ]);
    tree.write("r/f/binary.yaml", b"\xff\xfe\x00");
    let ran = run_line(tree.path(), "lint f --root r --schema");
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert_snapshot("lint/hostile.txt", &ran.stdout);
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_not_served_is_said() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    let tree = Tree::new(&[
        ("r/web/parameters/defaults.yaml", "values: {a: 1}\n"),
        ("r/web/init.sls", "a: {test.nop: []}\n"),
    ]);
    let web = tree.path().join("r/web");
    symlink("nowhere.yaml", web.join("parameters/os.yaml")).unwrap();
    symlink("loop.sls", web.join("loop.sls")).unwrap();
    std::fs::write(web.join(OsStr::from_bytes(b"caf\xe9.sls")), "a: 1\n").unwrap();
    let said = [
        "web/parameters/os.yaml (a link to nothing)",
        "web/loop.sls (a link in a circle)",
        r"web/caf\xe9.sls (its name is not UTF-8)",
    ];
    for (line, status) in [
        ("lint --root r", 0),
        ("lint web --root r", 0),
        ("data web --root r --platform debian-12", 0),
        ("diff --from r --to r", 0),
    ] {
        let ran = run_line(tree.path(), line);
        assert_eq!(ran.status, Some(status), "{line}: {}", ran.stderr);
        for said in said {
            let all = format!("{}{}", ran.stdout, ran.stderr);
            assert!(all.contains(said), "{line}: {said}: {all}");
        }
    }
    let out = run_line(tree.path(), "lint --root r -o json").stdout;
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["summary"]["not_served"], 3);
    // Another state of one of them is a change that nothing compared.
    tree.write("s/web/parameters/defaults.yaml", b"values: {a: 1}\n");
    tree.write("s/web/init.sls", b"a: {test.nop: []}\n");
    let ran = run_line(tree.path(), "diff --from r --to s");
    assert_eq!(ran.status, Some(2), "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains(&format!("not served, and not compared: {}", said[0]))
            && !ran.stdout.contains("no file's content differs"),
        "{}",
        ran.stdout
    );
    for n in 0..10_000 {
        symlink("nowhere", web.join(format!("link{n}.sls"))).unwrap();
    }
    let ran = run_line(tree.path(), "lint --root r");
    assert!(
        ran.stderr.contains("and 9998 more (a link to nothing)") && ran.stderr.len() < 2000,
        "{}",
        ran.stderr
    );
}
