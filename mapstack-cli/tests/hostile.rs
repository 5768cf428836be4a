//! Trees that are made to take all time, memory or output: whatever a verb is asked, it ends within its budget and fits a
//! screen.
//!
//! They are small here. `MAPSTACK_HOSTILE=full cargo test --workspace --test all -- hostile::` makes them large, and
//! asks every verb about each.

mod estates;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::common::{Ran, run_line};

/// Files by their paths. `pipe|` is a named pipe, and `link -> target` a link.
type Files = Vec<(String, String)>;

#[derive(Clone)]
struct Tree {
    name: &'static str,
    /// The verb that it is made for.
    verb: Option<&'static str>,
    files: Files,
}

/// Beyond its time a run has an eighth and two seconds more, and this for its start and its end on a busy machine.
const SLACK: u64 = 12;
/// Nobody reads more than this on standard error.
const MOST_SAID: usize = 1 << 20;
/// Findings and data may be more.
const MOST_PRINTED: usize = 96 << 20;

const DEFAULTS: &str = "salt/f/parameters/defaults.yaml";
const LAYER: &str = "salt/f/parameters/os/Debian.yaml";
const POST: &str = "salt/f/post-map.jinja";
const SLS: &str = "salt/f/init.sls";

const VERBS: [&str; 32] = [
    "lint f --root salt --platform debian-12 --platform rockylinux-9",
    "data f --root salt --minion web1.yaml",
    "explain f --root salt --minion web1.yaml",
    "sources f --root salt --minion web1.yaml",
    "map f --root salt --minion web1.yaml",
    "fleet f --root salt --minions minions",
    "render f/init.sls --root salt --minion web1.yaml",
    "diff --from salt --to before f --minions minions",
    "impact grains:os --root salt --minions minions",
    "test f --update --root salt --minion web1.yaml --expectations recorded",
    "schema f --root salt --platform debian-12",
    "stack --sources Y!G@os --root salt --minion web1.yaml",
    "tofs f --root salt --minion web1.yaml",
    "pillar --config master --config-kind master --minion web1.yaml",
    HIGHSTATE,
    FILE,
    "file /etc/a --sls f --root salt --minion web1.yaml",
    "explain highstate --sls f --root salt --minion web1.yaml",
    "explain file /etc/a --sls f --root salt --minion web1.yaml",
    "diff --from salt --to before --minions minions",
    "diff --from salt --to before --minions minions -o html",
    "impact salt/f/init.sls --root salt --minions minions",
    "fleet highstate --root salt --minions minions",
    "test f --update --states --root salt --minion web1.yaml --expectations recorded",
    "convert f --check --root salt",
    "explain pillar --config master --config-kind master --minion web1.yaml",
    "sources pillar --config master --config-kind master --minion web1.yaml",
    "lint --config master --config-kind master",
    "diff --from HEAD --root salt --minions minions",
    "test f --root salt --minions minions --expectations recorded",
    "lint",
    "minions",
];

const FILE: &str = "file --sls f --root salt --minion web1.yaml";
const HIGHSTATE: &str = "highstate f --root salt --minion web1.yaml";

/// So many lines.
fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).fold(String::new(), |mut all, at| {
        let _ = writeln!(all, "{}", line(at));
        all
    })
}

/// Values below `values`, and a layer that asks for them.
fn values(text: &str) -> Files {
    let indented = text
        .lines()
        .fold(String::from("values:\n"), |mut all, line| {
            let _ = writeln!(all, "  {line}");
            all
        });
    vec![(DEFAULTS.into(), indented)]
}

fn file(path: &str, text: impl Into<String>) -> Files {
    let usual = || "values: {a: 1, b: {c: [1, 2]}}\n".to_owned();
    let mut files = vec![(path.to_owned(), text.into())];
    if path != DEFAULTS {
        files.push((DEFAULTS.into(), usual()));
    }
    files
}

fn files(n: usize, of: impl Fn(usize) -> (String, String)) -> Files {
    let mut all = file("salt/f/map.jinja", "{% set m = {'a': 1} %}");
    all.extend((0..n).map(of));
    all
}

/// Each level has the one below twice.
fn doubled(levels: usize, first: &str, next: impl Fn(usize) -> String) -> String {
    format!("{first}\n{}", lines(levels, next))
}

/// Data: deep, wide, long, with aliases, or broken.
#[expect(clippy::too_many_lines, reason = "a table")]
fn data(n: usize) -> Vec<(&'static str, Files)> {
    let deep = n.min(20_000);
    vec![
        (
            "aliases",
            values(&doubled(40, "l0: &l0 [1, 1]", |at| {
                format!("l{}: &l{} [*l{at}, *l{at}]", at + 1, at + 1)
            })),
        ),
        (
            "merged aliases",
            values(&doubled(40, "m0: &m0 {a: 1}", |at| {
                format!(
                    "m{}: &m{} {{<<: [*m{at}, *m{at}], k{at}: *m{at}}}",
                    at + 1,
                    at + 1
                )
            })),
        ),
        (
            "deep lists",
            values(&format!("a: {}{}", "[".repeat(deep), "]".repeat(deep))),
        ),
        (
            "deep mappings",
            values(&format!("a: {}1{}", "{a: ".repeat(deep), "}".repeat(deep))),
        ),
        (
            "deep blocks",
            values(&lines(deep.min(2_000), |at| {
                format!("{}a:", " ".repeat(at))
            })),
        ),
        (
            "open brackets",
            file(LAYER, "values: ".to_owned() + &"[".repeat(n)),
        ),
        (
            "wide mapping",
            values(&lines(n, |at| format!("k{at}: {at}"))),
        ),
        ("wide list", values(&format!("a: [{}]", "1, ".repeat(n)))),
        (
            "small mappings",
            values(&lines(n, |at| format!("k{at}: {{a: 1}}"))),
        ),
        (
            "long text",
            values(&format!("a: \"{}\"", "x".repeat(n * 100))),
        ),
        (
            "long block",
            values(&format!(
                "a: |\n{}",
                lines(n, |_| format!("  {}", "x".repeat(60)))
            )),
        ),
        (
            "similar keys",
            [
                values(&lines(n, |at| format!("kay_{at:06}: 1"))),
                vec![(
                    LAYER.into(),
                    format!("values:\n{}", lines(n, |at| format!("  key_{at:06}: 1"))),
                )],
            ]
            .concat(),
        ),
        (
            "words of keys",
            [
                values(&lines(n, |at| format!("k_{}: 1", letters(at)))),
                vec![(
                    LAYER.into(),
                    format!(
                        "values:\n{}",
                        lines(n, |at| format!("  q_{}: 1", letters(at)))
                    ),
                )],
            ]
            .concat(),
        ),
        ("repeated keys", values(&lines(n, |_| "a: 1".to_owned()))),
        (
            "anchors",
            values(&lines(n, |at| format!("k{at}: &a{at} {{a: {at}}}"))),
        ),
        (
            "huge key",
            values(&format!("\"{}\": 1", "k".repeat(n * 50))),
        ),
        ("documents", file(LAYER, "---\na: 1\n".repeat(n))),
        (
            "comments",
            file(LAYER, "# mapstack-lint: ignore=yaml-octal\n".repeat(n)),
        ),
        (
            "tabs",
            file(LAYER, format!("values:\n{}", "\ta: 1\n".repeat(n))),
        ),
        ("zero bytes", file(LAYER, "\0".repeat(n))),
        ("huge number", values(&format!("a: {}", "9".repeat(n)))),
        (
            "octal numbers",
            values(&lines(n, |at| format!("k{at}: 0644"))),
        ),
        ("tags", values(&lines(n, |at| format!("k{at}: !t{at} 1")))),
        (
            "unknown strategies",
            file(LAYER, lines(n, |at| format!("strategy{at}: x"))),
        ),
        (
            "sources",
            file(
                "salt/f/parameters/map_jinja.yaml",
                format!(
                    "values:\n  sources:\n{}",
                    lines(n, |at| format!("    - Y:G@os_famil{at}"))
                ),
            ),
        ),
        (
            "one long source",
            file(
                "salt/f/parameters/map_jinja.yaml",
                format!("values:\n  sources: ['Y!G@{}']\n", "a:".repeat(n)),
            ),
        ),
    ]
}

/// A number in letters.
fn letters(mut number: usize) -> String {
    let mut text = String::new();
    for _ in 0..8 {
        text.push(char::from(b'a' + (number % 26) as u8));
        number /= 26;
    }
    text
}

/// Templates: loops, nesting, growth, and names that do not exist.
#[expect(clippy::too_many_lines, reason = "a table")]
fn templates(n: usize) -> Vec<(&'static str, Files)> {
    let spin = "{% for i in range(99999) %}{% for j in range(99999) %}";
    let end = "{% endfor %}{% endfor %}";
    let deep = n.min(5_000);
    vec![
        (
            "loops",
            file(POST, format!("{spin}{{% set x = i * j %}}{end}")),
        ),
        (
            "loops of each minion",
            file(
                POST,
                format!("{{% set id = grains.id %}}{spin}{{% set x = i * j %}}{end}"),
            ),
        ),
        (
            "recursion",
            file(
                POST,
                "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
            ),
        ),
        ("include of itself", file(SLS, "{% include 'f/init.sls' %}")),
        (
            "include in a circle",
            [
                file(SLS, "include: [f.a]\n"),
                file("salt/f/a.sls", "include: [f]\n"),
            ]
            .concat(),
        ),
        (
            "import in a circle",
            [
                file("salt/f/map.jinja", "{% from 'f/b.jinja' import m %}"),
                file("salt/f/b.jinja", "{% from 'f/map.jinja' import m %}"),
            ]
            .concat(),
        ),
        (
            "growing text",
            file(
                POST,
                format!("{{% set s = namespace(t='x') %}}{spin}{{% set s.t = s.t ~ s.t %}}{end}"),
            ),
        ),
        (
            "growing list",
            file(
                POST,
                format!("{{% set l = [] %}}{spin}{{% do l.append(l|list) %}}{end}"),
            ),
        ),
        (
            "doubled values",
            file(
                "salt/f/map.jinja",
                "{% set ns = namespace(x={'k': [1]}) %}{% for j in range(40) %}{% set ns.x = {'a': ns.x, 'b': ns.x} %}{% endfor %}{% set f = {'a': 1} %}",
            ),
        ),
        (
            "updates",
            file(
                "salt/f/map.jinja",
                format!(
                    "{{% set f = {{}} %}}{{% for i in range({n}) %}}{{% do f.update({{'k%d'|format(i): {{'n': i}}}}) %}}{{% endfor %}}"
                ),
            ),
        ),
        (
            "printed text",
            file(SLS, format!("{spin}{{{{ 'x' * 1000 }}}}{end}")),
        ),
        ("repeated text", file(SLS, "{{ 'x' * 10 ** 12 }}")),
        (
            "padded text",
            file(SLS, "{{ '%999999999d' % 1 }}{{ '{:999999999}'.format(1) }}"),
        ),
        ("power", file(SLS, "{{ 9 ** 9 ** 9 ** 9 }}")),
        (
            "expressions",
            file(SLS, lines(n, |at| format!("{{{{ {at} }}}}"))),
        ),
        (
            "parentheses",
            file(
                SLS,
                format!("{{{{ {}1{} }}}}", "(".repeat(deep), ")".repeat(deep)),
            ),
        ),
        (
            "branches",
            file(
                SLS,
                format!(
                    "{}{}",
                    "{% if true %}".repeat(deep),
                    "{% endif %}".repeat(deep)
                ),
            ),
        ),
        ("open tags", file(SLS, "{{ {% ".repeat(n))),
        (
            "filters in a row",
            file(SLS, format!("{{{{ 1{} }}}}", "|string".repeat(deep))),
        ),
        (
            "regular expression",
            file(
                SLS,
                format!("{{{{ '{}'|regex_match('(a+)+$') }}}}", "a".repeat(n) + "b"),
            ),
        ),
        ("raised text", file(SLS, "{{ raise('x' * 1000000) }}")),
        (
            "unknown functions",
            file(
                SLS,
                lines(n, |at| {
                    format!("{{% if false %}}{{{{ salt['test.pin{at}']() }}}}{{% endif %}}")
                }),
            ),
        ),
        (
            "unanswered functions",
            file(
                SLS,
                lines(n, |at| {
                    format!("a{at}: {{test.nop: [{{x: {{{{ salt['test.pin{at}']() }}}}}}]}}")
                }),
            ),
        ),
        (
            "unknown filters",
            file(
                SLS,
                lines(n, |at| {
                    format!("{{% if false %}}{{{{ 1|uper{at} }}}}{{% endif %}}")
                }),
            ),
        ),
        (
            "unknown variables",
            file(
                SLS,
                lines(n, |at| format!("{{% set kay{at} = 1 %}}{{{{ key{at} }}}}")),
            ),
        ),
        (
            "states",
            file(
                SLS,
                lines(n, |at| {
                    format!("a{at}: {{pkg.instaled{at}: [{{require: [{{pkg: b{at}}}]}}]}}")
                }),
            ),
        ),
        (
            "Mako without end",
            file(
                SLS,
                "#!mako|yaml\n<% x = 0 %>\n% while True:\n<% x += 1 %>\n% endwhile\n",
            ),
        ),
        (
            "Python without end",
            file(SLS, "#!py\ndef run():\n    while True: pass\n"),
        ),
        (
            "Tera without end",
            file(
                SLS,
                "#!tera|yaml\n{% for i in range(end=99999) %}{% for j in range(end=99999) %}{{ i }}{% endfor %}{% endfor %}",
            ),
        ),
    ]
}

/// Many files and minions, and Python of the tree.
#[expect(clippy::too_many_lines, reason = "a table")]
fn many(n: usize) -> Vec<(&'static str, Files)> {
    let module = |path: &str, code: &str| {
        let call = "a: {test.nop: [{x: {{ salt['m.f']() }}}]}\n";
        [file(SLS, call), vec![(path.to_owned(), code.to_owned())]].concat()
    };
    let some = n.min(3_000);
    vec![
        (
            "unread files",
            files(some, |at| {
                (
                    format!("salt/f/parameters/os_family/X{at}.yaml"),
                    "values: {a: 2}\n".into(),
                )
            }),
        ),
        (
            "formulas",
            files(some, |at| {
                (
                    format!("salt/f{at}/parameters/defaults.yaml"),
                    "values: {a: 1}\n".into(),
                )
            }),
        ),
        (
            "sls",
            files(some, |at| {
                (
                    format!("salt/f/s{at}.sls"),
                    format!("include: [f.s{}]\n", (at + 1) % some),
                )
            }),
        ),
        (
            "templates",
            files(some, |at| {
                (
                    format!("salt/f/t{at}.jinja"),
                    format!("{{% from 'f/t{}.jinja' import m %}}", (at + 1) % some),
                )
            }),
        ),
        (
            "deep folders",
            files(1, |_| {
                (
                    format!("salt/f/parameters/{}x.yaml", "d/".repeat(some.min(1_000))),
                    "values: 1\n".into(),
                )
            }),
        ),
        (
            "long names",
            files(some, |at| {
                (
                    format!("salt/f/parameters/os/{}{at}.yaml", "n".repeat(200)),
                    "values: 1\n".into(),
                )
            }),
        ),
        (
            "minions",
            files(some, |at| {
                (
                    format!("minions/m{at}.yaml"),
                    format!("id: m{at}\ngrains: {{os: X{at}}}\n"),
                )
            }),
        ),
        (
            "huge grains",
            files(1, |_| {
                (
                    "minions/big.yaml".into(),
                    format!(
                        "id: big\ngrains:\n{}",
                        lines(n, |at| format!("  g{at}: [{at}]"))
                    ),
                )
            }),
        ),
        (
            "top file",
            files(1, |_| {
                (
                    "salt/top.sls".into(),
                    format!(
                        "base:\n{}",
                        lines(n, |at| format!("  'web{at}*': [f.x{at}]"))
                    ),
                )
            }),
        ),
        (
            "module that never loads",
            module("salt/_modules/m.py", "while True: pass\n"),
        ),
        (
            "module that never ends",
            module("salt/_modules/m.py", "def f():\n    while True: pass\n"),
        ),
        (
            "module that gives much",
            module(
                "salt/_modules/m.py",
                &format!("def f():\n    return 'x' * {}\n", n * 10_000),
            ),
        ),
        (
            "grains that never load",
            module("salt/_grains/g.py", "while True: pass\n"),
        ),
        (
            "grains that never end",
            module("salt/_grains/g.py", "def g():\n    while True: pass\n"),
        ),
        (
            "grains that are many",
            module(
                "salt/_grains/g.py",
                &format!("def g():\n    return {{'g%d' % i: 'x' * 1024 for i in range({n})}}\n"),
            ),
        ),
        (
            "grains that raise",
            module(
                "salt/_grains/g.py",
                "def g():\n    raise ValueError('x' * 10000000)\n",
            ),
        ),
    ]
}

/// States for the compiler: many, and long, wide or circular relations between them.
#[expect(clippy::too_many_lines, reason = "a table")]
fn states(n: usize) -> Vec<(&'static str, Files)> {
    let some = n.min(3_000);
    let each = |state: &dyn Fn(usize) -> String| file(SLS, lines(n, state));
    let sls = |of: &dyn Fn(usize) -> String| {
        let name = |at: usize| match at {
            0 => SLS.to_owned(),
            at => format!("salt/f/s{at}.sls"),
        };
        let sls = (0..some).map(|at| (name(at), of(at)));
        [file("salt/f/map.jinja", ""), sls.collect()].concat()
    };
    vec![
        (
            "many states",
            each(&|at| format!("a{at}: {{test.nop: [{{name: x}}]}}")),
        ),
        (
            "chain of requisites",
            each(&|at| {
                format!(
                    "a{at}: {{test.nop: [{{require: [{{test: a{}}}]}}]}}",
                    at + 1
                )
            }),
        ),
        (
            "circle of requisites",
            each(&|at| {
                let next = (at + 1) % n;
                format!("a{at}: {{test.nop: [{{require: [{{test: a{next}}}]}}]}}")
            }),
        ),
        (
            "all require all before",
            file(
                SLS,
                lines(n.min(300), |at| {
                    let all =
                        (0..at).fold(String::new(), |all, to| all + &format!("{{test: a{to}}}, "));
                    format!("a{at}: {{test.nop: [{{require: [{all}]}}]}}")
                }),
            ),
        ),
        (
            "wide require_in",
            each(&|at| format!("a{at}: {{test.nop: [{{require_in: [{{test: a0}}]}}]}}")),
        ),
        (
            "requisites by patterns",
            file(
                SLS,
                lines(n.min(2_000), |at| {
                    format!(
                        "a{at}: {{test.nop: [{{watch: [{{test: 'b*{at}*'}}]}}]}}\nb{at}: {{test.nop: []}}"
                    )
                }),
            ),
        ),
        (
            "requisites of whole sls",
            each(&|at| format!("a{at}: {{test.nop: [{{require: [{{sls: f}}]}}]}}")),
        ),
        (
            "prereq",
            each(&|at| format!("a{at}: {{test.nop: [{{prereq: [{{test: a{}}}]}}]}}", at + 1)),
        ),
        (
            "use of each other",
            each(&|at| {
                format!(
                    "a{at}: {{test.nop: [{{use: [{{test: a{}}}]}}, {{x{at}: 1}}]}}",
                    at + 1
                )
            }),
        ),
        (
            "listen",
            each(&|at| format!("a{at}: {{test.nop: [{{listen: [{{test: a0}}]}}]}}")),
        ),
        (
            "names",
            file(
                SLS,
                format!(
                    "a:\n  test.nop:\n    - names:\n{}",
                    lines(n * 5, |at| format!("      - n{at}"))
                ),
            ),
        ),
        (
            "names of required states",
            file(
                SLS,
                format!(
                    "b: {{test.nop: []}}\na:\n  test.nop:\n    - require_in: [{{test: b}}]\n    - names:\n{}",
                    lines(n, |at| format!(
                        "      - n{at}: [{{require: [{{test: n{}}}]}}]",
                        at + 1
                    ))
                ),
            ),
        ),
        (
            "includes inside includes",
            sls(&|at| match at + 1 < some {
                true => format!("include: [f.s{}]\na{at}: {{test.nop: []}}\n", at + 1),
                false => "z: {test.nop: []}\n".to_owned(),
            }),
        ),
        (
            "includes in a circle",
            sls(&|at| {
                format!(
                    "include: [f.s{}, f.s{}]\na{at}: {{test.nop: []}}\n",
                    (at + 1) % some,
                    (at + 2) % some
                )
            }),
        ),
        (
            "chain of extend",
            sls(&|at| {
                let (next, last) = (at + 1, at + 1 == some);
                let include = if last {
                    String::new()
                } else {
                    format!("include: [f.s{next}]\n")
                };
                let extend = if last {
                    String::new()
                } else {
                    format!("extend: {{a{next}: {{test: [{{x: {at}}}]}}}}\n")
                };
                format!("{include}{extend}a{at}: {{test.nop: []}}\n")
            }),
        ),
        (
            "extend of one state",
            sls(&|at| match at {
                0 => format!(
                    "include:\n{}a0: {{test.nop: []}}\n",
                    lines(some - 1, |at| format!("  - f.s{}", at + 1))
                ),
                at => format!(
                    "extend: {{a0: {{test: [{{x{at}: 1}}, {{require: [{{test: b{at}}}]}}]}}}}\nb{at}: {{test.nop: []}}\n"
                ),
            }),
        ),
        (
            "conflicting ids",
            sls(&|at| match at {
                0 => format!(
                    "include:\n{}",
                    lines(some - 1, |at| format!("  - f.s{}", at + 1))
                ),
                _ => "a: {test.nop: []}\n".to_owned(),
            }),
        ),
        (
            "missing requisites",
            each(&|at| format!("a{at}: {{test.nop: [{{require: [{{test: nope{at}}}]}}]}}")),
        ),
        (
            "orders",
            each(&|at| format!("a{at}: {{test.nop: [{{order: {}}}]}}", n - at)),
        ),
        (
            "huge id",
            file(SLS, format!("{}: {{test.nop: []}}\n", "a".repeat(n * 50))),
        ),
    ]
}

/// Managed files: many, long, and with templates or sources that cost much; and both sides of comparisons.
#[expect(clippy::too_many_lines, reason = "a table")]
fn managed(n: usize) -> Vec<(&'static str, Files)> {
    let some = n.min(3_000);
    let sources = |state: String, source: String| {
        [file(SLS, state), vec![("salt/f/a.txt".into(), source)]].concat()
    };
    let one = "/etc/a: {file.managed: [{source: 'salt://f/a.txt'}, {template: jinja}]}\n";
    let both = |path: &str, of: &dyn Fn(usize) -> String| {
        let before = path.replacen("salt", "before", 1);
        vec![
            (path.to_owned(), lines(n, of)),
            (before, lines(n, |at| of(at * 7_919 % (n + 1)) + "!")),
        ]
    };
    vec![
        (
            "managed files",
            file(
                SLS,
                lines(some, |at| {
                    format!("/etc/f{at}: {{file.managed: [{{contents: x}}]}}")
                }),
            ),
        ),
        (
            "one template of many files",
            sources(
                lines(some, |at| {
                    format!(
                        "/etc/f{at}: {{file.managed: [{{source: 'salt://f/a.txt'}}, {{template: jinja}}, {{context: {{x: {at}}}}}]}}"
                    )
                }),
                lines(100, |_| "{{ x }} {{ grains.id }}".into()),
            ),
        ),
        (
            "file whose template never ends",
            sources(
                one.into(),
                "{% for i in range(99999) %}{% for j in range(99999) %}{{ i }}{% endfor %}{% endfor %}"
                    .into(),
            ),
        ),
        (
            "file of a long loop",
            sources(
                one.into(),
                format!("{{% for i in range({}) %}}line {{{{ i }}}}\n{{% endfor %}}", n * 5),
            ),
        ),
        (
            "sources of one file",
            file(
                SLS,
                format!(
                    "/etc/a:\n  file.managed:\n    - source:\n{}",
                    lines(n, |at| format!("      - salt://f/none{at}"))
                ),
            ),
        ),
        (
            "recursed folder",
            [
                file(SLS, "/etc/d: {file.recurse: [{source: 'salt://f/d'}]}\n"),
                (0..some)
                    .map(|at| (format!("salt/f/d/{}/{at}", at % 50), format!("{at}\n")))
                    .collect(),
            ]
            .concat(),
        ),
        (
            "collected lines",
            file(
                SLS,
                "/etc/a: {file.managed: [{contents: x}]}\n".to_owned()
                    + &lines(some, |at| {
                        format!(
                            "c{at}: {{file.accumulated: [{{filename: /etc/a}}, {{text: t{at}}}, {{require_in: [{{file: /etc/a}}]}}]}}"
                        )
                    }),
            ),
        ),
        (
            "changed lines of a file",
            [
                file(SLS, one),
                vec![("before/f/init.sls".into(), one.into())],
                both("salt/f/a.txt", &|at| format!("line {at}")),
            ]
            .concat(),
        ),
        (
            "changed states",
            both(SLS, &|at| format!("a{at}: {{test.nop: [{{x: 1}}]}} #")),
        ),
        (
            "changed items of a list",
            both(DEFAULTS, &|at| match at {
                0 => "values:\n  l: #".into(),
                at => format!("    - {{n: {at}}} #"),
            }),
        ),
        (
            "names that require names",
            file(
                SLS,
                lines(3, |list| {
                    let names = (0..some).fold(String::new(), |all, at| {
                        all + &format!("n{list}-{at}: [{{require: [{{test: b{}}}]}}], ", (list + 1) % 3)
                    });
                    format!("b{list}: {{test.nop: [{{names: [{{{names}}}]}}]}}")
                }),
            ),
        ),
        (
            "sls that include all others",
            [
                file(SLS, "include: ['f.s*']\n"),
                (0..some.min(200))
                    .map(|at| {
                        let state = format!("a{at}: {{test.nop: [{{require: [{{sls: f}}]}}]}}\n");
                        (format!("salt/f/s{at}.sls"), format!("include: ['f.s*']\n{state}"))
                    })
                    .collect(),
            ]
            .concat(),
        ),
        (
            "controls of a terminal",
            [
                file(
                    SLS,
                    "\"i\\e]0;x\\a\": {file.managed: [{name: \"/etc/\\x9b\\u202e\"}, {contents: \"\\n::error::x\"}]}\n",
                ),
                vec![(
                    "salt/f/map.jinja".into(),
                    "{% set f = {} %}{{ raise('\u{1b}]0;x\u{7}\u{9b}\u{202e}' * 999) }}".into(),
                )],
            ]
            .concat(),
        ),
    ]
}

fn write(directory: &Path, files: &Files) {
    let minion = (
        "web1.yaml",
        "id: web1\ngrains: {os: Debian, os_family: Debian}\n",
    );
    let usual = [
        minion,
        ("minions/web1.yaml", minion.1),
        ("before/f/parameters/defaults.yaml", "values: {a: 0}\n"),
        ("before/f/init.sls", "a: {test.nop: []}\n"),
        ("before/top.sls", "base: {'*': [f]}\n"),
        ("salt/top.sls", "base: {'*': [f]}\n"),
        ("pillar/top.sls", "base: {'*': [p]}\n"),
        ("pillar/p.sls", "k: 1\n"),
        (
            "master",
            "file_roots: {base: [salt]}\npillar_roots: {base: [pillar]}\n",
        ),
    ];
    let usual = usual.map(|(path, text)| (path.to_owned(), text.to_owned()));
    for (path, text) in usual.iter().chain(files) {
        let (path, target) = path.split_once(" -> ").unwrap_or((path, ""));
        let at = directory.join(path.trim_end_matches('|'));
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        if !target.is_empty() {
            std::os::unix::fs::symlink(target, at).unwrap();
        } else if path.ends_with('|') {
            let made = std::process::Command::new("mkfifo").arg(&at).status();
            assert!(made.is_ok_and(|status| status.success()), "{path}");
        } else {
            fs::write(at, text).unwrap();
        }
    }
}

/// Ask a verb about a tree. It ends in time, says little, and no fault of the program.
///
/// # Errors
/// The expectations that the run did not meet.
fn ask(tree: &Tree, directory: &Path, verb: &str, seconds: u64) -> Result<(), String> {
    let started = Instant::now();
    let line = format!("{verb} --max-time {seconds} --max-memory 512");
    let Ran {
        status,
        stdout,
        stderr,
    } = run_line(directory, &line);
    let took = started.elapsed();
    // A run that used up its budget never succeeds.
    let is_out = stderr.contains("error: the run takes more than");
    let is_fault = ["panicked", "fault of mapstack"]
        .iter()
        .any(|fault| stderr.contains(fault));
    let acts = |c: char| c.is_control() && c != '\n';
    let wrong = [
        (!matches!(status, Some(0..=2)), "status"),
        (took > Duration::from_secs(seconds + SLACK), "time"),
        (stderr.len() > MOST_SAID, "messages"),
        (stdout.len() > MOST_PRINTED, "output"),
        (is_fault, "fault"),
        (stderr.contains(acts), "control characters"),
        (is_out && status == Some(0), "success"),
    ];
    match wrong.iter().find(|(is_wrong, _)| *is_wrong) {
        None => Ok(()),
        Some((_, what)) => {
            let start: String = stderr.chars().take(600).collect();
            Err(format!(
                "{}: {what}: {line}: {status:?}, {took:?}, {} and {} bytes\n{start}",
                tree.name,
                stdout.len(),
                stderr.len()
            ))
        }
    }
}

#[test]
fn every_verb_ends_on_every_tree() {
    let is_full = std::env::var_os("MAPSTACK_HOSTILE").is_some_and(|size| size == "full");
    // Trees without an end take all the time that there is.
    let (n, seconds) = if is_full { (20_000, 2) } else { (100, 1) };
    let trees = |verb: Option<&'static str>, rows: Vec<(&'static str, Files)>| -> Vec<Tree> {
        let tree = |(name, files)| Tree { name, verb, files };
        rows.into_iter().map(tree).collect()
    };
    let mixed = [data(n), templates(n), many(n), managed(n)].concat();
    // Those that are made for the compiler go through it, or through the linter that asks it.
    let all = [
        trees(None, mixed),
        trees(Some(HIGHSTATE), states(n)),
        estates::trees(n),
    ]
    .concat();
    assert!(all.len() >= 150, "{}", all.len());
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((at, tree)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            all.get(at).map(|tree| (at, tree))
        } {
            let directory = tempfile::tempdir().unwrap();
            write(directory.path(), &tree.files);
            let lint = VERBS[0];
            let other = VERBS[1 + at % (VERBS.len() - 1)];
            let verbs = match (is_full, tree.verb, at % 4) {
                (true, ..) => VERBS.to_vec(),
                (_, own, 0) => vec![own.unwrap_or(other), lint],
                (_, own, _) => vec![own.unwrap_or(other)],
            };
            let found = verbs
                .iter()
                .map(|verb| ask(tree, directory.path(), verb, seconds));
            for found in found.filter_map(Result::err) {
                // The large trees take hours, and this is worth knowing before.
                eprintln!("{found}");
                wrong.lock().unwrap().push(found);
            }
        }
    };
    std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
