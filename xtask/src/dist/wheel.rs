//! Wheels and sources for Python's installers.

use std::path::Path;
use std::time::{Duration, Instant};

use xshell::cmd;

use super::notices;
use super::package::Package;
use super::trial::Trial;
use super::workshop::{PROGRAMS, Workshop};
use crate::{Result, project_root};

/// Make the wheels, and install both in a new virtual environment without an index.
///
/// # Errors
/// A wheel is not what it says, or what it installs does not work.
pub fn wheels(workshop: &Workshop) -> Result<Package> {
    workshop.programs()?;
    let sh = workshop.sh;
    let mut seen = Vec::new();
    for wheel in workshop.made(&[".whl"])? {
        let auditwheel = workshop.tool("auditwheel");
        let said = cmd!(sh, "{auditwheel} show {wheel}").quiet().read()?;
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let found = words
            .split('"')
            .find(|word| word.starts_with("manylinux"))
            .ok_or_else(|| format!("auditwheel: {words}"))?;
        seen.push(format!("{}: consistent with {found}", name(&wheel)));
        bill_of_materials(workshop, &wheel)?;
    }
    let environment = workshop.fresh("wheel")?;
    let start = Instant::now();
    cmd!(sh, "python3 -m venv {environment}").run()?;
    let (pip, dist) = (environment.join("bin/pip"), &workshop.dist);
    let made = start.elapsed();
    cmd!(
        sh,
        "{pip} install --quiet --no-index --find-links {dist} mapstack"
    )
    .run()?;
    let installed = start.elapsed();
    let first = try_environment(workshop, &environment)?;
    seen.push(format!(
        "from an empty folder to the first lint: {:.1} s (the environment {:.1} s, pip {:.1} s, lint {:.2} s)",
        (installed + first).as_secs_f64(),
        made.as_secs_f64(),
        (installed - made).as_secs_f64(),
        first.as_secs_f64()
    ));
    Ok(Package::Done(seen))
}

/// Make the sources, and let pip build both programs from them in a new virtual environment, unoptimized.
///
/// # Errors
/// They lack something, or what they build does not work.
pub fn sources(workshop: &Workshop) -> Result<Package> {
    let (sh, dist, maturin) = (workshop.sh, &workshop.dist, workshop.tool("maturin"));
    notices::write(workshop)?;
    for program in &PROGRAMS {
        let manifest = format!("{}/Cargo.toml", program.directory);
        cmd!(
            sh,
            "{maturin} sdist --manifest-path {manifest} --out {dist}"
        )
        .quiet()
        .ignore_stderr()
        .run()?;
    }
    let environment = workshop.fresh("sdist")?;
    cmd!(sh, "python3 -m venv {environment}").run()?;
    let (pip, version) = (environment.join("bin/pip"), &workshop.version);
    let archives = PROGRAMS.map(|program| {
        let file = format!("{}-{version}.tar.gz", program.name.replace('-', "_"));
        dist.join(file)
    });
    {
        // An optimized build would take many minutes, and show nothing more about what the archives have.
        let _profile = sh.push_env("MATURIN_PEP517_ARGS", "--profile dev");
        let _target = sh.push_env("CARGO_TARGET_DIR", workshop.stage.join("sdist-target"));
        cmd!(sh, "{pip} install --quiet --no-deps {archives...}").run()?;
    }
    try_environment(workshop, &environment)?;
    Ok(Package::Done(vec![
        "pip built both programs from the archives (profile dev), and they work".into(),
    ]))
}

/// Try what a virtual environment has.
fn try_environment(workshop: &Workshop, environment: &Path) -> Result<Duration> {
    let trial = Trial {
        sh: workshop.sh,
        command: vec![environment.join("bin/mapstack").into()],
        directory: project_root(),
    };
    trial.run()
}

/// Put the bill of materials of a wheel beside it. The builder makes it (CycloneDX) from what Cargo resolved.
fn bill_of_materials(workshop: &Workshop, wheel: &Path) -> Result {
    let (sh, python) = (workshop.sh, workshop.tool("python"));
    let unpacked = workshop.fresh("unpacked")?;
    cmd!(sh, "{python} -m zipfile --extract {wheel} {unpacked}").run()?;
    let mut found = 0;
    for directory in sh.read_dir(&unpacked)? {
        let bills = directory.join("sboms");
        if sh.path_exists(&bills) {
            for bill in sh.read_dir(&bills)? {
                found += 1;
                sh.copy_file(&bill, &workshop.dist)?;
            }
        }
    }
    if found == 0 {
        return Err(format!("{} has no bill of materials", wheel.display()).into());
    }
    Ok(())
}

fn name(file: &Path) -> String {
    file.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
