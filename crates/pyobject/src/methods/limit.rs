//! Bounds on what one method call may make.

use crate::Interpreter;
use crate::limits::{Error, Result};

/// Allow text of so many bytes to be made, and account for the work.
///
/// # Errors
/// A limit error when it would be larger than the whole output may be.
pub fn text(vm: &dyn Interpreter, bytes: usize) -> Result<()> {
    size(vm, bytes)?;
    vm.ask_for(bytes)?;
    vm.burn(bytes / 16)
}

/// Allow text to grow by this many bytes, and account for the work: the text before was paid for.
///
/// # Errors
/// As [`text`].
pub fn growth(vm: &dyn Interpreter, before: usize, more: usize) -> Result<()> {
    size(vm, before.saturating_add(more))?;
    vm.ask_for(more)?;
    vm.burn(more / 16)
}

/// Allow text to grow to this many bytes.
///
/// # Errors
/// As [`text`].
pub fn size(vm: &dyn Interpreter, bytes: usize) -> Result<()> {
    let most = vm.limits().output;
    if bytes > most {
        return Err(Error::limit(format!(
            "the text would be {bytes} bytes long; at most {most} are allowed"
        ))
        .with_help("look for a width or a repetition that is far too large"));
    }
    Ok(())
}
