//! The base of the sandbox's module `jinja2`: templates that are texts.

use std::sync::Arc;

use mapstack_jinja::{Jinja2, Names, NoHost, Request, Syntax, compile, render};
use mapstack_pyobject::{Error, ErrorKind, Obj, TemplatePlace};
use mapstack_value::{Key, Str, Value};
use rustpython_vm::{PyObjectRef, PyResult, VirtualMachine};

use super::convert;
use super::shared::Service;

/// The services that the part in Python builds on.
pub(super) fn services(vm: &VirtualMachine) -> Vec<Service> {
    vec![
        ("jinja2_check", vm.new_function("check", check).into()),
        ("jinja2_render", vm.new_function("render", print).into()),
    ]
}

/// Parses a template.
fn check(source: String, settings: Vec<String>, vm: &VirtualMachine) -> PyObjectRef {
    let settings = EnvironmentSettings::of(settings);
    let parsed = compile(
        &Jinja2,
        None,
        source.into(),
        &settings.syntax,
        settings.strict,
    );
    outcome(parsed.map(|_| String::new()), vm)
}

/// Renders a template.
#[expect(
    clippy::needless_pass_by_value,
    reason = "functions of the interpreter own what they are given"
)]
fn print(
    source: String,
    settings: Vec<String>,
    variables: PyObjectRef,
    vm: &VirtualMachine,
) -> PyResult {
    let variables = convert::from_python(&variables, &vm.ctx.none(), vm)
        .map_err(|why| vm.new_type_error(format!("a template of jinja2 takes data here: {why}")))?;
    let source: Arc<str> = source.into();
    let mut request = Request::new(&Jinja2, source, &NoHost);
    EnvironmentSettings::of(settings).apply(&mut request);
    request.variables = names(&variables);
    Ok(outcome(render(request).map(|made| made.text), vm))
}

/// The marks of an environment, in the order of `packages.py`, and its flags.
struct EnvironmentSettings {
    syntax: Syntax,
    strict: bool,
}

impl EnvironmentSettings {
    fn of(settings: Vec<String>) -> EnvironmentSettings {
        let mut settings = settings.into_iter();
        let mut next = || settings.next().unwrap_or_default();
        let mut syntax = Syntax::default();
        for mark in [
            &mut syntax.block_start,
            &mut syntax.block_end,
            &mut syntax.variable_start,
            &mut syntax.variable_end,
            &mut syntax.comment_start,
            &mut syntax.comment_end,
        ] {
            *mark = next().into();
        }
        for flag in [
            &mut syntax.trim_blocks,
            &mut syntax.lstrip_blocks,
            &mut syntax.keep_trailing_newline,
        ] {
            *flag = next() == "1";
        }
        let strict = next() == "1";
        EnvironmentSettings { syntax, strict }
    }

    fn apply(self, request: &mut Request<'_>) {
        request.syntax = self.syntax;
        request.strict = self.strict;
    }
}

fn names(variables: &Value) -> Names {
    let entries = variables.as_map().into_iter().flatten();
    let named = |(key, value): (&Key, &Value)| match key.to_value() {
        Value::Str(name) => Some((Str::from(&*name), Obj::from(value.clone()))),
        _ => None,
    };
    entries.filter_map(named).collect()
}

/// A word for the result, the result, and a line. For an error the word is its class in Python.
fn outcome(made: Result<String, Box<Error>>, vm: &VirtualMachine) -> PyObjectRef {
    let (word, text, line) = match made {
        Ok(text) => ("made", text, 0),
        Err(error) => {
            let line = error.place.as_ref().map_or(1, TemplatePlace::line);
            (class_of(&error), error.message, line)
        }
    };
    let parts = vec![
        vm.ctx.new_str(word).into(),
        vm.ctx.new_str(text).into(),
        vm.ctx.new_int(line).into(),
    ];
    vm.ctx.new_tuple(parts).into()
}

fn class_of(error: &Error) -> &'static str {
    match error.kind {
        ErrorKind::Undefined => "UndefinedError",
        ErrorKind::Syntax if error.message.starts_with("No ") => "TemplateAssertionError",
        ErrorKind::Syntax => "TemplateSyntaxError",
        ErrorKind::Security => "SecurityError",
        ErrorKind::Python(class) | ErrorKind::Code(class) => class,
        _ => "",
    }
}
