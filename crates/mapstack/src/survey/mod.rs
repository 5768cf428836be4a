//! References in the templates of a Salt formula, found without running them: the `salt[...]` functions that they call or
//! ask for, the templates and files that they load, the definitions that they pass to `map.data`.
//!
//! ```rust
//! use mapstack::survey::Survey;
//!
//! let text = "{% from 'web/lib.jinja' import port %}{{ salt['grains.get']('os') }}";
//! let survey = Survey::of(vec!["web/init.sls".into()], |path| {
//!     let found = (path == "web/init.sls").then(|| (path.to_string(), text.as_bytes().into()));
//!     Ok::<_, std::io::Error>(found)
//! });
//! let survey = survey.unwrap();
//! assert_eq!(survey.calls[0].function.as_deref(), Some("grains.get"));
//! assert_eq!(survey.imports[0].template.as_deref(), Some("web/lib.jinja"));
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use mapstack_diagnostic::{Error, ErrorKind, Place};
use mapstack_salt_jinja::{
    Node, Syntax,
    ast::{BinaryOp, Expr, ExprKind, Span, Stmt, StmtKind, Template},
    bound, compile, is_host_filter, visit,
};
use mapstack_value::{Str, Value};

/// The references of the templates in a formula's directory, and of those they load from elsewhere.
#[derive(Debug, Default)]
pub struct Survey {
    /// The templates that were read, as `salt://` paths without the scheme.
    pub templates: BTreeSet<String>,
    /// The uses of `salt[...]` functions, and of filters that inspect the machine, in the order of files and lines.
    pub calls: Vec<CallSite>,
    /// The places where templates ask whether there is a function: `'a.b' in salt`, `salt.get('a.b')` and
    /// `salt['a.b'] is defined`. The calls have the last two as well.
    pub asked: Vec<CallSite>,
    /// The source definitions that templates pass to `map.data` and `map.stack` as literals.
    pub sources: Vec<(Str, Place)>,
    /// The imports of one template by another.
    pub imports: Vec<ImportSite>,
    /// The other places where a template needs a file: a template that it includes or extends, or data.
    pub loads: Vec<LoadSite>,
    /// The places where a template computes the name of the file that it includes, extends or reads.
    pub computed: Vec<Place>,
    /// The errors of templates that Jinja would refuse.
    pub errors: Vec<Error>,
    /// Files that look like templates of another engine, with the reason.
    pub skipped: BTreeMap<String, String>,
}

/// A place where a template refers to a `salt[...]` function.
#[derive(Debug, Clone, PartialEq)]
pub struct CallSite {
    /// The function, such as `grains.get`, or the filter, such as `which`; `None` if the template computes the name.
    pub function: Option<Str>,
    /// The place in the template.
    pub place: Place,
}

/// An import: `{% from … import a, b %}` or `{% import … as module %}`.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportSite {
    /// The imported template, if its name is known without running anything.
    pub template: Option<String>,
    /// The imported names; empty if the template imports the module.
    pub names: Vec<Str>,
    /// The name that the module gets, if the template imports that.
    pub module: Option<Str>,
    /// True if the imported template sees the variables of the importing one.
    pub with_context: bool,
    /// The place of the import.
    pub place: Place,
}

/// A use of a file: `{% include … %}`, `{% extends … %}` or `{% import_yaml … as data %}`, which fails without it.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadSite {
    /// The `salt://` path of the file, without the scheme.
    pub path: String,
    /// The place of the use.
    pub place: Place,
}

impl Survey {
    /// The templates and files that templates import or load, as far as their names are known, and where they do.
    pub fn used_files(&self) -> impl Iterator<Item = (&str, &Place)> {
        let imports = self.imports.iter();
        let imports = imports.filter_map(|site| Some((site.template.as_deref()?, &site.place)));
        let loads = self.loads.iter();
        imports.chain(loads.map(|site| (&*site.path, &site.place)))
    }

    /// The places where templates load a file whose name is only known when they run.
    pub fn computed_loads(&self) -> impl Iterator<Item = &Place> {
        let imports = self.imports.iter();
        let imports = imports.filter(|site| site.template.is_none());
        imports.map(|site| &site.place).chain(&self.computed)
    }

    /// True if a template asks if there is a function.
    #[must_use]
    pub fn asks_for(&self, function: &str) -> bool {
        let mut asked = self.asked.iter();
        asked.any(|site| site.function.as_deref() == Some(function))
    }
}

impl Survey {
    /// Read templates without running them, and those that they load.
    ///
    /// `fetch` returns the name by which people know a file, and its bytes; `None` if it is not served. A missing file
    /// is not an error here: it may be optional, or its import may never run.
    ///
    /// # Errors
    /// The error of `fetch`. Errors in templates are in [`Survey::errors`].
    pub fn of<E>(
        paths: Vec<String>,
        fetch: impl Fn(&str) -> std::result::Result<Option<(String, Arc<[u8]>)>, E>,
    ) -> std::result::Result<Self, E> {
        let mut survey = Survey::default();
        let mut asked: BTreeSet<String> = paths.iter().cloned().collect();
        let mut queue: Vec<String> = paths.into_iter().rev().collect();
        while let Some(path) = queue.pop() {
            let Some((shown, bytes)) = fetch(&path)? else {
                continue;
            };
            let Ok(text) = std::str::from_utf8(&bytes) else {
                continue;
            };
            let file = TemplateFile { path: &path, shown };
            for loaded in file.read(text, &mut survey) {
                if asked.insert(loaded.clone()) {
                    queue.push(loaded);
                }
            }
        }
        Ok(survey)
    }
}

/// A file that may be a template.
struct TemplateFile<'p> {
    path: &'p str,
    shown: String,
}

/// Extensions of files that Salt renders with Jinja.
const JINJA: [&str; 4] = ["jinja", "jinja2", "j2", "sls"];

/// Extensions of other engines' templates.
const OTHERS: [&str; 4] = ["mako", "tera", "erb", "py"];

impl TemplateFile<'_> {
    /// Record the references of the file, and return the templates that it loads.
    fn read(&self, text: &str, survey: &mut Survey) -> Vec<String> {
        let extension = self
            .path
            .rsplit('/')
            .next()
            .and_then(|name| name.rsplit_once('.'))
            .map(|(_, e)| e);
        let is_jinja = extension.is_some_and(|e| JINJA.contains(&e));
        if !is_jinja && (!Syntax::has_marks(text) || extension.is_some_and(|e| OTHERS.contains(&e)))
        {
            return Vec::new();
        }
        if let Some(pipe) = other_pipe(text) {
            survey
                .skipped
                .insert(self.path.into(), format!("it is rendered by {pipe}"));
            return Vec::new();
        }
        let name = Str::from(self.path);
        match compile(Some(&name), text.into(), &Syntax::default()) {
            Ok(template) => {
                survey.templates.insert(self.path.into());
                self.walk(&template, survey)
            }
            Err(e) if is_jinja => {
                let place = e
                    .place
                    .as_ref()
                    .map(|place| self.place(&place.source, place.span));
                let error = Error::new(ErrorKind::Template, e.to_string()).at(place);
                survey.errors.push(match &e.help {
                    Some(help) => error.help(help.clone()),
                    None => error,
                });
                Vec::new()
            }
            // The braces belong to another language.
            Err(e) => {
                survey.skipped.insert(self.path.into(), e.to_string());
                Vec::new()
            }
        }
    }

    fn place(&self, source: &Arc<str>, span: Span) -> Place {
        Place {
            file: self.shown.clone(),
            source: source.clone(),
            start: span.start as usize,
            end: span.end as usize,
        }
    }

    fn walk(&self, template: &Template, survey: &mut Survey) -> Vec<String> {
        let mut walk = TemplateWalk {
            file: self,
            source: &template.source,
            survey,
            salt: Salt {
                rebound: bound(template, "salt"),
            },
            noted: BTreeSet::new(),
            loaded: Vec::new(),
        };
        let walked: std::result::Result<(), std::convert::Infallible> =
            visit(template, &mut |node, _| {
                match node {
                    Node::Expr(expr) => walk.expr(expr),
                    Node::Stmt(stmt) => walk.stmt(stmt),
                }
                Ok(())
            });
        match walked {
            Ok(()) => walk.loaded,
            Err(never) => match never {},
        }
    }

    /// The path of a template, from its name.
    fn fold_path(&self, name: &Expr) -> Option<String> {
        let name = self.fold(name)?;
        let directory = self
            .path
            .rsplit_once('/')
            .map_or("", |(directory, _)| directory);
        if !name.starts_with("./") && !name.starts_with("../") {
            return Some(name);
        }
        if self.is_managed() {
            return None;
        }
        let mut parts: Vec<&str> = directory
            .split('/')
            .filter(|part| !part.is_empty())
            .collect();
        for part in name.split('/') {
            match part {
                "." | "" => {}
                // A path above the root does not exist.
                ".." => drop(parts.pop()?),
                part => parts.push(part),
            }
        }
        Some(parts.join("/"))
    }

    /// True if it is a template of a file that a state manages: its `tpldir` depends on that state (Salt:
    /// `salt.utils.templates.generate_sls_context`).
    fn is_managed(&self) -> bool {
        let mut folders = self.path.split('/').rev().skip(1);
        folders.any(|folder| matches!(folder, "files" | "templates"))
    }

    /// The value of an expression that consists of literals, `tplroot` and `tpldir`.
    fn fold(&self, expr: &Expr) -> Option<String> {
        match &expr.kind {
            ExprKind::Const(Value::Str(text)) => Some(text.to_string()),
            ExprKind::Name(name) => match &**name {
                "tplroot" => self.path.split('/').next().map(String::from),
                "tpldir" | "slspath" if self.is_managed() => None,
                "tpldir" | "slspath" => self
                    .path
                    .rsplit_once('/')
                    .map(|(directory, _)| directory.to_string()),
                _ => None,
            },
            ExprKind::Concat(parts) => parts.iter().map(|part| self.fold(part)).collect(),
            ExprKind::Binary(BinaryOp::Add, a, b) => Some(self.fold(a)? + &self.fold(b)?),
            _ => None,
        }
    }
}

/// A walk over one template.
struct TemplateWalk<'a> {
    file: &'a TemplateFile<'a>,
    source: &'a Arc<str>,
    survey: &'a mut Survey,
    salt: Salt,
    /// The places of `salt` that belong to a recorded use.
    noted: BTreeSet<u32>,
    /// The templates that this one loads.
    loaded: Vec<String>,
}

impl TemplateWalk<'_> {
    fn place(&self, span: Span) -> Place {
        self.file.place(self.source, span)
    }

    fn expr(&mut self, expr: &Expr) {
        let (file, source) = (self.file, self.source);
        let place = |span| file.place(source, span);
        self.survey
            .asked
            .extend(self.salt.asked_for(expr).map(|name| CallSite {
                function: Some(name),
                place: place(expr.span),
            }));
        let given = self.salt.literal_sources(expr);
        let given = given.map(|(text, span)| (text, place(span)));
        self.survey.sources.extend(given);
        let function = self.salt.function(expr, &mut self.noted);
        if let Some(function) = function.or_else(|| host_filter(expr)) {
            self.survey.calls.push(CallSite {
                function,
                place: place(expr.span),
            });
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::FromImport {
                template: from,
                names,
                with_context,
            } => {
                let names = names.iter().map(|(name, _)| name.clone()).collect();
                self.import(from, names, None, *with_context, stmt.span);
            }
            StmtKind::Import {
                template: from,
                with_context,
                target,
            } => {
                let module = Some(target.clone());
                self.import(from, Vec::new(), module, *with_context, stmt.span);
            }
            StmtKind::Include {
                template,
                ignore_missing,
                ..
            } => match &template.kind {
                // Any of them will do.
                ExprKind::List(names) | ExprKind::Tuple(names) => {
                    let paths = names.iter().filter_map(|name| self.file.fold_path(name));
                    self.loaded.extend(paths);
                }
                _ if *ignore_missing => self.loaded.extend(self.file.fold_path(template)),
                _ => self.load(template, stmt.span),
            },
            StmtKind::Extends(template) | StmtKind::ImportData { template, .. } => {
                self.load(template, stmt.span);
            }
            _ => {}
        }
    }

    fn import(
        &mut self,
        from: &Expr,
        names: Vec<Str>,
        module: Option<Str>,
        with_context: bool,
        span: Span,
    ) {
        let path = self.file.fold_path(from);
        self.survey.imports.push(ImportSite {
            template: path.clone(),
            names,
            module,
            with_context,
            place: self.place(span),
        });
        self.loaded.extend(path);
    }

    fn load(&mut self, named: &Expr, span: Span) {
        let place = self.place(span);
        match self.file.fold_path(named) {
            Some(path) => {
                self.loaded.push(path.clone());
                self.survey.loads.push(LoadSite { path, place });
            }
            None => self.survey.computed.push(place),
        }
    }
}

/// The pipe in the first line, if its engine is not Jinja.
fn other_pipe(text: &str) -> Option<&str> {
    let pipe = text
        .lines()
        .next()?
        .strip_prefix("#!")
        .filter(|rest| !rest.starts_with('/'))?
        .trim();
    let engine = pipe.split(['|', ' ']).next()?;
    (!engine.starts_with("jinja")).then_some(pipe)
}

/// The variable `salt` of a template.
struct Salt {
    /// The ranges in which the template binds the name to something else.
    rebound: Vec<Range<u32>>,
}

impl Salt {
    /// The function of `salt` that an expression refers to: `salt['a.b']`, `salt.a.b` or `salt.get('a.b')`. The inner
    /// `None` is a name known only at run time.
    fn function(&self, expr: &Expr, noted: &mut BTreeSet<u32>) -> Option<Option<Str>> {
        let mut note = |salt: &Expr, function| {
            noted.insert(salt.span.start);
            Some(function)
        };
        match &expr.kind {
            ExprKind::Item(object, name) if self.is(object) => match &name.kind {
                ExprKind::Const(Value::Str(name)) => note(object, Some(name.clone())),
                _ => note(object, None),
            },
            ExprKind::Call { callee, args } => match &callee.kind {
                ExprKind::Attr(object, get) if self.is(object) && **get == *"get" => {
                    match args.positional.first().map(|e| &e.kind) {
                        Some(ExprKind::Const(Value::Str(name))) => note(object, Some(name.clone())),
                        _ => note(object, None),
                    }
                }
                _ => None,
            },
            ExprKind::Attr(module, function) => match &module.kind {
                ExprKind::Attr(object, module) if self.is(object) => {
                    note(object, Some(format!("{module}.{function}").into()))
                }
                _ => None,
            },
            // `'a.b' in salt` is a test, not a call.
            ExprKind::Compare(_, rest) => {
                noted.extend(
                    rest.iter()
                        .filter(|(_, e)| self.is(e))
                        .map(|(_, e)| e.span.start),
                );
                None
            }
            ExprKind::Name(_) if self.is(expr) && !noted.contains(&expr.span.start) => Some(None),
            _ => None,
        }
    }

    /// The function that an expression asks for, without calling it.
    fn asked_for(&self, expr: &Expr) -> Option<Str> {
        match &expr.kind {
            ExprKind::Compare(left, rest) => match &left.kind {
                ExprKind::Const(Value::Str(name)) => {
                    rest.iter().any(|(_, e)| self.is(e)).then(|| name.clone())
                }
                _ => None,
            },
            ExprKind::Test { input, .. } => self.function(input, &mut BTreeSet::new()).flatten(),
            ExprKind::Call { .. } => self.function(expr, &mut BTreeSet::new()).flatten(),
            _ => None,
        }
    }

    /// True if an expression is the variable `salt`.
    fn is(&self, expr: &Expr) -> bool {
        let start = expr.span.start;
        matches!(&expr.kind, ExprKind::Name(name) if **name == *"salt")
            && !self.rebound.iter().any(|part| part.contains(&start))
    }

    /// The literal texts in list arguments of `salt['map.data'](…)` and `salt['map.stack'](…)`.
    fn literal_sources<'e>(&self, expr: &'e Expr) -> impl Iterator<Item = (Str, Span)> + use<'e> {
        let args = match &expr.kind {
            ExprKind::Call { callee, args } => {
                let function = self.function(callee, &mut BTreeSet::new()).flatten();
                function
                    .filter(|name| matches!(&**name, "map.data" | "map.stack"))
                    .map(|_| args)
            }
            _ => None,
        };
        let given = args.into_iter().flat_map(|args| {
            args.positional
                .iter()
                .chain(args.named.iter().map(|(_, e)| e))
        });
        given
            .flat_map(|e| match &e.kind {
                ExprKind::List(items) | ExprKind::Tuple(items) => items.as_slice(),
                _ => &[],
            })
            .filter_map(|item| match &item.kind {
                ExprKind::Const(Value::Str(text)) => Some((text.clone(), item.span)),
                _ => None,
            })
    }
}

/// The name of a filter that inspects the machine, which counts as a call.
fn host_filter(expr: &Expr) -> Option<Option<Str>> {
    match &expr.kind {
        ExprKind::Filter { name, .. } if is_host_filter(name) => Some(Some(name.clone())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(files: &[(&str, &str)]) -> Survey {
        let paths = files.iter().map(|(path, _)| (*path).to_string());
        let mut of_formula: Vec<String> = paths.filter(|path| path.starts_with("f/")).collect();
        of_formula.sort();
        let text = |path: &str| files.iter().find(|(name, _)| *name == path);
        let surveyed = Survey::of(of_formula, |path| {
            let found = text(path).map(|(_, text)| (path.to_string(), text.as_bytes().into()));
            Ok::<_, std::convert::Infallible>(found)
        });
        surveyed.unwrap()
    }

    fn calls(template: &str) -> String {
        let called = survey(&[("f/x.jinja", template)]).calls;
        let names: Vec<String> = called
            .iter()
            .map(|c| {
                format!(
                    "{}@{}",
                    c.function.as_deref().unwrap_or("?"),
                    c.place.column()
                )
            })
            .collect();
        names.join(" ")
    }

    #[test]
    fn every_way_to_a_function_is_seen() {
        for (template, expected) in [
            ("{{ salt['a.b']() }}", "a.b@4"),
            ("{{ salt.a.b() }}", "a.b@4"),
            ("{{ salt.get('a.b')() }}", "a.b@4"),
            ("{{ salt['a' ~ '.b']() }}", "?@4"),
            ("{{ salt.get(name)() }}", "?@4"),
            ("{% set f = salt['a.b'] %}", "a.b@12"),
            ("{% if 'a.b' in salt %}{% endif %}", ""),
            ("{{ f(salt) }}", "?@6"),
            ("{{ salt['a.b'](salt['c.d']()) }}", "a.b@4 c.d@16"),
            (
                "{% macro m(x=salt['a.b']()) %}{{ salt.c.d }}{% endmacro %}",
                "a.b@14 c.d@34",
            ),
            (
                "{{ x if salt['a.b']() else salt['c.d']() }}",
                "a.b@9 c.d@28",
            ),
            ("{{ pillar['salt'] }}{{ x.salt.a.b }}", ""),
            ("{{ 'bash' | which | upper }}", "which@4"),
            (
                "{{ salt.a.b() }}{% from tpldir ~ '/map.jinja' import salt with context %}{{ salt.master.x }}{{ f(salt) }}",
                "a.b@4",
            ),
            (
                "{% set salt = salt.a.b() %}{% if 'c.d' in salt %}{% endif %}{{ salt['e.f'] }}",
                "a.b@15",
            ),
            (
                "{% macro m(salt) %}{{ salt.a.b }}{% endmacro %}{{ salt.c.d }}",
                "c.d@51",
            ),
        ] {
            assert_eq!(calls(template), expected, "{template}");
        }
    }

    #[test]
    fn templates_elsewhere_are_followed_where_their_names_are_plain() {
        let found = survey(&[
            (
                "f/map.jinja",
                "{% from tplroot ~ '/lib.jinja' import a, b as c with context %}",
            ),
            (
                "f/lib.jinja",
                "{% import 'g/macros.jinja' as m %}{% include ['none.jinja', './sub/own.jinja'] %}",
            ),
            ("f/sub/own.jinja", "{% extends '../../h/base.jinja' %}"),
            ("f/computed.jinja", "{% include x ~ '.jinja' %}"),
            (
                "g/macros.jinja",
                "{{ salt['g.g']() }}{% import_yaml tplroot ~ '/data.yaml' as d %}",
            ),
            ("g/data.yaml", "{{ salt['g.data']() }}"),
            ("h/base.jinja", "{{ salt['h.h']() }}"),
            ("i/unrelated.jinja", "{{ salt['i.i']() }}"),
        ]);
        let names: Vec<_> = found
            .calls
            .iter()
            .filter_map(|c| c.function.as_deref())
            .collect();
        assert_eq!(names, ["g.g", "g.data", "h.h"]);
        let imports: Vec<_> = found
            .imports
            .iter()
            .map(|i| (i.template.as_deref(), i.names.join(" "), i.with_context))
            .collect();
        let expected = [("g/macros.jinja", "", false), ("f/lib.jinja", "a b", true)];
        assert_eq!(
            imports,
            expected.map(|(path, names, context)| (Some(path), names.to_string(), context))
        );
    }

    #[test]
    fn templates_of_other_engines_are_skipped() {
        let found = survey(&[
            ("f/bad.sls", "a:\n  {% if %}"),
            ("f/other.sls", "#!mako|yaml\n% if x:\n{% bad\n"),
            ("f/shell.sh", "echo ${#array[@]} {% bad"),
            ("f/plain.conf", "no marks"),
            ("f/binary.j2", "{{ 1 }}"),
        ]);
        assert_eq!(found.errors.len(), 1);
        let place = found.errors[0].diagnostic().place.as_ref().unwrap();
        assert_eq!((place.line(), place.column()), (2, 9));
        let skipped: Vec<_> = found.skipped.keys().map(String::as_str).collect();
        assert_eq!(skipped, ["f/other.sls", "f/shell.sh"]);
        assert_eq!(
            found
                .templates
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>(),
            ["f/binary.j2"]
        );
    }
}
