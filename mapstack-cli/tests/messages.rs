//! Messages of the command: where they go, how they look, and the flags and the configuration that change them.

use crate::common::{Ran, Tree, assert_line, assert_snapshot, run, run_line, run_with_input};

const MINION: (&str, &str) = ("minion.yaml", "id: web1\ngrains: {os: Debian}\n");

#[test]
fn an_error_is_on_standard_error_with_the_text_at_its_place_and_names_flags() {
    let tree = Tree::new(&[
        (
            "r/f/parameters/defaults.yaml",
            "{% from 'f/macros.jinja' import port %}\nvalues:\n  日本: {{ port('id') }}\n",
        ),
        (
            "r/f/macros.jinja",
            "{% macro port(name) %}\n{{ salt['cmd.run'](name) }}\n{% endmacro %}\n",
        ),
        ("broken.yaml", "id: web1\ngrain: {os: Debian}\n"),
        MINION,
    ]);
    let data = |more: &[&str], input: &str| {
        let args = [&["data", "f", "--root=r"], more].concat();
        run_with_input(tree.path(), &args, input)
    };
    let path = run(tree.path(), &["parse", "--path", "Y!G@ü"]);
    for (name, ran) in [
        ("template", data(&["--minion=minion.yaml"], "")),
        ("minion", data(&["--minion=broken.yaml"], "")),
        ("missing-minion", data(&["--minion=minoin.yaml"], "")),
        ("stdin", data(&["--grains=-"], "os: [Debian\n")),
        ("parse-path", path),
    ] {
        assert_eq!((ran.status, &*ran.stdout), (Some(1), ""), "{name}");
        assert_snapshot(&format!("errors/{name}.txt"), &ran.stderr);
    }
    let is_colored = |color: &str| {
        let ran = data(&["--minion=minion.yaml", "--color", color], "");
        ran.stderr.contains('\u{1b}')
    };
    let colors = ["auto", "never", "always"];
    assert_eq!(colors.map(is_colored), [false, false, true]);
}

#[test]
fn warnings_do_not_change_the_answer_unless_they_are_errors() {
    let layer = "values: {a: 1, b: {{ 'pkg.list_upgrades' in salt }}}\n";
    let tree = Tree::new(&[
        ("r/f/parameters/defaults.yaml", layer),
        ("custom.yaml", "tier: front\n"),
        MINION,
    ]);
    let data = |more: &str| {
        let line = "data f --root=r --minion=minion.yaml --custom-data=custom.yaml \
            --default-merge-strategy=overwite";
        run_line(tree.path(), &format!("{line} {more}"))
    };
    let plain = data("--root=nowhere");
    assert_eq!(plain.status, Some(0), "{}", plain.stderr);
    assert!(plain.stdout.starts_with("a: 1\n"), "{}", plain.stdout);
    assert_snapshot("warnings/all.txt", &plain.stderr);
    let quiet = data("--root=nowhere --quiet");
    assert_eq!((quiet.status, &*quiet.stderr), (Some(0), ""));
    assert_eq!(quiet.stdout, plain.stdout);
    let strict = data("--root=nowhere --strict");
    assert_eq!((strict.status, &*strict.stdout), (Some(1), ""));
    assert!(
        strict.stderr.starts_with("error: the root nowhere"),
        "{}",
        strict.stderr
    );
    let strict = data("--strict");
    assert_eq!((strict.status, &*strict.stdout), (Some(1), ""));
    assert_snapshot("warnings/strict.txt", &strict.stderr);
    let both = data("--quiet --strict");
    assert_eq!((both.status, &*both.stdout), (Some(2), ""));
}

/// Salt's default follows links out of roots; here, a flag or an option of the configuration does.
#[cfg(unix)]
#[test]
fn links_out_of_roots_are_followed_where_a_flag_or_the_configuration_says_so() {
    let roots = "file_roots: {base: [r]}\n";
    let tree = Tree::new(&[
        ("r/f/parameters/defaults.yaml", "values: {a: 1}\n"),
        ("other/r/f/parameters/defaults.yaml", "values: {a: 1}\n"),
        ("outside.yaml", "values: {a: 2}\n"),
        ("unset/master", roots),
        MINION,
    ]);
    for (name, follow) in [("on", "true"), ("off", "false"), ("odd", "maybe")] {
        let option = format!("{roots}fileserver_followsymlinks: {follow}\n");
        tree.write(&format!("{name}/master"), option.as_bytes());
    }
    tree.write("r/f/parameters/os/", b"");
    let link = tree.path().join("r/f/parameters/os/Debian.yaml");
    std::os::unix::fs::symlink("../../../../outside.yaml", link).unwrap();
    let data = |line: &str| {
        let line = format!("data f --minion=minion.yaml --get=a {line}");
        run_line(tree.path(), &line)
    };
    let seen = |ran: &Ran| (ran.status, ran.stdout.clone());
    for files in ["--root=r", "--config=unset/master", "--config=off/master"] {
        let refused = data(files);
        assert_eq!(seen(&refused), (Some(0), "1\n".into()), "{files}");
        let says = "os/Debian.yaml is a link out of the root";
        assert!(refused.stderr.contains(says), "{files}: {}", refused.stderr);
        assert!(
            refused.stderr.contains("outside.yaml"),
            "{}",
            refused.stderr
        );
        let followed = data(&format!("{files} --follow-outside-links"));
        assert_eq!(seen(&followed), (Some(0), "2\n".into()), "{files}");
        assert_eq!(followed.stderr, "", "{files}");
    }
    let followed = data("--config=on/master");
    assert_eq!(seen(&followed), (Some(0), "2\n".into()));
    assert_eq!(followed.stderr, "");
    let odd = data("--config=odd/master");
    assert_eq!(seen(&odd), (Some(1), String::new()));
    let says = "`fileserver_followsymlinks` must be true or false";
    assert!(odd.stderr.contains(says), "{}", odd.stderr);
    // Two states of the files are served as one is; a link that is not followed is not compared.
    for (config, status) in [("unset", 2), ("on", 1)] {
        let line = format!(
            "diff f --config={config}/master --from=./other --to=worktree --minion=minion.yaml"
        );
        assert_line(tree.path(), &line, status, "", "");
    }
}

#[test]
fn control_characters_of_facts_do_not_reach_the_terminal() {
    let tree = Tree::new(&[
        ("salt/f/post-map.jinja", "{% set x = 1 %}"),
        (
            "web1.yaml",
            "id: web1\ngrains: {os_family: \"a\\e[2Jb\\e]0;title\\a\"}\n",
        ),
    ]);
    for line in [
        "sources f",
        "explain f --why-not salt/f/parameters/os_family/x.yaml",
        "impact grains:os_family",
    ] {
        let ran = run_line(
            tree.path(),
            &format!("{line} --root salt --minion web1.yaml"),
        );
        let printed = ran.stdout + &ran.stderr;
        assert!(printed.contains("os_family"), "{line}: {printed}");
        let acts = |c: char| c.is_control() && c != '\n';
        assert!(!printed.contains(acts), "{line}: {printed:?}");
    }
}
