//! `reclass`: nodes and the classes they inherit from (Salt: `salt.pillar.reclass_adapter`).

use std::cell::RefCell;
use std::collections::HashMap;

use crate::classes::Host;
use crate::classes::reclass::Inventory;
use mapstack::{File, Text};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Result};
use mapstack_loader::Fetched;
use mapstack_salt_config::disk::FileTree;
use mapstack_value::posixpath::split;
use mapstack_value::{Map, Value};

use super::arguments::wrong;
use super::asked::ExternalPillarInput;
use crate::files::unreadable;
use crate::recipe::{ExternalParts, OwnPillarResult};

/// The data that the inventory gives the minion.
pub(crate) fn data(asked: &ExternalPillarInput<'_, '_>) -> Result<OwnPillarResult> {
    let options = options(asked)?;
    let base = options.get("inventory_base_uri").map(ToString::to_string);
    let base = base.unwrap_or_else(|| "/etc/reclass".into());
    let reading = ReclassReading {
        asked,
        tree: (asked.tree)(&base),
        texts: RefCell::default(),
    };
    let minion_id = asked.id();
    let inventory = Inventory {
        host: &reading,
        options: &options,
        minion_id: &minion_id,
        pillar: &asked.run.current_pillar(),
        // Origins come only from a reading for this minion.
        memo: (!asked.is_explained).then_some(&asked.cache.inventories),
        is_explained: asked.is_explained,
    };
    let made = inventory.classify();
    let made = made.map_err(|e| e.note(format!("in the inventory {base}")))?;
    let parts = ExternalParts::of_classes(&made.origins, reading.texts.take(), "parameters");
    Ok(OwnPillarResult {
        data: made.into_pillar(&minion_id).into(),
        parts,
    })
}

/// The arguments, with the directory that Salt sets unless they do: the first one of the saltenv `base`.
fn options(asked: &ExternalPillarInput<'_, '_>) -> Result<Map> {
    let wrong = |message: &str| {
        wrong(asked.one, message)
            .help("write it as `- reclass: {inventory_base_uri: /srv/reclass}`")
    };
    let mut options = match &asked.one.arguments {
        Value::Map(given) => given.clone(),
        // No arguments are given by position.
        Value::List(none) if none.is_empty() => Map::new(),
        other => {
            let what = other.kind().described();
            return Err(wrong(&format!(
                "its arguments must be a mapping, not {what}"
            )));
        }
    };
    options.shift_remove("reclass_source_path");
    match options.get("storage_type") {
        None => {}
        Some(Value::Str(kind)) if **kind == *"yaml_fs" => {}
        Some(other) => {
            let message =
                format!("the external pillar 'reclass': the storage '{other}' is not built in");
            return Err(Error::new(ErrorKind::Unsupported, message)
                .at(asked.one.place.clone())
                .help("the storage `yaml_fs` reads files below inventory_base_uri"));
        }
    }
    if !options.contains_key("inventory_base_uri") {
        let roots = asked.option("file_roots");
        let base = roots
            .as_map()
            .and_then(|roots| roots.get("base")?.as_list()?.first());
        if let Some(base) = base {
            options.insert("inventory_base_uri", base.clone());
        }
    }
    match options.get("inventory_base_uri") {
        None | Some(Value::Str(_)) => Ok(options),
        Some(other) => {
            let what = other.kind().described();
            Err(wrong(&format!(
                "`inventory_base_uri` must be a directory, not {what}"
            )))
        }
    }
}

/// The reading of the files of one inventory.
struct ReclassReading<'r, 'e> {
    asked: &'r ExternalPillarInput<'r, 'e>,
    tree: FileTree,
    /// The texts that were read, by path, if the compile is explained.
    texts: RefCell<HashMap<String, (Text<'static>, Value)>>,
}

impl Host<Value> for ReclassReading<'_, '_> {
    fn tree(&self) -> &FileTree {
        &self.tree
    }

    fn read(&self, path: &str) -> Result<Value> {
        let read = self.tree.read(path).map_err(|e| unreadable(&e))?;
        let Fetched::Found { on_disk, bytes } = read else {
            let message = format!("{path} is not a regular file");
            return Err(Error::new(ErrorKind::File, message).help("is a link broken?"));
        };
        let file = File {
            path: split(path).1.into(),
            shown: on_disk.display().to_string(),
            bytes,
        };
        let text = Text::plain(&file, file.text()?);
        let loaded = self
            .asked
            .cache
            .document(text.as_str(), || mapstack_yaml::load(text.as_str()));
        let loaded = loaded.map_err(|e| text.yaml_error(&e))?;
        if self.asked.is_explained {
            self.texts
                .borrow_mut()
                .insert(path.into(), (text.into_owned(), loaded.clone()));
        }
        Ok(loaded)
    }

    fn has_no_tokens(&self, error: &Error) -> bool {
        let cause = std::error::Error::source(error);
        let kind = cause.and_then(|cause| cause.downcast_ref());
        matches!(
            kind,
            Some(mapstack_yaml::ErrorKind::Syntax {
                stage: mapstack_yaml::SyntaxStage::Scanner,
                ..
            })
        )
    }

    fn spend(&self, steps: usize) -> Result<()> {
        self.asked.run.spend(steps)
    }

    fn warn(&self, warning: Diagnostic) {
        self.asked.run.warn(Diagnostic {
            place: warning.place.or_else(|| self.asked.one.place.clone()),
            ..warning
        });
    }
}
