//! Wheels and sources for Python's installers.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use xshell::cmd;

use super::package::Package;
use super::salt;
use super::trial::Trial;
use super::workshop::{PLATFORM, PROGRAMS, Workshop};
use crate::{Result, project_root};

/// Make the wheels, and install both without an index: by pip in a new virtual environment, and by uv.
///
/// # Errors
/// A wheel is not what it says, or what it installs does not work.
pub fn wheels(workshop: &Workshop) -> Result<Package> {
    workshop.programs()?;
    let mut seen = Vec::new();
    for program in &PROGRAMS {
        seen.push(inspect(workshop, program.name)?);
    }
    seen.push(try_pip(workshop)?);
    seen.push(try_uv(workshop)?);
    Ok(Package::Done(seen))
}

/// Let `auditwheel` say what a wheel is consistent with, and put its bill of materials beside it.
///
/// # Errors
/// It needs a later glibc than it says, or has no bill of materials.
pub fn inspect(workshop: &Workshop, distribution: &str) -> Result<String> {
    let (sh, auditwheel) = (workshop.sh, workshop.tool("auditwheel"));
    let start = format!("{}-{}-", distribution.replace('-', "_"), workshop.version);
    let wheel = workshop.made(&start, ".whl")?;
    let said = cmd!(sh, "{auditwheel} show {wheel}").quiet().read()?;
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let found = words
        .split('"')
        .find(|word| word.starts_with("manylinux"))
        .ok_or_else(|| format!("auditwheel: {words}"))?;
    if glibc_of(found) > glibc_of(PLATFORM) {
        return Err(format!("{}: consistent with no more than {found}", name(&wheel)).into());
    }
    bill_of_materials(workshop, &wheel)?;
    Ok(format!("{}: consistent with {found}", name(&wheel)))
}

/// The version of glibc in a platform's name, such as `manylinux_2_17_x86_64`. Names of the years before those with
/// versions, such as `manylinux2014_x86_64`, mean 2.17 at most and have none.
fn glibc_of(platform: &str) -> Option<Vec<u32>> {
    let parts = platform.split('_').skip(1).take(2);
    parts.map(|part| part.parse().ok()).collect()
}

/// Install the command by pip in a new virtual environment, and run it there.
fn try_pip(workshop: &Workshop) -> Result<String> {
    let (sh, dist) = (workshop.sh, &workshop.dist);
    let environment = workshop.fresh("wheel")?;
    let start = Instant::now();
    cmd!(sh, "python3 -m venv {environment}").run()?;
    let pip = environment.join("bin/pip");
    let made = start.elapsed();
    cmd!(
        sh,
        "{pip} install --quiet --no-index --find-links {dist} mapstack"
    )
    .run()?;
    let installed = start.elapsed();
    let first = try_environment(workshop, &environment)?;
    Ok(format!(
        "pip, from an empty folder to the first lint: {:.1} s (the environment {:.1} s, pip {:.1} s, lint {:.2} s)",
        (installed + first).as_secs_f64(),
        made.as_secs_f64(),
        (installed - made).as_secs_f64(),
        first.as_secs_f64()
    ))
}

/// Run the command by `uv tool run`, which `uvx` is short for, with an empty cache.
fn try_uv(workshop: &Workshop) -> Result<String> {
    let sh = workshop.sh;
    let _cache = sh.push_env("UV_CACHE_DIR", workshop.fresh("uv-cache")?);
    let _tools = sh.push_env("UV_TOOL_DIR", workshop.fresh("uv-tools")?);
    let mut command: Vec<_> = vec![workshop.tool("uv").into()];
    command.extend(["tool", "run", "--quiet", "--no-index", "--find-links"].map(OsString::from));
    command.extend([workshop.dist.clone().into(), "--python".into()]);
    command.extend([workshop.tool("python").into(), "mapstack".into()]);
    let trial = Trial {
        sh,
        command,
        directory: project_root(),
    };
    let first = trial.run()?;
    Ok(format!(
        "uvx, with an empty cache: the first lint took {:.1} s",
        first.as_secs_f64()
    ))
}

/// Make the sources, and let pip build both programs and the native module from them in a new virtual environment,
/// unoptimized.
///
/// # Errors
/// They lack something, or what they build does not work.
pub fn sources(workshop: &Workshop) -> Result<Package> {
    let (sh, dist, maturin) = (workshop.sh, &workshop.dist, workshop.tool("maturin"));
    let mut archives = Vec::new();
    for (name, directory) in PROGRAMS
        .map(|program| (program.name, program.directory))
        .into_iter()
        .chain([(salt::MODULE, salt::DIRECTORY)])
    {
        workshop.write_notices(directory)?;
        cmd!(
            sh,
            "{maturin} sdist --manifest-path {directory}/Cargo.toml --out {dist}"
        )
        .quiet()
        .ignore_stderr()
        .run()?;
        // The archive for `cargo binstall` has a longer name that starts and ends alike.
        let archive = format!("{}-{}.tar.gz", name.replace('-', "_"), workshop.version);
        archives.push(workshop.made(&archive, "")?);
    }
    let environment = workshop.fresh("sdist")?;
    cmd!(sh, "python3 -m venv {environment}").run()?;
    let pip = environment.join("bin/pip");
    {
        // An optimized build would take many minutes, and show nothing more about what the archives have.
        let _profile = sh.push_env("MATURIN_PEP517_ARGS", "--profile dev");
        let _debug = sh.push_env("CARGO_PROFILE_DEV_DEBUG", "none");
        let _incremental = sh.push_env("CARGO_INCREMENTAL", "0");
        let target = workshop.fresh("sdist-target")?;
        let _target = sh.push_env("CARGO_TARGET_DIR", &target);
        // Lints are a matter of the checkout, whose configuration of Clippy the archives do not have.
        cmd!(sh, "{pip} install --quiet --no-deps {archives...}")
            .env_remove("RUSTC_WORKSPACE_WRAPPER")
            .env_remove("RUSTFLAGS")
            .run()?;
        // pip unpacks archives into a directory of another name each time: no part of it can be used again.
        sh.remove_path(target)?;
    }
    try_environment(workshop, &environment)?;
    salt::import(workshop, &environment)?;
    Ok(Package::Done(vec![
        "pip built both programs and the native module from the archives (profile dev), and they work".into(),
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

/// The name of a package.
pub fn name(file: &Path) -> String {
    file.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_are_compared_by_their_glibc() {
        let floor = glibc_of(PLATFORM);
        for fits in [
            "manylinux_2_17_x86_64",
            "manylinux_2_5_x86_64",
            "manylinux2014_x86_64",
        ] {
            assert!(glibc_of(fits) <= floor, "{fits}");
        }
        assert!(glibc_of("manylinux_2_34_x86_64") > floor);
    }
}
