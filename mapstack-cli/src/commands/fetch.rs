//! `mapstack fetch`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use mapstack::loader::git::{Progress, RemoteSource, fetch};
use mapstack::{Error, ErrorKind, SpentResource};
use mapstack_frontend::budget::RUN;
use mapstack_frontend::inputs::Project;
use mapstack_frontend::inputs::flags::{ConfigKind, LimitFlags};
use mapstack_salt_config::fileserver;

use crate::output;
use mapstack_frontend::console::{Failure, Reporter, Stage, shown_while};

#[cfg(feature = "fetch")]
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack fetch
      the formulas that .mapstack.yaml of this checkout names
  mapstack fetch --config /etc/salt/master
  mapstack fetch https://github.com/saltstack-formulas/users-formula.git")]
pub struct Fetch {
    /// Repositories to fetch, as https:// or ssh:// URLs, or user@host:path
    #[arg(value_name = "URL")]
    pub urls: Vec<String>,
    /// A master's or a minion's configuration, whose gitfs_remotes are fetched
    #[arg(long, value_name = "FILE|DIR", value_hint = ValueHint::AnyPath)]
    pub config: Option<PathBuf>,
    /// Whose configuration it is, if the file's name does not say
    #[arg(long, value_enum, value_name = "KIND", requires = "config")]
    pub config_kind: Option<ConfigKind>,
    /// The directory with the mirrors; without it, mapstack/git in the user's cache
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub mirrors: Option<PathBuf>,
    /// Time limit for each repository; 0 for none
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 300,
        help_heading = "Limits"
    )]
    pub max_time: u32,
    /// Memory limit, that of git included; 0 for none
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = 1024,
        help_heading = "Limits"
    )]
    pub max_memory: u32,
}

impl Fetch {
    /// The limits of the run.
    pub fn limits(&self) -> LimitFlags {
        LimitFlags {
            max_time: Some(self.max_time),
            max_memory: Some(self.max_memory),
        }
    }
}

pub fn run(args: &Fetch, reporter: &Reporter) -> Result<(), Failure> {
    let mirrors = mapstack_frontend::inputs::configuration::mirrors(args.mirrors.as_deref())?;
    let mut origins: Vec<RemoteSource> = args.urls.iter().map(RemoteSource::new).collect();
    if let Some(file) = &args.config {
        let config = mapstack_frontend::inputs::configuration::read_file(
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
    if args.urls.is_empty() && args.config.is_none() {
        origins.extend(of_project(&mirrors)?);
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

/// The formulas of the current checkout.
fn of_project(mirrors: &Path) -> Result<Vec<RemoteSource>, Failure> {
    let project = Project::find()?.filter(|project| !project.formulas.is_empty());
    let estate = project.as_ref().and_then(|project| project.estate.as_ref());
    let Some(estate) = estate else {
        return Err(Failure::Usage(
            "nothing to fetch: give URLs, or --config with gitfs_remotes, or name `formulas` in .mapstack.yaml".into(),
        ));
    };
    let (remotes, _) = fileserver::origins(estate.config.options(), mirrors)?;
    Ok(remotes)
}

/// The limit that is exceeded, with advice.
fn spent() -> Option<String> {
    let spent = RUN.spent()?;
    let what = match spent {
        SpentResource::Time(most) => format!("it takes more than {} s", most.as_secs()),
        SpentResource::Memory(_) => spent.to_string(),
    };
    Some(format!("{what}; {}", spent.help()))
}

/// Fetch one repository; the line about its result.
fn one(origin: &RemoteSource, mirrors: &Path) -> Result<String, String> {
    if let Some(path) = origin.local() {
        return Ok(format!("{}: read in place", path.display()));
    }
    let progress = Progress::default();
    let now = || {
        let stage = progress.now()?;
        Some(Stage {
            name: stage.name,
            done: stage.done,
            total: stage.total,
        })
    };
    RUN.renew();
    let work = || fetch(origin, mirrors, &progress, &spent);
    let result = shown_while(now, work);
    let updated = result.map_err(|e| e.to_string())?;
    Ok(format!("{}: {updated}", origin.shown()))
}
