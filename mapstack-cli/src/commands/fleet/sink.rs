//! Where minions are written.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mapstack::{Error, ErrorKind};
use mapstack_fleet::Tally;
use mapstack_report::fleet::{Form, Format, Shown, cell_text};

use crate::output;
use crate::report::Failure;

/// Where minions are written.
pub struct Sink<'f> {
    form: &'f Form,
    to: To,
    format: Format,
    tallies: Vec<Tally>,
    is_empty: bool,
}

enum To {
    Output {
        out: BufWriter<io::StdoutLock<'static>>,
        flushed: Instant,
    },
    Directory(PathBuf),
}

/// Whoever waits for the output waits no longer than this.
const FLUSH_EVERY: Duration = Duration::from_millis(200);

impl<'f> Sink<'f> {
    pub fn new(form: &'f Form, format: Format, directory: Option<&Path>) -> Result<Self, Failure> {
        let to = match directory {
            Some(directory) => {
                fs::create_dir_all(directory).map_err(|e| {
                    Error::new(
                        ErrorKind::File,
                        format!("cannot make the directory {}: {e}", directory.display()),
                    )
                })?;
                To::Directory(directory.to_owned())
            }
            None => {
                let out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
                To::Output {
                    out,
                    flushed: Instant::now(),
                }
            }
        };
        let mut sink = Sink {
            form,
            to,
            format,
            tallies: form.tallies(),
            is_empty: true,
        };
        sink.write(&form.head())?;
        Ok(sink)
    }

    /// Write one minion.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn put(&mut self, id: &str, shown: Shown) -> io::Result<()> {
        match shown {
            Shown::Values(values) => {
                for (task, value) in values {
                    if let Some(tally) = self.tallies.get_mut(task) {
                        tally.add(id, value.as_ref());
                    }
                }
                Ok(())
            }
            Shown::Text(text) => match &self.to {
                To::Directory(directory) => put_file(directory, id, self.format, &text),
                To::Output { .. } if text.is_empty() => Ok(()),
                To::Output { .. } => {
                    let is_first = std::mem::take(&mut self.is_empty);
                    self.write(self.form.between(is_first))?;
                    self.write(&text)
                }
            },
        }
    }

    /// Write what stands behind the last minion.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        let end = self.form.tail(&self.tallies, self.is_empty);
        self.write(&end)?;
        match &mut self.to {
            To::Output { out, .. } => out.flush(),
            To::Directory(_) => Ok(()),
        }
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        let To::Output { out, flushed } = &mut self.to else {
            return Ok(());
        };
        out.write_all(text.as_bytes())?;
        if flushed.elapsed() > FLUSH_EVERY {
            out.flush()?;
            *flushed = Instant::now();
        }
        Ok(())
    }
}

/// Write the file of a minion: whole, or as it was before. One that has no result has no file.
fn put_file(directory: &Path, id: &str, format: Format, text: &str) -> io::Result<()> {
    let end = if format == Format::Json {
        "json"
    } else {
        "yaml"
    };
    if id.is_empty() || id.starts_with('.') || id.contains(['/', '\\', '\0']) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("'{}' can be no name of a file", cell_text(id)),
        ));
    }
    let file = directory.join(format!("{id}.{end}"));
    if text.is_empty() {
        return match fs::remove_file(&file) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        };
    }
    output::put_file(&file, text)
        .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", file.display())))
}
