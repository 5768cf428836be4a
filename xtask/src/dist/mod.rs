//! `cargo xtask dist`: makes every package in `target/dist`, and installs and runs each in a bare environment.

mod archive;
mod cargo;
mod container;
mod debian;
mod glibc;
mod hook;
mod manual;
mod notices;
mod package;
mod rpm;
mod salt;
mod trial;
mod wheel;
mod workshop;

use clap::{Parser, ValueEnum};
use xshell::Shell;

use crate::Result;
use package::Package;
use workshop::Workshop;

#[derive(Parser)]
pub struct Args {
    /// Packages to make and try; all by default
    parts: Vec<InstallKind>,
    /// Packages to skip, for example because this machine lacks something that they need
    #[arg(long, value_name = "PART")]
    without: Vec<InstallKind>,
}

/// One way of installing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum InstallKind {
    /// Wheels of both programs, for pip, uvx and pipx
    Wheel,
    /// The sources of both, built by pip
    Sdist,
    /// An archive of both programs, for `cargo binstall` and by hand
    Archive,
    /// A Debian package
    Deb,
    /// A package for distributions that use RPM
    Rpm,
    /// The crates, as `cargo package` verifies them
    Crates,
    /// The hooks for pre-commit
    Hook,
    /// Wheels of the Salt extension and its native module
    Salt,
    /// A container image
    Container,
}

impl InstallKind {
    fn run(self, workshop: &Workshop) -> Result<Package> {
        match self {
            InstallKind::Wheel => wheel::wheels(workshop),
            InstallKind::Sdist => wheel::sources(workshop),
            InstallKind::Archive => archive::run(workshop),
            InstallKind::Deb => debian::run(workshop),
            InstallKind::Rpm => rpm::run(workshop),
            InstallKind::Crates => cargo::run(workshop),
            InstallKind::Hook => hook::run(workshop),
            InstallKind::Salt => salt::run(workshop),
            InstallKind::Container => container::run(workshop),
        }
    }

    fn name(self) -> String {
        self.to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

pub fn run(sh: &Shell, args: &Args) -> Result {
    let asked = if args.parts.is_empty() {
        InstallKind::value_variants()
    } else {
        &args.parts
    };
    let wanted = |part: &&InstallKind| !args.without.contains(part);
    let workshop = Workshop::open(sh)?;
    let mut missing = 0;
    for part in asked.iter().filter(wanted) {
        eprintln!("dist: {}", part.name());
        match part.run(&workshop)? {
            Package::Done(seen) => {
                for line in seen {
                    println!("{}: {line}", part.name());
                }
            }
            Package::NotRun(why) => {
                missing += 1;
                println!("{}: NOT RUN: {why}", part.name());
            }
        }
    }
    for part in &args.without {
        println!("{}: left out by --without", part.name());
    }
    workshop.write_checksums()?;
    if missing > 0 {
        return Err(format!(
            "{missing} parts were not run, see above; leave out by --without what this machine cannot do"
        )
        .into());
    }
    Ok(())
}
