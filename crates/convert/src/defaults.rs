//! Defaults of a formula's pillar that its states have, and not its map.

use mapstack::Place;
use mapstack_salt_jinja::{Node, ast::Expr, visit};

use crate::formula::{OF_MAPS, OF_TOFS};
use crate::template::{FormulaTemplate, argument, called, literal, text};
use crate::{Formula, Proposal};

/// A default that a state or template has for a key of the formula's pillar.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnDefault {
    /// The key, with colons between its parts.
    pub key: String,
    /// The default as it is written, on one line.
    pub default: String,
    /// The place of the look-up.
    pub place: Place,
}

/// Functions that look a key up and take a default.
const LOOK_UPS: [&str; 2] = ["pillar.get", "config.get"];

impl OwnDefault {
    /// Those of a formula, by file and line. Its libraries and the files that a proposal writes or removes do not count.
    pub(crate) fn of(formula: &Formula, proposal: &Proposal) -> Vec<Self> {
        let firsts = proposal.keys.iter().filter_map(|key| key.first());
        let roots: Vec<&str> = firsts.map(String::as_str).chain([formula.name()]).collect();
        let is_own = |key: &str| roots.contains(&key.split(':').next().unwrap_or_default());
        let is_library = |path: &str| {
            let name = path.rsplit('/').next().unwrap_or_default();
            name == OF_TOFS || OF_MAPS.contains(&name)
        };
        let mut found = Vec::new();
        let paths = formula.paths();
        for path in paths.filter(|path| !proposal.touches(path) && !is_library(path)) {
            let text = formula.text(path).unwrap_or_default();
            if !LOOK_UPS.iter().any(|name| text.contains(name)) {
                continue;
            }
            // Files that are not templates look nothing up.
            if let Ok(Some(parsed)) = FormulaTemplate::of(formula, path) {
                found.extend(
                    in_template(&parsed)
                        .into_iter()
                        .filter(|one| is_own(&one.key)),
                );
            }
        }
        found
    }
}

fn in_template(parsed: &FormulaTemplate) -> Vec<OwnDefault> {
    let mut found = Vec::new();
    let _: Result<(), ()> = visit(&parsed.template, &mut |node, _| {
        if let Node::Expr(expr) = node {
            found.extend(of_call(parsed, expr));
        }
        Ok(())
    });
    found
}

fn of_call(parsed: &FormulaTemplate, expr: &Expr) -> Option<OwnDefault> {
    let (name, args) = called(expr)?;
    if !LOOK_UPS.contains(&&*name) {
        return None;
    }
    let is_formula = |name: &str| matches!(name, "tplroot" | "tpldir");
    let key = text(argument(args, 0, "key")?, &|name| {
        is_formula(name).then(|| parsed.formula.clone())
    })?;
    let default = argument(args, 1, "default")?;
    // An empty default says that there is none.
    if literal(default).is_some_and(|value| !value.truthy()) {
        return None;
    }
    let source = parsed.text(default.span);
    Some(OwnDefault {
        key,
        default: source.split_whitespace().collect::<Vec<_>>().join(" "),
        place: parsed.place(expr.span),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn look_ups_with_defaults_are_found_by_line() {
        let sls = "{% set a = salt['pillar.get']('ntp:servers', ['a',\n  'b']) %}\n\
            {{ salt.pillar.get('ntp:none', {}) }}{{ salt['pillar.get']('other:key', 1) }}\n\
            {{ salt['config.get'](tplroot ~ ':port', default=22) }}\n";
        let files = [
            ("init.sls", sls),
            ("map.jinja", sls),
            ("x.conf", "pillar.get {{"),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().into()));
        let formula = Formula::new("ntp", BTreeMap::from(files));
        let proposal = Proposal::default().writing("map.jinja", "");
        let found = OwnDefault::of(&formula, &proposal);
        let shown = found
            .iter()
            .map(|one| format!("{} {} {}", one.place.line(), one.key, one.default));
        assert_eq!(
            shown.collect::<Vec<_>>(),
            ["1 ntp:servers ['a', 'b']", "4 ntp:port 22"]
        );
    }
}
