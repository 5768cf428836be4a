//! Configuration files: every recorded one comes to what the reference makes of it, and says where it came from.

use crate::messages::{assert_recorded, told};
use std::fs;
use std::path::Path;

use mapstack_salt_config::{Config, Kind, Surroundings};
use mapstack_value::{Map, Value, json};

fn kind(name: &str) -> Kind {
    Kind::ALL
        .into_iter()
        .find(|kind| kind.name() == name)
        .unwrap()
}

/// Write files below a directory, as the recorder does.
fn write(directory: &Path, files: &Map) {
    let here = directory.display().to_string();
    for (name, text) in files {
        let (name, text) = (name.to_string(), text.to_string());
        let path = directory.join(name.trim_start_matches("link:"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if name.ends_with('/') {
            fs::create_dir_all(&path).unwrap();
        } else if name.starts_with("link:") {
            #[cfg(unix)]
            std::os::unix::fs::symlink(text, &path).unwrap();
        } else {
            fs::write(&path, text.replace("<DIR>", &here)).unwrap();
        }
    }
}

/// Options that differ from the defaults, without those that the machine decides on.
fn changed(config: &Config, record: &Map, directory: &str) -> Map {
    let defaults = json::loads(include_str!("../data/config_defaults.json")).unwrap();
    let of = |kind: &str| {
        defaults
            .as_map()
            .unwrap()
            .get(kind)
            .unwrap()
            .as_map()
            .unwrap()
            .clone()
    };
    let mut defaults = of(if config.kind() == Kind::Master {
        "master"
    } else {
        "minion"
    });
    if config.kind() == Kind::Proxy {
        defaults.extend(
            of("proxy")
                .iter()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
    }
    let names = config.options().keys().map(ToString::to_string);
    let names = names.filter(|name| !of_the_machine(name, record));
    let differs = names
        .filter(|name| defaults.get(&**name).map(Value::repr) != config.get(name).map(Value::repr));
    let plain =
        |name: &str| json::dumps(config.get(name).unwrap(), &json::DumpOptions::default()).unwrap();
    let renamed = |name: &str| json::loads(&plain(name).replace(directory, "<DIR>")).unwrap();
    let mut changed: Vec<(String, Value)> =
        differs.map(|name| (name.clone(), renamed(&name))).collect();
    changed.sort_by(|(one, _), (other, _)| one.cmp(other));
    changed.into_iter().collect()
}

/// The name of the machine, its memory, and who uses it.
fn of_the_machine(option: &str, record: &Map) -> bool {
    let named = |text: &Value| text.to_string().lines().any(|line| line.starts_with("id:"));
    let reported = record.contains_key("id")
        || record
            .get("files")
            .unwrap()
            .as_map()
            .unwrap()
            .values()
            .any(named);
    matches!(option, "ipc_write_buffer" | "user" | "ssh_config_file")
        || (option == "id" && !reported)
}

fn records() -> Vec<Map> {
    let records = json::loads(include_str!("data/config_files.json")).unwrap();
    records
        .as_list()
        .unwrap()
        .iter()
        .map(|record| record.as_map().unwrap().clone())
        .collect()
}

#[test]
fn every_configuration_comes_to_what_the_reference_makes_of_it() {
    let mut wrong = Vec::new();
    for record in records() {
        let text = |name: &str| record.get(name).map(ToString::to_string);
        let name = text("name").unwrap();
        let files = record.get("files").unwrap().as_map().unwrap();
        if cfg!(not(unix))
            && files
                .keys()
                .any(|file| file.to_string().contains([':', '?']))
        {
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(dir.path()).unwrap();
        write(&real, files);
        let directory = real.display().to_string();
        // No other test here reads from the current directory.
        std::env::set_current_dir(&real).unwrap();
        let path = text("config").unwrap().replace("<DIR>", &directory);
        let surroundings = Surroundings {
            directory: directory.clone(),
            home: Some(directory.clone()),
            id: text("id"),
            ..Surroundings::default()
        };
        let read = Config::read(&path, kind(&text("kind").unwrap()), &surroundings);
        let expected = record.get("result").map(|result| {
            let result = result.as_map().unwrap().iter();
            let kept = result.filter(|(name, _)| !of_the_machine(&name.to_string(), &record));
            kept.map(|(name, value)| (name.clone(), value.clone()))
                .collect::<Map>()
        });
        std::env::set_current_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
        match (read, expected) {
            (Err(_), None) => {}
            (Ok(config), Some(expected)) => {
                let ours = changed(&config, &record, &directory);
                for option in ours.keys().chain(expected.keys()) {
                    let (ours, theirs) = (
                        ours.get(option).map(Value::repr),
                        expected.get(option).map(Value::repr),
                    );
                    if ours != theirs {
                        wrong.push(format!(
                            "{name}: {option}\n  ours   {ours:?}\n  theirs {theirs:?}"
                        ));
                    }
                }
            }
            (Ok(_), None) => wrong.push(format!("{name}: Salt refuses it")),
            (Err(e), Some(_)) => wrong.push(format!("{name}: {e}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A directory with files, and a path in it.
fn tree(files: &[(&str, &str)], path: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &files.iter().copied().collect());
    let path = dir.path().join(path).display().to_string();
    (dir, path)
}

fn read(path: &str, kind: Kind) -> mapstack_diagnostic::Result<Config> {
    Config::read(path, kind, &Surroundings::default())
}

/// A text without the directory's name, and with one kind of separator.
fn shown(dir: &tempfile::TempDir, text: &str) -> String {
    text.replace(&format!("{}/", dir.path().display()), "")
        .replace('\\', "/")
}

#[test]
fn every_option_knows_where_it_comes_from() {
    let (dir, path) = tree(
        &[
            (
                "master",
                "# first\nsaltenv: a\ncachedir: /c\nfile_roots: {base: [/m]}\nhash_type: SHA1\ninclude: x.conf\n",
            ),
            (
                "master.d/a.conf",
                "\next_pillar: [{stack: a}]\nx: 1\nfile_roots: {base: [/a]}\n",
            ),
            (
                "master.d/b.conf",
                "ext_pillar:\n- stack: b\nx: 2\nfile_roots:\n  base: [/b]\n",
            ),
            ("x.conf", "pillarenv: x\n"),
        ],
        "master",
    );
    let config = read(&path, Kind::Master).unwrap();
    for (option, origin) in [
        ("saltenv", "master:2"),
        ("cachedir", "master:3"),
        ("hash_type", "master:5"),
        ("file_roots", "master.d/a.conf:4, master.d/b.conf:4"),
        ("ext_pillar", "master.d/a.conf:2, master.d/b.conf:1"),
        ("x", "master.d/b.conf:3"),
        ("pillarenv", "x.conf:1"),
        ("token_dir", "computed"),
        ("conf_file", "computed"),
        ("state_top", "built-in"),
    ] {
        assert_eq!(
            shown(&dir, &config.origin(option).to_string()),
            origin,
            "{option}"
        );
        assert_eq!(
            config.is_set(option),
            !["computed", "built-in"].contains(&origin),
            "{option}"
        );
    }
    let files: Vec<String> = config
        .files()
        .iter()
        .map(|file| shown(&dir, file))
        .collect();
    assert_eq!(
        files,
        ["master", "master.d/a.conf", "master.d/b.conf", "x.conf"]
    );
}

/// All of the messages is in `warnings.txt`.
#[test]
fn what_salt_swallows_is_a_warning_with_its_place() {
    let mut messages = String::new();
    for (files, warning) in [
        (
            &[("master", ""), ("master.d/a.conf", "a: 1\nx: [\n")][..],
            "master.d/a.conf:2:4: the `[` opened here is never closed",
        ),
        (
            &[("master", ""), ("master.d/a.conf", "- 1\n")],
            "master.d/a.conf:1:1: a configuration file is a mapping",
        ),
        (
            &[("master", "a: 1\ninclude: [x/*.conf]\n")],
            "master:2:1: `include` names x/*.conf, which does not exist",
        ),
        (
            &[("master", "fileserver_backends: [git]\n")],
            "master:1:1: Salt has no option `fileserver_backends`",
        ),
        (
            &[("master", "file_roots: /srv/salt\n")],
            "master:1:1: `file_roots` must be a mapping",
        ),
        (
            &[("master", "file_roots: {base: /srv/salt}\n")],
            "master:1:14: `file_roots` has a string for 'base'",
        ),
        (
            &[("master", "file_ignore_regex: ['a(']\n")],
            "master:1:1: 'a(' is not a regular expression",
        ),
        (
            &[("master", "fileserver_backend: git\n")],
            "master:1:1: `fileserver_backend` must be a list",
        ),
        (
            &[("minion", ""), ("master.d/a.conf", "a: 1\n")],
            "the file master does not exist; only its default includes",
        ),
        (
            &[("master", "environment: dev\n")],
            "master:1:1: `environment` is now called `saltenv`",
        ),
    ] {
        let (dir, path) = tree(files, "master");
        let config = read(&path, Kind::Master).unwrap();
        let all: Vec<String> = config
            .warnings()
            .iter()
            .map(|warning| shown(&dir, &warning.to_string()))
            .collect();
        assert!(
            all.len() == 1 && all[0].starts_with(warning),
            "{warning}: {all:?}"
        );
        messages.extend(
            config
                .warnings()
                .iter()
                .map(told)
                .map(|text| shown(&dir, &text)),
        );
    }
    assert_recorded("warnings.txt", &messages);
}

/// All of the messages is in `errors.txt`.
#[test]
fn what_salt_ends_on_is_an_error_with_its_place() {
    let mut messages = String::new();
    for (files, error) in [
        (
            &[("master", "a: 1\nx: [\n")][..],
            "master:2:4: the `[` opened here is never closed",
        ),
        (
            &[("master", "- 1\n")],
            "master:1:1: a configuration file is a mapping of options, not a list",
        ),
        (
            &[("master", "file_roots:\n  2024: [/srv/salt]\n")],
            "master:2:3: a saltenv in `file_roots` must be text",
        ),
        (
            &[("master", "a: 1\ncachedir: 5\n")],
            "master:2:1: `cachedir` must be text, not an integer",
        ),
        (
            &[("master", "include: {a: 1}\n")],
            "master:1:1: `include` must be paths or patterns, not a mapping",
        ),
        (
            &[("master", ""), ("master.d/a.conf", "include: '*.conf'\n")],
            "master.d/a.conf includes itself",
        ),
        (
            &[("master", ""), ("master.d/a.conf/x", "")],
            "master.d/a.conf is a directory",
        ),
        (
            &[("other", "")],
            "the configuration file master does not exist",
        ),
    ] {
        let (dir, path) = tree(files, "master");
        let e = read(&path, Kind::Master).unwrap_err();
        messages += &shown(&dir, &told(e.diagnostic()));
        let e = shown(&dir, &e.to_string());
        assert!(e.starts_with(error), "{error}: {e}");
    }
    assert_recorded("errors.txt", &messages);
}

#[test]
fn a_configuration_is_of_a_bounded_number_of_files() {
    // Each of them includes both of the next level.
    let texts: Vec<(String, String)> = (0..20)
        .flat_map(|level| {
            let text = format!("include: ['{0}-a.conf', '{0}-b.conf']\n", level + 1);
            ["a", "b"].map(|name| (format!("{level}-{name}.conf"), text.clone()))
        })
        .collect();
    let mut files: Vec<(&str, &str)> = texts
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect();
    files.push(("master", "include: 0-a.conf\n"));
    let (_dir, path) = tree(&files, "master");
    let e = read(&path, Kind::Master).unwrap_err();
    assert_eq!(e.kind(), mapstack_diagnostic::ErrorKind::Limit);
}

#[test]
fn a_directory_stands_for_what_lies_in_it() {
    for (files, kind, found) in [
        (&[("master", ""), ("minion", "")][..], None, Ok("master")),
        (
            &[("master", ""), ("minion", "")],
            Some(Kind::Minion),
            Ok("minion"),
        ),
        (&[("minion", ""), ("master.d/x", "")], None, Ok("minion")),
        (&[("master.d/a.conf", "")], None, Ok("master")),
        (&[("proxy", "")], None, Ok("proxy")),
        (&[("proxy", "")], Some(Kind::Master), Err("no file master")),
        (&[("cloud", "")], None, Err("no file master, minion, proxy")),
    ] {
        let (dir, path) = tree(files, "");
        let path = path.trim_end_matches('/');
        match (Config::find(path, kind), found) {
            (Ok((path, _)), Ok(found)) => assert_eq!(shown(&dir, &path), found),
            (Err(e), Err(found)) => assert!(e.to_string().contains(found), "{e}"),
            (ours, found) => panic!("{files:?}: {ours:?}, {found:?}"),
        }
    }
}

#[test]
fn no_machine_is_asked_for_its_name() {
    let minion = Config::parse(b"master: salt\n", "minion", Kind::Minion).unwrap();
    assert_eq!(minion.get("id"), None);
    let master = Config::parse(b"", "master", Kind::Master).unwrap();
    assert_eq!(master.get("id").and_then(Value::as_str), Some("master"));
}

#[test]
fn patterns_for_roots_give_directories_by_name() {
    let (dir, path) = tree(
        &[
            ("master", "file_roots: {base: [<DIR>/srv/*]}\n"),
            ("srv/b/", ""),
            ("srv/a/", ""),
            ("srv/c/", ""),
        ],
        "master",
    );
    let roots = read(&path, Kind::Master)
        .unwrap()
        .get("file_roots")
        .unwrap()
        .repr();
    assert_eq!(shown(&dir, &roots), "{'base': ['srv/a', 'srv/b', 'srv/c']}");
}

#[test]
fn paths_with_drives_are_absolute_everywhere() {
    let text = b"root_dir: C:\\salt\ncachedir: 'D:/cache'\npki_dir: '\\\\server\\pki'\nlog_file: C:\\log\\minion\nfile_roots:\n  base: ['C:\\srv\\salt']\n";
    let config = Config::parse(text, "minion", Kind::Minion).unwrap();
    for (option, value) in [
        ("cachedir", "D:/cache"),
        ("pki_dir", "\\\\server\\pki"),
        ("log_file", "C:\\log\\minion"),
    ] {
        assert_eq!(
            config.get(option).and_then(Value::as_str),
            Some(value),
            "{option}"
        );
    }
    assert_eq!(
        config.get("file_roots").unwrap().repr(),
        "{'base': ['C:\\\\srv\\\\salt']}"
    );
}

#[test]
fn options_of_daemons_are_not_checked() {
    let text =
        b"worker_pools: {a: 1}\npublish_signing_algorithm: none\nssl: {cert_reqs: CERT_REQUIRED}\ndiscovery: {x: 1}\n";
    let config = Config::parse(text, "master", Kind::Master).unwrap();
    assert_eq!(
        config.get("ssl").unwrap().repr(),
        "{'cert_reqs': 'CERT_REQUIRED'}"
    );
    assert_eq!(
        config.get("discovery").unwrap().repr(),
        "{'port': 4520, 'mapping': {}, 'x': 1}"
    );
}

#[test]
fn a_broken_schedule_stays_where_it_is() {
    let (dir, path) = tree(
        &[("minion", ""), ("minion.d/_schedule.conf", "schedule: [\n")],
        "minion",
    );
    let config = read(&path, Kind::Minion).unwrap();
    assert_eq!(
        (
            config.warnings().len(),
            config.get("schedule").unwrap().repr()
        ),
        (1, "{}".into())
    );
    assert!(dir.path().join("minion.d/_schedule.conf").is_file());
}
