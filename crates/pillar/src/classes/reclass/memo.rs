//! The exports of all nodes, kept for other minions of the same inventory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mapstack_value::{Map, Value};

use super::answers::Exports;
use super::interpolate::Queries;
use super::storage::InventoryFiles;
use super::value::Node;

/// The answers to inventory queries of earlier minions: every query merges all nodes of an environment, which is the
/// same for each minion that asks.
///
/// It is taken only if the inventory has the same files with the same data, which are read again, so that whatever
/// follows reads sees them. Where a node fails or causes a warning, nothing is kept.
///
/// ```
/// let memo = mapstack_pillar::classes::reclass::Memo::with_memory(1 << 20);
/// assert!(memo.is_empty());
/// ```
#[derive(Debug)]
pub struct Memo {
    kept: Mutex<Vec<Arc<KeptResults>>>,
    max_bytes: usize,
}

/// The reading of a file.
#[derive(Debug, Clone)]
pub(super) struct FileReading {
    pub path: String,
    pub data: Value,
    /// The cost.
    pub steps: usize,
}

/// The question of inventory queries, and its inventory.
#[derive(Clone, Copy)]
pub(super) struct InventoryQuestion<'a> {
    pub options: &'a Map,
    pub environment: &'a Value,
    pub queries: &'a Queries,
    /// The files of nodes and of classes.
    pub files: [&'a InventoryFiles; 2],
}

/// The kept results of one inventory and one set of queries.
#[derive(Debug)]
struct KeptResults {
    options: Map,
    environment: Value,
    queries: Queries,
    files: [InventoryFiles; 2],
    /// The files read, in order.
    read: Vec<FileReading>,
    /// The steps besides reading.
    steps: usize,
    exports: Exports,
    /// Approximately.
    bytes: usize,
}

/// The size of a value, approximately.
const BYTES_OF_VALUE: usize = 100;

impl Memo {
    /// Nothing is kept yet. What is kept takes approximately this many bytes at most.
    #[must_use]
    pub fn with_memory(bytes: usize) -> Self {
        Memo {
            kept: Mutex::default(),
            max_bytes: bytes,
        }
    }

    /// True if nothing is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kept().is_empty()
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Arc<KeptResults>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answers to the queries for an earlier minion, and their cost. `read_again` reads a file, and has what that
    /// costs; `None` if it has other data.
    pub(super) fn find(
        &self,
        asked: InventoryQuestion<'_>,
        read_again: &dyn Fn(&FileReading) -> Option<usize>,
    ) -> Option<(Exports, usize)> {
        let kept = self.kept().clone();
        let has_files = |kept: &KeptResults| kept.files.each_ref() == asked.files;
        let mut same = kept.iter();
        let kept = same.find(|kept| kept.is_about(asked) && has_files(kept))?;
        let mut steps = kept.steps;
        for reading in &kept.read {
            steps += read_again(reading)?;
        }
        Some((kept.exports.clone(), steps))
    }

    /// Keep what queries came to, with what was read for it and what it cost besides.
    pub(super) fn keep(
        &self,
        asked: InventoryQuestion<'_>,
        read: &[FileReading],
        exports: &Exports,
        steps: usize,
    ) {
        let of_files: usize = read.iter().map(|reading| reading.steps).sum();
        let of_exports: usize = exports.iter().map(|(_, node)| Node::size(node)).sum();
        let names: usize = asked.files.iter().map(|files| files.len()).sum();
        let bytes = BYTES_OF_VALUE * (of_files + of_exports + names);
        if bytes > self.max_bytes {
            return;
        }
        let kept = Arc::new(KeptResults {
            options: asked.options.clone(),
            environment: asked.environment.clone(),
            queries: asked.queries.clone(),
            files: asked.files.map(InventoryFiles::clone),
            read: read.to_vec(),
            steps,
            exports: exports.clone(),
            bytes,
        });
        let mut all = self.kept();
        all.retain(|earlier| !earlier.is_about(asked));
        all.push(kept);
        // The oldest go first.
        while all.iter().map(|kept| kept.bytes).sum::<usize>() > self.max_bytes {
            all.remove(0);
        }
    }
}

impl KeptResults {
    /// True if it answers the same questions, whatever the files say.
    fn is_about(&self, asked: InventoryQuestion<'_>) -> bool {
        let options = Value::from(asked.options.clone());
        self.queries == *asked.queries
            && self.environment.is_same(asked.environment)
            && Value::from(self.options.clone()).is_same(&options)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use mapstack_diagnostic::Result;
    use mapstack_salt_config::disk::FileTree;

    use super::super::Inventory;
    use super::super::meter::MeteredHost;
    use super::*;
    use crate::classes::Host;

    /// Files on the disk.
    struct Disk(FileTree);

    impl Host<Value> for Disk {
        fn tree(&self) -> &FileTree {
            &self.0
        }

        fn read(&self, path: &str) -> Result<Value> {
            let text = std::fs::read_to_string(path).unwrap();
            Ok(mapstack_yaml::load(&text).unwrap())
        }
    }

    /// Nodes that ask all nodes for an export.
    fn inventory() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("nodes")).unwrap();
        std::fs::create_dir_all(root.path().join("classes")).unwrap();
        for (node, port) in [("a", 1), ("b", 2)] {
            put(root.path(), node, port);
        }
        root
    }

    fn put(root: &Path, node: &str, port: u32) {
        let text =
            format!("parameters: {{peers: '$[ exports:port ]'}}\nexports: {{port: {port}}}\n");
        std::fs::write(root.join(format!("nodes/{node}.yml")), text).unwrap();
    }

    /// The answer of a node's query, with a star if it was known from an earlier node.
    fn peers(root: &Path, node: &str, environment: &str, memo: &Memo) -> String {
        let host = Disk(FileTree::new().directory(root));
        let meter = MeteredHost::new(&host);
        let (base, options) = (root.to_str().unwrap(), "inventory_base_uri");
        let options: Map = [(options, base), ("default_environment", environment)]
            .into_iter()
            .collect();
        let inventory = Inventory {
            host: &meter,
            options: &options,
            minion_id: node,
            pillar: &Map::new(),
            memo: Some(memo),
            is_explained: false,
        };
        let made = inventory.classified(&meter).unwrap();
        let star = if meter.is_shared.get() { " *" } else { "" };
        format!("{}{star}", made.parameters.get("peers").unwrap())
    }

    #[test]
    fn what_a_query_came_to_is_taken_while_its_files_are_the_same() {
        let (root, memo) = (inventory(), Memo::with_memory(1 << 20));
        let root = root.path();
        assert_eq!(peers(root, "a", "base", &memo), "{'a': 1, 'b': 2}");
        assert_eq!(peers(root, "b", "base", &memo), "{'a': 1, 'b': 2} *");
        // Another environment is another question.
        assert_eq!(peers(root, "a", "dev", &memo), "{'a': 1, 'b': 2}");
        put(root, "b", 3);
        assert_eq!(peers(root, "a", "base", &memo), "{'a': 1, 'b': 3}");
        assert_eq!(peers(root, "b", "base", &memo), "{'a': 1, 'b': 3} *");
        put(root, "c", 4);
        assert_eq!(peers(root, "a", "base", &memo), "{'a': 1, 'b': 3, 'c': 4}");
        assert_eq!(
            peers(root, "c", "base", &memo),
            "{'a': 1, 'b': 3, 'c': 4} *"
        );
    }

    #[test]
    fn nothing_is_kept_beyond_the_memory() {
        let (root, memo) = (inventory(), Memo::with_memory(100));
        for node in ["a", "b"] {
            assert_eq!(peers(root.path(), node, "base", &memo), "{'a': 1, 'b': 2}");
        }
        assert!(memo.is_empty());
    }
}
