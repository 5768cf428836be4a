//! Data of templates as YAML.

use mapstack::value::{Key, Map, Value};
use mapstack_salt_jinja::ast::{Expr, ExprKind};

use super::layer::{MapLayer, TablePlace};
use super::reader::{KnownNames, Reader};
use super::stop::Obstacle;
use crate::table::Block;
use crate::template::{called, literal, names_of};
use crate::values::{HEADER, indented, key_text, lines_of};

/// Names that files of parameters have, too.
pub(crate) const GIVEN: [&str; 5] = ["salt", "grains", "pillar", "opts", "tplroot"];

/// Values in which templates compute some.
#[derive(Default)]
struct TemplatedText {
    lines: String,
    /// The names of the map that are used.
    needs: Vec<String>,
}

/// The layers of a mapping in the map: those of its entries, below their keys.
pub(crate) fn layers<'m>(reader: &mut Reader<'m>, data: &'m Expr) -> KnownNames<Vec<MapLayer>> {
    let ExprKind::Dict(entries) = &data.kind else {
        return Err(Obstacle::new(
            "it merges something other than a mapping",
            data.span,
        ));
    };
    let mut own: Vec<(&Expr, &Expr)> = Vec::new();
    let mut nested = Vec::new();
    for (key, value) in entries {
        let is_table = called(value).is_some_and(|(name, _)| name == "grains.filter_by");
        match (reader.text(key), is_table) {
            (Some(name), true) => match reader.layers(value) {
                Ok(layers) => nested.push((name, layers)),
                Err(_) => own.push((key, value)),
            },
            _ => own.push((key, value)),
        }
    }
    let mut all = Vec::new();
    if !own.is_empty() {
        let mut text = TemplatedText::default();
        for (key, value) in own {
            text.entry(reader, key, value)?;
        }
        all.push(MapLayer::Always(
            text.block(reader, data)?,
            TablePlace::map(),
        ));
    }
    for (name, layers) in nested {
        for layer in layers {
            let below = layer.below(std::slice::from_ref(&name));
            all.push(below.ok_or_else(|| {
                Obstacle::new(format!("a look-up is merged below `{name}`"), data.span)
            })?);
        }
    }
    Ok(all)
}

/// A mapping in the map as a block.
pub(crate) fn block(reader: &Reader<'_>, data: &Expr) -> KnownNames<Block> {
    if let Some(value) = literal(data) {
        return Ok(Block::of_value(&value));
    }
    let mut text = TemplatedText::default();
    if let ExprKind::Dict(entries) = &data.kind {
        for (key, value) in entries {
            text.entry(reader, key, value)?;
        }
    }
    text.block(reader, data)
}

impl TemplatedText {
    fn entry(&mut self, reader: &Reader<'_>, key: &Expr, value: &Expr) -> KnownNames<()> {
        let name = literal(key).and_then(|key| Key::try_from(&key).ok());
        let name = name.ok_or_else(|| Obstacle::new("it computes a key", key.span))?;
        if let Some(value) = literal(value) {
            let one = Map::from_iter([(name, value)]);
            self.lines.push_str(&lines_of(&Value::from(one)));
            return Ok(());
        }
        let key = key_text(&name);
        match &value.kind {
            ExprKind::Dict(_) => {
                let inner = indented(&self.inner(reader, value)?, 2);
                self.lines.push_str(&format!("{key}\n{inner}"));
            }
            // The filter `json` would sort the keys of mappings.
            ExprKind::List(items)
                if items
                    .iter()
                    .any(|item| matches!(&item.kind, ExprKind::Dict(_))) =>
            {
                self.lines.push_str(&format!("{key}\n"));
                for item in items {
                    let inner = indented(&self.inner(reader, item)?, 4);
                    self.lines
                        .push_str(&format!("  - {}", inner.trim_start_matches(' ')));
                }
            }
            _ => {
                let computed = self.computed(reader, value);
                self.lines.push_str(&format!("{key} {computed}"));
            }
        }
        Ok(())
    }

    /// The lines of a mapping, or of a value that is not one.
    fn inner(&mut self, reader: &Reader<'_>, value: &Expr) -> KnownNames<String> {
        if let Some(value) = literal(value) {
            return Ok(lines_of(&value));
        }
        let ExprKind::Dict(entries) = &value.kind else {
            return Ok(self.computed(reader, value));
        };
        let mut inner = TemplatedText::default();
        for (key, value) in entries {
            inner.entry(reader, key, value)?;
        }
        self.needs.extend(inner.needs);
        Ok(inner.lines)
    }

    /// The line of an expression.
    fn computed(&mut self, reader: &Reader<'_>, value: &Expr) -> String {
        let mut names = Vec::new();
        names_of(value, &mut names);
        for name in names.into_iter().filter(|name| !GIVEN.contains(name)) {
            self.needs.push(name.to_owned());
        }
        let source = reader.map.text(value.span);
        let source = source.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_one = matches!(
            &value.kind,
            ExprKind::Name(_) | ExprKind::Call { .. } | ExprKind::Attr(..) | ExprKind::Item(..)
        );
        let source = match is_one {
            true => source,
            false => format!("({source})"),
        };
        format!("{{{{ {source} | json }}}}\n")
    }

    /// The block, with the statements of the map that it needs.
    fn block(self, reader: &Reader<'_>, data: &Expr) -> KnownNames<Block> {
        let mut needed: Vec<String> = Vec::new();
        let mut asked = self.needs;
        while let Some(name) = asked.pop() {
            if needed.contains(&name) || GIVEN.contains(&name.as_str()) {
                continue;
            }
            let set = reader.set_at.get(&name);
            let value = set.and_then(|stmt| match &stmt.kind {
                mapstack_salt_jinja::ast::StmtKind::Set { value, .. } => Some(value),
                _ => None,
            });
            let Some(value) = value else {
                let why = format!("the table uses `{name}`, which map.jinja computes");
                return Err(Obstacle::new(why, data.span));
            };
            let mut names = Vec::new();
            names_of(value, &mut names);
            asked.extend(names.into_iter().map(str::to_owned));
            needed.push(name);
        }
        let in_order = reader.order.iter().filter(|name| needed.contains(name));
        let statements = in_order.filter_map(|name| reader.set_at.get(name));
        let preamble = statements.map(|stmt| format!("{}\n", reader.map.text(stmt.span)));
        Ok(Block {
            header: HEADER.into(),
            preamble: preamble.collect(),
            body: self.lines,
            ..Block::default()
        })
    }
}
