//! The hooks for pre-commit, from a checkout and the wheels alone.

use xshell::cmd;

use super::package::Package;
use super::workshop::{PROGRAMS, Workshop};
use crate::{Result, project_root};

/// Run the hooks over a formula with a mistake, and over one without.
///
/// # Errors
/// A hook cannot be installed without Rust, or does not find what it should.
pub fn run(workshop: &Workshop) -> Result<Package> {
    let command = workshop.programs()?.join(PROGRAMS[0].name);
    let (sh, dist, project) = (workshop.sh, &workshop.dist, project_root());
    let pre_commit = workshop.tool("pre-commit");
    let home = workshop.fresh("pre-commit")?;
    let site = workshop.fresh("hooked")?;
    cmd!(sh, "cp -r examples/formulas/users {site}").run()?;
    let _in = sh.push_dir(&site);
    cmd!(sh, "git init --quiet").run()?;
    let run = |hook: &str| -> Result<(bool, String)> {
        cmd!(sh, "git add .").run()?;
        let output = cmd!(
            sh,
            "{pre_commit} try-repo {project} {hook} --all-files --verbose"
        )
        .quiet()
        .env("PRE_COMMIT_HOME", &home)
        .env("PIP_FIND_LINKS", dist)
        .ignore_status()
        .output()?;
        Ok((
            output.status.success(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        ))
    };
    cmd!(sh, "{command} test users --update --platform debian-12")
        .quiet()
        .ignore_stdout()
        .ignore_stderr()
        .run()?;
    for hook in ["mapstack-lint", "mapstack-test"] {
        let (passes, said) = run(hook)?;
        if !passes {
            return Err(format!("{hook} refuses a good formula:\n{said}").into());
        }
    }
    sh.write_file("users/parameters/os/Debian.yaml", "a: b: c\n")?;
    for (hook, mistake) in [
        ("mapstack-lint", "error[yaml-syntax]"),
        ("mapstack-test", "Debian.yaml"),
    ] {
        let (passes, said) = run(hook)?;
        if passes || !said.contains(mistake) {
            return Err(format!("{hook} does not find a mistake:\n{said}").into());
        }
    }
    Ok(Package::Done(vec![
        "both hooks pass a good formula, and find a mistake, without Rust".into(),
    ]))
}
