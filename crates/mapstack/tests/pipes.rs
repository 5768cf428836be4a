//! Compares render pipes, `slsutil.renderer` and managed files with recorded results of the reference.

use crate::common::{assert_repeated, map, minion, records};
use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::{Map, Value};
use mapstack::{Engine, Run, TemplateOptions};

/// Records whose results differ deliberately, with the reason.
const DIFFERENCES: &[(&str, &str)] = &[
    (
        "sls: variables of a/init.sls as a.init",
        "an sls is asked for by its file here, so that it has one name",
    ),
    (
        "renderer: yamlex default",
        "mappings and texts of yamlex are like all others, and print as these do",
    ),
];

fn text<'r>(record: &'r Map, key: &str) -> Option<&'r str> {
    record.get(key).and_then(Value::as_str)
}

fn engine(record: &Map, files: &[(&str, &str)]) -> Engine {
    let recorded = map(record, "files");
    let recorded = recorded
        .iter()
        .map(|(path, text)| (path.to_string(), text.to_string()));
    let more = files
        .iter()
        .map(|(path, text)| ((*path).to_string(), (*text).to_string()));
    let files = recorded
        .chain(more)
        .fold(MemoryFiles::new(), |files, (path, text)| {
            files.file("base", &path, &text).file("dev", &path, &text)
        });
    Engine::new(files)
}

/// The outcome of a run, under the name that it has in the record.
fn answer(run: &Run<'_>, record: &Map) -> mapstack::Result<(&'static str, String)> {
    if let Some(template) = text(record, "template") {
        let options = TemplateOptions {
            engine: text(record, "engine").map(String::from),
            name: Some("/etc/managed".into()),
            context: map(record, "context"),
            defaults: map(record, "defaults"),
        };
        return run
            .template(template, &options)
            .map(|text| ("output", text));
    }
    if let Some(path) = text(record, "path") {
        return match record.contains_key("output") {
            true => run.sls_text(path).map(|text| ("output", text)),
            false => run.sls(path).map(|value| ("result", value.repr())),
        };
    }
    let mut context = Map::new();
    context.insert("args", record.get("args").cloned().unwrap_or_default());
    context.insert("kwargs", record.get("kwargs").cloned().unwrap_or_default());
    let options = TemplateOptions {
        context,
        ..TemplateOptions::default()
    };
    run.template("call.jinja", &options)
        .map(|text| ("result", text))
}

/// A file that makes the recorded call. Lists are printed as Python prints them.
const CALL: &str = "{% set made = salt['slsutil.renderer'](*args, **kwargs) %}{{ '%r' % [made] }}";

fn check(record: &Map) -> Result<(), String> {
    let engine = engine(record, &[("call.jinja", CALL)]);
    let run = engine.run(&minion(record));
    let answer = answer(&run, record);
    let wanted = ["output", "result"]
        .into_iter()
        .find_map(|key| Some((key, text(record, key)?)));
    match (&answer, wanted) {
        (Ok((key, got)), Some((wanted_key, wanted))) => {
            let inner = got.strip_prefix('[').and_then(|got| got.strip_suffix(']'));
            let got = if record.contains_key("args") {
                inner.unwrap_or(got)
            } else {
                got
            };
            if (*key, got) == (wanted_key, wanted) {
                return Ok(());
            }
            Err(format!(
                "got    {key} {got:?}\n  wanted {wanted_key} {wanted:?}"
            ))
        }
        (Err(_), None) => Ok(()),
        (Ok((_, got)), None) => Err(format!(
            "got {got:?}, wanted an error: {:?}",
            text(record, "message")
        )),
        (Err(e), Some((_, wanted))) => Err(format!("got an error: {e}\n  wanted {wanted:?}")),
    }
}

#[test]
fn every_recorded_pipe_is_repeated() {
    compare(include_str!("data/pipes.json"));
}

#[test]
fn every_recorded_pipe_of_python_is_repeated() {
    compare(include_str!("data/pipes_python.json"));
}

#[test]
fn every_recorded_pipe_of_stateconf_is_repeated() {
    compare(include_str!("data/pipes_stateconf.json"));
}

#[test]
fn every_recorded_pipe_of_other_renderers_is_repeated() {
    compare(include_str!("data/pipes_renderers.json"));
}

fn compare(text: &str) {
    assert_repeated(&records(text), DIFFERENCES, check);
}

#[test]
fn tplpath_is_where_the_file_lies() {
    let files = MemoryFiles::new().file(
        "base",
        "a/b.sls",
        "path: {{ tplpath }}\nloader: {{ renderers is defined }}\n",
    );
    let engine = Engine::new(files);
    let states = engine
        .run(&Minion::new("m").complete())
        .sls("salt://a/b.sls")
        .unwrap();
    assert_eq!(states.repr(), "{'path': 'a/b.sls', 'loader': False}");
}

#[test]
fn only_served_files_are_rendered() {
    for path in [
        "/etc/passwd",
        "file:///etc/passwd",
        "https://example.org/x.sls",
        "a/b.sls",
    ] {
        let call = format!("{{{{ salt['slsutil.renderer']('{path}') }}}}");
        let engine = Engine::new(
            MemoryFiles::new()
                .file("base", "a/b.sls", "a: 1")
                .file("base", "call", call),
        );
        let error = engine
            .run(&Minion::new("m").complete())
            .template("call", &TemplateOptions::default())
            .unwrap_err();
        assert!(
            error.to_string().contains("is not on the file server"),
            "{error}"
        );
    }
}

#[test]
fn a_path_on_the_disk_below_a_root_is_served_from_there() {
    let mut minion = Minion::new("web1");
    let roots = mapstack::yaml::load("{base: [/srv/salt], dev: [/srv/dev/]}").unwrap();
    minion.set("opts.file_roots", roots).unwrap();
    let minion = minion.complete();
    let rendered = |path: &str| {
        let call = format!("{{{{ salt['slsutil.renderer']('{path}') }}}}");
        let files = MemoryFiles::new()
            .file("base", "a.sls", "a: {{ grains.id }}")
            .file("dev", "b.sls", "b: 1")
            .file("base", "call", call);
        let made = Engine::new(files)
            .run(&minion)
            .template("call", &TemplateOptions::default());
        made.map_err(|error| error.to_string())
    };
    for (path, wanted) in [
        ("/srv/salt/a.sls", "{'a': 'web1'}"),
        ("file:///srv/salt/x/../a.sls", "{'a': 'web1'}"),
        ("/srv/dev/b.sls", "{'b': 1}"),
        ("/srv/salt/b.sls", "{}"),
    ] {
        assert_eq!(rendered(path).as_deref(), Ok(wanted), "{path}");
    }
    for path in ["/srv/salted/a.sls", "/srv/salt/../a.sls"] {
        let error = rendered(path).unwrap_err();
        assert!(
            error.contains(
                "nor below a root of the pillar or the file server (/srv/salt, /srv/dev)"
            ),
            "{error}"
        );
    }
}

#[test]
fn a_saltenv_holds_for_everything_a_pipe_loads() {
    let files = MemoryFiles::new()
        .file("base", "m.jinja", "{% set m = 'base' %}")
        .file("dev", "m.jinja", "{% set m = 'dev' %}")
        .file(
            "dev",
            "x.sls",
            "{% from 'm.jinja' import m %}m: {{ m }}\nenv: {{ saltenv }}\n",
        );
    let engine = Engine::new(files);
    let minion = Minion::new("m").complete();
    for states in [
        engine.run(&minion).sls("salt://x.sls?saltenv=dev").unwrap(),
        engine
            .run(&minion)
            .with_saltenv("dev")
            .sls("x.sls")
            .unwrap(),
    ] {
        assert_eq!(states.repr(), "{'m': 'dev', 'env': 'dev'}");
    }
}

/// State runs whose results differ deliberately, with the reason.
const RUNS_THAT_DIFFER: &[(&str, &str)] = &[
    ("options after changes", GIVEN),
    ("grains in options after changes", GIVEN),
    (
        "what a layer changes",
        "all templates of a run see the same grains, an sls that asked for the layer as well",
    ),
];
const GIVEN: &str = "options are as they were given";

/// The arguments of each state of an sls, as `state.show_sls` reports them in a state run of Salt without a master.
#[test]
fn every_recorded_state_run_is_repeated() {
    let records = records(include_str!("data/state_runs.json"));
    assert_repeated(&records, RUNS_THAT_DIFFER, |record| {
        let engine = engine(record, &[]);
        let pillar = mapstack_yaml::load(text(record, "pillar").unwrap()).unwrap();
        let minion = Minion {
            grains: map(record, "grains"),
            pillar: pillar.as_map().cloned().unwrap_or_default(),
            opts: [("file_client", "local")].into_iter().collect(),
            ..Minion::new("m")
        }
        .complete();
        let states = engine
            .run(&minion)
            .sls(&format!("{}.sls", text(record, "sls").unwrap()));
        let made = states
            .map(|states| given(&states))
            .map_err(|e| e.to_string());
        match (made, record.get("result")) {
            (Ok(made), Some(wanted)) if made == *wanted => Ok(()),
            (Err(_), None) => Ok(()),
            (made, wanted) => Err(format!("got    {made:?}\n  wanted {wanted:?}")),
        }
    });
}

/// The arguments of each state, by its id.
fn given(states: &Value) -> Value {
    let arguments = |state: &Value| -> Value {
        let calls = state.as_map().unwrap().values();
        let lists = calls.flat_map(|call| match call {
            Value::List(arguments) => arguments.to_vec(),
            other => panic!("{other:?}"),
        });
        let given: Map = lists
            .flat_map(|argument| argument.as_map().unwrap().clone())
            .collect();
        given.into()
    };
    let states: Map = states
        .as_map()
        .unwrap()
        .iter()
        .map(|(id, state)| (id.clone(), arguments(state)))
        .collect();
    states.into()
}

/// An sls shares its grains with functions, but not its pillar; `slsutil.renderer` gets copies of both.
#[test]
fn an_sls_changes_a_pillar_of_its_own() {
    let shown = |key: &str| {
        format!(
            "[{{{{ salt['pillar.get']('{key}', 'x') }}}}, {{{{ pillar.{key}|default('x') }}}}, \
             {{{{ salt['grains.get']('{key}', 'x') }}}}, {{{{ grains.{key}|default('x') }}}}]"
        )
    };
    let change = |key: &str| {
        format!("{{% do pillar.update({{'{key}': 1}}) %}}{{% do grains.update({{'{key}': 1}}) %}}")
    };
    let outer = [
        format!("before: {}", shown("inner")),
        "inner: {{ salt['slsutil.renderer']('salt://inner.sls')|json }}".into(),
        format!("after: {}", shown("inner")),
        format!("{}own: {}", change("own"), shown("own")),
        "inside: {{ salt['slsutil.renderer'](string='a: {{ pillar.own|default(7) }}').a }}".into(),
        "options: {{ opts.pillar.own|default('x') }}".into(),
    ];
    let files = MemoryFiles::new()
        .file("base", "outer.sls", outer.join("\n"))
        .file(
            "base",
            "inner.sls",
            format!("{}a: {}", change("inner"), shown("inner")),
        );
    let engine = Engine::new(files);
    let states = engine
        .run(&Minion::new("m").complete())
        .sls("outer.sls")
        .unwrap();
    let wanted = "{'before': ['x', 'x', 'x', 'x'], 'inner': {'a': ['x', 1, 'x', 1]}, 'after': ['x', 'x', 'x', 'x'], \
                  'own': ['x', 1, 1, 1], 'inside': 7, 'options': 'x'}";
    assert_eq!(states.repr(), wanted);
}

/// As in Salt, layers of `map.data` and managed files share the pillar with functions.
#[test]
fn what_functions_render_shares_its_pillar_with_them() {
    let template = "{% do pillar.update({'x': 1}) %}{{ salt['pillar.get']('x') }}";
    let engine = Engine::new(MemoryFiles::new().file("base", "x.conf", template));
    let text = engine
        .run(&Minion::new("m").complete())
        .template("x.conf", &TemplateOptions::default())
        .unwrap();
    assert_eq!(text, "1");
}

#[test]
fn a_minion_without_a_master_has_rendered_its_pillar() {
    let template = "{{ pillar.m|string }} {{ pillar.m|yaml }} {{ salt['pillar.get']('m')|string }}";
    let engine = Engine::new(MemoryFiles::new().file("base", "x.conf", template));
    let rendered = |opts: &str| {
        let document = format!("pillar: {{m: {{zeta: 1, alpha: 2}}}}\nopts: {opts}\n");
        let minion = Minion::parse(document.as_bytes(), "minion")
            .unwrap()
            .complete();
        engine
            .run(&minion)
            .template("x.conf", &TemplateOptions::default())
            .unwrap()
    };
    let ordered = "OrderedDict([('zeta', 1), ('alpha', 2)])";
    assert_eq!(
        rendered("{file_client: local}"),
        format!("{ordered} {{zeta: 1, alpha: 2}} {ordered}")
    );
    let plain = "{'zeta': 1, 'alpha': 2}";
    assert_eq!(
        rendered("{}"),
        format!("{plain} {{alpha: 2, zeta: 1}} {plain}")
    );
}

#[test]
fn ciphertext_stays_in_states() {
    let message = "-----BEGIN PGP MESSAGE-----\\n\\nhQ\\n-----END PGP MESSAGE-----";
    let sls = |secret: &str| format!("x: {{plain: 1, secret: \"{secret}\"}}\n");
    let files = MemoryFiles::new()
        .file("base", "plain.sls", sls("none"))
        .file(
            "base",
            "named.sls",
            format!("#!jinja|yaml|gpg\n{}", sls(message)),
        )
        .file(
            "base",
            "boxed.sls",
            format!("#!yaml|nacl\n{}", sls("NACL[one]")),
        )
        .file("base", "first.sls", format!("#!gpg|yaml\n{}", sls("none")));
    let engine = Engine::new(files);
    let mut given = Minion::new("web1");
    given.opts.insert("renderer", "jinja | yaml | gpg");
    let given = given.complete();
    for (sls, secret, warnings) in [
        ("plain.sls", "none", &[][..]),
        ("first.sls", "none", &[]),
        (
            "named.sls",
            &message.replace("\\n", "\n"),
            &["PGP messages stay ciphertext"],
        ),
        ("boxed.sls", "NACL[one]", &["NaCl boxes stay ciphertext"]),
    ] {
        let run = engine.run(&given);
        let made = run.sls(sls).unwrap();
        let found = made.as_map().unwrap().get("x").unwrap().as_map().unwrap();
        assert_eq!(found.get("secret").unwrap().as_str(), Some(secret), "{sls}");
        let said: Vec<String> = run.warnings().iter().map(|w| w.message.clone()).collect();
        assert_eq!(said.len(), warnings.len(), "{said:?}");
        for (said, end) in said.iter().zip(warnings) {
            assert!(said.ends_with(end), "{said}");
        }
    }
}

#[test]
fn a_byte_order_mark_is_a_part_of_text_and_not_of_data() {
    let files = MemoryFiles::new()
        .file("base", "y.jinja", "\u{feff}{% import_text 't.txt' as t %}[{{ t }}][{% include 't.txt' %}]\
            [{{ salt['cp.get_file_str']('salt://t.txt') }}]{% import_yaml 't.yaml' as y %}{{ y.a }}")
        .file("base", "t.txt", "\u{feff}x")
        .file("base", "t.yaml", "\u{feff}a: 1\n")
        .file("base", "t.json", "\u{feff}{\"a\": 1}")
        .file("base", "j.jinja", "{% import_json 't.json' as j %}");
    let engine = Engine::new(files);
    let run = engine.run(&Minion::new("web1").complete());
    let options = TemplateOptions::default();
    let printed = run.template("salt://y.jinja", &options).unwrap();
    assert_eq!(printed, "\u{feff}[\u{feff}x][\u{feff}x][\u{feff}x]1");
    let error = run.template("salt://j.jinja", &options).unwrap_err();
    assert!(error.to_string().contains("Unable to load json"), "{error}");
}

#[test]
fn lines_of_templates_end_as_the_machine_ends_them() {
    let text = "a {{ 1 }}\nb\x0bc\r\nd";
    let files = MemoryFiles::new()
        .file("base", "y.jinja", text)
        .file("base", "end.jinja", "a\n")
        .file(
            "base",
            "r.jinja",
            "{{ salt['slsutil.renderer']('salt://end.jinja', default_renderer='jinja') | tojson }}",
        );
    let engine = Engine::new(files);
    let printed = |kernel: &str, path: &str| {
        let mut minion = Minion::new("web1");
        minion.grains.insert("kernel", kernel);
        let run = engine.run(&minion.complete());
        run.template(path, &TemplateOptions::default()).unwrap()
    };
    assert_eq!(printed("Linux", "y.jinja"), "a 1\nb\x0bc\nd");
    assert_eq!(printed("Windows", "y.jinja"), "a 1\r\nb\r\nc\r\nd");
    assert_eq!(printed("Windows", "r.jinja"), "\"a\\r\\n\"");
}
