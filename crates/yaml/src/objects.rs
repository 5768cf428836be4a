//! Documents as the objects that a program in Python gets from PyYAML.

use crate::object::Objects;
use crate::{Error, Limits, compose, construct};

/// Read the documents of a text as PyYAML's `SafeLoader` does, or as Salt's loader if `salt`; unless there may be `many`,
/// a second one is an error.
///
/// ```
/// use mapstack_yaml::{Limits, Object, load_objects};
/// let documents = load_objects("a: &x [2001-02-03]\nb: *x\n", &Limits::default(), false, false).unwrap();
/// let Object::Map(entries) = &documents[0][0] else { panic!() };
/// assert_eq!(entries[0].1, entries[1].1, "one list");
/// assert!(documents[0].contains(&Object::Date("2001-02-03".into())));
/// ```
///
/// # Errors
/// The reference raises as well, or the text is beyond the [`Limits`] or has recursive anchors.
pub fn load_objects(
    text: &str,
    limits: &Limits,
    salt: bool,
    many: bool,
) -> Result<Vec<Objects>, Error> {
    let graphs = match many {
        true => compose::compose_all(text, limits)?,
        false => vec![compose::compose(text, limits)?],
    };
    let objects = |graph| construct::objects(graph, salt);
    graphs.into_iter().map(objects).collect()
}
