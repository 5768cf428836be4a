//! The secret scalars of a render, by content: those that were secret before, and those computed from them.
//!
//! Text in a template has no room for a mark, and does not need one: a text that equals a secret is as secret. So
//! secrets are identified by content, and an expression that reads one makes its new results secret. Values that are
//! only moved keep their status, so a mapping with one secret does not make its other entries secret.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use foldhash::fast::RandomState;
use mapstack_pyobject::{Obj, to_str};
use mapstack_value::{Key, Str, Value};

use crate::syntax::ast::{Expr, ExprKind};

use crate::named::Conversion;

/// The secret scalars of one or several renders, identified by their text.
///
/// Renders without it pay nothing. A single character, a number of one digit, a boolean and `None` are never secret,
/// and neither is what a template only decides by a secret.
///
/// ```
/// use mapstack_jinja::{Jinja2, NoHost, Request, Taint, render};
/// use mapstack_value::Value;
/// let taint = Taint::default();
/// taint.add(&Value::from("hunter2"));
/// let mut request = Request::new(&Jinja2, "a: {{ pw|upper ~ 1 }} {{ 'ok' }}", &NoHost);
/// request.variables.insert("pw".into(), "hunter2".into());
/// request.taint = Some(&taint);
/// let rendered = render(request).unwrap();
/// assert_eq!((&*rendered.text, rendered.map.secret()), ("a: HUNTER21 ok", &[3..11][..]));
/// assert!(taint.has(&Value::from("HUNTER21")) && !taint.has(&Value::from("ok")));
/// ```
#[derive(Default)]
pub struct Taint {
    known: RefCell<HashMap<Str, Secret, RandomState>>,
    /// Containers and iterators whose whole content is secret, however short. They are kept alive, so that no other
    /// object gets their address.
    carriers: RefCell<HashMap<usize, Obj, RandomState>>,
    /// The values that the expressions being evaluated have read so far, innermost last.
    operands: RefCell<Vec<Operand>>,
}

/// The secret part of a text.
#[derive(Clone)]
enum Secret {
    Whole,
    /// A macro or a filter such as `json` wrote it, and it contains secrets.
    Within(Rc<[Range<usize>]>),
}

struct Operand {
    value: Obj,
    secret: bool,
}

/// The use that an expression makes of the values it reads.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// Its result does not reveal it: a literal, a comparison.
    Clean,
    /// It finds or moves values.
    Moves,
    /// Its result is the last thing it read.
    Chooses,
    /// It computes something new.
    Derives,
    /// It writes data as text.
    Writes,
    /// It reads data from text.
    Reads,
}

/// The content of a text, whichever way a format quotes and folds it: without space, quotes and escapes.
fn unquoted(text: &str) -> String {
    Unquoted::of(text).said
}

/// The same with the places of its characters.
struct Unquoted {
    said: String,
    /// The range of the text for each byte.
    places: Vec<Range<usize>>,
}

impl Unquoted {
    fn of(text: &str) -> Self {
        let (mut said, mut places) = (String::new(), Vec::new());
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            if c == '\\' {
                chars.next_if(|(_, escaped)| matches!(escaped, 'n' | 't' | 'r'));
            } else if !c.is_whitespace() && !matches!(c, '\'' | '"') {
                said.push(c);
                places.resize(said.len(), at..at + c.len_utf8());
            }
        }
        Unquoted { said, places }
    }

    /// The occurrences of a text, however it is quoted and folded.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let text = unquoted(text);
        if text.len() < TELLING {
            return Vec::new();
        }
        let found = self.said.match_indices(&*text);
        found
            .filter_map(|(at, _)| {
                let (first, last) = (self.places.get(at)?, self.places.get(at + text.len() - 1)?);
                Some(first.start..last.end)
            })
            .collect()
    }
}

/// The shortest text that counts as a secret.
const TELLING: usize = 2;

impl Taint {
    /// Mark a value as secret: every scalar in it except keys.
    pub fn add(&self, value: &Value) {
        each_scalar(value, &mut |scalar| self.insert(said(scalar)));
    }

    /// Mark an object with all its content as secret.
    pub fn add_object(&self, object: &Obj) {
        if let Some(address) = address(object) {
            self.carriers.borrow_mut().insert(address, object.clone());
        }
    }

    /// True if a scalar is secret, or one in a container is.
    #[must_use]
    pub fn has(&self, value: &Value) -> bool {
        let mut found = false;
        each_scalar(value, &mut |scalar| {
            found = found || said(scalar).is_some_and(|said| self.knows(&said));
        });
        found
    }

    /// True if nothing is secret.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.borrow().is_empty()
    }

    /// The texts of all secrets, in no particular order.
    #[must_use]
    pub fn texts(&self) -> Vec<Str> {
        let known = self.known.borrow();
        known
            .iter()
            .filter(|(_, secret)| matches!(secret, Secret::Whole))
            .map(|(text, _)| text.clone())
            .collect()
    }

    /// Mark what was read, in any format, from the secret bytes of a text.
    pub fn read_from(&self, text: &str, secret: &[Range<usize>], read: &Value) {
        if secret.is_empty() {
            return;
        }
        let pieces: Vec<String> = secret
            .iter()
            .filter_map(|range| text.get(range.clone()))
            .map(unquoted)
            .filter(|piece| piece.len() >= TELLING)
            .collect();
        each_scalar(read, &mut |scalar| {
            if let Some(said) = said(scalar).filter(|said| {
                let bare = unquoted(said);
                bare.len() >= TELLING
                    && pieces
                        .iter()
                        .any(|piece| bare.contains(&**piece) || piece.contains(&*bare))
            }) {
                self.insert(Some(said));
            }
        });
    }

    /// An expression begins: the result is the position from which on its operands are recorded.
    pub(super) fn begin(&self) -> usize {
        self.operands.borrow().len()
    }

    /// Forget what was read since `from`, after a statement or a failed expression.
    pub(super) fn forget(&self, from: usize) {
        self.operands.borrow_mut().truncate(from);
    }

    /// Record an operand that is not the result of an expression.
    pub(super) fn reads(&self, value: &Obj) {
        let secret = self.is_secret(value);
        self.operands.borrow_mut().push(Operand {
            value: value.clone(),
            secret,
        });
    }

    /// An expression computed `value` from what was read since `from`. `converts` says what a filter
    /// converts between data and text.
    pub(super) fn end(
        &self,
        from: usize,
        expr: &Expr,
        converts: &dyn Fn(&str) -> Option<Conversion>,
        value: &Obj,
    ) {
        let secret = {
            let all = self.operands.borrow();
            let operands = all.get(from..).unwrap_or_default();
            match role(expr, operands, converts) {
                Role::Clean => false,
                Role::Moves => self.moved(operands, value),
                Role::Chooses => {
                    self.is_secret(value) || operands.last().is_some_and(|last| last.secret)
                }
                Role::Derives => self.derived(operands, value),
                Role::Writes => self.written(operands, value),
                Role::Reads => self.read(operands, value),
            }
        };
        let mut all = self.operands.borrow_mut();
        all.truncate(from);
        all.push(Operand {
            value: value.clone(),
            secret,
        });
    }

    fn moved(&self, operands: &[Operand], value: &Obj) -> bool {
        let carried = operands
            .first()
            .is_some_and(|first| self.carries(&first.value))
            || (matches!(value, Obj::List(_) | Obj::Tuple(_) | Obj::Dict(_))
                && operands
                    .iter()
                    .any(|operand| operand.secret && is_short(&operand.value)));
        if carried
            && !matches!(
                value,
                Obj::Bool(_) | Obj::None | Obj::Native(_) | Obj::Undefined(_)
            )
        {
            self.add_object(value);
            return true;
        }
        self.is_secret(value)
    }

    fn derived(&self, operands: &[Operand], value: &Obj) -> bool {
        if matches!(value, Obj::Bool(_) | Obj::None | Obj::Undefined(_))
            || !self.any_secret(operands)
        {
            return self.is_secret(value);
        }
        if matches!(value, Obj::Iter(_)) {
            self.add_object(value);
            return true;
        }
        let before = scalars(operands);
        let Ok((made, _)) = value.to_value_lossy() else {
            return true;
        };
        let mut is_new = false;
        each_scalar(&made, &mut |scalar| match said(scalar) {
            Some(said) if before.contains(&said) => {}
            Some(said) => {
                is_new = true;
                self.insert(Some(said));
            }
            None => {
                is_new |= matches!(
                    scalar,
                    Value::Str(_) | Value::Int(_) | Value::Float(_) | Value::Bytes(_)
                );
            }
        });
        if is_new {
            self.add_object(value);
        }
        is_new || self.is_secret(value)
    }

    /// Text that contains data: only the secret data in it is secret.
    fn written(&self, operands: &[Operand], value: &Obj) -> bool {
        let (Some(text), Some(Operand { value: data, .. })) = (value.as_str(), operands.first())
        else {
            return self.derived(operands, value);
        };
        if is_scalar(data) || self.carries(data) {
            return self.derived(operands, value);
        }
        match self.within(text, data) {
            Some(within) if within.is_empty() => false,
            Some(within) => {
                self.mark(text, within);
                true
            }
            None => self.derived(operands, value),
        }
    }

    /// Data from a text: only the parts read from its secret parts are secret.
    fn read(&self, operands: &[Operand], value: &Obj) -> bool {
        let [Operand { value: source, .. }] = operands else {
            return self.derived(operands, value);
        };
        let within = source.as_str().and_then(|text| {
            let known = self.known.borrow();
            match known.get(text) {
                Some(Secret::Within(ranges)) => Some((text.clone(), ranges.clone())),
                _ => None,
            }
        });
        match (within, value.to_value_lossy()) {
            (Some((text, ranges)), Ok((data, _))) => {
                self.read_from(&text, &ranges, &data);
                self.is_secret(value)
            }
            _ => self.derived(operands, value),
        }
    }

    /// The places of a text's secrets, if it was made from data; `None` if one of them cannot be found.
    fn within(&self, text: &str, data: &Obj) -> Option<Vec<Range<usize>>> {
        let (value, _) = data.to_value_lossy().ok()?;
        let (mut found, mut seen, mut lost) = (Vec::new(), HashSet::new(), false);
        let mut unquoted = None;
        each_scalar(&value, &mut |scalar| {
            let Some(said) = said(scalar).filter(|said| self.knows(said)) else {
                return;
            };
            if !seen.insert(said.clone()) {
                return;
            }
            let before = found.len();
            found.extend(
                text.match_indices(&*said)
                    .map(|(at, piece)| at..at + piece.len()),
            );
            if found.len() == before {
                let unquoted = unquoted.get_or_insert_with(|| Unquoted::of(text));
                found.extend(unquoted.find(&said));
            }
            lost |= found.len() == before;
        });
        found.sort_by_key(|range| range.start);
        (!lost).then_some(found)
    }

    /// The secret bytes of an expression's output.
    pub(super) fn printed(&self, value: &Obj, printed: &str) -> Vec<Range<usize>> {
        let last = self
            .operands
            .borrow()
            .last()
            .is_some_and(|last| last.secret);
        self.in_print(value, printed, last)
    }

    /// The same for what a block printed.
    pub(super) fn printed_by_block(&self, value: &Obj, printed: &str) -> Vec<Range<usize>> {
        self.in_print(value, printed, self.is_secret(value))
    }

    fn in_print(&self, value: &Obj, printed: &str, secret: bool) -> Vec<Range<usize>> {
        let whole = || std::iter::once(0..printed.len()).collect();
        match value {
            Obj::Str(text) | Obj::Markup(text) if secret => match self.known.borrow().get(text) {
                Some(Secret::Within(ranges)) if printed == &**text => ranges.to_vec(),
                _ => whole(),
            },
            Obj::Str(_) | Obj::Markup(_) => Vec::new(),
            value if is_scalar(value) => {
                if secret {
                    whole()
                } else {
                    Vec::new()
                }
            }
            value if self.carries(value) => whole(),
            Obj::List(_) | Obj::Tuple(_) | Obj::Dict(_) | Obj::Set(_) => {
                self.within(printed, value).unwrap_or_else(whole)
            }
            _ => {
                if secret {
                    whole()
                } else {
                    Vec::new()
                }
            }
        }
    }

    /// Mark the secret parts of a text that statements printed.
    pub(super) fn captured(&self, text: &Str, secret: Vec<Range<usize>>) {
        if !secret.is_empty() {
            self.mark(text, secret);
        }
    }

    /// Record an item of what a loop iterates over.
    pub(super) fn gives(&self, iterable: &Obj, item: &Obj) {
        if !self.carries(iterable) {
            return;
        }
        self.add_object(item);
        if let Ok((value, _)) = item.to_value_lossy() {
            self.add(&value);
        }
    }

    fn mark(&self, text: &Str, within: Vec<Range<usize>>) {
        if within.iter().any(|range| *range == (0..text.len())) {
            self.insert(Some(text.clone()));
        } else if text.len() >= TELLING {
            self.known
                .borrow_mut()
                .entry(text.clone())
                .or_insert_with(|| Secret::Within(within.into()));
        }
    }

    fn insert(&self, said: Option<Str>) {
        if let Some(said) = said {
            self.known.borrow_mut().insert(said, Secret::Whole);
        }
    }

    fn knows(&self, said: &str) -> bool {
        self.known.borrow().contains_key(said)
    }

    fn carries(&self, object: &Obj) -> bool {
        address(object).is_some_and(|address| self.carriers.borrow().contains_key(&address))
    }

    /// True if an object is a secret itself; what is in it does not count.
    fn is_secret(&self, object: &Obj) -> bool {
        match scalar(object) {
            Some(value) => said(&value).is_some_and(|said| self.knows(&said)),
            None => self.carries(object),
        }
    }

    fn any_secret(&self, operands: &[Operand]) -> bool {
        operands.iter().any(|operand| {
            operand.secret
                || self.carries(&operand.value)
                || (!is_scalar(&operand.value)
                    && operand
                        .value
                        .to_value_lossy()
                        .is_ok_and(|(value, _)| self.has(&value)))
        })
    }
}

/// The texts of the scalars in some operands.
fn scalars(operands: &[Operand]) -> HashSet<Str, RandomState> {
    let mut all = HashSet::default();
    for operand in operands {
        if let Ok((value, _)) = operand.value.to_value_lossy() {
            each_scalar(&value, &mut |scalar| all.extend(said(scalar)));
        }
    }
    all
}

fn role(expr: &Expr, operands: &[Operand], converts: &dyn Fn(&str) -> Option<Conversion>) -> Role {
    let first = operands.first().map(|operand| &operand.value);
    let of_scalar = first.is_some_and(is_scalar);
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Test { .. } | ExprKind::Not(_) | ExprKind::Compare(..) => {
            Role::Clean
        }
        ExprKind::And(..) | ExprKind::Or(..) | ExprKind::Cond { .. } => Role::Chooses,
        ExprKind::Attr(..) | ExprKind::Item(..) if of_scalar => Role::Derives,
        ExprKind::Attr(..)
        | ExprKind::Item(..)
        | ExprKind::Name(_)
        | ExprKind::Tuple(_)
        | ExprKind::List(_)
        | ExprKind::Dict(_) => Role::Moves,
        ExprKind::Call { callee, .. } => match first {
            // Methods of containers find or move values, except `index` and `count`, which reveal little.
            Some(Obj::List(_) | Obj::Tuple(_) | Obj::Dict(_) | Obj::Set(_)) => Role::Moves,
            // The output of a macro is tracked by the expressions in it.
            Some(Obj::Native(native)) if PRINTERS.contains(&native.type_name()) => Role::Moves,
            _ if matches!(&callee.kind, ExprKind::Name(name) if KEEPERS.contains(&&**name)) => {
                Role::Moves
            }
            _ => Role::Derives,
        },
        ExprKind::Filter { name, .. } => match converts(name) {
            Some(Conversion::Writes) => Role::Writes,
            Some(Conversion::Reads) => Role::Reads,
            None => Role::Derives,
        },
        _ => Role::Derives,
    }
}

/// Types of objects that print when they are called.
const PRINTERS: [&str; 4] = [
    "Macro",
    "BlockReference",
    "LoopContext",
    "TemplateReference",
];
/// Functions that keep what they are given.
const KEEPERS: [&str; 2] = ["namespace", "dict"];

fn scalar(object: &Obj) -> Option<Value> {
    Some(match object {
        Obj::Str(text) | Obj::Markup(text) => Value::Str(text.clone()),
        Obj::Int(int) => Value::Int(int.clone()),
        Obj::Float(float) => Value::Float(*float),
        Obj::Bytes(bytes) => Value::Bytes(bytes.clone()),
        _ => return None,
    })
}

fn is_scalar(object: &Obj) -> bool {
    matches!(
        object,
        Obj::Str(_) | Obj::Markup(_) | Obj::Int(_) | Obj::Float(_) | Obj::Bytes(_)
    )
}

fn is_short(object: &Obj) -> bool {
    is_scalar(object) && to_str(object).is_ok_and(|text| text.len() < TELLING)
}

/// The text of a scalar, if it is long enough to be a secret; for a number its digits.
fn said(scalar: &Value) -> Option<Str> {
    let said = match scalar {
        Value::Str(text) => text.clone(),
        Value::Int(_) | Value::Float(_) => scalar.to_string().into(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into(),
        _ => return None,
    };
    (said.trim().len() >= TELLING).then_some(said)
}

fn each_scalar(value: &Value, visit: &mut dyn FnMut(&Value)) {
    match value {
        Value::Map(map) => map.values().for_each(|value| each_scalar(value, visit)),
        Value::List(items) => items.iter().for_each(|item| each_scalar(item, visit)),
        Value::Tuple(items) => items.iter().for_each(|item| each_scalar(item, visit)),
        Value::Set(items) => items
            .iter()
            .map(Key::to_value)
            .for_each(|item| each_scalar(&item, visit)),
        scalar => visit(scalar),
    }
}

fn address(object: &Obj) -> Option<usize> {
    Some(match object {
        Obj::List(list) => list.address(),
        Obj::Dict(dict) => dict.address(),
        Obj::Tuple(tuple) => tuple.address(),
        Obj::Set(set) => set.address(),
        Obj::Iter(iter) => iter.address(),
        _ => return None,
    })
}

impl std::fmt::Debug for Taint {
    /// Shows how many secrets there are, but none of them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Taint")
            .field("known", &self.known.borrow().len())
            .finish_non_exhaustive()
    }
}
