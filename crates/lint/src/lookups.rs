//! The keys of the pillar that a template looks up.

use mapstack::Place;
use mapstack::value::{Str, Value};
use mapstack_salt_jinja::ast::{Expr, ExprKind};

use crate::document::SourceFile;
use crate::origins::{salt_function, text_of};
use crate::templates::LocatedTemplate;

/// The keys of the pillar that a template looks up by literals, with their places.
///
/// ```
/// use mapstack_lint::{SourceFile, pillar_keys};
/// let file = SourceFile::new("a.sls", "a.sls", "x: {{ salt['pillar.get']('web:port') }}{{ pillar.user }}");
/// let keys: Vec<String> = pillar_keys(&file).into_iter().map(|(key, _)| key).collect();
/// assert_eq!(keys, ["web:port", "user"]);
/// ```
#[must_use]
pub fn pillar_keys(file: &SourceFile) -> Vec<(String, Place)> {
    let Some(parsed) = LocatedTemplate::of(file.path.clone(), file.shown.clone(), &file.text)
    else {
        return Vec::new();
    };
    let is_bound = parsed.binds("pillar") > 0;
    let expressions = parsed.expressions().into_iter();
    let found = expressions.filter_map(|e| {
        let key = called(&parsed, e).or_else(|| of_variable(e).filter(|_| !is_bound))?;
        Some((key, parsed.place(e.span)))
    });
    found.collect()
}

fn is_pillar(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Name(name) if **name == *"pillar")
}

/// The key that a call of `pillar.get` looks up.
fn called(parsed: &LocatedTemplate, e: &Expr) -> Option<String> {
    let ExprKind::Call { callee, args } = &e.kind else {
        return None;
    };
    let is_get = match (&callee.kind, salt_function(callee)) {
        (_, Some(function)) => matches!(function, "pillar.get" | "pillar.item" | "pillar.raw"),
        (ExprKind::Attr(object, method), None) => {
            is_pillar(object) && **method == *"get" && parsed.binds("pillar") == 0
        }
        _ => false,
    };
    is_get
        .then(|| text_of(parsed, args.positional.first()?))
        .flatten()
}

/// The key of `pillar.key` or `pillar['key']`.
fn of_variable(e: &Expr) -> Option<String> {
    let is_method = |name: &Str| matches!(&**name, "get" | "items" | "keys" | "values" | "update");
    match &e.kind {
        ExprKind::Attr(object, key) if is_pillar(object) && !is_method(key) => {
            Some(key.to_string())
        }
        ExprKind::Item(object, item) if is_pillar(object) => match &item.kind {
            ExprKind::Const(Value::Str(key)) => Some(key.to_string()),
            _ => None,
        },
        _ => None,
    }
}
