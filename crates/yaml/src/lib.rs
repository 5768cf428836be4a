//! Salt's YAML dialect: load it with positions, dump it as PyYAML does.
//!
//! The crate does not know about files, templates or merge strategies.
//!
#![doc = include_str!("../README.md")]

mod compose;
mod construct;
mod decode;
mod dump;
mod error;
pub mod events;
mod explain;
mod loose;
mod mark;
mod object;
mod objects;
mod resolve;
mod scalar;
mod skeleton;
mod source;
mod timestamp;
mod touched;
mod yamlex;

use mapstack_value::{MapKind, Value};

pub use decode::{decode, decode_all};
pub use dump::{DumpOptions, double_quoted, dump};
pub use error::{Error, ErrorKind, SyntaxStage};
pub use explain::joined_key;
pub use loose::{loose_scalar, traverse};
pub use mark::{Lines, Mark, Marks};
pub use object::{Object, Objects};
pub use objects::load_objects;
pub use skeleton::Skeleton;
pub use touched::TouchedScalars;
pub use yamlex::load_aggregating;

/// The limits for a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Levels of collections, aliases followed. Values are dropped and printed by recursion, so
    /// a higher limit needs a larger stack.
    pub max_depth: usize,
    /// Values in the text, aliases counted at the size of their anchors.
    pub max_nodes: usize,
}

impl Default for Limits {
    /// 128 levels and two million values.
    fn default() -> Self {
        Limits {
            max_depth: 128,
            max_nodes: 2_000_000,
        }
    }
}

/// A loaded text.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// The value; `None` for an empty text.
    pub value: Value,
    /// The places of everything in it.
    pub marks: Marks,
    /// True if an alias names a list, mapping or set, so that one storage is in two places.
    pub shared: bool,
}

/// Read a text with one document.
///
/// # Errors
/// [`Error`], where Salt raises one too, and for texts beyond the default [`Limits`] or with
/// recursive anchors.
pub fn load(text: &str) -> Result<Value, Error> {
    load_with(text, &Limits::default())
}

/// [`load`] within other limits.
///
/// # Errors
/// As [`load`].
pub fn load_with(text: &str, limits: &Limits) -> Result<Value, Error> {
    let (value, ()) = construct::construct(compose::compose(text, limits)?)?;
    Ok(value)
}

/// [`load_with`], and the places of all values.
///
/// # Errors
/// As [`load`].
pub fn load_marked(text: &str, limits: &Limits) -> Result<(Value, Marks), Error> {
    construct::construct(compose::compose(text, limits)?)
}

/// [`load_marked`] for a text with any number of documents, as `yaml.safe_load_all` reads it; the
/// limit on values is for all of them together.
///
/// ```
/// use mapstack_yaml::{Limits, load_all};
/// let documents = load_all("a: 1\n---\nb: 2\n", &Limits::default()).unwrap();
/// let values: Vec<String> = documents.iter().map(|(value, _)| value.repr()).collect();
/// assert_eq!(values, ["{'a': 1}", "{'b': 2}"]);
/// assert_eq!(documents[1].1.mark().line, 3);
/// ```
///
/// # Errors
/// As [`load`], but not for further documents.
pub fn load_all(text: &str, limits: &Limits) -> Result<Vec<(Value, Marks)>, Error> {
    compose::compose_all(text, limits)?
        .into_iter()
        .map(construct::construct)
        .collect()
}

/// [`load_marked`], and whether aliases made it share storage.
///
/// ```
/// use mapstack_yaml::{Limits, load_document};
/// assert!(load_document("a: &x {k: 1}\nb: *x\n", &Limits::default()).unwrap().shared);
/// assert!(!load_document("a: &x 1\nb: *x\n", &Limits::default()).unwrap().shared);
/// ```
///
/// # Errors
/// As [`load`].
pub fn load_document(text: &str, limits: &Limits) -> Result<Loaded, Error> {
    load_document_as(text, limits, MapKind::Dict)
}

/// Read a text with one document as PyYAML does without Salt's changes: `0644` is octal, and the last of duplicate keys
/// counts.
///
/// ```
/// use mapstack_yaml::{Limits, load_plain};
/// let loaded = load_plain("a: 0644\nb: 1\na: 010\n", &Limits::default()).unwrap();
/// assert_eq!(loaded.value.repr(), "{'a': 8, 'b': 1}");
/// ```
///
/// # Errors
/// As [`load`], and for dates and times, which data does not have.
pub fn load_plain(text: &str, limits: &Limits) -> Result<Loaded, Error> {
    let graph = compose::compose(text, limits)?;
    let shared = graph.shared;
    let (value, marks) = construct::construct_plain(graph)?;
    Ok(Loaded {
        value,
        marks,
        shared,
    })
}

/// [`load_document`] as Salt's YAML renderer reads it (`salt.renderers.yaml`): every mapping is an `OrderedDict`, and
/// so is `!!omap`, which has to be a mapping there.
///
/// ```
/// use mapstack_value::MapKind;
/// use mapstack_yaml::{Limits, load_rendered};
/// let loaded = load_rendered("m: {zeta: 1, alpha: 2}", &Limits::default()).unwrap();
/// assert_eq!(loaded.value.as_map().unwrap().kind(), MapKind::Ordered);
/// assert!(load_rendered("!!omap [a: 1]", &Limits::default()).is_err());
/// ```
///
/// # Errors
/// As [`load`].
pub fn load_rendered(text: &str, limits: &Limits) -> Result<Loaded, Error> {
    load_document_as(text, limits, MapKind::Ordered)
}

fn load_document_as(text: &str, limits: &Limits, maps: MapKind) -> Result<Loaded, Error> {
    let graph = compose::compose(text, limits)?;
    let shared = graph.shared;
    let (value, marks) = construct::construct_as(graph, maps)?;
    Ok(Loaded {
        value,
        marks,
        shared,
    })
}
