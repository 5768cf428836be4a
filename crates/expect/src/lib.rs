//! Recorded expectations of formulas: found, read, compared with what comes out, and recorded.
//!
//! A formula keeps a file for each platform or minion with the configuration it should get, in one of
//! two [forms](Form). An [`Expectation`] is such a file, a [`Subject`] the formula.
//!
//! ```
//! use mapstack::{DataOptions, Engine, loader::MemoryFiles, minion::Minion};
//! use mapstack_expect::{Form, Recorded, Subject};
//!
//! let defaults = "values: {port: 22}\n";
//! let engine = Engine::new(MemoryFiles::new().file("base", "ssh/parameters/defaults.yaml", defaults));
//! let subject = Subject::new(&engine, "ssh", "base", DataOptions::default()).unwrap();
//! assert_eq!(subject.configuration().way(), mapstack::Way::Data);
//!
//! let minion = Minion::new("web1").complete();
//! let actual = subject.actual(Form::Plain, &minion).result.unwrap();
//! let recorded = Recorded::text(Form::Plain, "", &actual);
//! assert!(subject.compare(&Recorded::parse(Form::Plain, &recorded, "web1.yaml").unwrap(), &actual, &[], &minion).is_empty());
//!
//! let stale = recorded.replace("22", "2222");
//! let stale = Recorded::parse(Form::Plain, &stale, "web1.yaml").unwrap();
//! let [difference] = &subject.compare(&stale, &actual, &[], &minion)[..] else { panic!("one difference") };
//! assert_eq!(difference.expected_at.as_ref().unwrap().to_string(), "web1.yaml:1:7");
//! assert_eq!(difference.actual_at.as_ref().unwrap().to_string(), "ssh/parameters/defaults.yaml:1:16");
//! ```
//!
//! | you want | look at |
//! |---|---|
//! | the files with expectations of formulas | [`Places::find`] |
//! | what a file says | [`Recorded`] |
//! | the pillar and grains that a formula's tests have | [`Kitchen`] |
//! | what comes out, and how it differs | [`Subject`] |
//! | what comes of many of them | [`Runs`] |
//! | what came of each | [`Case`], [`Counts`] |
//!
//! The crate does not know about command lines, output formats or terminals.

mod case;
mod edit;
mod files;
mod find;
mod kitchen;
mod recorded;
mod repository;
mod runs;
mod state;
mod subject;
mod top;
mod writing;

pub use case::{Case, Counts, Outcome};
pub use find::{Expectation, Places};
pub use kitchen::{Kitchen, Suite};
pub use recorded::{Form, Header, Recorded};
pub use repository::{Repository, resolved};
pub use runs::{EngineOf, Given, Plan, Runs};
pub use state::with_state;
pub use subject::{Actual, Difference, Subject};
pub use writing::{NoFile, missing};
