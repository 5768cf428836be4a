//! Mutations of the recorded templates. Each one ends, with text, data or an error, and the next
//! one finds everything as it was.
//!
//! `MAPSTACK_MUTANTS` says how many there are; `cargo xtask ci` runs ten thousand.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fastrand::Rng;
use mapstack_pyobject::{Error, ErrorKind};
use mapstack_sandbox::{Limits, NoHost, Request, mako, run};
use mapstack_value::{Str, Value, json};

const USUAL: usize = 300;

/// Small enough that what has no end is over soon.
fn limits() -> Limits {
    Limits {
        fuel: 100_000,
        output: 1 << 20,
        depth: 200,
        time: Duration::from_secs(1),
        memory: 256 << 20,
    }
}

/// Python modules with what the language has; each ends with a result.
const MODULES: &[&str] = &[
    "import json, re\ndef run():\n    data = {'a': [1, 2.5, None], 'b': json.loads('{\"c\": true}')}\n    return {k: v for k, v in data.items() if re.match('[a-z]', k)}\n",
    "class Node:\n    def __init__(self, *args, **kwargs):\n        self.args, self.kwargs = args, kwargs\n    def __getattr__(self, name):\n        return self.kwargs.get(name, name * 2)\ndef run():\n    node = Node(1, 'x', k=[3])\n    return [node.k, node.other, *node.args]\n",
    "def numbers(n):\n    while n:\n        n -= 1\n        yield n ** 2 if n % 2 else -n\ndef run():\n    try:\n        return sorted(numbers(10), key=lambda n: (n < 0, n))\n    except (ValueError, KeyError) as error:\n        raise RuntimeError(f'{error!r:>10}') from error\n    finally:\n        del error\n",
    "from collections import OrderedDict, defaultdict\nimport functools\n@functools.lru_cache(maxsize=None)\ndef fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\ndef run():\n    d = defaultdict(list)\n    for i in range(20):\n        d[i % 3].append(fib(i))\n    return OrderedDict(sorted(d.items()))\n",
    "def run():\n    match {'kind': 'user', 'ids': [1, 2, 3]}:\n        case {'kind': str(kind), 'ids': [first, *rest]} if rest:\n            return '%s %d %s' % (kind, first, ','.join(map(str, rest)))\n        case _:\n            return None\n",
    "import datetime, base64, hashlib\ndef run():\n    when = datetime.datetime(2020, 2, 29) + datetime.timedelta(days=365)\n    digest = hashlib.sha256(b'x' * 100).hexdigest()\n    return [when.isoformat(), base64.b64encode(digest.encode()).decode()[:8], '{:>08.3f}'.format(3.14159)]\n",
];

/// Texts that replace others.
const WORDS: &[&str] = &[
    "${",
    "}",
    "<%",
    "%>",
    "<%!",
    "</%",
    "/>",
    "% for x in y:\n",
    "% endfor\n",
    "% if ",
    "% endif\n",
    "##",
    "\\\n",
    "|",
    "(",
    ")",
    "[",
    "]",
    "{",
    "'",
    "\"",
    "'''",
    ":",
    ",",
    ".",
    "=",
    "==",
    "**",
    "*",
    "-",
    "@",
    "\n",
    "\t",
    "    ",
    " ",
    "lambda x: ",
    "yield ",
    "await ",
    "async ",
    "return ",
    "raise ",
    "del ",
    "global ",
    "import ",
    "not ",
    "if 1 else ",
    "for _ in range(10**9) ",
    "10**9",
    "10**10**5",
    "-1",
    "0",
    "1e999",
    "0x",
    "b'",
    "f'{",
    "None",
    "True",
    "self",
    "context",
    "UNDEFINED",
    "loop",
    "caller",
    "parent",
    "next",
    "str",
    "type",
    "object",
    "__class__",
    "__globals__",
    "__code__",
    "getattr(",
    "eval(",
    "exec(",
    "open(",
    "vars()",
    "locals()",
    "dir()",
    "<%def name=\"f()\">",
    "</%def>",
    "<%block>",
    "</%block>",
    "<%include file=\"x\"/>",
    "<%inherit file=\"y\"/>",
    "<%call expr=\"f()\">",
    "</%call>",
    "\u{0}",
    "\u{fc}",
    "\u{2028}",
    "\u{1f600}",
    "\u{feff}",
    "\r\n",
];

/// A mutation of one template, or of two.
fn mutated(rng: &mut Rng, source: &str, other: &str) -> String {
    let mut text: Vec<char> = source.chars().collect();
    for _ in 0..rng.usize(1..6) {
        let from = rng.usize(..=text.len());
        let to = (from + rng.usize(..12)).min(text.len());
        match rng.u8(..7) {
            0 => drop(text.drain(from..to)),
            1 => {
                let part = text[from..to].to_vec();
                let times = if rng.u8(..20) == 0 {
                    2000
                } else {
                    rng.usize(1..4)
                };
                text.splice(from..from, part.repeat(times));
            }
            2 => {
                let other: Vec<char> = other.chars().collect();
                let at = rng.usize(..=other.len());
                let part = other[at..(at + rng.usize(..40)).min(other.len())].to_vec();
                text.splice(from..to, part);
            }
            3 => text[from..to].reverse(),
            4 if from < text.len() => {
                let code = u32::from(text[from]) ^ (1 << rng.u32(..7));
                text[from] = char::from_u32(code).unwrap_or('\u{fffd}');
            }
            _ => {
                let word = WORDS[rng.usize(..WORDS.len())];
                text.splice(from..to, word.chars());
            }
        }
    }
    text.into_iter().collect()
}

/// The templates that Mako was recorded with, and the names they are given.
fn recorded() -> (Vec<String>, Vec<(Str, Value)>) {
    let recorded = json::loads(include_str!("data/mako.json")).unwrap();
    let recorded = recorded.as_map().unwrap();
    let records = recorded.get("records").and_then(Value::as_list).unwrap();
    let templates = records
        .iter()
        .filter_map(|record| Some(record.as_map()?.get("template")?.as_str()?.to_owned()));
    let context = recorded.get("context").and_then(Value::as_map).unwrap();
    let names = context
        .iter()
        .map(|(name, value)| (name.to_string().into(), value.clone()));
    (templates.collect(), names.collect())
}

/// Run a template or a module; its kind of end.
fn ended(is_module: bool, source: &str, names: &[(Str, Value)]) -> Result<(), Box<Error>> {
    if is_module {
        let mut request = Request::new(source, &NoHost);
        (request.name, request.limits) = (Some("mutant".into()), limits());
        request.variables = names.to_vec();
        return run(&request).map(drop);
    }
    let mut request = mako::Request::new(source, &NoHost);
    (request.name, request.limits) = (Some("mutant".into()), limits());
    request.variables = names.to_vec();
    mako::render(request).map(drop)
}

#[test]
fn each_mutant_ends_by_itself_and_harms_no_other() {
    let many = std::env::var("MAPSTACK_MUTANTS").map_or(USUAL, |many| many.parse().unwrap());
    let (templates, names) = recorded();
    let mut rng = Rng::with_seed(15);
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    let mut slowest = (Duration::ZERO, String::new());
    for number in 0..many {
        let is_module = number % 4 == 3;
        let pick = |rng: &mut Rng| match is_module {
            true => MODULES[rng.usize(..MODULES.len())].to_owned(),
            false => templates[rng.usize(..templates.len())].clone(),
        };
        let (one, other) = (pick(&mut rng), pick(&mut rng));
        let source = mutated(&mut rng, &one, &other);
        let started = Instant::now();
        let end = ended(is_module, &source, &names);
        let took = started.elapsed();
        if took > slowest.0 {
            slowest = (took, source.clone());
        }
        let kind = match &end {
            Ok(()) => "done".to_owned(),
            Err(error) => {
                // An error that says where, and whose fault it is.
                let place = error
                    .place
                    .as_ref()
                    .unwrap_or_else(|| panic!("{source:?}: {error:?}"));
                assert!(place.template.is_some(), "{source:?}: {error:?}");
                assert!(!error.message.contains("protocol"), "{source:?}: {error}");
                match error.kind {
                    ErrorKind::Code(_) => "raised".to_owned(),
                    kind => format!("{kind:?}"),
                }
            }
        };
        *ends.entry(kind).or_default() += 1;
        if number % 50 == 49 {
            let mut after = mako::Request::new("${6 * 7}", &NoHost);
            after.limits = limits();
            assert_eq!(mako::render(after).unwrap().text, "42", "after {source:?}");
        }
    }
    println!(
        "{many} mutants: {ends:?}; the slowest took {:?}: {:?}",
        slowest.0, slowest.1
    );
    assert!(slowest.0 < Duration::from_secs(20), "{slowest:?}");
    assert!(
        ends["done"] * 20 > many,
        "so few run that this shows little: {ends:?}"
    );
}
