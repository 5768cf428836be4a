//! The workshop of packages: the directories, the tools, and the release programs.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use super::notices;
use crate::{Result, project_root};

/// The platform of the wheels. The linker takes its version of glibc for all packages.
pub const PLATFORM: &str = "manylinux_2_17";

/// A program that is packaged: its own name, which its distribution for Python has as well, and its crate.
pub struct Program {
    pub name: &'static str,
    pub package: &'static str,
    pub directory: &'static str,
}

/// Both programs; the first finds the second beside itself.
pub const PROGRAMS: [Program; 2] = [
    Program {
        name: "mapstack",
        package: "mapstack-cli",
        directory: "mapstack-cli",
    },
    Program {
        name: "mapstack-python",
        package: "mapstack-python",
        directory: "crates/python",
    },
];

pub struct Workshop<'s> {
    pub sh: &'s Shell,
    /// The directory of finished packages.
    pub dist: PathBuf,
    /// The directory in which packages are prepared and tried.
    pub stage: PathBuf,
    /// The name of this machine for `rustc`.
    pub triple: String,
    pub version: String,
    tools: PathBuf,
    built: OnceCell<PathBuf>,
    /// The directories of crates whose notices were written.
    noticed: RefCell<BTreeSet<&'static str>>,
}

impl<'s> Workshop<'s> {
    /// Make the directories, and install the tools for Python.
    ///
    /// # Errors
    /// The tools cannot be installed, or this is not Linux with glibc.
    pub fn open(sh: &'s Shell) -> Result<Self> {
        let target = project_root().join("target");
        // The manifests name files below this directory.
        sh.set_var("CARGO_TARGET_DIR", &target);
        let workshop = Self {
            sh,
            dist: target.join("dist"),
            stage: target.join("dist-stage"),
            triple: triple(sh)?,
            version: version(sh)?,
            tools: target.join("dist-tools"),
            built: OnceCell::new(),
            noticed: RefCell::default(),
        };
        sh.create_dir(&workshop.dist)?;
        sh.create_dir(&workshop.stage)?;
        workshop.install_tools()?;
        Ok(workshop)
    }

    fn install_tools(&self) -> Result {
        let (sh, tools) = (self.sh, &self.tools);
        let wanted = "xtask/dist/requirements.txt";
        let installed = tools.join("requirements.txt");
        if sh.read_file(&installed).ok() == Some(sh.read_file(wanted)?) {
            return Ok(());
        }
        cmd!(sh, "python3 -m venv {tools}").run()?;
        let pip = self.tool("pip");
        cmd!(sh, "{pip} install --quiet --requirement {wanted}").run()?;
        sh.copy_file(wanted, &installed)?;
        Ok(())
    }

    /// A program of the tools for Python.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.tools.join("bin").join(name)
    }

    /// Build the release programs and their wheels, once, and say where the programs are.
    ///
    /// # Errors
    /// A build fails.
    pub fn programs(&self) -> Result<&Path> {
        if let Some(built) = self.built.get() {
            return Ok(built);
        }
        for program in &PROGRAMS {
            self.build_wheel(program.directory)?;
        }
        let built = project_root().join("target").join(&self.triple);
        Ok(self.built.get_or_init(|| built.join("release")))
    }

    /// Build the wheel of the crate in this directory, optimized and for old versions of glibc.
    ///
    /// # Errors
    /// The build fails.
    pub fn build_wheel(&self, directory: &'static str) -> Result {
        self.write_notices(directory)?;
        let (sh, dist, triple, maturin) = (self.sh, &self.dist, &self.triple, self.tool("maturin"));
        // The linker is a module of the Python that maturin belongs to.
        let _path = self.with_tools_on_path()?;
        cmd!(
            sh,
            "{maturin} build --release --locked --zig --target {triple} --compatibility {PLATFORM}
             --manifest-path {directory}/Cargo.toml --out {dist}"
        )
        .run()?;
        Ok(())
    }

    /// Write the licences of what is built into the crate in this directory, once.
    ///
    /// # Errors
    /// They cannot be collected.
    pub fn write_notices(&self, directory: &'static str) -> Result {
        if self.noticed.borrow().contains(directory) {
            return Ok(());
        }
        notices::write(self, directory)?;
        self.noticed.borrow_mut().insert(directory);
        Ok(())
    }

    /// Put the tools for Python on the path, as long as the result lives.
    pub fn with_tools_on_path(&self) -> Result<xshell::PushEnv<'_>> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let directories = [self.tools.join("bin")]
            .into_iter()
            .chain(std::env::split_paths(&path));
        Ok(self.sh.push_env("PATH", std::env::join_paths(directories)?))
    }

    /// The package whose name starts and ends like this.
    ///
    /// # Errors
    /// There is none, or more than one.
    pub fn made(&self, start: &str, end: &str) -> Result<PathBuf> {
        let mut files = self.sh.read_dir(&self.dist)?;
        files.retain(|file| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(start) && name.ends_with(end)
        });
        match <[PathBuf; 1]>::try_from(files) {
            Ok([file]) => Ok(file),
            Err(files) => Err(format!(
                "{} has {} packages {start}…{end} in place of one; remove what is left of earlier builds",
                self.dist.display(),
                files.len()
            )
            .into()),
        }
    }

    /// Write `SHA256SUMS` of all packages that are there.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn write_checksums(&self) -> Result {
        let sh = self.sh;
        let _in = sh.push_dir(&self.dist);
        let mut names: Vec<_> = sh
            .read_dir(&self.dist)?
            .iter()
            .filter_map(|file| Some(file.file_name()?.to_owned()))
            .filter(|name| name != "SHA256SUMS")
            .collect();
        names.sort();
        if names.is_empty() {
            return Ok(());
        }
        let sums = cmd!(sh, "sha256sum {names...}").quiet().read()?;
        sh.write_file("SHA256SUMS", format!("{sums}\n"))?;
        Ok(())
    }

    /// An empty directory of this name to try something in.
    ///
    /// # Errors
    /// It cannot be emptied or made.
    pub fn fresh(&self, name: &str) -> Result<PathBuf> {
        let directory = self.stage.join(name);
        self.sh.remove_path(&directory)?;
        Ok(self.sh.create_dir(directory)?)
    }
}

/// True if a program answers, such as `cargo deb --version`.
pub fn answers(sh: &Shell, command: &[&str]) -> bool {
    let Some((program, args)) = command.split_first() else {
        return false;
    };
    let asked = cmd!(sh, "{program} {args...}").quiet();
    asked.ignore_stdout().ignore_stderr().run().is_ok()
}

fn triple(sh: &Shell) -> Result<String> {
    let said = cmd!(sh, "rustc --version --verbose").quiet().read()?;
    let triple = said
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .ok_or("rustc names no host")?;
    if !triple.ends_with("-linux-gnu") {
        return Err(format!("packages are made on Linux with glibc, and this is {triple}").into());
    }
    Ok(triple.to_owned())
}

fn version(sh: &Shell) -> Result<String> {
    let metadata = cmd!(sh, "cargo metadata --format-version 1 --no-deps");
    let metadata: serde_json::Value = serde_json::from_str(&metadata.quiet().read()?)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let version = packages
        .filter(|package| package["name"] == PROGRAMS[0].package)
        .find_map(|package| package["version"].as_str());
    Ok(version
        .ok_or("cargo metadata names no version of the command")?
        .to_owned())
}
