//! Why parts do not make a whole.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why parts do not make a whole.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PartError {
    /// A directory or a file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Io {
        /// The part.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// A directory without parts.
    #[error("{} does not contain any parts; their files are named like 1-of-4.part", .0.display())]
    None(PathBuf),
    /// A file of another program, or of another version of the format.
    #[error("{} is not a part of a fleet that this version can read", .0.display())]
    NotAPart(PathBuf),
    /// A file is not what was written.
    #[error("{} is damaged: {why}; compute this part again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// All files are of another version of the program, whose lines can mean something else.
    #[error("the parts were computed by mapstack {made_by}, and this is {own}")]
    Version {
        /// The version that wrote them.
        made_by: String,
        /// The version that reads them.
        own: String,
    },
    /// Two files do not belong to one run.
    #[error("{} and {} do not belong together: they were computed with different {what}", first.display(), second.display())]
    Differ {
        /// One of them.
        first: PathBuf,
        /// The other.
        second: PathBuf,
        /// The property that differs.
        what: &'static str,
    },
    /// Two parts saw different files.
    #[error(
        "{} and {} were computed from different revisions of the files: {question} is not the same",
        first.display(),
        second.display()
    )]
    Revisions {
        /// One of them.
        first: PathBuf,
        /// The other.
        second: PathBuf,
        /// The question that they answer differently.
        question: String,
    },
    /// A file of the file server changed while a part was computed.
    #[error("{question} changed while {} was computed; compute this part again", path.display())]
    Changed {
        /// The part.
        path: PathBuf,
        /// The file, or the question about files, whose answer changed.
        question: String,
    },
    /// Two files with the same part.
    #[error("{} and {} are both part {part}", first.display(), second.display())]
    Twice {
        /// One of them.
        first: PathBuf,
        /// The other.
        second: PathBuf,
        /// The part.
        part: String,
    },
    /// Parts that do not exist.
    #[error("parts are missing: {0}")]
    Missing(String),
}
