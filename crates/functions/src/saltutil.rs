//! `saltutil.*`, as far as it follows from the files that a minion would copy.

use std::collections::BTreeSet;

use mapstack_pyobject::Obj;
use mapstack_value::{Map, Value};

use super::{ModuleTable, failed};

/// The kinds of modules that `saltutil.sync_all` copies, each from a directory of this name behind an underscore.
const FORMS: [&str; 19] = [
    "beacons",
    "clouds",
    "engines",
    "executors",
    "grains",
    "log_handlers",
    "matchers",
    "modules",
    "output",
    "proxymodules",
    "renderers",
    "resources",
    "returners",
    "sdb",
    "serializers",
    "states",
    "thorium",
    "tops",
    "utils",
];

/// The files that are copied.
const SUFFIXES: [&str; 4] = [".py", ".pyx", ".so", ".zip"];

pub(super) const TABLE: ModuleTable = &[("saltutil.list_extmods", |run, vm, args| {
    let [] = args.bind("saltutil.list_extmods", [])?;
    let mut envs = run.envs();
    let own = run.saltenv().to_string();
    if !envs.contains(&own) {
        envs.push(own);
    }
    let mut all = Map::new();
    for form in FORMS {
        vm.burn(10)?;
        let mut names = BTreeSet::new();
        for env in &envs {
            let files = run
                .list(env, &format!("_{form}/"))
                .map_err(|e| failed(&e))?;
            for path in files {
                let file = path.rsplit('/').next().unwrap_or(&path);
                if SUFFIXES.iter().any(|suffix| file.ends_with(suffix)) {
                    names.insert(file.split('.').next().unwrap_or(file).to_owned());
                }
            }
        }
        let names: Value = names.into_iter().map(Value::from).collect();
        all.insert(form, names);
    }
    Ok(Obj::from(Value::from(all)))
})];
