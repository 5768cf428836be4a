//! The lines of a minion's managed files, with where they come from.

use std::path::Path;
use std::sync::Arc;

use mapstack::minion::Minion;
use mapstack::value::{Key, Value};
use mapstack::{Error, ErrorKind};
use mapstack_files::{Content, ManagedFile, ManagedFiles};
use mapstack_lineage::{FileLines, Lineage, StatesExplainer, ValuePosition, explain_pillar};
use mapstack_states::compile::low_data;
use mapstack_states::{Gatherer, HighData, Places};

use crate::inputs::flags::Input;
use crate::inputs::functions::MemoryOf;
use crate::inputs::highstate::unknown_file;
use crate::inputs::session::Session;
use crate::inputs::state_facts::{Refused, top_options, wanted};
use crate::inputs::{InputError, WarningSink};

/// A minion and the lines of its files that are requested.
pub struct ExplainedFile {
    /// The minion with its pillar.
    pub minion: Minion,
    /// The files, each with the numbers of the lines that are requested; all lines without one.
    pub files: Vec<(FileLines, Vec<u64>)>,
    /// Files whose lines are not known, with the reason.
    pub unknown: Vec<(String, Content)>,
    /// The faults for which Salt refuses the states of the minion; then no file is known.
    pub refused: Refused,
}

/// The file that is requested, and the line.
struct FileLine {
    name: String,
    line: Option<u64>,
    /// The template whose line is explained, if it is not that of the file itself.
    template: Option<String>,
}

impl FileLine {
    fn of(given: &str, session: &Session) -> Self {
        let (name, line) = split(given);
        let on_disk = Path::new(name);
        let is_url = name.starts_with("salt://");
        let template = match is_url || !on_disk.is_absolute() && on_disk.is_file() {
            true if is_url => Some(name.to_owned()),
            true => Some(format!("salt://{}", session.served_path(on_disk))),
            false => None,
        };
        FileLine {
            name: template.clone().unwrap_or_else(|| name.to_owned()),
            line,
            template,
        }
    }
}

/// A file and the number of a line after it.
fn split(given: &str) -> (&str, Option<u64>) {
    let parts = given.rsplit_once(':');
    let found = parts.and_then(|(name, line)| Some((name, line.parse().ok()?)));
    match found {
        Some((name, line)) if !name.is_empty() => (name, Some(line)),
        _ => (given, None),
    }
}

impl ExplainedFile {
    /// The name by which a file is requested in place of a formula.
    pub const NAME: &str = "file";

    /// True if a text in place of a formula names a file: an absolute path, a URL, or a file and a line.
    ///
    /// ```
    /// use mapstack_frontend::inputs::ExplainedFile;
    /// assert!(ExplainedFile::is_named("/etc/motd") && ExplainedFile::is_named("salt://motd:3"));
    /// assert!(ExplainedFile::is_named("formulas/users/files/motd:3") && !ExplainedFile::is_named("users"));
    /// ```
    #[must_use]
    pub fn is_named(text: &str) -> bool {
        let is_drive = text
            .get(1..3)
            .is_some_and(|rest| matches!(rest, ":\\" | ":/"));
        text.starts_with('/') || text.starts_with("salt://") || is_drive || split(text).1.is_some()
    }

    /// The lines of the files of the minion of flags: of those that the states of top files manage, or those of some sls.
    ///
    /// # Errors
    /// Flags name no minion or more than one, something cannot be read, Salt refuses the states, or none of them manages
    /// the file or has the line.
    pub fn of(
        input: &Input,
        sls: &[String],
        asked: &str,
        memory: MemoryOf,
        warn: &dyn WarningSink,
    ) -> Result<Self, InputError> {
        let session = Session::new(input, warn, memory)?;
        let options = top_options(session.config.as_ref(), &input.files);
        let gatherer = Gatherer::new(&session.engine, options.clone());
        let high = gatherer.high(&session.minion, wanted(sls, &options));
        let high = high.with_usable_top()?;
        let asked = FileLine::of(asked, &session);
        let mut made = ExplainedFile {
            minion: session.minion.clone(),
            files: Vec::new(),
            unknown: Vec::new(),
            refused: Vec::new(),
        };
        let low = match low(&session, &high) {
            Ok(low) => low,
            Err(refused) => return Ok(ExplainedFile { refused, ..made }),
        };
        let minion = high.minion_of_files(&session.minion);
        let files = ManagedFiles::new(&session.engine, minion, &low);
        let all = files.all();
        let meant = all.iter().filter(|file| file.is_named(&asked.name));
        let meant: Vec<&ManagedFile> = meant.collect();
        if meant.is_empty() {
            return Err(InputError::Usage(unknown_file(&asked.name, &names(&all))));
        }
        let settled = high.settled(&session.minion)?;
        let (engine, minion) = (&session.engine, &session.minion);
        // Sls are followed once for all files.
        let mut explainer = StatesExplainer::new(engine, minion, &high, settled);
        let pillar = session.explained_pillar()?;
        let policy = session.engine.policy();
        let pillar = pillar.and_then(|pillar| explain_pillar(&pillar, &session.minion, policy));
        let pillar = pillar.map(Arc::new);
        for file in meant {
            match explainer.file(&files, file) {
                Ok(lines) => made.add(with_pillar(lines, pillar.as_ref()), &asked),
                Err(content) => made.unknown.push((file.path.clone(), content)),
            }
        }
        made.check(&asked)?;
        Ok(made)
    }

    fn add(&mut self, lines: FileLines, asked: &FileLine) {
        let numbers = match (&asked.template, asked.line) {
            (_, None) => Vec::new(),
            (None, Some(line)) => vec![line],
            (Some(url), Some(line)) => of_template(&lines, url, line),
        };
        let data = lines.explained.data.as_map();
        let known = data.and_then(|data| data.get(&*lines.path)?.as_map());
        let has = |number: &u64| {
            let number = i64::try_from(*number).unwrap_or(i64::MAX);
            known.is_some_and(|known| known.contains_key(&Key::from(number)))
        };
        let numbers: Vec<u64> = numbers.into_iter().filter(has).collect();
        self.files.push((lines, numbers));
    }

    /// An error if no file has the line.
    fn check(&self, asked: &FileLine) -> Result<(), Error> {
        let Some(line) = asked.line else {
            return Ok(());
        };
        let is_missing = self.files.iter().all(|(_, lines)| lines.is_empty());
        if !is_missing || self.files.is_empty() {
            return Ok(());
        }
        let name = &asked.name;
        let error = Error::new(
            ErrorKind::Lookup,
            match asked.template {
                Some(_) => {
                    format!("no line of a file of the minion begins on line {line} of {name}")
                }
                None => format!("{name} has no line {line}"),
            },
        );
        Err(error.help("`mapstack explain file` with the path alone shows all lines"))
    }
}

/// The low data of a minion, or the faults for which Salt refuses its states.
fn low(session: &Session, high: &HighData) -> Result<Vec<Value>, Refused> {
    let low = high.low(&session.minion).map_err(|e| vec![e])?;
    let refused = |refusals: Vec<_>| Places::new(&session.engine, &high.sls).errors(&refusals);
    low_data(low.map_err(refused)?).map_err(|e| vec![e])
}

/// The names by which files can be asked for.
pub(super) fn names(all: &[ManagedFile]) -> Vec<String> {
    let of = |file: &ManagedFile| {
        let url = file.source.as_ref().and_then(|source| source.url.clone());
        let own = [file.path.clone(), file.state.id.clone()];
        own.into_iter().chain(url).collect::<Vec<_>>()
    };
    all.iter().flat_map(of).collect()
}

/// The lines that begin on a line of a template.
fn of_template(lines: &FileLines, url: &str, line: u64) -> Vec<u64> {
    let path = url.trim_start_matches("salt://");
    let path = path.split('?').next().unwrap_or_default();
    let mut found = Vec::new();
    let lineage = &lines.explained.lineage;
    lineage.visit(&mut |steps, known| {
        let [_, Key::Int(number), text] = steps else {
            return;
        };
        let ValuePosition::File { place, .. } = &known.spot else {
            return;
        };
        let is_it = text.as_str() == Some("text")
            && place.file.ends_with(path)
            && place.line() as u64 == line;
        found.extend(
            number
                .to_i64()
                .and_then(|number| u64::try_from(number).ok())
                .filter(|_| is_it),
        );
    });
    found
}

/// The lines with the origins of values of the pillar.
fn with_pillar(mut lines: FileLines, pillar: Option<&Arc<Lineage>>) -> FileLines {
    if let Some(pillar) = pillar {
        lines.explained.lineage = lines.explained.lineage.with_pillar(pillar.clone());
    }
    lines
}
