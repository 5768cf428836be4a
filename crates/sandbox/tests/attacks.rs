//! A template tries to get out, to bring the interpreter down, or to take all memory and time: it fails alone, at once,
//! and the next one finds everything as it was.

use std::time::{Duration, Instant};

use mapstack_pyobject::{Error, ErrorKind};
use mapstack_sandbox::{Host, Limits, NoHost, Request, TemplateSource, mako, run};
use mapstack_value::{Str, Value};

/// Small enough that what has no end is over soon.
fn limits() -> Limits {
    Limits {
        fuel: 200_000,
        output: 1 << 20,
        depth: 300,
        time: Duration::from_secs(1),
        memory: 128 << 20,
    }
}

fn rendered(template: &str) -> Result<String, Box<Error>> {
    let mut request = mako::Request::new(template, &NoHost);
    request.limits = limits();
    request.name = Some("attack.mako".into());
    mako::render(request).map(|rendered| rendered.text)
}

/// A module that finds Python's own builtins from data, by what library code looks up without asking.
const FIND_BUILTINS: &str = "
import string
class Formatter(string.Formatter):
    pass
get_field = string.Formatter.__mro__[1].__subclasses__ and string.Formatter.get_field
globals_of = lambda function: string.Formatter().get_field('0.__globals__', (function,), {})[0]
import json
found = globals_of(json.dumps)['__builtins__']
found = found if isinstance(found, dict) else vars(found)
";

#[test]
fn what_leads_out_of_the_interpreter_leads_nowhere() {
    // The interpreter hides nothing, and what it shows gives no access.
    let module = |body: &str| format!("{FIND_BUILTINS}\ndef run():\n{body}");
    let read = |source: String| {
        let mut request = Request::new(&source, &NoHost);
        request.limits = limits();
        run(&request)
    };
    let found = read(module("    return 'len' in found\n")).unwrap();
    assert_eq!(
        found.repr(),
        "True",
        "the way to the builtins is open, so the rest of the test means something"
    );
    for body in [
        "    return found['open']('/etc/passwd').read()\n",
        "    import io\n    return io.open('/etc/passwd').read()\n",
        "    import io\n    return io.FileIO('/etc/passwd').read()\n",
        "    import _io\n    return _io.open_code('/etc/passwd').read()\n",
        "    import posix\n    return posix.open('/etc/passwd', 0)\n",
        "    import os\n    return os.open('/etc/passwd', 0)\n",
        "    import os\n    return os.system('id')\n",
        "    import subprocess\n    return subprocess.run(['id'])\n",
        "    import socket\n    return socket.socket().fileno()\n",
        "    import _socket\n    return _socket.socket().fileno()\n",
        "    import ctypes\n    return ctypes.CDLL(None).getpid()\n",
        "    import _posixsubprocess\n    return str(_posixsubprocess)\n",
        "    import mmap\n    return len(mmap.mmap(-1, 10))\n",
        "    import signal\n    return signal.raise_signal(9)\n",
        "    import sys\n    return sys.stdin.read()\n",
    ] {
        let read = read(module(body));
        assert!(
            read.is_err(),
            "{body}: {:?}",
            read.map(|value| value.repr())
        );
    }
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one row for each thing that a template can leave behind"
)]
fn nothing_passes_from_one_render_to_the_next() {
    // A template's attack, and what another template finds afterwards.
    let table = [
        (
            "<% import json\njson.dumps = lambda value: 'changed' %>",
            "<% import json %>${json.dumps(1)}",
            "1",
        ),
        (
            "<% import math\nmath.x = 1 %>",
            "<% import math %>${hasattr(math, 'x')}",
            "False",
        ),
        (
            "<% import os.path\nos.path.join = None %>",
            "<% import os.path %>${os.path.join('a', 'b')}",
            "a/b",
        ),
        (
            "<% import builtins\nbuiltins.len = lambda x: 7 %>",
            "${len('ab')}",
            "2",
        ),
        (
            "<% import sys\nsys.modules['json'] = None %>",
            "<% import json %>${json.dumps(1)}",
            "1",
        ),
        (
            "<% import sys\nsys.kept = ['secret'] %>",
            "<% import sys %>${hasattr(sys, 'kept')}",
            "False",
        ),
        (
            "<% import sys\nsys.setrecursionlimit(50) %>",
            "${(lambda f: f(f, 100))(lambda f, n: n and f(f, n - 1))}",
            "0",
        ),
        ("<% __builtins__['len'] = None %>", "${len('ab')}", "2"),
        (
            "<% type(context).get = lambda *args: 'changed' %>",
            "${context.get('nosuch', 'none')}",
            "none",
        ),
        (
            "<% type(self).name = 'changed' %>",
            "${self.name}",
            "self:memory:template",
        ),
        (
            "<% setattr(type(loop), '_enter', None) %>",
            "% for x in [1]:\n${loop.index}\n% endfor\n",
            "0\n",
        ),
        (
            "<%! runtime.capture = None %>",
            "${capture(lambda: context.write('c'))}",
            "c",
        ),
        (
            "<%! type(UNDEFINED).__bool__ = lambda self: True %>",
            "<% x = UNDEFINED %>${x or 'none'}",
            "none",
        ),
        (
            "<% import functools\nfunctools.partial = None %>",
            "${capture(lambda: context.write('c'))}",
            "c",
        ),
        (
            "<% import collections\ncollections.OrderedDict.x = 1 %>",
            "<% import collections %>${hasattr(collections.OrderedDict, 'x')}",
            "False",
        ),
        (
            "<% import gc\nx = [o for o in gc.get_objects() if isinstance(o, dict)]\nfor d in x:\n    d.clear() %>",
            "${1 + 1}",
            "2",
        ),
        ("<% (lambda: 0).__globals__.clear() %>", "${1 + 1}", "2"),
    ];
    for (first, then, expected) in table {
        // The outcome of the first does not matter.
        let _ = rendered(first);
        assert_eq!(rendered(then).unwrap(), expected, "after {first}");
    }
}

#[test]
fn random_bytecode_harms_its_own_render_alone() {
    let source = "
import random
def f(a, b=(1, 'x'), *c, **d):
    for x in c:
        try:
            a = [a, b, x, {**d}]
        except ValueError as e:
            yield e
    return (lambda: a)()
def run():
    random.seed(SEED)
    code = f.__code__
    for _ in range(20):
        bytes_ = bytearray(code.co_code)
        for _ in range(6):
            bytes_[random.randrange(len(bytes_))] = random.randrange(256)
        g = type(f)(code.replace(co_code=bytes(bytes_)), globals())
        try:
            list(g(1, 2, 3, k=4))
        except BaseException:
            pass
    return 'ran'
";
    let started = Instant::now();
    let mut ends = [0; 2];
    for seed in 0..11 {
        let source = source.replace("SEED", &seed.to_string());
        let mut request = Request::new(&source, &NoHost);
        request.limits = limits();
        let ran = run(&request);
        ends[usize::from(ran.is_err())] += 1;
        assert_eq!(rendered("${6 * 7}").unwrap(), "42", "after {seed}: {ran:?}");
    }
    assert!(
        ends[1] > 0,
        "no variant did harm in {:?}, so this shows nothing",
        started.elapsed()
    );
}

#[test]
fn what_brings_the_interpreter_down_is_an_error_of_its_template() {
    let deep = |open: &str, close: &str, times: usize| {
        format!("${{{}1{}}}", open.repeat(times), close.repeat(times))
    };
    for (source, what) in [
        ("${eval('(' * 150000)}".to_owned(), "eval"),
        (
            "${eval('[' * 150000 + ']' * 150000)}".to_owned(),
            "a literal in eval",
        ),
        (deep("(", ")", 400_000), "brackets"),
        (deep("[", "]", 100_000), "lists"),
        (deep("-", "", 200_000), "signs"),
        (deep("{1:", "}", 100_000), "dicts"),
        (
            format!("<% x = {} %>", "lambda: ".repeat(100_000) + "1"),
            "lambdas",
        ),
        (
            format!(
                "<% match 1:\n  case {}: pass\n%>",
                "[".repeat(3_000) + &"]".repeat(3_000)
            ),
            "patterns",
        ),
        (
            "<%def name=\"f()\">".repeat(5_000) + &"</%def>".repeat(5_000),
            "tags",
        ),
    ] {
        fails_soon(&source, what);
    }
}

#[test]
fn memory_is_bounded() {
    for source in [
        "<% import collections %>${len(collections.UserList([0]) * 10**15)}",
        "<% import collections %>${len(collections.UserString('x').center(10**16))}",
        "<% import calendar %>${len(calendar.TextCalendar().formatday(1, 1, 10**16))}",
        "<% import json %>${len(json.dumps([1], indent=10**16))}",
        "<% import collections %>${len(collections.deque([0] * 1000) * 10**8)}",
        "${len(sum([[0] * 8_000_000] * 60, []))}",
        "<% import collections %>${len(list(collections.Counter({'a': 10**12}).elements()))}",
        "<% match 'x':\n  case str(center=c): x = c(3_000_000_000)\n%>",
        "${len('x' * 10**10)}",
        "${len(bytes(10**12))}",
        "${1 << 10**11}",
        "${len(list(range(10**12)))}",
        "<% x = 'x' * 1000\nfor _ in range(60):\n    x += x\n%>",
        "<% x = [0] * 1000\nfor _ in range(60):\n    x = [*x, *x]\n%>",
        "${'%1000000000000d' % 1}",
        "${'{:100000000000}'.format(1)}",
        "<% x = []\nfor _ in range(60):\n    x = [x, x]\n%>${x}",
        "<% kept = []\nfor n in range(100_000):\n    kept.append('x' * 100_000 + str(n))\n%>",
    ] {
        fails_in_its_second_line(source, source);
    }
}

#[test]
fn time_is_bounded() {
    for source in [
        "${sum(range(10**12))}".to_owned(),
        "<% import itertools %>${sum(itertools.repeat(1))}".to_owned(),
        "<% import re %>${re.match('(a*)*b', 'a' * 40)}".to_owned(),
        "<% import time\ntime.sleep(1000) %>".to_owned(),
        "${10**10**9}".to_owned(),
        "<%\ntry:\n    while True: pass\nexcept BaseException:\n    pass\n%>swallowed".to_owned(),
        "${eval('[0 for _ in iter(int, 1)]')}".to_owned(),
        "<% exec('while True: pass') %>".to_owned(),
    ] {
        fails_in_its_second_line(&source, &source);
    }
    for source in [
        // Compiling takes its time, too.
        "${1}".repeat(200_000),
        "% if 1:\n".repeat(50_000) + &"% endif\n".repeat(50_000),
        format!("${{[0 {}]}}", "for x in x ".repeat(80_000)),
    ] {
        fails_soon(&source, &source[..source.len().min(60)]);
    }
}

#[test]
fn a_text_that_doubles_with_each_level_takes_the_steps_of_its_parts() {
    let shared = "<% import json\nx = []\nfor _ in range(60):\n    x = [x, x]\n%>";
    for printing in [
        "${x}",
        "${x | h}",
        "${x | entity}",
        "${str(x)}",
        "${repr([x])}",
        "${ascii((x,))}",
        "${f'{x}'}",
        "${f'{1:{len(f\"{x!r}\")}}'}",
        "${format(x)}",
        "${'%s' % x}",
        "${'%(a)r' % {'a': x}}",
        "${'{}'.format(x)}",
        "${'{}'.format(*[x])}",
        "${'{a}'.format(a={'a': x})}",
        "${json.dumps(x)}",
        "<% text = str(x) %>",
    ] {
        let error = fails_in_its_second_line(&format!("{shared}{printing}"), printing);
        assert!(
            error.message.contains("ran for too many steps"),
            "{printing}: {error}"
        );
    }
    // A value that is shared a little costs a little, and one that is not shared costs nothing.
    let mut request = mako::Request::new(
        "<% x = [['a'] * 9] * 9 %>${x}${str([n for n in (1, 2)])}${'%s' % 'x'}",
        &NoHost,
    );
    request.limits = Limits {
        fuel: 100,
        ..limits()
    };
    let text = mako::render(request).unwrap().text;
    assert!(text.ends_with("[1, 2]x"), "{text}");
}

/// If the interpreter ends while the template runs, the error is at the line that it had reached.
fn fails_in_its_second_line(source: &str, what: &str) -> Error {
    const FIRST: &str = "${1 + 1}\n";
    let error = fails_soon(&format!("{FIRST}{source}\n${{1 + 1}}\n"), what);
    let start = error.place.as_ref().map_or(0, |place| place.span.start) as usize;
    assert!(
        (FIRST.len()..FIRST.len() + source.len()).contains(&start),
        "{what}: at {start}: {}",
        error.message
    );
    error
}

#[test]
fn what_runs_around_a_template_is_not_a_statement_of_its_text() {
    let source =
        "<% context.caller_stack._pop_frame = lambda: sum(range(10**12)) %>\n${1 + 1}\nlast\n";
    let error = fails_soon(source, "the end of its frame");
    assert_eq!(error.place.unwrap().line(), 2, "{}", error.message);
}

#[test]
fn what_was_included_is_named_where_it_ends_the_process() {
    struct Files;
    impl Host for Files {
        fn template(&self, uri: &str) -> mapstack_pyobject::Result<Option<TemplateSource>> {
            Ok(Some(TemplateSource {
                name: uri.into(),
                text: "a\n<% y = 'x' %>\n${y * 10**10}\n".into(),
            }))
        }
        fn has_function(&self, _: &str) -> bool {
            false
        }
        fn has_module(&self, _: &str) -> bool {
            false
        }
        fn call(
            &self,
            _: &str,
            _: Vec<Value>,
            _: Vec<(Str, Value)>,
        ) -> mapstack_pyobject::Result<Value> {
            Ok(Value::None)
        }
    }
    let mut request = mako::Request::new("${1 + 1}\n<%include file=\"large.mako\"/>\n", &Files);
    request.limits = limits();
    request.options = mako::MakoOptions::stack();
    let error = mako::render(request).unwrap_err();
    let place = error.place.as_ref().unwrap();
    assert_eq!(place.template.as_deref(), Some("large.mako"), "{error:?}");
    assert_eq!(place.line(), 3, "{error:?}");
}

/// It is an error of the template soon after its time at most, and the next render is none the wiser.
fn fails_soon(source: &str, what: &str) -> Error {
    let started = Instant::now();
    let error = rendered(source).map(|text| text.len()).expect_err(what);
    let took = started.elapsed();
    // The time it has, and much more than a second for a machine that does other work.
    assert!(
        took < limits().time + Duration::from_secs(8),
        "{what}: {took:?}"
    );
    assert!(!error.message.contains("panicked at"), "{what}: {error}");
    let place = error.place.as_ref().map(|place| place.template.as_deref());
    assert!(
        matches!(place, Some(Some("attack.mako" | "<text>"))),
        "{what}: {error} at {:?}",
        error.place
    );
    assert_eq!(rendered("${6 * 7}").unwrap(), "42", "after {what}");
    *error
}

#[test]
fn a_panic_is_an_error_at_once() {
    let error = rendered("a\n${'{:c}'.format(0xd800)}").unwrap_err();
    assert!(
        matches!(error.kind, ErrorKind::Nested | ErrorKind::Code(_)),
        "{error:?}"
    );
    assert_eq!(rendered("${6 * 7}").unwrap(), "42");
}
