//! The thread that a render runs in.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use serde_json::Value as Json;
use tera::{Context, Template, Tera};

use super::bounded::{self, Meter};
use super::guard::{Guard, NeededTemplate, NodePlace};
use super::{scan, span};
use mapstack_salt_jinja::Limits;

/// The input of the thread.
pub(super) struct Job {
    pub name: String,
    pub source: Arc<str>,
    pub limits: Limits,
    /// Steps it may spend.
    pub fuel: u64,
    pub ask: Sender<(Question, Sender<WorkerAnswer>)>,
}

/// Something only the caller's thread knows.
pub(super) enum Question {
    Template(String),
    Variable(String),
    /// The names of all variables.
    Variables,
    Call {
        name: String,
        args: Vec<Json>,
        kwargs: Vec<(String, Json)>,
    },
}

pub(super) enum WorkerAnswer {
    Template(Option<Arc<str>>),
    Variable(Option<Json>),
    Variables(Vec<String>),
    Value(Json),
    Failed(String),
}

/// The outcome.
pub(super) struct WorkerOutcome {
    pub files: Vec<SourceFile>,
    pub spent: u64,
    pub outcome: Result<WorkerText, Box<RenderFailure>>,
}

pub(super) struct SourceFile {
    pub name: String,
    pub source: Arc<str>,
}

/// The text, and where its parts come from.
#[derive(Default)]
pub(super) struct WorkerText {
    pub text: String,
    pub chunks: Vec<Chunk>,
}

pub(super) struct Chunk {
    pub start: usize,
    pub place: NodePlace,
}

/// Why rendering failed.
pub(super) struct RenderFailure {
    pub message: String,
    pub help: Option<String>,
    pub place: NodePlace,
    pub is_limit: bool,
    /// True if a function of `salt` failed.
    pub called: bool,
    /// The variable that does not exist.
    pub unknown: Option<String>,
}

impl RenderFailure {
    fn new(message: impl Into<String>, place: NodePlace) -> Box<Self> {
        Box::new(RenderFailure {
            message: message.into(),
            help: None,
            place,
            is_limit: false,
            called: false,
            unknown: None,
        })
    }
}

/// More templates than this are refused.
const MAX_TEMPLATES: usize = 500;

pub(super) fn run(job: Job) -> WorkerOutcome {
    let meter = Meter::new(job.limits, job.fuel);
    let mut work = WorkerJob {
        ask: job.ask,
        files: Vec::new(),
        guard: Guard::default(),
        tera: Tera::default(),
    };
    let outcome = work.run(&job.name, &job.source, &meter);
    WorkerOutcome {
        files: work.files,
        spent: meter.spent(),
        outcome,
    }
}

struct WorkerJob {
    ask: Sender<(Question, Sender<WorkerAnswer>)>,
    files: Vec<SourceFile>,
    guard: Guard,
    tera: Tera,
}

/// Ask the caller's thread.
fn ask(sender: &Sender<(Question, Sender<WorkerAnswer>)>, question: Question) -> WorkerAnswer {
    let (reply, replied) = channel();
    let gone = || WorkerAnswer::Failed("the render was given up".into());
    if sender.send((question, reply)).is_err() {
        return gone();
    }
    replied.recv().unwrap_or_else(|_| gone())
}

impl WorkerJob {
    fn run(
        &mut self,
        name: &str,
        source: &Arc<str>,
        meter: &Arc<Meter>,
    ) -> Result<WorkerText, Box<RenderFailure>> {
        self.tera.autoescape_on(Vec::new());
        bounded::register(&mut self.tera, meter);
        self.register_salt();
        self.load_all(name, source)?;
        self.check_cycles()?;
        let whole = NodePlace {
            file: 0,
            span: span(0, 0),
            literal: false,
        };
        let built = self
            .tera
            .build_inheritance_chains()
            .and_then(|()| self.tera.check_macro_files());
        built.map_err(|e| RenderFailure::new(root_cause(&e).0, whole))?;
        let context = self.context();
        let mut sink = Sink {
            meter: meter.clone(),
            places: &self.guard.places,
            bytes: Vec::new(),
            chunks: Vec::new(),
        };
        let rendered = self.tera.render_to(name, &context, &mut sink);
        let (bytes, chunks) = (sink.bytes, sink.chunks);
        match rendered {
            Ok(()) => match String::from_utf8(bytes) {
                Ok(text) => Ok(WorkerText { text, chunks }),
                Err(_) => Err(RenderFailure::new("the output is not text", whole)),
            },
            Err(e) => Err(self.failed(&e, meter)),
        }
    }

    /// `salt(fn="module.name", args=[…], kwargs=…, name=value …)`.
    fn register_salt(&mut self) {
        let sender = self.ask.clone();
        self.tera.register_function("salt", move |args: &HashMap<String, Json>| {
            let Some(name) = args.get("fn").and_then(Json::as_str) else {
                return Err(tera::Error::msg(
                    "salt() needs the name of a function: salt(fn=\"grains.get\", args=[\"os\"])",
                ));
            };
            let positional = match args.get("args") {
                None => Vec::new(),
                Some(Json::Array(items)) => items.clone(),
                Some(_) => return Err(tera::Error::msg("salt(): `args` must be an array")),
            };
            let mut kwargs: Vec<(String, Json)> = match args.get("kwargs") {
                None => Vec::new(),
                Some(Json::Object(map)) => map.iter().map(|(k, v)| (k.clone(), v.clone())).collect(),
                Some(_) => return Err(tera::Error::msg("salt(): `kwargs` must be a mapping")),
            };
            let more = args.iter().filter(|(name, _)| !matches!(&***name, "fn" | "args" | "kwargs"));
            kwargs.extend(more.map(|(name, value)| (name.clone(), value.clone())));
            // Their order is not the template's.
            kwargs.sort_by(|(a, _), (b, _)| a.cmp(b));
            match ask(&sender, Question::Call { name: name.into(), args: positional, kwargs }) {
                WorkerAnswer::Value(value) => Ok(value),
                WorkerAnswer::Failed(message) => Err(tera::Error::chain(FUNCTION_FAILED, tera::Error::msg(message))),
                _ => Err(tera::Error::msg("no answer")),
            }
        });
    }

    /// Load a template and all that it needs.
    fn load_all(&mut self, name: &str, source: &Arc<str>) -> Result<(), Box<RenderFailure>> {
        self.load(name, source)?;
        let mut at = 0;
        while let Some(needed) = self.guard.needed.get(at).cloned() {
            at += 1;
            if self.tera.templates.contains_key(&needed.name) {
                continue;
            }
            match ask(&self.ask, Question::Template(needed.name.clone())) {
                WorkerAnswer::Template(Some(source)) => self.load(&needed.name, &source)?,
                WorkerAnswer::Template(None) if !needed.required => {}
                WorkerAnswer::Template(None) => return Err(missing(&needed)),
                WorkerAnswer::Failed(message) => {
                    return Err(RenderFailure::new(message, needed.place));
                }
                _ => return Err(RenderFailure::new("no answer", needed.place)),
            }
            if self.files.len() > MAX_TEMPLATES {
                let message = format!("more than {MAX_TEMPLATES} templates are included");
                return Err(Box::new(RenderFailure {
                    is_limit: true,
                    ..*RenderFailure::new(message, needed.place)
                }));
            }
        }
        Ok(())
    }

    fn load(&mut self, name: &str, source: &Arc<str>) -> Result<(), Box<RenderFailure>> {
        let file = self.files.len();
        self.files.push(SourceFile {
            name: name.into(),
            source: source.clone(),
        });
        let at = |range: std::ops::Range<usize>| NodePlace {
            file,
            span: span(range.start, range.end),
            literal: false,
        };
        let limit = |(message, range)| {
            Box::new(RenderFailure {
                is_limit: true,
                ..*RenderFailure::new(message, at(range))
            })
        };
        let tokens = scan::scan(source).map_err(limit)?;
        let mut template = Template::new(name, None, source).map_err(|e| {
            let (message, offset) = syntax_error(&root_cause(&e).0, source);
            RenderFailure::new(message, at(offset..offset))
        })?;
        let rewritten = self.guard.rewrite(&mut template, source, &tokens, file);
        rewritten
            .map_err(|refused| RenderFailure::new(refused.message, self.place(refused.place)))?;
        self.tera.templates.insert(name.into(), template);
        Ok(())
    }

    fn place(&self, number: usize) -> NodePlace {
        let whole = NodePlace {
            file: 0,
            span: span(0, 0),
            literal: false,
        };
        self.guard.places.get(number).copied().unwrap_or(whole)
    }

    /// Templates that extend each other, or import each other's macros, have no end for the engine.
    fn check_cycles(&self) -> Result<(), Box<RenderFailure>> {
        let needs = |name: &str| -> Vec<&str> {
            let Some(template) = self.tera.templates.get(name) else {
                return Vec::new();
            };
            let imports = template
                .imported_macro_files
                .iter()
                .map(|(file, _)| &**file);
            imports.chain(template.parent.as_deref()).collect()
        };
        // Templates whose needs have all been followed, and those on the way to where we are.
        let mut done: HashSet<&str> = HashSet::new();
        for start in self.files.iter().map(|file| &*file.name) {
            let mut way = vec![(start, needs(start))];
            while let Some((name, ahead)) = way.last_mut() {
                let Some(next) = ahead.pop() else {
                    done.insert(name);
                    way.pop();
                    continue;
                };
                if way.iter().any(|(on_it, _)| *on_it == next) {
                    let needed = self
                        .guard
                        .needed
                        .iter()
                        .find(|needed| needed.required && needed.name == next);
                    let place = needed.map_or_else(|| self.place(0), |needed| needed.place);
                    let wrong = RenderFailure::new(
                        format!("'{next}' extends or imports itself, directly or through others"),
                        place,
                    );
                    return Err(wrong);
                }
                if !done.contains(next) {
                    way.push((next, needs(next)));
                }
            }
        }
        Ok(())
    }

    /// The variables that the templates mention.
    fn context(&self) -> Context {
        let mut context = Context::new();
        let mut names: HashSet<String> = self.guard.names.clone();
        if names.contains("__tera_context")
            && let WorkerAnswer::Variables(all) = ask(&self.ask, Question::Variables)
        {
            names.extend(all);
        }
        for name in names {
            if let WorkerAnswer::Variable(Some(value)) =
                ask(&self.ask, Question::Variable(name.clone()))
            {
                context.insert(name, &value);
            }
        }
        context
    }

    /// The engine's error in our words, at the node that ran.
    fn failed(&self, e: &tera::Error, meter: &Meter) -> Box<RenderFailure> {
        let place = self.place(meter.place());
        if let Some(message) = meter.stopped() {
            return Box::new(RenderFailure {
                is_limit: true,
                ..*RenderFailure::new(message, place)
            });
        }
        let (message, called) = root_cause(e);
        let mut wrong = RenderFailure::new(message, place);
        wrong.called = called;
        if let Some((before, after)) = wrong
            .message
            .split_once(" not found in context while rendering '")
            && let Some(name) = before
                .strip_prefix("Variable `")
                .and_then(|name| name.strip_suffix('`'))
        {
            wrong.unknown = Some(name.into());
            let evaluated = after
                .split_once("': ")
                .map_or(String::new(), |(_, why)| format!(": {why}"));
            wrong.message = format!("the variable '{name}' is undefined{evaluated}");
        }
        wrong
    }
}

fn missing(needed: &NeededTemplate) -> Box<RenderFailure> {
    let mut wrong = RenderFailure::new(
        format!("the template '{}' does not exist", needed.name),
        needed.place,
    );
    wrong.help = Some(format!("no file salt://{} on the file server", needed.name));
    wrong
}

const FUNCTION_FAILED: &str = "mapstack: the function failed";

/// The innermost message of an error, after the names of the filters and functions it came out of;
/// and whether it is that of a `salt` function.
fn root_cause(e: &tera::Error) -> (String, bool) {
    let mut words: Vec<String> = Vec::new();
    let mut next: Option<&dyn std::error::Error> = Some(e);
    let mut called = false;
    while let Some(error) = next {
        let text = error.to_string();
        called |= text == FUNCTION_FAILED;
        let is_frame =
            text.starts_with("Failed to render '") || text.starts_with("Failed to parse '");
        if !is_frame && text != FUNCTION_FAILED {
            words.push(text);
        }
        next = error.source();
    }
    (
        if called {
            words.pop().unwrap_or_default()
        } else {
            words.join(": ")
        },
        called,
    )
}

/// The message and the place in the parser's drawing of an error.
fn syntax_error(drawing: &str, source: &str) -> (String, usize) {
    let Some((position, rest)) = drawing
        .trim_start()
        .strip_prefix("--> ")
        .and_then(|rest| rest.split_once('\n'))
    else {
        return (drawing.to_string(), 0);
    };
    let mut numbers = position
        .split(':')
        .map(|n| n.trim().parse::<usize>().unwrap_or(1));
    let (line, column) = (numbers.next().unwrap_or(1), numbers.next().unwrap_or(1));
    let start = match line {
        0 | 1 => 0,
        n => source
            .match_indices('\n')
            .nth(n - 2)
            .map_or(source.len(), |(i, _)| i + 1),
    };
    let offset = source[start..]
        .char_indices()
        .nth(column.saturating_sub(1))
        .map_or(source.len(), |(i, _)| start + i);
    let message = rest.split_once("= ").map_or(rest, |(_, message)| message);
    (
        message.split_whitespace().collect::<Vec<_>>().join(" "),
        offset,
    )
}

/// Takes the output, and notes where it comes from.
struct Sink<'w> {
    meter: Arc<Meter>,
    places: &'w [NodePlace],
    bytes: Vec<u8>,
    chunks: Vec<Chunk>,
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(place) = self
            .places
            .get(self.meter.place())
            .filter(|_| !bytes.is_empty())
        {
            let same = |last: &Chunk| {
                !place.literal && last.place.file == place.file && last.place.span == place.span
            };
            if !self.chunks.last().is_some_and(same) {
                self.chunks.push(Chunk {
                    start: self.bytes.len(),
                    place: *place,
                });
            }
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
