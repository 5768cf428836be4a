//! Renders that are requested as Jinja's are, run by the interpreter.

use std::sync::Arc;

use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Result};
use mapstack_value::{Str, Value};

use crate::protocol::{
    CompileJob, Compiled, FunctionFiles, Job, Language, Loader, Lookup, ModuleJob, Names,
    TemplateJob,
};

use super::{
    Chunk, Host, Interpreter, Limits, SessionOutcome, TemplateSource, compiled, plan, session,
};
use crate::client::mako::MakoOptions;
use mapstack_salt_jinja::Output;
use mapstack_salt_jinja::ast::{Span, Template};
use mapstack_salt_jinja::{self as jinja, OutputOrigin, RenderResult, Vm};
use mapstack_salt_jinja::{call_by_name, is_salt};

/// Render a Mako template for a request made for Jinja, and read back those of the variables in `changed`
/// that the template left as something else.
///
/// Of the request, `syntax`, `strict` and `cache` do not apply, and its fuel bounds this render but
/// is not spent by it. Variables that are not data, other than the `salt` object, do not exist for
/// the template.
///
/// # Errors
/// As [`mako::render`](crate::client::mako::render).
///
/// ```no_run
/// use mapstack_salt_jinja::{NoHost, Request, request};
/// use mapstack_pyobject::Obj;
/// use mapstack_sandbox::mako;
/// let mut request = request("<% stack['b'] = 2 %>a: ${stack['a']}", &NoHost);
/// request.variables.insert("stack".into(), Obj::dict([("a".into(), Obj::from(1))]));
/// let interpreter = mapstack_sandbox::Interpreter::new();
/// let (rendered, changed) =
///     mako::render_as(&request, mako::MakoOptions::stack(), None, &["stack"], &interpreter).unwrap();
/// assert_eq!(rendered.text, "a: 1");
/// assert_eq!(changed[0].1.repr(), "{'a': 1, 'b': 2}");
/// ```
pub fn render_as(
    request: &jinja::Request<'_>,
    options: MakoOptions,
    uri: Option<&str>,
    changed: &[&str],
    interpreter: &Interpreter,
) -> Result<(RenderResult, Vec<(Str, Value)>)> {
    let (rendered, changed) = attempt_as(request, options, uri, changed, interpreter);
    rendered.map(|rendered| (rendered, changed))
}

/// As [`render_as`], but with the variables as the template left them even if it fails. There are none
/// if it did not start, or left something that is not data.
///
/// ```no_run
/// use mapstack_salt_jinja::{NoHost, Request, request};
/// use mapstack_pyobject::Obj;
/// use mapstack_sandbox::mako;
/// let mut request = request("<% stack['b'] = 2 %>${1 / 0}", &NoHost);
/// request.variables.insert("stack".into(), Obj::dict([("a".into(), Obj::from(1))]));
/// let interpreter = mapstack_sandbox::Interpreter::new();
/// let (rendered, changed) =
///     mako::attempt_as(&request, mako::MakoOptions::stack(), None, &["stack"], &interpreter);
/// assert!(rendered.unwrap_err().message.starts_with("ZeroDivisionError"));
/// assert_eq!(changed[0].1.repr(), "{'a': 1, 'b': 2}");
/// ```
pub fn attempt_as(
    request: &jinja::Request<'_>,
    options: MakoOptions,
    uri: Option<&str>,
    changed: &[&str],
    interpreter: &Interpreter,
) -> (Result<RenderResult>, Vec<(Str, Value)>) {
    let asked = match CompiledJob::of(request, options, uri, interpreter) {
        Ok(asked) => asked,
        Err(error) => return (Err(error), Vec::new()),
    };
    match asked.planned() {
        Some(rendered) => (Ok(rendered), Vec::new()),
        None => asked.interpreted(changed),
    }
}

/// A template that was compiled, and what it is rendered with.
pub(super) struct CompiledJob<'a> {
    request: &'a jinja::Request<'a>,
    compiled: Arc<Compiled>,
    options: MakoOptions,
    uri: Option<&'a str>,
    interpreter: &'a Interpreter,
    limits: Limits,
}

impl<'a> CompiledJob<'a> {
    pub(super) fn of(
        request: &'a jinja::Request<'a>,
        options: MakoOptions,
        uri: Option<&'a str>,
        interpreter: &'a Interpreter,
    ) -> Result<Self> {
        let limits = limits(request);
        let compile = CompileJob {
            language: Language::Mako,
            source: request.source.clone(),
            name: request.name.clone(),
            strict: options.strict,
        };
        Ok(CompiledJob {
            request,
            compiled: compiled::of(compile, interpreter, &limits)?,
            options,
            uri,
            interpreter,
            limits,
        })
    }

    /// The output of a template that only looks at what it is given; none where the interpreter has to render it.
    pub(super) fn planned(&self) -> Option<RenderResult> {
        // The interpreter refuses a URI that leads up and out, also where nothing is loaded by it.
        let can_lead_out = self.uri.is_some_and(|uri| uri.contains(".."));
        let plan = self.compiled.plan.as_ref().filter(|_| !can_lead_out)?;
        let (text, chunks) = plan::printed(plan, self.request)?;
        rendered(&text, &chunks, self.request.limits.output).ok()
    }

    /// Render the template in the interpreter.
    pub(super) fn interpreted(
        &self,
        changed: &[&str],
    ) -> (Result<RenderResult>, Vec<(Str, Value)>) {
        let CompiledJob {
            request, options, ..
        } = self;
        let vm = Vm::new(request);
        let given = CodeInputs::of(request, &self.compiled, &[]);
        let job = TemplateJob {
            source: request.source.clone(),
            name: request.name.clone(),
            uri: self.uri.map(Str::from),
            strict: options.strict,
            lookup: options.lookup,
            variables: given.variables,
            functions: given.functions,
            changed: changed.iter().copied().map(Str::from).collect(),
            is_pure: given.is_pure,
            compiled: Some(self.compiled.code.clone()),
        };
        let bridge = Bridge {
            vm: &vm,
            lookup: options.lookup,
        };
        let job = Job::Template(job);
        match session::perform(self.interpreter, &bridge, &self.limits, &job) {
            Ok(SessionOutcome::Text {
                text,
                chunks,
                changed,
            }) => (rendered(&text, &chunks, request.limits.output), changed),
            Ok(SessionOutcome::Failed { error, changed }) => (Err(error), changed),
            Ok(SessionOutcome::Value { .. } | SessionOutcome::Function { .. }) => {
                let error = Error::new(
                    ErrorKind::Nested,
                    "the interpreter answered another question",
                );
                (Err(error), Vec::new())
            }
            Err(error) => (Err(error), Vec::new()),
        }
    }
}

/// Run a Python module for a request made for Jinja: what its `run()` returns, and those of the variables in
/// `changed` that it left as something else. Variables are globals of the module.
///
/// # Errors
/// As [`run`](super::run).
pub fn run_as(
    request: &jinja::Request<'_>,
    changed: &[&str],
    interpreter: &Interpreter,
) -> Result<(Value, Vec<(Str, Value)>)> {
    let vm = Vm::new(request);
    let limits = limits(request);
    let compile = CompileJob {
        language: Language::Python,
        source: request.source.clone(),
        name: request.name.clone(),
        strict: false,
    };
    let compiled = compiled::of(compile, interpreter, &limits)?;
    // A module has these functions however it is requested.
    let given = CodeInputs::of(request, &compiled, &["salt", "__salt__"]);
    let job = ModuleJob {
        source: request.source.clone(),
        name: request.name.clone(),
        variables: given.variables,
        changed: changed.iter().copied().map(Str::from).collect(),
        is_pure: given.is_pure,
        compiled: Some(compiled.code.clone()),
    };
    let bridge = Bridge {
        vm: &vm,
        lookup: Lookup::None,
    };
    let job = Job::Module(job);
    match session::perform(interpreter, &bridge, &limits, &job)? {
        SessionOutcome::Value { value, changed } => Ok((value, changed)),
        SessionOutcome::Failed { error, .. } => Err(error),
        SessionOutcome::Text { .. } | SessionOutcome::Function { .. } => Err(Error::new(
            ErrorKind::Nested,
            "the interpreter answered another question",
        )),
    }
}

/// Do a job that shares nothing with others.
pub(crate) fn alone(host: &dyn Host, limits: &Limits, mut job: Job) -> Result<SessionOutcome> {
    let interpreter = Interpreter::new();
    let compile = |language, source: &Arc<str>, name: &Option<Str>, strict| {
        let (source, name) = (source.clone(), name.clone());
        let job = CompileJob {
            language,
            source,
            name,
            strict,
        };
        compiled::of(job, &interpreter, limits).map(|compiled| Some(compiled.code.clone()))
    };
    match &mut job {
        Job::Template(job) => {
            job.compiled = compile(Language::Mako, &job.source, &job.name, job.strict)?;
        }
        Job::Module(job) => {
            job.compiled = compile(Language::Python, &job.source, &job.name, false)?;
        }
        Job::Compile(_) | Job::Function(_) | Job::Render(_) => {}
    }
    session::perform(&interpreter, host, limits, &job)
}

/// The values that code is given.
struct CodeInputs {
    /// The variables that are data.
    variables: Names,
    /// The names of those that are the `salt` object.
    functions: Vec<Str>,
    /// True if the code can share an interpreter.
    is_pure: bool,
}

impl CodeInputs {
    /// The inputs of a request for compiled code, which also takes `functions`. Only the values that the code can look at
    /// are read and copied.
    fn of(request: &jinja::Request<'_>, compiled: &Compiled, functions: &[&str]) -> Self {
        let besides = || functions.iter().copied().map(Str::from);
        if let Some(purity) = &compiled.purity {
            let (variables, mut names) = given(request, |name| compiled::reads(purity, name));
            names.extend(besides());
            if compiled::is_pure(purity, &variables, &names) {
                return CodeInputs {
                    variables,
                    functions: names,
                    is_pure: true,
                };
            }
        }
        let (variables, functions) = given(request, |_| true);
        CodeInputs {
            variables,
            functions,
            is_pure: false,
        }
    }
}

fn given(request: &jinja::Request<'_>, reads: impl Fn(&str) -> bool) -> (Names, Vec<Str>) {
    let (mut data, mut functions) = (Vec::new(), Vec::new());
    for (name, object) in request.variables.iter().chain(&request.locals) {
        if !reads(name) {
            continue;
        }
        if is_salt(object) {
            functions.push(name.clone());
        } else if let Ok((value, missing)) = object.to_value_lossy()
            && (missing.is_empty() || !value.is_none())
        {
            data.push((name.clone(), value));
        }
    }
    (data, functions)
}

/// The limits of a request; what it does not limit is limited as ever.
pub(super) fn limits(request: &jinja::Request<'_>) -> Limits {
    let own = Limits::default();
    let given = request.limits;
    let fuel = request.fuel.map_or(given.fuel, std::cell::Cell::get);
    Limits {
        fuel: own.fuel.min(fuel),
        output: given.output,
        depth: own.depth,
        time: given.time.map_or(own.time, |time| time.left()),
        memory: given.memory_left().unwrap_or(own.memory),
    }
}

/// Text with a map of the kind that Jinja's has.
fn rendered(text: &str, chunks: &[Chunk], limit: usize) -> Result<RenderResult> {
    let mut out = Output::mapped(limit);
    let mut template: Option<Arc<Template>> = None;
    let nowhere = || Arc::new(Template::empty(None, "".into()));
    // Text that no part of a template printed, such as a decorator's.
    let before = chunks.first().map_or(text.len(), |first| first.start);
    out.push(
        text.get(..before).unwrap_or_default(),
        &nowhere(),
        Span::default(),
        OutputOrigin::Computed,
    )?;
    for (at, chunk) in chunks.iter().enumerate() {
        let end = chunks.get(at + 1).map_or(text.len(), |next| next.start);
        let same =
            |t: &Arc<Template>| t.name == chunk.name && Arc::ptr_eq(&t.source, &chunk.source);
        let own = template.take().filter(same).unwrap_or_else(|| {
            let (name, source) = (chunk.name.clone(), chunk.source.clone());
            Arc::new(Template::empty(name, source))
        });
        let origin = if chunk.exact {
            OutputOrigin::Literal
        } else {
            OutputOrigin::Computed
        };
        out.push(
            text.get(chunk.start..end).unwrap_or_default(),
            &own,
            chunk.span,
            origin,
        )?;
        template = Some(own);
    }
    let (text, map) = out.finish();
    Ok(RenderResult {
        text,
        map,
        exports: jinja::Names::default(),
    })
}

/// The host of a Jinja render as one of the interpreter.
pub(super) struct Bridge<'v> {
    vm: &'v Vm<'v>,
    lookup: Lookup,
}

impl<'v> Bridge<'v> {
    /// A further template. Mako reads its bytes, and takes no byte order mark for text.
    fn template_at(&self, path: &str) -> Result<Option<TemplateSource>> {
        let found = self.vm.host().template(path)?;
        Ok(found.map(|text| TemplateSource {
            name: path.into(),
            text: match text.strip_prefix('\u{feff}') {
                Some(unmarked) => unmarked.into(),
                None => text,
            },
        }))
    }

    /// A bridge to the functions of a render alone.
    pub(super) fn without_templates(vm: &'v Vm<'v>) -> Self {
        Bridge {
            vm,
            lookup: Lookup::None,
        }
    }
}

impl Host for Bridge<'_> {
    fn template(&self, uri: &str) -> Result<Option<TemplateSource>> {
        // Mako itself knows no schemes, and takes backslashes for slashes.
        if self.lookup == Lookup::Stock {
            let uri = uri.replace('\\', "/");
            let path = uri.trim_start_matches('/');
            return self.template_at(path);
        }
        if uri.starts_with("file://") {
            let error = Error::new(
                ErrorKind::Security,
                format!("{uri} is not on the file server"),
            );
            return Err(error.with_help("put the template below a root and load it by its path"));
        }
        let path = uri
            .strip_prefix("salt://")
            .unwrap_or(uri)
            .trim_start_matches('/');
        self.template_at(path)
    }

    fn has_function(&self, name: &str) -> bool {
        let host = self.vm.host();
        let has = host.has_function(name);
        if !has {
            host.note_missing_function(name, None);
        }
        has
    }

    fn has_module(&self, module: &str) -> bool {
        self.vm.host().has_module(module)
    }

    fn find(&self, loader: Loader, name: &str) -> Result<FunctionFiles> {
        Ok(FunctionFiles {
            is_known: loader == Loader::Modules && self.vm.host().is_elsewhere(name),
            ..FunctionFiles::default()
        })
    }

    fn machine(&self, path: &str) -> Result<Value> {
        let found = self.vm.host().on_machine(path);
        found.unwrap_or(Ok(Value::None))
    }

    fn call(
        &self,
        name: &str,
        arguments: Vec<Value>,
        keywords: Vec<(Str, Value)>,
    ) -> Result<Value> {
        let mut call =
            CallArgs::positional(arguments.into_iter().map(Obj::from).collect::<Vec<_>>());
        call.named.extend(
            keywords
                .into_iter()
                .map(|(name, value)| (name, Obj::from(value))),
        );
        call_by_name(self.vm, name, call)?.to_value()
    }
}
