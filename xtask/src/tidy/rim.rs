//! The rim: which files of the product touch the machine. All others work on what they are given.

use std::path::{Path, PathBuf};

use super::code::{code_only, product};

/// A way to touch the machine: what it is, the words of code that do it, and the files and folders that may.
struct MachineAccess {
    what: &'static str,
    words: &'static [&'static str],
    allowed: &'static [&'static str],
}

const TOUCHES: &[MachineAccess] = &[
    MachineAccess {
        what: "opens or looks for files",
        words: &["fs::", "File::open", ".read_dir()", ".canonicalize()"],
        allowed: &[
            "crates/expect/",
            "crates/fleet/src/read_by_pillar.rs",
            "crates/frontend/src/host/",
            // It reads the system's counters of this process.
            "crates/frontend/src/budget.rs",
            "crates/frontend/src/inputs/",
            "crates/lint/src/fix.rs",
            "crates/minion/",
            "crates/frontend/src/outputs/",
            "crates/frontend/src/parts/",
            "crates/python/",
            "crates/diagnostic/src/redact/excerpts.rs",
            "crates/salt-config/",
            "loader/",
            "crates/sandbox/src/client/process.rs",
        ],
    },
    MachineAccess {
        what: "writes files",
        words: &[
            "fs::write",
            "fs::rename",
            "fs::copy",
            "fs::create_dir",
            "fs::remove_",
            "fs::hard_link",
            "fs::set_permissions",
            "File::create",
            "OpenOptions",
            "tempfile",
        ],
        allowed: &[
            "crates/expect/src/writing.rs",
            // It opens files for reading, so that a pipe does not wait.
            "crates/frontend/src/host/file.rs",
            "crates/frontend/src/outputs/",
            "crates/frontend/src/parts/writer.rs",
            "crates/salt-config/src/gitfs/fetch/",
        ],
    },
    MachineAccess {
        what: "starts programs",
        words: &["Command::new"],
        allowed: &[
            "crates/frontend/src/host/",
            "crates/salt-config/src/gitfs/fetch/",
            // The verbs of the command itself.
            "mapstack-cli/src/verbs.rs",
            "crates/sandbox/src/",
        ],
    },
    MachineAccess {
        what: "reads the environment",
        words: &[
            "env::var",
            "env::args",
            "env::current_dir",
            "env::current_exe",
            "env::home_dir",
            "env::temp_dir",
        ],
        allowed: &[
            "crates/frontend/src/console/",
            "crates/frontend/src/host/",
            "crates/frontend/src/inputs/",
            "crates/python/src/main.rs",
            "crates/salt-config/src/gitfs/fetch/",
            "crates/salt-config/src/disk/mount.rs",
            "mapstack-cli/",
            "crates/sandbox/src/client/find.rs",
        ],
    },
    MachineAccess {
        what: "asks for the date",
        words: &["SystemTime::now"],
        allowed: &[
            "crates/frontend/src/inputs/",
            "crates/salt-jinja/src/filters/date.rs",
        ],
    },
    MachineAccess {
        what: "uses the network",
        words: &["TcpStream", "UdpSocket", "ToSocketAddrs", "ureq::"],
        allowed: &["crates/frontend/src/host/"],
    },
    MachineAccess {
        what: "prints",
        words: &["println!", "print!", "io::stdout", "io::stderr"],
        allowed: &[
            "crates/frontend/src/console/",
            "crates/python/",
            "mapstack-cli/",
        ],
    },
];

/// The files that touch the machine and may not, and the permissions that nothing needs.
pub fn check(files: &[(PathBuf, String)]) -> Vec<String> {
    let sources: Vec<(&Path, String)> = files
        .iter()
        .filter(|(path, _)| is_product(path))
        .map(|(path, text)| (path.as_path(), code_only(product(text))))
        .collect();
    TOUCHES
        .iter()
        .flat_map(|touch| check_touch(touch, &sources))
        .collect()
}

/// True for the sources of the crates, without those of chores, benchmarks and tests.
fn is_product(path: &Path) -> bool {
    let is_source =
        path.iter().any(|part| part == "src") && path.extension().is_some_and(|end| end == "rs");
    let others = ["xtask", "benchmarks", "fuzz", "salt"];
    is_source && !others.iter().any(|other| path.starts_with(other))
}

fn check_touch(touch: &MachineAccess, sources: &[(&Path, String)]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut used: Vec<&str> = Vec::new();
    for (path, code) in sources {
        let Some((line, word)) = first(code, touch.words) else {
            continue;
        };
        let name = path.display().to_string();
        match touch.allowed.iter().find(|allowed| name.starts_with(**allowed)) {
            Some(allowed) => used.push(allowed),
            None => problems.push(format!(
                "{name}:{line}: `{word}`: the file {}, which only the rim may; see xtask/src/tidy/rim.rs",
                touch.what
            )),
        }
    }
    let idle = touch
        .allowed
        .iter()
        .filter(|allowed| !used.contains(allowed));
    problems.extend(idle.map(|allowed| {
        format!(
            "{allowed}: xtask/src/tidy/rim.rs says that it {}, and it does not",
            touch.what
        )
    }));
    problems
}

/// The first line with one of the words, and the word.
fn first<'w>(code: &str, words: &[&'w str]) -> Option<(usize, &'w str)> {
    code.lines().enumerate().find_map(|(index, line)| {
        let word = words.iter().find(|word| begins(line, word))?;
        Some((index + 1, *word))
    })
}

/// True if a word begins somewhere in the line: `defs::` is not `fs::`.
fn begins(line: &str, word: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_name = word.starts_with(in_word);
    line.match_indices(word)
        .any(|(at, _)| !(is_name && line[..at].ends_with(in_word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_rim_touches_the_machine() {
        let files = |path: &str, text: &str| vec![(PathBuf::from(path), text.to_owned())];
        let about = |path: &str, text: &str| -> Vec<String> {
            let all = check(&files(path, text));
            all.into_iter()
                .filter(|problem| problem.starts_with(path))
                .collect()
        };
        for (text, says) in [
            ("use std::fs::File;\n", "1: `fs::`: the file opens"),
            (
                "\nfn f() { std::process::Command::new(g()) }\n",
                "2: `Command::new`",
            ),
            ("fn f() { std::env::var(g()) }\n", "reads the environment"),
            ("fn f() { println!() }\n", "prints"),
        ] {
            let found = about("crates/mapstack/src/x.rs", text);
            assert!(found.len() == 1 && found[0].contains(says), "{found:?}");
        }
        assert_eq!(
            about("crates/mapstack/src/x.rs", "use crate::defs::X;\n"),
            [""; 0]
        );
        for path in [
            "crates/frontend/src/host/x.rs",
            "xtask/src/x.rs",
            "merge/tests/x.rs",
        ] {
            assert_eq!(about(path, "use std::fs::File;\n"), [""; 0]);
        }
        let test = "fn f() {}\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n// fs::read\n";
        assert_eq!(about("crates/mapstack/src/x.rs", test), [""; 0]);
    }

    #[test]
    fn a_permission_is_one_that_is_needed() {
        let idle = check(&[]);
        let all: usize = TOUCHES.iter().map(|touch| touch.allowed.len()).sum();
        assert_eq!(idle.len(), all);
        assert!(idle[0].contains("and it does not"), "{}", idle[0]);
    }
}
