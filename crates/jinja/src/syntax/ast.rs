//! The syntax tree of a Jinja template.
//!
//! The tree is immutable and can be shared between threads, so a template is parsed once and
//! rendered many times. Every expression and statement knows the range of source it came from;
//! errors and the map from output to source are built on that.

use std::collections::BTreeMap;
use std::sync::Arc;

pub use mapstack_pyobject::{BinaryOp, CompareOp, Span};
use mapstack_value::{Str, Value};

/// A parsed template.
#[derive(Debug)]
pub struct Template {
    /// The name it was loaded under; a template given as text has none.
    pub name: Option<Str>,
    /// The source, with `\r\n` and `\r` turned into `\n`. Spans point into it.
    pub source: Arc<str>,
    /// The statements, top to bottom.
    pub body: Vec<Stmt>,
    /// Every `{% block %}` of the template, also nested ones, by name.
    pub blocks: Vec<Arc<Block>>,
    /// The outermost lists and dicts that are made of literals alone, by the byte where they start.
    pub constants: BTreeMap<u32, Constant>,
    /// By the byte where a body starts, the names that have no value at its start, whatever was given under them,
    /// and that something in it reads before it sets them.
    pub unset: BTreeMap<u32, Vec<Str>>,
    /// True if `self` is a variable of the template, which it sets before it reads it, and not its blocks.
    pub sets_self: bool,
    /// True if the source, and with it every name, is ASCII.
    pub is_ascii: bool,
}

impl Template {
    /// A template that does nothing. Source maps of other languages refer to the sources of their templates with it.
    ///
    /// ```
    /// use mapstack_jinja::syntax::ast::Template;
    /// assert!(Template::empty(None, "{{ x }}".into()).body.is_empty());
    /// ```
    #[must_use]
    pub fn empty(name: Option<Str>, source: Arc<str>) -> Self {
        Template {
            name,
            sets_self: false,
            is_ascii: source.is_ascii(),
            source,
            body: Vec::new(),
            blocks: Vec::new(),
            constants: BTreeMap::new(),
            unset: BTreeMap::new(),
        }
    }

    /// The names that a body of this template hides until it sets them.
    ///
    /// ```
    /// use mapstack_jinja::syntax::{Syntax, parse};
    /// let source = "{% for x in [1] %}{{ port }}{% endfor %}{% set port = 80 %}";
    /// let template = parse(source, None, &Syntax::default(), &[]).unwrap();
    /// assert_eq!(template.unset_at_start(&template.body), ["port".into()]);
    /// ```
    #[must_use]
    pub fn unset_at_start(&self, body: &[Stmt]) -> &[Str] {
        match body.first() {
            Some(first) if !self.unset.is_empty() => {
                self.unset.get(&first.span.start).map_or(&[], Vec::as_slice)
            }
            _ => &[],
        }
    }
}

/// A list or dict that is made of literals alone.
#[derive(Debug, Clone)]
pub struct Constant {
    /// The data.
    pub value: Value,
    /// Places for objects in it and the containers in it.
    pub objects: usize,
    /// The steps that evaluating its parts takes, without the objects.
    pub steps: usize,
}

/// A statement and its span: from its opening tag's first byte to the end of that tag (for
/// text, the text itself).
#[derive(Debug)]
pub struct Stmt {
    /// The tag (or text) in the source.
    pub span: Span,
    /// The kind.
    pub kind: StmtKind,
}

/// The kind of a statement.
#[derive(Debug)]
pub enum StmtKind {
    /// Literal text.
    Text(Str),
    /// `{{ expr }}`
    Output(Expr),
    /// `{% for target in iter if filter recursive %}…{% else %}…{% endfor %}`
    For(Arc<For>),
    /// `{% if %}…{% elif %}…{% else %}…{% endif %}`
    If {
        /// Each condition with its body, in order.
        arms: Vec<(Expr, Vec<Stmt>)>,
        /// The `else` body.
        otherwise: Vec<Stmt>,
    },
    /// `{% macro name(params) %}…{% endmacro %}`
    Macro(Arc<Macro>),
    /// `{% call(params) callee(args) %}…{% endcall %}`: the body becomes a macro called `caller`.
    CallBlock {
        /// The call expression (always [`ExprKind::Call`]).
        call: Expr,
        /// The nameless macro that the body is.
        caller: Arc<Macro>,
    },
    /// `{% filter a|b %}…{% endfilter %}`: a chain of [`ExprKind::Filter`] whose innermost input
    /// is `None`.
    FilterBlock {
        /// The filter chain.
        filter: Expr,
        /// The filtered statements.
        body: Vec<Stmt>,
    },
    /// `{% set target = value %}`
    Set {
        /// The bound names.
        target: Target,
        /// The value.
        value: Expr,
    },
    /// `{% set target | filter %}…{% endset %}`
    SetBlock {
        /// The bound names.
        target: Target,
        /// The filter chain, as in [`StmtKind::FilterBlock`].
        filter: Option<Expr>,
        /// The captured body.
        body: Vec<Stmt>,
    },
    /// `{% with a = 1, b = 2 %}…{% endwith %}`
    With {
        /// Bindings; the values are evaluated outside the new scope.
        bindings: Vec<(Target, Expr)>,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `{% block name scoped required %}…{% endblock %}`
    Block(Arc<Block>),
    /// `{% extends expr %}`
    Extends(Expr),
    /// `{% include expr ignore missing with context %}`
    Include {
        /// A name, or a list or tuple of names.
        template: Expr,
        /// `without context` clears it.
        with_context: bool,
        /// `ignore missing`
        ignore_missing: bool,
    },
    /// `{% import expr as target %}`
    Import {
        /// The template's name.
        template: Expr,
        /// The name bound to the module.
        target: Str,
        /// `with context`
        with_context: bool,
    },
    /// `{% from expr import a, b as c %}`
    FromImport {
        /// The template's name.
        template: Expr,
        /// Pairs of the name there and the name here.
        names: Vec<(Str, Str)>,
        /// `with context`
        with_context: bool,
    },
    /// `{% do expr %}`
    Do(Expr),
    /// `{% break %}`
    Break,
    /// `{% continue %}`
    Continue,
    /// `{% autoescape expr %}…{% endautoescape %}`
    Autoescape {
        /// The switch: true if text is escaped.
        enabled: Expr,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `{% tag as target %}…{% end %}`: what the body prints is read by the dialect that has the tag.
    Load {
        /// The tag's name.
        tag: &'static str,
        /// The bound names.
        target: Target,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `{% tag expr as target %}`: what a template prints is read by the dialect that has the tag.
    ImportData {
        /// The tag's name.
        tag: &'static str,
        /// The file's name.
        template: Expr,
        /// The bound names.
        target: Target,
        /// `with context`
        with_context: bool,
    },
    /// `{% tag as expr %}…{% end %}`: a body that is given a label.
    Labelled {
        /// The tag's name.
        tag: &'static str,
        /// The label.
        label: Expr,
        /// The body.
        body: Vec<Stmt>,
    },
}

/// A `for` loop.
#[derive(Debug)]
pub struct For {
    /// The target that each item is bound to.
    pub target: Target,
    /// The iterated expression.
    pub iter: Expr,
    /// The `if` after the iterable.
    pub filter: Option<Expr>,
    /// True if `loop(…)` may call the body again.
    pub recursive: bool,
    /// The body.
    pub body: Vec<Stmt>,
    /// The `else` body, for when nothing was iterated.
    pub otherwise: Vec<Stmt>,
    /// True if the body (or a nested scope) mentions the name `loop`.
    pub uses_loop: bool,
}

/// A macro, or the body of a `call` block.
#[derive(Debug)]
pub struct Macro {
    /// Its name; `caller` for the body of a call block.
    pub name: Str,
    /// Parameters in order; defaults belong to the last ones.
    pub params: Vec<Param>,
    /// The body.
    pub body: Vec<Stmt>,
    /// True if the body reads `varargs` (and so takes extra positional arguments).
    pub uses_varargs: bool,
    /// True if the body reads `kwargs` (and so takes extra named arguments).
    pub uses_kwargs: bool,
    /// True if the body reads `caller` (and so may be used with `call`).
    pub uses_caller: bool,
}

/// A parameter of a macro.
#[derive(Debug)]
pub struct Param {
    /// Its name.
    pub name: Str,
    /// Its default, evaluated at each call.
    pub default: Option<Expr>,
}

/// A `block`.
#[derive(Debug)]
pub struct Block {
    /// Its name.
    pub name: Str,
    /// True if the body reads `super`.
    pub uses_super: bool,
    /// The body.
    pub body: Vec<Stmt>,
    /// True if it sees the variables of the scope around it.
    pub scoped: bool,
    /// True if a child must override it.
    pub required: bool,
}

/// The left side of an assignment.
#[derive(Debug)]
pub enum Target {
    /// `name`
    Name(Str),
    /// `a, b` or `(a, (b, c))`
    Tuple(Vec<Target>),
    /// `ns.attr`
    Attribute(Str, Str),
}

/// An expression and the source it came from.
#[derive(Debug)]
pub struct Expr {
    /// The source text of the expression.
    pub span: Span,
    /// The kind.
    pub kind: ExprKind,
}

/// The kind of an expression.
#[derive(Debug)]
pub enum ExprKind {
    /// A literal: `none`, booleans, numbers, text (adjacent literals already joined).
    Const(Value),
    /// A variable.
    Name(Str),
    /// `(a, b)`
    Tuple(Vec<Expr>),
    /// `[a, b]`
    List(Vec<Expr>),
    /// `{a: b}`
    Dict(Vec<(Expr, Expr)>),
    /// `obj.name`; Jinja reads `obj.0` as an item, see [`ExprKind::Item`].
    Attr(Box<Expr>, Str),
    /// `obj[index]`, also `obj.0`.
    Item(Box<Expr>, Box<Expr>),
    /// `obj[start:stop:step]`
    Slice {
        /// The sliced object.
        object: Box<Expr>,
        /// Before the first colon.
        start: Option<Box<Expr>>,
        /// After the first colon.
        stop: Option<Box<Expr>>,
        /// After the second colon.
        step: Option<Box<Expr>>,
    },
    /// `callee(args)`
    Call {
        /// The called object.
        callee: Box<Expr>,
        /// With what.
        args: Box<Args>,
    },
    /// `input|name(args)`
    Filter {
        /// The value; `None` only at the heart of a filter block's chain.
        input: Option<Box<Expr>>,
        /// The filter's name, dotted parts joined by `.`.
        name: Str,
        /// Its arguments.
        args: Box<Args>,
    },
    /// `input is name(args)`; `is not` is wrapped in [`ExprKind::Not`].
    Test {
        /// The value.
        input: Box<Expr>,
        /// The test's name, dotted parts joined by `.`.
        name: Str,
        /// Its arguments.
        args: Box<Args>,
    },
    /// Arithmetic.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `-a`
    Neg(Box<Expr>),
    /// `+a`
    Pos(Box<Expr>),
    /// `not a`
    Not(Box<Expr>),
    /// `a and b`
    And(Box<Expr>, Box<Expr>),
    /// `a or b`
    Or(Box<Expr>, Box<Expr>),
    /// `a < b <= c`: the first operand and the rest of the chain.
    Compare(Box<Expr>, Vec<(CompareOp, Expr)>),
    /// `a ~ b ~ c`
    Concat(Vec<Expr>),
    /// `then if test else otherwise`
    Cond {
        /// The condition.
        test: Box<Expr>,
        /// The value if it holds.
        then: Box<Expr>,
        /// The value if not; undefined when left out.
        otherwise: Option<Box<Expr>>,
    },
}

impl ExprKind {
    /// Jinja2's name for this kind of expression in messages: the name of its node class in lower case.
    ///
    /// ```
    /// use mapstack_jinja::syntax::ast::{BinaryOp, Expr, ExprKind, Span};
    /// let expr = |kind| Box::new(Expr { span: Span { start: 0, end: 1 }, kind });
    /// let [a, b] = ["a", "b"].map(|name| expr(ExprKind::Name(name.into())));
    /// assert_eq!(ExprKind::Binary(BinaryOp::FloorDiv, a, b).class_name(), "floordiv");
    /// ```
    #[must_use]
    pub fn class_name(&self) -> &'static str {
        match self {
            ExprKind::Const(_) => "const",
            ExprKind::Name(_) => "name",
            ExprKind::Tuple(_) => "tuple",
            ExprKind::List(_) => "list",
            ExprKind::Dict(_) => "dict",
            ExprKind::Attr(..) => "getattr",
            ExprKind::Item(..) | ExprKind::Slice { .. } => "getitem",
            ExprKind::Call { .. } => "call",
            ExprKind::Filter { .. } => "filter",
            ExprKind::Test { .. } => "test",
            ExprKind::Binary(op, ..) => match op {
                BinaryOp::Add => "add",
                BinaryOp::Sub => "sub",
                BinaryOp::Mul => "mul",
                BinaryOp::Div => "div",
                BinaryOp::FloorDiv => "floordiv",
                BinaryOp::Mod => "mod",
                BinaryOp::Pow => "pow",
            },
            ExprKind::Neg(_) => "neg",
            ExprKind::Pos(_) => "pos",
            ExprKind::Not(_) => "not",
            ExprKind::And(..) => "and",
            ExprKind::Or(..) => "or",
            ExprKind::Compare(..) => "compare",
            ExprKind::Concat(_) => "concat",
            ExprKind::Cond { .. } => "condexpr",
        }
    }
}

/// The arguments of a call.
#[derive(Debug, Default)]
pub struct Args {
    /// Positional arguments.
    pub positional: Vec<Expr>,
    /// `name=value`
    pub named: Vec<(Str, Expr)>,
    /// `*list`
    pub star: Option<Box<Expr>>,
    /// `**dict`
    pub star_star: Option<Box<Expr>>,
}
