//! The container image.

use xshell::cmd;

use super::package::Package;
use super::workshop::{PROGRAMS, Workshop, answers};
use crate::Result;

/// The recipe of the image.
const RECIPE: &str = "Containerfile";

/// Check the recipe; build the image and run it where an engine is.
///
/// # Errors
/// The recipe has mistakes, or the image does not build or work.
pub fn run(workshop: &Workshop) -> Result<Package> {
    let (sh, hadolint) = (workshop.sh, workshop.tool("hadolint"));
    cmd!(sh, "{hadolint} {RECIPE}").quiet().run()?;
    let Some(engine) = ["docker", "podman"]
        .into_iter()
        .find(|engine| answers(sh, &[engine, "info"]))
    else {
        return Ok(Package::NotRun(format!(
            "{RECIPE} has no findings of hadolint, but was not built: neither docker nor podman has an engine here"
        )));
    };
    for program in &PROGRAMS {
        workshop.write_notices(program.directory)?;
    }
    let image = format!("mapstack:{}", workshop.version);
    cmd!(sh, "{engine} build --file {RECIPE} --tag {image} .").run()?;
    let said = cmd!(sh, "{engine} run --rm {image} --version -v").read()?;
    Ok(Package::Done(said.lines().map(str::to_owned).collect()))
}
