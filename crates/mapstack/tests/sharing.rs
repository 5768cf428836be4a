//! Shared results equal those of separate runs.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mapstack::loader::{FileServer, LoadError, MemoryFiles, SaltPath, Snapshot};
use mapstack::minion::Minion;
use mapstack::share::{Outcome, SharedFormula};
use mapstack::value::{Value, json};
use mapstack::{
    Call, CallError, Configuration, ConfigurationMethod, DataOptions, Engine, Functions,
    MapOptions, Run, Stubs, yaml,
};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::serving::Intercepted;

/// Expressions with every kind of read of a minion, and statements that change what is read.
const READS: &[&str] = &[
    "{{ grains.os }}",
    "{{ grains['os'] ~ grains.get('num') }}",
    "{{ grains.get('missing', grains.num * 2) }}",
    "{{ 'flag' in grains }}",
    "{{ 'pkg.list_upgrades' in salt }}",
    "{{ salt.get('pkg.list_upgrades') is none and grains.flag is defined }}",
    "{{ grains.flag is defined }}",
    "{{ grains.nested.a }}",
    "{{ grains.nested.get('b', {}) | json }}",
    "{{ grains.nested is mapping }}",
    "{{ grains.nested | length }}",
    "{{ grains | length }}",
    "{{ grains | json }}",
    "{% for k, v in grains.nested.items() %}{{ k }}{% endfor %}",
    "{{ grains.list | join('-') }}",
    "{{ (grains.list + [grains.num]) | json }}",
    "{{ grains.list[0] }}",
    "{{ grains == pillar }}",
    "{{ grains.nested == {'a': 1} }}",
    "{{ 'yes' if pillar else 'no' }}",
    "{{ 'yes' if pillar.get('p') else 'no' }}",
    "{{ pillar.p.q }}",
    "{{ pillar.p is defined and pillar.p.q is defined }}",
    "{{ salt['grains.get']('nested:a', 0) }}",
    "{{ salt['grains.get']('list:0') }}",
    "{{ salt['grains.has_value']('nested:a') }}",
    "{{ salt['grains.filter_by']({'Debian': {'a': 1}, 'default': {'a': 2}}, grain='os') | json }}",
    "{{ salt['pillar.get']('p:q', 'none') }}",
    "{{ salt['pillar.get']('p', {'z': 1}, merge=True) | json }}",
    "{{ salt['pillar.items']() | json }}",
    "{{ salt['pillar.keys']('p') | json }}",
    "{{ salt['config.get']('os', 'x') }}",
    "{{ salt['config.get']('p', merge='recurse') | json }}",
    "{{ salt['config.get']('nested:a', merge='bogus') | json }}",
    "{{ salt['config.option']('own') }}",
    "{{ salt['config.merge']('p') | json }}",
    "{{ opts.id }}",
    "{{ opts.get('own', 'none') }}",
    "{{ opts['grains']['os'] }}",
    "{{ opts.pillar.get('p', {}) | json }}",
    "{{ opts | length }}",
    "{{ salt['match.grain']('os:Deb*') }}",
    "{{ salt['match.grain']('nested:a:1') }}",
    "{{ salt['match.pillar']('p:q:*') }}",
    "{{ salt['match.pillar']('*:q:1') }}",
    "{{ salt['match.compound']('G@os:Debian or I@p:q:1 or web1') }}",
    "{{ salt['match.glob']('web*') }}",
    "{{ salt['match.ipcidr']('10.0.0.0/8') }}",
    "{{ salt['network.ip_addrs']() | json }}",
    "{{ salt['random.seed'](10) }}",
    "{{ [1, 2, 3] | random_shuffle(grains.num) | json }}",
    "{{ salt['test.stub'](grains.os) }}",
    "{{ salt['test.stub']('b') }}",
    "{{ salt['slsutil.merge'](grains.nested, {'m': 1}) | json }}",
    "{{ salt['map.data']('other').get('from', 'none') }}",
    "{{ salt['map.stack']('other', ['Y!G@os', 'I@p']) | length }}",
    "{{ salt['defaults.merge']({'x': 1}, pillar.get('p', {})) | json }}",
    "{{ mapdata.get('x', 'none') }}",
    "{{ mapdata | length }}",
    "{{ custom_data.get('c') }}",
    "{{ saltenv }}",
    "{% do grains.update({'os': 'Changed', 'num': 7}) %}{{ grains.os }}",
    "{% do grains.nested.update({'a': 5}) %}{{ grains.nested.a }}",
    "{% do grains.nested.pop('a', none) %}{{ salt['grains.get']('nested:a', 'gone') }}",
    "{% do grains.list.append(9) %}{{ grains.list | length }}",
    "{% do pillar.setdefault('p', {}).update({'q': 9}) %}{{ salt['pillar.get']('p:q') }}",
    "{% do pillar.clear() %}{{ salt['config.get']('p') | json }}",
    "{% do opts.update({'own': 3}) %}{{ opts.own }}",
    "{% set g = grains %}{% do g.update({'extra': pillar}) %}{{ grains.extra.get('p', {}) | json }}",
    "{% do mapdata.update({'x': grains.os}) %}",
    "{% do mapdata.update({'n': grains.nested}) %}{% do mapdata.n.update({'into': 'both'}) %}{{ grains.nested.get('into') }}",
    "{{ grains.missing.boom }}",
    "{{ pillar['p']['q']['r'] }}",
    "{{ salt['nope.nope']() }}",
    "{{ 1 / grains.num }}",
    "{{ raise('no ' ~ grains.os) }}",
    "{{ salt['log.warning']('seen ' ~ grains.os) }}",
    "{% import_yaml grains.os ~ '.yaml' as imported %}{{ imported | json }}",
    "{% include 'part-' ~ grains.os ~ '.jinja' ignore missing %}",
    "{{ salt['cp.get_file_str']('salt://' ~ grains.os ~ '.yaml') | json }}",
    "{{ salt['slsutil.file_exists'](grains.os ~ '.yaml') }}",
];

const SOURCES: &[&str] = &[
    "Y!G@os",
    "Y!G@list",
    "Y!G@id",
    "Y!G@missing",
    "Y!I@p:q",
    "Y!C@os|I@p:q",
    "Y!P@plain.yaml",
    "Y!M@x",
    "G@nested",
    "I@p",
    "C@p",
    "I:SUB@p",
    "M@n",
    "U@c",
    "C@nested|G@list",
    "Y!P@..",
    "Y!G@num",
    "defaults.yaml",
];

const MINIONS: [&[&str]; 9] = [
    &["web1", "web2", "web3", "db1", "db2"],
    &[
        "os: Debian",
        "os: Debian",
        "os: Arch",
        "os: '1'",
        "os: 1",
        "os: null",
        "os: '../up'",
    ],
    &["num: 1", "num: 1", "num: 1.0", "num: true", "num: 0"],
    &[
        "nested: {a: 1}",
        "nested: {a: 1}",
        "nested: {a: 1, b: {c: 2}}",
        "nested: {b: {c: 2}, a: 1}",
        "nested: {a: true}",
        "nested: []",
    ],
    &[
        "list: [one, two]",
        "list: [one, two]",
        "list: []",
        "list: [1]",
        "list: {0: x}",
    ],
    &["", "", "flag: yes", "ipv4: [10.0.0.1]"],
    &[
        "",
        "",
        "p: {q: 1}",
        "p: {q: '1'}",
        "p: {q: {r: 2}, list: [1]}",
        "p: text",
    ],
    &[
        "",
        "",
        "",
        "saltenv: dev",
        "own: 1",
        "pillar_raise_on_missing: true",
        "jinja_trim_blocks: true",
        "allow_undefined: true",
    ],
    &["", "unread: 1", "unread: 2", "unread: [3]"],
];

fn minion() -> impl Strategy<Value = String> {
    let [id, os, num, nested, list, more, pillar, opts, unread] = MINIONS.map(select);
    (id, os, num, nested, list, more, pillar, opts, unread).prop_map(
        |(id, os, num, nested, list, more, pillar, opts, unread)| {
            let grains: Vec<&str> = [os, num, nested, list, more, unread]
                .into_iter()
                .filter(|g| !g.is_empty())
                .collect();
            format!(
                "{{id: {id}, grains: {{{}}}, pillar: {{{pillar}}}, opts: {{{opts}}}}}",
                grains.join(", ")
            )
        },
    )
}

/// Files of a formula.
#[expect(
    clippy::too_many_lines,
    reason = "the files of one formula, which depend on each other"
)]
fn files() -> impl Strategy<Value = Vec<(String, String)>> {
    let reads = |most: usize| subsequence(READS.to_vec(), 0..=most).prop_shuffle();
    let layer = |name: &'static str, most: usize| {
        (reads(most), any::<bool>()).prop_map(move |(reads, sure)| {
            let mut text = format!("values:\n  {name}: yes\n  shared: {name}\n");
            for (n, read) in reads.iter().enumerate() {
                // Half of the values are plain YAML, so that some outputs of templates are errors.
                let value = if sure {
                    format!("!!str |-\n    {read}\n")
                } else {
                    format!("{read}\n")
                };
                text += &format!("  {name}{n}: {value}");
            }
            text
        })
    };
    let sources = subsequence(SOURCES.to_vec(), 1..7).prop_shuffle();
    let strategy = select(vec!["null", "null", "recurse", "overwrite", "bogus"]);
    let parts = (
        layer("d", 3),
        layer("os", 2),
        layer("other", 1),
        reads(2),
        sources,
        strategy,
        0..5_usize,
    );
    parts.prop_map(
        |(defaults, os, other, post_map, sources, strategy, which)| {
            let meta: Vec<String> = sources.iter().map(|source| format!("'{source}'")).collect();
            let mut files = vec![
                ("f/parameters/defaults.yaml".to_owned(), defaults),
                (
                    "f/parameters/map_jinja.yaml".to_owned(),
                    format!(
                        "values: {{sources: [{}], config_get_strategy: {strategy}}}\n",
                        meta.join(", ")
                    ),
                ),
                ("f/post-map.jinja".to_owned(), post_map.concat()),
                ("other/parameters/defaults.yaml".to_owned(), other),
                (
                    "other/parameters/os/Arch.yaml".to_owned(),
                    "values: {from: arch}\n".to_owned(),
                ),
                ("Debian.yaml".to_owned(), "imported: yes\n".to_owned()),
                (
                    "part-Arch.jinja".to_owned(),
                    "part of {{ grains.num }}".to_owned(),
                ),
            ];
            let values = [
                "{v: 1}",
                "{x: Debian, n: {k: 1}}",
                "{nested: {z: 1}}",
                "[1]",
                "{a: 1}\nstrategy: smrat",
            ];
            for (n, path) in [
                "os/Debian.yaml",
                "list/one.yaml",
                "id/web1.yaml",
                "p/q/1.yaml",
                "plain.yaml",
                "x/Debian.yaml",
            ]
            .iter()
            .enumerate()
            {
                let text = match values.get((which + n) % 7) {
                    Some(values) => format!("values: {values}\n"),
                    None => os.clone(),
                };
                files.push((format!("f/parameters/{path}"), text));
            }
            files
        },
    )
}

fn served(files: &[(String, String)]) -> MemoryFiles {
    let both = files.iter().flat_map(|(path, text)| {
        [
            ("base", path, text.clone()),
            ("dev", path, text.replace("yes", "no")),
        ]
    });
    both.fold(MemoryFiles::new(), |files, (env, path, text)| {
        files.file(env, path, text)
    })
}

fn engine(files: impl FileServer + 'static) -> Engine {
    let stubs = "test.stub: [{args: [Debian], return: stubbed}, {args: [b], minions: 'web*', return: mine}, {return: other}]";
    Engine::new(files).with_stubs(Stubs::parse(stubs, "stubs.yaml").unwrap())
}

fn options() -> DataOptions {
    DataOptions {
        custom_data: Some(yaml::load("c: {d: 1}").unwrap()),
        ..DataOptions::default()
    }
}

fn parsed(text: &str) -> Minion {
    Minion::parse(text.as_bytes(), "minion.yaml")
        .unwrap()
        .complete()
}

/// The result of a separate run, with nothing shared.
fn alone(files: &[(String, String)], minion: &Minion) -> (mapstack::Result<Value>, Vec<String>) {
    result_alone(files, minion, |run| run.data("f", &options()))
}

fn result_alone(
    files: &[(String, String)],
    minion: &Minion,
    work: impl FnOnce(&Run<'_>) -> mapstack::Result<Value>,
) -> (mapstack::Result<Value>, Vec<String>) {
    let engine = engine(served(files));
    let run = engine.run(minion);
    let result = work(&run);
    let warnings = run
        .warnings()
        .iter()
        .map(|warning| format!("{warning:?}"))
        .collect();
    (result, warnings)
}

fn assert_same(outcome: &Outcome, alone: &(mapstack::Result<Value>, Vec<String>)) {
    match (&outcome.result, &alone.0) {
        (Ok(shared), Ok(own)) => assert!(shared.is_same(own), "{shared:?}\n{own:?}"),
        (Err(shared), Err(own)) => assert_eq!(
            format!("{:?}", shared.diagnostic()),
            format!("{:?}", own.diagnostic())
        ),
        (shared, own) => panic!("{shared:?}\n{own:?}"),
    }
    let warnings: Vec<String> = outcome
        .warnings
        .iter()
        .map(|warning| format!("{warning:?}"))
        .collect();
    assert_eq!(warnings, alone.1);
}

thread_local! {
    /// The number of outcomes of a property, and how many of them were shared.
    static SHARED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn shared_results_equal_those_of_separate_runs(files in files(), minions in prop::collection::vec(minion(), 2..14)) {
        let engine = engine(Snapshot::new(served(&files)));
        let formula = SharedFormula::new(&engine, "f", options());
        let mut seen: Vec<Arc<Outcome>> = Vec::new();
        for text in &minions {
            let minion = parsed(text);
            let outcome = formula.outcome(&minion);
            assert_same(&outcome, &alone(&files, &minion));
            let is_shared = seen.iter().any(|known| Arc::ptr_eq(known, &outcome));
            SHARED.with(|counts| {
                let (all, shared) = counts.get();
                counts.set((all + 1, shared + usize::from(is_shared)));
            });
            seen.push(outcome);
        }
    }
}

/// `MAPSTACK_CASES` sets the number of cases.
fn cases() -> u32 {
    std::env::var("MAPSTACK_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(100)
}

#[test]
fn every_read_gives_the_same_result_shared_or_not() {
    // Each read by itself, for a fixed set of minions.
    let (mut shared, mut shared_maps) = (0, 0);
    for read in READS {
        let files = [
            (
                "f/parameters/defaults.yaml".to_owned(),
                format!("values:\n  a: !!str |-\n    {read}\n  b: 1\n"),
            ),
            ("f/post-map.jinja".to_owned(), (*read).to_owned()),
            (
                "f/map.jinja".to_owned(),
                format!("{{% set out %}}{read}{{% endset %}}{{% set mapdata = {{'out': out}} %}}"),
            ),
            (
                "other/parameters/defaults.yaml".to_owned(),
                "values: {from: {{ grains.num }}}\n".to_owned(),
            ),
            ("Debian.yaml".to_owned(), "imported: yes\n".to_owned()),
            (
                "part-Arch.jinja".to_owned(),
                "part of {{ grains.num }}".to_owned(),
            ),
        ];
        let engine = engine(served(&files));
        let formula = SharedFormula::new(&engine, "f", options());
        let map = Configuration::of(&engine, "f", "base", options()).unwrap();
        assert_eq!(map.way(), ConfigurationMethod::Map);
        let map = SharedFormula::of(&engine, map);
        let mut seen: Vec<Arc<Outcome>> = Vec::new();
        let mut seen_maps: Vec<Arc<Outcome>> = Vec::new();
        for n in 0..40_usize {
            let [id, os, num, nested, list, more, pillar, opts, unread] =
                std::array::from_fn(|at| {
                    let choices = MINIONS[at];
                    choices[(n * (2 * at + 3) + n / 5) % choices.len()]
                });
            let grains: Vec<&str> = [os, num, nested, list, more, unread]
                .into_iter()
                .filter(|g| !g.is_empty())
                .collect();
            let text = format!(
                "{{id: {id}, grains: {{{}}}, pillar: {{{pillar}}}, opts: {{{opts}}}}}",
                grains.join(", ")
            );
            let minion = parsed(&text);
            let outcome = formula.outcome(&minion);
            assert_same(&outcome, &alone(&files, &minion));
            shared += usize::from(seen.iter().any(|known| Arc::ptr_eq(known, &outcome)));
            seen.push(outcome);
            let outcome = map.outcome(&minion);
            let exported = |run: &Run<'_>| {
                let exported = run.map("f", &MapOptions::default());
                exported.map(|exported| exported.value)
            };
            assert_same(&outcome, &result_alone(&files, &minion, exported));
            shared_maps += usize::from(seen_maps.iter().any(|known| Arc::ptr_eq(known, &outcome)));
            seen_maps.push(outcome);
        }
    }
    assert!(shared_maps > READS.len() * 12, "{shared_maps}");
    // Most expressions read few facts.
    assert!(shared > READS.len() * 12, "{shared}");
}

fn formula_of<'e>(engine: &'e Engine) -> SharedFormula<'e> {
    SharedFormula::new(engine, "f", DataOptions::default())
}

fn value_of(outcome: &Outcome) -> String {
    json::dumps(
        outcome
            .result
            .as_ref()
            .unwrap()
            .as_map()
            .unwrap()
            .get("v")
            .unwrap(),
        &json::DumpOptions::default(),
    )
    .unwrap()
}

/// Counts its calls.
struct Counter(AtomicUsize);

impl Functions for Counter {
    fn has(&self, name: &str) -> bool {
        name == "my.count"
    }
    fn has_module(&self, module: &str) -> bool {
        module == "my"
    }
    fn call(&self, _: &Call) -> Option<Result<Value, CallError>> {
        Some(Ok(
            Value::from(self.0.fetch_add(1, Ordering::SeqCst) as u64),
        ))
    }
}

#[test]
fn functions_from_outside_are_called_every_time() {
    let files = MemoryFiles::new().file(
        "base",
        "f/parameters/defaults.yaml",
        "values: {v: {{ salt['my.count']() }}}",
    );
    let engine = Engine::new(files).with_functions(Counter(AtomicUsize::new(0)));
    let formula = formula_of(&engine);
    let minion = parsed("{id: web1}");
    let values: Vec<String> = (0..3)
        .map(|_| value_of(&formula.outcome(&minion)))
        .collect();
    assert_eq!(values, ["0", "1", "2"]);
}

#[test]
fn the_time_is_read_every_time() {
    for read in [
        "none|strftime('%s.%f')",
        "'now'|strftime('%s.%f')",
        "'today'|strftime('%s')",
    ] {
        let text = format!("values: {{v: \"{{{{ {read} }}}}\"}}");
        let engine =
            Engine::new(MemoryFiles::new().file("base", "f/parameters/defaults.yaml", text));
        let formula = formula_of(&engine);
        let minion = parsed("{id: web1}");
        let (one, two) = (formula.outcome(&minion), formula.outcome(&minion));
        assert!(!Arc::ptr_eq(&one, &two), "{read}");
    }
}

#[cfg(feature = "tera")]
#[test]
fn other_languages_are_run_every_time() {
    let files = MemoryFiles::new()
        .file(
            "base",
            "f/parameters/map_jinja.yaml",
            "values: {post_map: post.tera, post_map_template: tera}",
        )
        .file("base", "f/post.tera", "v: {{ grains.os }}\n");
    let engine = Engine::new(files);
    let formula = formula_of(&engine);
    let (one, two) = (
        formula.outcome(&parsed("{grains: {os: A}}")),
        formula.outcome(&parsed("{grains: {os: B}}")),
    );
    assert_eq!(
        (value_of(&one), value_of(&two)),
        ("\"A\"".into(), "\"B\"".into())
    );
    assert!(!Arc::ptr_eq(
        &one,
        &formula.outcome(&parsed("{grains: {os: A}}"))
    ));
}

#[test]
fn a_fact_with_a_different_value_for_every_minion_gives_correct_results() {
    let files = MemoryFiles::new()
        .file(
            "base",
            "f/parameters/defaults.yaml",
            "values: {v: {{ grains.id }}-{{ grains.os }}}",
        )
        .file("base", "f/parameters/id/m7.yaml", "values: {v: own}");
    let engine = Engine::new(Snapshot::new(files));
    let formula = formula_of(&engine);
    for round in 0..2 {
        for n in 0..1500 {
            let outcome =
                formula.outcome(&parsed(&format!("{{id: m{n}, grains: {{os: {}}}}}", n % 3)));
            let expected = if n == 7 {
                "\"own\"".to_owned()
            } else {
                format!("\"m{n}-{}\"", n % 3)
            };
            assert_eq!(value_of(&outcome), expected, "round {round}");
        }
    }
}

#[test]
fn results_are_correct_with_hardly_any_memory() {
    let files = MemoryFiles::new()
        .file(
            "base",
            "f/parameters/defaults.yaml",
            "values: {v: {{ grains.os }}}",
        )
        .file("base", "f/parameters/os/3.yaml", "values: {v: three}");
    let engine = Engine::new(files);
    for memory in [0, 1, 3_000, 20_000] {
        let formula = formula_of(&engine).with_memory(memory);
        for n in 0..200 {
            let outcome = formula.outcome(&parsed(&format!("{{grains: {{os: {}}}}}", n % 9)));
            let expected = if n % 9 == 3 {
                "\"three\"".to_owned()
            } else {
                (n % 9).to_string()
            };
            assert_eq!(value_of(&outcome), expected);
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_is_requested_again() {
    let files = MemoryFiles::new()
        .file("base", "f/parameters/defaults.yaml", "values: {v: 1}")
        .file("base", "f/parameters/os/A.yaml", "values: {v: 2}");
    let requests = AtomicUsize::new(0);
    let failing = Intercepted::new(files, move |path: &SaltPath| {
        let fails =
            path.to_string().ends_with("os/A.yaml") && requests.fetch_add(1, Ordering::SeqCst) < 4;
        fails.then(|| {
            Err(LoadError::Io {
                path: path.to_string().into(),
                source: std::io::Error::other("not now"),
            })
        })
    });
    let engine = Engine::new(Snapshot::new(failing.without_names()));
    let formula = formula_of(&engine);
    let minion = parsed("{id: web1, grains: {os: A}}");
    assert!(formula.outcome(&minion).result.is_err());
    let later: Vec<Arc<Outcome>> = (0..4).map(|_| formula.outcome(&minion)).collect();
    assert_eq!(value_of(&later[3]), "2");
}

#[test]
fn a_fact_that_a_template_removed_no_longer_hides_others() {
    // The template removes a grain, so that a later look-up finds the value of the pillar instead.
    let files = MemoryFiles::new()
        .file(
            "base",
            "f/parameters/defaults.yaml",
            "values: {v: 0}\n{% do grains.n.pop('a') %}",
        )
        .file(
            "base",
            "f/post-map.jinja",
            "{% do mapdata.update({'v': salt['config.get']('n:a')}) %}",
        );
    let engine = Engine::new(files);
    let formula = formula_of(&engine);
    for a in ["1", "2", "3"] {
        let minion = parsed(&format!(
            "{{id: web1, grains: {{n: {{a: 0}}}}, pillar: {{n: {{a: {a}}}}}}}"
        ));
        assert_eq!(value_of(&formula.outcome(&minion)), a);
    }
}

#[test]
fn an_outcome_names_the_files_it_depends_on() {
    let files = MemoryFiles::new()
        .file(
            "base",
            "f/parameters/defaults.yaml",
            "values: {v: {% include 'part.jinja' %}}",
        )
        .file(
            "base",
            "f/parameters/os/A.yaml",
            "values: {w: {{ salt['cp.get_file_str']('salt://gone.txt') }}}",
        )
        .file("base", "part.jinja", "1");
    let engine = Engine::new(files);
    let formula = formula_of(&engine);
    let read = |outcome: &Outcome| -> Vec<String> {
        outcome
            .files
            .iter()
            .map(|file| format!("{}:{} {:?}", file.saltenv, file.path, file.kind))
            .collect()
    };
    let (one, two) = (
        parsed("{id: web1, grains: {os: A}}"),
        parsed("{id: web2, grains: {os: A}}"),
    );
    let outcome = formula.outcome(&one);
    let expected = [
        "base:f/parameters/defaults.yaml Found",
        "base:part.jinja Found",
        "base:f/parameters/os/A.yaml Found",
        // A file of the tree would replace the module of Salt.
        "base:_modules/cp.py Absent",
        "base:_modules/cp/__init__.py Absent",
        "base:gone.txt Absent",
        "base:f/post-map.jinja Absent",
    ];
    assert_eq!(
        read(&outcome)
            .iter()
            .filter(|file| !file.contains("map_jinja"))
            .collect::<Vec<_>>(),
        expected
    );
    // The outcome does not contain the name of another minion.
    assert!(Arc::ptr_eq(&outcome, &formula.outcome(&two)));
    // A separate run lists every file that it looked for.
    let run = engine.run(&two);
    run.data("f", &DataOptions::default()).unwrap();
    assert!(
        run.file_reads()
            .iter()
            .any(|file| file.path.contains("id/web2.yaml"))
    );
}

/// Reads by templates in Mako: by those that are printed without an interpreter, and by those that need one.
const MAKO_READS: &[&str] = &[
    "plain",
    "${grains['os']}",
    "${grains.get('num', 'none')}",
    "${grains['nested']['a'] if 'nested' in grains else 'none'}",
    "${grains['os'] if pillar else 'empty'}",
    "${opts['id'] if grains.get('num') == 1 else grains['os']}",
    "${','.join(grains.get('list', []))}",
    "\n% if grains['os'].startswith('A'):\nstarts\n% elif grains.get('flag'):\nflag\n% endif\n",
    "\n% for item in grains.get('list', []):\n- ${item}\n% endfor\n",
    "${len(grains)}",
    "${salt['grains.get']('nested:a', 0)}",
    "${sorted(grains)}",
    "<% grains['os'] = 'changed' %>${grains['os']}",
];

#[cfg(unix)]
#[test]
fn templates_in_mako_give_the_same_result_shared_or_not() {
    let mut succeeded = 0;
    for read in MAKO_READS {
        let layer = format!(
            "#!mako|yaml\nvalues:\n  b: 1\n  a: |\n    {}\n",
            read.replace('\n', "\n    ")
        );
        let files = [
            ("f/parameters/defaults.yaml".to_owned(), layer.replace("    %", "%")),
            (
                "f/parameters/map_jinja.yaml".to_owned(),
                "values: {sources: [defaults.yaml, 'Y:G@os'], post_map: post.mako, post_map_template: mako}\n".to_owned(),
            ),
            ("f/parameters/os/Arch.yaml".to_owned(), "values: {from: arch}\n".to_owned()),
            ("f/post.mako".to_owned(), format!("{read}<% mapdata['c'] = grains['os'] %>")),
        ];
        let engine = engine(served(&files));
        let formula = SharedFormula::new(&engine, "f", DataOptions::default());
        for n in 0..8_usize {
            let [id, os, num, nested, list, more, pillar, opts, unread] =
                std::array::from_fn(|at| {
                    MINIONS[at][(n * (2 * at + 3) + n / 5) % MINIONS[at].len()]
                });
            let grains = [os, num, nested, list, more, unread];
            let grains: Vec<&str> = grains
                .into_iter()
                .filter(|grain| !grain.is_empty())
                .collect();
            let minion = parsed(&format!(
                "{{id: {id}, grains: {{{}}}, pillar: {{{pillar}}}, opts: {{{opts}}}}}",
                grains.join(", ")
            ));
            let own = result_alone(&files, &minion, |run| {
                run.data("f", &DataOptions::default())
            });
            assert_same(&formula.outcome(&minion), &own);
            succeeded += usize::from(own.0.is_ok());
        }
    }
    // The others have no such grain.
    assert!(succeeded > MAKO_READS.len() * 4, "{succeeded}");
}
