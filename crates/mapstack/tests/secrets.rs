//! Errors and warnings show no secret: neither one of the facts nor anything that templates make of it.

use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::secrets::{Policy, Redact, Secrets};
use mapstack::value::Value;
use mapstack::{
    DataOptions, Diagnostic, Engine, Error, MapOptions, Result, Run, StackOptions, TofsOptions,
    yaml,
};

use crate::messages::told;

/// Texts that no message may show, however they are quoted.
const SECRETS: [&str; 21] = [
    "MIIEvQIBADANBgkqhkiG9w0BAQEF",
    "AASCBKcwggSjAgEAAoIBAQDx12",
    "q9Zx=",
    "hunter2",
    "HUNTER2",
    "unter",
    "it's",
    "it\\'s",
    "it''s",
    "\\u2019",
    "Pässwörd",
    "P\\u00e4ssw\\u00f6rd",
    "pässwörd",
    "s3cr3trole",
    "48213",
    "48214",
    "96426",
    "4821",
    "opensesame",
    "aged-cheese",
    "AGED-CHEESE",
];

const FACTS: &str = r#"
id: web1
grains: {os: Debian, vault_token: aged-cheese}
pillar:
  pem: "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nAASCBKcwggSjAgEAAoIBAQDx12\nq9Zx=\n-----END PRIVATE KEY-----\n"
  pw: hunter2-secret
  quoted: "it's \"my\" Pässwörd"
  role: s3cr3trole
  port: 48213
  list: [opensesame, 7-of-9-hidden]
  f: {tofs: {files: {x: ["hunter2-secret\0"]}, path_prefix: {pw: hunter2-secret}}}
"#;

/// All of the pillar is kept back, or what is marked in it, which here is all as well.
fn policies() -> [Policy; 2] {
    let marked = [
        "pem",
        "quoted",
        "role",
        "port",
        "list",
        "path_prefix",
        "files",
    ];
    let marking = Policy::default().showing_pillar();
    [
        Policy::default(),
        marking.named(move |name| marked.contains(&name)),
    ]
}

/// Layers that go wrong with a secret in their hands.
const LAYERS: [&str; 14] = [
    "values:\n  a: \"{{ pillar.pw }}\n  b: 1\n",
    "values:\n  a: {{ pillar.pem }}\n",
    "values: {{ {}[pillar.pem] }}\n",
    "values: {{ {}[pillar.pw|upper] }}\n",
    "values: {{ {}[pillar.quoted] }}\n",
    "values: {{ {}[pillar.port + 1] }}\n",
    "values: {{ pillar.quoted + 1 }}\n",
    "values: {{ salt['cmd.run']('login --password ' ~ pillar.pw|upper, env={'P': pillar.quoted}) }}\n",
    "values:\n  {{ pillar.pem | indent(2) }}\n",
    "{{ pillar.pw | upper }}: 1\n",
    "values:\n  db_password: \"opensesame\n",
    "values: {{ salt['slsutil.renderer']('salt://tera.sls') | json }}\n",
    "values: {{ salt['slsutil.renderer']('salt://mako.sls') | json }}\n",
    "values: {{ salt['slsutil.renderer']('salt://py.sls') | json }}\n",
];

/// Templates in languages whose expressions are not tracked: all they compute is secret, where they can look at secrets.
const LANGUAGES: [(&str, &str); 3] = [
    ("tera.sls", "#!tera|yaml\nloud: \"{{ pillar.pw | upper }}\n"),
    (
        "mako.sls",
        "#!mako|yaml\nloud: ${{}[pillar['pw'].upper()]}\n",
    ),
    (
        "py.sls",
        "#!py\ndef run():\n    return {}[__pillar__['pw'].upper()]\n",
    ),
];

/// The secrets that a message shows, in what it says or in the files that it quotes.
fn leaks(diagnostic: &Diagnostic) -> Vec<&'static str> {
    let mut text = told(diagnostic);
    let steps = diagnostic.trace.iter().map(|step| &step.place);
    for place in diagnostic.place.iter().chain(steps) {
        text.push_str(&place.source);
    }
    let shown = SECRETS.iter().copied();
    shown.filter(|secret| text.contains(secret)).collect()
}

/// Make something of files under either policy, and look at all that is said. The errors, as they are shown.
fn assert_closed<T>(files: &[(&str, &str)], make: impl Fn(&Run<'_>) -> Result<T>) -> Vec<Error> {
    let minion = Minion::parse(FACTS.as_bytes(), "web1.yaml")
        .unwrap()
        .complete();
    let mut errors = Vec::new();
    for policy in policies() {
        let served = files.iter().fold(MemoryFiles::new(), |all, (path, text)| {
            all.file("base", path, text)
        });
        let engine = Engine::new(served).with_policy(policy.clone());
        let run = engine.run(&minion).following_secrets();
        let made = make(&run);
        let secrets = Secrets::numbered().under(policy).of_pillar(&minion.pillar);
        let secrets = secrets.of_names(&minion.grains).derived(run.secret_texts());
        let error = made.err().map(|error| error.redacted(&secrets));
        let warnings = run.warnings();
        let warnings = warnings.iter().map(|warning| warning.redacted(&secrets));
        let warnings: Vec<Diagnostic> = warnings.collect();
        let said = error.iter().map(Error::diagnostic).chain(&warnings);
        for diagnostic in said {
            let leaks = leaks(diagnostic);
            assert!(
                leaks.is_empty(),
                "{files:?}: {leaks:?}\n{}",
                told(diagnostic)
            );
        }
        errors.extend(error);
    }
    errors
}

#[test]
fn no_error_of_a_formula_shows_a_secret() {
    let map = "{% import_yaml 'f/parameters/defaults.yaml' as mapdata with context %}\n";
    for layer in LAYERS {
        let mut files = vec![
            ("f/parameters/defaults.yaml", layer),
            ("f/map.jinja", map),
            ("f/x.sls", layer),
        ];
        files.extend(LANGUAGES);
        let data = assert_closed(&files, |run| run.data("f", &DataOptions::default()));
        assert_eq!(data.len(), 2, "{layer}");
        let sources: Value = ["defaults.yaml"].into_iter().collect();
        let stack = assert_closed(&files, |run| {
            run.stack("f", &sources, &StackOptions::default())
        });
        assert_eq!(stack.len(), 2, "{layer}");
        // Some of these are data to a map and to an sls.
        assert_closed(&files, |run| run.map("f", &MapOptions::default()));
        assert_closed(&files, |run| run.sls("f/x.sls"));
    }
    for (path, _) in LANGUAGES {
        let errors = assert_closed(&LANGUAGES, |run| run.sls(path));
        assert_eq!(errors.len(), 2, "{path}");
    }
    // A message that is not redacted would show what a template made.
    let engine =
        Engine::new(MemoryFiles::new().file("base", "f/parameters/defaults.yaml", LAYERS[3]));
    let minion = Minion::parse(FACTS.as_bytes(), "web1.yaml")
        .unwrap()
        .complete();
    let error = engine.run(&minion).data("f", &DataOptions::default());
    assert!(leaks(error.unwrap_err().diagnostic()).contains(&"HUNTER2"));
}

/// A printed text is quoted before it is data: by an error of YAML, after any further stages.
#[test]
fn no_error_of_a_pipe_shows_a_secret() {
    let printed = [
        ("jinja", "{{ pillar.pw | upper }}"),
        ("tera", "{{ pillar.pw | upper }}"),
        ("mako", "${pillar['pw'].upper()}"),
    ];
    for (language, secret) in printed {
        let next = ["", "|jinja", "|tera", "|mako"];
        let mut templates: Vec<String> = next
            .map(|next| format!("#!{language}{next}|yaml\n{secret}: 1\n{secret}: 2\n"))
            .into();
        // Mako's renderer takes no text that is data.
        if language != "mako" {
            templates.push(format!(
                "#!yaml|{language} -s|yaml\n\"{secret}: 1\\n{secret}: 2\"\n"
            ));
        }
        for template in &templates {
            let errors = assert_closed(&[("twice.sls", template)], |run| run.sls("twice.sls"));
            assert_eq!(errors.len(), 2, "{template}");
            for error in errors {
                assert!(error.to_string().contains("already set"), "{error}");
            }
        }
    }
}

#[test]
fn no_error_about_facts_shows_a_secret() {
    for (files, options) in [
        ("{x: [x.conf]}", "{}"),
        ("[x.conf]", "{default_matchers: ['I@f:tofs:path_prefix']}"),
    ] {
        let options = yaml::load(options).unwrap();
        let options = TofsOptions::from_kwargs(options.as_map().unwrap()).unwrap();
        let files = yaml::load(files).unwrap();
        assert_closed(&[], |run| run.tofs("f", &files, &options));
    }
    let broken = "id: web1\npillar:\n  pw: \"hunter2-secret\n  b: opensesame\n";
    let error = Error::from(Minion::parse(broken.as_bytes(), "web1.yaml").unwrap_err());
    for policy in policies() {
        let redacted = error.redacted(&Secrets::numbered().under(policy));
        assert_eq!(leaks(redacted.diagnostic()), Vec::<&str>::new());
    }
}
