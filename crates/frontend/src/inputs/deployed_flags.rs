//! The flag for the folders of deployed paths.

use std::path::Path;

use mapstack::loader::Deployed;

use crate::inputs::InputError;

/// The folders of `--deployed`.
///
/// # Errors
/// A flag is not of the form PATH=DIR, or names a path that cannot be deployed to.
pub(crate) fn of_flags(flags: &[String]) -> Result<Deployed, InputError> {
    let usage = |flag: &String, why: String| {
        InputError::Usage(format!(
            "--deployed {flag}: {why}; write PATH=DIR, as in --deployed /srv/pillar=pillar"
        ))
    };
    flags.iter().try_fold(Deployed::new(), |deployed, flag| {
        let Some((at, directory)) = flag.split_once('=') else {
            return Err(usage(flag, "there is no '='".into()));
        };
        if !Path::new(directory).is_dir() {
            return Err(usage(flag, format!("{directory} is not a directory")));
        }
        let more = deployed.folder(at, directory);
        more.map_err(|e| usage(flag, e.to_string()))
    })
}
