//! Properties of functions that recorded results do not show: where their values come from, their warnings, and how
//! they end.

use mapstack::loader::{MemoryFiles, Roots};
use mapstack::minion::Minion;
use mapstack::value::Value;
use mapstack::{Call, CallError, DataOptions, Engine, Functions, Result};

const FACTS: &str = "
id: web1
grains: {os: Debian, nested: {a: {b: 1}}}
pillar: {d: {p: 1}, master: {d: {m: 1}}}
";

fn minion(facts: &str) -> Minion {
    Minion::parse(facts.as_bytes(), "minion.yaml")
        .unwrap()
        .complete()
}

/// The output of a template, and its warnings.
fn print_with(engine: &Engine, minion: &Minion) -> (Result<String>, Vec<String>) {
    let run = engine.run(minion);
    let result = run.data("f", &DataOptions::default());
    let warnings = run
        .warnings()
        .iter()
        .map(|warning| warning.message.clone())
        .collect();
    let text = |mapdata: Value| {
        mapdata
            .as_map()
            .and_then(|map| map.get("out"))
            .unwrap()
            .to_string()
    };
    (result.map(text), warnings)
}

fn post_map(template: &str) -> String {
    format!("{{% set out %}}{template}{{% endset %}}{{% do mapdata.update(out=out) %}}")
}

fn files(template: &str) -> MemoryFiles {
    MemoryFiles::new().file("base", "f/post-map.jinja", post_map(template))
}

fn print(template: &str) -> (Result<String>, Vec<String>) {
    print_with(&Engine::new(files(template)), &minion(FACTS))
}

fn text(template: &str) -> String {
    print(template).0.unwrap()
}

#[test]
fn unseeded_choices_depend_on_the_minion_alone() {
    let template = "{{ salt['random.rand_int'](1, 10 ** 9) }} {{ salt['random.shuffle'](range(50) | list) }} \
        {{ salt['random.get_str'](30) }}";
    let first = text(template);
    assert_eq!(text(template), first);
    let other = print_with(&Engine::new(files(template)), &minion("id: web2"))
        .0
        .unwrap();
    assert!(
        first
            .split(' ')
            .zip(other.split(' '))
            .filter(|(a, b)| a == b)
            .count()
            < 10,
        "{first}\n{other}"
    );
}

#[test]
fn functions_whose_results_must_not_be_secrets_warn() {
    let (_, warnings) = print("{{ salt['random.get_str']() }}");
    assert!(
        warnings
            .iter()
            .any(|warning| warning.contains("cannot be used as a secret")),
        "{warnings:?}"
    );
}

#[test]
fn own_addresses_come_from_the_grains() {
    let template = "{{ salt['network.ip_addrs']() }}";
    let error = print(template).0.unwrap_err().to_string();
    assert!(error.contains("needs the grain ip4_interfaces"), "{error}");
    let facts = "grains: {ipv4: [127.0.0.1, 10.0.0.10, 10.0.0.9]}";
    let (printed, _) = print_with(&Engine::new(files(template)), &minion(facts));
    assert_eq!(printed.unwrap(), "['10.0.0.9', '10.0.0.10']");
}

#[test]
fn served_files_are_where_they_are_and_empty_directories_are_not_listed() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("f/empty")).unwrap();
    std::fs::write(root.path().join("f/x.txt"), "x").unwrap();
    let template = "{{ salt['cp.cache_file']('salt://f/x.txt') }}|{{ salt['cp.is_cached']('salt://f/x.txt') }}|\
        {{ salt['cp.list_master_dirs']() }}";
    std::fs::write(root.path().join("f/post-map.jinja"), post_map(template)).unwrap();
    let engine = Engine::new(Roots::new().root("base", root.path()));
    let (printed, _) = print_with(&engine, &minion("id: web1"));
    let path = root.path().join("f/x.txt").display().to_string();
    assert_eq!(printed.unwrap(), format!("{path}|{path}|['f']"));
}

#[test]
fn no_function_leads_out_of_a_root() {
    let template = "{{ salt['cp.get_file_str']('salt://../../etc/passwd') }}{{ salt['cp.cache_file']('salt://|/etc/passwd') }}\
        {{ salt['slsutil.path_exists']('../x') }}{{ salt['defaults.get']('../..') }}";
    assert_eq!(text(template), "FalseFalseFalseNone");
    let error = print("{{ salt['cp.get_file_str']('/etc/hostname') }}")
        .0
        .unwrap_err()
        .to_string();
    assert!(error.contains("nothing answers"), "{error}");
}

#[test]
fn the_pillar_is_the_one_that_was_given() {
    assert_eq!(text("{{ salt['pillar.items']() == pillar }}"), "True");
    let error = print("{{ salt['pillar.items'](pillar={'a': 1}) }}")
        .0
        .unwrap_err()
        .to_string();
    assert!(error.contains("cannot compile the pillar"), "{error}");
}

#[test]
fn a_state_exists_where_its_file_does() {
    let template =
        "{{ salt['state.sls_exists']('broken') }}{{ salt['state.sls_exists']('nosuch') }}";
    let files = files(template).file("base", "broken.sls", "a: [");
    assert_eq!(
        print_with(&Engine::new(files), &minion(FACTS)).0.unwrap(),
        "TrueFalse"
    );
}

#[test]
fn merging_configuration_changes_no_facts() {
    let template = "{{ salt['config.merge']('d') }} {{ pillar.d }} {{ pillar.master.d }}";
    assert_eq!(text(template), "{'p': 1, 'm': 1} {'p': 1} {'m': 1}");
}

#[test]
fn only_templates_of_a_pillar_can_look_for_its_files() {
    let (printed, _) = print("{{ salt['pillar.file_exists']('top.sls') }}");
    let error = format!("{:#}", printed.unwrap_err());
    assert!(error.contains("only templates of a pillar"), "{error}");
    assert!(error.contains("pillar.file_exists:"), "{error}");
}

#[test]
fn a_target_that_cannot_match_is_warned_of() {
    for target in ["web* and", "G@os", "X@a or R@b", "E@[", "S@bogus"] {
        let (printed, warnings) = print(&format!("{{{{ salt['match.compound']('{target}') }}}}"));
        assert!(matches!(&*printed.unwrap(), "False" | "[]"), "{target}");
        assert!(!warnings.is_empty() || target == "X@a or R@b", "{target}");
    }
}

#[test]
fn templates_that_load_each_other_end() {
    let files = files("{{ salt['jinja.load_map']('a.jinja', 'x') }}").file(
        "base",
        "a.jinja",
        "{% set x = salt['jinja.load_map']('a.jinja', 'x') %}",
    );
    let error = print_with(&Engine::new(files), &minion(FACTS))
        .0
        .unwrap_err()
        .to_string();
    assert!(error.contains("nested too deep"), "{error}");
}

#[test]
fn hostile_arguments_end() {
    // Character groups that expand to 2**40 words.
    let groups: String = (0..40)
        .map(|i| format!("n{i}: 'N@n{next} or N@n{next}', ", next = i + 1))
        .collect();
    let facts = format!("{FACTS}opts: {{nodegroups: {{{groups} n40: '*'}}}}");
    let minion = minion(&facts);
    for expression in [
        "salt['match.compound']('N@n0')",
        "salt['match.compound']('( ' * 100000)",
        "salt['match.compound']('not ' * 10000 ~ '*')",
        "salt['match.compound'](['*'] + ['and', '*'] * 20000)",
        "salt['match.grain']('*:' * 5000 ~ 'x')",
        "salt['match.grain']('nested' ~ ':*' * 5000)",
        "salt['match.glob']('*a' * 5000)",
        "salt['match.pcre']('(' * 5000)",
        "salt['match.grain_pcre']('os:' ~ '(a*)*' * 200)",
        "salt['random.get_str'](10 ** 12)",
        "salt['random.rand_int'](1, 10 ** 3000, seed=1) > 1",
        "salt['slsutil.banner'](width=10 ** 12)",
        "salt['slsutil.banner'](text='x ' * 100000) | length > 1",
        "salt['hashutil.base64_encodestring']('x' * 1000000) | length > 1",
        "salt['test.try']('test.try', module='test.try')",
        "salt['config.manage_mode'](10 ** 2000) | length > 1",
    ] {
        let (printed, _) = print_with(
            &Engine::new(files(&format!("{{{{ {expression} }}}}"))),
            &minion,
        );
        match printed {
            Ok(printed) => assert!(
                ["True", "False"].contains(&&*printed),
                "{expression}: {printed:.100}"
            ),
            Err(e) => assert!(!e.to_string().is_empty(), "{expression}"),
        }
    }
}

/// The error of a template that exceeds a low limit on steps.
fn ended(template: &str) -> String {
    let limits = mapstack::Limits {
        fuel: 3_000_000,
        ..mapstack::Limits::default()
    };
    let (result, _) = print_with(
        &Engine::new(files(template)).with_limits(limits),
        &minion(FACTS),
    );
    match result {
        Err(error) => error.to_string(),
        Ok(printed) => panic!("{template}: {printed}"),
    }
}

#[test]
fn updates_of_dicts_that_hold_each_other_many_times_are_paid_for() {
    let doubled = "{% set ns = namespace(x={'k': 1}, y={'k': 2}) %}{% for i in range(40) %}\
        {% set ns.x = {'a': ns.x, 'b': ns.x} %}{% set ns.y = {'a': ns.y, 'b': ns.y} %}{% endfor %}";
    for call in [
        "salt['slsutil.update'](ns.x, ns.x)",
        "salt['slsutil.update'](ns.x, ns.y)",
        "salt['slsutil.merge'](ns.x, ns.y)",
        "salt['defaults.merge'](ns.x, ns.y)",
        "salt['defaults.update'](ns.x, ns.y)",
    ] {
        let error = ended(&format!("{doubled}{{{{ {call} }}}}"));
        assert!(
            error.contains("steps") || error.contains("expands to more than"),
            "{call}: {error}"
        );
    }
    // If the function ends within the limit, the result is the reference's.
    let few = doubled.replace("range(40)", "range(3)");
    let updated = text(&format!(
        "{few}{{{{ salt['slsutil.update'](ns.x, ns.y) == ns.y }}}}"
    ));
    assert_eq!(updated, "True");
}

#[test]
fn data_of_shared_parts_is_bounded_however_it_is_made() {
    for (grow, start) in [
        ("salt['slsutil.merge']({}, {'a': ns.x, 'b': ns.x})", "{}"),
        ("salt['defaults.deepcopy']([ns.x, ns.x])", "[]"),
        ("salt['slsutil.merge']({}, {'a': ns.x})", "{}"),
    ] {
        let template = format!(
            "{{% set ns = namespace(x={start}) %}}{{% for i in range(1000) %}}{{% set ns.x = {grow} %}}{{% endfor %}}\
             {{{{ ns.x|length }}}}"
        );
        let error = ended(&template);
        assert!(
            error.contains("steps")
                || error.contains("expands to more")
                || error.contains("nested"),
            "{error}"
        );
    }
}

#[test]
fn functions_pay_for_the_length_of_texts() {
    // Calls cost steps by the length of their texts, so a hundred calls exceed the limit.
    for call in [
        "salt['match.glob'](x)",
        "salt['match.pcre'](x)",
        "salt['match.compound'](x)",
        "salt['match.grain']('os:' ~ x)",
        "salt['match.list'](x)",
        "salt['config.get'](x)",
        "salt['pillar.get'](x)",
        "salt['grains.get'](x)",
    ] {
        let error = ended(&format!(
            "{{% set x = 'ab' * 100000 %}}{{% for i in range(100) %}}{{% set y = {call} %}}{{% endfor %}}"
        ));
        assert!(error.contains("more than 3000000 steps"), "{call}: {error}");
    }
}

#[test]
fn lists_are_merged_by_hash_and_as_the_reference_does() {
    // salt.utils.dictupdate.update(…, merge_lists=True)
    let template = "{{ salt['slsutil.update']({'a': [1, {'x': 1}, '1', None, [1]]}, \
        {'a': [2, 2, True, 1.0, {'x': 1.0}, '1', [True], [2], None]}, merge_lists=True) }}";
    assert_eq!(
        text(template),
        "{'a': [1, {'x': 1}, '1', None, [1], 2, 2, [2]]}"
    );
    let template = "{% set a = range(100000)|list %}{% set b = range(1, 100001)|list %}\
        {% do salt['slsutil.update']({'a': a}, {'a': b}, merge_lists=True) %}\
        {{ salt['slsutil.update']({'a': a}, {'a': b}, merge_lists=True).a|length }}";
    assert_eq!(text(template), "100001");
}

#[test]
fn a_call_sees_what_the_template_has_changed_in_the_facts_by_then() {
    let look = "{{ salt['config.get']('nested:a:b') }}{{ salt['match.grain']('nested:a:c:2') }}";
    let template = [
        look,
        "{% do grains.nested.a.update(b=5) %}",
        look,
        "{% set other = [] %}{% do other.append(1) %}",
        look,
        "{% do grains.nested.a.update(c=2) %}",
        look,
        "{% do grains.nested.a.pop('c') %}{% do grains.nested.a.update(b=1) %}",
        look,
    ];
    assert_eq!(
        text(&template.join(" "))
            .split_whitespace()
            .collect::<Vec<_>>(),
        ["1False", "5False", "5False", "5True", "1False"]
    );
    let template = "{% do pillar.d.update(p=2) %}{{ salt['pillar.get']('d:p') }}{{ salt['config.get']('d:p') }}";
    assert_eq!(text(template), "22");
}

#[test]
fn versions_are_compared_by_the_rules_of_the_minion() {
    let template =
        "{{ salt['pkg.version_cmp']('1.0^git', '1.0.1') }} {{ 'pkg.version_cmp' in salt }}";
    let compared = |grains: &str| {
        let facts = format!("id: m\ngrains: {{{grains}}}\n");
        let (made, _) = print_with(&Engine::new(files(template)), &minion(&facts));
        made.map_err(|e| e.diagnostic().message.clone())
    };
    for (grains, expected) in [
        ("os_family: Debian", "1 True"),
        ("os_family: RedHat", "-1 True"),
        ("os_family: Suse", "-1 True"),
        ("os: Amazon, os_family: Linux", "-1 True"),
    ] {
        assert_eq!(compared(grains).unwrap(), expected, "{grains}");
    }
    let error = compared("os_family: Arch").unwrap_err();
    assert!(
        error.contains("no 'pkg.version_cmp'") && error.contains("'Arch'"),
        "{error}"
    );
    let low = "{{ salt['lowpkg.version_cmp']('2-1', '1:1-1', ignore_epoch=true) }}";
    let redhat = minion("id: m\ngrains: {os_family: RedHat}\n");
    assert_eq!(
        print_with(&Engine::new(files(low)), &redhat).0.unwrap(),
        "1"
    );
}

/// Functions as a live Salt has them.
struct Live;

impl Functions for Live {
    fn has(&self, name: &str) -> bool {
        name == "grains.items"
    }
    fn has_module(&self, module: &str) -> bool {
        module == "grains"
    }
    fn replaces(&self, name: &str) -> bool {
        name != "grains.get"
    }
    fn call(&self, call: &Call) -> Option<Result<Value, CallError>> {
        (call.name == "grains.items".into()).then(|| Ok("live".into()))
    }
    fn change(&self, call: &Call) -> Option<Result<Value, CallError>> {
        let mut data = call.kwargs.get("mapdata")?.as_map()?.clone();
        data.insert("out", call.clone().kwarg("mapdata", "…").to_string());
        Some(Ok(data.into()))
    }
}

#[test]
fn functions_can_replace_those_that_are_built_in_or_in_the_tree() {
    let module = "def f(): return 'from the tree'";
    let template =
        "{{ salt['grains.items']() }} {{ salt['grains.get']('os') }} {{ 'my.f' in salt }}";
    let files = files(template).file("base", "_modules/my.py", module);
    let engine = Engine::new(files).with_functions(Live);
    let (printed, _) = print_with(&engine, &minion(FACTS));
    assert_eq!(printed.unwrap(), "live Debian False");
}

#[test]
fn a_caller_can_run_post_map_templates_in_python() {
    let files = MemoryFiles::new()
        .file(
            "base",
            "f/parameters/map_jinja.yaml",
            "values: {post_map: x.py, post_map_template: py}",
        )
        .file("base", "f/x.py", "def run(): return ''");
    let (printed, _) = print_with(&Engine::new(files).with_functions(Live), &minion(FACTS));
    assert_eq!(
        printed.unwrap(),
        "salt['cp.get_template']('salt://f/x.py', '', template='py', tpldir='f', tplroot='f', mapdata='…')"
    );
}
