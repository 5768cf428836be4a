//! Reads a `map.jinja` of tables: which name has which layers.

use std::collections::HashMap;

use mapstack::value::Value;
use mapstack_salt_jinja::ast::{Args, Expr, ExprKind, Span, Stmt, StmtKind, Target};

use super::filter_by::filter_by;
use super::imports::Imports;
use super::layer::{MapLayer, TablePlace};
use super::stop::Obstacle;
use crate::Formula;
use crate::table;
use crate::template::{self, FormulaTemplate, argument, called, literal};
use crate::values::HEADER;

/// The value of a name or expression, as far as it is known.
#[derive(Debug, Clone)]
pub(crate) enum Bound<'m> {
    /// A text, such as the formula's name.
    Text(String),
    /// The data of a file of the formula.
    File(String),
    /// Some data in the map itself.
    Data(&'m Expr),
    /// Data in the map itself that is written as YAML.
    Yaml(&'m str, Span),
    /// The result of a source definition.
    Source(String),
    /// Layers, by a number that aliases share.
    Layers(usize, Vec<MapLayer>),
    /// Nothing, or an empty mapping.
    Nothing,
}

/// The identity of a table.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum TableIdentity {
    File(String),
    /// The place of its data in the map.
    InMap(u32),
}

/// Reads the statements of a map.
pub(crate) struct Reader<'m> {
    pub formula: &'m Formula,
    pub map: &'m FormulaTemplate,
    /// The values of names.
    pub names: HashMap<String, Bound<'m>>,
    /// The statements that set a name, the last one.
    pub set_at: HashMap<String, &'m Stmt>,
    /// Names whose values are not known, with the reason.
    pub failed: HashMap<String, Obstacle>,
    /// The spans of the statements whose meaning is in the names.
    pub read: Vec<Span>,
    /// Layers of entries of tables that statements add to, by table and key.
    parts: HashMap<(TableIdentity, String), (usize, Vec<MapLayer>)>,
    /// The order in which names were set.
    pub order: Vec<String>,
    numbers: usize,
    /// Why statements that change the value of a name are not known.
    pub unread: HashMap<String, Obstacle>,
    /// True if tables that cannot be layers may stay as they are.
    pub leaves: bool,
}

/// The configuration that a map exports.
pub(crate) struct Main {
    pub name: String,
    pub number: usize,
    pub layers: Vec<MapLayer>,
    /// All names of it.
    pub aliases: Vec<String>,
}

/// Layers that one expression has at most.
const MAX_LAYERS: usize = 200;

pub(crate) type KnownNames<T> = Result<T, Obstacle>;

impl<'m> Reader<'m> {
    /// Read the statements at the top of a map.
    pub fn of(formula: &'m Formula, map: &'m FormulaTemplate, leaves: bool) -> Self {
        let mut reader = Reader {
            formula,
            map,
            names: HashMap::new(),
            set_at: HashMap::new(),
            failed: HashMap::new(),
            read: Vec::new(),
            parts: HashMap::new(),
            order: Vec::new(),
            numbers: 0,
            unread: HashMap::new(),
            leaves,
        };
        for stmt in &map.template.body {
            reader.statement(stmt);
        }
        reader
    }

    fn statement(&mut self, stmt: &'m Stmt) {
        match &stmt.kind {
            StmtKind::ImportData {
                tag: "import_yaml",
                template,
                target: Target::Name(name),
                ..
            } => {
                let bound = self.file(template);
                self.bind(name, bound, stmt);
            }
            StmtKind::Set {
                target: Target::Name(name),
                value,
            } => {
                let bound = self.value(value);
                self.bind(name, bound, stmt);
            }
            StmtKind::Load {
                tag: "load_yaml",
                target: Target::Name(name),
                body,
            } => {
                let bound = self.block(body, stmt.span);
                let is_known = bound.is_ok();
                self.bind(name, bound, stmt);
                if is_known {
                    self.read.push(self.whole(stmt, body));
                }
            }
            StmtKind::Do(expr) => {
                let is_log = called(expr).is_some_and(|(name, _)| name.starts_with("log."));
                if is_log || self.merge_in_place(expr).is_ok() {
                    self.read.push(stmt.span);
                }
            }
            StmtKind::If { arms, otherwise } if otherwise.is_empty() => {
                if let ([(_, body)], Ok(())) = (&arms[..], self.merge_if_any(arms)) {
                    self.read.push(self.whole(stmt, body));
                }
            }
            _ => {}
        }
    }

    fn bind(&mut self, name: &str, bound: KnownNames<Bound<'m>>, stmt: &'m Stmt) {
        self.set_at.insert(name.to_owned(), stmt);
        self.order.retain(|known| known != name);
        self.order.push(name.to_owned());
        match bound {
            Ok(mut bound) => {
                if let Bound::Layers(_, layers) = &mut bound {
                    layers.iter_mut().for_each(|layer| layer.name(name));
                }
                self.failed.remove(name);
                self.names.insert(name.to_owned(), bound);
                self.read.push(stmt.span);
            }
            Err(stop) => {
                self.names.remove(name);
                self.failed.insert(name.to_owned(), stop);
            }
        }
    }

    /// A file of the formula that is imported.
    fn file(&self, template: &Expr) -> KnownNames<Bound<'m>> {
        let named = match &template.kind {
            ExprKind::Or(named, _) => named,
            _ => template,
        };
        let refused = |why: &str| Err(Obstacle::new(why, template.span));
        let Some(path) = self.text(named) else {
            return refused("it computes the name of a file");
        };
        let own = format!("{}/", self.formula.name());
        let path = path.trim_start_matches("salt://").trim_start_matches("./");
        let below = path.strip_prefix(&own).unwrap_or(path);
        match self.formula.has(below) {
            true => Ok(Bound::File(below.to_owned())),
            false => refused(&format!(
                "it imports `{path}`, which the formula does not have"
            )),
        }
    }

    /// A statement with its body and the tag at its end.
    fn whole(&self, stmt: &Stmt, body: &[Stmt]) -> Span {
        let end_of_body = body.last().map_or(stmt.span.end, |last| last.span.end);
        let rest = self.map.source().get(end_of_body as usize..);
        let tag = rest.and_then(|rest| Some(rest.find("%}")? + "%}".len()));
        let tag = tag.and_then(|length| u32::try_from(length).ok());
        Span {
            start: stmt.span.start,
            end: end_of_body + tag.unwrap_or_default(),
        }
    }

    /// A block of YAML.
    fn block(&self, body: &'m [Stmt], span: Span) -> KnownNames<Bound<'m>> {
        match body {
            [] => Ok(Bound::Nothing),
            [
                Stmt {
                    kind: StmtKind::Text(text),
                    span,
                },
            ] => Ok(Bound::Yaml(text, *span)),
            _ => Err(Obstacle::new("a block of YAML has statements", span)),
        }
    }

    /// The text that an expression is, if that is known.
    pub fn text(&self, expr: &Expr) -> Option<String> {
        template::text(expr, &|name| match (name, self.names.get(name)) {
            ("tpldir" | "slspath", _) => Some(self.formula.name().to_owned()),
            (_, Some(Bound::Text(text))) => Some(text.clone()),
            _ => None,
        })
    }

    /// The value of an expression.
    pub fn value(&mut self, expr: &'m Expr) -> KnownNames<Bound<'m>> {
        if let Some(text) = self.text(expr) {
            return Ok(Bound::Text(text));
        }
        match &expr.kind {
            ExprKind::Name(name) => match (self.names.get(&**name), self.failed.get(&**name)) {
                (Some(bound), _) => Ok(bound.clone()),
                (None, Some(stop)) => Err(stop.clone()),
                (None, None) => Err(Obstacle::new(format!("it uses `{name}`"), expr.span)),
            },
            ExprKind::Const(Value::None) => Ok(Bound::Nothing),
            ExprKind::Dict(entries) if entries.is_empty() => Ok(Bound::Nothing),
            ExprKind::Dict(_) => Ok(Bound::Data(expr)),
            // `x or {}`
            ExprKind::Or(value, empty) if matches!(self.value(empty), Ok(Bound::Nothing)) => {
                self.value(value)
            }
            ExprKind::Item(file, key) => {
                let key = self.text(key);
                self.entry(file, key.as_deref(), expr.span)
            }
            ExprKind::Attr(file, key) => self.entry(file, Some(key), expr.span),
            ExprKind::Call { callee, args } => match called(expr) {
                Some((name, args)) => self.function(&name, args, expr),
                None => self.method(callee, args, expr.span),
            },
            _ => Err(Obstacle::new("it computes a value", expr.span)),
        }
    }

    /// The entry of a table.
    fn entry(&mut self, table: &'m Expr, key: Option<&str>, span: Span) -> KnownNames<Bound<'m>> {
        let unknown = || Obstacle::new("it computes a value", span);
        let key = key.ok_or_else(unknown)?;
        let bound = self.value(table)?;
        let (table, origin) = match &bound {
            Bound::File(path) => (
                TableIdentity::File(path.clone()),
                TablePlace::File(path.clone()),
            ),
            Bound::Data(data) => (TableIdentity::InMap(data.span.start), TablePlace::map()),
            Bound::Yaml(_, at) => (TableIdentity::InMap(at.start), TablePlace::map()),
            _ => return Err(unknown()),
        };
        let known = (table, key.to_owned());
        if let Some((number, layers)) = self.parts.get(&known) {
            return Ok(Bound::Layers(*number, layers.clone()));
        }
        let layers = match &bound {
            Bound::Data(data) => self.layers_of_entry(data, key)?,
            _ => {
                let row = self.rows_of(&bound, span)?.into_iter();
                let row = row.clone().find(|row| row.key.to_string() == key);
                row.map(|row| self::layers(row.block, origin.clone()))
            }
        };
        let layers = layers.ok_or_else(|| match &origin {
            TablePlace::File(path) => Obstacle::new(format!("{path} has no `{key}`"), span),
            _ => Obstacle::new(format!("the table has no `{key}`"), span),
        })?;
        let number = self.number();
        self.parts.insert(known, (number, layers.clone()));
        Ok(Bound::Layers(number, layers))
    }

    /// The layers of an entry of a mapping in the map.
    fn layers_of_entry(&mut self, data: &'m Expr, key: &str) -> KnownNames<Option<Vec<MapLayer>>> {
        let ExprKind::Dict(entries) = &data.kind else {
            return Ok(None);
        };
        let entry = entries
            .iter()
            .find(|(name, _)| self.text(name).is_some_and(|name| name == key));
        entry.map(|(_, value)| self.layers(value)).transpose()
    }

    /// Add layers to a mapping, under all its names.
    ///
    /// With `overwrites` each of their keys replaces what the mapping has, as `dict.update` does.
    pub(super) fn extend(&mut self, number: usize, layers: Vec<MapLayer>, overwrites: bool) {
        let named = self.names.values_mut().filter_map(|bound| match bound {
            Bound::Layers(other, of) if *other == number => Some(of),
            _ => None,
        });
        let parts = self.parts.values_mut();
        let parts = parts.filter_map(|(other, of)| (*other == number).then_some(of));
        let mut all: Vec<&mut Vec<MapLayer>> = named.chain(parts).collect();
        let layers = match all.first() {
            Some(below) if overwrites => super::layer::overwriting(below, layers),
            _ => layers,
        };
        for of in &mut all {
            of.extend_from_slice(&layers);
        }
    }

    pub fn number(&mut self) -> usize {
        self.numbers += 1;
        self.numbers
    }

    /// The entries of a file of the formula, or of a block of YAML.
    pub fn rows_of(&self, bound: &Bound<'_>, span: Span) -> KnownNames<Vec<table::TableRow>> {
        let (text, origin) = self.text_of(bound, span)?;
        let rows = table::rows(text).map_err(|why| origin.stop(&why, span))?;
        Ok(match origin {
            TablePlace::File(_) => rows,
            _ => rows.into_iter().map(table::TableRow::with_header).collect(),
        })
    }

    /// The text of a file or of a block of YAML.
    fn text_of<'a>(
        &'a self,
        bound: &'a Bound<'_>,
        span: Span,
    ) -> KnownNames<(&'a str, TablePlace)> {
        match bound {
            Bound::Yaml(text, _) => Ok((text, TablePlace::map())),
            Bound::File(path) => match self.formula.text(path) {
                Some(text) => Ok((text, TablePlace::File(path.clone()))),
                None => Err(Obstacle::new(format!("{path} is not text"), span)),
            },
            _ => Err(Obstacle::new("it computes a value", span)),
        }
    }

    /// `pillar.get(…)` of the variable.
    fn method(&mut self, callee: &Expr, args: &'m Args, span: Span) -> KnownNames<Bound<'m>> {
        if let ExprKind::Attr(of, get) = &callee.kind
            && matches!(&of.kind, ExprKind::Name(name) if &**name == "pillar")
            && &**get == "get"
            && let Some(key) = args.positional.first().and_then(|key| self.text(key))
            && !key.contains(':')
            && self.is_nothing(args.positional.get(1))
        {
            return Ok(Bound::Source(format!("I@{key}")));
        }
        Err(Obstacle::new("it computes a value", span))
    }

    fn is_nothing(&mut self, default: Option<&'m Expr>) -> bool {
        let Some(default) = default else { return true };
        let is_empty = literal(default).is_some_and(|value| !value.truthy());
        is_empty || matches!(self.value(default), Ok(Bound::Nothing))
    }

    fn function(&mut self, name: &str, args: &'m Args, expr: &'m Expr) -> KnownNames<Bound<'m>> {
        if args.star.is_some() || args.star_star.is_some() {
            return Err(Obstacle::new("it passes arguments as a list", expr.span));
        }
        let layers = match name {
            "grains.filter_by" => return filter_by(self, args, expr.span),
            "pillar.get" => return self.look_up("I", args, 2, expr.span),
            "config.get" => return self.look_up("C", args, 3, expr.span),
            "slsutil.merge" | "defaults.merge" => self.merged(name, args, expr.span)?,
            _ => return Err(Obstacle::new(format!("it calls {name}"), expr.span)),
        };
        let number = self.number();
        Ok(Bound::Layers(number, layers))
    }

    /// A look-up, over a default or alone.
    fn look_up(
        &mut self,
        matcher: &str,
        args: &'m Args,
        merge_at: usize,
        span: Span,
    ) -> KnownNames<Bound<'m>> {
        let key = argument(args, 0, "key").and_then(|key| self.text(key));
        let key = key.ok_or_else(|| Obstacle::new("it computes the key of a look-up", span))?;
        let definition = format!("{matcher}@{key}");
        let default = argument(args, 1, "default");
        let merge = argument(args, merge_at, "merge");
        let merges = merge.map(|merge| literal(merge).map(|is| is.truthy()));
        let known = ["key", "default", "merge"];
        if let Some((other, _)) = args
            .named
            .iter()
            .find(|(name, _)| !known.contains(&&**name))
        {
            return Err(Obstacle::new(
                format!("it looks `{key}` up with {other}"),
                span,
            ));
        }
        match merges {
            None | Some(Some(false)) if self.is_nothing(default) => Ok(Bound::Source(definition)),
            None | Some(Some(false)) => Err(Obstacle::new(
                format!(
                    "a pillar with `{key}` replaces all defaults: the look-up has no merge=True"
                ),
                span,
            )),
            Some(Some(true)) if matcher == "I" => {
                let mut layers = match default {
                    Some(default) => self.layers(default)?,
                    None => Vec::new(),
                };
                layers.push(MapLayer::Raw(definition));
                Ok(Bound::Layers(self.number(), layers))
            }
            Some(_) => Err(Obstacle::new(
                format!("it merges the value of `{key}`"),
                span,
            )),
        }
    }

    /// The layers that an expression is.
    pub fn layers(&mut self, expr: &'m Expr) -> KnownNames<Vec<MapLayer>> {
        let layers = self.all_layers(expr)?;
        // A map can double its layers with each statement.
        match layers.len() > MAX_LAYERS {
            true => Err(Obstacle::new(
                format!("it merges more than {MAX_LAYERS} tables"),
                expr.span,
            )),
            false => Ok(layers),
        }
    }

    fn all_layers(&mut self, expr: &'m Expr) -> KnownNames<Vec<MapLayer>> {
        match self.value(expr)? {
            Bound::Layers(_, layers) => Ok(layers),
            Bound::Source(definition) => Ok(vec![MapLayer::Raw(definition)]),
            Bound::Nothing => Ok(Vec::new()),
            Bound::Data(data) => super::yaml::layers(self, data),
            bound @ (Bound::File(_) | Bound::Yaml(..)) => {
                let (text, origin) = self.text_of(&bound, expr.span)?;
                let mut block = table::whole(text).map_err(|why| origin.stop(&why, expr.span))?;
                if block.header.is_empty() && !matches!(origin, TablePlace::File(_)) {
                    block.header = HEADER.into();
                }
                Ok(layers(block, origin))
            }
            Bound::Text(_) => Err(Obstacle::new("it merges a text", expr.span)),
        }
    }

    /// `slsutil.merge(a, b)` and `defaults.merge(a, b)`, where they merge as layers do.
    pub(super) fn merged(
        &mut self,
        name: &str,
        args: &'m Args,
        span: Span,
    ) -> KnownNames<Vec<MapLayer>> {
        let names: [&str; 2] = match name {
            "slsutil.merge" => ["obj_a", "obj_b"],
            _ => ["dest", "src"],
        };
        let [a, b] = [0, 1].map(|at| argument(args, at, names[at]));
        let (Some(a), Some(b)) = (a, b) else {
            return Err(Obstacle::new(format!("{name} has too few arguments"), span));
        };
        let usual = |name: &str, value: &Value| match name {
            "strategy" => matches!(value.as_str(), Some("smart" | "recurse")),
            "merge_lists" => !value.truthy(),
            "in_place" | "convert_none" | "renderer" => true,
            _ => false,
        };
        for (given, value) in &args.named {
            let is_usual = literal(value).is_some_and(|value| usual(given, &value));
            if !names.contains(&&**given) && !is_usual {
                return Err(Obstacle::new(format!("{name} merges with {given}"), span));
            }
        }
        if args.positional.len() > 2 {
            return Err(Obstacle::new(format!("{name} merges in another way"), span));
        }
        let mut layers = self.layers(a)?;
        layers.extend(self.layers(b)?);
        Ok(layers)
    }

    /// The configuration that the map exports.
    pub fn main(&self, imports: &Imports) -> KnownNames<Main> {
        let layered = |name: &&String| matches!(self.names.get(*name), Some(Bound::Layers(_, layers)) if !layers.is_empty());
        let name = match imports.most_used() {
            Some(name) if self.names.contains_key(&name) || self.failed.contains_key(&name) => name,
            _ => {
                let own = Some(self.formula.name().replace('-', "_"));
                let own =
                    own.filter(|own| self.names.contains_key(own) || self.failed.contains_key(own));
                let last = || self.order.iter().rev().find(layered).cloned();
                own.or_else(last).ok_or_else(|| self.nothing())?
            }
        };
        if let Some(stop) = self.failed.get(&name) {
            return Err(stop.clone());
        }
        let Some(Bound::Layers(number, layers)) = self.names.get(&name) else {
            return Err(self.nothing());
        };
        let same = |(_, bound): &(&String, &Bound<'_>)| matches!(bound, Bound::Layers(other, _) if other == number);
        let aliases = self.names.iter().filter(same).map(|(name, _)| name.clone());
        Ok(Main {
            name,
            number: *number,
            layers: layers.clone(),
            aliases: aliases.collect(),
        })
    }

    /// Nothing that is exported is made of layers.
    fn nothing(&self) -> Obstacle {
        let mut stops = self
            .order
            .iter()
            .rev()
            .filter_map(|name| self.failed.get(name));
        stops.next().cloned().unwrap_or_else(|| {
            let end = u32::try_from(self.map.source().len()).unwrap_or(u32::MAX);
            Obstacle::new(
                "it sets no variable that is made of tables",
                Span {
                    start: 0,
                    end: end.min(1),
                },
            )
        })
    }
}

/// The layers of a block, if it has values.
fn layers(block: table::Block, origin: TablePlace) -> Vec<MapLayer> {
    match block.is_empty() {
        true => Vec::new(),
        false => vec![MapLayer::Always(block, origin)],
    }
}
