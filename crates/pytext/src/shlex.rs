//! A command line as words.

/// A command line that ends too early; the messages are Python's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unfinished {
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
/// use mapstack_pytext::shlex::split;
/// assert_eq!(split(r#"grep -e "a b" c\ d # e"#).unwrap(), ["grep", "-e", "a b", "c d", "#", "e"]);
/// ```
///
/// # Errors
/// [`Unfinished`] where a quotation or an escape has no end.
pub fn split(line: &str) -> Result<Vec<String>, Unfinished> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\r' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next().ok_or(Unfinished::Quotation)? {
                        '\'' => break,
                        inner => word.push(inner),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next().ok_or(Unfinished::Quotation)? {
                        '"' => break,
                        // Nothing else can be escaped between these quotes.
                        '\\' => match chars.next().ok_or(Unfinished::Escape)? {
                            escaped @ ('"' | '\\') => word.push(escaped),
                            other => word.extend(['\\', other]),
                        },
                        inner => word.push(inner),
                    }
                }
            }
            '\\' => word
                .get_or_insert_default()
                .push(chars.next().ok_or(Unfinished::Escape)?),
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
        let cases: [(&str, Result<&[&str], Unfinished>); 10] = [
            ("", Ok(&[])),
            ("  a  b\tc\n", Ok(&["a", "b", "c"])),
            ("a'b c'd \"e f\"", Ok(&["ab cd", "e f"])),
            ("''", Ok(&[""])),
            (r"a\ b '\'", Ok(&["a b", r"\"])),
            (r#""\"\\\a$x""#, Ok(&[r#""\\a$x"#])),
            ("a # b", Ok(&["a", "#", "b"])),
            ("'a", Err(Unfinished::Quotation)),
            ("\"a\\", Err(Unfinished::Escape)),
            ("a\\", Err(Unfinished::Escape)),
        ];
        for (line, expected) in cases {
            let expected =
                expected.map(|words| words.iter().map(ToString::to_string).collect::<Vec<_>>());
            assert_eq!(split(line), expected, "{line}");
        }
    }
}
