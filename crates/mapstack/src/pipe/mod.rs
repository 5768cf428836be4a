//! Render pipes for sls files and for texts given to `slsutil.renderer`.
//!
//! The first line of a file can name its renderers, as in `#!jinja|yaml`; each reads the output of the one before.
//! Data sources, post-map templates and managed files have no pipe: for them such a line is part of the text.

mod decrypt;
mod keywords;
mod objects;
mod read;
mod stateconf;
mod template;
mod variables;

use std::cell::RefCell;
use std::sync::Arc;

use mapstack_diagnostic::redact::Cipher;
use mapstack_pyobject::Obj;
use mapstack_render::pipe::{self, Allowed, Pipe, PipeStage, Renderer, strip};
use mapstack_salt_jinja::{Names, Syntax};
use mapstack_value::{Map, Str, Value};

pub use self::decrypt::how_to_decrypt;
pub(crate) use self::keywords::context_of;
pub(crate) use self::template::engine as template_engine;
pub use self::template::{ManagedTemplate, TemplateOptions};
use self::variables::sls_variables;
pub use self::variables::{is_sls, sls_name};
use crate::file::File;
use crate::pillar_sls::RenderedSls;
use crate::render::{Job, Language};
use crate::run::Run;
pub(crate) use crate::sls_data::Data;
use crate::text::Text;
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Place, Result};
use mapstack_minion::Part;

/// The input of a pipe.
#[derive(Clone)]
pub(crate) struct PipeInput<'s> {
    pub file: &'s File,
    /// True if the text was passed directly, and is not from a file.
    pub is_string: bool,
    pub saltenv: Str,
    pub sls: Str,
    /// The path of the file in the variables of templates, as a caller can give it.
    pub tmplpath: Obj,
    /// The argument line of stages that have none.
    pub argline: Option<Obj>,
    /// Variables that override all others, if it is a mapping. Not every renderer cares.
    pub context: Option<Obj>,
    /// Variables in addition to those of every template.
    pub extra: Names,
    /// True if a template calls `slsutil.renderer`. Then the renderers get a copy of the grains.
    pub is_called: bool,
    /// Keeps the text that is read as YAML, for the places of values.
    pub kept: Option<&'s RefCell<Option<Text<'static>>>>,
    /// The renderers that may run, if the options do not say.
    pub allowed: Option<Allowed>,
}

impl<'s> PipeInput<'s> {
    /// The text of a file, with nothing that a caller gives.
    pub(crate) fn new(file: &'s File, saltenv: Str, sls: Str) -> Self {
        PipeInput {
            file,
            is_string: false,
            saltenv,
            sls,
            tmplpath: Obj::from(file.shown.as_str()),
            argline: None,
            context: None,
            extra: Names::default(),
            is_called: false,
            kept: None,
            allowed: None,
        }
    }
}

/// The output of a stage.
pub(crate) enum StageOutput<'f> {
    Text(Text<'f>),
    Data(Data),
}

impl StageOutput<'_> {
    /// The result without any stage.
    fn nothing() -> Self {
        StageOutput::Data(Data::new(Value::map()))
    }
}

/// The pipe of files that name no renderers.
pub(crate) const DEFAULT_PIPE: &str = "jinja|yaml";

impl Run<'_> {
    /// The data of an sls file, after all stages of its pipe.
    ///
    /// `path` is the path on the file server, with or without `salt://`, such as `nginx/init.sls`. A state run
    /// processes this data further (includes, extends, requisites).
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
    /// The file does not exist, a template or its output is wrong, a renderer is not built in, or the pipe ends in
    /// text.
    pub fn sls(&self, path: &str) -> Result<Value> {
        self.sls_called(path, None)
    }

    /// The same for an sls with the name by which it is requested, if its path has another one: `nginx.init` and `nginx.`
    /// also lead to `nginx/init.sls` (Salt: the variable `sls`).
    ///
    /// # Errors
    /// As [`sls`](Run::sls).
    pub fn sls_called(&self, path: &str, name: Option<&str>) -> Result<Value> {
        let (file, saltenv) = self.wanted_file(path)?;
        let source = self.sls_source(&file, saltenv, name);
        match self.compile(&source, &self.default_pipe(), false)? {
            StageOutput::Data(data) => {
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
            StageOutput::Text(_) => {
                let message = format!("the pipe of {} ends in text, not in data", file.shown);
                Err(Error::new(ErrorKind::DataSource, message)
                    .help("end its first line with |yaml or |json"))
            }
        }
    }

    /// The data of an sls file that has a name, with the text it was read from. [Hooks](crate::hooks::Hooks) that trace
    /// templates follow the values of its own.
    ///
    /// # Errors
    /// As [`sls`](Run::sls). A pipe may end in text.
    pub fn traced_sls(&self, path: &str, name: &str) -> Result<RenderedSls> {
        let (file, saltenv) = self.wanted_file(path)?;
        let kept = RefCell::new(None);
        let source = PipeInput {
            kept: Some(&kept),
            ..self.sls_source(&file, saltenv, Some(name))
        };
        // Calls of `map.data` in the template are nested, as in a map.
        let made = self.nested("an sls was asked for", "ask for it alone", || {
            self.traced(|| self.compile(&source, &self.default_pipe(), false))
        })?;
        Ok(RenderedSls::of(made, kept.take()))
    }

    /// The text that an sls file's templates print: the output of its pipe before the first stage that makes data.
    ///
    /// # Errors
    /// As [`sls`](Run::sls), except errors in the text as data.
    pub fn sls_text(&self, path: &str) -> Result<String> {
        let (file, saltenv) = self.wanted_file(path)?;
        let source = self.sls_source(&file, saltenv, None);
        match self.compile(&source, &self.default_pipe(), true)? {
            StageOutput::Text(text) => Ok(text.as_str().to_string()),
            StageOutput::Data(Data {
                value: Value::Str(text),
                ..
            }) => Ok(text.to_string()),
            // The file or the pipe is empty.
            StageOutput::Data(_) => Ok(String::new()),
        }
    }

    pub(crate) fn default_pipe(&self) -> Value {
        self.facts
            .option("renderer")
            .unwrap_or_else(|| DEFAULT_PIPE.into())
    }

    fn sls_source<'f>(&self, file: &'f File, saltenv: Str, name: Option<&str>) -> PipeInput<'f> {
        let of_path = || sls_name(&file.path).unwrap_or_else(|| file.path.replace('/', "."));
        let name = name.map_or_else(of_path, str::to_owned);
        let mut source = PipeInput::new(file, saltenv, name.into());
        let rendered = Obj::from(Value::Set(Default::default()));
        source.extra.insert("rendered_sls".into(), rendered);
        source
    }

    /// Render a text through the pipe in its first line, or through a default (Salt: `compile_template`). With
    /// `text_only`, stop before the stages that make data.
    pub(crate) fn compile<'f>(
        &self,
        source: &PipeInput<'f>,
        default: &Value,
        text_only: bool,
    ) -> Result<StageOutput<'f>> {
        self.check_default_renderers()?;
        let text = source.file.text()?;
        if !source.is_string && strip(text).is_empty() {
            if !text.is_empty() {
                let message = format!("{} holds nothing but blanks", source.file.shown);
                self.warn(Diagnostic::warning(ErrorKind::File, message));
            }
            return Ok(StageOutput::nothing());
        }
        let Some((pipe, place)) = named_pipe(source, text, default)? else {
            return Ok(StageOutput::nothing());
        };
        let pipe = self.pipe(pipe, source, place.as_ref());
        self.run_stages(&pipe, source, place.as_ref(), text_only)
    }

    fn run_stages<'f>(
        &self,
        pipe: &Pipe,
        source: &PipeInput<'f>,
        place: Option<&Place>,
        text_only: bool,
    ) -> Result<StageOutput<'f>> {
        let text = source.file.text()?;
        let mut made = StageOutput::Text(Text::plain(source.file, text));
        let mut previous: Option<&PipeStage> = None;
        let last_text = pipe
            .stages
            .iter()
            .rposition(|stage| !stage.renderer.makes_data());
        for (index, stage) in pipe.stages.iter().enumerate() {
            if text_only && last_text.is_none_or(|last| index > last) {
                return Ok(made);
            }
            // Only the result shows what a renderer of the tree makes.
            let before = match (&made, text_only && stage.renderer == Renderer::Tree) {
                (StageOutput::Text(text), true) => Some(StageOutput::Text(text.clone())),
                _ => None,
            };
            let running = RunningStage {
                stage,
                source,
                previous,
                place,
            };
            made = self.run_stage(running, made)?;
            if let (Some(before), StageOutput::Data(_)) = (before, &made) {
                return Ok(before);
            }
            previous = Some(stage);
        }
        match (previous, made) {
            (None, _) => Ok(StageOutput::nothing()),
            (Some(_), made) if text.contains("\r\n") => Ok(restore_newlines(made, source)),
            (Some(_), made) => Ok(made),
        }
    }

    /// In the reference, no pipe works without the renderers of the default pipe (Salt: `salt.loader.render`).
    ///
    /// # Errors
    /// The options forbid all of them.
    pub fn check_default_renderers(&self) -> Result<()> {
        let allowed = self.allowed_renderers();
        let works = |pipe: &Value| {
            pipe.as_str()
                .is_some_and(|pipe| !self.parsed_pipe(pipe, &allowed).stages.is_empty())
        };
        let configured = self.default_pipe();
        let behaviour = self.engine.salt_version().behaviour();
        let usual_works = || behaviour.usual_renderers_are_enough && works(&DEFAULT_PIPE.into());
        if works(&configured) || usual_works() {
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

    /// Parse the pipe, and warn about stages that are left out.
    fn pipe(&self, text: &str, source: &PipeInput<'_>, place: Option<&Place>) -> Pipe {
        let pipe = match &source.allowed {
            Some(allowed) => self.parsed_pipe(text, allowed),
            None => self.parsed_pipe(text, &self.allowed_renderers()),
        };
        let warn = |message: String, help: String| {
            let warning = Diagnostic::warning(ErrorKind::Unsupported, message).with_help(help);
            self.warn(Diagnostic {
                place: place.cloned(),
                ..warning
            });
        };
        for name in &pipe.disallowed {
            let message = format!("the renderer '{name}' of {} is left out", source.file.shown);
            warn(
                message,
                "its whitelist or blacklist of renderers forbids it".into(),
            );
        }
        if let Some(name) = &pipe.unknown {
            // The place names the file.
            let file = place.map_or(&*source.file.shown, |_| "the file");
            let message = format!("unknown renderer '{name}', so {file} renders to nothing");
            warn(
                message,
                match Pipe::nearest(name) {
                    _ if Pipe::is_gone(name) => {
                        "Salt 3008 does not have it; if an extension brings it, pass the data as a fact".into()
                    }
                    Some(near) => format!("did you mean '{near}'?"),
                    None => format!("there are {}", Pipe::present()),
                },
            );
        }
        pipe
    }

    fn run_stage<'f>(
        &self,
        running: RunningStage<'_, 'f>,
        made: StageOutput<'f>,
    ) -> Result<StageOutput<'f>> {
        running.check_names()?;
        let language = match running.stage.renderer {
            Renderer::Jinja => Language::Jinja,
            #[cfg(feature = "tera")]
            Renderer::Tera => Language::Tera,
            #[cfg(not(feature = "tera"))]
            Renderer::Tera => return Err(running.absent("build with the feature `tera`")),
            Renderer::Mako => Language::Mako,
            Renderer::Py => return self.run_module(running),
            Renderer::Objects | Renderer::Tree => return self.run_python(running, made),
            Renderer::Stateconf => return self.run_stateconf(running, made),
            Renderer::Ciphertext => return self.run_decryption(running, made),
            Renderer::Yaml
            | Renderer::Yamlex
            | Renderer::Json
            | Renderer::Toml
            | Renderer::Msgpack => return self.read_data(running, made),
        };
        let source = running.source;
        let from_string = language != Language::Mako && self.takes_string(running)?;
        match made {
            StageOutput::Text(text) => {
                let (before, template) = text.into_source();
                self.run_language(language, running, source.file, &template, before)
                    .map(StageOutput::Text)
            }
            StageOutput::Data(Data {
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
                    self.run_language(language, running, &file, &Arc::from(&*text), Vec::new())?;
                Ok(StageOutput::Text(Text::made(
                    source.file,
                    text.as_str().to_string(),
                )))
            }
            StageOutput::Data(data) => Err(running.no_text(&data)),
        }
    }

    /// True if a stage takes text that is data as the template itself. Mako has no such option.
    fn takes_string(&self, running: RunningStage<'_, '_>) -> Result<bool> {
        let RunningStage { stage, source, .. } = running;
        let argline = self.argline(stage, source)?;
        match &*argline {
            "-s" => Ok(true),
            "" => Ok(false),
            _ => {
                let (shown, name) = (&source.file.shown, &stage.name);
                let message = format!("{shown}: the renderer '{name}' has no option '{argline}'");
                let error = running.error(message);
                Err(error.help("its only one is -s: take text as the template itself"))
            }
        }
    }

    /// Run a stage that decrypts, if anything does; ciphertext stays otherwise, as whoever has no keys sees it.
    fn run_decryption<'f>(
        &self,
        running: RunningStage<'_, 'f>,
        made: StageOutput<'f>,
    ) -> Result<StageOutput<'f>> {
        let Some(cipher) = Cipher::of_renderer(&running.stage.name) else {
            return Ok(made);
        };
        let is_any = match &made {
            StageOutput::Text(text) => cipher.is_in(&Value::from(text.as_str())),
            StageOutput::Data(data) => cipher.is_in(&data.value),
        };
        let decrypts = self.decrypts(cipher);
        if is_any && !decrypts {
            self.warn_of_ciphertext(cipher, running.source, running.place);
        }
        match made {
            StageOutput::Text(_) if !decrypts => Ok(made),
            StageOutput::Data(_) if !is_any => Ok(made),
            made => self.decrypt_stage(cipher, made),
        }
    }

    /// The arguments of a text stage.
    fn argline(&self, stage: &PipeStage, source: &PipeInput<'_>) -> Result<Str> {
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
        running: RunningStage<'_, '_>,
        file: &'f File,
        template: &Arc<str>,
        before: Vec<mapstack_salt_jinja::SourceMap>,
    ) -> Result<Text<'f>> {
        let source = running.source;
        let variables = self.pipe_variables(running, language)?;
        let has_sls = variables
            .get("sls")
            .is_some_and(|sls| sls.as_str().is_none_or(|s| !s.is_empty()));
        let syntax = if has_sls {
            self.sls_syntax()
        } else {
            self.jinja.syntax.clone()
        };
        let job = Job {
            language,
            variables,
            syntax: &syntax,
            saltenv: &source.saltenv,
            edit_log: None,
        };
        self.run_template(file, template, job, before)
    }

    /// Decrypt what a stage made (Salt: `salt.renderers.gpg.render`). A text is one from then on, not a file.
    fn decrypt_stage<'f>(&self, cipher: Cipher, made: StageOutput<'f>) -> Result<StageOutput<'f>> {
        Ok(StageOutput::Data(match made {
            StageOutput::Text(text) => {
                Data::new(self.decrypted(cipher, &Value::from(text.as_str()))?)
            }
            StageOutput::Data(Data { value, shared }) => Data {
                value: self.decrypted(cipher, &value)?,
                shared,
            },
        }))
    }

    /// Say that what a stage would decrypt stays as it is.
    fn warn_of_ciphertext(&self, cipher: Cipher, source: &PipeInput<'_>, place: Option<&Place>) {
        let (file, what) = (&source.file.shown, decrypt::described(cipher));
        let message = format!("{file}: {what} stay ciphertext");
        let warning = Diagnostic::warning(ErrorKind::Unsupported, message);
        self.warn(Diagnostic {
            place: place.cloned(),
            ..warning.with_help(how_to_decrypt(cipher))
        });
    }

    /// The variables of a template in a pipe (Salt: `salt.renderers.jinja.render`,
    /// `wrap_tmpl_func`).
    fn pipe_variables(&self, running: RunningStage<'_, '_>, language: Language) -> Result<Names> {
        let source = running.source;
        let mut names = self.sls_basics(&source.saltenv, &source.sls);
        if source.is_called {
            names.insert("grains".into(), self.copied_facts(Part::Grains));
            if self.live.apart.is_some() {
                names.insert("pillar".into(), self.live.pillar.clone());
            }
        }
        if language.python().is_some() {
            names.shift_remove("proxy");
            names.extend(running.argline().map(|line| ("argline".into(), line)));
        }
        let extra = source.extra.iter();
        // Mako's renderer has no parameter of that name, and what it calls has one.
        let extra = extra.filter(|(name, _)| language != Language::Mako || &***name != "from_str");
        names.extend(extra.map(|(name, value)| (name.clone(), value.clone())));
        if language == Language::Py {
            let context = source.context.iter().cloned();
            names.extend(context.map(|context| ("context".into(), context)));
            return Ok(names);
        }
        names.extend(running.context()?);
        let sls = names
            .get("sls")
            .and_then(Obj::as_str)
            .cloned()
            .unwrap_or_default();
        let behaviour = self.engine.salt_version.behaviour();
        for (name, value) in self.sls_variables(&running.tmplpath()?, &sls) {
            if !behaviour.given_variables_override_places || !names.contains_key(&name) {
                names.insert(name, value);
            }
        }
        Ok(names)
    }

    fn sls_variables(&self, path: &str, sls: &str) -> Names {
        sls_variables(path, sls, self.engine.salt_version.behaviour())
    }

    /// The variables and options of the sls at a path on disk.
    pub(crate) fn sls_environment(&self, path: &str, sls: &str) -> (Names, Syntax) {
        let mut names = self.sls_basics(&self.saltenv, sls);
        names.extend(self.sls_variables(path, sls));
        (names, self.sls_syntax())
    }

    /// The variables of every template of an sls, independent of its path.
    fn sls_basics(&self, saltenv: &Str, sls: &str) -> Names {
        let mut names = self.common_variables(saltenv);
        // On a minion, renderers get a copy of the pillar: functions do not see changes that an sls makes in it.
        if self.master.is_none() && self.live.apart.is_none() {
            names.insert("pillar".into(), self.copied_facts(Part::Pillar));
        }
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
        running: RunningStage<'_, 'f>,
        made: StageOutput<'f>,
    ) -> Result<StageOutput<'f>> {
        let RunningStage { stage, source, .. } = running;
        let (text, is_stream) = match made {
            StageOutput::Text(text) => (text, true),
            StageOutput::Data(Data {
                value: Value::Str(text),
                ..
            }) => (Text::made(source.file, text.to_string()), false),
            StageOutput::Data(data) => return Err(running.no_text(&data)),
        };
        let data = match stage.renderer {
            Renderer::Json => read::json(&text)?,
            Renderer::Toml => read::toml(&text)?,
            Renderer::Msgpack => read::msgpack(&text)?,
            Renderer::Yamlex => read::yamlex(
                &text,
                &mapstack_salt_jinja::yaml_limits(&self.allowance.limits),
            )?,
            _ => self.read_yaml(&text)?,
        };
        if let Some(kept) = source.kept {
            kept.replace(Some(text.clone().into_owned()));
        }
        if let Some(taint) = self.taint() {
            taint.read_from(text.as_str(), text.secret(), &data.value);
        }
        // The reference then reads its input stream again, which is at its end.
        let again = data.value.is_none() && is_stream;
        Ok(StageOutput::Data(if again {
            Data::new(Value::map())
        } else {
            data
        }))
    }

    /// Parse YAML. Many minions have the same text.
    fn read_yaml(&self, text: &Text<'_>) -> Result<Data> {
        if let Some(known) = self.engine.documents.get(text.as_str()) {
            return Ok(known);
        }
        if let Some(value) = self.engine.sls_skeletons.fill(text) {
            return Ok(read::data(value, false));
        }
        let data = read::yaml(
            text,
            &mapstack_salt_jinja::yaml_limits(&self.allowance.limits),
        )?;
        self.engine.documents.put(text.as_str(), data.clone());
        Ok(data)
    }
}

/// Restore line ends: if the input has `\r\n`, so has the output.
fn restore_newlines<'f>(made: StageOutput<'f>, source: &PipeInput<'f>) -> StageOutput<'f> {
    let restored = |text: &str| (!text.contains("\r\n")).then(|| text.replace('\n', "\r\n"));
    match made {
        StageOutput::Text(printed) => match restored(printed.as_str()) {
            Some(text) => StageOutput::Text(Text::made(source.file, text)),
            None => StageOutput::Text(printed),
        },
        StageOutput::Data(Data {
            value: Value::Str(text),
            shared,
        }) => {
            let value = restored(&text).map_or(Value::Str(text), Value::from);
            StageOutput::Data(Data { value, shared })
        }
        StageOutput::Data(data) => StageOutput::Data(data),
    }
}

/// The pipe of a text, by its first line or by a default, and the place of the line. There is none where the default
/// is that nothing is rendered.
fn named_pipe<'p>(
    source: &PipeInput<'_>,
    text: &'p str,
    default: &'p Value,
) -> Result<Option<(&'p str, Option<Place>)>> {
    // In a text that is not from a file, the first line is the first word.
    let line = match source.is_string {
        true => pipe::first_word(text).ok_or_else(|| {
            let message = "the string to render holds nothing but blanks";
            Error::new(ErrorKind::Options, message).help("pass some text")
        })?,
        false => pipe::first_line(text),
    };
    let named = pipe::shebang(line);
    let place = || {
        let start = text.find(line).unwrap_or_default();
        Place {
            file: source.file.shown.clone(),
            source: text.into(),
            start,
            end: start + line.len(),
        }
    };
    match (named, default) {
        (Some(pipe), _) => Ok(Some((pipe, Some(place())))),
        (None, Value::Str(pipe)) => Ok(Some((pipe, None))),
        (None, Value::None) => Ok(None),
        (None, other) => {
            let what = other.kind().described();
            let message = format!("the default pipe is {what}, not text");
            Err(Error::new(ErrorKind::Options, message).help("write it as in 'jinja|yaml'"))
        }
    }
}

/// A stage of a pipe at work.
#[derive(Clone, Copy)]
struct RunningStage<'p, 'f> {
    stage: &'p PipeStage,
    source: &'p PipeInput<'f>,
    previous: Option<&'p PipeStage>,
    /// The `#!` line, if the text has one.
    place: Option<&'p Place>,
}

impl RunningStage<'_, '_> {
    fn error(self, message: String) -> Error {
        Error::new(ErrorKind::Options, message).at(self.place.cloned())
    }

    /// The renderer is not built in.
    #[cfg(not(feature = "tera"))]
    fn absent(self, help: &str) -> Error {
        let (shown, name) = (&self.source.file.shown, &self.stage.name);
        let message = format!("{shown}: the renderer '{name}' is not built in");
        Error::new(ErrorKind::Unsupported, message)
            .at(self.place.cloned())
            .help(help)
    }

    /// The renderer reads text, and the stage before made data.
    fn no_text(self, data: &Data) -> Error {
        let what = data.value.kind().described();
        let before = self.previous;
        let before = before.map_or("the stage before", |stage| &*stage.name);
        let (shown, name) = (&self.source.file.shown, &self.stage.name);
        self.error(format!(
            "{shown}: the renderer '{name}' reads text, and {before} made {what}"
        ))
        .help("a stage that makes data comes last, as in jinja|yaml")
    }
}
