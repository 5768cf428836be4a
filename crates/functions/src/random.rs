//! `random.*`: what is random for a given seed is what Python draws; what has no seed is drawn from
//! the minion's id and the arguments, as a template has one result.

use mapstack_pyobject::{CallArgs, Error, Obj, Result, required};
use mapstack_salt_jinja::{
    Vm,
    python::{Twister, as_index, filter, hash, int, repr, to_str},
};
use mapstack_value::Int;

use super::{ModuleTable, refused, truth_or};
use crate::Context;
use mapstack_diagnostic::{Diagnostic, ErrorKind as Kind};

pub(super) const TABLE: ModuleTable = &[
    ("random.get_str", get_str),
    ("random.hash", |_, vm, args| {
        let [value, algorithm] = args.bind("random.hash", ["value", "algorithm"])?;
        let value = required(value, "random.hash", "value")?;
        let algorithm = algorithm.map_or_else(|| Ok("sha512".to_string()), |name| to_str(&name))?;
        let bytes = match &value {
            Obj::Str(s) | Obj::Markup(s) => s.as_bytes().to_vec(),
            Obj::Bytes(bytes) => bytes.to_vec(),
            _ => {
                return Err(Error::type_error(
                    "object supporting the buffer API required",
                ));
            }
        };
        vm.burn(bytes.len() / 64)?;
        match hash(&algorithm, &bytes) {
            Some(digest) => Ok(Obj::from(hex::encode(&digest))),
            None => Err(
                Error::python("SaltException", "You must specify a valid algorithm.")
                    .with_help("md5, sha1, sha224, sha256, sha384 and sha512 are built in"),
            ),
        }
    }),
    ("random.rand_int", |run, _, args| {
        let [start, end, seed] = args.bind("random.rand_int", ["start", "end", "seed"])?;
        let (start, end) = (
            start.unwrap_or_else(|| Obj::from(1)),
            end.unwrap_or_else(|| Obj::from(10)),
        );
        let mut twister = match seed {
            None | Some(Obj::None) => unseeded(run, &[&start, &end])?,
            Some(seed) => Twister::from_seed(&seed)?,
        };
        let first = whole(&start, 1)?;
        let behind = whole(&end, 2)?.add(&Int::from(1));
        let count = behind.sub(&first);
        if count.is_negative() || count.is_zero() {
            let message = format!("empty range for randrange() ({first}, {behind}, {count})");
            return Err(Error::value_error(message));
        }
        Ok(Obj::Int(first.add(&twister.below_int(&count))))
    }),
    ("random.sample", |run, vm, args| {
        let [value, size, seed] = args.bind("random.sample", ["value", "size", "seed"])?;
        let value = required(value, "random.sample", "value")?;
        let size = required(size, "random.sample", "size")?;
        filter(
            vm,
            "random_sample",
            value,
            CallArgs::positional([size, own_seed(run, seed)]),
        )
    }),
    ("random.seed", |run, _, args| {
        let [range, seed] = args.bind("random.seed", ["range", "hash"])?;
        let seed = match seed {
            None | Some(Obj::None) => Obj::from(run.id()),
            Some(seed) => seed,
        };
        let mut twister = Twister::from_seed(&seed)?;
        let range = whole(&range.unwrap_or_else(|| Obj::from(10)), 1)?;
        if range.is_negative() || range.is_zero() {
            return Err(Error::value_error("empty range for randrange()"));
        }
        Ok(Obj::Int(twister.below_int(&range)))
    }),
    ("random.shuffle", |run, vm, args| {
        let [value, seed] = args.bind("random.shuffle", ["value", "seed"])?;
        let value = required(value, "random.shuffle", "value")?;
        filter(
            vm,
            "random_shuffle",
            value,
            CallArgs::positional([own_seed(run, seed)]),
        )
    }),
    ("random.str_encode", |_, vm, args| {
        let [value, encoder] = args.bind("random.str_encode", ["value", "encoder"])?;
        let value = required(value, "random.str_encode", "value")?;
        let encoder = encoder.map_or_else(|| Ok("base64".to_string()), |name| to_str(&name))?;
        // In the reference every other encoder is asked of bytes, which encode nothing.
        if encoder != "base64" || !matches!(value, Obj::Str(_) | Obj::Markup(_) | Obj::Bytes(_)) {
            return Err(refused("Value must be an encode-able string")
                .with_help("the only encoder is base64"));
        }
        filter(vm, "base64_encode", value, CallArgs::default())
    }),
];

/// A generator for the minion and the arguments.
fn unseeded(run: &dyn Context, arguments: &[&Obj]) -> Result<Twister> {
    let mut seed = run.id().to_string();
    for argument in arguments {
        seed.push('\n');
        seed.push_str(&repr(argument)?);
    }
    Ok(Twister::seeded(&seed))
}

/// The seed that was given, or the minion's id.
fn own_seed(run: &dyn Context, seed: Option<Obj>) -> Obj {
    seed.filter(|seed| !seed.is_none())
        .unwrap_or_else(|| Obj::from(run.id().to_string()))
}

/// A bound of `randrange`.
fn whole(bound: &Obj, argument: usize) -> Result<Int> {
    if let Some(bound) = as_index(bound) {
        return Ok(bound);
    }
    let number = int(bound)?;
    match bound {
        Obj::Float(f) if number.to_f64().is_ok_and(|number| number == *f) => Ok(number),
        _ => Err(Error::value_error(format!(
            "non-integer arg {argument} for randrange()"
        ))),
    }
}

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";
const PUNCTUATION: &str = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
const SPACES: &str = " \t\n\r\x0b\x0c";

/// `random.get_str`.
fn get_str(run: &dyn Context, vm: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let names = [
        "length",
        "chars",
        "lowercase",
        "uppercase",
        "digits",
        "punctuation",
        "whitespace",
        "printable",
    ];
    let [
        length,
        chars,
        lower,
        upper,
        digits,
        punctuation,
        whitespace,
        printable,
    ] = args.bind("random.get_str", names)?;
    let length = length.unwrap_or_else(|| Obj::from(20));
    let given = match chars {
        Some(chars) if chars.truthy()? => to_str(&chars)?,
        _ => String::new(),
    };
    let pools = [
        (truth_or(lower, true)?, LOWER),
        (truth_or(upper, true)?, UPPER),
        (truth_or(digits, true)?, DIGITS),
        (truth_or(punctuation, true)?, PUNCTUATION),
        (truth_or(whitespace, false)?, SPACES),
    ];
    let chars = if truth_or(printable, false)? {
        [DIGITS, LOWER, UPPER, PUNCTUATION, SPACES].concat()
    } else if given.is_empty() {
        pools
            .iter()
            .filter(|(wanted, _)| *wanted)
            .map(|(_, pool)| *pool)
            .collect()
    } else {
        given
    };
    draw(run, vm, &length, &chars)
}

/// Text of that length, of these characters.
fn draw(run: &dyn Context, vm: &Vm<'_>, length: &Obj, chars: &str) -> Result<Obj> {
    // The reference draws bytes and keeps those that are wanted characters.
    let mut pool: Vec<char> = chars.chars().filter(char::is_ascii).collect();
    pool.sort_unstable();
    pool.dedup();
    let count = int(length).map_err(|e| refused(e.message))?;
    let most = vm.limits().output;
    let count = match count.to_i64() {
        Some(count) if count <= 0 => return Ok(Obj::from("")),
        Some(count) => usize::try_from(count).unwrap_or(usize::MAX),
        None => usize::MAX,
    };
    if pool.is_empty() {
        return Err(refused("random.get_str() has no character to choose from")
            .with_help("allow some kind of characters, or give some ASCII ones as `chars`"));
    }
    if count > most {
        return Err(Error::limit(format!(
            "random.get_str() makes at most {most} characters"
        )));
    }
    vm.burn(count)?;
    let seed = [length, &Obj::from(chars)];
    let mut twister = unseeded(run, &seed)?;
    let drawn: String = (0..count)
        .filter_map(|_| pool.get(twister.below(pool.len())))
        .collect();
    let message =
        "random.get_str() returns the same text every time here: it cannot be used as a secret";
    let warning = Diagnostic::warning(Kind::Template, message);
    run.warn(warning.with_help("take passwords from the pillar"));
    Ok(Obj::from(drawn))
}
