//! Compares grains that modules of a tree compute with recorded results of the reference, and shows what is said about
//! those that are not computed.

use crate::common::{assert_repeated, map, records};
use mapstack::loader::MemoryFiles;
use mapstack::minion::{FactPlaces, Minion, Part, platforms};
use mapstack::value::{Map, Value};
use mapstack::{Engine, Stubs, TemplateOptions};

/// Records whose results differ deliberately, with the reason.
const DIFFERENCES: &[(&str, &str)] = &[(
    "grains so far are changed in place",
    "modules of the tree change nothing but by what they return",
)];

/// The platform whose grains the records have some of.
fn debian(id: &str) -> Minion {
    let mut minion = platforms::find("debian-12").unwrap().minion();
    minion.set_id(id);
    minion.complete()
}

fn engine(files: &Map) -> Engine {
    let files = files
        .iter()
        .fold(MemoryFiles::new(), |files, (path, text)| {
            files.file("base", &path.to_string(), text.to_string())
        });
    Engine::new(files)
}

/// The warnings of a run for a minion.
fn warnings(engine: &Engine, minion: &Minion) -> Vec<String> {
    let warnings = engine.run(minion).warnings();
    warnings
        .iter()
        .map(|warning| warning.message.clone())
        .collect()
}

fn check(record: &Map) -> Result<(), String> {
    let engine = engine(&map(record, "files"));
    let mut minion = debian("web1");
    let opts = map(record, "opts");
    opts.iter()
        .for_each(|(name, value)| drop(minion.opts.insert(name.clone(), value.clone())));
    minion.opts.insert("file_client", "local");
    for (name, value) in &map(record, "set") {
        minion
            .set(&format!("grains.{name}"), value.clone())
            .unwrap();
    }
    let known = engine.with_tree_grains(&minion);
    let given = debian("web1").grains;
    let new = known
        .grains
        .iter()
        .filter(|(name, value)| given.get(*name) != Some(value));
    let new: Map = new
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let got = Value::from(new).repr();
    let wanted = record.get("result").unwrap().to_string();
    if got != wanted {
        return Err(format!(
            "got    {got}\n    wanted {wanted}\n    {:?}",
            warnings(&engine, &minion)
        ));
    }
    let warnings = warnings(&engine, &minion);
    let failed = record.get("errors").and_then(Value::as_list).unwrap();
    let is_said = |failed: &Value| {
        let begins = format!("the grains of {failed}() in salt://_grains/");
        warnings
            .iter()
            .any(|warning| warning.starts_with(&begins) && warning.contains("left out, as in Salt"))
    };
    match failed.iter().all(is_said) {
        true => Ok(()),
        false => Err(format!("no warning of {failed:?}: {warnings:?}")),
    }
}

#[test]
fn every_recorded_minion_has_the_grains_of_the_reference() {
    let records = records(include_str!("data/tree_grains.json"));
    assert_eq!(records.len(), RECORDS);
    assert_repeated(&records, DIFFERENCES, check);
}

const RECORDS: usize = 36;

fn tree(module: &str) -> Engine {
    Engine::new(
        MemoryFiles::new()
            .file("base", "_grains/m.py", module)
            .file("base", "t.jinja", "{{ grains.get('role') }}"),
    )
}

#[test]
fn what_needs_the_machine_is_named_and_the_rest_is_computed() {
    let engine = tree(
        "import subprocess\ndef a():\n    return {'virt': subprocess.run(['x'])}\ndef b():\n    return {'role': 'web'}\n",
    );
    let minion = debian("web1");
    let run = engine.run(&minion);
    assert_eq!(
        run.template("t.jinja", &TemplateOptions::default())
            .unwrap(),
        "web"
    );
    let [warning] = &run.warnings()[..] else {
        panic!("one warning")
    };
    assert!(
        warning
            .message
            .contains("m.a() in salt://_grains/m.py are not computed"),
        "{}",
        warning.message
    );
    assert!(
        warning.message.contains("'subprocess.run'"),
        "{}",
        warning.message
    );
    assert!(
        warning
            .help
            .as_ref()
            .unwrap()
            .contains("grains.m.a: {return: {NAME: VALUE}}")
    );
}

#[test]
fn a_file_that_is_not_for_the_minion_is_no_warning() {
    for (says, warned) in [
        ("return False", false),
        ("return (False, 'only for Windows')", false),
        ("raise ValueError('x')", true),
    ] {
        let module =
            format!("def __virtual__():\n    {says}\ndef f():\n    return {{'role': 'web'}}\n");
        let engine = tree(&module);
        let known = engine.with_tree_grains(&debian("web1")).into_owned();
        assert!(known.grains.get("role").is_none());
        assert_eq!(!warnings(&engine, &known).is_empty(), warned, "{says}");
    }
}

#[test]
fn an_answer_that_was_written_down_is_taken_for_a_function() {
    let stubs = "grains.m.a: {return: {role: db}}\ngrains.m.b: {error: no such thing}\n";
    let engine = tree("def a():\n    open('/x')\ndef b():\n    open('/x')\n")
        .with_stubs(Stubs::parse(stubs, "stubs.yaml").unwrap());
    let known = engine.with_tree_grains(&debian("web1")).into_owned();
    assert_eq!(known.grains.get("role").unwrap().as_str(), Some("db"));
    let warnings = warnings(&engine, &known);
    assert!(
        warnings.len() == 1 && warnings[0].ends_with("left out, as in Salt: no such thing"),
        "{warnings:?}"
    );
}

#[test]
fn the_grains_of_a_document_are_all_there_are() {
    let engine = tree("def f():\n    return {'role': 'web'}\n");
    let minion = Minion::parse(b"{id: web1, grains: {os: Debian}}", "web1.yaml")
        .unwrap()
        .complete();
    assert_eq!(*engine.with_tree_grains(&minion), minion);
    assert!(engine.run(&minion).file_reads().is_empty());
}

#[test]
fn the_file_that_computed_a_grain_is_known() {
    let engine = tree("def f():\n    return {'role': 'web'}\n");
    let minion = engine.with_tree_grains(&debian("web1")).into_owned();
    let place = |name: &str| {
        FactPlaces::new(&minion)
            .find(Some(Part::Grains), &[name.into()])
            .unwrap()
            .to_string()
    };
    assert_eq!(place("role"), "salt://_grains/m.py");
    assert_eq!(place("os"), "the platform debian-12");
    let reads = engine.run(&minion).file_reads();
    let reads: Vec<&str> = reads.iter().map(|read| &*read.path).collect();
    assert!(
        reads.contains(&"_grains/") && reads.contains(&"_grains/m.py"),
        "{reads:?}"
    );
}

#[test]
fn each_minion_has_its_own() {
    let engine = tree("def f(grains):\n    return {'role': grains['id'][:-1]}\n");
    for (id, role) in [("web1", "web"), ("db1", "db"), ("web1", "web")] {
        let made = engine
            .run(&debian(id))
            .template("t.jinja", &TemplateOptions::default());
        assert_eq!(made.unwrap(), role);
    }
}

#[test]
fn grains_that_are_too_much_are_left_out() {
    let code = "def big():\n    return {'g%d' % i: 'x' * 1024 for i in range(9000)}\n\ndef small():\n    return {'role': 'web'}\n";
    let engine = Engine::new(MemoryFiles::new().file("base", "_grains/site.py", code));
    let minion = debian("web1");
    let known = engine.with_tree_grains(&minion);
    assert_eq!(known.grains.get("role"), Some(&Value::from("web")));
    assert_eq!(known.grains.get("g1"), None);
    let said = warnings(&engine, &minion).join("\n");
    assert!(said.contains("it returns more than 8 MiB"), "{said}");
    assert_eq!(engine.warnings_of_grains(&minion).len(), 1);
}
