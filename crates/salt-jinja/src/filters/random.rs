//! Salt's filters that choose at random.
//!
//! A template must render the same every time, so where Salt asks the operating system
//! for randomness, the choice here depends on the input alone. With a seed it is Salt's.

use mapstack_pyobject::random::Twister;
use mapstack_pyobject::{CallArgs, Error, Obj, Result, as_index, len, to_str};
use mapstack_value::pytext::base64;

use super::digest::hash;
use super::strings::count;
use mapstack_jinja::Filters;
use mapstack_jinja::Vm;
use mapstack_jinja::call::{index_of, plain, room};

pub(super) const TABLE: Filters = &[
    ("gen_mac", gen_mac),
    ("rand_str", random_hash),
    ("random_hash", random_hash),
    ("random_sample", random_sample),
    ("random_shuffle", random_shuffle),
    ("random_str", random_str),
];

/// The generator of a filter with that input, and a seed if it was given.
fn twister_of(input: &Obj, seed: Option<Obj>) -> Result<Twister> {
    let seeded = |bytes: &[u8]| {
        let digest = hash("sha512", bytes).unwrap_or_default();
        Ok(Twister::seeded(&hex::encode(digest)))
    };
    match seed {
        None | Some(Obj::None) => Ok(Twister::of_input(input)),
        Some(Obj::Str(s) | Obj::Markup(s)) => seeded(s.as_bytes()),
        Some(Obj::Bytes(b)) => seeded(&b),
        Some(Obj::Undefined(u)) => Err(u.error()),
        Some(_) => Err(Error::type_error(
            "object supporting the buffer API required",
        )),
    }
}

/// `random.Random(hash(seed)).sample(items, size)`.
fn sample(vm: &Vm<'_>, x: &Obj, size: i64, seed: Option<Obj>) -> Result<Obj> {
    let mut twister = twister_of(x, seed)?;
    let is_sequence = match x {
        Obj::List(_) | Obj::Tuple(_) | Obj::Str(_) | Obj::Markup(_) | Obj::Bytes(_) => true,
        Obj::Native(native) => native.type_name() == "range",
        _ => false,
    };
    if !is_sequence {
        let message = "Population must be a sequence.  For dicts or sets, use sorted(d).";
        return Err(Error::type_error(message));
    }
    let items = x.collect(vm)?;
    vm.burn(items.len())?;
    let n = items.len();
    let Some(size) = usize::try_from(size).ok().filter(|size| *size <= n) else {
        return Err(Error::value_error(
            "Sample larger than population or is negative",
        ));
    };
    // The reference keeps a set of what is taken when that is smaller than a copy of the items.
    let mut set_size = 21;
    if size > 5 {
        let mut power = 1;
        while power < size.saturating_mul(3) {
            power *= 4;
        }
        set_size += power;
    }
    let mut chosen = Vec::with_capacity(size);
    if n <= set_size {
        let mut pool = items;
        for i in 0..size {
            let j = twister.below(n - i);
            chosen.push(pool[j].clone());
            pool[j] = pool[n - i - 1].clone();
        }
    } else {
        let mut taken = std::collections::HashSet::new();
        while chosen.len() < size {
            let j = twister.below(n);
            if taken.insert(j) {
                chosen.push(items[j].clone());
            }
        }
    }
    Ok(Obj::list(chosen))
}

fn random_sample(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [size, seed] = plain("sample", "value").bind(args, 1, ["size", "seed"])?;
    sample(vm, &x, index_of(&size.unwrap_or_default())?, seed)
}

fn random_shuffle(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [seed] = plain("shuffle", "value").bind(args, 0, ["seed"])?;
    let size = i64::try_from(len(&x)?).unwrap_or(i64::MAX);
    sample(vm, &x, size, seed)
}

fn random_str(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("random", "size").alone(args)?;
    let size = count(&x, vm.limits().output)?;
    room(vm, size)?;
    let mut twister = Twister::of_input(&x);
    let bytes: Vec<u8> = (0..size.div_ceil(4) * 3)
        .map(|_| twister.word().to_le_bytes()[0])
        .collect();
    let mut text = base64::encode(&bytes);
    text.truncate(size);
    Ok(Obj::from(text))
}

fn random_hash(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [kind] = plain("random_hash", "size").bind(args, 0, ["hash_type"])?;
    let kind = match kind {
        Some(kind) if kind.truthy()? => to_str(&kind)?,
        _ => "md5".to_string(),
    };
    if as_index(&x).is_none_or(|i| i.is_negative()) {
        let most = index_of(&x)?;
        return Err(Error::value_error(format!(
            "empty range for randrange() (0, {}, {})",
            most.saturating_add(1),
            most.saturating_add(1)
        )));
    }
    let drawn = Twister::of_input(&x).word().to_string();
    match hash(&kind, drawn.as_bytes()) {
        Some(digest) => Ok(Obj::from(hex::encode(&digest))),
        None => Err(Error::python(
            "AttributeError",
            format!("module 'hashlib' has no attribute '{kind}'"),
        )),
    }
}

fn gen_mac(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("gen_mac", "prefix").alone(args)?;
    let mut twister = Twister::of_input(&x);
    let mut byte = || twister.below(256);
    Ok(Obj::from(format!(
        "{}:{:02X}:{:02X}:{:02X}",
        to_str(&x)?,
        byte(),
        byte(),
        byte()
    )))
}
