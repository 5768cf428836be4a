//! Templates that would run, print or nest without end stop with an error of their own.

use mapstack_pyobject::ErrorKind;
use mapstack_salt_jinja::{Deadline, Limits, MemoryLimit, NoHost, Request, render, request};

/// A template that doubles a structure again and again, and then does something with it.
fn doubled(start: &str, double: &str, end: &str) -> String {
    format!(
        "{{% set ns = namespace(x={start}, y={start}) %}}\
         {{% for i in range(60) %}}{{% set ns.x = {double} %}}{{% set ns.y = {} %}}{{% endfor %}}{end}",
        double.replace("ns.x", "ns.y")
    )
}

/// Enough for what ends, and reached soon by what does not.
const FEW: Limits = Limits {
    fuel: 500_000,
    output: 64 << 20,
    depth: 180,
    time: None,
    memory: None,
    run: None,
    spender: mapstack_pyobject::Spender::Template,
};

/// The error of a template with few steps.
fn ended(template: &str) -> Box<mapstack_pyobject::Error> {
    match render(Request {
        limits: FEW,
        ..request(template, &NoHost)
    }) {
        Err(error) => error,
        Ok(_) => panic!("{template}"),
    }
}

#[test]
fn a_few_objects_that_stand_for_many_are_refused() {
    let shapes = [
        ("[1]", "[ns.x, ns.x]"),
        ("(1,)", "(ns.x, ns.x)"),
        ("{}", "{'a': ns.x, 'b': ns.x}"),
    ];
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
            let error = ended(&template);
            assert_eq!(error.kind, ErrorKind::Limit, "{template}: {error}");
        }
    }
    for end in [
        "{{ {ns.x: 1}|length }}",
        "{{ ns.x < ns.y }}",
        "{{ [ns.x, ns.y]|sort|length }}",
    ] {
        let error = ended(&doubled("(1,)", "(ns.x, ns.x)", end));
        assert_eq!(error.kind, ErrorKind::Limit, "{end}: {error}");
    }
}

#[test]
fn deep_structures_are_built_and_dropped_without_recursion() {
    for double in [
        "[ns.x]",
        "(ns.x,)",
        "{'a': ns.x}",
        "namespace(a=ns.x)",
        "joiner(ns.x)",
        "cycler(ns.x)",
    ] {
        let template = format!(
            "{{% set ns = namespace(x=1) %}}\
             {{% for i in range(100) %}}{{% for j in range(500) %}}{{% set ns.x = {double} %}}{{% endfor %}}{{% endfor %}}ok"
        );
        // A small stack shows recursion that a large one hides.
        let built = std::thread::Builder::new().stack_size(512 << 10);
        let printed = built
            .spawn(move || render(request(template, &NoHost)).map(|r| r.text))
            .unwrap()
            .join();
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
    for end in [
        "{{ ns.x }}",
        "{{ ns.x == ns.y }}",
        "{{ ns.x < ns.y }}",
        "{{ {ns.x: 1} }}",
        "{{ ns.x|json }}",
    ] {
        assert!(render(request(deep(end), &NoHost)).is_err(), "{end}");
    }
}

#[test]
fn steps_output_and_depth_are_bounded() {
    let limits = Limits {
        fuel: 100_000,
        output: 10_000,
        depth: 20,
        ..Limits::default()
    };
    let table = [
        "{% for a in range(1000) %}{% for b in range(1000) %}{% endfor %}{% endfor %}",
        "{% for a in range(100) %}{{ 'x' * 1000 }}{% endfor %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% for a in [1] recursive %}{{ loop([a]) }}{% endfor %}",
        "{% set x = [1] %}{% for a in x %}{% do x.append(a) %}{% endfor %}",
        "{% set t %}{{ 'x' * 20000 }}{% endset %}",
    ];
    for template in table {
        let error = render(Request {
            limits,
            ..request(template, &NoHost)
        })
        .unwrap_err();
        assert_eq!(error.kind, ErrorKind::Limit, "{template}: {error}");
        assert!(error.place.is_some(), "{template}");
    }
}

#[test]
fn objects_that_hold_themselves_print_and_end() {
    let table = [
        (
            "{% set ns = namespace(l=1) %}{% set ns.l = ns %}{{ ns }}",
            "<Namespace {'l': <Namespace {...}>}>",
        ),
        (
            "{% set l = [1] %}{% do l.append(l) %}{{ l ~ '' }}",
            "[1, [...]]",
        ),
        (
            "{% set c = [1] %}{% set n = namespace(a=c) %}{% do c.append(n) %}{{ c }}",
            "[1, <Namespace {'a': [...]}>]",
        ),
    ];
    for (template, printed) in table {
        assert_eq!(render(request(template, &NoHost)).unwrap().text, printed);
    }
}

#[test]
fn what_salt_copies_to_print_it_must_not_contain_itself() {
    for template in [
        "{% set l = [1] %}{% do l.append(l) %}{{ l }}",
        "{% set d = {} %}{% do d.update(a=[d]) %}{{ d.items()|list }}",
    ] {
        let error = render(request(template, &NoHost)).unwrap_err();
        assert_eq!(
            error.message, "maximum recursion depth exceeded",
            "{template}"
        );
        assert_eq!(error.help.as_deref(), Some("the data contains itself"));
        assert!(error.place.is_some(), "{template}");
    }
}

#[test]
fn numbers_at_the_edge_do_not_overflow() {
    let template =
        "{{ range(-9223372036854775807, 9223372036854775807, 4611686018427387904)|list }}";
    let printed = "[-9223372036854775807, -4611686018427387903, 1, 4611686018427387905]";
    assert_eq!(render(request(template, &NoHost)).unwrap().text, printed);
}

#[test]
fn what_one_step_makes_is_paid_for() {
    let table = [
        "{% set ns = namespace(l=[]) %}{% for i in range(200) %}{% do ns.l.append([0] * 90000) %}{% endfor %}",
        "{% set ns = namespace(p=1) %}{% for i in range(40) %}{% set ns.p = namespace(p=ns.p, q=ns.p) %}{% endfor %}{{ ns.p }}",
        "{% set s = 'x' * 900000 %}{{ [s] * 1000 }}",
        "{% set s = 'x' * 900000 %}{{ ([s] * 1000)|yaml }}",
        "{% set s = 'x' * 400000 %}{% for i in range(20000) %}{% set x = s[399999] %}{% endfor %}",
        "{% set s = 'x' * 400000 %}{% for i in range(20000) %}{% set x = 'b' in s %}{% endfor %}",
        "{% set s = 'x' * 400000 %}{% for i in range(20000) %}{% set x = s|length %}{% endfor %}",
        "{% set s = 'x' * 400000 %}{% set t = 'x' * 400000 %}{% for i in range(20000) %}{% set x = s == t %}{% endfor %}",
        "{% set s = 'x' * 400000 %}{% set t = 'x' * 400000 %}{% for i in range(20000) %}{% set x = s in [t] %}{% endfor %}",
        "{% set s = 'x ' * 450000 %}{% set l = [] %}{% for i in range(20) %}{% do l.append(s.split()) %}{% endfor %}",
        "{% set s = 'xy ' * 300000 %}{{ s|sort|length }}",
        "{% set s = 'x' * 900000 %}{% set l = [] %}{% for i in range(200) %}{% do l.append(s ~ i) %}{% endfor %}",
    ];
    for template in table {
        let error = ended(template);
        assert_eq!(error.kind, ErrorKind::Limit, "{template}: {error}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one row for each operation")]
fn every_operation_pays_for_the_size_of_its_operands() {
    let text = "{% set s = 'x1' * 50000 %}{% set n = s[1:2] * 300 %}";
    let dict = "{% set d = {}.fromkeys(range(5000)) %}";
    let of_text = [
        "s|int",
        "s|float",
        "s|md5",
        "s|sha256",
        "s|hmac('k', 'x')",
        "s|uuid",
        "s|to_bool",
        "s|ipaddr",
        "s|truncate(9)",
        "s|wordcount",
        "s|upper",
        "s|string|length",
        "s|length",
        "s.swapcase()",
        "s.title()",
        "s.strip('x1')",
        "s[::2]",
        "s[1:9]",
        "s[-1]",
        "s + 'x'",
        "s ~ 'x'",
        "s * 2",
        "s == t",
        "s < t",
        "'y' in s",
        "s is upper",
        "s is match('y')",
        "s.encode('utf-32')",
        "s.startswith('y') or s.find('y')",
        "s|regex_search('y')",
        "s|list|length",
        "'%s' % s",
        "'{}'.format(s)",
        "s|replace('y', 'z')",
        "s|base64_encode",
        "[s]|string|length",
        "[s]|json|length",
        "[s]|yaml|length",
        "{s: 1}|length",
        "[s]|unique|list|length",
        "s.split('y')",
    ];
    let of_dict = [
        "d|dictsort|length",
        "d|list|length",
        "d.copy()|length",
        "d|to_entries|length",
        "d.items()|list|length",
        "d == dict(d)",
        "d|string|length",
        "d|json|length",
        "dict(d)|length",
        "d.pop(0, 1)",
        "d|sort|length",
        "d|max",
        "d|unique|list|length",
        "(d|list)[::-1]|length",
        "d|tojson|length",
    ];
    let mut free = Vec::new();
    for (start, operations) in [(text, &of_text[..]), (dict, &of_dict[..])] {
        for operation in operations {
            let template = format!(
                "{start}{{% set t = s ~ '' if s is defined else '' %}}\
                 {{% for i in range(4000) %}}{{% set x = {operation} %}}{{% endfor %}}"
            );
            let ended = render(Request {
                limits: FEW,
                ..request(&*template, &NoHost)
            })
            .map(|rendered| rendered.text);
            if !ended
                .as_ref()
                .is_err_and(|error| error.kind == ErrorKind::Limit)
            {
                free.push((operation, ended));
            }
        }
    }
    assert!(free.is_empty(), "these do not pay: {free:?}");
}

#[test]
fn what_looks_at_little_pays_little() {
    let start =
        "{% set s = 'x1' * 50000 %}{% set l = range(10000)|list %}{% set d = {}.fromkeys(l, 1) %}";
    let operations = [
        "d.get(5)",
        "d[5]",
        "l[5]",
        "l|length",
        "d|length",
        "l.append(1)",
        "d.setdefault(5, 1)",
        "l is defined",
        "d is mapping",
        "l is sequence",
        "l|first",
        "l|default(1) is sameas l",
        "5 in d",
        "s == 1",
        "l == 1",
        "d.items()",
        "s.startswith('x')",
        "l[5:9]",
        "l|map('string')",
        "d.update({1: 2})",
        "l.pop()",
        "not l",
        "l and d",
    ];
    for operation in operations {
        let template =
            format!("{start}{{% for i in range(2000) %}}{{% set x = {operation} %}}{{% endfor %}}");
        let limits = Limits {
            fuel: 300_000,
            ..Limits::default()
        };
        let done = render(Request {
            limits,
            ..request(template, &NoHost)
        });
        assert!(done.is_ok(), "{operation}: {:?}", done.map(|_| ()));
    }
}

#[test]
fn large_numbers_cost_their_length_squared() {
    for operation in [
        "n|string",
        "n ~ ''",
        "n * n",
        "n // 7",
        "n % 7",
        "'%d' % n",
        "[n]|string",
        "n|float",
        "2 ** 60000",
    ] {
        let template = format!(
            "{{% set n = 2 ** 60000 %}}\
             {{% for i in range(2000) %}}{{% set x = {operation} %}}{{% endfor %}}"
        );
        let result = render(Request {
            limits: FEW,
            ..request(template, &NoHost)
        });
        let error = result.unwrap_err();
        // Some are refused at once, as Python refuses them.
        let too_large =
            error.message.contains("too large") || error.message.starts_with("Exceeds the limit");
        assert!(
            error.kind == ErrorKind::Limit || too_large,
            "{operation}: {error}"
        );
    }
}

thread_local! {
    /// The number of bytes that the thread is said to hold.
    static HELD: std::cell::Cell<usize> = const { std::cell::Cell::new(7 << 20) };
}

#[test]
fn memory_is_measured_and_asked_for() {
    let limited = |template: &str| {
        let memory = MemoryLimit::new(4 << 20, || {
            HELD.set(HELD.get() + 10_000);
            HELD.get()
        });
        render(Request {
            limits: Limits {
                memory: Some(memory),
                ..Limits::default()
            },
            ..request(template, &NoHost)
        })
    };
    // Memory held before does not count, and requested memory does.
    assert!(limited("{{ ('x' * 2000000)|length }}").is_ok());
    for template in [
        "{{ ('x' * 5000000)|length }}",
        "{% set l = [] %}{% for i in range(99999) %}{% for i in range(99999) %}{% do l.append(i) %}{% endfor %}{% endfor %}",
        "{% set s = '[1,' * 200000 ~ '1' ~ ']' * 200000 %}{{ s|load_json }}",
    ] {
        let error = limited(template).unwrap_err();
        assert_eq!(
            error.message, "the template takes more than 4 MiB of memory",
            "{template}"
        );
        assert!(
            error.place.is_some() && error.help.unwrap().contains("more memory"),
            "{template}"
        );
    }
    let error =
        limited("{% set s = '[' ~ '1, ' * 60000 ~ '1]' %}{{ (s|load_yaml)|length }}").unwrap_err();
    assert!(error.message.contains("expands to more than"), "{error}");
}

#[test]
fn time_is_limited_where_there_is_a_limit() {
    let time = Some(Deadline::after(std::time::Duration::from_millis(1)));
    let limits = Limits {
        time,
        fuel: u64::MAX,
        ..Limits::default()
    };
    for template in [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% set l = range(99999)|list %}{% for i in l %}{% set x = l|sort %}{% endfor %}",
    ] {
        let error = render(Request {
            limits,
            ..request(template, &NoHost)
        })
        .unwrap_err();
        assert_eq!(error.message, "the template ran for more than 1ms");
        assert!(error.place.is_some() && error.help.unwrap().contains("more time"));
    }
}

/// A host whose only file extends itself.
struct Endless;

impl mapstack_salt_jinja::Host for Endless {
    fn template(&self, _: &str) -> mapstack_pyobject::Result<Option<std::sync::Arc<str>>> {
        Ok(Some(
            "{% extends 'self' %}{% block b %}{% endblock %}".into(),
        ))
    }

    fn has_function(&self, _: &str) -> bool {
        false
    }

    fn has_module(&self, _: &str) -> bool {
        false
    }

    fn call_function(
        &self,
        _: &mapstack_salt_jinja::Vm<'_>,
        _: &str,
        _: mapstack_pyobject::CallArgs,
    ) -> mapstack_pyobject::Result<mapstack_pyobject::Obj> {
        Ok(mapstack_pyobject::Obj::None)
    }

    fn log(&self, _: &str, _: &str) {}
}

#[test]
fn a_template_that_extends_itself_is_an_error() {
    let error = render(request("{% extends 'self' %}", &Endless)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Limit, "{error}");
    assert!(error.help.unwrap().contains("extends itself"));
}

/// Counts how many of it are alive.
struct Counted {
    _alive: std::rc::Rc<()>,
}

impl mapstack_pyobject::Object for Counted {
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
        let mut request = request(template, &NoHost);
        let object: mapstack_pyobject::Obj = mapstack_pyobject::Obj::native(Counted {
            _alive: alive.clone(),
        });
        request.variables.insert("x".into(), object);
        drop(render(request).unwrap());
        assert_eq!(std::rc::Rc::strong_count(&alive), 1, "{template}");
    }
}

#[test]
fn containers_that_hold_themselves_are_freed() {
    let alive = std::rc::Rc::new(());
    let templates = [
        "{% set l = [x] %}{% do l.append(l) %}",
        "{% set d = {'x': x} %}{% do d.update(d=[d]) %}",
        "{% set d = {'x': x} %}{% set l = [(d,)] %}{% do d.update(l=l) %}",
        "{% set ns = namespace(x=x) %}{% set ns.l = [ns] %}",
        "{% for i in range(3) %}{% set a = [x] %}{% set b = [a] %}{% do a.append(b) %}{% endfor %}",
        "{% set l = [x] %}{% macro m() %}{{ l }}{% endmacro %}{% do l.append(m) %}{% do l.append(l) %}",
    ];
    for template in templates {
        let sweep = mapstack_pyobject::Sweep::default();
        let object = mapstack_pyobject::Obj::native(Counted {
            _alive: alive.clone(),
        });
        let kept = mapstack_pyobject::Obj::list([]);
        let mut request = request(format!("{template}{{% do kept.append([kept]) %}}"), &NoHost);
        request.variables.insert("x".into(), object);
        request.variables.insert("kept".into(), kept.clone());
        drop(render(request).unwrap());
        drop(sweep);
        assert_eq!(std::rc::Rc::strong_count(&alive), 1, "{template}");
        // Objects that are still in use are left alone.
        assert_eq!(format!("{kept:?}"), "[[[...]]]");
    }
}
