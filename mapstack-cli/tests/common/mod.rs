//! Running the built command, and comparing what it prints with files.
//!
//! `SNAPSHOTS=overwrite cargo test -p mapstack-cli` rewrites the files; review the diff.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use snapbox::{Assert, Data};
use tempfile::TempDir;

/// Whatever happens, the command ends within this time.
const TIMEOUT: Duration = Duration::from_secs(240);

/// The result of running the command.
pub struct Ran {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// The repository's root, where the examples are.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate lies in the repository")
        .to_path_buf()
}

/// The command, in a directory, without settings from the environment.
pub fn command(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mapstack"));
    command
        .current_dir(directory)
        .env_remove("CLICOLOR_FORCE")
        .env_remove("NO_COLOR")
        .env("COLUMNS", "100");
    command
}

/// Run the command in a directory, with nothing on standard input.
pub fn run<S: AsRef<str>>(directory: &Path, args: &[S]) -> Ran {
    run_with_input(directory, args, "")
}

/// Run the command in a directory, with a text on standard input.
pub fn run_with_input<S: AsRef<str>>(directory: &Path, args: &[S], input: &str) -> Ran {
    let mut child = command(directory)
        .args(args.iter().map(AsRef::as_ref))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // A command that fails early does not read its input.
    let _ = child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(input.as_bytes());
    finish(child)
}

/// Run the command in a directory, with its arguments in one text, split at blanks.
pub fn run_line(directory: &Path, line: &str) -> Ran {
    let args: Vec<&str> = line.split_whitespace().collect();
    run(directory, &args)
}

/// Run a line, and check its exit status and what its output and its errors contain.
pub fn assert_line(directory: &Path, line: &str, status: i32, out: &str, err: &str) {
    let ran = run_line(directory, line);
    let shown = format!("{line}: {}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.status, Some(status), "{shown}");
    assert!(
        ran.stdout.contains(out) && ran.stderr.contains(err),
        "{shown}"
    );
}

/// Run a line of the shell in a directory, where `mapstack` is the built command and git's commits are the same each time.
pub fn shell(directory: &Path, line: &str) -> Ran {
    let built = command(directory);
    let program = Path::new(built.get_program());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = program
        .parent()
        .map(Path::to_path_buf)
        .into_iter()
        .chain(std::env::split_paths(&path));
    let mut shell = Command::new("sh");
    for (name, value) in built.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    for name in ["AUTHOR", "COMMITTER"] {
        shell
            .env(format!("GIT_{name}_NAME"), "A")
            .env(format!("GIT_{name}_EMAIL"), "a@example.org")
            .env(format!("GIT_{name}_DATE"), "2024-01-01T00:00:00Z");
    }
    let child = shell
        .args(["-c", line])
        .current_dir(directory)
        .env("PATH", std::env::join_paths(path).expect("a path"))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("REPOSITORY", repository())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("there is a shell");
    finish(child)
}

/// Run git in a directory, as an author who signs nothing.
pub fn git(directory: &Path, args: &[&str]) {
    let config = [
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@example.org",
        "-c",
        "commit.gpgsign=false",
    ];
    let ran = Command::new("git")
        .current_dir(directory)
        .args(config)
        .args(args)
        .output()
        .expect("git is there");
    assert!(
        ran.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

fn finish(mut child: Child) -> Ran {
    let reader = |mut pipe: Box<dyn Read + Send>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).expect("a pipe can be read");
            String::from_utf8(bytes).expect("the command prints UTF-8")
        })
    };
    let stdout = reader(Box::new(child.stdout.take().expect("a pipe")));
    let stderr = reader(Box::new(child.stderr.take().expect("a pipe")));
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            break status.code();
        }
        if started.elapsed() > TIMEOUT {
            child.kill().expect("a child can be ended");
            child.wait().expect("a child can be waited for");
            panic!("the command did not end within {TIMEOUT:?}");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    Ran {
        status,
        stdout: stdout.join().expect("read"),
        stderr: stderr.join().expect("read"),
    }
}

/// A command that runs until the test ends it.
pub struct Going {
    child: Child,
    lines: Receiver<String>,
    /// The lines that it has printed so far, on either stream.
    pub seen: Vec<String>,
}

impl Going {
    /// Start it in a directory, with its arguments in one text, split at blanks.
    pub fn start(directory: &Path, line: &str) -> Self {
        let mut child = command(directory)
            .args(line.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let (sender, lines) = mpsc::channel();
        let pipes: [Box<dyn Read + Send>; 2] = [
            Box::new(child.stdout.take().expect("a pipe")),
            Box::new(child.stderr.take().expect("a pipe")),
        ];
        for pipe in pipes {
            let sender = sender.clone();
            std::thread::spawn(move || {
                BufReader::new(pipe)
                    .lines()
                    .map_while(Result::ok)
                    .try_for_each(|line| sender.send(line))
            });
        }
        let seen = Vec::new();
        Going { child, lines, seen }
    }

    /// Wait for a line that has this.
    pub fn until(&mut self, wanted: &str) {
        while let Ok(line) = self.lines.recv_timeout(TIMEOUT) {
            self.seen.push(line);
            if self.seen.last().is_some_and(|line| line.contains(wanted)) {
                return;
            }
        }
        panic!("no '{wanted}' among {:#?}", self.seen);
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A directory with files, gone at the end of the test.
pub struct Tree(TempDir);

impl Tree {
    /// Files by path; a path that ends in `/` is a directory.
    pub fn new<C: AsRef<[u8]>>(files: &[(&str, C)]) -> Self {
        let tree = Tree(TempDir::new().expect("a temporary directory"));
        for (path, content) in files {
            tree.write(path, content.as_ref());
        }
        tree
    }

    pub fn write(&self, path: &str, content: &[u8]) {
        let on_disk = self.path().join(path);
        if path.ends_with('/') {
            return fs::create_dir_all(&on_disk).expect("a directory can be made");
        }
        fs::create_dir_all(on_disk.parent().expect("a file has a directory"))
            .expect("a directory can be made");
        fs::write(&on_disk, content).expect("a file can be written");
    }

    /// Write a file in one step, so that no reader sees a part of it.
    pub fn replace(&self, path: &str, content: &[u8]) {
        let fresh = self.path().join("fresh");
        fs::write(&fresh, content).expect("a file can be written");
        let on_disk = self.path().join(path);
        fs::create_dir_all(on_disk.parent().expect("a file has a directory"))
            .expect("a directory can be made");
        fs::rename(&fresh, on_disk).expect("a file can be replaced");
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Compare a text with a file below `tests/snapshots`.
pub fn assert_snapshot(name: &str, actual: &str) {
    assert_file(
        &Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/snapshots")
            .join(name),
        actual,
    );
}

/// Compare a text with a file.
pub fn assert_file(file: &Path, actual: &str) {
    let expected = Data::read_from(file, None).raw();
    Assert::new()
        .action_env("SNAPSHOTS")
        .normalize_paths(false)
        .eq(Data::text(actual).raw(), expected);
}
