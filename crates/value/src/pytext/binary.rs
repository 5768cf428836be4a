//! The bytes of texts and others.

/// True if bytes are probably not a text: one is zero, or more than three in ten are not in texts (Salt:
/// `salt.utils.files.is_binary`).
///
/// ```
/// use mapstack_value::pytext::is_binary;
/// assert!(is_binary(b"a\0b"));
/// assert!(!is_binary("naïve".as_bytes()));
/// ```
#[must_use]
pub fn is_binary(bytes: &[u8]) -> bool {
    if bytes.contains(&0) {
        return true;
    }
    // A character that is cut off at the end does no harm.
    let is_utf8 = std::str::from_utf8(bytes).map_or_else(|e| e.error_len().is_none(), |_| true);
    let is_usual = |byte: &u8| match byte {
        32..=126 | b'\n' | b'\r' | b'\t' | 8 | 12 => true,
        128..=254 => is_utf8,
        _ => false,
    };
    let odd = bytes.iter().filter(|byte| !is_usual(byte)).count();
    odd * 10 > bytes.len() * 3
}
