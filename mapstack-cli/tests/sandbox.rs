//! The program that runs Mako and Python templates: finding it, its sandbox, and the effect on
//! a fleet when it is killed.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Tree, command, run};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

const RENDER: &[&str] = &[
    "render",
    "f/x.sls",
    "--root",
    "r",
    "--minion",
    "minion.yaml",
    "-o",
    "yaml",
];

fn tree() -> Tree {
    Tree::new(&[
        ("r/f/x.sls", "#!mako|yaml\nsum: ${sum([1, 2])}\n"),
        ("minion.yaml", "id: m\ngrains: {os: Debian}\n"),
    ])
}

fn text(output: &Output) -> String {
    let [stdout, stderr] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    format!("{stdout}{stderr}")
}

/// The program as it was built beside the command.
fn program() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_mapstack")).with_file_name("mapstack-python")
}

/// Run a command where the kernel no longer has some system calls.
fn without(calls: &[i64], mut command: Command) -> Output {
    let absent = libc::ENOSYS.unsigned_abs();
    let rules = calls.iter().map(|call| (*call, Vec::new())).collect();
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(absent),
        std::env::consts::ARCH.try_into().unwrap(),
    );
    let filter: BpfProgram = filter.unwrap().try_into().unwrap();
    // The filter is the thread's, and those of the programs that it starts.
    let output = thread::spawn(move || {
        seccompiler::apply_filter(&filter).unwrap();
        command.output().unwrap()
    });
    output.join().unwrap()
}

#[test]
fn the_version_tells_of_the_walls() {
    let tree = tree();
    let ran = run(tree.path(), &["--version", "-v"]);
    let version = env!("CARGO_PKG_VERSION");
    let program = program();
    let walls = format!(
        "\nmapstack-python {version} in {}\n  active: no files (Landlock)\n  \
         active: no system calls but for memory and time (seccomp)\n  \
         active: limits of memory and processor time (rlimit)\n",
        program.display()
    );
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
    let build = ran.stdout.strip_suffix(&walls).unwrap_or(&ran.stdout);
    // The lines after the first are about the build; the tests of usage look at them.
    let mut lines = build.lines();
    assert_eq!(lines.next(), Some(&*format!("mapstack {version}")));
    assert!(
        lines.all(|line| line.contains(": ") && !line.contains("python")),
        "{}",
        ran.stdout
    );
    let mut absent = command(tree.path());
    absent
        .args(["-vV"])
        .env("MAPSTACK_PYTHON", "/nonexistent/python");
    let absent = text(&absent.output().unwrap());
    for part in [
        "MAPSTACK_PYTHON is /nonexistent/python",
        "help: ",
        "cargo build -p mapstack-python",
    ] {
        assert!(absent.contains(part), "{absent}");
    }
}

#[test]
fn missing_walls_are_reported_and_can_be_required() {
    let tree = tree();
    let seccomp = [libc::SYS_seccomp];
    let landlock = [libc::SYS_landlock_create_ruleset];
    for (calls, wall) in [
        (landlock, "no files (Landlock)"),
        (seccomp, "no system calls but for memory and time (seccomp)"),
    ] {
        let ask = |args: &[&str]| {
            let mut command = command(tree.path());
            command.args(args);
            without(&calls, command)
        };
        let version = text(&ask(&["--version", "--verbose"]));
        assert!(
            version.contains(&format!("  missing: {wall}: ")),
            "{version}"
        );
        assert_eq!(version.matches("  active: ").count(), 2, "{version}");
        // Without the flag, what there is has to do.
        let rendered = ask(RENDER);
        assert_eq!(text(&rendered), "sum: 3\n", "without {wall}");
        let refused = ask(&[RENDER, &["--strict-sandbox"]].concat());
        let message = text(&refused);
        assert_eq!(refused.status.code(), Some(1), "{message}");
        for part in [
            "the sandbox around Python is not complete",
            wall,
            "f/x.sls",
            "--strict-sandbox",
        ] {
            assert!(message.contains(part), "{message}");
        }
    }
    let ran = run(tree.path(), &[RENDER, &["--strict-sandbox"]].concat());
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("sum: 3\n", ""));
}

#[test]
fn the_program_is_found_beside_on_the_path_and_by_its_variable() {
    let tree = tree();
    // A command that has no neighbour.
    let alone = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mapstack = alone.path().join("mapstack");
    fs::hard_link(env!("CARGO_BIN_EXE_mapstack"), &mapstack).unwrap();
    let elsewhere = tree.path().join("bin");
    fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(program(), elsewhere.join("mapstack-python")).unwrap();
    let render = || {
        let mut command = Command::new(&mapstack);
        command.args(RENDER).current_dir(tree.path());
        command
            .env("PATH", "/nonexistent")
            .env_remove("MAPSTACK_PYTHON");
        command
    };
    let nowhere = render().output().unwrap();
    let message = text(&nowhere);
    assert_eq!(nowhere.status.code(), Some(1), "{message}");
    for part in [
        "mapstack-python, which was not found",
        "r/f/x.sls",
        "cargo build -p mapstack-python",
        "MAPSTACK_PYTHON",
    ] {
        assert!(message.contains(part), "{message}");
    }
    let found = |mut command: Command| text(&command.output().unwrap());
    let mut on_path = render();
    on_path.env("PATH", &elsewhere);
    assert_eq!(found(on_path), "sum: 3\n");
    let mut named = render();
    named.env("MAPSTACK_PYTHON", program());
    assert_eq!(found(named), "sum: 3\n");
    fs::hard_link(program(), alone.path().join("mapstack-python")).unwrap();
    assert_eq!(found(render()), "sum: 3\n");
    // Another program in its place is recognised.
    let mut stranger = render();
    stranger.env("MAPSTACK_PYTHON", "/bin/false");
    let message = found(stranger);
    assert!(
        message.contains("/bin/false did not start") && message.contains("r/f/x.sls"),
        "{message}"
    );
}

/// A process below the command: they all are `mapstack-python`.
#[derive(Clone, Copy)]
struct Process {
    pid: u32,
    parent: u32,
    is_zombie: bool,
    /// When it started: a later process may have the same number.
    started: u64,
}

fn process(stat: &Path) -> Option<Process> {
    let stat = fs::read_to_string(stat).ok()?;
    let (head, tail) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = tail.split_whitespace().collect();
    Some(Process {
        pid: head.split_once(' ')?.0.parse().ok()?,
        is_zombie: *fields.first()? == "Z",
        parent: fields.get(1)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
    })
}

/// The processes below another one.
fn below(root: u32) -> Vec<Process> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let all: Vec<Process> = entries
        .filter_map(|entry| process(&entry.path().join("stat")))
        .collect();
    let (mut found, mut parents) = (Vec::new(), vec![root]);
    while let Some(parent) = parents.pop() {
        let children = all.iter().filter(|child| child.parent == parent);
        parents.extend(children.clone().map(|child| child.pid));
        found.extend(children.copied());
    }
    found
}

/// The processes to kill: those at work, sessions and interpreters that have one, or interpreters that start.
fn victims(running: &[Process], root: u32, starting: bool) -> Vec<u32> {
    let has_session = |pid: u32| running.iter().any(|other| other.parent == pid);
    let starts = |one: &Process| one.parent == root && !has_session(one.pid);
    let chosen = running
        .iter()
        .filter(|one| !one.is_zombie && starts(one) == starting);
    chosen.map(|one| one.pid).collect()
}

#[test]
fn a_fleet_loses_nothing_where_its_interpreters_are_killed_at_work_or_as_they_start() {
    thread::scope(|scope| {
        scope.spawn(|| loses_nothing(true));
        loses_nothing(false);
    });
}

/// Kill processes of a fleet. Where they are those that start, each has a chance, as a command whose program never
/// starts has to give up; one at work is killed now and then, so that there are starts.
#[expect(
    clippy::too_many_lines,
    reason = "one fleet: started, killed at, and looked through afterwards"
)]
fn loses_nothing(starting: bool) {
    let kills: usize = std::env::var("MAPSTACK_KILLS").map_or(10, |many| many.parse().unwrap());
    let minions = 15 * kills;
    let tree = Tree::new(&[
        ("r/f/parameters/defaults.yaml", "values: {a: 1}\n"),
        // Some work, so that there is a process to kill.
        (
            "r/f/post.mako",
            "<% mapdata['sum'] = sum(len(grains['name'] * (n % 7)) for n in range(100)) %>",
        ),
    ]);
    let facts: String = (0..minions)
        .map(|n| format!("m{n}: {{grains: {{name: minion{n}}}}}\n"))
        .collect();
    tree.write("minions.yaml", facts.as_bytes());
    let fleet = || {
        let mut command = command(tree.path());
        command.args([
            "fleet",
            "f",
            "--root",
            "r",
            "--minions",
            "minions.yaml",
            "--post-map",
            "post.mako",
        ]);
        command.args(["--post-map-template", "mako"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let started = Instant::now();
    let undisturbed = fleet().output().unwrap();
    // So that the kills are spread over the run, whatever else the machine does.
    let between = started.elapsed().as_micros() as u64 / (kills as u64);
    assert_eq!(undisturbed.status.code(), Some(0), "{}", text(&undisturbed));
    assert_eq!(text(&undisturbed).matches("\"sum\": ").count(), minions);
    assert_eq!(
        undisturbed
            .stdout
            .iter()
            .filter(|byte| **byte == b'\n')
            .count(),
        minions
    );

    let mut child = fleet().spawn().unwrap();
    let mut pipes = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let printed = thread::spawn(move || {
        let mut printed = (Vec::new(), String::new());
        pipes.0.read_to_end(&mut printed.0).unwrap();
        pipes.1.read_to_string(&mut printed.1).unwrap();
        printed
    });
    let (mut killed, mut killed_early, mut seen) = (0, 0, BTreeSet::new());
    let mut spared = BTreeSet::new();
    let mut rng = fastrand::Rng::with_seed(9);
    let started = Instant::now();
    let mut last_kill = started;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(
            started.elapsed() < Duration::from_secs(100 + 10 * kills as u64),
            "the fleet hangs after {killed} kills"
        );
        let pause = if starting { between / 8 } else { between };
        thread::sleep(Duration::from_micros(rng.u64(..pause.max(1))));
        let running = below(child.id());
        seen.extend(running.iter().map(|process| (process.pid, process.started)));
        let mut chosen = victims(&running, child.id(), starting);
        let nothing_starts = chosen.is_empty();
        chosen.retain(|pid| !spared.contains(pid));
        if starting
            && let Some(pid) = rng.choice(&chosen).copied()
            && rng.bool()
        {
            spared.insert(pid);
            continue;
        }
        let is_early = !chosen.is_empty();
        // Nothing starts unless an interpreter is gone. One that was spared is left alone until its time has come.
        if starting && nothing_starts && last_kill.elapsed() > Duration::from_micros(between) {
            let interpreters = running.iter().filter(|one| one.parent == child.id());
            chosen = interpreters.map(|one| one.pid).collect();
        }
        if let Some(pid) = rng.choice(chosen)
            && killed < kills
        {
            let killing = Command::new("kill")
                .args(["-9", &pid.to_string()])
                .stderr(Stdio::null())
                .status();
            let is_killed = usize::from(killing.unwrap().success());
            killed += is_killed;
            last_kill = Instant::now();
            killed_early += is_killed * usize::from(starting && is_early);
        }
    };
    let (stdout, stderr) = printed.join().unwrap();
    println!(
        "{killed} kills, {killed_early} at the start, {} processes seen, {:?}",
        seen.len(),
        started.elapsed()
    );
    assert!(status.success(), "{stderr}");
    assert!(
        stdout == undisturbed.stdout,
        "after {killed} kills the output is another one; {stderr}"
    );
    // The number depends on the speed of the machine.
    assert!(
        !starting || killed_early > 0,
        "none of {killed} kills hit a start"
    );
    assert!(
        killed * 4 > kills,
        "the fleet was over after {killed} kills"
    );
    // Nothing is left, not even a zombie. A session whose interpreter was killed ends with it, but is the system's to
    // clear away, which takes its time.
    let is_there = |(pid, started): &(u32, u64)| {
        process(Path::new(&format!("/proc/{pid}/stat")))
            .is_some_and(|there| there.started == *started)
    };
    let ended = Instant::now();
    while seen.iter().any(is_there) {
        assert!(
            ended.elapsed() < Duration::from_secs(20),
            "a process is still there"
        );
        thread::sleep(Duration::from_millis(20));
    }
}
