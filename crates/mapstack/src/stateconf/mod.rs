//! Salt's renderer `stateconf`: what it does to the data of an sls. Names that begin with a dot are those of the sls,
//! `stateconf.set` passes values to templates, and states can be put in order or behind a goal.
//!
//! A caller renders templates and reads data. It brings a `Arguments` (the arguments of the `#!` line), the data, and the
//! `Memory` of what earlier files have set, which lasts for one compile of a pillar.
//!
//! ```
//! use mapstack_pyobject::{Budget, Limits};
//! use mapstack::stateconf::{Arguments, Memory, Sls, rewritten};
//! use mapstack_yaml::{Limits as YamlLimits, load_rendered};
//!
//! let command = Arguments::parse("yaml . jinja").unwrap();
//! let sls = Sls { name: "web.nginx", saltenv: "base", is_shared: false, is_first_pass: false };
//! let text = ".conf: {file.managed: [{require: [{pkg: .nginx}]}]}";
//! let high = load_rendered(text, &YamlLimits::default()).unwrap().value;
//! let budget = Budget::new(Limits::default(), None);
//! let data = rewritten(&high, &command, &sls, &Memory::default(), &budget).unwrap();
//! let states: Vec<String> = data.as_map().unwrap().keys().map(ToString::to_string).collect();
//! assert_eq!(states, ["web.nginx::conf", "web.nginx::goal"]);
//! ```

mod command;
mod generate;
mod high;
mod memory;
mod names;
mod set;

use mapstack_pyobject::{Budget, Obj};
use mapstack_value::{Key, Value};

pub use self::command::{Arguments, RendererCall, Renderers, end_marker};
pub use self::memory::Memory;
pub use self::names::sls_dir;

/// The state that says what templates can use, and its function.
const STATE: &str = "stateconf";
const FUNCTION: &str = "stateconf.set";

/// An error in data that cannot be rewritten.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The arguments are not those of this renderer.
    #[error("{0}")]
    Usage(String),
    /// The data is not what a state run takes.
    #[error("{message}")]
    Data {
        /// The message.
        message: String,
        /// The path: keys of mappings and indices of lists.
        path: Vec<Key>,
    },
    /// It takes more than there is to spend.
    #[error("{0}")]
    Limit(Box<mapstack_pyobject::Error>),
}

impl From<Box<mapstack_pyobject::Error>> for Error {
    fn from(error: Box<mapstack_pyobject::Error>) -> Self {
        Error::Limit(error)
    }
}

type Result<T, E = Error> = std::result::Result<T, E>;

/// The sls whose data it is.
#[derive(Debug, Clone, Copy)]
pub struct Sls<'s> {
    /// Its name with dots.
    pub name: &'s str,
    /// The saltenv of the file.
    pub saltenv: &'s str,
    /// True if aliases of YAML name one container at several places. What changes in one then changes in all.
    pub is_shared: bool,
    /// True if this is the part before the [end marker](end_marker), which is read only for what it sets.
    pub is_first_pass: bool,
}

/// The data of an sls, rewritten (Salt: `process_high_data`).
///
/// The values of `stateconf.set` go to the memory, even if an error follows.
///
/// # Errors
/// The data is not that of states, or more than the budget is needed.
pub fn rewritten(
    high: &Value,
    command: &Arguments,
    sls: &Sls<'_>,
    memory: &Memory,
    budget: &Budget<'_>,
) -> Result<Value> {
    let data = match sls.is_shared {
        true => Obj::from_shared(high),
        false => Obj::from(high.clone()),
    };
    let data = high::mapping(&data, &[])?;
    let work = high::SlsRewrite { sls, budget };
    names::spell_out(&data);
    work.make_includes_absolute(&data)?;
    if command.is_ordered && !sls.is_first_pass {
        work.put_in_order(&data, memory)?;
    }
    if command.has_start {
        work.add_start(&data)?;
    }
    if command.has_goal && !sls.is_first_pass {
        work.add_goal(&data)?;
    }
    work.rename(&data, false, &[])?;
    work.remember(&data, memory)?;
    Ok(Obj::Dict(data).to_value()?)
}
