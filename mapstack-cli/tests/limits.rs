//! Templates that would take all time or memory end in an error, and the command stays within its figures.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::common::{Ran, Tree, assert_line, run, run_line};

/// A formula whose post-map template this is.
fn formula(template: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir_all(directory.path().join("salt/f")).unwrap();
    fs::write(directory.path().join("salt/f/post-map.jinja"), template).unwrap();
    fs::write(directory.path().join("web1.yaml"), "id: web1\n").unwrap();
    directory
}

/// The same, with an address space of so many MiB: what is allocated beyond ends the command.
#[cfg(target_os = "linux")]
fn within(directory: &Path, mib: usize, flags: &str) -> Ran {
    let command = env!("CARGO_BIN_EXE_mapstack");
    let line = format!(
        "ulimit -v {} && exec '{command}' data f --root salt --minion web1.yaml {flags}",
        mib << 10
    );
    let done = std::process::Command::new("sh")
        .arg("-c")
        .arg(line)
        .current_dir(directory)
        .output()
        .unwrap();
    Ran {
        status: done.status.code(),
        stdout: String::from_utf8_lossy(&done.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&done.stderr).into_owned(),
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_templates_collect_stays_within_the_limit() {
    let dict = "{% set d = {}.fromkeys(range(20000), 1) %}";
    let text = "{% set s = 'x' * 1000000 %}";
    let table = [
        (dict, "l.append(d|to_entries)"),
        (dict, "l.append(d.copy())"),
        (dict, "l.append(d.items()|list)"),
        (dict, "l.append(d|dictsort)"),
        ("", "l.append([0] * 1000000)"),
        (text, "l.append(s.encode('utf-32'))"),
        (text, "l.append(s|list)"),
        ("", "l.append(namespace(a=i, b=[i]))"),
        ("", "l.append({'a': i})"),
        (
            "{% set d = range(20000)|list %}",
            "l.append(d|json_query('[*].[@, @, @]'))",
        ),
        ("{% set d = range(20000)|list %}", "l.append(d|zip(d)|list)"),
        (text, "l.append(('[' ~ '{}, ' * 100000 ~ '1]')|load_json)"),
        (text, "l.append(('[' ~ '{}, ' * 20000 ~ '1]')|load_yaml)"),
    ];
    for (start, step) in table {
        let template = format!(
            "{start}{{% set l = [] %}}{{% for i in range(99999) %}}{{% for j in range(99) %}}{{% do {step} %}}\
             {{% endfor %}}{{% endfor %}}"
        );
        let directory = formula(&template);
        // Threads, code and the allocator's own space come on top of the 16 MiB.
        let done = within(directory.path(), 640, "--max-memory 16");
        let reported = ["takes more than 16 MiB of memory", "expands to more than"];
        assert!(
            reported
                .iter()
                .any(|reported| done.stderr.contains(reported)),
            "{step}: {:?} {}",
            done.status,
            done.stderr
        );
        assert_eq!(done.status, Some(1), "{step}");
        assert!(done.stderr.contains("post-map.jinja:1:"), "{}", done.stderr);
    }
}

#[test]
fn the_limits_of_time_and_memory_are_those_of_flags_in_every_language() {
    let large = "len('x' * (80 << 20))";
    let tree = Tree::new(&[
        ("salt/f/post-map.jinja", SLOW.to_owned()),
        (
            "salt/time.sls",
            "#!mako|yaml\na: ${sum(range(10**12))}\n".into(),
        ),
        (
            "salt/large.sls",
            format!("#!py\ndef run():\n    return {{'a': {large}}}\n"),
        ),
        ("web1.yaml", "id: web1\n".into()),
    ]);
    for (line, place, says) in [
        (
            "data f --max-time 1 --max-memory 0",
            "post-map.jinja:1:",
            &[
                "the run takes more than 1 s",
                "ran for more than 50000000 steps",
            ][..],
        ),
        (
            "render time.sls -o yaml --max-time 1",
            "salt/time.sls:2:",
            &["ran for longer than 1.0s"],
        ),
        (
            "render large.sls -o yaml --max-memory 64",
            "salt/large.sls:3:",
            &["needs more memory than it may have"],
        ),
    ] {
        let line = format!("{line} --root salt --minion web1.yaml");
        let ran = run_line(tree.path(), &line);
        assert_eq!(ran.status, Some(1), "{line}: {}", ran.stderr);
        let is_said = says.iter().any(|says| ran.stderr.contains(says));
        assert!(
            is_said && ran.stderr.contains(place),
            "{line}: {}",
            ran.stderr
        );
    }
    let line = "render large.sls -o yaml --root salt --minion web1.yaml";
    assert_line(tree.path(), line, 0, "a: 83886080\n", "");
}

/// Runs for long, on each minion by itself.
const SLOW: &str = "{% set id = grains.id %}{% set l = range(30000)|map('string')|list %}{% for i in range(99999) %}{% set x = l|join('')|md5 %}{% endfor %}";

#[test]
fn a_run_out_of_time_says_what_it_did_not_reach() {
    let directory = formula(SLOW);
    let root = directory.path().join("salt");
    fs::create_dir_all(root.join("f/parameters")).unwrap();
    fs::write(root.join("f/parameters/defaults.yaml"), "values: {a: 1}\n").unwrap();
    for other in ["g", "h"] {
        fs::create_dir_all(root.join(other)).unwrap();
        fs::write(root.join(other).join("map.jinja"), "{% set m = 1 %}").unwrap();
    }
    fs::create_dir_all(directory.path().join("minions")).unwrap();
    for number in 0..30 {
        let file = directory.path().join(format!("minions/web{number}.yaml"));
        fs::write(file, format!("id: web{number}\n")).unwrap();
    }
    let done = run(
        directory.path(),
        &["lint", "--root", "salt", "--max-time", "1"],
    );
    assert_eq!(done.status, Some(1), "{}", done.stderr);
    let said = "error: the run takes more than 1 s: 3 of 3 not looked at to the end: f, g, h (allow more time with --max-time)";
    assert!(done.stderr.contains(said), "{}", done.stderr);
    assert!(
        done.stderr.contains("nothing found so far"),
        "{}",
        done.stderr
    );
    // Running out of time in both states is not "no change".
    let states = [
        "diff",
        "--from",
        "salt",
        "--to",
        "salt",
        "--minions",
        "minions",
    ];
    let done = run(
        directory.path(),
        &[&states[..], &["--max-time", "1", "f"]].concat(),
    );
    assert!(matches!(done.status, Some(1 | 2)), "{}", done.stdout);
    assert!(
        done.stderr
            .contains("the run takes more than 1 s: it got to web"),
        "{}",
        done.stderr
    );
}
