//! Markdown whose `console` blocks are run: documents of the repository, and the cases below `tests/cases`.
//!
//! A case is a title, what it shows, and sections with a heading of two `#`. Each section starts in a directory of its
//! own with the files above the first of them. A block `files` has files as `-- PATH --` and their text, a block
//! `console` has commands for `sh` after `$ ` and what they print. A line `...` is any lines, `(see FILE)` the text of a
//! file beside the case, and `[DIR]` the directory. Standard error follows `[stderr]`, and files that `mapstack` wrote or
//! removed and an exit status other than 0 come last. Documents show both streams and nothing of that.
//!
//! `SNAPSHOTS=overwrite` writes what was printed into the cases; review the diff.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use snapbox::Assert;

use crate::common::{Ran, Tree, repository, shell};

/// A text, and the parts of it that do something.
pub struct Document {
    path: PathBuf,
    lines: Vec<String>,
    sections: Vec<Vec<Step>>,
}

/// A thing that a document says to do.
enum Step {
    /// Write a file.
    Write { path: String, text: String },
    /// Run a command, whose output is these lines of the document.
    Run(Shown),
}

/// A command of a `console` block, and the lines of the output shown below it.
pub struct Shown {
    line: usize,
    pub command: String,
    output: Range<usize>,
}

/// Who reads a document, which decides how it shows output.
#[derive(Clone, Copy, PartialEq)]
pub enum Readers {
    /// Users: both streams follow each other.
    Users,
    /// Those who change the code: streams, statuses and written files are told apart.
    Developers,
}

impl Document {
    pub fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let lines: Vec<String> = text.lines().map(String::from).collect();
        let mut sections = vec![Vec::new()];
        let mut block = "";
        for (index, line) in lines.iter().enumerate() {
            let steps: &mut Vec<Step> = sections.last_mut().expect("one at least");
            match (block, line.strip_prefix("```"), steps.last_mut()) {
                ("", Some(name), _) => block = name,
                (_, Some(""), _) => block = "",
                ("", None, _) if line.starts_with("## ") => sections.push(Vec::new()),
                ("console", _, last) => match (line.strip_prefix("$ "), last) {
                    (Some(command), _) => steps.push(Step::Run(Shown {
                        line: index + 1,
                        command: command.into(),
                        output: index + 1..index + 1,
                    })),
                    (None, Some(Step::Run(shown))) => shown.output.end = index + 1,
                    _ => panic!("{}:{}: no command", path.display(), index + 1),
                },
                ("files", _, last) => match (line.strip_prefix("-- "), last) {
                    (Some(path), _) => steps.push(Step::Write {
                        path: path.trim_end_matches(" --").into(),
                        text: String::new(),
                    }),
                    (None, Some(Step::Write { text, .. })) => text.push_str(&format!("{line}\n")),
                    _ => panic!("{}:{}: no path", path.display(), index + 1),
                },
                _ => {}
            }
        }
        Document {
            path: path.into(),
            lines,
            sections,
        }
    }

    /// The commands in order.
    pub fn commands(&self) -> impl Iterator<Item = &Shown> {
        self.sections
            .iter()
            .flatten()
            .filter_map(|step| match step {
                Step::Run(shown) => Some(shown),
                Step::Write { .. } => None,
            })
    }

    /// The output shown below a command.
    pub fn output(&self, shown: &Shown) -> String {
        let lines = &self.lines[shown.output.clone()];
        lines.iter().map(|line| self.included(line)).collect()
    }

    /// A line with its end, or the file that it names.
    fn included(&self, line: &str) -> String {
        match beside(line) {
            Some(name) => fs::read_to_string(self.path.with_file_name(name)).unwrap_or_default(),
            None => format!("{line}\n"),
        }
    }

    /// Compare what a command printed with what is shown. A line of dots is any lines.
    pub fn check(
        &self,
        shown: &Shown,
        printed: &str,
        same: impl Fn(&str) -> String,
    ) -> Result<(), String> {
        let place = format!("{}:{}: {}", self.path.display(), shown.line, shown.command);
        let (printed, expected) = (same(printed), same(&self.output(shown)));
        let compare = |printed: String, expected: String| {
            let compared = Assert::new().normalize_paths(false);
            let result = compared.try_eq(Some(&place), printed.into(), expected.into());
            result.map_err(|e| e.to_string())
        };
        compare(printed.clone(), expected.clone())?;
        // Dots are lines of one stream, and hide neither the other one nor the status.
        compare(marks(&printed), marks(&expected))
    }

    /// Do all that a case says; the outputs that differ, each with its replacement.
    fn play(&self) -> Vec<(&Shown, String, String)> {
        let has_files = |step: &Step| matches!(step, Step::Write { .. });
        let in_repository = !self.sections.iter().flatten().any(has_files);
        let (shared, own) = match &self.sections[..] {
            [only] => (&[][..], std::slice::from_ref(only)),
            [shared, own @ ..] => (&shared[..], own),
            [] => return Vec::new(),
        };
        let mut wrong = Vec::new();
        for section in own {
            let tree = Tree::new::<&str>(&[]);
            let at = match in_repository {
                true => repository(),
                false => tree.path().to_owned(),
            };
            for step in shared.iter().chain(section) {
                match step {
                    Step::Write { path, text } => {
                        let text = text.replace("[DIR]", &at.display().to_string());
                        tree.write(path, text.as_bytes());
                    }
                    Step::Run(shown) => {
                        let printed = printed(&at, &shown.command, Readers::Developers);
                        if let Err(e) = self.check(shown, &printed, str::to_owned) {
                            wrong.push((shown, printed, e));
                        }
                    }
                }
            }
        }
        wrong
    }

    /// The document with what was printed, and files beside it likewise.
    fn overwrite(mut self, wrong: Vec<(Range<usize>, String)>) {
        for (output, printed) in wrong.into_iter().rev() {
            let mut text = printed;
            if let Some(name) = self.lines[output.clone()]
                .first()
                .and_then(|line| beside(line))
            {
                let end = MARKS
                    .iter()
                    .filter_map(|mark| text.find(&format!("\n{mark}")).map(|at| at + 1))
                    .min();
                let rest = text.split_off(end.unwrap_or(text.len()));
                fs::write(self.path.with_file_name(name), text).unwrap();
                text = format!("(see {name})\n{rest}");
            }
            self.lines.splice(output, text.lines().map(String::from));
        }
        fs::write(&self.path, self.lines.join("\n") + "\n").unwrap();
    }
}

/// The starts of lines about a command that are not of its standard output.
const MARKS: [&str; 4] = ["[stderr]", "[writes ", "[removes ", "[exit "];

/// The lines of an output that start so.
fn marks(text: &str) -> String {
    let is_mark = |line: &&str| MARKS.iter().any(|mark| line.starts_with(mark));
    let lines = text.lines().filter(is_mark);
    lines.map(|line| format!("{line}\n")).collect()
}

/// The file that a line of an output names.
fn beside(line: &str) -> Option<&str> {
    line.strip_prefix("(see ")?.strip_suffix(')')
}

/// The output of a command in a directory, as documents show it.
pub fn printed(at: &Path, command: &str, readers: Readers) -> String {
    let command = command.replace("cargo run -p mapstack-cli -- ", "mapstack ");
    let command = command.replace("[DIR]", &at.display().to_string());
    if readers == Readers::Users {
        let ran = shell(at, &command);
        return ran.stdout + &ran.stderr;
    }
    let follows = at != repository() && command.contains("mapstack ") && !command.contains('>');
    let before = follows.then(|| texts(at));
    let Ran {
        status,
        stdout,
        stderr,
    } = shell(at, &command);
    let changes = before
        .map(|before| changes(&before, &texts(at)))
        .unwrap_or_default();
    let ended = |text: String| match text.is_empty() || text.ends_with('\n') {
        true => text,
        false => text + "\n",
    };
    let errors = match &*stderr {
        "" => String::new(),
        said => format!("[stderr]\n{}", ended(said.to_owned())),
    };
    let exit = match status {
        Some(0) => String::new(),
        status => format!("[exit {}]\n", status.unwrap_or(-1)),
    };
    let text = ended(stdout) + &errors + &changes + &exit;
    text.replace(&at.display().to_string(), "[DIR]")
}

/// The files of a directory by path.
fn texts(at: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![at.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !path.ends_with(".git") => folders.push(path),
                Ok(kind) if kind.is_file() => {
                    let text = fs::read(&path).unwrap_or_default();
                    found.insert(path.strip_prefix(at).expect("below").to_owned(), text);
                }
                _ => {}
            }
        }
    }
    found
}

/// The lines about files that are others now.
fn changes(before: &BTreeMap<PathBuf, Vec<u8>>, after: &BTreeMap<PathBuf, Vec<u8>>) -> String {
    let listed = |verb: &str, paths: Vec<String>| match &paths[..] {
        [] => String::new(),
        paths => format!("[{verb} {}]\n", paths.join(", ")),
    };
    let name = |path: &PathBuf| path.display().to_string();
    let written = after
        .iter()
        .filter(|(path, text)| before.get(*path) != Some(text));
    let written = written.map(|(path, _)| name(path)).collect();
    let removed = before.keys().filter(|path| !after.contains_key(*path));
    listed("writes", written) + &listed("removes", removed.map(name).collect())
}

/// Run the cases of a folder.
pub fn run_cases(folder: &str) {
    let folder = repository().join("mapstack-cli/tests/cases").join(folder);
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} has no case", folder.display());
    let overwrites = std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite");
    let mut all = String::new();
    for path in paths {
        let document = Document::read(&path);
        let wrong = document.play();
        if overwrites && !wrong.is_empty() {
            let new = wrong
                .into_iter()
                .map(|(shown, printed, _)| (shown.output.clone(), printed));
            let new = new.collect();
            document.overwrite(new);
            continue;
        }
        wrong.iter().for_each(|(_, _, e)| all.push_str(e));
    }
    assert!(all.is_empty(), "{all}");
}
