//! Mako templates in the interpreter: compiled once, rendered often.

use std::rc::Rc;
use std::sync::Arc;

use mapstack_sandbox::protocol::{
    Chunk, CompileJob, Compiled, CompiledTemplate, JobOutcome, Language, Lookup, Message,
    RefusalKind, TemplateJob, TemplateSource, TracedText,
};
use mapstack_value::Str;
use rustpython_vm::builtins::{PyCode, PyDictRef, PyList, PyStr};
use rustpython_vm::bytecode::BasicBag;
use rustpython_vm::compiler::core::marshal;
use rustpython_vm::{PyObjectRef, PyPayload, PyRef, PyResult, VirtualMachine};

use super::line::Units;
use super::shared::{InterpreterState, JobEnd, Service, left, scope};
use super::unit::Unit;
use super::{convert, extmods, failure, plan, purity};
use crate::error::{Error, ErrorKind, Result, SourceSpan};
use crate::mako::{Module, generate};

/// Marks of one template.
const MARKS: usize = 1 << 24;
/// The unit of the text that is the job.
pub(crate) const MAIN: usize = 0;

/// The functions by which templates find templates.
pub(crate) fn services(
    shared: &Rc<InterpreterState>,
    prelude: &PyDictRef,
    vm: &VirtualMachine,
) -> Vec<Service> {
    let (this, names) = (shared.clone(), prelude.clone());
    let load = vm.new_function(
        "load",
        move |uri: String, vm: &VirtualMachine| -> PyResult {
            load(&this, &names, &uri, vm).map_err(|raised| match raised {
                JobEnd::Exception(exception) => exception,
                JobEnd::Error(error) => {
                    let class = match error.kind {
                        ErrorKind::NotFound | ErrorKind::Refused(_, RefusalKind::NotFound) => {
                            "TemplateLookupException"
                        }
                        ErrorKind::Forbidden | ErrorKind::Refused(_, RefusalKind::Forbidden) => {
                            "Refused"
                        }
                        _ => "CompileException",
                    };
                    this.raise(*error, class, &names, vm)
                }
            })
        },
    );
    let this = shared.clone();
    let adjust = vm.new_function(
        "adjust_uri",
        move |uri: String, base: Option<String>, vm: &VirtualMachine| -> PyResult<String> {
            adjusted(this.lookup.get().0, &uri, base.as_deref())
                .map_err(|why| vm.new_value_error(why))
        },
    );
    vec![("load", load.into()), ("adjust_uri", adjust.into())]
}

/// A URI as a template has it, from the root of the file server.
fn adjusted(lookup: Lookup, uri: &str, base: Option<&str>) -> Result<String, String> {
    if lookup == Lookup::Salt
        && let Some((scheme, _)) = uri.split_once(':')
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
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

/// The URI of a found template for those it includes.
fn uri_of(lookup: Lookup, uri: &str) -> String {
    match (
        lookup,
        uri.strip_prefix("salt://"),
        uri.strip_prefix("file://"),
    ) {
        (Lookup::Salt, Some(path), _) | (Lookup::Salt, None, Some(path)) => path.to_owned(),
        (Lookup::Salt, None, None) => uri.trim_start_matches('/').to_owned(),
        _ => uri.to_owned(),
    }
}

fn load(
    shared: &Rc<InterpreterState>,
    prelude: &PyDictRef,
    uri: &str,
    vm: &VirtualMachine,
) -> Result<PyObjectRef, JobEnd> {
    let (lookup, strict) = shared.lookup.get();
    let Some(source) = shared.ask(|line| line.template(uri))? else {
        let message = format!(
            "TemplateLookupException: Can't locate template for uri {}",
            mapstack_value::quote_str(uri)
        );
        return Err(Error::new(ErrorKind::NotFound, message).into());
    };
    // Salt looks for further templates with the defaults of Mako.
    let strict = strict && lookup != Lookup::Salt;
    let uri = uri_of(lookup, uri);
    check_uri(&uri)?;
    let (code, unit) = further(shared, &source, strict, vm)?;
    let names = module(prelude, code, unit, &uri, vm)?;
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

/// Refuse a URI that leads up and out of the root.
fn check_uri(uri: &str) -> Result<()> {
    if leads_out(uri) {
        let message = format!(
            "TemplateLookupException: the URI {} leads up and out",
            mapstack_value::quote_str(uri)
        );
        return Err(Error::new(ErrorKind::NotFound, message));
    }
    Ok(())
}

/// Run the module of a template and return its globals.
fn module(
    prelude: &PyDictRef,
    code: PyRef<PyCode>,
    unit: usize,
    uri: &str,
    vm: &VirtualMachine,
) -> Result<PyDictRef, JobEnd> {
    let globals = vm.ctx.new_dict();
    globals.set_item("__builtins__", prelude.get_item("BUILTINS", vm)?, vm)?;
    globals.set_item("__name__", vm.ctx.new_str("template").into(), vm)?;
    globals.set_item("_mk", prelude.get_item("mako", vm)?, vm)?;
    globals.set_item("_mk_at", vm.ctx.new_int(unit * MARKS).into(), vm)?;
    globals.set_item("UNDEFINED", prelude.get_item("UNDEFINED", vm)?, vm)?;
    globals.set_item("STOP_RENDERING", vm.ctx.new_str("").into(), vm)?;
    globals.set_item("_mk_all_locals", vm.builtins.get_attr("locals", vm)?, vm)?;
    let import = prelude.get_item("_import_as", vm)?;
    for (name, module) in [("filters", "mako.filters"), ("runtime", "mako.runtime")] {
        globals.set_item(name, import.call((vm.ctx.new_str(module),), vm)?, vm)?;
    }
    globals.set_item("_template_uri", vm.ctx.new_str(uri).into(), vm)?;
    vm.run_code_obj(code, scope(&globals))?;
    Ok(globals)
}

/// Compile a text to bytes that a later job can load. It does not run the text.
pub(crate) fn compile(
    shared: &Rc<InterpreterState>,
    prelude: &PyDictRef,
    job: &CompileJob,
    vm: &VirtualMachine,
) -> Result<Compiled, JobEnd> {
    let builtins = prelude.get_item("BUILTINS", vm)?;
    let is_builtin = |name: &str| builtins.get_item(name, vm).is_ok();
    let module = match job.language {
        Language::Mako => generate(job.name.as_ref(), &job.source, job.strict)?,
        Language::Python => Module::default(),
    };
    let unit = Unit {
        name: job.name.clone(),
        source: job.source.clone(),
        lines: module.lines.clone(),
    };
    shared.set_unit(MAIN, unit);
    let (code, is_template) = match job.language {
        Language::Mako => (&*module.code, true),
        Language::Python => (&*job.source, false),
    };
    let tree = shared.parse(code, MAIN)?;
    let purity = (module.is_apart || !is_template)
        .then(|| purity::check(&tree, is_template, is_builtin))
        .flatten();
    let plan = purity
        .as_ref()
        .filter(|_| is_template)
        .and_then(|_| plan::of(&tree, &module.marks));
    let compiled = shared.assemble(tree, code, MAIN)?;
    let mut code = Vec::new();
    marshal::serialize_code(&mut code, &compiled);
    let compiled = CompiledTemplate {
        code,
        lines: module.lines,
        marks: module.marks,
    };
    Ok(Compiled {
        code: compiled.to_bytes().into(),
        purity,
        plan,
    })
}

/// Take what a [`CompileJob`] made of the text that is the job.
pub(crate) fn unpacked(
    shared: &Rc<InterpreterState>,
    compiled: &[u8],
    name: &Option<Str>,
    source: &Arc<str>,
    vm: &VirtualMachine,
) -> Result<PyRef<PyCode>> {
    let broken = || Error::new(ErrorKind::Broken, "the compiled template cannot be read");
    let compiled = CompiledTemplate::from_bytes(compiled).map_err(|_| broken())?;
    let code =
        marshal::deserialize_code(&mut &compiled.code[..], BasicBag).map_err(|_| broken())?;
    let unit = Unit {
        name: name.clone(),
        source: source.clone(),
        lines: compiled.lines,
    };
    shared.set_unit(MAIN, unit);
    shared
        .marks
        .borrow_mut()
        .0
        .insert(MAIN, compiled.marks.into());
    Ok(vm.ctx.new_code(code))
}

/// The code of the template that is the job.
fn main(
    shared: &Rc<InterpreterState>,
    job: &TemplateJob,
    vm: &VirtualMachine,
) -> Result<PyRef<PyCode>> {
    match &job.compiled {
        Some(compiled) => unpacked(shared, compiled, &job.name, &job.source, vm),
        None => main_from_source(shared, job, vm),
    }
}

fn main_from_source(
    shared: &Rc<InterpreterState>,
    job: &TemplateJob,
    vm: &VirtualMachine,
) -> Result<PyRef<PyCode>> {
    let module = generate(job.name.as_ref(), &job.source, job.strict)?;
    shared.set_unit(
        MAIN,
        Unit {
            name: job.name.clone(),
            source: job.source.clone(),
            lines: module.lines,
        },
    );
    shared
        .marks
        .borrow_mut()
        .0
        .insert(MAIN, module.marks.into());
    Ok(vm.ctx.new_code(shared.compile(&module.code, MAIN)?))
}

/// The code of a template that another one asked for, and its unit.
fn further(
    shared: &Rc<InterpreterState>,
    source: &TemplateSource,
    strict: bool,
    vm: &VirtualMachine,
) -> Result<(PyRef<PyCode>, usize)> {
    let name = Some(source.name.clone());
    let module = generate(name.as_ref(), &source.text, strict)?;
    let unit = shared.unit(Unit {
        name,
        source: source.text.clone(),
        lines: module.lines,
    });
    shared
        .marks
        .borrow_mut()
        .0
        .insert(unit, module.marks.into());
    Ok((vm.ctx.new_code(shared.compile(&module.code, unit)?), unit))
}

/// Render a template.
pub(crate) fn render(
    shared: &Rc<InterpreterState>,
    prelude: &PyDictRef,
    job: &TemplateJob,
    vm: &VirtualMachine,
) -> Result<JobOutcome, JobEnd> {
    shared.lookup.set((job.lookup, job.strict));
    let uri = job.uri.as_deref().unwrap_or("memory:template");
    check_uri(uri)?;
    let code = main(shared, job, vm)?;
    let ordered = prelude.get_item("ordered", vm)?;
    let data = vm.ctx.new_dict();
    for (name, value) in &job.variables {
        data.set_item(&**name, convert::to_python(value, &ordered, vm)?, vm)?;
    }
    if !job.is_pure {
        let grains = match data.get_item_opt("grains", vm)? {
            Some(grains) => Some(grains),
            None => data.get_item_opt("__grains__", vm)?,
        };
        extmods::enter_module_mode(prelude, grains, vm)?;
    }
    let names = module(prelude, code, MAIN, uri, vm)?;
    let functions: Vec<PyObjectRef> = job
        .functions
        .iter()
        .map(|name| vm.ctx.new_str(&**name).into())
        .collect();
    let given = data.copy().into_ref(&vm.ctx);
    let render = prelude.get_item("render_template", vm)?;
    let filename: PyObjectRef = job
        .name
        .as_deref()
        .map_or_else(|| vm.ctx.none(), |name| vm.ctx.new_str(name).into());
    let has_lookup = job.lookup != Lookup::None;
    let printed = render.call(
        (
            vm.ctx.new_str(uri),
            filename,
            names,
            given,
            vm.ctx.new_bool(has_lookup),
            vm.ctx.new_list(functions),
        ),
        vm,
    );
    let printed = match printed {
        Ok(printed) => printed,
        Err(exception) => {
            let error = failure::error(shared, &exception, vm);
            let changed =
                left(&data, &job.changed, &job.variables, &ordered, vm).unwrap_or_default();
            return Ok(JobOutcome::Failed {
                failure: shared.line.failure(&error),
                changed,
            });
        }
    };
    let changed = left(&data, &job.changed, &job.variables, &ordered, vm)?;
    Ok(match text(shared, &printed, vm) {
        Ok(printed) => JobOutcome::Text { printed, changed },
        // The template ran to its end, so what it changed stays changed.
        Err(raised) => JobOutcome::Failed {
            failure: shared.line.failure(&raised.into_error(shared, vm)),
            changed,
        },
    })
}

/// The parts that were printed as one text, with where they came from.
fn text(
    shared: &Rc<InterpreterState>,
    printed: &PyObjectRef,
    vm: &VirtualMachine,
) -> Result<TracedText, JobEnd> {
    let (parts, marks) = (
        printed.get_item(&0usize, vm)?,
        printed.get_item(&1usize, vm)?,
    );
    let (Some(parts), Some(marks)) = (
        parts.downcast_ref::<PyList>(),
        marks.downcast_ref::<PyList>(),
    ) else {
        return Err(Error::new(ErrorKind::Broken, "the template's output is not a list").into());
    };
    let (mut out, mut chunks, mut units) = (String::new(), Vec::new(), Units::new(&shared.line));
    let (parts, marks) = (parts.borrow_vec().to_vec(), marks.borrow_vec().to_vec());
    let known = shared.marks.borrow();
    for (part, mark) in parts.iter().zip(&marks) {
        let Some(text) = part.downcast_ref::<PyStr>() else {
            let class = part.class().name().to_string();
            let message =
                format!("TypeError: sequence item 0: expected str instance, {class} found");
            return Err(Error::raised("TypeError", message).into());
        };
        let Some(text) = text.to_str() else {
            let message = "UnicodeEncodeError: the output has text that is not Unicode";
            return Err(Error::raised("UnicodeEncodeError", message).into());
        };
        let mark: Option<usize> = mark
            .clone()
            .try_into_value::<isize>(vm)
            .ok()
            .and_then(|mark| usize::try_from(mark).ok());
        if let Some(mark) = mark
            && let Some(&(span, exact)) = known
                .0
                .get(&(mark / MARKS))
                .and_then(|marks| marks.get(mark % MARKS))
            && let Some(unit) = shared.units.borrow().get(mark / MARKS)
        {
            let place = SourceSpan {
                template: unit.name.clone(),
                source: unit.source.clone(),
                span,
            };
            chunks.push(Chunk {
                start: out.len(),
                place: units.place(&place),
                exact,
            });
        }
        out.push_str(text);
    }
    Ok(TracedText {
        text: out,
        units: units.list,
        chunks,
    })
}
