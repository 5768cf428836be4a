//! Deliberate differences from the reference. DIFFERENCES.md gives the reasons.

use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::{Value, json};
use mapstack::{DataOptions, Diagnostic, Engine, Result, Run, StackOptions, yaml};

const DEFAULTS: &str = "f/parameters/defaults.yaml";

/// The outcome of a call.
struct Outcome {
    /// The data, or the error.
    result: Result<Value, String>,
    warnings: String,
}

impl Outcome {
    /// The value at a path of the data.
    fn at(&self, path: &[&str]) -> String {
        let data = self.result.as_ref().unwrap();
        let value = path
            .iter()
            .try_fold(data, |value, key| value.as_map()?.get(*key));
        value
            .unwrap_or_else(|| panic!("{path:?} of {}", data.repr()))
            .repr()
    }

    /// The data of a call that warns of nothing.
    fn clean(&self) -> String {
        assert_eq!(self.warnings, "");
        self.result.as_ref().unwrap().repr()
    }

    fn refusal(&self) -> &str {
        self.result.as_ref().unwrap_err()
    }
}

fn said(diagnostic: &Diagnostic) -> String {
    let help = diagnostic.help.as_deref().unwrap_or_default();
    format!(
        "{}\n{help}\n{}\n",
        diagnostic.message,
        diagnostic.notes.join("\n")
    )
}

/// The result of a call about the formula `f` of these files.
fn called(
    files: &[(&str, &str)],
    minion: &str,
    call: impl FnOnce(&Run<'_>) -> Result<Value, mapstack::Error>,
) -> Outcome {
    let files = files
        .iter()
        .fold(MemoryFiles::new(), |files, (path, text)| {
            files.file("base", path, text)
        });
    let engine = Engine::new(files);
    let minion = Minion::parse(minion.as_bytes(), "minion.yaml").unwrap();
    let minion = minion.complete();
    let run = engine.run(&minion);
    let result = call(&run).map_err(|error| said(error.diagnostic()));
    let warnings = run.warnings().iter().map(said).collect();
    Outcome { result, warnings }
}

/// `map.data`, with arguments in YAML.
fn data_of(files: &[(&str, &str)], minion: &str, arguments: &str) -> Outcome {
    let arguments = yaml::load(arguments).unwrap();
    let options = DataOptions::from_kwargs(arguments.as_map().unwrap()).unwrap();
    called(files, minion, |run| run.data("f", &options))
}

/// The same of a formula whose `defaults.yaml` is this.
fn data(defaults: &str, minion: &str, arguments: &str) -> Outcome {
    data_of(&[(DEFAULTS, defaults)], minion, arguments)
}

/// `map.stack` of a formula whose `defaults.yaml` is this.
fn stack(defaults: &str, minion: &str, sources: &[&str]) -> Outcome {
    let sources = sources.iter().copied().collect();
    let files = [(DEFAULTS, defaults), ("f/text.jinja", "text\n")];
    called(&files, minion, |run| {
        run.stack("f", &sources, &StackOptions::default())
    })
}

#[test]
fn anchors_are_not_shared_across_layers() {
    let defaults = "values: {a: &x {k: 1}, b: *x}\n";
    let made = data(defaults, "pillar: {f: {a: {k: 2}}}\n", "{}");
    assert_eq!(made.at(&["b", "k"]), "1");
    let says = "C@f changes 'a', which a YAML anchor makes one mapping with 'b': Salt changes both, mapstack only 'a'";
    assert!(made.warnings.contains(says), "{}", made.warnings);
    let made = data(defaults, "pillar: {f: {c: {k: 2}}}\n", "{}");
    assert_eq!((made.at(&["b", "k"]), &*made.warnings), ("1".into(), ""));
}

#[test]
fn merge_options_stay_in_the_facts() {
    let minion = "grains: {cfg: {strategy: overwrite, a: {y: 2}}}\n";
    let sources = ["defaults.yaml", "G@cfg", "defaults.yaml", "G@cfg"];
    let made = stack("values: {a: {x: 1}}\n", minion, &sources);
    assert_eq!(made.clean(), "{'a': {'y': 2}}");
    let defaults = "values: {seen: '{{ grains.cfg.strategy }}'}\n";
    let made = stack(defaults, minion, &["G@cfg", "defaults.yaml"]);
    assert_eq!(
        (made.at(&["seen"]), &*made.warnings),
        ("'overwrite'".into(), "")
    );
}

#[test]
fn an_undefined_value_left_in_mapdata_is_null_with_a_warning() {
    let defaults = "{% do mapdata.update({'a': grains.nope, 'b': 1}) %}values: {}\n";
    let made = stack(defaults, "id: m\n", &["defaults.yaml"]);
    assert_eq!(made.result.unwrap().repr(), "{'a': None, 'b': 1}");
    let says =
        "puts something into mapdata that is not data: 'dict object' has no attribute 'nope'";
    assert!(made.warnings.contains(says), "{}", made.warnings);
}

#[test]
fn an_object_left_in_mapdata_is_null_with_a_warning() {
    let defaults = "{% do mapdata.update({'a': {'x': 1}.keys(), 'b': 1}) %}values: {}\n";
    let made = stack(defaults, "id: m\n", &["defaults.yaml"]);
    assert_eq!(made.result.unwrap().repr(), "{'a': None, 'b': 1}");
    let says = "a dict_keys is not data; make a list of it with |list";
    assert!(made.warnings.contains(says), "{}", made.warnings);
}

#[test]
fn host_filters_are_refused() {
    let made = data("values: {a: '{{ \"sh\"|which }}'}\n", "id: m\n", "{}");
    let says = "the filter 'which' searches for programs";
    assert!(made.refusal().contains(says), "{}", made.refusal());
}

#[test]
fn functions_that_are_not_built_in_are_not_in_salt() {
    let defaults = "values: {yes: {{ 'grains.get' in salt }}, no: {{ 'cmd.run' in salt }}}\n";
    let made = stack(defaults, "id: m\n", &["defaults.yaml"]);
    assert_eq!(made.result.unwrap().repr(), "{True: True, False: False}");
    let says = "asks whether Salt has cmd.run";
    assert!(made.warnings.contains(says), "{}", made.warnings);
}

#[test]
fn an_include_without_context_prints_where_it_stands() {
    let defaults = "{% macro m() %}a{% include 'f/text.jinja' without context %}b{% endmacro %}\
        values: {a: {{ m()|length > 2 }}}\n";
    let made = stack(defaults, "id: m\n", &["defaults.yaml"]);
    assert_eq!(made.clean(), "{'a': True}");
}

#[test]
fn pillar_values_are_not_masked() {
    let made = stack("values: {}\n", "pillar: {f: {pw: secret}}\n", &["I@f"]);
    assert_eq!(made.clean(), "{'pw': 'secret'}");
}

#[test]
fn custom_data_reaches_the_layers_of_map_data() {
    let defaults = "values: {from_template: '{{ custom_data.tier }}'}\n";
    let arguments = "{sources: [defaults.yaml, U@t], custom_data: {tier: front}}";
    let made = data(defaults, "id: m\n", arguments);
    assert_eq!(made.at(&["from_template"]), "'front'");
    let says = "custom_data reaches the layers";
    assert!(made.warnings.contains(says), "{}", made.warnings);
}

#[test]
fn the_cache_argument_only_shows() {
    for (cache, shown) in [("true", "True"), ("false", "False")] {
        let made = data("values: {}\n", "id: m\n", &format!("{{cache: {cache}}}"));
        assert_eq!(
            (made.at(&["map_jinja", "cache"]), &*made.warnings),
            (shown.into(), "")
        );
    }
}

#[test]
fn recursive_anchors_are_refused() {
    let made = data("values: &v {itself: *v}\n", "id: m\n", "{}");
    assert!(
        made.refusal().contains("inside its own anchor"),
        "{}",
        made.refusal()
    );
}

#[test]
fn post_map_engines_that_are_not_built_in_are_refused() {
    let arguments = "{post_map: post-map.py, post_map_template: cheetah}";
    let module = "def run():\n    mapdata['a'] = 2\n";
    let files = [(DEFAULTS, "values: {a: 1}\n"), ("f/post-map.py", module)];
    let made = data_of(&files, "id: m\n", arguments);
    assert!(
        made.refusal().contains("'cheetah' is not built in"),
        "{}",
        made.refusal()
    );
}

#[cfg(feature = "tera")]
#[test]
fn post_map_templates_in_tera_are_merged() {
    let meta = "values: {post_map: post-map.tera, post_map_template: tera}\n";
    let made = |template: &str, arguments: &str| {
        let files = [
            (DEFAULTS, "values: {a: 1, l: [1], m: {x: 1}}\n"),
            ("f/parameters/map_jinja.yaml", meta),
            ("parameters/map_jinja.yaml", meta),
            ("f/post-map.tera", template),
        ];
        data_of(&files, "id: m\n", arguments)
    };
    let merged = "a: {{ mapdata.a + 1 }}\nm: {y: {{ mapdata.m.x }}}\nl: [2]\n";
    let once = made(merged, "{}");
    assert_eq!(once.at(&["a"]), "2");
    assert_eq!(once.at(&["m"]), "{'x': 1, 'y': 1}");
    assert_eq!(once.at(&["l"]), "[2]");
    assert_eq!(
        made(merged, "{default_merge_lists: true}").at(&["l"]),
        "[1, 2]"
    );
    assert_eq!(made("{# nothing #}\n", "{}").at(&["a"]), "1");
    let refused = made("- 1\n", "{}");
    let says = "prints a list, not a mapping";
    assert!(refused.refusal().contains(says), "{}", refused.refusal());
}

#[test]
fn templates_run_no_commands() {
    let made = data(
        "values: {a: \"{{ salt['cmd.run']('id') }}\"}\n",
        "id: m\n",
        "{}",
    );
    assert!(made.refusal().contains("cmd.run"), "{}", made.refusal());
}

#[test]
fn characters_have_no_names_in_templates() {
    let made = data("values: {a: {{ '\\N{BULLET}' }}}\n", "id: m\n", "{}");
    assert!(
        made.refusal().contains("write the character itself"),
        "{}",
        made.refusal()
    );
}

#[test]
fn lone_surrogates_are_refused() {
    assert!(json::loads(r#"{"sources": ["\ud800"]}"#).is_err());
}

#[test]
fn database_values_are_text_with_a_warning() {
    let minion = "opts: {vault: {driver: sqlite3}, f: 'sdb://vault/key'}\n";
    let made = stack("values: {}\n", minion, &["C:SUB@f"]);
    assert_eq!(made.at(&["f"]), "'sdb://vault/key'");
    assert!(made.warnings.contains("sdb://"), "{}", made.warnings);
}

#[test]
fn a_template_prints_the_same_every_time() {
    let defaults = "\
values:
  text: {{ lipsum(2) | json }}
  one: {{ range(1000) | list | random }}
  all: {{ range(100) | list | random_shuffle | json }}
";
    let all = [(); 3].map(|()| data(defaults, "id: m\n", "{}").clean());
    assert_eq!(all, [&*all[0]; 3]);
}

#[test]
fn generators_print_without_an_address() {
    let defaults = "values: {a: \"{{ [1] | map('string') }}\"}\n";
    let printed = data(defaults, "id: m\n", "{}").at(&["a"]);
    assert!(
        printed.contains("generator") && !printed.contains("0x"),
        "{printed}"
    );
}
