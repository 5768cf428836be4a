//! The whole that parts make.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::outputs::{Output, WrittenResults, write_minions};
use mapstack::Error;
use mapstack_fleet::Summary;
use mapstack_report::fleet::{FleetForm, MissingKey};

use crate::parts::PartError;
use crate::parts::line::{End, Run};
use crate::parts::reader::{LineOrEnd, Minion, PartFile};

/// All parts of a fleet: each is there once, whole, and computed from the same.
pub struct PartSet {
    /// The run.
    pub run: Run,
    /// The names of the minions' grains, if none of the minions is selected.
    pub grains: BTreeSet<String>,
    files: Vec<PartFile>,
    known: Vec<(bool, Option<MissingKey>)>,
}

/// The most missing parts that an error names.
const MAX_NAMED: usize = 20;

impl PartSet {
    /// The parts whose files are in a directory: those that end with `.part`, which a program of this `version` wrote. All
    /// of each is read.
    ///
    /// # Errors
    /// Parts are missing, damaged, there twice, of another version, or do not belong together.
    pub fn open(directory: &Path, version: &str) -> Result<Self, PartError> {
        let mut files: Vec<PartFile> = paths(directory)?
            .into_iter()
            .map(PartFile::open)
            .collect::<Result<_, _>>()?;
        files.sort_by_key(|file| file.header.number);
        let Some(first) = files.first() else {
            return Err(PartError::None(directory.to_owned()));
        };
        for other in &files {
            belong_together(first, other)?;
        }
        let run = first.header.run.clone();
        if run.version != version {
            return Err(PartError::Version {
                made_by: run.version,
                own: version.into(),
            });
        }
        all_are_there(&files)?;
        let mut known = FleetFacts::new(&run);
        let mut checked = Vec::with_capacity(files.len());
        for mut file in files {
            known.look_through(&mut file)?;
            checked.push(file.rewind()?);
        }
        if known.minions != run.minions {
            return Err(PartError::Missing(format!(
                "{} of {} minions are in the parts",
                known.minions, run.minions
            )));
        }
        Ok(PartSet {
            run,
            grains: std::mem::take(&mut known.grains),
            files: checked,
            known: known.keys(),
        })
    }

    /// The form in which one run would print the whole.
    #[must_use]
    pub fn form(&self) -> FleetForm {
        FleetForm::of(&self.run.form, self.known.clone())
    }

    /// Hand the minions of all parts to an output, in the order of the whole. `goes_on` is asked after each of them, and
    /// ends the work where it says no.
    ///
    /// # Errors
    /// A file changed after it was opened.
    pub fn write(
        self,
        form: &FleetForm,
        output: Box<dyn Output + '_>,
        goes_on: impl FnMut() -> bool,
    ) -> Result<WrittenResults, PartError> {
        let summary = Summary::new(self.run.minions, form.formulas());
        let minions = InOrder::new(self.files)?
            .map(|minion| minion.map(|Minion { id, done, .. }| (id, done)));
        write_minions(minions, summary, output, goes_on)
    }
}

/// The files of parts in a directory, by name.
fn paths(directory: &Path) -> Result<Vec<PathBuf>, PartError> {
    let io = |error| PartError::Io {
        path: directory.to_owned(),
        error,
    };
    let mut paths = Vec::new();
    for entry in directory.read_dir().map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "part")
        {
            paths.push(path);
        }
    }
    paths.sort_unstable();
    Ok(paths)
}

fn belong_together(first: &PartFile, other: &PartFile) -> Result<(), PartError> {
    let (one, two) = (&first.header, &other.header);
    let (run, other_run) = (&one.run, &two.run);
    let ids_differ = (run.minions, &run.ids) != (other_run.minions, &other_run.ids);
    let options_differ = (&run.options, &run.select, run.strict)
        != (&other_run.options, &other_run.select, other_run.strict);
    let checks = [
        (run.version != other_run.version, "versions of mapstack"),
        (one.parts != two.parts, "numbers of parts"),
        (ids_differ, "minions"),
        (
            run.form != other_run.form,
            "formulas, keys or forms of output",
        ),
        (options_differ, "options"),
    ];
    match checks.into_iter().find(|(differs, _)| *differs) {
        None => Ok(()),
        Some((_, what)) => Err(PartError::Differ {
            first: first.path.clone(),
            second: other.path.clone(),
            what,
        }),
    }
}

/// Each part is there once; the files are sorted.
fn all_are_there(files: &[PartFile]) -> Result<(), PartError> {
    for pair in files.windows(2) {
        if let [first, second] = pair
            && first.header.number == second.header.number
        {
            return Err(PartError::Twice {
                first: first.path.clone(),
                second: second.path.clone(),
                part: first.shard.to_string(),
            });
        }
    }
    let there: BTreeSet<u64> = files.iter().map(|file| file.header.number).collect();
    let parts = files.first().map_or(0, |file| file.header.parts);
    let missing = (1..=parts).filter(|number| !there.contains(number));
    let mut named: Vec<String> = missing
        .take(MAX_NAMED + 1)
        .map(|number| format!("{number}/{parts}"))
        .collect();
    if named.is_empty() {
        return Ok(());
    }
    if named.len() > MAX_NAMED {
        named.truncate(MAX_NAMED);
        named.push("…".into());
    }
    Err(PartError::Missing(named.join(", ")))
}

/// The facts that only all parts together show.
struct FleetFacts {
    minions: usize,
    /// Of each key, whether a result has it, and the first that lacks it, with its position.
    keys: Vec<(bool, Option<(usize, MissingKey)>)>,
    /// The answer that a part got to each question about the files, and the part.
    seen: HashMap<String, (String, Arc<Path>)>,
    grains: BTreeSet<String>,
}

impl FleetFacts {
    fn new(run: &Run) -> Self {
        FleetFacts {
            minions: 0,
            keys: run.form.keys.iter().map(|_| (false, None)).collect(),
            seen: HashMap::new(),
            grains: BTreeSet::new(),
        }
    }

    fn keys(self) -> Vec<(bool, Option<MissingKey>)> {
        let keys = self.keys.into_iter();
        keys.map(|(found, missing)| (found, missing.map(|(_, missing)| missing)))
            .collect()
    }

    fn look_through(&mut self, file: &mut PartFile) -> Result<(), PartError> {
        // Of the minions that lack a key, the first of the whole counts.
        let mut positions: HashMap<String, usize> = HashMap::new();
        loop {
            match file.next()? {
                LineOrEnd::Minion(minion) => {
                    self.minions += 1;
                    if !self.keys.is_empty() {
                        positions.entry(minion.id).or_insert(minion.at);
                    }
                }
                LineOrEnd::End(end) => return self.add(file, end, &positions),
            }
        }
    }

    fn add(
        &mut self,
        file: &PartFile,
        end: End,
        positions: &HashMap<String, usize>,
    ) -> Result<(), PartError> {
        self.grains.extend(end.grains);
        for (known, (found, lacking)) in self.keys.iter_mut().zip(end.keys) {
            known.0 |= found;
            let Some(lacking) = lacking else { continue };
            let at = positions.get(&lacking.minion).copied();
            let at = at.unwrap_or(usize::MAX);
            if known.1.as_ref().is_none_or(|(first, _)| at < *first) {
                let missing = MissingKey {
                    minion: lacking.minion,
                    formula: lacking.formula,
                    error: Error::of(lacking.error.diagnostic()),
                };
                known.1 = Some((at, missing));
            }
        }
        self.compare(file, end.seen)
    }

    /// Whatever two parts have seen is the same.
    fn compare(
        &mut self,
        file: &PartFile,
        seen: BTreeMap<String, String>,
    ) -> Result<(), PartError> {
        let path: Arc<Path> = file.path.as_path().into();
        for (question, answer) in seen {
            if answer == mapstack_fleet::CHANGED {
                return Err(PartError::Changed {
                    path: file.path.clone(),
                    question,
                });
            }
            match self.seen.get(&question) {
                Some((before, _)) if *before == answer => {}
                Some((_, first)) => {
                    return Err(PartError::Revisions {
                        first: first.to_path_buf(),
                        second: file.path.clone(),
                        question,
                    });
                }
                None => {
                    self.seen.insert(question, (answer, path.clone()));
                }
            }
        }
        Ok(())
    }
}

/// The minions of all parts, in the order of the whole.
struct InOrder {
    files: Vec<PartFile>,
    /// The next minion of each part that has one, by its position, with the index of the part.
    next: BTreeMap<usize, (usize, Minion)>,
    at: usize,
}

impl InOrder {
    fn new(files: Vec<PartFile>) -> Result<Self, PartError> {
        let mut all = InOrder {
            next: BTreeMap::new(),
            at: 0,
            files,
        };
        for index in 0..all.files.len() {
            all.read(index)?;
        }
        Ok(all)
    }

    /// Read the next minion of a part.
    fn read(&mut self, index: usize) -> Result<(), PartError> {
        let Some(file) = self.files.get_mut(index) else {
            return Ok(());
        };
        if let LineOrEnd::Minion(minion) = file.next()? {
            let at = minion.at;
            if self.next.insert(at, (index, minion)).is_some() {
                return Err(file.damaged(format!("another part has position {at} as well")));
            }
        }
        Ok(())
    }

    fn take(&mut self) -> Result<Option<Minion>, PartError> {
        let Some((at, (index, minion))) = self.next.pop_first() else {
            return Ok(None);
        };
        if at != self.at {
            return Err(PartError::Missing(format!(
                "position {} is not in any of them",
                self.at
            )));
        }
        self.at += 1;
        self.read(index)?;
        Ok(Some(minion))
    }
}

impl Iterator for InOrder {
    type Item = Result<Minion, PartError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.take().transpose()
    }
}
