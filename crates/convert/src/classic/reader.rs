//! Reads a `map.jinja` of tables: which name has which layers.

use std::collections::HashMap;

use mapstack::value::Value;
use mapstack_render::jinja::ast::{Args, Expr, ExprKind, Span, Stmt, StmtKind, Target};

use super::filter_by::filter_by;
use super::imports::Imports;
use super::layer::{Layer, Origin};
use super::stop::Stop;
use crate::Formula;
use crate::table;
use crate::template::{self, Parsed, argument, called, literal};

/// The value of a name or expression, as far as it is known.
#[derive(Debug, Clone)]
pub(crate) enum Bound<'m> {
    /// A text, such as the formula's name.
    Text(String),
    /// The data of a file of the formula.
    File(String),
    /// Some data in the map itself.
    Data(&'m Expr),
    /// The result of a source definition.
    Source(String),
    /// Layers, by a number that aliases share.
    Layers(usize, Vec<Layer>),
    /// Nothing, or an empty mapping.
    Nothing,
}

/// Reads the statements of a map.
pub(crate) struct Reader<'m> {
    pub formula: &'m Formula,
    pub map: &'m Parsed,
    /// The values of names.
    pub names: HashMap<String, Bound<'m>>,
    /// The statements that set a name, the last one.
    pub set_at: HashMap<String, &'m Stmt>,
    /// Names whose values are not known, with the reason.
    pub failed: HashMap<String, Stop>,
    /// The spans of the statements whose meaning is in the names.
    pub read: Vec<Span>,
    /// Layers of entries of files that statements add to, by file and key.
    parts: HashMap<(String, String), (usize, Vec<Layer>)>,
    /// The order in which names were set.
    pub order: Vec<String>,
    numbers: usize,
    /// True if tables that cannot be layers may stay as they are.
    pub leaves: bool,
}

/// The configuration that a map exports.
pub(crate) struct Main {
    pub name: String,
    pub number: usize,
    pub layers: Vec<Layer>,
    /// All names of it.
    pub aliases: Vec<String>,
}

pub(crate) type Known<T> = Result<T, Stop>;

impl<'m> Reader<'m> {
    /// Read the statements at the top of a map.
    pub fn of(formula: &'m Formula, map: &'m Parsed, leaves: bool) -> Self {
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
            StmtKind::Do(expr) => match called(expr) {
                Some((name, args))
                    if name == "defaults.merge" && self.merge_in_place(args).is_some() =>
                {
                    self.read.push(stmt.span);
                }
                Some((name, _)) if name.starts_with("log.") => self.read.push(stmt.span),
                _ => {}
            },
            _ => {}
        }
    }

    fn bind(&mut self, name: &str, bound: Known<Bound<'m>>, stmt: &'m Stmt) {
        self.set_at.insert(name.to_owned(), stmt);
        self.order.retain(|known| known != name);
        self.order.push(name.to_owned());
        match bound {
            Ok(bound) => {
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
    fn file(&self, template: &Expr) -> Known<Bound<'m>> {
        let named = match &template.kind {
            ExprKind::Or(named, _) => named,
            _ => template,
        };
        let refused = |why: &str| Err(Stop::new(why, template.span));
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

    /// The text that an expression is, if that is known.
    pub fn text(&self, expr: &Expr) -> Option<String> {
        template::text(expr, &|name| match (name, self.names.get(name)) {
            ("tpldir", _) => Some(self.formula.name().to_owned()),
            (_, Some(Bound::Text(text))) => Some(text.clone()),
            _ => None,
        })
    }

    /// The value of an expression.
    pub fn value(&mut self, expr: &'m Expr) -> Known<Bound<'m>> {
        if let Some(text) = self.text(expr) {
            return Ok(Bound::Text(text));
        }
        match &expr.kind {
            ExprKind::Name(name) => match (self.names.get(&**name), self.failed.get(&**name)) {
                (Some(bound), _) => Ok(bound.clone()),
                (None, Some(stop)) => Err(stop.clone()),
                (None, None) => Err(Stop::new(format!("it uses `{name}`"), expr.span)),
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
            _ => Err(Stop::new("it computes a value", expr.span)),
        }
    }

    /// The entry of a file.
    fn entry(&mut self, file: &'m Expr, key: Option<&str>, span: Span) -> Known<Bound<'m>> {
        let (Some(key), Ok(Bound::File(path))) = (key, self.value(file)) else {
            return Err(Stop::new("it computes a value", span));
        };
        let known = (path.clone(), key.to_owned());
        if let Some((number, layers)) = self.parts.get(&known) {
            return Ok(Bound::Layers(*number, layers.clone()));
        }
        let rows = self.rows_of(&path, span)?;
        let row = rows.into_iter().find(|row| row.key.to_string() == key);
        let Some(row) = row else {
            return Err(Stop::new(format!("{path} has no `{key}`"), span));
        };
        let layers = match row.block.is_empty() {
            true => Vec::new(),
            false => vec![Layer::Always(row.block, Origin::File(path))],
        };
        let number = self.number();
        self.parts.insert(known, (number, layers.clone()));
        Ok(Bound::Layers(number, layers))
    }

    pub fn number(&mut self) -> usize {
        self.numbers += 1;
        self.numbers
    }

    /// The entries of a file of the formula.
    pub fn rows_of(&self, path: &str, span: Span) -> Known<Vec<table::Row>> {
        let text = self.formula.text(path);
        let text = text.ok_or_else(|| Stop::new(format!("{path} is not text"), span))?;
        table::rows(text).map_err(|why| Stop::new(format!("{path}: {why}"), span))
    }

    /// `pillar.get(…)` of the variable.
    fn method(&mut self, callee: &Expr, args: &'m Args, span: Span) -> Known<Bound<'m>> {
        if let ExprKind::Attr(of, get) = &callee.kind
            && matches!(&of.kind, ExprKind::Name(name) if &**name == "pillar")
            && &**get == "get"
            && let Some(key) = args.positional.first().and_then(|key| self.text(key))
            && !key.contains(':')
            && self.is_nothing(args.positional.get(1))
        {
            return Ok(Bound::Source(format!("I@{key}")));
        }
        Err(Stop::new("it computes a value", span))
    }

    fn is_nothing(&mut self, default: Option<&'m Expr>) -> bool {
        let Some(default) = default else { return true };
        let is_empty = literal(default).is_some_and(|value| !value.truthy());
        is_empty || matches!(self.value(default), Ok(Bound::Nothing))
    }

    fn function(&mut self, name: &str, args: &'m Args, expr: &'m Expr) -> Known<Bound<'m>> {
        if args.star.is_some() || args.star_star.is_some() {
            return Err(Stop::new("it passes arguments as a list", expr.span));
        }
        let layers = match name {
            "grains.filter_by" => return filter_by(self, args, expr.span),
            "pillar.get" => return self.look_up(("I", args), 2, expr.span),
            "config.get" => return self.look_up(("C", args), 3, expr.span),
            "slsutil.merge" | "defaults.merge" => self.merged(name, args, expr.span)?,
            _ => return Err(Stop::new(format!("it calls {name}"), expr.span)),
        };
        let number = self.number();
        Ok(Bound::Layers(number, layers))
    }

    /// A look-up, over a default or alone.
    fn look_up(
        &mut self,
        (matcher, args): (&str, &'m Args),
        merge_at: usize,
        span: Span,
    ) -> Known<Bound<'m>> {
        let key = argument(args, 0, "key").and_then(|key| self.text(key));
        let key = key.ok_or_else(|| Stop::new("it computes the key of a look-up", span))?;
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
            return Err(Stop::new(format!("it looks `{key}` up with {other}"), span));
        }
        match merges {
            None | Some(Some(false)) if self.is_nothing(default) => Ok(Bound::Source(definition)),
            None | Some(Some(false)) => Err(Stop::new(
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
                layers.push(Layer::Raw(definition));
                Ok(Bound::Layers(self.number(), layers))
            }
            Some(_) => Err(Stop::new(
                format!("it merges what it finds under `{key}`"),
                span,
            )),
        }
    }

    /// The layers that an expression is.
    pub fn layers(&mut self, expr: &'m Expr) -> Known<Vec<Layer>> {
        match self.value(expr)? {
            Bound::Layers(_, layers) => Ok(layers),
            Bound::Source(definition) => Ok(vec![Layer::Raw(definition)]),
            Bound::Nothing => Ok(Vec::new()),
            Bound::Data(data) => super::yaml::layers(self, data),
            Bound::File(path) => {
                let text = self.formula.text(&path).unwrap_or_default();
                let block = table::whole(text);
                let block = block.map_err(|why| Stop::new(format!("{path}: {why}"), expr.span))?;
                Ok(vec![Layer::Always(block, Origin::File(path))])
            }
            Bound::Text(_) => Err(Stop::new("it merges a text", expr.span)),
        }
    }

    /// `slsutil.merge(a, b)` and `defaults.merge(a, b)`, where they merge as layers do.
    fn merged(&mut self, name: &str, args: &'m Args, span: Span) -> Known<Vec<Layer>> {
        let names: [&str; 2] = match name {
            "slsutil.merge" => ["obj_a", "obj_b"],
            _ => ["dest", "src"],
        };
        let [a, b] = [0, 1].map(|at| argument(args, at, names[at]));
        let (Some(a), Some(b)) = (a, b) else {
            return Err(Stop::new(format!("{name} has too few arguments"), span));
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
                return Err(Stop::new(format!("{name} merges with {given}"), span));
            }
        }
        if args.positional.len() > 2 {
            return Err(Stop::new(format!("{name} merges in another way"), span));
        }
        let mut layers = self.layers(a)?;
        layers.extend(self.layers(b)?);
        Ok(layers)
    }

    /// `do salt['defaults.merge'](defaults['ntp'], …)`.
    fn merge_in_place(&mut self, args: &'m Args) -> Option<()> {
        let target = argument(args, 0, "dest")?;
        let (file, key) = match &target.kind {
            ExprKind::Item(file, key) => (file, self.text(key)?),
            ExprKind::Attr(file, key) => (file, key.to_string()),
            _ => return None,
        };
        let layers = self.merged("defaults.merge", args, target.span).ok()?;
        let Ok(Bound::File(path)) = self.value(file) else {
            return None;
        };
        let part = self.parts.get_mut(&(path, key))?;
        part.1 = layers;
        Some(())
    }

    /// The configuration that the map exports.
    pub fn main(&self, imports: &Imports) -> Known<Main> {
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
    fn nothing(&self) -> Stop {
        let mut stops = self
            .order
            .iter()
            .rev()
            .filter_map(|name| self.failed.get(name));
        stops.next().cloned().unwrap_or_else(|| {
            let end = u32::try_from(self.map.source().len()).unwrap_or(u32::MAX);
            Stop::new(
                "it sets no variable that is made of tables",
                Span {
                    start: 0,
                    end: end.min(1),
                },
            )
        })
    }
}
