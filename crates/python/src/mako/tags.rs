//! The tags of a template: their attributes, and what Mako says of wrong ones.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use mapstack_value::quote_str;

use super::lexer::{arguments, is_word};
use super::names::{self, Idents, Invalid, Signature};

/// A tag as the source has it.
pub(super) struct Opening {
    pub(super) keyword: String,
    pub(super) attributes: IndexMap<String, String>,
    pub(super) closed: bool,
    pub(super) length: usize,
}

/// The problem with a tag.
pub(super) enum TagProblem {
    Compile(String),
    Invalid(Invalid),
    Unsupported(String),
}

impl From<Invalid> for TagProblem {
    fn from(invalid: Invalid) -> Self {
        TagProblem::Invalid(invalid)
    }
}

/// A tag, with its attributes.
#[derive(Debug)]
pub(super) struct Tag {
    pub(super) keyword: String,
    pub(super) attributes: IndexMap<String, String>,
    /// Attributes as expressions of Python.
    pub(super) parsed: IndexMap<String, String>,
    /// The names that those expect.
    expected: BTreeSet<String>,
    pub(super) filters: Vec<String>,
    filter_idents: Idents,
    /// The arguments of a def, a block, a page or a call's body.
    pub(super) signature: Signature,
    /// The expression that a call calls.
    pub(super) expression: String,
    code: Idents,
}

/// The filters that every template knows.
pub(super) const FILTERS: &[&str] = &[
    "x", "h", "u", "trim", "entity", "unicode", "decode", "str", "n",
];

/// Read `<%keyword attr="…">`.
pub(super) fn opening(text: &str) -> Option<Opening> {
    let body = text.strip_prefix("<%")?;
    let keyword: String = body
        .chars()
        .take_while(|c| is_word(*c) || matches!(c, '.' | ':'))
        .collect();
    if keyword.is_empty() {
        return None;
    }
    let mut rest = &body[keyword.len()..];
    let before = rest;
    loop {
        let trimmed = rest.trim_start();
        let spaced = trimmed.len() < rest.len();
        if spaced && trimmed.starts_with(is_word) {
            rest = trimmed.trim_start_matches(is_word);
        } else if let Some(after) = trimmed
            .strip_prefix('=')
            .or_else(|| trimmed.strip_prefix(','))
        {
            rest = after;
            // The space behind belongs to the sign, unless a name needs it.
            let next = after.trim_start();
            if !next.starts_with(is_word) {
                rest = next;
            }
        } else if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            rest = &rest[1..];
            let end = rest.find(quote)?;
            rest = &rest[end + 1..];
        } else {
            break;
        }
    }
    let attr = &before[..before.len() - rest.len()];
    let rest = rest.trim_start();
    let (closed, rest) = rest
        .strip_prefix('/')
        .map_or((false, rest), |rest| (true, rest));
    let rest = rest.strip_prefix('>')?;
    Some(Opening {
        keyword,
        attributes: attributes(attr),
        closed,
        length: text.len() - rest.len(),
    })
}

/// `name = "value"`, as often as it occurs.
fn attributes(text: &str) -> IndexMap<String, String> {
    let mut out = IndexMap::new();
    let mut at = 0;
    while let Some(found) = text[at..].find(is_word) {
        let start = at + found;
        let name: String = text[start..].chars().take_while(|c| is_word(*c)).collect();
        at = start + name.len();
        let Some(value) = text[at..].trim_start().strip_prefix('=') else {
            continue;
        };
        let value = value.trim_start();
        let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            continue;
        };
        let Some(end) = value[1..].find(quote) else {
            continue;
        };
        out.insert(name, value[1..=end].replace("\r\n", "\n"));
        at = text.len() - value.len() + end + 2;
    }
    out
}

/// The attributes that a kind of tag may have.
struct Allowed {
    /// Those that are text with `${…}` in it.
    expressions: &'static [&'static str],
    /// Those that are text.
    plain: &'static [&'static str],
    /// Those that it must have.
    required: &'static [&'static str],
    /// True if `cache_…` are expressions as well.
    caches: bool,
    /// True if all others are expressions: the arguments of a call.
    any: bool,
}

impl Allowed {
    fn of(keyword: &str) -> Option<Self> {
        let none = Allowed {
            expressions: &[],
            plain: &[],
            required: &[],
            caches: false,
            any: false,
        };
        Some(match keyword {
            _ if keyword.contains(':') => Allowed { any: true, ..none },
            "include" => Allowed {
                expressions: &["file", "import", "args"],
                required: &["file"],
                ..none
            },
            "namespace" => Allowed {
                expressions: &["file"],
                plain: &["name", "inheritable", "import", "module"],
                ..none
            },
            "text" => Allowed {
                plain: &["filter"],
                ..none
            },
            "def" => Allowed {
                expressions: &["buffered", "cached"],
                plain: &["name", "filter", "decorator"],
                required: &["name"],
                caches: true,
                ..none
            },
            "block" => Allowed {
                expressions: &["buffered", "cached", "args"],
                plain: &["name", "filter", "decorator"],
                caches: true,
                ..none
            },
            "call" => Allowed {
                expressions: &["args"],
                plain: &["expr"],
                required: &["expr"],
                ..none
            },
            "inherit" => Allowed {
                expressions: &["file"],
                required: &["file"],
                ..none
            },
            "page" => Allowed {
                expressions: &["cached", "args", "expression_filter", "enable_loop"],
                caches: true,
                ..none
            },
            _ => return None,
        })
    }

    fn is_expression(&self, name: &str) -> bool {
        self.any || self.expressions.contains(&name) || (self.caches && name.starts_with("cache_"))
    }
}

impl Tag {
    pub(super) fn new(
        keyword: &str,
        attributes: IndexMap<String, String>,
    ) -> Result<Self, TagProblem> {
        let compile = |message: String| TagProblem::Compile(message);
        let Some(allowed) = Allowed::of(keyword) else {
            return Err(compile(format!("No such tag: '{keyword}'")));
        };
        let mut tag = Tag {
            keyword: keyword.to_owned(),
            parsed: IndexMap::new(),
            expected: BTreeSet::new(),
            filters: Vec::new(),
            filter_idents: Idents::default(),
            signature: Signature::default(),
            expression: String::new(),
            code: Idents::default(),
            attributes,
        };
        for (name, value) in tag.attributes.clone() {
            if allowed.is_expression(&name) {
                let code = tag.interpolated(&value)?;
                tag.parsed.insert(name, code);
            } else if allowed.plain.contains(&name.as_str()) {
                if first_expression(&value).is_some() {
                    return Err(compile(format!(
                        "Attribute '{name}' in tag '{keyword}' does not allow embedded expressions"
                    )));
                }
                tag.parsed.insert(name, quote_str(&value));
            } else {
                return Err(compile(format!(
                    "Invalid attribute for tag '{keyword}': '{name}'"
                )));
            }
        }
        let missing: Vec<String> = allowed
            .required
            .iter()
            .filter(|name| !tag.parsed.contains_key(**name))
            .map(|name| quote_str(name))
            .collect();
        if !missing.is_empty() {
            return Err(compile(format!(
                "Missing attribute(s): {}",
                missing.join(",")
            )));
        }
        tag.specifics()?;
        Ok(tag)
    }

    /// The rules for this kind of tag.
    fn specifics(&mut self) -> Result<(), TagProblem> {
        let compile = |message: &str| Err(TagProblem::Compile(message.to_owned()));
        let attribute = |name: &str| self.attributes.get(name).cloned().unwrap_or_default();
        if self.is("cached")
            && self
                .attributes
                .get("cached")
                .is_some_and(|value| is_true(value))
        {
            return Err(TagProblem::Unsupported(
                "cached=\"True\" needs a cache, which templates do not have here".to_owned(),
            ));
        }
        match self.keyword.as_str() {
            "include" => {
                let mut code = names::of_code(&format!("__DUMMY({})", attribute("args")))?;
                code.undeclared.remove("__DUMMY");
                self.code = code;
            }
            "namespace" => {
                if !self.is("name") && !self.is("import") {
                    return compile(
                        "'name' and/or 'import' attributes are required for <%namespace>",
                    );
                }
                if self.is("file") && self.is("module") {
                    return compile("<%namespace> may only have one of 'file' or 'module'");
                }
            }
            "text" => (self.filters, self.filter_idents) = names::of_list(&attribute("filter"))?,
            "def" => self.def(&attribute("name"), &attribute("filter"))?,
            "block" => self.block(attribute("name"), &attribute("args"), &attribute("filter"))?,
            "call" => {
                self.expression = attribute("expr");
                self.code = names::of_code(&self.expression)?;
                self.signature = arguments(&attribute("args"))?;
            }
            "page" => {
                self.signature = arguments(&attribute("args"))?;
                (self.filters, self.filter_idents) =
                    names::of_list(&attribute("expression_filter"))?;
            }
            "inherit" => {}
            _ => self.call_of_namespace(&attribute("args"))?,
        }
        Ok(())
    }

    fn def(&mut self, name: &str, filter: &str) -> Result<(), TagProblem> {
        let compile = |message: String| Err(TagProblem::Compile(message));
        if !name.is_empty() && name.chars().all(is_word) {
            return compile("Missing parenthesis in %def".to_owned());
        }
        let Some(signature) = names::of_signature(name)? else {
            return compile(format!(
                "Code 'def {name}:pass' is not a function declaration"
            ));
        };
        self.signature = signature;
        (self.filters, self.filter_idents) = names::of_list(filter)?;
        Ok(())
    }

    fn block(&mut self, name: String, args: &str, filter: &str) -> Result<(), TagProblem> {
        let compile = |message: &str| Err(TagProblem::Compile(message.to_owned()));
        if !name.is_empty() && !name.chars().all(is_word) {
            return compile("%block may not specify an argument signature");
        }
        if name.is_empty() && !args.is_empty() {
            return compile("Only named %blocks may specify args");
        }
        self.signature = arguments(args)?;
        self.signature.name = name;
        (self.filters, self.filter_idents) = names::of_list(filter)?;
        Ok(())
    }

    /// `<%namespace:name …>`: its attributes are the call's arguments.
    fn call_of_namespace(&mut self, args: &str) -> Result<(), TagProblem> {
        let parts = self.keyword.split_once(':');
        let Some((namespace, name)) = parts.filter(|(_, name)| !name.contains(':')) else {
            return Err(TagProblem::Compile(
                "a tag of a namespace has one colon".to_owned(),
            ));
        };
        let passed = self.parsed.iter().filter(|(name, _)| *name != "args");
        let passed: Vec<String> = passed
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        self.expression = format!("{namespace}.{name}({})", passed.join(","));
        self.code = names::of_code(&self.expression)?;
        self.signature = arguments(args)?;
        Ok(())
    }

    fn is(&self, attribute: &str) -> bool {
        self.attributes.contains_key(attribute)
    }

    /// Text with `${…}` in it as an expression.
    fn interpolated(&mut self, text: &str) -> Result<String, TagProblem> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((start, end)) = first_expression(rest) {
            if start > 0 {
                parts.push(quote_str(&rest[..start]));
            }
            let code = &rest[start + 2..end - 1];
            self.expected
                .append(&mut names::of_code(code.trim_end())?.undeclared);
            parts.push(format!("({code})"));
            rest = &rest[end..];
        }
        if !rest.is_empty() {
            parts.push(quote_str(rest));
        }
        Ok(if parts.is_empty() {
            "''".to_owned()
        } else {
            parts.join(" + ")
        })
    }

    /// The names the tag binds for what is inside of it.
    pub(super) fn declared(&self) -> BTreeSet<String> {
        let arguments = self.signature.names.iter().cloned();
        match self.keyword.as_str() {
            "def" | "block" | "page" => arguments.collect(),
            _ if self.is_call() => self
                .code
                .declared
                .iter()
                .cloned()
                .chain(arguments)
                .collect(),
            _ => BTreeSet::new(),
        }
    }

    /// The names the tag expects from outside.
    pub(super) fn undeclared(&self) -> BTreeSet<String> {
        let mut out: BTreeSet<String> = match self.keyword.as_str() {
            "include" => self
                .code
                .undeclared
                .difference(&self.code.declared)
                .cloned()
                .collect(),
            "text" | "block" | "def" => self
                .filter_idents
                .undeclared
                .iter()
                .filter(|name| !FILTERS.contains(&name.as_str()))
                .cloned()
                .collect(),
            _ if self.is_call() => {
                return self
                    .code
                    .undeclared
                    .difference(&self.code.declared)
                    .cloned()
                    .collect();
            }
            _ => BTreeSet::new(),
        };
        out.extend(self.expected.iter().cloned());
        if self.keyword == "def" {
            out.extend(self.signature.defaults.iter().cloned());
            out.retain(|name| !self.signature.names.contains(name));
        }
        out
    }

    pub(super) fn is_call(&self) -> bool {
        self.keyword == "call" || self.keyword.contains(':')
    }

    pub(super) fn is_true(&self, attribute: &str) -> bool {
        self.attributes
            .get(attribute)
            .is_some_and(|value| is_true(value))
    }
}

fn is_true(value: &str) -> bool {
    !matches!(value.trim(), "False" | "0" | "None" | "''" | "\"\"" | "")
}

/// The start and the end of the first `${…}`.
fn first_expression(text: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some(found) = text[from..].find("${") {
        let start = from + found;
        let body = start + 2;
        // Braces inside reach up to the last brace of all.
        let open = text[body..]
            .find(['$', '{'])
            .filter(|at| text[body + at..].starts_with('{'));
        if let Some(open) = open
            && let Some(last) = text[body + open + 1..].rfind('}').filter(|at| *at > 0)
        {
            return Some((start, body + open + 1 + last + 1));
        }
        let first = text[body..].chars().next().map_or(0, char::len_utf8);
        if first > 0
            && let Some(end) = text[body + first..].find('}')
        {
            return Some((start, body + first + end + 1));
        }
        from = body;
    }
    None
}
