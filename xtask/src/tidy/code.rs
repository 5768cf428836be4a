//! Rust source without its comments and literals, so that what is only talked about does not count.

/// The text with every comment, string and character literal blanked; lines stay where they are.
pub fn code_only(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (_, part, is_code) in parts(text) {
        if is_code {
            out.push_str(part);
        } else {
            out.push(' ');
            out.extend(part.chars().filter(|c| *c == '\n'));
        }
    }
    out
}

/// A file without the tests at its end, wherever these are compiled.
pub fn product(text: &str) -> &str {
    let tests = text.match_indices("#[cfg(").find(|(at, _)| {
        let mut lines = text[*at..].lines();
        let condition = lines.next().unwrap_or_default();
        let names_tests = condition
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| word == "test");
        names_tests
            && lines
                .next()
                .is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
    });
    tests.map_or(text, |(at, _)| &text[..at])
}

/// The string literals, each with the number of its first line.
pub fn strings(text: &str) -> Vec<(usize, &str)> {
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    let strings = parts(text).filter(|(_, part, is_code)| !is_code && part.starts_with(['"', 'r']));
    strings.map(|(at, part, _)| (line(at), part)).collect()
}

/// The characters of code, and comments and literals as a whole, each with its place.
fn parts(text: &str) -> impl Iterator<Item = (usize, &str, bool)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (start, rest) = (at, &text[at..]);
        let c = rest.chars().next()?;
        let literal = match c {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => block_comment(rest),
            '"' => string(rest),
            'r' if !ends_in_word(&text[..at]) => raw_string(rest).unwrap_or(0),
            '\'' => character(rest).unwrap_or(0),
            _ => 0,
        };
        let length = if literal == 0 { c.len_utf8() } else { literal };
        at += length;
        Some((start, &rest[..length], literal == 0))
    })
}

fn ends_in_word(text: &str) -> bool {
    // `br"…"` is a literal, `far"…"` does not compile.
    let before = text.strip_suffix('b').unwrap_or(text);
    before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// The length of a comment that may hold comments.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of a string that begins with its quotation mark.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of `r"…"`, `r#"…"#` and so on.
fn raw_string(text: &str) -> Option<usize> {
    let after = text.strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = after[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(text.len() - body.len() + length)
}

/// The length of a character literal; a lifetime is none.
fn character(text: &str) -> Option<usize> {
    let body = &text[1..];
    if let Some(escape) = body.strip_prefix('\\') {
        let first = escape.chars().next()?.len_utf8();
        return Some(2 + first + escape[first..].find('\'')? + 1);
    }
    let c = body.chars().next()?;
    body[c.len_utf8()..]
        .starts_with('\'')
        .then(|| 1 + c.len_utf8() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blank() {
        for (text, code) in [
            ("a // b\nc", "a  \nc"),
            ("a /* b /* c */ d */ e", "a   e"),
            (r#"f("x \" y") + g"#, "f( ) + g"),
            ("f(r#\"x \" y\"#, br\"z\") + g", "f( , b ) + g"),
            (
                "let c = '\"'; let d = '\\''; let e = '\\u{41}'; h",
                "let c =  ; let d =  ; let e =  ; h",
            ),
            ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
            ("\"a\nb\"\nc", " \n\nc"),
            ("for x in y {}", "for x in y {}"),
            ("\"never closed", " "),
        ] {
            assert_eq!(code_only(text), code);
        }
    }
}
