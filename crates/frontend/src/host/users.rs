//! `user.*` and `group.*`: the users and groups of the machine.

use std::ffi::CString;

use mapstack::Call;
use mapstack::value::Value;
use nix::unistd::{Gid, Group, User, geteuid, getgrouplist};

use crate::host::args::{Result, map, path_value, text, unsupported};
use crate::host::stat::group_name;
use crate::host::table::FunctionTable;

pub(crate) const TABLE: FunctionTable = &[
    ("get_uid", get_uid),
    ("group.info", group_info),
    ("user.info", user_info),
    ("user.list_groups", |call| {
        let [name] = call.bind(["name"])?;
        Ok(groups(&text(name, call, "name")?))
    }),
    ("user.primary_group", |call| {
        let [name] = call.bind(["name"])?;
        let user = find_user(&text(name, call, "name")?);
        Ok(user.map_or_else(|| "".into(), |user| group_name(user.gid.as_raw())))
    }),
];

fn find_user(name: &str) -> Option<User> {
    User::from_name(name).ok().flatten()
}

fn named(call: &Call) -> Result<String> {
    let [name, root] = call.bind(["name", "root"])?;
    if root.is_some_and(|root| !root.is_none()) {
        return Err(unsupported(call, "root"));
    }
    text(name, call, "name")
}

fn user_info(call: &Call) -> Result<Value> {
    let Some(user) = find_user(&named(call)?) else {
        return Ok(Value::map());
    };
    let gecos = user.gecos.to_string_lossy().into_owned();
    let mut fields = gecos.splitn(5, ',');
    let mut field = || Value::from(fields.next().unwrap_or_default());
    Ok(map([
        ("gid", i64::from(user.gid.as_raw()).into()),
        ("groups", groups(&user.name)),
        ("home", path_value(&user.dir)),
        ("name", user.name.into()),
        ("passwd", user.passwd.to_string_lossy().into_owned().into()),
        ("shell", path_value(&user.shell)),
        ("uid", i64::from(user.uid.as_raw()).into()),
        ("fullname", field()),
        ("roomnumber", field()),
        ("workphone", field()),
        ("homephone", field()),
        ("other", field()),
    ]))
}

/// The names of the groups of a user, sorted.
fn groups(user: &str) -> Value {
    let gids = || -> Option<Vec<Gid>> {
        let gid = find_user(user)?.gid;
        getgrouplist(&CString::new(user).ok()?, gid).ok()
    };
    let name = |gid: Gid| Group::from_gid(gid).ok().flatten().map(|group| group.name);
    let mut names: Vec<String> = gids()
        .unwrap_or_default()
        .into_iter()
        .filter_map(name)
        .collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().collect()
}

fn group_info(call: &Call) -> Result<Value> {
    let Some(group) = Group::from_name(&named(call)?).ok().flatten() else {
        return Ok(Value::map());
    };
    Ok(map([
        ("name", group.name.into()),
        ("passwd", group.passwd.to_string_lossy().into_owned().into()),
        ("gid", i64::from(group.gid.as_raw()).into()),
        ("members", group.mem.into_iter().collect()),
    ]))
}

fn get_uid(call: &Call) -> Result<Value> {
    let [user] = call.bind(["user"])?;
    match user.filter(|user| !user.is_none()) {
        None => Ok(i64::from(geteuid().as_raw()).into()),
        name => Ok(find_user(&text(name, call, "user")?)
            .map_or(Value::None, |user| i64::from(user.uid.as_raw()).into())),
    }
}
