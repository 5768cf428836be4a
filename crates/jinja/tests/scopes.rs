//! The scopes of names.

use mapstack_jinja::syntax::{Syntax, bound, parse};

/// The places of `x!` in a template at which `x` is bound, from 0.
fn is_bound(text: &str) -> String {
    let source = text.replace('!', "");
    let template = parse(&source, None, &Syntax::default(), &[]).unwrap();
    let parts = bound(&template, "x");
    let marks = text.match_indices("x!").enumerate();
    marks
        .map(|(index, (at, _))| {
            let at = u32::try_from(at - index).unwrap();
            match parts.iter().any(|part| part.contains(&at)) {
                true => '1',
                false => '0',
            }
        })
        .collect()
}

#[test]
fn a_name_is_bound_from_its_statement_to_the_end_of_the_scope() {
    for (text, expected) in [
        ("{{ x! }}{% set x = x! %}{{ x! }}", "001"),
        ("{% set a, x = x!, 1 %}{{ x! }}", "01"),
        ("{% import 'f' as x %}{{ x! }}", "1"),
        ("{% from 'f' import a as x with context %}{{ x! }}", "1"),
        ("{% from 'f' import x as a %}{{ x! }}", "0"),
        (
            "{% for x in x! %}{{ x! }}{% else %}{{ x! }}{% endfor %}{{ x! }}",
            "0100",
        ),
        (
            "{% for a in b %}{% set x = 1 %}{{ x! }}{% endfor %}{{ x! }}",
            "10",
        ),
        (
            "{% if a %}{% set x = 1 %}{{ x! }}{% else %}{{ x! }}{% endif %}{{ x! }}",
            "111",
        ),
        (
            "{% if x! %}{{ x! }}{% elif a %}{% set x = 1 %}{% endif %}{{ x! }}",
            "001",
        ),
        ("{% macro m(x) %}{{ x! }}{% endmacro %}{{ x! }}", "10"),
        ("{% macro x(a) %}{{ x! }}{% endmacro %}{{ x! }}", "01"),
        ("{% call(x) m() %}{{ x! }}{% endcall %}{{ x! }}", "10"),
        ("{% with x = x! %}{{ x! }}{% endwith %}{{ x! }}", "010"),
        ("{% set x %}{{ x! }}{% endset %}{{ x! }}", "01"),
        ("{% set a.x = 1 %}{{ x! }}", "0"),
        (
            "{% block b %}{% set x = 1 %}{{ x! }}{% endblock %}{{ x! }}",
            "10",
        ),
    ] {
        assert_eq!(is_bound(text), expected, "{text}");
    }
}
