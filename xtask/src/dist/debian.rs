//! The package for Debian and its descendants, tried in a fresh Debian.

use std::path::{Path, PathBuf};

use xshell::cmd;

use super::glibc;
use super::manual;
use super::package::Package;
use super::trial::Trial;
use super::workshop::{PROGRAMS, Workshop, answers};
use crate::Result;

/// The release of Debian that the package is tried in.
const SUITE: &str = "bookworm";

/// Make the package, and install and run it in a fresh minimal Debian.
///
/// # Errors
/// It cannot be made, installed or removed, or what it installs does not work.
pub fn run(workshop: &Workshop) -> Result<Package> {
    let sh = workshop.sh;
    if !answers(sh, &["cargo", "deb", "--version"]) {
        return Ok(Package::NotRun(
            "cargo-deb is missing: cargo install --locked cargo-deb".into(),
        ));
    }
    let programs = workshop.programs()?;
    manual::write(workshop)?;
    let package = workshop.dist.join(format!(
        "mapstack_{}_{}.deb",
        workshop.version,
        architecture(workshop)?
    ));
    let triple = &workshop.triple;
    cmd!(
        sh,
        "cargo deb --quiet --locked --no-build --no-strip --package mapstack-cli --target {triple} --output {package}"
    )
    .run()?;
    let mut seen = vec![format!(
        "{} files",
        cmd!(sh, "dpkg-deb --contents {package}")
            .quiet()
            .read()?
            .lines()
            .count()
    )];
    let needs = cmd!(sh, "dpkg-deb --field {package} Depends")
        .quiet()
        .read()?;
    let programs = PROGRAMS.map(|program| programs.join(program.name));
    let truly = format!("libc6 (>= {})", glibc::needed_by(sh, &programs)?);
    if needs != truly {
        return Err(format!(
            "the package needs {needs:?} by the manifest of the command, and the programs need {truly:?}"
        )
        .into());
    }
    seen.push(format!("needs {needs}, as the programs' symbols say"));
    if answers(sh, &["lintian", "--version"]) {
        // The project has no address for its maintainers, and its packages are not uploaded to Debian.
        let suppressed = "malformed-contact,no-changelog";
        let lintian = cmd!(
            sh,
            "lintian --fail-on error --suppress-tags {suppressed} {package}"
        );
        lintian.quiet().run()?;
        seen.push(format!("lintian has no errors, {suppressed} aside"));
    } else {
        seen.push("NOT RUN: lintian, which is not installed".into());
    }
    if !is_root(workshop)? || !answers(sh, &["debootstrap", "--version"]) {
        let why = "made, but not tried: only root can, with debootstrap";
        return Ok(Package::NotRun(why.into()));
    }
    let root = bootstrap(workshop)?;
    try_in(workshop, &root, &package)?;
    seen.push(format!(
        "installed in a minimal {SUITE}, it works; purged, nothing is left"
    ));
    Ok(Package::Done(seen))
}

fn architecture(workshop: &Workshop) -> Result<String> {
    Ok(cmd!(workshop.sh, "dpkg --print-architecture")
        .quiet()
        .read()?)
}

fn is_root(workshop: &Workshop) -> Result<bool> {
    Ok(cmd!(workshop.sh, "id -u").quiet().read()? == "0")
}

/// A minimal system in a directory, unpacked again from what `debootstrap` made the first time.
fn bootstrap(workshop: &Workshop) -> Result<PathBuf> {
    let sh = workshop.sh;
    let system = workshop.stage.join(format!("{SUITE}.tar"));
    if !sh.path_exists(&system) {
        let made = workshop.fresh("debootstrap")?;
        cmd!(sh, "debootstrap --variant=minbase {SUITE} {made}")
            .ignore_stdout()
            .run()?;
        cmd!(
            sh,
            "tar --create --one-file-system --file {system} --directory {made} ."
        )
        .run()?;
        sh.remove_path(&made)?;
    }
    let root = workshop.fresh("debian")?;
    cmd!(sh, "tar --extract --file {system} --directory {root}").run()?;
    Ok(root)
}

/// Install the package in a system, run the command there, and remove it again.
fn try_in(workshop: &Workshop, root: &Path, package: &Path) -> Result {
    let sh = workshop.sh;
    sh.copy_file(package, root.join("mapstack.deb"))?;
    cmd!(sh, "chroot {root} dpkg --install /mapstack.deb")
        .ignore_stdout()
        .run()?;
    cmd!(sh, "cp -r examples {root}").run()?;
    let trial = Trial {
        sh,
        command: ["chroot".into(), root.into(), "mapstack".into()].into(),
        directory: root,
    };
    trial.run()?;
    cmd!(sh, "chroot {root} dpkg --purge mapstack")
        .ignore_stdout()
        .run()?;
    for left in [
        "usr/bin/mapstack",
        "usr/bin/mapstack-python",
        "usr/share/doc/mapstack",
    ] {
        if sh.path_exists(root.join(left)) {
            return Err(format!("purging the package leaves /{left}").into());
        }
    }
    Ok(())
}
