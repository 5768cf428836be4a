//! A command line as words.
//!
//! The crate `shlex` splits as a shell does: there `#` starts a comment and a backslash escapes `$` between quotes, a
//! mistake has no message, and other quotes cannot be named, which reclass needs.

/// A command line that ends too early; the messages are Python's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnfinishedCommand {
    /// A quotation mark without its partner.
    #[error("No closing quotation")]
    Quotation,
    /// A backslash with nothing behind it.
    #[error("No escaped character")]
    Escape,
}

/// The words of a command line, with POSIX quotes and without comments (Python: `shlex.split`).
///
/// ```
/// use mapstack_value::pytext::shlex::split;
/// assert_eq!(split(r#"grep -e "a b" c\ d # e"#).unwrap(), ["grep", "-e", "a b", "c d", "#", "e"]);
/// ```
///
/// # Errors
/// [`UnfinishedCommand`] where a quotation or an escape has no end.
pub fn split(line: &str) -> Result<Vec<String>, UnfinishedCommand> {
    split_quoted(line, &['"'])
}

/// The words of a line, as of [`split`], with other quotes beside the single ones: within these, a backslash escapes the
/// quote and itself (Python: `shlex.quotes` and `shlex.escapedquotes`).
///
/// ```
/// use mapstack_value::pytext::shlex::split_quoted;
/// assert_eq!(split_quoted(r"/a b\/c/ 'd e'", &['"', '/']).unwrap(), ["a b/c", "d e"]);
/// ```
///
/// # Errors
/// As [`split`].
pub fn split_quoted(line: &str, quotes: &[char]) -> Result<Vec<String>, UnfinishedCommand> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\r' | '\n' => words.extend(word.take()),
            quote if quote == '\'' || quotes.contains(&quote) => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next().ok_or(UnfinishedCommand::Quotation)? {
                        end if end == quote => break,
                        // Nothing else can be escaped between quotes, and nothing at all between single ones.
                        '\\' if quote != '\'' => match chars
                            .next()
                            .ok_or(UnfinishedCommand::Escape)?
                        {
                            escaped if escaped == quote || escaped == '\\' => word.push(escaped),
                            other => word.extend(['\\', other]),
                        },
                        inner => word.push(inner),
                    }
                }
            }
            '\\' => word
                .get_or_insert_default()
                .push(chars.next().ok_or(UnfinishedCommand::Escape)?),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_python() {
        let cases: [(&str, Result<&[&str], UnfinishedCommand>); 10] = [
            ("", Ok(&[])),
            ("  a  b\tc\n", Ok(&["a", "b", "c"])),
            ("a'b c'd \"e f\"", Ok(&["ab cd", "e f"])),
            ("''", Ok(&[""])),
            (r"a\ b '\'", Ok(&["a b", r"\"])),
            (r#""\"\\\a$x""#, Ok(&[r#""\\a$x"#])),
            ("a # b", Ok(&["a", "#", "b"])),
            ("'a", Err(UnfinishedCommand::Quotation)),
            ("\"a\\", Err(UnfinishedCommand::Escape)),
            ("a\\", Err(UnfinishedCommand::Escape)),
        ];
        for (line, expected) in cases {
            let expected =
                expected.map(|words| words.iter().map(ToString::to_string).collect::<Vec<_>>());
            assert_eq!(split(line), expected, "{line}");
        }
    }
}
