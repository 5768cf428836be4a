//! The crates as Cargo would publish them.

use xshell::cmd;

use super::package::Package;
use super::workshop::Workshop;
use crate::Result;

/// Package every crate but this one, which is not published, and build each from its package alone.
///
/// # Errors
/// A crate cannot be packaged, or does not build from its package.
pub fn run(workshop: &Workshop) -> Result<Package> {
    let sh = workshop.sh;
    cmd!(
        sh,
        "cargo package --workspace --exclude xtask --locked --quiet"
    )
    .run()?;
    Ok(Package::Done(vec![
        "every crate builds from its package".into(),
    ]))
}
