//! Messages as bytes: MessagePack's encoding of their parts, one after the other.

use std::sync::Arc;

use mapstack_value::Str;

/// Bytes that are not a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("byte {at}: {what}")]
pub struct DecodeError {
    /// The offset of the byte where it went wrong.
    pub at: usize,
    /// The problem.
    pub what: &'static str,
}

/// Something that one side sends to the other.
///
/// The documentation of the crate has an example.
pub trait Message: Sized {
    /// Append the message.
    fn write(&self, out: &mut Writer);

    /// Read a message.
    ///
    /// # Errors
    /// [`DecodeError`]: the bytes are not such a value.
    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError>;

    /// The message as bytes.
    #[must_use]
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        self.write(&mut out);
        out.0
    }

    /// The message that bytes are.
    ///
    /// # Errors
    /// [`DecodeError`]: the bytes are not such a message, or more bytes follow it.
    fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut input = Reader::new(bytes);
        let message = Self::read(&mut input)?;
        match input.rest.is_empty() {
            true => Ok(message),
            false => Err(input.error("there is more behind the message")),
        }
    }
}

/// Collects the bytes of a message.
#[derive(Debug, Default)]
pub struct Writer(Vec<u8>);

/// Writing to memory does not fail.
macro_rules! infallible {
    ($written:expr) => {{
        let written = $written;
        debug_assert!(written.is_ok(), "writing to memory failed");
    }};
}

impl Writer {
    pub(crate) fn nil(&mut self) {
        infallible!(rmp::encode::write_nil(&mut self.0));
    }

    pub(crate) fn flag(&mut self, flag: bool) {
        infallible!(rmp::encode::write_bool(&mut self.0, flag));
    }

    pub(crate) fn int(&mut self, int: i64) {
        infallible!(rmp::encode::write_sint(&mut self.0, int));
    }

    pub(crate) fn uint(&mut self, int: u64) {
        infallible!(rmp::encode::write_uint(&mut self.0, int));
    }

    pub(crate) fn float(&mut self, float: f64) {
        infallible!(rmp::encode::write_f64(&mut self.0, float));
    }

    pub(crate) fn text(&mut self, text: &str) {
        infallible!(rmp::encode::write_str_len(&mut self.0, length(text.len())));
        self.0.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        infallible!(rmp::encode::write_bin_len(&mut self.0, length(bytes.len())));
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn count(&mut self, items: usize) {
        infallible!(rmp::encode::write_array_len(&mut self.0, length(items)));
    }

    pub(crate) fn entries(&mut self, entries: usize) {
        infallible!(rmp::encode::write_map_len(&mut self.0, length(entries)));
    }

    /// The mark before a value of a type that MessagePack does not have.
    pub(crate) fn mark(&mut self, kind: i8) {
        infallible!(rmp::encode::write_ext_meta(&mut self.0, 1, kind));
        self.0.push(0);
    }

    pub(crate) fn option<T>(&mut self, option: Option<T>, write: impl FnOnce(&mut Self, T)) {
        match option {
            Some(some) => {
                self.flag(true);
                write(self, some);
            }
            None => self.flag(false),
        }
    }
}

/// A frame is shorter than this, so the length always fits.
fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Goes through the bytes of a message.
#[derive(Debug)]
pub struct Reader<'b> {
    rest: &'b [u8],
    length: usize,
    /// Values that may still be read.
    pub(crate) values: usize,
}

/// The most values in one message, each counted where it appears.
const MAX_VALUES: usize = 4_000_000;

impl<'b> Reader<'b> {
    /// A reader at the start of a message.
    #[must_use]
    pub fn new(bytes: &'b [u8]) -> Self {
        Reader {
            rest: bytes,
            length: bytes.len(),
            values: MAX_VALUES,
        }
    }

    pub(crate) fn error(&self, what: &'static str) -> DecodeError {
        DecodeError {
            at: self.length - self.rest.len(),
            what,
        }
    }

    pub(crate) fn peek(&self) -> Result<rmp::Marker, DecodeError> {
        let first = self
            .rest
            .first()
            .ok_or_else(|| self.error("the message ends too early"))?;
        Ok(rmp::Marker::from_u8(*first))
    }

    fn read<T, E>(
        &mut self,
        read: impl FnOnce(&mut &'b [u8]) -> Result<T, E>,
        what: &'static str,
    ) -> Result<T, DecodeError> {
        let mut rest = self.rest;
        match read(&mut rest) {
            Ok(value) => {
                self.rest = rest;
                Ok(value)
            }
            Err(_) => Err(self.error(what)),
        }
    }

    fn take(&mut self, length: u32) -> Result<&'b [u8], DecodeError> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        match self.rest.split_at_checked(length) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(self.error("the message ends too early")),
        }
    }

    pub(crate) fn nil(&mut self) -> Result<(), DecodeError> {
        self.read(rmp::decode::read_nil, "this is not nil")
    }

    pub(crate) fn flag(&mut self) -> Result<bool, DecodeError> {
        self.read(rmp::decode::read_bool, "this is not a boolean")
    }

    pub(crate) fn int(&mut self) -> Result<i64, DecodeError> {
        self.read(rmp::decode::read_int, "this is not an integer")
    }

    pub(crate) fn uint<T: TryFrom<u64>>(&mut self) -> Result<T, DecodeError> {
        let int: u64 = self.read(rmp::decode::read_int, "this is not a number")?;
        T::try_from(int).map_err(|_| self.error("the number is too large"))
    }

    pub(crate) fn float(&mut self) -> Result<f64, DecodeError> {
        self.read(rmp::decode::read_f64, "this is not a float")
    }

    pub(crate) fn text(&mut self) -> Result<&'b str, DecodeError> {
        let length = self.read(rmp::decode::read_str_len, "this is not a text")?;
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).map_err(|_| self.error("a text is not UTF-8"))
    }

    pub(crate) fn shared(&mut self) -> Result<Str, DecodeError> {
        Ok(Arc::from(self.text()?))
    }

    pub(crate) fn string(&mut self) -> Result<String, DecodeError> {
        Ok(self.text()?.to_owned())
    }

    pub(crate) fn bytes(&mut self) -> Result<&'b [u8], DecodeError> {
        let length = self.read(rmp::decode::read_bin_len, "these are not bytes")?;
        self.take(length)
    }

    /// A number of items. Each is at least a byte, so there cannot be more than there are bytes.
    pub(crate) fn count(&mut self) -> Result<usize, DecodeError> {
        let count = self.read(rmp::decode::read_array_len, "this is not a list")?;
        self.plausible(count)
    }

    pub(crate) fn entries(&mut self) -> Result<usize, DecodeError> {
        let count = self.read(rmp::decode::read_map_len, "this is not a mapping")?;
        self.plausible(count)
    }

    fn plausible(&self, count: u32) -> Result<usize, DecodeError> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if count > self.rest.len() {
            Err(self.error("the message ends too early"))
        } else {
            Ok(count)
        }
    }

    pub(crate) fn mark(&mut self) -> Result<i8, DecodeError> {
        let meta = self.read(rmp::decode::read_ext_meta, "this is not a value")?;
        if meta.size != 1 || self.take(1)? != [0] {
            return Err(self.error("this is not a value"));
        }
        Ok(meta.typeid)
    }

    pub(crate) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let count = self.count()?;
        self.values = self
            .values
            .checked_sub(count)
            .ok_or_else(|| self.error("the message has too many values"))?;
        // The number is not believed: memory is taken for what is there.
        let mut items = Vec::with_capacity(count.min(1024));
        for _ in 0..count {
            items.push(item(self)?);
        }
        Ok(items)
    }

    pub(crate) fn option<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Option<T>, DecodeError> {
        if self.flag()? {
            read(self).map(Some)
        } else {
            Ok(None)
        }
    }
}
