//! The sandbox of Mako and Python templates, which run in a separate program.
//!
//! ```no_run
//! // From now on, refuse such templates if a part of the sandbox is missing.
//! mapstack::sandbox::require_walls();
//! println!("{}", mapstack::sandbox::walls().unwrap().program.display());
//! ```

pub use mapstack_sandbox::{SandboxReport, require_walls, walls};
