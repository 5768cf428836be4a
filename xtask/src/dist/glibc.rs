//! The glibc that the programs need, by the versions of the symbols that they take from it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use crate::Result;

/// The libraries of glibc, beside the loader. The last three are parts of the first since glibc 2.34.
const LIBRARIES: [&str; 5] = [
    "libc.so.6",
    "libm.so.6",
    "libpthread.so.0",
    "libdl.so.2",
    "librt.so.1",
];

/// The beginning of the name of glibc's loader; the rest is the architecture's.
const LOADER: &str = "ld-linux-";

/// The latest version of glibc that has a symbol which one of the programs takes.
///
/// # Errors
/// A program needs another library, whose package would have to be named as well, or does not need glibc.
pub fn needed_by(sh: &Shell, programs: &[PathBuf]) -> Result<String> {
    let mut versions = BTreeSet::new();
    for program in programs {
        let said = cmd!(sh, "readelf --wide --dynamic --version-info {program}")
            .quiet()
            .env("LC_ALL", "C")
            .read()?;
        versions.extend(versions_of(program, &said)?);
    }
    let latest = versions.last().ok_or("the programs do not use glibc")?;
    let numbers: Vec<_> = latest.iter().map(u32::to_string).collect();
    Ok(numbers.join("."))
}

/// The versions of glibc in what `readelf` says of a program.
fn versions_of(program: &Path, said: &str) -> Result<BTreeSet<Vec<u32>>> {
    let mut versions = BTreeSet::new();
    for line in said.lines() {
        if line.contains("(NEEDED)") {
            let library = line.split(['[', ']']).nth(1).unwrap_or_default();
            if !LIBRARIES.contains(&library) && !library.starts_with(LOADER) {
                return Err(format!(
                    "{} needs {library}, which glibc does not have",
                    program.display()
                )
                .into());
            }
        }
        let name = line.split_once("Name: GLIBC_").map(|(_, rest)| rest);
        if let Some(version) = name.and_then(|rest| rest.split_whitespace().next()) {
            let numbers: std::result::Result<_, _> = version.split('.').map(str::parse).collect();
            versions.insert(numbers.map_err(|error| {
                format!(
                    "{} takes symbols of GLIBC_{version}: {error}",
                    program.display()
                )
            })?);
        }
    }
    Ok(versions)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "
Dynamic section at offset 0x1f8 contains 3 entries:
 0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]
 0x0000000000000001 (NEEDED)             Shared library: [ld-linux-aarch64.so.1]
 0x000000000000000e (SONAME)             Library soname: [own.so]

Version needs section '.gnu.version_r' contains 1 entry:
  000000: Version: 1  File: libc.so.6  Cnt: 3
  0x0010:   Name: GLIBC_2.9  Flags: none  Version: 4
  0x0020:   Name: GLIBC_2.17  Flags: none  Version: 3
  0x0030:   Name: GLIBC_2.2.5  Flags: none  Version: 2
";

    #[test]
    fn versions_are_compared_as_numbers() -> Result {
        let versions = versions_of(Path::new("p"), SAID)?;
        assert_eq!(versions.last(), Some(&vec![2, 17]));
        Ok(())
    }

    #[test]
    fn other_libraries_are_an_error() {
        let said = SAID.replace("libc.so.6]", "libssl.so.3]");
        let error = versions_of(Path::new("p"), &said).map_err(|error| error.to_string());
        assert_eq!(
            error,
            Err("p needs libssl.so.3, which glibc does not have".into())
        );
    }
}
