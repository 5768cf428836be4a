//! One minion's templates in one interpreter: each prints what it prints alone, whatever the others do.

use std::time::Duration;

use fastrand::Rng;
use mapstack_pyobject::Obj;
use mapstack_salt_jinja::{self as jinja, NoHost, request};
use mapstack_sandbox::{
    Interpreter,
    mako::{MakoOptions, render_as},
    run_as,
};
use mapstack_value::{Value, json};

/// Templates that leave something behind, or try to.
const HOSTILE: &[&str] = &[
    "<% import json\njson.dumps = lambda value: 'changed' %>",
    "<% import json\njson.JSONEncoder.item_separator = ';' %>",
    "<% import sys\nsys.modules['json'] = None\nsys.kept = 1 %>",
    "<% import builtins\nbuiltins.len = lambda x: 7 %>",
    "<% __builtins__['len'] = None %>",
    "<% (lambda: 0).__globals__['__builtins__']['sorted'] = None %>",
    "<%\nimport collections\ncollections.OrderedDict.x = 1\ncollections.OrderedDict.__repr__ = lambda s: 'changed'\n%>",
    "<%\nimport json\njson.dumps.__kwdefaults__['indent'] = 7\n%>",
    "<% import random\nrandom.seed(1) %>${random.random() < 2}",
    "<% import re\nre.sub.__defaults__ = (1, 0)\nre._cache.clear() %>",
    "<% import string\nstring.digits = 'none' %>",
    "<% import copy\ncopy.copy = None %>",
    "<% import math\nmath.floor = None %>",
    "<% context._data.clear() %>",
    "<% type(context).get = None %>",
    "<% type(loop)._enter = None %>",
    "<%! runtime.capture = None\nfilters.trim = None %>",
    "${'a' | decode.__getattr__.__globals__.clear}",
    "<% import sys\nsys.setrecursionlimit(50) %>",
    "<% import gc\nfor d in [o for o in gc.get_objects() if isinstance(o, dict)]:\n    d.clear() %>",
    "<% raise SystemExit(3) %>",
    "<%\nwhile True:\n    pass\n%>",
    "${'x' * 10**11}",
    "import json\njson.loads = None\ndef run():\n    return 1\n",
    "def run():\n    globals()['__builtins__'].clear()\n",
];

/// Templates that would show it.
const OTHERS: &[&str] = &[
    "<% import json %>${json.dumps({'a': [1, 2]})}",
    "<%! from json import dumps, loads %>${loads(dumps([1.5]))}",
    "${len('ab')}${sorted([2, 1])}",
    "<% import sys %>${hasattr(sys, 'kept')}${len(sys.modules)}",
    "<% from collections import OrderedDict %>${OrderedDict(a=1)}${hasattr(OrderedDict, 'x')}",
    "<% import re %>${re.sub('a', 'b', 'aaa')}",
    "<% import string %>${string.digits}",
    "<% import re %>${re.sub('a', 'b', 'aA', flags=re.I)}",
    "<% import re %>${re.sub('a', 'b', 'aA', flags=2.0)}",
    "<% import re %>${re.findall('a', 'aA', True)}",
    "<% import re %>${str(re.I | re.M)}${re.escape('a.b')}",
    "<% import copy %>${copy.deepcopy({'a': []})}",
    "<% import math %>${math.floor(2.5)}",
    "<% import random\nrandom.seed(7) %>${random.random()}",
    "% for x in [1, 2]:\n${loop.index} ${x | trim}\n% endfor\n",
    "${capture(lambda: context.write('c'))}",
    "${(lambda f: f(f, 100))(lambda f, n: n and f(f, n - 1))}",
    "${stack.setdefault('a', []).append(minion_id) or stack}",
    "${stack['a']}",
    "<%page args=\"**names\"/>${sorted(names)}",
    "<%page args=\"stack, x=1\"/>${stack}${x}",
    "<%def name=\"f(x)\">[${x}]</%def>${f(minion_id)}",
    "import json\ndef run():\n    return json.loads('{\"a\": 1}')\n",
    "seen = []\ndef run():\n    seen.append(1)\n    return seen\n",
    "def f(x=[]):\n    x.append(1)\n    return x\ndef run():\n    return [f(), f()]\n",
];

/// The outcome of one run, with the message of an error.
fn ran(source: &str, interpreter: &Interpreter) -> String {
    let mut request = request(source, &NoHost);
    request.limits = jinja::Limits {
        fuel: 20_000,
        output: 1 << 20,
        time: Some(mapstack_salt_jinja::Deadline::after(Duration::from_secs(
            20,
        ))),
        ..jinja::Limits::default()
    };
    request
        .variables
        .insert("minion_id".into(), Obj::from("web1"));
    request
        .variables
        .insert("stack".into(), Obj::from(Value::map()));
    let made = if source.contains("def run()") {
        run_as(&request, &["stack"], interpreter)
            .map(|(value, changed)| format!("{value:?} {changed:?}"))
    } else {
        render_as(
            &request,
            MakoOptions::stack(),
            None,
            &["stack"],
            interpreter,
        )
        .map(|(rendered, changed)| format!("{:?} {changed:?}", rendered.text))
    };
    made.unwrap_or_else(|error| {
        let line = error
            .place
            .as_ref()
            .map(mapstack_pyobject::TemplatePlace::line);
        format!("{} in line {line:?}", error.message)
    })
}

fn recorded() -> Vec<String> {
    let recorded = json::loads(include_str!("data/mako.json")).unwrap();
    let records = recorded.as_map().unwrap().get("records").unwrap();
    let template = |record: &Value| {
        let template = record.as_map()?.get("template")?.as_str()?;
        Some(template.to_owned())
    };
    records
        .as_list()
        .unwrap()
        .iter()
        .filter_map(template)
        .collect()
}

#[test]
fn templates_of_one_interpreter_print_what_they_print_alone() {
    let own = HOSTILE
        .iter()
        .chain(OTHERS)
        .map(|source| (*source).to_owned());
    let mut sources: Vec<(String, String)> = own
        .chain(recorded())
        .map(|source| {
            let alone = ran(&source, &Interpreter::new());
            (source, alone)
        })
        // An object's address in memory is different each time.
        .filter(|(_, alone)| !alone.contains("0x"))
        .collect();
    assert!(sources.len() > 400, "{}", sources.len());
    let mut rng = Rng::with_seed(3);
    for _ in 0..2 {
        rng.shuffle(&mut sources);
        let interpreter = Interpreter::new();
        let mut before = "";
        for (source, alone) in &sources {
            assert_eq!(
                ran(source, &interpreter),
                *alone,
                "{source:?} after {before:?}"
            );
            before = source;
        }
    }
}

/// The program prepares less for its first sessions than for those that follow.
#[test]
fn code_finds_the_same_in_every_session() {
    let source = "<% import sys %>${'json' in sys.modules} ${len(sys.modules)} ${len(object.__subclasses__())}";
    let first = ran(source, &Interpreter::new());
    assert!(first.starts_with("\"True "), "{first}");
    for _ in 0..4 {
        assert_eq!(ran(source, &Interpreter::new()), first);
    }
}

#[test]
fn nothing_passes_to_another_interpreter() {
    for hostile in HOSTILE {
        let interpreter = Interpreter::new();
        ran(hostile, &interpreter);
        for other in ["${len('ab')}${minion_id | trim}", OTHERS[0], OTHERS[5]] {
            let alone = ran(other, &Interpreter::new());
            assert_eq!(ran(other, &interpreter), alone, "{other} after {hostile}");
            assert!(alone.starts_with('"'), "{alone}");
        }
    }
}
