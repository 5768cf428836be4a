//! `mapstack fleet`: many minions at once, in order, whatever happens to some of them.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use crate::common::{Ran, Tree, command, run};

/// A formula whose values differ by grains, one whose template never ends on one minion, and minions of which one is
/// broken.
fn tree() -> Tree {
    let minion = |os: &str, more: &str| {
        format!("grains: {{os: {os}, os_family: {os}{more}}}\n").into_bytes()
    };
    Tree::new(&[
        ("root/ntp/parameters/defaults.yaml", b"values: {pkg: ntp, server: a.example.org, tabs: \"a\\tb\"}\n".to_vec()),
        ("root/ntp/parameters/os/Arch.yaml", b"values: {server: b.example.org, nested: {list: [1, two]}}\n".to_vec()),
        (
            "root/loop/parameters/defaults.yaml",
            b"values: {n: {% if grains.endless is defined %}{% set s = 'x' * 1000000 %}{% for a in range(9999) %}{{ '' if 'y' in s }}{% endfor %}{% endif %}1}\n"
                .to_vec(),
        ),
        ("minions/web1.yaml", minion("Debian", "")),
        ("minions/web2.yaml", minion("Arch", ", roles: [web]")),
        ("minions/web3.yaml", minion("Debian", ", endless: yes")),
        ("minions/db1.yaml", b"grains: [\n".to_vec()),
        ("minions/db2.yaml", minion("Arch", "")),
    ])
}

fn fleet(tree: &Tree, line: &[&str]) -> Ran {
    run(
        tree.path(),
        &[&["fleet", "--root", "root", "--minions", "minions"], line].concat(),
    )
}

fn text(ran: &Ran) -> String {
    format!(
        "status {}\n--- stdout\n{}--- stderr\n{}",
        ran.status.unwrap_or(-1),
        ran.stdout,
        ran.stderr
    )
}

#[test]
fn threads_shards_and_parts_change_nothing() {
    let tree = tree();
    assert_shards_are_the_fleet();
    assert_parts_are_merged(&tree);
    let one = fleet(&tree, &["ntp", "loop", "--jobs", "1"]);
    for jobs in ["2", "7"] {
        let many = fleet(&tree, &["ntp", "loop", "--jobs", jobs]);
        assert_eq!(text(&many), text(&one));
    }
}

/// Shards are the fleet, each minion once.
fn assert_shards_are_the_fleet() {
    let all = |line: &[&str]| -> Vec<String> {
        let base = [
            "fleet",
            "ntp",
            "--root",
            "root",
            "--platform",
            "all",
            "--get",
            "pkg",
        ];
        let ran = run(tree().path(), &[&base, line].concat());
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        ran.stdout.lines().skip(1).map(str::to_owned).collect()
    };
    let mut parts: Vec<String> = ["1/3", "2/3", "3/3"]
        .iter()
        .flat_map(|shard| all(&["--shard", shard]))
        .collect();
    let mut whole = all(&[]);
    assert!(whole.len() > 30 && whole.iter().all(|row| row.ends_with("\tntp")));
    parts.sort();
    whole.sort();
    assert_eq!(parts, whole);
}

#[test]
fn the_environment_assigns_a_part_to_a_job() {
    let tree = tree();
    let with = |shard: &str, environment: &[(&str, &str)]| {
        let line = ["ntp", "loop", "--shard", shard];
        let mut fleet = command(tree.path());
        // The tests may themselves be one of many jobs.
        for name in [
            "CIRCLE_NODE_INDEX",
            "BUILDKITE_PARALLEL_JOB",
            "CI_NODE_INDEX",
        ] {
            fleet.env_remove(name);
        }
        fleet.args(["fleet", "--root", "root", "--minions", "minions"]);
        let ran = fleet.args(line).envs(environment.iter().copied());
        let ran = ran.output().expect("the command runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&ran.stdout), text(&ran.stderr))
    };
    for part in ["1", "2", "3"] {
        let task = [
            ("SLURM_ARRAY_TASK_ID", part),
            ("SLURM_ARRAY_TASK_MIN", "1"),
            ("SLURM_ARRAY_TASK_MAX", "3"),
            ("SLURM_ARRAY_TASK_STEP", "1"),
            ("SLURM_ARRAY_TASK_COUNT", "3"),
        ];
        assert_eq!(with("auto", &task), with(&format!("{part}/3"), &[]));
    }
    let (_, error) = with("auto", &[("JOB_COMPLETION_INDEX", "0")]);
    assert!(
        error.contains(
            "'--shard <K/N>': JOB_COMPLETION_INDEX of Kubernetes is set but MAPSTACK_SHARDS is not"
        ),
        "{error}"
    );
}

/// Parts are merged to what one run prints.
fn assert_parts_are_merged(tree: &Tree) {
    let cases: [&[&str]; 7] = [
        &["ntp", "loop"],
        &["ntp", "loop", "-o", "json"],
        &["ntp", "loop", "-o", "yaml"],
        &["ntp", "loop", "--get", "server", "--get", "nested"],
        &["ntp", "--count", "server", "-o", "jsonl"],
        &["ntp", "--get", "nowhere"],
        &["ntp", "--select", "grains.oss == 'Arch'"],
    ];
    for (number, line) in cases.iter().enumerate() {
        let directory = format!("parts{number}");
        for shard in ["1/3", "2/3", "3/3"] {
            let part = fleet(
                tree,
                &[*line, &["--shard", shard, "--parts", &directory]].concat(),
            );
            assert_eq!(
                (part.status, &*part.stdout),
                (Some(0), ""),
                "{}",
                part.stderr
            );
        }
        let merged = run(tree.path(), &["fleet", "merge", &directory]);
        assert_eq!(text(&merged), text(&fleet(tree, line)), "{line:?}");
    }
    std::fs::remove_file(tree.path().join("parts0/2-of-3.part")).unwrap();
    let merged = run(tree.path(), &["fleet", "merge", "parts0"]);
    assert_eq!(
        text(&merged),
        "status 1\n--- stdout\n--- stderr\nerror: parts are missing: 2/3\n"
    );
}

/// Many minions, each of which takes a while.
fn slow(minions: usize, turns: usize) -> Tree {
    let layer =
        format!("values: {{n: {{% for a in range({turns}) %}}{{{{ '' }}}}{{% endfor %}}1}}\n");
    let tree = Tree::new(&[("root/slow/parameters/defaults.yaml", layer)]);
    for n in 0..minions {
        tree.write(
            &format!("minions/web{n:05}.yaml"),
            b"grains: {os: Debian}\n",
        );
    }
    tree
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_clear_error() {
    let tree = slow(300, 1);
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let line = ["fleet", "slow", "--root", "root", "--minions", "minions"];
    let child = command(tree.path())
        .args(line)
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let done = child.wait_with_output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1));
    assert!(
        said.starts_with("error: cannot write the output: No space left on device"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn a_reader_that_stops_ends_the_work_without_a_message() {
    let tree = slow(5_000, 2_000);
    let line = ["fleet", "slow", "--root", "root", "--minions", "minions"];
    let mut child = command(tree.path())
        .args(line)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut first)
        .unwrap();
    assert!(first.contains("web00000"), "{first}");
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!((child.wait().unwrap().code(), &*said), (Some(0), ""));
}

#[cfg(unix)]
#[test]
fn an_interruption_loses_nothing_that_was_finished() {
    let tree = slow(5_000, 2_000);
    let line = ["fleet", "slow", "--root", "root", "--minions", "minions"];
    let mut child = command(tree.path())
        .args(line)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut done: Vec<String> = vec![lines.next().unwrap().unwrap()];
    let status = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(status.success());
    done.extend(lines.map(Result::unwrap));
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    // Whole lines, in order, and as many as it says.
    for (n, line) in done.iter().enumerate() {
        assert!(
            line.starts_with(&format!("{{\"minion\": \"web{n:05}\"")) && line.ends_with("}}"),
            "{line}"
        );
    }
    assert_eq!(
        said,
        format!(
            "error: interrupted: {} of 5000 minions are done\n",
            done.len()
        )
    );
}
