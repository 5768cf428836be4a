//! Finds the mistakes in Salt pillars that no compile reports.
//!
//! An sls that no minion gets, a target that matches no minion, a mapping that a scalar replaces, a password in plain text: a
//! master compiles all of them silently. A `PillarLinter` compiles the pillars of many minions, looks at what was
//! matched, read and merged, and returns a `LintReport` with findings, as the linter of formulas does.
//!
//! ```rust
//! use std::sync::Arc;
//! use mapstack::{Engine, loader::MemoryFiles, minion::Minion};
//! use mapstack_lint::pillar::{Minions, PillarLinter};
//! use mapstack_pillar::Master;
//! use mapstack_salt_config::{Config, Kind};
//!
//! let config = Config::parse(b"pillar_roots: {base: [/srv/pillar]}", "master", Kind::Master).unwrap();
//! let files = MemoryFiles::new()
//!     .file("base", "top.sls", "base:\n  'web*': [web]\n  'wbe1': [web]\n")
//!     .file("base", "web.sls", "db:\n  password: hunter2\n")
//!     .file("base", "old.sls", "left: over\n");
//! let master = Master::new(config, Arc::new(files));
//! let engine = Engine::new(MemoryFiles::new());
//! let minions = Minions::Known(vec![Minion::new("web1").complete()]);
//! let (report, _) = PillarLinter::new(&master, &engine).lint(&minions).unwrap();
//! let found: Vec<_> = report.findings.iter().map(|finding| finding.to_string()).collect();
//! assert_eq!(found, [
//!     "old.sls: warning: no minion gets the sls 'old' [unused-sls]",
//!     "top.sls:3:3: warning: the target 'wbe1' of 'base' matches no minion [unmatched-target]",
//!     "web.sls:2:13: warning: the secret 'db:password' is in plain text [plain-secret]",
//! ]);
//! ```

mod examined;
mod files;
mod keys;
mod linter;
mod naming;
mod rules;
mod seen;

pub(crate) use files::{is_part, names};
pub use keys::PillarKeys;
pub use linter::{Minions, PillarLinter};
