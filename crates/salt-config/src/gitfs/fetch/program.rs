//! Running the program `git`, which has the user's credentials, proxies, certificates and ssh.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use mapstack_loader::processes::started_by;

use super::Progress;
use super::address::Address;
use crate::gitfs::RemoteSource;

/// A program that says nothing for so long has gone.
const SILENCE: Duration = Duration::from_secs(300);
/// The interval at which the caller is asked whether to go on.
const TICK: Duration = Duration::from_millis(20);
/// Pipes that programs in the background hold open do not hold up the end for longer.
const GRACE: Duration = Duration::from_millis(500);
/// A list of references has no more bytes than this.
const LONGEST_LIST: u64 = 256 << 20;
/// The objects that a server sends have no more bytes than this: it could fill the disk.
const LARGEST_PACK: u64 = 4 << 30;
/// The interval at which the objects that have arrived are measured.
const LOOK: Duration = Duration::from_secs(1);
/// So many lines of an error are kept, and this many bytes of a line.
const KEPT_LINES: usize = 12;
const LONGEST_LINE: usize = 400;

/// The variables that would lead git to another repository than the one it is given, or change how it reads it.
const LOCAL_VARIABLES: [&str; 16] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DEFAULT_HASH",
    "GIT_DEFAULT_REF_FORMAT",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Nothing of the user's runs but what gets to a server, and nothing is tidied up behind our back.
const SETTINGS: [&str; 11] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.alternateRefsCommand=true",
    "fetch.unpackLimit=1",
    "fetch.writeCommitGraph=false",
    "gc.auto=0",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=120",
    "maintenance.auto=false",
    "protocol.version=2",
    "transfer.bundleURI=false",
];

/// A login is requested by a helper of git's own language, which reads it from the environment: it shows in no list of
/// processes, and git asks for it only on behalf of the host that it is for.
const LOGIN_HELPER: &str = "!f() { test \"$1\" = get && printf 'username=%s\\npassword=%s\\n' \
                            \"$MAPSTACK_FETCH_USER\" \"$MAPSTACK_FETCH_PASSWORD\"; }; f";

/// Gives the reason to stop, if there is one.
pub type StopReason<'s> = dyn Fn() -> Option<String> + 's;

/// The program, on its way to one repository.
pub(super) struct Git<'f> {
    pub origin: &'f RemoteSource,
    pub address: &'f Address,
    pub progress: &'f Progress,
    pub stop: &'f StopReason<'f>,
}

impl Git<'_> {
    /// Run a command of git's in a repository, and give what it prints.
    ///
    /// # Errors
    /// It fails, with its message; it is silent for too long or receives too much; or there is a reason to stop.
    pub(super) fn run(
        &self,
        repository: &Path,
        arguments: &[&str],
        input: Vec<u8>,
    ) -> Result<Vec<u8>, String> {
        let mut child =
            self.command(repository, arguments)
                .spawn()
                .map_err(|e| {
                    match e.kind() {
                io::ErrorKind::NotFound => {
                    "the program `git` does the fetching, and is not installed or not on the path"
                        .into()
                }
                _ => format!("the program `git` does not start: {e}"),
            }
                })?;
        if let Some(mut stdin) = child.stdin.take() {
            // One that ends early does not read it all, and says why itself.
            thread::spawn(move || stdin.write_all(&input));
        }
        let printed = child
            .stdout
            .take()
            .map(|out| listened(out.take(LONGEST_LIST + 1)));
        let said = child.stderr.take().map(listened);
        let (Some(printed), Some(said)) = (printed, said) else {
            return Err("the program `git` has no output".into());
        };
        let mut arrived = Arrived::at(repository);
        let watched = self.watch(&mut child, &printed, &said, &mut arrived);
        if watched.is_err() {
            end(&mut child);
        }
        let (status, output, lines) = watched?;
        if status.success() {
            Ok(output)
        } else {
            Err(words(&lines, status))
        }
    }

    fn command(&self, repository: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        for variable in LOCAL_VARIABLES {
            command.env_remove(variable);
        }
        command
            .env("GIT_ALLOW_PROTOCOL", "http:https:ssh")
            .env("GIT_TERMINAL_PROMPT", "0")
            // Its messages are parsed.
            .env("LC_ALL", "C")
            .env_remove("LANGUAGE")
            .arg("--git-dir")
            .arg(repository);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        if !self.origin.ssl_verify {
            command.args(["-c", "http.sslVerify=false"]);
        }
        self.keep_secrets(&mut command);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Pass secrets in the environment, behind its other settings, as the list of processes shows arguments.
    fn keep_secrets(&self, command: &mut Command) {
        let mut settings = Vec::new();
        if let Some(login) = &self.address.login {
            let helper = format!("credential.{}.helper", login.host);
            settings.push((helper.clone(), ""));
            settings.push((helper, LOGIN_HELPER));
            command
                .env("MAPSTACK_FETCH_USER", &login.user)
                .env("MAPSTACK_FETCH_PASSWORD", &login.password);
        }
        if !self.origin.proxy.is_empty() {
            settings.push(("http.proxy".into(), &self.origin.proxy));
        }
        let given = std::env::var("GIT_CONFIG_COUNT").ok();
        let first: usize = given.and_then(|count| count.parse().ok()).unwrap_or(0);
        for (at, (key, value)) in settings.iter().enumerate() {
            command
                .env(format!("GIT_CONFIG_KEY_{}", first + at), key)
                .env(format!("GIT_CONFIG_VALUE_{}", first + at), value);
        }
        if !settings.is_empty() {
            command.env("GIT_CONFIG_COUNT", (first + settings.len()).to_string());
        }
    }

    /// Wait for the end: how it ended, what was printed, and what was said but for progress.
    fn watch(
        &self,
        child: &mut Child,
        printed: &Receiver<Vec<u8>>,
        said: &Receiver<Vec<u8>>,
        arrived: &mut Arrived,
    ) -> Result<(ExitStatus, Vec<u8>, Vec<String>), String> {
        let mut output = Vec::new();
        let mut heard = ProgramOutput::default();
        let mut last = Instant::now();
        let mut ended: Option<(ExitStatus, Instant)> = None;
        let (mut all_printed, mut all_said) = (false, false);
        loop {
            if let Some(why) = (self.stop)() {
                return Err(why);
            }
            arrived.check()?;
            if last.elapsed() > SILENCE {
                let seconds = SILENCE.as_secs();
                return Err(format!("nothing was heard for {seconds} seconds"));
            }
            while let Ok(bytes) = printed.try_recv() {
                output.extend(bytes);
                last = Instant::now();
            }
            if u64::try_from(output.len()).unwrap_or(u64::MAX) > LONGEST_LIST {
                return Err("the list of its references is too long".into());
            }
            match said.recv_timeout(TICK) {
                Ok(bytes) => {
                    heard.take(&bytes, self.progress);
                    last = Instant::now();
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    all_said = true;
                    match printed.recv_timeout(TICK) {
                        Ok(bytes) => output.extend(bytes),
                        Err(RecvTimeoutError::Timeout) => {}
                        Err(RecvTimeoutError::Disconnected) => all_printed = true,
                    }
                }
            }
            if ended.is_none() {
                let status = child.try_wait().map_err(|e| e.to_string())?;
                ended = status.map(|status| (status, Instant::now()));
                if all_said && all_printed && ended.is_none() {
                    thread::sleep(TICK);
                }
            }
            if let Some((status, when)) = ended
                && ((all_said && all_printed) || when.elapsed().min(last.elapsed()) > GRACE)
            {
                output.extend(printed.try_iter().flatten());
                return Ok((status, output, heard.lines()));
            }
        }
    }
}

/// End the program with all that it has started: a helper that waits for a server, or takes what it sends, does not notice
/// that git has ended.
fn end(child: &mut Child) {
    let started = started_by(child.id());
    let _ = child.kill();
    #[cfg(unix)]
    for process in started {
        use rustix::process::{Pid, Signal, kill_process};
        if let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) {
            let _ = kill_process(process, Signal::KILL);
        }
    }
    #[cfg(not(unix))]
    drop(started);
    let _ = child.wait();
}

/// The objects that have arrived in a repository since a moment.
struct Arrived {
    packs: PathBuf,
    /// The bytes of the objects that it had.
    before: u64,
    looked: Option<Instant>,
}

impl Arrived {
    fn at(repository: &Path) -> Self {
        let packs = repository.join("objects/pack");
        Arrived {
            before: size_of_files(&packs),
            packs,
            looked: None,
        }
    }

    /// See that they are not too many.
    fn check(&mut self) -> Result<(), String> {
        if self.looked.is_some_and(|when| when.elapsed() < LOOK) {
            return Ok(());
        }
        self.looked = Some(Instant::now());
        match size_of_files(&self.packs).saturating_sub(self.before) > LARGEST_PACK {
            true => Err(format!(
                "the server sends more than {} GiB",
                LARGEST_PACK >> 30
            )),
            false => Ok(()),
        }
    }
}

/// The bytes of the files in a directory. A file that is renamed meanwhile may be left out.
fn size_of_files(directory: &Path) -> u64 {
    let files = std::fs::read_dir(directory).into_iter().flatten();
    files
        .filter_map(|file| Some(file.ok()?.metadata().ok()?.len()))
        .sum()
}

/// Read a program's output on another thread, until its end.
fn listened(mut from: impl io::Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::sync_channel(64);
    thread::spawn(move || {
        let mut buffer = vec![0; 16 << 10];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            if sender.send(buffer[..read].to_vec()).is_err() {
                break;
            }
        }
    });
    receiver
}

/// The lines that were heard, but those of progress.
#[derive(Default)]
struct ProgramOutput {
    line: Vec<u8>,
    kept: Vec<String>,
}

impl ProgramOutput {
    fn take(&mut self, bytes: &[u8], progress: &Progress) {
        for byte in bytes {
            match byte {
                b'\n' | b'\r' => self.end(progress),
                _ if self.line.len() < LONGEST_LINE => self.line.push(*byte),
                _ => {}
            }
        }
    }

    fn end(&mut self, progress: &Progress) {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned();
        // Drop the server's terminal controls; servers clear lines with them.
        let line: String = line
            .replace("\x1b[K", "")
            .chars()
            .filter(|c| !c.is_control())
            .collect();
        let line = line.trim();
        if line.is_empty() || progress.takes(line) {
            return;
        }
        if self.kept.len() == KEPT_LINES {
            self.kept.remove(0);
        }
        self.kept.push(line.into());
    }

    fn lines(mut self) -> Vec<String> {
        self.end(&Progress::default());
        self.kept
    }
}

/// Words that git adds to every failure, and its advice to people who run it by hand.
const IDLE_WORDS: [&str; 4] = [
    "hint: ",
    "Could not read from remote repository",
    "Please make sure you have the correct access rights",
    "and the repository exists.",
];

/// Why git failed: what it and the server said.
fn words(lines: &[String], status: ExitStatus) -> String {
    let bare = |line: &String| {
        let start = ["fatal: ", "error: "]
            .iter()
            .find(|start| line.starts_with(**start));
        start.map_or(0, |start| start.len())
    };
    let said: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.get(bare(line)..))
        .collect();
    let telling = said
        .iter()
        .filter(|line| !IDLE_WORDS.iter().any(|words| line.starts_with(words)));
    match telling.copied().collect::<Vec<_>>().as_slice() {
        [] if said.is_empty() => format!("git ended without a word ({status})"),
        [] => said.join("; "),
        telling => telling.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn objects_that_would_fill_the_disk_are_too_many() {
        let directory = tempfile::tempdir().unwrap();
        let packs = directory.path().join("objects/pack");
        std::fs::create_dir_all(&packs).unwrap();
        let pack = std::fs::File::create(packs.join("tmp_pack_x")).unwrap();
        // Without content, it takes no room.
        // Objects that the repository has do not count.
        let with_size = |size| {
            pack.set_len(LARGEST_PACK).unwrap();
            let mut arrived = Arrived::at(directory.path());
            pack.set_len(LARGEST_PACK + size).unwrap();
            arrived.check()
        };
        assert_eq!(with_size(LARGEST_PACK), Ok(()));
        let refused = Err("the server sends more than 4 GiB".into());
        assert_eq!(with_size(LARGEST_PACK + 1), refused);
    }
}
