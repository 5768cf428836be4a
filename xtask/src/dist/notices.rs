//! The licences of what is built into a program or a module, beside its manifest, where the builders of packages find them.

use xshell::cmd;

use super::workshop::{Workshop, answers};
use crate::Result;

/// The name of the file in each package.
pub const FILE: &str = "THIRD-PARTY.txt";

/// Write the notices of the crate in this directory.
///
/// # Errors
/// The program `cargo-about` is missing, or a crate has a licence that `xtask/dist/about.toml` does not accept.
pub fn write(workshop: &Workshop, directory: &str) -> Result {
    let (sh, triple) = (workshop.sh, &workshop.triple);
    if !answers(sh, &["cargo", "about", "--version"]) {
        return Err("no package is made without the licences of others, and cargo-about, which collects them, is \
                    missing: cargo install --locked --features cli cargo-about"
            .into());
    }
    // Licences are read from the crates' sources alone, and those of the other workspaces may not be here yet. Those
    // of other targets are read as well, if only to be left out.
    let manifest = format!("{directory}/Cargo.toml");
    cmd!(
        sh,
        "cargo fetch --quiet --locked --manifest-path {manifest}"
    )
    .quiet()
    .run()?;
    cmd!(
        sh,
        "cargo about generate --locked --offline --fail --all-features --config xtask/dist/about.toml --target {triple}
         --manifest-path {manifest} --output-file {directory}/{FILE} xtask/dist/about.hbs"
    )
    .quiet()
    .run()?;
    Ok(())
}
