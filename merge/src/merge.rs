//! `slsutil.merge`: one value over another.

use mapstack_value::{Key, List, Map, MapKind, Value};

use crate::append::append;
use crate::error::{Exception, MergeError, MergeErrorCause};
use crate::options::Rule;
use crate::{Change, KeyPath, Observer, Options, Trail, python};

/// Merge an overlay over a base.
///
/// The result shares with both sides whatever the merge does not change. The
/// [crate documentation](crate) has the table of strategies and the laws.
///
/// ```
/// use mapstack_merge::{Options, merge};
/// use mapstack_value::{Map, Value};
///
/// let base = Value::from(Map::from_iter([("conf", Map::from_iter([("port", 80)]))]));
/// let overlay = Value::from(Map::from_iter([("conf", Map::from_iter([("tls", true)]))]));
/// let merged = merge(base, &overlay, &Options::default()).unwrap();
/// assert_eq!(merged.repr(), "{'conf': {'port': 80, 'tls': True}}");
/// ```
///
/// # Errors
/// [`MergeError`] when a root is not a mapping. Strategy `aggregate` takes any two values.
pub fn merge(base: Value, overlay: &Value, options: &Options) -> Result<Value, MergeError> {
    merge_observed(base, overlay, options, &mut ())
}

/// Merge an overlay over a base, and report each change to an observer.
///
/// # Errors
/// As [`merge`].
pub fn merge_observed<O: Observer>(
    base: Value,
    overlay: &Value,
    options: &Options,
    observer: &mut O,
) -> Result<Value, MergeError> {
    match (options.rule(), base, overlay) {
        (Rule::Pair, Value::Map(base), Value::Map(overlay)) => {
            Ok(pair(base, overlay, observer).into())
        }
        (Rule::Pair, Value::Map(base), overlay) => {
            pair_with_other(&base, overlay, options, observer)
        }
        (Rule::Aggregate, Value::Map(base), Value::Map(overlay)) => Ok(united(
            base.with_kind(MapKind::Aggregate),
            overlay,
            Rule::Aggregate,
            observer,
        )
        .into()),
        (Rule::Aggregate, base, overlay) => Ok(aggregate_other(base, overlay, observer)),
        (rule, Value::Map(base), Value::Map(overlay)) => {
            Ok(united(base, overlay, rule, observer).into())
        }
        (rule, base, overlay) => Err(refusal(rule, &base, overlay, options)),
    }
}

/// Merge overlays one over the other, beginning with an empty mapping (`slsutil.merge_all`).
///
/// # Errors
/// As [`merge`], for the first overlay that does not merge.
pub fn merge_all<'a>(
    overlays: impl IntoIterator<Item = &'a Value>,
    options: &Options,
) -> Result<Value, MergeError> {
    overlays
        .into_iter()
        .try_fold(Value::map(), |base, overlay| merge(base, overlay, options))
}

fn united<O: Observer>(mut base: Map, overlay: &Map, rule: Rule, observer: &mut O) -> Map {
    unite(&mut base, overlay, rule, &Trail::ROOT, observer);
    base
}

/// Every key of both; the base's keep their places and the overlay's new ones follow in its order.
fn unite<O: Observer>(base: &mut Map, overlay: &Map, rule: Rule, at: &Trail<'_>, observer: &mut O) {
    if !O::ACTIVE && base.ptr_eq(overlay) {
        return;
    }
    if !O::ACTIVE && base.is_empty() {
        *base = overlay.clone().with_kind(base.kind());
        return;
    }
    for (key, new) in overlay {
        let at = at.then(key);
        let shared = base.index_of(key);
        match shared.and_then(|index| base.value_at_mut(index)) {
            Some(old) => combine(old, new, rule, &at, observer),
            None => {
                observer.changed(&at, Change::Added { new });
                base.insert(key.clone(), new.clone());
            }
        }
    }
}

/// Two values under one key.
fn combine<O: Observer>(
    old: &mut Value,
    new: &Value,
    rule: Rule,
    at: &Trail<'_>,
    observer: &mut O,
) {
    match (rule, &mut *old, new) {
        (Rule::Deep { .. }, Value::Map(old), Value::Map(new)) => {
            unite(old, new, rule, at, observer);
        }
        (Rule::Deep { append: true }, Value::List(old), Value::List(new)) => {
            append(old, new, at, observer);
        }
        (Rule::Aggregate, Value::List(old), Value::List(new)) if both_join(old, new) => {
            append(old, new, at, observer);
        }
        (Rule::Aggregate, Value::Map(old), Value::Map(new)) if both_aggregate(old, new) => {
            unite(old, new, rule, at, observer);
        }
        (Rule::Aggregate, Value::Map(map), Value::Map(_)) => {
            let new = with_aggregates_merged(map, new);
            replace(old, &new, at, observer);
        }
        (Rule::Pair, ..) => {
            observer.changed(at, Change::Paired { old, new });
            *old = Value::from_iter([old.clone(), new.clone()]);
        }
        (Rule::Deep { .. } | Rule::Shallow | Rule::Aggregate, ..) => {
            replace(old, new, at, observer);
        }
    }
}

fn replace<O: Observer>(old: &mut Value, new: &Value, at: &Trail<'_>, observer: &mut O) {
    observer.changed(at, Change::Replaced { old, new });
    *old = new.clone();
}

fn both_aggregate(old: &Map, new: &Map) -> bool {
    old.kind() == MapKind::Aggregate && new.kind() == MapKind::Aggregate
}

fn both_join(old: &List, new: &List) -> bool {
    old.is_aggregate() && new.is_aggregate()
}

/// The overlay's mapping with those of its entries united with the base's that are aggregates on
/// both sides, at any depth. Plain data has none, and is returned as it is.
fn with_aggregates_merged(base: &Map, overlay: &Value) -> Value {
    let Value::Map(overlay) = overlay else {
        return overlay.clone();
    };
    let mut result = overlay.clone();
    for (key, new) in overlay {
        if let (Some(Value::List(old)), Value::List(new)) = (base.get(key), new)
            && both_join(old, new)
        {
            let mut joined = old.clone();
            append(&mut joined, new, &Trail::ROOT, &mut ());
            result.insert(key.clone(), joined);
        }
        let (Some(Value::Map(old)), Value::Map(new_map)) = (base.get(key), new) else {
            continue;
        };
        let merged = if both_aggregate(old, new_map) {
            united(old.clone(), new_map, Rule::Aggregate, &mut ())
        } else {
            let Value::Map(merged) = with_aggregates_merged(old, new) else {
                continue;
            };
            merged
        };
        if !merged.ptr_eq(new_map) {
            result.insert(key.clone(), merged);
        }
    }
    result.into()
}

/// Roots of which at least one is not a mapping: a mapping takes or leaves the place whole, anything
/// else joins as a list.
fn aggregate_other<O: Observer>(base: Value, overlay: &Value, observer: &mut O) -> Value {
    match (base, overlay) {
        (Value::Map(base), overlay) => {
            let new = Value::List(as_list(overlay));
            observer.changed(
                &Trail::ROOT,
                Change::Replaced {
                    old: &base.into(),
                    new: &new,
                },
            );
            new
        }
        (base, Value::Map(overlay)) => {
            let new = Value::Map(overlay.clone().with_kind(MapKind::Aggregate));
            observer.changed(
                &Trail::ROOT,
                Change::Replaced {
                    old: &base,
                    new: &new,
                },
            );
            new
        }
        (base, overlay) => {
            let mut joined = as_list(&base);
            append(&mut joined, &as_list(overlay), &Trail::ROOT, observer);
            joined.into()
        }
    }
}

/// A root as a list: the items of what has items, else the value alone.
fn as_list(value: &Value) -> List {
    match value {
        Value::List(items) => items.clone(),
        Value::Tuple(items) => items.iter().cloned().collect(),
        Value::Set(set) => set.iter().map(Key::to_value).collect(),
        other => vec![other.clone()].into(),
    }
}

/// The base's keys, each shared one with the pair of both values.
fn pair<O: Observer>(base: Map, overlay: &Map, observer: &mut O) -> Map {
    let mut result = base.with_kind(MapKind::Dict);
    for (key, new) in overlay {
        let at = Trail::ROOT.then(key);
        let shared = result.index_of(key);
        match shared.and_then(|index| result.value_at_mut(index)) {
            Some(old) => combine(old, new, Rule::Pair, &at, observer),
            None => observer.changed(&at, Change::Dropped { new }),
        }
    }
    result
}

/// Strategy `list` with an overlay that is not a mapping: it goes as far as Python's `in` and
/// subscription do, which for most keys is nowhere.
fn pair_with_other<O: Observer>(
    base: &Map,
    overlay: &Value,
    options: &Options,
    observer: &mut O,
) -> Result<Value, MergeError> {
    let look_up = |item: &Value| match python::contains(overlay, item)? {
        true => python::subscript(overlay, item).map(Some),
        false => Ok(None),
    };
    let mut result = base.clone().with_kind(MapKind::Dict);
    for (index, (key, old)) in base.iter().enumerate() {
        let found = look_up(&key.to_value()).map_err(|class| MergeError {
            path: KeyPath(vec![key.clone()]),
            ..MergeError::new(
                old,
                overlay,
                &options.strategy,
                MergeErrorCause::NoSuchLookUp,
                class,
            )
        })?;
        if let (Some(new), Some(slot)) = (found, result.value_at_mut(index)) {
            combine(slot, &new, Rule::Pair, &Trail::ROOT.then(key), observer);
        }
    }
    Ok(result.into())
}

fn refusal(rule: Rule, base: &Value, overlay: &Value, options: &Options) -> MergeError {
    let cause = if base.as_map().is_none() {
        MergeErrorCause::BaseNotMapping
    } else {
        MergeErrorCause::OverlayIsNoMapping
    };
    let class = match rule {
        Rule::Pair => Exception::Attribute,
        Rule::Shallow => python::overwrite_failure(base, overlay),
        Rule::Deep { .. } | Rule::Aggregate => Exception::Type,
    };
    MergeError::new(base, overlay, &options.strategy, cause, class)
}
