//! Filters and tests beside Jinja2 3.1.6 with Salt 3008's extensions.
//!
//! `data/filters.json` was recorded from it: for each template what it printed, or its error's
//! message without the place. Addresses of objects were cut out.

use mapstack_pyobject::Obj;
use mapstack_salt_jinja::{Limits, NoHost, Request, render, request};
use mapstack_value::{Map, Value};
use proptest::prelude::*;
use serde_json::Value as Json;

fn rendered(template: &str) -> Result<String, String> {
    render(request(template, &NoHost))
        .map(|r| r.text)
        .map_err(|e| e.to_string())
}

#[test]
fn recorded_templates_give_what_salt_gives() {
    give_what_salt_gives(include_str!("data/filters.json"));
}

/// Templates whose operands count or fail, made by `xtask/reference/jinja_order.py`.
#[test]
fn operands_are_evaluated_in_the_order_of_salt() {
    give_what_salt_gives(include_str!("data/order.json"));
}

fn give_what_salt_gives(records: &str) {
    let records: Vec<Json> = serde_json::from_str(records).unwrap();
    assert!(!records.is_empty());
    let mut wrong = Vec::new();
    for record in &records {
        let template = record[0].as_str().unwrap();
        let expected = match &record[1] {
            Json::String(text) => Ok(text.clone()),
            _ => Err(record[2].as_str().unwrap().to_string()),
        };
        let got = rendered(template);
        if got != expected {
            wrong.push(format!("{template}\n   want {expected:?}\n   got  {got:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        records.len(),
        wrong.join("\n")
    );
}

/// Templates that ask for more than they may have, each in another way.
const GREEDY: &[&str] = &[
    "{{ 'x'|center(10**12) }}",
    "{{ 'a\nb'|indent(10**12) }}",
    "{{ ('a\n' * 100000)|indent('x' * 100000) }}",
    "{{ [1]|json(indent=10**9) }}",
    "{{ [1]|tojson(indent='x' * 5000) }}",
    "{{ [1]|batch(10**12, 'x')|list }}",
    "{{ [1]|slice(10**12)|list }}",
    "{{ range(60)|list|permutations|list }}",
    "{{ range(99)|list|product(repeat=9)|list }}",
    "{{ [1]|product(repeat=10**12)|list }}",
    "{{ [1]|combinations_with_replacement(10**12)|list }}",
    "{{ range(100)|list|combinations(50)|list }}",
    "{{ '0.0.0.0/0'|network_hosts }}",
    "{{ '::/0'|network_hosts }}",
    "{{ 10**12|random_str }}",
    "{{ (10**12)|random_str }}",
    "{{ ('a' * 40)|regex_match('(a|a)*\\\\1x') }}",
    "{{ 'a'|regex_match('((((a{1,99}){1,99}){1,99}){1,99}){1,99}') }}",
    "{{ 'a'|regex_match('(' * 2000 ~ ')' * 2000) }}",
    "{% set n = namespace(l=[]) %}{% for i in range(80) %}{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l|json }}",
    "{% set n = namespace(l=[]) %}{% for i in range(80) %}{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l|python }}",
    "{% set n = namespace(l={}) %}{% for i in range(80) %}{% set n.l = {'a': n.l, 'b': n.l} %}{% endfor %}{{ n.l|tojson }}",
    "{% set n = namespace(l={}) %}{% for i in range(80) %}{% set n.l = {'a': n.l, 'b': n.l} %}{% endfor %}{{ n.l|tojson(skipkeys=true) }}",
    "{% set n = namespace(l=[]) %}{% for i in range(80) %}{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l|json_query('to_string(@)') }}",
    "{% set n = namespace(l=()) %}{% for i in range(80) %}{% set n.l = (n.l, n.l) %}{% endfor %}{{ n.l|yaml }}",
    "{% set n = namespace(l=()) %}{% for i in range(80) %}{% set n.l = (n.l, n.l) %}{% endfor %}{{ n.l|xml }}",
    "{% set n = namespace(l=['x'|safe]) %}{% for i in range(80) %}{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l|yaml }}",
    "{% set n = namespace(l=['x']) %}{% for i in range(80) %}{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l|json_encode_list }}",
    "{% set n = namespace(g=[1]) %}{% for i in range(5000) %}{% set n.g = n.g|map('abs') %}{% endfor %}{{ n.g|list }}",
    "{% set n = namespace(g=[1]) %}{% for i in range(5000) %}{% set n.g = [n.g]|map('list') %}{% endfor %}{{ n.g|list }}",
    "{% set n = namespace(l=[1]) %}{% for i in range(5000) %}{% set n.l = [n.l] %}{% endfor %}{{ n.l|flatten }}",
    "{% set n = namespace(l=[1]) %}{% for i in range(5000) %}{% set n.l = [n.l] %}{% endfor %}{{ n.l|yaml }}",
    "{% set n = namespace(l=[1]) %}{% for i in range(5000) %}{% set n.l = [n.l] %}{% endfor %}{{ n.l|python }}",
    "{{ {}|json_query('a' ~ '.a' * 5000) }}",
    "{{ {}|json_query('[' * 400) }}",
];

#[test]
fn greed_ends_in_an_error() {
    for template in GREEDY {
        let limits = Limits {
            fuel: 500_000,
            ..Limits::default()
        };
        let request = Request {
            limits,
            ..request(*template, &NoHost)
        };
        assert!(render(request).is_err(), "{template}");
    }
}

#[test]
fn filters_of_the_host_are_refused() {
    for name in [
        "which",
        "list_files",
        "is_empty",
        "is_text_file",
        "is_bin_file",
        "file_hashsum",
        "get_uid",
        "dns_check",
        "http_query",
    ] {
        let refusal = rendered(&format!("{{{{ 'x'|{name} }}}}")).unwrap_err();
        assert!(
            refusal.contains("does not let templates touch the host"),
            "{refusal}"
        );
    }
}

#[test]
fn random_filters_choose_the_same_every_time() {
    for template in [
        "{{ range(1000)|random }}",
        "{{ 20|random_str }}",
        "{{ 99|rand_str }}",
        "{{ 'AC:DE:48'|gen_mac }}",
        "{{ range(9)|list|random_shuffle }}",
    ] {
        assert_eq!(rendered(template), rendered(template));
        assert!(rendered(template).is_ok(), "{template}");
    }
}

#[test]
fn escaped_output_keeps_what_filters_made_safe() {
    let template = "{% autoescape true %}{{ {'a': '<'}|json }}{{ ['<', '<b>'|safe]|join }}{{ '<'|upper }}{% endautoescape %}";
    assert_eq!(rendered(template).unwrap(), "{\"a\": \"<\"}&lt;<b>&lt;");
}

/// The result of a template with a variable `x`.
fn of(x: Value, template: &str) -> String {
    let mut request = request(template, &NoHost);
    request.variables.insert("x".into(), Obj::from(x));
    render(request).map_or_else(|e| format!("error: {e}"), |r| r.text)
}

fn data() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::None),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z]{0,3}", inner), 0..4)
                .prop_map(|entries| Value::from(entries.into_iter().collect::<Map>())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_is_printed_loads_back(x in data()) {
        prop_assert_eq!(of(x.clone(), "{{ x|json|string|load_json == x }}"), "True");
        prop_assert_eq!(of(x, "{{ x|tojson|load_json == x }}"), "True");
    }

    #[test]
    fn encodings_decode(x in any::<String>()) {
        prop_assert_eq!(of(x.clone().into(), "{{ x|base64_encode|base64_decode == x }}"), "True");
        prop_assert_eq!(of(x.clone().into(), "{{ x|regex_match(x|regex_escape) == (x,) }}"), "True");
        prop_assert_eq!(of(x.into(), "{{ x|to_bytes == x.encode() }}"), "True");
    }

    #[test]
    fn pieces_make_the_whole(n in 1usize..9, items in prop::collection::vec(any::<i8>(), 0..40)) {
        let items: Value = items.into_iter().map(i64::from).collect();
        let glue = format!("{{{{ x|batch({n})|sum(start=[]) == x and x|slice({n})|sum(start=[]) == x }}}}");
        prop_assert_eq!(of(items.clone(), &glue), "True");
        prop_assert_eq!(of(items.clone(), "{{ x|sort == x|sort(reverse=true)|reverse|list }}"), "True");
        let parts = "{{ (x|select('odd')|list + x|reject('odd')|list)|sort == x|sort }}";
        prop_assert_eq!(of(items, parts), "True");
    }

    #[test]
    fn no_text_or_pattern_panics(x in any::<String>(), pattern in r"[-a-c(){}\[\]|*+?.^$\\0-9P<>=:!,&~#]{0,12}") {
        let mut request = request("{{ x|regex_replace(p, p) }}{{ x|json_query(p) }}", &NoHost);
        request.variables.insert("x".into(), Obj::from(&*x));
        request.variables.insert("p".into(), Obj::from(&*pattern));
        let _ = render(request);
        for filter in ["wordwrap(3)", "urlize", "strftime", "human_to_bytes", "ipaddr", "title", "striptags", "base64_decode", "python"] {
            of(x.clone().into(), &format!("{{{{ x|{filter} }}}}"));
            of(pattern.clone().into(), &format!("{{{{ x|{filter} }}}}"));
        }
    }
}
