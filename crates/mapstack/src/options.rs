//! The arguments of `map.data`, `map.stack` and `map.tofs`.
//!
//! They are Python values in the reference, and every one can come from a template or a
//! `map_jinja.yaml` with any type. So they are [`Value`]s here, and are checked where the reference
//! would stumble over them.

use mapstack_diagnostic::nearest;
use mapstack_value::{Map, Value};

use mapstack_diagnostic::{Error, ErrorKind, Result};

/// Arguments by name, `None` where the reference's default applies.
macro_rules! options {
    ($(#[$doc:meta])* $name:ident for $function:literal { $($(#[$field_doc:meta])* $field:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: Option<Value>,)*
        }

        impl $name {
            /// Every argument's name, in the reference's order.
            pub const NAMES: &[&str] = &[$(stringify!($field)),*];

            /// Take arguments by their reference names.
            ///
            /// # Errors
            /// A name the function does not have.
            pub fn from_kwargs(kwargs: &Map) -> Result<Self> {
                let mut options = Self::default();
                for (name, value) in kwargs {
                    match name.as_str() {
                        $(Some(stringify!($field)) => options.$field = Some(value.clone()),)*
                        _ => return Err(unknown_argument($function, &name.to_string(), Self::NAMES)),
                    }
                }
                Ok(options)
            }
        }
    };
}

options! {
    /// Arguments of [`Run::data`](crate::Run::data) besides the formula.
    ///
    /// ```
    /// use mapstack::{DataOptions, value::{Map, Value}};
    /// let kwargs: Map = [("default_merge_lists", true)].into_iter().collect();
    /// let options = DataOptions::from_kwargs(&kwargs).unwrap();
    /// assert_eq!(options.default_merge_lists, Some(Value::from(true)));
    /// ```
    DataOptions for "map.data" {
        /// Data-source definitions, earlier ones weaker.
        sources,
        /// Directories with parameter files.
        parameter_dirs,
        /// Merge strategy of `config.get`.
        config_get_strategy,
        /// Merge strategy of layers that name none.
        default_merge_strategy,
        /// Whether layers that do not say append lists.
        default_merge_lists,
        /// The post-map template, relative to the formula; `false` for none.
        post_map,
        /// The engine of the post-map template.
        post_map_template,
        /// Kept for the reference's sake: it only ends up in `map_jinja`.
        cache,
        /// Data for type `U` and the `custom_data` variable.
        custom_data,
    }
}

options! {
    /// Arguments of [`Run::stack`](crate::Run::stack) besides the formula and the sources.
    StackOptions for "map.stack" {
        /// Directories with parameter files.
        parameter_dirs,
        /// What the layers are merged onto.
        default_values,
        /// Merge strategy of layers that name none.
        default_merge_strategy,
        /// Whether layers that do not say append lists.
        default_merge_lists,
        /// Merge strategy of `config.get`.
        config_get_strategy,
        /// Data for type `U` and the `custom_data` variable.
        custom_data,
    }
}

options! {
    /// Arguments of [`Run::tofs`](crate::Run::tofs) besides the formula and the files.
    TofsOptions for "map.tofs" {
        /// A key of `tofs:source_files` with more file names.
        lookup,
        /// Matchers where the configuration names none.
        default_matchers,
        /// Whether to look below each parent of the template's directory.
        use_subpath,
        /// Whether the query is part of the path.
        include_query,
        /// What the paths start with.
        path_prefix,
        /// The directory of the files.
        files_dir,
        /// The directory for every minion.
        default_dir,
        /// The formula's configuration, if it is at hand.
        config,
        /// Data for type `U`.
        custom_data,
    }
}

fn unknown_argument(function: &str, name: &str, known: &[&str]) -> Error {
    let error = Error::new(
        ErrorKind::Options,
        format!("{function}() has no argument '{name}'"),
    );
    match nearest(name, known) {
        Some(near) => error.help(format!("did you mean '{near}'?")),
        None => error.help(format!("it takes {}", known.join(", "))),
    }
}

/// An argument, `None` counting as given.
pub(crate) fn or<T: Into<Value>>(given: Option<&Value>, default: T) -> Value {
    given.cloned().unwrap_or_else(|| default.into())
}

/// What Python's `for` would go through: items, keys, characters.
///
/// # Errors
/// The value cannot be iterated; `what` names it.
pub(crate) fn iterate(value: &Value, what: &str) -> Result<Vec<Value>> {
    Ok(match value {
        Value::List(items) => items.to_vec(),
        Value::Tuple(items) => items.to_vec(),
        Value::Map(map) => map.keys().map(mapstack_value::Key::to_value).collect(),
        Value::Set(set) => set.iter().map(mapstack_value::Key::to_value).collect(),
        Value::Str(text) => text.chars().map(|c| Value::from(c.to_string())).collect(),
        Value::Bytes(bytes) => bytes.iter().map(|b| Value::from(i64::from(*b))).collect(),
        other => {
            return Err(Error::new(
                ErrorKind::Options,
                format!("{what} is {}, not a list", other.kind().described()),
            ));
        }
    })
}
