//! `cargo xtask corpus`: both sides' answers about a folder of public formulas.
//!
//! Nothing of the formulas is kept here; the folder holds plain checkouts, one below each name.

mod map;
mod mapdata;
mod parse;
mod sides;
mod tally;

use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use xshell::{Shell, cmd};

use crate::{Result, reference, target_directory};
use sides::{Formula, Sides};
use tally::Tally;

#[derive(Parser)]
pub struct Args {
    /// A folder of checkouts of formulas, one below each name
    formulas: PathBuf,
    /// A folder of minions, one YAML file each with id, grains, pillar and opts; without it, only `parse`
    #[arg(long, value_name = "DIR")]
    minions: Option<PathBuf>,
    /// Compare only the checkouts of these names (repeatable)
    #[arg(long, value_name = "NAME")]
    formula: Vec<String>,
    /// Compare only this (repeatable)
    #[arg(long, value_enum)]
    only: Vec<CorpusPart>,
    /// The command to compare; else it is built
    #[arg(long, value_name = "PATH")]
    mapstack: Option<PathBuf>,
    /// Keep the reference's answers about map.jinja files in this folder, and take from it those it has
    #[arg(long, value_name = "DIR")]
    answers: Option<PathBuf>,
    /// Ask the reference alone
    #[arg(long, requires = "answers")]
    record_only: bool,
}

/// The parts to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CorpusPart {
    /// The files that parse as templates
    Parse,
    /// The result of each map.jinja for each minion
    Map,
    /// The results that formulas ship for their own tests
    Mapdata,
}

pub fn run(sh: &Shell, args: &Args) -> Result {
    let formulas = formulas(sh, &args.formulas, &args.formula)?;
    let wanted = |part| args.only.is_empty() || args.only.contains(&part);
    let minions = match &args.minions {
        Some(directory) => files_in(sh, directory, "yaml")?,
        None => Vec::new(),
    };
    let mapstack = match &args.mapstack {
        _ if args.record_only || minions.is_empty() => None,
        Some(path) => Some(std::path::absolute(path)?),
        None => Some(built(sh)?),
    };
    let python = reference::python(sh)?;
    let answers = args.answers.as_ref().map(std::path::absolute).transpose()?;
    let sides = Sides {
        sh,
        python,
        minions,
        mapstack,
        answers,
    };
    let mut differing = 0;
    let mut report = |name: &str, tally: Tally| {
        print!("{}", tally.titled(name));
        differing += tally.differing();
    };
    if wanted(CorpusPart::Parse) && !args.record_only {
        report("parse", parse::compare(&sides, &formulas)?);
    }
    if wanted(CorpusPart::Map) && !sides.minions.is_empty() {
        report("map", map::compare(&sides, &formulas)?);
    }
    if wanted(CorpusPart::Mapdata) && !sides.minions.is_empty() && !args.record_only {
        report("mapdata", mapdata::compare(&sides, &formulas)?);
    }
    if differing == 0 {
        Ok(())
    } else {
        Err(format!("{differing} differences; each has a line above").into())
    }
}

fn formulas(sh: &Shell, directory: &Path, only: &[String]) -> Result<Vec<Formula>> {
    let directory = std::path::absolute(directory)?;
    let mut formulas = Vec::new();
    for root in sh.read_dir(&directory)? {
        let name = file_name(&root);
        if root.is_dir() && !name.starts_with('.') && (only.is_empty() || only.contains(&name)) {
            formulas.push(Formula { name, root });
        }
    }
    if let Some(missing) = only
        .iter()
        .find(|name| !formulas.iter().any(|formula| formula.name == **name))
    {
        return Err(format!("{} has no folder {missing}", directory.display()).into());
    }
    if formulas.is_empty() {
        return Err(format!("{} holds no checkout of a formula", directory.display()).into());
    }
    Ok(formulas)
}

fn files_in(sh: &Shell, directory: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let directory = std::path::absolute(directory)?;
    let files = sh.read_dir(&directory)?;
    let files: Vec<PathBuf> = files
        .into_iter()
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    if files.is_empty() {
        return Err(format!("{} holds no .{extension} file", directory.display()).into());
    }
    Ok(files)
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn built(sh: &Shell) -> Result<PathBuf> {
    cmd!(sh, "cargo build --quiet --package mapstack-cli").run()?;
    Ok(target_directory(sh)?.join("debug/mapstack"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_the_folders_that_were_asked_for() {
        let sh = Shell::new().unwrap();
        let home = tempfile::tempdir().unwrap();
        for name in ["a-formula", "b-formula", ".git"] {
            sh.create_dir(home.path().join(name)).unwrap();
        }
        let names = |only: &[String]| {
            formulas(&sh, home.path(), only).map(|all| {
                all.into_iter()
                    .map(|formula| formula.name)
                    .collect::<Vec<_>>()
            })
        };
        assert_eq!(names(&[]).unwrap(), ["a-formula", "b-formula"]);
        assert_eq!(names(&["b-formula".into()]).unwrap(), ["b-formula"]);
        assert!(
            names(&["c".into()])
                .unwrap_err()
                .to_string()
                .ends_with("has no folder c")
        );
    }
}
