//! Whole pillars beside the reference's, recorded: what a master compiles, and where it ends.

use std::sync::Arc;

use crate::common::{assert_repeated, records};
use crate::whole_pillar;
use mapstack::loader::{FileServer, MemoryFiles};
use mapstack::minion::Minion;
use mapstack::trace::FileReadKind;
use mapstack::value::{Map, Value};
use mapstack::{Call, CallError, Engine, ErrorKind, Functions, Limits};
use mapstack_pillar::{Master, PillarEvent, PillarRequest, SlsOutcome, WholeEvent, WholePillar};
use mapstack_salt_config::{Config, Kind};

/// Records whose result here differs on purpose, with the reason.
const DIFFERENCES: &[(&str, &str)] = &[];

#[test]
fn every_recorded_pillar_is_as_the_reference_has_it() {
    let records = records(include_str!("data/whole_pillars.json"));
    assert_repeated(&records, DIFFERENCES, whole_pillar::check);
}

const MASTER: &str = "pillar_roots: {base: [/srv/pillar]}\n";

/// A master with files of its pillar in memory.
fn master(options: &str, files: &[(&str, &str)]) -> Master {
    let config = Config::parse(
        format!("{MASTER}{options}").as_bytes(),
        "master",
        Kind::Master,
    );
    let server = files.iter().fold(MemoryFiles::new(), |all, (path, text)| {
        all.file("base", path, *text)
    });
    Master::new(config.unwrap(), Arc::new(server)).with_events(true)
}

fn web1() -> Minion {
    Minion::parse(b"{id: web1, grains: {os: Debian}}", "web1.yaml")
        .unwrap()
        .complete()
}

fn compile(master: &Master) -> mapstack::Result<WholePillar> {
    master.compile(
        &Engine::new(MemoryFiles::new()),
        &web1(),
        &PillarRequest::default(),
    )
}

#[test]
fn a_top_file_renders_files_of_the_pillar_by_their_paths_on_the_disk() {
    let top = "{% set id = salt['slsutil.renderer']('/srv/pillar/id/' ~ grains.id ~ '.sls') %}\nbase: {'*': {{ id.roles|json }}}\n";
    let files = [
        ("top.sls", top),
        ("id/web1.sls", "roles: [web, db]\n"),
        ("web.sls", "a: 1\n"),
        (
            "db.sls",
            "b: {{ salt['slsutil.renderer']('/srv/pillar/nope.sls') }}\n",
        ),
    ];
    let made = compile(&master("", &files)).unwrap();
    assert_eq!(Value::from(made.data).repr(), "{'a': 1, 'b': {}}");
    let [warning] = &made.warnings[..] else {
        panic!("one warning")
    };
    assert!(
        warning
            .message
            .contains("/srv/pillar/nope.sls does not exist"),
        "{}",
        warning.message
    );
}

#[test]
fn errors_say_what_the_reference_says_and_where_it_is_wrong() {
    let files = [
        ("top.sls", "base:\n  '*': [web, comon]\n"),
        ("web.sls", "a: 1\nb: {{ grains.nosuch }}\n"),
        ("common.sls", "c: 1\n"),
    ];
    let pillar = compile(&master("", &files)).unwrap();
    let [render, missing] = &pillar.errors[..] else {
        panic!("{:?}", pillar.errors)
    };
    assert_eq!(
        render.text,
        "Rendering SLS 'web' failed. Please see master log for details."
    );
    let place = render.error.diagnostic().place.as_ref().unwrap();
    assert!(place.file.ends_with("web.sls"), "{place:?}");
    assert_eq!((place.line(), place.column()), (2, 7));
    assert_eq!(
        missing.text,
        "Specified SLS 'comon' in environment 'base' is not available on the salt master"
    );
    let help = missing.error.diagnostic().help.clone();
    assert_eq!(help.as_deref(), Some("did you mean 'common'?"));
    let texts = Value::from_iter([render.text.as_str(), missing.text.as_str()]);
    assert_eq!(pillar.data.get("_errors"), Some(&texts));
}

#[test]
fn a_top_file_that_cannot_be_merged_says_where() {
    let files = [("top.sls", "base:\n  '*':\n    - web\n  'db*':\n")];
    let pillar = compile(&master("", &files)).unwrap();
    let [error] = &pillar.errors[..] else {
        panic!("{:?}", pillar.errors)
    };
    assert_eq!(
        error.text,
        "Error encountered while rendering pillar top file."
    );
    let place = error.error.diagnostic().place.as_ref().unwrap();
    assert_eq!((place.line(), place.column()), (4, 3));
    assert!(error.error.to_string().contains("a list of sls, not null"));
}

#[test]
fn a_matcher_that_there_is_not_ends_the_compile() {
    let files = [(
        "top.sls",
        "base:\n  'os:x':\n    - match: grian\n    - web\n",
    )];
    let error = compile(&master("", &files)).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("top.sls:2:3"), "{text}");
    assert!(
        text.contains("the matcher 'grian' does not exist"),
        "{text}"
    );
    assert!(text.contains("did you mean 'grain'?"), "{text}");
}

#[test]
fn a_trace_has_the_reasons_in_order() {
    let files = [
        (
            "top.sls",
            "base:\n  'web*':\n    - match: glob\n    - web\n  'db*': [db]\n",
        ),
        ("web.sls", "include: [common, common]\na: 1\n"),
        ("common.sls", "b: {{ sls }}\n"),
    ];
    let events = compile(&master("", &files)).unwrap().events;
    let shown = events.iter().map(|event| match event {
        PillarEvent::Whole(WholeEvent::Top { path, .. }) => format!("top {}", path.is_some()),
        PillarEvent::Whole(WholeEvent::Target {
            target,
            matcher,
            place,
            is_match,
            ..
        }) => {
            let place = place.as_ref().unwrap();
            format!(
                "{target} {matcher} {}:{} {is_match}",
                place.line(),
                place.column()
            )
        }
        PillarEvent::Whole(WholeEvent::Sls {
            sls,
            included_by,
            outcome,
            ..
        }) => format!("{sls} {included_by:?} {outcome:?}"),
        other => format!("{other:?}"),
    });
    let shown: Vec<String> = shown.collect();
    let by = Some("web");
    let expected = [
        "top true".into(),
        "web* glob 2:3 true".into(),
        "db* compound 5:3 false".into(),
        format!("web None {:?}", SlsOutcome::Read(2)),
        format!("common {by:?} {:?}", SlsOutcome::Read(1)),
    ];
    assert_eq!(shown[..5], expected);
    // A plain name is looked up twice, so the include counts twice; two of them are four.
    assert_eq!(shown.len(), 8);
    assert!(shown[5..].iter().all(|event| event.ends_with("Again")));
}

#[test]
fn an_sls_that_merges_into_an_anchor_of_another_is_a_warning() {
    let files = [
        ("top.sls", "base:\n  '*': [users, web]\n"),
        ("users.sls", "ann: &usual {shell: zsh}\nbob: *usual\n"),
        ("web.sls", "ann: {shell: fish}\n"),
    ];
    let pillar = compile(&master("", &files)).unwrap();
    let data = Value::Map(pillar.data);
    assert_eq!(
        data.repr(),
        "{'ann': {'shell': 'fish'}, 'bob': {'shell': 'zsh'}}"
    );
    let [warning] = &pillar.warnings[..] else {
        panic!("{:?}", pillar.warnings);
    };
    assert_eq!(
        warning.message,
        "the sls 'web' changes 'ann', which a YAML anchor makes one mapping with 'bob': Salt changes both, mapstack only 'ann'"
    );
    let pillar = compile(&master(
        "pillar_source_merging_strategy: overwrite\n",
        &files,
    ))
    .unwrap();
    assert_eq!(pillar.warnings, []);
}

#[test]
fn ciphertext_stays_and_is_named() {
    let secret = "-----BEGIN PGP MESSAGE-----\n\nhQ\n-----END PGP MESSAGE-----";
    let sls = format!(
        "#!jinja|yaml|gpg\nusers:\n  - pw: |\n      {}\nplain: x\n",
        secret.replace('\n', "\n      ")
    );
    let files = [("top.sls", "base: {'*': [a]}"), ("a.sls", sls.as_str())];
    let pillar = compile(&master("", &files)).unwrap();
    assert!(pillar.errors.is_empty(), "{:?}", pillar.errors);
    assert_eq!(pillar.encrypted, ["users:0:pw"]);
    // Salt removes line ends behind a message that it has no key for.
    let shown = Value::Map(pillar.data.clone()).repr();
    assert!(shown.contains("END PGP MESSAGE-----'"), "{shown}");
    let [warning] = &pillar.warnings[..] else {
        panic!("{:?}", pillar.warnings)
    };
    assert!(
        warning
            .message
            .ends_with("a.sls: PGP messages stay ciphertext")
    );
    assert_eq!(warning.place.as_ref().unwrap().line(), 1);
    let plain = sls.replace("#!jinja|yaml|gpg\n", "");
    let files = [("top.sls", "base: {'*': [a]}"), ("a.sls", plain.as_str())];
    let pillar = compile(&master("decrypt_pillar: [users]\n", &files)).unwrap();
    assert_eq!(pillar.encrypted, ["users:0:pw"]);
    assert_eq!(
        pillar.warnings[0].message,
        "the key 'users' of the pillar stays ciphertext"
    );
}

#[test]
fn a_text_below_a_key_is_text() {
    let files = [
        ("top.sls", "base: {'*': [a]}"),
        ("a.sls", "include: [{b: {key: 'k:l'}}]\n"),
        ("b.sls", "#!jinja\ntext"),
    ];
    let pillar = compile(&master("", &files)).unwrap();
    assert!(!pillar.errors.is_empty());
    let k = pillar.data.get("k").unwrap().repr();
    assert!(k.ends_with("text'}"), "{k}");
}

#[test]
fn the_options_keep_the_grains_that_were_asked_with() {
    let sls = "{% do grains.update({'fresh': 1}) %}a: {{ grains.fresh }}\nb: {{ opts.grains.fresh | default('none') }}\n";
    let files = [("top.sls", "base: {'*': [a]}"), ("a.sls", sls)];
    let pillar = compile(&master("", &files)).unwrap();
    assert_eq!(Value::Map(pillar.data).repr(), "{'a': 1, 'b': 'none'}");
}

#[test]
fn boxes_of_nacl_stay_unless_something_answers() {
    let sls = "#!yaml|nacl\na: ['NACL[one]', 'see NACL[one]']\n";
    let files = [("top.sls", "base: {'*': [a]}"), ("a.sls", sls)];
    let pillar = compile(&master(
        "decrypt_pillar: [a: nacl]\ndecrypt_pillar_renderers: [nacl]\n",
        &files,
    ))
    .unwrap();
    assert!(pillar.errors.is_empty(), "{:?}", pillar.errors);
    assert_eq!(pillar.encrypted, ["a:0"]);
    let warnings: Vec<&str> = pillar.warnings.iter().map(|it| &*it.message).collect();
    let [of_sls, of_key] = &warnings[..] else {
        panic!("{warnings:?}")
    };
    assert!(of_sls.ends_with("a.sls: NaCl boxes stay ciphertext"));
    assert_eq!(*of_key, "the key 'a' of the pillar stays ciphertext");
    let pillar = decrypted("", sls);
    assert_eq!(
        pillar.data.get("a").unwrap().repr(),
        "['what one says', 'see NACL[one]']"
    );
    assert!(pillar.encrypted.is_empty() && pillar.warnings.is_empty());
    // Before YAML is read, the whole text would have to be a box.
    let pillar = compile(&master("", &[files[0], ("a.sls", "#!nacl|yaml\nb: 1\n")])).unwrap();
    assert_eq!(pillar.data.get("b"), Some(&1.into()));
}

#[test]
fn external_pillars_that_are_not_made_here_are_errors_by_name() {
    let files = [("top.sls", "base: {'*': [a]}"), ("a.sls", "a: 1")];
    let pillar = compile(&master(
        "ext_pillar: [{vault: x}, {own_module: 1}]\n",
        &files,
    ))
    .unwrap();
    let [error] = &pillar.errors[..] else {
        panic!("{:?}", pillar.errors)
    };
    assert!(error.text.starts_with("Failed to load ext_pillar vault: "));
    assert_eq!(error.error.kind(), ErrorKind::Unsupported);
    assert!(error.error.to_string().starts_with("master:2:15: "));
    assert_eq!(pillar.warnings.len(), 1, "{:?}", pillar.warnings);
    assert!(pillar.warnings[0].message.contains("'own_module'"));
}

#[test]
fn a_command_that_is_not_permitted_is_an_error() {
    let options = "ext_pillar: [{cmd_yaml: 'echo a: 1'}]\n";
    let pillar = compile(&master(options, &[("top.sls", "base: {}")])).unwrap();
    let error = pillar.errors[0].error.to_string();
    assert!(error.contains("cmd.run_stdout"), "{error}");
    assert!(error.starts_with("master:2:15: "), "{error}");
}

#[test]
fn the_options_of_the_master_can_be_part_of_the_pillar() {
    let pillar = compile(&master("pillar_opts: true\nsite: here\n", &[])).unwrap();
    let options = pillar.data.get("master").and_then(Value::as_map).unwrap();
    assert_eq!(options.get("site").unwrap().as_str(), Some("here"));
    assert_eq!(options.get("id").unwrap().as_str(), Some("web1"));
    assert!(options.contains_key("saltversion"));
}

#[test]
fn includes_that_do_not_end_are_bounded() {
    let deep: Vec<(String, String)> = (0..200)
        .map(|i| (format!("s{i}.sls"), format!("include: [s{}]\n", i + 1)))
        .collect();
    let mut files = vec![("top.sls", "base: {'*': [s0]}")];
    files.extend(deep.iter().map(|(name, text)| (&**name, &**text)));
    let endless = [
        ("top.sls", "base: {'*': [s]}"),
        ("s/init.sls", "include: [.]\n"),
    ];
    for files in [&files[..], &endless] {
        let error = compile(&master("", files)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert!(error.to_string().contains("nest deeper"), "{error}");
    }
}

#[test]
fn the_steps_of_a_compile_are_bounded() {
    let many: Vec<(String, String)> = (0..300)
        .map(|i| {
            (
                format!("m/s{i}.sls"),
                "include: ['m.*']\na: [1, 2]\n".into(),
            )
        })
        .collect();
    let mut files = vec![("top.sls", "base: {'*': ['m.*']}")];
    files.extend(many.iter().map(|(name, text)| (&**name, &**text)));
    let error = compile(&master("", &files)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    let limits = Limits {
        fuel: 500,
        ..Limits::default()
    };
    let engine = Engine::new(MemoryFiles::new()).with_limits(limits);
    let small = [
        ("top.sls", "base: {'*': [a]}"),
        (
            "a.sls",
            "{% for i in range(1000) %}\na{{ i }}: 1\n{% endfor %}\n",
        ),
    ];
    let error = master("", &small)
        .compile(&engine, &web1(), &PillarRequest::default())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}

/// Notes which files are requested.
struct RequestLog(MemoryFiles, std::sync::Mutex<Vec<String>>);

impl FileServer for RequestLog {
    fn fetch(
        &self,
        path: &mapstack::loader::SaltPath,
        saltenv: &str,
    ) -> Result<mapstack::loader::Fetched, mapstack::loader::LoadError> {
        self.1.lock().unwrap().push(path.to_string());
        self.0.fetch(path, saltenv)
    }

    fn find_all(
        &self,
        path: &mapstack::loader::SaltPath,
        saltenv: &str,
    ) -> Result<Vec<std::path::PathBuf>, mapstack::loader::LoadError> {
        self.0.find_all(path, saltenv)
    }

    fn list(
        &self,
        saltenv: &str,
        prefix: &str,
    ) -> Result<Vec<String>, mapstack::loader::LoadError> {
        self.0.list(saltenv, prefix)
    }

    fn envs(&self) -> Vec<String> {
        self.0.envs()
    }
}

#[test]
fn names_of_sls_do_not_lead_out_of_the_roots() {
    let files = MemoryFiles::new()
        .file("base", "top.sls", "base: {'*': [/etc/x, a]}")
        .file("base", "a.sls", "include: ['/etc/y', '....z']\n");
    let server = Arc::new(RequestLog(files, Default::default()));
    let config = Config::parse(MASTER.as_bytes(), "master", Kind::Master).unwrap();
    let master = Master::new(config, server.clone());
    let pillar = compile(&master).unwrap();
    assert!(!pillar.errors.is_empty());
    let asked = server.1.lock().unwrap();
    assert!(
        asked
            .iter()
            .all(|path| !path.starts_with('/') && !path.contains("..")),
        "{asked:?}"
    );
}

#[test]
fn questions_for_files_do_not_lead_out_of_the_roots() {
    for path in ["/srv/pillar/a.sls", "../pillar/a.sls", "sub/../a.sls"] {
        let sls = format!("a: {{{{ salt['pillar.file_exists']('{path}') }}}}\n");
        let files = [("top.sls", "base: {'*': [a]}"), ("a.sls", &*sls)];
        let made = compile(&master("", &files)).unwrap();
        let [error] = &made.errors[..] else {
            panic!("{path}: {:?}", made.data)
        };
        let shown = format!("{:#}", error.error);
        assert!(
            shown.contains("can lead out of the pillar's roots"),
            "{shown}"
        );
    }
}

#[test]
fn files_that_templates_ask_for_are_reads_of_the_pillar() {
    let sls = "a: {{ salt['pillar.file_exists']('nosuch.sls') }}\n";
    let files = [("top.sls", "base: {'*': [a]}"), ("a.sls", sls)];
    let engine = Engine::new(MemoryFiles::new());
    let (_, reads) = master("", &files).compile_noting(&engine, &web1(), &PillarRequest::default());
    let read = reads.pillar.iter().find(|read| &*read.path == "nosuch.sls");
    assert_eq!(read.map(|read| read.kind), Some(FileReadKind::Absent));
}

#[test]
fn a_template_that_does_not_exist_was_looked_for_in_the_pillar_roots() {
    let sls = "{% from 'lib.jinja' import x %}\n";
    let files = [("top.sls", "base: {'*': [a]}"), ("a.sls", sls)];
    let pillar = compile(&master("", &files)).unwrap();
    let error = pillar.errors[0].error.diagnostic();
    assert_eq!(
        error.help.as_deref(),
        Some(
            "no file lib.jinja in the pillar roots of saltenv 'base', where templates of a pillar load others from"
        )
    );
}

#[test]
fn functions_of_a_pillar_do_not_answer_for_the_minions_machine() {
    for (call, says) in [
        (
            "network.ip_addrs']()",
            "it answers about the master and not about the minion",
        ),
        (
            "network.interface_ip']('eth0')",
            "it answers about the master",
        ),
        (
            "network.ip_in_subnet'](none, '10.0.0.0/8')",
            "it answers about the master",
        ),
        (
            "test.cross_test']('network.hwaddr', 'eth0')",
            "network.hwaddr",
        ),
        ("pillar.items']()", "compiles that pillar again"),
        ("state.sls_exists']('a')", "compiles that pillar again"),
        ("saltutil.list_extmods']()", "synced to the master"),
    ] {
        let sls = format!("a: {{{{ salt['{call} }}}}\n");
        let files = [("top.sls", "base: {'*': [a]}"), ("a.sls", &*sls)];
        let pillar = compile(&master("", &files)).unwrap();
        let error = pillar.errors.first().map(|one| one.error.to_string());
        assert!(
            error.as_ref().is_some_and(|e| e.contains(says)),
            "{call}: {error:?}"
        );
    }
    // Arithmetic on addresses needs no machine, and without a master it is the minion's own.
    let arithmetic = "a: {{ salt['network.ip_in_subnet']('10.0.0.5', '10.0.0.0/8') }}\n";
    let own = "a: {{ salt['network.in_subnet']('10.0.0.0/8') }}\n";
    for (options, sls) in [
        ("", arithmetic),
        ("__role: minion\nfile_client: local\n", own),
    ] {
        let files = [("top.sls", "base: {'*': [a]}"), ("a.sls", sls)];
        let minion = Minion::parse(
            b"{id: web1, grains: {ipv4: [10.0.0.5], ipv6: []}}",
            "web1.yaml",
        );
        let engine = Engine::new(MemoryFiles::new());
        let pillar = master(options, &files)
            .compile(
                &engine,
                &minion.unwrap().complete(),
                &PillarRequest::default(),
            )
            .unwrap();
        assert_eq!(
            pillar.data.get("a"),
            Some(&Value::from(true)),
            "{:?}",
            pillar.errors
        );
    }
}

#[test]
fn a_minion_gets_what_messagepack_carries() {
    let sls = "big: 18446744073709551616\nfits: 18446744073709551615\nset: !!set {a, b}\n\
               py: {{ grains.big | json }}\n";
    let files = [("top.sls", "base: {'*': [a]}"), ("a.sls", sls)];
    let minion = "{id: web1, grains: {big: -9223372036854775809}}";
    let data = |options: &str| {
        let minion = Minion::parse(minion.as_bytes(), "web1.yaml").unwrap();
        let engine = Engine::new(MemoryFiles::new());
        let made =
            master(options, &files).compile(&engine, &minion.complete(), &PillarRequest::default());
        Value::from(made.unwrap().data).repr()
    };
    assert_eq!(
        data(""),
        "{'big': '18446744073709551616', 'fits': 18446744073709551615, 'set': ['a', 'b'], \
         'py': '-9223372036854775809'}"
    );
    assert_eq!(
        data("__role: minion\nfile_client: local\n"),
        "{'big': 18446744073709551616, 'fits': 18446744073709551615, 'set': {'a', 'b'}, \
         'py': -9223372036854775809}"
    );
}

#[test]
fn an_sls_that_there_is_not_has_the_place_of_its_name() {
    let top = "base:\n  'db*': [none]\n  '*':\n    - match: glob\n    - a\n    - none\n";
    let files = [
        ("top.sls", top),
        ("a.sls", "include:\n  - b\n  - no.one\n"),
        ("b.sls", "include: [{no.two: {key: x}}]\n"),
    ];
    let made = compile(&master("", &files)).unwrap();
    let places = made.failures().into_iter().map(|error| {
        let place = error.diagnostic().place.clone().unwrap();
        format!("{}:{}:{}", place.file, place.line(), place.column())
    });
    assert_eq!(
        places.collect::<Vec<_>>(),
        ["b.sls:1:12", "a.sls:3:5", "top.sls:6:7"]
    );
    // A plain include counts twice, and so do its errors.
    assert!(made.errors.len() > 3);
}

#[test]
fn a_file_that_git_crypt_has_encrypted_says_so() {
    let server = MemoryFiles::new()
        .file("base", "top.sls", "base: {'*': [a]}")
        .file("base", "a.sls", b"\0GITCRYPT\0\xff\xfe");
    let config = Config::parse(MASTER.as_bytes(), "master", Kind::Master).unwrap();
    let made = compile(&Master::new(config, Arc::new(server))).unwrap();
    // It says the same in every state of the files, so that two states can be compared.
    let failures = made.failures();
    let diagnostic = failures[0].diagnostic();
    assert_eq!(diagnostic.message, "a.sls is encrypted by git-crypt");
    let help = diagnostic.help.as_deref().unwrap_or_default();
    assert!(help.contains("git-crypt unlock"), "{help}");
}

#[test]
fn stacked_files_can_come_from_a_file_server() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().to_str().unwrap();
    std::fs::write(dir.path().join("stack.cfg"), "core.yml\n").unwrap();
    std::fs::write(dir.path().join("core.yml"), "a: now\n").unwrap();
    let before = MemoryFiles::new()
        .file("base", "stack.cfg", "core.yml\nroles/*.yml\n")
        .file("base", "core.yml", "a: before\n")
        .file("base", "roles/web.yml", "role: {{ minion_id }}\n");
    let options = format!("ext_pillar: [{{stack: {top}/stack.cfg}}]\n");
    let pillar = |master: Master| {
        let pillar = compile(&master).unwrap();
        assert_eq!(pillar.warnings, []);
        Value::from(pillar.data).to_string()
    };
    let now = || master(&options, &[]);
    assert_eq!(pillar(now()), "{'a': 'now'}");
    let then = now().mount(dir.path(), Arc::new(before));
    assert_eq!(pillar(then), "{'a': 'before', 'role': 'web1'}");
}

#[test]
fn a_pillar_on_demand_needs_a_list_of_external_pillars() {
    let files = [("top.sls", "base: {'*': [a]}\n"), ("a.sls", "a: 1\n")];
    let ext: Value = Map::from_iter([("stack", Value::from("/nowhere"))]).into();
    for (options, ends) in [
        ("ext_pillar: {stack: /srv/stack.cfg}\n", true),
        ("ext_pillar: text\n", true),
        ("ext_pillar: []\n", false),
        ("", false),
    ] {
        let options = format!("{options}on_demand_ext_pillar: [stack]\n");
        let master = master(&options, &files);
        let compiled = |ext: Option<Value>| {
            let ask = PillarRequest {
                ext,
                ..PillarRequest::default()
            };
            master.compile(&Engine::new(MemoryFiles::new()), &web1(), &ask)
        };
        let asked = compiled(Some(ext.clone()));
        assert_eq!(asked.is_err(), ends, "{options}");
        if let Err(error) = asked {
            let text = error.to_string();
            assert!(
                text.contains("must be a list for a pillar on demand"),
                "{text}"
            );
        }
        assert!(compiled(None).is_ok(), "{options}");
    }
}

/// A PGP message of which a [`Keys`] knows what it says.
fn message(says: &str) -> String {
    format!("-----BEGIN PGP MESSAGE-----\n\n{says}\n-----END PGP MESSAGE-----")
}

/// Decrypts what [`message`] makes, unless it says `lost`, and every box of NaCl.
struct Keys;

impl Functions for Keys {
    fn has(&self, name: &str) -> bool {
        matches!(name, "gpg.decrypt" | "nacl.dec")
    }

    fn has_module(&self, module: &str) -> bool {
        matches!(module, "gpg" | "nacl")
    }

    fn call(&self, call: &Call) -> Option<Result<Value, CallError>> {
        if &*call.name == "nacl.dec" {
            let says = format!("what {} says", call.args.first()?);
            return Some(Ok(Value::Bytes(says.into_bytes().into())));
        }
        let home = call.kwargs.get("gnupghome")?.to_string();
        let text = call.kwargs.get("text")?.to_string();
        let says = text.lines().nth(2)?;
        Some(Ok(match (says, home.ends_with("/keys")) {
            ("lost", _) | (_, false) => false.into(),
            (says, true) => Value::Bytes(says.as_bytes().into()),
        }))
    }
}

fn decrypted(options: &str, sls: &str) -> WholePillar {
    let files = [("top.sls", "base: {'*': [a]}"), ("a.sls", sls)];
    let options = format!("gpg_keydir: /srv/keys\n{options}");
    let engine = Engine::new(MemoryFiles::new()).with_functions(Keys);
    master(&options, &files)
        .compile(&engine, &web1(), &PillarRequest::default())
        .unwrap()
}

/// A YAML text in double quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\n', "\\n"))
}

#[test]
fn what_may_be_decrypted_is_and_is_secret_then() {
    let (horse, staple) = (message("correct horse"), message("battery staple"));
    let sls = format!(
        "#!yaml|gpg\na: [{{b: {}}}, x]\nc: {}\n",
        quoted(&horse),
        quoted(&format!("<{staple}>\n\n"))
    );
    let pillar = decrypted("", &sls);
    assert!(pillar.errors.is_empty(), "{:?}", pillar.errors);
    let shown = Value::Map(pillar.data).with_map_kind(Default::default());
    assert_eq!(
        shown.repr(),
        "{'a': [{'b': 'correct horse'}, 'x'], 'c': '<battery staple>'}"
    );
    assert!(pillar.encrypted.is_empty());
    let mut secrets = Vec::new();
    let policy = mapstack::secrets::Policy::default();
    policy.visit(&shown, &mut |value| secrets.push(value.repr()));
    assert_eq!(secrets, ["'correct horse'", "'<battery staple>'"]);
}

#[test]
fn keys_of_the_pillar_are_decrypted_at_the_end() {
    let sls = format!(
        "a: {{b: {}, c: {}}}\nd: [{}]\n",
        quoted(&message("one")),
        quoted(&message("two")),
        quoted(&message("three"))
    );
    let pillar = decrypted("decrypt_pillar: ['a:b', d: gpg, 'a:x']\n", &sls);
    assert!(pillar.errors.is_empty(), "{:?}", pillar.errors);
    let at = |key: &str| pillar.data.get(key).unwrap().clone();
    assert_eq!(
        at("a").as_map().unwrap().get("b").unwrap().as_str(),
        Some("one")
    );
    assert_eq!(at("d").repr(), "['three']");
    assert_eq!(pillar.encrypted, ["a:c"]);
}

#[test]
fn what_cannot_be_decrypted_is_an_error_or_stays() {
    let sls = format!("#!yaml|gpg\na: {}\n", quoted(&message("lost")));
    let pillar = decrypted("", &sls);
    let [error] = &pillar.errors[..] else {
        panic!("{:?}", pillar.errors)
    };
    assert_eq!(
        error.text,
        "Rendering SLS 'a' failed. Please see master log for details."
    );
    assert!(error.error.to_string().contains("the keys in /srv/keys"));
    let pillar = decrypted("gpg_decrypt_must_succeed: false\n", &sls);
    assert!(pillar.errors.is_empty());
    assert_eq!(pillar.encrypted, ["a"]);
    assert!(
        pillar
            .warnings
            .iter()
            .any(|w| w.message.ends_with("so it stays"))
    );
    let plain = sls.replace("#!yaml|gpg\n", "");
    let pillar = decrypted("decrypt_pillar: [a]\n", &plain);
    assert!(
        pillar.errors[0]
            .text
            .starts_with("Failed to decrypt pillar key 'a': ")
    );
    assert!(pillar.errors[0].error.to_string().starts_with("master:3:"));
}
