//! Python's operators.

use std::cmp::Ordering;

use mapstack_value::{Int, Str};

use super::set_like::{self, SetLike};
use super::{DictRef, Obj, hash_key, lookup_key};
use crate::Interpreter;
use crate::limits::depth;
use crate::limits::ledger;
use crate::limits::{Error, Result};

/// Arithmetic operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `//`
    FloorDiv,
    /// `%`
    Mod,
    /// `**`
    Pow,
}

/// Comparison operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompareOp {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `in`
    In,
    /// `not in`
    NotIn,
}

/// The most bytes of text that repetition may make.
const MAX_REPEAT: usize = 10_000_000;

/// The most items of a list that repetition may make; each weighs as much as a short text.
const MAX_ITEMS: usize = 1_000_000;

/// An integer in the sense of `operator.index`: integers and booleans.
pub fn as_index(object: &Obj) -> Option<Int> {
    match object {
        Obj::Int(i) => Some(i.clone()),
        Obj::Bool(b) => Some(Int::from(i64::from(*b))),
        _ => None,
    }
}

/// A number as float.
pub fn as_float(object: &Obj) -> Result<Option<f64>> {
    Ok(match object {
        Obj::Float(f) => Some(*f),
        Obj::Bool(b) => Some(f64::from(u8::from(*b))),
        Obj::Int(i) => Some(
            i.to_f64()
                .map_err(|e| Error::python("OverflowError", e.to_string()))?,
        ),
        _ => None,
    })
}

/// The position of an index, which counts from the end if it is negative; `None` if it is out of range.
pub fn wrap_index(index: &Int, len: usize) -> Option<usize> {
    let index = index.to_i64()?;
    let from_start = if index < 0 {
        index.checked_add(i64::try_from(len).ok()?)?
    } else {
        index
    };
    usize::try_from(from_start).ok().filter(|i| *i < len)
}

/// The steps that one comparison or hash may take. Objects can share others many times over, so a few of them can
/// expand to more than a walk could finish.
pub(super) struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Budget(Self::STEPS)
    }
}

impl Budget {
    const STEPS: usize = 2_500_000;

    pub fn spend(&mut self, steps: usize) -> Result<()> {
        match self.0.checked_sub(steps) {
            Some(left) => {
                self.0 = left;
                ledger::spend(steps)
            }
            None => Err(Error::limit(
                "the data is too large to be compared or hashed",
            )),
        }
    }
}

/// `len(x)`.
pub fn len(object: &Obj) -> Result<usize> {
    match object {
        Obj::Str(s) | Obj::Markup(s) => Ok(s.chars().count()),
        Obj::Bytes(b) => Ok(b.len()),
        Obj::List(l) => Ok(l.len()),
        Obj::Tuple(t) => Ok(t.len()),
        Obj::Dict(d) => Ok(d.len()),
        Obj::Set(s) => Ok(s.len()),
        Obj::Undefined(u) => u.check().map(|()| 0),
        Obj::Native(n) if n.len().is_some() => Ok(n.len().unwrap_or_default()),
        other => Err(Error::type_error(format!(
            "object of type '{}' has no len()",
            other.type_name()
        ))),
    }
}

fn unsupported(op: &str, a: &Obj, b: &Obj) -> Box<Error> {
    Error::type_error(format!(
        "unsupported operand type(s) for {op}: '{}' and '{}'",
        a.type_name(),
        b.type_name()
    ))
}

/// Both operands as numbers of one type.
enum Numbers {
    Ints(Int, Int),
    Floats(f64, f64),
}

fn numbers(a: &Obj, b: &Obj) -> Result<Option<Numbers>> {
    if let (Some(a), Some(b)) = (as_index(a), as_index(b)) {
        return Ok(Some(Numbers::Ints(a, b)));
    }
    Ok(match (as_float(a)?, as_float(b)?) {
        (Some(a), Some(b)) => Some(Numbers::Floats(a, b)),
        _ => None,
    })
}

/// `a op b`.
///
/// # Errors
/// Python's exceptions, worded as Python words them.
pub fn binary(vm: &dyn Interpreter, op: BinaryOp, a: &Obj, b: &Obj) -> Result<Obj> {
    if let (Obj::Int(x), Obj::Int(y)) = (a, b)
        && let Some(result) = small_arithmetic(op, x, y)
    {
        return Ok(Obj::Int(result));
    }
    vm.read_all(&[a, b])?;
    vm.made(apply(vm, op, a, b)?)
}

/// Integers of 64 bits whose result has 64 bits, too. They cost no steps.
#[inline]
fn small_arithmetic(op: BinaryOp, a: &Int, b: &Int) -> Option<Int> {
    let (x, y) = (a.to_i64()?, b.to_i64()?);
    match op {
        BinaryOp::Add => x.checked_add(y).map(Int::from),
        BinaryOp::Sub => x.checked_sub(y).map(Int::from),
        BinaryOp::Mul => x.checked_mul(y).map(Int::from),
        BinaryOp::FloorDiv => a.floor_div(b).ok(),
        BinaryOp::Mod => a.modulo(b).ok(),
        BinaryOp::Div | BinaryOp::Pow => None,
    }
}

/// The first operand that is a placeholder for an unknown value.
fn unknown<'o>(operands: &[&'o Obj]) -> Option<&'o Obj> {
    let is_unknown = |x: &&Obj| matches!(x, Obj::Native(native) if native.is_unknown());
    operands.iter().copied().find(is_unknown)
}

fn apply(vm: &dyn Interpreter, op: BinaryOp, a: &Obj, b: &Obj) -> Result<Obj> {
    if let (Obj::Int(x), Obj::Int(y)) = (a, b) {
        return int_arithmetic(op, x, y);
    }
    if let Some(unknown) = unknown(&[a, b]) {
        return Ok(unknown.clone());
    }
    let formats = op == BinaryOp::Mod && matches!(a, Obj::Str(_) | Obj::Markup(_));
    // A view iterates over an undefined value on its right, which is empty unless it is strict.
    let subtracts = op == BinaryOp::Sub && matches!(a, Obj::Native(_)) && SetLike::of(a).is_some();
    // Multiplying safe text fails by the type of an undefined value, and not because it is undefined.
    let repeats = op == BinaryOp::Mul && matches!(a, Obj::Markup(_));
    for operand in [a, b] {
        // Formatting fails only where the text prints the undefined value.
        if let Obj::Undefined(u) = operand
            && !formats
            && !repeats
            && (u.strict || !subtracts)
        {
            return Err(u.error());
        }
    }
    match op {
        BinaryOp::Add => add(vm, a, b),
        BinaryOp::Mul => mul(vm, a, b),
        BinaryOp::Mod if formats => crate::format::percent(vm, a, b),
        BinaryOp::Sub => set_like::difference(vm, a, b).unwrap_or_else(|| arithmetic(op, a, b)),
        BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Mod | BinaryOp::Pow => arithmetic(op, a, b),
    }
}

fn add(vm: &dyn Interpreter, a: &Obj, b: &Obj) -> Result<Obj> {
    if let (Some(x), Some(y)) = (a.as_str(), b.as_str()) {
        crate::methods::limit::size(vm, x.len().saturating_add(y.len()))?;
    }
    Ok(match (a, b) {
        (Obj::Str(x), Obj::Str(y)) => Obj::from([&**x, &**y].concat()),
        (Obj::Markup(x), Obj::Markup(y)) => Obj::Markup([&**x, &**y].concat().into()),
        (Obj::Markup(x), Obj::Str(y)) => Obj::Markup(
            [x, &*mapstack_value::pytext::markup::escape(y)]
                .concat()
                .into(),
        ),
        (Obj::Str(x), Obj::Markup(y)) => Obj::Markup(
            [&*mapstack_value::pytext::markup::escape(x), y]
                .concat()
                .into(),
        ),
        (Obj::List(x), Obj::List(y)) => {
            let mut items = x.items();
            items.extend(y.items());
            Obj::list(items)
        }
        (Obj::Tuple(x), Obj::Tuple(y)) => {
            Obj::tuple(x.iter().chain(y.iter()).cloned().collect::<Vec<_>>())
        }
        (Obj::Bytes(x), Obj::Bytes(y)) => Obj::Bytes([&**x, &**y].concat().into()),
        (Obj::Str(_), other) if numbers(a, b)?.is_none() => {
            return Err(Error::type_error(format!(
                "can only concatenate str (not \"{}\") to str",
                other.type_name()
            )));
        }
        (Obj::List(_), other) => {
            return Err(Error::type_error(format!(
                "can only concatenate list (not \"{}\") to list",
                other.type_name()
            )));
        }
        (Obj::Tuple(_), other) => {
            return Err(Error::type_error(format!(
                "can only concatenate tuple (not \"{}\") to tuple",
                other.type_name()
            )));
        }
        _ => return arithmetic(BinaryOp::Add, a, b),
    })
}

/// True if Python's `*` repeats an object itself.
fn is_sequence(x: &Obj) -> bool {
    matches!(
        x,
        Obj::Str(_) | Obj::List(_) | Obj::Tuple(_) | Obj::Bytes(_)
    )
}

fn mul(vm: &dyn Interpreter, a: &Obj, b: &Obj) -> Result<Obj> {
    let repeats = |x: &Obj| is_sequence(x) || matches!(x, Obj::Markup(_));
    let (sequence, times) = match (as_index(a), as_index(b)) {
        (None, Some(n)) if repeats(a) => (a, n),
        (Some(n), None) if repeats(b) => (b, n),
        _ => {
            let beside = |of: fn(&Obj) -> bool| {
                let side = [(a, b), (b, a)].into_iter().find(|(x, _)| of(x));
                side.map(|(_, other)| other.type_name())
            };
            // Markup has its own multiplication.
            if let Some(other) = beside(|x| matches!(x, Obj::Markup(_))) {
                let message = format!("'{other}' object cannot be interpreted as an integer");
                return Err(Error::type_error(message));
            }
            if let Some(other) = beside(is_sequence) {
                let message = format!("can't multiply sequence by non-int of type '{other}'");
                return Err(Error::type_error(message));
            }
            return arithmetic(BinaryOp::Mul, a, b);
        }
    };
    let Some(times) = times.to_i64() else {
        let message = "cannot fit 'int' into an index-sized integer";
        return Err(Error::python("OverflowError", message));
    };
    let times = usize::try_from(times).unwrap_or(0);
    // The result is only made if it fits the limits.
    let room = |len: usize, most: usize, size: usize| match len.checked_mul(times) {
        // An empty sequence stays empty.
        _ if len == 0 => Ok(0),
        Some(total) if total <= most => vm.ask_for(total * size).map(|()| times),
        _ => Err(Error::limit(format!(
            "repetition would make more than {most} characters or items"
        ))),
    };
    let (text, items) = (
        |len| room(len, MAX_REPEAT, 1),
        |len| room(len, MAX_ITEMS, size_of::<Obj>()),
    );
    Ok(match sequence {
        Obj::Str(s) => Obj::from(s.repeat(text(s.len())?)),
        Obj::Markup(s) => Obj::Markup(s.repeat(text(s.len())?).into()),
        Obj::Bytes(s) => Obj::Bytes(s.repeat(text(s.len())?).into()),
        Obj::List(l) => Obj::list(l.items().repeat_items(items(l.len())?)),
        Obj::Tuple(t) => Obj::tuple(t.to_vec().repeat_items(items(t.len())?)),
        _ => return arithmetic(BinaryOp::Mul, a, b),
    })
}

/// `Vec::repeat` for items that are not `Copy`.
trait RepeatItems {
    fn repeat_items(self, times: usize) -> Vec<Obj>;
}

impl RepeatItems for Vec<Obj> {
    fn repeat_items(self, times: usize) -> Vec<Obj> {
        std::iter::repeat_n(&self, times)
            .flatten()
            .cloned()
            .collect()
    }
}

fn arithmetic(op: BinaryOp, a: &Obj, b: &Obj) -> Result<Obj> {
    let symbol = match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::FloorDiv => "//",
        BinaryOp::Mod => "%",
        BinaryOp::Pow => "** or pow()",
    };
    match numbers(a, b)? {
        Some(Numbers::Ints(x, y)) => int_arithmetic(op, &x, &y),
        Some(Numbers::Floats(x, y)) => float_arithmetic(op, x, y).map(Obj::Float),
        None => Err(unsupported(symbol, a, b)),
    }
}

fn int_arithmetic(op: BinaryOp, a: &Int, b: &Int) -> Result<Obj> {
    let zero = |message: &str| Error::python("ZeroDivisionError", message);
    let limit = |e: mapstack_value::ArithmeticError| Error::limit(e.to_string());
    Ok(Obj::Int(match op {
        BinaryOp::Add => a.add(b),
        BinaryOp::Sub => a.sub(b),
        BinaryOp::Mul => a.mul(b).map_err(limit)?,
        BinaryOp::FloorDiv => a
            .floor_div(b)
            .map_err(|_| zero("integer division or modulo by zero"))?,
        BinaryOp::Mod => a.modulo(b).map_err(|_| zero("integer modulo by zero"))?,
        BinaryOp::Div => {
            let overflow =
                |e: mapstack_value::ArithmeticError| Error::python("OverflowError", e.to_string());
            let divisor = b.to_f64().map_err(overflow)?;
            if divisor == 0.0 {
                return Err(zero("division by zero"));
            }
            return Ok(Obj::Float(a.to_f64().map_err(overflow)? / divisor));
        }
        BinaryOp::Pow if b.is_negative() => {
            let (a, b) = (
                a.to_f64().unwrap_or(f64::INFINITY),
                b.to_f64().unwrap_or(f64::NEG_INFINITY),
            );
            return float_arithmetic(op, a, b).map(Obj::Float);
        }
        BinaryOp::Pow => match b.to_i64().and_then(|e| u32::try_from(e).ok()) {
            Some(exponent) => a.pow(exponent).map_err(limit)?,
            None if a.is_zero() || *a == Int::from(1) => a.clone(),
            None => return Err(Error::limit("the exponent is too large")),
        },
    }))
}

fn float_arithmetic(op: BinaryOp, a: f64, b: f64) -> Result<f64> {
    let zero = |message: &str| Err(Error::python("ZeroDivisionError", message));
    Ok(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div if b == 0.0 => return zero("float division by zero"),
        BinaryOp::Div => a / b,
        BinaryOp::FloorDiv if b == 0.0 => return zero("float floor division by zero"),
        BinaryOp::FloorDiv => float_div_mod(a, b).0,
        BinaryOp::Mod if b == 0.0 => return zero("float modulo"),
        BinaryOp::Mod => float_div_mod(a, b).1,
        BinaryOp::Pow if a == 0.0 && b < 0.0 => {
            return zero("0.0 cannot be raised to a negative power");
        }
        BinaryOp::Pow => a.powf(b),
    })
}

/// Python's `//` and `%` of floats: the remainder has the sign of the divisor, zero too.
fn float_div_mod(a: f64, b: f64) -> (f64, f64) {
    let rest = a % b;
    let (quotient, rest) = match (a - rest) / b {
        exact if rest == 0.0 => (exact, 0_f64.copysign(b)),
        above if (rest < 0.0) != (b < 0.0) => (above - 1.0, rest + b),
        quotient => (quotient, rest),
    };
    let floor = quotient.floor();
    let whole = match quotient {
        0.0 => 0_f64.copysign(a / b),
        _ if quotient - floor > 0.5 => floor + 1.0,
        _ => floor,
    };
    (whole, rest)
}

/// `-x`.
pub fn negate(x: &Obj) -> Result<Obj> {
    match (as_index(x), x) {
        (Some(i), _) => Ok(Obj::Int(i.neg())),
        (None, Obj::Float(f)) => Ok(Obj::Float(-f)),
        (None, Obj::Undefined(u)) => Err(u.error()),
        _ if unknown(&[x]).is_some() => Ok(x.clone()),
        _ => Err(Error::type_error(format!(
            "bad operand type for unary -: '{}'",
            x.type_name()
        ))),
    }
}

/// `+x`.
pub fn positive(x: &Obj) -> Result<Obj> {
    match (as_index(x), x) {
        (Some(i), _) => Ok(Obj::Int(i)),
        (None, Obj::Float(f)) => Ok(Obj::Float(*f)),
        (None, Obj::Undefined(u)) => Err(u.error()),
        _ if unknown(&[x]).is_some() => Ok(x.clone()),
        _ => Err(Error::type_error(format!(
            "bad operand type for unary +: '{}'",
            x.type_name()
        ))),
    }
}

/// `a == b`.
///
/// # Errors
/// An undefined error when either is strictly undefined.
pub fn equal(a: &Obj, b: &Obj) -> Result<bool> {
    if let Some(verdict) = quick_equal(a, b) {
        return Ok(verdict);
    }
    Comparison::default().equal(a, b)
}

/// Python's ordering of two objects; `None` for NaN.
///
/// # Errors
/// A `TypeError` naming the operator for types without an order.
pub fn order(a: &Obj, b: &Obj, symbol: &str) -> Result<Option<Ordering>> {
    if let Some(order) = quick_order(a, b) {
        return Ok(Some(order));
    }
    Comparison::default().order(a, b, symbol)
}

/// The bytes of text that cost one step of a comparison.
const LONG: usize = 64;

/// A comparison on its way through nested objects.
#[derive(Default)]
pub struct Comparison {
    budget: Budget,
    depth: usize,
}

impl Comparison {
    /// Charge for a text by its length.
    fn long(&mut self, bytes: usize) -> Result<()> {
        self.budget.spend(bytes / LONG)
    }

    /// Compare one level down.
    pub fn inside<T>(
        &mut self,
        items: usize,
        compare: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.budget.spend(items)?;
        self.depth += 1;
        depth::objects(self.depth, depth::OBJECTS, " while comparing")?;
        let result = compare(self);
        self.depth -= 1;
        result
    }

    pub fn equal(&mut self, a: &Obj, b: &Obj) -> Result<bool> {
        Ok(match (a, b) {
            (Obj::Undefined(u), Obj::Undefined(other)) => {
                u.check()?;
                other.check()?;
                true
            }
            (Obj::Undefined(u), _) | (_, Obj::Undefined(u)) => {
                u.check()?;
                false
            }
            (Obj::None, Obj::None) => true,
            (Obj::Str(x) | Obj::Markup(x), Obj::Str(y) | Obj::Markup(y)) => {
                self.long(x.len().min(y.len()))?;
                x == y
            }
            (Obj::Bytes(x), Obj::Bytes(y)) => {
                self.long(x.len().min(y.len()))?;
                x == y
            }
            (Obj::List(x), Obj::List(y)) => {
                x.is_same(y)
                    || (x.len() == y.len()
                        && self.inside(x.len(), |this| this.equal_items(&x.items(), &y.items()))?)
            }
            (Obj::Tuple(x), Obj::Tuple(y)) => {
                x.len() == y.len() && self.inside(x.len(), |this| this.equal_items(x, y))?
            }
            (Obj::Dict(x), Obj::Dict(y)) => {
                x.is_same(y)
                    || (x.len() == y.len()
                        && self.inside(x.len(), |this| this.equal_entries(x, y))?)
            }
            (Obj::Set(_) | Obj::Native(_), Obj::Set(_) | Obj::Native(_)) => {
                match (SetLike::of(a), SetLike::of(b)) {
                    (Some(x), Some(y)) => x.equals(self, &y)?,
                    _ => self.native_equal(a, b),
                }
            }
            _ => match (as_index(a), as_index(b), a, b) {
                (Some(x), Some(y), ..) => x == y,
                (None, None, Obj::Float(x), Obj::Float(y)) => x == y,
                (Some(i), None, _, Obj::Float(f)) | (None, Some(i), Obj::Float(f), _) => {
                    i.compare_float(*f) == Some(Ordering::Equal)
                }
                _ => a.is_same(b),
            },
        })
    }

    fn native_equal(&self, a: &Obj, b: &Obj) -> bool {
        let verdict = match (a, b) {
            (Obj::Native(x), Obj::Native(y)) => x.equals(&**y),
            _ => None,
        };
        verdict.unwrap_or_else(|| a.is_same(b))
    }

    fn equal_items(&mut self, a: &[Obj], b: &[Obj]) -> Result<bool> {
        for (x, y) in a.iter().zip(b) {
            if !x.is_same(y) && !self.equal(x, y)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn equal_entries(&mut self, a: &DictRef, b: &DictRef) -> Result<bool> {
        for (key, x) in a.entries() {
            match b.get(&key) {
                Some(y) if x.is_same(&y) || self.equal(&x, &y)? => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    fn order(&mut self, a: &Obj, b: &Obj, symbol: &str) -> Result<Option<Ordering>> {
        Ok(match (a, b) {
            // Strict undefined values have a subclass, whose method Python calls first.
            (Obj::Undefined(u), Obj::Undefined(other)) if !u.strict && other.strict => {
                return Err(other.error());
            }
            (Obj::Undefined(u), _) | (_, Obj::Undefined(u)) => return Err(u.error()),
            (Obj::Str(x) | Obj::Markup(x), Obj::Str(y) | Obj::Markup(y)) => {
                self.long(x.len().min(y.len()))?;
                // The order of UTF-8 is that of its characters.
                Some(x.as_bytes().cmp(y.as_bytes()))
            }
            (Obj::Bytes(x), Obj::Bytes(y)) => {
                self.long(x.len().min(y.len()))?;
                Some(x.cmp(y))
            }
            (Obj::List(x), Obj::List(y)) => self.inside(x.len(), |this| {
                this.order_items(&x.items(), &y.items(), symbol)
            })?,
            (Obj::Tuple(x), Obj::Tuple(y)) => {
                self.inside(x.len(), |this| this.order_items(x, y, symbol))?
            }
            (Obj::Set(_) | Obj::Native(_), Obj::Set(_) | Obj::Native(_))
                if let (Some(x), Some(y)) = (SetLike::of(a), SetLike::of(b)) =>
            {
                x.order(self, &y, symbol)?
            }
            _ => match (as_index(a), as_index(b), a, b) {
                (Some(x), Some(y), ..) => Some(x.cmp(&y)),
                (None, None, Obj::Float(x), Obj::Float(y)) => x.partial_cmp(y),
                (Some(i), None, _, Obj::Float(f)) => i.compare_float(*f),
                (None, Some(i), Obj::Float(f), _) => i.compare_float(*f).map(Ordering::reverse),
                _ if unknown(&[a, b]).is_some() => Some(Ordering::Equal),
                _ => {
                    return Err(Error::type_error(format!(
                        "'{symbol}' not supported between instances of '{}' and '{}'",
                        a.type_name(),
                        b.type_name()
                    )));
                }
            },
        })
    }

    fn order_items(&mut self, a: &[Obj], b: &[Obj], symbol: &str) -> Result<Option<Ordering>> {
        for (x, y) in a.iter().zip(b) {
            if !x.is_same(y) && !self.equal(x, y)? {
                return self.order(x, y, symbol);
            }
        }
        Ok(Some(a.len().cmp(&b.len())))
    }
}

/// `a op b` for a comparison operator.
///
/// # Errors
/// As Python: ordering unlike types, membership in what has none, anything undefined.
pub fn compare(vm: &dyn Interpreter, op: CompareOp, a: &Obj, b: &Obj) -> Result<bool> {
    let quick = match op {
        CompareOp::Eq => quick_equal(a, b),
        CompareOp::Ne => quick_equal(a, b).map(|equal| !equal),
        _ => quick_order(a, b).and_then(|order| accepts(op, order)),
    };
    if let Some(verdict) = quick {
        return Ok(verdict);
    }
    let verdict = Comparison::default().verdict(vm, op, a, b);
    vm.settle(0)?;
    verdict
}

/// The order of small integers and of texts that are too short to cost steps.
#[inline]
fn quick_order(a: &Obj, b: &Obj) -> Option<Ordering> {
    match (a, b) {
        (Obj::Int(x), Obj::Int(y)) => Some(x.to_i64()?.cmp(&y.to_i64()?)),
        (Obj::Str(x), Obj::Str(y)) if x.len().min(y.len()) < LONG => {
            Some(x.as_bytes().cmp(y.as_bytes()))
        }
        _ => None,
    }
}

/// True if small integers, or texts that are too short to cost steps, are equal.
#[inline]
fn quick_equal(a: &Obj, b: &Obj) -> Option<bool> {
    match (a, b) {
        (Obj::Int(x), Obj::Int(y)) => Some(x.to_i64()? == y.to_i64()?),
        (Obj::Str(x), Obj::Str(y)) if x.len().min(y.len()) < LONG => Some(x == y),
        _ => None,
    }
}

/// True if an operator holds for an order; `None` for operators that do not test the order.
#[inline]
fn accepts(op: CompareOp, order: Ordering) -> Option<bool> {
    Some(match op {
        CompareOp::Lt => order.is_lt(),
        CompareOp::Le => order.is_le(),
        CompareOp::Gt => order.is_gt(),
        CompareOp::Ge => order.is_ge(),
        CompareOp::Eq | CompareOp::Ne | CompareOp::In | CompareOp::NotIn => return None,
    })
}

impl Comparison {
    fn verdict(&mut self, vm: &dyn Interpreter, op: CompareOp, a: &Obj, b: &Obj) -> Result<bool> {
        let mut ordered = |symbol, accept: fn(Ordering) -> bool| {
            self.order(a, b, symbol).map(|o| o.is_some_and(accept))
        };
        let is_order = !matches!(op, CompareOp::In | CompareOp::NotIn);
        if is_order && unknown(&[a, b]).is_some() {
            return Ok(true);
        }
        match op {
            CompareOp::Eq => self.equal(a, b),
            CompareOp::Ne => self.equal(a, b).map(|e| !e),
            CompareOp::Lt => ordered("<", Ordering::is_lt),
            CompareOp::Le => ordered("<=", Ordering::is_le),
            CompareOp::Gt => ordered(">", Ordering::is_gt),
            CompareOp::Ge => ordered(">=", Ordering::is_ge),
            CompareOp::In => contains(vm, b, a),
            CompareOp::NotIn => contains(vm, b, a).map(|c| !c),
        }
    }
}

/// `needle in haystack`.
///
/// # Errors
/// A `TypeError` for a haystack that holds nothing, or a needle in text that is not text.
pub fn contains(vm: &dyn Interpreter, haystack: &Obj, needle: &Obj) -> Result<bool> {
    if let Obj::Native(native) = haystack
        && let Some(verdict) = native.contains(vm, needle)
    {
        return verdict;
    }
    match haystack {
        Obj::Undefined(u) => u.check().map(|()| false),
        Obj::Str(text) | Obj::Markup(text) => match needle.as_str() {
            Some(part) => {
                vm.burn(text.len() / 64)?;
                Ok(text.contains(&**part))
            }
            None => Err(Error::type_error(format!(
                "'in <string>' requires string as left operand, not {}",
                needle.type_name()
            ))),
        },
        Obj::Dict(dict) => Ok(lookup_key(needle)?.is_some_and(|key| dict.contains(&key))),
        Obj::Set(set) => Ok(lookup_key(needle)?.is_some_and(|key| set.read(|s| s.contains(&key)))),
        Obj::None | Obj::Bool(_) | Obj::Int(_) | Obj::Float(_) => Err(not_a_container(haystack)),
        Obj::Native(native) if native.iter().is_none() => Err(not_a_container(haystack)),
        Obj::List(list) => list.read(|items| is_among(vm, items, needle)),
        Obj::Tuple(items) => is_among(vm, items, needle),
        other => {
            let iter = other.iter()?;
            while let Some(item) = iter.next(vm)? {
                if is_it(vm, &item, needle)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }
}

/// True if an object is identical or equal to one of the items.
fn is_among(vm: &dyn Interpreter, items: &[Obj], needle: &Obj) -> Result<bool> {
    // Quick comparisons are charged together, before a slow one.
    let mut steps = 0;
    for item in items {
        match quick_equal(item, needle) {
            Some(true) => return vm.burn(steps + 1).map(|()| true),
            Some(false) => steps += 1,
            None => {
                vm.burn(std::mem::take(&mut steps))?;
                if is_it(vm, item, needle)? {
                    return Ok(true);
                }
            }
        }
    }
    vm.burn(steps).map(|()| false)
}

fn is_it(vm: &dyn Interpreter, item: &Obj, needle: &Obj) -> Result<bool> {
    let shorter = item
        .as_str()
        .zip(needle.as_str())
        .map_or(0, |(a, b)| a.len().min(b.len()));
    vm.burn(1 + shorter / LONG)?;
    Ok(item.is_same(needle) || equal(item, needle)?)
}

fn not_a_container(object: &Obj) -> Box<Error> {
    Error::type_error(format!(
        "argument of type '{}' is not iterable",
        object.type_name()
    ))
}

/// `object[key]`; `Ok(None)` when Python would raise a `LookupError` or `TypeError`, which Jinja
/// turns into something undefined.
///
/// # Errors
/// An undefined error for an undefined object, and for a strictly undefined key of a dict.
pub fn get_item(vm: &dyn Interpreter, object: &Obj, key: &Obj) -> Result<Option<Obj>> {
    let index = |len: usize| as_index(key).and_then(|i| wrap_index(&i, len));
    Ok(match object {
        Obj::Undefined(u) => return Err(u.error()),
        Obj::Dict(dict) => match key {
            Obj::Str(s) | Obj::Markup(s) => {
                vm.burn(s.len() / 64)?;
                dict.get_str(s)
            }
            // Undefined values have a hash, unless they are strict, but are never keys.
            Obj::Undefined(u) => return u.check().map(|()| None),
            key => hash_key(key).ok().and_then(|key| dict.get(&key)),
        },
        Obj::List(list) => index(list.len()).and_then(|i| list.get(i)),
        Obj::Tuple(items) => index(items.len()).map(|i| items[i].clone()),
        Obj::Str(s) | Obj::Markup(s) => {
            // Positions are characters, which are found by counting.
            vm.burn(s.len() / 16)?;
            let len = s.chars().count();
            let found = index(len).and_then(|i| s.chars().nth(i));
            found.map(|c| object.with_text(c.encode_utf8(&mut [0; 4]) as &str))
        }
        Obj::Bytes(b) => index(b.len()).map(|i| Obj::from(i64::from(b[i]))),
        Obj::Native(native) => native.item(vm, key)?,
        _ => None,
    })
}

/// `object[start:stop:step]`.
///
/// # Errors
/// Python's `TypeError`s and the `ValueError` for a step of zero.
pub fn slice(
    vm: &dyn Interpreter,
    object: &Obj,
    start: &Obj,
    stop: &Obj,
    step: &Obj,
) -> Result<Obj> {
    let picked = |len: usize| {
        let picked = SlicePositions::of(slice_bounds(len, start, stop, step)?);
        vm.burn(picked.count).map(|()| picked)
    };
    vm.made(match object {
        Obj::Undefined(u) => return Err(u.error()),
        Obj::Str(s) | Obj::Markup(s) => {
            // Positions are characters, which are found by counting.
            vm.read_all(&[object])?;
            let text: Str = if s.is_ascii() {
                let picked = picked(s.len())?;
                match picked.run() {
                    Some(run) => s[run].into(),
                    None => {
                        let chars = picked.indices().map(|i| char::from(s.as_bytes()[i]));
                        chars.collect::<String>().into()
                    }
                }
            } else {
                let chars: Vec<char> = s.chars().collect();
                let picked = picked(chars.len())?;
                picked
                    .indices()
                    .map(|i| chars[i])
                    .collect::<String>()
                    .into()
            };
            object.with_text(text)
        }
        Obj::List(l) => {
            let picked = picked(l.len())?;
            Obj::list(l.read(|items| picked.of_items(items)))
        }
        Obj::Tuple(t) => Obj::tuple(picked(t.len())?.of_items(t)),
        Obj::Bytes(b) => Obj::Bytes(picked(b.len())?.indices().map(|i| b[i]).collect()),
        Obj::Dict(_) => return Err(Error::type_error("unhashable type: 'slice'")),
        Obj::Native(native)
            if let Some(sliced) = native.slice(&|len| slice_bounds(len, start, stop, step)) =>
        {
            sliced?
        }
        other => {
            return Err(Error::type_error(format!(
                "'{}' object is not subscriptable",
                other.type_name()
            )));
        }
    })
}

/// The positions that a slice picks.
struct SlicePositions {
    from: i64,
    step: i64,
    count: usize,
}

impl SlicePositions {
    fn of([from, to, step]: [i64; 3]) -> Self {
        // The bounds are between -1 and the length, so the difference does not overflow.
        let span = if step > 0 { to - from } else { from - to };
        let steps = u64::try_from(span).map_or(0, |span| span.div_ceil(step.unsigned_abs()));
        let count = usize::try_from(steps).unwrap_or(usize::MAX);
        SlicePositions { from, step, count }
    }

    fn indices(&self) -> impl Iterator<Item = usize> + use<> {
        let (from, step) = (self.from, self.step);
        let steps = std::iter::successors(Some(from), move |at| at.checked_add(step));
        let indices = steps.map(|at| usize::try_from(at).unwrap_or_default());
        indices.take(self.count)
    }

    /// The positions as a range, if they are adjacent and ascending.
    fn run(&self) -> Option<std::ops::Range<usize>> {
        let from = usize::try_from(self.from).ok()?;
        (self.step == 1).then(|| from..from + self.count)
    }

    fn of_items(&self, items: &[Obj]) -> Vec<Obj> {
        match self.run() {
            Some(run) => items[run].to_vec(),
            None => self.indices().map(|i| items[i].clone()).collect(),
        }
    }
}

/// The first position, the one before which to stop, and the step (Python's `slice.indices`).
fn slice_bounds(len: usize, start: &Obj, stop: &Obj, step: &Obj) -> Result<[i64; 3]> {
    let bound = |object: &Obj| -> Result<Option<i64>> {
        match (object, as_index(object)) {
            (Obj::None, _) => Ok(None),
            (_, Some(i)) => Ok(Some(i.to_i64().unwrap_or(if i.is_negative() {
                i64::MIN
            } else {
                i64::MAX
            }))),
            (other, _) => {
                let message = "slice indices must be integers or None or have an __index__ method";
                let error = Error::type_error(message);
                Err(match other {
                    Obj::Undefined(u) => error.with_help(&*u.message),
                    _ => error,
                })
            }
        }
    };
    let step = bound(step)?.unwrap_or(1);
    if step == 0 {
        return Err(Error::value_error("slice step cannot be zero"));
    }
    let len = i64::try_from(len).unwrap_or(i64::MAX);
    // A bound can be one before the first position only if the step is negative.
    let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let clamp = |i: i64| {
        if i < 0 {
            i.saturating_add(len).max(low)
        } else {
            i.min(high)
        }
    };
    let from = bound(start)?.map_or(if step > 0 { low } else { high }, clamp);
    let to = bound(stop)?.map_or(if step > 0 { high } else { low }, clamp);
    Ok([from, to, step])
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn a_slice_picks_what_steps_from_bound_to_bound_meet() {
        let bounds = [-7, -4, -1, 0, 1, 2, 5, 9];
        for (len, step) in [
            (0, 1),
            (5, 1),
            (5, 2),
            (5, -1),
            (5, -3),
            (1, i64::MIN),
            (5, i64::MAX),
        ] {
            for (start, stop) in bounds.iter().flat_map(|a| bounds.map(|b| (*a, b))) {
                let [start, stop, by] = [start, stop, step].map(Obj::from);
                let [from, to, step] = slice_bounds(len, &start, &stop, &by).unwrap();
                let picked = SlicePositions::of([from, to, step]);
                let meets = |at: &i64| if step > 0 { *at < to } else { *at > to };
                let steps = std::iter::successors(Some(from), |at| at.checked_add(step));
                let expected: Vec<usize> = steps
                    .take_while(meets)
                    .map(|at| usize::try_from(at).unwrap())
                    .collect();
                assert_eq!(picked.indices().collect::<Vec<_>>(), expected);
                assert!(picked.run().is_none_or(|run| run.eq(expected)));
            }
        }
    }

    #[test]
    fn quick_comparisons_say_what_full_ones_say() {
        let long = "x".repeat(LONG);
        let objects = [
            Obj::from(1),
            Obj::from(-2),
            Obj::from(2.0),
            Obj::Bool(true),
            Obj::from("a"),
            Obj::from("b"),
            Obj::from(&*long),
            Obj::Markup("a".into()),
            Obj::Int("100000000000000000000".parse().unwrap()),
        ];
        for (a, b) in objects
            .iter()
            .flat_map(|a| objects.iter().map(move |b| (a, b)))
        {
            let equal = Comparison::default().equal(a, b).unwrap();
            assert!(quick_equal(a, b).is_none_or(|quick| quick == equal));
            if let Some(quick) = quick_order(a, b) {
                let order = Comparison::default().order(a, b, "<").unwrap();
                assert_eq!(Some(quick), order);
            }
        }
    }
}
