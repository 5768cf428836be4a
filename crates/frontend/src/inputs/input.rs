//! The input of a verb, made from its flags.

use mapstack_salt_config::Config;

use crate::inputs::flags::Input;
use crate::inputs::{InputError, WarningSink, configuration, pillars};

impl Input {
    /// The configuration that flags name, for the minion that they name.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn config(&self, warn: &dyn WarningSink) -> Result<Option<Config>, InputError> {
        let config = configuration::read(&self.files, self.facts.id.as_deref(), None, warn)?;
        pillars::warn_of_order(config.as_ref(), self.engine_flags(), warn)?;
        Ok(config)
    }
}
