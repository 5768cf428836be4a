//! Tera beside Jinja: the language of the crate `tera`, with what templates of Salt can reach.
//!
//! A template sees the variables of the render as JSON data, other templates by their paths on the
//! file server, and the functions of `salt` as `salt(fn="grains.get", args=["os"])`; further named
//! arguments, or a mapping `kwargs`, go to the function by name.
//!
//! Tera has no limits and can exhaust the stack or the memory. So every template is rewritten
//! before it runs (`guard`): each node first reports its position and its cost, and each value
//! is measured where it is made. The work is done in a thread with a separate stack, which asks
//! the caller's thread for files and functions.

mod bounded;
mod data;
mod guard;
mod scan;
mod worker;

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use mapstack_diagnostic::nearest;
use mapstack_pyobject::{CallArgs, Error, ErrorKind, Frame, Obj, Result, TemplatePlace};
use mapstack_salt_jinja::ast::{Span, Template};
use mapstack_salt_jinja::{
    Names, Output, OutputOrigin, RenderResult, Request, SourceMap, Vm, call_by_name,
};
use mapstack_value::Value;

/// The stack of a render's thread. This is address space: memory is used only as deep as the template nests.
const STACK: usize = 128 << 20;

/// Render a template written in Tera.
///
/// The fields `syntax`, `strict` and `cache` of the request are ignored: Tera has one syntax and is strict.
///
/// # Errors
/// Whatever is wrong with the template or fails while it runs, with the place in its source. The
/// message does not name Tera.
///
/// ```
/// use mapstack_render::{Language, Obj, Tera, jinja::{NoHost, request}};
/// let mut request = request("{% for n in list %}{{ n * 2 }} {% endfor %}", &NoHost);
/// request.variables.insert("list".into(), Obj::list([Obj::from(1), Obj::from(2)]));
/// assert_eq!(Tera.render(request).unwrap().text, "2 4 ");
/// ```
pub fn render(request: &Request<'_>) -> Result<RenderResult> {
    let vm = Vm::new(request);
    let (ask, asked) = channel();
    let name = request.name.as_deref().unwrap_or(UNNAMED).to_string();
    let job = worker::Job {
        name: name.clone(),
        source: request.source.clone(),
        limits: *vm.limits(),
        fuel: request
            .fuel
            .map_or(request.limits.fuel, std::cell::Cell::get),
        ask,
    };
    let worker = thread::Builder::new()
        .name("tera".into())
        .stack_size(STACK)
        .spawn(move || worker::run(job));
    let worker = worker.map_err(|e| Error::limit(format!("no thread could be started: {e}")))?;
    let mut server = Server {
        vm: &vm,
        variables: &request.variables,
        failure: None,
    };
    // The loop ends when the worker drops its sender.
    while let Ok((question, reply)) = asked.recv() {
        // A worker that dropped its receiver has failed, and `join` returns its error.
        let _ = reply.send(server.answer(question));
    }
    let failure = server.failure;
    let Ok(done) = worker.join() else {
        let error = Error::new(
            ErrorKind::Nested,
            "the template engine failed on this template",
        );
        return Err(error.with_help(
            "this is a fault of the engine; write the template in another way, or in jinja",
        ));
    };
    if let Some(fuel) = request.fuel {
        fuel.set(fuel.get().saturating_sub(done.spent));
    }
    let templates: Vec<Arc<Template>> = done
        .files
        .iter()
        .map(|file| described(file, &name, request))
        .collect();
    let printed = match done.outcome {
        Ok(printed) => printed,
        Err(wrong) => return Err(located(*wrong, failure, &templates, &request.variables)),
    };
    let (text, map) = mapped(&printed, &templates, request.limits.output)?;
    Ok(RenderResult {
        text,
        map,
        exports: Names::default(),
    })
}

/// The printed text, with a map from its parts to their places in the templates.
fn mapped(
    printed: &worker::WorkerText,
    templates: &[Arc<Template>],
    limit: usize,
) -> Result<(String, SourceMap)> {
    let mut out = Output::mapped(limit);
    for (at, chunk) in printed.chunks.iter().enumerate() {
        let end = printed
            .chunks
            .get(at + 1)
            .map_or(printed.text.len(), |next| next.start);
        let (Some(text), Some(template)) = (
            printed.text.get(chunk.start..end),
            templates.get(chunk.place.file),
        ) else {
            continue;
        };
        let origin = if chunk.place.literal {
            OutputOrigin::Literal
        } else {
            OutputOrigin::Computed
        };
        out.push(text, template, chunk.place.span, origin)?;
    }
    Ok(out.finish())
}

/// The name of a template without one.
const UNNAMED: &str = "<template>";

/// A template with only a name and a source, for positions to refer to.
fn described(file: &worker::SourceFile, own: &str, request: &Request<'_>) -> Arc<Template> {
    let name = if file.name == own {
        request.name.clone()
    } else {
        Some(file.name.as_str().into())
    };
    Arc::new(Template::empty(name, file.source.clone()))
}

/// The error of a worker, in the terms of this crate.
fn located(
    wrong: worker::RenderFailure,
    failure: Option<Box<Error>>,
    templates: &[Arc<Template>],
    variables: &Names,
) -> Box<Error> {
    let place = templates
        .get(wrong.place.file)
        .map(|template| TemplatePlace {
            template: template.name.clone(),
            source: template.source.clone(),
            span: wrong.place.span,
        });
    if let Some(failure) = failure.filter(|_| wrong.called) {
        let words = failure.message.clone();
        let kind = if failure.kind == ErrorKind::Limit {
            ErrorKind::Limit
        } else {
            ErrorKind::Nested
        };
        let mut error = Box::new(Error {
            kind,
            message: words,
            ..*failure
        });
        match (&error.place, place) {
            (None, place) => error.place = place,
            (Some(_), Some(place)) => error.trace.push(Frame {
                what: "called from here".into(),
                place,
            }),
            (Some(_), None) => {}
        }
        return error;
    }
    let kind = if wrong.is_limit {
        ErrorKind::Limit
    } else {
        ErrorKind::Nested
    };
    let mut error = Error::new(kind, wrong.message);
    error.place = place;
    error.help = wrong.help.or_else(|| {
        let unknown = wrong.unknown?;
        let root = unknown.split(['.', '[']).next().unwrap_or(&unknown);
        if root == "salt" {
            return Some("call functions as salt(fn=\"grains.get\", args=[\"os\"])".into());
        }
        if variables.contains_key(root) {
            return Some(format!(
                "'{root}' exists, but has no such part; use {unknown} | default(value=…) if it may be missing"
            ));
        }
        nearest(root, variables.keys().map(|name| &**name)).map(|near| format!("did you mean '{near}'?"))
    });
    error
}

/// Answers the questions of a worker, in the thread of the caller.
struct Server<'s> {
    vm: &'s Vm<'s>,
    variables: &'s Names,
    /// The error that the last call of a function raised.
    failure: Option<Box<Error>>,
}

impl Server<'_> {
    fn answer(&mut self, question: worker::Question) -> worker::WorkerAnswer {
        match question {
            worker::Question::Template(path) => match self.vm.host().template(&path) {
                Ok(found) => worker::WorkerAnswer::Template(found),
                Err(e) => self.failed(e),
            },
            worker::Question::Variable(name) => {
                // Objects that are not data, such as `salt`, are not variables here.
                let value = self
                    .variables
                    .get(&*name)
                    .and_then(|object| object.to_value_lossy().ok());
                let is_data = |(value, missing): &(Value, Vec<String>)| {
                    !value.is_none() || missing.is_empty()
                };
                worker::WorkerAnswer::Variable(
                    value
                        .filter(is_data)
                        .map(|(value, _)| data::to_json(&value)),
                )
            }
            worker::Question::Variables => worker::WorkerAnswer::Variables(
                self.variables.keys().map(ToString::to_string).collect(),
            ),
            worker::Question::Call { name, args, kwargs } => match self.call(&name, &args, &kwargs)
            {
                Ok(value) => worker::WorkerAnswer::Value(value),
                Err(e) => self.failed(e),
            },
        }
    }

    fn failed(&mut self, e: Box<Error>) -> worker::WorkerAnswer {
        let message = e.message.clone();
        self.failure = Some(e);
        worker::WorkerAnswer::Failed(message)
    }

    fn call(
        &self,
        name: &str,
        args: &[serde_json::Value],
        kwargs: &[(String, serde_json::Value)],
    ) -> Result<serde_json::Value> {
        let object = |value: &serde_json::Value| Obj::from(data::from_json(value));
        let mut call = CallArgs::positional(args.iter().map(object).collect::<Vec<_>>());
        call.named.extend(
            kwargs
                .iter()
                .map(|(name, value)| (name.as_str().into(), object(value))),
        );
        Ok(data::to_json(
            &call_by_name(self.vm, name, call)?.to_value()?,
        ))
    }
}

/// A span of a source that is smaller than 4 GiB.
fn span(start: usize, end: usize) -> Span {
    let offset = |byte: usize| u32::try_from(byte).unwrap_or(u32::MAX);
    Span {
        start: offset(start),
        end: offset(end),
    }
}

#[cfg(test)]
mod tests;
