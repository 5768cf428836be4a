//! Render pipes: what an sls, or a text given to `slsutil.renderer`, goes through.
//!
//! The first line of a file can name its renderers, `#!jinja|yaml`; each takes what the one before
//! made. Data sources, post-map templates and managed files have no pipe: there such a line is text.

mod shebang;
mod template;
mod variables;

use std::borrow::Cow;
use std::sync::Arc;

use mapstack_render::Obj;
use mapstack_render::jinja::{Names, Syntax};
use mapstack_render::jinja::{Request, request};
use mapstack_value::{Map, Str, Value, json};

use self::shebang::{Allowed, Pipe, Renderer, Stage};
pub use self::template::TemplateOptions;
pub(crate) use self::template::engine as template_engine;
use self::variables::{sls_name, sls_variables};
use crate::engine::Run;
use crate::file::File;
use crate::host::RunHost;
use crate::python;
use crate::render::{Job, Language};
use crate::text::Text;
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Place, Result};
use mapstack_minion::Part;

/// Something to send through a pipe.
pub(crate) struct Source<'s> {
    pub file: &'s File,
    /// Whether the text was given as such, and is not a file.
    pub is_string: bool,
    pub saltenv: Str,
    pub sls: Str,
    /// What templates know as the place of the file.
    pub tmplpath: String,
    /// An argument line for stages that have none of their own.
    pub argline: Option<Obj>,
    /// Variables that win over all others.
    pub context: Option<Names>,
    /// Variables beside those every template has.
    pub extra: Names,
    /// Whether a template asks for it by `slsutil.renderer`, which makes renderers with facts of their own.
    pub is_called: bool,
}

/// What a stage made.
pub(crate) enum Made<'f> {
    Text(Text<'f>),
    Data(Data),
}

pub(crate) struct Data {
    pub value: Value,
    /// Whether one container stands in several places, as YAML aliases do.
    pub shared: bool,
}

impl Data {
    fn new(value: Value) -> Self {
        Data {
            value,
            shared: false,
        }
    }
}

/// The pipe of files that name none.
pub(crate) const DEFAULT_PIPE: &str = "jinja|yaml";

impl Run<'_> {
    /// The data that an sls file amounts to: the whole pipe.
    ///
    /// `path` is its path on the file server, with or without `salt://`, such as `nginx/init.sls`.
    /// A state run does more with it (includes, extends, requisites); this is what it starts from.
    ///
    /// ```
    /// use mapstack::{Engine, loader::MemoryFiles, minion::Minion};
    /// let files = MemoryFiles::new().file("base", "nginx/init.sls", "{{ sls }}: {pkg.installed: []}\n");
    /// let engine = Engine::new(files);
    /// let states = engine.run(&Minion::new("web1").complete()).sls("salt://nginx/init.sls").unwrap();
    /// assert_eq!(states.repr(), "{'nginx': {'pkg.installed': []}}");
    /// ```
    ///
    /// # Errors
    /// No such file, a template or text that is wrong, a renderer that is not built in, or a pipe
    /// that ends in text.
    pub fn sls(&self, path: &str) -> Result<Value> {
        let (file, saltenv) = self.wanted_file(path)?;
        let source = self.sls_source(&file, saltenv);
        match self.compile(&source, &self.default_pipe(), false)? {
            Made::Data(data) => {
                if data.value.truthy() && data.value.as_map().is_none() {
                    let what = data.value.kind().described();
                    let message = format!("{} renders to {what}, not a mapping", file.shown);
                    let warning = Diagnostic::warning(ErrorKind::DataSource, message);
                    self.warn(warning.with_help(
                        "a state run refuses it: states are a mapping from id to state",
                    ));
                }
                Ok(data.value)
            }
            Made::Text(_) => {
                let message = format!("the pipe of {} ends in text, not in data", file.shown);
                Err(Error::new(ErrorKind::DataSource, message)
                    .help("end its first line with |yaml or |json"))
            }
        }
    }

    /// The text that an sls file's templates print: its pipe up to where data is made of it.
    ///
    /// # Errors
    /// As [`sls`](Run::sls), but for what reading the text as data finds.
    pub fn sls_text(&self, path: &str) -> Result<String> {
        let (file, saltenv) = self.wanted_file(path)?;
        let source = self.sls_source(&file, saltenv);
        match self.compile(&source, &self.default_pipe(), true)? {
            Made::Text(text) => Ok(text.as_str().to_string()),
            Made::Data(Data {
                value: Value::Str(text),
                ..
            }) => Ok(text.to_string()),
            // Nothing was left to print: an empty file or pipe.
            Made::Data(_) => Ok(String::new()),
        }
    }

    fn default_pipe(&self) -> Value {
        self.facts
            .option("renderer")
            .unwrap_or_else(|| DEFAULT_PIPE.into())
    }

    fn sls_source<'f>(&self, file: &'f File, saltenv: Str) -> Source<'f> {
        let name = sls_name(&file.path).unwrap_or_else(|| file.path.replace('/', "."));
        let mut extra = Names::default();
        extra.insert(
            "rendered_sls".into(),
            Obj::from(Value::Set(Default::default())),
        );
        Source {
            file,
            is_string: false,
            saltenv,
            sls: name.into(),
            tmplpath: file.shown.clone(),
            argline: None,
            context: None,
            extra,
            is_called: false,
        }
    }

    /// Send a text through the pipe that its first line names, or a default (Salt:
    /// `compile_template`). With `text_only`, up to the first stage that makes data.
    pub(crate) fn compile<'f>(
        &self,
        source: &Source<'f>,
        default: &Value,
        text_only: bool,
    ) -> Result<Made<'f>> {
        self.check_default_renderers()?;
        let text = source.file.text()?;
        let nothing = || Ok(Made::Data(Data::new(Value::map())));
        if !source.is_string && shebang::strip(text).is_empty() {
            if !text.is_empty() {
                let message = format!("{} holds nothing but blanks", source.file.shown);
                self.warn(Diagnostic::warning(ErrorKind::File, message));
            }
            return nothing();
        }
        // If the text is not a file, the line starts with its first word.
        let line = match source.is_string {
            true => shebang::first_word(text).ok_or_else(|| {
                Error::new(
                    ErrorKind::Options,
                    "the string to render holds nothing but blanks",
                )
                .help("pass some text")
            })?,
            false => shebang::first_line(text),
        };
        // A byte order mark makes the line begin otherwise.
        let is_marked = source.file.bytes.starts_with("\u{feff}".as_bytes());
        let named = shebang::shebang(line).filter(|_| !is_marked);
        let pipe = match (named, default) {
            (Some(pipe), _) => Cow::Borrowed(pipe),
            (None, Value::Str(pipe)) => Cow::Borrowed(&**pipe),
            (None, Value::None) => return nothing(),
            (None, other) => {
                let what = other.kind().described();
                let message = format!("the default pipe is {what}, not text");
                return Err(
                    Error::new(ErrorKind::Options, message).help("write it as in 'jinja|yaml'")
                );
            }
        };
        let place = named.is_some().then(|| {
            let start = text.find(line).unwrap_or_default();
            Place {
                file: source.file.shown.clone(),
                source: text.into(),
                start,
                end: start + line.len(),
            }
        });
        let pipe = self.pipe(&pipe, source, place.as_ref());
        let mut made = Made::Text(Text::plain(source.file, text));
        let mut previous: Option<&Stage> = None;
        let last_text = pipe
            .stages
            .iter()
            .rposition(|stage| !stage.renderer.makes_data());
        for (index, stage) in pipe.stages.iter().enumerate() {
            if text_only && last_text.is_none_or(|last| index > last) {
                return Ok(made);
            }
            made = self.run_stage(stage, source, made, previous, place.as_ref())?;
            previous = Some(stage);
        }
        match (previous, made) {
            (None, _) => nothing(),
            (Some(_), made) if text.contains("\r\n") => Ok(restore_newlines(made, source)),
            (Some(_), made) => Ok(made),
        }
    }

    /// No pipe at all works without the renderers of the default one (Salt: `salt.loader.render`).
    fn check_default_renderers(&self) -> Result<()> {
        let allowed = self.allowed_renderers();
        let works = |pipe: &Value| {
            pipe.as_str()
                .is_some_and(|pipe| !Pipe::parse(pipe, &allowed).stages.is_empty())
        };
        let configured = self.default_pipe();
        if works(&configured) || works(&DEFAULT_PIPE.into()) {
            return Ok(());
        }
        let message = format!("the options forbid every renderer of the default pipe {configured}");
        Err(Error::new(ErrorKind::Options, message)
            .help("look at renderer_whitelist and renderer_blacklist"))
    }

    fn allowed_renderers(&self) -> Allowed {
        Allowed {
            whitelist: self.option("renderer_whitelist"),
            blacklist: self.option("renderer_blacklist"),
        }
    }

    /// Read the pipe, and warn of what is left out of it.
    fn pipe(&self, text: &str, source: &Source<'_>, place: Option<&Place>) -> Pipe {
        let pipe = Pipe::parse(text, &self.allowed_renderers());
        let warn = |message: String, help: String| {
            let warning = Diagnostic::warning(ErrorKind::Options, message).with_help(help);
            self.warn(Diagnostic {
                place: place.cloned(),
                ..warning
            });
        };
        for name in &pipe.disallowed {
            let message = format!("the renderer '{name}' of {} is left out", source.file.shown);
            warn(
                message,
                "the options renderer_whitelist and renderer_blacklist forbid it".into(),
            );
        }
        if let Some(name) = &pipe.unknown {
            let message = format!(
                "there is no renderer '{name}', so {} amounts to nothing",
                source.file.shown
            );
            warn(
                message,
                match Pipe::nearest(name) {
                    Some(near) => format!("did you mean '{near}'?"),
                    None => format!("there are {}", Pipe::present()),
                },
            );
        }
        pipe
    }

    fn run_stage<'f>(
        &self,
        stage: &Stage,
        source: &Source<'f>,
        made: Made<'f>,
        previous: Option<&Stage>,
        place: Option<&Place>,
    ) -> Result<Made<'f>> {
        let language = match stage.renderer {
            Renderer::Jinja => Language::Jinja,
            #[cfg(feature = "tera")]
            Renderer::Tera => Language::Tera,
            #[cfg(not(feature = "tera"))]
            Renderer::Tera => {
                return Err(absent(
                    stage,
                    source,
                    place,
                    "build with the feature `tera`",
                ));
            }
            Renderer::Mako => Language::Mako,
            Renderer::Py => return self.run_module(source, place),
            Renderer::Absent(help) => return Err(absent(stage, source, place, help)),
            Renderer::Yaml | Renderer::Json => {
                return self.read_data(stage, source, made, previous, place);
            }
        };
        let argline = self.argline(stage, source)?;
        let from_string = &*argline == "-s";
        if !from_string && !argline.is_empty() {
            let message = format!(
                "{}: the renderer '{}' has no option '{argline}'",
                source.file.shown, stage.name
            );
            let error = Error::new(ErrorKind::Options, message).at(place.cloned());
            return Err(error.help("its only one is -s: take text as the template itself"));
        }
        match made {
            Made::Text(text) => {
                let (before, template) = text.into_source();
                self.run_language(language, source, source.file, &template, before)
                    .map(Made::Text)
            }
            Made::Data(Data {
                value: Value::Str(text),
                ..
            }) if from_string => {
                let bytes = text.as_bytes().into();
                let file = File {
                    path: ":string:".into(),
                    shown: format!("{} (data)", source.file.shown),
                    bytes,
                };
                let text =
                    self.run_language(language, source, &file, &Arc::from(&*text), Vec::new())?;
                Ok(Made::Text(Text::made(
                    source.file,
                    text.as_str().to_string(),
                )))
            }
            Made::Data(data) => Err(no_text(stage, &data, source, previous, place)),
        }
    }

    /// The arguments of a text stage.
    fn argline(&self, stage: &Stage, source: &Source<'_>) -> Result<Str> {
        match &source.argline {
            Some(Obj::Str(given)) if stage.argline.is_empty() => Ok(given.clone()),
            Some(other) if stage.argline.is_empty() && other.truthy().unwrap_or(true) => {
                let message = format!("`argline` is {}, not text", other.type_name());
                Err(Error::new(ErrorKind::Options, message))
            }
            _ => Ok(stage.argline.as_str().into()),
        }
    }

    fn run_language<'f>(
        &self,
        language: Language,
        source: &Source<'_>,
        file: &'f File,
        template: &Arc<str>,
        before: Vec<mapstack_render::jinja::SourceMap>,
    ) -> Result<Text<'f>> {
        let variables = self.pipe_variables(source);
        let has_sls = variables
            .get("sls")
            .is_some_and(|sls| sls.as_str().is_none_or(|s| !s.is_empty()));
        let syntax = if has_sls {
            self.sls_syntax()
        } else {
            self.syntax.clone()
        };
        let job = Job {
            language,
            variables,
            syntax: &syntax,
            saltenv: &source.saltenv,
            watch: None,
        };
        self.run_template(file, template, job, before)
    }

    /// The data of a Python module (Salt: `salt.renderers.py.render`). It reads the file whatever the
    /// stages before made.
    fn run_module<'f>(&self, source: &Source<'f>, place: Option<&Place>) -> Result<Made<'f>> {
        if source.is_string {
            let message = "the renderer 'py' runs a file, not a text";
            return Err(Error::new(ErrorKind::Options, message).at(place.cloned()));
        }
        let host = RunHost::in_saltenv(self, &source.saltenv);
        let request = Request {
            name: Some(Str::from(&*source.file.path)),
            variables: self.pipe_variables(source),
            limits: self.limits,
            fuel: Some(&self.fuel),
            ..request(source.file.text()?, &host)
        };
        self.runs_in(Language::Py);
        let (value, _) = python::module(&request, &[])
            .map_err(|e| self.stage_error(*e, Language::Py, &Text::plain(source.file, "")))?;
        if let Some(taint) = self
            .taint()
            .filter(|_| self.may_read_secrets(&request.source))
        {
            taint.add(&value);
        }
        Ok(Made::Data(Data::new(value)))
    }

    /// The variables of a template in a pipe (Salt: `salt.renderers.jinja.render`,
    /// `wrap_tmpl_func`).
    fn pipe_variables(&self, source: &Source<'_>) -> Names {
        let mut names = self.sls_basics(&source.saltenv, &source.sls);
        if source.is_called {
            names.insert("grains".into(), self.copied_facts(Part::Grains));
        }
        names.extend(source.extra.iter().map(|(k, v)| (k.clone(), v.clone())));
        names.extend(
            source
                .context
                .iter()
                .flatten()
                .map(|(k, v)| (k.clone(), v.clone())),
        );
        let sls = names
            .get("sls")
            .and_then(Obj::as_str)
            .cloned()
            .unwrap_or_default();
        for (name, value) in sls_variables(&source.tmplpath, &sls) {
            names.entry(name).or_insert(value);
        }
        names
    }

    /// The variables and options of an sls that lies at a path of the disk.
    pub(crate) fn sls_environment(&self, path: &str, sls: &str) -> (Names, Syntax) {
        let mut names = self.sls_basics(&self.saltenv, sls);
        names.extend(sls_variables(path, sls));
        (names, self.sls_syntax())
    }

    /// What every template of an sls sees, wherever its file lies.
    fn sls_basics(&self, saltenv: &Str, sls: &str) -> Names {
        let mut names = self.common_variables(saltenv);
        // Renderers have a pillar of their own: what an sls changes in it, no function sees.
        names.insert("pillar".into(), self.copied_facts(Part::Pillar));
        names.insert("proxy".into(), Obj::from(Map::new()));
        names.insert("sls".into(), Obj::from(sls));
        names
    }

    /// The options of sls templates (Salt: `jinja_sls_env`).
    fn sls_syntax(&self) -> Syntax {
        self.jinja_options("jinja_sls_env")
    }

    fn read_data<'f>(
        &self,
        stage: &Stage,
        source: &Source<'f>,
        made: Made<'f>,
        previous: Option<&Stage>,
        place: Option<&Place>,
    ) -> Result<Made<'f>> {
        let (text, is_stream) = match made {
            Made::Text(text) => (text, true),
            Made::Data(Data {
                value: Value::Str(text),
                ..
            }) => (Text::made(source.file, text.to_string()), false),
            Made::Data(data) => return Err(no_text(stage, &data, source, previous, place)),
        };
        let data = match stage.renderer {
            Renderer::Json => read_json(&text)?,
            _ => read_yaml(&text, &mapstack_render::yaml_limits(&self.limits))?,
        };
        if let Some(taint) = self.taint() {
            taint.read_from(text.as_str(), text.secret(), &data.value);
        }
        // Nothing makes the reference read the stream again, which then is at its end.
        let again = data.value.is_none() && is_stream;
        Ok(Made::Data(if again {
            Data::new(Value::map())
        } else {
            data
        }))
    }
}

/// Salt: `salt.renderers.yaml.render`.
fn read_yaml(text: &Text<'_>, limits: &mapstack_yaml::Limits) -> Result<Data> {
    let loaded = mapstack_yaml::load_rendered(text.as_str(), limits);
    let loaded = loaded.map_err(|e| text.yaml_error(&e))?;
    if !loaded.value.truthy() {
        return Ok(Data::new(Value::map()));
    }
    Ok(Data {
        value: loaded.value,
        shared: loaded.shared,
    })
}

/// Salt: `salt.renderers.json.render`. It drops a `#!` line, which JSON has no comment for.
fn read_json(text: &Text<'_>) -> Result<Data> {
    let whole = text.as_str();
    let start = if whole.starts_with("#!") {
        whole.find('\n').map_or(0, |end| end + 1)
    } else {
        0
    };
    let json = &whole[start..];
    if shebang::strip(json).is_empty() {
        return Ok(Data::new(Value::map()));
    }
    json::loads(json)
        .map(Data::new)
        .map_err(|e| text.json_error(&e, start))
}

/// What a `\r\n` text prints has such line ends again.
fn restore_newlines<'f>(made: Made<'f>, source: &Source<'f>) -> Made<'f> {
    let restored = |text: &str| (!text.contains("\r\n")).then(|| text.replace('\n', "\r\n"));
    match made {
        Made::Text(printed) => match restored(printed.as_str()) {
            Some(text) => Made::Text(Text::made(source.file, text)),
            None => Made::Text(printed),
        },
        Made::Data(Data {
            value: Value::Str(text),
            shared,
        }) => {
            let value = restored(&text).map_or(Value::Str(text), Value::from);
            Made::Data(Data { value, shared })
        }
        Made::Data(data) => Made::Data(data),
    }
}

fn absent(stage: &Stage, source: &Source<'_>, place: Option<&Place>, help: &str) -> Error {
    let message = format!(
        "{}: the renderer '{}' is not built in",
        source.file.shown, stage.name
    );
    Error::new(ErrorKind::Unsupported, message)
        .at(place.cloned())
        .help(help)
}

fn no_text(
    stage: &Stage,
    data: &Data,
    source: &Source<'_>,
    previous: Option<&Stage>,
    place: Option<&Place>,
) -> Error {
    let what = data.value.kind().described();
    let before = previous.map_or("the stage before", |stage| &*stage.name);
    let message = format!(
        "{}: the renderer '{}' reads text, and {before} made {what}",
        source.file.shown, stage.name
    );
    Error::new(ErrorKind::Options, message)
        .at(place.cloned())
        .help("a stage that makes data comes last, as in jinja|yaml")
}
