//! An archive of both programs with their manual, for `cargo binstall` and by hand.

use xshell::cmd;

use super::package::Package;
use super::trial::Trial;
use super::workshop::{PROGRAMS, Workshop};
use super::{manual, notices};
use crate::{Result, project_root};

/// Make the archive, and run what is in it.
///
/// # Errors
/// It cannot be made, or what is in it does not work.
pub fn run(workshop: &Workshop) -> Result<Package> {
    let (sh, dist, triple) = (workshop.sh, &workshop.dist, &workshop.triple);
    let programs = workshop.programs()?;
    manual::write(workshop)?;
    // `[package.metadata.binstall]` of both programs has these names.
    let name = format!("mapstack-{}-{triple}", workshop.version);
    let directory = sh.create_dir(workshop.fresh("archive")?.join(&name))?;
    for program in &PROGRAMS {
        let notices = format!("{}/{}", program.directory, notices::FILE);
        sh.copy_file(programs.join(program.name), &directory)?;
        sh.copy_file(
            notices,
            directory.join(format!("{}.{}", program.name, notices::FILE)),
        )?;
    }
    for file in ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        sh.copy_file(file, &directory)?;
    }
    for part in ["man", "completions"] {
        let from = workshop.stage.join(part);
        cmd!(sh, "cp -r {from} {directory}").run()?;
    }
    let archive = dist.join(format!("{name}.tar.gz"));
    let above = workshop.stage.join("archive");
    // Equal files give equal archives.
    cmd!(
        sh,
        "tar --create --gzip --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --file {archive}
         --directory {above} {name}"
    )
    .run()?;
    let unpacked = workshop.fresh("unpacked")?;
    cmd!(sh, "tar --extract --file {archive} --directory {unpacked}").run()?;
    let trial = Trial {
        sh,
        command: vec![unpacked.join(&name).join("mapstack").into()],
        directory: project_root(),
    };
    trial.run()?;
    Ok(Package::Done(vec!["unpacked, it works".into()]))
}
