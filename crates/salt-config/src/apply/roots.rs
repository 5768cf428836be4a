//! The directories of the file server and of pillars.

use mapstack_diagnostic::{Error, ErrorKind, Result};
use mapstack_value::{Map, Value};

use super::Applying;
use crate::roots;

impl Applying<'_> {
    /// Make `file_roots` or `pillar_roots` a mapping of saltenvs to lists of directories, with
    /// patterns replaced by their directories.
    pub(super) fn roots(&mut self, option: &str, default: &str) -> Result<()> {
        let read = roots::read(option, self.get(option), default)?;
        for slip in read.slips {
            let place = match &slip.saltenv {
                Some(saltenv) => self.place_of_entry(option, saltenv),
                None => self.place(option),
            };
            self.warn_at(place, slip.message, &slip.help);
        }
        let mut all = Map::with_capacity(read.saltenvs.len());
        for (saltenv, directories) in read.saltenvs {
            if saltenv.as_str().is_none() {
                let message = format!(
                    "a saltenv in `{option}` must be text, not {}",
                    saltenv.to_value().kind().described()
                );
                let place = self.place_of_entry(option, &saltenv);
                let error = Error::new(ErrorKind::Options, message).at(place);
                return Err(error.help(format!("put quotes around it: '{saltenv}'")));
            }
            all.insert(saltenv, Value::from_iter(directories));
        }
        self.insert(option, all);
        Ok(())
    }
}
