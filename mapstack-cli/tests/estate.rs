//! An estate is found in a checkout, and verbs need no flags in it.

use crate::common::{Tree, assert_line, assert_snapshot, repository, run, run_line};

/// The output of a verb in the example estate, and its messages.
fn shown(line: &str) -> String {
    let ran = run_line(&repository().join("examples/estate"), line);
    format!(
        "{}---\n{}--- {}\n",
        ran.stdout,
        ran.stderr,
        ran.status.unwrap_or(-1)
    )
}

#[test]
fn verbs_in_the_example_estate() {
    for (name, line) in [
        ("minions", "minions"),
        ("lint", "lint"),
        ("fleet", "fleet"),
        ("pillar", "pillar web1.example.org"),
        ("explain", "explain --id db1.example.org"),
        ("init", "init --print"),
    ] {
        assert_snapshot(&format!("estate/{name}.txt"), &shown(line));
    }
    for (name, line) in [("minions", "minions -o json"), ("fleet", "fleet -o json")] {
        let ran = run_line(&repository().join("examples/estate"), line);
        assert_snapshot(&format!("estate/{name}.json"), &ran.stdout);
    }
}

/// A checkout whose files say all of it.
fn checkout() -> Tree {
    Tree::new(&[
        ("salt/top.sls", "base:\n  '*': [common]\n  web*: [web]\n"),
        ("salt/common.sls", "a: test.nop\n"),
        (
            "salt/web/init.sls",
            "b: {test.nop: [{name: {{ pillar.x }}}]}\n",
        ),
        ("salt/lost.sls", "{% if %}\n"),
        ("pillar/top.sls", "base:\n  '*': [private.all, own]\n"),
        ("pillar/own.sls", "x: 1\n"),
    ])
}

#[test]
fn nothing_has_to_be_named() {
    let tree = checkout();
    for (line, status, out, err) in [
        (
            "minions",
            0,
            "web-1  as debian-12  salt/top.sls:3, made up",
            "",
        ),
        (
            "fleet",
            1,
            "web-1  2 sls; its pillar has 1 error",
            "error: 1 of 1 minion failed",
        ),
        (
            "lint",
            1,
            "error[template-syntax]",
            "3 sls: 2 that 1 minion gets by top files, 1 that none gets",
        ),
        (
            "lint",
            1,
            "no root of the pillar has the folder 'private'",
            "",
        ),
        (
            "pillar web1",
            1,
            "x: 1",
            "nothing in the checkout names the minion 'web1', so it is one of debian-12",
        ),
        ("pillar wen-1", 1, "", "did you mean 'web-1'?"),
        ("pillar web-1 --id web-1", 2, "", "cannot be used with"),
        ("explain", 1, "x: 1", ""),
        ("init --print", 0, "roots: [salt]", ""),
    ] {
        assert_line(tree.path(), line, status, out, err);
    }
}

#[test]
fn what_only_made_up_minions_lack_is_a_warning() {
    let tree = Tree::new(&[
        (
            "salt/top.sls",
            "{% set own = pillar.sites[grains.id].kind %}\nbase:\n  web1: [web]\n  'G@roles:db': [web]\n",
        ),
        (
            "salt/web.sls",
            "a: {test.nop: [{name: {{ pillar.sites[grains.id].kind }}}]}\n",
        ),
        ("pillar/top.sls", "base: {'*': [sites]}\n"),
        ("pillar/sites.sls", "sites: {web1: {kind: a}}\n"),
    ]);
    assert_line(tree.path(), "lint", 0, "these minions represent others", "");
    tree.write("pillar/sites.sls", b"sites: {web2: {kind: a}}\n");
    assert_line(tree.path(), "lint", 1, "did you mean 'web2'?", "");
}

#[test]
fn what_fails_by_grains_that_are_assumed_is_a_warning() {
    let tree = Tree::new(&[
        ("salt/top.sls", "base: {web1: [web]}\n"),
        (
            "salt/web.sls",
            "a: {test.nop: [{name: {{ grains['ip4_interfaces']['eth7'][0] }}}]}\n",
        ),
        (
            "pillar/top.sls",
            "base:\n{% for role in grains['role'] %}\n  '*': [{{ role }}]\n{% endfor %}\n",
        ),
    ]);
    let out = "the grains of these minions are assumed: 'role'";
    assert_line(tree.path(), "lint", 0, out, "");
    tree.write(".mapstack.yaml", b"minions: {grains: {role: [own]}}\n");
    tree.write("pillar/own.sls", b"a: 1\n");
    let out = "the grains of these minions are assumed: 'ip4_interfaces:eth7'";
    assert_line(tree.path(), "lint", 0, out, "");
    tree.write("salt/web.sls", b"include: ['sys.{{ grains.os_family }}']\n");
    tree.write("salt/sys/Arch.sls", b"{}\n");
    let out = "a template makes its name, of facts that are assumed";
    assert_line(tree.path(), "lint", 0, out, "");
    // A slip is one on all machines.
    tree.write(
        "salt/web.sls",
        b"{{ grains['os_famly'] }}: {test.nop: []}\n",
    );
    assert_line(tree.path(), "lint", 1, "did you mean 'os_family'?", "");
    tree.write(
        "salt/web.sls",
        b"{{ grains['oscodename'] }}: {test.nop: []}\n",
    );
    tree.write(
        ".mapstack.yaml",
        b"minions: {platform: windows-2022, grains: {role: [own]}}\n",
    );
    assert_line(tree.path(), "lint", 0, "are assumed: 'oscodename'", "");
}

/// Two formulas of which one asks for what nothing sets, and the other for a key of the pillar.
fn unset() -> Tree {
    let map = "{% set web = salt['pillar.get']('web:lookup', {'port': 80}, merge=True) %}\n";
    let web = "{% from 'web/map.jinja' import web with context %}\na: {test.nop: [{name: {{ web.pkg.name }}}]}\n";
    Tree::new(&[
        ("salt/top.sls", "base: {'*': [web, app]}\n"),
        ("salt/web/map.jinja", map),
        ("salt/web/init.sls", web),
        (
            "salt/app.sls",
            "b: {test.nop: [{name: {{ pillar.app.name }}}]}\n",
        ),
        ("salt/db/map.jinja", "{% set db = {'pkg': 'x'} %}\n"),
        (
            "pillar/top.sls",
            "base: {'*': [web], 'G@role:db': [{match: compound}, db]}\n",
        ),
        ("roster", "web1: {host: web1}\n"),
        ("pillar/web.sls", "web: {lookup: {port: 81}}\n"),
        ("pillar/db.sls", "db: {pkg: mariadb}\n"),
    ])
}

/// The findings about the two keys that nothing sets.
const UNSET: [&str; 2] = [
    "no layer sets `pkg`",
    "it looks up 'app' in the pillar, and no sls of the pillar sets it",
];

#[test]
fn what_nothing_sets_is_an_error_with_its_cause() {
    let tree = unset();
    let given = "web1: {grains: {os: Debian}}\n";
    tree.write("given.yaml", given.as_bytes());
    // Made up, assumed and real minions.
    for line in [
        "lint --platform debian-12",
        "lint",
        "lint --minions given.yaml",
    ] {
        for out in UNSET {
            assert_line(tree.path(), line, 1, out, "2 errors");
        }
    }
    tree.write(
        "salt/app.sls",
        b"# mapstack-lint: from-pillar=pkg, app\nb: {test.nop: [{name: {{ pillar.app.name }}}]}\n",
    );
    let out = "`from-pillar=app` says that the pillar sets it";
    assert_line(tree.path(), "lint", 0, out, "2 notes in");
}

#[test]
fn what_other_parts_of_the_pillar_may_set_is_a_warning() {
    let with_pkg = "web: {lookup: {pkg: {name: a}}}\n";
    // An sls for other grains, a template that may make the key, and a part that lies elsewhere.
    for (path, text) in [
        ("pillar/db.sls", "app: {name: x}\n"),
        (
            "pillar/db.sls",
            "{% for a in ['app'] %}\n{{ a }}: {name: 1}\n{% endfor %}\n",
        ),
        (".mapstack.yaml", "absent: [private.*]\n"),
    ] {
        let tree = unset();
        tree.write("pillar/web.sls", with_pkg.as_bytes());
        tree.write(path, text.as_bytes());
        let out = "it looks up 'app' in the pillar, which is missing";
        assert_line(tree.path(), "lint", 0, out, "1 warning");
    }
    // Real minions lack it all the same, but what only some lack may be meant so.
    let tree = unset();
    tree.write("pillar/web.sls", with_pkg.as_bytes());
    tree.write(
        "given.yaml",
        b"web1: {grains: {os: Debian}}\n---\nid: web2\n",
    );
    tree.write("pillar/db.sls", b"app: {name: x}\n");
    let line = "lint --minions given.yaml";
    assert_line(tree.path(), line, 1, UNSET[1], "1 error");
    tree.write("pillar/top.sls", b"base: {'*': [web], web2: [db]}\n");
    assert_line(tree.path(), line, 0, "on 1 of 2 minions: web1", "1 warning");
}

#[test]
fn a_call_without_an_answer_is_not_followed_however_it_is_written() {
    let tree = Tree::new(&[
        ("salt/top.sls", "base: {web1: [a, b, c]}\n"),
        (
            "salt/a.sls",
            "{% set find = salt['file.find'] %}\na: {test.nop: [{name: {{ find('/x') }}}]}\n",
        ),
        (
            "salt/b.sls",
            "#!py\ndef run():\n    return {'b': {'test.nop': __salt__['ldap3.search']('x')}}\n",
        ),
        (
            "salt/c.sls",
            "#!py\ndef run():\n    return {'c': {'test.nop': __salt__['nosuch.f']('x')}}\n",
        ),
    ]);
    let err = "nothing answers file.find, ldap3.search here";
    assert_line(tree.path(), "lint", 1, "KeyError: 'nosuch.f'", err);
}

#[test]
fn files_of_tools_say_where_a_checkout_is_deployed() {
    let tree = Tree::new(&[
        ("one/top.sls", "base: {'*': [web]}\n"),
        ("one/web.sls", "{% include '/vg/one/part.txt' %}\n"),
        ("one/part.txt", "a: test.nop\n"),
        ("two/top.sls", "base: {'*': []}\n"),
        ("data/top.sls", "base: {'*': []}\n"),
        (
            "Vagrantfile",
            "config.vm.box = 'rockylinux/9'\nconfig.vm.hostname = 'vm.example.org'\n\
             config.vm.synced_folder 'one', '/vg/one'\n",
        ),
        ("Saltfile", "salt-call: {config_dir: conf}\n"),
        (
            "conf/master",
            "file_roots: {base: [/vg/one]}\npillar_roots: {base: [/srv/data]}\n",
        ),
    ]);
    for (line, out, err) in [
        (
            "minions",
            "vm.example.org  as rockylinux-9  Vagrantfile:2",
            "",
        ),
        (
            "lint",
            "",
            "states in one; pillar in data; roots as in conf/master",
        ),
        ("init --print", "from: Vagrantfile", ""),
    ] {
        assert_line(tree.path(), line, 0, out, err);
    }
    assert_line(tree.path(), "init", 0, "", "written");
    assert_line(tree.path(), "minions", 0, "vm.example.org", "");
}

#[test]
fn a_platform_of_a_checkout_without_minions_is_named_by_its_id() {
    let tree = Tree::new(&[
        ("salt/top.sls", "base: {'*': [web]}\n"),
        ("salt/web.sls", "a: test.nop\n"),
    ]);
    assert_line(
        tree.path(),
        "pillar alpine-3.22",
        2,
        "",
        "the checkout has no pillar",
    );
    tree.write("pillar/top.sls", b"base: {'*': [own]}\n");
    tree.write("pillar/own.sls", b"os: {{ grains.os }}\n");
    assert_line(tree.path(), "pillar alpine-3.22", 0, "os: Alpine", "");
}

#[test]
fn a_formula_that_was_not_fetched_is_a_note() {
    let tree = checkout();
    tree.write(
        ".mapstack.yaml",
        b"formulas: [{git: 'https://x:y@example.org/users-formula'}]\nabsent: [private.*]\n",
    );
    let note = "https://example.org/users-formula was not fetched";
    for (line, status) in [("fleet", 0), ("pillar web1", 0), ("lint", 1)] {
        let line = format!("{line} --mirrors none");
        assert_line(tree.path(), &line, status, "", note);
    }
}

#[test]
fn grains_come_from_the_compiled_pillar() {
    let project = "roots: salt\npillar_roots: pillar\nminions: {from: pillar/id/*.sls, grains_from: pillar:own:grains}\n";
    let tree = Tree::new(&[
        (".mapstack.yaml", project),
        ("salt/top.sls", "base: {'G@site:north': [web]}\n"),
        (
            "salt/web.sls",
            "a: {test.nop: [{name: {{ grains.rack }}}]}\n",
        ),
        // The pillar depends on a grain that it gives.
        (
            "pillar/top.sls",
            "base: {'*': [id.{{ grains.id }}], 'site:north': [{match: grain}, north]}\n",
        ),
        (
            "pillar/north.sls",
            "own: {grains: {rack: {{ grains.site }}-7}}\n",
        ),
        ("pillar/id/web1.sls", "include: [site.north]\n"),
        ("pillar/id/web2.sls", "a: 1\n"),
        ("pillar/site/north.sls", "own: {grains: {site: north}}\n"),
    ]);
    for (line, out) in [
        ("minions", "with site, rack"),
        ("pillar web1", "rack: north-7"),
        ("fleet", "web"),
        ("render salt/web.sls", "name: north-7"),
    ] {
        assert_line(tree.path(), line, 0, out, "");
    }
    let ran = run_line(tree.path(), "lint --each");
    assert_eq!(
        (ran.status, ran.stdout.contains("error")),
        (Some(0), false),
        "{}",
        ran.stdout
    );
    tree.write(
        "pillar/north.sls",
        b"own: {grains: {n: {{ grains.get('n', 0) + 1 }}}}\n",
    );
    let err = "the grain 'n' of 'web1' does not settle";
    assert_line(tree.path(), "pillar web1", 1, "", err);
    assert_line(tree.path(), "minions", 0, "web2", err);
    tree.write("pillar/north.sls", b"own: {grains: [rack]}\n");
    let err = "the pillar of 'web1' has a list at 'own:grains'";
    assert_line(tree.path(), "pillar web1", 1, "", err);
    tree.write("pillar/site/north.sls", b"a: {{ nope.nope }}\n");
    let err = "left out for 1 of 2 minions";
    assert_line(tree.path(), "minions", 0, "web1", err);
}

#[test]
fn a_stub_answers_for_an_external_pillar() {
    let tree = Tree::new(&[
        (
            "salt/top.sls",
            "base: {'web1,web2': [{match: list}, web]}\n",
        ),
        (
            "salt/web.sls",
            "a: {test.nop: [{name: {{ pillar.token }}}]}\n",
        ),
        ("pillar/top.sls", "base: {'*': [own]}\n"),
        ("pillar/own.sls", "a: 1\n"),
        ("master", "ext_pillar:\n- vault: conf\n- ca: {name: x}\n"),
        (
            "salt/_pillar/ca.py",
            "import os\ndef ext_pillar(minion_id, pillar, name):\n    os.mkdir('/etc/ca')\n    return {}\n",
        ),
    ]);
    for (line, status, out, err) in [
        ("pillar web1", 1, "", "put `ext_pillar.vault: {return:"),
        ("lint --calls -o yaml", 0, "ext_pillar.ca:", ""),
        (
            "lint",
            0,
            "note[undefined-variable]",
            "what the external pillar 'vault' gives was not looked at",
        ),
        (
            "lint -o json",
            0,
            "may give it were left out: 'ca', 'vault'",
            "",
        ),
    ] {
        assert_line(tree.path(), line, status, out, err);
    }
    tree.write(
        "stubs.yaml",
        b"ext_pillar.vault:\n- {minions: web1, return: {token: t1}}\n- {return: {token: none}}\n\
          ext_pillar.ca: {return: {pem: x}}\n",
    );
    for (line, out) in [
        ("pillar web1 --stub stubs.yaml", "token: t1"),
        ("pillar web2 --stub stubs.yaml", "token: none"),
        ("pillar web2 --stub stubs.yaml", "pem: x"),
    ] {
        assert_line(tree.path(), line, 0, out, "");
    }
    tree.write("stubs.yaml", b"ext_pillar.vault: {return: 3}\n");
    let err = "the stub of 'ext_pillar.vault' returns an integer, not a mapping";
    assert_line(tree.path(), "pillar web1 --stub stubs.yaml", 1, "", err);
}

#[test]
fn ciphertext_in_a_state_is_not_what_salt_puts_there() {
    let tree = Tree::new(&[
        ("salt/top.sls", "base: {web1: [web]}\n"),
        (
            "salt/web.sls",
            "a:\n  test.nop:\n    - name: x {{ pillar['a']['b'] }}\n",
        ),
        ("pillar/top.sls", "base: {'*': [own]}\n"),
        (
            "pillar/own.sls",
            "#!yaml|gpg\na:\n  b: |\n    -----BEGIN PGP MESSAGE-----\n\n    hQ: x\n    -----END PGP MESSAGE-----\n",
        ),
    ]);
    let out = "'a:b' of the pillar stays ciphertext here";
    assert_line(tree.path(), "lint", 0, out, "");
}

#[test]
fn a_missing_sls_may_lie_in_a_root_that_is_not_here() {
    let tree = Tree::new(&[
        ("salt/top.sls", "base: {web1: []}\n"),
        ("pillar/top.sls", "base: {'*': [own, ports]}\n"),
        ("pillar/own.sls", "a: 1\n"),
        ("pillar/other.sls", "a: 1\n"),
    ]);
    assert_line(tree.path(), "lint", 1, "error[missing-include]", "");
    tree.write(
        "master",
        b"pillar_roots: {base: [/srv/pillar, /opt/local/data]}\n",
    );
    let out = "it may lie in /opt/local/data, a root that is not here";
    assert_line(tree.path(), "lint", 0, out, "");
}

#[test]
fn a_folder_of_formulas_is_a_root_for_each() {
    let tree = Tree::new(&[
        ("ntp-formula/ntp/init.sls", "{{ nope.a }}\n"),
        ("web-formula/web/init.sls", "a: test.nop\n"),
        ("web-formula/FORMULA", ""),
    ]);
    assert_line(tree.path(), "minions", 0, "alpine-3.22", "");
    assert_line(
        tree.path(),
        "lint",
        1,
        "ntp-formula/ntp/init.sls:1",
        "in 2 formulas",
    );
}

#[test]
fn a_file_is_proposed_once() {
    let tree = checkout();
    assert_line(tree.path(), "init", 0, "", ".mapstack.yaml written");
    assert_line(tree.path(), "init", 1, "", ".mapstack.yaml exists");
    assert_line(tree.path(), "minions", 0, "web-1", "");
    let empty = Tree::new(&[("README.md", "")]);
    assert_line(empty.path(), "init", 1, "", "nothing here is a formula");
    assert_line(empty.path(), "minions", 2, "", "no estate here");
}

#[test]
fn absent_sls_are_empty() {
    let tree = checkout();
    tree.write(".mapstack.yaml", b"absent: [private.*]\n");
    assert_line(tree.path(), "pillar web1", 0, "x: 1", "empty if missing");
}

#[test]
fn nothing_found_is_said_of_what_was_looked_at() {
    let tree = Tree::new(&[(
        "master",
        "file_roots: {base: [nowhere]}\npillar_roots: {base: [nowhere]}\n",
    )]);
    assert_line(
        tree.path(),
        "lint --config master --platform debian-12",
        2,
        "",
        "nothing was looked at",
    );
}

#[test]
fn slips_in_top_files_of_states_are_shown_where_they_stand() {
    let tree = Tree::new(&[
        ("salt/a.sls", "a: {test.nop: []}\n"),
        ("pillar/top.sls", "base: {}\n"),
        (
            "master",
            "file_roots: {base: [DIR/salt]}\npillar_roots: {base: [DIR/pillar]}\n",
        ),
    ]);
    let directory = tree.path().canonicalize().unwrap();
    let master = "file_roots: {base: [DIR/salt]}\npillar_roots: {base: [DIR/pillar]}\n";
    tree.write(
        "master",
        master
            .replace("DIR", directory.to_str().unwrap())
            .as_bytes(),
    );
    for (top, at, said) in [
        ("base:\n  '*': a\n", ":2:4", "found a string"),
        ("base:\n- '*'\n", ":1:1", "expected targets below 'base'"),
        (
            "base:\n  'os:Debian':\n    - match:grain\n    - a\n",
            ":3:7",
            "help: write `- match: grain`",
        ),
        (
            "base:\n  'os:Debian':\n    - match: grian\n    - a\n",
            ":2:4",
            "help: did you mean 'grain'?",
        ),
        (
            "base:\n  'os:Debian':\n    - mtach: grain\n    - a\n",
            ":3:7",
            "help: did you mean `match`?",
        ),
        (
            "base:\n  web:\n    - match: nodegroup\n    - a\n",
            ":2:3",
            "the option nodegroups has no 'web'",
        ),
        (
            "base:\n  'G@os:Debian nad web*':\n    - a\n",
            ":2:4",
            "matches nothing",
        ),
        (
            "bsae:\n  '*':\n    - a\n",
            ":1:1",
            "help: did you mean 'base'?",
        ),
    ] {
        tree.write("salt/top.sls", top.as_bytes());
        let ran = run_line(tree.path(), "lint --config master --platform debian-12");
        let place = format!("salt/top.sls{at}");
        for text in [&*place, said] {
            assert!(ran.stdout.contains(text), "{top}: {}", ran.stdout);
        }
    }
}

#[test]
fn a_pillar_without_top_file_and_saltenvs_without_roots_are_warned_of() {
    let tree = Tree::new(&[
        ("salt/a.sls", "a: {test.nop: []}\n"),
        ("pillar/a.sls", "a: 1\n"),
        ("dev/a.sls", "a: 1\n"),
    ]);
    let directory = tree.path().canonicalize().unwrap();
    let master =
        "file_roots: {base: [DIR/salt]}\npillar_roots: {base: [DIR/pillar], dev: [DIR/dev]}\n";
    let master = master.replace("DIR", directory.to_str().unwrap());
    tree.write("master", master.as_bytes());
    let line = "pillar --config master --platform debian-12";
    let says = |more: &str, out: &str, said: &str| {
        assert_line(tree.path(), &format!("{line} {more}"), 0, out, said);
    };
    let empty = "the pillar is empty: no root of it has top.sls";
    says("", "{}\n", empty);
    says("", "{}\n", "/pillar (base); ");
    says("--pillarenv deev", "{}\n", "did you mean 'dev'?");
    tree.write("pillar/top.sls", b"base: {'*': [a]}\n");
    says("", "a: 1\n", "");
    says("--saltenv dve", "a: 1\n", "did you mean 'dev'?");
    says(
        "--pillarenv prod",
        "{}\n",
        "saltenvs with a root: base, dev",
    );
    let data = "lint --config master --platform debian-12 --saltenv bsae";
    let ran = run_line(tree.path(), data);
    assert_eq!(
        ran.stderr.matches("the saltenv 'bsae' has no root").count(),
        1,
        "{}",
        ran.stderr
    );
    let ran = run_line(
        tree.path(),
        "render salt://x.sls --config master --platform debian-12 --saltenv prod",
    );
    assert!(
        ran.stderr.contains("the saltenv 'prod' has no root"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("has no directory"), "{}", ran.stderr);
}

/// Formulas of which each names the others by a folder that no root has.
#[test]
fn a_folder_that_no_root_has_is_one_note_in_all() {
    let import =
        |name: &str| format!("{{% from 'states/{name}/map.jinja' import {name} with context %}}\n");
    let tree = Tree::new(&[
        ("a/init.sls", import("a")),
        ("b/init.sls", import("b")),
        ("c/init.sls", import("c")),
    ]);
    let ran = run_line(tree.path(), "lint --root . --platform debian-12");
    assert_eq!(
        ran.stdout.matches("no root has 'states'").count(),
        1,
        "{}",
        ran.stdout
    );
    assert!(
        ran.stderr.contains("1 note (at 3 places)"),
        "{}",
        ran.stderr
    );
}

#[cfg(unix)]
#[test]
fn a_configuration_that_is_a_link_in_a_circle_is_an_error() {
    let tree = Tree::new(&[
        ("salt/a.sls", "a: {test.nop: []}\n"),
        ("etc/minion.d/a.conf", "id: a\n"),
    ]);
    std::os::unix::fs::symlink("master", tree.path().join("etc/master")).unwrap();
    std::os::unix::fs::symlink("loop", tree.path().join("loop")).unwrap();
    std::os::unix::fs::symlink("nowhere", tree.path().join("etc/proxy")).unwrap();
    for config in ["etc", "etc/master", "loop", "etc/proxy"] {
        let line = format!("config --config {config}");
        assert_line(tree.path(), &line, 1, "", "cannot read");
    }
}

#[test]
fn a_hostile_checkout_reads_nothing_outside() {
    let outside = Tree::new(&[
        ("secret.sls", "stolen: yes"),
        ("conf", "id: stolen"),
        ("stack.cfg", "secret.sls"),
    ]);
    let at = outside.path().display();
    let template = format!(
        "{{% include '{at}/secret.sls' %}}\n{{{{ salt['cp.get_file_str']('{at}/secret.sls') }}}}\n"
    );
    let imports = format!("{{% import_yaml '{at}/secret.sls' as s %}}\ns: {{{{ s }}}}\n");
    let master = format!(
        "include: {at}/conf\nfile_roots: {{base: [{at}]}}\npillar_roots: {{base: [{at}, ..{at}]}}\next_pillar:\n\
         - stack: {at}/stack.cfg\n- file_tree: {{root_dir: {at}}}\n- cmd_yaml: cat {at}/secret.sls\n"
    );
    let tree = Tree::new(&[
        ("salt/top.sls", "base: {'*': [a]}"),
        ("salt/a.sls", &*template),
        ("pillar/top.sls", "base: {'*': [a]}"),
        ("pillar/a.sls", &*imports),
        ("master", &*master),
    ]);
    for line in [
        "pillar web1",
        "lint",
        "fleet",
        "explain",
        "minions",
        "init --print",
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        let ran = run(tree.path(), &args);
        let shown = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!shown.contains("stolen"), "{line}: {shown}");
    }
}
