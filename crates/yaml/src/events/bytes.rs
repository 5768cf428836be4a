//! Classes of bytes.

/// True if a byte is an ASCII letter, a digit, `_` or `-`: what names consist of.
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// True if a byte is a blank.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// True if a byte separates items inside brackets.
pub(crate) fn is_flow_indicator(byte: u8) -> bool {
    matches!(byte, b',' | b'[' | b']' | b'{' | b'}')
}

/// True if a byte can be in a tag without an escape.
pub(crate) fn is_tag_byte(byte: u8) -> bool {
    is_word(byte) || b";/?:@&=+$.%!~*'()".contains(&byte)
}

/// Bytes of words without quotes that mean nothing by themselves.
///
/// All others are looked at: blanks and breaks, the end, `:`, the indicators of flow collections, and those beyond ASCII,
/// since three line breaks are among these.
pub(crate) const IS_ORDINARY: [bool; 256] = table(b":,[]{} ");

/// Bytes of a line that are certainly no part of a line break.
pub(crate) const IS_IN_LINE: [bool; 256] = table(b"");

/// Bytes of quoted words that mean nothing by themselves.
pub(crate) const IS_ORDINARY_QUOTED: [bool; 256] = table(b"'\"\\ ");

/// The printable bytes of ASCII but for some.
const fn table(without: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0x20;
    while byte < 0x7f {
        table[byte] = true;
        byte += 1;
    }
    let mut i = 0;
    while i < without.len() {
        table[without[i] as usize] = false;
        i += 1;
    }
    table
}
