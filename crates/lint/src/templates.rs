//! The syntax trees of a formula's templates.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::convert::Infallible;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use mapstack::loader::{Fetched, SaltPath};
use mapstack::value::{Str, Value};
use mapstack::{Engine, ImportSite, Place, Survey};
use mapstack_salt_jinja::{
    Node, Syntax,
    ast::{Expr, ExprKind, Span, Stmt, StmtKind, Target, Template},
    bound, compile, visit,
};

use crate::origins::text_of;

/// The character in place of a tag. It is neither a part of a word nor a blank.
const FILLER: char = '\u{0}';

/// The templates that a survey read, by their paths on the file server.
#[derive(Default)]
pub(crate) struct Templates(BTreeMap<String, LocatedTemplate>);

/// A template and where it comes from.
pub(crate) struct LocatedTemplate {
    /// From the file server's root.
    pub path: String,
    /// The name by which people open it.
    pub shown: String,
    pub tree: Arc<Template>,
    /// Results that are needed often, computed on demand.
    words: OnceLock<BTreeSet<String>>,
    bound: OnceLock<HashSet<String>>,
    loaded: OnceLock<Vec<String>>,
}

impl Templates {
    /// Read the templates of a survey again, as trees.
    pub fn read(engine: &Engine, saltenv: &str, survey: &Survey) -> Self {
        let read = |path: &String| {
            let fetched = engine
                .files()
                .fetch(&SaltPath::from_relative(path), saltenv);
            let Ok(Fetched::Found { on_disk, bytes }) = fetched else {
                return None;
            };
            let text = std::str::from_utf8(&bytes).ok()?;
            let parsed = LocatedTemplate::of(path.clone(), on_disk.display().to_string(), text)?;
            Some((path.clone(), parsed))
        };
        Templates(survey.templates.iter().filter_map(read).collect())
    }

    pub fn get(&self, path: &str) -> Option<&LocatedTemplate> {
        self.0.get(path)
    }

    /// A template and those that it loads, directly or not, except those that `is_left_out`.
    pub fn read_from<'t>(
        &'t self,
        path: &str,
        imports: &'t [ImportSite],
        is_left_out: impl Fn(&str) -> bool,
    ) -> Vec<&'t LocatedTemplate> {
        let mut all: Vec<&LocatedTemplate> = self.get(path).into_iter().collect();
        let mut read = 0;
        while let Some(parsed) = all.get(read).copied() {
            read += 1;
            let own = imports
                .iter()
                .filter(|site| site.place.file == parsed.shown);
            let imported = own.filter_map(|site| site.template.as_deref());
            let loaded = parsed.loaded().iter().map(String::as_str);
            for path in loaded.chain(imported).filter(|path| !is_left_out(path)) {
                let is_known = all.iter().any(|known| known.path == path);
                all.extend(self.get(path).filter(|_| !is_known));
            }
        }
        all
    }

    pub fn all(&self) -> impl Iterator<Item = &LocatedTemplate> {
        self.0.values()
    }

    /// The paths of the templates that others load.
    pub fn loaded(&self) -> BTreeSet<String> {
        self.all()
            .flat_map(LocatedTemplate::loaded)
            .filter(|path| self.get(path).is_some())
            .cloned()
            .collect()
    }

    /// The template that has a place.
    pub fn at(&self, place: &Place) -> Option<&LocatedTemplate> {
        self.all().find(|parsed| {
            parsed.shown == place.file || place.file == format!("salt://{}", parsed.path)
        })
    }
}

impl LocatedTemplate {
    /// A template by its path, the name by which a person opens it, and its text; nothing if it does not parse.
    pub fn of(path: String, shown: String, text: &str) -> Option<Self> {
        let name = Str::from(path.as_str());
        let tree = compile(Some(&name), text.into(), &Syntax::default()).ok()?;
        let (words, bound, loaded) = Default::default();
        Some(LocatedTemplate {
            path,
            shown,
            tree,
            words,
            bound,
            loaded,
        })
    }

    /// Visit every statement and expression.
    pub fn visit<'t>(&'t self, mut see: impl FnMut(Node<'t>)) {
        let walked: Result<(), Infallible> = visit(&self.tree, &mut |node, _| {
            see(node);
            Ok(())
        });
        match walked {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }

    /// True if an expression names a variable that the template itself binds there.
    pub fn binds_at(&self, name: &str, span: Span) -> bool {
        self.source(span).contains(name)
            && bound(&self.tree, name)
                .iter()
                .any(|part| part.contains(&span.start))
    }

    /// The paths of the files that the template loads by a literal name.
    pub fn loaded(&self) -> &[String] {
        self.loaded.get_or_init(|| self.find_loaded())
    }

    fn find_loaded(&self) -> Vec<String> {
        let mut loaded = Vec::new();
        for stmt in self.statements() {
            let (StmtKind::Include {
                template: named, ..
            }
            | StmtKind::Import {
                template: named, ..
            }
            | StmtKind::FromImport {
                template: named, ..
            }
            | StmtKind::ImportData {
                template: named, ..
            }) = &stmt.kind
            else {
                continue;
            };
            let names = match &named.kind {
                ExprKind::List(names) | ExprKind::Tuple(names) => names.as_slice(),
                _ => std::slice::from_ref(named),
            };
            loaded.extend(
                names
                    .iter()
                    .filter_map(|name| text_of(self, name))
                    .map(|name| self.beside(&name)),
            );
        }
        loaded
    }

    /// The path of a file, by the name that the template has for it.
    pub fn beside(&self, name: &str) -> String {
        match (name.strip_prefix("./"), self.path.rsplit_once('/')) {
            (Some(name), Some((folder, _))) => format!("{folder}/{name}"),
            _ => name.to_owned(),
        }
    }

    /// Every expression.
    pub fn expressions(&self) -> Vec<&Expr> {
        let mut found = Vec::new();
        self.visit(|node| {
            if let Node::Expr(e) = node {
                found.push(e);
            }
        });
        found
    }

    /// Every statement.
    pub fn statements(&self) -> Vec<&Stmt> {
        let mut found = Vec::new();
        self.visit(|node| {
            if let Node::Stmt(stmt) = node {
                found.push(stmt);
            }
        });
        found
    }

    pub fn source(&self, span: Span) -> &str {
        self.tree
            .source
            .get(span.start as usize..span.end as usize)
            .unwrap_or_default()
    }

    pub fn place(&self, span: Span) -> Place {
        let (start, end) = (span.start as usize, span.end as usize);
        Place {
            file: self.shown.clone(),
            source: self.tree.source.clone(),
            start,
            end,
        }
    }

    /// The texts of the template outside of comments: the literals of its expressions, and the text around
    /// tags without comments that begin with `#`.
    pub fn texts(&self) -> Vec<String> {
        let mut said = self.literals();
        said.push(without_comments(&self.text()));
        said
    }

    /// The text around tags and comments, with fillers in their place, so that a comment after an expression
    /// is still found.
    pub fn text(&self) -> String {
        let source = &*self.tree.source;
        let mut text = String::with_capacity(source.len());
        let mut next = 0;
        let fill = |text: &mut String, from: usize, to: usize| {
            let skipped = source.get(from..to).unwrap_or_default();
            text.extend(skipped.chars().map(|c| if c == '\n' { c } else { FILLER }));
        };
        for stmt in self.statements() {
            let (start, end) = (stmt.span.start as usize, stmt.span.end as usize);
            if matches!(stmt.kind, StmtKind::Text(_)) && start >= next {
                fill(&mut text, next, start);
                text.push_str(source.get(start..end).unwrap_or_default());
                next = end;
            }
        }
        text
    }

    /// The literals of the template's expressions, without the keys of mappings, and the names of its
    /// attributes and arguments.
    pub fn literals(&self) -> Vec<String> {
        let expressions = self.expressions();
        let dicts = expressions.iter().filter_map(|e| match &e.kind {
            ExprKind::Dict(entries) => Some(entries),
            _ => None,
        });
        let keys: HashSet<u32> = dicts.flatten().map(|(key, _)| key.span.start).collect();
        let mut said = Vec::new();
        for e in expressions {
            match &e.kind {
                ExprKind::Const(Value::Str(text)) if !keys.contains(&e.span.start) => {
                    said.push(text.to_string());
                }
                ExprKind::Attr(_, name) => said.push(name.to_string()),
                ExprKind::Call { args, .. } => {
                    said.extend(args.named.iter().map(|(name, _)| name.to_string()));
                }
                _ => {}
            }
        }
        said
    }

    /// The words of the template outside of comments.
    pub fn words(&self) -> &BTreeSet<String> {
        self.words
            .get_or_init(|| words(self.texts().iter().map(String::as_str)))
    }

    /// The names that the template binds, which another one may import.
    pub fn bound(&self) -> &HashSet<String> {
        self.bound
            .get_or_init(|| self.find_bound().into_iter().map(str::to_owned).collect())
    }

    /// The number of statements that bind a name, even if only for their own body.
    pub fn binds(&self, name: &str) -> usize {
        let binds = |stmt: &&&Stmt| {
            let mut bound = HashSet::new();
            match &stmt.kind {
                StmtKind::Set { target, .. }
                | StmtKind::SetBlock { target, .. }
                | StmtKind::Load { target, .. }
                | StmtKind::ImportData { target, .. } => names(target, &mut bound),
                StmtKind::For(f) => names(&f.target, &mut bound),
                StmtKind::With { bindings, .. } => {
                    bindings
                        .iter()
                        .for_each(|(target, _)| names(target, &mut bound));
                }
                StmtKind::Import { target, .. } => drop(bound.insert(&**target)),
                StmtKind::FromImport { names, .. } => {
                    bound.extend(names.iter().map(|(_, here)| &**here));
                }
                StmtKind::Macro(m) | StmtKind::CallBlock { caller: m, .. } => {
                    bound.insert(&*m.name);
                    bound.extend(m.params.iter().map(|param| &*param.name));
                }
                _ => {}
            }
            bound.contains(name)
        };
        self.statements().iter().filter(binds).count()
    }

    fn find_bound(&self) -> HashSet<&str> {
        let mut bound = HashSet::new();
        for stmt in self.statements() {
            match &stmt.kind {
                StmtKind::Set { target, .. }
                | StmtKind::SetBlock { target, .. }
                | StmtKind::Load { target, .. }
                | StmtKind::ImportData { target, .. } => names(target, &mut bound),
                StmtKind::Import { target, .. } => drop(bound.insert(&**target)),
                StmtKind::FromImport { names, .. } => {
                    bound.extend(names.iter().map(|(_, here)| &**here));
                }
                StmtKind::Macro(m) => drop(bound.insert(&*m.name)),
                _ => {}
            }
        }
        bound
    }
}

/// The names of a target.
pub(crate) fn names<'t>(target: &'t Target, found: &mut HashSet<&'t str>) {
    match target {
        Target::Name(name) | Target::Attribute(name, _) => drop(found.insert(&**name)),
        Target::Tuple(targets) => targets.iter().for_each(|target| names(target, found)),
    }
}

/// A text without comments: a # at the start of a line or after a blank, and the rest of the line.
pub(crate) fn without_comments(text: &str) -> String {
    let line = |line: &str| {
        let starts = |at: usize| {
            line[..at]
                .chars()
                .next_back()
                .is_none_or(char::is_whitespace)
        };
        let end = line
            .match_indices('#')
            .map(|(at, _)| at)
            .find(|at| starts(*at))
            .unwrap_or(line.len());
        line[..end].to_owned()
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The text of a file without its comments; `None` for documentation and for files whose comments are
/// unknown.
pub(crate) fn text_without_comments(path: &str, text: &str) -> Option<String> {
    let extension = Path::new(path).extension()?.to_str()?;
    match extension {
        // A template that does not parse has no tree.
        "jinja" | "jinja2" | "j2" | "sls" | "yaml" | "yml" => {
            Some(without_comments(&without_jinja_comments(text)))
        }
        "json" | "py" | "mako" | "tera" => Some(without_comments(text)),
        _ => None,
    }
}

/// A text without `{# … #}`. A comment that is not closed extends to the end.
fn without_jinja_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("{#") {
        kept.push_str(before);
        rest = comment.split_once("#}").map_or("", |(_, rest)| rest);
    }
    kept + rest
}

/// The words of texts that can be names of keys.
pub(crate) fn words<'t>(texts: impl IntoIterator<Item = &'t str>) -> BTreeSet<String> {
    let texts = texts.into_iter();
    let of = |text: &'t str| text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    texts
        .flat_map(of)
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}
