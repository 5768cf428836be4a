//! Running a program: its output bounded, and ended when its time is up.

use std::io::{self, PipeReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of each output.
const LARGEST: u64 = 16 << 20;

/// The settings of a program's run.
pub(crate) struct ProcessSettings {
    /// The standard input; nothing if `None`.
    pub stdin: Option<Vec<u8>>,
    /// True if both outputs are one.
    pub merged: bool,
    pub time: Duration,
}

/// The outcome.
pub(crate) enum ProcessOutcome {
    Done(Output),
    /// It was ended for taking too long.
    Late,
    /// It was ended for printing too much.
    Talkative,
}

pub(crate) struct Output {
    pub pid: u32,
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// The message about output without end.
pub(crate) fn talkative() -> String {
    format!("it printed more than {} MiB", LARGEST >> 20)
}

/// Run a program to its end.
///
/// # Errors
/// It could not be started, or listened to.
pub(crate) fn run(mut command: Command, setting: ProcessSettings) -> io::Result<ProcessOutcome> {
    let deadline = Instant::now() + setting.time;
    let (out, out_writer) = io::pipe()?;
    let (err, err_writer) = io::pipe()?;
    if setting.merged {
        command.stderr(out_writer.try_clone()?);
        // An end that stays open would be waited for.
        drop(err_writer);
    } else {
        command.stderr(err_writer);
    }
    command.stdout(out_writer);
    command.stdin(if setting.stdin.is_some() {
        Stdio::piped()
    } else {
        Stdio::null()
    });
    // The processes that it starts end with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    // The command holds the ends of the pipes that the program writes to.
    drop(command);
    if let (Some(text), Some(mut pipe)) = (setting.stdin, child.stdin.take()) {
        // A program need not read what it is given.
        thread::spawn(move || pipe.write_all(&text).ok());
    }
    let outputs = [read(out), read(err)];
    let ended = listen(&mut child, &outputs, deadline);
    if !matches!(ended, Ok(ProcessOutcome::Done(_))) {
        kill(&mut child);
    }
    ended
}

fn listen(
    child: &mut Child,
    outputs: &[Receiver<io::Result<Vec<u8>>>; 2],
    deadline: Instant,
) -> io::Result<ProcessOutcome> {
    let mut texts: [Vec<u8>; 2] = Default::default();
    for (output, text) in outputs.iter().zip(&mut texts) {
        match output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(bytes) => *text = bytes?,
            Err(_) => return Ok(ProcessOutcome::Late),
        }
        if text.len() as u64 > LARGEST {
            return Ok(ProcessOutcome::Talkative);
        }
    }
    let mut pause = Duration::from_micros(200);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() >= deadline {
            return Ok(ProcessOutcome::Late);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    let [stdout, stderr] = texts;
    Ok(ProcessOutcome::Done(Output {
        pid: child.id(),
        status,
        stdout,
        stderr,
    }))
}

/// Read to the end, elsewhere.
fn read(pipe: PipeReader) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = pipe.take(LARGEST + 1).read_to_end(&mut bytes);
        // The receiver may be gone.
        sender.send(read.map(|_| bytes)).ok();
    });
    receiver
}

fn kill(child: &mut Child) {
    // Each of these fails only if the process has ended.
    #[cfg(unix)]
    if let Ok(group) = i32::try_from(child.id()) {
        nix::sys::signal::killpg(
            nix::unistd::Pid::from_raw(group),
            nix::sys::signal::Signal::SIGKILL,
        )
        .ok();
    }
    child.kill().ok();
    child.wait().ok();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn ended(script: &str, time: Duration) -> ProcessOutcome {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        run(
            command,
            ProcessSettings {
                stdin: None,
                merged: false,
                time,
            },
        )
        .unwrap()
    }

    #[test]
    fn a_program_that_does_not_end_is_ended_with_what_it_started() {
        let started = Instant::now();
        for script in [
            "sleep 100",
            "sleep 100 & sleep 100",
            "sleep 100 &",
            "exec >&- 2>&-; sleep 100",
        ] {
            assert!(
                matches!(
                    ended(script, Duration::from_millis(200)),
                    ProcessOutcome::Late
                ),
                "{script}"
            );
        }
        assert!(started.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn output_without_end_is_not_kept() {
        assert!(matches!(
            ended("yes", Duration::from_secs(60)),
            ProcessOutcome::Talkative
        ));
    }

    #[test]
    fn both_outputs_are_read_whole() {
        let script = "head -c 300000 /dev/zero; head -c 200000 /dev/zero >&2; exit 3";
        let ProcessOutcome::Done(output) = ended(script, Duration::from_secs(60)) else {
            panic!("not done")
        };
        assert_eq!(
            (output.stdout.len(), output.stderr.len()),
            (300_000, 200_000)
        );
        assert_eq!(output.status.code(), Some(3));
    }
}
