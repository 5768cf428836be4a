//! The crates as Cargo would publish them.

use serde_json::Value;
use xshell::{Shell, cmd};

use super::package::Package;
use super::workshop::Workshop;
use crate::{Result, project_root};

/// The crate that is not published: this one.
const UNPUBLISHED: &str = "xtask";

/// Package every crate, unpack the packages into one workspace, and check each there by itself, with the features that it
/// asks for.
///
/// `cargo package` would verify them as well, but builds each one for itself, with debug information: that takes ten
/// times as long, and shows nothing more about what a package lacks.
///
/// # Errors
/// A crate cannot be packaged, or what its package has does not compile.
pub fn run(workshop: &Workshop) -> Result<Package> {
    let sh = workshop.sh;
    cmd!(
        sh,
        "cargo package --workspace --exclude {UNPUBLISHED} --locked --quiet --no-verify"
    )
    .run()?;
    let crates = published(sh)?;
    let workspace = workshop.fresh("crates")?;
    let packages = project_root().join("target/package");
    let mut manifest =
        "[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n\n[patch.crates-io]\n".to_owned();
    for (name, version) in &crates {
        let package = packages.join(format!("{name}-{version}.crate"));
        cmd!(
            sh,
            "tar --extract --gzip --file {package} --directory {workspace}"
        )
        .quiet()
        .run()?;
        manifest.push_str(&format!("{name} = {{ path = \"{name}-{version}\" }}\n"));
    }
    sh.write_file(workspace.join("Cargo.toml"), manifest)?;
    sh.copy_file("Cargo.lock", &workspace)?;
    // Not below the workspace, each directory of which is a member of it.
    let target = workshop.fresh("crates-target")?;
    let _in = sh.push_dir(&workspace);
    for (name, _) in &crates {
        // Lints are a matter of the checkout, whose configuration of Clippy the packages do not have.
        cmd!(sh, "cargo check --quiet --package {name}")
            .env("CARGO_TARGET_DIR", &target)
            .env("CARGO_INCREMENTAL", "0")
            .env_remove("RUSTC_WORKSPACE_WRAPPER")
            .env_remove("RUSTFLAGS")
            .run()?;
    }
    sh.remove_path(&target)?;
    Ok(Package::Done(vec![format!(
        "each of {} crates compiles from its package",
        crates.len()
    )]))
}

/// The names and versions of the crates that are published.
fn published(sh: &Shell) -> Result<Vec<(String, String)>> {
    let metadata = cmd!(sh, "cargo metadata --format-version 1 --no-deps");
    let metadata: Value = serde_json::from_str(&metadata.quiet().read()?)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let text = |package: &Value, key: &str| package[key].as_str().map(str::to_owned);
    let crates: Option<Vec<_>> = packages
        .filter(|package| package["name"] != UNPUBLISHED)
        .map(|package| Some((text(package, "name")?, text(package, "version")?)))
        .collect();
    Ok(crates.ok_or("cargo metadata names a package without a name or version")?)
}
