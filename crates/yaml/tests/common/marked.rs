//! Values on one line, in which the types of mappings and lists show, as the recorder writes them.

use mapstack_value::{MapKind, Value};

/// A value as `marked` in `xtask/reference/formats.py` writes it: `+` for aggregates and `*` for an `OrderedDict`.
pub fn marked(value: &Value) -> String {
    let all = |items: &[Value]| items.iter().map(marked).collect::<Vec<_>>().join(", ");
    match value {
        Value::Map(map) => {
            let mark = match map.kind() {
                MapKind::Dict => "",
                MapKind::Ordered => "*",
                MapKind::Aggregate => "+",
                MapKind::Bunch => "=",
            };
            let entries = map
                .iter()
                .map(|(key, value)| format!("{}: {}", marked(&key.to_value()), marked(value)));
            format!("{mark}{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        Value::List(items) => {
            let mark = if items.is_aggregate() { "+" } else { "" };
            format!("{mark}[{}]", all(items))
        }
        Value::Tuple(items) => format!("({})", all(items)),
        Value::Set(set) => {
            let mut items: Vec<String> = set.iter().map(|key| marked(&key.to_value())).collect();
            items.sort();
            format!("set({})", items.join(", "))
        }
        other => other.repr(),
    }
}
