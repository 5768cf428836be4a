//! TOML, as Salt's renderer and serializer `toml` read and write it.

mod read;
mod write;

pub use read::{ReadError, read};
pub use write::{WriteError, write};
