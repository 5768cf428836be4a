//! The delimiters and whitespace rules a template is read with.

use std::borrow::Cow;

use mapstack_value::{Value, ValueKind};

/// Delimiters and whitespace rules; the defaults are Jinja's.
///
/// ```
/// use mapstack_jinja::syntax::Syntax;
/// use mapstack_value::Value;
///
/// let mut syntax = Syntax::default();
/// assert_eq!(syntax.variable_start, "{{");
/// syntax.set("trim_blocks", &Value::Bool(true)).unwrap();
/// syntax.set("line_statement_prefix", &"%".into()).unwrap();
/// assert!(syntax.trim_blocks);
/// assert_eq!(
///     syntax.set("trim_block", &Value::Bool(true)).unwrap_err(),
///     "unknown Jinja option 'trim_block'; did you mean 'trim_blocks'?"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Syntax {
    /// Opens a statement, `{%`.
    pub block_start: Cow<'static, str>,
    /// Closes a statement, `%}`.
    pub block_end: Cow<'static, str>,
    /// Opens an output, `{{`.
    pub variable_start: Cow<'static, str>,
    /// Closes an output, `}}`.
    pub variable_end: Cow<'static, str>,
    /// Opens a comment, `{#`.
    pub comment_start: Cow<'static, str>,
    /// Closes a comment, `#}`.
    pub comment_end: Cow<'static, str>,
    /// A line that starts with it is a statement.
    pub line_statement_prefix: Option<String>,
    /// The rest of a line after it is a comment.
    pub line_comment_prefix: Option<String>,
    /// True if the newline after a statement or comment is dropped.
    pub trim_blocks: bool,
    /// True if blanks between the start of a line and a statement or comment are dropped.
    pub lstrip_blocks: bool,
    /// True if the newline that ends the template stays.
    pub keep_trailing_newline: bool,
    /// The end of a line of literal text when it is printed: `\n`, `\r\n` or `\r`.
    pub newline_sequence: &'static str,
    /// True if the first line is a header and not part of the template.
    pub has_header: bool,
    /// True if a header line is read as part of the template.
    pub ignores_header: bool,
}

impl Default for Syntax {
    fn default() -> Self {
        Syntax {
            block_start: "{%".into(),
            block_end: "%}".into(),
            variable_start: "{{".into(),
            variable_end: "}}".into(),
            comment_start: "{#".into(),
            comment_end: "#}".into(),
            line_statement_prefix: None,
            line_comment_prefix: None,
            trim_blocks: false,
            lstrip_blocks: false,
            keep_trailing_newline: false,
            newline_sequence: "\n",
            has_header: false,
            ignores_header: false,
        }
    }
}

/// The options that [`Syntax::set`] knows.
const OPTIONS: [&str; 12] = [
    "block_start_string",
    "block_end_string",
    "variable_start_string",
    "variable_end_string",
    "comment_start_string",
    "comment_end_string",
    "line_statement_prefix",
    "line_comment_prefix",
    "trim_blocks",
    "lstrip_blocks",
    "keep_trailing_newline",
    "newline_sequence",
];

impl Syntax {
    /// True if a text contains `{%`, `{{` or `{#`. Any other text renders to itself, except for the newline at its end.
    ///
    /// ```
    /// use mapstack_jinja::syntax::Syntax;
    /// assert!(Syntax::has_marks("a: {{ b }}"));
    /// assert!(!Syntax::has_marks("a: {b: 1}"));
    /// ```
    #[must_use]
    pub fn has_marks(text: &str) -> bool {
        let opens = |(brace, _): (usize, &str)| {
            matches!(text.as_bytes().get(brace + 1), Some(b'{' | b'%' | b'#'))
        };
        text.match_indices('{').any(opens)
    }

    /// Set one of the options of Jinja2's `Environment`, by its name there; the case of the name
    /// does not matter.
    ///
    /// # Errors
    ///
    /// For a name that is not a syntax option (the message names the nearest one) and for a value of
    /// the wrong kind. Whether the three start strings differ is checked when a template is parsed.
    pub fn set(&mut self, option: &str, value: &Value) -> Result<(), String> {
        let name = option.to_lowercase();
        match name.as_str() {
            "block_start_string" => self.block_start = delimiter(&name, value)?.into(),
            "block_end_string" => self.block_end = delimiter(&name, value)?.into(),
            "variable_start_string" => self.variable_start = delimiter(&name, value)?.into(),
            "variable_end_string" => self.variable_end = delimiter(&name, value)?.into(),
            "comment_start_string" => self.comment_start = delimiter(&name, value)?.into(),
            "comment_end_string" => self.comment_end = delimiter(&name, value)?.into(),
            "line_statement_prefix" => self.line_statement_prefix = prefix(&name, value)?,
            "line_comment_prefix" => self.line_comment_prefix = prefix(&name, value)?,
            "trim_blocks" => self.trim_blocks = value.truthy(),
            "lstrip_blocks" => self.lstrip_blocks = value.truthy(),
            "keep_trailing_newline" => self.keep_trailing_newline = value.truthy(),
            "newline_sequence" => self.newline_sequence = newline(value)?,
            _ => return Err(unknown(&name)),
        }
        Ok(())
    }
}

fn delimiter(name: &str, value: &Value) -> Result<String, String> {
    match value.as_str() {
        Some("") => Err(format!("the Jinja option '{name}' cannot be empty")),
        Some(text) => Ok(text.to_owned()),
        None => Err(format!(
            "the Jinja option '{name}' must be text, not {}",
            value.kind().described()
        )),
    }
}

fn newline(value: &Value) -> Result<&'static str, String> {
    let known = ["\n", "\r\n", "\r"]
        .into_iter()
        .find(|known| value.as_str() == Some(known));
    known.ok_or_else(|| {
        format!(
            "the Jinja option 'newline_sequence' must be '\\n', '\\r\\n' or '\\r', not {}",
            value.repr()
        )
    })
}

fn prefix(name: &str, value: &Value) -> Result<Option<String>, String> {
    if value.kind() == ValueKind::None {
        Ok(None)
    } else {
        delimiter(name, value).map(Some)
    }
}

fn unknown(name: &str) -> String {
    let edits = |option: &str| {
        if option.contains(name) {
            0
        } else {
            strsim::levenshtein(name, option)
        }
    };
    let nearest = OPTIONS
        .into_iter()
        .map(|option| (edits(option), option))
        .min();
    match nearest {
        Some((edits, option)) if edits <= option.len() / 2 && !name.is_empty() => {
            format!("unknown Jinja option '{name}'; did you mean '{option}'?")
        }
        _ => format!(
            "unknown Jinja option '{name}'; known are {}",
            OPTIONS.join(", ")
        ),
    }
}
