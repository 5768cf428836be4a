//! Errors as a compiler gives them: which file, line and column, how the template got there, and what was probably meant.

use crate::common::Files;
use mapstack_pyobject::Obj;
use mapstack_salt_jinja::{NoHost, render, request};
use mapstack_value::{Key, Value};

const FILES: [(&str, &str); 9] = [
    ("inc.jinja", "line one\n{{ grians.os }}\n"),
    (
        "third.jinja",
        "{% macro deep(x) %}\n{{ x ~ undefined_thing }}\n{% endmacro %}\n",
    ),
    (
        "second.jinja",
        "{% from 'third.jinja' import deep %}\n{% macro mid(y) %}\n{{ deep(y) }}\n{% endmacro %}\n",
    ),
    ("base.jinja", "a: {% block v %}1{% endblock %}\n"),
    ("open.yaml", "a: 1\nb: {{ 1 + 1 }}\nc: [1, 2\nd: 4\n"),
    ("colon.yaml", "{# c #}\na: 1\nb: c: d\n"),
    ("chain.jinja", "{% import 'broken.jinja' as b %}\nx\n"),
    ("broken.jinja", "ok\n{% if x == %}\n{% endif %}\n"),
    (
        "sums.yaml",
        "{% macro key() %}\nb: c: d\n{% endmacro %}\na: 1\n{{ key() }}\n",
    ),
];

/// The place of the error, its trace, and the advice: one line each.
fn reported(template: &str) -> Vec<String> {
    let host = Files(
        FILES
            .into_iter()
            .map(|(name, text)| (Key::from(name), Value::from(text)))
            .collect(),
    );
    let mut request = request(template, &host);
    request.name = Some("main.jinja".into());
    let grains = Obj::dict([
        ("os_family".into(), Obj::from("Debian")),
        ("os".into(), Obj::from("Debian")),
    ]);
    request.variables.insert("grains".into(), grains);
    let error = render(request).unwrap_err();
    let place = error.place.as_ref().expect("a place");
    let quoted = &place.source[place.span.start as usize..place.span.end as usize];
    let mut reported = vec![format!(
        "{place:?} {}",
        quoted.lines().next().unwrap_or_default()
    )];
    reported.extend(
        error
            .trace
            .iter()
            .map(|frame| format!("{} {:?}", frame.what, frame.place)),
    );
    reported.extend(error.help.map(|help| format!("help: {help}")));
    reported
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one row for each way to an undefined name"
)]
fn undefined_names_are_reported_with_their_place_and_trace() {
    for (template, expected) in [
        (
            "a\n  {% include 'inc.jinja' %}",
            &[
                "inc.jinja:2:4 grians",
                "included from here main.jinja:2:3",
                "help: did you mean 'grains'?",
            ][..],
        ),
        (
            "{% from 'third.jinja' import deep %}\n{{ deep(1) }}",
            &[
                "third.jinja:2:8 undefined_thing",
                "called from here main.jinja:2:4",
                "help: in scope here: deep, grains, tpldir, tpldot, tplfile, x",
            ],
        ),
        (
            "{% from 'second.jinja' import mid %}\n{{ mid(1) }}",
            &[
                "third.jinja:2:8 undefined_thing",
                "called from here second.jinja:3:4",
                "called from here main.jinja:2:4",
                "help: in scope here: deep, grains, tpldir, tpldot, tplfile, x",
            ],
        ),
        (
            "{% extends 'base.jinja' %}\n{% set codename = 1 %}{% block v %}{{ codenam }}{% endblock %}",
            &[
                "main.jinja:2:39 codenam",
                "the block is here base.jinja:1:4",
                "help: did you mean 'codename'?",
            ],
        ),
        (
            "{{ grains.os_famly }}",
            &[
                "main.jinja:1:4 grains.os_famly",
                "help: did you mean 'os_family'?",
            ],
        ),
        (
            "{{ 1 + nope.a }}",
            &["main.jinja:1:8 nope", "help: in scope here: grains"],
        ),
        (
            "{{ grains.os == nope }}",
            &["main.jinja:1:17 nope", "help: in scope here: grains"],
        ),
        (
            "{{ grans.os == 1 }}",
            &["main.jinja:1:4 grans", "help: did you mean 'grains'?"],
        ),
        (
            "{{ nope(1) }}",
            &["main.jinja:1:4 nope", "help: in scope here: grains"],
        ),
        (
            "#jinja2: {\"line_statement_prefix\": \"%\"}\na\n% if grans\nb\n% endif\n",
            &["main.jinja:3:6 grans", "help: did you mean 'grains'?"],
        ),
    ] {
        assert_eq!(reported(template), expected, "{template}");
    }
}

#[test]
fn yaml_errors_point_at_the_line_that_was_written() {
    for (template, expected) in [
        (
            "x\n{% load_yaml as y %}\na: 1\nb: c: d\n{% endload %}",
            &["main.jinja:4:5 : d", "loaded here main.jinja:2:1"][..],
        ),
        (
            "{% load_yaml as y %}\n{% for i in [1, 2] %}\nk{{ i }}: [{{ i }}\n{% endfor %}\n{% endload %}",
            &["main.jinja:3:11 [", "loaded here main.jinja:1:1"],
        ),
        (
            "{% import_yaml 'open.yaml' as d %}",
            &["open.yaml:3:4 [1, 2", "imported from here main.jinja:1:1"],
        ),
        (
            "\n{% import_yaml 'colon.yaml' as d %}",
            &["colon.yaml:3:5 : d", "imported from here main.jinja:2:1"],
        ),
        (
            "{% import_yaml 'sums.yaml' as d %}",
            &[
                "sums.yaml:5:1 {{ key() }}",
                "imported from here main.jinja:1:1",
            ],
        ),
    ] {
        let mut reported = reported(template);
        reported.retain(|line| !line.starts_with("help: salt://"));
        assert_eq!(reported, expected, "{template}");
    }
}

#[test]
fn wrong_names_come_with_the_nearest_right_one() {
    for (template, expected) in [
        (
            "a: {{ 'x'|uper }}",
            &["main.jinja:1:11 uper", "help: did you mean 'upper'?"][..],
        ),
        (
            "{{ 'x' is defned }}",
            &["main.jinja:1:11 defned", "help: did you mean 'defined'?"],
        ),
        (
            "{% sett x = 1 %}",
            &["main.jinja:1:4 sett", "help: did you mean 'set'?"],
        ),
        (
            "{% if 1 %}\n{% endfi %}",
            &["main.jinja:2:4 endfi", "help: did you mean 'endif'?"],
        ),
        (
            "{{ [1]|join(atribute='x') }}",
            &[
                "main.jinja:1:4 [1]|join(atribute='x')",
                "help: did you mean 'attribute'?",
            ],
        ),
        (
            "{{ [1]|join(zzz='x') }}",
            &[
                "main.jinja:1:4 [1]|join(zzz='x')",
                "help: it takes d, attribute",
            ],
        ),
        (
            "{{ {}|yaml(flowstyle=false) }}",
            &[
                "main.jinja:1:4 {}|yaml(flowstyle=false)",
                "help: did you mean 'flow_style'?",
            ],
        ),
        (
            "{% macro m(name) %}{% endmacro %}\n{{ m(nam=1) }}",
            &["main.jinja:2:4 m(nam=1)", "help: did you mean 'name'?"],
        ),
        (
            "{{ 'a b'.split(maxsplt=1) }}",
            &[
                "main.jinja:1:4 'a b'.split(maxsplt=1)",
                "help: did you mean 'maxsplit'?",
            ],
        ),
    ] {
        assert_eq!(reported(template), expected, "{template}");
    }
}

#[test]
fn names_of_filters_in_quotes_are_found() {
    for (template, expected) in [
        (
            "{{ [1]|map('uper')|list }}",
            &["main.jinja:1:13 uper", "help: did you mean 'upper'?"],
        ),
        (
            "{{ [1]|\n  select(\n  \"evn\")|list }}",
            &["main.jinja:3:4 evn", "help: did you mean 'even'?"],
        ),
        (
            "{{ [{}]|rejectattr('a', 'defned')|list }}",
            &["main.jinja:1:26 defned", "help: did you mean 'defined'?"],
        ),
        (
            "{% for x in [1]|map('uper') %}{% endfor %}",
            &["main.jinja:1:22 uper", "help: did you mean 'upper'?"],
        ),
        (
            "{% set f = 'uper' %}{{ [1]|map(f)|list }}",
            &[
                "main.jinja:1:24 [1]|map(f)|list",
                "help: did you mean 'upper'?",
            ],
        ),
        (
            "{% if 1 %}{{ 1|uper }}{% endif %}",
            &["main.jinja:1:16 uper", "help: did you mean 'upper'?"],
        ),
    ] {
        assert_eq!(reported(template), expected, "{template}");
    }
}

#[test]
fn syntax_errors_come_with_the_way_to_the_file() {
    for (template, expected) in [
        ("{% if true %}\na", &["main.jinja:1:4 if"][..]),
        (
            "{% include 'chain.jinja' %}",
            &[
                "broken.jinja:2:12 %}",
                "imported from here chain.jinja:1:1",
                "included from here main.jinja:1:1",
            ],
        ),
    ] {
        assert_eq!(reported(template), expected, "{template}");
    }
}

#[test]
fn lines_end_in_any_way_and_are_counted_as_the_file_has_them() {
    let filler = "  k: 1\r\n".repeat(999);
    assert_eq!(
        reported(&format!("{filler}  last: {{{{ grans }}}}\r\n"))[0],
        "main.jinja:1000:12 grans"
    );
}

fn message(template: &str) -> String {
    render(request(template, &NoHost)).unwrap_err().message
}

#[test]
fn a_format_computes_all_its_values_first() {
    let said = message("{{ '%s-%s' % (nosuch, 1 % 0) }}");
    assert_eq!(said, "integer modulo by zero");
}

#[test]
fn the_first_entry_that_cannot_be_made_decides() {
    let place = |template: &str| {
        let error = render(request(template, &NoHost)).unwrap_err();
        assert_eq!(error.message, "unhashable type: 'list'");
        error.place.unwrap().span.start
    };
    assert_eq!(place("{{ 1 }}{{ {'a': -1, [1]: 2, x: 3}|length }}"), 10);
    assert_eq!(place("{{ {1: 2, (1, [2]): 3}|length }}"), 3);
    let unused = "{% if false %}{{ {x: 3, [1]: 2}|length }}{% endif %}";
    assert_eq!(render(request(unused, &NoHost)).unwrap().text, "");
}

#[test]
fn only_data_is_a_key() {
    let template = "{% set d = {range: 1} %}";
    assert_eq!(message(template), "unhashable type: 'function'");
    let printed = render(request("{{ range in {'a': 1} }}", &NoHost));
    assert_eq!(printed.unwrap().text, "False");
}
