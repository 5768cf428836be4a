//! Layers that print facts specific to each minion.
//!
//! A formula that prints the minion's name has a different result for every minion. But if the name is printed into
//! a scalar of a layer, and nothing reads that scalar afterwards, the results differ in the name alone. So, once
//! each minion answers some question of a layer's template differently, the formula asks instead what the template
//! *prints*. It renders that layer for every minion, and replaces the words that expressions printed by holes.
//! Minions with equal texts share one result, in which [placeholders](crate::placeholders) are replaced by each
//! minion's words.
//!
//! This is correct if a word affects only the scalar it is part of. First, YAML must parse the text alike for all
//! words; [`Skeleton`](mapstack_yaml::Skeleton) ensures that. Second, no later template, matcher or merge may read
//! the scalar; a [`PlaceholderWatch`](crate::placeholders::PlaceholderWatch) reports such reads. If one happens, the
//! formula stops rendering layers separately.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use mapstack::hooks::LayerTemplate;
use mapstack::trace::FileRead;
use mapstack::{File, Run, Text};
use mapstack_minion::Minion;
use mapstack_render::clock_reads;
use mapstack_value::{Str, Value};

use crate::exact::Exact;
use crate::placeholders::PlaceholderWatch;

/// A request to render the template of a layer: all of its inputs except the minion.
#[derive(Debug, Clone)]
pub(crate) struct LayerRendering {
    file: File,
    tpldir: String,
    tplroot: String,
    custom_data: Exact,
    stack: Exact,
    /// True if the merged data contains placeholders, which the template must not read.
    has_placeholders: bool,
}

/// The text that a layer's template printed, without the words that expressions printed.
#[derive(Debug, Clone)]
pub(crate) struct RenderedLayer {
    /// The text, with [holes](mapstack_yaml::Skeleton::hole) in place of words.
    pub text: String,
    /// The files that the template accessed.
    reads: Arc<[FileRead]>,
    /// The words for the holes. They are not compared: minions with equal answers can have different words.
    pub words: Vec<Str>,
}

/// A layer may use this fraction of a run's step limit and still be shared. A shared result does not say how many
/// steps the layer takes for other minions.
const FUEL_SHARE: u64 = 16;

/// True if a run stays within its step limit, even if each of so many layers uses its whole share.
pub(crate) fn can_pay(run: &Run<'_>, layers: usize) -> bool {
    let limit = run.engine().limits().fuel;
    let layers = u64::try_from(layers).unwrap_or(u64::MAX);
    run.spent()
        .saturating_add((limit / FUEL_SHARE).saturating_mul(layers))
        <= limit
}

/// True if a run still sees the facts of a minion as they were given.
pub(crate) fn has_facts_of(run: &Run<'_>, minion: &Minion) -> bool {
    let now = run.minion();
    now.grains.ptr_eq(&minion.grains) && now.pillar.ptr_eq(&minion.pillar)
}

impl LayerRendering {
    pub fn new(template: &LayerTemplate<'_>, stack: &Value, has_placeholders: bool) -> Self {
        LayerRendering {
            file: template.file.clone(),
            tpldir: template.tpldir.to_owned(),
            tplroot: template.tplroot.to_owned(),
            custom_data: Exact(template.custom_data.clone()),
            stack: Exact(stack.clone()),
            has_placeholders,
        }
    }

    /// A watch for the data that the template sees.
    pub fn watch(&self) -> PlaceholderWatch {
        let watch = PlaceholderWatch::default();
        if self.has_placeholders {
            watch.mark_present();
        }
        watch
    }

    /// Render the template for a minion, in a run that uses `watch` as its hooks. `None` if the template does more
    /// than print a text.
    pub fn render(
        &self,
        run: &Run<'_>,
        watch: &PlaceholderWatch,
        minion: &Minion,
    ) -> Option<RenderedLayer> {
        let clock = clock_reads();
        let template = LayerTemplate {
            file: &self.file,
            tpldir: &self.tpldir,
            tplroot: &self.tplroot,
            custom_data: &self.custom_data.0,
        };
        let mut stack = self.stack.0.clone();
        let text = run.print_layer(&template, &mut stack).ok()?;
        let is_shareable = !run.has_outside_inputs()
            && clock_reads() == clock
            && !watch.were_read()
            && run.warning_count() == 0
            && run.spent() <= run.engine().limits().fuel / FUEL_SHARE
            && has_facts_of(run, minion)
            && run.has_given_options()
            && !text.may_have_aliases()
            && matches!((&stack, &self.stack.0), (Value::Map(one), Value::Map(other)) if one.ptr_eq(other));
        is_shareable.then(|| RenderedLayer::of(&text, run.file_reads().into()))
    }
}

impl PartialEq for LayerRendering {
    fn eq(&self, other: &Self) -> bool {
        (&self.file.path, &self.file.shown, &self.file.bytes)
            == (&other.file.path, &other.file.shown, &other.file.bytes)
            && (&self.tpldir, &self.tplroot, &self.custom_data)
                == (&other.tpldir, &other.tplroot, &other.custom_data)
            && (&self.stack, self.has_placeholders) == (&other.stack, other.has_placeholders)
    }
}

impl Eq for LayerRendering {}

impl Hash for LayerRendering {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (
            &self.file.path,
            &self.tpldir,
            &self.has_placeholders,
            &self.stack,
        )
            .hash(state);
    }
}

impl RenderedLayer {
    fn of(text: &Text<'_>, reads: Arc<[FileRead]>) -> Self {
        let (text, words) = text.without_words();
        RenderedLayer {
            text: text.into_owned(),
            reads,
            words: words.into_iter().map(Str::from).collect(),
        }
    }

    /// The files that the template accessed.
    pub fn reads(&self) -> &Arc<[FileRead]> {
        &self.reads
    }

    /// Approximate size in bytes.
    pub fn size(&self) -> usize {
        let files = self
            .reads
            .iter()
            .map(|read| 64 + read.path.len())
            .sum::<usize>();
        self.text.len() + files + self.words.iter().map(|word| 32 + word.len()).sum::<usize>()
    }
}

impl PartialEq for RenderedLayer {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
            && self.words.len() == other.words.len()
            && self.reads == other.reads
    }
}

impl Eq for RenderedLayer {}

impl Hash for RenderedLayer {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.text, self.words.len()).hash(state);
    }
}

/// Paths of layers.
pub(crate) type LayerSet = BTreeSet<Arc<str>>;

/// Which layers of a formula are rendered for each minion.
#[derive(Debug, Default)]
pub(crate) struct PerMinionLayers {
    /// Incremented with every change. Traces recorded with another version are discarded.
    pub version: usize,
    pub active: Arc<LayerSet>,
    refused: LayerSet,
}

impl PerMinionLayers {
    /// Render a layer for each minion from now on. Returns whether that is a change.
    pub fn activate(&mut self, path: &Arc<str>) -> bool {
        if self.refused.contains(path) || !Arc::make_mut(&mut self.active).insert(path.clone()) {
            return false;
        }
        self.version += 1;
        true
    }

    /// Stop rendering layers for each minion, and never try these layers again.
    pub fn refuse(&mut self) {
        let active = std::mem::take(&mut self.active);
        self.refused.extend(active.iter().cloned());
        self.version += 1;
    }
}
