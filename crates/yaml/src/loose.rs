//! Steps of a path, read as loosely as Salt reads an argument.

use mapstack_value::{Path, Traverse, Value};

use crate::resolve::{Tag, implicit};
use crate::scalar;

/// The value of a step that is read as YAML; `None` if that leaves the step as it is.
///
/// Salt tries this reading where a mapping has no key with the step's own text
/// (`salt.utils.args.yamlify_arg`).
///
/// ```
/// use mapstack_value::Value;
/// use mapstack_yaml::loose_scalar;
/// assert_eq!(loose_scalar("0x10"), Some(Value::from(16)));
/// assert_eq!(loose_scalar("None"), Some(Value::None));
/// assert_eq!(loose_scalar("web"), None);
/// assert_eq!(loose_scalar("1_000"), None);
/// ```
#[must_use]
pub fn loose_scalar(step: &str) -> Option<Value> {
    if step == "None" {
        return Some(Value::None);
    }
    let value = if is_one_plain_scalar(step) {
        // A text that is one scalar in any context needs no parser. Most steps are names, and end here.
        match implicit(step) {
            Tag::Str => return None,
            _ if step.is_empty() || has_grouped_digits(step) => return None,
            tag => scalar::construct(&tag, step)?.ok()?,
        }
    } else {
        let bare = step.trim();
        let is_kept = matches!(bare, "" | "---" | "...") || has_grouped_digits(bare);
        if is_kept || step.contains(['\t', '\r', '\n']) {
            return None;
        }
        crate::load(step).ok()?
    };
    let taken = match &value {
        _ if step.contains('#') => !matches!(value, Value::Str(_) | Value::None),
        Value::Map(_) => step.starts_with('{'),
        Value::List(_) => step.starts_with('['),
        Value::None => step != "!",
        Value::Str(text) => &**text != step && !(text.is_empty() && matches!(step, "|" | "!")),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => true,
        Value::Bytes(_) | Value::Tuple(_) | Value::Set(_) => false,
    };
    taken.then_some(value)
}

/// True if a text is a number with underscores between its digits, which Salt leaves as it is.
fn has_grouped_digits(bare: &str) -> bool {
    bare.contains('_') && bare.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}

fn is_one_plain_scalar(step: &str) -> bool {
    step != "-"
        && step
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_.+-/~".contains(&b))
}

/// [`mapstack_value::traverse`] with [`loose_scalar`] as the loose reading: Salt's
/// `traverse_dict_and_list`.
///
/// ```
/// use mapstack_value::{Path, Value};
/// let data = mapstack_yaml::load("ports: {80: http}").unwrap();
/// let path = Path::split("ports:80", ":").unwrap();
/// assert_eq!(mapstack_yaml::traverse(&data, &path), Some(Value::from("http")));
/// ```
#[must_use]
pub fn traverse<T: Traverse>(data: &T, path: &Path) -> Option<T> {
    mapstack_value::traverse(data, path, &loose_scalar)
}
