//! An observer of how values move through a render.

use crate::syntax::ast::Expr;
use mapstack_pyobject::{Obj, TemplatePlace};
use mapstack_value::Str;

use super::output::SourceMap;
use super::scope::Names;

/// A table of variables: a scope, the top level of a template, or a namespace. Another table can have the same number
/// once this one is gone.
pub type Table = usize;

/// Observes a render: which expression made or moved each value, and which variable holds it.
///
/// The observer keeps a stack of operands. When an expression begins, it gives the height of the stack
/// ([`begin`](Self::begin)); when the expression ends, everything above that height was read by it, in the order of
/// evaluation, and the observer puts the result in its place ([`computed`](Self::computed)). Renders without an
/// observer pay nothing.
///
/// ```
/// use std::cell::{Cell, RefCell};
/// use mapstack_jinja::{Evaluated, Jinja2, NoHost, Request, Tracer, render};
/// use mapstack_pyobject::Obj;
/// #[derive(Default)]
/// struct Log(Cell<usize>, RefCell<Vec<String>>);
/// impl Tracer for Log {
///     fn begin(&self) -> usize {
///         self.0.get()
///     }
///     fn forget(&self, from: usize) {
///         self.0.set(from);
///     }
///     fn computed(&self, from: usize, by: &Evaluated<'_>, value: &Obj) {
///         self.1.borrow_mut().push(format!("{value:?} of {}", self.0.get() - from));
///         self.0.set(from + 1);
///     }
/// }
/// let log = Log::default();
/// let mut request = Request::new(&Jinja2, "{{ [1, 2] + [3] }}", &NoHost);
/// request.tracer = Some(&log);
/// render(request).unwrap();
/// assert_eq!(log.1.into_inner().join(", "), "1 of 0, 2 of 0, [1, 2] of 2, 3 of 0, [3] of 1, [1, 2, 3] of 2");
/// ```
pub trait Tracer {
    /// The render begins with these variables.
    fn starts(&self, _variables: &Names) {}

    /// An expression or statement begins. The result is the height of the stack of operands.
    fn begin(&self) -> usize;

    /// Forget the operands above a height, after a statement.
    fn forget(&self, from: usize);

    /// An expression has the value. It read the operands above the height `from`, whose place its value takes.
    fn computed(&self, from: usize, by: &Evaluated<'_>, value: &Obj);

    /// Read an operand that is not the result of an expression.
    fn reads(&self, _value: &Obj) {}

    /// An item of a container becomes an operand, because a loop or an assignment takes the container apart.
    fn takes(&self, _container: &Obj, _index: usize, _item: &Obj) {}

    /// A variable now has the value of the last operand.
    fn bound(&self, _table: Table, _name: &Str, _value: &Obj) {}

    /// A parameter of a macro now has the value of the operand at a height.
    fn passed(&self, _operand: usize, _table: Table, _name: &Str, _value: &Obj) {}

    /// A variable now has the value of a variable of another table.
    fn imported(&self, _from: BoundName<'_>, _to: BoundName<'_>, _value: &Obj) {}

    /// The last operand was printed by a tag.
    fn printed(&self, _by: &TemplatePlace, _value: &Obj) {}

    /// Statements begin to print a text that becomes a value: a macro, for example. The result is given with the text.
    fn captures(&self) -> usize {
        0
    }

    /// A text that statements printed has become a value; `map` says where each part of it comes from.
    fn captured(&self, _begin: usize, _text: &Str, _map: &SourceMap) {}

    /// A tag read a value from a text; `map` says where each part of the text comes from. `template` is the template
    /// that printed it. The value becomes an operand.
    fn loaded(&self, _template: &TemplatePlace, _text: &str, _map: &SourceMap, _value: &Obj) {}
}

/// A variable of a table.
#[derive(Debug, Clone, Copy)]
pub struct BoundName<'v> {
    /// The table.
    pub table: Table,
    /// The name there.
    pub name: &'v Str,
}

/// An expression that has been evaluated.
pub struct Evaluated<'e> {
    /// The expression.
    pub expr: &'e Expr,
    /// Its place.
    pub place: TemplatePlace,
    /// The table that holds the variable, if the expression is a name.
    pub table: Option<Table>,
}
