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
    let [_, last] = MASKS.map(|mask| assert_closed_under(mask, tree, line));
    last
}

fn assert_closed_under(mask: &str, tree: &Tree, line: &str) -> String {
    let line = format!("{line} {mask}");
    let ran = run_line(tree.path(), &line);
    let shown = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!shown.contains("panicked"), "mapstack {line}\n{shown}");
    let leaks = leaks(&shown);
    assert!(leaks.is_empty(), "mapstack {line}: {leaks:?}\n{shown}");
    shown
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

/// A short value of a pillar is masked like any other, and so is a key that a template makes of a secret.
#[test]
fn explained_values_are_masked_if_they_come_from_a_secret_and_shown_otherwise() {
    let tree = Tree::new(&[
        (
            "m.yaml",
            "id: m\npillar: {f: {port: 80, name: ab, nested: {a: q}}}\n",
        ),
        (
            "f/parameters/defaults.yaml",
            "values: {own: ab, port: '{{ pillar.f.port }}', name: 'x{{ pillar.f.name }}'}\n",
        ),
        ("k.yaml", "id: m\npillar: {password: hunter2secret}\n"),
        (
            "k/parameters/defaults.yaml.jinja",
            "values:\n  '{{ pillar.password }}': 1\n  \"x-{{ pillar.password }}\": 2\n  'plain': 3\n",
        ),
        ("v.yaml", &minion()),
        (
            "v/parameters/defaults.yaml",
            "values:\n  os: {{ grains.os }}\n  sum: {{ 2 + 3 }}\n  both: {{ salt['pillar.get']('nope', 'fallback') }}\n  plain: 48213\n  keysize: 4096\n  size: {{ {'a': 1, 'pw': pillar.pw}.a }}\n",
        ),
    ]);
    let blame = |line: &str| {
        let line = format!("explain {line} --of data --root . -o blame");
        let shown = run_line(tree.path(), &line).stdout;
        let values = shown.lines();
        let values = values.filter_map(|line| Some(line.split_once('#')?.0.trim_end()));
        values.map(str::to_owned).collect::<Vec<_>>()
    };
    let expected = ["own: ab", "port: 80", "name: ab", "  a: q"];
    assert_eq!(blame("f --minion m.yaml")[..4], expected);
    let expected = [
        "own: ab",
        "port: <secret 1>",
        "name: <secret 2>",
        "  a: <secret 3>",
    ];
    assert_eq!(blame("f --minion m.yaml --mask pillar")[..4], expected);
    for form in ["blame", "json"] {
        let line = format!("explain k --of data --root . --minion k.yaml -o {form}");
        let shown = run_line(tree.path(), &line).stdout;
        assert!(!shown.contains("hunter2secret"), "{shown}");
        assert!(shown.contains("plain"), "{shown}");
    }
    let shown = blame("v --minion v.yaml");
    for line in [
        "os: Debian",
        "sum: 5",
        "both: fallback",
        "plain: 48213",
        "keysize: 4096",
        "size: 1",
    ] {
        assert!(shown.iter().any(|shown| shown == line), "{line}: {shown:?}");
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
    if cfg!(feature = "html") {
        assert_closed(&tree, "diff --from old --to new --minions minions -o html");
        assert_closed(&tree, "lint --root new --minions minions -o html");
        let line = "explain f --root new --minion minions/web1.yaml --html page.html";
        assert_closed(&tree, line);
        let page = std::fs::read_to_string(tree.path().join("page.html")).expect("a page");
        assert_eq!(leaks(&page), Vec::<&str>::new(), "{page}");
    }
}

/// Formulas in languages whose expressions are not tracked: all they compute is secret, where they can look at secrets.
const LANGUAGES: [(&str, &str); 3] = [
    (
        "tera",
        "#!tera|yaml\nloud: {{ pillar.pw | upper }}\nport: 1{{ pillar.port + 1 }}\nplain: open\n",
    ),
    (
        "mako",
        "#!mako|yaml\nloud: ${pillar['pw'].upper()}\nport: 1${pillar['port'] + 1}\nplain: open\n",
    ),
    (
        "py",
        "#!py\ndef run():\n    return {'loud': __pillar__['pw'].upper(), 'port': __pillar__['port'] + 1}\n",
    ),
];

#[test]
fn no_verb_shows_what_a_formula_in_another_language_makes_of_a_secret() {
    let minion = minion();
    let mut files: Vec<(String, &str)> = vec![
        ("minions/web1.yaml".into(), &minion),
        (
            "new/grain/file.sls".into(),
            "#!tera|yaml\nloud: {{ grains.vault_token | upper }}\n",
        ),
        (
            "new/post/parameters/defaults.yaml".into(),
            "values: {plain: open}\n",
        ),
        (
            "new/post/parameters/map_jinja.yaml".into(),
            "values: {post_map: post.tera, post_map_template: tera}\n",
        ),
        (
            "new/post/post.tera".into(),
            "loud: {{ pillar.pw | upper }}\nport: {{ pillar.port + 1 }}\n",
        ),
    ];
    files.extend(LANGUAGES.map(|(name, text)| (format!("new/{name}/file.sls"), text)));
    let layer = "values: {{ salt['slsutil.renderer']('salt://' ~ tpldir.split('/')[0] ~ '/file.sls') | json }}\n";
    let formulas = ["tera", "mako", "py", "grain"];
    files.extend(formulas.map(|name| (format!("new/{name}/parameters/defaults.yaml"), layer)));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, *text)).collect();
    let tree = Tree::new(&files);
    let inputs = "--root new --minion minions/web1.yaml";
    for (form, formula) in [
        ("", "tera"),
        ("-o json", "mako"),
        ("", "py"),
        ("-o blame", "grain"),
    ] {
        let shown = assert_closed(&tree, &format!("explain {formula} {form} {inputs}"));
        assert!(shown.contains("loud"), "{formula} {form}\n{shown}");
        let data = run_line(tree.path(), &format!("data {formula} {inputs}"));
        assert!(
            !leaks(&data.stdout).is_empty(),
            "{}{}",
            data.stdout,
            data.stderr
        );
    }
    let shown = assert_closed(&tree, &format!("explain post -o blame {inputs}"));
    assert!(
        shown.contains("loud") && shown.contains("plain: open"),
        "{shown}"
    );
}

/// Errors of two formulas; all are in the tests of the library.
#[test]
fn no_verb_shows_a_secret_in_an_error() {
    let tree = tree();
    let minion = "--root new --minion minions/web1.yaml";
    let minions = "--root new --minions minions";
    for (formula, mask) in ["derived_key", "stubless"].iter().zip(MASKS) {
        for line in [
            format!("data {formula} {minion}"),
            format!("data {formula} --strict {minion}"),
            format!("sources {formula} {minion}"),
            format!("render new/{formula}/parameters/defaults.yaml {minion}"),
            format!("explain {formula} {minion}"),
            format!("fleet {formula} --of data {minions}"),
            format!("fleet {formula} --of map {minions} -o jsonl"),
            format!("impact {formula}:a {minions}"),
            format!("fleet {formula} --of map {minions} --get nope"),
            format!("impact {formula}:values {minions}"),
            format!("diff {formula} {minions} --from old --to new"),
            format!("stack {formula} defaults.yaml {minion}"),
            format!("map {formula} {minion}"),
        ] {
            assert_closed_under(mask, &tree, &line);
        }
    }
    // On request, the same text is shown.
    for line in ["data derived_key", "explain f upper"] {
        let shown = run_line(tree.path(), &format!("{line} {minion} --show-secrets"));
        let text = format!("{}{}", shown.stdout, shown.stderr);
        assert!(text.contains("HUNTER2"), "{text}");
    }
    let unread = "id: web1\npillar:\n  pw: \"hunter2-secret\n  b: opensesame\n";
    tree.write("minions/web1.yaml", unread.as_bytes());
    assert_closed(&tree, &format!("data f {minion}"));
    assert_closed(&tree, &format!("fleet f {minions}"));
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
