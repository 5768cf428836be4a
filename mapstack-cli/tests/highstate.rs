//! `mapstack highstate`: the states of a minion as they run.

use crate::common::{Ran, Tree, assert_line, assert_snapshot, repository, run_line};

fn tree() -> Tree {
    Tree::new(&[
        ("r/top.sls", "base:\n  '*': [web]\n"),
        (
            "r/web.sls",
            "include: [.conf.site]\n\nnginx:\n  pkg.installed: []\n  service.running:\n    - watch: [{file: /etc/nginx.conf}]\n\
             \n/etc/nginx.conf:\n  file.managed:\n    - require: [{pkg: nginx}]\n    - contents: {{ pillar.port }}\n",
        ),
        (
            "r/conf/site.sls",
            "{% for n in ['a', 'b'] %}\nsite-{{ n }}:\n  cmd.run: [{onchanges_in: [{service: nginx}]}]\n{% endfor %}\n",
        ),
        (
            "r/bad.sls",
            "x:\n  pkg.installed:\n    - require: [{pkg: y}]\n\ny:\n  cmd.run:\n    - require: [{pkg: x}]\n",
        ),
        (
            "r/cycle.sls",
            "a:\n  test.nop:\n    - require: [{test: b}]\nb:\n  test.nop:\n    - require: [{test: a}]\n",
        ),
        (
            "r/forms.sls",
            "include: [nosuch]\nx: {pkg: []}\n5: {test.nop: []}\ny:\n  pkg: [installed, latest]\n",
        ),
        ("r/broken.sls", "a: {{ nope }}\n"),
        (
            "r/web/only.sls",
            "a: {test.nop: [{prereq: [{test: b}]}]}\nb: test.nop\n",
        ),
        (
            "m.yaml",
            "id: m\ngrains: {os: Debian}\npillar: {port: 80}\n",
        ),
    ])
}

fn highstate(tree: &Tree, args: &str) -> Ran {
    run_line(
        tree.path(),
        &format!("highstate {args} --root r --minion m.yaml"),
    )
}

#[test]
fn states_are_listed_and_printed() {
    let tree = tree();
    for (name, args) in [
        ("list", ""),
        ("sls", "web.only"),
        ("high", "-o yaml"),
        ("sls-high", "web -o yaml"),
        ("low", "--low -o json"),
        ("sls-low", "web --low -o json"),
        ("top", "--top"),
    ] {
        let ran = highstate(&tree, args);
        assert_eq!(ran.status, Some(0), "{args}: {}", ran.stderr);
        assert_snapshot(&format!("highstate/{name}.txt"), &ran.stdout);
    }
}

#[test]
fn the_list_has_owners_sources_and_what_is_not_known_of_files() {
    let tree = Tree::new(&[
        (
            "r/web.sls",
            "/etc/sshd:\n  file.managed:\n    - source: [salt://a, salt://web/sshd]\n    - user: root\n    - group: root\n    \
             - mode: 644\n    - check_cmd: sshd -t -f\n/etc/known: {file.managed: [{source: salt://web/known}, {template: jinja}]}\n\
             /etc/d: {file.recurse: [{source: salt://web/d}, {user: root}, {template: jinja}]}\n\
             /etc/l: {file.symlink: [{target: /etc/sshd}]}\n/etc/gone: {file.managed: [{source: salt://nosuch}]}\n",
        ),
        ("r/web/sshd", "Port 22\n"),
        ("r/web/known", "{{ salt['cmd.run']('dig') }}\n"),
        ("r/web/d/a", "{{ salt['cmd.run']('dig') }}\n"),
        ("r/web/d/b", "b\n"),
        ("m.yaml", "id: m\ngrains: {os: Debian}\n"),
    ]);
    let ran = highstate(&tree, "web");
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_snapshot("highstate/files.txt", &ran.stdout);
}

#[test]
fn a_minion_that_gets_nothing_is_named() {
    let run = |files: &[(&str, &str)]| {
        let ran = highstate(&Tree::new(files), "");
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        ran.stderr
    };
    let minion = ("m.yaml", "id: m\ngrains: {os: Debian}\n");
    let without = run(&[minion, ("r/a.sls", "x: {test.nop: []}\n")]);
    assert!(
        without.contains("no top file was found, so 'm' gets no states"),
        "{without}"
    );
    let other = run(&[minion, ("r/top.sls", "base: {'web*': [a]}\n")]);
    assert!(
        other.contains("no target of the top files matches 'm'"),
        "{other}"
    );
}

#[test]
fn older_versions_of_salt_are_followed() {
    let tree = tree();
    // They find what is missing when states run.
    for (version, status) in [("3006", 0), ("3007", 0), ("3008", 1)] {
        let low = highstate(
            &tree,
            &format!("bad --low -o yaml --salt-version {version}"),
        );
        assert_eq!(low.status, Some(status), "{}", low.stderr);
        let list = highstate(&tree, &format!("bad --salt-version {version}"));
        assert!(list.stderr.contains("does not exist"), "{}", list.stderr);
    }
}

#[test]
fn refusals_name_the_place_and_what_to_do() {
    let tree = tree();
    for name in ["bad", "cycle", "forms", "broken", "nosuch"] {
        let ran = highstate(&tree, name);
        assert_eq!((ran.status, &*ran.stdout), (Some(1), ""), "{name}");
        assert_snapshot(&format!("highstate/refused-{name}.txt"), &ran.stderr);
    }
}

#[test]
fn a_template_that_fails_in_several_sls_is_one_error_that_names_them() {
    let tree = Tree::new(&[
        ("r/map.jinja", "{% set x = nope.x %}\n"),
        ("r/one.sls", "{% import 'map.jinja' as map %}\n"),
        ("r/two.sls", "{% import 'map.jinja' as map %}\n"),
        ("m.yaml", "id: m\n"),
    ]);
    let ran = highstate(&tree, "one,two");
    let names = ["the sls 'one' could not", "the sls 'two' could not"];
    assert!(
        names.iter().all(|name| ran.stderr.contains(name)),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.stderr.matches("error: ").count(), 1, "{}", ran.stderr);
}

#[test]
fn the_sls_that_compile_are_shown_beside_those_that_are_left_out() {
    let tree = tree();
    let whole = highstate(&tree, "broken,web.only");
    assert_eq!((whole.status, &*whole.stdout), (Some(1), ""));
    assert!(whole.stderr.contains("--keep-going"), "{}", whole.stderr);
    for (name, args) in [
        ("list", ""),
        ("data", "--low -o yaml"),
        ("graph", "--graph"),
    ] {
        let ran = highstate(&tree, &format!("broken,web.only --keep-going {args}"));
        assert_eq!(ran.status, Some(1), "{}", ran.stderr);
        assert_snapshot(&format!("highstate/keep-going-{name}.txt"), &ran.stdout);
        let errors = ran.stderr.matches("error: ").count();
        assert!(
            errors == 1 && ran.stderr.contains("broken.sls:1:7"),
            "{}",
            ran.stderr
        );
    }
    let page = highstate(&tree, "broken,web.only --keep-going -o html");
    let reason = "broken.sls:1:7: Jinja variable &#x27;nope&#x27; is undefined";
    assert!(page.stdout.contains(reason), "{}", page.stdout);
    // The form does not depend on what fails.
    let all = highstate(&tree, "web --keep-going -o json");
    assert_eq!(all.status, Some(0), "{}", all.stderr);
    assert!(all.stdout.contains("\"left_out\": []"), "{}", all.stdout);
}

#[test]
fn a_top_file_that_fails_is_an_error() {
    let tree = Tree::new(&[("r/top.sls", "base: {{ nope }}\n"), ("m.yaml", "id: m\n")]);
    let ran = highstate(&tree, "-o json");
    assert_eq!((ran.status, &*ran.stdout), (Some(1), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("r/top.sls:1:10"), "{}", ran.stderr);
}

#[test]
fn flags_that_say_nothing_together_are_refused() {
    let tree = tree();
    for args in ["--low", "web --top", "--low --top -o json"] {
        assert_eq!(highstate(&tree, args).status, Some(2), "{args}");
    }
}

#[test]
fn minions_of_an_estate_have_their_states_beside_the_errors_of_others() {
    let estate = repository().join("examples/estate");
    for (name, line, status) in [
        ("estate", "highstate --id db1.example.org", 0),
        ("estate-refused", "highstate --id web1.example.org", 1),
        ("estate-all", "highstate", 1),
        ("estate-data", "highstate -o json", 1),
    ] {
        let ran = run_line(&estate, line);
        assert_eq!(ran.status, Some(status), "{line}: {}", ran.stderr);
        let text = format!("{}---\n{}", ran.stdout, ran.stderr);
        assert_snapshot(&format!("highstate/{name}.txt"), &text);
    }
}

#[test]
fn pillars_that_flags_set_count() {
    let ran = highstate(&tree(), "web -o yaml --set pillar.port=81");
    assert!(
        ran.stdout.contains("contents: 81"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

fn explained_tree() -> Tree {
    let tree = tree();
    tree.write(
        "r/top.sls",
        b"base:\n  '*': [web]\n  'other':\n    - unseen\n",
    );
    tree.write(
        "r/unseen.sls",
        b"astate: {test.nop: []}\n'a:b': {test.nop: []}\n",
    );
    tree.write(
        "r/map.jinja",
        b"{% set web = salt['grains.filter_by']({'Debian': {'user': 'www'}}, grain='os', base='Debian') %}\n",
    );
    tree.write(
        "r/web.sls",
        b"{% from 'map.jinja' import web %}\ninclude: [.conf.site]\nnginx:\n  service.running:\n    - watch: [{file: '/etc/a:b'}]\n\n\
          /etc/a:b:\n  file.managed:\n    - user: {{ web.user }}\n    - contents: {{ pillar.port }}\n\
          /etc/a:\n  file.managed: [{mode: '0600'}]\n",
    );
    tree
}

#[test]
fn a_state_is_explained() {
    let tree = explained_tree();
    let explain = |args: &str| {
        run_line(
            tree.path(),
            &format!("explain highstate {args} --root r --minion m.yaml"),
        )
    };
    for (name, args) in [
        ("explain", ""),
        ("explain-id", "nginx"),
        ("explain-colon", "/etc/a:b"),
        ("explain-argument", "/etc/a:b:user"),
        ("explain-shorter", "/etc/a:mode"),
        ("explain-rows", "nginx -o json"),
    ] {
        let ran = explain(args);
        assert_eq!((ran.status, ran.said()), (Some(0), ""), "{args}");
        assert_snapshot(&format!("highstate/{name}.txt"), &ran.stdout);
    }
    let page = explain("--html page.html");
    assert_eq!((page.status, page.said()), (Some(0), ""));
    let page = std::fs::read_to_string(tree.path().join("page.html")).unwrap();
    assert!(page.contains("map.jinja") && page.contains("nginx"));
    for (name, args) in [
        ("explain-unknown", "ngin"),
        ("explain-unknown-argument", "nginx:wacth"),
        ("explain-of-others", "astate"),
        ("explain-colon-of-others", "a:b:name"),
        ("explain-refused", "x --sls bad --sls cycle"),
    ] {
        let ran = explain(args);
        assert_eq!(ran.status, Some(1), "{args}: {}", ran.stdout);
        assert_snapshot(
            &format!("highstate/{name}.txt"),
            &format!("{}{}", ran.stdout, ran.stderr),
        );
    }
}

#[test]
fn a_state_is_explained_by_a_name() {
    let tree = explained_tree();
    tree.write(
        "r/web.sls",
        b"tools: {pkg.installed: [{names: [vim, {curl: [{version: 8}]}]}]}\n\
          conf: {file.managed: [{name: /etc/a}]}\n\
          more: {file.directory: [{names: [/srv, /etc/b]}]}\n\
          rest: {file.symlink: [{name: /etc/b}]}\n",
    );
    let explain = |asked: &str, status, out: &str, err: &str| {
        let line = format!("explain highstate {asked} --root r --minion m.yaml");
        assert_line(tree.path(), &line, status, out, err);
    };
    explain("vim", 0, "tools: pkg.installed  r/web.sls:1:1\n", "");
    explain("curl:names", 0, "tools:pkg.installed:names: [vim, ", "");
    explain("/etc/a", 0, "conf: file.managed  r/web.sls:2:1\n", "");
    let several = "several states have the name '/etc/b'\n |\n = help: ask for one of their IDs: 'more', 'rest'\n";
    explain("/etc/b", 1, "", several);
}

#[test]
fn a_fleet_says_who_gets_which_states() {
    let tree = explained_tree();
    tree.write(
        "r/top.sls",
        b"base:\n  'web*': [web, pkgs]\n  'db*': [pkgs]\n  'bad*': [cycle]\n",
    );
    tree.write(
        "r/pkgs.sls",
        b"tools: {pkg.installed: [{pkgs: [vim, curl]}]}\n/etc/motd:\n  file.managed: [{contents: '{{ grains.id[0] }}'}, {mode: 600}]\n",
    );
    for id in ["web1", "web2", "db1", "bad1", "bad2"] {
        let text = format!("id: {id}\ngrains: {{os: Debian}}\npillar: {{port: 80}}\n");
        tree.write(&format!("m/{id}.yaml"), text.as_bytes());
    }
    let fleet = |args: &str| {
        run_line(
            tree.path(),
            &format!("fleet highstate {args} --root r --minions m"),
        )
    };
    for (name, args) in [
        ("fleet", ""),
        ("fleet-sls", "sls:pkgs"),
        ("fleet-package", "curl"),
        ("fleet-state", "id:/etc/a:b -o json"),
        ("fleet-file", "/etc/motd"),
        ("fleet-files", "--only files"),
        ("fleet-unknown", "pkg:crul"),
    ] {
        let ran = fleet(args);
        assert_eq!(ran.status, Some(1), "{args}: {}", ran.stdout);
        assert_snapshot(
            &format!("highstate/{name}.txt"),
            &format!("{}{}", ran.stdout, ran.stderr),
        );
    }
    let whole = fleet("nginx --minion-glob web*");
    assert_eq!((whole.status, whole.said()), (Some(0), ""));
    assert_eq!(
        whole.stdout,
        "state nginx: service.running of the sls web  2 minions: web1, web2\n2 minions, all compile\n"
    );
    let only = |args: &str| {
        run_line(
            tree.path(),
            &format!("fleet {args} --root r --minions m --minion-glob db*"),
        )
    };
    assert_eq!(
        only("pkgs --only states").stdout,
        "state /etc/motd: file.managed of the sls pkgs  1 minion: db1\n\
         state tools: pkg.installed of the sls pkgs     1 minion: db1\n1 minion, which compiles\n"
    );
    assert_eq!(only("other --only states,files").status, Some(1));
    assert_eq!(only("--only pillar").status, Some(2));
    assert_eq!(fleet("a b").status, Some(2));
    assert_eq!(fleet("-o yaml").status, Some(2));
}

#[test]
fn a_file_reaches_the_states_that_read_it() {
    let tree = explained_tree();
    tree.write(
        "r/top.sls",
        b"base:\n  'web*': [web]\n  'db*': [bad, broken]\n",
    );
    tree.write("r/unread.jinja", b"{% set a = 1 %}\n");
    for id in ["web1", "web2", "db1"] {
        let text = format!("id: {id}\ngrains: {{os: Debian}}\npillar: {{port: 80}}\n");
        tree.write(&format!("m/{id}.yaml"), text.as_bytes());
    }
    let impact = |what: &str| run_line(tree.path(), &format!("impact {what} --root r --minions m"));
    for (what, minions) in [
        ("r/web.sls", "states: 2 minions: web1, web2"),
        ("r/conf/site.sls", "states: 2 minions: web1, web2"),
        ("r/map.jinja", "states: 2 minions: web1, web2"),
        // Those that do not compile count, too.
        ("r/bad.sls", "states: 1 minion: db1"),
        ("r/broken.sls", "states: 1 minion: db1"),
    ] {
        let ran = impact(what);
        assert_eq!(ran.status, Some(0), "{what}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(minions), "{what}: {}", ran.stdout);
    }
    let ran = impact("r/unread.jinja");
    assert_eq!(ran.status, Some(2), "{}", ran.stdout);
    assert!(
        ran.stderr
            .contains("of 1 minion states do not compile, so that their files are not known: db1"),
        "{}",
        ran.stderr
    );
    let ran = impact("r/web.sls -o json");
    assert!(
        ran.stdout.contains("\"states\": [\n    \"web1\""),
        "{}",
        ran.stdout
    );
}

#[test]
fn requisites_are_printed_as_a_graph() {
    let tree = tree();
    let ran = highstate(&tree, "web.only --graph");
    assert_eq!((ran.status, ran.said()), (Some(0), ""));
    assert_snapshot("highstate/graph.txt", &ran.stdout);
    assert_eq!(highstate(&tree, "--graph -o json").status, Some(2));
    assert_eq!(highstate(&tree, "--graph --low").status, Some(2));
    for flags in ["", "--graph"] {
        let page = highstate(&tree, &format!("web.only -o html {flags}"));
        assert_eq!((page.status, page.said()), (Some(0), ""));
        let link =
            "<a href=\"#m1s3\"><bdi>3 test.nop b</bdi></a> <span class=\"muted\">require</span>";
        assert!(page.stdout.contains(link), "{}", page.stdout);
    }
    assert_eq!(highstate(&tree, "web.only -o html --low").status, Some(2));
    assert_eq!(highstate(&tree, "--top -o html").status, Some(2));
}
