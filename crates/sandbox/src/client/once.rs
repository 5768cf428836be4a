//! `mapstack-python` where processes do not fork: a program for each session, which talks by its standard streams.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::protocol::{FrameError, Hello, SessionEnd, read_frame, write_frame};

use super::lost::LostJob;

/// Starting the interpreter takes a fraction of this.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The most bytes that are kept of a session's standard error.
const MAX_SAID: u64 = 4096;

/// The program, and a running one for the next session.
pub(super) struct Process {
    program: PathBuf,
    prepared: Option<(Running, Session)>,
    running: Option<Running>,
    pub(super) hello: Hello,
}

/// A program that runs; it is ended with this.
struct Running {
    child: Child,
    errors: Option<JoinHandle<Vec<u8>>>,
}

impl Process {
    /// Start the program.
    pub(super) fn start(program: &Path, _: bool) -> Result<Self, LostJob> {
        let (running, session, hello) = run(program)?;
        Ok(Process {
            program: program.to_path_buf(),
            prepared: Some((running, session)),
            running: None,
            hello,
        })
    }

    /// Programs are started for each session, so none is killed before.
    #[cfg(not(unix))]
    pub(super) fn was_killed(&mut self) -> bool {
        false
    }

    /// A process of one session prepares what its jobs need.
    #[cfg(not(unix))]
    pub(super) fn prepare_for_all(&mut self) -> Result<(), Lost> {
        Ok(())
    }

    /// Open the next session.
    pub(super) fn session(&mut self) -> Result<Session, LostJob> {
        let (running, session) = match self.prepared.take() {
            Some(prepared) => prepared,
            None => run(&self.program).map(|(running, session, _)| (running, session))?,
        };
        self.running = Some(running);
        Ok(session)
    }

    /// End the session that is open; whether there can be another one.
    pub(super) fn end(&mut self) -> bool {
        self.running = None;
        true
    }

    /// End the session that is open, and learn how its process ended.
    pub(super) fn learn_end(&mut self) -> Option<SessionEnd> {
        self.running.take().and_then(Running::end)
    }
}

fn run(program: &Path) -> Result<(Running, Session, Hello), LostJob> {
    let failed =
        |why: String| LostJob::Absent(format!("{} did not start: {why}", program.display()));
    let mut command = Command::new(program);
    command
        .arg("--once")
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
    let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let mut running = Running {
        child,
        errors: None,
    };
    let (Some(input), Some(output), Some(errors)) = streams else {
        return Err(failed("it has no standard streams".to_owned()));
    };
    running.errors = Some(std::thread::spawn(move || {
        let mut said = Vec::new();
        let mut errors = errors;
        let _ = errors.by_ref().take(MAX_SAID).read_to_end(&mut said);
        // A program whose output is not read would block.
        let _ = std::io::copy(&mut errors, &mut std::io::sink());
        said
    }));
    let mut session = Session::over(input, output);
    let greeting = session
        .read(TIMEOUT)
        .map_err(|error| failed(error.to_string()))?;
    let hello = Hello::from_bytes(&greeting).map_err(|error| {
        LostJob::Stranger(format!(
            "{} is not of the same version as this program: {error}",
            program.display()
        ))
    })?;
    Ok((running, session, hello))
}

impl Running {
    fn end(mut self) -> Option<SessionEnd> {
        // It may have ended by itself, and then keeps its status.
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let status = self.child.wait().ok()?;
        let said = self
            .errors
            .take()
            .and_then(|errors| errors.join().ok())
            .unwrap_or_default();
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        Some(SessionEnd {
            status: status.code(),
            signal,
            said: String::from_utf8_lossy(&said).into_owned(),
            noted: None,
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The line to one session. Streams have no time limit, so they are read and written by threads of their own, which
/// end with the program.
pub(super) struct Session {
    to: Sender<Vec<u8>>,
    from: Receiver<Result<Vec<u8>, FrameError>>,
}

impl Session {
    fn over(
        mut input: impl std::io::Write + Send + 'static,
        mut output: impl Read + Send + 'static,
    ) -> Self {
        let (to, outgoing) = channel::<Vec<u8>>();
        let (incoming, from) = channel();
        std::thread::spawn(move || {
            for message in outgoing {
                if write_frame(&mut input, &message).is_err() {
                    return;
                }
            }
        });
        std::thread::spawn(move || {
            loop {
                let frame = read_frame(&mut output);
                let is_last = frame.is_err();
                if incoming.send(frame).is_err() || is_last {
                    return;
                }
            }
        });
        Session { to, from }
    }

    /// Send messages, each as its bytes.
    pub(super) fn write(&mut self, messages: &[Vec<u8>], _: Duration) -> Result<(), FrameError> {
        for message in messages {
            self.to
                .send(message.clone())
                .map_err(|_| FrameError::Closed)?;
        }
        Ok(())
    }

    /// The next message's bytes.
    pub(super) fn read(&mut self, within: Duration) -> Result<Vec<u8>, FrameError> {
        match self.from.recv_timeout(within) {
            Ok(frame) => frame,
            Err(RecvTimeoutError::Timeout) => {
                Err(FrameError::Io(std::io::ErrorKind::TimedOut.into()))
            }
            Err(RecvTimeoutError::Disconnected) => Err(FrameError::Closed),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::protocol::{Bounds, Job, JobOutcome, Message, ModuleJob, SessionMessage};

    use super::*;

    #[test]
    fn a_program_does_its_jobs_and_ends() {
        let mut process = Process::start(&crate::client::find::find().unwrap(), false).unwrap();
        assert_eq!(process.hello.walls.len(), 3);
        let bounds = Bounds {
            fuel: 1000,
            output: 1000,
            depth: 100,
            time: 10_000,
            memory: 1 << 30,
        };
        for number in 1..3 {
            let source = format!("def run():\n    return {number}\n");
            let job = Job::Module(ModuleJob {
                source: source.into(),
                name: None,
                variables: vec![],
                changed: vec![],
                is_pure: false,
                compiled: None,
            });
            let mut session = process.session().unwrap();
            session
                .write(&[bounds.to_bytes(), job.to_bytes()], TIMEOUT)
                .unwrap();
            let said = SessionMessage::from_bytes(&session.read(TIMEOUT).unwrap()).unwrap();
            let expected = JobOutcome::Value {
                value: number.into(),
                changed: vec![],
            };
            assert!(matches!(said, SessionMessage::Done(done, _) if *done == expected));
            // The session could go on, and ends with the last message.
            drop(session);
            assert_eq!(process.learn_end().unwrap().status, Some(0));
        }
        process.session().unwrap();
        assert!(process.end());
    }
}
