//! The renders of one compile's files, which other compiles can have made.

use std::cell::OnceCell;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use mapstack::share::{MinionAnswers, SharedWork, WorkKey, WorkOrigin};
use mapstack::trace::FileRead;
use mapstack::{Engine, File, PillarSls, RenderedSls, Run, Text};
use mapstack_diagnostic::{Error, ErrorKind, Place, Result};
use mapstack_value::{Map, Path, Str, Value, weight};
use mapstack_yaml::{Lines, Loaded, Marks, load_rendered};

use super::reads::CompileReads;
use super::top::MergedTop;
use crate::cache::MergeCache;

/// The state that minions share: renders by what they read, and parts of pillars that are merged over each other.
pub(crate) struct SharedRenders {
    /// The engine whose runs it is for: results depend on its functions and files.
    engine: OnceLock<Arc<EngineMark>>,
    renders: SharedWork<RenderKey, RenderedFile>,
    pub merges: MergeCache,
}

/// Stands for an engine.
#[derive(Default)]
struct EngineMark;

/// The inputs of a render besides the minion, and files that do not change.
struct RenderKey {
    file: File,
    saltenv: String,
    sls: String,
    variables: Vec<(Str, Value)>,
}

impl PartialEq for RenderKey {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |((name, value), (other, with)): (&(Str, Value), &(Str, Value))| {
            name == other && value.is_same(with)
        };
        (&self.file.path, &self.sls, &self.saltenv, &self.file.shown)
            == (
                &other.file.path,
                &other.sls,
                &other.saltenv,
                &other.file.shown,
            )
            && (Arc::ptr_eq(&self.file.bytes, &other.file.bytes)
                || self.file.bytes == other.file.bytes)
            && self.variables.len() == other.variables.len()
            && self.variables.iter().zip(&other.variables).all(is_same)
    }
}

impl Eq for RenderKey {}

impl WorkKey for RenderKey {
    fn size(&self) -> usize {
        let names = [&self.file.path, &self.file.shown, &self.saltenv, &self.sls];
        let variables = self.variables.iter();
        let variables = variables.map(|(name, value)| 48 + name.len() + 48 * weight(value));
        let names = names.into_iter().map(String::len);
        self.file.bytes.len() + names.sum::<usize>() + variables.sum::<usize>()
    }
}

impl Hash for RenderKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.file.path, &self.sls).hash(state);
    }
}

/// The places in a file that was read as YAML, which the first look-up reads again.
#[derive(Default)]
pub(crate) struct YamlPlaces(OnceCell<Option<(Loaded, Lines)>>);

impl YamlPlaces {
    /// The place of a path in the file: of a key, or of an item of a list.
    pub fn find(&self, rendered: &RenderedFile, path: &Path) -> Option<Place> {
        let text = rendered.text()?;
        let read = || {
            let loaded = load_rendered(text.as_str(), &Default::default()).ok()?;
            Some((loaded, Lines::of(text.as_str())))
        };
        let (Loaded { value, marks, .. }, lines) = self.0.get_or_init(read).as_ref()?;
        let item = || marks.at(value, path).map(Marks::mark);
        let mark = marks.key_at(value, path).or_else(item)?;
        Some(text.place(lines.offset(text.as_str(), mark)))
    }
}

/// The rendered data of a file.
pub(crate) struct RenderedFile {
    pub result: Result<RenderedSls>,
    /// The pillar's files that templates loaded.
    reads: Vec<FileRead>,
    /// The data without `include`, one mapping for all minions.
    own: OnceLock<Map>,
    /// The merged top file, if it is the only one.
    pub top: OnceLock<Arc<MergedTop>>,
}

impl RenderedFile {
    fn new(result: Result<RenderedSls>, reads: Vec<FileRead>) -> Self {
        RenderedFile {
            result,
            reads,
            own: OnceLock::new(),
            top: OnceLock::new(),
        }
    }

    /// The data; nothing if the render failed.
    pub fn value(&self) -> Value {
        let rendered = self.result.as_ref().ok();
        rendered.map(|it| it.value.clone()).unwrap_or_default()
    }

    /// The text that was read as YAML.
    pub fn text(&self) -> Option<&Text<'static>> {
        self.result.as_ref().ok()?.text.as_ref()
    }

    /// The start of the file.
    pub fn place(&self) -> Option<Place> {
        self.text().map(|text| text.place(0))
    }

    /// The data without `include`.
    pub fn own(&self, map: &Map) -> Map {
        let without = || {
            let mut own = map.clone();
            own.shift_remove("include");
            own
        };
        self.own.get_or_init(without).clone()
    }

    /// Approximate size in bytes; `None` for what the next minion has to try again.
    fn size(&self) -> Option<usize> {
        let of_result = match &self.result {
            Err(e) if matches!(e.kind(), ErrorKind::File | ErrorKind::Limit) => return None,
            Err(e) => e.to_string().len() + 1024,
            Ok(rendered) => {
                let text = rendered.text.as_ref();
                48 * weight(&rendered.value) + text.map_or(0, |text| 2 * text.as_str().len())
            }
        };
        let of_reads = self.reads.iter().map(|read| 64 + read.path.len());
        Some(of_result + of_reads.sum::<usize>())
    }
}

/// The result of a render.
pub(crate) enum Render {
    Shared(Arc<mapstack::share::WorkResult<RenderedFile>>),
    Own(Box<RenderedFile>),
}

impl Render {
    fn own(rendered: RenderedFile) -> Self {
        Render::Own(Box::new(rendered))
    }

    /// The result of a file that was not rendered.
    pub fn failed(error: Error) -> Self {
        Render::own(RenderedFile::new(Err(error), Vec::new()))
    }
}

impl std::ops::Deref for Render {
    type Target = RenderedFile;

    fn deref(&self) -> &RenderedFile {
        match self {
            Render::Shared(done) => &done.value,
            Render::Own(rendered) => rendered,
        }
    }
}

impl SharedRenders {
    pub fn new(max_bytes: usize) -> Self {
        SharedRenders {
            engine: OnceLock::new(),
            renders: SharedWork::new(max_bytes / 2),
            merges: MergeCache::new(max_bytes / 2),
        }
    }

    /// True if it is for runs of this engine. It is for the first one that asks.
    pub fn is_for(&self, engine: &Engine) -> bool {
        let mark: Arc<EngineMark> = engine.extension();
        Arc::ptr_eq(self.engine.get_or_init(|| mark.clone()), &mark)
    }
}

/// The renders of one compile, for templates that see the same facts.
pub(crate) struct Renders<'r> {
    first: Run<'r>,
    /// The run in which a template changed the facts. All later templates run there.
    changed: OnceCell<Box<Run<'r>>>,
    /// The renders of other minions, until a template of this one changes the facts.
    shared: Option<&'r SharedRenders>,
    answers: MinionAnswers<'r>,
    reads: Arc<CompileReads>,
}

impl<'r> Renders<'r> {
    /// The templates of a run, whose reads of the pillar's files are noted.
    pub fn new(run: Run<'r>, shared: Option<&'r SharedRenders>, reads: Arc<CompileReads>) -> Self {
        Renders {
            first: run,
            changed: OnceCell::new(),
            shared,
            answers: MinionAnswers::default(),
            reads,
        }
    }

    /// The run that has the present facts.
    pub fn run(&self) -> &Run<'r> {
        self.changed.get().map_or(&self.first, |run| run)
    }

    /// All runs, in order.
    pub fn runs(&self) -> impl Iterator<Item = &Run<'r>> {
        std::iter::once(&self.first).chain(self.changed.get().map(|run| &**run))
    }

    /// Render a file, or take what another minion made of it.
    ///
    /// # Errors
    /// There are not enough steps left. Everything else is an error of the render.
    pub fn render(&self, sls: PillarSls<'_>) -> Result<Render> {
        if let Some(run) = self.changed.get() {
            return Ok(Render::own(self.rendered(run, sls)));
        }
        let run = &self.first;
        let Some(shared) = self.shared else {
            let found = WorkOrigin::alone(&self.answers, run, |run| self.rendered(run, sls));
            return self.found(found);
        };
        let key = RenderKey {
            file: sls.file.clone(),
            saltenv: sls.saltenv.into(),
            sls: sls.sls.into(),
            variables: sls.variables.to_vec(),
        };
        let work = |run: &Run<'r>| {
            let rendered = self.rendered(run, sls);
            let size = rendered.size();
            (rendered, size)
        };
        self.found(shared.renders.find(key, &self.answers, run, work))
    }

    /// Bring what was found into this compile.
    fn found(&self, found: WorkOrigin<'r, RenderedFile>) -> Result<Render> {
        let done = match found {
            WorkOrigin::Known(done) => {
                done.replay(&self.first)?;
                self.reads.note_again(&done.value.reads);
                done
            }
            WorkOrigin::Done {
                done,
                changed: Some(run),
                ..
            } => {
                // Templates change the facts for good only once.
                let _ = self.changed.set(run);
                done
            }
            WorkOrigin::Done {
                done, is_shared, ..
            } => {
                done.replay(&self.first)?;
                if let Some(shared) = self.shared.filter(|_| is_shared) {
                    self.adopt(shared, &done.value);
                }
                done
            }
        };
        Ok(Render::Shared(done))
    }

    fn rendered(&self, run: &Run<'r>, sls: PillarSls<'_>) -> RenderedFile {
        let before = self.reads.current_count();
        let result = run.pillar_sls(sls);
        RenderedFile::new(result, self.reads.current_since(before))
    }

    /// Let merges of this data be shared.
    fn adopt(&self, shared: &SharedRenders, rendered: &RenderedFile) {
        if let Ok(RenderedSls {
            value: Value::Map(map),
            ..
        }) = &rendered.result
        {
            match map.contains_key("include") {
                true => shared.merges.adopt(rendered.own(map)),
                false => shared.merges.adopt(map.clone()),
            }
        }
    }
}
