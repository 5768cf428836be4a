//! Python modules, the sandbox and its limits.

use std::time::Duration;

use mapstack_pyobject::{Error, ErrorKind, Result};
use mapstack_sandbox::{Host, Limits, NoHost, Request, TemplateSource, mako, run};
use mapstack_value::{Str, Value};

fn rendered(template: &str) -> Result<String> {
    let mut request = mako::Request::new(template, &NoHost);
    request.limits = Limits {
        fuel: 20_000,
        output: 1 << 20,
        depth: 300,
        time: Duration::from_secs(1),
        memory: 128 << 20,
    };
    mako::render(request).map(|rendered| rendered.text)
}

/// Check that an endless source ends, in time and in memory.
fn assert_ends(source: &str) {
    let error = rendered(source).map(|text| text.len()).expect_err(source);
    let bounded = [
        ErrorKind::Limit,
        ErrorKind::Code("MemoryError"),
        ErrorKind::Code("OverflowError"),
    ];
    assert!(
        bounded.contains(&error.kind),
        "{source}: {:?} {error}",
        error.kind
    );
}

#[test]
fn what_loops_ends() {
    for source in [
        "<%\nwhile True:\n    pass\n%>",
        "% while True:\n% endwhile\n",
        "<%\nwhile True:\n    try:\n        while True: pass\n    except: pass\n%>",
        "<%\ntry:\n    while True: pass\nexcept BaseException:\n    pass\n%>swallowed",
        "<%\nfor x in iter(int, 1):\n    pass\n%>",
        "${[0 for _ in range(10) for _ in iter(int, 1)]}",
        "${sum(range(10**12))}",
        "<% import itertools %>${list(itertools.count())}",
        "<% import itertools %>${sum(itertools.repeat(1))}",
        "<% import ipaddress %>${list(ipaddress.ip_network('::/0').hosts())}",
        "<% import functools %>${functools.reduce(lambda a, b: a, iter(int, 1))}",
        "<% f = lambda n: f(n - 1) + f(n - 1) if n else 0 %>${f(60)}",
        "% for x in range(10**6):\n0123456789\n% endfor\n",
        "${eval('[0 for _ in iter(int, 1)]')}",
        "<% exec('while True: pass') %>",
        "<%! while True: pass %>",
        "${list(range(10**12))}",
        "<%\ndef g():\n    while True: yield 1\n%>${list(g())}",
        "<%\ndef g():\n    while True: yield 1\n%>${2 in g()}",
        "<%\ndef g():\n    while True: yield 1\na, *b = g()\n%>",
    ] {
        assert_ends(source);
    }
    assert_is_as_good_as_new();
}

#[test]
fn what_grows_ends() {
    for source in [
        "${'x' * 10**10}",
        "${10**10**8}",
        "${1 << 10**10}",
        "<% x = 'x' * 1000\nfor _ in range(60):\n    x += x\n%>",
        "<% x = [0] * 1000\nfor _ in range(60):\n    x.extend(x)\n%>",
        "<% x = [0] * 1000\nfor _ in range(60):\n    x = [*x, *x]\n%>",
        "<% x = 'x' * 1000\nfor _ in range(60):\n    x = f'{x}{x}'\n%>",
        "<% x = 'x' * 1000\nfor _ in range(60):\n    x = '%s%s' % (x, x)\n%>",
        "<% x = 'x' * 1000\nfor _ in range(60):\n    x = ''.join([x, x])\n%>",
        "<% x = 'x' * 1000\nfor _ in range(60):\n    x = '{0}{0}'.format(x)\n%>",
        "<% x = 'x' * 1000\nfor _ in range(60):\n    x = x.replace('x', 'xx')\n%>",
        "<% x = 3\nfor _ in range(60):\n    x *= x\n%>",
        "<% x = []\nfor _ in range(60):\n    x = [x, x]\n%>${x}",
        "${'%1000000000d' % 1}",
        "${'{:1000000000}'.format(1)}",
        "${format(1, '1000000000')}",
        "${'x'.ljust(10**11)}",
        "${bytes(10**12)}",
        "${[[y for y in range(10**5)] for x in range(10**5)]}",
        "${'%*d' % (10**9, 1)}",
        "<% x = [1]\nfor i in x:\n    x.append(i)\n%>",
    ] {
        assert_ends(source);
    }
    assert_is_as_good_as_new();
}

#[test]
fn what_calls_itself_ends() {
    for source in [
        "<%def name=\"f()\">${f()}</%def>${f()}",
        "<% f = lambda: f() %>${f()}",
        "<%\nx = []\nfor _ in range(9000):\n    x = [x]\n%>${x == [x]}${repr(x)}",
    ] {
        let error = rendered(source).expect_err(source);
        assert_eq!(
            error.kind,
            ErrorKind::Code("RecursionError"),
            "{source}: {error}"
        );
    }
    assert_is_as_good_as_new();
}

/// The interpreter of this thread is.
fn assert_is_as_good_as_new() {
    assert_eq!(rendered("${1 + 1}").unwrap(), "2");
}

#[test]
fn errors_tell_the_way() {
    let error = rendered("a\n<%def name=\"f()\">\n${1/0}\n</%def>\n\n${f()}").unwrap_err();
    assert_eq!(error.message, "ZeroDivisionError: division by zero");
    assert_eq!(
        error
            .place
            .as_ref()
            .map(|place| (place.line(), place.column())),
        Some((3, 1))
    );
    assert!(
        error.trace.iter().any(|frame| frame.place.line() == 6),
        "{:?}",
        error.trace
    );
    let error = rendered("x\n${missing}").unwrap_err();
    assert_eq!(
        (error.kind, error.place.map(|place| place.line())),
        (ErrorKind::Code("NameError"), Some(2))
    );
}

#[test]
fn prints_what_came_from_where() {
    let mut request = mako::Request::new("a: ${1 + 1}\nb: c\n", &NoHost);
    request.name = Some("t".into());
    let rendered = mako::render(request).unwrap();
    assert_eq!(rendered.text, "a: 2\nb: c\n");
    let place = |offset: usize| {
        rendered
            .locate(offset)
            .map(|place| (place.line(), place.column()))
    };
    assert_eq!(
        [place(0), place(3), place(8)],
        [Some((1, 1)), Some((1, 4)), Some((2, 4))]
    );
}

struct Echo;

impl Host for Echo {
    fn template(&self, _: &str) -> Result<Option<TemplateSource>> {
        Ok(None)
    }

    fn has_function(&self, name: &str) -> bool {
        name.starts_with("test.")
    }

    fn has_module(&self, module: &str) -> bool {
        module == "test"
    }

    fn call(
        &self,
        name: &str,
        arguments: Vec<Value>,
        keywords: Vec<(Str, Value)>,
    ) -> Result<Value> {
        match name {
            "test.echo" => Ok(arguments.into_iter().next().unwrap_or_default()),
            // A render inside of a render.
            "test.nested" => mako::render(mako::Request::new("${6 * 7}", self))
                .map(|r| Value::from(r.text.as_str())),
            _ => Err(Error::new(
                ErrorKind::Salt,
                format!("{name} failed with {} keywords", keywords.len()),
            )),
        }
    }
}

#[test]
fn functions_of_the_minion_and_changed_data() {
    let mut request = mako::Request::new(
        "${salt['test.echo']({'a': (1, None)})} ${salt.test.echo(2)} ${salt['test.nested']()}<% stack['b'] = [1.5] %>",
        &Echo,
    );
    request.functions = vec!["salt".into()];
    request.variables = vec![("stack".into(), Value::map())];
    request.changed = vec!["stack".into()];
    let rendered = mako::render(request).unwrap();
    assert_eq!(rendered.text, "{'a': (1, None)} 2 42");
    assert_eq!(rendered.changed[0].1.repr(), "{'b': [1.5]}");
    for (template, kind) in [
        ("\n${salt['test.fail'](x=1)}", ErrorKind::Salt),
        ("\n${salt['nope.nope']()}", ErrorKind::Code("KeyError")),
    ] {
        let mut request = mako::Request::new(template, &Echo);
        request.functions = vec!["salt".into()];
        let error = mako::render(request).unwrap_err();
        assert_eq!(
            (error.kind, error.place.map(|place| place.line())),
            (kind, Some(2))
        );
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one row for each kind of module")]
fn modules_run() {
    for (source, expected) in [
        (
            "def run():\n    return {'a': [1, 2.5, None, True, 'x'], 'b': (1,)}\n",
            "{'a': [1, 2.5, None, True, 'x'], 'b': (1,)}",
        ),
        (
            "import re\nX = 1\ndef run():\n    return {'x': X, 'y': re.sub('a', 'b', 'aa'), 'g': __grains__['id']}\n",
            "{'x': 1, 'y': 'bb', 'g': 'm'}",
        ),
        (
            "from math import *\ndef run():\n    return floor(2.5)\n",
            "2",
        ),
        (
            "def run():\n    return __salt__['test.echo'](10**30)\n",
            "1000000000000000000000000000000",
        ),
        (
            "import datetime\ndef run():\n    return datetime.date(2020, 1, 2)\n",
            "'2020-01-02'",
        ),
    ] {
        let mut request = Request::new(source, &Echo);
        request.variables = vec![(
            "__grains__".into(),
            Value::Map([("id", "m")].into_iter().collect()),
        )];
        assert_eq!(run(&request).unwrap().repr(), expected, "{source}");
    }
    for (source, kind, line) in [
        ("x = 1\n", ErrorKind::Code("AttributeError"), Some(1)),
        ("def run(:\n", ErrorKind::Code("SyntaxError"), Some(1)),
        (
            "def run():\n    return nope\n",
            ErrorKind::Code("NameError"),
            Some(2),
        ),
        (
            "X = __grains__\ndef run():\n    return 1\n",
            ErrorKind::Code("NameError"),
            Some(1),
        ),
        (
            "def run():\n    return run\n",
            ErrorKind::Code("TypeError"),
            Some(1),
        ),
        (
            "import socket\ndef run():\n    return socket.gethostname()\n",
            ErrorKind::Undefined,
            Some(3),
        ),
        (
            "def run():\n    return open('x')\n",
            ErrorKind::Undefined,
            Some(2),
        ),
        // No handler hides what is not known.
        (
            "try:\n    import boto3\nexcept ImportError:\n    boto3 = None\ndef run():\n    try:\n        return boto3.x()\n    except Exception:\n        return 1\n",
            ErrorKind::Undefined,
            Some(2),
        ),
    ] {
        let error = run(&Request::new(source, &NoHost)).unwrap_err();
        assert_eq!(
            (error.kind, error.place.map(|place| place.line())),
            (kind, line),
            "{source}"
        );
    }
}
