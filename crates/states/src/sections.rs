//! Sections of top files that Salt ignores (Salt: `_merge_tops_merge` and `_merge_tops_same`).

use std::path::PathBuf;
use std::sync::Arc;

use indexmap::IndexMap;
use mapstack::loader::{Fetched, SaltPath};
use mapstack_diagnostic::{Diagnostic, ErrorKind, KeyedText};
use mapstack_value::{Key, Map, Value};

use crate::options::Strategy;
use crate::top::TopReader;

/// The top files of a saltenv.
pub(crate) type Tops = IndexMap<String, Vec<Map>>;

/// A top file as it lies on the disk.
type TopOnDisk = (PathBuf, Arc<[u8]>);

impl TopReader<'_, '_> {
    /// The warnings of sections that the strategy for merging top files leaves out, as they are of another saltenv.
    pub(crate) fn ignored_sections(&self, tops: &Tops) -> Vec<Diagnostic> {
        let options = self.options;
        if options.saltenv.is_some() || options.state_top_saltenv.is_some() {
            // A request for the top file of one saltenv ignores the others.
            return Vec::new();
        }
        let mut warnings = Vec::new();
        let of_base = self.top_file("base");
        for (own, sections) in tops {
            let names = sections.iter().flat_map(Map::keys);
            let ignored = names.filter_map(|name| Some((name, self.ignores(tops, own, name)?)));
            let ignored: Vec<_> = ignored.collect();
            if ignored.is_empty() {
                continue;
            }
            let file = self.top_file(own);
            // Roots that several saltenvs share have one top file with the entries of all of them.
            let bytes = |file: &Option<TopOnDisk>| file.as_ref().map(|(_, bytes)| bytes.clone());
            if own != "base" && bytes(&file) == bytes(&of_base) {
                continue;
            }
            let text = file.map(|(on_disk, bytes)| {
                KeyedText::new(
                    on_disk.display().to_string(),
                    String::from_utf8_lossy(&bytes),
                )
            });
            for (name, why) in ignored {
                let message =
                    format!("the section '{name}' of the top file of '{own}' is ignored: {why}");
                let warning = Diagnostic::warning(ErrorKind::Lookup, message);
                let help = format!(
                    "name its targets in the top file of '{name}', or set top_file_merging_strategy"
                );
                warnings.push(Diagnostic {
                    place: text.as_ref().map(|text| text.place(&[&name.to_string()])),
                    ..warning.with_help(help)
                });
            }
        }
        warnings
    }

    /// The reason for which a section of the top file of a saltenv is ignored, if it is.
    fn ignores(&self, tops: &Tops, own: &str, name: &Key) -> Option<&'static str> {
        let of_base = tops.get("base");
        let has_section = |top: &Map| top.get(name).is_some_and(Value::truthy);
        let is_own = name.as_str() == Some(own);
        match self.options.strategy {
            Strategy::MergeAll => None,
            Strategy::Merge if own == "base" => None,
            Strategy::Merge if !is_own => {
                Some("only the top file of 'base' has targets of other saltenvs")
            }
            Strategy::Merge => of_base
                .is_some_and(|tops| tops.iter().any(has_section))
                .then_some("that of 'base' has one, which counts"),
            Strategy::Same if is_own => None,
            Strategy::Same => {
                let is_default = self.options.default_top.as_deref() == Some(own);
                let lacks_top = |tops: &Vec<Map>| tops.iter().all(Map::is_empty);
                let named = name.as_str().and_then(|name| tops.get(name));
                let is_used = is_default && named.is_some_and(lacks_top);
                (!is_used).then_some("top_file_merging_strategy is 'same'")
            }
        }
    }

    fn top_file(&self, saltenv: &str) -> Option<TopOnDisk> {
        let path = SaltPath::from_relative(&self.options.state_top);
        match self.engine.fetch(&path, saltenv) {
            Ok(Fetched::Found { on_disk, bytes }) => Some((on_disk, bytes)),
            _ => None,
        }
    }
}
