//! Expressions: operators by precedence, then what follows a value, then the values.

use std::collections::HashSet;

use foldhash::fast::RandomState;
use mapstack_value::pytext::classes::normalised;
use mapstack_value::{Str, Value};

use super::super::ast::{Args, BinaryOp, CompareOp, Expr, ExprKind};
use super::super::lexer::{Op, Tok};
use super::{PASS_PYTHON, Parser, ReadFailure, Result};

/// Levels of an expression: brackets as well as chains of operators, filters and attributes.
const MAX_EXPRESSION: u32 = 200;

/// An expression, with what the parser still needs to know about it.
pub(super) struct Node {
    pub expr: Box<Expr>,
    /// The line Jinja gives it.
    pub line: u32,
    /// The number of levels of the expression.
    height: u32,
}

/// Binary operators by how tightly they bind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precedence {
    Or,
    And,
    Not,
    Compare,
    Sum,
    Concat,
    Product,
    Power,
    /// Tighter than any binary operator.
    Unary,
}

#[derive(Debug, Clone, Copy)]
enum Infix {
    Or,
    And,
    Compare(CompareOp),
    Concat,
    Arithmetic(Precedence, BinaryOp),
}

impl Infix {
    fn level(self) -> Precedence {
        match self {
            Infix::Or => Precedence::Or,
            Infix::And => Precedence::And,
            Infix::Compare(_) => Precedence::Compare,
            Infix::Concat => Precedence::Concat,
            Infix::Arithmetic(level, _) => level,
        }
    }

    /// The level of its right operand: all of them group to the left, `**` too.
    fn operand(self) -> Precedence {
        match self {
            Infix::Or => Precedence::And,
            Infix::And => Precedence::Not,
            Infix::Compare(_) => Precedence::Sum,
            Infix::Concat => Precedence::Product,
            Infix::Arithmetic(Precedence::Sum, _) => Precedence::Concat,
            Infix::Arithmetic(Precedence::Product, _) => Precedence::Power,
            Infix::Arithmetic(..) => Precedence::Unary,
        }
    }
}

impl<'s> Parser<'s> {
    pub(super) fn expression(&mut self) -> Result<Node> {
        self.nested(Self::conditional)
    }

    /// An expression that stops before an `if`.
    fn unconditional(&mut self) -> Result<Node> {
        self.nested(|parser| parser.binary(Precedence::Or))
    }

    fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Result<Node>) -> Result<Node> {
        self.depth += 1;
        if self.depth > MAX_EXPRESSION {
            return Err(self.too_deep());
        }
        let node = parse(self)?;
        self.depth -= 1;
        Ok(node)
    }

    fn too_deep(&self) -> Box<ReadFailure> {
        self.fail(format!(
            "the expression nests more than {MAX_EXPRESSION} levels deep; split it up with {{% set %}}"
))
    }

    /// An expression from `start` to the current token, one level above the highest of its parts.
    fn node(&self, kind: ExprKind, start: u32, line: u32, height: u32) -> Result<Node> {
        if height >= MAX_EXPRESSION {
            return Err(self.too_deep());
        }
        Ok(Node {
            expr: Box::new(Expr {
                span: self.since(start),
                kind,
            }),
            line,
            height: height + 1,
        })
    }

    /// `a if b else c`
    fn conditional(&mut self) -> Result<Node> {
        let start = self.start();
        let mut line = self.line();
        let mut node = self.binary(Precedence::Or)?;
        while self.skip_name("if")? {
            let test = self.binary(Precedence::Or)?;
            let otherwise = if self.skip_name("else")? {
                Some(self.nested(Self::conditional)?)
            } else {
                None
            };
            let height = node
                .height
                .max(test.height)
                .max(otherwise.as_ref().map_or(0, |node| node.height));
            let kind = ExprKind::Cond {
                test: test.expr,
                then: node.expr,
                otherwise: otherwise.map(|node| node.expr),
            };
            node = self.node(kind, start, line, height)?;
            line = self.line();
        }
        Ok(node)
    }

    /// Operators that bind at least as tightly as `min`.
    fn binary(&mut self, min: Precedence) -> Result<Node> {
        let start = self.start();
        let start_line = self.line();
        let mut left = if min <= Precedence::Not && self.is_name("not") {
            self.negation()?
        } else {
            self.unary(true)?
        };
        let mut level = Precedence::Unary;
        while let Some(infix) = self.infix(min)? {
            // Jinja numbers the second and later operators of a chain by their own line.
            let line = if infix.level() == level {
                self.line()
            } else {
                start_line
            };
            level = infix.level();
            left = match infix {
                Infix::Compare(_) => self.comparison(left, start)?,
                Infix::Concat => self.concatenation(left, start, line)?,
                _ => self.operation(left, infix, start, line)?,
            };
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Node> {
        let (start, line) = (self.start(), self.line());
        self.advance()?;
        let inner = self.nested(|parser| parser.binary(Precedence::Not))?;
        self.node(ExprKind::Not(inner.expr), start, line, inner.height)
    }

    /// The operator at the current token, if it binds at least as tightly as `min`.
    fn infix(&mut self, min: Precedence) -> Result<Option<Infix>> {
        let infix = match self.kind() {
            Tok::Name => match self.text(self.token().span) {
                "or" => Infix::Or,
                "and" => Infix::And,
                "in" => Infix::Compare(CompareOp::In),
                "not" if min <= Precedence::Compare && self.next_is_name("in")? => {
                    Infix::Compare(CompareOp::NotIn)
                }
                _ => return Ok(None),
            },
            Tok::Op(op) => match op {
                Op::Eq => Infix::Compare(CompareOp::Eq),
                Op::Ne => Infix::Compare(CompareOp::Ne),
                Op::Lt => Infix::Compare(CompareOp::Lt),
                Op::Le => Infix::Compare(CompareOp::Le),
                Op::Gt => Infix::Compare(CompareOp::Gt),
                Op::Ge => Infix::Compare(CompareOp::Ge),
                Op::Add => Infix::Arithmetic(Precedence::Sum, BinaryOp::Add),
                Op::Sub => Infix::Arithmetic(Precedence::Sum, BinaryOp::Sub),
                Op::Tilde => Infix::Concat,
                Op::Mul => Infix::Arithmetic(Precedence::Product, BinaryOp::Mul),
                Op::Div => Infix::Arithmetic(Precedence::Product, BinaryOp::Div),
                Op::FloorDiv => Infix::Arithmetic(Precedence::Product, BinaryOp::FloorDiv),
                Op::Mod => Infix::Arithmetic(Precedence::Product, BinaryOp::Mod),
                Op::Pow => Infix::Arithmetic(Precedence::Power, BinaryOp::Pow),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        Ok((infix.level() >= min).then_some(infix))
    }

    fn operation(&mut self, left: Node, infix: Infix, start: u32, line: u32) -> Result<Node> {
        self.advance()?;
        let right = self.nested(|parser| parser.binary(infix.operand()))?;
        let height = left.height.max(right.height);
        let (left, right) = (left.expr, right.expr);
        let kind = match infix {
            Infix::Or => ExprKind::Or(left, right),
            Infix::And => ExprKind::And(left, right),
            Infix::Arithmetic(_, op) => ExprKind::Binary(op, left, right),
            Infix::Compare(op) => ExprKind::Compare(left, vec![(op, *right)]),
            Infix::Concat => ExprKind::Concat(vec![*left, *right]),
        };
        self.node(kind, start, line, height)
    }

    fn comparison(&mut self, left: Node, start: u32) -> Result<Node> {
        let mut height = left.height;
        let mut rest = Vec::new();
        while let Some(Infix::Compare(op)) = self.infix(Precedence::Compare)? {
            self.advance()?;
            if op == CompareOp::NotIn {
                self.advance()?;
            }
            let right = self.nested(|parser| parser.binary(Precedence::Sum))?;
            height = height.max(right.height);
            rest.push((op, *right.expr));
        }
        self.node(
            ExprKind::Compare(left.expr, rest),
            start,
            self.line(),
            height,
        )
    }

    fn concatenation(&mut self, left: Node, start: u32, line: u32) -> Result<Node> {
        let mut parts = ExpressionList {
            exprs: vec![*left.expr],
            height: left.height,
        };
        while self.skip_op(Op::Tilde)? {
            parts.push(self.nested(|parser| parser.binary(Precedence::Product))?);
        }
        self.node(ExprKind::Concat(parts.exprs), start, line, parts.height)
    }

    fn unary(&mut self, with_filter: bool) -> Result<Node> {
        let sign = match self.kind() {
            Tok::Op(op @ (Op::Add | Op::Sub)) => Some(*op),
            _ => None,
        };
        let node = match sign {
            Some(op) => self.signed(op)?,
            None => self.primary()?,
        };
        let node = self.postfix(node)?;
        if with_filter {
            self.filters_and_tests(node)
        } else {
            Ok(node)
        }
    }

    fn signed(&mut self, op: Op) -> Result<Node> {
        let (start, line) = (self.start(), self.line());
        self.advance()?;
        let inner = self.nested(|parser| parser.unary(false))?;
        let kind = if op == Op::Sub {
            ExprKind::Neg
        } else {
            ExprKind::Pos
        };
        self.node(kind(inner.expr), start, line, inner.height)
    }

    // ---- what follows a value ----

    /// Attributes, items and calls.
    fn postfix(&mut self, mut node: Node) -> Result<Node> {
        loop {
            node = match self.kind() {
                Tok::Op(Op::Dot) => self.attribute(node)?,
                Tok::Op(Op::LBracket) => self.item(node)?,
                Tok::Op(Op::LParen) => self.call(node)?,
                _ => return Ok(node),
            };
        }
    }

    fn filters_and_tests(&mut self, mut node: Node) -> Result<Node> {
        loop {
            node = match self.kind() {
                Tok::Op(Op::Pipe) => self.filter(node)?,
                Tok::Op(Op::LParen) => self.call(node)?,
                Tok::Name if self.is_name("is") => self.test(node)?,
                _ => return Ok(node),
            };
        }
    }

    fn attribute(&mut self, node: Node) -> Result<Node> {
        let line = self.line();
        self.advance()?;
        let at = self.at;
        self.advance()?;
        let token = &self.tokens[at];
        let (start, object) = (node.expr.span.start, node.expr);
        let kind = match &token.kind {
            Tok::Name => {
                let name = self.text(token.span);
                ExprKind::Attr(object, self.shared(name))
            }
            Tok::Int(index) => {
                let index = Expr {
                    span: token.span,
                    kind: ExprKind::Const(Value::Int(index.clone())),
                };
                ExprKind::Item(object, Box::new(index))
            }
            _ => {
                let (span, line) = (token.span, token.line);
                return Err(ReadFailure::new("expected name or number", span, line));
            }
        };
        self.node(kind, start, line, node.height)
    }

    fn item(&mut self, node: Node) -> Result<Node> {
        let (bracket, line) = (self.start(), self.line());
        self.advance()?;
        let start = node.expr.span.start;
        let mut height = node.height;
        let mut indices = Vec::new();
        let mut sliced = None;
        let mut count = 0;
        while !self.is_op(Op::RBracket) {
            if count > 0 {
                self.expect_op(Op::Comma)?;
            }
            count += 1;
            let index = if self.is_op(Op::Colon) {
                None
            } else {
                Some(self.expression()?)
            };
            height = height.max(index.as_ref().map_or(0, |node| node.height));
            match index {
                Some(index) if !self.is_op(Op::Colon) => indices.push(*index.expr),
                first => {
                    let (bounds, bounds_height) = self.slice(first.map(|node| node.expr))?;
                    height = height.max(bounds_height);
                    sliced = Some(bounds);
                }
            }
        }
        if sliced.is_some() && count > 1 {
            self.late(
                PASS_PYTHON,
                self.since(bracket),
                line,
                "a slice cannot be one of several indices",
            );
        }
        self.expect_op(Op::RBracket)?;
        let object = node.expr;
        let kind = match sliced {
            Some([start, stop, step]) => ExprKind::Slice {
                object,
                start,
                stop,
                step,
            },
            None => match <[Expr; 1]>::try_from(indices) {
                Ok([index]) => ExprKind::Item(object, Box::new(index)),
                Err(indices) => {
                    height += 1;
                    let tuple = Expr {
                        span: self.since(bracket),
                        kind: ExprKind::Tuple(indices),
                    };
                    ExprKind::Item(object, Box::new(tuple))
                }
            },
        };
        self.node(kind, start, line, height)
    }

    /// The rest of a slice, from its first colon on.
    fn slice(&mut self, start: Option<Box<Expr>>) -> Result<([Option<Box<Expr>>; 3], u32)> {
        self.advance()?;
        let mut height = 0;
        let mut bound = |parser: &mut Self| -> Result<Option<Box<Expr>>> {
            if parser.is_op(Op::RBracket) || parser.is_op(Op::Comma) {
                return Ok(None);
            }
            let node = parser.expression()?;
            height = height.max(node.height);
            Ok(Some(node.expr))
        };
        let stop = if self.is_op(Op::Colon) {
            None
        } else {
            bound(self)?
        };
        let step = if self.skip_op(Op::Colon)? {
            bound(self)?
        } else {
            None
        };
        Ok(([start, stop, step], height))
    }

    fn call(&mut self, node: Node) -> Result<Node> {
        let (start, line) = (node.expr.span.start, self.line());
        let (args, height) = self.arguments()?;
        let kind = ExprKind::Call {
            callee: node.expr,
            args,
        };
        self.node(kind, start, line, height.max(node.height))
    }

    /// `(a, b=c, *d, **e)`
    fn arguments(&mut self) -> Result<(Box<Args>, u32)> {
        let line = self.line();
        self.expect_op(Op::LParen)?;
        let mut args = Box::<Args>::default();
        let mut names = HashSet::<_, RandomState>::default();
        let mut height = 0;
        let mut first = true;
        while !self.is_op(Op::RParen) {
            if !first {
                self.expect_op(Op::Comma)?;
                if self.is_op(Op::RParen) {
                    break;
                }
            }
            first = false;
            let start = self.token().span;
            let slot = self.argument_slot()?;
            let allowed = match slot {
                Slot::Positional => {
                    args.named.is_empty() && args.star.is_none() && args.star_star.is_none()
                }
                Slot::Star => args.star.is_none() && args.star_star.is_none(),
                Slot::Named(_) | Slot::StarStar => args.star_star.is_none(),
            };
            if !allowed {
                return Err(ReadFailure::new(
                    "invalid syntax for function call expression",
                    start,
                    line,
                ));
            }
            for _ in 0..slot.tokens() {
                self.advance()?;
            }
            let value = self.expression()?;
            height = height.max(value.height);
            match slot {
                Slot::Positional => args.positional.push(*value.expr),
                Slot::Star => args.star = Some(value.expr),
                Slot::StarStar => args.star_star = Some(value.expr),
                Slot::Named(name) => {
                    if !names.insert(name) {
                        self.late(
                            PASS_PYTHON,
                            start,
                            line,
                            format!("keyword argument repeated: {name}"),
                        );
                    }
                    args.named.push((normalised(name).into(), *value.expr));
                }
            }
        }
        self.expect_op(Op::RParen)?;
        Ok((args, height))
    }

    /// Parse the beginning of an argument, up to its value.
    fn argument_slot(&mut self) -> Result<Slot<'s>> {
        if let Some(name) = self.name() {
            let named = self.next_is(|_, token| token.kind == Tok::Op(Op::Assign))?;
            return Ok(if named {
                Slot::Named(name)
            } else {
                Slot::Positional
            });
        }
        Ok(match self.kind() {
            Tok::Op(Op::Mul) => Slot::Star,
            Tok::Op(Op::Pow) => Slot::StarStar,
            _ => Slot::Positional,
        })
    }

    /// `|name(args)`
    fn filter(&mut self, input: Node) -> Result<Node> {
        let (start, height) = (input.expr.span.start, input.height);
        self.advance()?;
        self.filter_call(Some(input.expr), start, height)
    }

    /// `name(args)`, applied to a value or, in a filter block, to nothing.
    fn filter_call(&mut self, input: Option<Box<Expr>>, start: u32, height: u32) -> Result<Node> {
        let line = self.line();
        let name = self.dotted_name()?;
        let (args, args_height) = if self.is_op(Op::LParen) {
            self.arguments()?
        } else {
            (Box::default(), 0)
        };
        let kind = ExprKind::Filter { input, name, args };
        self.node(kind, start, line, height.max(args_height))
    }

    /// A chain of filters without a value, from its first name on.
    pub(super) fn filter_chain(&mut self) -> Result<Expr> {
        let start = self.start();
        let mut node = self.filter_call(None, start, 0)?;
        while self.is_op(Op::Pipe) {
            node = self.filter(node)?;
        }
        Ok(*node.expr)
    }

    fn dotted_name(&mut self) -> Result<Str> {
        let first = self.identifier()?;
        if !self.is_op(Op::Dot) {
            return Ok(self.shared(first));
        }
        let mut name = first.to_owned();
        while self.skip_op(Op::Dot)? {
            name.push('.');
            name.push_str(self.identifier()?);
        }
        Ok(name.into())
    }

    /// `is name(args)`, `is name arg`, `is not name`
    fn test(&mut self, input: Node) -> Result<Node> {
        let (start, line) = (input.expr.span.start, self.line());
        self.advance()?;
        let negated = self.skip_name("not")?;
        let name = self.dotted_name()?;
        let (args, height) = if self.is_op(Op::LParen) {
            self.arguments()?
        } else if self.starts_bare_argument() {
            self.bare_argument()?
        } else {
            (Box::default(), 0)
        };
        let kind = ExprKind::Test {
            input: input.expr,
            name,
            args,
        };
        let node = self.node(kind, start, line, height.max(input.height))?;
        if negated {
            self.node(ExprKind::Not(node.expr), start, line, node.height)
        } else {
            Ok(node)
        }
    }

    fn starts_bare_argument(&self) -> bool {
        match self.kind() {
            Tok::Name => !matches!(self.text(self.token().span), "else" | "or" | "and"),
            Tok::Str(_) | Tok::Int(_) | Tok::Float(_) | Tok::Op(Op::LBracket | Op::LBrace) => true,
            _ => false,
        }
    }

    fn bare_argument(&mut self) -> Result<(Box<Args>, u32)> {
        if self.is_name("is") {
            return Err(self.fail("You cannot chain multiple tests with is"));
        }
        let value = self.primary()?;
        let value = self.postfix(value)?;
        let args = Args {
            positional: vec![*value.expr],
            ..Args::default()
        };
        Ok((Box::new(args), value.height))
    }

    // ---- values ----

    pub(super) fn primary(&mut self) -> Result<Node> {
        match self.kind() {
            Tok::Op(Op::LParen) => self.parenthesised(),
            Tok::Op(Op::LBracket) => self.list(),
            Tok::Op(Op::LBrace) => self.dict(),
            _ => self.atom(),
        }
    }

    /// A name or a literal.
    fn atom(&mut self) -> Result<Node> {
        let (start, line) = (self.start(), self.line());
        let kind = match self.kind() {
            Tok::Name => match self.text(self.token().span) {
                "true" | "True" => ExprKind::Const(Value::Bool(true)),
                "false" | "False" => ExprKind::Const(Value::Bool(false)),
                "none" | "None" => ExprKind::Const(Value::None),
                name => ExprKind::Name(self.shared(name)),
            },
            Tok::Int(int) => ExprKind::Const(Value::Int(int.clone())),
            Tok::Float(float) => ExprKind::Const(Value::Float(*float)),
            Tok::Str(_) => return self.strings(),
            _ => return Err(self.unexpected()),
        };
        self.advance()?;
        self.node(kind, start, line, 0)
    }

    /// Adjacent strings are one.
    fn strings(&mut self) -> Result<Node> {
        let (start, line) = (self.start(), self.line());
        let mut parts: Vec<Str> = Vec::new();
        while let Tok::Str(part) = self.kind() {
            parts.push(part.clone());
            self.advance()?;
        }
        let text = if parts.len() == 1 {
            parts.swap_remove(0)
        } else {
            parts.concat().into()
        };
        self.node(ExprKind::Const(Value::Str(text)), start, line, 0)
    }

    fn parenthesised(&mut self) -> Result<Node> {
        let start = self.start();
        self.advance()?;
        let mut node = self.tuple(&TupleRules {
            parenthesised: true,
            ..TupleRules::default()
        })?;
        self.expect_op(Op::RParen)?;
        node.expr.span = self.since(start);
        Ok(node)
    }

    /// One expression, or several with commas between them.
    pub(super) fn tuple(&mut self, rules: &TupleRules) -> Result<Node> {
        let start = self.start();
        let mut line = self.line();
        let mut parts = ExpressionList {
            exprs: Vec::new(),
            height: 0,
        };
        while !self.ends_tuple() {
            let node = if rules.unconditional {
                self.unconditional()?
            } else {
                self.expression()?
            };
            if !self.is_op(Op::Comma) {
                if parts.exprs.is_empty() {
                    return Ok(node);
                }
                parts.push(node);
                break;
            }
            parts.push(node);
            line = self.line();
            self.advance()?;
        }
        if parts.exprs.is_empty() && !rules.parenthesised {
            return Err(self.fail(format!("Expected an expression, got {}", self.described())));
        }
        self.node(ExprKind::Tuple(parts.exprs), start, line, parts.height)
    }

    /// True if no further item of a tuple can come.
    pub(super) fn ends_tuple(&self) -> bool {
        matches!(
            self.kind(),
            Tok::VariableEnd | Tok::BlockEnd | Tok::Op(Op::RParen)
        )
    }

    fn list(&mut self) -> Result<Node> {
        let (start, line) = (self.start(), self.line());
        self.advance()?;
        let mut parts = ExpressionList {
            exprs: Vec::new(),
            height: 0,
        };
        while self.another(Op::RBracket, parts.exprs.is_empty())? {
            parts.push(self.expression()?);
        }
        self.expect_op(Op::RBracket)?;
        let list = ExprKind::List(parts.exprs);
        self.constants.note(start, &list);
        self.node(list, start, line, parts.height)
    }

    fn dict(&mut self) -> Result<Node> {
        let (start, line) = (self.start(), self.line());
        self.advance()?;
        let mut items = Vec::new();
        let mut height = 0;
        while self.another(Op::RBrace, items.is_empty())? {
            let key = self.expression()?;
            self.expect_op(Op::Colon)?;
            let value = self.expression()?;
            height = height.max(key.height).max(value.height);
            items.push((*key.expr, *value.expr));
        }
        self.expect_op(Op::RBrace)?;
        let dict = ExprKind::Dict(items);
        self.constants.note(start, &dict);
        self.node(dict, start, line, height)
    }

    /// True if another item follows in a list or dict; takes the comma before it.
    fn another(&mut self, end: Op, first: bool) -> Result<bool> {
        if !first && !self.is_op(end) {
            self.expect_op(Op::Comma)?;
        }
        Ok(!self.is_op(end))
    }
}

/// The rules for writing a tuple.
#[derive(Debug, Default)]
pub(super) struct TupleRules {
    /// Stop before an `if`.
    pub unconditional: bool,
    /// In parentheses nothing at all is an empty tuple.
    pub parenthesised: bool,
}

/// Expressions and the height of the highest.
struct ExpressionList {
    exprs: Vec<Expr>,
    height: u32,
}

impl ExpressionList {
    fn push(&mut self, node: Node) {
        self.height = self.height.max(node.height);
        self.exprs.push(*node.expr);
    }
}

/// The place of an argument in the call.
enum Slot<'s> {
    Positional,
    Star,
    StarStar,
    Named(&'s str),
}

impl Slot<'_> {
    /// The number of tokens before the value.
    fn tokens(&self) -> usize {
        match self {
            Slot::Positional => 0,
            Slot::Star | Slot::StarStar => 1,
            Slot::Named(_) => 2,
        }
    }
}
