//! Mako templates in the interpreter: compiled once, rendered often.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use foldhash::fast::RandomState;
use mapstack_value::Str;
use rustpython_vm::builtins::{PyCode, PyDictRef, PyList, PyStr};
use rustpython_vm::compiler::Mode;
use rustpython_vm::{PyObjectRef, PyPayload, PyRef, PyResult, VirtualMachine};

use super::machine::{Raised, Shared, Unit, left, scope};
use super::worker::{Outcome, TemplateJob};
use super::{convert, failure};
use crate::error::{Error, ErrorKind, Result};
use crate::mako::{Chunk, Lookup, Options, generate};

const RUNTIME: &str = include_str!("../mako/runtime.py");
/// Compiled templates that are kept.
const MAX_KEPT: usize = 256;
/// Marks of one template.
const MARKS: usize = 1 << 24;

/// Compiled templates by name, source and whether names are strict.
#[derive(Default)]
pub(crate) struct Cache {
    kept: HashMap<(Option<Str>, Arc<str>, bool), Compiled, RandomState>,
    /// The marks of each unit.
    marks: HashMap<usize, Rc<[(crate::jinja::ast::Span, bool)]>, RandomState>,
}

#[derive(Clone)]
struct Compiled {
    code: PyRef<PyCode>,
    unit: usize,
}

/// Run the part of the prelude that is about templates.
pub(crate) fn runtime(prelude: &PyDictRef, vm: &VirtualMachine) -> PyResult<()> {
    let code = vm
        .compile(RUNTIME, Mode::Exec, "<mako>".to_owned())
        .map_err(|error| vm.new_runtime_error(format!("{error} at {:?}", error.python_location())))?;
    vm.run_code_obj(code, scope(prelude)).map(drop)
}

/// The functions by which templates find templates.
pub(crate) fn services(
    shared: &Rc<Shared>,
    prelude: &PyDictRef,
    vm: &VirtualMachine,
) -> Vec<(&'static str, PyObjectRef)> {
    let (this, names) = (shared.clone(), prelude.clone());
    let load = vm.new_function("load", move |uri: String, vm: &VirtualMachine| -> PyResult {
        load(&this, &names, &uri, vm).map_err(|raised| match raised {
            Raised::Exception(exception) => exception,
            Raised::Error(error) => {
                let class = match error.kind {
                    ErrorKind::TemplateNotFound => "TemplateLookupException",
                    ErrorKind::Security => "Refused",
                    _ => "CompileException",
                };
                this.raise(*error, class, &names, vm)
            }
        })
    });
    let this = shared.clone();
    let adjust = vm.new_function(
        "adjust_uri",
        move |uri: String, base: Option<String>, vm: &VirtualMachine| -> PyResult<String> {
            adjusted(this.options.get().lookup, &uri, base.as_deref()).map_err(|why| vm.new_value_error(why))
        },
    );
    vec![("load", load.into()), ("adjust_uri", adjust.into())]
}

/// A URI as it stands in a template, from the root of the file server.
fn adjusted(lookup: Lookup, uri: &str, base: Option<&str>) -> Result<String, String> {
    if lookup == Lookup::Salt
        && let Some((scheme, _)) = uri.split_once(':')
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    {
        return match scheme.to_ascii_lowercase().as_str() {
            "salt" | "file" => Ok(uri.to_owned()),
            other => Err(format!("Unsupported URL scheme({other}) in {uri}")),
        };
    }
    if uri.is_empty() {
        return Err("the URI of a template is empty".to_owned());
    }
    Ok(match base {
        _ if uri.starts_with('/') => uri.to_owned(),
        None => format!("/{uri}"),
        Some(base) => match base.rfind('/') {
            Some(0) => format!("/{uri}"),
            Some(at) => format!("{}/{uri}", base[..at].trim_end_matches('/')),
            None => uri.to_owned(),
        },
    })
}

/// What a template that was found is called by those it includes.
fn uri_of(lookup: Lookup, uri: &str) -> String {
    match (lookup, uri.strip_prefix("salt://"), uri.strip_prefix("file://")) {
        (Lookup::Salt, Some(path), _) | (Lookup::Salt, None, Some(path)) => path.to_owned(),
        (Lookup::Salt, None, None) => uri.trim_start_matches('/').to_owned(),
        _ => uri.to_owned(),
    }
}

fn load(shared: &Rc<Shared>, prelude: &PyDictRef, uri: &str, vm: &VirtualMachine) -> Result<PyObjectRef, Raised> {
    let options = shared.options.get();
    let started = std::time::Instant::now();
    let found = shared.line.template(uri);
    shared.meter.pause(started.elapsed());
    let Some(source) = found? else {
        let message =
            format!("TemplateLookupException: Can't locate template for uri {}", mapstack_value::quote_str(uri));
        return Err(Error::new(ErrorKind::TemplateNotFound, message).into());
    };
    // Salt looks for further templates with the defaults of Mako.
    let strict = options.strict && options.lookup != Lookup::Salt;
    let uri = uri_of(options.lookup, uri);
    let names = module(shared, prelude, Some(source.name.clone()), &source.text, Some(&uri), strict, vm)?;
    let uri: PyObjectRef = vm.ctx.new_str(uri).into();
    let name: PyObjectRef = vm.ctx.new_str(&*source.name).into();
    Ok(vm.ctx.new_tuple(vec![uri, name, names.into()]).into())
}

/// A URI that leads up and out of the root (`mako.template.Template`).
fn leads_out(uri: &str) -> bool {
    let uri = uri.replace('\\', "/");
    let mut path: Vec<&str> = Vec::new();
    for part in uri.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part != ".." {
            path.push(part);
        } else if path.pop().is_none() {
            return true;
        }
    }
    path.first().is_some_and(|first| first.starts_with(".."))
}

/// Run the module of a template and return its globals.
fn module(
    shared: &Rc<Shared>,
    prelude: &PyDictRef,
    name: Option<Str>,
    source: &Arc<str>,
    uri: Option<&str>,
    strict: bool,
    vm: &VirtualMachine,
) -> Result<PyDictRef, Raised> {
    if let Some(uri) = uri.filter(|uri| leads_out(uri)) {
        let message = format!("TemplateLookupException: the URI {} leads up and out", mapstack_value::quote_str(uri));
        return Err(Error::new(ErrorKind::TemplateNotFound, message).into());
    }
    let compiled = compiled(shared, name, source, strict, vm)?;
    let globals = vm.ctx.new_dict();
    globals.set_item("__builtins__", prelude.get_item("BUILTINS", vm)?, vm)?;
    globals.set_item("__name__", vm.ctx.new_str("template").into(), vm)?;
    globals.set_item("_mk", prelude.get_item("mako", vm)?, vm)?;
    globals.set_item("_mk_at", vm.ctx.new_int(compiled.unit * MARKS).into(), vm)?;
    globals.set_item("UNDEFINED", prelude.get_item("UNDEFINED", vm)?, vm)?;
    globals.set_item("STOP_RENDERING", vm.ctx.new_str("").into(), vm)?;
    let locals = prelude.get_item("native", vm)?.get_item("locals", vm)?;
    globals.set_item("_mk_all_locals", locals, vm)?;
    let import = prelude.get_item("_import_as", vm)?;
    for (name, module) in [("filters", "mako.filters"), ("runtime", "mako.runtime")] {
        globals.set_item(name, import.call((vm.ctx.new_str(module),), vm)?, vm)?;
    }
    let uri: PyObjectRef = uri.map_or_else(|| vm.ctx.none(), |uri| vm.ctx.new_str(uri).into());
    globals.set_item("_template_uri", uri, vm)?;
    vm.run_code_obj(compiled.code, scope(&globals))?;
    Ok(globals)
}

fn compiled(
    shared: &Rc<Shared>,
    name: Option<Str>,
    source: &Arc<str>,
    strict: bool,
    vm: &VirtualMachine,
) -> Result<Compiled> {
    let key = (name.clone(), source.clone(), strict);
    if let Some(found) = shared.templates.borrow().kept.get(&key) {
        return Ok(found.clone());
    }
    let module = generate(name.as_ref(), source, strict)?;
    let unit = shared.unit(Unit { name, source: source.clone(), lines: module.lines });
    let code = shared.compile(&module.code, unit, Mode::Exec, vm)?;
    let compiled = Compiled { code, unit };
    let mut cache = shared.templates.borrow_mut();
    if cache.kept.len() >= MAX_KEPT {
        cache.kept.clear();
    }
    cache.marks.insert(unit, module.marks.into());
    cache.kept.insert(key, compiled.clone());
    Ok(compiled)
}

/// Render a template.
pub(crate) fn render(
    shared: &Rc<Shared>,
    prelude: &PyDictRef,
    job: TemplateJob,
    vm: &VirtualMachine,
) -> Result<Outcome, Raised> {
    let options: Options = job.options;
    shared.options.set(options);
    let uri = job.uri.as_deref().unwrap_or("memory:template");
    let names = module(shared, prelude, job.name.clone(), &job.source, Some(uri), options.strict, vm)?;
    let ordered = prelude.get_item("ordered", vm)?;
    let data = vm.ctx.new_dict();
    for (name, value) in &job.variables {
        data.set_item(&**name, convert::to_python(value, &ordered, vm)?, vm)?;
    }
    let functions: Vec<PyObjectRef> = job.functions.iter().map(|name| vm.ctx.new_str(&**name).into()).collect();
    let given = data.copy().into_ref(&vm.ctx);
    let render = prelude.get_item("render_template", vm)?;
    let filename: PyObjectRef = job.name.as_deref().map_or_else(|| vm.ctx.none(), |name| vm.ctx.new_str(name).into());
    let has_lookup = options.lookup != Lookup::None;
    let printed = render.call(
        (vm.ctx.new_str(uri), filename, names, given, vm.ctx.new_bool(has_lookup), vm.ctx.new_list(functions)),
        vm,
    );
    let printed = match printed {
        Ok(printed) => printed,
        Err(exception) => {
            let error = failure::error(shared, &exception, vm);
            let changed = left(&data, job.changed, &ordered, vm).unwrap_or_default();
            return Ok(Outcome::Failed { error, changed });
        }
    };
    let changed = left(&data, job.changed, &ordered, vm)?;
    let (text, chunks) = text(shared, &printed, vm)?;
    Ok(Outcome::Text { text, chunks, changed })
}

/// The parts that were printed as one text, with where they came from.
fn text(shared: &Rc<Shared>, printed: &PyObjectRef, vm: &VirtualMachine) -> Result<(String, Vec<Chunk>), Raised> {
    let (parts, marks) = (printed.get_item(&0usize, vm)?, printed.get_item(&1usize, vm)?);
    let (Some(parts), Some(marks)) = (parts.downcast_ref::<PyList>(), marks.downcast_ref::<PyList>()) else {
        return Err(Error::new(ErrorKind::Nested, "the template's output is no list").into());
    };
    let (mut out, mut chunks) = (String::new(), Vec::new());
    let (parts, marks) = (parts.borrow_vec().to_vec(), marks.borrow_vec().to_vec());
    let cache = shared.templates.borrow();
    for (part, mark) in parts.iter().zip(&marks) {
        let Some(text) = part.downcast_ref::<PyStr>() else {
            let class = part.class().name().to_string();
            let message = format!("TypeError: sequence item 0: expected str instance, {class} found");
            return Err(Error::new(ErrorKind::Code("TypeError"), message).into());
        };
        let Some(text) = text.to_str() else {
            let message = "UnicodeEncodeError: the output has text that is not Unicode";
            return Err(Error::new(ErrorKind::Code("UnicodeEncodeError"), message).into());
        };
        let mark: Option<usize> =
            mark.clone().try_into_value::<isize>(vm).ok().and_then(|mark| usize::try_from(mark).ok());
        if let Some(mark) = mark
            && let Some(&(span, exact)) = cache.marks.get(&(mark / MARKS)).and_then(|marks| marks.get(mark % MARKS))
            && let Some(unit) = shared.units.borrow().get(mark / MARKS)
        {
            chunks.push(Chunk { start: out.len(), name: unit.name.clone(), source: unit.source.clone(), span, exact });
        }
        out.push_str(text);
    }
    Ok((out, chunks))
}
