//! The process that prepares an interpreter and forks for each session.
//!
//! It reads nothing that a template says. Sessions talk to the command over sockets of their own, so that no session
//! can read, or answer for, another one.

use std::fs::File;
use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use fork::Fork;
use mapstack_sandbox::protocol::{
    Control, FrameError, Hello, Message, NotedPlace, ProgramReport, SessionEnd, read_frame,
    write_frame,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, waitpid};

use crate::sandbox::Machine;
use crate::{session, walls};

/// Serve sessions to the command at the other end of standard input, until it hangs up. `is_for_all`: the first session
/// is prepared for all kinds of jobs.
///
/// # Errors
/// Standard input is not a socket, or the interpreter does not start.
pub fn serve(is_for_all: bool) -> io::Result<()> {
    let control = take_control()?;
    let walls = walls::raise_first();
    let hello = Hello {
        release: env!("CARGO_PKG_VERSION").to_owned(),
        walls,
    };
    write_frame(&mut &control, &hello.to_bytes()).map_err(io::Error::other)?;
    session::quiet_panics();
    // The thread that forks is the one that is left in the session.
    crate::on_large_stack(move || {
        // The receiver of the error has hung up.
        let _ = nurse(control, &Machine::new(), is_for_all);
    })
}

/// The socket that is standard input. Nothing is left at its place, which a session could read.
fn take_control() -> io::Result<UnixStream> {
    let control = io::stdin().as_fd().try_clone_to_owned()?;
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    let control = UnixStream::from(control);
    control
        .peer_addr()
        .map_err(|_| io::Error::other("standard input is not a socket"))?;
    Ok(control)
}

/// A session's process, with the end of its standard error.
struct Child {
    pid: Pid,
    errors: File,
    /// The last position that its job noted.
    notes: File,
    /// Its standard error, or the start of it.
    said: Vec<u8>,
}

/// Most commands open no more sessions. After so many the interpreter is prepared for all kinds of jobs, as sessions do
/// not see what others have imported.
const FEW: usize = 2;

/// The most bytes that are kept of a session's standard error.
const MAX_SAID: usize = 4096;

/// Open one session after the other.
fn nurse(control: UnixStream, machine: &Machine, is_for_all: bool) -> io::Result<()> {
    let mut is_to_prepare = is_for_all;
    for sessions in 0.. {
        if is_to_prepare || sessions == FEW {
            machine.prepare();
        }
        let (mut child, socket) = match split()? {
            ForkSide::Nursery { child, socket } => (child, socket),
            ForkSide::Session {
                socket,
                errors,
                notes,
            } => {
                // From here on, only the session's socket is open.
                drop(control);
                be_session(machine, socket, &errors, notes);
            }
        };
        let sent = send_socket(&control, &socket);
        // The other end belongs to the command.
        drop(socket);
        let asked = sent.and_then(|()| child.wait_for(&control));
        // This child's work is done if the command asks for the next run, and if it has closed its end.
        let ending = child.end()?;
        let Some(asked) = asked? else { break };
        is_to_prepare = asked == Control::NextOfAll;
        write_frame(&mut &control, &ProgramReport::Ended(ending).to_bytes())
            .map_err(io::Error::other)?;
    }
    Ok(())
}

/// The two processes behind a fork.
enum ForkSide {
    Nursery {
        child: Child,
        socket: OwnedFd,
    },
    Session {
        socket: UnixStream,
        errors: OwnedFd,
        notes: File,
    },
}

fn split() -> io::Result<ForkSide> {
    let (ours, theirs) = UnixStream::pair()?;
    let (errors, output) = io::pipe()?;
    // The other end is not read during the session, so a write must not block.
    let (notes, noting) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    let parent = rustix::process::getpid();
    match fork::fork()? {
        Fork::Child => {
            die_with(parent)?;
            Ok(ForkSide::Session {
                socket: ours,
                errors: output.into(),
                notes: noting.into(),
            })
        }
        Fork::Parent(pid) => {
            let pid = Pid::from_raw(pid).ok_or_else(|| io::Error::other("fork gave no process"))?;
            let child = Child {
                pid,
                errors: OwnedFd::from(errors).into(),
                notes: notes.into(),
                said: Vec::new(),
            };
            Ok(ForkSide::Nursery {
                child,
                socket: theirs.into(),
            })
        }
    }
}

/// End when the nursery does, however that happens.
#[cfg(target_os = "linux")]
fn die_with(parent: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    match rustix::process::getppid() {
        Some(now) if now == parent => Ok(()),
        _ => Err(io::Error::other("the nursery has ended")),
    }
}

/// Elsewhere a session ends by its limit of processor time, or when it finds that the other end is closed.
#[cfg(not(target_os = "linux"))]
fn die_with(_: Pid) -> io::Result<()> {
    Ok(())
}

fn be_session(machine: &Machine, socket: UnixStream, errors: &OwnedFd, notes: File) -> ! {
    let streams = || -> io::Result<(File, File)> {
        rustix::stdio::dup2_stderr(errors)?;
        let output = OwnedFd::from(socket.try_clone()?);
        Ok((File::from(OwnedFd::from(socket)), File::from(output)))
    };
    machine.line().note_to(notes);
    if let Ok((input, output)) = streams() {
        session::serve(machine, input, output);
    }
    std::process::exit(0)
}

/// Give a session's socket to the command.
fn send_socket(control: &UnixStream, socket: &OwnedFd) -> io::Result<()> {
    let mut frame = Vec::new();
    write_frame(&mut frame, &ProgramReport::Open.to_bytes()).map_err(io::Error::other)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let sockets = [socket.as_fd()];
    ancillary.push(SendAncillaryMessage::ScmRights(&sockets));
    let sent = sendmsg(
        control,
        &[IoSlice::new(&frame)],
        &mut ancillary,
        SendFlags::empty(),
    )?;
    // The socket has gone with the first byte; a stream may take the others later.
    (&mut &*control).write_all(frame.get(sent..).unwrap_or_default())
}

impl Child {
    /// Wait until the command asks for the next session, however this one ends; none if it hangs up.
    fn wait_for(&mut self, control: &UnixStream) -> io::Result<Option<Control>> {
        let mut errors_open = true;
        loop {
            let mut waiting = vec![PollFd::new(control, PollFlags::IN)];
            if errors_open {
                waiting.push(PollFd::new(&self.errors, PollFlags::IN));
            }
            match poll(&mut waiting, None) {
                Err(rustix::io::Errno::INTR) => continue,
                polled => polled?,
            };
            let has_asked = !waiting[0].revents().is_empty();
            let has_said = waiting
                .get(1)
                .is_some_and(|errors| !errors.revents().is_empty());
            if has_said {
                errors_open = self.listen()?;
            }
            if has_asked {
                return match read_frame(&mut &*control) {
                    Ok(frame) => Ok(Control::from_bytes(&frame).ok()),
                    Err(FrameError::Io(error)) => Err(error),
                    Err(_) => Ok(None),
                };
            }
        }
    }

    /// Take what the session wrote to its standard error, so that it never waits; false at the end.
    fn listen(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 4096];
        let read = self.errors.read(&mut buffer)?;
        let room = MAX_SAID.saturating_sub(self.said.len()).min(read);
        self.said.extend_from_slice(&buffer[..room]);
        Ok(read > 0)
    }

    /// The last place that the job noted.
    fn noted(&mut self) -> io::Result<Option<NotedPlace>> {
        let mut notes = Vec::new();
        let most = u64::try_from(NotedPlace::MAX_NOTES * NotedPlace::SIZE).unwrap_or(u64::MAX);
        (&mut self.notes).take(most).read_to_end(&mut notes)?;
        Ok(NotedPlace::last(&notes))
    }

    /// End the process and report how it ended; no process is left behind.
    fn end(mut self) -> io::Result<SessionEnd> {
        // It may have ended by itself.
        let _ = kill_process(self.pid, Signal::KILL);
        let status = loop {
            match waitpid(Some(self.pid), WaitOptions::empty()) {
                Err(rustix::io::Errno::INTR) => {}
                waited => break waited?.map(|(_, status)| status),
            }
        };
        // All writers are gone, so this comes to an end.
        while self.listen()? {}
        let status_code = status.and_then(WaitStatus::exit_status);
        Ok(SessionEnd {
            noted: match status_code {
                Some(0) => None,
                _ => self.noted()?,
            },
            status: status_code,
            signal: status.and_then(WaitStatus::terminating_signal),
            said: String::from_utf8_lossy(&self.said).into_owned(),
        })
    }
}
