//! `--minions`: a directory of files, one text with many, or a master's cache in any of its layouts; and `--platform`.

use crate::common;
use crate::common::{Ran, Tree, assert_snapshot, run};

/// `{"id": ID, "os": "Debian"}` as a master packs it, for an id of four characters.
fn grains(id: &str) -> Vec<u8> {
    [&b"\x82\xa2id\xa4"[..], id.as_bytes(), b"\xa2os\xa6Debian"].concat()
}

/// `{"key": "VALUE"}` likewise, for a value of four characters.
fn pillar(value: &str) -> Vec<u8> {
    [&b"\x81\xa3key\xa4"[..], value.as_bytes()].concat()
}

/// `{"grains": …, "pillar": …}`.
fn data(id: &str, value: &str) -> Vec<u8> {
    [
        &b"\x82\xa6grains"[..],
        &grains(id),
        b"\xa6pillar",
        &pillar(value),
    ]
    .concat()
}

/// The same minions in every form, and what reads them.
#[expect(clippy::too_many_lines, reason = "one row for each file")]
fn tree() -> Tree {
    let document = |id: &str, value: &str| {
        format!("grains: {{id: {id}, os: Debian}}\npillar: {{key: {value}}}\n")
    };
    Tree::new(&[
        ("documents/web1.yaml", document("web1", "one1").into_bytes()),
        ("documents/web2.yaml", document("web2", "two2").into_bytes()),
        ("new/grains/web1.p", grains("web1")),
        ("new/grains/web2.p", grains("web2")),
        ("new/grains/tmp0x1z", b"\x82".to_vec()),
        ("new/pillar/web1.p", pillar("one1")),
        ("new/pillar/web2.p", pillar("two2")),
        ("old/minions/web1/data.p", data("web1", "one1")),
        ("old/minions/web1/mine.p", b"\x80".to_vec()),
        ("old/minions/web2/data.p", data("web2", "two2")),
        (
            "each.json",
            br#"{"web1": {"grains": {"id": "web1", "os": "Debian"}, "pillar": {"key": "one1"}}}
{"web2": {"grains": {"id": "web2", "os": "Debian"}, "pillar": {"key": "two2"}}}"#
                .to_vec(),
        ),
        (
            "stream.yaml",
            format!(
                "id: web1\n{}---\nid: web2\n{}",
                document("web1", "one1"),
                document("web2", "two2")
            )
            .into(),
        ),
        (
            "gone.json",
            br#"{"web1": {"os": "Debian"}} {"web2": "Minion did not return. [No response]\nx"}"#
                .to_vec(),
        ),
        (
            "mixed.yaml",
            b"web1: {os: Debian, id: web1}\nweb2: [1]\ndb1: {os: BSD}\n".to_vec(),
        ),
        ("none.yaml", b"users: {joe: {uid: 1}}\n".to_vec()),
        ("files/web1.yaml", document("web1", "one1").into_bytes()),
        ("files/web2.yaml", b"grains: [\n".to_vec()),
        ("k.cfg", b"k.yml".to_vec()),
        (
            "k.yml",
            b"seen: {{ minion_id }} {{ __grains__.os }}\n".to_vec(),
        ),
        ("empty/grains/", Vec::new()),
        ("broken/grains/bad1.p", b"\x82\xa2id".to_vec()),
        ("broken/grains/bad2.p", b"\x91\x01".to_vec()),
        ("broken/grains/web1.p", grains("web1")),
        ("broken/pillar/bad3.p", b"\xc1".to_vec()),
        ("broken/grains/bad3.p", grains("bad3")),
        ("broken-one/grains/bad1.p", b"\xdf\xff\xff\xff\xff".to_vec()),
        ("broken-one/grains/web1.p", grains("web1")),
        ("s.cfg", b"a.yml".to_vec()),
        (
            "a.yml",
            b"seen: {{ minion_id }} {{ __grains__.os }} {{ pillar.key }}\n".to_vec(),
        ),
        ("r/f/parameters/defaults.yaml", b"values: {a: 1}\n".to_vec()),
        ("r/f/parameters/id/web2.yaml", b"values: {a: 2}\n".to_vec()),
        (
            "r/m/map.jinja",
            b"{% set m = {'id': grains.id, 'key': pillar.key} %}\n".to_vec(),
        ),
        (
            "r/f/x.txt",
            b"{{ grains.id }} {{ opts.id }} {{ pillar.key }}\n".to_vec(),
        ),
    ])
}

/// Every form of the directory.
const FORMS: [&str; 6] = [
    "documents",
    "new",
    "old",
    "old/minions",
    "each.json",
    "stream.yaml",
];

fn ran(tree: &Tree, directory: &str, line: &str) -> Ran {
    let directory = format!("--minions={directory}");
    let args: Vec<&str> = line.split_whitespace().chain([&*directory]).collect();
    run(tree.path(), &args)
}

#[test]
fn pillar_takes_all_minions_of_every_form() {
    let tree = tree();
    for form in FORMS {
        let all = ran(&tree, form, "pillar --stack=s.cfg");
        assert_eq!((all.status, &*all.stderr), (Some(0), ""), "{form}");
        assert_eq!(
            all.stdout, "web1:\n  seen: web1 Debian one1\nweb2:\n  seen: web2 Debian two2\n",
            "{form}"
        );
        let one = ran(
            &tree,
            form,
            "pillar --stack=s.cfg --id=web2 --set=grains.os=BSD",
        );
        assert_eq!(
            (one.status, &*one.stdout),
            (Some(0), "seen: web2 BSD two2\n"),
            "{form}: {}",
            one.stderr
        );
    }
}

#[test]
fn every_verb_takes_one_minion_of_every_form() {
    let tree = tree();
    for form in FORMS {
        for (line, printed) in [
            ("data f --root=r --id=web2 --get=a", "2\n"),
            ("data f --root=r --id=web1 --get=a", "1\n"),
            (
                "stack f defaults.yaml Y!G@id --root=r --id=web2 --get=a",
                "2\n",
            ),
            ("map m --root=r --id=web2", "id: web2\nkey: two2\n"),
            ("render f/x.txt --root=r --id=web2", "web2 web2 two2\n"),
            (
                "tofs f x.txt --root=r --id=web2 --default-matchers=id",
                "- salt://f/files/id/web2/x.txt\n- salt://f/files/default/x.txt\n",
            ),
        ] {
            let ran = ran(&tree, form, line);
            assert_eq!(
                (ran.status, &*ran.stdout, &*ran.stderr),
                (Some(0), printed, ""),
                "{form}: {line}"
            );
        }
        let sources = ran(&tree, form, "sources f --root=r --id=web2");
        assert!(
            sources
                .stdout
                .contains("hit   salt://f/parameters/id/web2.yaml"),
            "{form}: {}",
            sources.stdout
        );
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one row for each mistake")]
fn what_cannot_be_used_says_what_and_where() {
    let tree = tree();
    for (name, directory, line, status) in [
        ("near-document", "documents", "data f --root=r --id=web3", 1),
        ("near-in-the-cache", "new", "data f --root=r --id=wbe1", 1),
        (
            "near-in-the-old-cache",
            "old",
            "pillar --stack=s.cfg --id=web3",
            1,
        ),
        ("far", "new", "data f --root=r --id=postgres", 1),
        ("outside", "new", "data f --root=r --id=../grains/web1", 2),
        ("no-id", "new", "data f --root=r", 2),
        ("empty", "empty", "pillar --stack=s.cfg", 1),
        (
            "empty-with-an-id",
            "empty",
            "pillar --stack=s.cfg --id=web1",
            1,
        ),
        ("absent", "absent", "pillar --stack=s.cfg", 1),
        (
            "all-with-broken-ones-strictly",
            "broken",
            "pillar --stack=k.cfg --strict",
            1,
        ),
        (
            "silent-one-asked-for",
            "gone.json",
            "data f --root=r --id=web2 -q",
            1,
        ),
        (
            "silent-one-strictly",
            "gone.json",
            "pillar --stack=k.cfg --strict",
            1,
        ),
        ("no-form", "none.yaml", "pillar --stack=k.cfg", 1),
        (
            "pattern-without-a-match",
            "new",
            "pillar --stack=k.cfg --minion-glob=db*",
            1,
        ),
        ("pattern-as-an-id", "new", "data f --root=r --id=web*", 1),
        ("broken", "broken", "data f --root=r --id=bad1", 1),
        (
            "and-a-minion",
            "new",
            "data f --root=r --id=web1 --minion=documents/web1.yaml",
            2,
        ),
    ] {
        let ran = ran(&tree, directory, line);
        assert_eq!(
            (ran.status, &*ran.stdout),
            (Some(status), ""),
            "{name}: {}",
            ran.stderr
        );
        assert_snapshot(&format!("minions/{name}.txt"), &ran.stderr);
    }
}

#[test]
fn broken_minions_are_reported_after_the_others_are_printed() {
    let tree = tree();
    for (name, directory, printed) in [
        (
            "all-with-broken-ones",
            "broken",
            "web1:\n  seen: web1 Debian\n",
        ),
        (
            "all-with-a-broken-one",
            "broken-one",
            "web1:\n  seen: web1 Debian\n",
        ),
        (
            "all-with-a-broken-file",
            "files",
            "web1:\n  seen: web1 Debian\n",
        ),
        (
            "all-with-a-broken-entry",
            "mixed.yaml",
            "db1:\n  seen: db1 BSD\nweb1:\n  seen: web1 Debian\n",
        ),
    ] {
        let ran = ran(&tree, directory, "pillar --stack=k.cfg");
        assert_eq!(
            (ran.status, &*ran.stdout),
            (Some(1), printed),
            "{name}: {}",
            ran.stderr
        );
        assert_snapshot(&format!("minions/{name}.txt"), &ran.stderr);
    }
    let gone = ran(&tree, "gone.json", "pillar --stack=k.cfg");
    assert_eq!(
        (gone.status, &*gone.stdout),
        (Some(0), "web1:\n  seen: web1 Debian\n"),
        "{}",
        gone.stderr
    );
    assert_snapshot("minions/silent.txt", &gone.stderr);
}

#[test]
#[expect(clippy::too_many_lines, reason = "one row for each command line")]
fn an_id_is_literal_and_a_glob_is_a_flag_of_its_own() {
    let tree = tree();
    for (flag, printed) in [
        ("--minion-glob=web*", "web1:\n  seen: web1 Debian\n"),
        ("--minion-glob=[!w]?[0-9]", "db1:\n  seen: db1 BSD\n"),
        ("--minion-glob=db1", "db1:\n  seen: db1 BSD\n"),
        ("--id=db1", "seen: db1 BSD\n"),
    ] {
        let ran = run(
            tree.path(),
            &["pillar", "--stack=k.cfg", "--minions=mixed.yaml", flag],
        );
        // Another one being broken is nothing to one that is not.
        let status = if flag.ends_with("web*") {
            Some(1)
        } else {
            Some(0)
        };
        assert_eq!(
            (ran.status, &*ran.stdout),
            (status, printed),
            "{flag}: {}",
            ran.stderr
        );
    }
    let odd = Tree::new(&[
        (
            "odd.json",
            r#"{"*": {"os": "A"}} {"m[12]": {"os": "B"}} {"m1": {"os": "C"}} {".m": {"os": "D"}}"#,
        ),
        (
            "r/f/parameters/defaults.yaml",
            "values: {i: '{{ grains.id }} {{ grains.os }}'}\n",
        ),
        ("k.cfg", "k.yml\n"),
        ("k.yml", "i: '{{ minion_id }} {{ __grains__.os }}'\n"),
    ]);
    for verb in [
        "data f --root=r --get=i",
        "pillar --stack=k.cfg --get=i",
        "fleet f --root=r --get=i",
    ] {
        for (id, seen) in [("*", "* A"), ("m[12]", "m[12] B"), (".m", ".m D")] {
            let line = format!("{verb} --minions=odd.json --id={id}");
            let ran = common::run_line(odd.path(), &line);
            assert_eq!(ran.status, Some(0), "{line}: {}", ran.stderr);
            assert_eq!(
                ran.stdout
                    .lines()
                    .filter(|line| line.contains(seen))
                    .count(),
                1,
                "{line}: {}",
                ran.stdout
            );
            assert_eq!(
                ran.stdout
                    .lines()
                    .filter(|line| !line.contains(seen) && line.contains(" "))
                    .count(),
                0
            );
        }
        let ran = common::run_line(odd.path(), &format!("{verb} --minions=odd.json --id=?1"));
        assert_eq!((ran.status, &*ran.stdout), (Some(1), ""), "{verb}");
        assert!(
            ran.stderr.contains("an id is not a pattern"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn a_glob_chooses_among_what_is_many() {
    let tree = tree();
    for (line, status, says) in [
        (
            "fleet f --root=r --platform=all --minion-glob=debian-1? --get=a",
            0,
            "debian-12",
        ),
        (
            "fleet f --root=r --platform=all --minion-glob=nope* --get=a",
            1,
            "no minion matches 'nope*' among the platforms",
        ),
        (
            "pillar --stack=k.cfg --minion-glob=x --set=grains.os=a",
            2,
            "--minion-glob x chooses among many minions",
        ),
        (
            "fleet f --root=r --minion-glob=x --grains=g.yaml",
            2,
            "--minion-glob x chooses among many minions",
        ),
        (
            "fleet f --root=r --minions=mixed.yaml --minion-glob=x --id=x",
            2,
            "cannot be used with",
        ),
        (
            "data f --root=r --minions=mixed.yaml --minion-glob=x",
            2,
            "unexpected argument '--minion-glob'",
        ),
    ] {
        let ran = common::run_line(tree.path(), line);
        assert_eq!(ran.status, Some(status), "{line}: {}", ran.stderr);
        assert!((ran.stdout + &ran.stderr).contains(says), "{line}");
    }
}

#[test]
fn standard_input_can_have_the_minions() {
    let tree = tree();
    let grains = r#"{"local": {"id": "web2", "os": "Debian"}}"#;
    // The only minion there is need not be named.
    let ran = common::run_with_input(
        tree.path(),
        &["data", "f", "--root=r", "--minions=-", "--get=a"],
        grains,
    );
    assert_eq!(
        (ran.status, &*ran.stdout, &*ran.stderr),
        (Some(0), "2\n", "")
    );
    let args = ["pillar", "--stack=k.cfg", "--minions=-"];
    let ran = common::run_with_input(tree.path(), &args, "a: {os: X}\r\nb: {os: Y}\r\n");
    assert_eq!(
        (ran.status, &*ran.stdout, &*ran.stderr),
        (Some(0), "a:\n  seen: a X\nb:\n  seen: b Y\n", "")
    );
    let twice = ["pillar", "--stack=k.cfg", "--minions=-", "--pillar=-"];
    let ran = common::run_with_input(tree.path(), &twice, "a: {os: X}");
    assert_eq!(
        (ran.status, &*ran.stderr),
        (
            Some(2),
            "error: standard input can be read once: only one file may be -\n"
        )
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "one row for each command line")]
fn every_verb_takes_a_platform() {
    let tree = tree();
    for (line, printed) in [
        ("data f --root=r --get=a --platform=debian-12", "1\n"),
        (
            "data f --root=r --get=a --platform=debian-12 --id=web2",
            "2\n",
        ),
        (
            "stack f defaults.yaml Y!G@id --root=r --id=web2 --get=a --platform=centos-7",
            "2\n",
        ),
        (
            "map m --root=r --set=pillar.key=x --platform=rocky-9",
            "id: rockylinux-9\nkey: x\n",
        ),
        (
            "render f/x.txt --root=r --set=pillar.key=x --platform=Windows-10",
            "windows-10 windows-10 x\r\n",
        ),
        (
            "tofs f x.txt --root=r --default-matchers=os --platform=arch",
            "- salt://f/files/os/Arch/x.txt\n- salt://f/files/default/x.txt\n",
        ),
        (
            "pillar --stack=k.cfg --platform=freebsd-14 --set=grains.os=BSD",
            "seen: freebsd-14 BSD\n",
        ),
        (
            "pillar --stack=k.cfg --platform=macos-15 --id=mac1",
            "seen: mac1 MacOS\n",
        ),
        (
            "pillar --stack=k.cfg --platform=sles-15 --platform=alpine-3.22 --set=grains.x=1",
            "sles-15:\n  seen: sles-15 SUSE\nalpine-3.22:\n  seen: alpine-3.22 Alpine\n",
        ),
    ] {
        let ran = common::run_line(tree.path(), line);
        assert_eq!(
            (ran.status, &*ran.stdout, &*ran.stderr),
            (Some(0), printed, ""),
            "{line}"
        );
    }
    for (line, message) in [
        (
            "data f --root=r --platform=debian-12 --platform=arch",
            "one minion is looked at here, and --platform names 2: give one",
        ),
        (
            "pillar --stack=k.cfg --platform=arch --platform=archlinux",
            "--platform arch is given twice",
        ),
        (
            "pillar --stack=k.cfg --platform=arch --platform=sles-15 --id=x",
            "--id x names one minion, and there are 2 platforms",
        ),
        (
            "data f --root=r --platform=debian-14",
            "--platform: unknown platform 'debian-14'; did you mean debian-10, debian-11, debian-12 or debian-13? \
             `mapstack platforms` lists all",
        ),
        (
            "platforms vms-9",
            "--platform: unknown platform 'vms-9'; `mapstack platforms` lists all",
        ),
    ] {
        let ran = common::run_line(tree.path(), line);
        assert_eq!(
            (ran.status, &*ran.stderr),
            (Some(2), &*format!("error: {message}\n")),
            "{line}"
        );
    }
}

#[test]
fn platforms_are_listed_and_printed() {
    let directory = Tree::new(&[("x", Vec::new())]);
    let listed = run(directory.path(), &["platforms"]);
    assert_eq!((listed.status, &*listed.stderr), (Some(0), ""));
    assert_snapshot("minions/platforms.txt", &listed.stdout);
    let json = run(directory.path(), &["platforms", "-o", "json"]);
    assert_eq!(
        json.stdout.matches("\"platform\"").count(),
        listed.stdout.lines().count()
    );
    let debian = run(directory.path(), &["platforms", "debian-12"]);
    assert_snapshot("minions/platform-debian-12.txt", &debian.stdout);
    // The output is a minion.
    let args = ["render", "x.txt", "--root=.", "--minion=-"];
    let tree = Tree::new(&[("x.txt", b"{{ grains.id }} {{ grains.osfinger }}\n".to_vec())]);
    let ran = common::run_with_input(tree.path(), &args, &debian.stdout);
    assert_eq!(
        (ran.status, &*ran.stdout, &*ran.stderr),
        (Some(0), "debian-12 Debian-12\n", "")
    );
}

#[test]
fn hostile_ids_are_only_ids() {
    let tree = tree();
    let long = "x".repeat(100_000);
    let long_path = format!("{long}/");
    for (id, status) in [
        ("../grains/web1", 2),
        ("a/b", 2),
        ("..", 2),
        ("", 2),
        (&*long_path, 2),
        ("\u{1b}[31m", 1),
        ("ü☃", 1),
        ("a\nb", 1),
        (&*long, 1),
    ] {
        for directory in ["new", "documents", "each.json"] {
            let arg = format!("--minions={directory}");
            let ran = run(tree.path(), &["data", "f", "--root=r", &arg, "--id", id]);
            assert_eq!(
                (ran.status, &*ran.stdout),
                (Some(status), ""),
                "{directory} {id:.20}"
            );
            let reported = [
                "error: no facts of '",
                "error: no minion matches '",
                "error: --id ",
            ]
            .iter()
            .any(|start| ran.stderr.starts_with(start));
            assert!(reported && ran.stderr.len() < 400, "{}", ran.stderr);
            assert!(!ran.stderr.contains('\u{1b}'), "{}", ran.stderr);
        }
    }
}

#[test]
fn a_broken_entry_does_not_keep_others_from_being_read() {
    let ran = ran(
        &tree(),
        "broken",
        "pillar --stack=s.cfg --id=web1 --set=pillar.key=x",
    );
    assert_eq!(
        (ran.status, &*ran.stdout, &*ran.stderr),
        (Some(0), "seen: web1 Debian x\n", "")
    );
}

#[test]
fn standard_input_can_be_a_part_of_one_minion() {
    let tree = tree();
    let args = [
        "data",
        "f",
        "--root=r",
        "--minions=new",
        "--id=web1",
        "--grains=-",
        "--sources=G@f",
        "--get=b",
    ];
    let ran = common::run_with_input(tree.path(), &args, "f: {b: 5}");
    assert_eq!(
        (ran.status, &*ran.stdout, &*ran.stderr),
        (Some(0), "5\n", "")
    );
}

// A colon in a name is not for every file system.
#[cfg(unix)]
#[test]
fn the_pillar_is_that_of_the_pillar_environment() {
    let tree = Tree::new(&[
        ("new/grains/web1.p", grains("web1")),
        ("new/pillar/web1.p", pillar("none")),
        ("new/pillar/web1:dev.p", pillar("devs")),
        ("new/pillar/web1:prod.p", pillar("prod")),
        ("s.cfg", b"a.yml".to_vec()),
        ("a.yml", b"seen: {{ pillar.key }}\n".to_vec()),
        ("o.yaml", b"pillarenv: prod\n".to_vec()),
        (
            "master",
            b"ext_pillar: [{stack: s.cfg}]\npillarenv: prod\n".to_vec(),
        ),
    ]);
    for (line, seen) in [
        ("pillar --stack=s.cfg", "web1:\n  seen: none\n"),
        (
            "pillar --stack=s.cfg --opts=o.yaml --id=web1",
            "seen: prod\n",
        ),
        (
            "pillar --stack=s.cfg --opts=o.yaml --set=opts.pillarenv=dev --id=web1",
            "seen: devs\n",
        ),
        ("pillar --config=master --id=web1", "seen: prod\n"),
        (
            "pillar --config=master --set=opts.pillarenv=dev --id=web1",
            "seen: devs\n",
        ),
    ] {
        let ran = ran(&tree, "new", line);
        assert_eq!(
            (ran.status, &*ran.stdout, &*ran.stderr),
            (Some(0), seen, ""),
            "{line}"
        );
    }
}
