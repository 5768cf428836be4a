//! Minions as they are done: to a stream, or a file for each.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::file::{of_file, replace};
use mapstack_fleet::Tally;
use mapstack_report::fleet::{FleetForm, Format, ShownMinion, cell_text};

/// Writes the minions of a fleet, in order.
///
/// ```
/// use mapstack_frontend::outputs::Sink;
/// use mapstack_report::fleet::{FleetForm, Format, ShownMinion, FleetParts};
/// let form = FleetForm::new(Format::Json, FleetParts::Data, false, vec!["users".into()]);
/// let mut out = Vec::new();
/// let mut sink = Sink::stream(&form, &mut out)?;
/// sink.put("web1", ShownMinion::Text("\"web1\": {}".into()))?;
/// sink.finish()?;
/// assert_eq!(out, b"{\n\"web1\": {}\n}\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Sink<'f> {
    form: &'f FleetForm,
    to: SinkDestination<'f>,
    tallies: Vec<Tally>,
    is_empty: bool,
    /// The beginning of a table, while no result has any of its keys: a table of blanks is not worth printing.
    held: Option<String>,
}

enum SinkDestination<'f> {
    Stream {
        out: BufWriter<Box<dyn Write + 'f>>,
        flushed: Instant,
    },
    Directory {
        directory: PathBuf,
        extension: &'static str,
    },
}

/// The maximum time that output waits in the buffer.
const FLUSH_EVERY: Duration = Duration::from_millis(200);
/// The maximum length of a beginning that is held back.
const MAX_HELD: usize = 1 << 16;

impl<'f> Sink<'f> {
    /// Write to a stream, which has all output within a moment.
    ///
    /// # Errors
    /// The head of a table cannot be written.
    pub fn stream(form: &'f FleetForm, out: impl Write + 'f) -> io::Result<Self> {
        let out: Box<dyn Write + 'f> = Box::new(out);
        let mut sink = Sink::new(
            form,
            SinkDestination::Stream {
                out: BufWriter::with_capacity(1 << 16, out),
                flushed: Instant::now(),
            },
        );
        sink.write(&form.head())?;
        Ok(sink)
    }

    /// Write a file for each minion into a directory.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn directory(form: &'f FleetForm, format: Format, directory: &Path) -> io::Result<Self> {
        fs::create_dir_all(directory)?;
        let extension = if format == Format::Json {
            "json"
        } else {
            "yaml"
        };
        let directory = directory.to_owned();
        Ok(Sink::new(
            form,
            SinkDestination::Directory {
                directory,
                extension,
            },
        ))
    }

    fn new(form: &'f FleetForm, to: SinkDestination<'f>) -> Self {
        Sink {
            form,
            to,
            tallies: form.tallies(),
            is_empty: true,
            held: Some(String::new()),
        }
    }

    /// True if each minion gets a file, which is whole before the next one.
    pub(crate) fn is_directory(&self) -> bool {
        matches!(self.to, SinkDestination::Directory { .. })
    }

    /// Write one minion.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn put(&mut self, id: &str, shown: ShownMinion) -> io::Result<()> {
        match shown {
            ShownMinion::Values(values) => {
                for (task, value) in values {
                    if let Some(tally) = self.tallies.get_mut(task) {
                        tally.add(id, value.as_ref());
                    }
                }
                Ok(())
            }
            ShownMinion::Text(text) => match &self.to {
                SinkDestination::Directory {
                    directory,
                    extension,
                } => put_file(directory, id, extension, &text),
                SinkDestination::Stream { .. } if text.is_empty() => Ok(()),
                SinkDestination::Stream { .. } => {
                    let is_first = std::mem::take(&mut self.is_empty);
                    self.write(self.form.between(is_first))?;
                    self.write(&text)
                }
            },
        }
    }

    /// Write the end, after the last minion.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        let end = self.form.tail(&self.tallies, self.is_empty);
        self.write(&end)?;
        if !self.form.is_blank() {
            self.release()?;
        }
        match &mut self.to {
            SinkDestination::Stream { out, .. } => out.flush(),
            SinkDestination::Directory { .. } => Ok(()),
        }
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        let Some(held) = &mut self.held else {
            return self.write_through(text);
        };
        held.push_str(text);
        // Neither the head nor failing minions show the keys.
        let is_undecided = self.is_empty || !self.form.has_any_key();
        match self.form.is_table() && is_undecided && held.len() < MAX_HELD {
            true => Ok(()),
            false => self.release(),
        }
    }

    /// Write what was held back.
    fn release(&mut self) -> io::Result<()> {
        match self.held.take() {
            Some(held) => self.write_through(&held),
            None => Ok(()),
        }
    }

    fn write_through(&mut self, text: &str) -> io::Result<()> {
        let SinkDestination::Stream { out, flushed } = &mut self.to else {
            return Ok(());
        };
        out.write_all(self.form.printed(text).as_bytes())?;
        if flushed.elapsed() > FLUSH_EVERY {
            out.flush()?;
            *flushed = Instant::now();
        }
        Ok(())
    }
}

/// Write the file of a minion: whole, or as it was before. One that has no result has no file.
fn put_file(directory: &Path, id: &str, extension: &str, text: &str) -> io::Result<()> {
    if id.is_empty() || id.starts_with('.') || id.contains(['/', '\\', '\0']) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("'{}' cannot be the name of a file", cell_text(id)),
        ));
    }
    let file = directory.join(format!("{id}.{extension}"));
    if text.is_empty() {
        return match fs::remove_file(&file) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        };
    }
    replace(&file, text).map_err(|e| of_file(&file, &e))
}
