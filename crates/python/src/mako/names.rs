//! The names that Python code binds, and those that it expects from outside, as Mako sees it.
//!
//! Mako looks names up in its context before a template's code runs. Mako decides which names are expected, not
//! Python: a `*args` of a lambda is, and the body of a class is not searched.

use std::collections::BTreeSet;

use ruff_text_size::Ranged;
use rustpython_vm::compiler::ast::token::TokenKind;
use rustpython_vm::compiler::ast::visitor::{self, Visitor};
use rustpython_vm::compiler::ast::{
    Comprehension, ExceptHandler, Expr, ExprContext, ModModule, Parameters, Stmt,
};
use rustpython_vm::compiler::parser::{self, Parsed};

/// The names of a piece of code.
#[derive(Debug, Clone, Default)]
pub(super) struct Idents {
    pub(super) declared: BTreeSet<String>,
    pub(super) undeclared: BTreeSet<String>,
}

/// Code that does not parse: what is wrong, and the line within the code, counted from 0.
#[derive(Debug)]
pub(super) struct Invalid {
    pub(super) message: String,
    pub(super) line: usize,
}

/// Names that are never looked up.
const RESERVED: &[&str] = &["True", "False", "None", "print"];

fn parse(code: &str) -> Result<Parsed<ModModule>, Invalid> {
    parser::parse_module(code).map_err(|error| {
        let before = code
            .get(..error.location.start().to_usize())
            .unwrap_or(code);
        let start: String = code.chars().take(50).collect();
        Invalid {
            message: format!("({}) {start:?}", error.error),
            line: before.matches('\n').count(),
        }
    })
}

/// The names of statements or of an expression.
pub(super) fn of_code(code: &str) -> Result<Idents, Invalid> {
    let stripped = code.trim_start();
    let skipped = code
        .get(..code.len() - stripped.len())
        .unwrap_or("")
        .matches('\n')
        .count();
    let parsed = parse(stripped).map_err(|invalid| Invalid {
        line: invalid.line + skipped,
        ..invalid
    })?;
    if let Some(Stmt::ImportFrom(_)) = star_import(parsed.syntax()) {
        return Err(Invalid {
            message: "'import *' is not supported, since all identifier names must be explicitly declared".to_owned(),
            line: skipped,
        });
    }
    let mut finder = Finder::default();
    finder.visit_body(&parsed.syntax().body);
    Ok(finder.idents)
}

fn star_import(module: &ModModule) -> Option<&Stmt> {
    module.body.iter().find(|stmt| match stmt {
        Stmt::ImportFrom(import) => import.names.iter().any(|alias| alias.name.as_str() == "*"),
        _ => false,
    })
}

/// The items of a list of filters: their texts, and the names in them.
pub(super) fn of_list(code: &str) -> Result<(Vec<String>, Idents), Invalid> {
    let mut code = code.to_owned();
    if code.starts_with(|c: char| !c.is_whitespace())
        && !(code.starts_with(',') && code[1..].trim().is_empty())
    {
        code.push(',');
    }
    let parsed = parse(&code)?;
    let (mut items, mut idents) = (Vec::new(), Idents::default());
    for stmt in &parsed.syntax().body {
        if let Stmt::Expr(stmt) = stmt
            && let Expr::Tuple(tuple) = &*stmt.value
        {
            for item in &tuple.elts {
                let range = item.range();
                items.push(
                    code.get(range.start().to_usize()..range.end().to_usize())
                        .unwrap_or("")
                        .to_owned(),
                );
                let mut finder = Finder::default();
                finder.visit_expr(item);
                idents.declared.append(&mut finder.idents.declared);
                idents.undeclared.append(&mut finder.idents.undeclared);
            }
        }
    }
    Ok((items, idents))
}

/// The arguments of a function, as declared and as passed on.
#[derive(Debug, Clone, Default)]
pub(super) struct Signature {
    pub(super) name: String,
    /// As a `def` declares them.
    pub(super) declared: Vec<String>,
    /// As they are passed on under the same names.
    pub(super) passed: Vec<String>,
    /// The names that keywords can fill, with those of `*` and `**`.
    pub(super) names: Vec<String>,
    pub(super) keywords: bool,
    /// The names that the defaults expect from outside.
    pub(super) defaults: BTreeSet<String>,
}

/// Read `name(arguments)`; none if it is not a declaration.
pub(super) fn of_signature(text: &str) -> Result<Option<Signature>, Invalid> {
    let code = format!("def {text}:pass");
    let parsed = parse(&code)?;
    let [Stmt::FunctionDef(function)] = parsed.syntax().body.as_slice() else {
        return Ok(None);
    };
    let source = |range: ruff_text_size::TextRange| {
        code.get(range.start().to_usize()..range.end().to_usize())
            .unwrap_or("")
            .to_owned()
    };
    let mut signature = Signature {
        name: function.name.to_string(),
        ..Signature::default()
    };
    let parameters = &function.parameters;
    let declare = |parameter: &rustpython_vm::compiler::ast::ParameterWithDefault,
                   signature: &mut Signature| {
        let name = parameter.parameter.name.to_string();
        signature.names.push(name.clone());
        match &parameter.default {
            Some(default) => {
                let mut finder = Finder::default();
                finder.visit_expr(default);
                signature.defaults.append(&mut finder.idents.undeclared);
                signature
                    .declared
                    .push(format!("{name}={}", source(default.range())));
            }
            None => signature.declared.push(name.clone()),
        }
        name
    };
    for parameter in &parameters.args {
        let name = declare(parameter, &mut signature);
        signature.passed.push(name);
    }
    if let Some(rest) = &parameters.vararg {
        let name = rest.name.to_string();
        signature.declared.push(format!("*{name}"));
        signature.passed.push(format!("*{name}"));
        signature.names.push(name);
    }
    for parameter in &parameters.kwonlyargs {
        let name = declare(parameter, &mut signature);
        signature.passed.push(format!("{name}={name}"));
    }
    if let Some(rest) = &parameters.kwarg {
        let name = rest.name.to_string();
        signature.declared.push(format!("**{name}"));
        signature.passed.push(format!("**{name}"));
        signature.names.push(name);
        signature.keywords = true;
    }
    Ok(Some(signature))
}

/// The lines, counted from 0, that begin inside of a string.
pub(super) fn lines_in_strings(code: &str) -> BTreeSet<usize> {
    let mut out = BTreeSet::new();
    let Ok(parsed) = parse(code) else { return out };
    for token in parsed.tokens() {
        if matches!(
            token.kind(),
            TokenKind::String | TokenKind::FStringMiddle | TokenKind::TStringMiddle
        ) {
            let line = |at: usize| code.get(..at).unwrap_or(code).matches('\n').count();
            let (first, last) = (
                line(token.range().start().to_usize()),
                line(token.range().end().to_usize()),
            );
            out.extend(first + 1..=last);
        }
    }
    out
}

#[derive(Default)]
struct Finder {
    idents: Idents,
    in_function: bool,
    locals: BTreeSet<String>,
}

impl Finder {
    fn declare(&mut self, name: &str) {
        if self.in_function {
            self.locals.insert(name.to_owned());
        } else {
            self.idents.declared.insert(name.to_owned());
        }
    }

    fn expect(&mut self, name: &str) {
        if !RESERVED.contains(&name)
            && !self.idents.declared.contains(name)
            && !self.locals.contains(name)
        {
            self.idents.undeclared.insert(name.to_owned());
        }
    }

    fn function(&mut self, parameters: Option<&Parameters>, body: impl FnOnce(&mut Self)) {
        let (outer, was_inside) = (self.locals.clone(), self.in_function);
        self.in_function = true;
        if let Some(parameters) = parameters {
            self.locals
                .extend(parameters.args.iter().map(|p| p.parameter.name.to_string()));
        }
        body(self);
        self.locals = outer;
        self.in_function = was_inside;
    }

    /// Inside of functions only the loops of a comprehension are looked at.
    fn comprehension<'a>(&mut self, parts: &[&'a Expr], generators: &'a [Comprehension]) {
        if self.in_function {
            for generator in generators {
                self.visit_expr(&generator.target);
                self.visit_expr(&generator.iter);
            }
            return;
        }
        for part in parts {
            self.visit_expr(part);
        }
        for generator in generators {
            self.visit_expr(&generator.target);
            self.visit_expr(&generator.iter);
            for condition in &generator.ifs {
                self.visit_expr(condition);
            }
        }
    }
}

impl<'a> Visitor<'a> for Finder {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::ClassDef(class) => self.declare(class.name.as_str()),
            Stmt::FunctionDef(function) if !function.is_async => {
                self.declare(function.name.as_str());
                self.function(Some(&function.parameters), |this| {
                    this.visit_body(&function.body);
                });
            }
            Stmt::Assign(assign) => {
                self.visit_expr(&assign.value);
                for target in &assign.targets {
                    self.visit_expr(target);
                }
            }
            Stmt::For(each) => {
                self.visit_expr(&each.iter);
                self.visit_expr(&each.target);
                self.visit_body(&each.body);
                self.visit_body(&each.orelse);
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
                    self.declare(name.split('.').next().unwrap_or(name));
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    self.declare(alias.asname.as_ref().unwrap_or(&alias.name).as_str());
                }
            }
            other => visitor::walk_stmt(self, other),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(handler) = handler;
        if let Some(name) = &handler.name {
            self.declare(name.as_str());
        }
        if let Some(class) = &handler.type_ {
            self.visit_expr(class);
        }
        self.visit_body(&handler.body);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if matches!(name.ctx, ExprContext::Store) => {
                self.declare(name.id.as_str());
            }
            Expr::Name(name) => self.expect(name.id.as_str()),
            Expr::Lambda(lambda) => {
                self.function(lambda.parameters.as_deref(), |this| {
                    this.visit_expr(&lambda.body);
                });
            }
            Expr::ListComp(each) => self.comprehension(&[&each.elt], &each.generators),
            Expr::SetComp(each) => self.comprehension(&[&each.elt], &each.generators),
            Expr::Generator(each) => self.comprehension(&[&each.elt], &each.generators),
            Expr::DictComp(each) => self.comprehension(&[&each.key, &each.value], &each.generators),
            other => visitor::walk_expr(self, other),
        }
    }
}
