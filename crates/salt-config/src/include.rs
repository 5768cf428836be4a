//! The files that a configuration includes.

use crate::disk::glob_named;
use mapstack_value::posixpath::join;
use mapstack_value::{Key, Value};

use super::file::{self, Refused};
use super::kind::Surroundings;
use super::layer::OptionLayer;
use super::paths;
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Means, Place, Result};

/// The most files that one configuration is made of; a pair of patterns that include each other's
/// files doubles them with every level.
const MAX_FILES: usize = 10_000;

/// Reads what files include, and keeps what is worth a warning.
pub(super) struct Includer<'s> {
    pub home: Option<&'s str>,
    pub files: Vec<String>,
    pub warnings: Vec<Diagnostic>,
    chain: Vec<String>,
    within: Option<&'s str>,
}

impl<'s> Includer<'s> {
    pub fn new(surroundings: &'s Surroundings) -> Self {
        Includer {
            home: surroundings.home.as_deref(),
            within: surroundings.within.as_deref(),
            files: Vec::new(),
            warnings: Vec::new(),
            chain: Vec::new(),
        }
    }

    /// The files of `include`, a pattern or a list of them, relative to the directory of the file
    /// that says so (Salt: `include_config`). With `verbose`, a pattern without files is worth a
    /// warning.
    ///
    /// # Errors
    /// A file that cannot be read, a pattern that is not text, or files that include themselves.
    pub fn include(
        &mut self,
        include: &Value,
        from: &str,
        verbose: bool,
        place: Option<&Place>,
    ) -> Result<OptionLayer> {
        let one;
        let patterns = match include {
            nothing if !nothing.truthy() => return Ok(OptionLayer::default()),
            Value::List(patterns) => &**patterns,
            text @ Value::Str(_) => {
                one = [text.clone()];
                &one[..]
            }
            other => return Err(no_pattern(other, place)),
        };
        let mut layer = OptionLayer::default();
        for pattern in patterns {
            let Some(text) = pattern.as_str() else {
                return Err(no_pattern(pattern, place));
            };
            let path = join(
                &paths::directory(from),
                &paths::expand_home(text, self.home),
            );
            let found = glob_named(&path)
                .map_err(|e| Error::new(ErrorKind::File, e.to_string()).at(place.cloned()))?;
            if found.is_empty() && verbose {
                let message = format!("`include` names {path}, which does not exist");
                let mut warning = Diagnostic::warning(ErrorKind::File, message);
                warning.place = place.cloned();
                self.warnings
                    .push(warning.with_help(
                        "paths start from the directory of the file that includes them",
                    ));
            }
            let (mut inside, mut is_outside) = (Vec::new(), false);
            for path in found {
                match self.may_read(&path)? {
                    true => inside.push(path),
                    false => is_outside = true,
                }
            }
            if is_outside {
                let message = format!("`include` names {path}, which is outside of the checkout");
                let mut warning = Diagnostic::warning(ErrorKind::File, message);
                warning.place = place.cloned();
                self.warnings.push(warning.with_help(format!(
                    "it is not read; {} reads a configuration from anywhere",
                    Means::Config
                )));
            }
            for path in inside {
                layer.merge(self.file(&path, verbose)?);
            }
        }
        Ok(layer)
    }

    /// True if a file may be read, links followed.
    fn may_read(&self, path: &str) -> Result<bool> {
        let Some(within) = self.within else {
            return Ok(true);
        };
        match std::fs::canonicalize(path) {
            Ok(real) => Ok(real.starts_with(within)),
            Err(e) => {
                let message = format!("cannot read {path}: {e}");
                Err(Error::new(ErrorKind::File, message))
            }
        }
    }

    /// An included file, and what it includes itself, whose options replace its own.
    fn file(&mut self, path: &str, verbose: bool) -> Result<OptionLayer> {
        if self.chain.iter().any(|above| above == path) {
            let error = Error::new(ErrorKind::Limit, format!("{path} includes itself"));
            let error = error
                .help("name the files to include, or a pattern that leaves out the file itself");
            return Err(self
                .chain
                .iter()
                .rev()
                .fold(error, |e, above| e.note(format!("included from {above}"))));
        }
        if self.files.len() >= MAX_FILES {
            let message = format!("the configuration is made of more than {MAX_FILES} files");
            return Err(
                Error::new(ErrorKind::Limit, message).help("do its files include each other?")
            );
        }
        self.files.push(path.into());
        let mut layer = match file::read(path) {
            Ok(file) => OptionLayer::from(file),
            Err(Refused::Fatal(e)) => return Err(e),
            Err(Refused::Content(e)) => {
                self.warnings.push(left_out(path, &e));
                OptionLayer::default()
            }
        };
        if let Some(include) = layer.options.get("include").cloned() {
            let place = layer
                .settings(&Key::from("include"))
                .first()
                .map(super::file::OptionPlace::place);
            self.chain.push(path.into());
            let included = self.include(&include, path, verbose, place.as_ref());
            self.chain.pop();
            layer.update(included?);
        }
        Ok(layer)
    }
}

fn no_pattern(value: &Value, place: Option<&Place>) -> Error {
    let message = format!(
        "`include` must be paths or patterns, not {}",
        value.kind().described()
    );
    Error::new(ErrorKind::Options, message).at(place.cloned())
}

/// The reference only logs it.
fn left_out(path: &str, e: &Error) -> Diagnostic {
    let refused = e.diagnostic();
    let mut warning = Diagnostic::warning(refused.kind, refused.message.clone());
    warning.place = refused.place.clone();
    warning.notes.push(format!(
        "{path} is left out, as Salt leaves it out: nothing it sets is in force"
    ));
    warning.help = refused.help.clone();
    warning
}
