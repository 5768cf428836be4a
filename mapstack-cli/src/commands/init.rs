//! `mapstack init`.

use clap::Args;
use mapstack::{Error, ErrorKind};
use mapstack_frontend::inputs::{PROJECT_FILE, Project, WarningSink as _};

use crate::output;
use mapstack_frontend::console::{Failure, Reporter};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack init
      write .mapstack.yaml at the top of the checkout: roots, deployed paths, minions
  mapstack init --print
      the same on standard output

Exit status: 0 done, 1 there is a file already, or nothing was found to write about.")]
pub struct Init {
    /// Print the file and write nothing
    #[arg(long)]
    pub print: bool,
}

pub fn run(args: &Init, reporter: &Reporter) -> Result<(), Failure> {
    let Some(project) = Project::find()? else {
        let message =
            "nothing here is a formula, and no folder has the states or the pillar of an estate";
        let error = Error::new(ErrorKind::File, message);
        return Err(Failure::Data(error.note(
            "an estate has a top.sls, or sls in a folder such as salt/ or states/; a formula has a map.jinja or parameters/",
        )));
    };
    let text = project.proposal();
    if args.print {
        return output::write(&text);
    }
    let file = project.directory.join(PROJECT_FILE);
    let shown = file.display();
    if file.symlink_metadata().is_ok() {
        let error = Error::new(ErrorKind::File, format!("{shown} exists"));
        return Err(Failure::Data(
            error.help("`mapstack init --print` prints what would be in a new one"),
        ));
    }
    mapstack_frontend::outputs::replace(&file, &text)
        .map_err(|e| Error::new(ErrorKind::File, format!("cannot write {shown}: {e}")))?;
    if let Some(estate) = &project.estate {
        estate
            .found
            .iter()
            .for_each(|found| reporter.note_of(found));
        estate.notes.iter().for_each(|note| reporter.note_of(note));
    }
    reporter.say(&format!(
        "{shown} written; `mapstack lint` checks the files that it names"
    ));
    Ok(())
}
