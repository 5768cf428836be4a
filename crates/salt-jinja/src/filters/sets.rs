//! Salt's set algebra on lists.

use foldhash::fast::RandomState;
use indexmap::IndexSet;
use mapstack_pyobject::{
    CallArgs, Error, ErrorKind, Obj, Result, SetRef, binary, contains, equal, hash_key, is_hashable,
};
use mapstack_value::Key;

use mapstack_jinja::Filters;
use mapstack_jinja::Vm;
use mapstack_jinja::ast::BinaryOp;
use mapstack_jinja::call::plain;

pub(super) const TABLE: Filters = &[
    ("difference", |vm, x, args| {
        algebra(vm, &x, args, Operation::Difference)
    }),
    ("intersect", |vm, x, args| {
        algebra(vm, &x, args, Operation::Intersection)
    }),
    ("symmetric_difference", |vm, x, args| {
        algebra(vm, &x, args, Operation::SymmetricDifference)
    }),
    ("union", |vm, x, args| {
        algebra(vm, &x, args, Operation::Union)
    }),
    ("unique", |vm, x, args| {
        plain("unique", "values").alone(args)?;
        unique(vm, &x)
    }),
];

#[derive(Clone, Copy)]
enum Operation {
    Union,
    Intersection,
    Difference,
    SymmetricDifference,
}

type Elements = IndexSet<Key, RandomState>;

/// `set(x)`.
fn elements(vm: &Vm<'_>, x: &Obj) -> Result<Elements> {
    x.collect(vm)?.iter().map(hash_key).collect()
}

fn set(elements: Elements) -> Obj {
    Obj::Set(SetRef::new(elements))
}

/// The distinct items: a set if the input is hashable, else a list in the order of the input.
fn unique(vm: &Vm<'_>, x: &Obj) -> Result<Obj> {
    if is_hashable(x) {
        return elements(vm, x).map(set);
    }
    distinct(vm, x.collect(vm)?).map(Obj::list)
}

fn distinct(vm: &Vm<'_>, items: Vec<Obj>) -> Result<Vec<Obj>> {
    let mut keys = Elements::default();
    let mut others: Vec<Obj> = Vec::new();
    let mut kept = Vec::new();
    for item in items {
        vm.burn(1)?;
        match hash_key(&item) {
            Ok(key) => {
                if keys.insert(key) {
                    kept.push(item);
                }
            }
            Err(e) if matches!(e.kind, ErrorKind::Python(_)) => {
                vm.burn(others.len())?;
                let mut seen = false;
                for other in &others {
                    seen = seen || other.is_same(&item) || equal(other, &item)?;
                }
                if !seen {
                    others.push(item.clone());
                    kept.push(item);
                }
            }
            Err(e) => return Err(e),
        }
    }
    Ok(kept)
}

fn algebra(vm: &Vm<'_>, x: &Obj, args: CallArgs, operation: Operation) -> Result<Obj> {
    let name = match operation {
        Operation::Union => "union",
        Operation::Intersection => "intersect",
        Operation::Difference => "difference",
        Operation::SymmetricDifference => "symmetric_difference",
    };
    let [other] = plain(name, "lst1").bind(args, 1, ["lst2"])?;
    let other = other.unwrap_or_default();
    if is_hashable(x) && is_hashable(&other) {
        let (a, b) = (elements(vm, x)?, elements(vm, &other)?);
        return Ok(set(match operation {
            Operation::Union => a.union(&b).cloned().collect(),
            Operation::Intersection => a.intersection(&b).cloned().collect(),
            Operation::Difference => a.difference(&b).cloned().collect(),
            Operation::SymmetricDifference => a.symmetric_difference(&b).cloned().collect(),
        }));
    }
    match operation {
        Operation::Union => union(vm, x, &other),
        Operation::Intersection => filtered(vm, x, |item| contains(vm, &other, item)),
        Operation::Difference => filtered(vm, x, |item| Ok(!contains(vm, &other, item)?)),
        Operation::SymmetricDifference => {
            let all = union(vm, x, &other)?;
            let common = filtered(vm, x, |item| contains(vm, &other, item))?;
            filtered(vm, &all, |item| Ok(!contains(vm, &common, item)?))
        }
    }
}

fn union(vm: &Vm<'_>, a: &Obj, b: &Obj) -> Result<Obj> {
    match binary(vm, BinaryOp::Add, a, b)? {
        joined @ (Obj::List(_) | Obj::Tuple(_)) => unique(vm, &joined),
        other => Err(Error::type_error(format!(
            "'{}' object is not iterable",
            other.type_name()
        ))),
    }
}

fn filtered(vm: &Vm<'_>, x: &Obj, keep: impl Fn(&Obj) -> Result<bool>) -> Result<Obj> {
    let mut kept = Vec::new();
    for item in x.collect(vm)? {
        vm.burn(1)?;
        if keep(&item)? {
            kept.push(item);
        }
    }
    distinct(vm, kept).map(Obj::list)
}
