//! `cargo xtask origins`: checks that each place that `mapstack explain` names has the value.
//!
//! It knows only the output of `explain -o json` and the files: scalars are read by `token`.

mod token;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use clap::Parser;
use serde_json::Value;
use xshell::{Shell, cmd};

use crate::{Result, project_root, target_directory};
use token::{TokenAt, is_computing, is_templated, offset, stands};

#[derive(Parser)]
pub struct Args {
    /// A folder of checkouts of formulas, one below each name; else the project's examples
    formulas: Option<PathBuf>,
    /// Look only at the checkouts of these names (repeatable)
    #[arg(long, value_name = "NAME")]
    formula: Vec<String>,
    /// Built-in platforms to explain for
    #[arg(long, value_delimiter = ',', default_values_t = PLATFORMS.map(String::from))]
    platforms: Vec<String>,
    /// Minions to explain for, too: YAML files with id, grains, pillar and opts (repeatable)
    #[arg(long, value_name = "FILE")]
    minion: Vec<PathBuf>,
    /// Explain the layers of formulas that have parameter files, or the maps of formulas that have a map.jinja
    #[arg(long, value_enum, default_value_t = OnlyKind::Data)]
    only: OnlyKind,
    /// The command to run; else it is built
    #[arg(long, value_name = "PATH")]
    mapstack: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum OnlyKind {
    Data,
    Map,
}

impl OnlyKind {
    /// True if a formula has the file in its folder.
    fn marks(self, formula: &Path) -> bool {
        match self {
            OnlyKind::Data => formula.join("parameters").is_dir(),
            OnlyKind::Map => formula.join("map.jinja").is_file(),
        }
    }

    /// The value of `--of`.
    fn of(self) -> &'static str {
        match self {
            OnlyKind::Data => "data",
            OnlyKind::Map => "map",
        }
    }
}

const PLATFORMS: [&str; 8] = [
    "debian-12",
    "ubuntu-22.04",
    "rockylinux-9",
    "fedora-40",
    "opensuse-leap-15.6",
    "arch",
    "freebsd-14",
    "windows-2022",
];

pub fn run(sh: &Shell, args: &Args) -> Result {
    let mapstack = match &args.mapstack {
        Some(path) => std::path::absolute(path)?,
        None => {
            cmd!(sh, "cargo build --quiet --package mapstack-cli").run()?;
            target_directory(sh)?.join("debug/mapstack")
        }
    };
    let mut minions = minions(args)?;
    let subjects = match &args.formulas {
        Some(directory) => checkouts(directory, &args.formula, args.only)?,
        None => {
            minions.extend(["web1", "db1", "bsd1"].map(example_minion));
            vec![example(args.only)]
        }
    };
    let (mut tally, mut files, mut explained, mut refused) =
        (Tally::default(), Files::default(), 0, Vec::new());
    for subject in &subjects {
        for minion in &minions {
            let name = format!("{} on {}", subject.formula, minion.join(" "));
            match explain(sh, &mapstack, subject, args.only, minion)? {
                Ok(explanation) => {
                    explained += 1;
                    tally.add(&explanation, &mut files, &name);
                }
                Err(said) => refused.push(format!("{name}: {said}")),
            }
        }
    }
    println!(
        "{} formulas, {explained} runs explained, {} refused",
        subjects.len(),
        refused.len()
    );
    refused
        .iter()
        .for_each(|line| println!("  refused: {line}"));
    tally
        .problems
        .iter()
        .for_each(|problem| println!("  {problem}"));
    print!("{tally}");
    match tally.problems.len() {
        _ if explained == 0 => Err("nothing could be explained".into()),
        0 => Ok(()),
        count => Err(format!("{count} places are wrong; each has a line above").into()),
    }
}

/// The arguments that name each minion.
fn minions(args: &Args) -> Result<Vec<Vec<String>>> {
    let platforms = args.platforms.iter();
    let mut minions: Vec<Vec<String>> = platforms
        .map(|name| vec!["--platform".into(), name.clone()])
        .collect();
    for file in &args.minion {
        let file = std::path::absolute(file)?;
        minions.push(vec!["--minion".into(), file.display().to_string()]);
    }
    Ok(minions)
}

fn example_minion(name: &str) -> Vec<String> {
    let file = project_root().join(format!("examples/minions/{name}.yaml"));
    vec!["--minion".into(), file.display().to_string()]
}

fn example(only: OnlyKind) -> Subject {
    let examples = project_root().join("examples");
    Subject {
        formula: match only {
            OnlyKind::Data => "users".into(),
            OnlyKind::Map => "timesync".into(),
        },
        roots: vec![examples.join("site"), examples.join("formulas")],
    }
}

/// The output of `mapstack explain`, or its message if it refuses.
fn explain(
    sh: &Shell,
    mapstack: &Path,
    subject: &Subject,
    only: OnlyKind,
    minion: &[String],
) -> Result<std::result::Result<Value, String>> {
    let roots = subject.roots.iter();
    let roots: Vec<PathBuf> = roots
        .flat_map(|root| ["--root".into(), root.clone()])
        .collect();
    let (formula, of) = (&subject.formula, only.of());
    let printed = cmd!(
        sh,
        "{mapstack} explain {formula} --of {of} -o json --show-secrets {roots...} {minion...}"
    )
    .quiet()
    .ignore_status()
    .output()?;
    if printed.status.success() {
        return Ok(Ok(serde_json::from_slice(&printed.stdout)?));
    }
    let said = String::from_utf8_lossy(&printed.stderr);
    let mut lines = said.lines();
    let error = lines.find(|line| line.starts_with("error"));
    Ok(Err(error.unwrap_or_default().to_owned()))
}

/// A formula, and the roots it is explained from.
struct Subject {
    formula: String,
    roots: Vec<PathBuf>,
}

/// The formulas of checkouts that have what is explained.
fn checkouts(directory: &Path, names: &[String], only: OnlyKind) -> Result<Vec<Subject>> {
    let entries = |directory: &Path| -> Result<Vec<PathBuf>> {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(directory)?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_>>()?;
        entries.sort();
        Ok(entries)
    };
    let name = |path: &Path| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let mut subjects = Vec::new();
    for root in entries(&std::path::absolute(directory)?)? {
        if !root.is_dir() || !(names.is_empty() || names.contains(&name(&root))) {
            continue;
        }
        for formula in entries(&root)?.iter().filter(|path| only.marks(path)) {
            subjects.push(Subject {
                formula: name(formula),
                roots: vec![root.clone()],
            });
        }
    }
    if subjects.is_empty() {
        return Err(format!(
            "{} holds no checkout of a formula that has what is explained",
            directory.display()
        )
        .into());
    }
    Ok(subjects)
}

/// Texts by name, as they are needed.
#[derive(Default)]
struct Files(HashMap<String, Option<String>>);

impl Files {
    fn text(&mut self, file: &str) -> Option<&str> {
        let read = || {
            std::fs::read_to_string(file)
                .ok()
                .map(|text| text.trim_start_matches('\u{feff}').to_owned())
        };
        self.0
            .entry(file.to_owned())
            .or_insert_with(read)
            .as_deref()
    }
}

/// A share: how many of how many.
#[derive(Default)]
struct Share {
    found: usize,
    all: usize,
}

impl Share {
    fn add(&mut self, found: bool) -> bool {
        self.all += 1;
        self.found += usize::from(found);
        found
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Never rounded up to all.
        let thousandths = self
            .found
            .saturating_mul(100_000)
            .checked_div(self.all)
            .unwrap_or(100_000);
        write!(
            f,
            "{} of {} ({}.{:03} %)",
            self.found,
            self.all,
            thousandths / 1000,
            thousandths % 1000
        )
    }
}

/// The results at the places.
#[derive(Default)]
struct Tally {
    /// Scalars out of files without template marks.
    plain: Share,
    /// Keys there.
    plain_keys: Share,
    /// Literal scalars out of templated files.
    literal: Share,
    literal_keys: Share,
    /// The number of those that are texts which an expression continues.
    beginnings: usize,
    /// Computed values, which point at an expression or a statement.
    computed: Share,
    /// Earlier values, of any of these.
    past: Share,
    /// Facts with a line.
    facts: Share,
    /// Facts whose origin is only a file, a platform or a flag.
    facts_without_line: usize,
    facts_unknown: usize,
    arguments: usize,
    /// Values whose origin is said to be not known.
    unknown: usize,
    problems: Vec<String>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "plain files: {} values, {} keys",
            self.plain, self.plain_keys
        )?;
        writeln!(
            f,
            "templated files, literal: {} values, {} keys ({} begin literally and are computed on)",
            self.literal, self.literal_keys, self.beginnings
        )?;
        writeln!(
            f,
            "templated files, computed: {} at an expression or statement",
            self.computed
        )?;
        writeln!(f, "overridden values: {}", self.past)?;
        writeln!(
            f,
            "facts: {} with a line, {} by file, platform or flag, {} from unknown places",
            self.facts, self.facts_without_line, self.facts_unknown
        )?;
        writeln!(
            f,
            "arguments and defaults of the function: {}",
            self.arguments
        )?;
        writeln!(f, "not known: {}", self.unknown)
    }
}

/// The thing that is checked: a value, its key, or a former value.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Value,
    Key,
    Past,
}

impl Role {
    fn described(self) -> &'static str {
        match self {
            Role::Value => "value",
            Role::Key => "key",
            Role::Past => "earlier value",
        }
    }
}

fn place_of(origin: &Value) -> Option<(&str, u64, u64)> {
    let number = |key: &str| origin[key].as_u64();
    Some((origin["file"].as_str()?, number("line")?, number("column")?))
}

impl Tally {
    /// Look at everything that one run is explained with.
    fn add(&mut self, explained: &Value, files: &mut Files, name: &str) {
        for row in explained["values"].as_array().into_iter().flatten() {
            let path = row["path"].as_array().map_or(&[][..], Vec::as_slice);
            let shown = || format!("{name}: {}", Value::from(path.to_vec()));
            self.look(&row["value"], &row["origin"], Role::Value, files, &shown);
            if let (Some(key), Some(origin)) = (path.last(), row.get("key_origin")) {
                self.look(key, origin, Role::Key, files, &shown);
            }
            for past in row["past"].as_array().into_iter().flatten() {
                self.look(&past["value"], &past["origin"], Role::Past, files, &shown);
            }
        }
    }

    /// Count a value by the kind of its origin.
    fn count(&mut self, origin: &Value, is_fact: bool) {
        let has = |key: &str| origin.get(key).is_some();
        self.arguments += usize::from(has("argument"));
        self.unknown += usize::from(has("unknown"));
        let reported = ["file", "platform", "flag", "id", "built_in"]
            .into_iter()
            .any(has);
        self.facts_without_line += usize::from(is_fact && reported && !has("line"));
        self.facts_unknown += usize::from(is_fact && !reported);
    }

    fn look(
        &mut self,
        value: &Value,
        origin: &Value,
        role: Role,
        files: &mut Files,
        shown: &dyn Fn() -> String,
    ) {
        // Containers have a place as a whole; their parts have other places.
        let is_full = value.as_array().is_some_and(|items| !items.is_empty())
            || value.as_object().is_some_and(|map| !map.is_empty());
        if is_full {
            return;
        }
        let is_fact = origin.get("facts").is_some();
        if role == Role::Value {
            self.count(origin, is_fact);
        }
        let Some((file, line, column)) = place_of(origin) else {
            return;
        };
        let Some(text) = files.text(file) else {
            self.problems
                .push(format!("{}: {file} does not exist", shown()));
            return;
        };
        let (templated, at) = (is_templated(text) && !is_fact, offset(text, line, column));
        let rest = at.and_then(|at| text.get(at..)).unwrap_or_default();
        let found = at.map_or(TokenAt::Other, |at| stands(text, at, value));
        let computed = origin["computed"].as_bool() == Some(true);
        let right = match computed {
            // A computed value is not there as a literal, too.
            true => at.is_some_and(|at| is_computing(text, at)) && found != TokenAt::All,
            false => found == TokenAt::All || (templated && found == TokenAt::Beginning),
        };
        if !right {
            let there: String = rest.chars().take(40).collect();
            let what = role.described();
            let kind = if computed {
                "is not computed"
            } else {
                "is not"
            };
            self.problems.push(format!(
                "{}: the {what} {value} {kind} at {file}:{line}:{column}: {there:?}",
                shown()
            ));
        }
        self.beginnings += usize::from(!computed && found == TokenAt::Beginning);
        let share = match role {
            Role::Past => &mut self.past,
            _ if is_fact => &mut self.facts,
            _ if computed => &mut self.computed,
            Role::Value if templated => &mut self.literal,
            Role::Key if templated => &mut self.literal_keys,
            Role::Value => &mut self.plain,
            Role::Key => &mut self.plain_keys,
        };
        share.add(right);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tally(origin: &Value, value: &Value, text: &str) -> Tally {
        let (mut tally, mut files) = (Tally::default(), Files::default());
        files.0.insert("f".into(), Some(text.into()));
        tally.add(
            &json!({"values": [{"path": ["a"], "value": value, "origin": origin}]}),
            &mut files,
            "x",
        );
        tally
    }

    #[test]
    fn what_is_not_there_is_a_problem() {
        let at = |column: u64, computed: bool| json!({"file": "f", "line": 1, "column": column, "computed": computed});
        for (origin, value, text, problems) in [
            (at(4, false), json!(1), "a: 1", 0),
            (at(4, false), json!(2), "a: 1", 1),
            (at(4, false), json!("x1"), "a: x{{ b }}", 0),
            (at(4, true), json!(2), "a: {{ 1 + 1 }}", 0),
            (at(4, true), json!(2), "a: 2", 1),
            (
                json!({"file": "absent", "line": 1, "column": 1}),
                json!(2),
                "",
                1,
            ),
            (json!({"argument": true}), json!(2), "", 0),
        ] {
            assert_eq!(
                tally(&origin, &value, text).problems.len(),
                problems,
                "{origin} {value} {text}"
            );
        }
        let share = Share {
            found: 99_999,
            all: 100_000,
        };
        assert_eq!(share.to_string(), "99999 of 100000 (99.999 %)");
        assert_eq!(
            Share {
                found: 999_999,
                all: 1_000_000
            }
            .to_string(),
            "999999 of 1000000 (99.999 %)"
        );
    }
}
