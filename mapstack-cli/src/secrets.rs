//! What of a configuration is nobody else's business.

use mapstack::loader::without_login;
use mapstack::value::{Key, Map, Value};

/// What stands for a secret.
const MASK: &str = "********";

/// Words in the name of an option that holds a secret.
const SECRET: [&str; 14] = [
    "apikey",
    "credential",
    "credentials",
    "key",
    "keyid",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "privkey",
    "pw",
    "secret",
    "secrets",
    "token",
];

/// Words at the end of the name of an option that only is about a secret.
const ABOUT: [&str; 12] =
    ["cache", "dir", "driver", "expire", "fetch", "file", "logfile", "name", "prefix", "size", "type", "user"];

/// The value of an option, without what a name in it calls a secret, and without the users of addresses.
pub fn masked(name: &str, value: &Value) -> Value {
    inside(value, is_secret(name))
}

fn is_secret(name: &str) -> bool {
    let words = words(name);
    let about = words.last().is_some_and(|last| ABOUT.contains(&&**last));
    let is_secret =
        |word: &String| SECRET.contains(&&**word) || word.strip_suffix('s').is_some_and(|one| SECRET.contains(&one));
    !about && words.iter().any(is_secret)
}

/// The words of a name, which `_` and the like or a capital letter begin.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for c in name.chars() {
        let starts = c.is_uppercase() && small;
        small = c.is_lowercase();
        if starts || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn inside(value: &Value, secret: bool) -> Value {
    match value {
        Value::Map(map) => {
            let entry = |(key, value): (&Key, &Value)| match key.as_str() {
                Some(name) => (without_user(name).into(), inside(value, secret || is_secret(name))),
                None => (key.clone(), inside(value, secret)),
            };
            map.iter().map(entry).collect::<Map>().into()
        }
        Value::List(items) => items.iter().map(|item| inside(item, secret)).collect(),
        Value::None | Value::Bool(_) => value.clone(),
        text if secret && text.truthy() => MASK.into(),
        Value::Str(text) => without_user(text).into(),
        other => other.clone(),
    }
}

/// A text without the login in front of the host of its address, and without what it asks for there.
fn without_user(text: &str) -> String {
    let shown = if looks_like_address(text) { without_login(text) } else { text.into() };
    if shown == text { shown } else { format!("{shown} ({MASK})") }
}

/// Whether a text is an address that can hold a login.
fn looks_like_address(text: &str) -> bool {
    let is_word = !text.contains(char::is_whitespace);
    is_word && (text.contains("://") || text.split_once('@').is_some_and(|(login, _)| login.contains(':')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_secrets() {
        for (name, secret) in [
            ("password", true),
            ("gitfs_privkey", true),
            ("key_pass", true),
            ("ssh_passwd", true),
            ("cluster_secret", true),
            ("s3.key", true),
            ("S3.KeyId", true),
            ("s3.keyid", true),
            ("passwords", true),
            ("api_tokens", true),
            ("auth_keys", true),
            ("accessToken", true),
            ("API-Token", true),
            ("token_dir", false),
            ("token_expire", false),
            ("keysize", false),
            ("key_logfile", false),
            ("keys.cache_driver", false),
            ("monkey", false),
            ("pillar_cache", false),
        ] {
            assert_eq!(is_secret(name), secret, "{name}");
        }
    }

    #[test]
    fn secrets_are_masked_wherever_they_are() {
        let yaml = |text: &str| mapstack::yaml::load(text).unwrap();
        for (name, given, shown) in [
            ("password", "s3cret", "'********'"),
            ("password", "1234", "'********'"),
            ("password", "", "None"),
            ("keep_acl_in_token", "true", "True"),
            (
                "mysql",
                "{host: db, pass: x, more: [{token: y}]}",
                "{'host': 'db', 'pass': '********', 'more': [{'token': '********'}]}",
            ),
            (
                "gitfs_remotes",
                "['https://me:pw@host/a', 'ssh://git@host/a']",
                "['https://host/a (********)', 'ssh://git@host/a']",
            ),
            (
                "gitfs_remotes",
                "[{'https://0123456789abcdef01@host/a': [{root: x}]}]",
                "[{'https://host/a (********)': [{'root': 'x'}]}]",
            ),
            ("file_roots", "{base: [/srv/salt]}", "{'base': ['/srv/salt']}"),
        ] {
            assert_eq!(masked(name, &yaml(given)).repr(), shown, "{name}: {given}");
        }
    }
}
