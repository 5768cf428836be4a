//! `mapstack watch`: what changes do, as they happen.

mod common;

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use common::{Tree, command};

/// So long a machine may take to see a change; no test waits that long where all is well.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn changes_are_told_until_the_end() {
    let tree = Tree::new(&[
        ("r/ssh/parameters/defaults.yaml", "values: {port: 22}\n"),
        ("m.yaml", "id: web1\ngrains: {os: Debian}\n"),
    ]);
    let mut watch = command(tree.path())
        .args(["watch", "--root", "r", "--minion", "m.yaml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (sender, lines) = mpsc::channel();
    let (errors, output) = (watch.stderr.take().unwrap(), watch.stdout.take().unwrap());
    let more = sender.clone();
    std::thread::spawn(move || {
        BufReader::new(errors)
            .lines()
            .map_while(Result::ok)
            .try_for_each(|line| more.send(line))
    });
    std::thread::spawn(move || {
        BufReader::new(output)
            .lines()
            .map_while(Result::ok)
            .try_for_each(|line| sender.send(line))
    });
    let wait = |wanted: &str| {
        let mut seen = Vec::new();
        while let Ok(line) = lines.recv_timeout(PATIENCE) {
            seen.push(line);
            if seen.last().unwrap().contains(wanted) {
                return;
            }
        }
        panic!("no '{wanted}' among {seen:#?}");
    };
    wait("watching r for 1 minion;");
    tree.write("r/ssh/parameters/defaults.yaml", b"values: {port: 2222}\n");
    wait("+ 2222  r/ssh/parameters/defaults.yaml:1:16");
    tree.write(
        "r/ssh/parameters/os/Debian.yaml",
        b"values: {shell: {{ nope }}}\n",
    );
    wait("ssh fails now");
    tree.write(
        "r/ssh/parameters/os/Debian.yaml",
        b"values: {shell: /bin/sh}\n",
    );
    wait("ssh works again");
    watch.kill().unwrap();
    watch.wait().unwrap();
}
