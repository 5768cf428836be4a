//! Finds programs.

use std::path::Path;

use mapstack::Call;
use mapstack::value::Value;
use nix::unistd::{AccessFlags, access};

use crate::host::args::{Result, required};
use crate::host::table::FunctionTable;

pub(crate) const TABLE: FunctionTable = &[
    ("cmd.has_exec", |call| {
        Ok((!found(call, "cmd")?.is_none()).into())
    }),
    ("cmd.which", |call| found(call, "cmd")),
    ("cmd.which_bin", |call| {
        let [cmds] = call.bind(["cmds"])?;
        let cmds = required(cmds, call, "cmds")?;
        let one = [cmds.clone()];
        let all = cmds.as_list().unwrap_or(&one);
        Ok(all
            .iter()
            .filter_map(Value::as_str)
            .find_map(which)
            .map_or(Value::None, Value::from))
    }),
    ("which", |call| found(call, "exe")),
];

fn found(call: &Call, parameter: &str) -> Result<Value> {
    let [name] = call.bind([parameter])?;
    let name = required(name, call, parameter)?;
    Ok(name
        .as_str()
        .and_then(which)
        .map_or(Value::None, Value::from))
}

/// Searched after `PATH`, for services have a short one.
const MORE: [&str; 6] = [
    "/sbin",
    "/bin",
    "/usr/sbin",
    "/usr/bin",
    "/usr/local/sbin",
    "/usr/local/bin",
];

/// The path of a program.
fn which(name: &str) -> Option<String> {
    if name.is_empty() {
        return None;
    }
    if is_program(Path::new(name)) {
        return Some(name.into());
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let mut places: Vec<&str> = path.split(':').collect();
    places.extend(
        MORE.iter()
            .filter(|more| !path.split(':').any(|place| place == **more)),
    );
    let candidates = places.into_iter().map(|place| {
        format!(
            "{}/{}",
            place.trim_end_matches('/'),
            name.trim_start_matches('/')
        )
    });
    candidates
        .into_iter()
        .find(|candidate| is_program(Path::new(candidate)))
}

fn is_program(path: &Path) -> bool {
    path.is_file() && access(path, AccessFlags::X_OK).is_ok()
}
