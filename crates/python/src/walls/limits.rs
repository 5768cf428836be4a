//! Limits of resources.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::Mutex;

use mapstack_sandbox::protocol::Bounds;
use rustix::process::{Resource, Rlimit, setrlimit};

/// The system's report of the process's address space; opened while files can be.
static SIZE: Mutex<Option<File>> = Mutex::new(None);

fn limit(resource: Resource, most: u64) -> io::Result<()> {
    Ok(setrlimit(
        resource,
        Rlimit {
            current: Some(most),
            maximum: Some(most),
        },
    )?)
}

/// Processor time ends with a signal that says so; a second later with one that nothing survives.
fn limit_time(seconds: u64) -> io::Result<()> {
    let limit = Rlimit {
        current: Some(seconds),
        maximum: Some(seconds.saturating_add(1)),
    };
    Ok(setrlimit(Resource::Cpu, limit)?)
}

/// No core is dumped, and no file is written.
pub(super) fn raise_first() -> io::Result<()> {
    if let Ok(mut size) = SIZE.lock() {
        *size = File::open("/proc/self/statm").ok();
    }
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)
}

/// The memory that a session may add, and its processor time.
pub(super) fn raise_last(bounds: &Bounds) -> io::Result<()> {
    limit(Resource::As, taken().saturating_add(bounds.memory))?;
    // A second more than the interpreter's own clock has, which ends with a better message.
    limit_time(bounds.time.div_ceil(1000).saturating_add(1))
}

/// The address space that the interpreter takes before a template runs.
fn taken() -> u64 {
    const PAGE: u64 = 4096;
    let read = || {
        let mut text = String::new();
        let mut size = SIZE.lock().ok()?;
        let file = size.as_mut()?;
        file.rewind().ok()?;
        file.read_to_string(&mut text).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    };
    read().map_or(USUAL, |pages| pages.saturating_mul(PAGE))
}

/// The usual address space at most, if the system does not report it.
const USUAL: u64 = 768 << 20;
