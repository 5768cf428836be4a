//! The inventory, for the code that reads it.

use std::cell::RefCell;

use mapstack_pyobject::{DictRef, Obj};

use super::setters::Setters;
use crate::classes::Host;

/// A directory of nodes and classes, and the minion in question.
#[derive(Clone, Copy)]
pub struct Inventory<'i> {
    /// Reads the files. Places that share one object in Python share it in the data, too.
    pub host: &'i dyn Host<Obj>,
    /// The directory with `nodes` and `classes`.
    pub path: &'i str,
    /// The id of the minion.
    pub minion_id: &'i str,
    /// The pillar that templates see. The pillars of classes are merged into it on the way.
    pub pillar: &'i DictRef,
    /// True if classes that classes of classes name are kept, and each state once, as since Salt 3007.
    pub keeps_nested: bool,
    /// The record of the places that set values; `None` in a plain compile.
    pub setters: Option<&'i RefCell<Setters>>,
}
