//! The walls around Mako and Python templates, which run in a program of their own.
//!
//! ```no_run
//! // From now on, such templates are refused where a wall is missing.
//! mapstack::sandbox::require_walls();
//! println!("{}", mapstack::sandbox::walls().unwrap().program.display());
//! ```

pub use mapstack_render::sandbox::{Walls, require_walls, walls};
