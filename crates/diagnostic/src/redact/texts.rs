//! Signs in texts themselves: that they are public, or that they contain a password.

use std::ops::Range;

use crate::redact::names::{is_secret_name, is_weak};

/// Words that switch something on or off.
const SWITCHES: [&str; 13] = [
    "true", "false", "yes", "no", "on", "off", "none", "null", "enabled", "disabled", "*", "!",
    "!!",
];

/// The beginnings of paths, and of references to values kept elsewhere.
const PLACES: [&str; 20] = [
    "/boot/", "/data/", "/dev/", "/etc/", "/home/", "/lib/", "/media/", "/mnt/", "/opt/", "/proc/",
    "/root/", "/run/", "/srv/", "/tmp/", "/usr/", "/var/", "~/", "salt://", "file://", "sdb://",
];

/// The beginnings of public keys, as ssh and PEM have them.
const PUBLIC_KEYS: [&str; 9] = [
    "ssh-",
    "ecdsa-sha2-",
    "sk-ssh-",
    "sk-ecdsa-",
    "-----BEGIN CERTIFICATE",
    "-----BEGIN PUBLIC KEY",
    "-----BEGIN RSA PUBLIC KEY",
    "-----BEGIN PGP PUBLIC KEY",
    "---- BEGIN SSH2 PUBLIC KEY",
];

/// A longer text is not a URL.
const LONGEST_URL: usize = 4096;

/// True if a text is public, although it is under the name of a secret: a switch, the place of a file, a public
/// key; an address as well, if the name could mean something else.
pub(crate) fn is_public(text: &str, name: &str) -> bool {
    let text = text.trim();
    let is_word = !text.contains(char::is_whitespace);
    let begins = |all: &[&str]| all.iter().any(|start| text.starts_with(start));
    let is_switch = || {
        SWITCHES
            .iter()
            .any(|switch| text.eq_ignore_ascii_case(switch))
    };
    let is_key = || begins(&PUBLIC_KEYS) && (text.starts_with('-') || text.contains(" AAAA"));
    let is_address = || {
        is_word
            && begins(&["http://", "https://", "unix:"])
            && is_weak(name)
            && passwords(text).is_empty()
    };
    is_switch() || (is_word && begins(&PLACES)) || is_key() || is_address()
}

/// True if a text is what a client sends to log in: `Basic bWU6aHVudGVyMg==`.
pub(crate) fn is_authorization(text: &str) -> bool {
    let text = text.strip_prefix("Authorization:").unwrap_or(text).trim();
    let Some((scheme, rest)) = text.split_once(' ') else {
        return false;
    };
    let is_of_token = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
    ["basic", "bearer"].contains(&scheme.to_ascii_lowercase().as_str())
        && rest.len() >= 12
        && rest.chars().all(is_of_token)
}

/// The ranges of the passwords in a text's URLs: `https://me:PASSWORD@host/?token=TOKEN`.
pub(crate) fn passwords(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("://")) {
        let start = from + at + 3;
        let rest = text.get(start..).unwrap_or_default();
        let is_end = |c: char| c.is_whitespace() || "\"'<>`".contains(c);
        let mut chars = rest.char_indices();
        let end = chars.find(|(at, c)| is_end(*c) || *at > LONGEST_URL);
        let url = end.and_then(|(end, _)| rest.get(..end)).unwrap_or(rest);
        found.extend(of_login(url).map(|range| start + range.start..start + range.end));
        found.extend(of_query(url).map(|range| start + range.start..start + range.end));
        from = start;
    }
    found
}

/// The password in what follows the scheme of a URL. It may have any of the characters that end a host, but for `?`, so
/// the last `@` counts that a host follows.
fn of_login(url: &str) -> Option<Range<usize>> {
    let before_query = url.split(['?', '#']).next().unwrap_or(url);
    let authority = before_query.split('/').next().unwrap_or(before_query);
    let at = authority.rfind('@').or_else(|| {
        let colon = before_query.find(':')?;
        let at = before_query.rfind('@')?;
        // A port, or a password with a slash in it.
        let port = before_query.get(colon + 1..)?.split('/').next()?;
        let is_user = before_query
            .get(..colon)
            .is_some_and(|user| !user.contains('/'));
        (is_user && colon < at && port.parse::<u16>().is_err()).then_some(at)
    })?;
    let colon = before_query.get(..at)?.find(':')?;
    let password = before_query.get(colon + 1..at)?;
    let is_variable = ["{{", "${", "$(", "<", "%("]
        .iter()
        .any(|start| password.starts_with(start));
    (!password.is_empty() && !is_variable && !password.chars().all(|c| "*.x<>".contains(c)))
        .then_some(colon + 1..at)
}

/// The values of the parameters of a URL that name secrets.
fn of_query(url: &str) -> impl Iterator<Item = Range<usize>> {
    let start = url.find('?').map_or(url.len(), |at| at + 1);
    let query = url.get(start..).unwrap_or_default();
    let mut at = start;
    query.split(['&', ';', '#']).filter_map(move |part| {
        let begin = at;
        at += part.len() + 1;
        let (name, value) = part.split_once('=')?;
        let is_secret = is_secret_name(name) && !is_weak(name) && !is_public(value, name);
        let value = begin + name.len() + 1..begin + part.len();
        (is_secret && !value.is_empty()).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_of_urls_are_found() {
        for (text, expected) in [
            ("https://user:pa55word@host.example/x", &["pa55word"][..]),
            (
                "postgresql+psycopg2://app:s3/cr@t@db:5432/app",
                &["s3/cr@t"],
            ),
            ("redis://:hunter2@cache:6379/0", &["hunter2"]),
            ("amqp://a:one@h1,amqp://b:two@h2", &["one", "two"]),
            ("a https://a:one@h1/x, b=ftp://b:two@h2.", &["one", "two"]),
            ("https://h/x?user=me&access_token=abc#top", &["abc"]),
            ("https://h/x?password=p%40ss", &["p%40ss"]),
            ("deb [signed-by=x] https://me:pw@h/ stable", &["pw"]),
            ("https://me@host/x", &[]),
            ("https://host:8443/a@b", &[]),
            ("https://host/a:b@c", &[]),
            ("https://host/?key=abc&page=2", &[]),
            ("https://user:{{ password }}@host", &[]),
            ("https://user:***@host", &[]),
            ("salt://a/b", &[]),
            ("user:pw@host", &[]),
            ("://", &[]),
            ("", &[]),
        ] {
            let found: Vec<&str> = passwords(text)
                .into_iter()
                .map(|range| &text[range])
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn what_anyone_may_see_is_no_secret() {
        for (name, text, expected) in [
            ("password", "no", true),
            ("PasswordX", "Yes", true),
            ("ssl_key", "/etc/ssl/private/a.key", true),
            ("password", "salt://f/password", true),
            ("ssh_keys", "ssh-rsa AAAAB3Nz me@host", true),
            ("key", "-----BEGIN CERTIFICATE-----\nMII", true),
            ("proxy_pass", "http://127.0.0.1:8080", true),
            ("gpgkey", "https://example.org/KEY.asc", true),
            ("proxy_pass", "http://a:b@127.0.0.1:8080", false),
            ("token", "https://hooks.example.org/T0/B0/x", false),
            ("password", "/k3y", false),
            ("password", "/etc/and more", false),
            ("password", "ssh-me", false),
            ("password", "", false),
            ("password", "hunter2", false),
        ] {
            assert_eq!(is_public(text, name), expected, "{name}: {text}");
        }
    }

    #[test]
    fn logins_of_http_are_known() {
        assert!(is_authorization("Bearer abcdefgh12345678"));
        assert!(is_authorization("Authorization: Basic bWU6aHVudGVyMg=="));
        for text in [
            "Basic auth",
            "Basic authentication is",
            "basic",
            "Bearer of news today",
        ] {
            assert!(!is_authorization(text), "{text}");
        }
    }
}
