//! Which names are those of secrets.

/// Words that name a secret, also in the plural.
const SECRET: [&str; 18] = [
    "apikey",
    "auth",
    "cred",
    "credential",
    "key",
    "keyid",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "privkey",
    "psk",
    "pw",
    "pwd",
    "secret",
    "sharedkey",
    "sshkey",
    "token",
];

/// Words so specific that they mark a secret even inside another word: `dbpassword`.
const TELLING: [&str; 9] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "privkey",
    "privatekey",
    "apikey",
    "credential",
];

/// Last words of names that are only about a secret: `token_expire`, `key_size`.
const ABOUT: [&str; 54] = [
    "algorithm",
    "algorithms",
    "attempts",
    "authentication",
    "bits",
    "cache",
    "checks",
    "cipher",
    "count",
    "days",
    "dir",
    "directory",
    "driver",
    "enabled",
    "exchange",
    "expire",
    "expiration",
    "expiry",
    "fetch",
    "file",
    "files",
    "folder",
    "format",
    "function",
    "functions",
    "grace",
    "host",
    "interval",
    "length",
    "lifetime",
    "location",
    "logfile",
    "method",
    "methods",
    "mode",
    "name",
    "names",
    "path",
    "policy",
    "port",
    "prefix",
    "required",
    "retries",
    "rotation",
    "rounds",
    "server",
    "size",
    "timeout",
    "tries",
    "ttl",
    "type",
    "url",
    "user",
    "username",
];

/// Words in names of keys whose values are public.
const PUBLIC: [&str; 5] = ["authorized", "known", "pub", "public", "pubkey"];

/// Words that end in `pass` and have nothing to do with passwords.
const PASSING: [&str; 5] = ["bypass", "compass", "encompass", "surpass", "trespass"];

/// The stems of secret names, whatever stands between its words. Most names have none of it, so that nothing else
/// has to be looked for.
const STEMS: [&str; 8] = [
    "auth", "cred", "key", "pass", "psk", "pw", "secret", "token",
];

/// True if what stands under a name is a secret because of the name.
///
/// Names are taken apart into words, which `_` and the like or a capital letter begin. The rule is the
/// product's own: Salt has none.
///
/// ```
/// use mapstack_redact::is_secret_name;
/// assert!(["Admin_Password", "pwd", "accessToken", "auth", "rootpw"].into_iter().all(is_secret_name));
/// assert!(!["keysize", "monkey", "authorized_keys_file", "public_key", "keyserver"].into_iter().any(is_secret_name));
/// ```
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    if !has_stem(name) {
        return false;
    }
    let words = words(name);
    let Some(last) = words.last() else {
        return false;
    };
    let is_public = words.iter().any(|word| PUBLIC.contains(&&**word));
    if ABOUT.contains(&&**last) || (is_public && !words.iter().any(|word| is_telling(word))) {
        return false;
    }
    words.iter().any(|word| is_secret_word(word)) || has_pair(&words)
}

fn has_stem(name: &str) -> bool {
    let mut letters = String::with_capacity(name.len());
    for c in name.chars().filter(|c| c.is_alphanumeric()) {
        match c.is_ascii() {
            true => letters.push(c.to_ascii_lowercase()),
            false => letters.extend(c.to_lowercase()),
        }
    }
    STEMS.iter().any(|stem| letters.contains(stem))
}

fn is_secret_word(word: &str) -> bool {
    let one = word.strip_suffix('s').unwrap_or(word);
    let is_short_form = word.ends_with("pw") || word.ends_with("pwd") || word.ends_with("pass");
    SECRET.contains(&word)
        || SECRET.contains(&one)
        || is_telling(word)
        || (is_short_form && !PASSING.contains(&word))
}

fn is_telling(word: &str) -> bool {
    TELLING.iter().any(|telling| word.contains(telling))
}

/// Two words that mean what one of [`TELLING`] means: `pass_word`, `api key`.
fn has_pair(words: &[String]) -> bool {
    words.windows(2).any(|pair| is_telling(&pair.concat()))
}

/// The words of a name, in small letters.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_secret_name_has_a_stem() {
        let short = ["pw", "pwd", "pass"];
        for word in SECRET.iter().chain(&TELLING).chain(&short) {
            assert!(has_stem(word), "{word}");
        }
        // Where words are looked at in pairs, and where letters become small.
        for name in ["to_ken", "pass-Word", "PASS", "My API Key", "\u{212a}ey"] {
            assert!(has_stem(name) && is_secret_name(name), "{name}");
        }
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "one row for each name")]
    fn names_tell_secrets() {
        for name in [
            "password",
            "Admin_Password",
            "PASSWD",
            "dbpassword",
            "passwords",
            "pw",
            "pwd",
            "rootpw",
            "rootpwd",
            "pass",
            "key_pass",
            "dbpass",
            "auth",
            "auth_keys",
            "key",
            "s3.key",
            "S3.KeyId",
            "s3.keyid",
            "private_key",
            "gitfs_privkey",
            "api_tokens",
            "accessToken",
            "API-Token",
            "cluster_secret",
            "psk",
            "pem_passphrase",
            "client_credentials",
            "rndc-key",
            "keep_acl_in_token",
            "public_key_passphrase",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "",
            "_",
            "port",
            "token_dir",
            "token_expire",
            "keysize",
            "key_size",
            "key_logfile",
            "keys.cache_driver",
            "monkey",
            "keyboard",
            "keyserver",
            "key_server",
            "authorized_keys",
            "authorized_keys_file",
            "public_key",
            "pubkey",
            "author",
            "authority",
            "bypass",
            "compass",
            "passenger",
            "passive",
            "PasswordAuthentication",
            "auth_type",
            "max_auth_tries",
            "pillar_cache",
            "pinned",
            "password_file",
            "password_pbkdf2_default_rounds",
            "mine_keys_function",
            "smtp_auth_username",
            "ssh_key_names",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
