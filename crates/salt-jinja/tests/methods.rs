//! The methods of Python's builtin types and both ways of formatting, against what Jinja2's sandbox
//! answered.

use mapstack_pyobject::{Error, ErrorKind, Obj};
use mapstack_salt_jinja::{NoHost, render, request};
use mapstack_value::{Key, Set, Value};
use proptest::prelude::*;
use serde_json::Value as Json;

/// Templates whose result differs on purpose. Python complains about the type of an undefined value,
/// or prints it; naming what is undefined helps more.
const DIFFERENT: &[(&str, &str)] = &[
    ("{{ '{:>10}'.format(x) }}", "raises 'x' is undefined"),
    ("{{ 'a'.join([nosuch]) }}", "raises 'nosuch' is undefined"),
    ("{{ {}.pop(nosuch) }}", "raises 'nosuch' is undefined"),
];

#[test]
fn methods_answer_as_pythons_do() {
    let [methods, views] = [
        include_str!("data/methods.json"),
        include_str!("data/views.json"),
    ];
    let mut cases: Vec<Json> = serde_json::from_str(methods).unwrap();
    cases.extend(serde_json::from_str::<Vec<Json>>(views).unwrap());
    let mut wrong = Vec::new();
    for case in &cases {
        let template = case["template"].as_str().unwrap();
        let strict = !case["lenient"].as_bool().unwrap_or_default();
        let expected = match case["output"].as_str() {
            Some(output) => format!("prints {output}"),
            None => format!("raises {}", case["message"].as_str().unwrap()),
        };
        let expected = DIFFERENT
            .iter()
            .find(|(t, _)| *t == template)
            .map_or(expected, |(_, ours)| (*ours).to_string());
        let answer = run(template, strict);
        if answer != expected {
            wrong.push(format!(
                "{template}\n  expected: {expected}\n  answered: {answer}"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} differ:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

fn run(template: &str, strict: bool) -> String {
    let mut request = request(template, &NoHost);
    request.strict = strict;
    let set: Set = [1, 2, 3].map(Key::from).into_iter().collect();
    request
        .variables
        .insert("s".into(), Obj::from(Value::Set(set)));
    for (name, number) in [
        ("inf", f64::INFINITY),
        ("ninf", f64::NEG_INFINITY),
        ("nan", f64::NAN),
    ] {
        request.variables.insert(name.into(), Obj::from(number));
    }
    match render(request) {
        Ok(rendered) => format!("prints {}", rendered.text),
        Err(error) => format!("raises {}", error.message),
    }
}

#[test]
fn results_beyond_reason_are_refused() {
    for template in [
        "{{ 'x'.center(10**9) }}",
        "{{ 'x'.ljust(10**12) }}",
        "{{ 'x'.zfill(10**9) }}",
        "{{ '\\t'.expandtabs(2**30) }}",
        "{{ '{:1000000000}'.format('x') }}",
        "{{ '{:>1000000000}'.format(1) }}",
        "{{ '{:.1000000000f}'.format(1.5) }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '%.1000000000d' % 1 }}",
        "{{ '%*d' % (10**9, 1) }}",
        "{{ '%*d' % (-10**9, 1) }}",
        "{{ ('x' * 10000).replace('x', 'y' * 10000) }}",
        "{{ ('y' * 10000).join(['a'] * 10000) }}",
        "{{ ('a' * 10000).translate({97: 'b' * 10000}) }}",
        "{{ (1).to_bytes(10**12, 'big') }}",
    ] {
        let mut request = request(template, &NoHost);
        request.limits.output = 1 << 20;
        let error = render(request).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Limit, "{template}: {error}");
    }
}

fn render_with(template: &str, variables: &[(&str, &str)]) -> Result<String, Box<Error>> {
    let mut request = request(template, &NoHost);
    for (name, text) in variables {
        request.variables.insert((*name).into(), Obj::from(*text));
    }
    request.limits.output = 1 << 16;
    render(request).map(|rendered| rendered.text)
}

/// Text made of what the formatting languages give a meaning to.
const PIECES: &str = "[%{}!:.\\[\\]()*#0 +<>^=,_zdsrxXeEfFgGcbno%1-9aé∑-]{0,12}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_template_of_str_format_panics(text in PIECES) {
        let _ = render_with("{{ t.format(1, 'é', 2.5, a=[1, 'x'], d={'a': 1}) }}", &[("t", &text)]);
        let _ = render_with("{{ ('{:' ~ t ~ '}').format(12345.678) }}", &[("t", &text)]);
        let _ = render_with("{{ ('{:' ~ t ~ '}').format(-65) }}", &[("t", &text)]);
        let _ = render_with("{{ ('{:' ~ t ~ '}').format('é∑') }}", &[("t", &text)]);
    }

    #[test]
    fn no_template_of_percent_panics(text in PIECES) {
        let _ = render_with("{{ t % (1, 'é', 2.5) }}", &[("t", &text)]);
        let _ = render_with("{{ ('%' ~ t) % 65 }}", &[("t", &text)]);
        let _ = render_with("{{ ('%(a)' ~ t) % {'a': -1.5} }}", &[("t", &text)]);
    }

    #[test]
    fn parts_of_a_split_join_to_the_text(text in "[abé, ]{0,20}", separator in "[abé, ]{1,2}", most in -1i64..4) {
        for method in ["split", "rsplit"] {
            let template = format!("{{{{ s.join(t.{method}(s, {most})) }}}}");
            prop_assert_eq!(render_with(&template, &[("t", &text), ("s", &separator)]).unwrap(), text.clone());
        }
        for method in ["partition", "rpartition"] {
            let template = format!("{{{{ ''.join(t.{method}(s)) }}}}");
            prop_assert_eq!(render_with(&template, &[("t", &text), ("s", &separator)]).unwrap(), text.clone());
        }
    }

    #[test]
    fn what_is_found_is_there(text in "[abé]{0,12}", needle in "[abé]{0,2}", start in -15i64..15, end in -15i64..15) {
        let template = format!(
            "{{% set i = t.find(n, {start}, {end}) %}}{{% set j = t.rfind(n, {start}, {end}) %}}\
             {{{{ (i == -1 and j == -1 and t.count(n, {start}, {end}) == 0)
                  or (t[i:].startswith(n) and t[j:].startswith(n) and i <= j) }}}}"
        );
        prop_assert_eq!(render_with(&template, &[("t", &text), ("n", &needle)]).unwrap(), "True");
    }
}
