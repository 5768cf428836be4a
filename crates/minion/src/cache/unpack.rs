//! Reading what Salt packs into its cache: one MessagePack object to a file.

use std::sync::Arc;

use mapstack_value::{Key, Map, Value, ValueKind};
use mapstack_yaml::Limits;
use rmp::Marker;

/// The extension types that Salt's payloads have.
const TIME: i8 = 78;
const CONSTANT: i8 = 79;
/// The one that MessagePack itself defines.
const TIMESTAMP: i8 = -1;

/// Packed data cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("byte {at}: {kind}")]
pub struct UnpackError {
    /// The offset of the byte where it went wrong.
    pub at: usize,
    /// The problem.
    pub kind: UnpackErrorKind,
}

/// The problem with packed data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnpackErrorKind {
    /// The data ends before the value does.
    #[error("the data ends in the middle of {0}")]
    Incomplete(&'static str),
    /// There is more after the value.
    #[error("there is more data after the end; a file holds one value")]
    Trailing,
    /// A byte that begins nothing.
    #[error("0x{0:02x} begins no value")]
    BadMarker(u8),
    /// A text is not UTF-8.
    #[error("a text is not UTF-8; the value is bytes, or the file is damaged")]
    Utf8,
    /// A list or a mapping as a key.
    #[error("{} cannot be a key", .0.described())]
    BadKey(ValueKind),
    /// A time is not in the form that Salt writes.
    #[error("a time is written as YYYYMMDDTHH:MM:SS.ffffff, not as this")]
    BadTime,
    /// One of Salt's constants is not a name and a plain value.
    #[error("a constant is a name and a plain value, not this")]
    BadConstant,
    /// A type that Salt never writes.
    #[error("MessagePack's own timestamps are not read, as Salt writes none")]
    Timestamp,
    /// Collections nest too deep.
    #[error("lists and mappings are nested more than {0} deep")]
    TooDeep(usize),
    /// There are too many values.
    #[error("there are more than {0} values")]
    TooMany(usize),
}

/// The value of packed bytes, as `salt.payload.loads` reads the cache.
///
/// Times come as the text that Python prints for them, the constants of Salt likewise, and other
/// extension types as their bytes. Of equal keys the last one counts.
///
/// ```
/// use mapstack_minion::cache::unpack;
/// assert_eq!(unpack(b"\x81\xa2os\xa6Debian").unwrap().repr(), "{'os': 'Debian'}");
/// let error = unpack(b"\x81\xa2os\xa6Deb").unwrap_err();
/// assert_eq!(error.to_string(), "byte 5: the data ends in the middle of a text");
/// ```
///
/// # Errors
/// [`UnpackError`]: the bytes are not MessagePack, or hold more than one value; a text is not UTF-8;
/// a key is a list or a mapping; an extension cannot be read; or values nest deeper or are more
/// than [`Limits`] has by default.
pub fn unpack(bytes: &[u8]) -> Result<Value, UnpackError> {
    let mut unpacker = Unpacker {
        bytes,
        at: 0,
        values: 0,
        in_constant: false,
        limits: Limits::default(),
    };
    let value = unpacker.value(0)?;
    match unpacker.at == bytes.len() {
        true => Ok(value),
        false => Err(unpacker.error(UnpackErrorKind::Trailing)),
    }
}

/// Lengths are what the data says and are not believed: collections grow with what is there.
struct Unpacker<'b> {
    bytes: &'b [u8],
    at: usize,
    values: usize,
    in_constant: bool,
    limits: Limits,
}

impl<'b> Unpacker<'b> {
    fn error(&self, kind: UnpackErrorKind) -> UnpackError {
        UnpackError { at: self.at, kind }
    }

    fn take(&mut self, length: usize, what: &'static str) -> Result<&'b [u8], UnpackError> {
        let end = self.at.checked_add(length);
        let taken = end.and_then(|end| self.bytes.get(self.at..end));
        let taken = taken.ok_or_else(|| self.error(UnpackErrorKind::Incomplete(what)))?;
        self.at += length;
        Ok(taken)
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N], UnpackError> {
        const WHAT: &str = "a number";
        let taken = self.take(N, WHAT)?;
        taken
            .try_into()
            .map_err(|_| self.error(UnpackErrorKind::Incomplete(WHAT)))
    }

    /// A length of 1, 2 or 4 bytes.
    fn length<const N: usize>(&mut self) -> Result<usize, UnpackError> {
        let bytes = self.number::<N>()?;
        // More than fits is more than there is.
        Ok(bytes.iter().fold(0_usize, |sum, byte| {
            sum.saturating_mul(256).saturating_add(usize::from(*byte))
        }))
    }

    /// The content behind a length of so many bytes.
    fn sized<const BYTES: usize>(
        &mut self,
        read: impl FnOnce(&mut Self, usize) -> Result<Value, UnpackError>,
    ) -> Result<Value, UnpackError> {
        let length = self.length::<BYTES>()?;
        read(self, length)
    }

    /// The current value, inside `depth` collections.
    fn value(&mut self, depth: usize) -> Result<Value, UnpackError> {
        self.values += 1;
        if self.values > self.limits.max_nodes {
            return Err(self.error(UnpackErrorKind::TooMany(self.limits.max_nodes)));
        }
        let start = self.at;
        let [byte] = self.take(1, "a value")? else {
            return Err(self.error(UnpackErrorKind::Incomplete("a value")));
        };
        Ok(match Marker::from_u8(*byte) {
            Marker::Null => Value::None,
            Marker::True => true.into(),
            Marker::False => false.into(),
            Marker::FixPos(n) => i64::from(n).into(),
            Marker::FixNeg(n) => i64::from(n).into(),
            Marker::U8 => i64::from(u8::from_be_bytes(self.number()?)).into(),
            Marker::U16 => i64::from(u16::from_be_bytes(self.number()?)).into(),
            Marker::U32 => i64::from(u32::from_be_bytes(self.number()?)).into(),
            Marker::U64 => u64::from_be_bytes(self.number()?).into(),
            Marker::I8 => i64::from(i8::from_be_bytes(self.number()?)).into(),
            Marker::I16 => i64::from(i16::from_be_bytes(self.number()?)).into(),
            Marker::I32 => i64::from(i32::from_be_bytes(self.number()?)).into(),
            Marker::I64 => i64::from_be_bytes(self.number()?).into(),
            Marker::F32 => f64::from(f32::from_be_bytes(self.number()?)).into(),
            Marker::F64 => f64::from_be_bytes(self.number()?).into(),
            Marker::FixStr(length) => self.text(length.into())?,
            Marker::Str8 => self.sized::<1>(Self::text)?,
            Marker::Str16 => self.sized::<2>(Self::text)?,
            Marker::Str32 => self.sized::<4>(Self::text)?,
            Marker::Bin8 => self.sized::<1>(Self::blob)?,
            Marker::Bin16 => self.sized::<2>(Self::blob)?,
            Marker::Bin32 => self.sized::<4>(Self::blob)?,
            Marker::FixArray(length) => self.list(length.into(), depth)?,
            Marker::Array16 => self.sized::<2>(|it, length| it.list(length, depth))?,
            Marker::Array32 => self.sized::<4>(|it, length| it.list(length, depth))?,
            Marker::FixMap(length) => self.map(length.into(), depth)?,
            Marker::Map16 => self.sized::<2>(|it, length| it.map(length, depth))?,
            Marker::Map32 => self.sized::<4>(|it, length| it.map(length, depth))?,
            Marker::FixExt1 => self.extension(1, depth)?,
            Marker::FixExt2 => self.extension(2, depth)?,
            Marker::FixExt4 => self.extension(4, depth)?,
            Marker::FixExt8 => self.extension(8, depth)?,
            Marker::FixExt16 => self.extension(16, depth)?,
            Marker::Ext8 => self.sized::<1>(|it, length| it.extension(length, depth))?,
            Marker::Ext16 => self.sized::<2>(|it, length| it.extension(length, depth))?,
            Marker::Ext32 => self.sized::<4>(|it, length| it.extension(length, depth))?,
            Marker::Reserved => {
                return Err(UnpackError {
                    at: start,
                    kind: UnpackErrorKind::BadMarker(*byte),
                });
            }
        })
    }

    fn text(&mut self, length: usize) -> Result<Value, UnpackError> {
        let start = self.at;
        let bytes = self.take(length, "a text")?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.into()),
            Err(e) => Err(UnpackError {
                at: start + e.valid_up_to(),
                kind: UnpackErrorKind::Utf8,
            }),
        }
    }

    fn blob(&mut self, length: usize) -> Result<Value, UnpackError> {
        Ok(Value::Bytes(self.take(length, "bytes")?.into()))
    }

    /// One level further down.
    fn deeper(&self, depth: usize) -> Result<usize, UnpackError> {
        match depth < self.limits.max_depth {
            true => Ok(depth + 1),
            false => Err(self.error(UnpackErrorKind::TooDeep(self.limits.max_depth))),
        }
    }

    fn list(&mut self, length: usize, depth: usize) -> Result<Value, UnpackError> {
        let depth = self.deeper(depth)?;
        let mut items = Vec::new();
        for _ in 0..length {
            items.push(self.value(depth)?);
        }
        Ok(items.into())
    }

    fn map(&mut self, length: usize, depth: usize) -> Result<Value, UnpackError> {
        let depth = self.deeper(depth)?;
        let mut map = Map::new();
        for _ in 0..length {
            let start = self.at;
            let key = self.value(depth)?;
            let kind = UnpackErrorKind::BadKey(key.kind());
            let key = Key::try_from(&key).map_err(|_| UnpackError { at: start, kind })?;
            map.insert(key, self.value(depth)?);
        }
        Ok(map.into())
    }

    fn extension(&mut self, length: usize, depth: usize) -> Result<Value, UnpackError> {
        let start = self.at;
        let kind = i8::from_be_bytes(self.number()?);
        let failed = |kind| UnpackError { at: start, kind };
        match kind {
            TIME => {
                let text = std::str::from_utf8(self.take(length, "a time")?)
                    .ok()
                    .and_then(printed_time);
                text.map(Value::from)
                    .ok_or_else(|| failed(UnpackErrorKind::BadTime))
            }
            // A constant is printed once: constants in constants could quote quotes for ever.
            CONSTANT if !self.in_constant => {
                let end = self.at.saturating_add(length);
                self.in_constant = true;
                let pair = self.value(self.deeper(depth)?)?;
                self.in_constant = false;
                match pair.as_list() {
                    Some([name, value]) if self.at == end => Ok(match value.truthy() {
                        true => format!("<Constant.{name} value={value}>").into(),
                        false => format!("<Constant.{name}>").into(),
                    }),
                    _ => Err(failed(UnpackErrorKind::BadConstant)),
                }
            }
            CONSTANT => Err(failed(UnpackErrorKind::BadConstant)),
            TIMESTAMP => Err(failed(UnpackErrorKind::Timestamp)),
            _ => Ok(Value::Bytes(Arc::from(self.take(length, "an extension")?))),
        }
    }
}

/// Python's text for a time that is packed as `YYYYMMDDTHH:MM:SS.ffffff`.
fn printed_time(packed: &str) -> Option<String> {
    let (date, clock) = packed.split_once('T')?;
    let (clock, micros) = clock
        .split_once('.')
        .filter(|(_, micros)| !micros.is_empty())?;
    let [year, month, day] = [date.get(..4)?, date.get(4..6)?, date.get(6..)?];
    let &[hour, minute, second] = clock.split(':').collect::<Vec<_>>().as_slice() else {
        return None;
    };
    let days = match number(month, 2)? {
        4 | 6 | 9 | 11 => 30,
        2 if leap(number(year, 4)?) => 29,
        2 => 28,
        _ => 31,
    };
    let fields = [
        (number(year, 4)?, 1..=9999),
        (number(month, 2)?, 1..=12),
        (number(day, 2)?, 1..=days),
        (number(hour, 2)?, 0..=23),
        (number(minute, 2)?, 0..=59),
        (number(second, 2)?, 0..=59),
    ];
    if fields.iter().any(|(field, range)| !range.contains(field)) {
        return None;
    }
    let micros = format!("{micros:0<6}");
    let fraction = match number(&micros, 6)? {
        0 => String::new(),
        _ => format!(".{micros}"),
    };
    Some(format!("{year}-{month}-{day} {clock}{fraction}"))
}

/// A number of so many digits.
fn number(digits: &str, length: usize) -> Option<u32> {
    let plain = digits.len() == length && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok())?
}

fn leap(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}
