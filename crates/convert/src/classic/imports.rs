//! Who imports what of a map.

use std::collections::{BTreeMap, BTreeSet};

use mapstack::{Result, Survey};
use mapstack_salt_jinja::{
    Node,
    ast::{Expr, ExprKind, Stmt, StmtKind},
};

use crate::Formula;
use crate::template::FormulaTemplate;

/// The imports of a formula's map by its templates.
pub(crate) struct Imports {
    names: BTreeMap<String, usize>,
    /// True if a template imports the map as a module.
    pub as_module: bool,
    /// True if a template changes what it imports.
    pub changes: bool,
}

/// Methods that change what they are called on.
const CHANGING: [&str; 8] = [
    "update",
    "append",
    "extend",
    "insert",
    "pop",
    "remove",
    "clear",
    "setdefault",
];

impl Imports {
    pub fn of(formula: &Formula) -> Result<Self> {
        let own = format!("{}/", formula.name());
        let paths = formula.paths().map(|path| format!("{own}{path}")).collect();
        let survey = Survey::of(paths, |path| {
            let bytes = path.strip_prefix(&own).and_then(|path| formula.bytes(path));
            Ok::<_, mapstack::Error>(bytes.map(|bytes| (path.to_owned(), bytes.clone())))
        })?;
        let map = format!("{own}map.jinja");
        let sites = survey.imports.iter().filter(|site| {
            let file = site.template.as_deref();
            file == Some(&*map) || file == Some("map.jinja")
        });
        let mut imports = Imports {
            names: BTreeMap::new(),
            as_module: false,
            changes: false,
        };
        for site in sites {
            imports.as_module |= site.module.is_some();
            for name in &site.names {
                *imports.names.entry(name.to_string()).or_default() += 1;
            }
        }
        imports.changes = survey.templates.iter().any(|path| {
            let below = path.strip_prefix(&own).filter(|path| *path != "map.jinja");
            let parsed = below.and_then(|path| FormulaTemplate::of(formula, path).ok().flatten());
            parsed.is_some_and(|parsed| changes_imported(&parsed))
        });
        Ok(imports)
    }

    /// The name that most imports have.
    pub fn most_used(&self) -> Option<String> {
        let most = self.names.values().max()?;
        let mut names = self.names.iter();
        names
            .find(|(_, n)| *n == most)
            .map(|(name, _)| name.clone())
    }

    pub fn has(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }
}

/// True if a template changes in place what it imports from a map.
fn changes_imported(parsed: &FormulaTemplate) -> bool {
    let mut imported: BTreeSet<String> = BTreeSet::new();
    let mut changes = false;
    parsed.any(|node| {
        match node {
            Node::Stmt(Stmt {
                kind:
                    StmtKind::FromImport {
                        template, names, ..
                    },
                ..
            }) if parsed.text(template.span).contains("map.jinja") => {
                imported.extend(names.iter().map(|(_, name)| name.to_string()));
            }
            Node::Expr(Expr {
                kind: ExprKind::Call { callee, .. },
                ..
            }) => {
                if let ExprKind::Attr(of, method) = &callee.kind
                    && CHANGING.contains(&&**method)
                    && root(of).is_some_and(|name| imported.contains(name))
                {
                    changes = true;
                }
            }
            _ => {}
        }
        changes
    });
    changes
}

/// The name at the beginning of a path of attributes and items.
fn root(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Attr(of, _) | ExprKind::Item(of, _) => root(of),
        _ => None,
    }
}
