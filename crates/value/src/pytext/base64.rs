//! Base64 that is read as leniently as Python reads it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// An error of decoding; the messages are Python's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// One digit is left over behind the last group of four.
    #[error(
        "Invalid base64-encoded string: number of data characters ({digits}) cannot be 1 more than a multiple of 4"
    )]
    Alone {
        /// All digits there are.
        digits: usize,
    },
    /// A last group of two or three digits is not filled up.
    #[error("Incorrect padding")]
    Padding,
}

/// Bytes as one line of digits with padding (Python: `base64.b64encode`).
///
/// ```
/// assert_eq!(mapstack_value::pytext::base64::encode(b"hi"), "aGk=");
/// ```
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Bytes as lines of at most 76 digits, each ended (Python: `base64.encodebytes`).
///
/// ```
/// assert_eq!(mapstack_value::pytext::base64::encode_lines(b"hi"), "aGk=\n");
/// ```
#[must_use]
pub fn encode_lines(bytes: &[u8]) -> String {
    const BYTES_A_LINE: usize = 57;
    let mut lines = String::with_capacity(bytes.len() / 3 * 4 + bytes.len() / BYTES_A_LINE + 5);
    for line in bytes.chunks(BYTES_A_LINE) {
        STANDARD.encode_string(line, &mut lines);
        lines.push('\n');
    }
    lines
}

/// The bytes of digits (Python: `binascii.a2b_base64`): what is not a digit is skipped, and the padding
/// of a group ends the data.
///
/// The crate `base64` has no such mode, so its engine is only asked to encode.
///
/// ```
/// use mapstack_value::pytext::base64::{DecodeError, decode};
/// assert_eq!(decode(b"aG k=ignored"), Ok(b"hi".to_vec()));
/// assert_eq!(decode(b"aGkxx"), Err(DecodeError::Alone { digits: 5 }));
/// ```
///
/// # Errors
/// [`DecodeError`] where the last group is not whole.
pub fn decode(text: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut digits, mut padding, mut rest) = (0_usize, 0, 0_u8);
    for &c in text {
        let place = digits % 4;
        if c == b'=' {
            padding += 1;
            if place >= 2 && place + padding >= 4 {
                return Ok(bytes);
            }
            continue;
        }
        let Some(sextet) = sextet(c) else { continue };
        padding = 0;
        digits += 1;
        match place {
            0 => rest = sextet,
            1 => {
                bytes.push(rest << 2 | sextet >> 4);
                rest = sextet & 0x0f;
            }
            2 => {
                bytes.push(rest << 4 | sextet >> 2);
                rest = sextet & 0x03;
            }
            _ => bytes.push(rest << 6 | sextet),
        }
    }
    match digits % 4 {
        0 => Ok(bytes),
        1 => Err(DecodeError::Alone { digits }),
        _ => Err(DecodeError::Padding),
    }
}

fn sextet(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Each row was checked with Python's `binascii.a2b_base64`.
    #[test]
    fn what_is_not_a_digit_is_skipped_and_padding_ends_the_data() {
        let alone = |digits| Err(DecodeError::Alone { digits });
        let rows: [(&str, Result<&[u8], DecodeError>); 14] = [
            ("", Ok(b"")),
            ("=", Ok(b"")),
            ("====", Ok(b"")),
            ("a", alone(1)),
            ("a=", alone(1)),
            ("a==", alone(1)),
            ("aG", Err(DecodeError::Padding)),
            ("aG=", Err(DecodeError::Padding)),
            ("aG==", Ok(b"h")),
            ("a==G==", Ok(b"h")),
            ("a\nG!k\u{ff}=", Ok(b"hi")),
            ("aGk=aGk=", Ok(b"hi")),
            ("aGlp", Ok(b"hii")),
            ("aGlpa", alone(5)),
        ];
        for (text, expected) in rows {
            assert_eq!(
                decode(text.as_bytes()),
                expected.map(<[u8]>::to_vec),
                "{text:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_decoded(bytes: Vec<u8>) {
            prop_assert_eq!(decode(encode(&bytes).as_bytes()), Ok(bytes.clone()));
            prop_assert_eq!(decode(encode_lines(&bytes).as_bytes()), Ok(bytes));
        }
    }
}
