//! The files that the states of a minion manage.

use std::cell::RefCell;

use mapstack::loader::SaltPath;
use mapstack::minion::Minion;
use mapstack::{Diagnostic, Engine, Error, ErrorKind, File, ManagedTemplate, Run};
use mapstack_value::{Str, Value};

use crate::accumulators::Accumulators;
use crate::arguments::Chunk;
use crate::content::{Content, of_error};
use crate::file::ManagedFile;
use crate::plan::{From, Joined, Plan, Template};
use crate::texts::is_binary;
use crate::world::{AllListed, World, encoded, run};
use crate::{fragments, managed, recurse, serialize, simple};

/// Computes the files that the states of a minion manage.
pub struct ManagedFiles<'f> {
    engine: &'f Engine,
    minion: &'f Minion,
    world: World<'f>,
    low: &'f [Value],
    secrets: RefCell<Vec<Str>>,
    warnings: RefCell<Vec<Diagnostic>>,
}

impl<'f> ManagedFiles<'f> {
    /// The files of low data, whose chunks are in the order in which they run.
    #[must_use]
    pub fn new(engine: &'f Engine, minion: &'f Minion, low: &'f [Value]) -> Self {
        ManagedFiles {
            engine,
            minion,
            world: World::new(engine, minion),
            low,
            secrets: RefCell::default(),
            warnings: RefCell::default(),
        }
    }

    /// All files, in the order of the states. A state of many files has them in the order of their paths.
    #[must_use]
    pub fn all(&self) -> Vec<ManagedFile> {
        all(&self.world, self.low)
    }

    /// The texts that templates made of secrets since the last call.
    #[must_use]
    pub fn take_secret_texts(&self) -> Vec<Str> {
        self.secrets.take()
    }

    /// The warnings of templates so far, each once.
    #[must_use]
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.warnings.borrow().clone()
    }

    /// The content of a file.
    #[must_use]
    pub fn content(&self, file: &ManagedFile) -> Content {
        let run = run(self.engine, self.minion, &file.state.saltenv);
        let made = content(&run, &file.plan);
        self.secrets.borrow_mut().extend(run.secret_texts());
        let mut warnings = self.warnings.borrow_mut();
        for warning in run.warnings() {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        made
    }
}

/// The files of low data.
pub(crate) fn all(world: &World<'_>, low: &[Value]) -> Vec<ManagedFile> {
    let mut accumulators = Accumulators::default();
    let mut all = Vec::new();
    for (position, state) in low.iter().enumerate() {
        let Value::Map(map) = state else { continue };
        let chunk = Chunk { position, map };
        // A state that others have as `prereq` runs in test mode first.
        if chunk.get("state").as_str() == Some("file") && !chunk.is_on("__prereq__") {
            all.append(&mut of_state(world, chunk, &mut accumulators));
        }
    }
    all
}

fn of_state(
    world: &World<'_>,
    chunk: Chunk<'_>,
    accumulators: &mut Accumulators,
) -> Vec<ManagedFile> {
    match chunk.get("fun").as_str().unwrap_or_default() {
        "managed" => vec![managed::file(world, chunk, accumulators)],
        "recurse" => recurse::files(world, chunk, accumulators),
        "serialize" => vec![serialize::file(world, chunk)],
        "accumulated" => vec![accumulators.add(chunk)],
        name => match fragments::file(chunk, (name, accumulators)) {
            Some(file) => vec![file],
            None => vec![simple::file(chunk, name)],
        },
    }
}

/// The content that a plan leads to, in a run of the saltenv of its state.
pub(crate) fn content(run: &Run<'_>, plan: &Plan) -> Content {
    match made(run, plan) {
        Ok(Some(bytes)) => Content::Bytes(bytes.into()),
        Ok(None) => Content::Nothing,
        Err(content) => content,
    }
}

fn made(run: &Run<'_>, plan: &Plan) -> Result<Option<Vec<u8>>, Content> {
    match plan {
        Plan::Nothing => Ok(None),
        Plan::Bytes(bytes) => Ok(Some(bytes.to_vec())),
        Plan::Unknown(unknown) => Err(Content::Unknown(unknown.clone())),
        Plan::Failed(why) => Err(failed(Error::new(ErrorKind::DataSource, why.clone()))),
        Plan::Served(url) => served(run, url).map(|file| Some(file.bytes.to_vec())),
        Plan::Template(template) => rendered(run, template).map(Some),
        Plan::Texts(parts, joined) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(made(run, part)?);
            }
            Ok(Some(together(&all, joined)))
        }
    }
}

fn rendered(run: &Run<'_>, template: &Template) -> Result<Vec<u8>, Content> {
    let file = match &template.from {
        From::Url(url) => served(run, url)?,
        From::Text(text) => File {
            path: String::new(),
            shown: template.shown.clone(),
            bytes: text.as_bytes().into(),
        },
    };
    let is_file = matches!(template.from, From::Url(_));
    // Salt takes a value other than a text as it is.
    if is_file && std::str::from_utf8(&file.bytes).is_err() && is_binary(&file.bytes) {
        return Ok(file.bytes.to_vec());
    }
    let asked = ManagedTemplate {
        engine: &template.engine,
        variables: template.variables.clone(),
        context: template.context.clone(),
    };
    let text = run.managed_text(&file, &asked).map_err(of_error)?;
    match &template.encoding {
        None => Ok(text.into_bytes()),
        Some((encoding, errors)) => encoded(&text, encoding, errors).map_err(|plan| match plan {
            Plan::Unknown(unknown) => Content::Unknown(unknown),
            Plan::Failed(why) => failed(Error::new(ErrorKind::DataSource, why)),
            _ => Content::Nothing,
        }),
    }
}

fn served(run: &Run<'_>, url: &str) -> Result<File, Content> {
    match run.served_file(url) {
        Ok(Some(file)) => Ok(file),
        Ok(None) => Err(failed(not_served(run, url))),
        Err(error) => Err(of_error(error)),
    }
}

/// The error of a source that the file server does not have, which says why as far as it is known.
fn not_served(run: &Run<'_>, url: &str) -> Error {
    let asked = SaltPath::parse(url);
    let saltenv = asked.as_ref().ok().and_then(SaltPath::saltenv);
    let saltenv = saltenv.unwrap_or(run.saltenv()).to_owned();
    let message = format!("the source {url} does not exist in saltenv {saltenv}");
    let mut error = Error::new(ErrorKind::File, message);
    for warning in run.warnings() {
        error = error.note(warning.message);
    }
    let listed = run.engine().extension::<AllListed>();
    let listed = listed.of(run.engine(), &saltenv);
    let path = asked.map(|path| path.to_string()).unwrap_or_default();
    match mapstack_diagnostic::nearest(&path, &listed.files) {
        Some(near) => error.help(format!("did you mean salt://{near}?")),
        None => error,
    }
}

fn failed(error: Error) -> Content {
    Content::Failed(Box::new(error))
}

/// The texts of a fragment as one.
fn together(parts: &[Vec<u8>], joined: &Joined) -> Vec<u8> {
    let mut text = Vec::new();
    for part in parts {
        text.extend(part);
        if *joined == Joined::Lines && !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
    }
    if let Joined::Between(start, end) = joined {
        if !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        text = [start.as_bytes(), b"\n", &text, end.as_bytes(), b"\n"].concat();
    }
    text
}
