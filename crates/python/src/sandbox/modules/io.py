"""What of `io` is in memory."""

import _io
from _io import BytesIO, StringIO

SEEK_SET, SEEK_CUR, SEEK_END = 0, 1, 2
DEFAULT_BUFFER_SIZE = 8192


class UnsupportedOperation(OSError, ValueError):
    """A stream cannot do that."""


def text_encoding(encoding, stacklevel=2):
    """The encoding of texts."""
    return "utf-8" if encoding is None else encoding


for _name in ("IOBase", "RawIOBase", "BufferedIOBase", "TextIOBase"):
    globals()[_name] = getattr(_io, "_" + _name)
for _name in ("TextIOWrapper", "BufferedReader", "BufferedWriter", "IncrementalNewlineDecoder"):
    if hasattr(_io, _name):
        globals()[_name] = getattr(_io, _name)
