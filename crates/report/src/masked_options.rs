//! Options of a configuration without secrets.

use mapstack::secrets::Secrets;
use mapstack::value::{Key, Map, Value};
use mapstack::without_login;

/// The value of an option without values under secret names, and without the logins in addresses.
pub fn masked(name: &str, value: &Value, secrets: &Secrets) -> Value {
    inside(value, secrets.is_secret_key(name), secrets)
}

fn inside(value: &Value, secret: bool, secrets: &Secrets) -> Value {
    match value {
        Value::Map(map) => {
            let entry = |(key, value): (&Key, &Value)| match key.as_str() {
                Some(name) => (
                    without_user(name).into(),
                    inside(value, secret || secrets.is_secret_key(name), secrets),
                ),
                None => (key.clone(), inside(value, secret, secrets)),
            };
            map.iter().map(entry).collect::<Map>().into()
        }
        Value::List(items) => items
            .iter()
            .map(|item| inside(item, secret, secrets))
            .collect(),
        Value::None | Value::Bool(_) => value.clone(),
        text if secret && text.truthy() => secrets
            .shown(&[], true, text)
            .map_or_else(|| text.clone(), Value::from),
        Value::Str(text) => without_user(text).into(),
        other => other.clone(),
    }
}

/// A text without the login and the query of its address.
fn without_user(text: &str) -> String {
    let shown = if looks_like_address(text) {
        without_login(text)
    } else {
        text.into()
    };
    if shown == text {
        shown
    } else {
        format!("{shown} (<secret>)")
    }
}

/// True if a text is an address that can hold a login.
fn looks_like_address(text: &str) -> bool {
    let is_word = !text.contains(char::is_whitespace);
    is_word
        && (text.contains("://")
            || text
                .split_once('@')
                .is_some_and(|(login, _)| login.contains(':')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_wherever_they_are() {
        let yaml = |text: &str| mapstack::yaml::load(text).unwrap();
        for (name, given, shown) in [
            ("password", "s3cret", "'<secret>'"),
            ("password", "1234", "'<secret>'"),
            ("password", "", "None"),
            ("keep_acl_in_token", "true", "True"),
            (
                "mysql",
                "{host: db, pass: x, more: [{token: y}]}",
                "{'host': 'db', 'pass': '<secret>', 'more': [{'token': '<secret>'}]}",
            ),
            (
                "gitfs_remotes",
                "['https://me:pw@host/a', 'ssh://git@host/a']",
                "['https://host/a (<secret>)', 'ssh://git@host/a']",
            ),
            (
                "gitfs_remotes",
                "[{'https://0123456789abcdef01@host/a': [{root: x}]}]",
                "[{'https://host/a (<secret>)': [{'root': 'x'}]}]",
            ),
            (
                "file_roots",
                "{base: [/srv/salt]}",
                "{'base': ['/srv/salt']}",
            ),
        ] {
            assert_eq!(
                masked(name, &yaml(given), &Secrets::without_digests()).repr(),
                shown,
                "{name}: {given}"
            );
        }
    }
}
