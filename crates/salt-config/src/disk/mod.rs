//! Files by their paths on disk, for what is not a file server's: stacks, configuration, Python.
//!
//! A path may come from a template and so from a minion. Wherever it leads in the end, links and `..` followed, it has to
//! lie below a directory that the user named. [`Deployed`] maps the paths that files have on a master to folders of a
//! checkout. Directories can be replaced by a file server, such as a work tree at another revision.

mod deployed;
mod kept;
mod mount;
mod reads;
mod tree;

pub use deployed::{BadDeployed, Deployed};
pub use kept::KeptFiles;
pub use reads::{FileRead, FileReadKind, TreeReads};
pub use tree::{Entry, FileTree, glob_named, is_directory, is_file, read_named};
