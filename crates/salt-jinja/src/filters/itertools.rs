//! Python's `itertools`, and `zip`.

use mapstack_pyobject::{CallArgs, Error, Iter, Obj, Result};

use super::strict::guarded;
use mapstack_jinja::Filters;
use mapstack_jinja::Vm;
use mapstack_jinja::call::{flag, index_of, lazy, room};

pub(super) const TABLE: Filters = &[
    ("combinations", |vm, x, args| {
        guarded(vm, x, args, combinations)
    }),
    ("combinations_with_replacement", |vm, x, args| {
        guarded(vm, x, args, combinations_with_replacement)
    }),
    ("compress", |vm, x, args| guarded(vm, x, args, compress)),
    ("permutations", |vm, x, args| {
        guarded(vm, x, args, permutations)
    }),
    ("product", |vm, x, args| guarded(vm, x, args, product)),
    ("zip", |vm, x, args| guarded(vm, x, args, zip)),
    ("zip_longest", |vm, x, args| {
        guarded(vm, x, args, zip_longest)
    }),
];

/// Arguments of a C function whose first parameter is the input.
fn bind_second(function: &str, args: CallArgs, name: &str, required: bool) -> Result<Option<Obj>> {
    let given = args.positional.len() + args.named.len();
    if given > 1 {
        return Err(Error::type_error(format!(
            "{function}() takes at most 2 arguments ({} given)",
            given + 1
        )));
    }
    if let Some((other, _)) = args.named.iter().find(|(n, _)| **n != *name) {
        return Err(Error::type_error(match &**other {
            "iterable" | "data" => {
                format!("argument for {function}() given by name ('{other}') and position (1)")
            }
            _ if required => format!("{function}() missing required argument '{name}' (pos 2)"),
            other => format!("'{other}' is an invalid keyword argument for {function}()"),
        }));
    }
    let second = args
        .positional
        .into_iter()
        .chain(args.named.into_iter().map(|(_, value)| value))
        .next();
    if second.is_none() && required {
        return Err(Error::type_error(format!(
            "{function}() missing required argument '{name}' (pos 2)"
        )));
    }
    Ok(second)
}

/// The length of a selection.
fn selection_size(vm: &Vm<'_>, r: &Obj) -> Result<usize> {
    let Ok(r) = usize::try_from(index_of(r)?) else {
        return Err(Error::value_error("r must be non-negative"));
    };
    room(vm, r.saturating_mul(16))?;
    Ok(r)
}

fn pick(pool: &[Obj], indices: &[usize]) -> Obj {
    Obj::tuple(indices.iter().map(|&i| pool[i].clone()).collect::<Vec<_>>())
}

fn combinations(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let r = bind_second("combinations", args, "r", true)?.unwrap_or_default();
    let pool = x.collect(vm)?;
    let r = selection_size(vm, &r)?;
    let n = pool.len();
    let mut next: Option<Vec<usize>> = (r <= n).then(|| (0..r).collect());
    lazy("itertools.combinations", &Obj::None, move |vm| {
        let Some(indices) = next.take() else {
            return Ok(None);
        };
        vm.burn(16 + r)?;
        let picked = pick(&pool, &indices);
        if let Some(i) = (0..r).rev().find(|&i| indices[i] != i + n - r) {
            let mut following = indices;
            following[i] += 1;
            for j in i + 1..r {
                following[j] = following[j - 1] + 1;
            }
            next = Some(following);
        }
        Ok(Some(picked))
    })
}

fn combinations_with_replacement(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let r = bind_second("combinations_with_replacement", args, "r", true)?.unwrap_or_default();
    let pool = x.collect(vm)?;
    let r = selection_size(vm, &r)?;
    let n = pool.len();
    let mut next: Option<Vec<usize>> = (n > 0 || r == 0).then(|| vec![0; r]);
    lazy(
        "itertools.combinations_with_replacement",
        &Obj::None,
        move |vm| {
            let Some(indices) = next.take() else {
                return Ok(None);
            };
            vm.burn(16 + r)?;
            let picked = pick(&pool, &indices);
            if let Some(i) = (0..r).rev().find(|&i| indices[i] + 1 != n) {
                let mut following = indices;
                let value = following[i] + 1;
                following[i..].fill(value);
                next = Some(following);
            }
            Ok(Some(picked))
        },
    )
}

fn permutations(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let r = bind_second("permutations", args, "r", false)?;
    let pool = x.collect(vm)?;
    let n = pool.len();
    let r = match r {
        None | Some(Obj::None) => n,
        Some(r @ (Obj::Int(_) | Obj::Bool(_))) => selection_size(vm, &r)?,
        Some(_) => return Err(Error::type_error("Expected int as r")),
    };
    room(vm, n.saturating_mul(16))?;
    let mut indices: Vec<usize> = (0..n).collect();
    let mut cycles: Vec<usize> = (0..r.min(n)).map(|i| n - i).collect();
    let mut more = r <= n;
    lazy("itertools.permutations", &Obj::None, move |vm| {
        if !more {
            return Ok(None);
        }
        vm.burn(16 + r)?;
        let picked = pick(&pool, &indices[..r]);
        more = false;
        for i in (0..r).rev() {
            cycles[i] -= 1;
            if cycles[i] == 0 {
                indices[i..].rotate_left(1);
                cycles[i] = n - i;
                vm.burn(n - i)?;
            } else {
                indices.swap(i, n - cycles[i]);
                more = true;
                break;
            }
        }
        Ok(Some(picked))
    })
}

fn product(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let mut repeat = 1;
    for (name, value) in &args.named {
        match &**name {
            "repeat" => repeat = index_of(value)?,
            other => {
                return Err(Error::type_error(format!(
                    "'{other}' is an invalid keyword argument for product()"
                )));
            }
        }
    }
    let Ok(repeat) = usize::try_from(repeat) else {
        return Err(Error::value_error("repeat argument cannot be negative"));
    };
    let mut pools: Vec<Vec<Obj>> = Vec::new();
    for pool in std::iter::once(&x).chain(&args.positional) {
        pools.push(pool.collect(vm)?);
    }
    let places = pools.len().saturating_mul(repeat);
    room(vm, places.saturating_mul(16))?;
    let width = pools.len();
    let pool_at = move |place: usize| place % width;
    let empty = repeat > 0 && pools.iter().any(Vec::is_empty);
    let mut next: Option<Vec<usize>> = (!empty).then(|| vec![0; places]);
    lazy("itertools.product", &Obj::None, move |vm| {
        let Some(mut indices) = next.take() else {
            return Ok(None);
        };
        vm.burn(16 + places)?;
        let picked: Vec<Obj> = indices
            .iter()
            .enumerate()
            .map(|(at, &i)| pools[pool_at(at)][i].clone())
            .collect();
        for place in (0..places).rev() {
            indices[place] += 1;
            if indices[place] < pools[pool_at(place)].len() {
                next = Some(indices);
                break;
            }
            indices[place] = 0;
        }
        Ok(Some(Obj::tuple(picked)))
    })
}

/// The iterators of the input and the arguments.
fn iterators(
    x: &Obj,
    more: &[Obj],
    not_iterable: impl Fn(usize, &Obj) -> Option<String>,
) -> Result<Vec<Iter>> {
    std::iter::once(x)
        .chain(more)
        .enumerate()
        .map(|(i, object)| {
            object
                .iter()
                .map_err(|e| match (e.kind, not_iterable(i + 1, object)) {
                    (mapstack_pyobject::ErrorKind::Python("TypeError"), Some(message)) => {
                        Error::type_error(message)
                    }
                    _ => e,
                })
        })
        .collect()
}

/// The first of the objects that is itself an iterator.
fn deepest(x: &Obj, more: &[Obj]) -> Obj {
    std::iter::once(x)
        .chain(more)
        .find(|o| matches!(o, Obj::Iter(_)))
        .cloned()
        .unwrap_or_default()
}

fn zip(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let mut strict = false;
    for (name, value) in &args.named {
        match &**name {
            "strict" => strict = value.truthy()?,
            other => {
                return Err(Error::type_error(format!(
                    "'{other}' is an invalid keyword argument for zip()"
                )));
            }
        }
    }
    let iterators = iterators(&x, &args.positional, |_, object| {
        Some(format!("'{}' object is not iterable", object.type_name()))
    })?;
    let mut done = false;
    lazy("zip", &deepest(&x, &args.positional), move |vm| {
        if done {
            return Ok(None);
        }
        let mut row = Vec::with_capacity(iterators.len());
        for (i, iterator) in iterators.iter().enumerate() {
            match iterator.next(vm)? {
                Some(item) => row.push(item),
                None => {
                    done = true;
                    return if strict {
                        unequal(vm, &iterators, i)
                    } else {
                        Ok(None)
                    };
                }
            }
        }
        Ok(Some(Obj::tuple(row)))
    })
}

/// The end of a strict `zip`: an error, unless all arguments ended.
fn unequal(vm: &Vm<'_>, iterators: &[Iter], ended: usize) -> Result<Option<Obj>> {
    let arguments = |n: usize| {
        if n == 1 {
            "argument 1".to_string()
        } else {
            format!("arguments 1-{n}")
        }
    };
    if ended > 0 {
        let message = format!(
            "zip() argument {} is shorter than {}",
            ended + 1,
            arguments(ended)
        );
        return Err(Error::value_error(message));
    }
    for (i, iterator) in iterators.iter().enumerate().skip(1) {
        if iterator.next(vm)?.is_some() {
            let message = format!("zip() argument {} is longer than {}", i + 1, arguments(i));
            return Err(Error::value_error(message));
        }
    }
    Ok(None)
}

fn zip_longest(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let mut fill = Obj::None;
    for (name, value) in &args.named {
        match &**name {
            "fillvalue" => fill = value.clone(),
            _ => {
                return Err(Error::type_error(
                    "zip_longest() got an unexpected keyword argument",
                ));
            }
        }
    }
    let iterators = iterators(&x, &args.positional, |_, object| {
        Some(format!("'{}' object is not iterable", object.type_name()))
    })?;
    let from = deepest(&x, &args.positional);
    let mut open: Vec<Option<Iter>> = iterators.into_iter().map(Some).collect();
    lazy("itertools.zip_longest", &from, move |vm| {
        let mut row = Vec::with_capacity(open.len());
        let mut any = false;
        for slot in &mut open {
            let item = match slot {
                Some(iterator) => iterator.next(vm)?,
                None => None,
            };
            match item {
                Some(item) => {
                    any = true;
                    row.push(item);
                }
                None => {
                    *slot = None;
                    row.push(fill.clone());
                }
            }
        }
        Ok(any.then(|| Obj::tuple(row)))
    })
}

fn compress(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let selectors = bind_second("compress", args, "selectors", true)?.unwrap_or_default();
    let (items, chosen) = (x.iter()?, selectors.iter()?);
    lazy("itertools.compress", &x, move |vm| {
        loop {
            let (Some(item), Some(selector)) = (items.next(vm)?, chosen.next(vm)?) else {
                return Ok(None);
            };
            if flag(Some(selector), false)? {
                return Ok(Some(item));
            }
        }
    })
}
