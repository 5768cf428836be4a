//! Messages on a stream: each is preceded by its length.

use std::io::{self, Read, Write};

/// The longest message, in bytes.
pub const MAX_FRAME: usize = 256 << 20;

/// A stream that has no further message.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The other side closed the stream between two messages.
    #[error("the other side ended")]
    Closed,
    /// The stream ends in the middle of a message.
    #[error("the other side ended in the middle of a message")]
    Cut,
    /// A message is longer than any may be.
    #[error("a message of {0} bytes is too long")]
    TooLong(usize),
    /// The stream cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Write a message.
///
/// ```
/// use mapstack_sandbox::protocol::{read_frame, write_frame};
/// let mut stream = Vec::new();
/// write_frame(&mut stream, b"message").unwrap();
/// assert_eq!(read_frame(&mut &stream[..]).unwrap(), b"message");
/// ```
///
/// # Errors
/// [`FrameError`]: the message is too long, or the stream is broken.
pub fn write_frame(stream: &mut impl Write, message: &[u8]) -> Result<(), FrameError> {
    let length = u32::try_from(message.len()).map_err(|_| FrameError::TooLong(message.len()))?;
    if message.len() > MAX_FRAME {
        return Err(FrameError::TooLong(message.len()));
    }
    // One write, as the other side wakes up at the first.
    let mut frame = Vec::with_capacity(message.len() + 4);
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(message);
    stream.write_all(&frame)?;
    Ok(stream.flush()?)
}

/// Read the next message. Memory is taken for what comes, not for what is announced.
///
/// # Errors
/// [`FrameError`]: the stream ends, or the message is too long.
pub fn read_frame(stream: &mut impl Read) -> Result<Vec<u8>, FrameError> {
    let mut length = [0; 4];
    match read_full(stream, &mut length)? {
        0 => return Err(FrameError::Closed),
        4 => {}
        _ => return Err(FrameError::Cut),
    }
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > MAX_FRAME {
        return Err(FrameError::TooLong(length));
    }
    let mut message = Vec::new();
    while message.len() < length {
        let start = message.len();
        message.resize(length.min(start + STEP.max(start)), 0);
        let read = read_full(stream, &mut message[start..])?;
        if start + read < message.len() {
            return Err(FrameError::Cut);
        }
    }
    Ok(message)
}

/// Memory for the start of a message; with what came it doubles.
const STEP: usize = 64 << 10;

/// Fill a buffer; how much of it, which is less where the stream ends.
fn read_full(stream: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest @ [_, ..]) = buffer.get_mut(filled..) {
        match stream.read(rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
