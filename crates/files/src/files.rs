//! The files that the states of a minion manage.

use std::cell::RefCell;

use mapstack::minion::Minion;
use mapstack::{Diagnostic, Engine};
use mapstack_diagnostic::Distinct;
use mapstack_value::{Str, Value};

use crate::accumulators::Accumulators;
use crate::arguments::Chunk;
use crate::content::Content;
use crate::exhausting::Exhausting;
use crate::file::ManagedFile;
use crate::making::content;
use crate::minion_files::{MinionFiles, run};
use crate::{fragments, managed, recurse, serialize, simple};

/// Computes the files that the states of a minion manage.
pub struct ManagedFiles<'f> {
    engine: &'f Engine,
    minion: &'f Minion,
    minion_files: MinionFiles<'f>,
    low: &'f [Value],
    secrets: RefCell<Vec<Str>>,
    warnings: RefCell<Distinct>,
    exhausting: RefCell<Exhausting>,
}

impl<'f> ManagedFiles<'f> {
    /// The files of low data, whose chunks are in the order in which they run.
    #[must_use]
    pub fn new(engine: &'f Engine, minion: &'f Minion, low: &'f [Value]) -> Self {
        ManagedFiles {
            engine,
            minion,
            minion_files: MinionFiles::new(engine, minion),
            low,
            secrets: RefCell::default(),
            warnings: RefCell::default(),
            exhausting: RefCell::default(),
        }
    }

    /// All files, in the order of the states. A state of many files has them in the order of their paths.
    #[must_use]
    pub fn all(&self) -> Vec<ManagedFile> {
        all(&self.minion_files, self.low)
    }

    /// The texts that templates made of secrets since the last call.
    #[must_use]
    pub fn take_secret_texts(&self) -> Vec<Str> {
        self.secrets.take()
    }

    /// The warnings of templates so far, each once.
    #[must_use]
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.warnings.borrow().iter().cloned().collect()
    }

    /// The content of a file. A template that reached a limit for two files before is not rendered.
    #[must_use]
    pub fn content(&self, file: &ManagedFile) -> Content {
        if let Some((refusal, _)) = self.exhausting.borrow().refusal(&file.plan) {
            return refusal;
        }
        let run = run(self.engine, self.minion, &file.state.saltenv);
        let made = content(&run, &file.plan);
        self.exhausting.borrow_mut().note(&file.plan, &made, &[]);
        self.secrets.borrow_mut().extend(run.secret_texts());
        self.warnings.borrow_mut().extend(run.warnings());
        made
    }
}

/// The files of low data.
pub(crate) fn all(minion_files: &MinionFiles<'_>, low: &[Value]) -> Vec<ManagedFile> {
    of_states(minion_files, low, |_| true)
}

/// The files of some states of low data, which are given by their positions.
pub(crate) fn of_states(
    minion_files: &MinionFiles<'_>,
    low: &[Value],
    is_wanted: impl Fn(usize) -> bool,
) -> Vec<ManagedFile> {
    let mut accumulators = Accumulators::default();
    let mut all = Vec::new();
    for (position, state) in low.iter().enumerate() {
        let Value::Map(map) = state else { continue };
        let chunk = Chunk { position, map };
        // A state that others have as `prereq` runs in test mode first.
        if chunk.get("state").as_str() != Some("file") || chunk.is_on("__prereq__") {
            continue;
        }
        match is_wanted(position) {
            true => all.append(&mut of_state(minion_files, chunk, &mut accumulators)),
            // Its texts are for files of other states.
            false if chunk.get("fun").as_str() == Some("accumulated") => {
                accumulators.add(chunk);
            }
            false => {}
        }
    }
    all
}

fn of_state(
    minion_files: &MinionFiles<'_>,
    chunk: Chunk<'_>,
    accumulators: &mut Accumulators,
) -> Vec<ManagedFile> {
    match chunk.get("fun").as_str().unwrap_or_default() {
        "managed" => vec![managed::file(minion_files, chunk, accumulators)],
        "recurse" => recurse::files(minion_files, chunk, accumulators),
        "serialize" => vec![serialize::file(minion_files, chunk)],
        "accumulated" => vec![accumulators.add(chunk)],
        name => match fragments::file(chunk, name, accumulators) {
            Some(file) => vec![file],
            None => vec![simple::file(chunk, name)],
        },
    }
}
