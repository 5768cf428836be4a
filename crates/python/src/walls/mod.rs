//! Walls of the operating system, which keep a template in.
//!
//! [`raise_first`] raises those that a process and its children can have from the start, before anything of a
//! template is read; [`raise_last`] those that leave a session nothing but its socket, memory and time.

#[cfg(unix)]
mod limits;
#[cfg(target_os = "linux")]
mod linux;

use std::io;

use mapstack_sandbox::protocol::{Bounds, SandboxPart};

/// Set up the sandbox around all sessions, and report which parts work.
pub fn raise_first() -> Vec<SandboxPart> {
    #[cfg(unix)]
    let limits = limits::raise_first();
    #[cfg(not(unix))]
    let limits = Err(io::Error::other("this system has none"));
    #[cfg(target_os = "linux")]
    let (files, calls) = (linux::close_files(), linux::forbid());
    #[cfg(not(target_os = "linux"))]
    let (files, calls) = {
        let absent = || Err::<(), _>(io::Error::other("only Linux has it"));
        (absent(), absent())
    };
    let wall = |name: &str, raised: io::Result<()>| SandboxPart {
        name: name.to_owned(),
        missing: raised.err().map(|error| error.to_string()),
    };
    vec![
        wall("no files (Landlock)", files),
        wall("no system calls but for memory and time (seccomp)", calls),
        wall("limits of memory and processor time (rlimit)", limits),
    ]
}

/// Set up the sandbox of a session. Parts that this system does not have were reported at the start.
///
/// # Errors
/// A supported part cannot be set up.
pub fn raise_last(bounds: &Bounds) -> io::Result<()> {
    #[cfg(unix)]
    limits::raise_last(bounds)?;
    #[cfg(target_os = "linux")]
    if linux::can_forbid() {
        linux::filter_calls()?;
    }
    let _ = bounds;
    Ok(())
}
