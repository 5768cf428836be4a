//! `--minions`: a directory of documents, or a master's cache in any of its layouts.

mod common;

use common::{Ran, Tree, assert_snapshot, run};

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
    [&b"\x82\xa6grains"[..], &grains(id), b"\xa6pillar", &pillar(value)].concat()
}

/// The same minions in every form, and what reads them.
fn tree() -> Tree {
    let document = |id: &str, value: &str| format!("grains: {{id: {id}, os: Debian}}\npillar: {{key: {value}}}\n");
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
        ("empty/grains/", Vec::new()),
        ("broken/grains/bad1.p", b"\x82\xa2id".to_vec()),
        ("broken/grains/bad2.p", b"\x91\x01".to_vec()),
        ("broken/grains/web1.p", grains("web1")),
        ("broken/pillar/bad3.p", b"\xc1".to_vec()),
        ("broken/grains/bad3.p", grains("bad3")),
        ("broken-one/grains/bad1.p", b"\xdf\xff\xff\xff\xff".to_vec()),
        ("broken-one/grains/web1.p", grains("web1")),
        ("s.cfg", b"a.yml".to_vec()),
        ("a.yml", b"seen: {{ minion_id }} {{ __grains__.os }} {{ pillar.key }}\n".to_vec()),
        ("r/f/parameters/defaults.yaml", b"values: {a: 1}\n".to_vec()),
        ("r/f/parameters/id/web2.yaml", b"values: {a: 2}\n".to_vec()),
        ("r/f/map.jinja", b"{% set f = {'id': grains.id, 'key': pillar.key} %}\n".to_vec()),
        ("r/f/x.txt", b"{{ grains.id }} {{ opts.id }} {{ pillar.key }}\n".to_vec()),
    ])
}

/// Every form of the directory.
const FORMS: [&str; 4] = ["documents", "new", "old", "old/minions"];

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
        assert_eq!(all.stdout, "web1:\n  seen: web1 Debian one1\nweb2:\n  seen: web2 Debian two2\n", "{form}");
        let one = ran(&tree, form, "pillar --stack=s.cfg --id=web2 --set=grains.os=BSD");
        assert_eq!((one.status, &*one.stdout), (Some(0), "seen: web2 BSD two2\n"), "{form}: {}", one.stderr);
    }
}

#[test]
fn every_verb_takes_one_minion_of_every_form() {
    let tree = tree();
    for form in FORMS {
        for (line, printed) in [
            ("data f --root=r --id=web2 --get=a", "2\n"),
            ("data f --root=r --id=web1 --get=a", "1\n"),
            ("stack f defaults.yaml Y!G@id --root=r --id=web2 --get=a", "2\n"),
            ("map f --root=r --id=web2", "id: web2\nkey: two2\n"),
            ("render f/x.txt --root=r --id=web2", "web2 web2 two2\n"),
            (
                "tofs f x.txt --root=r --id=web2 --default-matchers=id",
                "- salt://f/files/id/web2/x.txt\n- salt://f/files/default/x.txt\n",
            ),
        ] {
            let ran = ran(&tree, form, line);
            assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (Some(0), printed, ""), "{form}: {line}");
        }
        let sources = ran(&tree, form, "sources f --root=r --id=web2");
        assert!(sources.stdout.contains("hit   salt://f/parameters/id/web2.yaml"), "{form}: {}", sources.stdout);
    }
}

#[test]
fn what_cannot_be_used_says_what_and_where() {
    let tree = tree();
    for (name, directory, line, status) in [
        ("near-document", "documents", "data f --root=r --id=web3", 1),
        ("near-in-the-cache", "new", "data f --root=r --id=wbe1", 1),
        ("near-in-the-old-cache", "old", "pillar --stack=s.cfg --id=web3", 1),
        ("far", "new", "data f --root=r --id=postgres", 1),
        ("outside", "new", "data f --root=r --id=../grains/web1", 2),
        ("no-id", "new", "data f --root=r", 2),
        ("empty", "empty", "pillar --stack=s.cfg", 1),
        ("empty-with-an-id", "empty", "pillar --stack=s.cfg --id=web1", 1),
        ("absent", "absent", "pillar --stack=s.cfg", 1),
        ("all-with-broken-ones", "broken", "pillar --stack=s.cfg", 1),
        ("all-with-a-broken-one", "broken-one", "pillar --stack=s.cfg", 1),
        ("broken", "broken", "data f --root=r --id=bad1", 1),
        ("and-a-minion", "new", "data f --root=r --id=web1 --minion=documents/web1.yaml", 2),
    ] {
        let ran = ran(&tree, directory, line);
        assert_eq!((ran.status, &*ran.stdout), (Some(status), ""), "{name}: {}", ran.stderr);
        assert_snapshot(&format!("minions/{name}.txt"), &ran.stderr);
    }
}

#[test]
fn a_broken_entry_does_not_keep_others_from_being_read() {
    let ran = ran(&tree(), "broken", "pillar --stack=s.cfg --id=web1 --set=pillar.key=x");
    assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (Some(0), "seen: web1 Debian x\n", ""));
}

#[test]
fn standard_input_can_be_a_part_of_one_minion() {
    let tree = tree();
    let args = ["data", "f", "--root=r", "--minions=new", "--id=web1", "--grains=-", "--sources=G@f", "--get=b"];
    let ran = common::run_with_input(tree.path(), &args, "f: {b: 5}");
    assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (Some(0), "5\n", ""));
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
        ("master", b"ext_pillar: [{stack: s.cfg}]\npillarenv: prod\n".to_vec()),
    ]);
    for (line, seen) in [
        ("pillar --stack=s.cfg", "web1:\n  seen: none\n"),
        ("pillar --stack=s.cfg --opts=o.yaml --id=web1", "seen: prod\n"),
        ("pillar --stack=s.cfg --opts=o.yaml --set=opts.pillarenv=dev --id=web1", "seen: devs\n"),
        ("pillar --config=master --id=web1", "seen: prod\n"),
        ("pillar --config=master --set=opts.pillarenv=dev --id=web1", "seen: devs\n"),
    ] {
        let ran = ran(&tree, "new", line);
        assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (Some(0), seen, ""), "{line}");
    }
}
