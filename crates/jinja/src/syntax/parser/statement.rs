//! Statements: text, outputs and tags.

use std::collections::HashSet;
use std::sync::Arc;

use mapstack_diagnostic::nearest;
use mapstack_value::{Str, quote_str};

use super::super::ast::{Block, Expr, ExprKind, For, Macro, Param, Span, Stmt, StmtKind, Target};
use super::super::lexer::{Op, ReadFailure, Tok};
use super::super::unset::sets_names;
use super::super::{Tag, TagForm};
use super::expression::TupleRules;
use super::mentions::mentions;
use super::{PASS_BLOCKS, PASS_PYTHON, PASS_ROOT, Parser, Result, Scope};

/// Statements inside each other.
const MAX_STATEMENTS: usize = 100;

/// The relation of a body to the statements in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    /// Part of what surrounds it.
    Soft,
    /// A new scope.
    Inner,
    /// A loop.
    Loop,
    /// Code that runs elsewhere: no way to leave a loop around it.
    Function,
    /// A block, with its pass of the compiler.
    Block(u32),
}

/// An assignment target as it was written.
struct WrittenTarget {
    /// The target, or Jinja's word for what cannot be assigned to.
    target: std::result::Result<Target, &'static str>,
    span: Span,
    line: u32,
}

/// The language's own tags that begin a statement.
const TAGS: &[&str] = &[
    "autoescape",
    "block",
    "call",
    "extends",
    "filter",
    "for",
    "from",
    "if",
    "import",
    "include",
    "macro",
    "print",
    "raw",
    "set",
    "with",
];

impl<'s> Parser<'s> {
    /// Statements up to one of the tags (which becomes the current token), or to the end.
    pub(super) fn until(&mut self, end_tags: &'static [&'static str]) -> Result<Vec<Stmt>> {
        let mut body = Vec::new();
        loop {
            let start = self.start();
            match self.kind() {
                Tok::Eof => return Ok(body),
                Tok::Data => body.push(self.data()?),
                Tok::VariableBegin => body.push(self.output()?),
                // Nothing else can follow text or the end of a tag.
                _ => {
                    self.advance()?;
                    if self.name().is_some_and(|name| end_tags.contains(&name)) {
                        return Ok(body);
                    }
                    self.tag(start, &mut body)?;
                }
            }
        }
    }

    fn data(&mut self) -> Result<Stmt> {
        let span = self.token().span;
        self.advance()?;
        Ok(Stmt {
            span,
            kind: StmtKind::Text(self.text(span).into()),
        })
    }

    fn output(&mut self) -> Result<Stmt> {
        let start = self.start();
        self.advance()?;
        let expr = *self.tuple(&TupleRules::default())?.expr;
        self.expect_kind(&Tok::VariableEnd, "end of print statement")?;
        Ok(Stmt {
            span: self.since(start),
            kind: StmtKind::Output(expr),
        })
    }

    /// A tag with its body; `start` is where it begins.
    fn tag(&mut self, start: u32, out: &mut Vec<Stmt>) -> Result<()> {
        let Some(name) = self.name() else {
            return Err(self.fail("tag name expected"));
        };
        if self.open_tags.len() == MAX_STATEMENTS {
            return Err(self.fail(format!(
                "the template nests more than {MAX_STATEMENTS} statements deep"
            )));
        }
        let outer_tag_end = self.tag_end.take();
        self.open_tags.push((name, self.token().span));
        let first = out.len();
        self.statement(name, out)?;
        self.open_tags.pop();
        self.expect_block_end()?;
        let span = Span {
            start,
            end: self.tag_end.unwrap_or(self.previous_end),
        };
        for stmt in &mut out[first..] {
            stmt.span = span;
            self.sets_names |= sets_names(&stmt.kind);
        }
        self.tag_end = outer_tag_end;
        Ok(())
    }

    /// The statement whose name is the current token. Its span is set by the caller.
    fn statement(&mut self, name: &'s str, out: &mut Vec<Stmt>) -> Result<()> {
        let parse: fn(&mut Self) -> Result<StmtKind> = match name {
            "for" => Self::for_loop,
            "if" => Self::if_chain,
            "block" => Self::block,
            "extends" => Self::extends,
            "print" => return self.print(out),
            "macro" => Self::macro_definition,
            "include" => Self::include,
            "from" => Self::import_names,
            "import" => Self::import,
            "set" => Self::set,
            "with" => Self::with,
            "autoescape" => Self::autoescape,
            "call" => Self::call_block,
            "filter" => Self::filter_block,
            _ => {
                let kind = match self.tags.iter().find(|tag| tag.name == name) {
                    Some(tag) => self.added(*tag)?,
                    None => return Err(self.unknown_tag(name)),
                };
                out.push(Stmt {
                    span: Span::default(),
                    kind,
                });
                return Ok(());
            }
        };
        let kind = parse(self)?;
        out.push(Stmt {
            span: Span::default(),
            kind,
        });
        Ok(())
    }

    /// The statement of a tag that is not the language's own.
    fn added(&mut self, tag: Tag) -> Result<StmtKind> {
        match tag.form {
            TagForm::Do => self.do_statement(),
            TagForm::Break => self.loop_control(StmtKind::Break, "'break' outside loop"),
            TagForm::Continue => {
                self.loop_control(StmtKind::Continue, "'continue' not properly in loop")
            }
            TagForm::Load { end } => self.load(tag.name, end),
            TagForm::ImportData => self.import_data(tag.name),
            TagForm::Labelled { end } => self.labelled(tag.name, end),
        }
    }

    fn unknown_tag(&mut self, name: &str) -> Box<ReadFailure> {
        self.open_tags.pop();
        let mut failure = self.fail(self.nesting_message(Some(name)));
        let mut known: Vec<&str> = TAGS.to_vec();
        known.extend(self.tags.iter().map(|tag| tag.name));
        known.sort_unstable();
        known.extend(self.awaited.last().copied().into_iter().flatten());
        failure.help = match nearest(name, known) {
            Some(near) if near != name => Some(format!("did you mean '{near}'?")),
            _ => self.open_tags.last().map(|(tag, opening)| {
                format!("the '{tag}' at {} is not closed", self.position(*opening))
            }),
        };
        failure
    }

    /// The error of an unknown tag, or of the template's end without a tag.
    fn nesting_message(&self, tag: Option<&str>) -> String {
        let mut message = match tag {
            Some(tag) => format!("Encountered unknown tag {}.", quote_str(tag)),
            None => "Unexpected end of template.".to_owned(),
        };
        if let Some(tags) = self.awaited.last() {
            let looking = tags
                .iter()
                .map(|tag| quote_str(tag))
                .collect::<Vec<_>>()
                .join(" or ");
            let misplaced =
                tag.is_some_and(|tag| self.awaited.iter().any(|tags| tags.contains(&tag)));
            message += &if misplaced {
                format!(
                    " You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for \
                     {looking}."
                )
            } else {
                format!(" Jinja was looking for the following tags: {looking}.")
            };
        }
        if let Some((tag, _)) = self.open_tags.last() {
            message += &format!(
                " The innermost block that needs to be closed is {}.",
                quote_str(tag)
            );
        }
        message
    }

    // ---- bodies ----

    /// The end of the current tag, then a body up to one of the tags, which becomes the current
    /// token.
    fn body(&mut self, body: Body, end_tags: &'static [&'static str]) -> Result<Vec<Stmt>> {
        self.skip_op(Op::Colon)?;
        self.expect_block_end()?;
        self.tag_end.get_or_insert(self.previous_end);
        let outer = self.scope;
        self.scope = outer.inside(body);
        self.awaited.push(end_tags);
        let statements = self.until(end_tags)?;
        if *self.kind() == Tok::Eof {
            let mut failure = self.fail(self.nesting_message(None));
            // The end of the template says nothing: the tag is what to look at.
            if let Some((_, opening)) = self.open_tags.last() {
                failure.span = *opening;
            }
            return Err(failure);
        }
        self.awaited.pop();
        self.scope = outer;
        Ok(statements)
    }

    /// A body with only one possible end, which is passed over.
    fn whole_body(
        &mut self,
        body: Body,
        end_tags: &'static [&'static str; 1],
    ) -> Result<Vec<Stmt>> {
        let statements = self.body(body, end_tags)?;
        self.advance()?;
        Ok(statements)
    }

    // ---- targets ----

    fn target(&mut self, with_namespace: bool) -> Result<Target> {
        let written = self.written_target(with_namespace)?;
        self.assignable(written)
    }

    /// A target whose names are assigned, so none may be `loop` inside of a loop.
    fn assigned_target(&mut self, with_namespace: bool) -> Result<Target> {
        let (span, line) = (self.token().span, self.line());
        let target = self.target(with_namespace)?;
        self.protect_loop(&target, span, line);
        Ok(target)
    }

    fn protect_loop(&mut self, target: &Target, span: Span, line: u32) {
        fn names_loop(target: &Target) -> bool {
            match target {
                Target::Name(name) => &**name == "loop",
                Target::Tuple(targets) => targets.iter().any(names_loop),
                Target::Attribute(..) => false,
            }
        }
        if let Some(order) = self.scope.outer_loop
            && names_loop(target)
        {
            let message = "Can't assign to special loop variable in for-loop target";
            self.late
                .push((order, ReadFailure::new(message, span, line)));
        }
    }

    fn assignable(&self, written: WrittenTarget) -> Result<Target> {
        let WrittenTarget { target, span, line } = written;
        target.map_err(|class| {
            ReadFailure::new(format!("can't assign to {}", quote_str(class)), span, line)
        })
    }

    /// One target, or several with commas between them.
    fn written_target(&mut self, with_namespace: bool) -> Result<WrittenTarget> {
        let start = self.start();
        let mut line = self.line();
        let mut items = Vec::new();
        while !self.ends_tuple() {
            let item = self.target_item(with_namespace)?;
            if !self.is_op(Op::Comma) {
                if items.is_empty() {
                    return Ok(item);
                }
                items.push(item.target);
                break;
            }
            items.push(item.target);
            line = self.line();
            self.advance()?;
        }
        if items.is_empty() {
            return Err(self.fail(format!("Expected an expression, got {}", self.described())));
        }
        let targets: std::result::Result<Vec<Target>, _> = items.into_iter().collect();
        Ok(WrittenTarget {
            target: targets.map(Target::Tuple).map_err(|_| "tuple"),
            span: self.since(start),
            line,
        })
    }

    fn target_item(&mut self, with_namespace: bool) -> Result<WrittenTarget> {
        let (start, line) = (self.start(), self.line());
        if with_namespace
            && let Some(name) = self.name().filter(|name| !is_constant(name))
            && self.next_is(|_, token| token.kind == Tok::Op(Op::Dot))?
        {
            self.advance()?;
            self.advance()?;
            let target = Ok(Target::Attribute(
                self.shared(name),
                self.identifier()?.into(),
            ));
            return Ok(WrittenTarget {
                target,
                span: self.since(start),
                line,
            });
        }
        let node = self.primary()?;
        Ok(WrittenTarget {
            span: node.expr.span,
            line: node.line,
            target: as_target(node.expr.kind),
        })
    }

    /// A single name to assign to.
    fn target_name(&mut self) -> Result<&'s str> {
        let (span, line) = (self.token().span, self.line());
        let name = self.identifier()?;
        if is_constant(name) {
            return Err(ReadFailure::new("can't assign to 'name'", span, line));
        }
        Ok(name)
    }

    // ---- tags ----

    fn for_loop(&mut self) -> Result<StmtKind> {
        let outer = self.scope;
        self.scope
            .outer_loop
            .get_or_insert((outer.pass, self.start()));
        let scoped_blocks = self.scoped_blocks;
        let mut node = self.for_header()?;
        node.body = self.body(Body::Loop, &["endfor", "else"])?;
        // A loop that can be called is a function as a whole.
        let otherwise = if node.recursive {
            Body::Function
        } else {
            Body::Inner
        };
        node.otherwise = self.otherwise(otherwise, &["endfor"])?;
        let [uses_loop] = self.mentions(&node.body, ["loop"]);
        node.uses_loop = uses_loop || node.recursive || self.scoped_blocks > scoped_blocks;
        self.scope = outer;
        Ok(StmtKind::For(Arc::from(node)))
    }

    /// `for target in iter if filter recursive`
    fn for_header(&mut self) -> Result<Box<For>> {
        self.advance()?;
        let target = self.assigned_target(false)?;
        self.expect_name("in")?;
        let iter = *self
            .tuple(&TupleRules {
                unconditional: true,
                ..TupleRules::default()
            })?
            .expr;
        let filter = if self.skip_name("if")? {
            Some(*self.expression()?.expr)
        } else {
            None
        };
        let recursive = self.skip_name("recursive")?;
        let (body, otherwise, uses_loop) = (Vec::new(), Vec::new(), false);
        Ok(Box::new(For {
            target,
            iter,
            filter,
            recursive,
            body,
            otherwise,
            uses_loop,
        }))
    }

    /// For each of the names, whether a body that has just been parsed reads it.
    fn mentions<const N: usize>(&self, body: &[Stmt], names: [&str; N]) -> [bool; N] {
        // Every name that is read was met before.
        if names.iter().any(|name| self.names.contains(*name)) {
            mentions(body, names)
        } else {
            [false; N]
        }
    }

    /// At a tag that ends a body: the body of `else`, if it is that.
    fn otherwise(&mut self, body: Body, end_tags: &'static [&'static str; 1]) -> Result<Vec<Stmt>> {
        let has_else = self.skip_name("else")?;
        if has_else {
            return self.whole_body(body, end_tags);
        }
        self.advance()?;
        Ok(Vec::new())
    }

    fn if_chain(&mut self) -> Result<StmtKind> {
        let mut arms = Vec::new();
        // The current token is `if` or `elif`.
        loop {
            self.advance()?;
            let test = *self
                .tuple(&TupleRules {
                    unconditional: true,
                    ..TupleRules::default()
                })?
                .expr;
            let body = self.body(Body::Soft, &["elif", "else", "endif"])?;
            arms.push((test, body));
            if !self.is_name("elif") {
                let otherwise = self.otherwise(Body::Soft, &["endif"])?;
                return Ok(StmtKind::If { arms, otherwise });
            }
        }
    }

    fn block(&mut self) -> Result<StmtKind> {
        let (tag, line) = (self.token().span, self.line());
        self.advance()?;
        let name = self.identifier()?;
        let scoped = self.skip_name("scoped")?;
        let required = self.skip_name("required")?;
        if self.is_op(Op::Sub) {
            return Err(self.fail(
                "Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an \
                 underscore instead.",
            ));
        }
        if !self.block_names.insert(name) {
            self.late(
                PASS_BLOCKS,
                tag,
                line,
                format!("block {} defined twice", quote_str(name)),
            );
        }
        self.scoped_blocks += usize::from(scoped);
        let pass = u32::try_from(self.block_names.len())
            .map_or(PASS_PYTHON - 1, |ordinal| PASS_ROOT + ordinal);
        let body = self.whole_body(Body::Block(pass), &["endblock"])?;
        if required && !body.iter().all(is_blank) {
            return Err(self.fail("Required blocks can only contain comments or whitespace"));
        }
        self.skip_name(name)?;
        let [uses_super] = self.mentions(&body, ["super"]);
        let block = Arc::new(Block {
            name: name.into(),
            uses_super,
            body,
            scoped,
            required,
        });
        self.blocks.push((tag.start, Arc::clone(&block)));
        Ok(StmtKind::Block(block))
    }

    fn extends(&mut self) -> Result<StmtKind> {
        let (span, line) = (self.token().span, self.line());
        self.advance()?;
        if !self.scope.toplevel {
            self.late(
                self.scope.pass,
                span,
                line,
                "cannot use extend from a non top-level scope",
            );
        }
        Ok(StmtKind::Extends(*self.expression()?.expr))
    }

    /// One output for each expression.
    fn print(&mut self, out: &mut Vec<Stmt>) -> Result<()> {
        self.advance()?;
        let mut first = true;
        while *self.kind() != Tok::BlockEnd {
            if !first {
                self.expect_op(Op::Comma)?;
            }
            first = false;
            out.push(Stmt {
                span: Span::default(),
                kind: StmtKind::Output(*self.expression()?.expr),
            });
        }
        Ok(())
    }

    fn macro_definition(&mut self) -> Result<StmtKind> {
        let (tag, line) = (self.token().span, self.line());
        self.advance()?;
        let name = self.target_name()?;
        let params = self.signature()?;
        let body = self.whole_body(Body::Function, &["endmacro"])?;
        Ok(StmtKind::Macro(
            self.function(name, params, body, tag, line),
        ))
    }

    fn call_block(&mut self) -> Result<StmtKind> {
        let (tag, line) = (self.token().span, self.line());
        self.advance()?;
        let params = if self.is_op(Op::LParen) {
            self.signature()?
        } else {
            Vec::new()
        };
        let call = *self.expression()?.expr;
        if !matches!(call.kind, ExprKind::Call { .. }) {
            return Err(ReadFailure::new("expected call", call.span, line));
        }
        let body = self.whole_body(Body::Function, &["endcall"])?;
        let caller = self.function("caller", params, body, tag, line);
        Ok(StmtKind::CallBlock { call, caller })
    }

    /// `(a, b=1)`
    fn signature(&mut self) -> Result<Vec<Param>> {
        self.expect_op(Op::LParen)?;
        let mut params: Vec<Param> = Vec::new();
        let mut names = HashSet::new();
        while !self.is_op(Op::RParen) {
            if !params.is_empty() {
                self.expect_op(Op::Comma)?;
            }
            let (span, line) = (self.token().span, self.line());
            let name = self.target_name()?;
            let name = self.shared(name);
            let default = if self.skip_op(Op::Assign)? {
                Some(*self.expression()?.expr)
            } else if params.last().is_some_and(|last| last.default.is_some()) {
                return Err(self.fail("non-default argument follows default argument"));
            } else {
                None
            };
            if !names.insert(Str::clone(&name)) {
                self.late(
                    PASS_PYTHON,
                    span,
                    line,
                    format!("duplicate argument {} in macro", quote_str(&name)),
                );
            }
            params.push(Param { name, default });
        }
        self.expect_op(Op::RParen)?;
        Ok(params)
    }

    fn function(
        &mut self,
        name: &str,
        params: Vec<Param>,
        body: Vec<Stmt>,
        tag: Span,
        line: u32,
    ) -> Arc<Macro> {
        let param = |name: &str| params.iter().find(|param| *param.name == *name);
        let [uses_caller, kwargs, varargs] = self.mentions(&body, ["caller", "kwargs", "varargs"]);
        if uses_caller && param("caller").is_some_and(|param| param.default.is_none()) {
            self.late(
                self.scope.pass,
                tag,
                line,
                "When defining macros or call blocks the special \"caller\" argument must be omitted or be given a \
                 default.",
            );
        }
        let uses_kwargs = kwargs && param("kwargs").is_none();
        let uses_varargs = varargs && param("varargs").is_none();
        Arc::new(Macro {
            name: self.shared(name),
            params,
            body,
            uses_varargs,
            uses_kwargs,
            uses_caller,
        })
    }

    fn include(&mut self) -> Result<StmtKind> {
        self.advance()?;
        let template = *self.expression()?.expr;
        let ignore_missing = self.is_name("ignore") && self.next_is_name("missing")?;
        if ignore_missing {
            self.advance()?;
            self.advance()?;
        }
        let with_context = self.context_flag()?.unwrap_or(true);
        Ok(StmtKind::Include {
            template,
            with_context,
            ignore_missing,
        })
    }

    /// `with context` or `without context`, if it is here.
    fn context_flag(&mut self) -> Result<Option<bool>> {
        let with = self.is_name("with");
        if !(with || self.is_name("without")) || !self.next_is_name("context")? {
            return Ok(None);
        }
        self.advance()?;
        self.advance()?;
        Ok(Some(with))
    }

    fn import(&mut self) -> Result<StmtKind> {
        let (template, target, with_context) = self.import_as()?;
        Ok(StmtKind::Import {
            template,
            target: self.shared(target),
            with_context,
        })
    }

    fn import_data(&mut self, tag: &'static str) -> Result<StmtKind> {
        let (span, line) = (self.token().span, self.line());
        let (template, target, with_context) = self.import_as()?;
        let target = Target::Name(self.shared(target));
        self.protect_loop(&target, span, line);
        Ok(StmtKind::ImportData {
            tag,
            template,
            target,
            with_context,
        })
    }

    /// `import expr as name with context`
    fn import_as(&mut self) -> Result<(Expr, &'s str, bool)> {
        self.advance()?;
        let template = *self.expression()?.expr;
        self.expect_name("as")?;
        let target = self.target_name()?;
        let with_context = self.context_flag()?.unwrap_or(false);
        Ok((template, target, with_context))
    }

    fn import_names(&mut self) -> Result<StmtKind> {
        self.advance()?;
        let template = *self.expression()?.expr;
        self.expect_name("import")?;
        let mut names: Vec<(Str, Str)> = Vec::new();
        let with_context = loop {
            if !names.is_empty() {
                self.expect_op(Op::Comma)?;
            }
            if self.name().is_some()
                && let Some(flag) = self.context_flag()?
            {
                break Some(flag);
            }
            names.push(self.imported_name()?);
            let flag = self.context_flag()?;
            if flag.is_some() || !self.is_op(Op::Comma) {
                break flag;
            }
        };
        Ok(StmtKind::FromImport {
            template,
            names,
            with_context: with_context.unwrap_or(false),
        })
    }

    /// `name` or `name as alias`
    fn imported_name(&mut self) -> Result<(Str, Str)> {
        let (span, line) = (self.token().span, self.line());
        let name = self.target_name()?;
        if name.starts_with('_') {
            let message = "names starting with an underline can not be imported";
            return Err(ReadFailure::new(message, span, line));
        }
        let alias = if self.skip_name("as")? {
            self.target_name()?
        } else {
            name
        };
        Ok((name.into(), self.shared(alias)))
    }

    fn set(&mut self) -> Result<StmtKind> {
        self.advance()?;
        let target = self.assigned_target(true)?;
        if self.skip_op(Op::Assign)? {
            return Ok(StmtKind::Set {
                target,
                value: *self.tuple(&TupleRules::default())?.expr,
            });
        }
        let filter = if self.skip_op(Op::Pipe)? {
            Some(self.filter_chain()?)
        } else {
            None
        };
        let body = self.whole_body(Body::Inner, &["endset"])?;
        Ok(StmtKind::SetBlock {
            target,
            filter,
            body,
        })
    }

    fn with(&mut self) -> Result<StmtKind> {
        self.advance()?;
        let mut bindings = Vec::new();
        while *self.kind() != Tok::BlockEnd {
            if !bindings.is_empty() {
                self.expect_op(Op::Comma)?;
            }
            let target = self.target(false)?;
            self.expect_op(Op::Assign)?;
            bindings.push((target, *self.expression()?.expr));
        }
        let body = self.whole_body(Body::Inner, &["endwith"])?;
        Ok(StmtKind::With { bindings, body })
    }

    fn autoescape(&mut self) -> Result<StmtKind> {
        self.advance()?;
        let enabled = *self.expression()?.expr;
        let body = self.whole_body(Body::Inner, &["endautoescape"])?;
        Ok(StmtKind::Autoescape { enabled, body })
    }

    fn filter_block(&mut self) -> Result<StmtKind> {
        self.advance()?;
        let filter = self.filter_chain()?;
        let body = self.whole_body(Body::Inner, &["endfilter"])?;
        Ok(StmtKind::FilterBlock { filter, body })
    }

    fn do_statement(&mut self) -> Result<StmtKind> {
        self.advance()?;
        Ok(StmtKind::Do(*self.tuple(&TupleRules::default())?.expr))
    }

    fn loop_control(&mut self, kind: StmtKind, misplaced: &str) -> Result<StmtKind> {
        if !self.scope.breakable {
            let (span, line) = (self.token().span, self.line());
            self.late(PASS_PYTHON, span, line, misplaced);
        }
        self.advance()?;
        Ok(kind)
    }

    fn load(&mut self, tag: &'static str, end: &'static [&'static str; 1]) -> Result<StmtKind> {
        self.advance()?;
        self.expect_name("as")?;
        let target = self.assigned_target(false)?;
        let body = self.whole_body(Body::Function, end)?;
        Ok(StmtKind::Load { tag, target, body })
    }

    fn labelled(&mut self, tag: &'static str, end: &'static [&'static str; 1]) -> Result<StmtKind> {
        self.advance()?;
        self.expect_name("as")?;
        let label = *self.expression()?.expr;
        let body = self.whole_body(Body::Soft, end)?;
        Ok(StmtKind::Labelled { tag, label, body })
    }
}

impl Scope {
    fn inside(self, body: Body) -> Scope {
        Scope {
            toplevel: self.toplevel && body == Body::Soft,
            breakable: match body {
                Body::Soft | Body::Inner => self.breakable,
                Body::Loop => true,
                Body::Function | Body::Block(_) => false,
            },
            pass: match body {
                Body::Block(pass) => pass,
                _ => self.pass,
            },
            ..self
        }
    }
}

fn as_target(kind: ExprKind) -> std::result::Result<Target, &'static str> {
    match kind {
        ExprKind::Name(name) => Ok(Target::Name(name)),
        ExprKind::Tuple(items) => {
            let targets: Option<Vec<Target>> = items
                .into_iter()
                .map(|item| as_target(item.kind).ok())
                .collect();
            targets.map(Target::Tuple).ok_or("tuple")
        }
        other => Err(other.class_name()),
    }
}

fn is_constant(name: &str) -> bool {
    matches!(name, "true" | "True" | "false" | "False" | "none" | "None")
}

fn is_blank(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Text(text) if text.chars().all(mapstack_value::pytext::classes::is_space))
}
