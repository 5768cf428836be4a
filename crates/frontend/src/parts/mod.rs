//! Parts of a fleet that several machines compute, and the whole that they make.
//!
//! `PartWriter` takes the minions of one part and writes a file: a header with the number of the part and the
//! run, a line for each minion with its position in the fleet, and an end with a digest. `PartSet` opens such
//! files, refuses those that do not belong together or are damaged, and hands their minions to a `Sink` in
//! the order of the whole, as one run would have.
//!
//! A file of a part is text: JSON on lines, which [`line`](self) describes by its types, and the SHA-256 of all of them
//! on the last line. Whoever reads one takes any bytes without a panic and within bounded memory.

mod error;
mod line;
mod merge;
mod message;
mod reader;
mod writer;

pub use error::PartError;
pub use line::{End, Run};
pub use merge::PartSet;
pub use writer::PartWriter;
