//! Python modules, the sandbox and its limits.

use std::time::Duration;

use mapstack_render::mako;
use mapstack_render::sandbox::{Host, Limits, NoHost, Request, Source, run};
use mapstack_render::{Error, ErrorKind, Result};
use mapstack_value::{Str, Value};

fn rendered(template: &str) -> Result<String> {
    let mut request = mako::Request::new(template, &NoHost);
    request.limits =
        Limits { fuel: 20_000, output: 1 << 20, depth: 300, time: Duration::from_secs(20), memory: 1 << 30 };
    mako::render(request).map(|rendered| rendered.text)
}

#[test]
fn modules_and_builtins_that_reach_outside_are_refused() {
    let sources = [
        "${open('/etc/passwd').read()}",
        "<% import os %>${os.environ}",
        "<% import os %>${os.system('id')}",
        "<% import os %>${os.path.exists('/')}",
        "<% import sys %>",
        "<% import subprocess %>",
        "<% import socket %>",
        "<% import ctypes %>",
        "<% import importlib %>",
        "<% import builtins %>",
        "<% import io %>",
        "<% from os import system %>",
        "<% import json.decoder %>",
        "<% import collections, sys %>",
        "${__import__('os').popen('id')}",
        "${__import__('sys').modules}",
        "${input()}",
        "${breakpoint()}",
        "${exit()}",
        "${compile('1', 'x', 'eval')}",
        "${eval(\"__import__('subprocess')\")}",
        "<% exec('import socket') %>",
        "${().__class__.__base__.__subclasses__()}",
        "${getattr(object, '__subclasses__')()}",
        "${(lambda: 0).__globals__}",
        "${getattr(lambda: 0, '__glo' + 'bals__')}",
        "${(lambda: 0).__code__}",
        "${print.__self__}",
        "${__builtins__}",
        "<%! __builtins__ = {} %>",
        "<%! import json as __builtins__ %>",
        "${(x for x in ()).gi_frame}",
        "<%\ntry:\n    1/0\nexcept Exception as e:\n    f = e.__traceback__.tb_frame\n%>",
        "${'{0.__globals__}'.format(lambda: 0)}",
        "<% import operator %>${operator.attrgetter('__globals__')(lambda: 0)}",
        "<% import string %>${string.Formatter().format('{0.__globals__}', lambda: 0)}",
        "<% import functools %>${functools.wraps(lambda: 0, assigned=('__globals__',))(lambda: 0)}",
        "${type(lambda: 0).__dict__['__globals__']}",
        "${vars(type(lambda: 0))}",
        "<%! class M(type):\n    pass\n%>",
        "<%! class C(metaclass=type('M', (type,), {})):\n    pass\n%>",
        "${eval('(lambda: 0).__globals__')}",
        "${(lambda: 0).__ｇlobals__}",
        "<% import re %>${re.enum}",
        "<% import json %>${json.decoder}",
        "<% import json %>${json.load}",
        "<% import random %>${random._os}",
        "<% import datetime %>${datetime.sys}",
        "<%namespace name=\"n\" module=\"os.path\"/>${n.exists()}",
        "<%namespace name=\"n\" module=\"sys\"/>${n.path}",
        "<% from os.path import os %>${os.sep.nope}",
        "<%! import mako.template %>",
        "<%! from mako.lookup import TemplateLookup %>",
        "<%! x = runtime.Namespace.__init__.__globals__ %>",
        "<%! x = filters.html_escape.__globals__ %>",
        "${capture.func.__globals__}",
        "${f'{1:{10**9}}'}",
        "${self.template.callable_.__globals__}",
        "${local.template._get('__builtins__')['len']}",
        "${self.context._with_template._get('_mk').look_up}",
        "${globals()['__builtins__']}",
        "<% import random %>${random.SystemRandom().random()}",
        "<% import time %>${time.sleep(1)}",
        "<% match (lambda: 0):\n  case object(__globals__=g): x = g\n%>${x}",
    ];
    let reached: Vec<_> = sources.iter().filter_map(|source| Some((source, rendered(source).ok()?))).collect();
    assert!(reached.is_empty(), "{reached:#?}");
    let error = rendered("a\n<% import subprocess %>").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Security);
    assert!(error.message.contains("'subprocess'"), "{error}");
    assert_eq!(error.place.as_ref().map(mapstack_render::Place::line), Some(2));
}

#[test]
fn no_module_is_reachable_that_is_not_offered() {
    let template = "<%
import base64, bisect, calendar, collections, collections.abc, copy, datetime, functools, hashlib, heapq, ipaddress
import itertools, json, math, operator, os, os.path, random, re, string, textwrap, time
kind = type(json)
seen = []
for module in (base64, bisect, calendar, collections, collections.abc, copy, datetime, functools, hashlib, heapq,
               ipaddress, itertools, json, math, operator, os, os.path, random, re, string, textwrap, time):
    for name in dir(module):
        value = getattr(module, name)
        if isinstance(value, kind):
            seen.append(module.__name__ + '.' + name)
        for inner in dir(value):
            try:
                if isinstance(getattr(value, inner), kind):
                    seen.append(module.__name__ + '.' + name + '.' + inner)
            except Exception:
                pass
%>${sorted(seen)}";
    let mut request = mako::Request::new(template, &NoHost);
    request.limits.time = Duration::from_secs(60);
    let text = mako::render(request).unwrap().text;
    assert!(text.starts_with("['collections.abc', 'os.path'"), "{text}");
    assert!(text.split(", ").all(|name| name.contains("collections.abc") || name.contains("os.path")), "{text}");
}

#[test]
fn no_template_changes_what_the_next_one_sees() {
    // What one template does, and what another finds afterwards.
    let table = [
        ("<% import json\njson.dumps = lambda value: 'changed' %>", "<% import json %>${json.dumps(1)}", "1"),
        ("<% import math\nmath.x = 1 %>", "<% import math %>${hasattr(math, 'x')}", "False"),
        ("<% import os.path\nos.path.join = None %>", "<% import os.path %>${os.path.join('a', 'b')}", "a/b"),
        ("<% b = local.template._get('__builtins__')\nb['len'] = None %>", "${len('ab')}", "2"),
        ("<% globals()['UNDEFINED'] = 1 %>", "${bool(UNDEFINED)}", "False"),
        ("<%! kept = [1] %><% kept.append(2) %>", "${context.get('kept', 'none')}", "none"),
        ("<% type(context).get = lambda *args: 'changed' %>", "${context.get('nosuch', 'none')}", "none"),
        ("<% del type(context).get %>", "${context.get('nosuch', 'none')}", "none"),
        ("<% type(self).name = 'changed' %>", "${self.name}", "self:memory:template"),
        ("<% setattr(type(loop), '_enter', None) %>", "% for x in [1]:\n${loop.index}\n% endfor\n", "0\n"),
        ("<%! runtime.capture = None %>", "<%! x = runtime.capture %>${capture(lambda: context.write('c'))}", "c"),
        ("<%! runtime.Namespace.module = 1 %>", "${self.module is UNDEFINED}", "False"),
        ("<%! type(UNDEFINED).__bool__ = lambda self: True %>", "${UNDEFINED or 'none'}", "none"),
        ("<% len = None %>", "${len('ab')}", "2"),
        ("<% import functools\nfunctools.partial = None %>", "${capture(lambda: context.write('c'))}", "c"),
    ];
    for (first, then, expected) in table {
        // Whether the first one is refused or works on a copy does not matter.
        let _ = rendered(first);
        assert_eq!(rendered(then).unwrap(), expected, "after {first}");
    }
}

#[test]
fn everything_ends() {
    let sources = [
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
        "% for x in range(10**6):\n0123456789\n% endfor\n",
        "${eval('[0 for _ in iter(int, 1)]')}",
        "<% exec('while True: pass') %>",
        "<%! while True: pass %>",
        "${list(range(10**12))}",
        "${2**2**2**2**2**2}",
        "${[[y for y in range(10**5)] for x in range(10**5)]}",
        "${'%*d' % (10**9, 1)}",
        "<% x = [1]\nfor i in x:\n    x.append(i)\n%>",
        "<%\ndef g():\n    while True: yield 1\n%>${list(g())}",
        "<%\ndef g():\n    while True: yield 1\n%>${2 in g()}",
        "<%\ndef g():\n    while True: yield 1\na, *b = g()\n%>",
    ];
    for source in sources {
        let error = rendered(source).map(|text| text.len()).expect_err(source);
        assert!(error.kind == ErrorKind::Limit, "{source}: {:?} {error}", error.kind);
    }
    for source in [
        "<%def name=\"f()\">${f()}</%def>${f()}",
        "<% f = lambda: f() %>${f()}",
        "<%\nx = []\nfor _ in range(9000):\n    x = [x]\n%>${x == [x]}${repr(x)}",
    ] {
        let error = rendered(source).expect_err(source);
        assert_eq!(error.kind, ErrorKind::Code("RecursionError"), "{source}: {error}");
    }
    // The interpreter is as good as new.
    assert_eq!(rendered("${1 + 1}").unwrap(), "2");
}

#[test]
fn errors_tell_the_way() {
    let error = rendered("a\n<%def name=\"f()\">\n${1/0}\n</%def>\n\n${f()}").unwrap_err();
    assert_eq!(error.message, "ZeroDivisionError: division by zero");
    assert_eq!(error.place.as_ref().map(|place| (place.line(), place.column())), Some((3, 1)));
    assert!(error.trace.iter().any(|frame| frame.place.line() == 6), "{:?}", error.trace);
    let error = rendered("x\n${missing}").unwrap_err();
    assert_eq!((error.kind, error.place.map(|place| place.line())), (ErrorKind::Code("NameError"), Some(2)));
}

#[test]
fn prints_what_came_from_where() {
    let mut request = mako::Request::new("a: ${1 + 1}\nb: c\n", &NoHost);
    request.name = Some("t".into());
    let rendered = mako::render(request).unwrap();
    assert_eq!(rendered.text, "a: 2\nb: c\n");
    let place = |offset: usize| rendered.locate(offset).map(|place| (place.line(), place.column()));
    assert_eq!([place(0), place(3), place(8)], [Some((1, 1)), Some((1, 4)), Some((2, 4))]);
}

struct Echo;

impl Host for Echo {
    fn template(&self, _: &str) -> Result<Option<Source>> {
        Ok(None)
    }

    fn has_function(&self, name: &str) -> bool {
        name.starts_with("test.")
    }

    fn has_module(&self, module: &str) -> bool {
        module == "test"
    }

    fn call(&self, name: &str, arguments: Vec<Value>, keywords: Vec<(Str, Value)>) -> Result<Value> {
        match name {
            "test.echo" => Ok(arguments.into_iter().next().unwrap_or_default()),
            // A render inside of a render.
            "test.nested" => mako::render(mako::Request::new("${6 * 7}", self)).map(|r| Value::from(r.text.as_str())),
            _ => Err(Error::new(ErrorKind::Salt, format!("{name} failed with {} keywords", keywords.len()))),
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
    for (template, kind) in
        [("\n${salt['test.fail'](x=1)}", ErrorKind::Salt), ("\n${salt['nope.nope']()}", ErrorKind::Code("KeyError"))]
    {
        let mut request = mako::Request::new(template, &Echo);
        request.functions = vec!["salt".into()];
        let error = mako::render(request).unwrap_err();
        assert_eq!((error.kind, error.place.map(|place| place.line())), (kind, Some(2)));
    }
}

#[test]
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
        ("from math import *\ndef run():\n    return floor(2.5)\n", "2"),
        ("def run():\n    return __salt__['test.echo'](10**30)\n", "1000000000000000000000000000000"),
        ("import datetime\ndef run():\n    return datetime.date(2020, 1, 2)\n", "'2020-01-02'"),
    ] {
        let mut request = Request::new(source, &Echo);
        request.variables = vec![("__grains__".into(), Value::Map([("id", "m")].into_iter().collect()))];
        assert_eq!(run(&request).unwrap().repr(), expected, "{source}");
    }
    for (source, kind, line) in [
        ("x = 1\n", ErrorKind::Code("AttributeError"), None),
        ("def run(:\n", ErrorKind::Code("SyntaxError"), Some(1)),
        ("def run():\n    return nope\n", ErrorKind::Code("NameError"), Some(2)),
        ("X = __grains__\ndef run():\n    return 1\n", ErrorKind::Code("NameError"), Some(1)),
        ("def run():\n    return run\n", ErrorKind::Code("TypeError"), Some(1)),
        ("import socket\n", ErrorKind::Security, Some(1)),
    ] {
        let error = run(&Request::new(source, &NoHost)).unwrap_err();
        assert_eq!((error.kind, error.place.map(|place| place.line())), (kind, line), "{source}");
    }
}
