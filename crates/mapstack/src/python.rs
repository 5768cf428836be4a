//! Salt's renderers in Python: Mako templates, and modules with a function `run()`.

use mapstack_pyobject::{Error, ErrorKind, Result};
use mapstack_salt_jinja::{RenderResult, Request, SourceMap};
use mapstack_sandbox::{self as sandbox, Interpreter, mako};
use mapstack_value::{Str, Value};

/// Run a Mako template as Salt does (Salt: `render_mako_tmpl`). Returns its output and the changed variables.
pub(crate) fn mako(
    request: &Request<'_>,
    changed: &[&str],
    interpreter: &Interpreter,
) -> Result<(RenderResult, Vec<(Str, Value)>)> {
    // Includes are relative to the sls. In Salt, other templates have no location.
    let sls = request
        .variables
        .get("sls")
        .and_then(|sls| sls.as_str())
        .filter(|sls| !sls.is_empty());
    let uri = sls.map(|sls| sls.replace('.', "/"));
    let options = mako::MakoOptions::salt();
    mako::render_as(request, options, uri.as_deref(), changed, interpreter)
}

/// Run a Python module as Salt does (Salt: `salt.utils.templates.py`). Returns its result and the changed variables.
pub(crate) fn module(
    request: &Request<'_>,
    changed: &[&str],
    interpreter: &Interpreter,
) -> Result<(Value, Vec<(Str, Value)>)> {
    let mut variables = request.variables.clone();
    for (name, also) in [
        ("grains", "__grains__"),
        ("opts", "__opts__"),
        ("pillar", "__pillar__"),
        ("saltenv", "__env__"),
        ("sls", "__sls__"),
    ] {
        if let Some(value) = variables.get(name).cloned() {
            variables.entry(also.into()).or_insert(value);
        }
    }
    let request = Request {
        name: request.name.clone(),
        variables,
        limits: request.limits,
        fuel: request.fuel,
        ..mapstack_salt_jinja::request(request.source.clone(), request.host)
    };
    sandbox::run_as(&request, changed, interpreter)
}

/// Run a Python module whose `run()` returns the text of a file.
pub(crate) fn text(request: &Request<'_>, interpreter: &Interpreter) -> Result<RenderResult> {
    let (value, _) = module(request, &[], interpreter)?;
    match value {
        Value::Str(text) => Ok(RenderResult {
            text: text.to_string(),
            map: SourceMap::default(),
            exports: Default::default(),
        }),
        other => {
            let message = format!(
                "run() returned {}, not the text of a file",
                other.kind().described()
            );
            Err(Error::new(ErrorKind::Nested, message).with_help("return the text of the file"))
        }
    }
}
