//! `--minions`: a directory of files, one text with many, or a master's cache in any of its layouts; and `--platform`.

use crate::common::{Ran, Tree, run};

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
fn minions_have_six_forms_that_every_verb_takes() {
    let tree = tree();
    assert_one_of_every_form(&tree);
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

/// Every verb takes one minion of every form.
fn assert_one_of_every_form(tree: &Tree) {
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
            let ran = ran(tree, form, line);
            assert_eq!(
                (ran.status, &*ran.stdout, &*ran.stderr),
                (Some(0), printed, ""),
                "{form}: {line}"
            );
        }
        let sources = ran(tree, form, "sources f --root=r --id=web2");
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
