//! The output of Tera templates, and their refusals.

use std::collections::HashMap;

use super::*;
use mapstack_diagnostic::line_and_column;
use mapstack_salt_jinja::{Host, Limits, request};

/// A host with files, and one function that gives back what it is called with.
#[derive(Default)]
struct Files(HashMap<&'static str, String>);

impl Host for Files {
    fn template(&self, path: &str) -> Result<Option<Arc<str>>> {
        Ok(self.0.get(path).map(|text| text.as_str().into()))
    }

    fn has_function(&self, name: &str) -> bool {
        name == "test.args"
    }

    fn has_module(&self, module: &str) -> bool {
        module == "test"
    }

    fn call_function(&self, _: &Vm<'_>, _: &str, args: CallArgs) -> Result<Obj> {
        if args
            .positional
            .first()
            .is_some_and(|first| first.as_str().is_some_and(|text| **text == *"fail"))
        {
            return Err(Error::new(ErrorKind::Salt, "as asked").with_help("ask otherwise"));
        }
        let named = args
            .named
            .iter()
            .map(|(k, v)| (mapstack_value::Key::from(&**k), v.clone()));
        let mut all = args.positional.clone();
        all.push(Obj::dict(named.collect::<Vec<_>>()));
        Ok(Obj::list(all))
    }

    fn missing_function_help(&self, _: &str) -> Option<String> {
        Some("there is test.args".into())
    }

    fn log(&self, _: &str, _: &str) {}
}

fn run(source: &str, files: &[(&'static str, &str)]) -> Result<RenderResult> {
    // Small, as the engine is slow where it is not optimised.
    run_within(
        Limits {
            fuel: 300_000,
            output: 1 << 20,
            ..Limits::default()
        },
        source,
        files,
    )
}

fn run_within(
    limits: Limits,
    source: &str,
    files: &[(&'static str, &str)],
) -> Result<RenderResult> {
    let host = Files(
        files
            .iter()
            .map(|(path, text)| (*path, (*text).to_string()))
            .collect(),
    );
    let mut request = request(source, &host);
    request.name = Some("main.tera".into());
    request.limits = limits;
    let facts = mapstack_value::json::loads(
        r#"{"os": "Debian", "roles": ["web", "db"], "n": 7, "f": 1.5, "none": null, "t": "a\u0301b", "big": 123456789012345678901234567890}"#,
    );
    request
        .variables
        .insert("grains".into(), Obj::from(facts.unwrap()));
    request.variables.insert("x".into(), Obj::from("x"));
    request
        .variables
        .insert("salt".into(), mapstack_salt_jinja::salt_object());
    render(&request)
}

fn printed(source: &str, files: &[(&'static str, &str)]) -> String {
    run(source, files)
        .unwrap_or_else(|e| panic!("{source}: {e:?}"))
        .text
}

fn refused(source: &str, files: &[(&'static str, &str)]) -> (String, String) {
    let e = run(source, files)
        .err()
        .unwrap_or_else(|| panic!("{} ran", source.get(..80).unwrap_or(source)));
    let place = e.place.as_ref().unwrap();
    let (line, column) = line_and_column(&place.source, place.span.start as usize);
    (
        e.message.clone(),
        format!(
            "{}:{line}:{column}",
            place.template.as_deref().unwrap_or_default()
        ),
    )
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one row for each feature of templates"
)]
fn templates_print() {
    for (source, expected) in [
        ("", ""),
        ("a\n", "a\n"),
        (
            "{{ grains.os }} {{ grains.roles.0 }} {{ grains['n'] + 1 }}",
            "Debian web 8",
        ),
        ("{{ grains.os ~ '-' ~ grains.n ~ 'é' }}", "Debian-7é"),
        (
            "{% if grains.os ~ '' %}t{% endif %}{% if not grains.os ~ '' %}f{% endif %}",
            "t",
        ),
        (
            "{% if '' ~ grains.os == 'Debian' and grains.n > 6 %}yes{% else %}no{% endif %}",
            "yes",
        ),
        (
            "{% if grains.n > 9 %}a{% elif grains.n > 6 %}b{% else %}c{% endif %}",
            "b",
        ),
        (
            "{% for r in grains.roles %}{{ loop.index }}{{ r }}{% if loop.last %}.{% endif %}{% endfor %}",
            "1web2db.",
        ),
        (
            "{% for r in [] %}{{ r }}{% else %}none{% endfor %}!",
            "none!",
        ),
        (
            "{% for k, v in grains %}{{ k }},{% endfor %}",
            "os,roles,n,f,none,t,big,",
        ),
        (
            "{% for c in grains.t %}[{{ c }}]{% endfor %}",
            "[a][\u{301}][b]",
        ),
        (
            "{% for n in range(end=3) %}{{ n }}{% endfor %}{% for n in range(start=1, end=6, step_by=2) %}{{ n }}{% endfor %}",
            "012135",
        ),
        (
            "{% set a = [x, 'b'] %}{{ a | join(sep='-') }}{{ a | length }}",
            "x-b2",
        ),
        (
            "{% set_global a = x ~ x %}{{ a | upper }}{{ nope | default(value='d') }}",
            "XXd",
        ),
        (
            "{{ grains.none | default(value='d') }}|{{ grains.f }}|{{ grains.big }}",
            "d|1.5|123456789012345678901234567890",
        ),
        (
            "{# c #}a{#- c -#} b {%- raw %} {{ x }}{% endraw -%} c",
            "ab {{ x }}c",
        ),
        ("{% filter upper %}a{{ x }}{% endfilter %}", "AX"),
        ("{{ '<&>' }}", "<&>"),
        (
            "{% macro m(a, b='c') %}{{ a }}{{ b }}{% endmacro %}{{ self::m(a=x) }}{{ self::m(a=1, b=2) }}",
            "xc12",
        ),
        (
            "{{ salt(fn='test.args', args=[1, x], b=2, a='c') | json_encode() }}",
            r#"[1,"x",{"a":"c","b":2}]"#,
        ),
        (
            "{{ x is defined }}{{ nope is defined }}{{ grains.n is odd }}{{ x is matching('^x$') }}",
            "truefalsetruetrue",
        ),
        (
            "{% if nope %}a{% else %}b{% endif %}{% if not nope %}c{% endif %}",
            "bc",
        ),
        (
            "{% for n in [1,2,3] %}{% if n == 2 %}{% continue %}{% endif %}{{ n }}{% endfor %}",
            "13",
        ),
        ("a\r\n{{ x }}\r\n", "a\r\nx\r\n"),
    ] {
        assert_eq!(printed(source, &[]), expected, "{source}");
    }
}

#[test]
fn other_templates_come_from_the_host() {
    let files = [
        ("f/part.tera", "[{{ x }}{% set y = 1 %}]"),
        (
            "f/base.tera",
            "<{% block a %}base{% endblock %}{% block b %}b{% endblock %}>",
        ),
        (
            "f/macros.tera",
            "{% macro m(n) %}{% if n > 0 %}{{ n }}{{ self::m(n=n - 1) }}{% endif %}{% endmacro %}",
        ),
        ("f/loop.tera", "{% include 'f/loop.tera' %}"),
    ];
    for (source, expected) in [
        (
            "{% include 'f/part.tera' %}{% include ['none', 'f/part.tera'] %}",
            "[x][x]",
        ),
        ("a{% include 'none' ignore missing %}b", "ab"),
        (
            "{% extends 'f/base.tera' %}{% block a %}{{ super() }}+{{ x }}{% endblock %}",
            "<base+xb>",
        ),
        ("{% import 'f/macros.tera' as f %}{{ f::m(n=3) }}", "321"),
    ] {
        assert_eq!(printed(source, &files), expected, "{source}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one row for each error")]
fn errors_have_a_place() {
    let files = [
        ("part", "a\n  {{ nope }}"),
        ("macros", "{% macro m() %}\n{{ nope }}\n{% endmacro %}"),
        ("bad", "ok\n{{ a b }}"),
        ("self", "{% import 'self' as s %}"),
        ("a", "{% extends 'b' %}"),
        ("b", "{% extends 'a' %}"),
        ("base", "{% block a %}{{ nope }}{% endblock %}"),
    ];
    for (source, message, place) in [
        (
            "a\nb {{ nope }}",
            "the variable 'nope' is undefined",
            "main.tera:2:3",
        ),
        (
            "{% if x %}\n{{ grains.nope }}{% endif %}",
            "the variable 'grains.nope' is undefined",
            "main.tera:2:1",
        ),
        (
            "{% if grains.n > 9 %}{%\n elif grains.n > x %}{% endif %}",
            "Variable `x` was used in a math operation but is not a number",
            "main.tera:1:22",
        ),
        (
            "{{ x }}{# {{ #}\n{% raw %}{{{% endraw %}\n{{ 1 + x }}",
            "Variable `x` was used in a math operation but is not a number",
            "main.tera:3:1",
        ),
        (
            "{% for a in grains.n %}{% endfor %}",
            "Tried to iterate on a container (`grains.n`) that has a unsupported type",
            "main.tera:1:1",
        ),
        (
            "a\n{{ x | nope }}",
            "Filter 'nope' not found",
            "main.tera:2:1",
        ),
        (
            "{{ nope(a=1) }}",
            "Function 'nope' not found",
            "main.tera:1:1",
        ),
        (
            "{{ throw(message='no way') }}",
            "Function call 'throw' failed: no way",
            "main.tera:1:1",
        ),
        (
            "{{ get_env(name='HOME') }}",
            "Function call 'get_env' failed: the environment is not read: the machine is not the minion",
            "main.tera:1:1",
        ),
        (
            "x{% include 'part' %}",
            "the variable 'nope' is undefined",
            "part:2:3",
        ),
        (
            "{% import 'macros' as m %}x{{ m::m() }}",
            "the variable 'nope' is undefined",
            "macros:2:1",
        ),
        (
            "{% extends 'base' %}",
            "the variable 'nope' is undefined",
            "base:1:14",
        ),
        ("é{{ a b }}", "expected", "main.tera:1:7"),
        ("a\n{% if x %}", "expected", "main.tera:2:11"),
        ("{% include 'bad' %}", "expected", "bad:2:6"),
        (
            "{% import 'none' as n %}",
            "the template 'none' does not exist",
            "main.tera:1:1",
        ),
        (
            "a{% include 'none' %}",
            "Template '[none]' not found",
            "main.tera:1:2",
        ),
        (
            "{% include 'self' %}",
            "'self' extends or imports itself",
            "self:1:1",
        ),
        (
            "{% extends 'a' %}",
            "'a' extends or imports itself",
            "main.tera:1:1",
        ),
        (
            "{{ salt(fn='test.args', args=['fail']) }}",
            "as asked",
            "main.tera:1:1",
        ),
        (
            "{{ salt(fn='no.such') }}",
            "unknown function 'no.such'",
            "main.tera:1:1",
        ),
        (
            "{{ salt() }}",
            "Function call 'salt' failed: salt() needs",
            "main.tera:1:1",
        ),
        (
            "{{ salt.grains }}",
            "the variable 'salt.grains' is undefined",
            "main.tera:1:1",
        ),
    ] {
        let (said, at) = refused(source, &files);
        assert!(
            said.starts_with(message) && at == place,
            "{source}\n{at}: {said}"
        );
    }
}

#[test]
fn errors_say_what_to_do() {
    for (source, help) in [
        ("{{ grain.os }}", "did you mean 'grains'?"),
        (
            "{{ salt.grains }}",
            "call functions as salt(fn=\"grains.get\", args=[\"os\"])",
        ),
        ("{{ salt(fn='no.such') }}", "there is test.args"),
        ("{{ salt(fn='test.args', args=['fail']) }}", "ask otherwise"),
        (
            "{% import 'none' as n %}",
            "no file salt://none on the file server",
        ),
    ] {
        assert_eq!(
            run(source, &[]).unwrap_err().help.as_deref(),
            Some(help),
            "{source}"
        );
    }
}

#[test]
fn what_never_ends_is_stopped() {
    let files = [
        ("loop", "{% include 'loop' %}"),
        ("macros", "{% macro m() %}{{ self::m() }}{% endmacro %}"),
    ];
    let nested = |n: usize, body: &str| {
        format!(
            "{}{body}{}",
            "{% for a in range(end=9000) %}".repeat(n),
            "{% endfor %}".repeat(n)
        )
    };
    for (source, says) in [
        ("{% include 'loop' %}".to_string(), "nested more than 180 levels deep"),
        ("{% import 'macros' as m %}{{ m::m() }}".into(), "nested more than 180 levels deep"),
        (nested(3, ""), "ran for more than"),
        (nested(2, "{{ x }}"), "ran for more than"),
        (nested(1, &format!("{{{{ '{}' }}}}", "x".repeat(400))), "printed more than"),
        ("{% set_global s = 'xxxxxxxx' %}{% for i in range(end=64) %}{% set_global s = s ~ s %}{% endfor %}".into(), "a value takes more than"),
        ("{% set_global s = [1] %}{% for i in range(end=64) %}{% set_global s = [s, s] %}{% endfor %}".into(), "a value takes more than"),
        ("{% set_global s = 'xx' %}{% for i in range(end=9) %}{% set_global s = s | replace(from='x', to=s) %}{% endfor %}".into(), "a value takes more than"),
        ("{{ range(end=1000000000) }}".into(), "range() of more than"),
        (format!("{{% set s = '{}' %}}{{% for i in range(end=30000) %}}{{{{ s }}}}{{% endfor %}}", "x".repeat(9000)), "printed more than"),
        (format!("{{% macro m(s) %}}{{% for i in range(end=30000) %}}{{{{ s }}}}{{% endfor %}}{{% endmacro %}}{{{{ self::m(s='{}') }}}}", "x".repeat(9000)), "printed more than"),
        (format!("{{{{ {}1 }}}}", "1 + ".repeat(9000)), "longer than"),
    ] {
        let e = run(&source, &files).unwrap_err();
        assert!(e.kind == ErrorKind::Limit && e.message.contains(says), "{}: {e:?}", &source[..source.len().min(80)]);
    }
}

#[test]
fn the_deepest_that_is_read_ends_soon() {
    let calls = format!("{{{{ {}1{} }}}}", "x(a=".repeat(8), ")".repeat(8));
    assert!(refused(&calls, &[]).0.contains("'x' not found"));
    assert_eq!(
        printed(&format!("{{{{ {}1 }}}}", "1 + ".repeat(3900)), &[]),
        "3901"
    );
    let blocks = format!(
        "{}a{}",
        "{% if true %}".repeat(100),
        "{% endif %}".repeat(100)
    );
    assert_eq!(printed(&blocks, &[]), "a");
}

#[test]
fn output_of_macros_is_not_a_number() {
    for source in [
        "{{ self::m() + 1 }}",
        "{{ 2 * (3 - self::m()) }}",
        "{% if self::m() < 2 %}{% endif %}",
    ] {
        let source = format!("{{% macro m() %}}1{{% endmacro %}}{source}");
        let (message, _) = refused(&source, &[]);
        assert_eq!(
            message, "the macro `m` gives text, which cannot be calculated with or ordered",
            "{source}"
        );
    }
    let compared = "{% macro m() %}1{% endmacro %}{% if self::m() == '1' %}yes{% endif %}";
    assert_eq!(printed(compared, &[]), "yes");
}

#[test]
fn faults_of_the_engine_are_errors() {
    for source in [
        "{{ 1 % 0 }}",
        "{{ 9223372036854775807 + 1 }}",
        "{{ 1 is divisibleby(0) }}",
        "{{ super() }}",
    ] {
        let outcome = run(source, &[]).map(|rendered| rendered.text);
        assert!(
            outcome.is_err() || outcome.as_deref() == Ok("NaN"),
            "{source}: {outcome:?}"
        );
    }
}

#[test]
fn output_remembers_its_source() {
    let rendered = run(
        "a\n{%- if x %}\n  b {{ x }}{% include 'part' %}\n{% endif -%}\n\n c",
        &[("part", "p{{ x }}")],
    )
    .unwrap();
    assert_eq!(rendered.text, "a\n  b xpx\nc");
    let at = |offset: usize| {
        let (place, origin) = rendered.map.locate(offset).unwrap();
        (
            place.template.as_deref().unwrap().to_string(),
            place.line(),
            place.column(),
            origin == OutputOrigin::Literal,
        )
    };
    let main = |line, column, literal| ("main.tera".to_string(), line, column, literal);
    assert_eq!(at(0), main(1, 1, true));
    assert_eq!(at(4), main(3, 3, true));
    assert_eq!(at(6), main(3, 5, false));
    assert_eq!(at(7), ("part".into(), 1, 1, true));
    assert_eq!(at(8), ("part".into(), 1, 2, false));
    assert_eq!(at(10), main(6, 2, true));
}
