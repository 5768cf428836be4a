//! Facts about a file that is not read.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use mapstack::value::{Key, Map, Value};
use mapstack::{Call, CallError};
use nix::unistd::{Gid, Group, Uid, User};

use crate::host::args::{Result, os_error, path, path_value, real_path, truth_or};
use crate::host::hash;
use crate::host::table::FunctionTable;

pub(crate) const TABLE: FunctionTable = &[
    ("file.get_gid", |call| one(call, "gid")),
    ("file.get_group", |call| one(call, "group")),
    ("file.get_mode", |call| one(call, "mode")),
    ("file.get_uid", |call| one(call, "uid")),
    ("file.get_user", |call| one(call, "user")),
    ("file.stats", |call| {
        let [given, hash_type, follow] = call.bind(["path", "hash_type", "follow_symlinks"])?;
        let hash_type = hash_type.filter(Value::truthy).map(|form| form.to_string());
        Ok(stats(
            &path(given, call, "path")?,
            hash_type.as_deref(),
            truth_or(follow, true),
        )?
        .into())
    }),
];

fn one(call: &Call, what: &str) -> Result<Value> {
    let [given, follow] = call.bind(["path", "follow_symlinks"])?;
    let all = stats(&path(given, call, "path")?, None, truth_or(follow, true))?;
    Ok(all.get(&Key::from(what)).cloned().unwrap_or_default())
}

fn stats(path: &Path, hash_type: Option<&str>, follow: bool) -> Result<Map> {
    // A link to nothing is described itself.
    let found = if follow {
        path.metadata().or_else(|_| path.symlink_metadata())
    } else {
        path.symlink_metadata()
    };
    let m = found.map_err(|_| CallError::new(format!("Path not found: {}", path.display())))?;
    let seconds = |whole: i64, nanoseconds: i64| whole as f64 + 1e-9 * nanoseconds as f64;
    let mut all = Map::new();
    all.insert("inode", integer(m.ino()));
    all.insert("uid", i64::from(m.uid()));
    all.insert("gid", i64::from(m.gid()));
    all.insert("group", group_name(m.gid()));
    all.insert("user", user_name(m.uid()));
    all.insert("atime", seconds(m.atime(), m.atime_nsec()));
    all.insert("mtime", seconds(m.mtime(), m.mtime_nsec()));
    all.insert("ctime", seconds(m.ctime(), m.ctime_nsec()));
    all.insert("size", integer(m.size()));
    all.insert("mode", format!("{:04o}", m.mode() & 0o7777));
    if let Some(form) = hash_type {
        all.insert("sum", hash::of_file(path, form)?);
    }
    let kind = m.file_type();
    let kinds = [
        (kind.is_dir(), "dir"),
        (kind.is_char_device(), "char"),
        (kind.is_block_device(), "block"),
        (kind.is_symlink(), "link"),
        (kind.is_fifo(), "pipe"),
        (kind.is_socket(), "socket"),
    ];
    all.insert(
        "type",
        kinds
            .into_iter()
            .find(|(is, _)| *is)
            .map_or("file", |(_, name)| name),
    );
    let target = if follow {
        real_path(path)
    } else {
        std::path::absolute(path).map_err(|e| os_error(&e, path))?
    };
    all.insert("target", path_value(&target));
    Ok(all)
}

fn integer(n: u64) -> Value {
    mapstack::value::Int::from(n).into()
}

/// The name of a user, or the number where it has none.
fn user_name(uid: u32) -> Value {
    let user = User::from_uid(Uid::from_raw(uid)).ok().flatten();
    user.map_or_else(|| i64::from(uid).into(), |user| user.name.into())
}

/// The name of a group, or the number where it has none.
pub(crate) fn group_name(gid: u32) -> Value {
    let group = Group::from_gid(Gid::from_raw(gid)).ok().flatten();
    group.map_or_else(|| i64::from(gid).into(), |group| group.name.into())
}
