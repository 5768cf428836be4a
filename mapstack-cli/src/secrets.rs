//! What of a configuration is nobody else's business.

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
    let lower = name.to_lowercase();
    let mut words = lower.split(['_', '-', '.', ' ']).filter(|word| !word.is_empty());
    let about = words.clone().next_back().is_some_and(|last| ABOUT.contains(&last));
    !about && words.any(|word| SECRET.contains(&word))
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

/// A text without the password, or the token, in front of the host of its address.
fn without_user(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.into() };
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    match host.rfind('@').and_then(|at| Some((rest.get(..at)?, rest.get(at..)?))) {
        Some((user, rest)) => match user.split_once(':') {
            Some((name, _)) => format!("{scheme}://{name}:{MASK}{rest}"),
            // The user `git` is no secret, a token is.
            None if user.len() < 16 => text.into(),
            None => format!("{scheme}://{MASK}{rest}"),
        },
        None => text.into(),
    }
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
                "['https://me:pw@host/a@b', 'ssh://git@host/a']",
                "['https://me:********@host/a@b', 'ssh://git@host/a']",
            ),
            (
                "gitfs_remotes",
                "[{'https://0123456789abcdef01@host/a': [{root: x}]}]",
                "[{'https://********@host/a': [{'root': 'x'}]}]",
            ),
            ("file_roots", "{base: [/srv/salt]}", "{'base': ['/srv/salt']}"),
        ] {
            assert_eq!(masked(name, &yaml(given)).repr(), shown, "{name}: {given}");
        }
    }
}
