//! The package for distributions that use RPM.

use xshell::cmd;

use super::manual;
use super::package::Package;
use super::trial::Trial;
use super::workshop::{Workshop, answers};
use crate::{Result, project_root};

/// Make the package, install it into an empty root, and run the command from there with this machine's libraries.
///
/// # Errors
/// It cannot be made or installed, or what it installs does not work.
pub fn run(workshop: &Workshop) -> Result<Package> {
    let sh = workshop.sh;
    if !answers(sh, &["cargo", "generate-rpm", "--version"]) {
        let why = "cargo-generate-rpm is missing: cargo install --locked cargo-generate-rpm";
        return Ok(Package::NotRun(why.into()));
    }
    workshop.programs()?;
    manual::write(workshop)?;
    let (dist, triple) = (&workshop.dist, &workshop.triple);
    cmd!(
        sh,
        "cargo generate-rpm --package mapstack-cli --target {triple} --output {dist}"
    )
    .run()?;
    let package = workshop.made(&format!("mapstack-{}-", workshop.version), ".rpm")?;
    if !answers(sh, &["rpm", "--version"]) {
        return Ok(Package::NotRun(
            "made, but not tried: rpm is not installed".into(),
        ));
    }
    let files = cmd!(sh, "rpm --query --package --list {package}")
        .quiet()
        .read()?;
    let needs = cmd!(sh, "rpm --query --package --requires {package}")
        .quiet()
        .read()?;
    let root = workshop.fresh("rpm")?;
    // There is no RPM distribution in the root: libraries come from this machine.
    cmd!(
        sh,
        "rpm --root {root} --nodeps --nosignature --install {package}"
    )
    .run()?;
    let trial = Trial {
        sh,
        command: vec![root.join("usr/bin/mapstack").into()],
        directory: project_root(),
    };
    trial.run()?;
    Ok(Package::Done(vec![
        format!("{} files", files.lines().count()),
        format!(
            "needs {}",
            needs.lines().map(str::trim).collect::<Vec<_>>().join(", ")
        ),
        "installed into an empty root, it works with this machine's libraries".into(),
    ]))
}
