//! Templates that would run, print or nest without end stop with an error of their own.

use mapstack_render::ErrorKind;
use mapstack_render::jinja::{Limits, NoHost, Request, render};

/// A template that doubles a structure again and again, and then does something with it.
fn doubled(start: &str, double: &str, end: &str) -> String {
    format!(
        "{{% set ns = namespace(x={start}, y={start}) %}}\
         {{% for i in range(60) %}}{{% set ns.x = {double} %}}{{% set ns.y = {} %}}{{% endfor %}}{end}",
        double.replace("ns.x", "ns.y")
    )
}

#[test]
fn a_few_objects_that_stand_for_many_are_refused() {
    let shapes = [("[1]", "[ns.x, ns.x]"), ("(1,)", "(ns.x, ns.x)"), ("{}", "{'a': ns.x, 'b': ns.x}")];
    let ends = [
        "{{ ns.x }}",
        "{{ ns.x|string|length }}",
        "{{ ns.x == ns.y }}",
        "{{ ns.x|json }}",
        "{{ [ns.x, ns.y]|unique }}",
        "{{ ns.x in [ns.y] }}",
    ];
    for (start, double) in shapes {
        for end in ends {
            let template = doubled(start, double, end);
            let error = render(Request::new(template.as_str(), &NoHost)).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Limit, "{template}: {error}");
        }
    }
    for end in ["{{ {ns.x: 1}|length }}", "{{ ns.x < ns.y }}", "{{ [ns.x, ns.y]|sort|length }}"] {
        let error = render(Request::new(doubled("(1,)", "(ns.x, ns.x)", end), &NoHost)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Limit, "{end}: {error}");
    }
}

#[test]
fn deep_structures_are_built_and_dropped_without_recursion() {
    for double in ["[ns.x]", "(ns.x,)", "{'a': ns.x}", "namespace(a=ns.x)", "joiner(ns.x)", "cycler(ns.x)"] {
        let template = format!(
            "{{% set ns = namespace(x=1) %}}\
             {{% for i in range(600) %}}{{% for j in range(500) %}}{{% set ns.x = {double} %}}{{% endfor %}}{{% endfor %}}ok"
        );
        // A small stack shows recursion that a large one hides.
        let built = std::thread::Builder::new().stack_size(512 << 10);
        let printed = built.spawn(move || render(Request::new(template, &NoHost)).map(|r| r.text)).unwrap().join();
        assert_eq!(printed.unwrap().unwrap(), "ok", "{double}");
    }
}

#[test]
fn deep_structures_are_refused_where_they_are_walked_through() {
    let deep = |end: &str| {
        format!(
            "{{% set ns = namespace(x=(1,), y=(1,)) %}}{{% for i in range(5000) %}}\
             {{% set ns.x = (ns.x,) %}}{{% set ns.y = (ns.y,) %}}{{% endfor %}}{end}"
        )
    };
    for end in ["{{ ns.x }}", "{{ ns.x == ns.y }}", "{{ ns.x < ns.y }}", "{{ {ns.x: 1} }}", "{{ ns.x|json }}"] {
        assert!(render(Request::new(deep(end), &NoHost)).is_err(), "{end}");
    }
}

#[test]
fn steps_output_and_depth_are_bounded() {
    let limits = Limits { fuel: 100_000, output: 10_000, depth: 20 };
    let table = [
        "{% for a in range(1000) %}{% for b in range(1000) %}{% endfor %}{% endfor %}",
        "{% for a in range(100) %}{{ 'x' * 1000 }}{% endfor %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% for a in [1] recursive %}{{ loop([a]) }}{% endfor %}",
        "{% set x = [1] %}{% for a in x %}{% do x.append(a) %}{% endfor %}",
        "{% set t %}{{ 'x' * 20000 }}{% endset %}",
    ];
    for template in table {
        let error = render(Request { limits, ..Request::new(template, &NoHost) }).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Limit, "{template}: {error}");
        assert!(error.place.is_some(), "{template}");
    }
}
