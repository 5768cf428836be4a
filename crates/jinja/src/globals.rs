//! The names that every template has.

use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;

use mapstack_pyobject::{
    CallArgs, DictRef, Entries, Error, Interpreter, Iter, Obj, ObjIter, Object, Result, TupleRef,
    as_index,
};
use mapstack_value::{MapKind, Str};

use super::job::call_in_render;
use super::named::NamedFunction;
use super::scope::{Names, ScopeChain};
use super::vm::Vm;

/// Jinja2's own globals.
pub fn builtins() -> Rc<ScopeChain> {
    thread_local! {
        // Functions without state, so every render on a thread can share them.
        static BUILTINS: Rc<ScopeChain> = ScopeChain::over(
            TABLE.iter().map(|(name, call)| (Str::from(*name), RustFunction::object(name, *call))).collect::<Names>(),
            None,
        );
    }
    BUILTINS.with(Rc::clone)
}

/// The code of a [`RustFunction`].
pub type Call = fn(&Vm<'_>, CallArgs) -> Result<Obj>;

const TABLE: &[(&str, Call)] = &[
    ("range", range),
    ("dict", |vm, args| dict(vm, args, MapKind::Dict)),
    ("lipsum", lipsum),
    ("cycler", cycler),
    ("joiner", joiner),
    ("namespace", namespace),
];

/// A function that is implemented in Rust, as an object that templates can call.
#[derive(Clone, Copy)]
pub struct RustFunction {
    name: &'static str,
    call: Call,
}

impl Object for RustFunction {
    fn type_name(&self) -> &'static str {
        "function"
    }

    fn repr(&self) -> Result<String> {
        // Some are classes in Jinja, and others have another name there.
        let shown = match self.name {
            "cycler" => "class 'jinja2.utils.Cycler'",
            "joiner" => "class 'jinja2.utils.Joiner'",
            "namespace" => "class 'jinja2.utils.Namespace'",
            "dict" => "class 'dict'",
            "lipsum" => "function generate_lorem_ipsum",
            "range" => "function safe_range",
            name => return Ok(format!("<function {name}>")),
        };
        Ok(format!("<{shown}>"))
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, interpreter: &dyn Interpreter, args: CallArgs) -> Result<Obj> {
        let this = *self;
        call_in_render(interpreter, move |vm| this.call_in(vm, args))
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

impl RustFunction {
    /// The function as an object.
    pub fn object(name: &'static str, call: Call) -> Obj {
        Obj::native(RustFunction { name, call })
    }

    /// Call the function.
    pub(super) fn call_in(self, vm: &Vm<'_>, args: CallArgs) -> Result<Obj> {
        vm.charged(NamedFunction::Function, self.name, None, &args)?;
        vm.made((self.call)(vm, args)?)
    }
}

/// `range(stop)`, `range(start, stop[, step])`.
#[derive(Clone)]
struct Range {
    start: i64,
    stop: i64,
    step: i64,
}

/// The sandbox's `MAX_RANGE`.
const MAX_RANGE: usize = 100_000;

fn range(_: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let [a, b, c] = args.only_positional("range", 1)?;
    let integer = |object: Option<Obj>, default: i64| match object {
        None => Ok(default),
        Some(Obj::Undefined(u)) => Err(u.error()),
        Some(object) => match as_index(&object) {
            Some(i) => i.to_i64().ok_or_else(|| {
                Error::python(
                    "OverflowError",
                    "Python int too large to convert to C ssize_t",
                )
            }),
            None => Err(Error::type_error(format!(
                "'{}' object cannot be interpreted as an integer",
                object.type_name()
            ))),
        },
    };
    let (start, stop) = match b {
        None => (0, integer(a, 0)?),
        Some(b) => (integer(a, 0)?, integer(Some(b), 0)?),
    };
    let step = integer(c, 1)?;
    if step == 0 {
        return Err(Error::value_error("range() arg 3 must not be zero"));
    }
    let range = Range { start, stop, step };
    if range.count() > MAX_RANGE {
        let message = format!(
            "Range too big. The sandbox blocks ranges larger than MAX_RANGE ({MAX_RANGE})."
        );
        return Err(Error::python("OverflowError", message));
    }
    Ok(Obj::native(range))
}

impl Range {
    fn count(&self) -> usize {
        let span = i128::from(self.stop) - i128::from(self.start);
        let step = i128::from(self.step);
        if span.signum() != step.signum() {
            return 0;
        }
        usize::try_from((span.abs() + step.abs() - 1) / step.abs()).unwrap_or(usize::MAX)
    }

    /// Every item lies between `start` and `stop`, but the way to it need not fit 64 bits.
    fn nth(&self, index: usize) -> Obj {
        let item = i128::from(self.start)
            + i128::from(self.step) * i128::try_from(index).unwrap_or_default();
        Obj::Int(item.into())
    }
}

struct RangeIter {
    next: i64,
    step: i64,
    left: usize,
}

impl ObjIter for RangeIter {
    fn next(&mut self, _: &dyn Interpreter) -> Result<Option<Obj>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let item = Obj::from(self.next);
        // Every item fits; only what would come after the last one may not.
        self.next = self.next.wrapping_add(self.step);
        Ok(Some(item))
    }
}

impl Object for Range {
    fn type_name(&self) -> &'static str {
        "range"
    }

    fn repr(&self) -> Result<String> {
        Ok(match self.step {
            1 => format!("range({}, {})", self.start, self.stop),
            step => format!("range({}, {}, {step})", self.start, self.stop),
        })
    }

    fn slice(&self, bounds: &dyn Fn(usize) -> Result<[i64; 3]>) -> Option<Result<Obj>> {
        let place = |at: i64| self.step.saturating_mul(at).saturating_add(self.start);
        Some(bounds(self.count()).map(|[from, to, step]| {
            Obj::native(Range {
                start: place(from),
                stop: place(to),
                step: self.step.saturating_mul(step),
            })
        }))
    }

    fn truthy(&self) -> bool {
        self.count() > 0
    }

    fn iter(&self) -> Option<Iter> {
        Some(Iter::plain(
            "range_iterator",
            RangeIter {
                next: self.start,
                step: self.step,
                left: self.count(),
            },
        ))
    }

    fn len(&self) -> Option<usize> {
        Some(self.count())
    }

    fn is_subscriptable(&self) -> bool {
        true
    }

    fn item(&self, _: &dyn Interpreter, key: &Obj) -> Result<Option<Obj>> {
        Ok(as_index(key)
            .and_then(|i| mapstack_pyobject::wrap_index(&i, self.count()))
            .map(|i| self.nth(i)))
    }

    fn attr(&self, _: &dyn Interpreter, name: &str) -> Option<Obj> {
        match name {
            "start" => Some(Obj::from(self.start)),
            "stop" => Some(Obj::from(self.stop)),
            "step" => Some(Obj::from(self.step)),
            _ => None,
        }
    }
}

/// `dict(…)`, or what makes a mapping of another kind.
///
/// # Errors
/// Python's `TypeError`s and `ValueError`s.
pub fn dict(vm: &Vm<'_>, args: CallArgs, kind: MapKind) -> Result<Obj> {
    let name = if kind == MapKind::Dict {
        "dict"
    } else {
        "OrderedDict"
    };
    if args.positional.len() > 1 {
        let message = format!(
            "{name} expected at most 1 argument, got {}",
            args.positional.len()
        );
        return Err(Error::type_error(message));
    }
    let mut entries = Entries::default();
    if let Some(source) = args.positional.first() {
        mapstack_pyobject::methods::update_entries(vm, &mut entries, source)?;
    }
    entries.extend(args.named.into_iter().map(|(k, v)| (k.into(), v)));
    Ok(Obj::Dict(DictRef::with_kind(entries, kind)))
}

/// `namespace(**kw)`: attributes that `set` can assign.
struct Namespace(DictRef);

fn namespace(vm: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let Obj::Dict(attributes) = dict(vm, args, MapKind::Dict)? else {
        return Ok(Obj::None);
    };
    Ok(Obj::native(Namespace(attributes)))
}

impl Object for Namespace {
    fn type_name(&self) -> &'static str {
        "Namespace"
    }

    fn module(&self) -> Option<&str> {
        Some("jinja2.utils")
    }

    fn repr(&self) -> Result<String> {
        Ok(format!(
            "<Namespace {}>",
            mapstack_pyobject::repr(&Obj::Dict(self.0.clone()))?
        ))
    }

    fn repr_around(&self) -> Option<(&'static str, Obj, &'static str)> {
        Some(("<Namespace ", Obj::Dict(self.0.clone()), ">"))
    }

    fn held(&self) -> Option<&DictRef> {
        Some(&self.0)
    }

    fn attr(&self, _: &dyn Interpreter, name: &str) -> Option<Obj> {
        self.0.get_str(name)
    }

    fn set_attr(&self, name: &str, value: Obj) -> bool {
        self.0.change(|attributes| match attributes.get_mut(name) {
            Some(attribute) => *attribute = value,
            None => {
                attributes.insert(name.into(), value);
            }
        });
        true
    }
}

/// `cycler(*items)`.
struct Cycler {
    items: TupleRef,
    at: Cell<usize>,
}

fn cycler(_: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    if args.positional.is_empty() {
        return Err(Error::python(
            "RuntimeError",
            "at least one item has to be provided",
        ));
    }
    Ok(Obj::native(CyclerObject(Rc::new(Cycler {
        items: args.positional.into(),
        at: Cell::new(0),
    }))))
}

struct CyclerObject(Rc<Cycler>);

impl Object for CyclerObject {
    fn type_name(&self) -> &'static str {
        "Cycler"
    }

    fn module(&self) -> Option<&str> {
        Some("jinja2.utils")
    }

    fn attr(&self, _: &dyn Interpreter, name: &str) -> Option<Obj> {
        let state = self.0.clone();
        match name {
            "current" => Some(state.items[state.at.get()].clone()),
            "pos" => Some(Obj::from(state.at.get())),
            "items" => Some(Obj::Tuple(state.items.clone())),
            "next" | "reset" => Some(Obj::native(CyclerMethod {
                state,
                advance: name == "next",
            })),
            _ => None,
        }
    }
}

struct CyclerMethod {
    state: Rc<Cycler>,
    advance: bool,
}

impl Object for CyclerMethod {
    fn type_name(&self) -> &'static str {
        "method"
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, _: &dyn Interpreter, args: CallArgs) -> Result<Obj> {
        let [] = args.only_positional(if self.advance { "next" } else { "reset" }, 0)?;
        let state = &self.state;
        if !self.advance {
            state.at.set(0);
            return Ok(Obj::None);
        }
        let current = state.items[state.at.get()].clone();
        state.at.set((state.at.get() + 1) % state.items.len());
        Ok(current)
    }
}

/// `joiner(sep=', ')`: nothing the first time, then the separator.
struct Joiner {
    /// The separator alone; a tuple drops what it holds without recursion.
    separator: TupleRef,
    used: Cell<bool>,
}

fn joiner(_: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let [separator] = args.bind("joiner", ["sep"])?;
    Ok(Obj::native(Joiner {
        separator: [separator.unwrap_or_else(|| Obj::from(", "))].into(),
        used: Cell::new(false),
    }))
}

impl Object for Joiner {
    fn type_name(&self) -> &'static str {
        "Joiner"
    }

    fn module(&self) -> Option<&str> {
        Some("jinja2.utils")
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, _: &dyn Interpreter, args: CallArgs) -> Result<Obj> {
        let [] = args.only_positional("joiner", 0)?;
        Ok(if self.used.replace(true) {
            self.separator[0].clone()
        } else {
            Obj::from("")
        })
    }
}

const LOREM: &str = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut \
    labore et dolore magna aliqua";

/// Filler text. The reference's is random; this one is the same every time.
fn lipsum(_: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let [n, html, _min, _max] = args.bind("lipsum", ["n", "html", "min", "max"])?;
    let n = n
        .and_then(|n| as_index(&n))
        .and_then(|i| i.to_i64())
        .unwrap_or(5)
        .clamp(0, 1000);
    let html = html.map_or(Ok(true), |h| h.truthy())?;
    let mut sentence = LOREM.to_string();
    sentence.replace_range(..1, "L");
    let paragraphs: Vec<String> = (0..n)
        .map(|_| {
            if html {
                format!("<p>{sentence}.</p>")
            } else {
                format!("{sentence}.")
            }
        })
        .collect();
    let text = paragraphs.join(if html { "\n" } else { "\n\n" });
    Ok(if html {
        Obj::Markup(text.into())
    } else {
        Obj::from(text)
    })
}
