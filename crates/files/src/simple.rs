//! States without a text: directories, links, and removed files.

use crate::arguments::Chunk;
use crate::file::{ManagedFile, ManagedKind};
use crate::managed::mode;
use crate::plan::ContentPlan;
use crate::unknown::{Reason, Unknown};

/// The file of a state with this function.
pub(crate) fn file(chunk: Chunk<'_>, name: &str) -> ManagedFile {
    let (kind, plan) = match name {
        "directory" => (ManagedKind::Directory, ContentPlan::Nothing),
        "symlink" | "hardlink" | "shortcut" => (ManagedKind::Link, ContentPlan::Nothing),
        "absent" | "missing" | "tidied" | "pruned" | "not_cached" => {
            (ManagedKind::Absent, ContentPlan::Nothing)
        }
        "touch" => (ManagedKind::File, ContentPlan::Nothing),
        "copy" | "rename" | "patch" | "decode" | "cached" => (
            ManagedKind::File,
            ContentPlan::Unknown(of_machine(chunk, name)),
        ),
        _ => (ManagedKind::Other, ContentPlan::Nothing),
    };
    let mut file = ManagedFile::of(chunk, kind, plan);
    file.attributes.user = chunk.user();
    file.attributes.group = chunk.get("group").clone();
    let is_directory = kind == ManagedKind::Directory;
    file.attributes.mode = mode(
        chunk,
        if is_directory && chunk.is_on("dir_mode") {
            "dir_mode"
        } else {
            "mode"
        },
    );
    file.attributes.target = chunk.text("target").filter(|_| kind == ManagedKind::Link);
    if is_directory {
        file.path = match file.path.strip_suffix('/') {
            Some(path) if !path.is_empty() => path.to_owned(),
            _ => file.path,
        };
        if chunk.is_on("clean") {
            file.notes
                .push("other files in the directory are removed ('clean' is on)".into());
        }
        if chunk.is_on("recurse") {
            let recurse = chunk.get("recurse");
            let listed = recurse.as_list().unwrap_or_default();
            let listed: Vec<String> = listed.iter().map(ToString::to_string).collect();
            file.notes
                .push(format!("all below it gets the same {}", listed.join(", ")));
        }
    }
    file
}

fn of_machine(chunk: Chunk<'_>, name: &str) -> Unknown {
    let source = chunk.text("source").unwrap_or_default();
    let why = match name {
        "copy" | "rename" => format!("the bytes are those of {source} on the minion"),
        "patch" => "the result of a patch depends on the file".to_owned(),
        _ => format!("'file.{name}' is not followed"),
    };
    Unknown::new(Reason::LocalSource, why)
}
