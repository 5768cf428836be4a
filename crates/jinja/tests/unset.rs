//! Names that a body hides until it binds them.

use mapstack_jinja::syntax::{Syntax, parse};

fn hidden(source: &str) -> String {
    let template = parse(source, None, &Syntax::default(), &[]).unwrap();
    let bodies = template.unset.values();
    let bodies: Vec<String> = bodies.map(|names| names.join(" ")).collect();
    bodies.join(", ")
}

#[test]
fn a_name_is_hidden_where_an_inner_body_reads_it_before_it_is_set() {
    for source in [
        "{% for x in y %}{{ a }}{% endfor %}{% set a = 1 %}",
        "{% for x in y if a %}{% endfor %}{% set a = 1 %}",
        "{% for x in y %}{% else %}{{ a }}{% endfor %}{% set a = 1 %}",
        "{% for x in y %}{% for z in x %}{{ a }}{% endfor %}{% endfor %}{% set a = 1 %}",
        "{% macro m() %}{{ a }}{% endmacro %}{% set a = 1 %}",
        "{% macro m(x=a) %}{% endmacro %}{% set a = 1 %}",
        "{% filter upper %}{{ a }}{% endfilter %}{% set a = 1 %}",
        "{% set x %}{{ a }}{% endset %}{% set a = 1 %}",
        "{% with %}{{ a }}{% endwith %}{% set a = 1 %}",
        "{% call x() %}{{ a }}{% endcall %}{% set a = 1 %}",
        "{% autoescape a %}{% endautoescape %}{% set a = 1 %}",
        "{% for x in y %}{{ a }}{% endfor %}{% import 'x' as a %}",
        "{% for x in y %}{{ a }}{% endfor %}{% from 'x' import b as a %}",
        "{% for x in y %}{{ a }}{% endfor %}{% macro a() %}{% endmacro %}",
        "{% for x in y %}{{ a }}{% endfor %}{% set (a, b) = 1, 2 %}",
        "{% for x in y %}{% for z in x %}{{ a }}{% endfor %}{% set a = 1 %}{% endfor %}",
        "{% block b %}{% for x in y %}{{ a }}{% endfor %}{% set a = 1 %}{% endblock %}",
    ] {
        assert_eq!(hidden(source), "a", "{source}");
    }
}

#[test]
fn a_name_that_the_body_reads_first_or_sets_in_a_branch_starts_with_what_is_given() {
    for source in [
        "{{ a }}{% for x in y %}{{ a }}{% endfor %}{% set a = 1 %}",
        "{% for x in y %}{{ a }}{% endfor %}{{ a }}{% set a = 1 %}",
        "{% for x in y %}{{ a }}{% endfor %}{% set a = a %}",
        "{% for x in y %}{{ a }}{% endfor %}{% if x %}{% set a = 1 %}{% endif %}",
        "{% for x in y %}{{ a }}{% endfor %}{% if x %}{% set a = 1 %}{% elif y %}{% set a = 2 %}{% else %}{% set a = 3 %}{% endif %}",
        "{% set a = 1 %}{% for x in y %}{{ a }}{% endfor %}",
        "{% for a in y %}{{ a }}{% endfor %}{{ a }}",
        "{% for x in y %}{{ a }}{% set a = 1 %}{% endfor %}",
        "{% macro m(a) %}{% for x in y %}{{ a }}{% endfor %}{% set a = 1 %}{% endmacro %}",
        "{% block b %}{{ a }}{% endblock %}{% set a = 1 %}",
        "{% set a = 1 %}{% for x in y %}{% for z in y %}{{ a }}{% endfor %}{% set a = 2 %}{% endfor %}",
    ] {
        assert_eq!(hidden(source), "", "{source}");
    }
}
