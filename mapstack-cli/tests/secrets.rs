//! No verb prints what the pillar holds, or what templates make of that.

use crate::common::{Going, Tree, run_line};

const PEM: &str = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nAASCBKcwggSjAgEAAoIBAQDx12\nq9Zx=\n-----END PRIVATE KEY-----\n";

/// Texts that no output may show, however they are quoted.
const SECRETS: [&str; 27] = [
    "MIIEvQIBADANBgkqhkiG9w0BAQEF",
    "AASCBKcwggSjAgEAAoIBAQDx12",
    "q9Zx=",
    "hunter2",
    "HUNTER2",
    "2retnuh",
    "aHVudGVyMi1zZWNyZXQ",
    "unter",
    "h-u-n-t",
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
    "OPENSESAME",
    "aged-cheese",
    "AGED-CHEESE",
    "f52fbd32b2b3b86ff88ef6c490628285f482af15ddcb29541f94bcf526a3f6c7",
    "7-of-9-hidden",
];

fn minion() -> String {
    let pem = PEM.replace('\n', "\\n");
    format!(
        "id: web1\ngrains: {{os: Debian, os_family: Debian, osfinger: Debian-12, vault_token: aged-cheese}}\npillar:\n  pem: \"{pem}\"\n  pw: hunter2-secret\n  quoted: \"it's \\\"my\\\" Pässwörd\"\n  role: s3cr3trole\n  port: 48213\n  list: [opensesame, 7-of-9-hidden]\n"
    )
}

/// Layers that print what they make of secrets.
const DERIVED: &str = r#"values:
  whole: {{ pillar.pem | json }}
  lines: {{ pillar.pem.splitlines() | json }}
  joined: {{ pillar.pem.replace('\n', '') | json }}
  upper: {{ pillar.pw | upper }}
  encoded: {{ pillar.pw | base64_encode }}
  cut: {{ pillar.pw[:6] }}
  inside: {{ pillar.pw[1:6] }}
  reverse: {{ pillar.pw | reverse }}
  dashed: {{ pillar.pw | list | join('-') }}
  hashed: {{ pillar.pw | sha256 }}
  quoted: {{ pillar.quoted | yaml_dquote }}
  capital: {{ pillar.quoted | lower | yaml_dquote }}
  port: {{ pillar.port }}
  next: {{ pillar.port + 1 }}
  twice: {{ pillar['port'] * 2 }}
  url: http://host:{{ pillar.port }}/x
  shorter: {{ pillar.port // 10 }}
  tail: 1{{ pillar.port }}
  got: {{ salt['pillar.get']('pw') | upper }}
  list: {{ pillar.list | map('upper') | list | json }}
  token: {{ grains.vault_token }}
  louder: {{ grains.vault_token | upper }}
{% macro twice(x) %}{{ x }}{{ x }}{% endmacro %}
  macro: {{ twice(pillar.port) }}
{% set block %}<{{ pillar.pw | upper }}>{% endset %}
  block: "{{ block }}"
{% filter upper %}
  FILTERED: {{ pillar.pw }}
{% endfilter %}
{% load_yaml as loaded %}
a: {{ pillar.port }}
{% endload %}
  loaded: {{ loaded.a + 1 }}
{% for line in pillar.pem.splitlines() %}
  line{{ loop.index }}: "{{ line }}"
{% endfor %}
"#;

/// Formulas that go wrong with a secret in their hands.
const BROKEN: [(&str, &str); 11] = [
    ("bad_yaml", "values:\n  a: \"{{ pillar.pw }}\n  b: 1\n"),
    ("bad_pem", "values:\n  a: {{ pillar.pem }}\n"),
    ("key_error", "values: {{ {}[pillar.pem] }}\n"),
    ("derived_key", "values: {{ {}[pillar.pw|upper] }}\n"),
    ("quoted_key", "values: {{ {}[pillar.quoted] }}\n"),
    ("number", "values: {{ {}[pillar.port + 1] }}\n"),
    ("not_a_number", "values: {{ pillar.quoted + 1 }}\n"),
    (
        "stubless",
        "values: {{ salt['cmd.run']('login --password ' ~ pillar.pw|upper, env={'P': pillar.quoted}) }}\n",
    ),
    ("not_a_map", "values:\n  {{ pillar.pem | indent(2) }}\n"),
    ("wrong_key", "{{ pillar.pw | upper }}: 1\n"),
    ("literal", "values:\n  db_password: \"opensesame\n"),
];

fn tree() -> Tree {
    let mut files = vec![
        ("minions/web1.yaml".to_owned(), minion()),
        ("old/f/parameters/defaults.yaml".to_owned(), "values: {a: 1}\n".to_owned()),
        ("new/f/parameters/defaults.yaml".to_owned(), DERIVED.to_owned()),
        (
            "new/f/parameters/map_jinja.yaml".to_owned(),
            "values: {sources: [defaults.yaml, 'Y!I@role', 'Y!I@list', 'C@f']}\n".to_owned(),
        ),
        ("new/f/parameters/list/opensesame.yaml".to_owned(), "values: {by_list: 1}\n".to_owned()),
        (
            "new/f/post-map.jinja".to_owned(),
            "{% do mapdata.update({'late': pillar.pw|upper, 'later': mapdata.next + 1, 'n': pillar.port * 2}) %}\n"
                .to_owned(),
        ),
        ("new/f/tests/mapstack/web1.yaml".to_owned(), "values: {port: 1}\n".to_owned()),
    ];
    for (name, text) in BROKEN {
        files.push((
            format!("old/{name}/parameters/defaults.yaml"),
            "values: {a: 1}\n".to_owned(),
        ));
        files.push((
            format!("new/{name}/parameters/defaults.yaml"),
            text.to_owned(),
        ));
        files.push((
            format!("new/{name}/map.jinja"),
            format!(
                "{{% import_yaml '{name}/parameters/defaults.yaml' as mapdata with context %}}\n"
            ),
        ));
    }
    Tree::new(
        &files
            .iter()
            .map(|(path, text)| (path.as_str(), text))
            .collect::<Vec<_>>(),
    )
}

/// The secrets that a text shows; names of files are not looked at.
fn leaks(text: &str) -> Vec<&'static str> {
    let text = text.replace("opensesame.yaml", "");
    SECRETS
        .iter()
        .copied()
        .filter(|secret| text.contains(secret))
        .collect()
}

/// All of the pillar is kept back, or what is marked in it, which here is all as well.
const MASKS: [&str; 2] = [
    "--secret pem --secret quoted --secret role --secret port --secret LIST",
    "--mask pillar",
];

/// The output of the command under either mask, and at last under `--mask pillar`.
fn assert_closed(tree: &Tree, line: &str) -> String {
    let mut last = String::new();
    for mask in MASKS {
        let line = format!("{line} {mask}");
        let ran = run_line(tree.path(), &line);
        let shown = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!shown.contains("panicked"), "mapstack {line}\n{shown}");
        assert_eq!(
            leaks(&shown),
            Vec::<&str>::new(),
            "mapstack {line}\n{shown}"
        );
        last = shown;
    }
    last
}

/// A pillar with something to hide, and something that is not worth it.
const MIXED: &str = r#"id: web1
pillar:
  app:
    port: 8080
    UsePAM: true
    motd: welcome home
    db_password: hunter2-secret
    users: [{name: thomas, password: letmein99}, {name: anna, hash: $6$salt$rounds9}]
    vault: "-----BEGIN PGP MESSAGE-----\n\nhQEMA1f4tDuj\n-----END PGP MESSAGE-----\n"
  secrets: {site: {number: 48213}}
  plain: 4711
"#;

#[test]
fn a_short_value_of_a_pillar_is_masked_like_any_other() {
    let tree = Tree::new(&[
        (
            "m.yaml",
            "id: m\npillar: {f: {port: 80, name: ab, nested: {a: q}}}\n",
        ),
        (
            "f/parameters/defaults.yaml",
            "values: {own: ab, port: '{{ pillar.f.port }}', name: 'x{{ pillar.f.name }}'}\n",
        ),
    ]);
    let explain = |mask: &str| {
        let line = format!("explain f --of data --root . --minion m.yaml -o blame --mask {mask}");
        let shown = run_line(tree.path(), &line).stdout;
        let values = shown
            .lines()
            .filter_map(|line| Some(line.split_once('#')?.0.trim_end()));
        values.take(4).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        explain("secrets"),
        ["own: ab", "port: 80", "name: ab", "  a: q"]
    );
    let masked = [
        "own: ab",
        "port: <secret 1>",
        "name: <secret 2>",
        "  a: <secret 3>",
    ];
    assert_eq!(explain("pillar"), masked);
}

#[test]
fn a_quoted_key_that_a_template_makes_of_a_secret_is_masked() {
    let layer =
        "values:\n  '{{ pillar.password }}': 1\n  \"x-{{ pillar.password }}\": 2\n  'plain': 3\n";
    let tree = Tree::new(&[
        ("f/parameters/defaults.yaml.jinja", layer),
        ("m.yaml", "id: m\npillar: {password: hunter2secret}\n"),
    ]);
    for form in ["blame", "json"] {
        let line = format!("explain f --of data --root . --minion m.yaml -o {form}");
        let shown = run_line(tree.path(), &line).stdout;
        assert!(!shown.contains("hunter2secret"), "{shown}");
        assert!(shown.contains("plain"), "{shown}");
    }
}

#[test]
fn of_a_pillar_what_looks_secret_is_masked_and_the_rest_is_shown() {
    let made = "values:
  url: http://app:{{ pillar.app.db_password }}@db
  all: {{ pillar.app | json }}
  number: {{ pillar.secrets.site.number + 1 }}
  plain: {{ pillar.plain }}
  loud: {{ pillar.app.users[0].password | upper }}
";
    let tree = Tree::new(&[
        ("m/web1.yaml", MIXED),
        ("old/f/parameters/defaults.yaml", "values: {a: 1}\n"),
        ("new/f/parameters/defaults.yaml", made),
        (
            "new/f/parameters/map_jinja.yaml",
            "values: {sources: [defaults.yaml, 'C:SUB@app', 'C@secrets:site']}\n",
        ),
    ]);
    let hidden = [
        "hunter2",
        "letmein99",
        "LETMEIN99",
        "hQEMA1f4tDuj",
        "rounds9",
        "48213",
        "48214",
    ];
    let open = ["8080", "welcome home", "thomas", "4711", "true"];
    for line in [
        "explain f --root new --minion m/web1.yaml",
        "explain f --root new --minion m/web1.yaml -o json",
        "explain f all --root new --minion m/web1.yaml",
        "explain f --root new --minion m/web1.yaml --html -",
        "diff f --from old --to new --minions m",
        "diff f --from old --to new --minions m -o json",
        "diff f --from old --to new --minions m -o markdown",
        "diff f --from old --to new --minions m -o html",
        "diff f --from old --to new --minions m --digest-salt x",
    ] {
        let shown = run_line(tree.path(), line);
        let text = format!("{}{}", shown.stdout, shown.stderr);
        for secret in hidden {
            assert!(!text.contains(secret), "mapstack {line}: {secret}\n{text}");
        }
        let is_whole = !line.contains(" all ");
        for value in open.iter().filter(|_| is_whole) {
            assert!(text.contains(value), "mapstack {line}: {value}\n{text}");
        }
        let masked = run_line(tree.path(), &format!("{line} --mask pillar"));
        for value in hidden
            .iter()
            .chain(&["8080", "welcome home", "thomas", "4711"])
        {
            assert!(
                !masked.stdout.contains(value),
                "{line}: {value}\n{}",
                masked.stdout
            );
        }
    }
}

#[test]
fn no_verb_that_reports_shows_a_secret() {
    let tree = tree();
    for line in [
        "explain f --root new --minion minions/web1.yaml",
        "explain f --root new --minion minions/web1.yaml -o json",
        "explain f --root new --minion minions/web1.yaml -o blame",
        "explain f url --root new --minion minions/web1.yaml",
        "explain f lines --root new --minion minions/web1.yaml",
        "explain f --why-not f/parameters/role/other.yaml --root new --minion minions/web1.yaml",
        "diff --from old --to new --minions minions",
        "diff --from old --to new --minions minions -o json",
        "diff --from old --to new --minions minions -o markdown",
        "diff --from new --to old --minions minions",
        "impact f:port --root new --minions minions",
        "impact f:whole --root new --minions minions -o json",
        "impact f:lines --root new --minions minions",
        "impact new/f/parameters/defaults.yaml --root new --minions minions",
        "test f --root new --minions minions",
        "test f --root new --minions minions -o json",
        "test f --root new --minions minions -o junit",
        "lint --root new --minions minions",
        "lint --root new --minions minions -o json",
        "lint --root new --minions minions -o sarif",
        "lint --root new --minions minions -o github",
        "schema f --root new",
        "schema literal --root new",
    ] {
        assert_closed(&tree, line);
    }
}

#[test]
#[cfg(feature = "html")]
fn no_page_shows_a_secret() {
    let tree = tree();
    assert_closed(&tree, "diff --from old --to new --minions minions -o html");
    assert_closed(&tree, "lint --root new --minions minions -o html");
    assert_closed(
        &tree,
        "explain f --root new --minion minions/web1.yaml --html page.html",
    );
    let page = std::fs::read_to_string(tree.path().join("page.html")).expect("a page");
    assert_eq!(leaks(&page), Vec::<&str>::new(), "{page}");
}

#[test]
fn no_error_shows_a_secret_whichever_verb_prints_it() {
    let tree = tree();
    for (formula, _) in BROKEN {
        for line in [
            format!("data {formula} --root new --minion minions/web1.yaml"),
            format!("data {formula} --strict --root new --minion minions/web1.yaml"),
            format!("sources {formula} --root new --minion minions/web1.yaml"),
            format!(
                "render new/{formula}/parameters/defaults.yaml --root new --minion minions/web1.yaml"
            ),
            format!("explain {formula} --root new --minion minions/web1.yaml"),
            format!("fleet {formula} --of data --root new --minions minions"),
            format!("fleet {formula} --of map --root new --minions minions -o jsonl"),
            format!("impact {formula}:a --root new --minions minions"),
            format!("fleet {formula} --of map --root new --minions minions --get nope"),
            format!("impact {formula}:values --root new --minions minions"),
            format!("diff {formula} --root new --from old --to new --minions minions"),
            format!("stack {formula} defaults.yaml --root new --minion minions/web1.yaml"),
            format!("map {formula} --root new --minion minions/web1.yaml"),
        ] {
            // These verbs print data; a formula that fails has none.
            let prints_data =
                line.starts_with("render") || line.starts_with("map") || line.contains("--of map");
            if !(prints_data
                && matches!(
                    formula,
                    "bad_yaml" | "bad_pem" | "not_a_map" | "wrong_key" | "literal"
                ))
            {
                assert_closed(&tree, &line);
            }
        }
    }
    let shown = run_line(
        tree.path(),
        "data derived_key --root new --minion minions/web1.yaml --show-secrets",
    );
    assert!(shown.stderr.contains("HUNTER2"), "{}", shown.stderr);
    let shown = run_line(
        tree.path(),
        "explain f upper --root new --minion minions/web1.yaml --show-secrets",
    );
    assert!(shown.stdout.contains("HUNTER2"), "{}", shown.stdout);
}

/// Templates in languages whose expressions are not tracked: all they compute is secret, where they can look at secrets.
const LANGUAGES: [(&str, &str, &str); 3] = [
    (
        "tera",
        "#!tera|yaml\nloud: {{ pillar.pw | upper }}\nport: 1{{ pillar.port + 1 }}\nplain: open\n",
        "#!tera|yaml\nloud: \"{{ pillar.pw | upper }}\n",
    ),
    (
        "mako",
        "#!mako|yaml\nloud: ${pillar['pw'].upper()}\nport: 1${pillar['port'] + 1}\nplain: open\n",
        "#!mako|yaml\nloud: ${{}[pillar['pw'].upper()]}\n",
    ),
    (
        "py",
        "#!py\ndef run():\n    return {'loud': __pillar__['pw'].upper(), 'port': __pillar__['port'] + 1}\n",
        "#!py\ndef run():\n    return {}[__pillar__['pw'].upper()]\n",
    ),
];

#[test]
#[expect(clippy::too_many_lines, reason = "one formula for each language")]
fn no_language_gives_secrets_away() {
    let by_grain = "#!tera|yaml\nloud: {{ grains.vault_token | upper }}\n";
    let mut files = vec![
        ("new/grain/file.sls".to_owned(), by_grain.to_owned()),
        (
            "new/grain/parameters/defaults.yaml".to_owned(),
            "values: {{ salt['slsutil.renderer']('salt://grain/file.sls') | json }}\n".to_owned(),
        ),
        ("minions/web1.yaml".to_owned(), minion()),
        (
            "new/post/parameters/defaults.yaml".to_owned(),
            "values: {plain: open}\n".to_owned(),
        ),
        (
            "new/post/parameters/map_jinja.yaml".to_owned(),
            "values: {post_map: post.tera, post_map_template: tera}\n".to_owned(),
        ),
        (
            "new/post/post.tera".to_owned(),
            "loud: {{ pillar.pw | upper }}\nport: {{ pillar.port + 1 }}\n".to_owned(),
        ),
    ];
    for (language, template, broken) in LANGUAGES {
        for (name, text) in [
            (language.to_owned(), template),
            (format!("bad_{language}"), broken),
        ] {
            files.push((format!("new/{name}/file.sls"), text.to_owned()));
            files.push((
                format!("new/{name}/parameters/defaults.yaml"),
                format!("values:\n  made: {{{{ salt['slsutil.renderer']('salt://{name}/file.sls') | json }}}}\n"),
            ));
        }
    }
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text))
        .collect();
    let tree = Tree::new(&files);
    let inputs = "--root new --minion minions/web1.yaml";
    for (language, ..) in LANGUAGES {
        for verb in ["", "-o json"] {
            let shown = assert_closed(&tree, &format!("explain {language} {verb} {inputs}"));
            assert!(shown.contains("loud"), "{language} {verb}\n{shown}");
        }
        for line in [
            format!("explain bad_{language} {inputs}"),
            format!("render new/bad_{language}/file.sls -o yaml {inputs}"),
        ] {
            let shown = assert_closed(&tree, &line);
            assert!(shown.contains("error"), "{line}\n{shown}");
        }
        let shown = run_line(tree.path(), &format!("data {language} {inputs}"));
        assert!(
            shown.stdout.contains("HUNTER2"),
            "{}{}",
            shown.stdout,
            shown.stderr
        );
    }
    assert_closed(&tree, &format!("explain grain -o blame {inputs}"));
    let shown = assert_closed(&tree, &format!("explain post -o blame {inputs}"));
    assert!(
        shown.contains("loud") && shown.contains("plain: open"),
        "{shown}"
    );
}

/// A printed text is quoted before it is data: by an error of YAML, after any further stages.
#[test]
fn no_pipe_gives_secrets_away() {
    let printed = [
        ("jinja", "{{ pillar.pw | upper }}"),
        ("tera", "{{ pillar.pw | upper }}"),
        ("mako", "${pillar['pw'].upper()}"),
    ];
    for (language, secret) in printed {
        let mut templates: Vec<String> = ["", "|jinja", "|tera", "|mako"]
            .map(|next| format!("#!{language}{next}|yaml\n{secret}: 1\n{secret}: 2\n"))
            .into();
        // Mako's renderer takes no text that is data.
        if language != "mako" {
            templates.push(format!(
                "#!yaml|{language} -s|yaml\n\"{secret}: 1\\n{secret}: 2\"\n"
            ));
        }
        for template in &templates {
            let tree = Tree::new(&[
                ("new/twice/file.sls", template.as_str()),
                ("minions/web1.yaml", minion().as_str()),
            ]);
            let inputs = "--root new --minion minions/web1.yaml";
            let shown = assert_closed(&tree, &format!("render twice/file.sls -o yaml {inputs}"));
            assert!(shown.contains("already set"), "{template}\n{shown}");
        }
    }
}

#[test]
fn paths_that_facts_choose_fail_without_them() {
    let tree = Tree::new(&[
        (
            "minions/web1.yaml",
            "id: web1\npillar: {f: {tofs: {files: {x: [\"hunter2-secret\\0\"]}, path_prefix: {pw: hunter2-secret}}}}\n",
        ),
        ("new/f/parameters/defaults.yaml", "values: {}\n"),
    ]);
    for line in [
        "tofs f --lookup x x.conf --root new --minion minions/web1.yaml",
        "tofs f --default-matchers I@f:tofs:path_prefix x.conf --root new --minion minions/web1.yaml",
    ] {
        assert_closed(&tree, line);
    }
}

#[test]
fn watching_shows_no_secret() {
    let tree = tree();
    let mut watch = Going::start(
        tree.path(),
        "watch --root old --minions minions --mask pillar",
    );
    watch.until("watching old for 1 minion;");
    tree.write("old/f/parameters/defaults.yaml", DERIVED.as_bytes());
    watch.until("after ");
    for (formula, text) in BROKEN {
        tree.write(
            &format!("old/{formula}/parameters/defaults.yaml"),
            text.as_bytes(),
        );
        watch.until("after ");
    }
    let shown = watch.seen.join("\n");
    assert!(shown.contains("key_error fails now"), "{shown}");
    assert_eq!(leaks(&shown), Vec::<&str>::new(), "{shown}");
}

#[test]
fn values_that_are_not_secret_are_shown() {
    let files = [
        (
            "new/f/parameters/defaults.yaml",
            "values:\n  os: {{ grains.os }}\n  n: {{ 48213 }}\n  sum: {{ 2 + 3 }}\n  both: {{ salt['pillar.get']('nope', 'fallback') }}\n  plain: 48213\n  keysize: 4096\n  size: {{ {'a': 1, 'pw': pillar.pw}.a }}\n",
        ),
        ("minions/web1.yaml", &minion()),
    ];
    let tree = Tree::new(&files);
    let shown = run_line(
        tree.path(),
        "explain f -o blame --root new --minion minions/web1.yaml",
    );
    for line in [
        "os: Debian",
        "sum: 5",
        "both: fallback",
        "plain: 48213",
        "keysize: 4096",
        "size: 1",
    ] {
        assert!(
            shown.stdout.contains(line),
            "{line}\n{}{}",
            shown.stdout,
            shown.stderr
        );
    }
}

#[test]
fn a_pillar_that_cannot_be_read_is_not_quoted() {
    let tree = Tree::new(&[
        ("new/f/parameters/defaults.yaml", "values: {a: 1}\n"),
        (
            "minions/web1.yaml",
            "id: web1\npillar:\n  pw: \"hunter2-secret\n  b: opensesame\n",
        ),
    ]);
    for line in [
        "data f --root new --minion minions/web1.yaml",
        "fleet f --root new --minions minions",
    ] {
        assert_closed(&tree, line);
    }
}
