//! That libraries do not name what only the command has: flags and verbs.

use std::path::Path;

use super::code::strings;

/// Files with flags that are not advice, or that belong to other programs.
const ALLOWED: &[(&str, &str)] = &[
    ("crates/frontend/src/inputs/", "the flags of the command"),
    ("crates/python/", "the arguments of mapstack-python"),
    ("crates/frontend/src/host/gpg.rs", "the arguments of gpg"),
    (
        "crates/frontend/src/host/salt_call.rs",
        "the arguments of salt-call",
    ),
    (
        "crates/functions/src/network.rs",
        "the arguments of salt-call",
    ),
    (
        "crates/salt-config/src/gitfs/fetch/",
        "the arguments of git",
    ),
    ("crates/minion/src/error.rs", "the arguments of salt"),
    (
        "crates/sandbox/src/client/find.rs",
        "the arguments of cargo",
    ),
    (
        "crates/sandbox/src/client/once.rs",
        "the arguments of mapstack-python",
    ),
    (
        "crates/sandbox/src/client/process.rs",
        "the arguments of mapstack-python",
    ),
    ("crates/report/src/origin.rs", "a name in printed documents"),
    ("crates/report/src/schemas.rs", "the titles of schemas"),
];

/// The mistakes in a file of a library.
pub fn check(path: &Path, text: &str) -> Vec<String> {
    if ALLOWED
        .iter()
        .any(|(allowed, _)| path.to_string_lossy().starts_with(allowed))
    {
        return Vec::new();
    }
    let product = text.split("\n#[cfg(test)]\n").next().unwrap_or(text);
    let named = strings(product)
        .into_iter()
        .filter(|(_, string)| names_command(string));
    let problem = |(line, _): (usize, _)| {
        format!(
            "{}:{line}: names a flag or a verb of the command, which a library does not know: use `Means`",
            path.display()
        )
    };
    named.map(problem).collect()
}

/// True if a text has a flag, or calls the command.
fn names_command(text: &str) -> bool {
    let has_flag = text.match_indices("--").any(|(at, _)| {
        let begins = !text[..at].ends_with('-');
        begins && text[at + 2..].starts_with(|c: char| c.is_ascii_lowercase())
    });
    has_flag
        || ["`mapstack ", " mapstack explain "]
            .iter()
            .any(|call| text.contains(call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_in_messages_are_found_and_nothing_else() {
        let bad = "fn f() -> &'static str { \"give a root: --root DIR\" }\n";
        let path = Path::new("crates/lint/src/x.rs");
        assert_eq!(check(path, bad).len(), 1);
        assert_eq!(
            check(Path::new("crates/frontend/src/inputs/x.rs"), bad).len(),
            0
        );
        assert_eq!(
            check(path, "const X: &str = r#\"see `mapstack lint`\"#;\n").len(),
            1
        );
        for good in [
            "/// With --root DIR.\nfn f() {}\n",
            "const X: &str = \"--- a\";\n",
            "const X: &str = \"a -- b\";\n",
            "fn f() {}\n#[cfg(test)]\nmod tests { const X: &str = \"--root\"; }\n",
        ] {
            assert_eq!(check(path, good), Vec::<String>::new(), "{good}");
        }
    }
}
