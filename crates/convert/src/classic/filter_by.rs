//! `grains.filter_by`, as layers.

use mapstack::value::{Key, Map, Value};
use mapstack_salt_jinja::ast::{Args, Expr, ExprKind, Span};

use super::layer::{LeftTable, MapLayer, TablePlace};
use super::reader::{Bound, KnownNames, Reader};
use super::stop::Obstacle;
use super::yaml;
use crate::leaves::{at, leaves};
use crate::table::TableRow;
use crate::template::{argument, names_of};
use crate::values::HEADER;

/// A table: its entries, or layers for those that are layers themselves.
struct FilterTable {
    rows: Vec<TableRow>,
    /// The layers of entries that have some.
    layered: Vec<(Key, usize, Vec<MapLayer>)>,
    origin: TablePlace,
}

impl FilterTable {
    /// The table without entries that are named after the formula and are picked by no default: they belong to a pillar
    /// such as `users-formula`, and to no system.
    fn of_systems(mut self, formula: &str, pick: CallPick<'_>) -> Self {
        let is_of_pillar = |row: &TableRow| {
            let name = row.key.to_string();
            let is_picked = name == pick.default || pick.base == Some(name.as_str());
            name.starts_with(formula) && !is_picked
        };
        self.rows.retain(|row| !is_of_pillar(row));
        self
    }
}

/// The layers of a call.
pub(crate) fn filter_by<'m>(
    reader: &mut Reader<'m>,
    args: &'m Args,
    span: Span,
) -> KnownNames<Bound<'m>> {
    let table = argument(args, 0, "lookup_dict");
    let table = table.ok_or_else(|| Obstacle::new("filter_by has no table", span))?;
    let named = |reader: &Reader<'m>, at, name: &str| match argument(args, at, name) {
        None => Ok(None),
        Some(given) => match reader.text(given) {
            Some(text) => Ok(Some(text)),
            None if matches!(&given.kind, ExprKind::Const(Value::None)) => Ok(None),
            None => Err(Obstacle::new(
                format!("filter_by computes its `{name}`"),
                given.span,
            )),
        },
    };
    let grain = named(reader, 1, "grain")?.unwrap_or_else(|| "os_family".into());
    let default = named(reader, 3, "default")?.unwrap_or_else(|| "default".into());
    let base = named(reader, 4, "base")?;
    let mut layers = match reader.value(table)? {
        Bound::Source(definition) if base.is_none() => {
            vec![MapLayer::Raw(format!("{definition}:{default}"))]
        }
        Bound::Nothing => Vec::new(),
        bound => {
            let pick = CallPick {
                grain: &grain,
                default: &default,
                base: base.as_deref(),
            };
            match self::table(reader, &bound, table) {
                Ok(of) => {
                    if let [(key, number, layers)] = &of.layered[..]
                        && of.rows.is_empty()
                        && *key == Key::from(default.as_str())
                        && argument(args, 2, "merge").is_none()
                    {
                        return Ok(Bound::Layers(*number, layers.clone()));
                    }
                    let picked = picked(of.of_systems(reader.formula.name(), pick), pick, span);
                    picked.or_else(|why| pick.left(reader, &bound, why))?
                }
                Err(why) => pick.left(reader, &bound, why)?,
            }
        }
    };
    if let Some(merge) = argument(args, 2, "merge") {
        layers.extend(reader.layers(merge)?);
    }
    // A look-up alone stays one.
    if let [MapLayer::Raw(definition)] = &layers[..] {
        return Ok(Bound::Source(definition.clone()));
    }
    Ok(Bound::Layers(reader.number(), layers))
}

/// The entry that a call picks.
#[derive(Clone, Copy)]
struct CallPick<'p> {
    grain: &'p str,
    default: &'p str,
    base: Option<&'p str>,
}

impl CallPick<'_> {
    /// The layer that picks from a table which stays as it is, if that is allowed and possible.
    fn left(
        self,
        reader: &Reader<'_>,
        bound: &Bound<'_>,
        why: Obstacle,
    ) -> KnownNames<Vec<MapLayer>> {
        if !reader.leaves {
            return Err(why);
        }
        let (set, origin) = match bound {
            Bound::File(path) => {
                let name = reader.formula.name();
                let set = format!("{{%- import_yaml \"{name}/{path}\" as table %}}\n");
                (set, TablePlace::File(path.clone()))
            }
            Bound::Data(data) => {
                let mut names = Vec::new();
                names_of(data, &mut names);
                if names.iter().any(|name| !yaml::GIVEN.contains(name)) {
                    return Err(why);
                }
                let text = reader.map.text(data.span);
                (format!("{{%- set table = {text} %}}\n"), TablePlace::map())
            }
            _ => return Err(why),
        };
        let mut call = format!("salt[\"grains.filter_by\"](table, grain={:?}", self.grain);
        if self.default != "default" {
            call.push_str(&format!(", default={:?}", self.default));
        }
        if let Some(base) = self.base {
            call.push_str(&format!(", base={base:?}"));
        }
        let text = format!("{HEADER}{set}---\nvalues: {{{{ ({call}) or {{}}) | json }}}}\n");
        Ok(vec![MapLayer::Left(LeftTable { text, origin, why })])
    }
}

fn table<'m>(
    reader: &mut Reader<'m>,
    bound: &Bound<'m>,
    expr: &'m Expr,
) -> KnownNames<FilterTable> {
    match bound {
        Bound::File(path) => Ok(FilterTable {
            rows: reader.rows_of(bound, expr.span)?,
            layered: Vec::new(),
            origin: TablePlace::File(path.clone()),
        }),
        Bound::Yaml(..) => Ok(FilterTable {
            rows: reader.rows_of(bound, expr.span)?,
            layered: Vec::new(),
            origin: TablePlace::map(),
        }),
        Bound::Data(data) => inline(reader, data),
        _ => Err(Obstacle::new(
            "filter_by picks from something other than a table",
            expr.span,
        )),
    }
}

/// A table that is written in the map.
fn inline<'m>(reader: &mut Reader<'m>, data: &'m Expr) -> KnownNames<FilterTable> {
    let ExprKind::Dict(entries) = &data.kind else {
        return Err(Obstacle::new(
            "filter_by picks from something other than a table",
            data.span,
        ));
    };
    let mut table = FilterTable {
        rows: Vec::new(),
        layered: Vec::new(),
        origin: TablePlace::map(),
    };
    for (key, value) in entries {
        let literal = crate::template::literal(key);
        let key = literal.and_then(|key| Key::try_from(&key).ok());
        let key = key.ok_or_else(|| Obstacle::new("a key of the table is computed", data.span))?;
        match &value.kind {
            ExprKind::Dict(_) => {
                let block = yaml::block(reader, value)?;
                table.rows.push(TableRow { key, block });
            }
            _ if crate::template::literal(value).is_some_and(|value| !value.is_none()) => {
                return Err(Obstacle::new(
                    "an entry of the table is not a mapping",
                    value.span,
                ));
            }
            _ => match reader.value(value)? {
                Bound::Layers(number, layers) => table.layered.push((key, number, layers)),
                Bound::Nothing => {
                    let block = crate::table::Block::of_value(&Value::map());
                    table.rows.push(TableRow { key, block });
                }
                Bound::Data(data) => {
                    let block = yaml::block(reader, data)?;
                    table.rows.push(TableRow { key, block });
                }
                _ => {
                    return Err(Obstacle::new(
                        "an entry of the table is not a mapping",
                        value.span,
                    ));
                }
            },
        }
    }
    Ok(table)
}

/// The layers of a table.
fn picked(
    table: FilterTable,
    CallPick {
        grain,
        default,
        base,
    }: CallPick<'_>,
    span: Span,
) -> KnownNames<Vec<MapLayer>> {
    let FilterTable {
        rows,
        layered,
        origin,
    } = table;
    if let [(key, _, layers)] = &layered[..]
        && rows.is_empty()
        && [Some(default), base].contains(&Some(&*key.to_string()))
    {
        return Ok(layers.clone());
    }
    if !layered.is_empty() {
        return Err(Obstacle::new(
            "the table mixes entries with what was merged before",
            span,
        ));
    }
    let is =
        |row: &TableRow, name: Option<&str>| name.is_some_and(|name| row.key.to_string() == name);
    if let Some(odd) = rows.iter().find(|row| !row.block.is_mapping()) {
        return Err(Obstacle::new(
            format!("the entry `{}` is not a mapping", odd.key),
            span,
        ));
    }
    let fallback = rows
        .iter()
        .find(|row| is(row, Some(default)) && !row.block.is_empty())
        .cloned();
    let below = rows.iter().find(|row| is(row, base)).cloned();
    let others = rows
        .into_iter()
        .filter(|row| !is(row, Some(default)) && !is(row, base));
    let others: Vec<TableRow> = others.collect();
    let always = always(below, fallback, grain, &others);
    let always = always.into_iter().filter(|row| !row.block.is_empty());
    let mut layers: Vec<MapLayer> = always
        .map(|row| MapLayer::Always(row.block, origin.clone()))
        .collect();
    if !others.is_empty() {
        layers.push(MapLayer::ByGrain {
            grain: grain.to_owned(),
            rows: others,
            origin,
        });
    }
    Ok(layers)
}

/// The entries that are merged whatever the grain is: the base, and for systems without an entry the fallback.
fn always(
    base: Option<TableRow>,
    fallback: Option<TableRow>,
    grain: &str,
    others: &[TableRow],
) -> Vec<TableRow> {
    let Some(fallback) = fallback else {
        return base.into_iter().collect();
    };
    let is_base = base.as_ref().is_some_and(|base| base.key == fallback.key);
    if is_base || (base.is_none() && is_covered(&fallback, others)) {
        return vec![fallback];
    }
    if others.is_empty() {
        return base.into_iter().chain([fallback]).collect();
    }
    let names: Vec<String> = others.iter().map(|row| row.key.to_string()).collect();
    // filter_by compares texts, also of numbers.
    let text = match names.iter().all(|name| name.parse::<f64>().is_err()) {
        true => "",
        false => " | string",
    };
    let fallback = TableRow {
        block: fallback
            .block
            .only_if(format!("grains.get({grain:?}){text} not in {names:?}")),
        key: fallback.key,
    };
    base.into_iter().chain([fallback]).collect()
}

/// True if each entry has all keys of the fallback, so that it can be below all of them.
fn is_covered(fallback: &TableRow, others: &[TableRow]) -> bool {
    let map = |row: &TableRow| match &row.block.value {
        Some(Value::Map(map)) => Some(map.clone()),
        Some(_) => Some(Map::new()),
        None => None,
    };
    let Some(wanted) = map(fallback) else {
        return others.is_empty();
    };
    let wanted = leaves(&wanted);
    others.iter().all(|row| {
        let has = map(row).unwrap_or_default();
        wanted.iter().all(|path| at(&has, path).is_some())
    })
}
