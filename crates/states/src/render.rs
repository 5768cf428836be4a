//! Sls as they render for minions, which share the results.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use mapstack::minion::Minion;
use mapstack::secrets::{Redact, Secrets};
use mapstack::trace::{FileRead, FileReadKind};
use mapstack::{Engine, Run};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind};
use mapstack_share::{FactRead, Found, MinionAnswers, SharedWork, WorkKey};
use mapstack_value::{Str, Value, weight};

/// The rendered data of an sls for a minion.
#[derive(Debug)]
pub struct Rendered {
    /// The data, or why there is none. Errors have no secrets.
    pub data: Result<Value, Error>,
    /// The warnings.
    pub warnings: Vec<Diagnostic>,
    /// The paths of the files that were read for it, its own and those of templates and functions.
    pub files: Vec<String>,
    /// The files that were looked at for it, those included that are not there.
    pub reads: Vec<FileRead>,
    /// The texts that templates made of secrets.
    pub secret_texts: Vec<Str>,
    facts: OnceLock<Vec<FactRead>>,
}

impl Rendered {
    /// Data that no file was read for.
    #[must_use]
    pub fn of(data: Result<Value, Error>) -> Self {
        Rendered {
            data,
            warnings: Vec::new(),
            files: Vec::new(),
            reads: Vec::new(),
            secret_texts: Vec::new(),
            facts: OnceLock::new(),
        }
    }

    /// The facts that were read for it; `None` if they are not known. A gatherer has to note them
    /// ([`Gatherer::noting_facts`](crate::Gatherer::noting_facts)).
    #[must_use]
    pub fn facts(&self) -> Option<&[FactRead]> {
        self.facts.get().map(Vec::as_slice)
    }
}

/// An sls that a minion gets.
#[derive(Debug, Clone)]
pub struct GotSls {
    /// The saltenv.
    pub saltenv: String,
    /// The name.
    pub name: String,
    /// The path on the file server.
    pub path: String,
    /// The sls that includes it first; nothing where a top file names it.
    pub included_by: Option<String>,
    /// The rendered data.
    pub rendered: Arc<Rendered>,
}

#[derive(PartialEq, Eq, Hash)]
struct RenderKey {
    saltenv: String,
    path: String,
}

impl WorkKey for RenderKey {
    fn size(&self) -> usize {
        self.saltenv.len() + self.path.len()
    }
}

/// Bytes of renders that minions share.
const SHARED: usize = 64 << 20;

/// The results of rendering sls.
pub(crate) struct Renders<'e> {
    engine: &'e Engine,
    shared: SharedWork<RenderKey, Arc<Rendered>>,
    /// The secrets that no error may contain.
    pub secrets: Secrets,
}

impl<'e> Renders<'e> {
    pub fn new(engine: &'e Engine) -> Self {
        Renders {
            engine,
            shared: SharedWork::new(SHARED),
            secrets: Secrets::numbered(),
        }
    }

    /// The same with renders that know the facts that they depend on.
    pub fn noting_facts(self) -> Self {
        Renders {
            shared: self.shared.noting_facts(),
            ..self
        }
    }

    /// The renders of a minion.
    pub fn of<'w>(&'w self, minion: &'w Minion) -> MinionRenders<'w, 'e> {
        MinionRenders {
            renders: self,
            minion,
            answers: MinionAnswers::default(),
            runs: HashMap::new(),
            known: HashMap::new(),
        }
    }

    /// An error without secrets: those that are known, and those that templates of the run made of them.
    ///
    /// To search for a fleet's secrets is prepared once. What a run adds is prepared where an error has some of it.
    fn redacted(&self, error: &Error, of_run: &[Str]) -> Error {
        let diagnostic = error.diagnostic();
        let says = |secret: &Str| {
            let texts = diagnostic.notes.iter().chain(&diagnostic.help);
            let trace = diagnostic.trace.iter().map(|step| &step.what);
            let mut texts = texts.chain(trace).chain([&diagnostic.message]);
            texts.any(|text| text.contains(&**secret))
        };
        match of_run.iter().any(says) {
            true => error.redacted(&self.secrets.clone().derived(of_run)),
            false => error.redacted(&self.secrets),
        }
    }
}

/// The renders of one minion.
pub(crate) struct MinionRenders<'w, 'e> {
    renders: &'w Renders<'e>,
    minion: &'w Minion,
    answers: MinionAnswers<'e>,
    runs: HashMap<String, Run<'e>>,
    /// Renders that need not be made, by saltenv and path.
    known: HashMap<(String, String), Arc<Rendered>>,
}

impl<'e> MinionRenders<'_, 'e> {
    /// With sls that are rendered already.
    pub fn knowing(mut self, sls: &[GotSls]) -> Self {
        let key = |sls: &GotSls| (sls.saltenv.clone(), sls.path.clone());
        let known = sls.iter().map(|sls| (key(sls), sls.rendered.clone()));
        self.known.extend(known);
        self
    }

    /// The result of rendering the sls at a path.
    pub fn rendered(&mut self, saltenv: &str, path: &str) -> Arc<Rendered> {
        if let Some(known) = self.known.get(&(saltenv.to_owned(), path.to_owned())) {
            return known.clone();
        }
        let renders = self.renders;
        let minion = self.minion;
        let run = self.runs.entry(saltenv.to_owned()).or_insert_with(|| {
            let run = renders.engine.run(minion).with_saltenv(saltenv);
            run.following_secrets()
        });
        let key = RenderKey {
            saltenv: saltenv.into(),
            path: path.into(),
        };
        let work = |run: &Run<'e>| {
            let data = run.sls(&format!("salt://{path}"));
            let data = data.map_err(|e| renders.redacted(&e, &run.secret_texts()));
            let size = match &data {
                Err(e) if matches!(e.kind(), ErrorKind::Limit) => None,
                Err(_) => Some(1024),
                Ok(value) => Some(48 * weight(value)),
            };
            let reads = run.file_reads();
            let secret_texts = run.secret_texts();
            let found = reads.iter();
            let found = found.filter(|read| read.kind == FileReadKind::Found);
            let files: Vec<String> = found.map(|read| read.path.to_string()).collect();
            let of_reads = reads.iter().map(|read| 128 + 2 * read.path.len());
            let of_texts = secret_texts.iter().map(|text| 32 + text.len());
            let more: usize = of_reads.chain(of_texts).sum();
            let size = size.map(|size| size + more);
            let warnings = run.warnings();
            let rendered = Rendered {
                warnings,
                files,
                reads,
                secret_texts,
                ..Rendered::of(data)
            };
            (Arc::new(rendered), size)
        };
        let found = renders.shared.find(key, &self.answers, run, work);
        let (Found::Known(done) | Found::Done { done, .. }) = found;
        if let Some(facts) = done.facts() {
            done.value.facts.get_or_init(|| facts.to_vec());
        }
        done.value.clone()
    }
}
