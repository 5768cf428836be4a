//! `mapstack fetch`.

use std::io::{self, IsTerminal, Write as _};
use std::path::Path;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clap::{Args, ValueHint};
use mapstack::loader::git::{FetchStage, Origin, Progress, Updated, fetch};
use mapstack::{Error, ErrorKind};
use mapstack_inputs::flags::ConfigKind;
use mapstack_salt_config::fileserver;

use crate::output;
use mapstack_console::{Failure, Reporter};

#[cfg(feature = "fetch")]
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack fetch --config /etc/salt/master
  mapstack fetch https://github.com/saltstack-formulas/users-formula.git")]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true))]
pub struct Fetch {
    /// Repositories to fetch, as https:// or ssh:// URLs, or user@host:path
    #[arg(value_name = "URL", group = "what")]
    pub urls: Vec<String>,
    /// A master's or a minion's configuration, whose gitfs_remotes are fetched
    #[arg(long, value_name = "FILE|DIR", value_hint = ValueHint::AnyPath, group = "what")]
    pub config: Option<PathBuf>,
    /// Whose configuration it is, if the file's name does not say
    #[arg(long, value_enum, value_name = "KIND", requires = "config")]
    pub config_kind: Option<ConfigKind>,
    /// The directory with the mirrors; without it, mapstack/git in the user's cache
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub mirrors: Option<PathBuf>,
}

pub fn run(args: &Fetch, reporter: &Reporter) -> Result<(), Failure> {
    let mirrors = mapstack_inputs::configuration::mirrors(args.mirrors.as_deref())?;
    let mut origins: Vec<Origin> = args.urls.iter().map(Origin::new).collect();
    if let Some(file) = &args.config {
        let config = mapstack_inputs::configuration::read_file(
            file,
            args.config_kind,
            None,
            None,
            reporter,
        )?;
        let (remotes, warnings) = fileserver::origins(config.options(), &mirrors)?;
        reporter.warn(&reporter.redact_all(&warnings))?;
        origins.extend(remotes);
    }
    let mut failed = Vec::new();
    let mut seen = Vec::new();
    for origin in origins {
        let place = origin.repository(&mirrors);
        if seen.contains(&place) {
            continue;
        }
        seen.push(place);
        match one(&origin, &mirrors) {
            Ok(line) => output::write_listing(&format!("{line}\n"))?,
            Err(why) => failed.push(Error::new(ErrorKind::File, why)),
        }
    }
    reporter.errors(reporter.redact_all(&failed))
}

/// Fetch one repository; the line that says what came of it.
fn one(origin: &Origin, mirrors: &Path) -> Result<String, String> {
    if let Some(path) = origin.local() {
        return Ok(format!("{}: read in place", path.display()));
    }
    let progress = Progress::default();
    let done = AtomicBool::new(false);
    let result = thread::scope(|scope| {
        if io::stderr().is_terminal() {
            scope.spawn(|| show(&progress, &done));
        }
        // Whatever happens, the line ends with the fetch.
        let _done = Done(&done);
        fetch(origin, mirrors, &progress, &AtomicBool::new(false))
    });
    let updated = result.map_err(|e| e.to_string())?;
    Ok(format!("{}: {}", origin.shown(), summary(&updated)))
}

/// Says that the work is over when it goes.
struct Done<'d>(&'d AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn summary(updated: &Updated) -> String {
    if updated.is_nothing() {
        return "up to date".into();
    }
    let counts = [
        (updated.new.len(), "new"),
        (updated.changed.len(), "changed"),
        (updated.gone.len(), "gone"),
    ];
    let counts = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"));
    format!(
        "branches and tags: {}",
        counts.collect::<Vec<_>>().join(", ")
    )
}

const FRAME: Duration = Duration::from_millis(100);

/// Say how far it is, on one line that goes away.
fn show(progress: &Progress, done: &AtomicBool) {
    while !done.load(Ordering::Relaxed) {
        if let Some(FetchStage { name, done, total }) = progress.now() {
            // What a server says is not for the terminal to obey.
            let name: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
            let total = total
                .map(|total| format!(" of {total}"))
                .unwrap_or_default();
            let _ = write!(io::stderr(), "\r\x1b[K{name} {done}{total}");
        }
        thread::sleep(FRAME);
    }
    let _ = write!(io::stderr(), "\r\x1b[K");
}
