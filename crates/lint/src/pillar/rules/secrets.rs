//! Secrets in plain text.

use crate::{Finding, Rule, Scalar};
use mapstack::value::{Key, Value};
use mapstack_diagnostic::redact::{is_encrypted, is_secret_name};

use super::PillarSubject;

pub(super) fn check(subject: &PillarSubject<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for document in subject.documents {
        document.visit(&mut |scalar| {
            if scalar.is_key || !is_secret(subject, scalar) {
                return;
            }
            let length = scalar.plain().map_or(1, str::len);
            let (place, computed) = scalar.place(length);
            if computed {
                return;
            }
            let keys: Vec<String> = scalar.path.iter().map(ToString::to_string).collect();
            let message = format!("the secret '{}' is in plain text", keys.join(":"));
            let help =
                "encrypt it (`#!yaml|gpg`), or take it from an external pillar, a vault or SDB";
            found.push(Finding::new(Rule::PlainSecret, place, message).help(help));
        });
    }
    found
}

fn is_secret(subject: &PillarSubject<'_>, scalar: &Scalar<'_>) -> bool {
    let Value::Str(text) = &scalar.value else {
        return false;
    };
    if text.contains("PRIVATE KEY-----") {
        return !text.contains("ENCRYPTED");
    }
    let name = scalar.path.iter().rev().find_map(Key::as_str);
    let is_named = name.is_some_and(|name| subject.secrets.is_secret_key(name));
    is_named && !is_encrypted(text) && !is_public(text.trim(), name.unwrap_or_default())
}

/// The beginnings of texts that give the place of a secret, or that anyone may see.
const PUBLIC: [&str; 16] = [
    "/",
    "~/",
    "./",
    "salt://",
    "file://",
    "sdb://",
    "vault:",
    "ssh-",
    "ecdsa-",
    "sk-ssh-",
    "-----BEGIN CERTIFICATE",
    "-----BEGIN PUBLIC KEY",
    "-----BEGIN RSA PUBLIC KEY",
    "-----BEGIN PGP PUBLIC KEY",
    "http://",
    "https://",
];

/// Words that switch something on or off.
const SWITCHES: [&str; 14] = [
    "", "true", "false", "yes", "no", "on", "off", "none", "null", "*", "!", "!!", "enabled",
    "disabled",
];

/// Words in names that are those of many things besides secrets.
const WEAK: [&str; 8] = [
    "key", "keys", "keyid", "auth", "pass", "cred", "id", "keyids",
];

/// True if anyone may see a text under the name of a secret: a place, a switch, a public key; under a name such as `key`,
/// anything that does not look random.
fn is_public(text: &str, name: &str) -> bool {
    let small = text.to_lowercase();
    let has_user = text.split_once("://").is_some_and(|(_, rest)| {
        let host = rest.split('/').next().unwrap_or_default();
        host.split_once('@')
            .is_some_and(|(user, _)| user.contains(':'))
    });
    if SWITCHES.contains(&small.as_str()) {
        return true;
    }
    if PUBLIC.iter().any(|start| text.starts_with(start)) {
        return !has_user;
    }
    is_weak(name) && !is_random(text)
}

/// True if only weak words make a name that of a secret: `private_key` and `key_city`, and not `key_token`.
fn is_weak(name: &str) -> bool {
    let words = name.split(|c: char| !c.is_alphanumeric());
    let is_strong = |word: &&str| !WEAK.contains(&word.to_lowercase().as_str());
    let strong: Vec<&str> = words.filter(is_strong).collect();
    is_secret_name(name) && !is_secret_name(&strong.join("_"))
}

/// True if a text looks like random characters: long, in one word, with letters and digits, and not the number of a key.
fn is_random(text: &str) -> bool {
    let has = |is: fn(char) -> bool| text.contains(is);
    let is_number_of_key = text.trim_start_matches("0x").len() <= 16
        && text
            .trim_start_matches("0x")
            .chars()
            .all(|c| c.is_ascii_hexdigit());
    text.len() >= 16
        && !is_number_of_key
        && !has(char::is_whitespace)
        && has(|c| c.is_ascii_digit())
        && has(|c| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::is_public;
    use mapstack_diagnostic::redact::is_secret_name;

    #[test]
    fn places_switches_and_numbers_of_keys_are_no_secrets() {
        for (name, text) in [
            ("password", "sdb://vault/web/password"),
            ("password", "False"),
            ("passwd", "!"),
            ("private_key", "/etc/ssl/private/web.pem"),
            ("key", "0xF76221572C52609D"),
            ("key", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA me@here"),
            ("token", "https://example.org/token"),
            ("auth", "ldap"),
            ("key_country", "US"),
            ("key_file_resource_id", "repositories:base.rpm"),
        ] {
            let is_shown = is_public(text, name) || !is_secret_name(name);
            assert!(is_shown, "{name}: {text}");
        }
        for (name, text) in [
            ("password", "hunter2"),
            ("password", "correct horse"),
            ("db_pass", "a8f5f167f44f4964e6c998dee827110c"),
            ("token", "https://me:hunter2@example.org/"),
            ("key", "wJalrXUtnFEMI4K7MDENGbPxRfiCYEXAMPLEKEY"),
            ("key_data", "wJalrXUtnFEMI4K7MDENGbPxRfiCYEXAMPLEKEY"),
            ("key_token", "hunter2"),
            ("password_secret", "hunter2"),
            ("hush", "named by the user"),
        ] {
            assert!(!is_public(text, name), "{name}: {text}");
        }
    }
}
