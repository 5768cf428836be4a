//! What differs from the reference on purpose, seen from outside. DIFFERENCES.md gives the reasons.

mod common;

use std::fs;

use common::{Ran, Tree, repository, run};

/// `mapstack VERB f …` for a formula whose `defaults.yaml` has a text.
fn with(defaults: &str, minion: &str, verb: &str, more: &[&str]) -> Ran {
    let tree = Tree::new(&[
        ("r/f/parameters/defaults.yaml", defaults),
        ("r/f/post-map.py", "def run():\n    mapdata['a'] = 2\n"),
        ("minion.yaml", minion),
        ("custom.yaml", "{tier: front}"),
    ]);
    run(
        tree.path(),
        &[&[verb, "f"], more, &["--root=r", "--minion=minion.yaml"]].concat(),
    )
}

fn printed(ran: &Ran) -> &str {
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
    &ran.stdout
}

fn refusal(ran: &Ran) -> &str {
    assert_eq!((ran.status, &*ran.stdout), (Some(1), ""));
    &ran.stderr
}

#[test]
fn anchors_are_not_shared_across_layers() {
    let defaults = "values: {a: &x {k: 1}, b: *x}\n";
    let minion = "pillar: {f: {a: {k: 2}}}\n";
    let ran = with(defaults, minion, "data", &["--get=b:k"]);
    assert_eq!((ran.status, &*ran.stdout), (Some(0), "1\n"));
    assert!(
        ran.stderr.contains(
            "C@f changes 'a', which a YAML anchor makes one mapping with 'b': Salt changes both, mapstack only 'a'"
        ),
        "{}",
        ran.stderr
    );
    let minion = "pillar: {f: {c: {k: 2}}}\n";
    assert_eq!(
        printed(&with(defaults, minion, "data", &["--get=b:k"])),
        "1\n"
    );
}

#[test]
fn merge_options_stay_in_the_facts() {
    let minion = "grains: {cfg: {strategy: overwrite, a: {y: 2}}}\n";
    let sources = ["defaults.yaml", "G@cfg", "defaults.yaml", "G@cfg"];
    let ran = with("values: {a: {x: 1}}\n", minion, "stack", &sources);
    assert_eq!(printed(&ran), "a:\n  y: 2\n");
    let defaults = "values: {seen: '{{ grains.cfg.strategy }}'}\n";
    assert_eq!(
        printed(&with(
            defaults,
            minion,
            "stack",
            &["G@cfg", "defaults.yaml", "--get=seen"]
        )),
        "overwrite\n"
    );
}

#[test]
fn an_undefined_value_left_in_mapdata_is_null_with_a_warning() {
    let defaults = "{% do mapdata.update({'a': grains.nope, 'b': 1}) %}values: {}\n";
    let ran = with(defaults, "id: m\n", "stack", &["defaults.yaml"]);
    assert_eq!((ran.status, &*ran.stdout), (Some(0), "a: null\nb: 1\n"));
    assert!(
        ran.stderr.contains(
            "puts something into mapdata that is not data: 'dict object' has no attribute 'nope'"
        ),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_object_left_in_mapdata_is_null_with_a_warning() {
    let defaults = "{% do mapdata.update({'a': {'x': 1}.keys(), 'b': 1}) %}values: {}\n";
    let ran = with(defaults, "id: m\n", "stack", &["defaults.yaml"]);
    assert_eq!((ran.status, &*ran.stdout), (Some(0), "a: null\nb: 1\n"));
    assert!(
        ran.stderr
            .contains("a dict_keys is not data; make a list of it with |list"),
        "{}",
        ran.stderr
    );
}

#[test]
fn host_filters_are_refused() {
    let ran = with(
        "values: {a: '{{ \"sh\"|which }}'}\n",
        "id: m\n",
        "data",
        &[],
    );
    assert!(
        refusal(&ran).contains("the filter 'which' searches for programs"),
        "{}",
        ran.stderr
    );
}

#[test]
fn functions_that_are_not_built_in_are_not_in_salt() {
    let defaults = "values: {yes: {{ 'grains.get' in salt }}, no: {{ 'cmd.run' in salt }}}\n";
    let ran = with(defaults, "id: m\n", "stack", &["defaults.yaml"]);
    assert_eq!(
        (ran.status, &*ran.stdout),
        (Some(0), "true: true\nfalse: false\n")
    );
    assert!(
        ran.stderr.contains("asks whether Salt has cmd.run"),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_include_without_context_prints_where_it_stands() {
    let defaults = "{% macro m() %}a{% include 'f/post-map.py' without context %}b{% endmacro %}\
        values: {a: {{ m()|length > 2 }}}\n";
    assert_eq!(
        printed(&with(defaults, "id: m\n", "stack", &["defaults.yaml"])),
        "a: true\n"
    );
}

#[test]
fn pillar_values_are_not_masked() {
    let ran = with(
        "values: {}\n",
        "pillar: {f: {pw: secret}}\n",
        "stack",
        &["I@f"],
    );
    assert_eq!(printed(&ran), "pw: secret\n");
}

#[test]
fn custom_data_reaches_the_layers_of_map_data() {
    let defaults = "values: {from_template: '{{ custom_data.tier }}'}\n";
    let more = [
        "--sources=defaults.yaml",
        "--sources=U@t",
        "--custom-data=custom.yaml",
        "--get=from_template",
    ];
    let ran = with(defaults, "id: m\n", "data", &more);
    assert_eq!((ran.status, &*ran.stdout), (Some(0), "front\n"));
    assert!(
        ran.stderr.contains("custom_data reaches the layers"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_cache_argument_only_shows() {
    for cache in ["true", "false"] {
        let flag = format!("--cache={cache}");
        let ran = with(
            "values: {}\n",
            "id: m\n",
            "data",
            &[&flag, "--get=map_jinja:cache"],
        );
        assert_eq!(printed(&ran), format!("{cache}\n"));
    }
}

#[test]
fn recursive_anchors_are_refused() {
    let ran = with("values: &v {itself: *v}\n", "id: m\n", "data", &[]);
    assert!(
        refusal(&ran).contains("inside its own anchor"),
        "{}",
        ran.stderr
    );
}

#[test]
fn post_map_engines_that_are_not_built_in_are_refused() {
    let more = ["--post-map=post-map.py", "--post-map-template=cheetah"];
    let ran = with("values: {a: 1}\n", "id: m\n", "data", &more);
    assert!(
        refusal(&ran).contains("'cheetah' is not built in"),
        "{}",
        ran.stderr
    );
}

#[test]
fn post_map_templates_in_tera_are_merged() {
    let tree = Tree::new(&[
        (
            "r/f/parameters/defaults.yaml",
            "values: {a: 1, l: [1], m: {x: 1}}\n",
        ),
        (
            "r/f/parameters/map_jinja.yaml",
            "values: {post_map: post-map.tera, post_map_template: tera}\n",
        ),
        (
            "r/parameters/map_jinja.yaml",
            "values: {post_map: post-map.tera, post_map_template: tera}\n",
        ),
        (
            "r/f/post-map.tera",
            "a: {{ mapdata.a + 1 }}\nm: {y: {{ mapdata.m.x }}}\nl: [2]\n",
        ),
    ]);
    let data = |more: &[&str]| {
        run(
            tree.path(),
            &[&["data", "f", "--root=r", "--id=m", "-o=json"], more].concat(),
        )
        .stdout
        .replace([' ', '\n'], "")
    };
    assert_eq!(data(&["--get=a"]), "2");
    assert_eq!(data(&["--get=m"]), r#"{"x":1,"y":1}"#);
    assert_eq!(data(&["--get=l"]), "[2]");
    assert_eq!(data(&["--get=l", "--default-merge-lists"]), "[1,2]");
    tree.write("r/f/post-map.tera", b"{# nothing #}\n");
    assert_eq!(data(&["--get=a"]), "1");
    tree.write("r/f/post-map.tera", b"- 1\n");
    let ran = run(tree.path(), &["data", "f", "--root=r", "--id=m"]);
    assert!(
        refusal(&ran).contains("prints a list, not a mapping"),
        "{}",
        ran.stderr
    );
}

#[test]
fn templates_run_no_commands() {
    let ran = with(
        "values: {a: \"{{ salt['cmd.run']('id') }}\"}\n",
        "id: m\n",
        "data",
        &[],
    );
    assert!(refusal(&ran).contains("cmd.run"), "{}", ran.stderr);
}

#[test]
fn characters_have_no_names_in_templates() {
    let ran = with("values: {a: {{ '\\N{BULLET}' }}}\n", "id: m\n", "data", &[]);
    assert!(
        refusal(&ran).contains("write the character itself"),
        "{}",
        ran.stderr
    );
}

#[test]
fn lone_surrogates_are_refused() {
    let ran = with(
        "values: {}\n",
        "id: m\n",
        "data",
        &["--kwargs", r#"{"sources": ["\ud800"]}"#],
    );
    assert_eq!((ran.status, &*ran.stdout), (Some(2), ""), "{}", ran.stderr);
}

#[test]
fn database_values_are_text_with_a_warning() {
    let minion = "opts: {vault: {driver: sqlite3}, f: 'sdb://vault/key'}\n";
    let ran = with("values: {}\n", minion, "stack", &["C:SUB@f", "--get=f"]);
    assert_eq!(
        (ran.status, &*ran.stdout),
        (Some(0), "sdb://vault/key\n"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.starts_with("warning: ") && ran.stderr.contains("sdb://"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_template_prints_the_same_every_time() {
    let defaults = "\
values:
  text: {{ lipsum(2) | json }}
  one: {{ range(1000) | list | random }}
  all: {{ range(100) | list | random_shuffle | json }}
";
    let all: Vec<Ran> = (0..3)
        .map(|_| with(defaults, "id: m\n", "data", &[]))
        .collect();
    for other in &all[1..] {
        assert_eq!(printed(other), printed(&all[0]));
    }
}

#[test]
fn generators_print_without_an_address() {
    let ran = with(
        "values: {a: \"{{ [1] | map('string') }}\"}\n",
        "id: m\n",
        "data",
        &["--get=a"],
    );
    assert!(printed(&ran).contains("generator"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("0x"), "{}", ran.stdout);
}

#[test]
fn every_test_that_the_document_names_exists() {
    let text = fs::read_to_string(repository().join("DIFFERENCES.md")).unwrap();
    let mut rows = 0;
    for row in text
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| difference"))
    {
        rows += 1;
        let cell = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let mut quoted = cell.split('`').skip(1).step_by(2);
        let (file, item) = (
            quoted.next().unwrap(),
            quoted.next().unwrap_or_else(|| panic!("no test: {row}")),
        );
        let source =
            fs::read_to_string(repository().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        let known = [
            format!("fn {item}("),
            format!("def {item}("),
            format!("const {item}: "),
            format!("\"{item}\""),
        ];
        assert!(
            known.iter().any(|form| source.contains(form)),
            "{file} has no {item}"
        );
    }
    assert!(rows > 20, "only {rows} differences");
}
