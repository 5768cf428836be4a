//! Rendered sls, which minions share.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use mapstack::minion::Minion;
use mapstack::secrets::{Redact, Secrets};
use mapstack::share::{FactRead, MinionAnswers, SharedWork, WorkKey, WorkOrigin};
use mapstack::trace::{FileRead, FileReadKind};
use mapstack::{Engine, Run, sls_name};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind};
use mapstack_value::{Str, Value, weight};

use crate::exhausting::Exhausting;

/// The rendered data of an sls for a minion.
#[derive(Debug)]
pub struct SlsData {
    /// The data, or the error, without secrets.
    pub data: Result<Value, Error>,
    /// The warnings.
    pub warnings: Vec<Diagnostic>,
    /// The paths of the files that were read: its own, and those that templates and functions read.
    pub files: Vec<String>,
    /// The files that were looked up, missing ones included.
    pub reads: Vec<FileRead>,
    /// Texts that templates derived from secrets.
    pub secret_texts: Vec<Str>,
    facts: OnceLock<Vec<FactRead>>,
}

impl SlsData {
    /// Data without any reads.
    #[must_use]
    pub fn of(data: Result<Value, Error>) -> Self {
        SlsData {
            data,
            warnings: Vec::new(),
            files: Vec::new(),
            reads: Vec::new(),
            secret_texts: Vec::new(),
            facts: OnceLock::new(),
        }
    }

    /// Approximate size in bytes, if minions can share it.
    fn size(&self) -> Option<usize> {
        let size = match &self.data {
            Err(e) if matches!(e.kind(), ErrorKind::Limit) => return None,
            Err(_) => 1024,
            Ok(value) => 48 * weight(value),
        };
        let of_reads = self.reads.iter().map(|read| 128 + 2 * read.path.len());
        let of_texts = self.secret_texts.iter().map(|text| 32 + text.len());
        Some(size + of_reads.chain(of_texts).sum::<usize>())
    }

    /// The facts that were read; `None` unless the gatherer records them
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
    /// The first sls that includes it; `None` if a top file names it.
    pub included_by: Option<String>,
    /// The rendered data.
    pub rendered: Arc<SlsData>,
}

/// A file that is rendered as an sls.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct SlsFile {
    saltenv: String,
    path: String,
    /// The name by which the sls is requested, if its path has another one. Templates see it.
    name: Option<String>,
}

impl SlsFile {
    /// The file of a top file, which has no name.
    pub fn of_top(saltenv: &str, path: &str) -> Self {
        SlsFile {
            saltenv: saltenv.into(),
            path: path.into(),
            name: None,
        }
    }

    pub fn new(saltenv: &str, path: &str, name: &str) -> Self {
        let is_usual = sls_name(path).is_some_and(|usual| usual == name);
        SlsFile {
            name: (!is_usual).then(|| name.into()),
            ..SlsFile::of_top(saltenv, path)
        }
    }
}

impl From<&GotSls> for SlsFile {
    fn from(sls: &GotSls) -> Self {
        SlsFile::new(&sls.saltenv, &sls.path, &sls.name)
    }
}

impl WorkKey for SlsFile {
    fn size(&self) -> usize {
        let name = self.name.as_ref().map_or(0, String::len);
        self.saltenv.len() + self.path.len() + name
    }
}

/// Bytes of renders that minions share.
const SHARED: usize = 64 << 20;

/// The results of rendering sls.
pub(crate) struct Renders<'e> {
    engine: &'e Engine,
    shared: SharedWork<SlsFile, Arc<SlsData>>,
    /// The secrets that no error may contain.
    pub secrets: Secrets,
    /// The sls that reached limits, if they are skipped for further minions.
    pub exhausting: Option<Exhausting>,
}

impl<'e> Renders<'e> {
    pub fn new(engine: &'e Engine) -> Self {
        Renders {
            engine,
            shared: SharedWork::new(SHARED),
            secrets: Secrets::numbered(),
            exhausting: None,
        }
    }

    /// Record the facts that renders depend on.
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
            runs: Vec::new(),
            changed: None,
            known: HashMap::new(),
        }
    }

    /// An sls as a run renders it. Its files and warnings include those of what the run rendered before.
    fn rendered(&self, run: &Run<'_>, sls: &SlsFile) -> SlsData {
        let url = format!("salt://{}", sls.path);
        let render = || run.sls_called(&url, sls.name.as_deref());
        let data = match &self.exhausting {
            Some(exhausting) => exhausting.try_once_more(&url, render),
            None => render(),
        };
        let data = data.map_err(|e| self.redacted(&e, &run.secret_texts()));
        let reads = run.file_reads();
        let found = reads.iter();
        let found = found.filter(|read| read.kind == FileReadKind::Found);
        SlsData {
            warnings: run.warnings(),
            files: found.map(|read| read.path.to_string()).collect(),
            secret_texts: run.secret_texts(),
            reads,
            ..SlsData::of(data)
        }
    }

    /// An error without the known secrets and the texts that templates of the run derived from them.
    ///
    /// The search for a fleet's secrets is prepared once; that for the texts of a run only if the error
    /// contains one.
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
    /// The run of each saltenv.
    runs: Vec<(String, Run<'e>)>,
    /// The run in which an sls changed the facts. All later sls see the changes, as in Salt.
    changed: Option<Run<'e>>,
    /// Renders from before.
    known: HashMap<SlsFile, Arc<SlsData>>,
}

impl<'e> MinionRenders<'_, 'e> {
    /// Take over the renders of some sls.
    pub fn knowing(mut self, sls: &[GotSls]) -> Self {
        let known = sls.iter().map(|sls| (sls.into(), sls.rendered.clone()));
        self.known.extend(known);
        self
    }

    /// The minion with the facts that sls changed, if one did.
    pub fn changed_minion(&self) -> Option<Minion> {
        let run = self.changed.as_ref()?;
        run.sync_facts().ok()?;
        Some(run.minion().clone())
    }

    /// The result of rendering an sls.
    pub fn rendered(&mut self, sls: &SlsFile) -> Arc<SlsData> {
        if let Some(known) = self.known.get(sls) {
            return known.clone();
        }
        let renders = self.renders;
        let saltenv = sls.saltenv.as_str();
        if let Some(run) = self.changed.take() {
            let run = self.changed.insert(run.with_saltenv(saltenv));
            return Arc::new(renders.rendered(run, sls));
        }
        let known = self.runs.iter().position(|(of, _)| of == saltenv);
        let at = known.unwrap_or_else(|| {
            let run = renders.engine.run(self.minion).with_saltenv(saltenv);
            let given = {
                let minion = run.minion();
                [minion.grains.clone(), minion.pillar.clone()]
            };
            let run = run.with_facts_of_templates(given).following_secrets();
            self.runs.push((saltenv.to_owned(), run));
            self.runs.len() - 1
        });
        let run = &self.runs[at].1;
        let work = |run: &Run<'e>| {
            let rendered = renders.rendered(run, sls);
            let size = rendered.size();
            (Arc::new(rendered), size)
        };
        let done = match renders.shared.find(sls.clone(), &self.answers, run, work) {
            WorkOrigin::Known(done) => done,
            WorkOrigin::Done { done, changed, .. } => {
                self.changed = changed.map(|run| *run);
                done
            }
        };
        if let Some(facts) = done.facts() {
            done.value.facts.get_or_init(|| facts.to_vec());
        }
        done.value.clone()
    }
}
