//! A node names classes, classes name further classes, and what all of them say is merged in order. Two programs for Salt
//! work that way, and each has a module here: `saltclass` (Salt: `salt.utils.saltclass`) and `reclass` (the Python package
//! of that name in the version of its users, kapicorp-reclass 2.0). They share where files lie and the places that set each value;
//! their merges and references have nothing in common.
//!
//! A `Host` reads the files, so they can come from a disk, a git revision or memory, and runs their templates.
//!
//! ```rust
//! use std::cell::RefCell;
//!
//! use mapstack_diagnostic::Result;
//! use mapstack_salt_config::disk::FileTree;
//! use mapstack_loader::Fetched;
//! use mapstack_pyobject::{DictRef, Obj};
//! use mapstack_value::Key;
//! use mapstack_pillar::classes::Host;
//! use mapstack_pillar::classes::saltclass::{Inventory, Setters};
//!
//! /// Reads files without templates.
//! struct Files(FileTree);
//!
//! impl Host<Obj> for Files {
//!     fn tree(&self) -> &FileTree {
//!         &self.0
//!     }
//!
//!     fn read(&self, path: &str) -> Result<Obj> {
//!         let Ok(Fetched::Found { bytes, .. }) = self.0.read(path) else {
//!             return Ok(Obj::None);
//!         };
//!         let text = String::from_utf8_lossy(&bytes);
//!         Ok(Obj::from_shared(&mapstack_yaml::load(&text).unwrap()))
//!     }
//! }
//!
//! let directory = tempfile::tempdir().unwrap();
//! let write = |path: &str, text: &str| {
//!     let path = directory.path().join(path);
//!     std::fs::create_dir_all(path.parent().unwrap()).unwrap();
//!     std::fs::write(path, text).unwrap();
//! };
//! write("nodes/web1.yml", "classes: [web]");
//! write("classes/web.yml", "pillars: {role: web}");
//! let setters = RefCell::<Setters>::default();
//! let inventory = Inventory {
//!     host: &Files(FileTree::new().directory(directory.path())),
//!     path: directory.path().to_str().unwrap(),
//!     minion_id: "web1",
//!     pillar: &DictRef::frozen(Default::default()),
//!     keeps_nested: true,
//!     setters: Some(&setters),
//! };
//! let made = inventory.classify().unwrap();
//! assert_eq!(made.classes, ["web"]);
//! assert_eq!(made.pillar.get("role").unwrap().as_str(), Some("web"));
//! let (place, _) = &made.origins.root.inside[&Key::from("role")].turns[0];
//! assert_eq!(made.origins.files[place.file].name, "web");
//! ```

mod files;
mod host;
mod origins;
pub mod reclass;
pub mod saltclass;

pub use host::Host;
pub use origins::{ClassFile, FilePlace, Origins, PlaceEffect, SetPlaces};
