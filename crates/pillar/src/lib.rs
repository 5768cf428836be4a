//! External pillars that stack files: PillarStack (`stack`) and MakoStack (`makostack`).
//!
//! A config file, itself a template, lists data files. Each is rendered with what was merged before
//! it, read as YAML, and merged the way it asks for. A master's `ext_pillar` option names config
//! files, or lets pillar, grains or options select them.
//!
//! ```
//! use mapstack_pillar::{Compiler, ExtPillars, StackKind};
//! use mapstack::{Engine, loader::MemoryFiles, minion::Minion};
//!
//! let dir = tempfile::tempdir().unwrap();
//! let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
//! write("stack.cfg", "core.yml\n{{ __grains__.os }}.yml\n");
//! write("core.yml", "packages: [vim]\n");
//! write("Debian.yml", "packages: [apt-listchanges]\nfirst: {{ stack.packages|first }}\n");
//!
//! let engine = Engine::new(MemoryFiles::new());
//! let minion = Minion::parse(b"id: web1\ngrains: {os: Debian}\n", "web1.yaml").unwrap().complete();
//! let config = dir.path().join("stack.cfg").display().to_string();
//! let pillars = ExtPillars::new().with_stack(StackKind::PillarStack, [config]);
//! let compiler = Compiler::new(pillars);
//! let run = compiler.run(&engine, &minion);
//! let compiled = run.compile().unwrap();
//! assert_eq!(compiled.external.get("packages").unwrap().repr(), "['vim', 'apt-listchanges']");
//! assert_eq!(compiled.external.get("first").unwrap().as_str(), Some("vim"));
//! ```
//!
//! The crate does not know about formulas, their layers and strategies, command lines or output.

mod cache;
mod compile;
mod config;
mod files;
mod items;
mod mako;
mod select;
mod stack;
mod template;
mod trace;

pub use compile::{Compiled, Compiler, PillarRun};
pub use config::{ExtPillars, StackKind};
pub use trace::{FileOutcome, PillarEvent};
