//! Calls of `files_switch`, the macro of `libtofs.jinja`, as calls of `map.tofs`.

use std::fmt::Write as _;

use mapstack::Result;
use mapstack::value::Value;
use mapstack_salt_jinja::{
    Node,
    ast::{Args, Expr, ExprKind, Span, Stmt, StmtKind},
    visit,
};

use crate::formula::OF_TOFS;
use crate::libraries::remove_unused;
use crate::proposal::Left;
use crate::template::{FormulaTemplate, argument, literal};
use crate::{Formula, Proposal};

/// The macro.
const MACRO: &str = "files_switch";

/// Let templates call `map.tofs`, and remove the library where nothing else uses it.
pub(crate) fn convert(formula: &Formula, proposal: &mut Proposal) -> Result<()> {
    // Settings below `tofs` come with the configuration of the formula.
    let own = [formula.name().to_owned()];
    if !proposal.keys.iter().any(|key| **key == own) {
        return Ok(());
    }
    let mut lookups = Vec::new();
    let mut written = Vec::new();
    for path in formula.paths().filter(|path| !proposal.touches(path)) {
        let text = formula.text(path).unwrap_or_default();
        if !text.contains(OF_TOFS) || !text.contains(MACRO) {
            continue;
        }
        let Ok(Some(parsed)) = FormulaTemplate::of(formula, path) else {
            continue;
        };
        if let Some(text) = rewritten(&parsed, &mut lookups) {
            written.push((path.to_owned(), text));
        }
    }
    if written.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = written.iter().map(|(path, _)| path.as_str()).collect();
    proposal.done.push(format!(
        "map.tofs in place of files_switch: {}",
        names.join(", ")
    ));
    for (path, text) in written {
        *proposal = std::mem::take(proposal).writing(&path, &text);
    }
    proposal.advice.push(format!(
        "files in pillars: map.tofs reads {0}:tofs:source_files, and no longer the older {0}:tofs:files",
        formula.name()
    ));
    proposal.tofs = Some(lookups);
    remove_unused(formula, proposal, &[OF_TOFS, "libsaltcli.jinja"])
}

/// Say why a library stays that templates still use.
pub(crate) fn leave(formula: &Formula, proposal: &mut Proposal) {
    let is_library = |path: &&str| path.rsplit('/').next() == Some(OF_TOFS);
    let uses = |path: &str| {
        let text = proposal.write.get(path).map(String::as_str);
        let text = text.or_else(|| formula.text(path)).unwrap_or_default();
        text.contains(OF_TOFS) && text.contains(MACRO)
    };
    let users = formula
        .paths()
        .filter(|path| !is_library(path) && uses(path));
    let users = users.count();
    let stays = |path: &&str| is_library(path) && !proposal.touches(path);
    if let (Some(path), 1..) = (formula.paths().find(stays), users) {
        proposal.left.push(Left {
            what: path.into(),
            why: format!("{users} of the formula's templates use its {MACRO}"),
            place: None,
        });
    }
}

/// A template with calls of `map.tofs`; nothing if one of its calls has no counterpart.
fn rewritten(parsed: &FormulaTemplate, lookups: &mut Vec<String>) -> Option<String> {
    let mut edits: Vec<(Span, String)> = Vec::new();
    let mut calls = 0;
    let mut named = 0;
    let _: std::result::Result<(), ()> = visit(&parsed.template, &mut |node, _| {
        match node {
            Node::Stmt(stmt) => {
                if is_import(stmt) {
                    edits.push((stmt.span, String::new()));
                } else if let StmtKind::Output(expr) = &stmt.kind
                    && let Some(args) = call(expr)
                    && let Some(text) = of_call(parsed, args)
                {
                    edits.push((stmt.span, format!("{{{{ {text} }}}}")));
                }
            }
            Node::Expr(expr) => {
                named += usize::from(is_macro(expr));
                if let Some(args) = call(expr) {
                    calls += 1;
                    lookups.extend(argument(args, 1, "lookup").and_then(literal_text));
                    let is_done = edits.iter().any(|(span, _)| {
                        span.start <= expr.span.start && expr.span.end <= span.end
                    });
                    if let (false, Some(text)) = (is_done, of_call(parsed, args)) {
                        edits.push((expr.span, text));
                    }
                }
            }
        }
        Ok(())
    });
    let imports = edits.iter().filter(|(_, text)| text.is_empty()).count();
    // Each call and each import has to go; nothing else may mention the macro.
    let is_whole = imports == 1 && calls > 0 && named == calls && edits.len() == calls + 1;
    is_whole.then(|| edited(parsed.source(), edits))
}

fn literal_text(expr: &Expr) -> Option<String> {
    literal(expr)?.as_str().map(str::to_owned)
}

/// True for an import of the macro alone, under its own name.
fn is_import(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::FromImport { names, .. } => {
            matches!(&names[..], [(name, alias)] if &**name == MACRO && &**alias == MACRO)
        }
        _ => false,
    }
}

fn is_macro(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Name(name) if &**name == MACRO)
}

/// The arguments of a call of the macro.
fn call(expr: &Expr) -> Option<&Args> {
    match &expr.kind {
        ExprKind::Call { callee, args } if is_macro(callee) => Some(args),
        _ => None,
    }
}

/// The call of `map.tofs` for one of the macro.
fn of_call(parsed: &FormulaTemplate, args: &Args) -> Option<String> {
    const NAMES: [&str; 5] = [
        "source_files",
        "lookup",
        "default_files_switch",
        "indent_width",
        "use_subpath",
    ];
    let is_known = |name: &str| NAMES.contains(&name);
    if args.star.is_some()
        || args.star_star.is_some()
        || !args.named.iter().all(|(name, _)| is_known(name))
    {
        return None;
    }
    let text = |at: usize| {
        let given = argument(args, at, NAMES[at])?;
        let is_default = matches!(
            &given.kind,
            ExprKind::Const(Value::None | Value::Bool(false))
        );
        let text = parsed.text(given.span);
        (!is_default).then(|| text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let quote = match parsed.source().matches('"').count() > parsed.source().matches('\'').count() {
        true => '"',
        false => '\'',
    };
    let mut call = format!("salt[{quote}map.tofs{quote}](tpldir, {}", text(0)?);
    for (at, name) in [(1, "lookup"), (2, "default_matchers"), (4, "use_subpath")] {
        if let Some(value) = text(at) {
            let _ = write!(call, ", {name}={value}");
        }
    }
    // Directories are named by the values alone: files/Debian, not files/os_family/Debian.
    call.push_str(", include_query=False) | json");
    Some(call)
}

/// A text with some parts replaced. Lines that had nothing but a part which is gone are gone, too.
fn edited(source: &str, mut edits: Vec<(Span, String)>) -> String {
    edits.sort_by_key(|(span, _)| span.start);
    let mut text = String::new();
    let mut done = 0;
    for (span, new) in edits {
        let (start, mut end) = (span.start as usize, span.end as usize);
        text.push_str(source.get(done..start).unwrap_or_default());
        text.push_str(&new);
        let is_alone = new.is_empty() && (text.is_empty() || text.ends_with('\n'));
        if is_alone && source[end..].starts_with('\n') {
            end += 1;
        }
        done = end;
    }
    text.push_str(source.get(done..).unwrap_or_default());
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn rewritten_text(text: &str) -> Option<String> {
        let files = [("a.sls".to_owned(), text.as_bytes().into())];
        let formula = Formula::new("ntp", BTreeMap::from(files));
        rewritten(
            &FormulaTemplate::of(&formula, "a.sls").unwrap().unwrap(),
            &mut Vec::new(),
        )
    }

    #[test]
    fn calls_of_the_macro_become_those_of_map_tofs() {
        let import = "{%- from tplroot ~ '/libtofs.jinja' import files_switch with context %}\n";
        for (call, expected) in [
            (
                "{{ files_switch(['a'],\n      lookup='x'\n   )\n }}",
                "{{ salt['map.tofs'](tpldir, ['a'], lookup='x', include_query=False) | json }}",
            ),
            (
                "{{ s if '://' in s else files_switch([s], 'x', indent_width=4, use_subpath=True) }}",
                "{{ s if '://' in s else salt['map.tofs'](tpldir, [s], lookup='x', use_subpath=True, include_query=False) | json }}",
            ),
            (
                "{{ files_switch(a, None, default_files_switch=['os']) }}",
                "{{ salt['map.tofs'](tpldir, a, default_matchers=['os'], include_query=False) | json }}",
            ),
        ] {
            let text = format!("a\n{import}- source: {call}\n");
            let expected = format!("a\n- source: {expected}\n");
            assert_eq!(rewritten_text(&text), Some(expected));
        }
        for other in [
            "{{ files_switch(*a) }}",
            "{% set f = files_switch %}{{ files_switch(a) }}",
            "no call",
        ] {
            assert_eq!(
                rewritten_text(&format!("{import}{other}\n")),
                None,
                "{other}"
            );
        }
    }
}
