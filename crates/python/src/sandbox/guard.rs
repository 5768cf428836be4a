//! The functions that rewritten code calls: they spend steps, and look at sizes before anything grows.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use mapstack_python_protocol::Bounds;
use rustpython_vm::builtins::{
    PyBaseExceptionRef, PyBoundMethod, PyByteArray, PyBytes, PyDict, PyInt, PyList, PySet, PyStr, PySuper, PyTuple,
    PyType, PyTypeRef,
};
use rustpython_vm::function::FuncArgs;
use rustpython_vm::{AsObject, PyObject, PyObjectRef, PyResult, VirtualMachine};

use super::instrument::{full_name, is_refused, is_watched};

/// What one value may weigh, in bytes.
pub(crate) const MAX_VALUE: usize = 64 << 20;
/// What all large values together may weigh, dead ones included.
const MAX_TOTAL: u64 = 4 << 30;
/// From where a value is large.
const LARGE: usize = 64 << 10;
/// The largest integer, in bits.
const MAX_BITS: u64 = 1 << 20;
/// The largest width of a format or padding.
const MAX_WIDTH: i64 = 10_000_000;
/// The most parts of a value that is printed, each counted where it appears.
const MAX_PARTS: usize = 2_000_000;

/// What a run may still spend.
#[derive(Debug)]
pub(crate) struct Meter {
    fuel: Cell<u64>,
    deadline: Cell<Option<Instant>>,
    clock: Cell<u8>,
    total: Cell<u64>,
    output: Cell<usize>,
    /// Why the run ends; set once, it stays.
    broken: RefCell<Option<String>>,
}

impl Meter {
    pub(crate) fn new() -> Self {
        Meter {
            fuel: Cell::new(0),
            deadline: Cell::new(None),
            clock: Cell::new(0),
            total: Cell::new(0),
            output: Cell::new(0),
            broken: RefCell::new(None),
        }
    }

    pub(crate) fn start(&self, bounds: &Bounds) {
        self.fuel.set(bounds.fuel);
        self.deadline.set(Instant::now().checked_add(Duration::from_millis(bounds.time)));
        self.total.set(0);
        self.output.set(usize::try_from(bounds.output).unwrap_or(usize::MAX));
        *self.broken.borrow_mut() = None;
    }

    /// Work done for the run by its host does not count.
    pub(crate) fn pause(&self, spent: Duration) {
        if let Some(deadline) = self.deadline.get() {
            self.deadline.set(deadline.checked_add(spent));
        }
    }

    pub(crate) fn broken(&self) -> Option<String> {
        self.broken.borrow().clone()
    }

    fn tick(&self) -> Result<(), String> {
        if let Some(why) = self.broken.borrow().as_ref() {
            return Err(why.clone());
        }
        let fuel = self.fuel.get();
        if fuel == 0 {
            return Err("the template ran for too many steps".to_owned());
        }
        self.fuel.set(fuel - 1);
        let clock = self.clock.get().wrapping_add(1);
        self.clock.set(clock);
        if clock.is_multiple_of(8) && self.deadline.get().is_some_and(|deadline| Instant::now() > deadline) {
            return Err("the template ran for too long".to_owned());
        }
        Ok(())
    }

    fn charge(&self, weight: usize) -> Result<(), String> {
        if weight < LARGE {
            return Ok(());
        }
        if weight > MAX_VALUE {
            return Err(too_large(weight));
        }
        let total = self.total.get().saturating_add(weight as u64);
        self.total.set(total);
        if total > MAX_TOTAL { Err("the template made too many large values".to_owned()) } else { Ok(()) }
    }

    fn write(&self, bytes: usize) -> Result<(), String> {
        match self.output.get().checked_sub(bytes) {
            Some(left) => {
                self.output.set(left);
                Ok(())
            }
            None => Err("the template's output is too large".to_owned()),
        }
    }
}

fn too_large(weight: usize) -> String {
    format!("a value of {weight} bytes is too large; the limit is {MAX_VALUE}")
}

/// The meter with the exception class that tells of it.
#[derive(Clone)]
pub(crate) struct Guard {
    pub(crate) meter: Rc<Meter>,
    pub(crate) limit_error: PyTypeRef,
}

impl Guard {
    fn raise(&self, why: String, vm: &VirtualMachine) -> PyBaseExceptionRef {
        let mut broken = self.meter.broken.borrow_mut();
        let why = broken.get_or_insert(why).clone();
        vm.new_exception_msg(self.limit_error.clone(), why.into())
    }

    fn check<T>(&self, result: Result<T, String>, vm: &VirtualMachine) -> PyResult<T> {
        result.map_err(|why| self.raise(why, vm))
    }

    fn expect(&self, weight: usize, vm: &VirtualMachine) -> PyResult<()> {
        if weight > MAX_VALUE { Err(self.raise(too_large(weight), vm)) } else { Ok(()) }
    }

    /// A result that may be large.
    fn big(&self, value: PyObjectRef, vm: &VirtualMachine) -> PyResult {
        self.check(self.meter.charge(weight(&value)), vm)?;
        Ok(value)
    }

    fn operate(&self, op: Op, in_place: bool, a: &PyObject, b: &PyObject, vm: &VirtualMachine) -> PyResult {
        match op {
            Op::Add => self.expect(weight(a).saturating_add(weight(b)), vm)?,
            Op::Mul => self.expect(product(a, b), vm)?,
            Op::Pow | Op::Lshift => {
                if let (Some(a), Some(b)) = (a.downcast_ref::<PyInt>(), b.downcast_ref::<PyInt>()) {
                    self.expect_bits(op, a, b, vm)?;
                }
            }
            Op::Mod => self.expect_format(a, b, vm)?,
        }
        let value = match (op, in_place) {
            (Op::Add, false) => vm._add(a, b),
            (Op::Add, true) => vm._iadd(a, b),
            (Op::Mul, false) => vm._mul(a, b),
            (Op::Mul, true) => vm._imul(a, b),
            (Op::Pow, false) => vm._pow(a, b, &vm.ctx.none()),
            (Op::Pow, true) => vm._ipow(a, b, &vm.ctx.none()),
            (Op::Lshift, false) => vm._lshift(a, b),
            (Op::Lshift, true) => vm._ilshift(a, b),
            (Op::Mod, false) => vm._mod(a, b),
            (Op::Mod, true) => vm._imod(a, b),
        }?;
        self.big(value, vm)
    }

    fn expect_bits(&self, op: Op, a: &PyInt, b: &PyInt, vm: &VirtualMachine) -> PyResult<()> {
        let bits = a.as_bigint().bits();
        let by = u64::try_from(b.as_bigint()).unwrap_or(if bits > 1 { u64::MAX } else { 1 });
        let predicted = match op {
            Op::Pow if bits <= 1 => 1,
            Op::Pow if is_negative(b) => 1,
            Op::Pow => bits.saturating_mul(by),
            _ if bits == 0 || is_negative(b) => 1,
            _ => bits.saturating_add(by),
        };
        if predicted > MAX_BITS {
            return Err(self.raise(format!("an integer of {predicted} bits is too large; the limit is {MAX_BITS}"), vm));
        }
        Ok(())
    }

    /// `format % values`.
    fn expect_format(&self, format: &PyObject, values: &PyObject, vm: &VirtualMachine) -> PyResult<()> {
        let text = if let Some(text) = format.downcast_ref::<PyStr>() {
            text.to_string_lossy().into_owned()
        } else if let Some(bytes) = format.downcast_ref::<PyBytes>() {
            String::from_utf8_lossy(bytes.as_bytes()).into_owned()
        } else {
            return Ok(());
        };
        if has_wide_digits(&text) {
            return Err(self.raise("the width in a format is too large".to_owned(), vm));
        }
        if text.contains('*')
            && let Some(values) = values.downcast_ref::<PyTuple>()
            && values.iter().any(|value| small_int(value).is_none_or(|i| i.abs() > MAX_WIDTH) && is_int(value))
        {
            return Err(self.raise("the width in a format is too large".to_owned(), vm));
        }
        self.printable(values, vm)?;
        self.expect(text.matches('%').count().saturating_mul(heaviest(values)), vm)
    }

    /// Refuse to print what has too many parts: a list that holds itself often enough is endless text.
    fn printable(&self, value: &PyObject, vm: &VirtualMachine) -> PyResult<()> {
        let mut left = MAX_PARTS;
        if parts(value, &mut left, 0) {
            Ok(())
        } else {
            Err(self.raise("a value has too many parts to be printed".to_owned(), vm))
        }
    }

    /// An attribute that is looked at before it is handed out.
    fn attribute(&self, object: PyObjectRef, name: &str, vm: &VirtualMachine) -> PyResult {
        if is_refused(name) {
            return Err(refused(name, vm));
        }
        let on_type = object.downcast_ref::<PyType>().is_some();
        if name == "__dict__" && on_type {
            return Err(refused(name, vm));
        }
        if !is_watched(name) || name == "__dict__" {
            return object.get_attr(vm.ctx.intern_str(name), vm);
        }
        let builtin_type = object.downcast_ref::<PyType>().is_some_and(|ty| grows(ty, vm));
        if builtin_type || object.downcast_ref::<PySuper>().is_some() {
            return Err(vm.new_attribute_error(format!(
                "'{name}' is only available on a value, not on a type: templates are checked for what grows"
            )));
        }
        let found = object.get_attr(vm.ctx.intern_str(name), vm)?;
        if !grows(object.class(), vm) || found.downcast_ref::<PyBoundMethod>().is_some_and(is_python) {
            return Ok(found);
        }
        if name.starts_with("__") {
            return Err(refused(name, vm));
        }
        let (guard, name) = (self.clone(), name.to_owned());
        let function = vm.new_function("method", move |args: FuncArgs, vm: &VirtualMachine| -> PyResult {
            let args = guard.look(&object, &name, args, vm)?;
            let value = found.call(args, vm)?;
            guard.big(value, vm)
        });
        Ok(function.into())
    }

    /// Check the arguments of a method that can make something large.
    fn look(&self, object: &PyObject, name: &str, mut args: FuncArgs, vm: &VirtualMachine) -> PyResult<FuncArgs> {
        let own = weight(object);
        match name {
            "center" | "ljust" | "rjust" | "zfill" | "to_bytes" => {
                let all = args.args.iter().chain(args.kwargs.values());
                if all.filter(|arg| is_int(arg)).any(|arg| small_int(arg).is_none_or(|i| i > MAX_WIDTH)) {
                    return Err(self.raise("the width is too large".to_owned(), vm));
                }
            }
            "expandtabs" => {
                let tab = args.args.iter().chain(args.kwargs.values()).next().and_then(|arg| small_int(arg));
                let tab = usize::try_from(tab.unwrap_or(8)).unwrap_or(0);
                self.expect(own.saturating_mul(tab.max(1)), vm)?;
            }
            "join" => {
                if let Some(items) = args.args.first_mut() {
                    let list: Vec<PyObjectRef> = items.clone().try_into_value(vm)?;
                    let total = list.iter().fold(0usize, |sum, item| sum.saturating_add(weight(item)));
                    self.expect(own.saturating_mul(list.len()).saturating_add(total), vm)?;
                    *items = vm.ctx.new_list(list).into();
                }
            }
            "replace" => {
                if let [old, new, ..] = args.args.as_slice() {
                    let most = (own / weight(old).max(1)).saturating_add(1).saturating_mul(weight(new));
                    if most > MAX_VALUE {
                        let count = vm.call_method(object, "count", (old.clone(),))?;
                        let count = small_int(&count).and_then(|i| usize::try_from(i).ok()).unwrap_or(usize::MAX);
                        self.expect(own.saturating_add(count.saturating_mul(weight(new))), vm)?;
                    }
                }
            }
            "translate" => {
                let widest = match args.args.first().and_then(|table| table.downcast_ref::<PyDict>()) {
                    Some(table) => table.into_iter().map(|(_, value)| weight(&value)).max().unwrap_or(0),
                    None => 0,
                };
                self.expect(own.saturating_mul(widest.max(1)), vm)?;
            }
            "extend" => {
                let more = args.args.first().map_or(0, |arg| weight(arg));
                self.expect(own.saturating_add(more), vm)?;
            }
            _ => self.look_at_format(object, &args, vm)?,
        }
        Ok(args)
    }

    fn look_at_format(&self, object: &PyObject, args: &FuncArgs, vm: &VirtualMachine) -> PyResult<()> {
        let Some(text) = object.downcast_ref::<PyStr>() else { return Ok(()) };
        let text = text.to_string_lossy();
        if let Some(name) = refused_in(&text) {
            return Err(refused(name, vm));
        }
        let values = || args.args.iter().chain(args.kwargs.values());
        let computed = text.match_indices('{').any(|(at, _)| {
            text.get(at + 1..).and_then(|rest| rest.find(['{', '}']).map(|end| rest[end..].starts_with('{') && end > 0))
                == Some(true)
        });
        let wide_value = |value: &PyObjectRef| match value.downcast_ref::<PyStr>() {
            Some(text) => has_wide_digits(&text.to_string_lossy()),
            None => is_int(value) && small_int(value).is_none_or(|i| i.abs() > MAX_WIDTH),
        };
        if has_wide_digits(&text) || (computed && values().any(wide_value)) {
            return Err(self.raise("the width in a format is too large".to_owned(), vm));
        }
        for value in values() {
            self.printable(value, vm)?;
        }
        let heaviest = values().map(|value| weight(value)).max().unwrap_or(0);
        self.expect(text.matches('{').count().saturating_mul(heaviest), vm)
    }

    /// The functions by their short names.
    pub(crate) fn functions(&self, vm: &VirtualMachine) -> Vec<(String, PyObjectRef)> {
        let mut out: Vec<(String, PyObjectRef)> = Vec::new();
        let mut add = |short: &str, function: PyObjectRef| out.push((full_name(short), function));
        let guard = self.clone();
        add(
            "tick",
            vm.new_function("tick", move |vm: &VirtualMachine| -> PyResult<()> { guard.check(guard.meter.tick(), vm) })
                .into(),
        );
        for op in Op::ALL {
            for in_place in [false, true] {
                let guard = self.clone();
                let function = vm.new_function(
                    "operator",
                    move |a: PyObjectRef, b: PyObjectRef, vm: &VirtualMachine| -> PyResult {
                        guard.operate(op, in_place, &a, &b, vm)
                    },
                );
                let short = op.short();
                add(&if in_place { format!("i{short}") } else { short.to_owned() }, function.into());
            }
        }
        let guard = self.clone();
        add(
            "iattr",
            vm.new_function("operator", move |args: FuncArgs, vm: &VirtualMachine| -> PyResult<()> {
                let (op, object, name, value) = args.bind::<(String, PyObjectRef, String, PyObjectRef)>(vm)?;
                let old = object.get_attr(vm.ctx.intern_str(name.as_str()), vm)?;
                let new = guard.operate(Op::of(&op), true, &old, &value, vm)?;
                object.set_attr(vm.ctx.intern_str(name.as_str()), new, vm)
            })
            .into(),
        );
        let guard = self.clone();
        add(
            "iitem",
            vm.new_function("operator", move |args: FuncArgs, vm: &VirtualMachine| -> PyResult<()> {
                let (op, object, key, value) = args.bind::<(String, PyObjectRef, PyObjectRef, PyObjectRef)>(vm)?;
                let old = object.get_item(&*key, vm)?;
                let new = guard.operate(Op::of(&op), true, &old, &value, vm)?;
                object.set_item(&*key, new, vm)
            })
            .into(),
        );
        let guard = self.clone();
        add(
            "big",
            vm.new_function("big", move |value: PyObjectRef, vm: &VirtualMachine| -> PyResult { guard.big(value, vm) })
                .into(),
        );
        let guard = self.clone();
        add(
            "attr",
            vm.new_function("getattr", move |object: PyObjectRef, name: String, vm: &VirtualMachine| -> PyResult {
                guard.attribute(object, &name, vm)
            })
            .into(),
        );
        add("slice", vm.ctx.types.slice_type.to_owned().into());
        out
    }

    /// Functions for the builtins and modules, by plain names.
    pub(crate) fn helpers(&self, vm: &VirtualMachine) -> Vec<(&'static str, PyObjectRef)> {
        let guard = self.clone();
        let printable = vm.new_function("printable", move |value: PyObjectRef, vm: &VirtualMachine| -> PyResult {
            guard.printable(&value, vm)?;
            Ok(value)
        });
        let guard = self.clone();
        let weigh = vm.new_function("weigh", move |bytes: PyObjectRef, vm: &VirtualMachine| -> PyResult<()> {
            match small_int(&bytes).map(usize::try_from) {
                Some(Ok(bytes)) => guard.expect(bytes, vm),
                Some(Err(_)) => Ok(()),
                None => guard.expect(usize::MAX, vm),
            }
        });
        let guard = self.clone();
        let written = vm.new_function("written", move |text: PyObjectRef, vm: &VirtualMachine| -> PyResult<()> {
            guard.check(guard.meter.write(weight(&text)), vm)
        });
        let guard = self.clone();
        let spec = vm.new_function("spec", move |text: PyObjectRef, vm: &VirtualMachine| -> PyResult<()> {
            let wide = text.downcast_ref::<PyStr>().is_some_and(|text| spec_is_wide(&text.to_string_lossy()));
            if wide { Err(guard.raise("the width in a format is too large".to_owned(), vm)) } else { Ok(()) }
        });
        let names = vm.new_function("refused", |name: PyObjectRef| -> bool {
            name.downcast_ref::<PyStr>().is_some_and(|name| is_refused(&name.to_string_lossy()))
        });
        vec![
            ("printable", printable.into()),
            ("weigh", weigh.into()),
            ("written", written.into()),
            ("spec", spec.into()),
            ("refused", names.into()),
        ]
    }
}

/// The operators that can make something large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Add,
    Mul,
    Pow,
    Lshift,
    Mod,
}

impl Op {
    const ALL: [Op; 5] = [Op::Add, Op::Mul, Op::Pow, Op::Lshift, Op::Mod];

    fn short(self) -> &'static str {
        match self {
            Op::Add => "add",
            Op::Mul => "mul",
            Op::Pow => "pow",
            Op::Lshift => "lshift",
            Op::Mod => "mod",
        }
    }

    /// By the name of its form in place.
    fn of(in_place: &str) -> Self {
        Op::ALL.into_iter().find(|op| in_place.strip_prefix('i') == Some(op.short())).unwrap_or(Op::Add)
    }
}

/// Whether an integer is below zero.
fn is_negative(int: &PyInt) -> bool {
    i64::try_from(int.as_bigint()).is_ok_and(|int| int < 0)
}

fn refused(name: &str, vm: &VirtualMachine) -> PyBaseExceptionRef {
    vm.new_attribute_error(format!("'{name}' is not available to templates: it leads out of the sandbox"))
}

fn refused_in(text: &str) -> Option<&str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).find(|word| is_refused(word))
}

/// Whether values of a type can make something large of themselves.
fn grows(ty: &rustpython_vm::Py<PyType>, vm: &VirtualMachine) -> bool {
    let types = &vm.ctx.types;
    [types.str_type, types.bytes_type, types.bytearray_type, types.list_type, types.tuple_type, types.int_type]
        .into_iter()
        .any(|base| ty.fast_issubclass(base))
}

fn is_python(method: &rustpython_vm::Py<PyBoundMethod>) -> bool {
    method.class().name().to_string() == "method"
}

/// What a value weighs by itself, in bytes.
pub(crate) fn weight(value: &PyObject) -> usize {
    if let Some(text) = value.downcast_ref::<PyStr>() {
        text.byte_len()
    } else if let Some(list) = value.downcast_ref::<PyList>() {
        list.borrow_vec().len().saturating_mul(8)
    } else if let Some(int) = value.downcast_ref::<PyInt>() {
        usize::try_from(int.as_bigint().bits() / 8).unwrap_or(usize::MAX)
    } else if let Some(tuple) = value.downcast_ref::<PyTuple>() {
        tuple.len().saturating_mul(8)
    } else if let Some(bytes) = value.downcast_ref::<PyBytes>() {
        bytes.as_bytes().len()
    } else if let Some(dict) = value.downcast_ref::<PyDict>() {
        dict.__len__().saturating_mul(32)
    } else if let Some(bytes) = value.downcast_ref::<PyByteArray>() {
        bytes.borrow_buf().len()
    } else if let Some(set) = value.downcast_ref::<PySet>() {
        set.elements().len().saturating_mul(32)
    } else {
        0
    }
}

fn heaviest(values: &PyObject) -> usize {
    match values.downcast_ref::<PyTuple>() {
        Some(values) => values.iter().map(|value| weight(value)).max().unwrap_or(0),
        None => weight(values),
    }
}

/// The weight of `a * b`.
fn product(a: &PyObject, b: &PyObject) -> usize {
    match (a.downcast_ref::<PyInt>(), b.downcast_ref::<PyInt>()) {
        (Some(_), Some(_)) => {
            let sum = weight(a).saturating_add(weight(b));
            if sum as u64 > MAX_BITS / 8 { usize::MAX } else { sum }
        }
        (None, Some(_)) => weight(a).saturating_mul(times(b)),
        (Some(_), None) => weight(b).saturating_mul(times(a)),
        (None, None) => 0,
    }
}

/// A number of repetitions. One beyond 64 bits is refused by Python itself.
fn times(value: &PyObject) -> usize {
    small_int(value).and_then(|times| usize::try_from(times).ok()).unwrap_or(0)
}

fn is_int(value: &PyObject) -> bool {
    value.downcast_ref::<PyInt>().is_some()
}

fn small_int(value: &PyObject) -> Option<i64> {
    value.downcast_ref::<PyInt>().and_then(|int| i64::try_from(int.as_bigint()).ok())
}

/// Count the parts of a value down to `left`; false if there are more.
fn parts(value: &PyObject, left: &mut usize, depth: usize) -> bool {
    if *left == 0 {
        return false;
    }
    *left -= 1;
    // Deeper values meet Python's own limit of recursion.
    if depth > 400 {
        return true;
    }
    if let Some(list) = value.downcast_ref::<PyList>() {
        let items = list.borrow_vec().to_vec();
        items.iter().all(|item| parts(item, left, depth + 1))
    } else if let Some(tuple) = value.downcast_ref::<PyTuple>() {
        tuple.iter().all(|item| parts(item, left, depth + 1))
    } else if let Some(dict) = value.downcast_ref::<PyDict>() {
        dict.into_iter().all(|(key, value)| parts(&key, left, depth + 1) && parts(&value, left, depth + 1))
    } else {
        true
    }
}

/// Whether a format's text holds a number too large for a width.
fn has_wide_digits(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.trim_start_matches('0').len() > 7)
}

/// Whether a format specification asks for too great a width.
pub(crate) fn spec_is_wide(spec: &str) -> bool {
    has_wide_digits(spec)
}
