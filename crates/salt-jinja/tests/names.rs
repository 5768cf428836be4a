//! Names that are looked up often, and what other templates see of them. Results are those of Jinja2 3.1.6.

use crate::common::Files;
use mapstack_pyobject::{DictRef, Entries, Obj};
use mapstack_salt_jinja::{NoHost, render, request};
use mapstack_value::{Map, MapKind};

fn rendered(template: &str, part: &str) -> String {
    let files = Files(Map::from_iter([("part", part)]));
    let mut request = request(template, &files);
    request.variables = [("a".into(), Obj::from(1))].into_iter().collect();
    render(request).unwrap().text
}

#[test]
fn a_name_that_was_often_found_can_be_set() {
    let loops = "{% for i in range(20) %}{{ a }}{% endfor %}";
    let template = format!("{{{{ a }}}}{loops}{{% set a = 2 %}}{{{{ a }}}}{loops}");
    let expected = "1".repeat(21) + &"2".repeat(21);
    assert_eq!(rendered(&template, ""), expected);
    // More names than are kept.
    let sets: String = (0..40).map(|n| format!("{{% set n{n} = {n} %}}")).collect();
    let prints: String = (0..40).map(|n| format!("{{{{ n{n} }}}} ")).collect();
    let template = format!(
        "{sets}{{% for i in range(9) %}}{prints}{{% endfor %}}{{% set n7 = 'x' %}}{prints}"
    );
    let once: String = (0..40).map(|n| format!("{n} ")).collect();
    assert_eq!(
        rendered(&template, ""),
        once.repeat(9) + &once.replacen(" 7 ", " x ", 1)
    );
}

#[test]
fn an_included_template_keeps_what_it_saw() {
    let part = "{% macro m() %}{{ x }}{% endmacro %}{% do l.append(m) %}";
    let template = "{% set l = [] %}{% set x = 1 %}{% include 'part' %}{% set x = 2 %}{{ l[0]() }}";
    assert_eq!(rendered(template, part), "1");
    let template = "{% set l = [] %}{% for x in [1, 2] %}{% include 'part' %}{% endfor %}\
        {% for m in l %}{{ m() }}{% endfor %}";
    assert_eq!(rendered(template, part), "12");
}

#[test]
fn an_included_template_sees_the_innermost_of_equal_names() {
    let names: String = (0..12).map(|n| format!("{{% set n{n} = {n} %}}")).collect();
    for around in ["", &names] {
        let template = format!(
            "{{% for x in [1] %}}{around}{{% for x in [2] %}}{{% set a = 3 %}}{{% include 'part' %}}\
            {{% endfor %}}{{% endfor %}}"
        );
        assert_eq!(rendered(&template, "{{ x }}{{ a }}"), "23");
    }
}

#[test]
fn indented_lines_are_those_of_python() {
    for (text, indented) in [
        ("a\\r", "  a"),
        ("\\r", "  "),
        ("a\\n", "  a\n  "),
        ("", "  "),
        ("a\\r\\nb", "  a\n  b"),
    ] {
        let template = format!("{{{{ '{text}'|indent(2, true, true) }}}}");
        assert_eq!(rendered(&template, ""), indented, "{text}");
    }
}

#[test]
fn a_dict_whose_class_takes_attributes_for_items_says_what_is_missing() {
    let printed = |kind| {
        let dict = DictRef::with_kind(Entries::from_iter([("x".into(), Obj::from(1))]), kind);
        let mut request = request("{{ d.x }}{{ d.y is defined }}", &NoHost);
        request.variables = [("d".into(), Obj::Dict(dict))].into_iter().collect();
        render(request).map(|r| r.text).map_err(|e| e.message)
    };
    assert_eq!(printed(MapKind::Dict), Ok("1False".into()));
    assert_eq!(printed(MapKind::Bunch), Err("'y'".into()));
}
