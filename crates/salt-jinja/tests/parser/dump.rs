//! A syntax tree as nested JSON arrays: the form that the recorded trees have.

use mapstack_salt_jinja::ast::{
    Args, Block, CompareOp, Expr, ExprKind, Macro, Stmt, StmtKind, Target, Template,
};
use serde_json::{Value as Json, json};

/// The whole template.
pub fn template(template: &Template) -> Json {
    body(&template.body)
}

fn body(stmts: &[Stmt]) -> Json {
    stmts.iter().map(|stmt| statement(&stmt.kind)).collect()
}

#[expect(clippy::too_many_lines, reason = "one arm for each kind of statement")]
fn statement(kind: &StmtKind) -> Json {
    match kind {
        StmtKind::Text(text) => json!(["text", &**text]),
        StmtKind::Output(value) => json!(["out", expr(value)]),
        StmtKind::For(node) => json!([
            "for",
            target(&node.target),
            expr(&node.iter),
            option(node.filter.as_ref()),
            node.recursive,
            body(&node.body),
            body(&node.otherwise),
            node.uses_loop
        ]),
        StmtKind::If { arms, otherwise } => {
            let arms: Json = arms
                .iter()
                .map(|(test, stmts)| json!([expr(test), body(stmts)]))
                .collect();
            json!(["if", arms, body(otherwise)])
        }
        StmtKind::Macro(node) => json!(["macro", &*node.name, function(node)]),
        StmtKind::CallBlock { call, caller } => json!(["callblock", expr(call), function(caller)]),
        StmtKind::FilterBlock {
            filter,
            body: stmts,
        } => json!(["filterblock", expr(filter), body(stmts)]),
        StmtKind::Set { target: to, value } => json!(["set", target(to), expr(value)]),
        StmtKind::SetBlock {
            target: to,
            filter,
            body: stmts,
        } => {
            json!(["setblock", target(to), option(filter.as_ref()), body(stmts)])
        }
        StmtKind::With {
            bindings,
            body: stmts,
        } => {
            let bindings: Json = bindings
                .iter()
                .map(|(to, value)| json!([target(to), expr(value)]))
                .collect();
            json!(["with", bindings, body(stmts)])
        }
        StmtKind::Block(block) => dump_block(block),
        StmtKind::Extends(template) => json!(["extends", expr(template)]),
        StmtKind::Include {
            template,
            with_context,
            ignore_missing,
        } => {
            json!(["include", expr(template), with_context, ignore_missing])
        }
        StmtKind::Import {
            template,
            target,
            with_context,
        } => {
            json!(["import", expr(template), &**target, with_context])
        }
        StmtKind::FromImport {
            template,
            names,
            with_context,
        } => {
            let names: Json = names
                .iter()
                .map(|(name, alias)| json!([&**name, &**alias]))
                .collect();
            json!(["from", expr(template), names, with_context])
        }
        StmtKind::Do(value) => json!(["do", expr(value)]),
        StmtKind::Break => json!(["break"]),
        StmtKind::Continue => json!(["continue"]),
        StmtKind::Autoescape {
            enabled,
            body: stmts,
        } => json!(["autoescape", expr(enabled), body(stmts)]),
        StmtKind::Load {
            tag,
            target: to,
            body: stmts,
        } => {
            json!(["load", format(tag), target(to), body(stmts)])
        }
        StmtKind::ImportData {
            tag,
            template,
            target: to,
            with_context,
        } => {
            json!([
                "importdata",
                format(tag),
                expr(template),
                target(to),
                with_context
            ])
        }
        StmtKind::Labelled {
            tag,
            label,
            body: stmts,
        } => json!([tag, expr(label), body(stmts)]),
    }
}

fn dump_block(block: &Block) -> Json {
    json!([
        "block",
        &*block.name,
        block.scoped,
        block.required,
        body(&block.body)
    ])
}

fn function(node: &Macro) -> Json {
    let params: Json = node
        .params
        .iter()
        .map(|param| json!([&*param.name, option(param.default.as_ref())]))
        .collect();
    json!([
        params,
        body(&node.body),
        node.uses_varargs,
        node.uses_kwargs,
        node.uses_caller
    ])
}

fn target(node: &Target) -> Json {
    match node {
        Target::Name(name) => json!(["name", &**name]),
        Target::Tuple(targets) => json!(["tuple", targets.iter().map(target).collect::<Json>()]),
        Target::Attribute(name, attribute) => json!(["nsref", &**name, &**attribute]),
    }
}

/// The format that a tag such as `load_yaml` reads.
fn format(tag: &str) -> &str {
    tag.rsplit_once('_').map_or(tag, |(_, format)| format)
}

fn option(node: Option<&Expr>) -> Json {
    node.map_or(Json::Null, expr)
}

fn exprs(nodes: &[Expr]) -> Json {
    nodes.iter().map(expr).collect()
}

fn arguments(args: &Args) -> Json {
    let named: Json = args
        .named
        .iter()
        .map(|(name, value)| json!([&**name, expr(value)]))
        .collect();
    json!([
        exprs(&args.positional),
        named,
        option(args.star.as_deref()),
        option(args.star_star.as_deref())
    ])
}

#[expect(clippy::too_many_lines, reason = "one arm for each kind of expression")]
fn expr(node: &Expr) -> Json {
    match &node.kind {
        ExprKind::Const(value) => json!(["const", value.repr()]),
        ExprKind::Name(name) => json!(["name", &**name]),
        ExprKind::Tuple(items) => json!(["tuple", exprs(items)]),
        ExprKind::List(items) => json!(["list", exprs(items)]),
        ExprKind::Dict(items) => {
            json!([
                "dict",
                items
                    .iter()
                    .map(|(key, value)| json!([expr(key), expr(value)]))
                    .collect::<Json>()
            ])
        }
        ExprKind::Attr(object, name) => json!(["attr", expr(object), &**name]),
        ExprKind::Item(object, index) => json!(["item", expr(object), expr(index)]),
        ExprKind::Slice {
            object,
            start,
            stop,
            step,
        } => {
            json!([
                "slice",
                expr(object),
                option(start.as_deref()),
                option(stop.as_deref()),
                option(step.as_deref())
            ])
        }
        ExprKind::Call { callee, args } => json!(["call", expr(callee), arguments(args)]),
        ExprKind::Filter { input, name, args } => {
            json!(["filter", option(input.as_deref()), &**name, arguments(args)])
        }
        ExprKind::Test { input, name, args } => {
            json!(["test", expr(input), &**name, arguments(args)])
        }
        ExprKind::Binary(_, left, right) => {
            json!([node.kind.class_name(), expr(left), expr(right)])
        }
        ExprKind::Neg(inner) => json!(["neg", expr(inner)]),
        ExprKind::Pos(inner) => json!(["pos", expr(inner)]),
        ExprKind::Not(inner) => json!(["not", expr(inner)]),
        ExprKind::And(left, right) => json!(["and", expr(left), expr(right)]),
        ExprKind::Or(left, right) => json!(["or", expr(left), expr(right)]),
        ExprKind::Compare(first, rest) => {
            let rest: Json = rest
                .iter()
                .map(|(op, right)| json!([compare(*op), expr(right)]))
                .collect();
            json!(["compare", expr(first), rest])
        }
        ExprKind::Concat(items) => json!(["concat", exprs(items)]),
        ExprKind::Cond {
            test,
            then,
            otherwise,
        } => {
            json!(["cond", expr(test), expr(then), option(otherwise.as_deref())])
        }
    }
}

fn compare(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "eq",
        CompareOp::Ne => "ne",
        CompareOp::Lt => "lt",
        CompareOp::Le => "lteq",
        CompareOp::Gt => "gt",
        CompareOp::Ge => "gteq",
        CompareOp::In => "in",
        CompareOp::NotIn => "notin",
    }
}
