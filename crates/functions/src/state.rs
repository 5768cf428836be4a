//! `state.*`, as far as it is about which files there are.

use mapstack_pyobject::{CallArgs, Obj, required};
use mapstack_value::pytext::Fnmatch;

use super::{ModuleTable, failed, files};

pub(super) const TABLE: ModuleTable = &[("state.sls_exists", |run, _, args| {
    let CallArgs { positional, named } = args;
    // Whatever else is given is for the state compiler, but for the saltenv.
    let (own, other): (Vec<_>, Vec<_>) = named
        .into_iter()
        .partition(|(name, _)| ["mods", "test", "queue"].contains(&&**name));
    let [mods, _test, _queue] = CallArgs {
        positional,
        named: own,
    }
    .bind("state.sls_exists", ["mods", "test", "queue"])?;
    let mods = required(mods, "state.sls_exists", "mods")?.to_value()?;
    let env = other
        .into_iter()
        .find(|(name, _)| **name == *"saltenv")
        .map(|(_, value)| value);
    let env = files::saltenv(run, env)?;
    let mods: Vec<String> = match &mods {
        mapstack_value::Value::List(items) => items.iter().map(ToString::to_string).collect(),
        one => one
            .to_string()
            .split(',')
            .map(|name| name.trim().to_string())
            .collect(),
    };
    for name in mods {
        if name.contains(['*', '?', '[']) {
            let (states, wanted) = (files::states(run, &env)?, Fnmatch::new(&name));
            match states.iter().any(|state| wanted.matches(state)) {
                true => continue,
                false => return Ok(Obj::Bool(false)),
            }
        }
        let path = name.replace('.', "/");
        let mut found = false;
        for candidate in [format!("{path}.sls"), format!("{path}/init.sls")] {
            found = found || files::is_file(run, &env, &candidate).map_err(|e| failed(&e))?;
        }
        if !found {
            return Ok(Obj::Bool(false));
        }
    }
    Ok(Obj::Bool(true))
})];
