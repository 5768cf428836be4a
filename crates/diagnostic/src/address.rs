//! Addresses without what is secret in them.

/// An address, without the login in front of its host and without its query.
///
/// Anything that looks like an address counts: with a scheme or, as ssh takes it, without. A user
/// alone is kept where it is not a token: before a host of ssh, and in paths.
///
/// ```
/// use mapstack_diagnostic::without_login;
/// assert_eq!(without_login("https://me:s/ecr@t@example.org/a.git?token=x"), "https://example.org/a.git");
/// assert_eq!(without_login("ssh://git@example.org/a"), "ssh://git@example.org/a");
/// assert_eq!(without_login("git@example.org:a.git"), "git@example.org:a.git");
/// assert_eq!(without_login("me:secret@example.org/a"), "example.org/a");
/// ```
#[must_use]
pub fn without_login(address: &str) -> String {
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, address),
    };
    if scheme == Some("file") || address.starts_with('/') {
        return address.into();
    }
    let rest = match scheme {
        Some(_) => rest.split(['?', '#']).next().unwrap_or(rest),
        None => rest,
    };
    // A password may have any of the characters that end a host, so the last sign counts.
    let kept = match rest.rsplit_once('@') {
        Some((login, host)) => {
            let is_user = !login.contains([':', '/']) && login.len() < LONGEST_USER;
            let by_ssh = scheme.is_none_or(|scheme| scheme.contains("ssh"));
            if is_user && by_ssh { rest } else { host }
        }
        None => rest,
    };
    scheme.map_or_else(|| kept.into(), |scheme| format!("{scheme}://{kept}"))
}

/// A longer name is a token.
const LONGEST_USER: usize = 16;

#[cfg(test)]
mod tests {
    use super::without_login;

    #[test]
    fn logins_and_queries_are_left_out() {
        for (address, shown) in [
            ("https://example.org/a", "https://example.org/a"),
            ("https://me:hun/ter2@example.org/a", "https://example.org/a"),
            ("https://token@example.org/a", "https://example.org/a"),
            (
                "ftp://0123456789abcdef0123@example.org/a",
                "ftp://example.org/a",
            ),
            (
                "ssh://0123456789abcdef0123@example.org/a",
                "ssh://example.org/a",
            ),
            (
                "https://example.org/a?private_token=x#y",
                "https://example.org/a",
            ),
            ("me:hunter2@example.org/x", "example.org/x"),
            ("user@example.org:a/b.git", "user@example.org:a/b.git"),
            ("file:///srv/a@b/c?d", "file:///srv/a@b/c?d"),
            ("/srv/me:x@y", "/srv/me:x@y"),
            ("plain", "plain"),
            ("", ""),
        ] {
            assert_eq!(without_login(address), shown, "{address}");
        }
    }
}
