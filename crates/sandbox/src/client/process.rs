//! A running `mapstack-python`: one nursery, and the sessions that it opens.

use std::collections::VecDeque;
use std::io::{self, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::protocol::{
    Control, FrameError, Hello, Message, ProgramReport, SessionEnd, read_frame, write_frame,
};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use super::lost::{KILLED, LostJob};

/// Starting the interpreter takes a fraction of this.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Ending what is there takes a fraction of this.
const PARTING: Duration = Duration::from_secs(5);

/// The program, with the greeting it gave.
pub(super) struct Process {
    child: Child,
    /// Gone once it was hung up.
    control: Option<WaitingSocket>,
    /// Sessions whose end was requested and not reported yet.
    ending: bool,
    /// True if sessions are requested that are prepared for all kinds of jobs.
    is_for_all: bool,
    /// True if the next session is.
    next_is_for_all: bool,
    pub(super) hello: Hello,
}

impl Process {
    /// Start the program; `is_for_all`: its sessions are prepared for all kinds of jobs.
    pub(super) fn start(program: &Path, is_for_all: bool) -> Result<Self, LostJob> {
        let failed =
            |why: String| LostJob::Absent(format!("{} did not start: {why}", program.display()));
        let (ours, theirs) = UnixStream::pair().map_err(|error| failed(error.to_string()))?;
        let mut command = Command::new(program);
        let way = match is_for_all {
            true => "--serve-all",
            false => "--serve",
        };
        command.arg(way).env_clear().current_dir("/");
        command
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn().map_err(|error| failed(error.to_string()))?;
        // The command holds the other end of the line.
        drop(command);
        let hello = Hello {
            release: String::new(),
            walls: Vec::new(),
        };
        let mut process = Process {
            child,
            control: Some(WaitingSocket::new(ours)),
            ending: false,
            is_for_all,
            next_is_for_all: is_for_all,
            hello,
        };
        let frame = process
            .read(TIMEOUT)
            .map_err(|error| match process.was_killed() {
                true => LostJob::Ended(None),
                false => failed(error.to_string()),
            })?;
        process.hello = Hello::from_bytes(&frame).map_err(|error| {
            LostJob::Stranger(format!(
                "{} is not of the same version as this program: {error}",
                program.display()
            ))
        })?;
        Ok(process)
    }

    /// Hang up, and wait until the program has ended with its session.
    fn wait(&mut self) -> Option<ExitStatus> {
        self.control = None;
        let started = Instant::now();
        let mut pause = Duration::from_micros(200);
        while started.elapsed() < PARTING {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) => std::thread::sleep(pause),
                Err(_) => break,
            }
            pause = (pause * 2).min(Duration::from_millis(50));
        }
        None
    }

    /// True if the program was killed from outside, after it has hung up.
    pub(super) fn was_killed(&mut self) -> bool {
        self.wait().and_then(|status| status.signal()) == Some(KILLED)
    }

    fn control(&mut self) -> Result<&mut WaitingSocket, FrameError> {
        self.control.as_mut().ok_or(FrameError::Closed)
    }

    fn read(&mut self, patience: Duration) -> Result<Vec<u8>, FrameError> {
        let line = self.control()?;
        line.until = Some(Instant::now() + patience);
        read_frame(line)
    }

    fn report(&mut self, patience: Duration) -> Result<ProgramReport, LostJob> {
        let frame = self.read(patience).map_err(|_| LostJob::Ended(None))?;
        ProgramReport::from_bytes(&frame).map_err(|error| LostJob::Strange(error.to_string()))
    }

    /// Open the next session.
    pub(super) fn session(&mut self) -> Result<Session, LostJob> {
        if std::mem::take(&mut self.ending) {
            match self.report(PARTING)? {
                ProgramReport::Ended(_) => {}
                ProgramReport::Open => {
                    return Err(LostJob::Strange(
                        "a session opened before the last one ended".to_owned(),
                    ));
                }
            }
        }
        let opened = self.report(TIMEOUT)?;
        let socket = self
            .control
            .as_mut()
            .and_then(|line| line.sockets.pop_front());
        match (opened, socket) {
            (ProgramReport::Open, Some(socket)) => Ok(Session(WaitingSocket::new(socket.into()))),
            _ => Err(LostJob::Strange(
                "a session opened without a socket".to_owned(),
            )),
        }
    }

    /// Have sessions prepared for all kinds of jobs from now on. The one that was prepared for templates ends.
    pub(super) fn prepare_for_all(&mut self) -> Result<(), LostJob> {
        self.is_for_all = true;
        if self.next_is_for_all {
            return Ok(());
        }
        drop(self.session()?);
        match self.end() {
            true => Ok(()),
            false => Err(LostJob::Ended(None)),
        }
    }

    /// End the session that is open, and have the next one prepared; whether the program is of further use.
    pub(super) fn end(&mut self) -> bool {
        self.ending = true;
        self.next_is_for_all = self.is_for_all;
        let next = match self.is_for_all {
            true => Control::NextOfAll,
            false => Control::Next,
        };
        self.control()
            .and_then(|line| write_frame(line, &next.to_bytes()))
            .is_ok()
    }

    /// Kill the processes of sessions, from outside.
    #[cfg(test)]
    pub(super) fn kill_session(&self) {
        let nursery = self.child.id();
        let children = format!("/proc/{nursery}/task");
        for task in std::fs::read_dir(children).unwrap() {
            let list = std::fs::read_to_string(task.unwrap().path().join("children")).unwrap();
            for child in list.split_whitespace() {
                let killed = Command::new("kill").args(["-9", child]).status().unwrap();
                assert!(killed.success());
            }
        }
    }

    /// End the session that is open, and learn how its process ended; none if the program has ended with it.
    pub(super) fn learn_end(&mut self) -> Option<SessionEnd> {
        if !self.end() {
            return None;
        }
        self.ending = false;
        match self.report(PARTING) {
            Ok(ProgramReport::Ended(ending)) => Some(ending),
            _ => None,
        }
    }
}

impl Drop for Process {
    /// Nothing stays behind: the program ends its session and itself when its line is hung up.
    fn drop(&mut self) {
        if self.wait().is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// The line to one session.
pub(super) struct Session(WaitingSocket);

impl Session {
    /// The line over a socket.
    #[cfg(test)]
    pub(super) fn over(socket: UnixStream) -> Self {
        Session(WaitingSocket::new(socket))
    }

    /// Send bytes as they are, as far as the other side takes them, and nothing more.
    #[cfg(test)]
    pub(super) fn hang_up_after(&mut self, bytes: &[u8]) {
        self.0.until = Instant::now().checked_add(TIMEOUT);
        let _ = self.0.write_all(bytes);
        let _ = self.0.stream.shutdown(std::net::Shutdown::Write);
    }

    /// Send messages, each as its bytes.
    pub(super) fn write(
        &mut self,
        messages: &[Vec<u8>],
        within: Duration,
    ) -> Result<(), FrameError> {
        let mut frames = Vec::with_capacity(messages.iter().map(|message| message.len() + 4).sum());
        for message in messages {
            write_frame(&mut frames, message)?;
        }
        self.0.until = Instant::now().checked_add(within);
        Ok(self.0.write_all(&frames)?)
    }

    /// The next message's bytes.
    pub(super) fn read(&mut self, within: Duration) -> Result<Vec<u8>, FrameError> {
        self.0.until = Instant::now().checked_add(within);
        read_frame(&mut self.0)
    }
}

/// A socket that waits until some time at most, and takes sockets that come with what is read.
struct WaitingSocket {
    stream: UnixStream,
    until: Option<Instant>,
    sockets: VecDeque<OwnedFd>,
}

impl WaitingSocket {
    fn new(stream: UnixStream) -> Self {
        WaitingSocket {
            stream,
            until: None,
            sockets: VecDeque::new(),
        }
    }

    /// The time that is left, if it is bounded.
    fn left(&self) -> io::Result<Option<Duration>> {
        match self
            .until
            .map(|until| until.saturating_duration_since(Instant::now()))
        {
            Some(Duration::ZERO) => Err(io::ErrorKind::TimedOut.into()),
            left => Ok(left),
        }
    }
}

/// The error of a socket that timed out.
fn timed_out(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::WouldBlock {
        io::ErrorKind::TimedOut.into()
    } else {
        error
    }
}

#[cfg(target_os = "linux")]
const FLAGS: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const FLAGS: RecvFlags = RecvFlags::empty();

impl Read for WaitingSocket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = recvmsg(
            &self.stream,
            &mut [IoSliceMut::new(buffer)],
            &mut ancillary,
            FLAGS,
        );
        let received = received.map_err(|error| timed_out(error.into()))?;
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(sockets) = message {
                self.sockets.extend(sockets);
            }
        }
        Ok(received.bytes)
    }
}

impl Write for WaitingSocket {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        (&self.stream).write(buffer).map_err(timed_out)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
