//! The statements of a map besides its tables.

use std::collections::BTreeSet;

use mapstack_salt_jinja::{
    Node,
    ast::{ExprKind, Span, Stmt, StmtKind, Target},
    visit,
};

use super::imports::Imports;
use super::reader::{Bound, KnownNames, Main, Reader};
use super::stop::Obstacle;
use crate::template::FormulaTemplate;

/// The statements of a map that are not tables.
pub(crate) struct OtherStatements {
    /// The lines for editors at the top of the map.
    pub header: String,
    /// The statements, without those whose meaning is in the tables.
    pub text: String,
    /// True if there is anything to run.
    pub is_code: bool,
    /// True if they have to stay in the map: others import what they set.
    pub stays: bool,
    /// Statements that they need again.
    pub needs: Vec<String>,
    /// The comments, if there is nothing else.
    pub remarks: String,
    /// The lines of the comments that are gone with the tables below them.
    pub comments: Vec<usize>,
}

impl OtherStatements {
    pub fn of(reader: &Reader<'_>, main: &Main, imports: &Imports) -> KnownNames<Self> {
        let is_read = |stmt: &Stmt| reader.read.iter().any(|of| of.start == stmt.span.start);
        let kept = |stmt: &&Stmt| !is_read(stmt);
        let kept: Vec<&Stmt> = reader.map.template.body.iter().filter(kept).collect();
        // A name that is set and never used has no effect.
        let is_idle = |stmt: &Stmt| match &stmt.kind {
            StmtKind::Text(_) => true,
            StmtKind::Set {
                target: Target::Name(name),
                ..
            } => {
                !imports.as_module
                    && !imports.has(name)
                    && !main.aliases.iter().any(|alias| **alias == **name)
            }
            _ => false,
        };
        let is_code = !kept.iter().all(|stmt| is_idle(stmt));
        let mut rest = OtherStatements {
            header: header(reader.map.source()),
            text: String::new(),
            is_code,
            stays: false,
            needs: Vec::new(),
            remarks: String::new(),
            comments: Vec::new(),
        };
        let (text, comments) = without(reader, rest.header.len());
        rest.text = crate::values::trimmed(&text);
        rest.comments = comments;
        let is_text = |stmt: &&Stmt| matches!(stmt.kind, StmtKind::Text(_));
        if rest.text.contains("{#") && kept.iter().all(is_text) {
            rest.remarks.clone_from(&rest.text);
        }
        let set: BTreeSet<String> = kept.iter().flat_map(|stmt| set_by(stmt)).collect();
        let rebinds = main.aliases.iter().any(|alias| set.contains(alias));
        rest.stays = imports.as_module || rebinds || set.iter().any(|name| imports.has(name));
        rest.of_names(reader, main)?;
        rest.of_imports(reader, main, imports)?;
        rest.needs
            .sort_by_key(|name| reader.order.iter().position(|known| known == name));
        rest.needs.dedup();
        Ok(rest)
    }

    /// The names that the statements use. Texts and look-ups can be set again; tables are gone.
    fn of_names(&mut self, reader: &Reader<'_>, main: &Main) -> KnownNames<()> {
        let used = used_names(reader.map, &reader.read);
        for name in &reader.order {
            let is_used = used.contains(name) && !main.aliases.contains(name);
            let Some(bound) = reader.names.get(name).filter(|_| is_used) else {
                continue;
            };
            match bound {
                Bound::Text(_) | Bound::Source(_) => self.needs.push(name.clone()),
                _ => {
                    if let Some(stop) = reader.unread.get(name) {
                        return Err(stop.clone());
                    }
                    let place = reader
                        .set_at
                        .get(name)
                        .map_or(Span { start: 0, end: 1 }, |stmt| stmt.span);
                    let why = format!(
                        "the rest of the map uses `{name}`, which is a table or part of one"
                    );
                    return Err(Obstacle::new(why, place));
                }
            }
        }
        Ok(())
    }

    /// The names that others import. Those that are not layers stay in the map.
    fn of_imports(
        &mut self,
        reader: &Reader<'_>,
        main: &Main,
        imports: &Imports,
    ) -> KnownNames<()> {
        for name in imports.names() {
            let other = match reader.names.get(name) {
                Some(Bound::Layers(number, _)) => *number != main.number,
                Some(Bound::Text(_) | Bound::Source(_)) => {
                    self.stays = true;
                    self.needs.push(name.to_owned());
                    false
                }
                Some(_) => true,
                None => false,
            };
            if other {
                let place = reader
                    .set_at
                    .get(name)
                    .map_or(Span { start: 0, end: 1 }, |stmt| stmt.span);
                let why = format!("it exports two maps, `{}` and `{name}`", main.name);
                return Err(Obstacle::new(why, place));
            }
        }
        Ok(())
    }
}

/// The names that statements read which are not in the tables.
fn used_names(map: &FormulaTemplate, read: &[Span]) -> BTreeSet<String> {
    let is_inside = |at: u32| read.iter().any(|span| span.start <= at && at < span.end);
    let mut names = BTreeSet::new();
    let _: std::result::Result<(), ()> = visit(&map.template, &mut |node, _| {
        if let Node::Expr(expr) = node
            && let ExprKind::Name(name) = &expr.kind
            && !is_inside(expr.span.start)
        {
            names.insert(name.to_string());
        }
        Ok(())
    });
    names
}

/// The names that a statement sets for those that import the template.
fn set_by(stmt: &Stmt) -> Vec<String> {
    let mut names = Vec::new();
    add_set(stmt, &mut names);
    names
}

fn add_set(stmt: &Stmt, names: &mut Vec<String>) {
    let target = |target: &Target, names: &mut Vec<String>| match target {
        Target::Name(name) => names.push(name.to_string()),
        Target::Tuple(parts) => {
            for part in parts {
                if let Target::Name(name) = part {
                    names.push(name.to_string());
                }
            }
        }
        Target::Attribute(..) => {}
    };
    match &stmt.kind {
        StmtKind::Set { target: to, .. }
        | StmtKind::SetBlock { target: to, .. }
        | StmtKind::Load { target: to, .. }
        | StmtKind::ImportData { target: to, .. } => target(to, names),
        StmtKind::Macro(one) => names.push(one.name.to_string()),
        StmtKind::Import { target, .. } => names.push(target.to_string()),
        StmtKind::FromImport {
            names: imported, ..
        } => {
            names.extend(imported.iter().map(|(_, name)| name.to_string()));
        }
        StmtKind::If { arms, otherwise } => {
            let bodies = arms.iter().flat_map(|(_, body)| body);
            bodies
                .chain(otherwise)
                .for_each(|stmt| add_set(stmt, names));
        }
        _ => {}
    }
}

/// The lines for editors at the top.
fn header(source: &str) -> String {
    let is_mode = |line: &&str| {
        let is_comment = line.starts_with('#') || line.starts_with("{#");
        is_comment && (line.contains("-*-") || line.contains("-* ") || line.contains("vim:"))
    };
    let lines = source.lines().take_while(is_mode);
    lines.map(|line| format!("{line}\n")).collect()
}

/// The source after the header, without the statements that were read and the comments above them, and the lines of those.
fn without(reader: &Reader<'_>, header: usize) -> (String, Vec<usize>) {
    let source = reader.map.source();
    let mut spans: Vec<Span> = reader.read.clone();
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut text = String::new();
    let mut comments = Vec::new();
    let mut done = header.min(source.len());
    for span in spans {
        let (start, end) = (span.start as usize, span.end as usize);
        if start < done {
            continue;
        }
        let between = &source[done..start];
        let kept = without_comments(between);
        let gone = between.get(kept.len()..).unwrap_or_default();
        let lines_before = |at: usize| source[..at].matches('\n').count();
        let begins = gone.match_indices("{#");
        comments.extend(begins.map(|(at, _)| lines_before(done + kept.len() + at) + 1));
        text.push_str(kept);
        // The rest of the line goes with the statement.
        let rest = &source[end..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        done = match rest[blank..].strip_prefix('\n') {
            Some(_) => end + blank + 1,
            None => end,
        };
    }
    text.push_str(source.get(done..).unwrap_or_default());
    (text, comments)
}

/// A text without the comments that it ends with, down to an empty line.
fn without_comments(text: &str) -> &str {
    let mut left = text;
    loop {
        let kept = left.trim_end_matches([' ', '\t']);
        let line = kept.strip_suffix('\n').unwrap_or(kept);
        let line = line.trim_end_matches([' ', '\t']);
        let before = line.strip_suffix("#}");
        match before.and_then(|before| before.rfind("{#")) {
            Some(start) => left = &left[..start],
            None if before.is_some() => return left,
            None => return kept,
        }
    }
}
