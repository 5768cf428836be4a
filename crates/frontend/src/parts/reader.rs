//! Reads the file of a part.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use crate::outputs::MinionResult;
use mapstack::share::Outcome;
use mapstack::{Diagnostic, Error};
use mapstack_fleet::{Report, Shard};
use sha2::{Digest, Sha256};

use crate::parts::PartError;
use crate::parts::line::{End, FORMAT, Header, MessageNumbers, PartLine, Record};

/// The longest line: what one minion shows.
const MAX_LINE: u64 = 256 << 20;

/// A part's file, from which minions are read one by one.
pub(crate) struct PartFile {
    pub path: PathBuf,
    pub header: Header,
    pub shard: Shard,
    lines: BufReader<File>,
    digest: Sha256,
    messages: Vec<Diagnostic>,
    /// The position that the next minion has at least.
    at_least: usize,
    minions: usize,
}

/// A minion of a part.
pub(crate) struct Minion {
    pub at: usize,
    pub id: String,
    /// Nothing if the minion is not selected.
    pub done: Option<MinionResult>,
}

/// The next line, or the end.
pub(crate) enum LineOrEnd {
    Minion(Minion),
    End(End),
}

impl PartFile {
    /// Open a file, and read which part it is.
    pub fn open(path: PathBuf) -> Result<Self, PartError> {
        match File::open(&path) {
            Ok(file) => PartFile::of(path, file),
            Err(error) => Err(PartError::Io { path, error }),
        }
    }

    /// Go back to the first minion.
    pub fn rewind(self) -> Result<Self, PartError> {
        let (path, mut file) = (self.path, self.lines.into_inner());
        match file.rewind() {
            Ok(()) => PartFile::of(path, file),
            Err(error) => Err(PartError::Io { path, error }),
        }
    }

    fn of(path: PathBuf, file: File) -> Result<Self, PartError> {
        let mut lines = BufReader::with_capacity(1 << 16, file);
        let first = line(&mut lines, &path)?;
        let header: Header = match serde_json::from_slice(&first) {
            Ok(PartLine::Part(header)) if header.format == FORMAT => header,
            _ => return Err(PartError::NotAPart(path)),
        };
        let Some(shard) = Shard::new(header.number, header.parts) else {
            return Err(PartError::NotAPart(path));
        };
        let mut digest = Sha256::new();
        digest.update(&first);
        Ok(PartFile {
            path,
            header,
            shard,
            lines,
            digest,
            messages: Vec::new(),
            at_least: 0,
            minions: 0,
        })
    }

    pub fn damaged(&self, why: impl Into<String>) -> PartError {
        PartError::Damaged {
            path: self.path.clone(),
            why: why.into(),
        }
    }

    /// The next minion, or the end, behind which the digest is that of the file.
    pub fn next(&mut self) -> Result<LineOrEnd, PartError> {
        loop {
            let text = line(&mut self.lines, &self.path)?;
            if text.last() != Some(&b'\n') {
                return Err(self.damaged("it ends too early"));
            }
            self.digest.update(&text);
            let line: PartLine =
                serde_json::from_slice(&text).map_err(|e| self.damaged(e.to_string()))?;
            match line {
                PartLine::Part(_) => return Err(self.damaged("it begins a second time")),
                PartLine::Message(message) => self.messages.push(message.diagnostic()),
                PartLine::Minion(record) => return Ok(LineOrEnd::Minion(self.minion(record)?)),
                PartLine::End(end) => {
                    self.check_end(&end)?;
                    return Ok(LineOrEnd::End(end));
                }
            }
        }
    }

    fn check_end(&mut self, end: &End) -> Result<(), PartError> {
        let expected = hex::encode(std::mem::take(&mut self.digest).finalize()) + "\n";
        let last = line(&mut self.lines, &self.path)?;
        let rest = line(&mut self.lines, &self.path)?;
        let form = &self.header.run.form;
        let is_formula = |formula: usize| formula < form.formulas.len();
        let mut lacking = end.keys.iter().filter_map(|(_, lacking)| lacking.as_ref());
        if last != expected.as_bytes() || !rest.is_empty() {
            return Err(self.damaged("its digest is another"));
        }
        let is_right = end.minions == self.minions
            && end.keys.len() == form.keys.len()
            && lacking.all(|lacking| is_formula(lacking.formula));
        match is_right {
            true => Ok(()),
            false => Err(self.damaged("its end does not belong to it")),
        }
    }

    fn minion(&mut self, record: Record) -> Result<Minion, PartError> {
        let Record {
            at,
            id,
            shown,
            said,
        } = record;
        if at < self.at_least || at >= self.header.run.minions {
            return Err(self.damaged(format!("it has a minion at position {at}")));
        }
        if !self.shard.has(&id) {
            return Err(self.damaged("it has a minion of another part"));
        }
        (self.at_least, self.minions) = (at + 1, self.minions + 1);
        let form = &self.header.run.form;
        let tasks = form.formulas.len().saturating_mul(form.keys.len());
        let report = said.map(|said| self.report(&id, said)).transpose()?;
        let done = match shown {
            None => None,
            Some(kept) => {
                let shown = kept.shown(tasks).map_err(|why| self.damaged(why))?;
                Some(MinionResult { shown, report })
            }
        };
        Ok(Minion { at, id, done })
    }

    /// A minion's report, as its part recorded it; results are the printed texts.
    fn report(&self, id: &str, said: MessageNumbers) -> Result<Report, PartError> {
        let message = |number: usize| {
            let found = self.messages.get(number).cloned();
            found.ok_or_else(|| self.damaged(format!("message {number} is missing")))
        };
        let outcome = |(error, warnings): (Option<usize>, Vec<usize>)| {
            let error = error.map(&message).transpose()?;
            let warnings: Vec<_> = warnings
                .into_iter()
                .map(&message)
                .collect::<Result<_, _>>()?;
            let result =
                error.map_or_else(|| Ok(Default::default()), |error| Err(Error::of(error)));
            Ok(Outcome::new(result, warnings.into()).into())
        };
        Ok(Report {
            id: id.into(),
            outcomes: match said {
                MessageNumbers::Failed(number) => Err(Error::of(message(number)?)),
                MessageNumbers::Formulas(all) => Ok(all
                    .into_iter()
                    .map(outcome)
                    .collect::<Result<_, PartError>>()?),
            },
        })
    }
}

/// The next line with its end; empty at the end of the file.
fn line(lines: &mut BufReader<File>, path: &Path) -> Result<Vec<u8>, PartError> {
    let mut line = Vec::new();
    let read = lines.take(MAX_LINE).read_until(b'\n', &mut line);
    let read = read.and_then(|length| match u64::try_from(length) {
        Ok(length) if length < MAX_LINE => Ok(line),
        _ => Err(io::Error::other("a line is too long")),
    });
    read.map_err(|error| PartError::Io {
        path: path.to_owned(),
        error,
    })
}
