//! Finds the mistakes in Salt formulas that no run reports.
//!
//! A parameter file that no minion ever reads, an override that changes nothing, a `no` that
//! becomes a boolean: none of them is an error, and all of them are wrong. A [`Linter`] runs a
//! formula for many minions, by default one of each built-in platform, looks at what the runs read
//! and merged, and returns [`Finding`]s: what, where, why, and what to do.
//!
//! ```
//! use mapstack::{Engine, loader::MemoryFiles};
//! use mapstack_lint::{Linter, Rule};
//!
//! let files = MemoryFiles::new()
//!     .file("base", "ssh/parameters/defaults.yaml", "values:\n  mode: 0644\n")
//!     .file("base", "ssh/parameters/os_family/Redhat.yaml", "values:\n  service: sshd\n");
//! let engine = Engine::new(files);
//! let report = Linter::new(&engine).lint("ssh").unwrap();
//! let found: Vec<_> = report.findings.iter().map(|finding| finding.to_string()).collect();
//! assert_eq!(found, [
//!     "ssh/parameters/defaults.yaml:2:9: warning: 0644 is read as the number 644 [yaml-octal]",
//!     "ssh/parameters/os_family/Redhat.yaml: warning: no minion reads this file: os_family is never 'Redhat' \
//!      [unreachable-file]",
//! ]);
//! assert_eq!(Rule::YamlOctal.name(), "yaml-octal");
//! ```
//!
//! | you want | look at |
//! |---|---|
//! | to check a formula | [`Linter`] |
//! | what a rule is about | [`Rule`] |
//! | to silence a finding in a file | [`suppress`] |
//! | to change files | [`fix`] |
//!
//! The crate does not know about command lines, output formats or terminals.

mod document;
mod finding;
pub mod fix;
mod linter;
mod mask;
mod names;
mod origins;
mod rule;
mod rules;
mod states;
mod subject;
pub mod suppress;
mod templates;
mod work;

pub use finding::{Edit, Finding, Level};
pub use linter::{Linter, Report, SchemaFrom};
pub use rule::Rule;
pub use rules::Unanswered;
pub use subject::Looked;
