//! The messages of the fold about a formula's files and definitions: errors with notes and places, warnings, and how
//! often it may be asked.

use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::Value;
use mapstack::{
    DataOptions, Engine, Error, ErrorKind, Result, Run, StackOptions, TofsOptions, yaml,
};

const FACTS: &str = "
id: web1
grains: {os: Debian, 'a|b': piped, list: [x, y]}
pillar: {merged: {p: 1}, master: {merged: {m: 1}}, deep: {er: {k: 1}}}
";

fn minion() -> Minion {
    let minion = Minion::parse(FACTS.as_bytes(), "minion.yaml");
    minion.unwrap().complete()
}

fn served(files: &[(&str, &str)]) -> Engine {
    let served = files.iter().fold(MemoryFiles::new(), |all, (path, text)| {
        all.file("base", path, text)
    });
    Engine::new(served)
}

/// The lines of an error.
fn said(error: &Error) -> String {
    let diagnostic = error.diagnostic();
    let place = diagnostic.place.as_ref().map(ToString::to_string);
    let parts = [
        Some(diagnostic.message.clone()),
        place,
        diagnostic.help.clone(),
    ];
    let parts = parts.into_iter().flatten();
    parts
        .chain(diagnostic.notes.clone())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The outcome of `map.data` and the warnings.
fn data(files: &[(&str, &str)], options: &str) -> (Result<Value>, String) {
    let engine = served(files);
    let minion = minion();
    let run = engine.run(&minion);
    let options = yaml::load(options).unwrap();
    let options = DataOptions::from_kwargs(options.as_map().unwrap()).unwrap();
    let result = run.data("f", &options);
    (result, warnings(&run))
}

fn warnings(run: &Run<'_>) -> String {
    let warnings = run.warnings();
    let lines = warnings.iter().flat_map(|warning| {
        let message = Some(warning.message.clone());
        message.into_iter().chain(warning.help.clone())
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn refused(files: &[(&str, &str)], options: &str) -> String {
    said(&data(files, options).0.unwrap_err())
}

/// The outcome of `map.stack` and the warnings.
fn stack(
    files: &[(&str, &str)],
    sources: &[&str],
    options: &StackOptions,
) -> (Result<Value>, String) {
    let engine = served(files);
    let minion = minion();
    let run = engine.run(&minion);
    let result = run.stack("f", &sources.iter().copied().collect(), options);
    (result, warnings(&run))
}

const LAYER: (&str, &str) = ("f/parameters/defaults.yaml", "values: {a: 1}\n");

fn meta(values: &str) -> (&'static str, String) {
    ("f/parameters/map_jinja.yaml", format!("values: {values}\n"))
}

#[test]
fn mistakes_in_the_meta_configuration_name_its_files() {
    for values in [
        "{sources: 5}",
        "{sources: ['Q@x']}",
        "{sources: {other: 1}}",
    ] {
        let (path, text) = meta(values);
        let said = refused(&[LAYER, (path, &text)], "{}");
        let files = "the meta configuration comes from f/parameters/map_jinja.yaml";
        assert!(said.contains(files), "{values}: {said}");
    }
    // The mistake of a caller is not in those files.
    let said = refused(&[LAYER], "{sources: ['Q@x']}");
    assert!(!said.contains("comes from"), "{said}");
    // Nor is one in a layer.
    let (path, text) = meta("{}");
    let broken = ("f/parameters/defaults.yaml", "values: [\n");
    let said = refused(&[broken, (path, &text)], "{}");
    assert!(!said.contains("comes from"), "{said}");
}

#[test]
fn a_mapping_of_sources_has_the_defaults_or_is_refused() {
    let (path, text) = meta("{sources: {defaults.yaml: 1}}");
    let (result, _) = data(&[LAYER, (path, &text)], "{}");
    let said = result.err().map(|e| said(&e)).unwrap_or_default();
    assert!(!said.contains("not a list"), "{said}");
    let (path, text) = meta("{sources: {other.yaml: 1}}");
    let said = refused(&[LAYER, (path, &text)], "{}");
    assert!(
        said.contains("`sources` in the meta configuration is a mapping, not a list"),
        "{said}"
    );
}

#[test]
fn what_the_meta_configuration_does_not_know_is_a_warning() {
    let (path, text) = meta("{source: []}");
    let (_, warned) = data(&[LAYER, (path, &text)], "{}");
    assert_eq!(
        warned,
        "unknown key 'source' in map_jinja.yaml\ndid you mean 'sources'?"
    );
    let (path, text) = meta("{sources: [defaults.yaml]}");
    assert_eq!(data(&[LAYER, (path, &text)], "{}").1, "");
}

#[test]
fn a_formula_without_files_is_a_warning() {
    let (_, warned) = data(&[("g/parameters/defaults.yaml", "values: {}\n")], "{}");
    assert!(
        warned.starts_with("no file of a formula 'f' was found"),
        "{warned}"
    );
    assert!(!warned.contains("map.jinja"), "{warned}");
    let (_, warned) = data(&[("f/map.jinja", "")], "{}");
    assert!(
        warned.contains("f computes its configuration in f/map.jinja"),
        "{warned}"
    );
    assert_eq!(data(&[LAYER], "{}").1, "");
}

#[test]
fn values_that_cannot_be_merged_are_refused_at_their_place() {
    let files = [
        LAYER,
        (
            "f/parameters/os/Debian.yaml",
            "strategy: smart\nvalues:\n  - x\n",
        ),
    ];
    let said = refused(&files, "{}");
    assert!(said.contains("f/parameters/os/Debian.yaml:3:"), "{said}");
}

#[test]
fn a_mapping_at_two_places_that_is_merged_into_at_one_is_a_warning() {
    let aliased = (
        "f/parameters/defaults.yaml",
        "values: {a: &x {k: 1}, b: *x}\n",
    );
    let over = ("f/parameters/os/Debian.yaml", "values: {a: {k: 2}}\n");
    let (result, warned) = data(&[aliased, over], "{}");
    let mapdata = result.unwrap();
    let mapdata = mapdata.as_map().unwrap();
    assert_eq!(mapdata.get("b").unwrap().repr(), "{'k': 1}");
    assert!(
        warned.contains("which a YAML anchor makes one mapping with 'b'"),
        "{warned}"
    );
    let apart = ("f/parameters/os/Debian.yaml", "values: {c: {k: 2}}\n");
    assert_eq!(data(&[aliased, apart], "{}").1, "");
}

#[test]
fn options_that_every_minion_has_are_named_where_they_hide_configuration() {
    let (result, _) = stack(&[], &["C@id"], &StackOptions::default());
    let said_of = |result: Result<Value>| said(&result.unwrap_err());
    let own = said_of(result);
    assert!(!own.contains("every minion has an option"), "{own}");
    let (result, _) = stack(&[], &["C@log_level"], &StackOptions::default());
    let built_in = said_of(result);
    assert!(
        built_in.contains("every minion has an option 'log_level'"),
        "{built_in}"
    );
    let (result, _) = stack(&[], &["G@os"], &StackOptions::default());
    let grain = said_of(result);
    assert!(
        grain.contains("a source that is not a path must be a mapping"),
        "{grain}"
    );
}

#[test]
fn a_path_into_the_configuration_is_split_where_its_matcher_says() {
    let (result, _) = stack(&[], &["C::/@merged/p/q"], &StackOptions::default());
    assert_eq!(result.map_err(|e| said(&e)).unwrap().repr(), "{}");
    let (result, _) = stack(&[], &["C::/@deep/er"], &StackOptions::default());
    assert_eq!(result.map_err(|e| said(&e)).unwrap().repr(), "{'k': 1}");
}

#[test]
fn directories_are_text_and_what_is_empty_is_the_root() {
    let file = ("defaults.yaml", "values: {a: 1}\n");
    let with = |given: Value| StackOptions {
        parameter_dirs: Some(given),
        ..StackOptions::default()
    };
    for empty in ["['']", "[null]", "[0]", "[[]]"] {
        let (result, _) = stack(
            &[file],
            &["defaults.yaml"],
            &with(yaml::load(empty).unwrap()),
        );
        assert_eq!(
            result.map_err(|e| said(&e)).unwrap().repr(),
            "{'a': 1}",
            "{empty}"
        );
    }
    let (result, _) = stack(
        &[file],
        &["defaults.yaml"],
        &with(yaml::load("[5]").unwrap()),
    );
    let said = said(&result.unwrap_err());
    assert!(
        said.contains("an item of `parameter_dirs` is an integer, not a path"),
        "{said}"
    );
}

#[test]
fn chains_that_lead_to_too_many_paths_are_refused() {
    let many: Vec<String> = (0..400).map(|i| format!("n{i}")).collect();
    let mut minion = minion();
    minion.grains.insert("many", many.iter().collect::<Value>());
    let engine = served(&[]);
    let run = engine.run(&minion);
    let sources: Value = ["Y!G@many|G@many"].into_iter().collect();
    let error = run
        .stack("f", &sources, &StackOptions::default())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    let sources: Value = ["Y!G@many"].into_iter().collect();
    run.stack("f", &sources, &StackOptions::default()).unwrap();
}

#[test]
fn a_run_answers_any_number_of_calls() {
    let engine = served(&[LAYER]);
    let minion = minion();
    let run = engine.run(&minion);
    for _ in 0..100 {
        run.data("f", &DataOptions::default()).unwrap();
    }
}

/// The expected values are those of `map.data` of saltext-formula 0.3.0 for the same files.
#[test]
fn what_a_file_sets_to_false_or_nothing_counts_against_the_default_of_the_run() {
    for (default, file, expected) in [
        (
            "default_merge_lists: true",
            "",
            "{'l': [1, 2], 'm': {'a': 1, 'b': 2}, ",
        ),
        (
            "default_merge_lists: true",
            "merge_lists: false",
            "{'l': [2], 'm': {'a': 1, 'b': 2}, ",
        ),
        (
            "default_merge_lists: true",
            "merge_lists: null",
            "{'l': [1, 2], 'm': {'a': 1, 'b': 2}, ",
        ),
        (
            "default_merge_strategy: overwrite",
            "",
            "{'l': [2], 'm': {'b': 2}, ",
        ),
        (
            "default_merge_strategy: overwrite",
            "strategy: ''",
            "{'l': [2], 'm': {'a': 1, 'b': 2}, ",
        ),
    ] {
        let (meta, layer) = (
            format!("values: {{sources: [defaults.yaml, 'Y!G@os'], {default}}}\n"),
            format!("values: {{l: [2], m: {{b: 2}}}}\n{file}\n"),
        );
        let files = [
            ("f/parameters/map_jinja.yaml", &*meta),
            (
                "f/parameters/defaults.yaml",
                "values: {l: [1], m: {a: 1}}\n",
            ),
            ("f/parameters/os/Debian.yaml", &layer),
        ];
        let got = data(&files, "{}").0.unwrap().repr();
        assert!(got.starts_with(expected), "{default}, {file}: {got}");
    }
}

#[test]
fn settings_of_a_value_are_taken_out_of_it_wherever_it_lies() {
    let base = "values: {deep: {one: {strategy: overwrite, merge_lists: true, k: 1}}, l: [{n: {strategy: list, k: 2}}, {o: 3}]}\n";
    for (source, left) in [
        ("M@deep:one", "'deep': {'one': {'k': 1}}"),
        ("M@l:0:n", "'l': [{'n': {'k': 2}}, {'o': 3}]"),
        ("M@l:n", "'l': [{'n': {'k': 2}}, {'o': 3}]"),
    ] {
        let file = ("f/parameters/defaults.yaml", base);
        let (result, _) = stack(
            &[file],
            &["defaults.yaml", source],
            &StackOptions::default(),
        );
        let got = match result {
            Ok(stack) => stack.repr(),
            Err(e) => said(&e),
        };
        assert!(got.contains(left), "{source}: {got}");
    }
}

#[test]
fn secrets_that_templates_print_into_layers_are_known() {
    let file = (
        "f/parameters/defaults.yaml",
        "values: {a: {{ pillar['password'] | upper }}, b: x{{ pillar['password'] }}y, plain: word}\n",
    );
    let with_one = (
        "f/parameters/os/Debian.yaml",
        "values: {c: p{{ pillar['password'] }}q}\n",
    );
    let engine = served(&[file, with_one]);
    let mut minion = minion();
    minion.pillar.insert("password", "hunter2hunter2");
    let run = engine.run(&minion).following_secrets();
    run.data("f", &DataOptions::default()).unwrap();
    let texts: Vec<String> = run.secret_texts().iter().map(ToString::to_string).collect();
    for secret in ["HUNTER2HUNTER2", "xhunter2hunter2y", "phunter2hunter2q"] {
        assert!(texts.iter().any(|text| text == secret), "{texts:?}");
    }
    assert!(!texts.iter().any(|text| text == "word"), "{texts:?}");
}

#[test]
fn calls_of_one_engine_do_not_take_each_others_arguments() {
    let (engine, minion) = (
        served(&[
            ("f/parameters/os/Debian.yaml", "values: {from: parameters}"),
            ("one/os/Debian.yaml", "values: {from: one}"),
            ("two/os/Debian.yaml", "values: {from: two}"),
        ]),
        minion(),
    );
    let from = |directory: &str| {
        let given = yaml::load(&format!("{{parameter_dirs: [{directory}]}}")).unwrap();
        let options = match directory {
            "" => DataOptions::default(),
            _ => DataOptions::from_kwargs(given.as_map().unwrap()).unwrap(),
        };
        engine.run(&minion).data("f", &options).unwrap().repr()
    };
    for (directory, expected) in [("one", "one"), ("two", "two"), ("", "parameters")] {
        let values = from(directory);
        assert!(
            values.contains(&format!("'from': '{expected}'")),
            "{values}"
        );
    }
}

#[test]
fn tofs_takes_nothing_for_an_empty_text_and_refuses_other_kinds() {
    let (engine, minion) = (served(&[]), minion());
    let options = TofsOptions::default();
    let files = |text: &str| {
        let files = yaml::load(text).unwrap();
        engine.run(&minion).tofs("f", &files, &options)
    };
    let last = files("[null]").unwrap().pop();
    assert_eq!(last.as_deref(), Some("salt://f/files/default"));
    let error = files("[[x]]").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("an item of `source_files` is a list, not text"),
        "{error}"
    );
}
