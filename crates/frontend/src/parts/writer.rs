//! Writes the file of a part.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::outputs::{Output, Replacement, of_file};
use mapstack_fleet::{Report, Shard};
use mapstack_report::fleet::ShownMinion;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::parts::line::{End, FORMAT, Header, KeptResult, MessageNumbers, PartLine, Record, Run};

/// Writes the minions of a part to the file `K-of-N.part`, which appears once it is complete.
pub struct PartWriter<'e> {
    file: PathBuf,
    out: BufWriter<Replacement>,
    digest: Sha256,
    /// The positions of the remaining minions, the next one last.
    positions: Vec<usize>,
    minions: usize,
    /// The number of each message, by its digest.
    messages: HashMap<[u8; 32], usize>,
    /// True if any of the minions is selected.
    selects_any: bool,
    end: Box<dyn FnOnce(bool) -> End + 'e>,
}

impl<'e> PartWriter<'e> {
    /// Begin the file of a part in a directory. `ids` has all minions of the fleet. `end` makes the last line
    /// once all minions are done; its argument is true if any of them is selected.
    ///
    /// # Errors
    /// The directory cannot be made, or the file cannot be written.
    pub fn new(
        directory: &Path,
        shard: Shard,
        run: Run,
        ids: &[String],
        end: impl FnOnce(bool) -> End + 'e,
    ) -> io::Result<Self> {
        std::fs::create_dir_all(directory)?;
        let (number, parts) = (shard.number(), shard.parts());
        let file = directory.join(format!("{number}-of-{parts}.part"));
        let all = ids.iter().enumerate().rev();
        let positions = all.filter(|(_, id)| shard.has(id)).map(|(at, _)| at);
        let mut writer = PartWriter {
            out: BufWriter::with_capacity(1 << 16, Replacement::new(&file)?),
            file,
            digest: Sha256::new(),
            positions: positions.collect(),
            minions: 0,
            messages: HashMap::new(),
            selects_any: false,
            end: Box::new(end),
        };
        writer.line(&PartLine::Part(Header {
            format: FORMAT.into(),
            number,
            parts,
            run,
        }))?;
        Ok(writer)
    }

    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.digest.update(&text);
        let written = self.out.write_all(&text);
        written.map_err(|e| of_file(&self.file, &e))
    }

    fn record(
        &mut self,
        id: &str,
        shown: Option<KeptResult>,
        said: Option<MessageNumbers>,
    ) -> io::Result<()> {
        let at = self.positions.pop().ok_or_else(|| {
            io::Error::other(format!("{id} is not among the minions of the part"))
        })?;
        self.minions += 1;
        self.line(&PartLine::Minion(Record {
            at,
            id: id.into(),
            shown,
            said,
        }))
    }

    /// The numbers of the messages of a report; new messages are written first.
    fn message_numbers(&mut self, report: &Report) -> io::Result<MessageNumbers> {
        let known = &mut self.messages;
        let mut fresh = Vec::new();
        let mut failed = None;
        let said = MessageNumbers::of(report, |message| {
            let line = PartLine::Message(message);
            let digest = match serde_json::to_vec(&line) {
                Ok(text) => Sha256::digest(text).into(),
                Err(e) => {
                    failed = Some(e);
                    return 0;
                }
            };
            let next = known.len();
            *known.entry(digest).or_insert_with(|| {
                fresh.push(line);
                next
            })
        });
        if let Some(e) = failed {
            return Err(e.into());
        }
        for line in fresh {
            self.line(&line)?;
        }
        Ok(said)
    }
}

impl Output for PartWriter<'_> {
    fn put(&mut self, id: &str, shown: ShownMinion, report: Option<&Report>) -> io::Result<()> {
        let said = report
            .map(|report| self.message_numbers(report))
            .transpose()?;
        self.selects_any = true;
        self.record(id, Some(KeptResult::of(shown)), said)
    }

    fn leave_out(&mut self, id: &str) -> io::Result<()> {
        self.record(id, None, None)
    }

    fn kept(&self, _: usize) -> Option<usize> {
        Some(0)
    }

    /// Complete the file. An incomplete part leaves no file, and an older file stays unchanged.
    fn finish(mut self: Box<Self>, are_all: bool) -> io::Result<()> {
        if !are_all || !self.positions.is_empty() {
            return Ok(());
        }
        let end = std::mem::replace(&mut self.end, Box::new(|_| End::default()));
        let end = End {
            minions: self.minions,
            ..end(self.selects_any)
        };
        self.line(&PartLine::End(end))?;
        let digest = hex::encode(self.digest.finalize());
        let end = |mut out: BufWriter<Replacement>| {
            out.write_all(format!("{digest}\n").as_bytes())?;
            out.into_inner()
                .map_err(io::IntoInnerError::into_error)?
                .finish()
        };
        end(self.out).map_err(|e| of_file(&self.file, &e))
    }
}
