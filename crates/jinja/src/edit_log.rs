//! The statement of a template that changed an object.

use std::cell::{Cell, RefCell};

use mapstack_pyobject::{Obj, Refreezer, TemplatePlace, changes};
use mapstack_value::Value;

/// The record of an object that a render may change in place, and of the statements that did.
///
/// Recording costs a comparison of two numbers for each statement, and an inspection of the object after each statement
/// that changed any container. An inspection compares the entries that templates have reached, and copies the
/// containers around what changed.
///
/// ```
/// use mapstack_jinja::{DO, Dialect, Jinja2, Builtins, NoHost, Request, Tag, EditLog, render};
/// use mapstack_pyobject::Obj;
/// use mapstack_value::{Map, Value};
/// struct WithDo;
/// impl Dialect for WithDo {
///     fn name(&self) -> &'static str { "with do" }
///     fn builtins(&self) -> &'static Builtins { Jinja2.builtins() }
///     fn tags(&self) -> &'static [Tag] { &[DO] }
/// }
/// let data = Obj::from(Value::from([("a", 1)].into_iter().collect::<Map>()));
/// let edit_log = EditLog::new(data.clone());
/// let mut request = Request::new(&WithDo, "{% set b = 2 %}\n{% do data.update({'b': b}) %}", &NoHost);
/// request.variables.insert("data".into(), data);
/// request.edit_log = Some(&edit_log);
/// render(request).unwrap();
/// let edits = edit_log.into_edits();
/// assert_eq!((edits.len(), edits[0].after.repr()), (1, "{'a': 1, 'b': 2}".into()));
/// assert_eq!(&edits[0].place.source[edits[0].place.span.start as usize..], "{% do data.update({'b': b}) %}");
/// ```
#[derive(Debug)]
pub struct EditLog {
    object: Obj,
    /// The count of changes at the last inspection.
    seen: Cell<u64>,
    looks: Cell<usize>,
    last: RefCell<Value>,
    refreezer: RefCell<Refreezer>,
    edits: RefCell<Vec<Edit>>,
}

/// The effect of one statement on the object, once or several times in a row.
#[derive(Debug, Clone)]
pub struct Edit {
    /// The statement.
    pub place: TemplatePlace,
    /// The object after it. Unchanged parts are shared with the value before.
    pub after: Value,
}

/// The most inspections of the object. A template that changes it more often does so in a loop, and the caller
/// has to inspect the object after the render.
const MAX_LOOKS: usize = 2_000;

impl EditLog {
    /// EditLog an object.
    #[must_use]
    pub fn new(object: Obj) -> Self {
        let (last, refreezer, edits) = (RefCell::default(), RefCell::default(), RefCell::default());
        let edit_log = EditLog {
            object,
            seen: Cell::new(changes()),
            looks: Cell::new(0),
            last,
            refreezer,
            edits,
        };
        edit_log.last.replace(edit_log.look().unwrap_or_default());
        edit_log
    }

    /// The edits of the object, in order.
    #[must_use]
    pub fn into_edits(self) -> Vec<Edit> {
        self.edits.into_inner()
    }

    /// A statement has run.
    pub(super) fn ran(&self, place: impl FnOnce() -> TemplatePlace) {
        let now = changes();
        if self.seen.replace(now) == now || self.looks.get() == MAX_LOOKS {
            return;
        }
        self.looks.set(self.looks.get() + 1);
        // An object that is not data at the moment is inspected after the next change.
        let Some(after) = self
            .look()
            .filter(|after| !after.is_same(&self.last.borrow()))
        else {
            return;
        };
        self.last.replace(after.clone());
        let (mut edits, place) = (self.edits.borrow_mut(), place());
        match edits.last_mut() {
            // The same statement again, in a loop: its changes are one edit.
            Some(last) if last.place == place => last.after = after,
            _ => edits.push(Edit { place, after }),
        }
    }

    fn look(&self) -> Option<Value> {
        let mut refreezer = self.refreezer.take();
        let value = refreezer.freeze(&self.object);
        self.refreezer.replace(refreezer);
        value.ok()
    }
}
