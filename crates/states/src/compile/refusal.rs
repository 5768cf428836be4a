//! Faults for which Salt refuses states.

use mapstack_pyobject::{Error, ErrorKind};
use mapstack_value::Key;

/// A reason for which Salt does not run the states of a minion.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The kind of the fault.
    pub kind: RefusalKind,
    /// The fault, in one sentence.
    pub message: String,
    /// The sls that has it, if it is known.
    pub sls: Option<String>,
    /// Another sls that has a part in it.
    pub other: Option<String>,
    /// The name that no state has, if that is the fault, with the state module of a requisite.
    pub missing: Option<(Option<String>, String)>,
    /// The ID of the state, if it is in one.
    pub id: Option<String>,
    /// The path below the ID's sls: the ID, the state module, and what is below its arguments.
    pub path: Vec<Key>,
    /// The requisites that are at fault; those of a cycle each lead to the next.
    pub requisites: Vec<Requires>,
    /// The error of a template or its data, if that is the fault.
    pub cause: Option<mapstack_diagnostic::Error>,
}

/// A requisite of a state on another.
#[derive(Debug, Clone)]
pub struct Requires {
    /// The state that has it.
    pub state: NamedState,
    /// The requisite, such as `require`.
    pub argument: String,
    /// The state that it is on, which may be missing.
    pub on: NamedState,
}

/// The names of a state; empty where they are unknown.
#[derive(Debug, Clone, Default)]
pub struct NamedState {
    /// The sls that has it.
    pub sls: String,
    /// The ID.
    pub id: String,
    /// The state module.
    pub module: String,
    /// The name.
    pub name: String,
}

impl NamedState {
    /// A state that a requisite names.
    pub(crate) fn named(module: &Key, name: &str) -> Self {
        NamedState {
            module: module.to_string(),
            id: name.to_owned(),
            ..NamedState::default()
        }
    }

    fn shown(&self) -> String {
        match self.id == self.name || self.name.is_empty() {
            true => format!("'{}'", self.id),
            false => format!("'{}' of '{}'", self.name, self.id),
        }
    }
}

/// The message about a cycle, with the place of each requisite.
pub(crate) fn cycle_message(links: &[Requires], place: impl Fn(&Requires) -> String) -> String {
    let says = links.iter().map(|link| {
        let verb = match &*link.argument {
            "require" | "require_any" => "requires".to_owned(),
            argument => format!("has '{argument}' on"),
        };
        let (state, on) = (link.state.shown(), link.on.shown());
        format!("{state} {verb} {on} ({})", place(link))
    });
    let says: Vec<String> = says.collect();
    format!("states require each other: {}", says.join(", "))
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $name:ident: $help:expr,)*) => {
        /// The kinds of faults that a state run refuses.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum RefusalKind {
            $($(#[doc = $doc])* $name,)*
        }

        impl RefusalKind {
            /// The advice on how to mend it.
            #[must_use]
            pub fn help(self) -> Option<&'static str> {
                match self {
                    $(RefusalKind::$name => $help,)*
                }
            }
        }
    };
}

kinds! {
    /// An `extend`, or a requisite that ends in `_in`, names a state that does not exist.
    ExtendOfNothing: Some("include the sls that has the state, or correct the ID"),
    /// The high data is not a mapping.
    HighNotMapping: None,
    /// An ID is not text.
    IdNotText: Some("put the ID in quotes"),
    /// A state is not a mapping.
    StateNotMapping: Some("write the function and its arguments below the ID"),
    /// A function has a colon and no arguments.
    TrailingColon: Some("leave the colon out"),
    /// The arguments of a state are not a list.
    ArgumentsNotList: Some("write each argument on a line of its own, behind a dash"),
    /// The name of a function has a space.
    FunctionWithSpace: Some("put a colon behind the name of the argument"),
    /// The argument `names` is not a list.
    NamesNotList: Some("write each name on a line of its own, behind a dash"),
    /// A requisite is not a list.
    RequisiteNotList: Some("write each state on a line of its own, behind a dash"),
    /// A requisite does not name one state.
    RequisiteNotSingle: Some("write each as in 'pkg: nginx'"),
    /// A requisite names a function.
    RequisiteWithDot: Some("name the state module alone"),
    /// A requisite names a list or a mapping.
    RequisiteUnhashable: Some("write one item for each state"),
    /// A requisite shares its item of the list with other arguments.
    SeveralArguments: Some("put a dash before each argument"),
    /// A state has no function.
    NoFunction: Some("write it behind a dot, as in 'pkg.installed'"),
    /// A requisite is beside the functions of a state, not among the arguments of one.
    RequisiteOutside: Some("indent it below the function and put a dash before it"),
    /// A state has several functions of one state module.
    SeveralFunctions: Some("give each function an ID of its own"),
    /// A requisite's name is not text.
    RequisiteNotText: Some("put the name in quotes"),
    /// A requisite names a state that does not exist.
    MissingRequisite: Some("include the sls that has the state, or correct the name"),
    /// States require each other.
    Cycle: Some("remove one of these requisites"),
    /// An sls is not on the file server.
    MissingSls: None,
    /// An sls cannot be rendered.
    RenderFailed: None,
    /// An sls does not give a mapping.
    SlsNotMapping: None,
    /// The `include` of an sls is not a list.
    IncludeNotList: Some("write each sls on a line of its own, behind a dash"),
    /// An `include` names a saltenv that does not exist.
    UnknownSaltenv: Some("give the saltenv its directories in the option file_roots"),
    /// A relative `include` leads above the root.
    IncludeAboveRoot: Some("use fewer dots"),
    /// An `include` names an sls that does not exist.
    MissingInclude: None,
    /// An `include` names an sls that several saltenvs have.
    AmbiguousInclude: Some("name the saltenv, as in 'base: web'"),
    /// An ID has several functions of one state module.
    SeveralOfOneModule: Some("give each function an ID of its own"),
    /// The `extend` of an sls is not a mapping.
    ExtendNotMapping: None,
    /// The `exclude` of an sls is not a list.
    ExcludeNotList: Some("write each sls or ID on a line of its own, behind a dash"),
    /// Two sls have states of one ID.
    ConflictingIds: Some("give one of them another ID, and name the state with 'name'"),
    /// Salt ends with an exception.
    Exception: None,
}

impl Refusal {
    pub(crate) fn new(kind: RefusalKind, message: impl Into<String>) -> Self {
        Refusal {
            kind,
            message: message.into(),
            sls: None,
            other: None,
            missing: None,
            id: None,
            path: Vec::new(),
            requisites: Vec::new(),
            cause: None,
        }
    }

    #[must_use]
    pub(crate) fn of_sls(mut self, sls: impl Into<String>) -> Self {
        self.sls = Some(sls.into());
        self
    }

    /// The state that has it.
    #[must_use]
    pub(crate) fn of_state(mut self, id: &impl ToString, path: Vec<Key>) -> Self {
        self.id = Some(id.to_string());
        self.path = path;
        self
    }
}

/// The end of a compilation.
#[derive(Debug)]
pub(crate) enum CompileEnd {
    /// Salt ends with an exception here: why.
    Exception(String),
    /// More than the budget is needed.
    Limit(Box<Error>),
}

pub(crate) type Result<T, E = CompileEnd> = std::result::Result<T, E>;

impl From<Box<Error>> for CompileEnd {
    fn from(error: Box<Error>) -> Self {
        match error.kind {
            ErrorKind::Limit => CompileEnd::Limit(error),
            _ => CompileEnd::Exception(error.message),
        }
    }
}

/// An exception of Salt.
pub(crate) fn exception<T>(message: impl Into<String>) -> Result<T> {
    Err(CompileEnd::Exception(message.into()))
}

/// The path to the arguments of a state.
pub(crate) fn path_of(id: &Key, module: &Key) -> Vec<Key> {
    vec![id.clone(), module.clone()]
}
