//! `mapstack explain`: the examples, secrets, and files that are not used.

use crate::common::{Tree, assert_snapshot, repository, run, run_line};
use mapstack::value::{Value, json};

const EXAMPLE: &str = "--root examples/site --root examples/formulas --minion examples/minions/web1.yaml --digest-salt x";

/// The page, where it is built in.
const PAGE: &[&str] = if cfg!(feature = "html") {
    &["--html=-"]
} else {
    &[]
};

fn explained(line: &str) -> String {
    let ran = run_line(&repository(), &format!("explain users {line} {EXAMPLE}"));
    assert_eq!((ran.status, ran.said()), (Some(0), ""), "{line}");
    ran.stdout
}

#[test]
fn a_value_is_reported_with_what_it_overrode() {
    assert_snapshot("explain/default-shell.txt", &explained("default_shell"));
    assert_snapshot("explain/packages.txt", &explained("packages"));
    assert_snapshot("explain/item.txt", &explained("packages:-1"));
    assert_snapshot(
        "explain/of-the-pillar.txt",
        &explained("accounts:alice:uid"),
    );
    assert_snapshot("explain/post-map.txt", &explained("accounts:bob:home"));
    assert_snapshot(
        "explain/default-shell-colored.txt",
        &explained("default_shell --color always"),
    );
    assert_snapshot("explain/mapping.txt", &explained("accounts:deploy"));
}

#[test]
fn the_whole_configuration_has_an_origin_on_each_line() {
    let blame = explained("");
    assert_snapshot("explain/blame.txt", &blame);
    assert_eq!(blame, explained("--format blame"));
    assert_snapshot(
        "explain/blame-colored.txt",
        &explained("accounts:bob --format blame --color always"),
    );
}

#[test]
fn programs_get_everything() {
    assert_snapshot(
        "explain/default-shell.json",
        &explained("default_shell -o json"),
    );
    assert_snapshot("explain/account.json", &explained("accounts:bob -o json"));
    let all = json::loads(&explained("-o json")).unwrap();
    let values = all
        .as_map()
        .unwrap()
        .get("values")
        .and_then(Value::as_list)
        .unwrap();
    assert!(values.len() > 60);
    for value in values {
        assert!(value.as_map().unwrap().contains_key("origin"), "{value}");
    }
}

#[test]
fn what_programs_get_has_a_schema() {
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let schema =
        json(&std::fs::read_to_string(repository().join("docs/explain.schema.json")).unwrap());
    let schema = jsonschema::validator_for(&schema).unwrap();
    let explained = |facts: &str| {
        let roots = "--root examples/site --root examples/formulas";
        let ran = run_line(
            &repository(),
            &format!("explain users -o json {roots} {facts}"),
        );
        assert_eq!(ran.status, Some(0), "{facts}: {}", ran.stderr);
        json(&ran.stdout)
    };
    let facts =
        ["web1", "db1", "bsd1"].map(|name| format!("--minion examples/minions/{name}.yaml"));
    let more = [
        "--platform windows-2022",
        "--platform debian-12 --set pillar.users.home_root=/srv",
        "--platform arch --id 5",
    ];
    for facts in facts.iter().map(String::as_str).chain(more) {
        let explained = explained(facts);
        let problems: Vec<String> = schema
            .iter_errors(&explained)
            .map(|e| format!("{}: {e}", e.instance_path()))
            .collect();
        assert!(problems.is_empty(), "{facts}: {problems:?}");
    }
    let right = explained(&facts[0]);
    for (pointer, wrong) in [
        ("/formula", serde_json::json!(null)),
        ("/layers/0/kind", serde_json::json!("other")),
        ("/values/1/origin", serde_json::json!({})),
        ("/values/1/origin/line", serde_json::json!(0)),
        ("/values/1/past", serde_json::json!([{}])),
    ] {
        let mut broken = right.clone();
        *broken.pointer_mut(pointer).unwrap() = wrong;
        assert!(!schema.is_valid(&broken), "{pointer}");
    }
}

#[test]
fn unused_files_are_reported_with_the_reason() {
    let formula = "examples/formulas/users/parameters";
    let tree = Tree::new(&[
        (
            "r/f/parameters/map_jinja.yaml",
            "values: {sources: [Y!G@os, Y!G@os|I@roles, Y!P@x]}",
        ),
        ("r/f/parameters/os/Debian.yaml", "strategy: smart"),
        ("r/f/parameters/os/RedHat.yaml", "values: {}"),
        ("r/f/parameters/os/Debian/roles/db.yaml", "values: {}"),
        (
            "minion.yaml",
            "id: m\ngrains: {os: Debian}\npillar: {roles: [web, mail]}",
        ),
    ]);
    let mut reported = String::new();
    for path in [
        &format!("{formula}/os_family/RedHat.yaml"),
        &format!("{formula}/os_family/Debian.yaml"),
        "examples/formulas/users/init.sls",
        "users/parameters/os_family/None.yaml",
        "salt://users/parameters/kernel/Linux.yaml",
        "elsewhere.yaml",
    ] {
        reported += &explained(&format!("--why-not {path}"));
    }
    for path in [
        "r/f/parameters/os/Debian.yaml",
        "f/parameters/os/RedHat.yaml",
        "f/parameters/os/Debian/roles/db.yaml",
        "f/parameters/defaults.yaml",
    ] {
        let ran = run_line(
            tree.path(),
            &format!("explain f --why-not {path} --root r --minion minion.yaml --digest-salt x"),
        );
        reported += &ran.stdout;
        reported += &ran.stderr;
    }
    assert_snapshot("explain/why-not.txt", &reported);
}

#[test]
fn secrets_do_not_come_out() {
    let tree = Tree::new(&[
        (
            "r/f/parameters/defaults.yaml",
            "values:\n  admin_password: pass1234\n  pin: 4321\n  url: {{ pillar.db.user }}@db\n  same: {a: pass5678, b_token: pass5678}\n",
        ),
        (
            "r/f/parameters/os/Debian.yaml",
            "values:\n  admin_password: pass5678\n",
        ),
        (
            "minion.yaml",
            "id: m\ngrains: {os: Debian}\npillar: {db: {user: app_user_1}, f: {key: from-the-pillar}}",
        ),
    ]);
    let given = [
        "explain",
        "f",
        "--root=r",
        "--minion=minion.yaml",
        "--secret=pin",
        "--mask=pillar",
        "--sources=Y!G@os",
        "--sources=I@f",
    ];
    for more in [
        &["--format=blame"][..],
        &["--format=json"],
        &["admin_password"],
        &["key"],
        &["url"],
        PAGE,
    ] {
        let ran = run(tree.path(), &[&given[..], more].concat());
        assert_eq!((ran.status, ran.said()), (Some(0), ""), "{more:?}");
        for secret in ["pass1234", "4321", "app_user_1", "from-the-pillar"] {
            assert!(
                !ran.stdout.contains(secret),
                "{more:?}: {secret}\n{}",
                ran.stdout
            );
        }
    }
    let shown = run(tree.path(), &[&given[..], &["--show-secrets"]].concat()).stdout;
    assert!(
        ["pass5678", "4321", "app_user_1@db", "from-the-pillar"]
            .iter()
            .all(|secret| shown.contains(secret)),
        "{shown}"
    );
    let other = |salt: &str| run(tree.path(), &[&given[..], &["key", salt]].concat()).stdout;
    assert_ne!(other("--digest-salt=1"), other("--digest-salt=2"));
    assert_eq!(other("--digest-salt=1"), other("--digest-salt=1"));
}

#[test]
fn mistakes_are_reported() {
    for (line, status, reported) in [
        (
            "users acounts",
            1,
            "the result has nothing under 'acounts'; did you mean 'accounts'?",
        ),
        (
            "users packages:99",
            1,
            "'packages' has nothing under '99'; it is a list of 4",
        ),
        ("users home_root:x", 1, "'home_root' has nothing under 'x'"),
        ("users key --why-not x", 2, "cannot be used with"),
    ] {
        let ran = run_line(&repository(), &format!("explain {line} {EXAMPLE}"));
        assert_eq!(ran.status, Some(status), "{line}");
        assert!(ran.stderr.contains(reported), "{line}: {}", ran.stderr);
    }
}

/// Ways in which a secret could come out by the side.
#[test]
fn secrets_do_not_come_out_by_the_side() {
    let tree = Tree::new(&[
        (
            "r/f/parameters/map_jinja.yaml",
            "values: {sources: [Y!I@stage, C@c]}",
        ),
        (
            "r/f/parameters/defaults.yaml",
            "values:\n  db: {port: 1, nested: [1]}\n  url: //u:{{ pillar.short }}@h\n",
        ),
        (
            "r/f/parameters/defaults.yaml.jinja",
            "values:\n  pem: |-\n    {{ pillar.key | indent(4) }}\n",
        ),
        (
            "r/f/post-map.jinja",
            "{% do mapdata.update({'t': (pillar.short, 1)}) %}",
        ),
        (
            "r/g/parameters/defaults.yaml",
            "values:\n  a: {{ pillar.key | first }}{{ pillar.broken }}\n",
        ),
        (
            "minion.yaml",
            "id: m\npillar:\n  stage: prod-hunter2\n  short: hunter3\n  key: \"BEGIN KEY\\nabcdef\\nEND KEY\\n\"\n  \
             broken: 'x: hunter4: {'\n  c: {db: {pin: 98765, nested: [4711]}, strategy: recurse, merge_lists: true}\n",
        ),
    ]);
    for args in [
        &["f"][..],
        &["f", "-o", "json"],
        &["f", "db"],
        &["f", "db", "-o", "json"],
        &["f", "db:nested"],
        &["f", "t"],
        &["f", "pem"],
        &["f", "url"],
        &["f", "--why-not", "f/parameters/stage/x.yaml"],
        &["f", PAGE.first().unwrap_or(&"db")],
        &["g"],
    ] {
        let ran = run(
            tree.path(),
            &[
                &[
                    "explain",
                    "--root=r",
                    "--minion=minion.yaml",
                    "--mask=pillar",
                ],
                args,
            ]
            .concat(),
        );
        for secret in ["hunter2", "hunter3", "hunter4", "98765", "4711", "abcdef"] {
            let reported = format!("{}{}", ran.stdout, ran.stderr);
            assert!(!reported.contains(secret), "{args:?}: {secret}\n{reported}");
        }
    }
}

/// The name of a fact's place, whatever gave it.
#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one row for each thing that gives a fact"
)]
fn facts_are_reported_with_their_sources() {
    let packed = b"\x81\xa1f\x81\xa1k\xa6packed";
    let tree = Tree::new(&[
        (
            "r/f/parameters/map_jinja.yaml",
            &b"values: {sources: [I@f, G@f, C@f]}"[..],
        ),
        ("r/f/parameters/defaults.yaml", b"values: {k: 0}"),
        ("r/g/parameters/defaults.yaml", b"values: {}"),
        ("minion.yaml", b"id: m\npillar:\n  f: {k: 1}\n"),
        ("pillar.yaml", b"f:\n  k: 2\n"),
        ("grains.json", b"{\"local\": {\n  \"f\": {\"k\": 3}}}"),
        ("opts.yaml", b"f: {k: 4}"),
        ("minions/web1.yaml", b"pillar: {f: {k: 5}}"),
        (
            "all.json",
            b"{\"web1\": {\"os\": \"x\",\n \"f\": {\"k\": 6}}}",
        ),
        (
            "all.yaml",
            b"id: a\npillar: {}\n---\nid: web1\npillar: {f: {k: 7}}\n",
        ),
        ("cache/grains/web1.p", b"\x81\xa1g\x01"),
        ("cache/pillar/web1.p", packed),
        ("etc/minion", b"file_client: local\nmaster: x\nf: {k: 8}\n"),
        ("etc/minion.d/x.conf", b"# more\nf: {k: 9}\n"),
        ("other/minion", b"grains:\n  f: {k: 10}\n"),
        ("beside/minion", b"master: x\n"),
        ("beside/grains", b"f:\n    k: 11\n"),
    ]);
    for (flags, origin, json) in [
        (
            "--minion minion.yaml",
            "pillar:f:k (minion.yaml:3:10)",
            r#""file": "minion.yaml", "line": 3, "column": 10"#,
        ),
        (
            "--pillar pillar.yaml --id m",
            "pillar:f:k (pillar.yaml:2:6)",
            r#""line": 2, "column": 6"#,
        ),
        (
            "--grains grains.json",
            "grains:f:k (grains.json:2:14)",
            r#""line": 2, "column": 14"#,
        ),
        (
            "--opts opts.yaml",
            "opts:f:k (opts.yaml:1:8)",
            r#""line": 1, "column": 8"#,
        ),
        (
            "--minions minions",
            "pillar:f:k (minions/web1.yaml:1:17)",
            r#""line": 1, "column": 17"#,
        ),
        (
            "--minions all.json",
            "grains:f:k (all.json:2:13)",
            r#""line": 2, "column": 13"#,
        ),
        (
            "--minions all.yaml --id web1",
            "pillar:f:k (all.yaml:5:17)",
            r#""line": 5, "column": 17"#,
        ),
        (
            "--minions cache",
            "pillar:f:k (cache/pillar/web1.p)",
            r#""file": "cache/pillar/web1.p"}"#,
        ),
        (
            "--config etc",
            "opts:f:k (etc/minion.d/x.conf:2:8)",
            r#""file": "etc/minion.d/x.conf", "line": 2"#,
        ),
        (
            "--config other",
            "grains:f:k (other/minion:2:10)",
            r#""file": "other/minion", "line": 2"#,
        ),
        (
            "--config beside",
            "grains:f:k (beside/grains:2:8)",
            r#""file": "beside/grains", "line": 2"#,
        ),
        (
            "--minion minion.yaml --set pillar.f.k=12",
            "pillar:f:k (--set)",
            r#""flag": "--set""#,
        ),
        (
            "--platform debian-12 --set grains.f.k=13",
            "grains:f:k (--set)",
            r#""flag": "--set""#,
        ),
    ] {
        let root = if flags.starts_with("--config") {
            "--root r --id m"
        } else {
            "--root r"
        };
        let text = run_line(tree.path(), &format!("explain f k {root} {flags}"));
        assert!(
            text.stdout.contains(origin),
            "{flags}: {}{}",
            text.stdout,
            text.stderr
        );
        let printed = run_line(tree.path(), &format!("explain f k -o json {root} {flags}")).stdout;
        let printed = printed
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .replace("{ ", "{")
            .replace(" }", "}");
        assert!(printed.contains(json), "{flags}: {printed}");
    }
    let of_platform = "explain g osfinger --root r --platform debian-12 --sources G:SUB@osfinger";
    let text = run_line(tree.path(), of_platform).stdout;
    assert!(
        text.contains("grains:osfinger (the platform debian-12)"),
        "{text}"
    );
    let printed = run_line(tree.path(), &format!("{of_platform} -o json")).stdout;
    assert!(printed.contains(r#""platform": "debian-12""#), "{printed}");
}

#[cfg(feature = "html")]
mod html {
    use super::*;

    #[test]
    fn a_page_has_all_values_and_the_lines_they_come_from() {
        let page = explained("--html -");
        // The style and the script are what they are.
        let (body, script) = (
            page.find("<body>").unwrap(),
            page.rfind("<script>").unwrap(),
        );
        assert_snapshot("explain/page.html", &page[body..script]);
        let (tree, examples) = (Tree::new(&[("x", "")]), repository().join("examples"));
        let file = tree.path().join("page.html");
        let (file, examples) = (file.display().to_string(), examples.display().to_string());
        let args = [
            "explain",
            "users",
            "packages",
            "--html",
            &file,
            "--platform",
            "debian-12",
        ];
        let ran = run(
            &repository(),
            &[&args[..], &["--root", &format!("{examples}/formulas")]].concat(),
        );
        assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (Some(0), "", ""));
        let page = std::fs::read_to_string(file).unwrap();
        assert!(
            page.contains("packages</bdi>") && !page.contains("secure_path</bdi>"),
            "{page}"
        );
    }

    #[test]
    fn excerpts_have_no_secrets() {
        let defaults = "values:\n  a: 1\n  db_password: hunter-one\n  b: 2\n  pins:\n    - 4711\n  api:\n    tokens: [hunter-two,\n      \
                        hunter-three]\n  # was hunter-four\n  copy: {{ pillar.key }}\n  c: 3\n  # hunter-one is what it says above\n";
        let tree = Tree::new(&[
            ("r/f/parameters/defaults.yaml", defaults),
            (
                "r/f/post-map.jinja",
                "{% do mapdata.update({'d': 'hunter-' ~ 'five',\n'e': pillar.key}) %}\n",
            ),
            (
                "minion.yaml",
                "id: m\npillar: {key: hunter-four, f: {a: 5}}\n",
            ),
        ]);
        let page = |more: &[&str]| {
            let args = [
                "explain",
                "f",
                "--root=r",
                "--minion=minion.yaml",
                "--secret=pins",
                "--html=-",
            ];
            let ran = run(tree.path(), &[&args[..], more].concat());
            assert_eq!((ran.status, ran.said()), (Some(0), ""));
            ran.stdout
        };
        let masked = page(&["--sources=C@f"]);
        for secret in [
            "hunter-one",
            "hunter-two",
            "hunter-three",
            "hunter-four",
            "4711",
        ] {
            assert!(!masked.contains(secret), "{secret}: {masked}");
        }
        for shown in ["  a: 1", "  db_password: **********", "  c: 3"] {
            assert!(masked.contains(shown), "{shown}: {masked}");
        }
        let open = page(&["--sources=C@f", "--show-secrets"]);
        for shown in ["hunter-one", "hunter-three", "f: {a: 5}"] {
            assert!(open.contains(shown), "{shown}: {open}");
        }
    }

    #[test]
    fn hostile_values_do_not_break_the_page() {
        let defaults = "values:\n  \"</script><script>x()</script>\": \"<img src=x onerror=x()>\"\n  b: \"\\u2028\\u202e\"\n  \
                        c: [</textarea>, '\"']\n";
        let tree = Tree::new(&[("r/f/parameters/defaults.yaml", defaults)]);
        let ran = run_line(
            tree.path(),
            "explain f --root r --platform debian-12 --html -",
        );
        assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
        assert_eq!(ran.stdout.matches("<script").count(), 2, "{}", ran.stdout);
        assert!(
            !ran.stdout.contains("<img") && !ran.stdout.contains('\u{202e}'),
            "{}",
            ran.stdout
        );
    }

    #[test]
    fn mistakes_are_reported() {
        let ran = run_line(
            &repository(),
            &format!("explain users --html absent/page.html {EXAMPLE}"),
        );
        assert!(
            ran.stderr.contains("cannot write absent/page.html"),
            "{}",
            ran.stderr
        );
        let ran = run_line(
            &repository(),
            &format!("explain users --html x -o json {EXAMPLE}"),
        );
        assert_eq!(ran.status, Some(2));
    }
}

/// A checkout with files of a minion.
fn with_files() -> Tree {
    Tree::new(&[
        ("salt/top.sls", "base: {'*': [web]}\n"),
        (
            "salt/web/init.sls",
            "/etc/web.conf:\n  file.managed:\n    - source: salt://web/files/web.conf\n    - template: jinja\n    - context:\n        port: {{ pillar.web.port }}\n\
             key:\n  file.managed:\n    - name: /etc/key\n    - contents_pillar: web:password\nfar:\n  file.managed:\n    - name: /etc/far\n    - source: http://x/y\n    - skip_verify: true\n",
        ),
        (
            "salt/web/files/web.conf",
            "# managed\nport {{ port }} of {{ grains.id }}\npass {{ pillar.web.password }}\n",
        ),
        ("pillar/top.sls", "base: {'*': [web]}\n"),
        (
            "pillar/web.sls",
            "web:\n  port: 8080\n  password: secret-one\n",
        ),
        ("minions/web1.yaml", "id: web1\n"),
    ])
}

#[test]
fn lines_of_files_have_their_origins() {
    let tree = with_files();
    let mut reported = String::new();
    for asked in [
        "file /etc/web.conf:2",
        "/etc/web.conf",
        "/etc/web.conf:3",
        "salt/web/files/web.conf:2",
        "file key:1",
        "/etc/web.conf:9",
        "/etc/wep.conf:9",
        "salt://web/files/web.conf:9",
        "/etc/far:1",
    ] {
        let ran = run_line(
            tree.path(),
            &format!("explain {asked} --minion minions/web1.yaml"),
        );
        let status = ran.status.unwrap_or_default();
        assert!(!ran.stdout.contains("secret-one"), "{}", ran.stdout);
        reported.push_str(&format!(
            "$ explain {asked}\n{}{}= {status}\n\n",
            ran.stdout, ran.stderr
        ));
    }
    assert_snapshot("explain/files.txt", &reported);
    let line = "explain file /etc/web.conf:2 --minion minions/web1.yaml -o json";
    assert_snapshot(
        "explain/file-line.json",
        &run_line(tree.path(), line).stdout,
    );
}
