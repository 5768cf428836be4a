//! Code that can share an interpreter: it leaves nothing behind in it, and sees nothing of its state.
//!
//! A list of what is known to be harmless, not of what is known to do harm: names, attributes, modules, statements
//! and expressions that are not listed here make the code impure. So an object that other code could find again (a
//! module, a class, a function of the library) is never assigned to, never handed to what would change it by name,
//! and never looked into. What remains can change only the data that it was given, and what it made itself.
//!
//! The check reads the syntax tree that is compiled, not the text, so it sees exactly what runs.

use std::collections::BTreeSet;

use mapstack_sandbox::protocol::Purity;
use rustpython_vm::compiler::ast::visitor::{self, Visitor};
use rustpython_vm::compiler::ast::{
    Alias, Comprehension, ExceptHandler, Expr, ExprAttribute, ExprContext, ModModule, Parameter,
    Stmt, StmtFunctionDef, StmtImport, StmtImportFrom,
};

use super::instrument;

/// Builtins that compute something from their arguments.
const BUILTINS: &[&str] = &[
    "abs",
    "all",
    "any",
    "ascii",
    "bin",
    "bool",
    "bytes",
    "chr",
    "dict",
    "divmod",
    "enumerate",
    "filter",
    "float",
    "format",
    "frozenset",
    "hex",
    "int",
    "isinstance",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "oct",
    "ord",
    "pow",
    "print",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "slice",
    "sorted",
    "str",
    "sum",
    "tuple",
    "zip",
    // Exceptions, to be raised and caught.
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "Exception",
    "IndexError",
    "KeyError",
    "LookupError",
    "NameError",
    "NotImplementedError",
    "OverflowError",
    "RuntimeError",
    "StopIteration",
    "TypeError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "UnicodeError",
    "ValueError",
    "ZeroDivisionError",
];

/// Attributes of data, of `loop`, and of what [`MODULES`] have. None leads to an object's class, code or module.
/// `format` is not here: its text can name any attribute.
const ATTRIBUTES: &[&str] = &[
    // str, bytes
    "capitalize",
    "casefold",
    "center",
    "count",
    "decode",
    "encode",
    "endswith",
    "expandtabs",
    "find",
    "index",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "isidentifier",
    "islower",
    "isnumeric",
    "isprintable",
    "isspace",
    "istitle",
    "isupper",
    "join",
    "ljust",
    "lower",
    "lstrip",
    "maketrans",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "translate",
    "upper",
    "zfill",
    // dict
    "clear",
    "copy",
    "fromkeys",
    "get",
    "items",
    "keys",
    "move_to_end",
    "pop",
    "popitem",
    "setdefault",
    "update",
    "values",
    // list, set
    "add",
    "append",
    "difference",
    "difference_update",
    "discard",
    "extend",
    "insert",
    "intersection",
    "intersection_update",
    "isdisjoint",
    "issubset",
    "issuperset",
    "remove",
    "reverse",
    "sort",
    "symmetric_difference",
    "symmetric_difference_update",
    "union",
    // int, float
    "bit_length",
    "is_integer",
    // loop
    "cycle",
    "even",
    "first",
    "last",
    "odd",
    "parent",
    "reverse_index",
    // match objects
    "end",
    "group",
    "groupdict",
    "groups",
    "span",
    "start",
];

/// Modules that are in every interpreter before a template is, and their functions and constants without state.
const MODULES: &[(&str, &[&str])] = &[
    ("collections", &["OrderedDict"]),
    ("copy", &["copy", "deepcopy"]),
    ("json", &["dumps", "loads"]),
    (
        "math",
        &["ceil", "floor", "log", "log10", "log2", "sqrt", "trunc"],
    ),
    (
        "re",
        &[
            "DOTALL",
            "I",
            "IGNORECASE",
            "M",
            "MULTILINE",
            "S",
            "VERBOSE",
            "X",
            "compile",
            "escape",
            "findall",
            "finditer",
            "fullmatch",
            "match",
            "search",
            "split",
            "sub",
            "subn",
        ],
    ),
    (
        "string",
        &[
            "ascii_letters",
            "ascii_lowercase",
            "ascii_uppercase",
            "digits",
            "hexdigits",
        ],
    ),
];

/// The minion's functions: attributes of these names are names of modules and functions.
const FUNCTIONS: [&str; 2] = ["__salt__", "salt"];

/// Names that Mako's context has besides those that it is given.
const OF_CONTEXT: [&str; 6] = ["caller", "capture", "local", "next", "parent", "self"];

/// The beginnings of names in code made from a template; the template's own code has none of them.
const GENERATED: &[&str] = &[
    "__M_",
    "_exports",
    "_mako",
    "_mk",
    "_template_uri",
    "context",
    "pageargs",
    "render_",
];

/// Attributes of the names of that code: what prints, filters and looks up names, and nothing that loads a further
/// template. Of filters, the end of the name is the template's ("decode.utf8").
const OF_GENERATED: &[&str] = &[
    "LoopStack",
    "_enter",
    "_exit",
    "_locals",
    "_pop_buffer",
    "_pop_buffer_and_writer",
    "_pop_frame",
    "_push_buffer",
    "_push_frame",
    "_push_writer",
    "caller_stack",
    "decode",
    "dict",
    "filters",
    "getvalue",
    "has_parent_block",
    "html_escape",
    "look_up",
    "picked",
    "text",
    "trim",
    "update",
    "url_escape",
    "utf8",
    "write",
    "writer",
    "xml_escape",
];

/// True if a piece of a template's code is sure to spell none of the names that the code around it uses. Python
/// takes several spellings of letters that are not ASCII for the same name.
pub(crate) fn is_apart(code: &str) -> bool {
    code.is_ascii() && !GENERATED.iter().any(|name| code.contains(name))
}

/// Check a module that is ready to be compiled. `is_generated`: it was made from a template whose every piece
/// [is apart](is_apart) from the code around. `is_builtin`: whether Python has a name for everyone.
pub(crate) fn check(
    module: &ModModule,
    is_generated: bool,
    is_builtin: impl Fn(&str) -> bool,
) -> Option<Purity> {
    let mut checker = Checker {
        is_generated,
        is_pure: true,
        loaded: BTreeSet::new(),
        stored: BTreeSet::new(),
        looked_up: BTreeSet::new(),
    };
    checker.visit_body(&module.body);
    checker.verdict(is_builtin)
}

struct Checker {
    is_generated: bool,
    is_pure: bool,
    loaded: BTreeSet<String>,
    stored: BTreeSet<String>,
    /// The names that Mako's generated code takes from the context.
    looked_up: BTreeSet<String>,
}

impl Checker {
    fn verdict(self, is_builtin: impl Fn(&str) -> bool) -> Option<Purity> {
        let is_listed = |name: &str| BUILTINS.contains(&name);
        let mut names = self
            .loaded
            .iter()
            .chain(&self.stored)
            .chain(&self.looked_up);
        // A name may mean one thing here and another there, so each of its meanings must be harmless.
        let is_known = names.all(|name| is_listed(name) || !(is_builtin(name) || is_own(name)));
        let keeps = |name: &String| !FUNCTIONS.contains(&&**name) && !name.starts_with("__");
        let in_context = |name: &String| !OF_CONTEXT.contains(&&**name);
        if !(self.is_pure
            && is_known
            && self.stored.iter().all(keeps)
            && self.looked_up.iter().all(in_context))
        {
            return None;
        }
        let mut from_outside = self.looked_up;
        let mut own = self.stored.clone();
        for name in self.loaded.difference(&self.stored) {
            // A name that Mako overlooks is one of the module's globals.
            if self.is_generated && !is_listed(name) && !from_outside.contains(name) {
                return None;
            }
            from_outside.insert(name.clone());
        }
        let (listed, required): (BTreeSet<_>, BTreeSet<_>) =
            from_outside.into_iter().partition(|name| is_listed(name));
        own.retain(|name| !required.contains(name));
        own.extend(listed);
        let shared = |names: BTreeSet<String>| names.into_iter().map(Into::into).collect();
        Some(Purity {
            required: shared(required),
            optional: shared(own),
        })
    }

    /// True if a name is of the code around a template's own.
    fn is_of_frame(&self, name: &str) -> bool {
        let is_generated = || GENERATED.iter().any(|start| name.starts_with(start));
        name == instrument::TICK
            || name == instrument::NOTE
            || (self.is_generated && (name == "loop" || is_generated()))
    }

    fn store(&mut self, name: &str) {
        if !self.is_of_frame(name) {
            self.stored.insert(name.to_owned());
        }
    }

    fn load(&mut self, name: &str) {
        if !self.is_of_frame(name) {
            self.loaded.insert(name.to_owned());
        }
    }

    /// `name = _mk.look_up(context, 'name', …)`.
    fn looks_up(&self, value: &Expr) -> bool {
        let Expr::Call(call) = value else {
            return false;
        };
        let Expr::Attribute(function) = &*call.func else {
            return false;
        };
        self.is_generated
            && function.attr.as_str() == "look_up"
            && matches!(&*function.value, Expr::Name(name) if name.id.as_str() == "_mk")
    }

    fn attribute(&self, attribute: &ExprAttribute) -> bool {
        if !matches!(attribute.ctx, ExprContext::Load) {
            return false;
        }
        let name = attribute.attr.as_str();
        if let Some(root) = root(attribute) {
            if root != "loop" && self.is_of_frame(root) {
                return OF_GENERATED.contains(&name);
            }
            if FUNCTIONS.contains(&root) {
                return !name.starts_with('_');
            }
        }
        if name == "format" {
            return matches!(&*attribute.value, Expr::StringLiteral(text) if formats_plainly(text.value.to_str()));
        }
        let of_module = |(_, names): &(&str, &[&str])| names.contains(&name);
        ATTRIBUTES.contains(&name) || MODULES.iter().any(of_module)
    }

    fn import_from(&mut self, import: &StmtImportFrom) {
        let module = import.module.as_ref();
        let listed = module
            .and_then(|module| MODULES.iter().find(|(known, _)| *known == module.as_str()))
            .map_or(&[][..], |(_, names)| names);
        self.is_pure &= import.level == 0;
        self.import(&import.names, |name| listed.contains(&name));
    }

    fn import(&mut self, names: &[Alias], is_listed: impl Fn(&str) -> bool) {
        for alias in names {
            self.is_pure &= is_listed(alias.name.as_str());
            let name = alias.asname.as_ref().unwrap_or(&alias.name);
            self.store(name.as_str());
        }
    }
}

/// Names of a module's own machinery.
fn is_own(name: &str) -> bool {
    matches!(
        name,
        "__builtins__" | "STOP_RENDERING" | "UNDEFINED" | "filters" | "runtime"
    )
}

/// True if a template gets all the names that it is given in a mapping (`<%page args="**names"/>`).
fn takes_all_names(function: &StmtFunctionDef) -> bool {
    let rest = function.parameters.kwarg.as_ref();
    function.name.as_str() == "render_body"
        && rest.is_none_or(|rest| rest.name.as_str() != "pageargs")
}

/// The name at the start of a row of attributes.
fn root(attribute: &ExprAttribute) -> Option<&str> {
    let mut value = &*attribute.value;
    loop {
        match value {
            Expr::Attribute(inner) => value = &inner.value,
            Expr::Name(name) => return Some(name.id.as_str()),
            _ => return None,
        }
    }
}

/// True if the fields of a text to format name no attribute and no item.
fn formats_plainly(text: &str) -> bool {
    text.split('{').skip(1).all(|field| {
        let end = field.find(['}', ':', '!']).unwrap_or(field.len());
        !field[..end].contains(['.', '['])
    })
}

impl<'a> Visitor<'a> for Checker {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(assign) if self.looks_up(&assign.value) => {
                for target in &assign.targets {
                    if let Expr::Name(name) = target {
                        self.looked_up.insert(name.id.to_string());
                    }
                }
            }
            Stmt::FunctionDef(function) => {
                self.is_pure &= !function.is_async
                    && function.decorator_list.is_empty()
                    && !(self.is_generated && takes_all_names(function))
                    && function.type_params.is_none();
                self.store(function.name.as_str());
                visitor::walk_stmt(self, stmt);
            }
            Stmt::Import(StmtImport { names, .. }) => {
                self.import(names, |name| {
                    MODULES.iter().any(|(known, _)| *known == name)
                });
            }
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::For(each) => {
                self.is_pure &= !each.is_async;
                visitor::walk_stmt(self, stmt);
            }
            Stmt::Try(attempt) => {
                self.is_pure &= !attempt.is_star;
                visitor::walk_stmt(self, stmt);
            }
            Stmt::Return(_)
            | Stmt::Delete(_)
            | Stmt::Assign(_)
            | Stmt::AugAssign(_)
            | Stmt::While(_)
            | Stmt::If(_)
            | Stmt::Raise(_)
            | Stmt::Assert(_)
            | Stmt::Expr(_)
            | Stmt::Pass(_)
            | Stmt::Break(_)
            | Stmt::Continue(_) => visitor::walk_stmt(self, stmt),
            Stmt::ClassDef(_)
            | Stmt::TypeAlias(_)
            | Stmt::AnnAssign(_)
            | Stmt::With(_)
            | Stmt::Match(_)
            | Stmt::Global(_)
            | Stmt::Nonlocal(_)
            | Stmt::IpyEscapeCommand(_) => self.is_pure = false,
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if matches!(name.ctx, ExprContext::Load) => {
                self.load(name.id.as_str());
            }
            Expr::Name(name) => self.store(name.id.as_str()),
            Expr::Attribute(attribute) => {
                self.is_pure &= self.attribute(attribute);
                self.visit_expr(&attribute.value);
            }
            Expr::Await(_)
            | Expr::Yield(_)
            | Expr::YieldFrom(_)
            | Expr::TString(_)
            | Expr::IpyEscapeCommand(_) => self.is_pure = false,
            Expr::BoolOp(_)
            | Expr::Named(_)
            | Expr::BinOp(_)
            | Expr::UnaryOp(_)
            | Expr::Lambda(_)
            | Expr::If(_)
            | Expr::Dict(_)
            | Expr::Set(_)
            | Expr::ListComp(_)
            | Expr::SetComp(_)
            | Expr::DictComp(_)
            | Expr::Generator(_)
            | Expr::Compare(_)
            | Expr::Call(_)
            | Expr::FString(_)
            | Expr::StringLiteral(_)
            | Expr::BytesLiteral(_)
            | Expr::NumberLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::NoneLiteral(_)
            | Expr::EllipsisLiteral(_)
            | Expr::Subscript(_)
            | Expr::Starred(_)
            | Expr::List(_)
            | Expr::Tuple(_)
            | Expr::Slice(_) => visitor::walk_expr(self, expr),
        }
    }

    fn visit_comprehension(&mut self, each: &'a Comprehension) {
        self.is_pure &= !each.is_async;
        visitor::walk_comprehension(self, each);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(caught) = handler;
        if let Some(name) = &caught.name {
            self.store(name.as_str());
        }
        visitor::walk_except_handler(self, handler);
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.store(parameter.name.as_str());
        visitor::walk_parameter(self, parameter);
    }
}
