//! Following a run: layers as they come, and the tree beside the data.

use std::collections::BTreeMap;
use std::sync::Arc;

use mapstack_merge::{Options, merge};
use mapstack_value::{Key, Map, Value};

use super::tree::Merging;
use super::{At, Claim, Layer, LayerText, Node};
use mapstack_diagnostic::Place;

/// The texts of layers that have one.
pub(crate) type Texts = BTreeMap<usize, Arc<LayerText>>;

/// What is known so far of a run's data.
///
/// A run only notes what it does. The tree is made of the notes when somebody asks for a place, by
/// doing the merges again and watching them.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    layers: Vec<Layer>,
    texts: Texts,
    steps: Vec<Step>,
    tree: Tree,
}

/// Something that was done to the data.
#[derive(Debug)]
enum Step {
    /// A fold began with a claim's value.
    Begin(Claim),
    /// A layer was merged over what there was.
    Merge(Claim, Options),
    /// The data is this from here on; nobody had a say in that.
    Now(Value),
    /// A template changed the data, statement by statement.
    Edits {
        layer: usize,
        before: Value,
        now: Value,
        statements: Vec<(Place, Value)>,
        whole: Place,
    },
    /// The fold is over, and another will begin; the function itself may have changed its data.
    PutAside(Option<(Value, Claim)>),
    /// What was put aside stands under a key.
    PutUnder(Key),
}

/// The tree, as far as the notes have been gone through.
#[derive(Debug)]
struct Tree {
    root: Node,
    data: Value,
    aside: Option<Node>,
}

impl Default for Tree {
    fn default() -> Self {
        Tree {
            root: nothing(),
            data: Value::map(),
            aside: None,
        }
    }
}

/// Nobody has said anything.
fn nothing() -> Node {
    Node::whole(Claim {
        layer: 0,
        value: Value::map(),
        at: At::Nowhere,
    })
}

impl Tree {
    fn apply(&mut self, step: Step) {
        match step {
            Step::Begin(claim) => {
                self.data = claim.value.clone();
                self.root = Node::whole(claim);
            }
            Step::Merge(overlay, options) => {
                let (base, root) = (std::mem::take(&mut self.data), &mut self.root);
                // It has been done before, so it can be done.
                self.data = merge(
                    base,
                    &overlay.value,
                    &options,
                    &mut Merging {
                        root,
                        overlay: &overlay,
                    },
                )
                .unwrap_or_default();
            }
            Step::Now(data) => self.data = data,
            Step::Edits {
                layer,
                before,
                now,
                statements,
                whole,
            } => {
                let (mut last, mut at) = (before, Arc::new(whole));
                for (statement, after) in statements {
                    at = Arc::new(statement);
                    self.root.edit(
                        &last,
                        &Claim {
                            layer,
                            value: after.clone(),
                            at: At::Statement(at.clone()),
                        },
                    );
                    last = after;
                }
                self.root.edit(
                    &last,
                    &Claim {
                        layer,
                        value: now.clone(),
                        at: At::Statement(at),
                    },
                );
                self.data = now;
            }
            Step::PutAside(adjusted) => {
                let mut node = std::mem::replace(&mut self.root, nothing());
                if let Some((before, by)) = adjusted {
                    node.edit(&before, &by);
                }
                self.aside = Some(node);
            }
            Step::PutUnder(key) => {
                if let Some(node) = self.aside.take() {
                    self.root.set_entry(&key, node);
                }
            }
        }
    }
}

impl Tracker {
    /// With room for what a formula usually has.
    pub fn new() -> Self {
        Tracker {
            layers: Vec::with_capacity(16),
            steps: Vec::with_capacity(16),
            ..Tracker::default()
        }
    }

    fn add(&mut self, layer: Layer) -> usize {
        self.layers.push(layer);
        self.layers.len() - 1
    }

    /// A fold begins with this.
    pub fn begin(&mut self, layer: impl FnOnce() -> Layer, first: &Value) {
        let is_empty = first.as_map().is_some_and(Map::is_empty);
        let layer = if is_empty { 0 } else { self.add(layer()) };
        self.steps.push(Step::Begin(Claim {
            layer,
            value: first.clone(),
            at: At::Nowhere,
        }));
    }

    /// A layer was merged over what there was.
    pub fn merged(&mut self, layer: Layer, at: At, overlay: &Value, options: &Options) {
        let layer = self.add(layer);
        if let At::Text(text, _) = &at {
            self.texts.insert(layer, text.clone());
        }
        let claim = Claim {
            layer,
            value: overlay.clone(),
            at,
        };
        self.steps.push(Step::Merge(claim, options.clone()));
    }

    /// Something was taken out of the data, which is this now.
    pub fn reduced(&mut self, now: &Value) {
        self.steps.push(Step::Now(now.clone()));
    }

    /// The fold ended. The function itself changed its data after that.
    pub fn put_aside(&mut self, layer: Layer, before: &Value, now: &Value) {
        let adjusted = (!before.is_same(now)).then(|| {
            (
                before.clone(),
                Claim {
                    layer: self.add(layer),
                    value: now.clone(),
                    at: At::Nowhere,
                },
            )
        });
        self.steps.push(Step::PutAside(adjusted));
    }

    /// Put what is known of the fold that ended under a key.
    pub fn put_under(&mut self, key: &str) {
        self.steps.push(Step::PutUnder(Key::from(key)));
    }

    /// A template changed the data in place, statement by statement, until it was `now`. `whole` is
    /// the template, for what no statement is known to have done.
    pub fn edited(
        &mut self,
        layer: Layer,
        (before, now): (&Value, &Value),
        edits: Vec<(Place, Value)>,
        whole: Place,
    ) {
        if edits.is_empty() && before.is_same(now) {
            return;
        }
        let (layer, before, now) = (self.add(layer), before.clone(), now.clone());
        self.steps.push(Step::Edits {
            layer,
            before,
            now,
            statements: edits,
            whole,
        });
    }

    /// The layers there are and their texts, which the tree can do without.
    pub fn take_layers(&mut self) -> (Vec<Layer>, Texts) {
        (
            std::mem::take(&mut self.layers),
            std::mem::take(&mut self.texts),
        )
    }

    /// What is known of the data.
    pub fn into_tree(mut self) -> Node {
        self.go_through();
        self.tree.root
    }

    fn go_through(&mut self) {
        let steps = std::mem::take(&mut self.steps);
        steps.into_iter().for_each(|step| self.tree.apply(step));
    }

    /// Where data that the stack itself has stands.
    pub fn whereabouts(&mut self, path: &[Key]) -> At {
        self.go_through();
        let node = path
            .iter()
            .try_fold(self.tree.root.clone(), |node, step| node.child(step));
        node.and_then(|node| node.claim().map(|claim| claim.at.clone()))
            .unwrap_or(At::Nowhere)
    }
}
