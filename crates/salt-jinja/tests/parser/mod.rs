//! The parser beside Jinja2 3.1.6 with Salt's extensions.
//!
//! `data/jinja_syntax.json` was recorded from it: for each template either the syntax tree or the
//! error's message and line. Names of filters and tests were not checked in the recording.

mod dump;

use mapstack_diagnostic::line_and_column;
use mapstack_salt_jinja::ast::{Expr, ExprKind, StmtKind, Template};
use mapstack_salt_jinja::{Syntax, SyntaxError, parse};
use mapstack_value::Value;
use proptest::prelude::*;
use serde_json::Value as Json;

fn parsed(source: &str) -> Result<Template, SyntaxError> {
    parse(source, None, &Syntax::default())
}

fn message(source: &str) -> String {
    parsed(source).map_or_else(|error| error.message, |_| String::new())
}

fn syntax_of(record: &Json) -> Syntax {
    let mut syntax = Syntax::default();
    for (option, value) in record["options"].as_object().into_iter().flatten() {
        let value = value
            .as_str()
            .map_or_else(|| Value::from(value.as_bool() == Some(true)), Value::from);
        syntax.set(option, &value).unwrap();
    }
    syntax
}

#[test]
fn recorded_templates_parse_or_fail_as_in_jinja() {
    let records: Vec<Json> =
        serde_json::from_str(include_str!("../data/jinja_syntax.json")).unwrap();
    assert!(!records.is_empty());
    for record in &records {
        let template = record["template"].as_str().unwrap();
        match parse(template, None, &syntax_of(record)) {
            Ok(tree) => assert_eq!(dump::template(&tree), record["tree"], "{template}"),
            Err(error) => {
                let recorded = (record["message"].as_str(), record["line"].as_u64());
                assert_eq!(
                    (Some(error.message.as_str()), Some(u64::from(error.line))),
                    recorded,
                    "{template}"
                );
                if error.message.contains("end of template") {
                    let (line, _) = line_and_column(&error.source, error.span.start as usize);
                    // A tag or a bracket that is never closed is shown where it opens, and a block at its name.
                    let start = error.span.start as usize;
                    let shown = error.source.get(start..).unwrap_or_default();
                    let opens = ["{%", "{{", "(", "[", "{"];
                    let block = error.message.split("needs to be closed is '").nth(1);
                    let block = block.map(|name| name.trim_end_matches("'."));
                    let is_opening = block
                        .into_iter()
                        .chain(opens)
                        .any(|open| shown.starts_with(open));
                    assert!(
                        line == error.line as usize || line < error.line as usize && is_opening,
                        "the place is on another line: {template}"
                    );
                }
            }
        }
    }
}

/// Python refuses the code that Jinja generates for most of these; here they are syntax errors with
/// messages of their own. The last ones are refused although Python takes them: characters are not
/// looked up by name, and text holds no half characters.
#[test]
fn mistakes_that_python_would_find_are_found() {
    for (template, expected) in [
        ("{{ f(a=1, a=2) }}", "keyword argument repeated: a"),
        ("{{ x|f(a=1, a=2) }}", "keyword argument repeated: a"),
        (
            "{% macro m(a, a) %}{% endmacro %}",
            "duplicate argument 'a' in macro",
        ),
        (
            "{{ a[1:2, 3] }}",
            "a slice cannot be one of several indices",
        ),
        ("{{ a[1, :] }}", "a slice cannot be one of several indices"),
        (
            r"{{ '\N{BULLET}' }}",
            r"\N{BULLET}: characters cannot be given by name; write the character itself",
        ),
        (
            r"{{ '\ud83d' }}",
            r"\ud83d is half of a character; write the whole as \UXXXXXXXX",
        ),
    ] {
        assert_eq!(message(template), expected, "{template}");
    }
    let digits = "9".repeat(4301);
    assert_eq!(
        message(&format!("{{{{ {digits} }}}}")),
        "the integer has 4301 digits; 4300 is the limit"
    );
}

#[test]
fn loops_are_left_where_python_is_inside_one() {
    for (template, expected) in [
        ("{% break %}", "'break' outside loop"),
        (
            "{% if a %}{% continue %}{% endif %}",
            "'continue' not properly in loop",
        ),
        (
            "{% for a in b %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}",
            "'break' outside loop",
        ),
        (
            "{% for a in b %}{% call m() %}{% break %}{% endcall %}{% endfor %}",
            "'break' outside loop",
        ),
        (
            "{% for a in b %}{% load_yaml as c %}{% break %}{% endload %}{% endfor %}",
            "'break' outside loop",
        ),
        (
            "{% for a in b %}{% block c %}{% break %}{% endblock %}{% endfor %}",
            "'break' outside loop",
        ),
        (
            "{% for a in b %}{% else %}{% break %}{% endfor %}",
            "'break' outside loop",
        ),
        (
            "{% for a in b %}{% for c in d recursive %}{% else %}{% break %}{% endfor %}{% endfor %}",
            "'break' outside loop",
        ),
        (
            "{% for a in b %}{% for c in d recursive %}{% else %}{% continue %}{% endfor %}{% endfor %}",
            "'continue' not properly in loop",
        ),
    ] {
        assert_eq!(message(template), expected, "{template}");
    }
    for template in [
        "{% for a in b %}{% with %}{% filter f %}{% set c %}{% break %}{% endset %}{% endfilter %}{% endwith %}{% endfor %}",
        "{% for a in b %}{% for c in d %}{% else %}{% continue %}{% endfor %}{% endfor %}",
    ] {
        assert_eq!(message(template), "", "{template}");
    }
}

#[test]
fn an_error_that_jinja_finds_first_is_reported_first() {
    for (template, expected) in [
        ("{% break %}{{ ' }}", "unexpected char \"'\" at 14"),
        (
            "{% break %}{% block a %}{% endblock %}{% block a %}{% endblock %}",
            "block 'a' defined twice",
        ),
        (
            "{% block a %}{% extends 'x' %}{% endblock %}{% for loop in b %}{% endfor %}",
            "Can't assign to special loop variable in for-loop target",
        ),
    ] {
        assert_eq!(message(template), expected, "{template}");
    }
}

#[test]
fn errors_point_at_the_token() {
    for (template, text) in [
        ("a\n{{ b c }}", "c"),
        ("{{ b", ""),
        ("{{ f(1 }}", "}"),
        ("{% if a %}{% endfor %}", "endfor"),
        ("{{ a is b is c }}", "is"),
        ("{% set x = é? %}", "?"),
        ("{% set x = 'a\\x4' %}", "'a\\x4'"),
        ("{% set a, true = 1 %}", "a, true"),
        ("{% set (a|b) = 1 %}", "(a|b)"),
        ("{# open", "{#"),
        ("{% raw %} x", "{% raw %}"),
        (
            "{% block a %}{% endblock %}{% block a %}{% endblock %}",
            "block",
        ),
        ("{% for x in y %}{% set loop = 1 %}{% endfor %}", "loop"),
        ("{{ f(a=1, a=2) }}", "a"),
        ("{% call m|f %}{% endcall %}", "m|f"),
    ] {
        let error = parsed(template).unwrap_err();
        assert_eq!(
            &error.source[error.span.start as usize..error.span.end as usize],
            text,
            "{template}"
        );
    }
}

#[test]
fn errors_name_the_template() {
    let error = parse("\r\n{{ }}", Some("a/b.jinja"), &Syntax::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Expected an expression, got 'end of print statement' (line 2 of 'a/b.jinja')"
    );
    assert_eq!(&*error.source, "\n{{ }}");
}

#[test]
fn statements_know_their_opening_tag() {
    let source = "a {%- if b -%} \n c{{ d }}{# e #}{% elif f %}{% endif %}\n{% set g %}{% endset %}{% print h, i %}";
    let template = parsed(source).unwrap();
    let texts: Vec<&str> = template
        .body
        .iter()
        .map(|stmt| &source[stmt.span.start as usize..stmt.span.end as usize])
        .collect();
    assert_eq!(
        texts,
        [
            "a",
            "{%- if b -%}",
            "\n",
            "{% set g %}",
            "{% print h, i %}",
            "{% print h, i %}"
        ]
    );
    let StmtKind::If { arms, .. } = &template.body[1].kind else {
        panic!("{:?}", template.body[1])
    };
    let texts: Vec<&str> = arms[0]
        .1
        .iter()
        .map(|stmt| &source[stmt.span.start as usize..stmt.span.end as usize])
        .collect();
    assert_eq!(texts, ["c", "{{ d }}"]);
}

#[test]
fn expressions_know_their_source() {
    for (source, parts) in [
        ("{{ (a) + b.c[1] }}", ["(a) + b.c[1]", "(a)", "b.c[1]"]),
        (
            "{{ a|f(1)|g and not -b ** 2 }}",
            ["a|f(1)|g and not -b ** 2", "a|f(1)|g", "not -b ** 2"],
        ),
        (
            "{{ ( x, ) * ['y' 'z'] }}",
            ["( x, ) * ['y' 'z']", "( x, )", "['y' 'z']"],
        ),
    ] {
        let template = parsed(source).unwrap();
        let StmtKind::Output(expr) = &template.body[0].kind else {
            panic!("{source}")
        };
        let (ExprKind::Binary(_, left, right) | ExprKind::And(left, right)) = &expr.kind else {
            panic!("{source}")
        };
        let text = |expr: &Expr| &source[expr.span.start as usize..expr.span.end as usize];
        assert_eq!([text(expr), text(left), text(right)], parts);
    }
}

#[test]
fn blocks_are_listed_in_order() {
    let template = parsed(
        "{% block a %}{% block b %}{% endblock %}{% endblock %}{% if x %}{% block c %}{% endblock %}{% endif %}",
    )
    .unwrap();
    let names: Vec<&str> = template.blocks.iter().map(|block| &*block.name).collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn delimiters_must_differ_and_not_be_empty() {
    let same = Syntax {
        block_start: "{{".into(),
        ..Syntax::default()
    };
    let error = parse("x", None, &same).unwrap_err();
    assert_eq!(
        error.message,
        "block, variable and comment start strings must be different"
    );
    let empty = Syntax {
        line_comment_prefix: Some(String::new()),
        ..Syntax::default()
    };
    assert_eq!(
        parse("x", None, &empty).unwrap_err().message,
        "a Jinja delimiter is empty"
    );
}

/// Deep templates are refused before they can exhaust a thread's stack of 2 MiB.
#[test]
fn nesting_is_limited() {
    let too_deep = "the expression nests more than 200 levels deep; split it up with {% set %}";
    for (open, middle, close) in [
        ("(", "1", ")"),
        ("[", "", "]"),
        ("{1:", "2", "}"),
        ("f(", "", ")"),
        ("a|f(", "1", ")"),
        ("a[", "1", "]"),
        ("a[:", "1", "]"),
        ("a is b(", "1", ")"),
        ("-", "1", ""),
        ("not ", "1", ""),
        ("1 if 2 else ", "3", ""),
        ("1 or 2 and not 3 < 4 + 5 ~ 6 * (", "7", ")"),
        ("", "1", " + 1"),
        ("", "a", ".b"),
        ("", "a", "|b"),
        ("", "a", "()"),
    ] {
        let nested = |depth: usize| {
            format!(
                "{{{{ {}{middle}{} }}}}",
                open.repeat(depth),
                close.repeat(depth)
            )
        };
        assert_eq!(message(&nested(20)), "", "{open}{close}");
        assert_eq!(message(&nested(100_000)), too_deep, "{open}{close}");
    }
    let blocks = |depth: usize, tag: &str, end: &str| {
        let deepest = format!("{{{{ {}1{} }}}}", "f(x|g(".repeat(98), "))".repeat(98));
        format!("{}{deepest}{}", tag.repeat(depth), end.repeat(depth))
    };
    for (tag, end) in [
        ("{% for a in b %}", "{% endfor %}"),
        ("{% if a %}", "{% endif %}"),
        ("{% macro a() %}", "{% endmacro %}"),
        ("{% call(a) b() %}", "{% endcall %}"),
        ("{% load_yaml as a %}", "{% endload %}"),
    ] {
        assert_eq!(message(&blocks(100, tag, end)), "", "{tag}");
        assert_eq!(
            message(&blocks(101, tag, end)),
            "the template nests more than 100 statements deep",
            "{tag}"
        );
    }
    // Only depth is limited, not length.
    let long = format!(
        "{{{{ [{}] ~ {} }}}}",
        "1, ".repeat(5000),
        vec!["x"; 5000].join(" ~ ")
    );
    assert_eq!(message(&long), "");
    let chain = format!("{{% if a %}}{}{{% endif %}}", "{% elif b %}c".repeat(5000));
    assert_eq!(message(&chain), "");
}

/// Templates put together from the pieces that mean something to the parser.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{%",
        "%}",
        "{{",
        "}}",
        "{#",
        "#}",
        "-",
        "+",
        " ",
        "\n",
        "\r\n",
        "raw",
        "endraw",
        "if a",
        "for a in b",
        "endfor",
        "set c =",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "'",
        "\"",
        "\\",
        "1",
        "0x",
        "1.5",
        ".",
        ",",
        ":",
        "|",
        "is",
        "not",
        "in",
        "*",
        "**",
        "é",
        "²",
        "☃",
        "loop",
        "block x",
        "endblock",
        "macro m()",
        "endmacro",
        "#",
        "##",
        "=",
        "~",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn errors_lie_within_the_source(source in pieces(), trim: bool, lines: bool) {
        let prefix = |text: &str| lines.then(|| text.to_owned());
        let syntax = Syntax {
            trim_blocks: trim,
            lstrip_blocks: trim,
            line_statement_prefix: prefix("#"),
            line_comment_prefix: prefix("##"),
            ..Syntax::default()
        };
        if let Err(error) = parse(&source, None, &syntax) {
            prop_assert!(error.source.get(error.span.start as usize..error.span.end as usize).is_some());
            let lines = error.source.matches('\n').count() + 1;
            prop_assert!((1..=lines).contains(&(error.line as usize)));
        }
    }

    #[test]
    fn lines_before_a_template_only_move_its_error(source in pieces(), before in 0_u32..4) {
        let moved = parsed(&format!("{}{{{{ x }}}}{source}", "\n".repeat(before as usize)));
        match (parsed(&format!("{{{{ x }}}}{source}")), moved) {
            (Ok(_), Ok(_)) => {}
            (Err(error), Err(moved)) => {
                prop_assert_eq!(error.line + before, moved.line);
                prop_assert_eq!(error.span.start + before, moved.span.start);
            }
            (alone, moved) => prop_assert!(false, "{:?} but {:?}", alone.map(|_| ()), moved.map(|_| ())),
        }
    }

    #[test]
    fn text_without_tags_is_kept(text in "[a-z \n%#}é]{0,40}") {
        let syntax = Syntax { keep_trailing_newline: true, ..Syntax::default() };
        let template = parse(&text, None, &syntax).unwrap();
        let kept: String = template.body.iter().map(|stmt| match &stmt.kind {
            StmtKind::Text(text) => &**text,
            _ => "",
        }).collect();
        prop_assert_eq!(kept, text);
    }
}
