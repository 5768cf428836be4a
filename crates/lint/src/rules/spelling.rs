//! Slips in the names of grains, and in the names of systems that look-ups by a grain have.

use std::collections::BTreeSet;

use mapstack::matcher::{MatcherKind, Mode};
use mapstack::value::Value;
use mapstack::{Place, parse_definition};
use mapstack_salt_jinja::ast::{Args, CompareOp, Expr, ExprKind, Stmt, StmtKind};

use crate::Rule;
use crate::finding::Finding;
use crate::names::{GrainNames, near_grain};
use crate::origins::{salt_function, text_of};
use crate::subject::FormulaSubject;
use crate::templates::{LocatedTemplate, names as targets};

pub(crate) fn check(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    let names = GrainNames::of(subject.runs.iter().map(|run| run.minion));
    let known: BTreeSet<&str> = subject
        .runs
        .iter()
        .flat_map(|run| run.minion.grains.keys())
        .filter_map(|name| name.as_str())
        .collect();
    let mut findings = Vec::new();
    for parsed in subject.templates.all() {
        for e in parsed.expressions() {
            let slip = asked_grain(parsed, e).and_then(|(name, place)| grain(&name, place, &known));
            // A variable of the template's own may have the name of what templates are given.
            let is_own = |_: &Finding| {
                let given = ["grains", "salt"];
                given.iter().any(|name| parsed.binds_at(name, e.span))
            };
            findings.extend(slip.filter(|slip| !is_own(slip)));
            let ExprKind::Call { callee, args } = &e.kind else {
                continue;
            };
            if salt_function(callee) == Some("grains.filter_by") {
                findings.extend(systems(subject, parsed, args, &names));
            }
        }
    }
    for document in subject.meta() {
        let Some((Value::List(sources), marks)) = document.at(&["values", "sources"]) else {
            continue;
        };
        for (index, source) in sources.iter().enumerate() {
            let (Some(text), Some(marks)) = (source.as_str(), marks.child(index)) else {
                continue;
            };
            let (place, _) = document.content.place(marks.mark(), text.len());
            findings.extend(source_grain(text).and_then(|name| grain(&name, place, &known)));
        }
    }
    findings
}

fn grain(name: &str, place: Place, known: &BTreeSet<&str>) -> Option<Finding> {
    let near = near_grain(name, known)?;
    let finding = Finding::new(
        Rule::MisspeltName,
        place,
        format!("no minion has a grain '{name}'"),
    );
    Some(finding.help(format!("did you mean '{near}'?")))
}

/// A grain that an expression asks for by a literal name, with the place of the name.
fn asked_grain(parsed: &LocatedTemplate, e: &Expr) -> Option<(String, Place)> {
    let named = |e: &Expr, name: Option<String>| Some((name?, parsed.place(e.span)));
    let literal = |e: &Expr| named(e, first_part(e));
    match &e.kind {
        ExprKind::Item(object, name) if is_grains(object) => literal(name),
        ExprKind::Attr(object, name) if is_grains(object) => named(e, Some(name.to_string())),
        // `'name' in grains`
        ExprKind::Compare(name, rest) => match &**rest {
            [(CompareOp::In | CompareOp::NotIn, object)] if is_grains(object) => literal(name),
            _ => None,
        },
        ExprKind::Call { callee, args } => {
            let first = args.positional.first();
            match (&callee.kind, salt_function(callee)) {
                (ExprKind::Attr(object, method), _) if is_grains(object) && **method == *"get" => {
                    literal(first?)
                }
                (_, Some("grains.get" | "grains.item" | "grains.has_value" | "match.grain")) => {
                    literal(first?)
                }
                (_, Some("match.compound")) => named(first?, compound_grain(first?)),
                (_, Some("grains.filter_by")) => literal(grain_argument(args)?),
                _ => None,
            }
        }
        // A definition of a source, wherever it goes.
        ExprKind::Const(Value::Str(text)) => named(e, source_grain(text)),
        _ => None,
    }
}

fn is_grains(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Name(name) if **name == *"grains")
}

/// The text before the first colon of a literal.
fn first_part(e: &Expr) -> Option<String> {
    match &e.kind {
        ExprKind::Const(Value::Str(text)) => text.split(':').next().map(str::to_owned),
        _ => None,
    }
}

/// The first grain of a target in Salt's language for these.
fn compound_grain(e: &Expr) -> Option<String> {
    let ExprKind::Const(Value::Str(text)) = &e.kind else {
        return None;
    };
    let (_, behind) = text.split_once("G@")?;
    behind.split(':').next().map(str::to_owned)
}

/// The grain whose whole value an expression is.
pub(super) fn literal_grain(e: &Expr) -> Option<String> {
    let whole = |e: &Expr| match &e.kind {
        ExprKind::Const(Value::Str(text)) if !text.contains(':') => Some(text.to_string()),
        _ => None,
    };
    match &e.kind {
        ExprKind::Item(object, name) if is_grains(object) => whole(name),
        ExprKind::Attr(object, name) if is_grains(object) => Some(name.to_string()),
        ExprKind::Call { callee, args } => match (&callee.kind, salt_function(callee)) {
            (ExprKind::Attr(object, method), _) if is_grains(object) && **method == *"get" => {
                whole(args.positional.first()?)
            }
            (_, Some("grains.get")) => whole(args.positional.first()?),
            _ => None,
        },
        _ => None,
    }
}

/// The grain that a source looks at.
fn source_grain(text: &str) -> Option<String> {
    if !text.contains("G@") && !text.contains("G:") {
        return None;
    }
    let definition = parse_definition(text, Mode::Layer).ok()?;
    let matcher = definition
        .matchers()
        .iter()
        .find(|matcher| matcher.kind() == MatcherKind::Grains)?;
    matcher
        .query()
        .split(matcher.delimiter())
        .next()
        .map(str::to_owned)
}

/// The argument of `grains.filter_by` that names the grain.
fn grain_argument(args: &Args) -> Option<&Expr> {
    args.named
        .iter()
        .find(|(name, _)| **name == *"grain")
        .map(|(_, e)| e)
        .or_else(|| args.positional.get(1))
}

/// Systems of a look-up that do not exist.
fn systems(
    subject: &FormulaSubject<'_>,
    parsed: &LocatedTemplate,
    args: &Args,
    names: &GrainNames,
) -> Vec<Finding> {
    let grain = match grain_argument(args) {
        None => "os_family".to_owned(),
        Some(e) => match text_of(parsed, e) {
            Some(grain) => grain,
            None => return Vec::new(),
        },
    };
    // These name an entry, not a system.
    let named = args
        .named
        .iter()
        .filter(|(name, _)| matches!(&**name, "default" | "base"))
        .map(|(_, e)| e);
    let named: Vec<String> = named
        .chain(args.positional.get(3..).unwrap_or_default())
        .filter_map(|e| text_of(parsed, e))
        .collect();
    let Some(first) = args.positional.first() else {
        return Vec::new();
    };
    let found = keys(subject, parsed, first);
    let is_system = |name: &str| {
        name != "default"
            && !named.iter().any(|known| known == name)
            && !name.contains(['*', '?', '['])
    };
    let of_key = |(name, place): (String, Place)| {
        let help = names.never(&grain, &name)?.help()?;
        Some(
            Finding::new(
                Rule::MisspeltName,
                place,
                format!("{grain} is never '{name}'"),
            )
            .help(help),
        )
    };
    found
        .into_iter()
        .filter(|(name, _)| is_system(name))
        .filter_map(of_key)
        .collect()
}

/// The keys of a look-up: of a literal, of YAML in the template, or of a file that it loads.
pub(super) fn keys(
    subject: &FormulaSubject<'_>,
    parsed: &LocatedTemplate,
    lookup: &Expr,
) -> Vec<(String, Place)> {
    match &lookup.kind {
        ExprKind::Dict(entries) => {
            let literal = |key: &Expr| match &key.kind {
                ExprKind::Const(Value::Str(name)) => {
                    Some((name.to_string(), parsed.place(key.span)))
                }
                _ => None,
            };
            entries.iter().filter_map(|(key, _)| literal(key)).collect()
        }
        ExprKind::Name(name) => bound_keys(subject, parsed, name),
        _ => Vec::new(),
    }
}

/// The ranges of a template's text outside of its tags.
fn spans_of_text<'t>(stmts: impl IntoIterator<Item = &'t Stmt>) -> Vec<(usize, usize)> {
    stmts
        .into_iter()
        .filter(|stmt| matches!(stmt.kind, StmtKind::Text(_)))
        .map(|stmt| (stmt.span.start as usize, stmt.span.end as usize))
        .collect()
}

fn bound_keys(
    subject: &FormulaSubject<'_>,
    parsed: &LocatedTemplate,
    name: &str,
) -> Vec<(String, Place)> {
    let binds = |target| {
        let mut bound = std::collections::HashSet::new();
        targets(target, &mut bound);
        bound.contains(name)
    };
    let mut found = Vec::new();
    for stmt in parsed.statements() {
        match &stmt.kind {
            StmtKind::Set { target, value }
                if binds(target) && matches!(value.kind, ExprKind::Dict(_)) =>
            {
                found.extend(keys(subject, parsed, value));
            }
            StmtKind::Load { target, body, .. } if binds(target) => {
                let texts = spans_of_text(body);
                let place = |start, end| Place {
                    start,
                    end,
                    ..parsed.place(stmt.span)
                };
                found.extend(
                    top_keys(&parsed.tree.source, &texts)
                        .into_iter()
                        .map(|(key, start, end)| (key, place(start, end))),
                );
            }
            StmtKind::ImportData {
                target, template, ..
            } if binds(target) => {
                let path = text_of(parsed, template).map(|path| parsed.beside(&path));
                let Some(file) = path.and_then(|path| subject.files.get(&path)) else {
                    continue;
                };
                let texts = match subject.templates.get(&file.path) {
                    None => vec![(0, file.text.len())],
                    Some(tree) => spans_of_text(tree.statements()),
                };
                let all = top_keys(&file.text, &texts);
                found.extend(
                    all.into_iter()
                        .map(|(key, start, end)| (key, file.place(start, end))),
                );
            }
            _ => {}
        }
    }
    found
}

/// The keys of block YAML that are indented least, with their places.
fn top_keys(source: &str, texts: &[(usize, usize)]) -> Vec<(String, usize, usize)> {
    let mut found: Vec<(usize, String, usize, usize)> = Vec::new();
    let mut start = 0;
    for line in source.split_inclusive('\n') {
        let at = start;
        start += line.len();
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        let is_text = texts
            .iter()
            .any(|(from, to)| (*from..*to).contains(&(at + indent)));
        let Some((key, _)) = trimmed
            .split_once(':')
            .filter(|(_, rest)| rest.is_empty() || rest.starts_with(char::is_whitespace))
        else {
            continue;
        };
        if !is_text || key.is_empty() || key.starts_with(['#', '-', '{', '}']) || key.contains("{{")
        {
            continue;
        }
        let name = key.trim().trim_matches(['"', '\'']).to_owned();
        let from = at + indent + usize::from(key.starts_with(['"', '\'']));
        let end = from + name.len();
        found.push((indent, name, from, end));
    }
    let least = found
        .iter()
        .map(|(indent, ..)| *indent)
        .min()
        .unwrap_or_default();
    found
        .into_iter()
        .filter(|(indent, ..)| *indent == least)
        .map(|(_, name, from, end)| (name, from, end))
        .collect()
}
