//! Templates of formulas as trees.

use std::sync::Arc;

use mapstack::value::{Key, Map, Str, Value};
use mapstack::{Error, ErrorKind, Place, Result};
use mapstack_salt_jinja::{
    Node, Syntax,
    ast::{Args, BinaryOp, Expr, ExprKind, Span, Stmt, StmtKind, Template},
    compile, visit,
};

use crate::Formula;

/// A template of a formula.
pub(crate) struct FormulaTemplate {
    pub path: String,
    pub formula: String,
    pub template: Arc<Template>,
}

impl FormulaTemplate {
    /// The template of a path, if it is text.
    pub fn of(formula: &Formula, path: &str) -> Result<Option<Self>> {
        let Some(text) = formula.text(path) else {
            return Ok(None);
        };
        let whole = format!("{}/{path}", formula.name());
        let name = Str::from(whole.as_str());
        let template = compile(Some(&name), text.into(), &Syntax::default()).map_err(|e| {
            let place = e.place.as_ref().map(|place| Place {
                file: format!("salt://{whole}"),
                source: place.source.clone(),
                start: place.span.start as usize,
                end: place.span.end as usize,
            });
            Error::new(ErrorKind::Template, e.to_string()).at(place)
        })?;
        Ok(Some(FormulaTemplate {
            path: path.into(),
            formula: formula.name().into(),
            template,
        }))
    }

    /// The source.
    pub fn source(&self) -> &str {
        &self.template.source
    }

    /// The source of an expression or statement.
    pub fn text(&self, span: Span) -> &str {
        self.source()
            .get(span.start as usize..span.end as usize)
            .unwrap_or_default()
    }

    /// The place of something in it.
    pub fn place(&self, span: Span) -> Place {
        Place {
            file: format!("salt://{}/{}", self.formula, self.path),
            source: self.template.source.clone(),
            start: span.start as usize,
            end: span.end as usize,
        }
    }

    /// True if it imports a template of this name, from whatever folder.
    pub fn imports(&self, name: &str) -> bool {
        self.any(|node| match node {
            Node::Stmt(Stmt {
                kind: StmtKind::FromImport { template, .. } | StmtKind::Import { template, .. },
                ..
            }) => last_text(template).is_some_and(|text| text.rsplit('/').next() == Some(name)),
            _ => false,
        })
    }

    /// True if it calls a function of Salt.
    pub fn calls(&self, function: &str) -> bool {
        self.any(|node| matches!(node, Node::Expr(e) if called(e).is_some_and(|(name, _)| name == function)))
    }

    /// True if a node fits.
    pub fn any(&self, mut fits: impl FnMut(Node<'_>) -> bool) -> bool {
        visit(&self.template, &mut |node, _| match fits(node) {
            true => Err(()),
            false => Ok(()),
        })
        .is_err()
    }
}

/// The last literal text of a path that is put together.
fn last_text(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Const(Value::Str(text)) => Some(text),
        ExprKind::Concat(parts) => last_text(parts.last()?),
        ExprKind::Binary(BinaryOp::Add, _, last) => last_text(last),
        _ => None,
    }
}

/// The function of Salt that an expression calls, and the arguments.
pub(crate) fn called(expr: &Expr) -> Option<(String, &Args)> {
    let ExprKind::Call { callee, args } = &expr.kind else {
        return None;
    };
    let is_salt = |e: &Expr| matches!(&e.kind, ExprKind::Name(name) if &**name == "salt");
    let name = match &callee.kind {
        ExprKind::Item(salt, name) if is_salt(salt) => match &name.kind {
            ExprKind::Const(Value::Str(name)) => name.to_string(),
            _ => return None,
        },
        ExprKind::Attr(module, function) => match &module.kind {
            ExprKind::Attr(salt, module) if is_salt(salt) => format!("{module}.{function}"),
            _ => return None,
        },
        _ => return None,
    };
    Some((name, args))
}

/// The argument of a call, by its place and its name.
pub(crate) fn argument<'a>(args: &'a Args, at: usize, name: &str) -> Option<&'a Expr> {
    let named = args.named.iter().find(|(given, _)| &**given == name);
    args.positional.get(at).or(named.map(|(_, value)| value))
}

/// The data of an expression that is made of literals alone.
pub(crate) fn literal(expr: &Expr) -> Option<Value> {
    match &expr.kind {
        ExprKind::Const(value) => Some(value.clone()),
        ExprKind::List(items) | ExprKind::Tuple(items) => {
            let items: Option<Vec<Value>> = items.iter().map(literal).collect();
            Some(Value::from(items?))
        }
        ExprKind::Dict(entries) => {
            let mut map = Map::new();
            for (key, value) in entries {
                let key = Key::try_from(&literal(key)?).ok()?;
                map.insert(key, literal(value)?);
            }
            Some(map.into())
        }
        _ => None,
    }
}

/// The text that an expression puts together of literals and of names whose texts are known.
pub(crate) fn text(expr: &Expr, known: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    match &expr.kind {
        ExprKind::Const(Value::Str(text)) => Some(text.to_string()),
        ExprKind::Name(name) => known(name),
        ExprKind::Concat(parts) => parts.iter().map(|part| text(part, known)).collect(),
        ExprKind::Binary(BinaryOp::Add, a, b) => Some(text(a, known)? + &text(b, known)?),
        // `tpldir.split('/')[0]`
        ExprKind::Item(list, at) if literal(at)?.is_same(&0.into()) => {
            let ExprKind::Call { callee, .. } = &list.kind else {
                return None;
            };
            match &callee.kind {
                ExprKind::Attr(of, split) if &**split == "split" => {
                    let whole = text(of, known)?;
                    Some(whole.split('/').next().unwrap_or_default().to_owned())
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// The names that an expression reads.
pub(crate) fn names_of<'e>(expr: &'e Expr, names: &mut Vec<&'e str>) {
    if let ExprKind::Name(name) = &expr.kind {
        names.push(name);
    }
    let _: std::result::Result<(), ()> = expr.try_each_operand(&mut |operand| {
        names_of(operand, names);
        Ok(())
    });
}
