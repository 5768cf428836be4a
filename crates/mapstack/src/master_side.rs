//! Templates that a master renders: top files and pillar sls. The fold over them is in another crate.
//!
//! A master has two sets of options. Functions see those of its configuration, with its own id; templates see a copy
//! that is made for the minion. So the run is for a minion with the master's options and id, and the grains of the
//! minion in question. Templates load others from the pillar's roots, while functions such as
//! `cp.get_file_str` read from the file server.

use std::sync::Arc;

use mapstack_loader::FileServer;
use mapstack_value::{Map, Value};

/// The variables that templates of a master see otherwise than those of a minion.
#[derive(Clone)]
pub struct MasterSide {
    /// The id of the minion in question. Functions see that of the run's minion, which is the master's own.
    pub minion_id: Value,
    /// The options of templates. Functions see those of the run's minion.
    pub opts: Map,
    /// Serves the files of the pillar: its templates load others from there, and functions can ask for them.
    pub pillar_files: Arc<dyn FileServer>,
    /// The grains and the pillar of templates, if functions have others: then neither sees what the other changes.
    pub facts: Option<[Map; 2]>,
    /// The options of templates have this pillar of templates: what changes one changes the other.
    pub opts_have_pillar: bool,
    /// The data that targets by pillar look into if it is not the pillar.
    pub pillar_of_targets: Option<Value>,
    /// The same for functions that templates call, such as `match.pillar`, if it is not what others look into.
    pub pillar_of_functions: Option<Value>,
}
