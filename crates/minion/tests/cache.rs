//! Minions from a master's cache: what is packed, where it lies, and what is broken.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use mapstack_minion::cache::{Cache, UnpackErrorKind, unpack};
use mapstack_minion::{MAX_BYTES, Minion};
use mapstack_value::{Value, json};
use proptest::prelude::*;
use tempfile::TempDir;

/// Data that the reference accepts and this refuses: see DIFFERENCES.md.
const REFUSED_HERE: [(&str, &str); 3] = [
    (
        "a timestamp",
        "byte 4: MessagePack's own timestamps are not read, as Salt writes none",
    ),
    (
        "a text that is not UTF-8",
        "byte 4: a text is not UTF-8; the value is bytes, or the file is damaged",
    ),
    (
        "a surrogate",
        "byte 1: a text is not UTF-8; the value is bytes, or the file is damaged",
    ),
];

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        .collect()
}

#[test]
fn everything_packed_is_read_as_the_reference_reads_it() {
    let recorded = json::loads(include_str!("data/unpack.json")).unwrap();
    let records = recorded.as_list().unwrap();
    assert!(!records.is_empty());
    for record in records {
        let text = |name: &str| record.as_map().unwrap().get(name).and_then(Value::as_str);
        let name = text("name").unwrap();
        let ours = unpack(&bytes_of(text("packed").unwrap()));
        match (
            text("result"),
            REFUSED_HERE.iter().find(|(refused, _)| *refused == name),
        ) {
            (Some(_), Some((_, message))) => {
                assert_eq!(ours.unwrap_err().to_string(), *message, "{name}");
            }
            (Some(result), None) => assert_eq!(ours.unwrap().repr(), result, "{name}"),
            (None, _) => assert!(ours.is_err(), "{name}: {ours:?}"),
        }
    }
}

#[test]
fn packed_data_is_bounded() {
    let nested = |levels: usize| [vec![0x91; levels], vec![0xc0]].concat();
    assert!(unpack(&nested(128)).is_ok());
    let error = unpack(&nested(129)).unwrap_err();
    assert_eq!((error.at, error.kind), (129, UnpackErrorKind::TooDeep(128)));
    assert!(matches!(
        unpack(&nested(5_000_000)).unwrap_err().kind,
        UnpackErrorKind::TooDeep(_)
    ));

    let many = [&[0xdd, 0x00, 0x1e, 0x84, 0x80][..], &[0xc0; 2_000_000]].concat();
    assert_eq!(
        unpack(&many).unwrap_err().kind,
        UnpackErrorKind::TooMany(2_000_000)
    );

    // Each would quote the one inside it, and double its quotes.
    let inside = [&[0xd6, 79, 0x92, 0xa1, b'n'][..], &[0x91]].concat();
    let constants = [inside.repeat(100), vec![0xc0]].concat();
    assert_eq!(
        unpack(&constants).unwrap_err().kind,
        UnpackErrorKind::BadConstant
    );
}

proptest! {
    #[test]
    fn any_bytes_are_a_value_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Err(error) = unpack(&bytes) {
            prop_assert!(error.at <= bytes.len(), "{error}");
        }
    }

    /// Bytes that begin collections and extensions more often than chance would have it.
    #[test]
    fn any_markers_are_a_value_or_an_error(
        bytes in proptest::collection::vec(
            proptest::sample::select(vec![0x00, 0x01, 0x81, 0x82, 0x91, 0x92, 0xa1, b'a', 0xc0, 0xc7, 0xd4, 0xd6, 0xdc, 0xdd, 0xde, 0xdf, 78, 79, 0xff]),
            0..60,
        )
    ) {
        if let Err(error) = unpack(&bytes) {
            prop_assert!(error.at <= bytes.len(), "{error}");
        }
    }

    /// A file that was damaged in one place.
    #[test]
    fn a_changed_byte_is_a_value_or_an_error(at in 0_usize..98, byte in any::<u8>()) {
        let mut bytes = fs::read(sample("3008/grains/odd.p")).unwrap();
        prop_assert_eq!(bytes.len(), 98);
        bytes[at] = byte;
        if let Err(error) = unpack(&bytes) {
            prop_assert!(error.at <= bytes.len(), "{error}");
        }
    }
}

/// A file or directory that a master wrote.
fn sample(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/cache")
        .join(path)
}

fn open(directory: &Path) -> Cache {
    Cache::open(directory).unwrap().expect("a cache")
}

fn minion(cache: &Cache, id: &str) -> Minion {
    cache.minion(id).unwrap().expect("a minion of that id")
}

const WEB1_GRAINS: &str = "{'id': 'web1.example.com', 'os': 'Debian', 'osmajorrelease': 12, 'n': None, 'b': True, \
                           'f': 1.5, 'roles': ['web', 'db'], 'nested': {'dns': {'domain': 'example.com'}}, 'u': 'é', \
                           'neg': -5, 'big': 1099511627776}";
const WEB1_PILLAR: &str = "{'roles': ['web'], 'secret': 's3cret', 'n': 5}";
const ODD_GRAINS: &str = "{'id': 'odd', 'raw': b'\\xff\\x00', 'when': '2020-01-02 03:04:05.000006', \
                          'huge': '1180591620717411303424', 'tup': [1, 2], 'set': ['x'], 1: 'intkey'}";

fn facts(minion: Minion) -> (String, String) {
    (
        Value::from(minion.grains).repr(),
        Value::from(minion.pillar).repr(),
    )
}

#[test]
fn every_layout_is_recognised_and_read() {
    for (directory, ids) in [
        (
            "3008",
            &["db1.example.com", "expiring", "odd", "web1.example.com"][..],
        ),
        ("3006", &["db1.example.com", "web1.example.com"]),
        ("3006/minions", &["db1.example.com", "web1.example.com"]),
    ] {
        let cache = open(&sample(directory));
        assert_eq!(cache.ids().unwrap(), ids, "{directory}");
        let web1 = minion(&cache, "web1.example.com");
        assert_eq!(web1.id.as_str(), Some("web1.example.com"));
        assert_eq!(
            facts(web1),
            (WEB1_GRAINS.to_owned(), WEB1_PILLAR.to_owned()),
            "{directory}"
        );
        let db1 = facts(minion(&cache, "db1.example.com"));
        assert_eq!(
            db1.0,
            "{'id': 'db1.example.com', 'os': 'Rocky Linux', 'roles': []}"
        );
        assert_eq!(db1.1, "{}");
        for unknown in [
            "web2.example.com",
            "",
            ".",
            "..",
            "../3008/grains/odd",
            "x\0",
            "x\\y",
        ] {
            assert_eq!(
                cache.minion(unknown).unwrap(),
                None,
                "{directory} {unknown:?}"
            );
        }
    }
    assert_eq!(facts(minion(&open(&sample("3008")), "odd")).0, ODD_GRAINS);
}

#[test]
fn other_directories_are_not_caches() {
    for none in [
        "3008/grains",
        "3008/nothing",
        "3006/minions/web1.example.com",
        "3008/grains/odd.p",
    ] {
        assert!(Cache::open(sample(none)).unwrap().is_none(), "{none}");
    }
}

/// A directory with files, as a master would have written them.
fn tree(files: &[(&str, &[u8])]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let file = directory.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }
    directory
}

/// `{"id": NAME}` for a name of one letter.
fn named(name: u8) -> Vec<u8> {
    vec![0x81, 0xa2, b'i', b'd', 0xa1, name]
}

#[test]
fn the_newer_entry_counts_where_there_are_two() {
    let old = [&b"\x81\xa6grains"[..], &named(b'o')].concat();
    let new = named(b'n');
    let directory = tree(&[
        ("minions/a/data.p", &old),
        ("minions/b/data.p", &old),
        ("grains/a.p", &new),
    ]);
    let cache = open(directory.path());
    assert_eq!(cache.ids().unwrap(), ["a", "b"]);
    assert_eq!(
        facts(minion(&cache, "a")),
        ("{'id': 'n'}".to_owned(), "{}".to_owned())
    );
    assert_eq!(
        facts(minion(&cache, "b")),
        ("{'id': 'o'}".to_owned(), "{}".to_owned())
    );
}

#[test]
fn other_files_are_skipped() {
    let directory = tree(&[
        ("grains/a.p", &named(b'a')),
        ("grains/tmpab12", b""),
        ("grains/.p", b""),
        ("grains/folder.p/x", b""),
        ("minions/b/mine.p", b"\x80"),
        ("minions/c", b""),
    ]);
    let cache = open(directory.path());
    assert_eq!(cache.minion("folder").unwrap(), None);
    assert_eq!(cache.ids().unwrap(), ["a"]);
}

#[test]
fn an_empty_file_has_no_facts() {
    for content in [&b""[..], b"\xc0", b"\x80", b"\x90", b"\x81\xa6grains\xc0"] {
        let directory = tree(&[("minions/a/data.p", content)]);
        assert_eq!(
            facts(minion(&open(directory.path()), "a")),
            ("{}".to_owned(), "{}".to_owned()),
            "{content:?}"
        );
    }
}

#[test]
fn entries_expire() {
    let cache = || open(&sample("3008"));
    let file = fs::read(sample("3008/grains/expiring.p")).unwrap();
    let at = unpack(&file)
        .unwrap()
        .as_map()
        .unwrap()
        .get("_expires")
        .unwrap()
        .to_string()
        .parse()
        .unwrap();
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(at);
    let grains = |cache: Cache| facts(minion(&cache, "expiring")).0;
    assert_eq!(grains(cache()), "{'id': 'expiring'}");
    assert_eq!(
        grains(cache().at(at - Duration::from_secs(1))),
        "{'id': 'expiring'}"
    );
    assert_eq!(grains(cache().at(at)), "{}");
}

#[test]
fn a_third_key_makes_it_data_and_not_a_time_to_live() {
    let directory = tree(&[("grains/a.p", b"\x83\xa4data\x80\xa8_expires\x00\xa1x\x01")]);
    let cache = open(directory.path()).at(SystemTime::UNIX_EPOCH + Duration::from_secs(9));
    assert_eq!(
        facts(minion(&cache, "a")).0,
        "{'data': {}, '_expires': 0, 'x': 1}"
    );
}

// A colon in a name is not for every file system.
#[cfg(unix)]
#[test]
fn pillars_of_environments_are_found() {
    let (grains, pillar) = (named(b'g'), |name: u8| named(name));
    let directory = tree(&[
        ("grains/none.p", &grains),
        ("grains/plain.p", &grains),
        ("pillar/plain.p", &pillar(b'p')),
        ("pillar/plain:dev.p", &pillar(b'd')),
        ("grains/one.p", &grains),
        ("pillar/one:prod.p", &pillar(b'o')),
        ("pillar/one:deep/er.p", &pillar(b'r')),
        ("grains/two.p", &grains),
        ("pillar/two:dev.p", &pillar(b'd')),
        ("pillar/two:prod.p", &pillar(b'p')),
        ("grains/fe80.p", &grains),
        ("grains/fe80::1.p", &grains),
        ("pillar/fe80::1.p", &pillar(b'f')),
    ]);
    let found = |env: Option<&str>, id: &str| {
        let cache = open(directory.path());
        let cache = env.into_iter().fold(cache, Cache::with_pillarenv);
        let found = cache.minion(id).map_err(|error| error.to_string());
        found.map(|minion| facts(minion.expect("a minion")).1)
    };
    let p = |name: &str| Ok(format!("{{'id': '{name}'}}"));
    let empty = || Ok("{}".to_owned());
    assert_eq!(found(None, "none"), empty());
    assert_eq!(found(None, "plain"), p("p"));
    assert_eq!(found(Some(""), "plain"), p("p"));
    assert_eq!(found(Some("dev"), "plain"), p("d"));
    assert_eq!(found(None, "one"), p("o"));
    assert_eq!(found(Some("deep/er"), "one"), p("r"));
    assert_eq!(found(Some("dev"), "one"), empty());
    assert_eq!(found(Some("x/../../grains/none"), "one"), empty());
    assert_eq!(found(Some("prod"), "two"), p("p"));
    assert_eq!(found(None, "fe80"), empty());
    assert_eq!(found(None, "fe80::1"), p("f"));
    let error = format!(
        "{}: two has a pillar for each of the environments dev, prod; say which with the option `pillarenv`",
        directory.path().join("pillar").display()
    );
    assert_eq!(found(None, "two"), Err(error));
}

#[test]
#[expect(clippy::too_many_lines, reason = "one row for each kind of damage")]
fn a_broken_entry_names_its_file_and_hides_no_other() {
    let directory = tree(&[
        ("grains/a.p", &named(b'a')),
        ("grains/cut.p", b"\x81\xa2id"),
        ("grains/deep.p", &[0x91; 200]),
        ("grains/expires.p", b"\x82\xa4data\x80\xa8_expires\xa1x"),
        ("grains/list.p", b"\x91\x01"),
        ("grains/pillar.p", &named(b'p')),
        ("pillar/pillar.p", b"\xa1x"),
        ("minions/old/data.p", b"\x81\xa6pillar\x05"),
        ("grains/z.p", &named(b'z')),
    ]);
    let cache = open(directory.path());
    let here = format!("{}/", directory.path().display());
    let read: Vec<(String, String)> = cache
        .minions()
        .unwrap()
        .map(|(id, minion)| {
            let reported = minion.map_or_else(|error| error.to_string(), |minion| facts(minion).0);
            (
                id,
                reported
                    .replace('\\', "/")
                    .replace(&here.replace('\\', "/"), ""),
            )
        })
        .collect();
    let advice = "; the master writes the file again when the minion next asks for its pillar";
    let read: Vec<(&str, &str)> = read
        .iter()
        .map(|(id, reported)| (&**id, reported.strip_suffix(advice).unwrap_or(reported)))
        .collect();
    assert_eq!(
        read,
        [
            ("a", "{'id': 'a'}"),
            (
                "cut",
                "grains/cut.p: is not data packed by Salt: byte 4: the data ends in the middle of a value"
            ),
            (
                "deep",
                "grains/deep.p: is not data packed by Salt: byte 129: lists and mappings are nested more than 128 deep"
            ),
            (
                "expires",
                "grains/expires.p: _expires must be a number, not a string"
            ),
            (
                "list",
                "grains/list.p: grains must be a mapping, not a list"
            ),
            (
                "old",
                "minions/old/data.p: pillar must be a mapping, not an integer"
            ),
            (
                "pillar",
                "pillar/pillar.p: pillar must be a mapping, not a string"
            ),
            ("z", "{'id': 'z'}"),
        ]
    );
}

#[test]
fn entries_are_read_up_to_a_limit() {
    let directory = tree(&[("grains/a.p", b"")]);
    let file = fs::File::create(directory.path().join("grains/a.p")).unwrap();
    file.set_len(MAX_BYTES + 1).unwrap();
    let error = open(directory.path()).minion("a").unwrap_err();
    assert!(
        error.to_string().ends_with(
            "a.p: has more than 64 MiB; facts are small, so this is probably another file"
        )
    );
}
