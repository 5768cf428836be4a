//! Calls in templates that code outside the library answers.

use std::fmt;

use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj};
use mapstack_value::{Map, Str, Value};

/// Functions for calls of `salt['…'](…)` that are not built in.
///
/// `mapstack::Engine::with_functions` accepts any number of implementations. The library has none, because access to a
/// machine is the caller's decision.
///
/// The same methods answer filters that inspect the machine (`which`, `is_empty`, …). The names of filters have no
/// dot, and their input is the first argument.
///
/// ```
/// use mapstack_functions::{Call, CallError, Functions};
/// use mapstack_value::Value;
///
/// struct Doubled;
///
/// impl Functions for Doubled {
///     fn has(&self, name: &str) -> bool {
///         name == "my.doubled"
///     }
///     fn has_module(&self, module: &str) -> bool {
///         module == "my"
///     }
///     fn call(&self, call: &Call) -> Option<Result<Value, CallError>> {
///         let [text] = match call.bind(["text"]) {
///             Ok(bound) => bound,
///             Err(e) => return Some(Err(e)),
///         };
///         Some(Ok(format!("{0}{0}", text.unwrap_or_default()).into()))
///     }
/// }
///
/// let doubled = Doubled.call(&Call::new("my.doubled").arg("ab")).unwrap();
/// assert_eq!(doubled.unwrap().as_str(), Some("abab"));
/// ```
pub trait Functions: Send + Sync {
    /// True if a function or filter with this name exists, which is the value of `'name' in salt`. The answer for
    /// one minion is used for all minions.
    fn has(&self, name: &str) -> bool;

    /// True if any function of a module exists, which makes `salt.module` defined.
    fn has_module(&self, module: &str) -> bool;

    /// Answer a call. `None` passes it on to the next implementation.
    fn call(&self, call: &Call) -> Option<Result<Value, CallError>>;

    /// True if the call of a function is answered here even if the function is built in or shipped in the tree. It is
    /// also asked about the names of modules.
    ///
    /// A caller that runs inside Salt has the functions of the live minion, with the modules that were synchronised.
    ///
    /// ```
    /// # use mapstack_functions::{Call, CallError, Functions};
    /// # use mapstack_value::Value;
    /// struct Live;
    ///
    /// impl Functions for Live {
    ///     fn has(&self, name: &str) -> bool {
    ///         name == "test.echo"
    ///     }
    ///     fn has_module(&self, module: &str) -> bool {
    ///         module == "test"
    ///     }
    ///     fn call(&self, call: &Call) -> Option<Result<Value, CallError>> {
    ///         Some(Ok(call.to_string().into()))
    ///     }
    ///     fn replaces(&self, name: &str) -> bool {
    ///         !name.starts_with("grains.")
    ///     }
    /// }
    ///
    /// assert!(Live.replaces("test.echo") && !Live.replaces("grains.get"));
    /// ```
    fn replaces(&self, _name: &str) -> bool {
        false
    }

    /// Run a template in Python that changes data. `None` lets the library run it.
    ///
    /// For a post-map template, the call is the one that Salt makes, `cp.get_template` with the data as `mapdata`; the
    /// answer is the data as the template leaves it. For a template of MakoStack it is `makostack.render`, with the
    /// template's name, the directories of templates, and the data as `stack`; the answer is a mapping with `stack` as
    /// the template leaves it and either `text` or, if the template fails, `error`.
    fn change(&self, _call: &Call) -> Option<Result<Value, CallError>> {
        None
    }

    /// Advice for users: what makes this implementation answer such a call.
    fn advice(&self, _call: &Call) -> Option<String> {
        None
    }
}

/// A call of a function, or a use of a filter, with its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The full name of the function, such as `cmd.run`, or the name of the filter.
    pub name: Str,
    /// Positional arguments.
    pub args: Vec<Value>,
    /// Named arguments in order.
    pub kwargs: Map,
    /// The id of the minion whose template makes the call.
    pub minion: Str,
    /// True if a master's template makes it, in a pillar.
    pub on_master: bool,
}

impl Call {
    /// A call without arguments.
    ///
    /// ```
    /// use mapstack_functions::Call;
    /// assert_eq!(Call::new("cmd.run").arg("id").kwarg("cwd", "/").to_string(), "salt['cmd.run']('id', cwd='/')");
    /// assert_eq!(Call::new("which").arg("bash").to_string(), "'bash'|which");
    /// ```
    pub fn new(name: impl Into<Str>) -> Self {
        Call {
            name: name.into(),
            args: Vec::new(),
            kwargs: Map::new(),
            minion: "".into(),
            on_master: false,
        }
    }

    /// Add a positional argument.
    #[must_use]
    pub fn arg(mut self, value: impl Into<Value>) -> Self {
        self.args.push(value.into());
        self
    }

    /// Add a named argument.
    #[must_use]
    pub fn kwarg(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.kwargs.insert(name, value);
        self
    }

    /// The call that a template makes.
    ///
    /// # Errors
    /// An argument is undefined, or is not data.
    pub fn of(name: &str, args: &CallArgs, minion: Str) -> mapstack_pyobject::Result<Self> {
        let positional = args
            .positional
            .iter()
            .map(Obj::to_value)
            .collect::<mapstack_pyobject::Result<_>>()?;
        let mut kwargs = Map::new();
        for (name, value) in &args.named {
            kwargs.insert(&**name, value.to_value()?);
        }
        Ok(Call {
            name: name.into(),
            args: positional,
            kwargs,
            minion,
            on_master: false,
        })
    }

    /// The arguments by the names of a function's parameters, bound as in Python; `None` for parameters without an
    /// argument.
    ///
    /// # Errors
    /// Python's `TypeError` for too many, repeated or unknown arguments.
    pub fn bind<const N: usize>(&self, names: [&str; N]) -> Result<[Option<Value>; N], CallError> {
        let named = |(name, value): (&mapstack_value::Key, &Value)| {
            (name.to_string().into(), Obj::from(value.clone()))
        };
        let args = CallArgs {
            positional: self.args.iter().cloned().map(Obj::from).collect(),
            named: self.kwargs.iter().map(named).collect(),
        };
        let bound = args.bind(&self.name, names)?;
        // The objects were made from data above, so converting them back cannot fail.
        Ok(bound.map(|argument| argument.and_then(|a| a.to_value().ok())))
    }

    /// True if this is a use of a filter.
    #[must_use]
    pub fn is_filter(&self) -> bool {
        !self.name.contains('.')
    }
}

/// The call as a template would write it, with long arguments shortened.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = self
            .kwargs
            .iter()
            .map(|(name, value)| format!("{name}={}", shortened(&value.repr())));
        let mut args = self.args.iter().map(|value| shortened(&value.repr()));
        if self.is_filter() {
            let input = args.next().unwrap_or_default();
            let rest: Vec<String> = args.chain(named).collect();
            write!(f, "{input}|{}", self.name)?;
            return if rest.is_empty() {
                Ok(())
            } else {
                write!(f, "({})", rest.join(", "))
            };
        }
        let all: Vec<String> = args.chain(named).collect();
        write!(
            f,
            "salt[{}]({})",
            mapstack_value::quote_str(&self.name),
            all.join(", ")
        )
    }
}

/// The beginning of a text, short enough for a message.
fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 200;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// The error that a function raised.
#[derive(Debug, Clone, PartialEq)]
pub struct CallError {
    class: Option<&'static str>,
    message: String,
    help: Option<String>,
}

impl CallError {
    /// Salt's `CommandExecutionError`: the function failed.
    pub fn new(message: impl Into<String>) -> Self {
        CallError {
            class: None,
            message: message.into(),
            help: None,
        }
    }

    /// An exception of a Python class.
    pub fn python(class: &'static str, message: impl Into<String>) -> Self {
        CallError {
            class: Some(class),
            ..CallError::new(message)
        }
    }

    /// Add advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The class of the Python exception; `None` for `CommandExecutionError`.
    #[must_use]
    pub fn class(&self) -> Option<&'static str> {
        self.class
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CallError {}

impl From<Box<Error>> for CallError {
    /// An error raised by a helper function of the template stage.
    fn from(e: Box<Error>) -> Self {
        let class = match e.kind {
            ErrorKind::Python(class) => Some(class),
            _ => None,
        };
        CallError {
            class,
            message: e.message,
            help: e.help,
        }
    }
}

impl From<CallError> for Box<Error> {
    fn from(e: CallError) -> Self {
        let mut error = Error::new(
            e.class.map_or(ErrorKind::Salt, ErrorKind::Python),
            e.message,
        );
        error.help = e.help;
        error
    }
}
