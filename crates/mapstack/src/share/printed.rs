//! Layers that print what every minion has for itself.
//!
//! A formula that prints a minion's name has another result for each. But where a name is printed into a scalar of
//! a layer and nothing looks at it any more, results differ by the name alone. So, once a question that the template
//! of a layer asks was answered differently by everybody, what is asked instead is what the layer *prints*: each
//! minion runs the template of that layer, and words that expressions print are left [blank](super::blanks)
//! in the answer. Minions whose answers are the same have the same result, with the words put in.
//!
//! That is right as long as nothing but the scalar itself depends on the word: what YAML reads is the same for all
//! words, which a [`Mould`](mapstack_yaml::Mould) knows; and no template, matcher or comparison of a merge looks at the stack from there on,
//! which is watched. Where that does not hold, the layer is not asked what it prints again.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use mapstack_render::clock_reads;
use mapstack_value::{Str, Value};

use super::question::Answer;
use super::{Exact, Probe};
use crate::engine::Run;
use crate::file::File;
use crate::layer::Variables;
use crate::moulds::without_words;
use crate::render::Stage;
use crate::text::Text;
use crate::trace::FileRead;

/// What the template of a layer prints, given everything it sees besides the minion.
#[derive(Debug, Clone)]
pub(crate) struct LayerPrint {
    file: File,
    tpldir: String,
    tplroot: String,
    custom_data: Exact,
    stack: Exact,
    /// Whether the stack has blanks, so that nobody may look at it.
    has_blanks: bool,
}

/// A printed text, less what is left blank.
#[derive(Debug, Clone)]
pub(crate) struct Print {
    /// With [holes](mapstack_yaml::Mould::hole) for words.
    pub text: String,
    /// The files that were looked at.
    reads: Vec<FileRead>,
    /// What minions with equal answers differ in.
    pub words: Vec<Str>,
}

/// The part of what a run may spend that a layer may spend and still be shared: what another minion spends on it
/// is not known to its result.
const FUEL_SHARE: u64 = 16;

/// Whether a run stays within its limit whatever minions spend on layers that are asked what they print.
pub(super) fn can_pay(run: &Run<'_>, prints: usize) -> bool {
    let limit = run.engine.limits.fuel;
    let prints = u64::try_from(prints).unwrap_or(u64::MAX);
    run.spent()
        .saturating_add((limit / FUEL_SHARE).saturating_mul(prints))
        <= limit
}

impl LayerPrint {
    pub fn new(file: &File, variables: &Variables<'_>, stack: &Value, has_blanks: bool) -> Self {
        LayerPrint {
            file: file.clone(),
            tpldir: variables.tpldir.to_owned(),
            tplroot: variables.tplroot.to_owned(),
            custom_data: Exact(variables.custom_data.clone()),
            stack: Exact(stack.clone()),
            has_blanks,
        }
    }

    /// What a minion's run of the template prints; [`Answer::Own`] if that is not all it does.
    pub fn answer(&self, probe: &Probe<'_>) -> Answer {
        self.printed(probe).map_or(Answer::Own, Answer::Printed)
    }

    fn printed(&self, probe: &Probe<'_>) -> Option<Print> {
        let run = probe.again();
        if self.has_blanks {
            run.blanks.fill_in();
        }
        let clock = clock_reads();
        let stage = Stage::Layer {
            tpldir: &self.tpldir,
            tplroot: &self.tplroot,
            custom_data: &self.custom_data.0,
        };
        let mut stack = self.stack.0.clone();
        let source = self.file.text().ok()?.into();
        let text = run
            .called(|| run.render(&self.file, &source, &stage, &mut stack))
            .ok()?;
        let is_pure = !run.is_own()
            && clock_reads() == clock
            && !run.blanks.were_seen()
            && run.warning_count() == 0
            && run.spent() <= run.engine.limits.fuel / FUEL_SHARE
            && probe.has_facts_of(&run)
            && run.has_given_options()
            && matches!((&stack, &self.stack.0), (Value::Map(one), Value::Map(other)) if one.ptr_eq(other));
        is_pure.then(|| Print::of(&text, run.file_reads()))
    }
}

impl PartialEq for LayerPrint {
    fn eq(&self, other: &Self) -> bool {
        (&self.file.path, &self.file.shown, &self.file.bytes)
            == (&other.file.path, &other.file.shown, &other.file.bytes)
            && (&self.tpldir, &self.tplroot, &self.custom_data)
                == (&other.tpldir, &other.tplroot, &other.custom_data)
            && (&self.stack, self.has_blanks) == (&other.stack, other.has_blanks)
    }
}

impl Eq for LayerPrint {}

impl Hash for LayerPrint {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.file.path, &self.tpldir, &self.has_blanks, &self.stack).hash(state);
    }
}

impl Print {
    fn of(printed: &Text<'_>, reads: Vec<FileRead>) -> Self {
        let (text, words) = without_words(printed);
        Print {
            text: text.into_owned(),
            reads,
            words: words.into_iter().map(Str::from).collect(),
        }
    }

    /// The files that were looked at.
    pub fn reads(&self) -> &[FileRead] {
        &self.reads
    }

    /// About how many bytes it takes.
    pub fn size(&self) -> usize {
        let files = self
            .reads
            .iter()
            .map(|read| 64 + read.path.len())
            .sum::<usize>();
        self.text.len() + files + self.words.iter().map(|word| 32 + word.len()).sum::<usize>()
    }
}

impl PartialEq for Print {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
            && self.words.len() == other.words.len()
            && self.reads == other.reads
    }
}

impl Eq for Print {}

impl Hash for Print {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.text, self.words.len()).hash(state);
    }
}

/// Layers of a formula that print what every minion has for itself, by their paths.
pub(crate) type Printing = BTreeSet<Arc<str>>;

/// The paths of layers, and what is known of asking them what they print.
#[derive(Debug, Default)]
pub(super) struct Layers {
    /// Changes with every layer that is asked otherwise.
    pub version: usize,
    pub printing: Arc<Printing>,
    refused: Printing,
}

impl Layers {
    /// From now on a layer is asked what it prints. Whether that is news.
    pub fn print(&mut self, path: &Arc<str>) -> bool {
        if self.refused.contains(path) || !Arc::make_mut(&mut self.printing).insert(path.clone()) {
            return false;
        }
        self.version += 1;
        true
    }

    /// Nobody is asked any more what layers print.
    pub fn refuse(&mut self) {
        let printing = std::mem::take(&mut self.printing);
        self.refused.extend(printing.iter().cloned());
        self.version += 1;
    }
}
