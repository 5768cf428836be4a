//! External pillars that follow from files and options, beside the reference's, recorded; and their errors.

use std::sync::Arc;

use crate::common::{assert_repeated, records};
use crate::disk::write;
use crate::whole_pillar;
use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::Value;
use mapstack_pillar::{Master, PillarEvent, PillarRequest, WholeEvent, WholePillar};
use mapstack_salt_config::{Config, Kind};

/// Records whose result here differs on purpose, with the reason.
const DIFFERENCES: &[(&str, &str)] = &[];

#[test]
fn every_recorded_external_pillar_is_as_the_reference_has_it() {
    let records = records(include_str!("data/external_pillars.json"));
    assert_repeated(&records, DIFFERENCES, whole_pillar::check);
}

/// A master with external pillars.
fn master(external: &str) -> Master {
    let config = format!("pillar_roots: {{base: [/srv/pillar]}}\next_pillar: [{external}]\n");
    let config = Config::parse(config.as_bytes(), "master", Kind::Master).unwrap();
    Master::new(config, Arc::new(MemoryFiles::new())).with_events(true)
}

fn minion(text: &str) -> Minion {
    Minion::parse(text.as_bytes(), "web1.yaml")
        .unwrap()
        .complete()
}

fn compile(master: &Master, minion: &Minion) -> WholePillar {
    let engine = Engine::new(MemoryFiles::new());
    master
        .compile(&engine, minion, &PillarRequest::of(minion))
        .unwrap()
}

/// The only error for an external pillar.
fn error(external: &str) -> String {
    let pillar = compile(&master(external), &minion("{id: web1}"));
    let [error] = &pillar.errors[..] else {
        panic!("{:?}", pillar.errors)
    };
    error.error.to_string()
}

#[test]
fn arguments_that_are_not_there_are_errors_with_their_place() {
    let text = error("{file_tree: {root_dir: /srv/t, keep_newlines: true}}");
    assert!(text.starts_with("master:2:15: "), "{text}");
    assert!(
        text.contains("it has no argument 'keep_newlines'"),
        "{text}"
    );
    assert!(text.contains("did you mean 'keep_newline'?"), "{text}");
    let text = error("{nodegroups: [a, b]}");
    assert!(text.contains("at most 1 arguments, not 2"), "{text}");
    assert!(text.contains("its arguments are pillar_name"), "{text}");
    let text = error("{extra_minion_data_in_pillar: {}}");
    assert!(text.contains("needs the argument `include`"), "{text}");
    let text = error("{file_tree: 5}");
    assert!(
        text.contains("`root_dir` must be a path, not an integer"),
        "{text}"
    );
}

#[test]
fn what_gives_nothing_is_a_warning() {
    for (external, words) in [
        ("{file_tree: {}}", "no root_dir is given"),
        ("{file_tree: /nowhere/tree}", "is not a directory"),
        ("{file_tree: tree}", "is relative, and pillarenv is not set"),
    ] {
        let pillar = compile(&master(external), &minion("{id: web1}"));
        let [warning] = &pillar.warnings[..] else {
            panic!("{external}: {:?}", pillar.warnings)
        };
        assert!(warning.message.contains(words), "{warning:?}");
        assert!(warning.place.is_some() && warning.help.is_some());
        assert!(pillar.errors.is_empty());
    }
}

#[test]
fn no_file_is_read_that_lies_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[("secret", "s"), ("tree/hosts/web1/a", "x")]);
    std::os::unix::fs::symlink("../../../secret", dir.path().join("tree/hosts/web1/link")).unwrap();
    let root = dir.path().join("tree").display().to_string();
    let text = error(&format!("{{file_tree: {root}}}"));
    assert!(text.contains("hosts/web1/link"), "{text}");
    let pillar = |id: &str| compile(&master(&format!("{{file_tree: {root}}}")), &minion(id));
    let outside = pillar("{id: ../../tree/hosts/web1}");
    assert!(
        outside.errors[0]
            .error
            .to_string()
            .contains("names no directory")
    );
    assert!(pillar("{id: web2}").data.is_empty());
}

#[test]
fn links_that_lead_back_are_an_error() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[("hosts/web1/a", "x")]);
    std::os::unix::fs::symlink(".", dir.path().join("hosts/web1/again")).unwrap();
    let root = dir.path().display();
    let text = error(&format!(
        "{{file_tree: {{root_dir: {root}, follow_dir_links: true}}}}"
    ));
    assert!(text.contains("deeper than 32 directories"), "{text}");
    assert!(text.contains("does a link lead back"), "{text}");
}

#[test]
fn files_come_from_a_mounted_server_and_are_noted() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[("tree/hosts/web1/a", "now")]);
    let before = MemoryFiles::new()
        .file("base", "tree/hosts/web1/a", "before\n")
        .file("base", "tree/hosts/web1/sub/b", "old\n");
    let external = format!("{{file_tree: {}/tree}}", dir.path().display());
    let minion = minion("{id: web1}");
    let now = compile(&master(&external), &minion);
    assert_eq!(Value::from(now.data).to_string(), "{'a': 'now'}");
    let then = master(&external).mount(dir.path(), Arc::new(before));
    let engine = Engine::new(MemoryFiles::new());
    let (made, reads) = then.compile_noting(&engine, &minion, &PillarRequest::of(&minion));
    let made = Value::from(made.unwrap().data).to_string();
    assert_eq!(made, "{'sub': {'b': 'old'}, 'a': 'before'}");
    let read = |path: &str| reads.stacked.iter().any(|read| *read.path == *path);
    assert!(
        read("tree/hosts/web1/a") && read("tree/hosts/web1/sub/b"),
        "{:?}",
        reads.stacked
    );
}

#[test]
fn a_template_that_fails_says_where() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        &[("hosts/web1/a", "#!jinja\nx {{ grains.nosuch.x }}\n")],
    );
    let root = dir.path().display();
    let text = error(&format!(
        "{{file_tree: {{root_dir: {root}, template: true}}}}"
    ));
    assert!(text.contains("hosts/web1/a:2:"), "{text}");
}

#[test]
fn a_minion_without_a_master_has_bytes() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[("hosts/web1/a", "x\n")]);
    let config = format!(
        "file_client: local\nid: web1\npillar_roots: {{base: [/srv/pillar]}}\next_pillar: [{{file_tree: {}}}]\n",
        dir.path().display()
    );
    let config = Config::parse(config.as_bytes(), "minion", Kind::Minion).unwrap();
    let master = Master::new(config, Arc::new(MemoryFiles::new()));
    let pillar = compile(&master, &minion("{id: web1}"));
    assert_eq!(Value::from(pillar.data).to_string(), "{'a': b'x'}");
}

#[test]
fn a_minion_passes_options_on() {
    let options = "{id: web1, opts: {site: {a: 1, b: 2}, role: web, pass_to_ext_pillars: ['site:a', role, nosuch]}}";
    let external = "{extra_minion_data_in_pillar: '*'}";
    let pillar = compile(&master(external), &minion(options));
    assert_eq!(
        Value::from(pillar.data).to_string(),
        "{'site': {'a': 1}, 'role': 'web'}"
    );
    let malformed = minion("{id: web1, opts: {pass_to_ext_pillars: site}}");
    let engine = Engine::new(MemoryFiles::new());
    let error = master(external).compile(&engine, &malformed, &PillarRequest::of(&malformed));
    let text = error.unwrap_err().to_string();
    assert!(
        text.contains("pass_to_ext_pillars must be a list of texts, not a string"),
        "{text}"
    );
}

#[test]
fn nodegroups_see_the_pillar_so_far() {
    let config = "pillar_roots: {base: [/srv]}\nnodegroups: {webs: 'I@role:web', dbs: 'I@role:db'}\next_pillar: [{extra_minion_data_in_pillar: '*'}, {nodegroups: {}}]\n";
    let config = Config::parse(config.as_bytes(), "master", Kind::Master).unwrap();
    let master = Master::new(config, Arc::new(MemoryFiles::new())).with_events(true);
    let pillar = compile(
        &master,
        &minion("{id: web1, opts: {role: web, pass_to_ext_pillars: [role]}}"),
    );
    assert_eq!(
        pillar.data.get("nodegroups").unwrap().to_string(),
        "['webs']"
    );
    let names = pillar.events.iter().filter_map(|event| match event {
        PillarEvent::Whole(WholeEvent::External {
            name,
            problem: None,
            ..
        }) => Some(name.as_str()),
        _ => None,
    });
    let names: Vec<&str> = names.collect();
    assert_eq!(names, ["extra_minion_data_in_pillar", "nodegroups"]);
}

const OWN: &str = "\
def ext_pillar(minion_id, pillar, *args, **kwargs):
    pillar['in_place'] = True
    return {'own': {'id': minion_id, 'args': list(args), 'kw': kwargs, 'opts': __opts__['id'], 'mod': __salt__['m.f'](1),
                    'os': __grains__['os']}}
";

/// The reference's answer for these files; `Deployed` paths are those of the option `extension_modules`.
#[test]
fn external_pillars_of_the_tree_give_their_data() {
    let dir = tempfile::tempdir().unwrap();
    let ext = "def ext_pillar(minion_id, pillar, key):\n    return {key: minion_id}\n";
    write(dir.path(), &[("pillar/ext.py", ext)]);
    let tree = MemoryFiles::new()
        .file("base", "_pillar/own.py", OWN)
        .file("base", "_pillar/needs.py", "import requests\ndef ext_pillar(minion_id, pillar, url):\n    try:\n        return requests.get(url).json()\n    except Exception:\n        return {'hidden': 1}\n")
        .file("base", "_pillar/boom.py", "def ext_pillar(minion_id, pillar):\n    raise ValueError('no')\n")
        .file("base", "_pillar/never.py", "def __virtual__():\n    return False, 'not here'\ndef ext_pillar(minion_id, pillar):\n    return {}\n")
        .file("base", "_modules/m.py", "def f(x):\n    return 'v%s' % x\n");
    let deployed = mapstack::loader::Deployed::new();
    let deployed = deployed.folder("/srv/ext", dir.path()).unwrap();
    let engine = Engine::new(tree).with_deployed(deployed);
    let compile = |external: &str| {
        let config = format!(
            "id: master_id\nextension_modules: /srv/ext\npillar_roots: {{base: [/srv/pillar]}}\next_pillar: [{external}]\n"
        );
        let config = Config::parse(config.as_bytes(), "master", Kind::Master).unwrap();
        let master = Master::new(config, Arc::new(MemoryFiles::new()));
        let minion = minion("{id: web1, grains: {os: Debian}}");
        let request = PillarRequest::of(&minion);
        master.compile(&engine, &minion, &request).unwrap()
    };
    let own = "{'id': 'web1', 'args': ['text'], 'kw': {'x': 5}, 'opts': 'master_id', 'mod': 'v1', 'os': 'Debian'}";
    let pillar = compile("{own: [1, two]}, {own: {x: 5}}, {own: text}");
    assert_eq!(pillar.data.get("in_place"), Some(&Value::Bool(true)));
    assert_eq!(pillar.data.get("own").unwrap().to_string(), own);
    let pillar = compile("{ext: key}");
    assert_eq!(Value::from(pillar.data).to_string(), "{'key': 'web1'}");
    let pillar = compile("{boom: {}}");
    let error = pillar.errors[0].text.clone();
    assert!(
        error.starts_with("Failed to load ext_pillar boom: ")
            && error.contains("ValueError: no in _pillar/boom.py:2"),
        "{error}"
    );
    for (external, says) in [
        (
            "{needs: [u]}",
            "'needs' is left out: 'requests.get' is not available offline",
        ),
        (
            "{never: {}}",
            "'never' is left out: __virtual__() of salt://_pillar/never.py returns a false value: not here",
        ),
        ("{nosuch: {}}", "'nosuch' is left out"),
    ] {
        let pillar = compile(external);
        assert!(
            pillar.data.is_empty() && pillar.errors.is_empty(),
            "{external}"
        );
        let [warning] = &pillar.warnings[..] else {
            panic!("{external}: {:?}", pillar.warnings)
        };
        assert!(warning.to_string().contains(says), "{warning}");
    }
}
