//! Pillars that share what minions have in common equal those that share nothing.

use std::sync::Arc;

use crate::disk::write;
use mapstack::loader::MemoryFiles;
use mapstack::minion::{Minion, SaltVersion};
use mapstack::{Call, CallError, Engine, Functions, Limits, Stubs, value::Value};
use mapstack_pillar::{Master, PillarReads, PillarRequest, WholePillar};
use mapstack_salt_config::{Config, Kind};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// Expressions with every kind of read of a minion, and statements that change what is read.
const READS: &[&str] = &[
    "{{ grains.os }}",
    "{{ grains['os'] ~ grains.get('num') }}",
    "{{ grains.id }}",
    "{{ 'flag' in grains }}",
    "{{ grains.nested.a }}",
    "{{ grains.nested.get('b', {}) | json }}",
    "{{ grains.nested is mapping }}",
    "{{ grains | length }}",
    "{{ grains | json }}",
    "{% for k, v in grains.nested.items() %}{{ k }}{% endfor %}",
    "{{ grains.list | join('-') }}",
    "{{ pillar | json }}",
    "{{ pillar.get('over', 'none') }}",
    "{{ salt['pillar.get']('over', 'none') }}",
    "{{ salt['grains.get']('nested:a', 0) }}",
    "{{ salt['grains.filter_by']({'Debian': {'a': 1}, 'default': {'a': 2}}, grain='os') | json }}",
    "{{ salt['config.get']('os', 'x') }}",
    "{{ salt['config.get']('saltenv', 'x') }}",
    "{{ salt['config.option']('own') }}",
    "{{ opts.id }}",
    "{{ opts.minion_id }}",
    "{{ opts.get('saltenv') }}",
    "{{ opts['pillarenv'] }}",
    "{{ opts['grains']['os'] }}",
    "{{ opts.grains.nested | json }}",
    "{{ opts | length }}",
    "{{ salt['match.grain']('os:Deb*') }}",
    "{{ salt['match.compound']('G@os:Debian or web1') }}",
    "{{ salt['match.glob']('web*') }}",
    "{{ salt['match.nope']('web*') }}",
    "{{ salt['test.stub'](grains.os) }}",
    "{{ salt['test.stub']('b') }}",
    "{{ salt['outside.said'](grains.os) }}",
    "{{ [1, 2, 3] | random_shuffle(grains.num) | json }}",
    "{{ None | strftime('%Y') }}",
    "{{ sls }} {{ saltenv }} {{ tpldir }}",
    "{{ given | default('not given') }}",
    "{% do grains.update({'os': 'Changed', 'num': 7}) %}{{ grains.os }}",
    "{% do grains.nested.update({'a': 5}) %}{{ grains.nested.a }}",
    "{% do pillar.update({'put': grains.os}) %}",
    "{% do pillar.setdefault('deep', {}).update({'q': 9}) %}{{ salt['pillar.get']('deep:q') }}",
    "{% do opts.update({'own': 3}) %}{{ opts.own }}",
    "{% do grains.update({'num': 8}) %}{{ grains.missing.boom }}",
    "{{ grains.missing.boom }}",
    "{{ salt['nope.nope']() }}",
    "{{ 1 / grains.num }}",
    "{{ raise('no ' ~ grains.os) }}",
    "{{ salt['log.warning']('seen ' ~ grains.os) }}",
    "{% import_yaml grains.os ~ '.yaml' as imported %}{{ imported | json }}",
    "{% from 'macros.jinja' import os with context %}{{ os() }}",
    "{% include 'part-' ~ grains.os ~ '.jinja' ignore missing %}",
    "{{ salt['cp.get_file_str']('salt://' ~ grains.os ~ '.txt') | json }}",
    "{{ salt['slsutil.file_exists'](grains.os ~ '.txt') }}",
];

const TARGETS: &[&str] = &[
    "'*'",
    "'web*'",
    "'G@os:Debian'",
    "'E@web[12]'",
    "'G@num:1 and not db*'",
    "'N@group'",
    "'I@over:yes'",
    "'( web* or'",
];

const INCLUDES: &[&str] = &[
    "",
    "",
    "[b]",
    "[b, c]",
    "['c*', missing]",
    "[{b: {defaults: {given: yes}}}]",
    "[{c: {key: 'x:y'}}, .b]",
    "no list",
];

const OPTIONS: &[&str] = &[
    "",
    "",
    "pillar_source_merging_strategy: recurse\npillar_merge_lists: true\n",
    "pillar_source_merging_strategy: overwrite\n",
    "pillar_source_merging_strategy: aggregate\n",
    "pillar_source_merging_strategy: nonsense\n",
    "pillar_includes_override_sls: true\n",
    "pillar_safe_render_error: false\n",
    "ext_pillar_first: true\next_pillar: [extra_minion_data_in_pillar: {include: [own]}]\n",
    "pillar_opts: true\n",
    "jinja_trim_blocks: true\nrenderer: jinja|json\n",
    "pillarenv_from_saltenv: true\n",
];

const MINIONS: [&[&str]; 8] = [
    &["web1", "web2", "web3", "db1"],
    &["os: Debian", "os: Debian", "os: Arch", "os: null", "os: 1"],
    &["num: 1", "num: 1", "num: 1.0", "num: true", "num: 0"],
    &[
        "nested: {a: 1}",
        "nested: {a: 1}",
        "nested: {a: 1, b: {c: 2}}",
        "nested: {b: {c: 2}, a: 1}",
        "nested: []",
    ],
    &["list: [one, two]", "list: [one, two]", "list: []"],
    &["", "", "flag: yes"],
    &[
        "",
        "",
        "",
        "saltenv: dev",
        "pillarenv: dev",
        "own: 1",
        "pass_to_ext_pillars: [own], own: 2",
    ],
    &["", "", "unread: 1", "unread: 2"],
];

fn minion() -> impl Strategy<Value = String> {
    let [id, os, num, nested, list, flag, opts, unread] = MINIONS.map(select);
    (id, os, num, nested, list, flag, opts, unread).prop_map(
        |(id, os, num, nested, list, flag, opts, unread)| {
            let grains = [os, num, nested, list, flag, unread];
            let grains = grains.into_iter().filter(|grain| !grain.is_empty());
            let grains: Vec<&str> = grains.collect();
            format!(
                "{{id: {id}, grains: {{id: {id}, {}}}, opts: {{{opts}}}}}",
                grains.join(", ")
            )
        },
    )
}

/// An sls: keys that others have as well, then what templates read.
fn sls(name: &'static str) -> impl Strategy<Value = (String, String)> {
    let reads = subsequence(READS.to_vec(), 0..4).prop_shuffle();
    let include = select(INCLUDES);
    (reads, include, any::<bool>(), 0..8_u8).prop_map(move |(reads, include, sure, odd)| {
        let mut text = match odd {
            0 => "&anchor ",
            1 => "#!jinja|yaml|gpg\n",
            _ => "",
        }
        .to_owned();
        if odd == 0 {
            text = format!("one: &one {{{name}: 1}}\nother: *one\n");
        }
        if !include.is_empty() {
            text += &format!("include: {include}\n");
        }
        text += &format!("{name}: yes\nshared: {{last: {name}, {name}: [1]}}\nlist: [{name}]\n");
        for (number, read) in reads.iter().enumerate() {
            let value = match sure {
                true => format!("!!str |-\n  {read}"),
                false => (*read).to_owned(),
            };
            text += &format!("{name}{number}: {value}\n");
        }
        (format!("{name}.sls"), text)
    })
}

fn top() -> impl Strategy<Value = String> {
    let entry = (
        select(TARGETS),
        subsequence(vec!["a", "b", "c", "d", "gone"], 1..4),
    );
    let entries = proptest::collection::vec(entry, 1..6);
    let read = proptest::option::weighted(0.2, select(READS));
    (entries, read).prop_map(|(entries, read)| {
        let read = read.map(|read| format!("{{% set x %}}{read}{{% endset %}}\n"));
        let mut text = read.unwrap_or_default() + "base:\n";
        for (number, (target, names)) in entries.into_iter().enumerate() {
            // Keys of a mapping must differ.
            let target = match number {
                0 => "'*'".into(),
                _ => target.replacen('\'', &format!("'{}", " ".repeat(number)), 1),
            };
            text += &format!("  {target}: [{}]\n", names.join(", "));
        }
        text + "{% if grains.num == 1 %}dev: {'*': [d]}{% endif %}\n"
    })
}

fn files() -> impl Strategy<Value = Vec<(String, String)>> {
    (top(), sls("a"), sls("b"), sls("c"), sls("d")).prop_map(|(top, a, b, c, d)| {
        let others = [
            ("top.sls", top.as_str()),
            ("Debian.yaml", "imported: yes\n"),
            ("part-Arch.jinja", "part of {{ grains.num }}"),
            (
                "macros.jinja",
                "{% macro os() %}{{ grains.os }}{{ opts.id }}{% endmacro %}",
            ),
        ];
        let others = others.map(|(path, text)| (path.to_owned(), text.to_owned()));
        others.into_iter().chain([a, b, c, d]).collect()
    })
}

/// Templates that read and change stacked files.
const STACKED: &[&str] = &[
    "{{ __grains__['os'] }}",
    "{{ __grains__.get('nested', {}) | json }}",
    "{{ minion_id }}",
    "{{ pillar.get('shared', {}) | json }}",
    "{{ stack | json }}",
    "{{ __opts__['id'] }}",
    "{{ __salt__['grains.get']('num') }}",
    "{% do stack.update({'put': 1}) %}",
    "{% do pillar.update({'put': 2}) %}",
    "{% do __grains__.update({'os': 'Changed'}) %}",
    "{{ nothing.here }}",
    "[a, b]",
    "{__: overwrite, x: 1}",
    "{__: nonsense}",
];

/// The data files of two stacks.
fn stacked() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let names = vec![
        "common.yml",
        "os/Debian.yml",
        "minions/web1.yml",
        "s1.yml",
        "s2.yml",
        "d.yml",
    ];
    let text = (select(STACKED), any::<bool>()).prop_map(|(read, is_plain)| match is_plain {
        true => "shared: {stacked: [1]}\nown: {a: 1}\n".to_owned(),
        false => format!("own: {{b: 2}}\nread: {read}\n"),
    });
    let texts = proptest::collection::vec(text, names.len());
    (subsequence(names, 0..6), texts)
        .prop_map(|(names, texts)| names.into_iter().zip(texts).collect())
}

/// Write two stacks below a directory; the options that name them.
fn write_stacks(home: &std::path::Path, files: &[(&str, String)]) -> String {
    let first = "common.yml\nos/{{ __grains__['os'] }}.yml\nminions/{{ minion_id }}.yml\ns*.yml\n";
    let second = "common.yml\n{{ pillar.get('shared', {}).get('last', 'x') }}.yml\nos/*.yml\n";
    write(home, &[("first.cfg", first), ("second.cfg", second)]);
    write(home, files);
    let at = home.display();
    format!(
        "ext_pillar: [{{stack: {at}/first.cfg}}, {{stack: {{'grains:os': {{Debian: {at}/second.cfg, Arch: {at}/gone.cfg}}}}}}]\n"
    )
}

/// Answers by what it is asked, which no record has.
struct Outside;

impl Functions for Outside {
    fn has(&self, name: &str) -> bool {
        name == "outside.said"
    }

    fn has_module(&self, module: &str) -> bool {
        module == "outside"
    }

    fn call(&self, call: &Call) -> Option<Result<Value, CallError>> {
        Some(Ok(format!("{} for {}", call, call.minion).into()))
    }
}

fn engine(limits: Limits) -> Engine {
    let stubs = "test.stub: [{args: [Debian], return: stubbed}, {args: [b], minions: 'web*', return: mine}, {return: other}]";
    Engine::new(MemoryFiles::new().file("base", "Debian.txt", "debian"))
        .with_stubs(Stubs::parse(stubs, "stubs.yaml").unwrap())
        .with_functions(Outside)
        .with_limits(limits)
}

fn master(options: &str, files: &[(String, String)]) -> Master {
    let roots = "pillar_roots: {base: [/srv/base], dev: [/srv/dev]}\nid: master\n";
    let groups = "nodegroups: {group: 'web1 or G@os:Arch'}\n";
    let text = format!("{roots}{groups}{options}");
    let config = Config::parse(text.as_bytes(), "master", Kind::Master).unwrap();
    let both = files.iter().flat_map(|(path, text)| {
        let dev = text.replace("base:", "none:").replace("yes", "no");
        [("base", path, text.clone()), ("dev", path, dev)]
    });
    let server = both.fold(MemoryFiles::new(), |all, (env, path, text)| {
        all.file(env, path, text)
    });
    Master::new(config, Arc::new(server)).with_events(true)
}

fn compile(
    master: &Master,
    engine: &Engine,
    minion: &str,
) -> (mapstack::Result<WholePillar>, PillarReads) {
    let minion = Minion::parse(minion.as_bytes(), "minion.yaml")
        .unwrap()
        .complete();
    let ask = PillarRequest {
        pillar_override: minion
            .opts
            .get("own")
            .map(|own| [("over", own.clone())].into_iter().collect())
            .unwrap_or_default(),
        ..PillarRequest::of(&minion)
    };
    master.compile_noting(engine, &minion, &ask)
}

fn assert_same(
    shared: &(mapstack::Result<WholePillar>, PillarReads),
    own: &(mapstack::Result<WholePillar>, PillarReads),
) {
    match (&shared.0, &own.0) {
        (Ok(shared), Ok(own)) => {
            let [one, other] = [shared, own].map(|pillar| Value::from(pillar.data.clone()));
            assert!(one.is_same(&other), "{}\n{}", one.repr(), other.repr());
            assert_eq!(format!("{:?}", shared.errors), format!("{:?}", own.errors));
            assert_eq!(
                format!("{:?}", shared.warnings),
                format!("{:?}", own.warnings)
            );
            assert_eq!(format!("{:?}", shared.events), format!("{:?}", own.events));
            assert_eq!(shared.encrypted, own.encrypted);
        }
        (Err(shared), Err(own)) => {
            assert_eq!(
                format!("{:?}", shared.diagnostic()),
                format!("{:?}", own.diagnostic())
            );
        }
        (shared, own) => panic!("{shared:?}\n{own:?}"),
    }
    assert_eq!(shared.1, own.1);
}

/// The number of random cases, which `MAPSTACK_CASES` sets.
fn cases(usual: u32) -> u32 {
    let wanted = std::env::var("MAPSTACK_CASES").ok();
    wanted.and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(50)))]

    #[test]
    fn sharing_shows_in_nothing(
        files in files(),
        options in select(OPTIONS),
        minions in proptest::collection::vec(minion(), 4..14),
        bytes in select(vec![1 << 24, 1 << 24, 1 << 15, 1]),
        fuel in select(vec![50_000_000, 50_000_000, 2_000, 300]),
        stacked in proptest::option::of(stacked()),
        version in select(vec![SaltVersion::V3008, SaltVersion::V3008, SaltVersion::V3006]),
    ) {
        let home = tempfile::tempdir().unwrap();
        let stacked = stacked.filter(|_| !options.contains("ext_pillar"));
        let stacks = stacked.map(|files| write_stacks(home.path(), &files)).unwrap_or_default();
        let options = &format!("{options}{stacks}");
        let limits = Limits { fuel, ..Limits::default() };
        let engine = || engine(limits).with_salt_version(version);
        let shared = (master(options, &files).with_memory(bytes), engine());
        for minion in &minions {
            let own = compile(&master(options, &files), &engine(), minion);
            assert_same(&compile(&shared.0, &shared.1, minion), &own);
        }
    }
}

/// The objects that templates make of the facts depend on which of them were rendered. The steps do not.
#[test]
fn limits_count_the_same_whatever_earlier_templates_read() {
    let files = [
        ("top.sls", "base: {'*': [a, d]}"),
        ("a.sls", "a: 1"),
        (
            "b.sls",
            "include: [{c: {key: 'x:y'}}]\nb: {% for k, v in grains.nested.items() %}{{ k }}{% endfor %}",
        ),
        (
            "c.sls",
            "c: {% do pillar.setdefault('deep', {}).update({'q': 9}) %}{{ salt['pillar.get']('deep:q') }}",
        ),
        ("d.sls", "include: [b]"),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let minion = "{id: web1, grains: {id: web1, nested: {a: 1}, list: [one, two]}}";
    let mut ended = [0, 0];
    for fuel in 60..180 {
        let limits = Limits {
            fuel,
            ..Limits::default()
        };
        let own = compile(&master("", &files), &engine(limits), minion);
        let (master, engine) = (master("", &files).with_memory(1 << 24), engine(limits));
        for _ in 0..3 {
            assert_same(&compile(&master, &engine, minion), &own);
        }
        ended[usize::from(own.0.is_ok())] += 1;
    }
    assert!(ended.iter().all(|&count| count > 10), "{ended:?}");
}
