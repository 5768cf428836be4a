//! `nodegroups`: the groups of the option of that name that the minion is in (Salt: `salt.pillar.nodegroups`).

use mapstack_diagnostic::Result;
use mapstack_value::{Key, Map, Value};

use super::arguments::{Arguments, wrong};
use super::asked::ExternalPillarInput;

/// A list of the names, below a key.
pub(crate) fn data(asked: &ExternalPillarInput<'_, '_>) -> Result<Value> {
    let arguments = Arguments::bind(asked.one, &["pillar_name"])?;
    let name = match arguments.get("pillar_name") {
        name if name.truthy() => name,
        _ => "nodegroups".into(),
    };
    let key = Key::try_from(&name).map_err(|e| wrong(asked.one, &format!("`pillar_name`: {e}")))?;
    let groups = asked.option("nodegroups");
    let Value::Map(groups) = groups else {
        let what = groups.kind().described();
        let message = format!("the option nodegroups must be a mapping, not {what}");
        return Err(wrong(asked.one, &message).help("write it as `nodegroups: {webs: 'web*'}`"));
    };
    let mut names = Vec::new();
    for (name, target) in &groups {
        if asked.is_in(target)? {
            names.push(name.to_value());
        }
    }
    let listed: Map = [(key, Value::from_iter(names))].into_iter().collect();
    Ok(listed.into())
}
