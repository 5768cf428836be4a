//! If a layer prints facts specific to each minion, shared results equal those of separate runs.

use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::share::SharedFormula;
use mapstack::trace::{FileRead, FileReadKind};
use mapstack::value::{Value, json};
use mapstack::{DataOptions, Engine};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// Places in YAML where a layer can print a text; `@` is the expression, and `#` a number that makes keys unique.
const PLACES: &[&str] = &[
    "k#: @",
    "k#: @",
    "k#: '@'",
    "k#: \"@\"",
    "k#: pre-@",
    "k#: @-post",
    "k#: @@",
    "k#: a @ b",
    "k#: @ # note",
    "k#: v # @",
    "k#: v#@",
    "k#: [a, @]",
    "k#: {a: @}",
    "k#: {@: a}",
    "k#: {a: {b: @}, c: [@]}",
    "@: v#",
    "? @\n  : v#",
    "k#: !!str @",
    "k#: !!int @",
    "k#: !@ v",
    "k#: &@ v",
    "k#: &a# @\n  l#: *a#",
    "k#: &a# @\n  *a#: l#",
    "k#: |\n    @",
    "k#: >-\n    a @\n    b",
    "k#: |@\n    a",
    "k#: \"\\@\"",
    "k#: \"\\x4@\"",
    "k#: 'it''s @'",
    "k#: 1@",
    "k#: 0x@",
    "k#: .@",
    "k#: 2020-01-@",
    "k#: @: v",
    "k#: @ @",
    "- @",
    "x: @",
    "<<: {m#: @}",
    "<<: @",
    "k#:\n    - @\n    - a: @",
    "k#: !!set {@}",
    "k#: !!binary @",
    "k#: '@' '@'",
    "k#: \"@\n    b\"",
    "k#: a\n    @",
];

/// Expressions to print, most of which differ between minions.
const EXPRESSIONS: &[&str] = &[
    "{{ grains.own }}",
    "{{ grains.own }}",
    "{{ grains.id }}",
    "{{ grains.own ~ '-' ~ grains.id }}",
    "{{ grains.own|upper }}",
    "{{ grains.number }}",
    "{{ grains.number + 1 }}",
    "{{ grains.own|json }}",
    "{{ grains.own|length }}",
    "{{ salt['grains.get']('own') }}",
    "{{ mapdata.get('x', 'none') ~ grains.id }}",
    "{% if grains.number is odd %}odd{% else %}{{ grains.own }}{% endif %}",
    "{% if 'w' in grains.own %}{{ grains.os }}{% endif %}",
    "{% do mapdata.update({'x': grains.id}) %}{{ grains.id }}",
    "{% do grains.update({'own': grains.id}) %}{{ grains.own }}",
    "{% do opts.update({'role': 'web'}) %}{{ grains.id }}",
    "{{ opts.id }}",
    "{{ grains.own }}_",
    "{% set a = grains.own %}{{ a }}",
    "{{ grains.id }}{{ grains.os }}",
    "{% include 'part-' ~ grains.os ~ '.jinja' ignore missing %}",
    "{{ salt['log.warning']('of ' ~ grains.id) or grains.id }}",
];

/// Later layers.
const LATER: &[&str] = &[
    "values: {k0: over}",
    "values: {k1: {deep: 1}, new: 1}",
    "values: {k0: [a, b], k2: [c]}\nmerge_lists: true",
    "values: {k0: 1}\nstrategy: aggregate",
    "values: {k0: 1}\nstrategy: list",
    "values: {k0: 1}\nstrategy: overwrite",
    "values: {seen: {{ mapdata.get('k0', 'none')|json }}}",
    "values: {seen: {{ mapdata|length }}}",
    "values: {other: {{ grains.os }}}",
    "values: {again: {{ grains.own|json }}}",
    "values: {again: {{ grains.id }}, x: {{ grains.id }}}",
    "values: {stacked: {{ salt['map.stack']('f', ['Y!P@os/B.yaml'], default_values=mapdata)|json }}}",
    "{% set m = mapdata %}values: {n: {{ grains.id }}}",
    "{% do grains.update({'m': mapdata}) %}values: {}",
    "{% do opts.update({'m': mapdata}) %}values: {m: {{ opts.m.get('k0', 1)|json }}}",
    "values: {role: {{ opts.get('role', 'none') }}}",
    "{% if grains.id == 'x' %}{% endif %}values: [a]",
];
const POST_MAPS: &[&str] = &[
    "",
    "",
    "",
    "{% do mapdata.update({'post': grains.id}) %}",
    "{% do mapdata.update({'post': mapdata.get('k0', 1)}) %}",
    "{% if mapdata.x is defined %}{% do mapdata.pop('x') %}{% endif %}",
    "{{ grains.own }}",
];
const SOURCES: &[&str] = &[
    "Y!G@os",
    "Y!P@second.yaml",
    "Y!P@third.yaml",
    "M@k0",
    "Y!M@x",
    "M:SUB@k1",
    "Y!G@id",
    "Y!G@m:k0",
    "G@m",
    "C@own",
    "U@c",
];

/// Texts specific to a minion, each with a meaning somewhere in YAML.
const OWN: &[&str] = &[
    "yes",
    "no",
    "null",
    "~",
    "1",
    "010",
    "1e3",
    "1.5",
    "0x1f",
    "-",
    "-1",
    "+1",
    ".5",
    "...",
    "---",
    "a b",
    "a: b",
    "a #b",
    "#b",
    "'q'",
    "\"q\"",
    "é",
    "10.0.0.1",
    "::1",
    "{a",
    "[b",
    "]",
    "*a",
    "&a",
    "!b",
    "%c",
    "@d",
    "`e",
    "x\ny",
    "",
    " pad",
    "tab\t",
    "<<",
    "=",
    "2020-01-02",
    "12:30",
    "web-1.example.org",
    "a/b",
    "n",
    "u0041",
    "true",
    "inf",
    "41",
    "Z",
    "0x",
    "0b",
];

/// Number of minions. Most of their names have no meaning in YAML.
const MINIONS: usize = 150;

fn minion(number: usize, odd: usize) -> Minion {
    let own = match OWN.get(number.wrapping_mul(7).wrapping_add(odd) % (OWN.len() * 3)) {
        Some(own) => (*own).to_owned(),
        None => format!("web{number}.example.org"),
    };
    let os = ["A", "A", "A", "B"][(number / 3) % 4];
    let grains = format!(
        "grains: {{own: {}, number: {number}, os: {os}}}",
        json::dumps(&own.as_str().into(), &json::DumpOptions::default()).unwrap()
    );
    Minion::parse(format!("{{id: m{number}, {grains}}}").as_bytes(), "minion")
        .unwrap()
        .complete()
}

fn layer() -> impl Strategy<Value = String> {
    prop::collection::vec(
        (select(PLACES.to_vec()), select(EXPRESSIONS.to_vec())),
        0..3,
    )
    .prop_map(|printed| {
        let mut text = "values:\n  plain: [a, 1]\n".to_owned();
        for (number, (place, expression)) in printed.iter().enumerate() {
            text += &format!(
                "  {}\n",
                place
                    .replace('#', &number.to_string())
                    .replace('@', expression)
            );
        }
        text
    })
}

fn files() -> impl Strategy<Value = MemoryFiles> {
    let later = || select(LATER.to_vec());
    let sources = subsequence(SOURCES.to_vec(), 0..5).prop_shuffle();
    (
        layer(),
        later(),
        later(),
        layer(),
        select(POST_MAPS.to_vec()),
        sources,
    )
        .prop_map(|(defaults, os, second, third, post_map, sources)| {
            let sources: Vec<String> = sources.iter().map(|source| format!("'{source}'")).collect();
            let meta = format!("values: {{sources: [{}]}}\n", sources.join(", "));
            let of = |files: MemoryFiles, path: &str, text: &str| files.file("base", path, text);
            let files = of(MemoryFiles::new(), "f/parameters/map_jinja.yaml", &meta);
            let files = of(files, "f/parameters/defaults.yaml", &defaults);
            let files = of(files, "f/parameters/os/A.yaml", os);
            let files = of(files, "f/parameters/os/B.yaml", "values: {of: b}");
            let files = of(files, "f/parameters/second.yaml", second);
            let files = of(files, "f/parameters/third.yaml", &third);
            let files = of(files, "f/parameters/id/m7.yaml", "values: {k0: seven}");
            let files = of(files, "part-A.jinja", "part");
            of(files, "f/post-map.jinja", post_map)
        })
}

fn options() -> DataOptions {
    DataOptions {
        custom_data: Some(Value::map()),
        ..DataOptions::default()
    }
}

fn warned(warnings: &[mapstack::Diagnostic]) -> Vec<String> {
    warnings
        .iter()
        .map(|warning| format!("{warning:?}"))
        .collect()
}

/// Compare each minion's outcome with a separate run.
fn compare(files: &MemoryFiles, minions: impl Iterator<Item = Minion>) {
    let engine = Engine::new(files.clone());
    let formula = SharedFormula::new(&engine, "f", options());
    let plain = Engine::new(files.clone());
    for minion in minions {
        let outcome = formula.outcome(&minion);
        let run = plain.run(&minion);
        let alone = run.data("f", &options());
        match (&outcome.result, &alone) {
            (Ok(shared), Ok(own)) => {
                assert!(shared.is_same(own), "{}\n{shared:?}\n{own:?}", minion.id());
            }
            (Err(shared), Err(own)) => {
                assert_eq!(
                    format!("{:?}", shared.diagnostic()),
                    format!("{:?}", own.diagnostic())
                );
            }
            (shared, own) => panic!("{}\n{shared:?}\n{own:?}", minion.id()),
        }
        assert_eq!(
            warned(&outcome.warnings),
            warned(&run.warnings()),
            "{}",
            minion.id()
        );
        // A separate run also lists the missing files of definitions.
        let reads = run.file_reads();
        let is_known = |read: &FileRead| reads.contains(read) || read.kind == FileReadKind::List;
        assert!(outcome.files.iter().all(is_known), "{}", minion.id());
    }
}

fn cases(most: u32) -> u32 {
    std::env::var("MAPSTACK_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(most)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(60), ..ProptestConfig::default() })]

    #[test]
    fn shared_results_equal_those_of_separate_runs(files in files(), odd in 0_usize..1000) {
        compare(&files, (0..MINIONS).map(|number| minion(number, odd)));
    }
}

/// A formula with a layer that prints a text, and further files.
fn formula(printed: &str, more: &[(&str, &str)]) -> MemoryFiles {
    let files = MemoryFiles::new().file(
        "base",
        "f/parameters/defaults.yaml",
        format!("values:\n{printed}"),
    );
    more.iter().fold(files, |files, (path, text)| {
        files.file("base", &format!("f/{path}"), *text)
    })
}

/// Compare five hundred minions.
fn compare_many(files: &MemoryFiles) {
    compare(
        files,
        (0..500).map(|number| {
            let text = format!(
                "{{id: web{number}.example.org, grains: {{number: {number}, os: {}}}}}",
                ["A", "B"][number % 2]
            );
            Minion::parse(text.as_bytes(), "minion").unwrap().complete()
        }),
    );
}

#[test]
fn effects_of_a_layer_besides_its_output_are_kept() {
    let meta = (
        "parameters/map_jinja.yaml",
        "values: {sources: ['Y!P@b.yaml', 'Y!G@m:a', 'G@m']}",
    );
    let cases = [
        // Later layers see the options that a template changes.
        (
            "  a: {{ grains.id }}{% do opts.update({'role': 'web'}) %}",
            "values: {role: {{ opts.get('role', 'none') }}}",
        ),
        // A template copies the merged data, with printed texts in it, into facts.
        (
            "  a: {{ grains.id }}",
            "{% do grains.update({'m': mapdata}) %}values: {}",
        ),
        (
            "  a: {{ grains.id }}",
            "{% do pillar.update({'m': mapdata}) %}values: {p: {{ pillar.m.a }}}",
        ),
        // For some minions, the overwritten scalar is an error.
        (
            "  a: {{ ['x', '0x'][grains.number // 490] }}_",
            "values: {a: over}",
        ),
    ];
    for (printed, layer) in cases {
        compare_many(&formula(
            &format!("{printed}\n"),
            &[meta, ("parameters/b.yaml", layer)],
        ));
    }
    // Each error has the place in its minion's text.
    compare_many(&MemoryFiles::new().file(
        "base",
        "f/parameters/defaults.yaml",
        "{% if grains.id == 'x' %}{% endif %}values: [a]\n",
    ));
}

#[test]
fn a_path_with_an_unusual_end_leads_to_the_same_files_as_in_a_separate_run() {
    let meta = ("parameters/map_jinja.yaml", "values: {sources: ['Y!G@k']}");
    let files = formula(
        "  a: 1\n",
        &[
            meta,
            ("parameters/k/a.yaml", "values: {a: 2}"),
            ("parameters/k.yaml", "values: {a: 3}"),
        ],
    );
    let odd = [
        "a.yaml/.",
        ".",
        "",
        "/",
        "a.yaml",
        "a",
        "./a",
        "b/../a.yaml",
        "a.yaml/",
        "x.",
    ];
    let names = (0..100)
        .map(|n| format!("web{n}"))
        .chain(odd.map(str::to_owned));
    compare(
        &files,
        names.map(|name| {
            Minion::parse(
                format!("{{id: m, grains: {{k: '{name}'}}}}").as_bytes(),
                "minion",
            )
            .unwrap()
            .complete()
        }),
    );
}
