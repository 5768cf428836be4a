//! A value made of a secret is secret, whatever makes it.

use mapstack_pyobject::Obj;
use mapstack_salt_jinja::{NoHost, RenderResult, Taint, render, request};
use mapstack_value::{Map, Value};
use proptest::prelude::*;

const SECRET: &str = "Hunter2 says: it's 48213, über all\nand more";

fn pillar() -> Value {
    let list: Value = ["opensesame", "9-of-10"].into_iter().collect();
    let pillar: Map = [
        ("pw", Value::from(SECRET)),
        ("port", 48213.into()),
        ("list", list),
    ]
    .into_iter()
    .collect();
    pillar.into()
}

/// A render with a secret pillar, an open mapping, and one of both.
fn rendered(template: &str, taint: Option<&Taint>) -> Option<RenderResult> {
    let pillar = Obj::from(pillar());
    if let Some(taint) = taint {
        taint.add(&self::pillar());
        taint.add_object(&pillar);
    }
    let mut request = request(template, &NoHost);
    let both = [
        ("open".into(), Obj::from("plain")),
        ("closed".into(), Obj::from(SECRET)),
    ];
    request.variables.insert("both".into(), Obj::dict(both));
    request.variables.insert("pillar".into(), pillar);
    request.taint = taint;
    render(request).ok()
}

/// The output with `#` for the bytes that are secret.
fn shown(template: &str) -> String {
    let rendered =
        rendered(template, Some(&Taint::default())).unwrap_or_else(|| panic!("{template} fails"));
    let mut shown = String::new();
    for (at, c) in rendered.text.char_indices() {
        shown.push(
            if rendered
                .map
                .secret()
                .iter()
                .any(|range| range.contains(&at))
            {
                '#'
            } else {
                c
            },
        );
    }
    let mut short = String::new();
    shown.chars().for_each(|c| {
        if c != '#' || !short.ends_with('#') {
            short.push(c);
        }
    });
    short
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one row for each way that a secret takes"
)]
fn what_is_made_of_a_secret_is_secret_and_nothing_else() {
    for (template, expected) in [
        // Data that goes through text: values beside a secret stay open, however the secret was quoted and folded.
        (
            "{% set x = both|json|load_json %}{{ x.open }}|{{ x.closed }}",
            "plain|#",
        ),
        (
            "{% macro m() %}{{ {'a': both}|yaml(False) }}{% endmacro %}{% set x = m()|load_yaml %}{{ x.a.open }}|{{ x.a.closed }}",
            "plain|#",
        ),
        (
            "{% set x = (pillar.pw ~ ': open')|load_yaml %}{{ x|yaml }}",
            "#",
        ),
        ("a {{ pillar.pw }} b", "a # b"),
        (
            "{{ pillar.pw[:4] }} {{ pillar.pw[0] }} {{ pillar['port'] + 1 }}",
            "# # #",
        ),
        (
            "{{ 'x' ~ pillar.port }} {{ '%s' % pillar.pw }} {{ '{}'.format(pillar.pw) }}",
            "# # #",
        ),
        (
            "{{ pillar.pw.upper().splitlines()[0] }} {{ -pillar.port }}",
            "# #",
        ),
        (
            "{{ pillar.pw|list|join('-') }} {{ pillar.list|map('upper')|join }}",
            "# #",
        ),
        (
            "{{ pillar.list|map('upper')|list }} {{ pillar.pw|length }}",
            "# #",
        ),
        (
            "{% for x in pillar.list|map('upper') %}{{ x }},{% endfor %}",
            "#,#,",
        ),
        ("{% set p = pillar.port * 2 %}{{ p }} {{ p - 1 }}", "# #"),
        (
            "{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(pillar.pw) }} {{ m('a') }}",
            "<#> <a>",
        ),
        (
            "{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(pillar.pw)|upper }}",
            "#",
        ),
        (
            "{% set b %}a {{ pillar.port }}{% endset %}{{ b }} {{ b|upper }}",
            "a # #",
        ),
        ("{% filter upper %}a {{ pillar.pw }}{% endfilter %}", "#"),
        (
            "{{ (pillar.pw|first).encode('utf-8')|sha256 }} {{ pillar.pw[0]|md5 }}",
            "# #",
        ),
        (
            "{% macro m() %}{{ caller() }}!{% endmacro %}{% call m() %}{{ pillar.pw }}{% endcall %}",
            "#!",
        ),
        (
            "{% load_yaml as d %}a: 1{{ pillar.port }}{% endload %}{{ d.a }} {{ d.a + 1 }}",
            "# #",
        ),
        (
            "{{ both.open }} {{ both.closed }} {{ both|json }}",
            "plain # {\"closed\": \"#\", \"open\": \"plain\"}",
        ),
        (
            "{{ both.get('open') }} {{ both.open|upper }} {{ 2 + 3 }}",
            "plain PLAIN 5",
        ),
        (
            "{{ pillar.nope|default('fallback') }} {{ 'yes' if pillar.pw else 'no' }}",
            "fallback yes",
        ),
        (
            "{{ pillar.pw == 'x' }} {{ pillar.pw is string }} {{ 48213 }}",
            "False True 48213",
        ),
        (
            "{{ {'a': 1, 'b': pillar.pw}.a }} {{ [pillar.pw, 'b'][1] }}",
            "1 b",
        ),
        (
            "{{ pillar.pw or 'x' }} {{ '' or pillar.port }} {{ pillar.pw and 'x' }}",
            "# # x",
        ),
        (
            "{{ [pillar.pw|upper, 'b'] }} {{ namespace(a=pillar.pw|lower).a }}",
            "[\"#\", 'b'] #",
        ),
    ] {
        assert_eq!(shown(template), expected, "{template}");
    }
}

const LINKS: [&str; 36] = [
    "|upper",
    "|lower",
    "|title",
    "|capitalize",
    "|reverse",
    "|base64_encode",
    "|sha256",
    "|md5",
    "|replace('e', 'xy')",
    "|list",
    "|join('+')",
    "|string",
    "|length",
    "|json",
    "|json|load_json",
    "|yaml",
    "|yaml|string|load_yaml",
    "|urlencode",
    "|truncate(12, True)",
    "|wordwrap(8)",
    "|indent(2)",
    "|first",
    "|last",
    "|sort",
    "|unique|list",
    "|batch(3)|list",
    "|map('upper')|list",
    "|to_bytes",
    "[:10]",
    "[2:]",
    "[::-1]",
    ".split(' ')",
    ".splitlines()",
    ".encode('utf-8')",
    " ~ 'x'",
    "|string|regex_replace('[a-m]', 'q')",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn chains_print_nothing_open(
        start in prop::sample::select(vec!["pillar.pw", "pillar.port", "pillar.list", "pillar.list[0]", "both.closed"]),
        links in prop::collection::vec(prop::sample::select(LINKS.to_vec()), 1..6),
    ) {
        let mut expression = start.to_string();
        for link in links {
            expression = format!("({expression}{link})");
            // One character by itself is not a secret, nor is the literal that takes its place, or an empty list.
            let prints = rendered(&format!("{{{{ {expression} }}}}"), None);
            let length = prints.map_or(0, |made| made.text.chars().filter(|c| c.is_alphanumeric()).count());
            if length < 2 {
                break;
            }
        }
        let taint = Taint::default();
        // Chains that fail print nothing.
        if let Some(rendered) = rendered(&format!("<{{{{ {expression} }}}}>"), Some(&taint)) {
            let open: String = rendered.text.char_indices()
                .filter(|(at, _)| !rendered.map.secret().iter().any(|range| range.contains(at)))
                .map(|(_, c)| c)
                .collect();
            // The rest of a list are its brackets, and pieces of one character. An iterator over a list that a
            // slice left empty has no secret in it, and shows no items in any case.
            let open = open.replace("<list_reverseiterator object>", "");
            let is_piece = |piece: &&str| piece.len() >= 4 && *piece != "Markup";
            let pieces = open.split(|c: char| !c.is_alphanumeric()).filter(is_piece);
            prop_assert_eq!(pieces.collect::<Vec<_>>(), Vec::<&str>::new(), "{} prints {}", expression, rendered.text);
        }
    }

    #[test]
    fn following_changes_no_output(
        links in prop::collection::vec(prop::sample::select(LINKS.to_vec()), 1..4),
    ) {
        let template = format!("{{% set x = pillar.pw{} %}}{{{{ x }}}} {{{{ both }}}} {{{{ pillar }}}}", links.concat());
        let (with, without) = (rendered(&template, Some(&Taint::default())), rendered(&template, None));
        prop_assert_eq!(with.map(|rendered| rendered.text), without.map(|rendered| rendered.text));
    }
}
