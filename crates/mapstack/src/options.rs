//! The arguments of `map.data`, `map.stack` and `map.tofs`.
//!
//! In the reference these are Python values: templates and `map_jinja.yaml` files can pass any type. So they are
//! [`Value`]s here, checked where the reference would fail.

use mapstack_diagnostic::nearest;
use mapstack_value::{Map, Value};

use mapstack_diagnostic::{Error, ErrorKind, Result};

/// Arguments by name; `None` is the default of the reference.
macro_rules! options {
    ($(#[$doc:meta])* $name:ident for $function:literal { $($(#[$field_doc:meta])* $field:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: Option<Value>,)*
        }

        impl $name {
            /// The names of all arguments, in the order of the reference.
            pub const NAMES: &[&str] = &[$(stringify!($field)),*];

            /// Read arguments by their names in the reference.
            ///
            /// # Errors
            /// The function has no argument of this name.
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
        /// The source definitions; later ones override earlier ones.
        sources,
        /// The directories with parameter files.
        parameter_dirs,
        /// The merge strategy of `config.get`.
        config_get_strategy,
        /// The merge strategy of layers that set none.
        default_merge_strategy,
        /// True to append the lists of layers that do not set this.
        default_merge_lists,
        /// The post-map template, relative to the formula; `false` to run none.
        post_map,
        /// The engine of the post-map template.
        post_map_template,
        /// Accepted for compatibility with the reference. It only appears in `map_jinja`.
        cache,
        /// The data for matchers of type `U`, and for the variable `custom_data`.
        custom_data,
    }
}

options! {
    /// Arguments of [`Run::stack`](crate::Run::stack) besides the formula and the sources.
    StackOptions for "map.stack" {
        /// The directories with parameter files.
        parameter_dirs,
        /// The initial data, over which the layers are merged.
        default_values,
        /// The merge strategy of layers that set none.
        default_merge_strategy,
        /// True to append the lists of layers that do not set this.
        default_merge_lists,
        /// The merge strategy of `config.get`.
        config_get_strategy,
        /// The data for matchers of type `U`, and for the variable `custom_data`.
        custom_data,
    }
}

options! {
    /// Arguments of [`Run::tofs`](crate::Run::tofs) besides the formula and the files.
    TofsOptions for "map.tofs" {
        /// A key of `tofs:source_files` with further file names.
        lookup,
        /// The matchers if the configuration has none.
        default_matchers,
        /// True to look in each parent of the template's directory.
        use_subpath,
        /// True if paths contain the query of the matcher.
        include_query,
        /// The beginning of all paths.
        path_prefix,
        /// The directory of the files.
        files_dir,
        /// The directory with the files for all minions.
        default_dir,
        /// The formula's configuration, if the caller has computed it.
        config,
        /// The data for matchers of type `U`.
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

/// An argument or its default. An explicit `None` counts as given.
pub(crate) fn or<T: Into<Value>>(given: Option<&Value>, default: T) -> Value {
    given.cloned().unwrap_or_else(|| default.into())
}

/// The values that Python's `for` would iterate over: items, keys or characters.
///
/// # Errors
/// The value is not iterable; the message calls it `what`.
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
