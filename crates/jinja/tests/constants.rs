//! Expressions of literals alone, and their cost.

use mapstack_jinja::syntax::{Syntax, parse};

#[test]
fn what_is_made_of_literals_is_constant() {
    let source =
        "{{ {'a': [1, {'b': ()}]} }}{{ [x, [2]] }}{{ {[]: 1} }}{{ [-1, +2, --1.5] }}{{ [-'a'] }}";
    let template = parse(source, None, &Syntax::default(), &[]).unwrap();
    let constants: Vec<(u32, String)> = template
        .constants
        .iter()
        .map(|(start, constant)| (*start, constant.value.repr()))
        .collect();
    let expected = [
        (3, "{'a': [1, {'b': ()}]}"),
        (34, "[2]"),
        (45, "[]"),
        (57, "[-1, 2, 1.5]"),
    ];
    assert_eq!(
        constants,
        expected.map(|(at, value)| (at, value.to_owned()))
    );
}

#[test]
fn a_constant_costs_what_its_parts_cost() {
    let template = parse("{{ {'a': [1, 2]} }}", None, &Syntax::default(), &[]).unwrap();
    let constant = &template.constants[&3];
    assert_eq!((constant.objects, constant.steps), (3 + 3, 2 + 2));
    let template = parse("{{ [-1, 2] }}", None, &Syntax::default(), &[]).unwrap();
    let constant = &template.constants[&3];
    assert_eq!((constant.objects, constant.steps), (3, 2 + 1));
}
