//! The events that a run tells its observers: which layers are the formula's own, where a strategy was chosen, and
//! which definitions led nowhere.

use std::cell::RefCell;
use std::rc::Rc;

use mapstack::hooks::{
    Hooks, MergedKind, MergedLayer, Moment, SourcePaths, StrategyOrigin, ValueHooks,
};
use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::trace::TracedRequest;
use mapstack::value::Value;
use mapstack::{DataOptions, Engine, StackOptions, yaml};

/// The reports, in order.
#[derive(Default)]
struct Log(RefCell<Vec<String>>);

impl Log {
    fn note(&self, line: String) {
        self.0.borrow_mut().push(line);
    }

    fn of(&self, what: &str) -> Vec<String> {
        let lines = self.0.borrow();
        let of_it = lines.iter().filter_map(|line| line.strip_prefix(what));
        of_it.map(|line| line.trim_start().to_owned()).collect()
    }
}

impl Hooks for Log {
    fn before_paths(&self, source: &SourcePaths<'_>) -> bool {
        let formula = source.formula.unwrap_or("another call");
        self.note(format!(
            "source {} of {formula} in {:?}",
            source.definition, source.stage
        ));
        false
    }

    fn values(&self) -> Option<&dyn ValueHooks> {
        Some(self)
    }
}

impl ValueHooks for Log {
    fn data_reduced(&self, data: &Value) {
        self.note(format!("reduced to {}", data.repr()));
    }

    fn merging(&self, _: Moment, layer: &MergedLayer<'_>) {
        let layer_is = match &layer.kind {
            MergedKind::File { file, .. } => file.path.to_string(),
            MergedKind::Value { definition, .. } => definition.to_string(),
            MergedKind::Printed { .. } => return,
        };
        let chosen = match &layer.chosen {
            StrategyOrigin::Layer(Some(place)) => format!("at {place}"),
            other => format!("{other:?}"),
        };
        self.note(format!("merge {layer_is}: {chosen}"));
    }
}

fn minion() -> Minion {
    let facts = b"{id: web1, grains: {os: Debian, none: [], short: x, plain: {values: {b: 1}},
        own: {strategy: overwrite, values: {b: 2}}}}";
    Minion::parse(facts, "web1.yaml").unwrap().complete()
}

/// The reports during the run of `web`.
fn reported(files: &[(&str, &str)]) -> Rc<Log> {
    let served = files.iter().fold(MemoryFiles::new(), |all, (path, text)| {
        all.file("base", path, text)
    });
    let (engine, log) = (Engine::new(served), Rc::new(Log::default()));
    let run = engine.run_with_hooks(&minion(), log.clone());
    run.data("web", &DataOptions::default()).unwrap();
    log
}

#[test]
fn layers_of_a_nested_call_are_not_the_formulas_own() {
    let log = reported(&[
        (
            "web/parameters/map_jinja.yaml",
            "values: {sources: ['Y!G@os', 'defaults.yaml']}",
        ),
        (
            "web/parameters/defaults.yaml.jinja",
            "values: {inner: {{ salt['map.data']('ntp')|tojson }}}",
        ),
        (
            "ntp/parameters/map_jinja.yaml",
            "values: {sources: ['Y!G@os']}",
        ),
        (
            "ntp/parameters/os/Debian.yaml.jinja",
            "values: {a: {{ 1 }}}",
        ),
    ]);
    let layers = log.of("source").into_iter();
    let layers: Vec<String> = layers.filter(|line| line.ends_with("Layers")).collect();
    assert_eq!(
        layers,
        [
            "Y!G@os of web in Layers",
            "defaults.yaml of web in Layers",
            "Y!P@defaults.yaml of another call in Layers",
            "Y!G@os of another call in Layers",
        ]
    );
    assert_eq!(
        log.of("merge"),
        [
            "web/parameters/map_jinja.yaml: BuiltIn",
            "web/parameters/defaults.yaml.jinja: BuiltIn",
        ]
    );
}

#[test]
fn a_strategy_is_chosen_where_it_stands() {
    let log = reported(&[
        (
            "web/parameters/map_jinja.yaml",
            "values: {sources: ['defaults.yaml', 'Y!G@os', 'G@plain', 'G@own']}",
        ),
        ("web/parameters/defaults.yaml", "values: {a: 1}"),
        (
            "web/parameters/os/Debian.yaml",
            "strategy: overwrite\nvalues: {a: 2}",
        ),
    ]);
    assert_eq!(
        log.of("merge"),
        [
            "web/parameters/map_jinja.yaml: BuiltIn",
            "web/parameters/defaults.yaml: BuiltIn",
            "web/parameters/os/Debian.yaml: at web/parameters/os/Debian.yaml:1:11",
            "G@plain: BuiltIn",
            "G@own: Layer(None)",
        ]
    );
}

#[test]
fn a_definition_that_leads_to_no_path_is_recorded_and_no_other() {
    for (definition, queries) in [
        ("Y!G@none", vec![None]),
        ("Y!G@absent", vec![Some("absent".to_owned())]),
        ("Y!G@short", vec![]),
        ("x.yaml", vec![]),
    ] {
        let (engine, minion) = (Engine::new(MemoryFiles::new()), minion());
        let run = engine.run(&minion);
        let sources = Value::from_iter([definition]);
        run.stack("web", &sources, &StackOptions::default())
            .unwrap();
        let asked = run.events().into_iter().map(|event| event.asked);
        let without: Vec<Option<String>> = asked
            .filter_map(|asked| match asked {
                TracedRequest::NoPaths { query } => Some(query),
                _ => None,
            })
            .collect();
        assert_eq!(without, queries, "{definition}");
    }
}

#[test]
fn a_value_is_recorded_as_found_or_not() {
    for (definition, found) in [("G@plain", true), ("G@absent", false)] {
        let (engine, minion) = (Engine::new(MemoryFiles::new()), minion());
        let run = engine.run(&minion);
        let sources = Value::from_iter([definition]);
        run.stack("web", &sources, &StackOptions::default())
            .unwrap();
        let asked: Vec<TracedRequest> = run.events().into_iter().map(|event| event.asked).collect();
        assert_eq!(asked, [TracedRequest::Value { found }], "{definition}");
    }
}

#[test]
fn a_definition_reduces_the_data_if_one_of_its_matchers_looks_there() {
    for (definition, reduces) in [("Y!G@os|M@a", true), ("Y!M@a", true), ("Y!G@os", false)] {
        let sources = format!("values: {{sources: ['defaults.yaml', '{definition}']}}");
        let log = reported(&[
            ("web/parameters/map_jinja.yaml", &sources),
            ("web/parameters/defaults.yaml", "values: {a: 1}"),
        ]);
        let expected: &[&str] = if reduces { &["{'a': 1}"] } else { &[] };
        assert_eq!(log.of("reduced to"), expected, "{definition}");
    }
}

#[test]
fn a_source_that_is_not_a_text_is_named_by_its_position() {
    let engine = Engine::new(MemoryFiles::new());
    let sources = yaml::load("[defaults.yaml, [x]]").unwrap();
    let minion = minion();
    let error = engine
        .run(&minion)
        .stack("web", &sources, &StackOptions::default())
        .unwrap_err();
    assert!(error.to_string().contains("source 2 is a list"), "{error}");
}
