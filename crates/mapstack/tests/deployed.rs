//! Absolute paths, read from folders of the checkout.

use std::fs;
use std::path::Path;

use crate::common::{assert_repeated, map, records};
use mapstack::loader::{Deployed, MemoryFiles};
use mapstack::minion::Minion;
use mapstack::trace::FileReadKind;
use mapstack::value::{Map, Value};
use mapstack::{Engine, Stubs};

fn write(directory: &Path, path: &str, text: &str) {
    let path = directory.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The files that `tests/data/deployed.json` was recorded with, below `/srv/app`.
fn app() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("a.sls", "a: 1\nb: two\n"),
        ("sub/b.yaml", "x\r\ny\n"),
        ("empty", ""),
        (".hidden", "h"),
        ("sub/deep/c.sls", "z"),
    ] {
        write(directory.path(), path, text);
    }
    fs::create_dir(directory.path().join(".git")).unwrap();
    directory
}

fn engine(files: MemoryFiles, at: &str, directory: &Path) -> Engine {
    let deployed = Deployed::new().folder(at, directory).unwrap();
    Engine::new(files).with_deployed(deployed)
}

fn web1() -> Minion {
    Minion::new("web1").complete()
}

/// The data of an sls, or the message with its advice.
fn sls(engine: &Engine, text: &str) -> Result<Value, String> {
    let text = format!("#!jinja|yaml\n{text}");
    let run = engine.run(&web1());
    let call = [("string", Value::from(text))].into_iter().collect();
    let made = run.call_function("slsutil.renderer", &[], &call);
    made.map_err(|e| {
        let help = e.diagnostic().help.clone().unwrap_or_default();
        format!("{e}\n{help}")
    })
}

#[test]
fn functions_look_as_in_salt() {
    let app = app();
    let engine = engine(MemoryFiles::new(), "/srv/app", app.path());
    let recorded = records(include_str!("data/deployed.json"));
    assert_repeated(&recorded, &[], |record| {
        let run = engine.run(&web1());
        let args = record.get("args").and_then(Value::as_list).unwrap();
        let name = record.get("call").unwrap().to_string();
        let got = run.call_function(&name, args, &map(record, "kwargs"));
        match (got, record.get("return"), record.get("text")) {
            (Ok(got), Some(wanted), _) if got == *wanted => Ok(()),
            (Err(got), None, Some(wanted)) if got.to_string().contains(&wanted.to_string()) => {
                Ok(())
            }
            (got, ..) => Err(format!("{got:?}")),
        }
    });
}

#[test]
fn templates_load_absolute_paths() {
    let app = app();
    write(app.path(), "map.jinja", "{% set x = 5 %}");
    let engine = engine(MemoryFiles::new(), "/srv/app", app.path());
    for (text, wanted) in [
        (
            "{% import_yaml '/srv/app/a.sls' as y %}r: {{ y.b }}",
            "{'r': 'two'}",
        ),
        (
            "{% from '/srv/app/map.jinja' import x with context %}r: {{ x }}",
            "{'r': 5}",
        ),
        ("{% include '/srv/app/a.sls' %}", "{'a': 1, 'b': 'two'}"),
        (
            "r: {{ salt['jinja.load_map']('/srv/app/map.jinja', 'x') }}",
            "{'r': 5}",
        ),
        (
            "r: {{ salt['jinja.import_yaml']('/srv/app/a.sls').a }}",
            "{'r': 1}",
        ),
        (
            "r: {{ salt['slsutil.renderer']('/srv/app/a.sls') | json }}",
            "{'r': {'a': 1, 'b': 'two'}}",
        ),
        (
            "r: {{ salt['cp.get_file_str']('/srv/app/no') }}",
            "{'r': False}",
        ),
        (
            "r: {{ salt['cp.get_file_str']('file:///srv/app/a.sls') | json }}",
            "{'r': 'a: 1\\nb: two\\n'}",
        ),
    ] {
        assert_eq!(sls(&engine, text).unwrap().repr(), wanted, "{text}");
    }
    for text in [
        "{% import_yaml '/srv/app/none.sls' as y %}",
        "{% import_yaml '/srv/other/a.sls' as y %}",
        "{% import_yaml '/a.sls' as y %}",
    ] {
        let refused = sls(&engine, text).unwrap_err();
        assert!(
            refused.contains("the setting for deployed paths says which folder is at /"),
            "{refused}"
        );
    }
}

#[test]
fn what_no_folder_stands_for_is_unanswered() {
    let app = app();
    let engine = engine(MemoryFiles::new(), "/srv/app", app.path());
    for call in [
        "salt['cp.get_file_str']('/etc/pki/ca.crt')",
        "salt['file.file_exists']('/etc/pki/ca.crt')",
        "salt['file.read']('/srv/app/../../etc/pki/ca.crt')",
        "salt['slsutil.renderer']('/etc/pki/ca.sls')",
    ] {
        let refused = sls(&engine, &format!("r: {{{{ {call} }}}}")).unwrap_err();
        assert!(refused.contains("the setting for stubs"), "{refused}");
        assert!(
            refused.contains("the setting for deployed paths says which folder is at "),
            "{refused}"
        );
    }
    // Facts of a file that only the machine knows stay a question.
    let refused = sls(
        &engine,
        "r: {{ salt['file.find']('/srv/app', owner='root') }}",
    )
    .unwrap_err();
    assert!(refused.contains("nothing answers"), "{refused}");
}

#[test]
fn stubs_come_first() {
    let app = app();
    let stubs = Stubs::parse("file.file_exists: {return: false}", "s").unwrap();
    let engine = engine(MemoryFiles::new(), "/srv/app", app.path()).with_stubs(stubs);
    let made = sls(
        &engine,
        "r: {{ salt['file.file_exists']('/srv/app/a.sls') }}",
    )
    .unwrap();
    assert_eq!(made.repr(), "{'r': False}");
}

#[cfg(unix)]
#[test]
fn a_link_does_not_lead_out() {
    let (app, other) = (app(), tempfile::tempdir().unwrap());
    write(other.path(), "secret", "s");
    std::os::unix::fs::symlink(other.path().join("secret"), app.path().join("link")).unwrap();
    std::os::unix::fs::symlink("a.sls", app.path().join("inner")).unwrap();
    let engine = engine(MemoryFiles::new(), "/srv/app", app.path());
    let refused = sls(&engine, "r: {{ salt['file.read']('/srv/app/link') }}").unwrap_err();
    assert!(refused.contains("outside of the directories"), "{refused}");
    let made = sls(
        &engine,
        "r: {{ salt['file.file_exists']('/srv/app/inner') }}",
    )
    .unwrap();
    assert_eq!(made.repr(), "{'r': True}");
}

#[test]
fn what_is_read_is_recorded() {
    let app = app();
    let engine = engine(MemoryFiles::new(), "/srv/app", app.path());
    let local = |path: &str| app.path().join(path).display().to_string();
    let mut minion = web1();
    let roots: Map = [("base", Value::from_iter([Value::from("/srv/app/sub")]))]
        .into_iter()
        .collect();
    minion.opts.insert("file_roots", roots);
    let run = engine.run(&minion);
    for path in ["/srv/app/sub/b.yaml", "/srv/app/a.sls", "/srv/app/no"] {
        let _ = run.call_function("file.read", &[path.into()], &Map::new());
    }
    let reads: Vec<_> = run
        .file_reads()
        .iter()
        .filter(|read| !read.path.starts_with("_modules/"))
        .map(|read| (read.saltenv.to_string(), read.path.to_string(), read.kind))
        .collect();
    assert_eq!(
        reads,
        [
            ("base".into(), "b.yaml".into(), FileReadKind::Found),
            (String::new(), local("a.sls"), FileReadKind::Found),
            (String::new(), local("no"), FileReadKind::Absent),
        ]
    );
}
