//! The steps of templates at five sizes: each round, item and tag of a large template costs as much as one of a small one.

use std::cell::Cell;

use mapstack_salt_jinja::{Limits, NoHost, Request, render, request};

const SIZES: [usize; 5] = [500, 1000, 2000, 4000, 8000];

/// The most that a unit of one size costs of what one of the smallest costs. Work by the square would cost sixteen times as
/// much.
const MOST: f64 = 1.1;

/// The steps that a template takes.
fn steps(template: &str) -> u64 {
    let fuel = Cell::new(Limits::default().fuel);
    let rendered = render(Request {
        fuel: Some(&fuel),
        ..request(template, &NoHost)
    });
    assert!(rendered.is_ok(), "{template}: {rendered:?}");
    Limits::default().fuel - fuel.get()
}

#[test]
fn each_round_costs_as_much_in_a_long_loop() {
    let rounds = [
        "{% for i in range(N) %}{{ i }}{% endfor %}",
        "{% set d = {} %}{% for i in range(N) %}{% do d.update({'k%d' % i: {'n': i}}) %}{% endfor %}",
        "{% set l = [] %}{% for i in range(N) %}{% do l.append(i) %}{% endfor %}{{ l|length }}",
        "{% set d = {}.fromkeys(range(N), 1) %}{% for i in range(N) %}{{ d[i] }}{% endfor %}",
        "{% set l = range(N)|list %}{% for i in range(N) %}{{ l[i] }}{% endfor %}",
        "{% set ns = namespace(x=1) %}{% for i in range(N) %}{% set ns.x = ns.x + 1 %}{% endfor %}",
        "{% macro m(x) %}{{ x }}{% endmacro %}{% for i in range(N) %}{{ m(i) }}{% endfor %}",
        "{% for i in range(N) %}{% if i % 2 == 0 %}{% continue %}{% endif %}{{ loop.index }}{% endfor %}",
        "{{ range(N)|list|json }}",
        "{{ range(N)|map('string')|join(',') }}",
        "{{ range(N)|select('odd')|list|sum }}",
        "{{ ('x' * N * 16)|upper|length }}",
        "{{ ('[' ~ '1,' * N ~ '1]')|load_yaml|length }}",
        "{{ ('x ' * N).split()|length }}",
        "{{ {'a': range(N)|list}|tojson(indent=2)|length }}",
        "{{ {'a': range(N)|list}|json(indent='\\t')|length }}",
        "{{ {'r': range(N)|list}|dict_to_sls_yaml_params|length }}",
        "{{ range(N)|map('string')|list|sort|unique|list|length }}",
        "{{ range(N)|batch(3)|list|length }}",
        "{{ ('x\\n' * N)|indent(2)|length }}",
        "{{ ('x ' * N)|replace('x', 'y')|wordwrap(20)|length }}",
        "{{ {'a': {'b': range(N)|list}}|xml|length }}",
        "{{ range(N)|list|pprint|length }}",
        "{{ range(N)|list|yaml|length }}",
        "{{ range(N)|groupby('real')|length }}",
    ];
    assert_grows_linearly(&rounds, |template, n| template.replace('N', &n.to_string()));
}

#[test]
fn each_tag_costs_as_much_in_a_long_template() {
    let tags = [
        "{{ 1 }}",
        "{% set kN = 1 %}{{ kN }}",
        "{% if true %}x{% endif %}",
        "{% macro mN() %}x{% endmacro %}{{ mN() }}",
        "text\n",
    ];
    assert_grows_linearly(&tags, |tag, n| {
        (0..n).map(|at| tag.replace('N', &at.to_string())).collect()
    });
}

fn assert_grows_linearly(kinds: &[&str], make: impl Fn(&str, usize) -> String) {
    let grown = kinds.iter().filter_map(|kind| {
        let each = SIZES.map(|n| steps(&make(kind, n)) as f64 / n as f64);
        let is_linear = each.iter().all(|size| *size <= each[0] * MOST);
        (!is_linear).then(|| format!("{kind}: {each:?}"))
    });
    let grown: Vec<String> = grown.collect();
    assert!(grown.is_empty(), "{}", grown.join("\n"));
}
