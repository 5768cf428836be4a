//! A template's nodes as a module of Python.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use mapstack_value::quote_str;

use super::lexer::{Id, LexerFailure, MakoTemplate, Node, NodeKind, is_word};
use super::names;
use super::tags::{FILTERS, Tag};
use mapstack_sandbox::protocol::Span;

/// Python code, and where its lines come from.
#[derive(Debug, Default)]
pub(crate) struct Module {
    pub(crate) code: String,
    pub(crate) lines: Vec<Option<Span>>,
    /// The spans that are printed; the number of a mark is in the call that prints.
    pub(crate) marks: Vec<(Span, bool)>,
    /// True if each piece of the template's code [is apart](crate::sandbox::is_apart) from what is around it.
    pub(crate) is_apart: bool,
}

/// Generate the module.
pub(super) fn module(
    tree: &MakoTemplate,
    source: &str,
    strict: bool,
) -> Result<Module, LexerFailure> {
    let mut generator = Generator {
        tree,
        source_lines: source_lines(source),
        loop_ends: BTreeSet::new(),
        strict,
        out: Module::default(),
        indent: 0,
        namespaces: IndexMap::new(),
        namespace_imports: false,
        page: None,
        scopes: Vec::new(),
        in_def: false,
        depth: 0,
        straight: 0,
    };
    generator.template()?;
    Ok(generator.out)
}

struct Generator<'a> {
    tree: &'a MakoTemplate,
    /// The spans of the template's lines.
    source_lines: Vec<Span>,
    /// The ends of loops that keep count.
    loop_ends: BTreeSet<Id>,
    strict: bool,
    out: Module,
    indent: usize,
    namespaces: IndexMap<String, Id>,
    namespace_imports: bool,
    page: Option<&'a Tag>,
    scopes: Vec<Scope>,
    in_def: bool,
    depth: usize,
    /// The number of prints without a branch in between.
    straight: usize,
}

/// Names that every template has.
const ALWAYS: [&str; 2] = ["STOP_RENDERING", "UNDEFINED"];
/// Deeper tags than people write.
const MAX_DEPTH: usize = 60;
/// So many levels of indentation Python has at most.
const MAX_INDENT: usize = 99;
/// The compiler's time grows with the square of the statements that have no branch between them.
const MAX_STRAIGHT: usize = 200;
/// A branch between statements that print.
const BRANCH: &str = "if __M_writer: pass";

/// The names in a function of the module.
#[derive(Debug, Clone, Default)]
struct Scope {
    declared: BTreeSet<String>,
    undeclared: BTreeSet<String>,
    /// The place at which a name was first expected.
    first: BTreeMap<String, Span>,
    locally_declared: BTreeSet<String>,
    locally_assigned: BTreeSet<String>,
    arguments: BTreeSet<String>,
    top_defs: IndexMap<String, Id>,
    inner_defs: IndexMap<String, Id>,
}

/// The owner of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Template,
    Node(Id),
}

type Generated<T = ()> = Result<T, LexerFailure>;

impl<'a> Generator<'a> {
    fn node(&self, id: Id) -> &'a Node {
        &self.tree.nodes[id]
    }

    fn tag(&self, id: Id) -> Option<&'a Tag> {
        match &self.node(id).kind {
            NodeKind::Tag(tag) => Some(tag),
            _ => None,
        }
    }

    fn children(&self, owner: Owner) -> &'a [Id] {
        match owner {
            Owner::Template => &self.tree.root,
            Owner::Node(id) => &self.node(id).children,
        }
    }

    fn fail<T>(&self, id: Id, message: impl Into<String>) -> Generated<T> {
        let offset = self.node(id).span.start as usize;
        Err(LexerFailure {
            message: message.into(),
            class: "CompileException",
            offset,
        })
    }

    // --- lines ---

    fn line(&mut self, text: &str) {
        self.line_from(text, None);
    }

    fn line_from(&mut self, text: &str, span: Option<Span>) {
        for _ in 0..self.indent {
            self.out.code.push_str("    ");
        }
        self.out.code.push_str(text);
        self.out.code.push('\n');
        self.out.lines.push(span);
        // Further lines of an expression.
        for _ in 0..text.matches('\n').count() {
            self.out.lines.push(None);
        }
    }

    fn mark(&mut self, span: Span, exact: bool) -> String {
        self.out.marks.push((span, exact));
        format!("_mk_at+{}", self.out.marks.len() - 1)
    }

    // --- scopes ---

    fn scope(&self) -> &Scope {
        static EMPTY: std::sync::OnceLock<Scope> = std::sync::OnceLock::new();
        self.scopes
            .last()
            .unwrap_or_else(|| EMPTY.get_or_init(Scope::default))
    }

    fn branch(&self, parent: &Scope, owner: Owner, nested: bool) -> Generated<Scope> {
        let mut scope = Scope::default();
        let is_namespace = matches!(owner, Owner::Node(id) if self.tag(id).is_some_and(|tag| tag.keyword == "namespace"));
        if !is_namespace {
            scope.declared.extend(parent.declared.iter().cloned());
            scope.declared.extend(parent.inner_defs.keys().cloned());
            scope
                .declared
                .extend(parent.locally_declared.iter().cloned());
            scope.declared.extend(parent.arguments.iter().cloned());
            if nested {
                scope.declared.extend(parent.undeclared.iter().cloned());
            }
            scope.top_defs = parent.top_defs.clone();
        }
        match owner {
            Owner::Template => {
                for id in &self.tree.root {
                    self.visit(&mut scope, owner, *id)?;
                }
            }
            Owner::Node(id) => self.visit(&mut scope, owner, id)?,
        }
        let reserved: Vec<&str> = ["context", "loop", "UNDEFINED", "STOP_RENDERING"]
            .into_iter()
            .filter(|name| scope.locally_declared.contains(*name))
            .collect();
        if !reserved.is_empty() {
            return Err(LexerFailure {
                message: format!(
                    "Reserved words declared in template: {}",
                    reserved.join(", ")
                ),
                class: "NameConflictError",
                offset: 0,
            });
        }
        Ok(scope)
    }

    fn expect(&self, scope: &mut Scope, names: &BTreeSet<String>, id: Id) {
        for name in names {
            if name != "context"
                && !scope.declared.contains(name)
                && !scope.locally_declared.contains(name)
            {
                scope.undeclared.insert(name.clone());
                scope
                    .first
                    .entry(name.clone())
                    .or_insert(self.node(id).span);
            }
        }
    }

    fn visit(&self, scope: &mut Scope, owner: Owner, id: Id) -> Generated {
        let node = self.node(id);
        let own = owner == Owner::Node(id);
        match &node.kind {
            NodeKind::Text { .. } | NodeKind::Comment => {}
            NodeKind::Expression {
                idents,
                filter_idents,
                ..
            } => {
                let filters = filter_idents
                    .undeclared
                    .iter()
                    .filter(|name| !FILTERS.contains(&name.as_str()));
                let mut names: BTreeSet<String> =
                    idents.undeclared.iter().chain(filters).cloned().collect();
                names.retain(|name| !idents.declared.contains(name));
                self.expect(scope, &names, id);
            }
            NodeKind::Control { idents, .. } => {
                self.expect(scope, &idents.undeclared, id);
                scope
                    .locally_declared
                    .extend(idents.declared.iter().cloned());
            }
            NodeKind::Code { module, idents, .. } => {
                if !module {
                    self.expect(scope, &idents.undeclared, id);
                    scope
                        .locally_declared
                        .extend(idents.declared.iter().cloned());
                    scope
                        .locally_assigned
                        .extend(idents.declared.iter().cloned());
                }
            }
            NodeKind::Tag(tag) => self.visit_tag(scope, owner, id, tag, own)?,
        }
        Ok(())
    }

    fn visit_tag(
        &self,
        scope: &mut Scope,
        owner: Owner,
        id: Id,
        tag: &Tag,
        own: bool,
    ) -> Generated {
        let each = |scope: &mut Scope| -> Generated {
            self.node(id)
                .children
                .iter()
                .try_for_each(|child| self.visit(scope, owner, *child))
        };
        match tag.keyword.as_str() {
            "namespace" if own => each(scope)?,
            "namespace" | "inherit" => {}
            "def" => {
                if !self.node(id).nested {
                    self.name_once(&mut scope.top_defs, id)?;
                } else if !own {
                    self.name_once(&mut scope.inner_defs, id)?;
                }
                self.expect(scope, &tag.undeclared(), id);
                if own {
                    scope.arguments.extend(tag.declared());
                    each(scope)?;
                }
            }
            "block" => {
                let anonymous = tag.signature.name.is_empty();
                if !own && !anonymous {
                    self.allow_block(owner, id, tag)?;
                }
                self.expect(scope, &tag.undeclared(), id);
                if !anonymous {
                    self.name_once(&mut scope.top_defs, id)?;
                    scope.undeclared.insert(self.function_name(id));
                } else if !own {
                    self.name_once(&mut scope.inner_defs, id)?;
                }
                scope.arguments.extend(tag.declared());
                each(scope)?;
            }
            "page" => {
                scope.arguments.extend(tag.declared());
                self.expect(scope, &tag.undeclared(), id);
                scope.locally_declared.extend(tag.declared());
            }
            "text" | "include" => self.expect(scope, &tag.undeclared(), id),
            _ => {
                self.expect(scope, &tag.undeclared(), id);
                if own {
                    scope.arguments.extend(tag.declared());
                    each(scope)?;
                }
            }
        }
        Ok(())
    }

    fn name_once(&self, names: &mut IndexMap<String, Id>, id: Id) -> Generated {
        let name = self.function_name(id);
        let before = names.insert(name.clone(), id);
        let is_block = |id: Id| self.tag(id).is_some_and(|tag| tag.keyword == "block");
        match before {
            Some(before) if before != id && (is_block(id) || is_block(before)) => self.fail(
                id,
                format!("%def or %block named '{name}' already exists in this template."),
            ),
            _ => Ok(()),
        }
    }

    fn function_name(&self, id: Id) -> String {
        match self.tag(id) {
            Some(tag) if !tag.signature.name.is_empty() => tag.signature.name.clone(),
            _ => format!("__M_anon_{}", self.node(id).line),
        }
    }

    // --- the module ---

    /// Check that a named block is allowed at its place.
    fn allow_block(&self, owner: Owner, id: Id, tag: &Tag) -> Generated {
        let name = &tag.signature.name;
        let Owner::Node(outer) = owner else {
            return Ok(());
        };
        match self.tag(outer) {
            Some(outer) if outer.keyword == "def" => {
                let outer = &outer.signature.name;
                let message = format!("Named block '{name}' not allowed inside of def '{outer}'");
                self.fail(id, message)
            }
            Some(outer) if outer.is_call() => {
                let message = format!("Named block '{name}' not allowed inside of <%call> tag");
                self.fail(id, message)
            }
            _ => Ok(()),
        }
    }

    /// Find what concerns the whole template: its `<%page>`, its namespaces, the tag it inherits by, and the code of
    /// its module.
    fn find_parts(&mut self) -> (Option<Id>, Vec<Id>) {
        let (mut inherit, mut modules) = (None, Vec::new());
        let mut pending: Vec<Id> = self.tree.root.iter().rev().copied().collect();
        while let Some(id) = pending.pop() {
            match &self.node(id).kind {
                NodeKind::Code { module: true, .. } => modules.push(id),
                NodeKind::Tag(tag) => match tag.keyword.as_str() {
                    "inherit" => inherit = Some(id),
                    "namespace" => {
                        let name = tag
                            .attributes
                            .get("name")
                            .cloned()
                            .unwrap_or_else(|| format!("__anon_{id}"));
                        self.namespace_imports |= tag.attributes.contains_key("import");
                        self.namespaces.insert(name, id);
                    }
                    "page" => self.page = Some(tag),
                    _ => pending.extend(self.node(id).children.iter().rev()),
                },
                _ => {}
            }
        }
        (inherit, modules)
    }

    fn template(&mut self) -> Generated {
        let (inherit, modules) = self.find_parts();
        let mut toplevel = Scope::default();
        for id in &modules {
            if let NodeKind::Code { idents, .. } = &self.node(*id).kind {
                toplevel.declared.extend(idents.declared.iter().cloned());
            }
        }
        let main = self.branch(&toplevel, Owner::Template, false)?;
        toplevel.top_defs.extend(main.top_defs.clone());
        toplevel.declared.extend(ALWAYS.map(str::to_owned));
        let exports: Vec<String> = main.top_defs.keys().map(|name| quote_str(name)).collect();
        self.line(&format!("_exports = [{}]", exports.join(", ")));
        for id in modules {
            self.code(id)?;
        }
        if inherit.is_some() || !self.namespaces.is_empty() {
            self.namespaces(&toplevel)?;
        }
        if let Some(id) = inherit {
            self.inherit(id);
        }
        self.body(&toplevel)?;
        self.in_def = true;
        for (name, id) in main.top_defs {
            self.top_def(&name, id, &toplevel)?;
        }
        Ok(())
    }

    /// The function that finds the template to inherit from.
    fn inherit(&mut self, id: Id) {
        let file = self
            .tag(id)
            .and_then(|tag| tag.parsed.get("file"))
            .cloned()
            .unwrap_or_default();
        let span = self.node(id).span;
        self.line("def _mako_inherit(template, context):");
        self.indent += 1;
        self.line("_mako_generate_namespaces(context)");
        self.line_from(
            &format!("return _mk.inherit_from(context, {file}, _template_uri)"),
            Some(span),
        );
        self.indent -= 1;
    }

    /// The function that prints the template, and the names of its arguments.
    fn body(&mut self, toplevel: &Scope) -> Generated {
        let mut arguments = vec!["context".to_owned()];
        let mut names = Vec::new();
        let mut keywords = false;
        if let Some(page) = self.page {
            arguments.extend(page.signature.declared.iter().cloned());
            names.clone_from(&page.signature.names);
            keywords = page.signature.keywords;
        }
        if !keywords {
            arguments.push("**pageargs".to_owned());
            names.push("pageargs".to_owned());
        }
        self.callable(Owner::Template, "render_body", &arguments, toplevel)?;
        let names: Vec<String> = names.iter().map(|name| quote_str(name)).collect();
        self.line(&format!("_mk_arguments = [{}]", names.join(", ")));
        Ok(())
    }

    /// The function of a def or a named block.
    fn top_def(&mut self, name: &str, id: Id, toplevel: &Scope) -> Generated {
        let Some(tag) = self.tag(id) else {
            return Ok(());
        };
        let mut arguments = vec!["context".to_owned()];
        arguments.extend(tag.signature.declared.iter().cloned());
        if tag.keyword == "block" {
            arguments.push("**pageargs".to_owned());
        }
        let decorator = tag.attributes.get("decorator");
        if let Some(decorator) = decorator.filter(|text| !text.is_empty()) {
            self.line_from(
                &format!("@_mk.decorate_toplevel({decorator})"),
                Some(self.node(id).span),
            );
        }
        let name = format!("render_{name}");
        self.callable(Owner::Node(id), &name, &arguments, toplevel)
    }

    /// A function at the top of the module: the template's body, a def or a block.
    fn callable(
        &mut self,
        owner: Owner,
        name: &str,
        arguments: &[String],
        toplevel: &Scope,
    ) -> Generated {
        let tag = match owner {
            Owner::Node(id) => self.tag(id),
            Owner::Template => None,
        };
        let mut scope = self.branch(toplevel, owner, false)?;
        let is_block = tag.is_some_and(|tag| tag.keyword == "block");
        if (tag.is_none() || is_block) && arguments.iter().any(|argument| argument == "**pageargs")
        {
            scope.arguments.insert("pageargs".to_owned());
        }
        let span = match owner {
            Owner::Node(id) => Some(self.node(id).span),
            Owner::Template => None,
        };
        self.line_from(&format!("def {name}({}):", arguments.join(", ")), span);
        self.indent += 1;
        let passes_locals =
            tag.is_none() && !(scope.locally_assigned.is_empty() && scope.arguments.is_empty());
        let start = if passes_locals {
            let pairs: Vec<String> = scope
                .arguments
                .iter()
                .map(|name| format!("{name}={name}"))
                .collect();
            Some(format!("_mk_locals = _mk.dict({})", pairs.join(", ")))
        } else {
            None
        };
        self.function_body(owner, scope, tag, start.as_deref(), true)?;
        self.indent -= 1;
        Ok(())
    }

    /// The common part of all functions that print.
    fn function_body(
        &mut self,
        owner: Owner,
        scope: Scope,
        tag: Option<&'a Tag>,
        start: Option<&str>,
        top: bool,
    ) -> Generated {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(LexerFailure {
                message: "the tags are nested too deeply".to_owned(),
                class: "CompileException",
                offset: 0,
            });
        }
        let filtered = tag.is_some_and(|tag| !tag.filters.is_empty());
        let buffered = tag.is_some_and(|tag| tag.is_true("buffered"));
        self.line("_mk_caller = context.caller_stack._push_frame()");
        self.line("try:");
        self.indent += 1;
        if filtered || buffered {
            self.line("context._push_buffer()");
        }
        if let Some(start) = start {
            self.line(start);
        }
        self.scopes.push(scope);
        self.declares(top)?;
        for id in self.children(owner) {
            self.emit(*id)?;
        }
        self.scopes.pop();
        self.line("return ''");
        self.indent -= 1;
        self.line("finally:");
        self.indent += 1;
        if filtered || buffered {
            self.line("_mk_buffer = context._pop_buffer()");
        }
        self.line("context.caller_stack._pop_frame()");
        self.indent -= 1;
        if filtered || buffered {
            let filters = tag.map_or(&[][..], |tag| &tag.filters);
            self.end_buffer(owner, filters, buffered);
        }
        self.depth -= 1;
        Ok(())
    }

    /// The end of a function with a buffer: it writes the text, or returns it for `buffered="True"`.
    fn end_buffer(&mut self, owner: Owner, filters: &[String], buffered: bool) {
        let text = self.filtered("_mk_buffer.getvalue()", filters, false);
        // The printed text replaces an early result of the body: its `return` must not keep this from running.
        replace_last_return(&mut self.out.code);
        let span = match owner {
            Owner::Node(id) => Some(self.node(id).span),
            Owner::Template => None,
        };
        if buffered {
            self.line_from(&format!("return {text}"), span);
        } else {
            self.line_from(&format!("context.write({text})"), span);
            self.line("return ''");
        }
    }

    /// Bind what the function's code expects: defs, namespaces, and names of the context.
    fn declares(&mut self, top: bool) -> Generated {
        let scope = self.scope().clone();
        let mut names: BTreeSet<String> = scope.undeclared.clone();
        names.extend(scope.inner_defs.keys().cloned());
        names.retain(|name| {
            !scope.arguments.contains(name) && !scope.locally_declared.contains(name)
        });
        let has_loop = names.remove("loop");
        if top && self.namespace_imports {
            self.import_namespaces();
        }
        if has_loop {
            self.line("loop = _mk_loop = _mk.LoopStack()");
        }
        for name in names {
            let span = scope.first.get(&name).copied();
            let def = scope
                .inner_defs
                .get(&name)
                .or_else(|| scope.top_defs.get(&name))
                .copied();
            if let Some(id) = def {
                let anonymous = self
                    .tag(id)
                    .is_some_and(|tag| tag.signature.name.is_empty());
                let block = self.tag(id).is_some_and(|tag| tag.keyword == "block");
                if (block && !anonymous) || (!block && !self.node(id).nested) {
                    self.def_stub(id, top);
                } else {
                    self.inner_def(id, &scope, true)?;
                }
            } else if self.namespaces.contains_key(&name) {
                self.line_from(
                    &format!(
                        "{name} = _mako_get_namespace(context, {})",
                        quote_str(&name)
                    ),
                    span,
                );
            } else {
                self.look_up(&name, span);
            }
        }
        self.line("__M_writer = context.writer()");
        Ok(())
    }

    /// The names that namespaces import.
    fn import_namespaces(&mut self) {
        self.line("_mk_imports = {}");
        for (name, id) in self.namespaces.clone() {
            if let Some(import) = self.tag(id).and_then(|tag| tag.attributes.get("import")) {
                let listed: Vec<String> = import
                    .split(',')
                    .map(|part| quote_str(part.trim()))
                    .collect();
                let span = self.node(id).span;
                let call = format!(
                    "_mako_get_namespace(context, {})._populate(_mk_imports, [{}])",
                    quote_str(&name),
                    listed.join(", ")
                );
                self.line_from(&call, Some(span));
            }
        }
    }

    /// Bind a name to what the context has.
    fn look_up(&mut self, name: &str, span: Option<Span>) {
        let imports = if self.namespace_imports {
            "_mk_imports"
        } else {
            "None"
        };
        let strict = if self.strict { "True" } else { "False" };
        let quoted = quote_str(name);
        let call = format!("{name} = _mk.look_up(context, {quoted}, {imports}, {strict})");
        self.line_from(&call, span);
    }

    /// A function that calls a def at the top with the context of here.
    fn def_stub(&mut self, id: Id, top: bool) {
        let Some(tag) = self.tag(id) else { return };
        let name = self.function_name(id);
        // A function inside of another passes on what the outer one has bound.
        let behind = if top { 1 } else { 2 };
        let scope = self
            .scopes
            .len()
            .checked_sub(behind)
            .and_then(|at| self.scopes.get(at));
        let binds = scope.is_some_and(|scope| {
            !(scope.locally_assigned.is_empty() && scope.arguments.is_empty())
        });
        let passes = !self.in_def && binds;
        let mut passed = vec![
            if passes {
                "context._locals(_mk_locals)"
            } else {
                "context"
            }
            .to_owned(),
        ];
        passed.extend(tag.signature.passed.iter().cloned());
        self.line_from(
            &format!("def {name}({}):", tag.signature.declared.join(", ")),
            Some(self.node(id).span),
        );
        self.indent += 1;
        self.line(&format!("return render_{name}({})", passed.join(", ")));
        self.indent -= 1;
    }

    /// A def inside of a function.
    fn inner_def(&mut self, id: Id, parent: &Scope, nested: bool) -> Generated {
        let Some(tag) = self.tag(id) else {
            return Ok(());
        };
        let span = Some(self.node(id).span);
        if let Some(decorator) = tag
            .attributes
            .get("decorator")
            .filter(|text| !text.is_empty())
        {
            self.line_from(&format!("@_mk.decorate_inline(context, {decorator})"), span);
        }
        let name = self.function_name(id);
        self.line_from(
            &format!("def {name}({}):", tag.signature.declared.join(", ")),
            span,
        );
        self.indent += 1;
        let scope = self.branch(parent, Owner::Node(id), nested)?;
        self.function_body(Owner::Node(id), scope, Some(tag), None, false)?;
        self.indent -= 1;
        Ok(())
    }

    fn namespaces(&mut self, toplevel: &Scope) -> Generated {
        self.line("def _mako_get_namespace(context, name):");
        self.indent += 1;
        self.line("if (_mk_at, name) not in context.namespaces:");
        self.indent += 1;
        self.line("_mako_generate_namespaces(context)");
        self.indent -= 1;
        self.line("return context.namespaces[(_mk_at, name)]");
        self.indent -= 1;
        self.line("def _mako_generate_namespaces(context):");
        self.indent += 1;
        self.line("pass");
        for (name, id) in self.namespaces.clone() {
            let Some(tag) = self.tag(id) else { continue };
            let node = self.node(id);
            let mut callables = "None";
            if !node.children.is_empty() {
                callables = "_mk_make()";
                self.line("def _mk_make():");
                self.indent += 1;
                let scope = self.branch(toplevel, Owner::Node(id), false)?;
                let was = std::mem::replace(&mut self.in_def, true);
                let mut exported = Vec::new();
                for child in self.defs_below(id) {
                    let inner = self
                        .tag(child)
                        .is_some_and(|tag| tag.signature.name.is_empty());
                    if inner {
                        return self.fail(child, "Can't put anonymous blocks inside <%namespace>");
                    }
                    self.inner_def(child, &scope, false)?;
                    exported.push(self.function_name(child));
                }
                self.in_def = was;
                self.line(&format!("return [{}]", exported.join(", ")));
                self.indent -= 1;
            }
            let quoted = quote_str(&name);
            let source = if let Some(file) = tag.parsed.get("file") {
                format!(
                    "_mk.template_namespace({quoted}, context, {file}, {callables}, _template_uri)"
                )
            } else if let Some(module) = tag.parsed.get("module") {
                format!("_mk.module_namespace({quoted}, context, {module}, {callables})")
            } else {
                format!("_mk.plain_namespace({quoted}, context, {callables})")
            };
            self.line_from(&format!("_mk_namespace = {source}"), Some(node.span));
            if tag.is_true("inheritable") {
                self.line(&format!("context['self'].{name} = _mk_namespace"));
            }
            self.line(&format!(
                "context.namespaces[(_mk_at, {quoted})] = _mk_namespace"
            ));
        }
        self.indent -= 1;
        Ok(())
    }

    /// Defs and blocks inside of a tag, but not inside of each other.
    fn defs_below(&self, id: Id) -> Vec<Id> {
        let mut out = Vec::new();
        let mut pending: Vec<Id> = self.node(id).children.iter().rev().copied().collect();
        while let Some(id) = pending.pop() {
            match self.tag(id) {
                Some(tag) if matches!(tag.keyword.as_str(), "def" | "block") => out.push(id),
                Some(_) => pending.extend(self.node(id).children.iter().rev()),
                None => {}
            }
        }
        out
    }

    // --- nodes ---

    fn emit(&mut self, id: Id) -> Generated {
        let node = self.node(id);
        if self.indent > MAX_INDENT {
            return Err(LexerFailure {
                message: "too many levels of indentation".to_owned(),
                class: "IndentationError",
                offset: node.span.start as usize,
            });
        }
        self.straight += 1;
        if self.straight > MAX_STRAIGHT {
            self.line(BRANCH);
            self.straight = 0;
        }
        match &node.kind {
            NodeKind::Text { text, exact } => {
                let mark = self.mark(node.span, *exact);
                self.line_from(
                    &format!("__M_writer({}, {mark})", quote_str(text)),
                    Some(node.span),
                );
                Ok(())
            }
            NodeKind::Expression { code, filters, .. } => {
                let value = self.filtered(code, filters, true);
                let mark = self.mark(node.span, false);
                self.line_from(&format!("__M_writer({value}, {mark})"), Some(node.span));
                Ok(())
            }
            NodeKind::Control {
                keyword, end, text, ..
            } => self.control(id, keyword, *end, text),
            NodeKind::Code {
                module: false,
                idents,
                ..
            } => {
                self.code(id)?;
                if !self.in_def && !self.scope().locally_assigned.is_empty() {
                    let names: Vec<String> =
                        idents.declared.iter().map(|name| quote_str(name)).collect();
                    self.line(&format!(
                        "_mk_locals.update(_mk.picked(_mk_all_locals(), [{}]))",
                        names.join(", ")
                    ));
                }
                Ok(())
            }
            NodeKind::Code { .. } | NodeKind::Comment => Ok(()),
            NodeKind::Tag(tag) => self.emit_tag(id, tag),
        }
    }

    fn code(&mut self, id: Id) -> Generated {
        let node = self.node(id);
        let NodeKind::Code { text, .. } = &node.kind else {
            return Ok(());
        };
        let inside = names::lines_in_strings(text);
        let mut continued = false;
        for (number, line) in text.split('\n').enumerate() {
            if !inside.contains(&number) && !continued && !line.is_empty() {
                for _ in 0..self.indent {
                    self.out.code.push_str("    ");
                }
            }
            continued = line.ends_with('\\');
            self.out.code.push_str(line);
            self.out.code.push('\n');
            self.out
                .lines
                .push(self.source_lines.get(node.line - 1 + number).copied());
        }
        self.line("pass");
        Ok(())
    }

    fn control(&mut self, id: Id, keyword: &str, end: bool, text: &str) -> Generated {
        let node = self.node(id);
        if end {
            self.indent = self.indent.saturating_sub(1);
            if self.loop_ends.contains(&id) {
                self.indent = self.indent.saturating_sub(1);
                self.line("finally:");
                self.indent += 1;
                self.line("loop = _mk_loop._exit()");
                self.indent -= 1;
            }
            return Ok(());
        }
        let mut text = text.to_owned();
        if keyword == "for" && self.uses_loop(id, 0) {
            let Some((targets, iterable)) = for_parts(&text) else {
                return Err(LexerFailure {
                    message: format!("Couldn't apply loop context: {text}"),
                    class: "SyntaxError",
                    offset: node.span.start as usize,
                });
            };
            self.line_from(
                &format!("loop = _mk_loop._enter({iterable})"),
                Some(node.span),
            );
            self.line("try:");
            self.indent += 1;
            text = format!("for {targets} in loop:");
            self.loop_ends.extend(node.children.last());
        }
        if !matches!(keyword, "for" | "if" | "while" | "try" | "with") {
            self.indent = self.indent.saturating_sub(1);
        }
        self.line_from(&text, Some(node.span));
        self.indent += 1;
        self.line("pass");
        Ok(())
    }

    /// True if a loop, or anything in it, speaks of `loop`.
    fn uses_loop(&self, id: Id, depth: usize) -> bool {
        if depth > MAX_DEPTH {
            return false;
        }
        let node = self.node(id);
        let here = match &node.kind {
            NodeKind::Expression {
                idents,
                filter_idents,
                ..
            } => {
                (idents.undeclared.contains("loop") || filter_idents.undeclared.contains("loop"))
                    && !idents.declared.contains("loop")
            }
            NodeKind::Control { idents, .. } | NodeKind::Code { idents, .. } => {
                idents.undeclared.contains("loop")
            }
            NodeKind::Text { .. } | NodeKind::Comment | NodeKind::Tag(_) => false,
        };
        let children = match &node.kind {
            NodeKind::Control { end: true, .. } => &[][..],
            _ => &node.children,
        };
        here || children
            .iter()
            .any(|child| self.uses_loop(*child, depth + 1))
    }

    fn emit_text(&mut self, node: &'a Node, tag: &'a Tag) -> Generated {
        if !tag.filters.is_empty() {
            self.line("__M_writer = context._push_writer()");
            self.line("try:");
            self.indent += 1;
            self.line("pass");
        }
        for child in &node.children {
            self.emit(*child)?;
        }
        if !tag.filters.is_empty() {
            self.indent -= 1;
            self.line("finally:");
            self.indent += 1;
            self.line("_mk_buffer, __M_writer = context._pop_buffer_and_writer()");
            let text = self.filtered("_mk_buffer.getvalue()", &tag.filters, false);
            let mark = self.mark(node.span, false);
            self.line_from(&format!("__M_writer({text}, {mark})"), Some(node.span));
            self.indent -= 1;
        }
        Ok(())
    }

    fn emit_tag(&mut self, id: Id, tag: &'a Tag) -> Generated {
        let node = self.node(id);
        let span = Some(node.span);
        match tag.keyword.as_str() {
            "include" => {
                let file = tag.parsed.get("file").cloned().unwrap_or_default();
                let args = tag.attributes.get("args").filter(|args| !args.is_empty());
                let args = args.map(|args| format!(", {args}")).unwrap_or_default();
                self.line_from(
                    &format!("_mk.include_file(context, {file}, _template_uri{args})"),
                    span,
                );
                Ok(())
            }
            "text" => self.emit_text(node, tag),
            "block" if tag.signature.name.is_empty() => {
                let name = self.function_name(id);
                self.line_from(&format!("{name}()"), span);
                Ok(())
            }
            "block" => {
                let name = self.function_name(id);
                let mut passed = tag.signature.passed.clone();
                passed.push("**pageargs".to_owned());
                self.line_from(
                    &format!(
                        "if not _mk.has_parent_block(context, {}):",
                        quote_str(&name)
                    ),
                    span,
                );
                self.indent += 1;
                self.line_from(
                    &format!("context['self'].{name}({})", passed.join(", ")),
                    span,
                );
                self.indent -= 1;
                Ok(())
            }
            "def" | "namespace" | "inherit" | "page" => Ok(()),
            _ => self.emit_call(id, tag),
        }
    }

    /// A call with content.
    fn emit_call(&mut self, id: Id, tag: &'a Tag) -> Generated {
        let node = self.node(id);
        let here = self.scope().clone();
        let inner = self.branch(&here, Owner::Node(id), true)?;
        let mut body = self.branch(&inner, Owner::Node(id), false)?;
        body.declared.insert("caller".to_owned());
        body.undeclared.remove("caller");
        self.line_from("def _mk_call(caller):", Some(node.span));
        self.indent += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail(id, "the tags are nested too deeply");
        }
        let mut exported = vec!["body".to_owned()];
        self.scopes.push(body.clone());
        for child in self.defs_below(id) {
            self.inner_def(child, &inner, false)?;
            let name = self.function_name(child);
            if self
                .tag(child)
                .is_some_and(|tag| !tag.signature.name.is_empty())
            {
                exported.push(name.clone());
            }
            body.inner_defs.shift_remove(&name);
        }
        self.scopes.pop();
        self.line(&format!("def body({}):", tag.signature.declared.join(", ")));
        self.indent += 1;
        self.scopes.push(body);
        self.declares(false)?;
        for child in &node.children {
            self.emit(*child)?;
        }
        self.scopes.pop();
        self.line("return ''");
        self.indent -= 1;
        self.line(&format!("return [{}]", exported.join(", ")));
        self.indent -= 1;
        self.depth -= 1;
        self.line("context.caller_stack.nextcaller = _mk.caller(context, _mk_call(_mk_caller))");
        self.line("try:");
        self.indent += 1;
        let value = self.filtered(&tag.expression, &[], true);
        let mark = self.mark(node.span, false);
        self.line_from(&format!("__M_writer({value}, {mark})"), Some(node.span));
        self.indent -= 1;
        self.line("finally:");
        self.indent += 1;
        self.line("context.caller_stack.nextcaller = None");
        self.indent -= 1;
        Ok(())
    }

    /// A value with filters around it.
    fn filtered(&self, value: &str, filters: &[String], expression: bool) -> String {
        let mut all: Vec<&str> = filters.iter().map(String::as_str).collect();
        let none = |all: &[&str]| all.contains(&"n");
        if !none(&all) && expression {
            if let Some(page) = self.page {
                all.splice(0..0, page.filters.iter().map(String::as_str));
            }
            if !none(&all) {
                all.insert(0, "str");
            }
        }
        let mut out = value.to_owned();
        for filter in all.into_iter().filter(|filter| *filter != "n") {
            // A filter with arguments makes the function.
            let call = filter
                .find('(')
                .filter(|at| *at > 0 && filter.ends_with(')'));
            let (name, arguments) = call.map_or((filter, ""), |at| filter.split_at(at));
            out = format!("{}{arguments}({out})", filter_name(name));
        }
        out
    }
}

/// The function behind a filter's name.
fn filter_name(name: &str) -> String {
    match name {
        "x" => "_mk.filters.xml_escape".to_owned(),
        "h" => "_mk.filters.html_escape".to_owned(),
        "u" => "_mk.filters.url_escape".to_owned(),
        "trim" => "_mk.filters.trim".to_owned(),
        "entity" => "_mk.filters.html_entities_escape".to_owned(),
        "unicode" | "str" => "_mk.text".to_owned(),
        name if name.starts_with("decode.") => format!("_mk.filters.{name}"),
        name => name.to_owned(),
    }
}

/// The last `return ''` of a body would keep what is printed from being returned.
fn replace_last_return(code: &mut String) {
    if let Some(at) = code.rfind("return ''\n") {
        code.replace_range(at..at + "return ''".len(), "pass");
    }
}

/// The lines of a text, without their indentation.
fn source_lines(source: &str) -> Vec<Span> {
    let (mut out, mut start) = (Vec::new(), 0);
    for line in source.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        out.push(crate::sandbox::span(
            start + indent.min(line.len()),
            start + line.trim_end().len().max(indent),
        ));
        start += line.len();
    }
    out
}

/// `for targets in iterable:` taken apart, if the targets are plain.
fn for_parts(text: &str) -> Option<(String, String)> {
    let rest = text.strip_prefix("for")?;
    let rest = rest.strip_prefix(|c: char| c.is_whitespace())?.trim_start();
    let at = rest.match_indices("in").map(|(at, _)| at).find(|at| {
        let (before, after) = (&rest[..*at], &rest[at + 2..]);
        before.ends_with(|c: char| c.is_whitespace() || c == ')')
            && after.starts_with(char::is_whitespace)
    })?;
    let targets = rest[..at].trim();
    if targets.is_empty()
        || !targets
            .chars()
            .all(|c| is_word(c) || c.is_whitespace() || matches!(c, '(' | ')' | ','))
    {
        return None;
    }
    let iterable = rest[at + 2..].trim();
    let iterable = &iterable[..iterable.rfind(':')?];
    Some((targets.to_owned(), iterable.to_owned()))
}
