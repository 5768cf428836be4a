//! The sandbox, tried from inside: a process in it attempts what no template may do.
#![cfg(target_os = "linux")]

use std::io::Write;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

use mapstack_python::walls::{raise_first, raise_last};
use mapstack_sandbox::protocol::Bounds;

const VARIABLE: &str = "ATTEMPT";
const BOUNDS: Bounds = Bounds {
    fuel: 1,
    output: 1,
    depth: 1,
    time: 2_000,
    memory: 256 << 20,
};

/// The exit status of a process that got through, and of one that did not.
const THROUGH: i32 = 50;
const STOPPED: i32 = 51;

fn attempt(what: &str) -> bool {
    match what {
        "read" => std::fs::read("/etc/passwd").is_ok(),
        "write" => std::fs::write("/tmp/mapstack-python-was-here", "x").is_ok(),
        "list" => std::fs::read_dir("/").is_ok_and(|mut entries| entries.next().is_some()),
        "run" => Command::new("/bin/true").status().is_ok(),
        "connect" => TcpStream::connect("127.0.0.1:9").is_ok(),
        "listen" => TcpListener::bind("127.0.0.1:0").is_ok(),
        "send" => UdpSocket::bind("127.0.0.1:0").is_ok(),
        "unix" => UnixStream::connect("/var/run/nothing").is_ok(),
        "thread" => std::thread::Builder::new().spawn(|| {}).is_ok(),
        "memory" => {
            let taken: Vec<Vec<u8>> = (0..64).map(|_| vec![1; 16 << 20]).collect();
            taken.len() == 64
        }
        "time" => {
            let mut number = std::process::id();
            while number != 0 || std::hint::black_box(true) {
                number = std::hint::black_box(number.wrapping_add(1));
            }
            true
        }
        // A session keeps what it needs.
        "nothing" => {
            std::hint::black_box(vec![7; 1 << 20]).len() == 1 << 20
                && std::io::stderr().write(b"x").is_ok()
        }
        other => unreachable!("unknown attempt {other}"),
    }
}

/// The part that runs in the sandbox, in a separate process; without the variable it does nothing.
#[test]
fn behind_the_walls() {
    let Some(what) = std::env::var(VARIABLE).ok() else {
        return;
    };
    let missing: Vec<_> = raise_first()
        .into_iter()
        .filter_map(|wall| wall.missing)
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    raise_last(&BOUNDS).unwrap();
    std::process::exit(if attempt(&what) { THROUGH } else { STOPPED });
}

fn behind(what: &str) -> Output {
    let this = std::env::current_exe().unwrap();
    Command::new(this)
        .args(["--exact", "behind_the_walls", "--nocapture"])
        .env(VARIABLE, what)
        .output()
        .unwrap()
}

#[test]
fn nothing_gets_through() {
    const BAD_CALL: i32 = 31;
    const ABORTED: i32 = 6;
    const TOO_LONG: [i32; 2] = [24, 9];
    assert_eq!(
        behind("nothing").status.code(),
        Some(THROUGH),
        "{:?}",
        behind("nothing")
    );
    for what in ["read", "write", "list"] {
        assert_eq!(behind(what).status.code(), Some(STOPPED), "{what}");
    }
    for what in ["run", "connect", "listen", "send", "unix", "thread"] {
        let output = behind(what);
        let stopped =
            output.status.signal() == Some(BAD_CALL) || output.status.code() == Some(STOPPED);
        assert!(stopped, "{what}: {output:?}");
    }
    let memory = behind("memory");
    assert_eq!(memory.status.signal(), Some(ABORTED), "{memory:?}");
    assert!(
        String::from_utf8_lossy(&memory.stderr).contains("memory allocation of"),
        "{memory:?}"
    );
    let time = behind("time").status.signal();
    assert!(
        time.is_some_and(|signal| TOO_LONG.contains(&signal)),
        "{time:?}"
    );
}
