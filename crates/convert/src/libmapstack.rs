//! Formulas that carry `libmapstack.jinja`.

use std::collections::BTreeMap;

use mapstack::value::{Key, Str, Value};
use mapstack::yaml::{Limits, Lines, load, load_marked};
use mapstack::{Error, ErrorKind, Result};
use mapstack_salt_jinja::{
    Node,
    ast::{Expr, ExprKind, StmtKind},
    visit,
};

use crate::edit::EntryLines;
use crate::formula::OF_MAPS;
use crate::libraries::remove_unused;
use crate::proposal::{FormulaKind, Left};
use crate::source::{built_in, modern, pillar_keys, sub_key};
use crate::template::{FormulaTemplate, text};
use crate::values::HEADER;
use crate::{Formula, Proposal};

/// The file with a formula's sources.
const META: &str = "parameters/map_jinja.yaml";

/// The file that keeps what users may set in pillars.
const META_TEMPLATE: &str = "parameters/map_jinja.yaml.jinja";

/// The proposal for a formula of libmapstack.
pub(crate) fn propose(formula: &Formula, map: &FormulaTemplate) -> Result<Proposal> {
    let in_defaults = sources_in_defaults(formula, map);
    let Some(in_map) = in_defaults.clone().or_else(|| Lists::of(map).sources()) else {
        let message = format!("salt://{}/map.jinja has no list of sources", formula.name());
        return Err(Error::new(ErrorKind::Unsupported, message)
            .note("`convert` knows maps that begin with a list such as [\"Y:G@os_family\", …]"));
    };
    let mut proposal = Proposal {
        kind: FormulaKind::Libmapstack,
        variable: "mapdata".into(),
        ..Proposal::default()
    };
    let map_text = "{#- -*- coding: utf-8 -*- #}
{#- vim: ft=jinja #}

\
         {%- set mapdata = salt[\"map.data\"](tpldir) %}
";
    proposal = proposal.writing("map.jinja", map_text);
    proposal
        .done
        .push("map.jinja calls map.data, and merges nothing itself".into());
    if in_defaults.is_some() {
        drop_sources_from_defaults(formula, &mut proposal);
    }
    let sources = sources(formula, &mut proposal, &in_map)?;
    proposal.keys = sources.iter().filter_map(|one| pillar_keys(one)).collect();
    keep_options_of_pillars(formula, &mut proposal);
    layers(formula, &mut proposal);
    sub_keys(formula, &sources, &mut proposal);
    remove_unused(formula, &mut proposal, &OF_MAPS)?;
    if formula.has("post-map.jinja") {
        proposal
            .done
            .push("post-map.jinja stays: map.data runs it".into());
    }
    Ok(proposal.without_same(formula))
}

/// True for a map that merges the layers of `parameters/` itself, as formulas did before there was libmapstack.
pub(crate) fn is_inlined(formula: &Formula, map: &FormulaTemplate) -> bool {
    let lists = Lists::of(map);
    let has_names = |list: &Vec<String>| list.iter().any(|one| one == CONFIG_GET);
    formula.has("parameters/defaults.yaml") && lists.set.iter().any(|(_, list)| has_names(list))
}

/// The layer that every minion has.
const DEFAULTS: &str = "parameters/defaults.yaml";

/// The sources that such a map reads from its defaults, where they are named there.
fn sources_in_defaults(formula: &Formula, map: &FormulaTemplate) -> Option<Vec<String>> {
    if !is_inlined(formula, map) {
        return None;
    }
    let defaults = load(formula.text(DEFAULTS)?).ok()?;
    let mut value = &defaults;
    for key in SOURCES {
        value = value.as_map()?.get(key)?;
    }
    let names = value.as_list()?.iter();
    let sources = names.map(|name| Some(of_inlined(name.as_str()?, formula.name())));
    sources.collect()
}

/// The keys of the sources in such a map's defaults.
const SOURCES: [&str; 3] = ["values", "map_jinja", "sources"];

/// Take the sources out of the defaults, if they can go without another line: map.data reads them elsewhere.
fn drop_sources_from_defaults(formula: &Formula, proposal: &mut Proposal) {
    let key = &SOURCES[..2];
    let without = formula.text(DEFAULTS).and_then(|text| {
        let path = key.iter().map(|key| Key::from(*key)).collect();
        Some(EntryLines::of(text)?.without(&[path])?.0)
    });
    if let Some(text) = without {
        *proposal = std::mem::take(proposal).writing(DEFAULTS, &text);
    }
}

/// The source in such a map that is the formula's own configuration.
const CONFIG_GET: &str = "config_get";

/// A source of such a map: what it looks up by `config.get`.
fn of_inlined(source: &str, formula: &str) -> String {
    match source {
        CONFIG_GET => format!("C@{formula}"),
        "config_get_lookup" => format!("C@{formula}:lookup"),
        other => format!("Y!C@{other}"),
    }
}

/// The lists of texts that a template sets.
struct Lists<'f> {
    formula: &'f str,
    set: Vec<(Str, Vec<String>)>,
}

impl<'f> Lists<'f> {
    fn of(map: &'f FormulaTemplate) -> Self {
        let mut lists = Lists {
            formula: &map.formula,
            set: Vec::new(),
        };
        let _: std::result::Result<(), ()> = visit(&map.template, &mut |node, _| {
            if let Node::Stmt(stmt) = node
                && let StmtKind::Set { target, value } = &stmt.kind
                && let mapstack_salt_jinja::ast::Target::Name(name) = target
                && let Some(list) = lists.list(value)
            {
                lists.set.push((name.clone(), list));
            }
            Ok(())
        });
        lists
    }

    fn list(&self, expr: &Expr) -> Option<Vec<String>> {
        match &expr.kind {
            ExprKind::List(items) => items.iter().map(|item| self.text(item)).collect(),
            _ => None,
        }
    }

    fn text(&self, expr: &Expr) -> Option<String> {
        text(expr, &|name| {
            (name == "tplroot").then(|| self.formula.to_owned())
        })
    }

    /// The list that has definitions of sources.
    fn sources(self) -> Option<Vec<String>> {
        let is_source = |one: &String| one.contains('@');
        let mut lists = self.set.into_iter().map(|(_, list)| list);
        let found =
            lists.find(|list| list.iter().any(|one| is_source(one) || one == CONFIG_GET))?;
        Some(match found.iter().any(is_source) {
            true => found,
            false => found
                .iter()
                .map(|one| of_inlined(one, self.formula))
                .collect(),
        })
    }
}

/// The sources of a formula as `map.data` takes them, in `map_jinja.yaml` where they are others than the default.
fn sources(formula: &Formula, proposal: &mut Proposal, in_map: &[String]) -> Result<Vec<String>> {
    let modern_or_same = |one: &String| modern(one).unwrap_or_else(|| one.clone());
    if let Some(text) = formula.text(META) {
        let (text, sources) = rewritten(text).map_err(|why| {
            let message = format!("salt://{}/{META}: {why}", formula.name());
            Error::new(ErrorKind::Yaml, message)
        })?;
        if let Some(text) = text {
            *proposal = std::mem::take(proposal).writing(META, &text);
            proposal.done.push(format!("{META}: `Y:` is written `Y!`"));
        }
        if let Some(sources) = sources {
            return Ok(sources.iter().map(modern_or_same).collect());
        }
    }
    let sources: Vec<String> = in_map.iter().map(modern_or_same).collect();
    if sources == built_in(formula.name()) {
        return Ok(sources);
    }
    match formula.text(META) {
        Some(_) => proposal.left.push(Left {
            what: META.into(),
            why: "it names no sources, and those of map.jinja are not map.data's default".into(),
            place: None,
        }),
        None => {
            let list: String = sources.iter().map(|one| format!("    - {one}\n")).collect();
            let text = format!("{HEADER}---\nvalues:\n  sources:\n{list}");
            *proposal = std::mem::take(proposal).writing(META, &text);
            let built_in = built_in(formula.name());
            let added = sources.iter().filter(|one| !built_in.contains(one));
            let added: Vec<&str> = added.map(String::as_str).collect();
            let why = match added.is_empty() {
                true => "in the order that map.jinja had".to_owned(),
                false => format!(
                    "with {}, which map.data does not have by default",
                    added.join(", ")
                ),
            };
            proposal.done.push(format!("{META}: the sources, {why}"));
        }
    }
    Ok(sources)
}

/// A file of sources with modern definitions, if it changes, and the sources that it names as they were.
fn rewritten(
    text: &str,
) -> std::result::Result<(Option<String>, Option<Vec<String>>), mapstack::yaml::Error> {
    let (value, marks) = load_marked(text, &Limits::default())?;
    let lines = Lines::of(text);
    let values = value.as_map().and_then(|map| map.get("values"));
    let sources = values.and_then(|values| values.as_map()?.get("sources"));
    let Some(Value::List(sources)) = sources else {
        return Ok((None, None));
    };
    let path = [Key::from("values"), Key::from("sources")];
    let marks = path
        .iter()
        .try_fold((&value, &marks), |(value, marks), key| {
            let map = value.as_map()?;
            let at = map.index_of(key)?;
            Some((map.get(key)?, marks.child(at)?))
        });
    let mut new = text.to_owned();
    let found: Vec<&str> = sources.iter().filter_map(Value::as_str).collect();
    for (at, one) in found.iter().enumerate().rev() {
        let place = marks
            .and_then(|(_, marks)| marks.child(at))
            .map(mapstack::yaml::Marks::mark);
        if let (Some(modern), Some(mark)) = (modern(one), place) {
            let start = lines.offset(text, mark);
            let end = text[start..]
                .find('\n')
                .map_or(text.len(), |end| start + end);
            let written = text[start..end].replacen(one, &modern, 1);
            new.replace_range(start..end, &written);
        }
    }
    let named = found.iter().map(|one| (*one).to_owned()).collect();
    Ok(((new != text).then_some(new), Some(named)))
}

/// Keep the options of merging that libmapstack reads from the formula's pillar.
fn keep_options_of_pillars(formula: &Formula, proposal: &mut Proposal) {
    if formula.has(META_TEMPLATE) {
        proposal.left.push(Left {
            what: META_TEMPLATE.into(),
            why: "it stays as it is; pillars can no longer set the strategy of merging".into(),
            place: None,
        });
        return;
    }
    let name = formula.name();
    let text = format!(
        "{{#- -*- coding: utf-8 -*- #}}\n{{#- vim: ft=yaml.jinja #}}\n\
         {{#- Pillars may set `{name}:strategy` and `{name}:merge_lists`, as with libmapstack #}}\n\
         ---\nvalues:\n  \
         config_get_strategy: {{{{ salt[\"config.get\"](tplroot ~ \":strategy\") | json }}}}\n  \
         default_merge_lists: {{{{ salt[\"config.get\"](tplroot ~ \":merge_lists\", False) | to_bool | json }}}}\n"
    );
    *proposal = std::mem::take(proposal).writing(META_TEMPLATE, &text);
    proposal.advice.push(format!(
        "{META_TEMPLATE} reads {name}:strategy and {name}:merge_lists, as libmapstack did: remove it if no pillar sets them"
    ));
}

/// Layers as `map.data` takes them: options as booleans, and values in each.
fn layers(formula: &Formula, proposal: &mut Proposal) {
    let is_layer = |path: &&str| {
        let is_data = path.ends_with(".yaml");
        path.starts_with("parameters/") && is_data && *path != META
    };
    let paths: Vec<&str> = formula.paths().filter(is_layer).collect();
    let (mut booleans, mut filled) = (Vec::new(), Vec::new());
    for path in paths {
        let written = proposal.write.get(path).cloned();
        let Some(text) = written.or_else(|| formula.text(path).map(str::to_owned)) else {
            continue;
        };
        let Ok((value, marks)) = load_marked(&text, &Limits::default()) else {
            continue;
        };
        match &value {
            Value::None => {
                let text = format!("{}values: {{}}\n", ended(&text));
                *proposal = std::mem::take(proposal).writing(path, &text);
                filled.push(path.to_owned());
            }
            Value::Map(map) => {
                let option = map.index_of("merge_lists").and_then(|at| {
                    let (_, value) = map.entry_at(at)?;
                    Some((value.as_str()?, marks.child(at)?.mark()))
                });
                if let Some((written, mark)) = option {
                    let start = Lines::of(&text).offset(&text, mark);
                    let end = text[start..]
                        .find('\n')
                        .map_or(text.len(), |end| start + end);
                    let is_true = matches!(&*written.to_lowercase(), "yes" | "true" | "1" | "on");
                    let line = quoted_replaced(&text[start..end], written, is_true);
                    let mut new = text.clone();
                    new.replace_range(start..end, &line);
                    *proposal = std::mem::take(proposal).writing(path, &new);
                    booleans.push(path.to_owned());
                }
            }
            _ => {}
        }
    }
    if !booleans.is_empty() {
        let done = format!("merge_lists is a boolean in {}", booleans.join(", "));
        proposal.done.push(done);
    }
    if !filled.is_empty() {
        let done = format!(
            "`values: {{}}` in {}, which map.data refuses without",
            filled.join(", ")
        );
        proposal.done.push(done);
    }
}

/// A line that begins with a text in quotes, with a boolean in its place.
fn quoted_replaced(line: &str, written: &str, is_true: bool) -> String {
    let forms = [
        format!("'{written}'"),
        format!("\"{written}\""),
        written.to_owned(),
    ];
    let form = forms.iter().find(|form| line.starts_with(form.as_str()));
    let rest = form.map_or(line, |form| &line[form.len()..]);
    format!("{is_true}{rest}")
}

fn ended(text: &str) -> String {
    let text = text.trim_end_matches("...\n");
    match text.is_empty() || text.ends_with('\n') {
        true => text.to_owned(),
        false => format!("{text}\n"),
    }
}

/// libmapstack makes the key of a `SUB` source even if nothing is found: it belongs to the defaults.
fn sub_keys(formula: &Formula, sources: &[String], proposal: &mut Proposal) {
    let keys: BTreeMap<&str, ()> = sources
        .iter()
        .filter_map(|one| Some((sub_key(one)?, ())))
        .collect();
    let written = proposal.write.get(DEFAULTS).cloned();
    let Some(text) = written.or_else(|| formula.text(DEFAULTS).map(str::to_owned)) else {
        return;
    };
    let Ok((value, marks)) = load_marked(&text, &Limits::default()) else {
        return;
    };
    let values = value.as_map().and_then(|map| {
        let at = map.index_of("values")?;
        Some((map.get("values")?.as_map()?, marks.child(at)?))
    });
    let Some((values, marks)) = values else {
        return;
    };
    let missing: Vec<&str> = keys
        .into_keys()
        .filter(|key| !values.contains_key(*key))
        .collect();
    let first = marks.key(0);
    if let (false, Some(first)) = (missing.is_empty(), first) {
        let at = Lines::of(&text).offset(&text, first);
        let mut line = start_of_line(&text, at);
        let pad = &text[line..at];
        if !pad.bytes().all(|byte| byte == b' ') {
            return;
        }
        // The comment above the first key stays with it.
        while text[..line].ends_with('\n') {
            let above = start_of_line(&text, line - 1);
            let is_comment = text[above..line].trim_start().starts_with('#');
            if !is_comment {
                break;
            }
            line = above;
        }
        let added: String = missing
            .iter()
            .map(|key| format!("{pad}{key}: {{}}\n"))
            .collect();
        let text = format!("{}{added}{}", &text[..line], &text[line..]);
        *proposal = std::mem::take(proposal).writing(DEFAULTS, &text);
        proposal.done.push(format!(
            "{DEFAULTS} has {}, which libmapstack made even if no pillar did",
            missing.join(", ")
        ));
    }
}

fn start_of_line(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |at| at + 1)
}
