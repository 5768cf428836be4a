//! Where values come from, for runs of the crate `mapstack`.
//!
//! The crate does not know about command lines, output formats, fleets, or how results are shared.
//!
#![doc = include_str!("../README.md")]
//!
//! | you want | look at |
//! |---|---|
//! | where values come from | [`Explain::explain`], [`Lineage`] |
//! | one value's place and history | [`Lineage::at`], [`Ancestry`], [`Spot`] |
//! | all values | [`Lineage::visit`] |
//! | the layers and why each is one | [`Lineage::layers`], [`Layer`] |
//! | why a file has no part in the data | [`Explain::why_not`], [`WhyNot`] |
//! | which values are secret | [`Lineage::secret_paths`] |

mod explain;
mod layers;
mod source;
mod tracker;
mod tree;
mod why_not;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mapstack_diagnostic::Place;
use mapstack_minion::{FactPlace, FactPlaces, Part};
use mapstack_value::{Key, Str, Value};
use mapstack_yaml::Mark;

pub use explain::Explain;
pub use layers::{Because, Layer, LayerKind, Merged};
pub use mapstack::hooks::Chosen;
pub use source::LayerText;
pub use tree::How;
pub use why_not::{Instead, WhyNot};

use tracker::{Texts, Tracker};
use tree::{At, Claim, Node};

/// Of data that stands for more values than this, with what aliases repeat, whoever explains or checks it does not go
/// through each one: a few lines of aliases make more than anybody reads.
pub const MOST_VALUES: usize = 100_000;

/// Who has the say over the values of one run's data, and who had it before.
#[derive(Debug)]
pub struct Lineage {
    layers: Vec<Layer>,
    texts: Texts,
    data: Value,
    /// What the run noted, until somebody asks for a place.
    notes: Mutex<Option<Tracker>>,
    tree: OnceLock<Node>,
    facts: FactPlaces,
    /// What is secret, and what templates made of that.
    secrets: HashSet<Str>,
}

/// What is known of one value.
#[derive(Debug, Clone)]
pub struct Ancestry {
    /// The value.
    pub value: Value,
    /// The layer it comes from: its place in [`layers`](Lineage::layers). For a mapping that several
    /// layers have parts of, the first of them.
    pub layer: usize,
    /// Where in the layer.
    pub spot: Spot,
    /// Where the key stands, for an entry of a mapping.
    pub key: Option<Spot>,
    /// What was there before, the oldest first.
    pub past: Vec<Ancestor>,
}

/// A value that was there before, or that never came to be.
#[derive(Debug, Clone)]
pub struct Ancestor {
    /// What it was.
    pub value: Value,
    /// Whose.
    pub layer: usize,
    /// Where in that layer.
    pub spot: Spot,
    /// The layer that ended it.
    pub by: usize,
    /// How.
    pub how: How,
}

/// Where something stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Spot {
    /// In a file.
    File {
        /// The file and the bytes.
        place: Place,
        /// Whether a template computed what stands there, so that the place is the expression or
        /// statement that did.
        computed: bool,
        /// Whether what stands there was made of a secret by a template.
        secret: bool,
    },
    /// Under a path of the minion's facts; of several of its parts for `None`.
    Fact {
        /// Which facts.
        part: Option<Part>,
        /// The path to it.
        path: Vec<Key>,
        /// Where it was read, if that is known.
        place: Option<FactPlace>,
    },
    /// In no file: an argument, or a default of the function.
    Argument,
}

impl Spot {
    /// Whether what stands there is secret wherever it is shown: the pillar has it, or a template made it of a
    /// secret.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        matches!(
            self,
            Spot::Fact {
                part: Some(Part::Pillar) | None,
                ..
            } | Spot::File { secret: true, .. }
        )
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spot::File { place, .. } => write!(f, "{place}"),
            Spot::Fact { part, path, place } => {
                f.write_str(part.map_or("config", Part::name))?;
                path.iter().try_for_each(|key| write!(f, ":{key}"))?;
                place
                    .as_ref()
                    .map_or(Ok(()), |place| write!(f, " ({place})"))
            }
            Spot::Argument => f.write_str("argument"),
        }
    }
}

impl Lineage {
    pub(crate) fn new(
        mut tracker: Tracker,
        data: Value,
        facts: FactPlaces,
        secrets: Vec<Str>,
    ) -> Self {
        let (layers, texts) = tracker.take_layers();
        let (notes, secrets) = (Mutex::new(Some(tracker)), secrets.into_iter().collect());
        Lineage {
            layers,
            texts,
            data,
            notes,
            tree: OnceLock::new(),
            facts,
            secrets,
        }
    }

    /// The text of a layer that is a file, as this minion reads it.
    #[must_use]
    pub fn text(&self, layer: usize) -> Option<&Arc<LayerText>> {
        self.texts.get(&layer)
    }

    fn root(&self) -> &Node {
        self.tree.get_or_init(|| {
            let notes = self
                .notes
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            notes.unwrap_or_default().into_tree()
        })
    }

    /// The layers in the order of merging.
    #[must_use]
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// What is known of the value at a path of keys and, for lists, indices.
    #[must_use]
    pub fn at(&self, path: &[Key]) -> Option<Ancestry> {
        let (mut node, mut value, mut key) = (Cow::Borrowed(self.root()), &self.data, None);
        for step in path {
            value = tree::entry(value, step)?.1;
            key = node.key_of(step);
            node = Cow::Owned(node.child(step)?);
        }
        Some(self.ancestry(&node, value, key.as_ref()))
    }

    /// Visit every value from the root down, keys in order: its path, and what is known of it.
    pub fn visit(&self, visit: &mut dyn FnMut(&[Key], &Ancestry)) {
        fn walk(
            lineage: &Lineage,
            path: &mut Vec<Key>,
            node: &Node,
            value: &Value,
            key: Option<&Claim>,
            visit: &mut dyn FnMut(&[Key], &Ancestry),
        ) {
            visit(path, &lineage.ancestry(node, value, key));
            let mut step = |step: Key, inside: &Value| {
                let Some(child) = node.child_here(&step) else {
                    return;
                };
                let key = node.key_of(&step);
                path.push(step);
                walk(lineage, path, &child, inside, key.as_ref(), visit);
                path.pop();
            };
            match value {
                Value::Map(map) => map
                    .iter()
                    .for_each(|(key, inside)| step(key.clone(), inside)),
                Value::List(items) => {
                    items
                        .iter()
                        .enumerate()
                        .for_each(|(index, item)| step(tree::index_key(index), item));
                }
                _ => {}
            }
        }
        walk(self, &mut Vec::new(), self.root(), &self.data, None, visit);
    }

    fn ancestry(&self, node: &Node, value: &Value, key: Option<&Claim>) -> Ancestry {
        let place = |claim: &Claim, value: &Value| self.marked(claim, value);
        let (layer, spot) = node.claim().map_or((0, Spot::Argument), |claim| {
            (claim.layer, place(claim, value))
        });
        let ancestor = |past: &tree::Past| Ancestor {
            value: past.claim.value.clone(),
            layer: past.claim.layer,
            spot: place(&past.claim, &past.claim.value),
            by: past.by,
            how: past.how,
        };
        let past = node.past.iter().map(ancestor).collect();
        Ancestry {
            value: value.clone(),
            layer,
            spot,
            key: key.map(|key| self.spot(&key.at)),
            past,
        }
    }

    /// Where a claim stands. What no place in a text stands for, such as what a statement left in the data, is
    /// secret by what it says.
    fn marked(&self, claim: &Claim, value: &Value) -> Spot {
        let knows = || match value {
            Value::Str(text) => self.secrets.contains(text),
            Value::Int(_) | Value::Float(_) => self.secrets.contains(&Str::from(value.to_string())),
            _ => false,
        };
        match self.spot(&claim.at) {
            Spot::File {
                place,
                computed,
                secret: false,
            } if claim.at.is_near() => Spot::File {
                place,
                computed,
                secret: knows(),
            },
            spot => spot,
        }
    }

    /// The texts that are secret on this minion, those that templates made of others included.
    pub fn secret_texts(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(|text| &**text)
    }

    /// The paths of scalars at or below a path that the pillar gave, or that a template made of a secret. They
    /// go on from the root.
    #[must_use]
    pub fn secret_paths(&self, below: &[Key]) -> HashSet<Vec<Key>> {
        let mut paths = HashSet::new();
        self.visit(&mut |path, known| {
            if path.starts_with(below) && known.spot.is_secret() {
                paths.insert(path.to_vec());
            }
        });
        paths
    }

    fn spot(&self, at: &At) -> Spot {
        match at {
            At::Text(text, marks) => in_text(text, marks.mark()),
            At::Mark(text, mark) => in_text(text, *mark),
            At::Statement(place) => Spot::File {
                place: (**place).clone(),
                computed: true,
                secret: false,
            },
            At::Fact(part, path) => Spot::Fact {
                part: *part,
                path: path.clone(),
                place: self.facts.find(*part, path),
            },
            At::FactKey(part, path) => Spot::Fact {
                part: *part,
                path: path.clone(),
                place: self.facts.find_key(*part, path),
            },
            At::Below(inside) | At::Somewhere(inside) => self.spot(inside),
            At::Nowhere => Spot::Argument,
        }
    }
}

fn in_text(text: &LayerText, mark: Mark) -> Spot {
    let (place, computed) = text.spot(mark);
    Spot::File {
        place,
        computed,
        secret: text.is_secret(mark),
    }
}
