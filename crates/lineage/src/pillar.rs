//! The origins of a pillar's values.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mapstack::Text;
use mapstack::hooks::{Moment, StrategyOrigin};
use mapstack::secrets::Policy;
use mapstack::trace::DataStage;
use mapstack_merge::{Options, stack};
use mapstack_minion::{FactPlaces, Minion};
use mapstack_pillar::{
    ExternalFile, PartId, PillarEvent, PillarLayer, PillarRecipe, RecipeStep, SlsReason,
    WholeEvent, WholePillar,
};
use mapstack_value::{Key, Map, Path, Value};
use mapstack_yaml::{Limits, Mark, load_document};

use crate::flow::{SERVED, TracerFindings, over, stacked};
use crate::layers::{Layer, LayerKind, LayerMerge, Reason};
use crate::placed::PlacedFiles;
use crate::source::LayerText;
use crate::tracker::LayerTexts;
use crate::tree::{At, Claim, Node};
use crate::{Lineage, Secrets};

/// The origins of the values of a pillar that [`Master::explain`](mapstack_pillar::Master::explain) compiled for a
/// minion; `None` for any other pillar.
///
/// ```
/// use std::sync::Arc;
/// use mapstack::{Engine, loader::MemoryFiles, minion::Minion, value::Key};
/// use mapstack_lineage::explain_pillar;
/// use mapstack_pillar::{PillarRequest, Master};
/// use mapstack_salt_config::{Config, Kind};
///
/// let config = Config::parse(b"pillar_roots: {base: [/srv/pillar]}", "master", Kind::Master).unwrap();
/// let files = MemoryFiles::new()
///     .file("base", "top.sls", "base: {'web*': [web]}")
///     .file("base", "web.sls", "include: [common]\nport: 443\n")
///     .file("base", "common.sls", "port: 80\n");
/// let engine = Engine::new(MemoryFiles::new());
/// let minion = Minion::new("web1").complete();
/// let pillar = Master::new(config, Arc::new(files)).explain(&engine, &minion, &PillarRequest::default()).unwrap();
/// let lineage = explain_pillar(&pillar, &minion, engine.policy()).unwrap();
/// let port = lineage.at(&[Key::from("port")]).unwrap();
/// assert_eq!(port.spot.to_string(), "web.sls:2:7");
/// assert_eq!(port.past[0].spot.to_string(), "common.sls:1:7");
/// ```
#[must_use]
pub fn explain_pillar(pillar: &WholePillar, minion: &Minion, policy: &Policy) -> Option<Lineage> {
    let recipe = pillar.recipe.as_ref()?;
    let data = Value::Map(pillar.data.clone());
    let mut replay = Replay::new(recipe, &pillar.events);
    let mut node = replay.node();
    let unknown = replay.layers.len();
    replay.layers.push(layer(LayerKind::Unknown));
    node.verify(&data, unknown);
    let traced = TracerFindings {
        layers: replay.layers,
        node,
        printed: Default::default(),
        texts: replay.texts,
    };
    let facts = FactPlaces::new(minion);
    let secrets = Secrets {
        texts: Vec::new(),
        policy: policy.clone(),
    };
    let shown = |path: &str| match recipe.shown.get(path) {
        Some(shown) => shown.clone(),
        None => format!("{SERVED}{path}"),
    };
    Some(Lineage::of_map(traced, data, facts, secrets).with_shown(&shown))
}

/// Repeats the steps of a recipe on origins.
struct Replay<'r> {
    recipe: &'r PillarRecipe,
    /// The targets that mean the minion, by the saltenv and the sls that they give.
    targets: HashMap<(&'r str, &'r str), Vec<Reason>>,
    layers: Vec<Layer>,
    texts: LayerTexts,
    /// The number of each step that is a layer.
    numbers: Vec<Option<usize>>,
}

/// A part with its origins.
#[derive(Clone)]
struct PartWithOrigins {
    value: Value,
    node: Node,
}

impl PartWithOrigins {
    /// The part with some keys of a layer in place of its own. A layer that was made by merging over the part already
    /// has its history.
    fn with_keys(self, layer: &PartWithOrigins, keys: &[Key], is_made_of_it: bool) -> Self {
        let mut node = self.node;
        let mut map = self.value.as_map().cloned().unwrap_or_default();
        for key in keys {
            let Some(value) = layer.value.as_map().and_then(|map| map.get(key)) else {
                continue;
            };
            if let Some(child) = layer.node.child(key) {
                match is_made_of_it {
                    true => node.set(key, child, layer.node.key_of(key)),
                    false => node.put(key, child, layer.node.key_of(key)),
                }
            }
            map.insert(key.clone(), value.clone());
        }
        PartWithOrigins {
            value: map.into(),
            node,
        }
    }
}

impl<'r> Replay<'r> {
    fn new(recipe: &'r PillarRecipe, events: &'r [PillarEvent]) -> Self {
        Replay {
            recipe,
            targets: targets(events),
            layers: Vec::new(),
            texts: LayerTexts::default(),
            numbers: vec![None; recipe.steps.len()],
        }
    }

    /// The origins of the result. Layers have numbers in the order of merging.
    fn node(&mut self) -> Node {
        let uses = self.number();
        let mut parts: Vec<Option<(PartWithOrigins, usize)>> = Vec::with_capacity(uses.len());
        for (id, uses) in uses.iter().enumerate() {
            let made = match uses {
                0 => None,
                uses => self.part(id, &mut parts).map(|part| (part, *uses)),
            };
            parts.push(made);
        }
        take(&mut parts, self.recipe.result)
            .map(|part| part.node)
            .unwrap_or_default()
    }

    /// Number the layers, and count how often each part is used.
    fn number(&mut self) -> Vec<usize> {
        let mut uses = vec![0; self.recipe.steps.len()];
        let mut left = vec![(self.recipe.result, false)];
        let mut options: Vec<Option<&Options>> = vec![None; uses.len()];
        let mut layers = Vec::new();
        while let Some((id, is_done)) = left.pop() {
            let (Some(step), Some(count)) = (self.recipe.steps.get(id), uses.get_mut(id)) else {
                continue;
            };
            if is_done {
                if let RecipeStep::Layer(made) = step {
                    layers.push((id, made));
                }
                continue;
            }
            *count += 1;
            if *count > 1 {
                continue;
            }
            left.push((id, true));
            match step {
                RecipeStep::Layer(_) => {}
                RecipeStep::Below { inside, .. } | RecipeStep::Form { inside, .. } => {
                    options[*inside] = options[id];
                    left.push((*inside, false));
                }
                RecipeStep::Merge {
                    base,
                    layer,
                    options: how,
                    is_option,
                } => {
                    let how = is_option.then_some(how).or(options[id]);
                    options[*layer] = options[*layer].or(how);
                    options[*base] = options[*base].or(how);
                    left.extend([(*layer, false), (*base, false)]);
                }
                RecipeStep::Stack { base, layer } => {
                    // These options merge the stack into the pillar; its files name their own strategies.
                    options[*layer] = options[*layer].or(options[id]);
                    options[*base] = options[*base].or(options[id]);
                    left.extend([(*layer, false), (*base, false)]);
                }
                RecipeStep::Put { base, layer, .. } => {
                    left.extend([(*layer, false), (*base, false)]);
                }
                RecipeStep::Placed { whole, files, .. } => {
                    for part in files.iter().rev().chain([whole]) {
                        options[*part] = options[*part].or(options[id]);
                        left.push((*part, false));
                    }
                }
            }
        }
        // A later use of a layer can have its options, so layers are added at the end.
        for (id, made) in layers {
            self.add(id, made, options[id]);
        }
        uses
    }

    fn add(&mut self, id: PartId, made: &PillarLayer, options: Option<&Options>) {
        let kind = match made {
            PillarLayer::Sls {
                sls,
                saltenv,
                file,
                reached,
                ..
            } => LayerKind::Sls {
                sls: sls.clone(),
                saltenv: saltenv.clone(),
                shown: file.shown.clone(),
                reasons: reached.iter().flat_map(|step| self.reasons(step)).collect(),
            },
            PillarLayer::External {
                name, place, file, ..
            } => LayerKind::External {
                name: name.clone(),
                place: place.clone(),
                class: file.as_ref().and_then(|file| file.name.clone()),
                shown: file.as_ref().map(|file| file.path.clone()),
            },
            PillarLayer::Override(_) => LayerKind::PillarOverride,
            // An empty mapping is not a layer.
            PillarLayer::Unknown(value) if value.as_map().is_some_and(Map::is_empty) => return,
            PillarLayer::Options(_) | PillarLayer::Unknown(_) => LayerKind::Unknown,
        };
        let merged = options.map(|options| LayerMerge::new(options, StrategyOrigin::Option));
        self.numbers[id] = Some(self.layers.len());
        self.layers.push(Layer {
            merged,
            ..layer(kind)
        });
    }

    /// The entries of top files that name an sls, or the sls that includes it.
    fn reasons(&self, step: &SlsReason) -> Vec<Reason> {
        let (env, name) = match step {
            SlsReason::Include(sls) => {
                let (sls, place) = (sls.clone(), None);
                return vec![Reason::Include { sls, place }];
            }
            SlsReason::Top { saltenv, sls } => (saltenv.to_string(), sls),
        };
        let given = self.targets.get(&(env.as_str(), name.as_str()));
        given.cloned().unwrap_or_default()
    }

    /// Make the part of a step from earlier parts.
    fn part(
        &mut self,
        id: PartId,
        parts: &mut [Option<(PartWithOrigins, usize)>],
    ) -> Option<PartWithOrigins> {
        match self.recipe.steps.get(id)? {
            RecipeStep::Layer(made) => Some(self.layer(id, made)),
            RecipeStep::Below { inside, path } => {
                let part = take(parts, *inside)?;
                Some(path.iter().rev().fold(part, below))
            }
            RecipeStep::Form { inside, value } => {
                let PartWithOrigins { node, .. } = take(parts, *inside)?;
                Some(PartWithOrigins {
                    value: value.clone(),
                    node,
                })
            }
            RecipeStep::Merge {
                base,
                layer,
                options,
                ..
            } => {
                let (layer, base) = (take(parts, *layer)?, take(parts, *base)?);
                let (value, node) = over(base.value, base.node, &layer.value, &layer.node, options);
                Some(PartWithOrigins {
                    value: value?,
                    node,
                })
            }
            RecipeStep::Stack { base, layer } => {
                let (layer, base) = (take(parts, *layer)?, take(parts, *base)?);
                let map = layer.value.as_map()?;
                let (value, node) = stacked(base.value, base.node, map, &layer.node);
                Some(PartWithOrigins { value, node })
            }
            RecipeStep::Placed {
                whole,
                files,
                origin,
            } => {
                let PartWithOrigins { value, node } = take(parts, *whole)?;
                let files = files.iter().map(|file| Some(take(parts, *file)?.node));
                let files = PlacedFiles(files.collect());
                let node = files.over(node, origin, &value);
                Some(PartWithOrigins { value, node })
            }
            RecipeStep::Put { base, layer, keys } => {
                let is_made_of_it = self.descends(*layer, *base);
                let (layer, base) = (take(parts, *layer)?, take(parts, *base)?);
                Some(base.with_keys(&layer, keys, is_made_of_it))
            }
        }
    }

    /// True if a part was made by merging over another.
    fn descends(&self, mut part: PartId, from: PartId) -> bool {
        while part != from {
            part = match self.recipe.steps.get(part) {
                Some(
                    RecipeStep::Merge { base, .. }
                    | RecipeStep::Stack { base, .. }
                    | RecipeStep::Put { base, .. }
                    | RecipeStep::Form { inside: base, .. },
                ) => *base,
                _ => return false,
            };
        }
        true
    }

    fn layer(&mut self, id: PartId, made: &PillarLayer) -> PartWithOrigins {
        let number = self.numbers.get(id).copied().flatten().unwrap_or_default();
        if let PillarLayer::External {
            file: Some(file),
            value,
            ..
        } = made
            && let Some((text, node)) = external_file(file, value, number)
        {
            self.texts.insert(number, text);
            return PartWithOrigins {
                value: value.clone(),
                node,
            };
        }
        let (value, at) = match made {
            PillarLayer::Sls {
                file, value, text, ..
            } => {
                let whole = || Text::plain(file, file.text().unwrap_or_default()).place(0);
                let at = text
                    .as_ref()
                    .and_then(|text| LayerText::marked(text, value));
                let at = at.unwrap_or_else(|| At::Statement(Arc::new(whole())));
                if let At::Text(text, _) = &at {
                    self.texts.insert(number, text.clone());
                }
                (value, at)
            }
            PillarLayer::External { value, place, .. } => {
                let at = place.clone().map(|place| At::Statement(Arc::new(place)));
                (value, at.unwrap_or(At::Unknown))
            }
            PillarLayer::Override(value) => (value, At::Nowhere),
            PillarLayer::Options(value) | PillarLayer::Unknown(value) => (value, At::Unknown),
        };
        let claim = Claim {
            layer: number,
            value: value.clone(),
            at,
        };
        let mut own = value.clone();
        if let (Value::Map(map), PillarLayer::Sls { .. }) = (&mut own, made) {
            // `include` is not data, but the marks of the keys after it count it.
            map.shift_remove("include");
        }
        PartWithOrigins {
            value: own,
            node: Node::whole(claim),
        }
    }
}

/// The targets of events that match the minion, by the saltenv and each sls that they give.
fn targets(events: &[PillarEvent]) -> HashMap<(&str, &str), Vec<Reason>> {
    let mut targets: HashMap<_, Vec<Reason>> = HashMap::new();
    for event in events {
        let PillarEvent::Whole(WholeEvent::Target {
            saltenv,
            target,
            matcher,
            place,
            sls,
            is_match: true,
        }) = event
        else {
            continue;
        };
        let names: HashSet<&str> = sls.iter().map(String::as_str).collect();
        for name in names {
            let given = targets.entry((saltenv.as_str(), name)).or_default();
            given.push(Reason::Target {
                target: target.clone(),
                matcher: matcher.clone(),
                saltenv: saltenv.clone(),
                place: place.clone(),
            });
        }
    }
    targets
}

/// The positions of the values of an external pillar's file, in the text that was read.
fn external_file(
    file: &ExternalFile,
    value: &Value,
    layer: usize,
) -> Option<(Arc<LayerText>, Node)> {
    let text = Arc::new(LayerText::new(file.text.clone()?));
    let Some(below) = file.below else {
        let loaded = load_document(text.as_str(), &Limits::default()).ok();
        let loaded = loaded.filter(|loaded| loaded.value.is_same(value));
        let claim = Claim {
            layer,
            value: value.clone(),
            at: match loaded {
                Some(loaded) => At::Text(text.clone(), loaded.marks),
                None => At::Statement(Arc::new(text.spot(Mark::default()).0)),
            },
        };
        return Some((text, without_markers(claim)));
    };
    let loaded = load_document(text.as_str(), &Limits::default()).ok()?;
    let path: Path = [Key::from(below)].into_iter().collect();
    let marks = loaded.marks.at(&loaded.value, &path)?;
    let read = loaded.value.as_map()?.get(below)?;
    let claim = Claim {
        layer,
        value: value.clone(),
        at: match read.is_same(value) {
            true => At::Text(text.clone(), marks.clone()),
            false => At::Mark(text.clone(), marks.mark()),
        },
    };
    Some((text, Node::whole(claim)))
}

/// The origins of the values of a stacked file, without the items at the start of lists that name a strategy.
fn without_markers(claim: Claim) -> Node {
    let child = |step: &Key| claim.child(step).map(without_markers).unwrap_or_default();
    match &claim.value {
        Value::Map(map) => {
            let mut node = Node::whole(claim.clone());
            let marked = map.iter().filter(|(_, value)| has_markers(value));
            for (key, _) in marked {
                node.set(key, child(key), node.key_of(key));
            }
            node
        }
        Value::List(items) if has_markers(&claim.value) => {
            let rest: Value = items.iter().skip(1).cloned().collect();
            let item = |index| claim.child(&Key::of_index(index)).map(Node::whole);
            let nodes = (1..items.len()).map(|index| item(index).unwrap_or_default());
            Node::list(claim.over(&rest), nodes.collect())
        }
        _ => Node::whole(claim),
    }
}

/// True if a list in a value begins with an item that names a strategy. Lists inside of lists are not
/// searched.
fn has_markers(value: &Value) -> bool {
    match value {
        Value::Map(map) => map.values().any(has_markers),
        Value::List(items) => stack::head_marker(items).is_some(),
        _ => false,
    }
}

/// Take a part: a copy, or the part itself for its last use.
fn take(parts: &mut [Option<(PartWithOrigins, usize)>], id: PartId) -> Option<PartWithOrigins> {
    let slot = parts.get_mut(id)?;
    match slot {
        Some((_, 1)) => slot.take().map(|(part, _)| part),
        Some((part, uses)) => {
            *uses -= 1;
            Some(part.clone())
        }
        None => None,
    }
}

/// A part below a key.
fn below(PartWithOrigins { value, node }: PartWithOrigins, key: &Key) -> PartWithOrigins {
    let map: Map = [(key.clone(), value)].into_iter().collect();
    let claim = node.claim().map(|claim| Claim {
        layer: claim.layer,
        value: map.clone().into(),
        at: At::Somewhere(Box::new(claim.at.clone())),
    });
    let mut outer = claim.map(Node::whole).unwrap_or_default();
    outer.set(key, node, None);
    PartWithOrigins {
        value: map.into(),
        node: outer,
    }
}

/// A layer with only its kind.
pub(crate) fn layer(kind: LayerKind) -> Layer {
    let moment = Moment {
        stage: DataStage::Layers,
        definition: None,
    };
    Layer::unmerged(moment, kind)
}
