//! Layers that print what every minion has for itself.
//!
//! A formula that prints a minion's name has another result for each. But where a name is printed into a scalar of
//! a layer and nothing looks at it any more, results differ by the name alone. So, once a question that the template
//! of a layer asks was answered differently by everybody, what is asked instead is what the layer *prints*: each
//! minion runs the template of that layer, and words that expressions print are left [blank](crate::blanks)
//! in the answer. Minions whose answers are the same have the same result, with the words put in.
//!
//! That is right as long as nothing but the scalar itself depends on the word: what YAML reads is the same for all
//! words, which a [`Mould`](mapstack_yaml::Mould) knows; and no template, matcher or comparison of a merge looks at the stack from there on,
//! which is watched. Where that does not hold, the layer is not asked what it prints again.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use mapstack::hooks::LayerTemplate;
use mapstack::trace::FileRead;
use mapstack::{File, Run, Text};
use mapstack_minion::Minion;
use mapstack_render::clock_reads;
use mapstack_value::{Str, Value};

use crate::blanks::Blanks;
use crate::exact::Exact;

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
    reads: Arc<[FileRead]>,
    /// What minions with equal answers differ in.
    pub words: Vec<Str>,
}

/// The part of what a run may spend that a layer may spend and still be shared: what another minion spends on it
/// is not known to its result.
const FUEL_SHARE: u64 = 16;

/// Whether a run stays within its limit whatever minions spend on layers that are asked what they print.
pub(crate) fn can_pay(run: &Run<'_>, prints: usize) -> bool {
    let limit = run.engine().limits().fuel;
    let prints = u64::try_from(prints).unwrap_or(u64::MAX);
    run.spent()
        .saturating_add((limit / FUEL_SHARE).saturating_mul(prints))
        <= limit
}

/// Whether a run sees the facts of a minion as they were given.
fn has_facts_of(run: &Run<'_>, minion: &Minion) -> bool {
    let now = run.minion();
    now.grains.ptr_eq(&minion.grains) && now.pillar.ptr_eq(&minion.pillar)
}

impl LayerPrint {
    pub fn new(template: &LayerTemplate<'_>, stack: &Value, has_blanks: bool) -> Self {
        LayerPrint {
            file: template.file.clone(),
            tpldir: template.tpldir.to_owned(),
            tplroot: template.tplroot.to_owned(),
            custom_data: Exact(template.custom_data.clone()),
            stack: Exact(stack.clone()),
            has_blanks,
        }
    }

    /// What the data of a run of the template has in place of texts.
    pub fn blanks(&self) -> Blanks {
        let blanks = Blanks::default();
        if self.has_blanks {
            blanks.fill_in();
        }
        blanks
    }

    /// What a minion's run of the template prints; nothing if that is not all it does. The run is watched by `blanks`.
    pub fn print(&self, run: &Run<'_>, blanks: &Blanks, minion: &Minion) -> Option<Print> {
        let clock = clock_reads();
        let template = LayerTemplate {
            file: &self.file,
            tpldir: &self.tpldir,
            tplroot: &self.tplroot,
            custom_data: &self.custom_data.0,
        };
        let mut stack = self.stack.0.clone();
        let text = run.print_layer(&template, &mut stack).ok()?;
        let is_pure = !run.is_own()
            && clock_reads() == clock
            && !blanks.were_seen()
            && run.warning_count() == 0
            && run.spent() <= run.engine().limits().fuel / FUEL_SHARE
            && has_facts_of(run, minion)
            && run.has_given_options()
            && matches!((&stack, &self.stack.0), (Value::Map(one), Value::Map(other)) if one.ptr_eq(other));
        is_pure.then(|| Print::of(&text, run.file_reads().into()))
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
    fn of(printed: &Text<'_>, reads: Arc<[FileRead]>) -> Self {
        let (text, words) = printed.without_words();
        Print {
            text: text.into_owned(),
            reads,
            words: words.into_iter().map(Str::from).collect(),
        }
    }

    /// The files that were looked at.
    pub fn reads(&self) -> &Arc<[FileRead]> {
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
pub(crate) struct Layers {
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
