//! `mapstack impact`: which minions a file, a key or a fact affects.

use crate::common::{Tree, assert_line, assert_snapshot, run_line};

fn tree() -> Tree {
    Tree::new(&[
        (
            "r/ssh/parameters/defaults.yaml",
            "values: {port: 22, api_token: hidden-one}\n",
        ),
        (
            "r/ssh/parameters/os_family/Debian.yaml.jinja",
            "{% from 'ssh/lib.jinja' import p %}values: {port: {{ p }}}\n",
        ),
        ("r/ssh/parameters/os/Ubuntu.yaml", "values: {port: 2222}\n"),
        ("r/ssh/lib.jinja", "{% set p = 2222 %}\n"),
        (
            "r/ssh/post-map.jinja",
            "{% if grains.virtual == 'physical' %}{% do mapdata.update({'m': pillar.get('m', 1)}) %}{% endif %}\n",
        ),
        (
            "r/web/parameters/defaults.yaml",
            "values: {a: {{ salt['pillar.get']('web:a', 1) }}}\n",
        ),
        ("elsewhere.yaml", ""),
        (
            "minions/web1.yaml",
            "id: web1\ngrains: {os: Debian, os_family: Debian, virtual: kvm}\n",
        ),
        (
            "minions/web2.yaml",
            "id: web2\ngrains: {os: Ubuntu, os_family: Debian, virtual: physical}\n",
        ),
        (
            "minions/db1.yaml",
            "id: db1\ngrains: {os: Rocky, os_family: RedHat, virtual: kvm}\n",
        ),
    ])
}

#[test]
fn files_keys_and_facts_reach_minions() {
    let tree = tree();
    let mut reported = String::new();
    for what in [
        "r/ssh/parameters/os_family/Debian.yaml.jinja",
        "salt://ssh/lib.jinja",
        "salt://ssh/parameters/os/Gentoo.yaml",
        "ssh:port",
        "ssh:api_token",
        "ssh:m",
        "grains:os_family",
        "grains:virtual",
        "pillar:web",
        "pillar:m",
    ] {
        let ran = run_line(
            tree.path(),
            &format!("impact {what} --root r --minions minions"),
        );
        assert_eq!((ran.status, ran.said()), (Some(0), ""), "{what}");
        reported.push_str(&format!("$ impact {what}\n{}\n", ran.stdout));
    }
    assert!(!reported.contains("hidden-one"), "{reported}");
    // Digests depend on a random salt.
    let masked: Vec<&str> = reported
        .lines()
        .map(|line| {
            if line.contains("<secret ") {
                "  '<secret …>'"
            } else {
                line
            }
        })
        .collect();
    assert_snapshot("impact/reached.txt", &masked.join("\n"));
    let ran = run_line(
        tree.path(),
        "impact ssh:port --root r --minions minions -o json",
    );
    assert_snapshot("impact/port.json", &ran.stdout);
}

#[test]
fn unknown_names_are_reported() {
    let tree = tree();
    for (what, status, said) in [
        ("nope.yaml", 2, "the file does not exist"),
        ("elsewhere.yaml", 2, "is below none of the roots"),
        ("shs:port", 2, "did you mean 'ssh'?"),
        ("grains:os_famly", 1, "did you mean 'os_family'?"),
        ("grains:", 1, "no minion has a grain ''"),
        ("ssh:prot", 1, "did you mean 'port'?"),
        ("pillar:nothing_reads_it", 0, ""),
    ] {
        let ran = run_line(
            tree.path(),
            &format!("impact {what} --root r --minions minions"),
        );
        assert_eq!(ran.status, Some(status), "{what}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{what}: {}", ran.stderr);
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let tree = tree();
    for what in ["ssh:port", "grains:os_family", "ssh/lib.jinja"] {
        let on = |jobs: u8| {
            let ran = run_line(
                &tree.path().join("r"),
                &format!("impact {what} --root . --minions ../minions --jobs {jobs}"),
            );
            assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{what}");
            ran.stdout
        };
        assert_eq!(on(1), on(3), "{what}");
    }
    let parts: Vec<String> = (1..=2)
        .map(|part| {
            let line = format!("impact ssh:port --root r --minions minions --shard {part}/2");
            run_line(tree.path(), &line).stdout
        })
        .collect();
    for id in ["web1", "web2", "db1"] {
        let having = parts.iter().filter(|part| part.contains(id));
        assert_eq!(having.count(), 1, "{id}: {parts:#?}");
    }
}

#[test]
fn what_is_not_followed_is_not_known() {
    let tree = tree();
    tree.write(
        "r/all/parameters/defaults.yaml.jinja",
        b"values: {n: {{ grains | length }}}\n",
    );
    tree.write("r/ssh/files/motd", b"hello\n");
    let without_states = "states and managed files are not followed";
    assert_line(
        tree.path(),
        "impact r/ssh/files/motd --root r --minions minions",
        2,
        "it is not known what",
        without_states,
    );
    tree.write("r/ssh/init.sls", b"a: {test.nop: []}\n");
    tree.write("r/ssh/states.jinja", b"{% set a = 1 %}\n");
    tree.write(
        "r/ssh/refused/init.sls",
        b"a: {test.nop: [{require: [{test: b}]}]}\n",
    );
    let refused =
        "of 3 minions states do not compile, so that their files are not known: db1, web1, web2";
    for (what, status, out, err) in [
        (
            "r/ssh/init.sls",
            0,
            "states: 3 minions: db1, web1, web2\nfollowed: parameters of all, ssh, web; states of each sls alone and their managed files\n",
            "",
        ),
        ("r/ssh/files/motd", 2, "it is not known what", refused),
        ("r/ssh/states.jinja", 2, "it is not known what", refused),
        ("salt://ssh/nope.sls", 2, "", "there is no such file"),
        (
            "r/ssh/parameters/defaults.yaml --formula web",
            2,
            "",
            "does not read it",
        ),
        ("opts:allow_undefined", 0, "reaches 3 of 3 minions", ""),
        ("opts:saltenv", 0, "reaches 3 of 3 minions", ""),
        (
            "opts:jinja_env:trim_blocks",
            0,
            "reaches 3 of 3 minions",
            "",
        ),
        ("opts:jinja_lstrip_blocks", 0, "reaches 3 of 3 minions", ""),
        ("opts:nothing", 2, "", refused),
        ("grains:virtual", 0, "all: 3 minions", ""),
    ] {
        let line = format!("impact {what} --root r --minions minions");
        assert_line(tree.path(), &line, status, out, err);
    }
    let ran = run_line(
        tree.path(),
        "impact r/ssh/states.jinja --root r --minions minions -o json",
    );
    assert_snapshot("impact/refused.json", &ran.stdout);
}

#[test]
fn states_that_compile_are_followed() {
    let tree = tree();
    tree.write("r/ssh/files/motd", b"hello\n");
    tree.write("r/ssh/init.sls", b"a: {test.nop: []}\n");
    tree.write("r/_grains/own.py", b"def own():\n    return {}\n");
    for (what, status, out, err) in [
        (
            "r/ssh/files/motd",
            0,
            "reaches 0 of 3 minions\nfollowed: ",
            "",
        ),
        ("opts:nothing", 0, "reaches 0 of 3 minions", ""),
        (
            "pillar:nothing",
            0,
            "reaches 0 of 3 minions\nfollowed: parameters of ssh, web; states",
            "",
        ),
        (
            "r/_grains/own.py",
            2,
            "",
            "what plugins of Salt do is not followed",
        ),
    ] {
        let line = format!("impact {what} --root r --minions minions");
        assert_line(tree.path(), &line, status, out, err);
    }
}

/// A checkout whose states manage files.
fn files() -> Tree {
    Tree::new(&[
        (
            "salt/top.sls",
            "base: {'*': [web], 'G@os:Debian': [debian]}\n",
        ),
        ("salt/debian.sls", "d: {test.nop: []}\n"),
        (
            "salt/web/init.sls",
            "{% from 'web/lib.jinja' import port %}\n/etc/web.conf:\n  file.managed:\n    - source:\n      - salt://web/files/{{ grains.id }}/web.conf\n      \
             - salt://web/files/default/web.conf\n    - template: jinja\n    - context: {port: {{ port }}}\n/etc/web.d:\n  file.recurse:\n    \
             - source: salt://web/tree\n    - exclude_pat: '*.bak'\n/etc/key:\n  file.managed:\n    - contents_pillar: web:key\n\
             run:\n  cmd.script:\n    - source: salt://web/files/run.sh\n",
        ),
        ("salt/web/lib.jinja", "{% set port = 80 %}\n"),
        ("salt/web/macros.jinja", "{% set a = 1 %}\n"),
        (
            "salt/web/files/default/web.conf",
            "{% from 'web/macros.jinja' import a %}{{ a }} {{ port }} {{ grains.role }}\n",
        ),
        (
            "salt/web/files/web1/web.conf",
            "own {{ pillar.get('web') }}\n",
        ),
        ("salt/web/files/unused.conf", "x\n"),
        ("salt/web/files/run.sh", "true\n"),
        ("salt/web/tree/a.conf", "a\n"),
        ("salt/web/tree/b.bak", "b\n"),
        (
            "salt/orch/x.sls",
            "a: {test.nop: [{x: salt://web/files/unused.conf}]}\n",
        ),
        ("pillar/top.sls", "base: {'*': [web], 'db*': [unread]}\n"),
        ("pillar/web.sls", "web: {key: k}\n"),
        ("pillar/unread.sls", "other: 1\n"),
        (
            "minions/web1.yaml",
            "{id: web1, grains: {os: Debian, role: a}}\n",
        ),
        (
            "minions/web2.yaml",
            "{id: web2, grains: {os: Arch, role: b}}\n",
        ),
        (
            "minions/db1.yaml",
            "{id: db1, grains: {os: Arch, role: b}}\n",
        ),
    ])
}

#[test]
fn managed_files_are_followed() {
    let tree = files();
    let mut reported = String::new();
    for what in [
        "salt/web/files/default/web.conf",
        "salt/web/files/web1/web.conf",
        "salt/web/macros.jinja",
        "salt/web/lib.jinja",
        "salt/web/init.sls",
        "salt/web/files/run.sh",
        "salt/web/tree/a.conf",
        "salt/web/tree/b.bak",
        "salt/web/files/unused.conf",
        "salt/orch/x.sls",
        "pillar/web.sls",
        "pillar/unread.sls",
        "grains:role",
        "grains:os",
        "grains:id",
        "pillar:web:key",
        "pillar:other",
    ] {
        let ran = run_line(tree.path(), &format!("impact {what} --minions minions"));
        let status = ran.status.unwrap_or_default();
        reported.push_str(&format!(
            "$ impact {what}\n{}{}= {status}\n\n",
            ran.stdout, ran.stderr
        ));
    }
    assert_snapshot("impact/files.txt", &reported);
    let ran = run_line(
        tree.path(),
        "impact salt/web/files/default/web.conf --minions minions -o json",
    );
    assert_snapshot("impact/files.json", &ran.stdout);
}

#[test]
fn what_names_a_file_and_is_not_followed_is_said() {
    let tree = tree();
    for (file, text) in [
        ("parameters/unread.yaml", "a: 1\n"),
        ("parameters/sls.yaml", "a: 1\n"),
        ("parameters/managed.yaml", "a: 1\n"),
        ("parameters/source.yaml", "a: 1\n"),
        ("parameters/computed.yaml", "a: 1\n"),
        (
            "init.sls",
            "{% import_yaml tplroot ~ '/parameters/sls.yaml' as s %}\n{{ salt['pillar.get']('of:sls') }}\n",
        ),
        (
            "config.sls",
            "a:\n  file.managed:\n    - source: salt://ssh/parameters/source.yaml\n",
        ),
        (
            "files/a.conf",
            "{% import_yaml 'ssh/parameters/managed.yaml' as m %}\n",
        ),
    ] {
        tree.write(&format!("r/ssh/{file}"), text.as_bytes());
    }
    let reach = |what: &str, status, said: &str| {
        let line = format!("impact {what} --root r --minions minions");
        assert_line(tree.path(), &line, status, said, "");
    };
    let of = |name: &str, status, said: &str| {
        reach(&format!("r/ssh/parameters/{name}.yaml"), status, said);
    };
    of("unread", 0, "reaches 0 of 3 minions\n");
    of("sls", 2, "; r/ssh/init.sls:1:1 names it\n");
    of("managed", 2, "; r/ssh/files/a.conf:1:1 names it");
    let source = "file.managed a (ssh.config) has it as its source\n  3 minions: ";
    of("source", 0, source);
    reach("pillar:of", 2, "; r/ssh/init.sls:2:24 names it\n");
    reach("salt://ssh/lib.jinja", 0, "parameters of ssh, web; states");
    tree.write(
        "r/web/init.sls",
        b"{% from 'ssh/lib.jinja' import p %}\n{% import_yaml 'web/' ~ grains.os as w %}\n",
    );
    // It fails, so that it is not known what it reads behind the failure.
    reach("salt://ssh/lib.jinja", 0, "states: 3 minions: ");
    of("unread", 0, "reaches 0 of 3 minions\n");
    tree.write("r/web/parameters/unread.yaml", b"a: 1\n");
    let computed = "; r/web/init.sls:2:1 computes the name of a file";
    reach("r/web/parameters/unread.yaml", 2, computed);
}

#[test]
fn a_file_of_the_pillar_reaches_pillars() {
    let tree = Tree::new(&[
        ("salt/top.sls", "base: {'*': [motd]}\n"),
        ("salt/motd.sls", "a: {test.nop: []}\n"),
        ("pillar/top.sls", "base: {'web*': [web], 'db*': [db]}\n"),
        (
            "pillar/web.sls",
            "{% from 'lib.jinja' import a %}\nweb: {{ a }}\n",
        ),
        ("pillar/lib.jinja", "{% set a = 1 %}\n"),
        ("pillar/db.sls", "db: {{ nope.nope }}\n"),
        ("pillar/unused.sls", "a: 1\n"),
        (
            "master",
            "pillar_roots: {base: [pillar]}\nfile_roots: {base: [salt]}\n",
        ),
        ("minions/web1.yaml", "id: web1\n"),
        ("minions/web2.yaml", "id: web2\n"),
        ("minions/db1.yaml", "id: db1\n"),
        ("minions/broken.yaml", "grains: [\n"),
    ]);
    for (file, status, expected) in [
        (
            "pillar/web.sls",
            1,
            "reaches 2 of 4 minions; 2 not looked at\npillar: 2 minions: web1, web2\n",
        ),
        ("pillar/lib.jinja", 1, "pillar: 2 minions: web1, web2\n"),
        // It fails, and is read all the same.
        (
            "pillar/db.sls",
            1,
            "pillar: 1 minion: db1\nfollowed: pillars; states",
        ),
        ("pillar/top.sls", 1, "reaches 3 of 4 minions"),
        (
            "pillar/unused.sls",
            1,
            "reaches 0 of 4 minions; 2 not looked at",
        ),
        (
            "salt/motd.sls",
            1,
            "reaches 2 of 4 minions; 2 not looked at\nstates: 2 minions: web1, web2",
        ),
        ("salt/top.sls", 1, "states: 2 minions: web1, web2"),
    ] {
        // The layout of the checkout says what the configuration does.
        for how in ["--config master ", ""] {
            let line = format!("impact {file} {how}--minions minions");
            assert_line(tree.path(), &line, status, expected, "");
        }
    }
}

/// A checkout with PillarStack, MakoStack and reclass.
fn stacks() -> Tree {
    Tree::new(&[
        ("salt/_modules/own.py", "def f():\n    return 1\n"),
        (
            "salt/web/parameters/defaults.yaml.jinja",
            "values: {a: {{ salt['own.f']() }}}\n",
        ),
        ("salt/web/init.sls", "a: {test.nop: []}\n"),
        ("salt/web/read.yaml", "a: 1\n"),
        ("pillar/top.sls", "base: {'*': [a]}\n"),
        (
            "pillar/a.sls",
            "{% import_yaml 'web/read.yaml' as r %}\n{{ salt['slsutil.renderer']('salt://web/read.yaml') }}\n",
        ),
        ("pillar/web/read.yaml", "a: 1\n"),
        (
            "pillar/stack/stack.cfg",
            "{% include 'more.inc' %}\ncore/*.yml\n{{ minion_id }}.yaml\n",
        ),
        ("pillar/stack/more.inc", "first.yml\n"),
        ("pillar/stack/first.yml", "f: 1\n"),
        ("pillar/stack/core/all.yml", "c: 1\n"),
        (
            "pillar/stack/web1.yaml",
            "{% import_yaml 'read.yaml' as r %}\nw: {{ r }}\n",
        ),
        ("pillar/stack/read.yaml", "a: 1\n"),
        ("pillar/stack/unread.yaml", "a: 1\n"),
        ("elsewhere/mako.cfg", "m.yaml\n"),
        ("elsewhere/m.yaml", "m: 1\n"),
        ("classes/nodes/web1.yml", "classes: [one]\n"),
        ("classes/nodes/web2.yml", "classes: []\n"),
        ("classes/classes/one.yml", "parameters: {r: 1}\n"),
        (
            "master",
            "pillar_roots: {base: [pillar]}\nfile_roots: {base: [salt]}\next_pillar:\n  - stack: DIR/pillar/stack/stack.cfg\n  \
             - makostack: DIR/elsewhere/mako.cfg:at\n  - reclass: {inventory_base_uri: DIR/classes}\n",
        ),
        ("minions/web1.yaml", "id: web1\n"),
        ("minions/web2.yaml", "id: web2\n"),
    ])
}

#[test]
fn files_of_external_pillars_are_followed() {
    let tree = stacks();
    let directory = tree.path().canonicalize().unwrap();
    let master = std::fs::read_to_string(tree.path().join("master")).unwrap();
    let master = master.replace("DIR", directory.to_str().unwrap());
    tree.write("master", master.as_bytes());
    let (all, web1) = (
        "pillar: 2 minions: web1, web2\n",
        "pillar: 1 minion: web1\n",
    );
    let unknown = "it is not known what";
    for (file, status, expected) in [
        ("pillar/stack/stack.cfg", 0, all),
        ("pillar/stack/more.inc", 0, all),
        ("pillar/stack/first.yml", 0, all),
        ("pillar/stack/core/all.yml", 0, all),
        ("pillar/stack/web1.yaml", 0, web1),
        ("pillar/stack/unread.yaml", 0, "reaches 0 of 2 minions\n"),
        ("elsewhere/mako.cfg", 0, all),
        ("elsewhere/m.yaml", 0, all),
        ("classes/nodes/web1.yml", 0, web1),
        ("classes/classes/one.yml", 0, web1),
        ("pillar/web/read.yaml", 0, all),
        ("salt/web/read.yaml", 0, all),
        ("salt/_modules/own.py", 0, "web: 2 minions: web1, web2\n"),
        ("salt/web/init.sls", 0, "states: 2 minions: web1, web2\n"),
        ("master", 2, unknown),
        ("minions/web1.yaml", 2, unknown),
    ] {
        let line = format!("impact {file} --config master --minions minions");
        assert_line(tree.path(), &line, status, expected, "");
    }
    // A pillar that fails may read any file that was not reached.
    tree.write("pillar/stack/core/all.yml", b"a: [\n");
    let line = "impact pillar/stack/unread.yaml --config master --minions minions";
    let said = "reaches 0 of 2 minions; 2 not looked at\n";
    assert_line(tree.path(), line, 1, said, "on web1, web2");
}

#[test]
fn a_file_that_another_hides_is_never_served() {
    let tree = Tree::new(&[
        ("one/ssh/parameters/defaults.yaml", "values: {a: 1}\n"),
        ("two/ssh/parameters/defaults.yaml", "values: {a: 2}\n"),
    ]);
    let line = "impact two/ssh/parameters/defaults.yaml --root one --root two --platform debian-12";
    let hidden = "is never served: one/ssh/parameters/defaults.yaml comes before it";
    assert_line(tree.path(), line, 2, "", hidden);
}
