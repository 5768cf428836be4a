//! Jobs that are lost with the program that was to do them.

use crate::protocol::SessionEnd;

/// The way in which a job was lost, with or without the program.
#[derive(Debug)]
pub(super) enum LostJob {
    /// The program does not start.
    Absent(String),
    /// The program is another one.
    Stranger(String),
    /// The session ended in the middle; how, if that is known.
    Ended(Option<SessionEnd>),
    /// It did not end in time.
    Late,
    /// It said what it cannot say.
    Strange(String),
}

/// A program that was killed before it had a job is started again so often.
pub(super) const STARTS: usize = 20;

/// The signal that ends a process whatever it does.
pub(super) const KILLED: i32 = 9;
