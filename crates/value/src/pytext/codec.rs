//! Encodings of text, as `str.encode` and `bytes.decode` know them.

/// Why text has no bytes in an encoding, or bytes no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CodecError {
    /// The class of the exception that Python raises.
    pub class: &'static str,
    /// The message of Python.
    pub message: String,
}

impl CodecError {
    fn new(class: &'static str, message: impl Into<String>) -> Self {
        CodecError {
            class,
            message: message.into(),
        }
    }
}

type Result<T, E = CodecError> = std::result::Result<T, E>;

/// The encodings that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Codec {
    Utf8,
    Utf8Sig,
    Ascii,
    Latin1,
    /// Units of two or four bytes; `mark` is true for a text with a byte order mark.
    Wide {
        unit: usize,
        big: bool,
        mark: bool,
    },
}

fn lookup(name: &str) -> Result<Codec> {
    let wide = |unit, big, mark| Codec::Wide { unit, big, mark };
    Ok(match &*name.to_ascii_lowercase().replace(['-', ' '], "_") {
        "utf_8" | "utf8" | "u8" | "utf" | "cp65001" => Codec::Utf8,
        "utf_8_sig" => Codec::Utf8Sig,
        "ascii" | "us_ascii" | "646" => Codec::Ascii,
        "latin_1" | "latin1" | "iso_8859_1" | "iso8859_1" | "iso_8859-1" | "8859" | "l1"
        | "latin" | "cp819" => Codec::Latin1,
        "utf_16" | "utf16" | "u16" => wide(2, false, true),
        "utf_16_le" | "utf_16le" => wide(2, false, false),
        "utf_16_be" | "utf_16be" => wide(2, true, false),
        "utf_32" | "utf32" | "u32" => wide(4, false, true),
        "utf_32_le" | "utf_32le" => wide(4, false, false),
        "utf_32_be" | "utf_32be" => wide(4, true, false),
        _ => {
            return Err(CodecError::new(
                "LookupError",
                format!("unknown encoding: {name}"),
            ));
        }
    })
}

/// `text.encode(encoding, errors)`.
///
/// ```
/// assert_eq!(mapstack_value::pytext::codec::encode("é", "latin-1", "strict").unwrap(), b"\xe9");
/// ```
///
/// # Errors
/// Python's `UnicodeEncodeError`, and a `LookupError` for an unknown encoding or error handler.
pub fn encode(s: &str, encoding: &str, errors: &str) -> Result<Vec<u8>> {
    let (name, limit) = match lookup(encoding)? {
        Codec::Utf8 => return Ok(s.as_bytes().to_vec()),
        Codec::Utf8Sig => return Ok([b"\xef\xbb\xbf", s.as_bytes()].concat()),
        Codec::Wide { unit, big, mark } => return Ok(encode_wide(s, unit, big, mark)),
        Codec::Ascii => ("ascii", 128),
        Codec::Latin1 => ("latin-1", 256),
    };
    let mut out = Vec::with_capacity(s.len());
    for (position, c) in s.chars().enumerate() {
        match u8::try_from(u32::from(c)) {
            Ok(byte) if u32::from(byte) < limit => out.push(byte),
            _ => match errors {
                "strict" => return Err(cannot_encode(name, s, position, limit)),
                "ignore" => {}
                "replace" => out.push(b'?'),
                "xmlcharrefreplace" => out.extend(format!("&#{};", u32::from(c)).bytes()),
                "backslashreplace" => out.extend(escaped(c).bytes()),
                "namereplace" | "surrogateescape" | "surrogatepass" => {
                    return Err(cannot_encode(name, s, position, limit));
                }
                unknown => return Err(unknown_handler(unknown)),
            },
        }
    }
    Ok(out)
}

fn encode_wide(s: &str, unit: usize, big: bool, mark: bool) -> Vec<u8> {
    let chars = mark.then_some('\u{feff}').into_iter().chain(s.chars());
    let mut out = Vec::new();
    for c in chars {
        if unit == 2 {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.extend(if big {
                    unit.to_be_bytes()
                } else {
                    unit.to_le_bytes()
                });
            }
        } else {
            let number = u32::from(c);
            out.extend(if big {
                number.to_be_bytes()
            } else {
                number.to_le_bytes()
            });
        }
    }
    out
}

fn cannot_encode(codec: &str, s: &str, first: usize, limit: u32) -> CodecError {
    let run = s
        .chars()
        .skip(first)
        .take_while(|c| u32::from(*c) >= limit)
        .count();
    let what = match (run, s.chars().nth(first)) {
        (1, Some(c)) => format!("character '{}' in position {first}", escaped(c)),
        _ => format!("characters in position {first}-{}", first + run - 1),
    };
    let message = format!("'{codec}' codec can't encode {what}: ordinal not in range({limit})");
    CodecError::new("UnicodeEncodeError", message)
}

/// A character as Python's error messages write it.
///
/// ```
/// assert_eq!(mapstack_value::pytext::codec::escaped('é'), r"\xe9");
/// ```
#[must_use]
pub fn escaped(c: char) -> String {
    match u32::from(c) {
        n if n < 0x100 => format!("\\x{n:02x}"),
        n if n < 0x1_0000 => format!("\\u{n:04x}"),
        n => format!("\\U{n:08x}"),
    }
}

fn unknown_handler(name: &str) -> CodecError {
    CodecError::new(
        "LookupError",
        format!("unknown error handler name '{name}'"),
    )
}

/// A run of bytes that does not decode.
struct UndecodableRun {
    start: usize,
    len: usize,
    reason: &'static str,
}

/// Reads the character at a position; returns it and its length in bytes.
type ReadCharacter = fn(&[u8], usize) -> Result<(char, usize), UndecodableRun>;

/// `bytes.decode(encoding, errors)`.
///
/// ```
/// assert_eq!(mapstack_value::pytext::codec::decode(b"a\xff", "utf-8", "replace").unwrap(), "a\u{fffd}");
/// ```
///
/// # Errors
/// Python's `UnicodeDecodeError`, and a `LookupError` for an unknown encoding or error handler.
pub fn decode(bytes: &[u8], encoding: &str, errors: &str) -> Result<String> {
    let (name, step): (&str, ReadCharacter) = match lookup(encoding)? {
        Codec::Utf8 => ("utf-8", utf8_at),
        Codec::Utf8Sig => {
            return decode(
                bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes),
                "utf-8",
                errors,
            );
        }
        Codec::Ascii => ("ascii", ascii_at),
        Codec::Latin1 => return Ok(bytes.iter().copied().map(char::from).collect()),
        Codec::Wide { unit, big, mark } => return decode_wide(bytes, unit, big, mark),
    };
    let mut out = String::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match step(bytes, at) {
            Ok((c, len)) => {
                out.push(c);
                at += len;
            }
            Err(bad) => {
                match errors {
                    "ignore" => {}
                    "replace" => out.push('\u{fffd}'),
                    "backslashreplace" => {
                        for byte in &bytes[bad.start..bad.start + bad.len] {
                            out.push_str(&format!("\\x{byte:02x}"));
                        }
                    }
                    "strict" | "surrogateescape" | "surrogatepass" => {
                        return Err(cannot_decode(name, bytes, &bad));
                    }
                    unknown => return Err(unknown_handler(unknown)),
                }
                at = bad.start + bad.len;
            }
        }
    }
    Ok(out)
}

fn ascii_at(bytes: &[u8], at: usize) -> Result<(char, usize), UndecodableRun> {
    match bytes[at] {
        byte if byte.is_ascii() => Ok((char::from(byte), 1)),
        _ => Err(UndecodableRun {
            start: at,
            len: 1,
            reason: "ordinal not in range(128)",
        }),
    }
}

fn utf8_at(bytes: &[u8], at: usize) -> Result<(char, usize), UndecodableRun> {
    let window = &bytes[at..bytes.len().min(at + 4)];
    let (valid, error_len) = match std::str::from_utf8(window) {
        Ok(_) => (window.len(), None),
        Err(error) => (error.valid_up_to(), Some(error.error_len())),
    };
    if let Some(c) = std::str::from_utf8(&window[..valid])
        .ok()
        .and_then(|s| s.chars().next())
    {
        return Ok((c, c.len_utf8()));
    }
    Err(match error_len.flatten() {
        None => UndecodableRun {
            start: at,
            len: window.len(),
            reason: "unexpected end of data",
        },
        Some(1) if !(0xc2..=0xf4).contains(&bytes[at]) => UndecodableRun {
            start: at,
            len: 1,
            reason: "invalid start byte",
        },
        Some(len) => UndecodableRun {
            start: at,
            len,
            reason: "invalid continuation byte",
        },
    })
}

fn cannot_decode(codec: &str, bytes: &[u8], bad: &UndecodableRun) -> CodecError {
    let UndecodableRun { start, len, reason } = bad;
    let what = if *len == 1 {
        format!("byte {:#04x} in position {start}", bytes[*start])
    } else {
        format!("bytes in position {start}-{}", start + len - 1)
    };
    CodecError::new(
        "UnicodeDecodeError",
        format!("'{codec}' codec can't decode {what}: {reason}"),
    )
}

fn decode_wide(bytes: &[u8], unit: usize, big: bool, mark: bool) -> Result<String> {
    let marked_big = bytes.starts_with(&[0xfe, 0xff]) || bytes.starts_with(&[0, 0, 0xfe, 0xff]);
    let big = if mark { marked_big } else { big };
    let mut units: Vec<u32> = bytes
        .chunks(unit)
        .map(|chunk| {
            let fold = |number: u32, byte: &u8| (number << 8) | u32::from(*byte);
            if big {
                chunk.iter().fold(0, fold)
            } else {
                chunk.iter().rev().fold(0, fold)
            }
        })
        .collect();
    if mark && units.first() == Some(&0xfeff) {
        units.remove(0);
    }
    let decoded: Option<String> = if !bytes.len().is_multiple_of(unit) {
        None
    } else if unit == 2 {
        let units: Vec<u16> = units
            .iter()
            .filter_map(|u| u16::try_from(*u).ok())
            .collect();
        String::from_utf16(&units).ok()
    } else {
        units.into_iter().map(char::from_u32).collect()
    };
    let name = if unit == 2 { "utf-16" } else { "utf-32" };
    decoded.ok_or_else(|| {
        CodecError::new(
            "UnicodeDecodeError",
            format!("'{name}' codec can't decode the bytes: illegal encoding"),
        )
    })
}
