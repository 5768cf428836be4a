//! The jobs of a session, and its questions on the way.

use std::sync::Arc;

use mapstack_value::{Str, Value};

use crate::protocol::codec::{DecodeError, Message, Reader, Writer};
use crate::protocol::outcome::JobOutcome;

/// Names with their values, in order.
pub type Names = Vec<(Str, Value)>;

/// A job for a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Job {
    /// Run a module and call its `run()`.
    Module(ModuleJob),
    /// Render a Mako template.
    Template(TemplateJob),
    /// Compile a template or a module. Nothing of it runs.
    Compile(CompileJob),
    /// Load a module of the tree and call a function of it.
    Function(FunctionJob),
    /// Render a text or data by a renderer that is Python.
    Render(RenderJob),
}

impl Job {
    /// True if the code is known to see no state of the interpreter, and to leave none in it.
    ///
    /// ```
    /// use mapstack_sandbox::protocol::{CompileJob, Job, Language};
    /// let (source, name, strict) = ("${a}".into(), None, true);
    /// let job = Job::Compile(CompileJob { language: Language::Mako, source, name, strict });
    /// assert!(job.is_pure());
    /// ```
    #[must_use]
    pub fn is_pure(&self) -> bool {
        match self {
            Job::Module(job) => job.is_pure,
            Job::Template(job) => job.is_pure,
            Job::Compile(_) => true,
            Job::Function(_) | Job::Render(_) => false,
        }
    }
}

/// A module to run.
#[derive(Debug, Clone, PartialEq)]
pub struct ModuleJob {
    /// Its text.
    pub source: Arc<str>,
    /// The name in errors.
    pub name: Option<Str>,
    /// Its globals, set after it ran and before `run()` is called.
    pub variables: Names,
    /// Variables to read back.
    pub changed: Vec<Str>,
    /// True if the code is known to see no state of the interpreter, and to leave none in it.
    pub is_pure: bool,
    /// The code that a [`CompileJob`] made of the same text, if there was one.
    pub compiled: Option<Arc<[u8]>>,
}

/// A Mako template to render.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateJob {
    /// Its text.
    pub source: Arc<str>,
    /// The name in errors.
    pub name: Option<Str>,
    /// Its URI, which those of further templates are relative to.
    pub uri: Option<Str>,
    /// Names without a value are an error at the start, not when they are printed.
    pub strict: bool,
    /// The reading of URIs of further templates.
    pub lookup: Lookup,
    /// The names it is given.
    pub variables: Names,
    /// Names under which the minion's functions are given.
    pub functions: Vec<Str>,
    /// Variables to read back.
    pub changed: Vec<Str>,
    /// True if the code is known to see no state of the interpreter, and to leave none in it.
    pub is_pure: bool,
    /// The code that a [`CompileJob`] made of the same text, if there was one.
    pub compiled: Option<Arc<[u8]>>,
}

/// A function of a module that the tree ships, such as those in `salt://_modules`.
///
/// The module comes with the first answer, as does each further one that it asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionJob {
    /// The loader that the module belongs to.
    pub loader: Loader,
    /// The name of the module.
    pub module: Str,
    /// The function; `None` asks for the names of all functions.
    pub function: Option<Str>,
    /// Positional arguments.
    pub arguments: Vec<Value>,
    /// Named arguments.
    pub keywords: Names,
}

/// A job for a renderer of Salt that is Python, with a text or data.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderJob {
    /// A renderer of the tree, by its name; `None` for Salt's `pyobjects`.
    pub renderer: Option<Str>,
    /// The text to render; empty where there is data.
    pub source: Arc<str>,
    /// The name in errors.
    pub name: Option<Str>,
    /// The data to render, where an earlier renderer made some.
    pub data: Option<Value>,
    /// The saltenv of the file.
    pub saltenv: Str,
    /// The sls that the file is; empty for a text that is not an sls.
    pub sls: Str,
    /// The keywords of the renderer.
    pub keywords: Names,
}

/// A loader of Salt: what kind of modules it loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Loader {
    /// Execution modules, from `salt://_modules`.
    Modules,
    /// Utility modules, from `salt://_utils`.
    Utils,
    /// Renderers, from `salt://_renderers`.
    Renderers,
    /// Modules of states, from `salt://_states`.
    States,
    /// Modules of grains, from `salt://_grains`.
    Grains,
    /// Runners of a master, from `salt://_runners`.
    Runners,
    /// External pillars, from `salt://_pillar`.
    Pillar,
    /// Tops of a master, from `salt://_tops`.
    Tops,
    /// Matchers of targets, from `salt://_matchers`.
    Matchers,
}

impl Loader {
    /// All loaders.
    pub const ALL: [Loader; 9] = [
        Loader::Modules,
        Loader::Utils,
        Loader::Renderers,
        Loader::States,
        Loader::Grains,
        Loader::Runners,
        Loader::Pillar,
        Loader::Tops,
        Loader::Matchers,
    ];

    /// The directory on the file server.
    #[must_use]
    pub fn directory(self) -> &'static str {
        match self {
            Loader::Modules => "_modules",
            Loader::Utils => "_utils",
            Loader::Renderers => "_renderers",
            Loader::States => "_states",
            Loader::Grains => "_grains",
            Loader::Runners => "_runners",
            Loader::Pillar => "_pillar",
            Loader::Tops => "_tops",
            Loader::Matchers => "_matchers",
        }
    }
}

/// The files that may have a function, in the order in which they are tried.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FunctionFiles {
    /// Their paths and texts; none where the tree has no such module, or where something else answers first.
    pub sources: Vec<TemplateSource>,
    /// True if Salt has the function without the tree.
    pub is_known: bool,
}

/// A text to compile.
#[derive(Debug, Clone, PartialEq)]
pub struct CompileJob {
    /// The language of the text.
    pub language: Language,
    /// Its text.
    pub source: Arc<str>,
    /// The name in errors.
    pub name: Option<Str>,
    /// As in [`TemplateJob`].
    pub strict: bool,
}

/// The language of a text to compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// A Mako template.
    Mako,
    /// A module.
    Python,
}

/// The reading of URIs in `<%include>`, `<%inherit>` and `<%namespace>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lookup {
    /// Not at all: a template that asks for another one is refused.
    #[default]
    None,
    /// As Mako's own lookup does.
    Stock,
    /// As `salt.utils.mako.SaltMakoTemplateLookup` does.
    Salt,
}

/// A message of a session: a question, or at the end the outcome of the job.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionMessage {
    /// Asks for the template at a URI.
    Template(String),
    /// Asks whether there is a function of that name.
    HasFunction(String),
    /// Asks whether there is a module of that name.
    HasModule(String),
    /// Calls a function.
    Call(String, Vec<Value>, Names),
    /// Asks for the modules that may have a function, by its full name.
    Find(Loader, String),
    /// Asks for facts by the name that modules have for them, such as `__grains__`.
    Fact(String),
    /// Reads an absolute path of the machine. The answer is `None` if it is unknown, `False` if
    /// nothing is there, the bytes of a file, or the names in a directory.
    Machine(String),
    /// The end of the job, and what it took.
    Done(Box<JobOutcome>, JobUsage),
}

/// The resources that a job took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JobUsage {
    /// Steps.
    pub steps: u64,
    /// True if the job looked at what differs from run to run, such as the clock. If not, the same job comes to the same
    /// end wherever it gets the same answers.
    pub is_by_chance: bool,
}

/// An answer of the command.
#[derive(Debug, Clone, PartialEq)]
pub enum CommandAnswer {
    /// A template, if there is one.
    Template(Result<Option<TemplateSource>, Refusal>),
    /// Yes or no.
    Flag(bool),
    /// The result of a function, or facts.
    Value(Result<Value, Refusal>),
    /// Modules.
    Found(Result<FunctionFiles, Refusal>),
}

/// A template's source.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateSource {
    /// The name in errors.
    pub name: Str,
    /// Its text.
    pub text: Arc<str>,
}

/// An error of the command's. It stays there; the session has its number and what a template can see of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The number by which the command keeps it.
    pub number: u32,
    /// The kind of error that a template sees.
    pub kind: RefusalKind,
    /// The message.
    pub message: String,
}

/// The kind of error that a template sees when the command refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// The template does not exist.
    NotFound,
    /// It is not allowed.
    Forbidden,
    /// Nothing answers the call, so nothing is known about what it would return.
    Unanswered,
    /// Anything else.
    Other,
}

impl Message for Job {
    fn write(&self, out: &mut Writer) {
        match self {
            Job::Module(job) => {
                out.uint(1);
                out.text(&job.source);
                out.option(job.name.as_deref(), Writer::text);
                write_names(&job.variables, out);
                write_texts(&job.changed, out);
                out.flag(job.is_pure);
                out.option(job.compiled.as_deref(), Writer::bytes);
            }
            Job::Template(job) => {
                out.uint(2);
                out.text(&job.source);
                out.option(job.name.as_deref(), Writer::text);
                out.option(job.uri.as_deref(), Writer::text);
                out.flag(job.strict);
                job.lookup.write(out);
                write_names(&job.variables, out);
                write_texts(&job.functions, out);
                write_texts(&job.changed, out);
                out.flag(job.is_pure);
                out.option(job.compiled.as_deref(), Writer::bytes);
            }
            Job::Compile(job) => {
                out.uint(3);
                job.language.write(out);
                out.text(&job.source);
                out.option(job.name.as_deref(), Writer::text);
                out.flag(job.strict);
            }
            Job::Function(job) => {
                out.uint(4);
                job.loader.write(out);
                out.text(&job.module);
                out.option(job.function.as_deref(), Writer::text);
                out.count(job.arguments.len());
                job.arguments
                    .iter()
                    .for_each(|argument| argument.write(out));
                write_names(&job.keywords, out);
            }
            Job::Render(job) => {
                out.uint(5);
                out.option(job.renderer.as_deref(), Writer::text);
                out.text(&job.source);
                out.option(job.name.as_deref(), Writer::text);
                out.option(job.data.as_ref(), |out, data| data.write(out));
                out.text(&job.saltenv);
                out.text(&job.sls);
                write_names(&job.keywords, out);
            }
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match input.uint::<u8>()? {
            1 => Ok(Job::Module(ModuleJob {
                source: input.shared()?,
                name: input.option(Reader::shared)?,
                variables: read_names(input)?,
                changed: input.list(Reader::shared)?,
                is_pure: input.flag()?,
                compiled: input.option(|input| input.bytes().map(Arc::from))?,
            })),
            2 => Ok(Job::Template(TemplateJob {
                source: input.shared()?,
                name: input.option(Reader::shared)?,
                uri: input.option(Reader::shared)?,
                strict: input.flag()?,
                lookup: Lookup::read(input)?,
                variables: read_names(input)?,
                functions: input.list(Reader::shared)?,
                changed: input.list(Reader::shared)?,
                is_pure: input.flag()?,
                compiled: input.option(|input| input.bytes().map(Arc::from))?,
            })),
            3 => Ok(Job::Compile(CompileJob {
                language: Language::read(input)?,
                source: input.shared()?,
                name: input.option(Reader::shared)?,
                strict: input.flag()?,
            })),
            4 => Ok(Job::Function(FunctionJob {
                loader: Loader::read(input)?,
                module: input.shared()?,
                function: input.option(Reader::shared)?,
                arguments: input.list(Value::read)?,
                keywords: read_names(input)?,
            })),
            5 => Ok(Job::Render(RenderJob {
                renderer: input.option(Reader::shared)?,
                source: input.shared()?,
                name: input.option(Reader::shared)?,
                data: input.option(Value::read)?,
                saltenv: input.shared()?,
                sls: input.shared()?,
                keywords: read_names(input)?,
            })),
            _ => Err(input.error("this is not a job")),
        }
    }
}

impl Message for Loader {
    fn write(&self, out: &mut Writer) {
        out.uint(match self {
            Loader::Modules => 0,
            Loader::Utils => 1,
            Loader::Renderers => 2,
            Loader::States => 3,
            Loader::Grains => 4,
            Loader::Runners => 5,
            Loader::Pillar => 6,
            Loader::Tops => 7,
            Loader::Matchers => 8,
        });
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let number: usize = input.uint()?;
        let known = Loader::ALL.get(number).copied();
        known.ok_or_else(|| input.error("this is not a loader"))
    }
}

impl Message for Language {
    fn write(&self, out: &mut Writer) {
        out.uint(match self {
            Language::Mako => 0,
            Language::Python => 1,
        });
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match input.uint::<u8>()? {
            0 => Ok(Language::Mako),
            1 => Ok(Language::Python),
            _ => Err(input.error("this is not a language")),
        }
    }
}

impl Message for Lookup {
    fn write(&self, out: &mut Writer) {
        out.uint(match self {
            Lookup::None => 0,
            Lookup::Stock => 1,
            Lookup::Salt => 2,
        });
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match input.uint::<u8>()? {
            0 => Ok(Lookup::None),
            1 => Ok(Lookup::Stock),
            2 => Ok(Lookup::Salt),
            _ => Err(input.error("this is not a way to look up templates")),
        }
    }
}

impl Message for SessionMessage {
    fn write(&self, out: &mut Writer) {
        match self {
            SessionMessage::Template(uri) => {
                out.uint(1);
                out.text(uri);
            }
            SessionMessage::HasFunction(name) => {
                out.uint(2);
                out.text(name);
            }
            SessionMessage::HasModule(name) => {
                out.uint(3);
                out.text(name);
            }
            SessionMessage::Call(name, arguments, keywords) => {
                out.uint(4);
                out.text(name);
                out.count(arguments.len());
                arguments.iter().for_each(|argument| argument.write(out));
                write_names(keywords, out);
            }
            SessionMessage::Machine(path) => {
                out.uint(8);
                out.text(path);
            }
            SessionMessage::Done(outcome, taken) => {
                out.uint(5);
                outcome.write(out);
                out.uint(taken.steps);
                out.flag(taken.is_by_chance);
            }
            SessionMessage::Find(loader, name) => {
                out.uint(6);
                loader.write(out);
                out.text(name);
            }
            SessionMessage::Fact(name) => {
                out.uint(7);
                out.text(name);
            }
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match input.uint::<u8>()? {
            1 => input.string().map(SessionMessage::Template),
            2 => input.string().map(SessionMessage::HasFunction),
            3 => input.string().map(SessionMessage::HasModule),
            4 => Ok(SessionMessage::Call(
                input.string()?,
                input.list(Value::read)?,
                read_names(input)?,
            )),
            5 => {
                let outcome = JobOutcome::read(input)?;
                let (steps, is_by_chance) = (input.uint()?, input.flag()?);
                let taken = JobUsage {
                    steps,
                    is_by_chance,
                };
                Ok(SessionMessage::Done(Box::new(outcome), taken))
            }
            6 => Ok(SessionMessage::Find(Loader::read(input)?, input.string()?)),
            7 => input.string().map(SessionMessage::Fact),
            8 => input.string().map(SessionMessage::Machine),
            _ => Err(input.error("this is not a question")),
        }
    }
}

impl Message for CommandAnswer {
    fn write(&self, out: &mut Writer) {
        match self {
            CommandAnswer::Template(Ok(source)) => {
                out.uint(1);
                out.option(source.as_ref(), |out, source| source.write(out));
            }
            CommandAnswer::Template(Err(refusal)) => {
                out.uint(2);
                refusal.write(out);
            }
            CommandAnswer::Flag(flag) => {
                out.uint(3);
                out.flag(*flag);
            }
            CommandAnswer::Value(Ok(value)) => {
                out.uint(4);
                value.write(out);
            }
            CommandAnswer::Value(Err(refusal)) => {
                out.uint(5);
                refusal.write(out);
            }
            CommandAnswer::Found(Ok(found)) => {
                out.uint(6);
                out.count(found.sources.len());
                found.sources.iter().for_each(|source| source.write(out));
                out.flag(found.is_known);
            }
            CommandAnswer::Found(Err(refusal)) => {
                out.uint(7);
                refusal.write(out);
            }
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match input.uint::<u8>()? {
            1 => {
                let source = input.option(TemplateSource::read)?;
                Ok(CommandAnswer::Template(Ok(source)))
            }
            2 => Ok(CommandAnswer::Template(Err(Refusal::read(input)?))),
            3 => input.flag().map(CommandAnswer::Flag),
            4 => Value::read(input).map(|value| CommandAnswer::Value(Ok(value))),
            5 => Ok(CommandAnswer::Value(Err(Refusal::read(input)?))),
            6 => Ok(CommandAnswer::Found(Ok(FunctionFiles {
                sources: input.list(TemplateSource::read)?,
                is_known: input.flag()?,
            }))),
            7 => Ok(CommandAnswer::Found(Err(Refusal::read(input)?))),
            _ => Err(input.error("this is not an answer")),
        }
    }
}

impl Message for TemplateSource {
    fn write(&self, out: &mut Writer) {
        out.text(&self.name);
        out.text(&self.text);
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(TemplateSource {
            name: input.shared()?,
            text: input.shared()?,
        })
    }
}

impl Message for Refusal {
    fn write(&self, out: &mut Writer) {
        out.uint(self.number.into());
        out.uint(match self.kind {
            RefusalKind::NotFound => 0,
            RefusalKind::Forbidden => 1,
            RefusalKind::Other => 2,
            RefusalKind::Unanswered => 3,
        });
        out.text(&self.message);
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let number = input.uint()?;
        let kind = match input.uint::<u8>()? {
            0 => RefusalKind::NotFound,
            1 => RefusalKind::Forbidden,
            2 => RefusalKind::Other,
            3 => RefusalKind::Unanswered,
            _ => return Err(input.error("this is not a kind of refusal")),
        };
        Ok(Refusal {
            number,
            kind,
            message: input.string()?,
        })
    }
}

pub(crate) fn write_names(names: &Names, out: &mut Writer) {
    out.count(names.len());
    for (name, value) in names {
        out.text(name);
        value.write(out);
    }
}

pub(crate) fn read_names(input: &mut Reader<'_>) -> Result<Names, DecodeError> {
    input.list(|input| Ok((input.shared()?, Value::read(input)?)))
}

pub(crate) fn write_texts(texts: &[Str], out: &mut Writer) {
    out.count(texts.len());
    texts.iter().for_each(|text| out.text(text));
}
