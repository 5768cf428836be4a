//! The cost of an inventory, counted.

use std::cell::Cell;

use mapstack_diagnostic::{Diagnostic, Error, Result};
use mapstack_salt_config::disk::FileTree;
use mapstack_value::Value;

use crate::classes::Host;

/// A host that counts what is spent.
pub struct MeteredHost<'h> {
    host: &'h dyn Host<Value>,
    pub spent: Cell<usize>,
    /// True if anything was taken from another minion.
    pub is_shared: Cell<bool>,
}

impl<'h> MeteredHost<'h> {
    pub fn new(host: &'h dyn Host<Value>) -> Self {
        MeteredHost {
            host,
            spent: Cell::new(0),
            is_shared: Cell::new(false),
        }
    }
}

impl Host<Value> for MeteredHost<'_> {
    fn tree(&self) -> &FileTree {
        self.host.tree()
    }

    fn read(&self, path: &str) -> Result<Value> {
        self.host.read(path)
    }

    fn has_no_tokens(&self, error: &Error) -> bool {
        self.host.has_no_tokens(error)
    }

    fn spend(&self, steps: usize) -> Result<()> {
        self.spent.set(self.spent.get() + steps);
        self.host.spend(steps)
    }

    fn warn(&self, warning: Diagnostic) {
        self.host.warn(warning);
    }
}
