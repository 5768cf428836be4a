//! The journal of a run: the files, look-ups and warnings of its work so far.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;

use indexmap::IndexSet;
use mapstack_diagnostic::{Diagnostic, Distinct};
use mapstack_value::Str;

use crate::hooks::Moment;
use crate::trace::{DataStage, Event, FileRead, RequestOutcome, TracedRequest};

/// Typical number of files that a run looks for.
const USUAL_READS: usize = 32;

/// The files, look-ups and warnings of a run, in order.
pub(crate) struct Journal {
    /// The part of the work that runs now.
    pub stage: Cell<DataStage>,
    /// The definition that is evaluated now.
    pub definition: RefCell<Option<Str>>,
    pub events: RefCell<Vec<Event>>,
    /// Every access to the file server, in order, without duplicates.
    pub reads: RefCell<IndexSet<FileRead, foldhash::fast::RandomState>>,
    pub warnings: RefCell<Distinct>,
    /// The paths on disk of the `salt://` paths that were read.
    pub on_disk: RefCell<HashMap<String, PathBuf, foldhash::fast::RandomState>>,
    /// True if the results depend on anything other than files and facts.
    pub has_outside_inputs: Cell<bool>,
}

impl Default for Journal {
    fn default() -> Self {
        Journal {
            stage: Cell::new(DataStage::Layers),
            definition: RefCell::default(),
            events: RefCell::default(),
            reads: RefCell::default(),
            warnings: RefCell::default(),
            on_disk: RefCell::default(),
            has_outside_inputs: Cell::new(false),
        }
    }
}

impl Journal {
    /// The current part of the work.
    pub fn moment(&self) -> Moment {
        Moment {
            stage: self.stage.get(),
            definition: self.definition.borrow().clone(),
        }
    }

    /// Add a warning, unless the same warning is present.
    pub fn warn(&self, warning: Diagnostic) {
        self.warnings.borrow_mut().insert(warning);
    }

    /// Add the access to a file.
    pub fn note_read(&self, read: FileRead) {
        let mut reads = self.reads.borrow_mut();
        if reads.is_empty() {
            reads.reserve(USUAL_READS);
        }
        reads.insert(read);
    }

    /// Add a look-up.
    pub fn record(&self, asked: TracedRequest) {
        let Moment { stage, definition } = self.moment();
        let mut events = self.events.borrow_mut();
        if events.is_empty() {
            events.reserve(USUAL_READS);
        }
        events.push(Event {
            stage,
            definition,
            asked,
        });
    }

    /// The number of look-ups.
    pub fn event_count(&self) -> usize {
        self.events.borrow().len()
    }

    /// The files that were found in a range of events.
    pub fn files_found(&self, events: Range<usize>) -> Vec<String> {
        let all = self.events.borrow();
        let events = all.get(events).into_iter().flatten();
        events.filter_map(found).collect()
    }

    /// True if a file was found since an event.
    pub fn has_found_files(&self, since: usize) -> bool {
        let all = self.events.borrow();
        all.iter().skip(since).any(|event| found(event).is_some())
    }
}

/// The path on disk of a file that was found.
fn found(event: &Event) -> Option<String> {
    match &event.asked {
        TracedRequest::File {
            outcome: RequestOutcome::Hit(on_disk),
            ..
        } => Some(on_disk.display().to_string()),
        _ => None,
    }
}
