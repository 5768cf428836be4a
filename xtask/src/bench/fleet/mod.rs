//! Thousands of minions at once.

mod generate;

use std::path::Path;

use xshell::Shell;

use crate::Result;

/// Write a fleet below a directory: `root` with formulas, `minions` with a file for each.
pub fn write(sh: &Shell, directory: &Path, minions: u64, formulas: u64) -> Result {
    for number in 0..formulas {
        generate::formula(sh, &directory.join("root"), number)?;
    }
    let into = directory.join("minions");
    sh.create_dir(&into)?;
    for number in 0..minions {
        let minion = generate::minion(number);
        std::fs::write(into.join(format!("{}.json", generate::id(number))), minion.to_string())?;
    }
    Ok(())
}

pub fn run(sh: &Shell) -> Result {
    if let Ok(directory) = std::env::var("FLEET") {
        let numbers: Vec<u64> = std::env::var("FLEET_SIZE")?.split('x').filter_map(|n| n.parse().ok()).collect();
        return write(sh, Path::new(&directory), numbers[0], numbers[1]);
    }
    Ok(())
}
