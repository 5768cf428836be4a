//! The names of secrets.

use crate::redact::words::{
    ABOUT, COUNTS, GIVES, NO_SECRETS, PASSING, PLAIN_KEYS, PUBLIC, SECRET, SENDS, STEMS, SWITCHES,
    TELLING, UNLIKE,
};

/// True if the value under a name is secret because of the name.
///
/// Names are taken apart into words, which `_` and the like or a capital letter begin. The rule is the
/// product's own: Salt has none.
///
/// ```
/// use mapstack_diagnostic::redact::is_secret_name;
/// assert!(["Admin_Password", "pwd", "accessToken", "auth", "rootpw", "presharedkey"].into_iter().all(is_secret_name));
/// assert!(!["keysize", "monkey", "host_key_algos", "tokens_per_second", "public_key"].into_iter().any(is_secret_name));
/// ```
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    if !has_stem(name) {
        return false;
    }
    let words = words(name);
    let names_secret = words.iter().any(|word| is_secret_word(word)) || has_pair(&words);
    names_secret && !is_about(&words) && !is_public(&words)
}

/// True if the name of a secret could as well mean something else, as `key` and `auth` do.
pub(crate) fn is_weak(name: &str) -> bool {
    let words = words(name);
    !words.iter().any(|word| is_strong(word)) && !has_pair(&words)
}

/// True if a name is about a secret, and not the secret itself: its last word says so, or it counts or allows secrets.
fn is_about(words: &[String]) -> bool {
    let Some((last, before)) = words.split_last() else {
        return true;
    };
    let is_number_of = match &**last {
        "id" | "ids" => before.last().is_none_or(|word| one_of(word) != "secret") && !opens(before),
        "keyid" | "keyids" => !before.last().is_some_and(|word| GIVES.contains(&&**word)),
        _ => false,
    };
    let first = words.first().map(String::as_str).unwrap_or_default();
    is_number_of
        || ABOUT.contains(&&**last)
        || ABOUT.contains(&one_of(last))
        || words.iter().skip(1).any(|word| word == "per")
        || (words.len() > 1 && (COUNTS.contains(&first) || SWITCHES.contains(&first)))
}

/// True if the words before `id` are those of a key that gives access, as AWS has them.
fn opens(before: &[String]) -> bool {
    match before {
        [.., gives, key] => one_of(key) == "key" && GIVES.contains(&&**gives),
        [word] => word == "accesskey",
        _ => false,
    }
}

/// True if a name is that of a key anyone may see, or of something else that is called a key.
fn is_public(words: &[String]) -> bool {
    let is_public = |word: &String| PUBLIC.contains(&&**word) || PUBLIC.contains(&one_of(word));
    if words.iter().any(is_public) && !words.iter().any(|word| is_strong(word)) {
        return true;
    }
    match words {
        [server, tokens] if server == "server" && tokens == "tokens" => true,
        [.., kind, last] => {
            (one_of(last) == "key" && PLAIN_KEYS.contains(&&**kind))
                || (last == "pass" && SENDS.contains(&&**kind))
                || (last == "auth" && UNLIKE.contains(&format!("{kind}auth").as_str()))
        }
        _ => false,
    }
}

/// The word without the `s` of the plural.
fn one_of(word: &str) -> &str {
    word.strip_suffix('s').unwrap_or(word)
}

/// True if a name may be that of a secret. Most have no letters of one, so that nothing else has to be looked for.
fn has_stem(name: &str) -> bool {
    let mut letters = String::with_capacity(name.len());
    for c in name.chars().filter(|c| c.is_alphanumeric()) {
        match c.is_ascii() {
            true => letters.push(c.to_ascii_lowercase()),
            false => letters.extend(c.to_lowercase()),
        }
    }
    // Few names have all letters of a stem, and fewer have them in its order.
    let has = letter_set(&letters);
    STEMS
        .iter()
        .any(|stem| letter_set(stem) & !has == 0 && letters.contains(stem))
}

/// The letters from `a` to `z` in a text, as bits.
fn letter_set(text: &str) -> u32 {
    let letters = text.bytes().filter(u8::is_ascii_lowercase);
    letters.fold(0, |set, letter| set | 1 << (letter - b'a'))
}

fn is_secret_word(word: &str) -> bool {
    is_strong(word)
        || [word, one_of(word)].into_iter().any(|word| {
            SECRET.contains(&word)
                || ends_with_other(word, "key", &PLAIN_KEYS)
                || ends_with_other(word, "auth", &[])
        })
}

/// True if a word is put together of another and this one, and is not among those that only look like it.
fn ends_with_other(word: &str, end: &str, except: &[&str]) -> bool {
    word.strip_suffix(end)
        .is_some_and(|before| !before.is_empty() && !except.contains(&before))
        && !UNLIKE.contains(&word)
}

/// True if a word is that of secrets, whatever else is in the name.
fn is_strong(word: &str) -> bool {
    let is_short_form = ["pw", "pwd", "psk"].iter().any(|end| word.ends_with(end))
        || (word.ends_with("pass") && word != "pass" && !PASSING.contains(&word));
    is_telling(word) || (is_short_form && !is_of_others(word))
}

/// True if a word has one in it that only means secrets, as in `dbpassword`.
fn is_telling(word: &str) -> bool {
    TELLING.iter().any(|telling| word.contains(telling)) && !is_of_others(word)
}

/// True if a word only looks like that of a secret: `secretary`.
fn is_of_others(word: &str) -> bool {
    NO_SECRETS.iter().any(|other| word.contains(other))
}

/// Two words that mean what one of [`TELLING`] means: `pass_word`, `api key`.
fn has_pair(words: &[String]) -> bool {
    words.windows(2).any(|pair| is_telling(&pair.concat()))
}

/// The words of a name, in small letters. Numbers behind them do not count: `password2`, `key_1`.
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
    for word in &mut words {
        word.truncate(word.trim_end_matches(|c: char| c.is_ascii_digit()).len());
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_secret_name_has_a_stem() {
        let short = ["pw", "pwd", "pass", "psk"];
        for word in SECRET.iter().chain(&TELLING).chain(&short) {
            assert!(has_stem(word), "{word}");
        }
        // Names that are searched in pairs of words, and names with capital letters.
        for name in ["to_ken", "pass-Word", "PASS", "My API Key", "\u{212a}ey"] {
            assert!(has_stem(name) && is_secret_name(name), "{name}");
        }
    }

    /// Names out of public pillars, formulas and configurations of Salt: `+` those of secrets, `-` the others.
    #[test]
    fn names_tell_secrets() {
        let mut wrong = Vec::new();
        for line in include_str!("../../tests/names.txt").lines() {
            let Some((sign, names)) = line.split_once(' ').filter(|(sign, _)| *sign != "#") else {
                continue;
            };
            for name in names.split(' ') {
                if is_secret_name(name) != (sign == "+") {
                    wrong.push(format!("{sign} {name}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert!(
            ["", "_", "1", "My Name"]
                .into_iter()
                .all(|name| !is_secret_name(name))
        );
    }
}
