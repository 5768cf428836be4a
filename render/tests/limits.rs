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

#[test]
fn objects_that_hold_themselves_print_and_end() {
    let table = [
        ("{% set ns = namespace(l=1) %}{% set ns.l = ns %}{{ ns }}", "<Namespace {'l': <Namespace {...}>}>"),
        ("{% set l = [1] %}{% do l.append(l) %}{{ l }}", "[1, [...]]"),
        ("{% set c = [1] %}{% set n = namespace(a=c) %}{% do c.append(n) %}{{ c }}", "[1, <Namespace {'a': [...]}>]"),
    ];
    for (template, printed) in table {
        assert_eq!(render(Request::new(template, &NoHost)).unwrap().text, printed);
    }
}

#[test]
fn numbers_at_the_edge_do_not_overflow() {
    let template = "{{ range(-9223372036854775807, 9223372036854775807, 4611686018427387904)|list }}";
    let printed = "[-9223372036854775807, -4611686018427387903, 1, 4611686018427387905]";
    assert_eq!(render(Request::new(template, &NoHost)).unwrap().text, printed);
}

#[test]
fn what_one_step_makes_is_paid_for() {
    let table = [
        "{% set ns = namespace(l=[]) %}{% for i in range(200) %}{% do ns.l.append([0] * 900000) %}{% endfor %}",
        "{% set ns = namespace(p=1) %}{% for i in range(40) %}{% set ns.p = namespace(p=ns.p, q=ns.p) %}{% endfor %}{{ ns.p }}",
        "{% set s = 'x' * 9000000 %}{{ [s] * 1000 }}",
        "{% set s = 'x' * 9000000 %}{{ ([s] * 1000)|yaml }}",
        "{% set s = 'x' * 4000000 %}{% for i in range(20000) %}{% set x = s[3999999] %}{% endfor %}",
        "{% set s = 'x' * 4000000 %}{% for i in range(20000) %}{% set x = 'b' in s %}{% endfor %}",
        "{% set s = 'x' * 4000000 %}{% for i in range(20000) %}{% set x = s|length %}{% endfor %}",
        "{% set s = 'x' * 4000000 %}{% set t = 'x' * 4000000 %}{% for i in range(20000) %}{% set x = s == t %}{% endfor %}",
        "{% set s = 'x' * 4000000 %}{% set t = 'x' * 4000000 %}{% for i in range(20000) %}{% set x = s in [t] %}{% endfor %}",
        "{% set s = 'x ' * 4500000 %}{% set l = [] %}{% for i in range(20) %}{% do l.append(s.split()) %}{% endfor %}",
        "{% set s = 'xy ' * 3000000 %}{{ s|sort|length }}",
        "{% set s = 'x' * 9000000 %}{% set l = [] %}{% for i in range(200) %}{% do l.append(s ~ i) %}{% endfor %}",
    ];
    for template in table {
        let error = render(Request::new(template, &NoHost)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Limit, "{template}: {error}");
    }
}

/// A host whose only file extends itself.
struct Endless;

impl mapstack_render::jinja::Host for Endless {
    fn template(&self, _: &str) -> mapstack_render::Result<Option<std::sync::Arc<str>>> {
        Ok(Some("{% extends 'self' %}{% block b %}{% endblock %}".into()))
    }

    fn has_function(&self, _: &str) -> bool {
        false
    }

    fn has_module(&self, _: &str) -> bool {
        false
    }

    fn call_function(
        &self,
        _: &mapstack_render::jinja::Vm<'_>,
        _: &str,
        _: mapstack_render::CallArgs,
    ) -> mapstack_render::Result<mapstack_render::Obj> {
        Ok(mapstack_render::Obj::None)
    }

    fn log(&self, _: &str, _: &str) {}
}

#[test]
fn a_template_that_extends_itself_is_told_so() {
    let error = render(Request::new("{% extends 'self' %}", &Endless)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Limit, "{error}");
    assert!(error.help.unwrap().contains("extends itself"));
}

/// Counts how many of it are alive.
struct Counted {
    _alive: std::rc::Rc<()>,
}

impl mapstack_render::Object for Counted {
    fn type_name(&self) -> &'static str {
        "counted"
    }
}

#[test]
fn a_render_leaves_nothing_behind() {
    let alive = std::rc::Rc::new(());
    let templates = [
        "{% set kept = x %}{% macro m() %}{{ kept }}{% endmacro %}{{ m() }}",
        "{% with %}{% set kept = x %}{% macro m() %}{{ kept }}{% endmacro %}{{ m() }}{% endwith %}",
        "{% for i in [1, 2] %}{% set kept = x %}{% macro m() %}{{ m is callable }}{% endmacro %}{{ m() }}{% endfor %}",
    ];
    for template in templates {
        let mut request = Request::new(template, &NoHost);
        let object: mapstack_render::Obj = mapstack_render::Obj::native(Counted { _alive: alive.clone() });
        request.variables.insert("x".into(), object);
        drop(render(request).unwrap());
        assert_eq!(std::rc::Rc::strong_count(&alive), 1, "{template}");
    }
}
