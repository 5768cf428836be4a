//! Trees of whole estates: top files, pillars, minions, settings, recorded results, repositories and special files.

#![expect(clippy::too_many_lines, reason = "tables")]

use super::{DEFAULTS, FILE, Files, HIGHSTATE, SLS, Tree, doubled, file, files, lines};

const DIFF: &str = "diff --from salt --to before --minions minions";
const FLEET: &str = "fleet f --root salt --minions minions";
const GIT: &str = "diff --from HEAD --root salt --minions minions";
const LINT: &str = "lint";
const MAP: &str = "map f --root salt --minion web1.yaml";
const PILLAR: &str = "pillar --config master --config-kind master --minion web1.yaml";

const MAP_FILE: &str = "salt/f/map.jinja";
const SLS_OF_PILLAR: &str = "pillar/p.sls";
const TOP: &str = "salt/top.sls";

/// All of them, in sizes near a number.
pub fn trees(n: usize) -> Vec<Tree> {
    [
        tops(n),
        pillars(n),
        masters(n),
        documents(n),
        maps(n),
        compiled(n),
        compared(n),
        repositories(n),
    ]
    .concat()
}

fn tree(name: &'static str, verb: &'static str, files: Files) -> Tree {
    Tree {
        name,
        verb: Some(verb),
        files,
    }
}

/// Each level has the one below twice.
fn aliases() -> String {
    doubled(30, "x0: &x0 [1, 1]", |at| {
        format!("x{}: &x{} [*x{at}, *x{at}]", at + 1, at + 1)
    })
}

/// The same as items of one list, so many blanks to the right.
fn items_of_aliases(blanks: usize) -> String {
    let blanks = " ".repeat(blanks);
    let next = |at| format!("{blanks}- &x{} [*x{at}, *x{at}]", at + 1);
    doubled(30, &format!("{blanks}- &x0 [1, 1]"), next)
}

/// Who gets what.
fn tops(n: usize) -> Vec<Tree> {
    let (deep, some) = (n.min(5_000), n.min(300));
    let backtracks = |at| {
        format!(
            "  '(a+)+(b|a)*{at}$': [{{match: pcre}}, f]\n  '{}{at}': [f]",
            "*a".repeat(40)
        )
    };
    vec![
        tree(
            "saltenvs of a top file",
            HIGHSTATE_OF_TOP,
            file(TOP, lines(n, |at| format!("e{at}: {{'*': [f]}}"))),
        ),
        tree(
            "targets inside targets",
            HIGHSTATE_OF_TOP,
            file(
                TOP,
                format!(
                    "base:\n  '{}G@os:Debian{}': [{{match: compound}}, f]\n",
                    "( ".repeat(deep),
                    " )".repeat(deep)
                ),
            ),
        ),
        tree(
            "alternatives of a target",
            HIGHSTATE_OF_TOP,
            file(
                TOP,
                format!(
                    "base:\n  '{}L@web1': [{{match: compound}}, f]\n",
                    (0..n)
                        .map(|at| format!("G@os:X{at} or "))
                        .collect::<String>()
                ),
            ),
        ),
        tree(
            "patterns that backtrack",
            HIGHSTATE_OF_TOP,
            [
                file(TOP, format!("base:\n{}", lines(some, backtracks))),
                vec![(
                    "web1.yaml".into(),
                    format!("id: {}\ngrains: {{os: Debian}}\n", "a".repeat(60)),
                )],
            ]
            .concat(),
        ),
        tree(
            "top file of a template without end",
            HIGHSTATE_OF_TOP,
            file(
                TOP,
                "{% for i in range(99999) %}{% for j in range(99999) %}{{ i }}{% endfor %}{% endfor %}",
            ),
        ),
    ]
}

const HIGHSTATE_OF_TOP: &str = "highstate --root salt --minion web1.yaml";

/// Pillars that grow, go round, or never end.
fn pillars(n: usize) -> Vec<Tree> {
    let some = n.min(200);
    let all_others = |own: usize| {
        (0..some)
            .filter(|at| *at != own)
            .map(|at| format!("p{at}, "))
            .collect::<String>()
    };
    let pillar = |text: String| file(SLS_OF_PILLAR, text);
    vec![
        tree("aliases of a pillar", PILLAR, pillar(aliases())),
        tree(
            "sls of a pillar that include all others",
            PILLAR,
            [
                pillar("include: [p0]\n".into()),
                (0..some)
                    .map(|at| {
                        let text = format!(
                            "include: [{}]\nk{at}: {{{{ pillar|length }}}}\n",
                            all_others(at)
                        );
                        (format!("pillar/p{at}.sls"), text)
                    })
                    .collect(),
            ]
            .concat(),
        ),
        tree(
            "pillar that asks for itself",
            PILLAR,
            pillar(lines(n, |at| {
                format!(
                    "c{at}: {{{{ salt['pillar.get']('a:b:c{at}', {{}}) }}}}{{{{ salt['pillar.items']() }}}}"
                )
            })),
        ),
        tree(
            "pillar without end",
            PILLAR,
            pillar("#!py\ndef run():\n    while True: pass\n".into()),
        ),
        tree(
            "wide pillar",
            "explain pillar --config master --config-kind master --minion web1.yaml",
            pillar(lines(n, |at| format!("k{at}: {{a: {at}}}"))),
        ),
        tree(
            "wrong pillar of each sls",
            "lint --config master --config-kind master",
            [
                pillar(format!(
                    "include:\n{}",
                    lines(some, |at| format!("  - p{at}"))
                )),
                (0..some)
                    .map(|at| (format!("pillar/p{at}.sls"), "a: [\n".to_owned()))
                    .collect(),
            ]
            .concat(),
        ),
    ]
}

/// Configurations of masters, and what they name.
fn masters(n: usize) -> Vec<Tree> {
    let master = |more: &str| {
        file(
            "master",
            format!("file_roots: {{base: [salt]}}\npillar_roots: {{base: [pillar]}}\n{more}"),
        )
    };
    let circle = |at: usize| format!("classes: [c{}, c{}]", (at + 1) % n, (at + 2) % n);
    let node_groups = lines(n, |at| format!("  g{at}: 'N@g{}'", (at + 1) % n));
    vec![
        tree(
            "node groups in a circle",
            PILLAR,
            [
                master(&format!("nodegroups:\n{node_groups}")),
                vec![(
                    "pillar/top.sls".into(),
                    "base: {g0: [{match: nodegroup}, p]}\n".into(),
                )],
            ]
            .concat(),
        ),
        tree(
            "roots of a master",
            "lint --config master --config-kind master",
            file(
                "master",
                format!(
                    "file_roots:\n  base:\n{}",
                    lines(n, |at| format!("    - salt{at}"))
                ),
            ),
        ),
        tree(
            "stacks without end",
            PILLAR,
            [
                master("ext_pillar:\n  - stack: stack.cfg\n"),
                vec![
                    ("stack.cfg".into(), lines(n, |_| "s.yml".into())),
                    (
                        "s.yml".into(),
                        "{% for i in range(9999) %}k{{ i }}: {{ stack }}\n{% endfor %}".into(),
                    ),
                ],
            ]
            .concat(),
        ),
        tree(
            "classes in a circle",
            PILLAR,
            [
                master("ext_pillar:\n  - saltclass:\n    - path: sc\n"),
                vec![("sc/nodes/web1.yml".into(), "classes: [c0]\n".into())],
                (0..n)
                    .map(|at| (format!("sc/classes/c{at}.yml"), circle(at)))
                    .collect(),
            ]
            .concat(),
        ),
        tree(
            "references in a circle",
            PILLAR,
            [
                master("ext_pillar:\n  - reclass: {inventory_base_uri: rc}\n"),
                vec![
                    ("rc/nodes/web1.yml".into(), "classes: [c]\n".into()),
                    (
                        "rc/classes/c.yml".into(),
                        format!(
                            "parameters:\n{}",
                            lines(n, |at| format!(
                                "  k{at}: '${{k{}}} ${{k{}}}'",
                                (at + 1) % n,
                                (at + 2) % n
                            ))
                        ),
                    ),
                ],
            ]
            .concat(),
        ),
    ]
}

/// Documents that the command reads beside the files of the server.
fn documents(n: usize) -> Vec<Tree> {
    let some = n.min(5_000);
    let minion = |grains: &str| file("minions/b.yaml", format!("id: b\ngrains: {grains}\n"));
    let test = "test f --root salt --minions minions --expectations recorded";
    vec![
        tree(
            "deep grains",
            FLEET,
            minion(&format!("{}1{}", "{a: ".repeat(some), "}".repeat(some))),
        ),
        tree(
            "aliases of grains",
            FLEET,
            file(
                "minions/b.yaml",
                format!("id: b\ngrains:\n  x:\n{}", items_of_aliases(4)),
            ),
        ),
        tree(
            "long grain",
            FLEET,
            minion(&format!("{{x: '{}'}}", "y".repeat(n * 200))),
        ),
        tree(
            "controls in the names of minions",
            FLEET,
            file(
                "minions/w\u{1b}[8m\u{202e}.yaml",
                "id: \"w\\e[8m\\u202e\"\ngrains: {os: \"\\e[8m\\x9b\", \"g\\e]0;x\\a\": 1}\n",
            ),
        ),
        tree(
            "settings of a checkout",
            LINT,
            file(
                ".mapstack.yaml",
                format!(
                    "roots: [salt{}]\nminions: minions\n{}",
                    (0..some).map(|at| format!(", s{at}")).collect::<String>(),
                    lines(some, |at| format!("unknwon{at}: 1"))
                ),
            ),
        ),
        tree(
            "recorded results that are many",
            test,
            file(
                "recorded/f/web1.yaml",
                format!(
                    "values:\n{}",
                    lines(n * 5, |at| format!("  k{at}: {{a: 1}}"))
                ),
            ),
        ),
        tree(
            "aliases of recorded results",
            test,
            file("recorded/f/web1.yaml", aliases()),
        ),
        tree(
            "deep recorded results",
            test,
            file(
                "recorded/f/web1.yaml",
                format!("a: {}{}", "[".repeat(n), "]".repeat(n)),
            ),
        ),
    ]
}

/// `map.jinja` and templates that extend each other.
fn maps(n: usize) -> Vec<Tree> {
    let some = n.min(150);
    let sources = |at| format!("    - 'Y:C@G@os:Debian and ( G@x{at}:* or not I@y:{at} )'");
    vec![
        tree(
            "branches of a map",
            MAP,
            file(
                MAP_FILE,
                "{% set f = {} %}\n".to_owned()
                    + &lines(n.min(5_000), |at| {
                        format!(
                            "{{% if grains.os == 'X{at}' %}}{{% do f.update({{'k': {at}}}) %}}{{% endif %}}"
                        )
                    }),
            ),
        ),
        tree(
            "choices of a map",
            "explain f --root salt --minion web1.yaml",
            file(
                MAP_FILE,
                format!(
                    "{{% set f = salt['grains.filter_by']({{\n{}}}, default='X1') %}}\n",
                    lines(n, |at| format!("'X{at}': {{'k{at}': {at}}},"))
                ),
            ),
        ),
        tree(
            "map that holds itself",
            MAP,
            file(
                MAP_FILE,
                "{% set f = {'a': 1} %}{% do f.update({'x': f}) %}{% set l = [] %}{% do l.append(l) %}{% do f.update({'l': l}) %}",
            ),
        ),
        tree(
            "long literals",
            "convert f --check --root salt",
            file(
                MAP_FILE,
                format!(
                    "{{% set f = {{{}}} %}}",
                    lines(n, |at| format!("'k{at}': {{'a': {at}}},"))
                ),
            ),
        ),
        tree(
            "templates that extend each other",
            "render f/init.sls --root salt --minion web1.yaml",
            [
                file(SLS, "{% include 'f/t0.j' %}"),
                (0..some)
                    .map(|at| {
                        let next = at + 1;
                        let twice = "{% block b %}{{ super() }}{{ super() }}{% endblock %}";
                        let extends = format!("{{% extends 'f/t{next}.j' %}}{twice}");
                        (format!("salt/f/t{at}.j"), extends)
                    })
                    .collect(),
                vec![(
                    format!("salt/f/t{some}.j"),
                    "{% block b %}x{% endblock %}".into(),
                )],
            ]
            .concat(),
        ),
        tree(
            "compound sources",
            "sources f --root salt --minion web1.yaml",
            file(
                "salt/f/parameters/map_jinja.yaml",
                format!("values:\n  sources:\n{}", lines(n.min(3_000), sources)),
            ),
        ),
        tree(
            "map that each state prints",
            HIGHSTATE,
            [
                file(
                    MAP_FILE,
                    "{% import_yaml 'f/d.yaml' as d %}{% set f = salt['grains.filter_by'](d) %}\n",
                ),
                vec![
                    (
                        "salt/f/d.yaml".into(),
                        lines(n.min(3_000), |at| {
                            format!("X{at}: {{k: {at}, l: [1, {at}]}}")
                        }) + "Debian: {k: 1}\n",
                    ),
                    (
                        SLS.into(),
                        "{% from 'f/map.jinja' import f %}\n".to_owned()
                            + &lines(n.min(1_000), |at| {
                                format!("a{at}: {{test.nop: [{{x: {{{{ f|json }}}}}}]}}")
                            }),
                    ),
                ],
            ]
            .concat(),
        ),
    ]
}

/// States whose arguments or relations are dense.
fn compiled(n: usize) -> Vec<Tree> {
    let some = n.min(400);
    let all = |of: &dyn Fn(usize) -> String| (0..some).map(of).collect::<String>();
    let part = |module: &str, args: &str| {
        lines(n.min(2_000), |at| {
            format!("p{at}: {{file.{module}: [{{name: /etc/a}}, {args}]}}")
        })
    };
    let fragments = [
        part("append", "{text: a}"),
        part(
            "blockreplace",
            "{marker_start: a}, {marker_end: b}, {content: c}",
        ),
        part("replace", "{pattern: '(a+)+$'}, {repl: '\\1'}"),
        part("line", "{mode: ensure}, {content: a}, {after: '(a*)*b'}"),
    ];
    let fragments: Vec<String> = fragments
        .iter()
        .enumerate()
        .map(|(at, text)| text.replace("\np", &format!("\nq{at}-")))
        .collect();
    vec![
        tree(
            "states that use all others",
            "explain highstate --sls f --root salt --minion web1.yaml",
            file(
                SLS,
                lines(some, |at| {
                    let others = all(&|to| format!("{{test: a{to}}}, "));
                    format!("a{at}: {{test.nop: [{{x{at}: 1}}, {{use: [{others}]}}]}}")
                }),
            ),
        ),
        tree(
            "aliases in arguments",
            "file /etc/a --sls f --root salt --minion web1.yaml",
            file(
                SLS,
                format!(
                    "b:\n  file.managed:\n    - name: /etc/a\n    - template: jinja\n    - contents: '{{{{ x }}}}'\n    - context:\n        x:\n{}",
                    items_of_aliases(10)
                ),
            ),
        ),
        tree(
            "requisites both ways and extend",
            HIGHSTATE,
            [
                file(
                    SLS,
                    "include: [f.e]\n".to_owned()
                        + &lines(n.min(3_000), |at| {
                            format!(
                                "a{at}: {{test.nop: [{{require_in: [{{test: a{}}}]}}, {{watch_in: [{{test: a{}}}]}}]}}",
                                at + 1,
                                at / 7
                            )
                        }),
                ),
                vec![(
                    "salt/f/e.sls".into(),
                    format!(
                        "extend:\n{}",
                        lines(n.min(3_000), |at| {
                            format!("  a{at}: {{test: [{{require: [{{test: a{}}}]}}]}}", at / 31)
                        })
                    ),
                )],
            ]
            .concat(),
        ),
        tree("parts of one file", FILE, file(SLS, fragments.concat())),
        tree(
            "functions of the tree that print much",
            HIGHSTATE,
            [
                file(
                    SLS,
                    lines(some, |at| {
                        format!("a{at}: {{test.nop: [{{x: {{{{ salt['m.f']({at})|json }}}}}}]}}")
                    }),
                ),
                vec![(
                    "salt/_modules/m.py".into(),
                    "def f(x=0):\n    return '\\x1b[8m\\n::error::x' * 1000\n".into(),
                )],
            ]
            .concat(),
        ),
        tree(
            "wrong files",
            "lint f --root salt --platform debian-12",
            [
                file(SLS, format!("include:\n{}", lines(some, |at| format!("  - f.s{at}")))),
                (0..some)
                    .flat_map(|at| {
                        let layer = format!("salt/f/parameters/os_family/D{at}.yaml");
                        [
                            (format!("salt/f/s{at}.sls"), "a: [\n".to_owned()),
                            (layer, "values: [\n".to_owned()),
                        ]
                    })
                    .collect(),
            ]
            .concat(),
        ),
    ]
}

/// Two states of the files that share little.
fn compared(n: usize) -> Vec<Tree> {
    let both = |path: &str, start: &str, of: &dyn Fn(&str, usize) -> String| {
        let before = path.replacen("salt", "before", 1);
        let side = |word: &str| format!("{start}{}", lines(n, |at| of(word, at)));
        vec![(path.to_owned(), side("new")), (before, side("old"))]
    };
    let named =
        |word: &str, at| format!("{word}{at}: {{test.nop: [{{x: {at}}}, {{name: {word}-{at}}}]}}");
    let keyed = |word: &str, at| format!("  {word}{at}: v{at}");
    vec![
        tree("renamed states", DIFF, both(SLS, "", &named)),
        tree("renamed keys", DIFF, both(DEFAULTS, "values:\n", &keyed)),
        tree(
            "line of many values",
            "lint f --root salt --platform debian-12",
            file(
                DEFAULTS,
                format!(
                    "values: {{{}}}\n",
                    (0..n * 10)
                        .map(|at| format!("k{at}: 0644, "))
                        .collect::<String>()
                ),
            ),
        ),
    ]
}

/// Files that are not files, and repositories that are none or someone else's.
fn repositories(n: usize) -> Vec<Tree> {
    let git = |more: &[(&str, &str)]| {
        let usual = [
            (".git/HEAD", "ref: refs/heads/main\n"),
            (
                ".git/config",
                "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
            ),
            (".git/objects/info/keep", ""),
            (".git/refs/heads/keep", ""),
        ];
        let name = |path: &str| path.split([' ', '|']).next().map(str::to_owned);
        let changed = |path: &str| more.iter().any(|(other, _)| name(other) == name(path));
        let usual = usual.into_iter().filter(|(path, _)| !changed(path));
        let all = usual.chain(more.iter().copied());
        let all = all.map(|(path, text)| (path.to_owned(), text.to_owned()));
        [file(SLS, "a: {test.nop: []}\n"), all.collect()].concat()
    };
    let id = "1".repeat(40);
    let packed = lines(n, |at| format!("{at:040x} refs/heads/b{at}"));
    let config = lines(n, |at| format!("[include]\n\tpath = config{at}"));
    let refs = |at: usize| {
        (
            format!(".git/refs/heads/r{at}"),
            format!("ref: refs/heads/r{}\n", (at + 1) % n),
        )
    };
    vec![
        tree(
            "pipes and devices in place of files",
            HIGHSTATE,
            [
                file(
                    SLS,
                    "include: [f.pipe]\n/etc/z: {file.managed: [{source: 'salt://f/zero'}]}\n/etc/d: {file.recurse: [{source: 'salt://f'}]}\n",
                ),
                vec![
                    ("salt/f/pipe.sls|".into(), String::new()),
                    ("salt/f/zero -> /dev/zero".into(), String::new()),
                    ("salt/f/loop -> ..".into(), String::new()),
                    ("minions/pipe.yaml|".into(), String::new()),
                    ("minions/zero.yaml -> /dev/zero".into(), String::new()),
                    ("salt/f/map.jinja|".into(), String::new()),
                ],
            ]
            .concat(),
        ),
        tree("HEAD that is a pipe", GIT, git(&[(".git/HEAD|", "")])),
        tree(
            "HEAD that is a device",
            GIT,
            git(&[(".git/HEAD -> /dev/zero", "")]),
        ),
        tree("HEAD that names itself", GIT, git(&[(".git/HEAD", "ref: HEAD\n")])),
        tree("long HEAD", GIT, git(&[(".git/HEAD", &id.repeat(n))])),
        tree(
            "references in a ring",
            GIT,
            [git(&[(".git/HEAD", "ref: refs/heads/r0\n")]), (0..n.min(3_000)).map(refs).collect()].concat(),
        ),
        tree("many references", GIT, git(&[(".git/packed-refs", &packed)])),
        tree("settings of git", GIT, git(&[(".git/config", &config)])),
        tree(
            "settings of git that include themselves",
            GIT,
            git(&[(".git/config", "[include]\n\tpath = config\n")]),
        ),
        tree(
            "objects elsewhere",
            GIT,
            git(&[
                (".git/objects/info/alternates", &"/\n../..\n".repeat(n)),
                (".git/commondir -> /dev/zero", ""),
            ]),
        ),
        tree(
            "index and pack of zeros",
            GIT,
            git(&[
                (".git/index", &"\0".repeat(n)),
                (".git/objects/pack/pack-1.idx", &"\0".repeat(n)),
                (".git/objects/pack/pack-1.pack -> /dev/zero", ""),
            ]),
        ),
        tree(
            "link to a repository that links back",
            GIT,
            files(1, |_| (".git".into(), "gitdir: .git\n".into())),
        ),
    ]
}
