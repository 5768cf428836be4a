//! Text as Python's standard library handles it, for programs that must produce the same results as Python.
//!
//! ```rust
//! use mapstack_value::pytext::{Fnmatch, base64, posixpath, quote_str, shlex};
//!
//! assert_eq!(quote_str("it's"), "\"it's\"");
//! assert_eq!(posixpath::normpath("//srv/./salt/../pillar"), "//srv/pillar");
//! assert!(Fnmatch::new("web[!0-9]*").matches("webx1"));
//! assert_eq!(shlex::split("a 'b c'").unwrap(), ["a", "b c"]);
//! assert_eq!(base64::decode(b"aGk").unwrap_err().to_string(), "Incorrect padding");
//! ```
//!
//! | Python | here |
//! |---|---|
//! | `repr(str)`, `repr(bytes)`, `repr(float)`, `str.isprintable` | `quote_str`, `quote_bytes`, `float_repr`, `is_printable` |
//! | `str.isalpha` and similar, `str.isidentifier` | `classes` |
//! | `str.title`, `casefold`, `swapcase`, `islower` and similar | `case` |
//! | `str.split`, `strip`, `partition`, `splitlines` | `split` |
//! | `str.encode`, `bytes.decode` | `codec` |
//! | `'%g' % x` and similar | `float` |
//! | `int(text, base)`, `float(text)` | `number` |
//! | `posixpath.normpath`, `split`, `join` | `posixpath` |
//! | `fnmatch.fnmatchcase` | `Fnmatch` |
//! | `shlex.split` | `shlex::split` |
//! | `binascii.a2b_base64`, `b2a_base64` | `base64` |
//!
//! Other crates for these tasks exist, but differ from Python: `glob` and `globset` interpret `{a,b}` and `**`, `shlex`
//! treats `#` as a comment, `shell-words` drops an escaped line end, and `base64` refuses characters that Python skips.
//! Every function here is tested against recorded results of Python, or against rows checked with it.

pub mod base64;
mod binary;
pub mod case;
pub mod classes;
pub mod codec;
pub mod float;
mod fnmatch;
pub mod markup;
pub mod number;
pub mod posixpath;
mod repr;
pub mod shlex;
pub mod spec;
pub mod split;

pub use binary::is_binary;
pub use fnmatch::{Fnmatch, fnmatch, has_magic};
pub use repr::{float_repr, is_printable, quote_bytes, quote_str};
