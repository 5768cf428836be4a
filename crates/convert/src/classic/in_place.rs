//! Statements that merge into a mapping in place: `{% do defaults.ntp.update(os_map) %}`.

use mapstack_salt_jinja::ast::{Args, Expr, ExprKind, Span, Stmt, StmtKind};

use super::layer::MapLayer;
use super::reader::{Bound, KnownNames, Reader};
use super::stop::Obstacle;
use crate::template::{argument, called, names_of};

/// A mapping that a statement changes: a name, or what a name has below keys.
struct ChangedMapping<'m> {
    root: &'m Expr,
    /// The keys, each with the part of the expression that ends with it.
    keys: Vec<(String, &'m Expr)>,
}

/// The place of a mapping in what is known.
struct MappingPlace {
    /// The number of the layers.
    number: usize,
    /// The keys below them.
    below: Vec<String>,
}

impl<'m> Reader<'m> {
    /// Read `do` with an expression that merges layers into known ones.
    pub(super) fn merge_in_place(&mut self, expr: &'m Expr) -> KnownNames<()> {
        let unknown = || Obstacle::new("it changes a value", expr.span);
        let (target, source, is_update) = match called(expr) {
            Some((name, args)) if name == "defaults.merge" => {
                // Only to see that it merges as layers do.
                self.merged("defaults.merge", args, expr.span)?;
                let [dest, src] =
                    [(0, "dest"), (1, "src")].map(|(at, name)| argument(args, at, name));
                (dest.ok_or_else(unknown)?, src.ok_or_else(unknown)?, false)
            }
            Some(_) => return Err(unknown()),
            None => {
                let (target, source) = update(expr).ok_or_else(unknown)?;
                (target, source, true)
            }
        };
        let target = self.target(target).ok_or_else(unknown)?;
        // Single values that the finished map gets are clearer in post-map.jinja.
        if target.keys.is_empty() && matches!(source.kind, ExprKind::Dict(_)) {
            return Err(unknown());
        }
        let merged = self.layers(source).and_then(|layers| {
            let place = self.place_of(&target, expr.span)?;
            let below = |layer: MapLayer| match place.below.is_empty() {
                true => Some(layer),
                false => layer.below(&place.below),
            };
            let layers: Option<Vec<MapLayer>> = layers.into_iter().map(below).collect();
            let layers = layers
                .ok_or_else(|| Obstacle::new("it merges a look-up below a key", expr.span))?;
            self.extend(place.number, layers, is_update && place.below.is_empty());
            Ok(())
        });
        if let Err(stop) = &merged {
            let mut names = Vec::new();
            names_of(expr, &mut names);
            let all = names
                .into_iter()
                .map(|name| (name.to_owned(), stop.clone()));
            self.unread.extend(all);
        }
        merged
    }

    /// Read `{% if x %}{% do a.update(x) %}{% endif %}`: nothing is merged without `x` anyway.
    pub(super) fn merge_if_any(&mut self, arms: &'m [(Expr, Vec<Stmt>)]) -> KnownNames<()> {
        let unknown = |span| Obstacle::new("it changes a value", span);
        let [(test, body)] = arms else {
            let span = arms
                .first()
                .map_or(Span { start: 0, end: 0 }, |(test, _)| test.span);
            return Err(unknown(span));
        };
        let name = given_name(test).ok_or_else(|| unknown(test.span))?;
        let mut merges = body.iter().filter(|stmt| !is_blank(stmt));
        match (merges.next().map(|stmt| &stmt.kind), merges.next()) {
            (Some(StmtKind::Do(expr)), None)
                if update(expr).is_some_and(|(_, source)| is_name(source, name)) =>
            {
                self.merge_in_place(expr)
            }
            _ => Err(unknown(test.span)),
        }
    }

    fn target(&self, expr: &'m Expr) -> Option<ChangedMapping<'m>> {
        let (of, key) = match &expr.kind {
            ExprKind::Name(_) => {
                return Some(ChangedMapping {
                    root: expr,
                    keys: Vec::new(),
                });
            }
            ExprKind::Item(of, key) => (of, self.text(key)?),
            ExprKind::Attr(of, key) => (of, key.to_string()),
            _ => return None,
        };
        let mut target = self.target(of)?;
        target.keys.push((key, expr));
        Some(target)
    }

    /// The mapping that a statement changes.
    fn place_of(&mut self, target: &ChangedMapping<'m>, span: Span) -> KnownNames<MappingPlace> {
        let ExprKind::Name(name) = &target.root.kind else {
            return Err(Obstacle::new("it changes a value", span));
        };
        let is_layered = matches!(self.names.get(&**name), Some(Bound::Layers(..)));
        let (base, below) = match target.keys.split_first() {
            Some(((_, entry), below)) if !is_layered => (*entry, below),
            _ => (target.root, &target.keys[..]),
        };
        let number = match self.value(base)? {
            Bound::Layers(number, _) => number,
            _ => {
                let first = self.layers(base)?;
                let number = self.number();
                let layers = Bound::Layers(number, first);
                self.names.insert(name.to_string(), layers);
                number
            }
        };
        let below = below.iter().map(|(key, _)| key.clone()).collect();
        Ok(MappingPlace { number, below })
    }
}

/// The name in `{% if x %}` and `{% if x is not none %}`.
fn given_name(test: &Expr) -> Option<&str> {
    match &test.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Not(not) => match &not.kind {
            ExprKind::Test { input, name, .. } if &**name == "none" => match &input.kind {
                ExprKind::Name(name) => Some(name),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

fn is_name(expr: &Expr, name: &str) -> bool {
    matches!(&expr.kind, ExprKind::Name(other) if &**other == name)
}

fn is_blank(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Text(text) if text.trim().is_empty())
}

/// The mapping that `a.update(b)` changes, and the other one.
fn update(expr: &Expr) -> Option<(&Expr, &Expr)> {
    let ExprKind::Call { callee, args } = &expr.kind else {
        return None;
    };
    match (&callee.kind, &**args) {
        (
            ExprKind::Attr(of, method),
            Args {
                positional,
                named,
                star: None,
                star_star: None,
            },
        ) if &**method == "update" && named.is_empty() => match &positional[..] {
            [other] => Some((of, other)),
            _ => None,
        },
        _ => None,
    }
}
