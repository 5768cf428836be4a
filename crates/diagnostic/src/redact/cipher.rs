//! Ciphertext that renderers decrypt, as texts have it.

use mapstack_value::Value;

const END: &str = "-----END PGP MESSAGE-----";

/// A kind of ciphertext: that of a renderer.
///
/// ```
/// use mapstack_diagnostic::redact::Cipher;
/// use mapstack_value::Value;
/// let nacl = Cipher::of_renderer("nacl").unwrap();
/// assert!(nacl.is_in(&Value::from("NACL[xw==]")));
/// assert!(!nacl.is_in(&Value::from("see NACL[xw==]")));
/// assert_eq!(Cipher::of_renderer("yaml"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cipher {
    /// PGP messages, anywhere in a text.
    Gpg,
    /// Boxes of NaCl, each of which is a whole text.
    Nacl,
}

impl Cipher {
    /// The beginning of a PGP message.
    pub const PGP_BEGIN: &str = "-----BEGIN PGP MESSAGE-----";

    /// The ciphertext that a renderer decrypts.
    #[must_use]
    pub fn of_renderer(name: &str) -> Option<Self> {
        match name {
            "gpg" => Some(Cipher::Gpg),
            "nacl" => Some(Cipher::Nacl),
            _ => None,
        }
    }

    /// True if there is any in the texts of data.
    #[must_use]
    pub fn is_in(self, data: &Value) -> bool {
        match data {
            Value::Str(text) => match self {
                Cipher::Gpg => Cipher::next_message(text).is_some(),
                Cipher::Nacl => Cipher::boxed(text).is_some(),
            },
            Value::Map(map) => map.values().any(|value| self.is_in(value)),
            Value::List(items) => items.iter().any(|item| self.is_in(item)),
            _ => false,
        }
    }

    /// The content of a text that is a box of NaCl: `^NACL\[(.*)\]$`.
    #[must_use]
    pub fn boxed(text: &str) -> Option<&str> {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let inside = text.strip_prefix("NACL[")?.strip_suffix(']')?;
        (!inside.contains('\n')).then_some(inside)
    }

    /// The first message in a text, with what is before and behind it.
    #[must_use]
    pub fn next_message(text: &str) -> Option<(&str, &str, &str)> {
        let start = text.find(Self::PGP_BEGIN)?;
        let inner = start + Self::PGP_BEGIN.len();
        let end = inner + text[inner..].find(END)? + END.len();
        Some((&text[..start], &text[start..end], &text[end..]))
    }
}

/// True if a text has ciphertext of any kind. A PGP message counts even if its end is missing.
#[must_use]
pub fn is_ciphertext(text: &str) -> bool {
    text.contains(Cipher::PGP_BEGIN) || Cipher::boxed(text).is_some()
}
