//! `mapstack file`.

use clap::{Args, ValueEnum};
use mapstack_files::{Content, ManagedFile};
use mapstack_frontend::inputs::flags::SiteFlags;
use mapstack_frontend::inputs::{Highstate, HighstateJob, Refused, unknown_file};
use mapstack_report::files::{FileRow, FilesDocument, listing};
use mapstack_report::left_out::{self, LeftOutRow};

use crate::memory;
use crate::output;
use crate::wiring::advise;
use mapstack_frontend::console::{
    Failure, FilesOfStates, Reporter, has_parts, left_out, named_errors,
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack file --minion examples/minions/web1.yaml
      in a checkout: the files that a minion gets, with owner, group, mode and source, a line each
  mapstack file /etc/motd --minion examples/minions/web1.yaml
      the bytes of one of them, as its state would write it
  mapstack file users-sudoers --sls users -o json --root examples/formulas --minion examples/minions/web1.yaml
      everything known about the file of an ID, from the states of an sls")]
pub struct FileArgs {
    /// The file: its path on the minion, the ID of its state, or the salt:// URL of its source [default: list all]
    #[arg(value_name = "PATH|ID|URL")]
    pub name: Option<String>,
    /// The sls whose files to print [default: those that top files give]
    #[arg(long, value_name = "SLS", value_delimiter = ',')]
    pub sls: Vec<String>,
    /// Print a line for each file, not its bytes
    #[arg(long)]
    pub list: bool,
    /// If Salt refuses the states, take those of the sls that compile; with -o json below `files`, beside `left_out`
    #[arg(long)]
    pub keep_going: bool,
    #[command(flatten)]
    pub site: SiteFlags,
    /// Output format
    #[arg(short = 'o', long = "output", visible_alias = "format", value_enum, default_value_t = FileFormat::Text, value_name = "FORMAT", help_heading = "Output")]
    pub format: FileFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FileFormat {
    /// The bytes of a file, or a line for each file
    Text,
    /// Everything known about each file, as JSON
    Json,
}

pub fn run(args: &FileArgs, reporter: &Reporter) -> Result<(), Failure> {
    let job =
        HighstateJob::new(&args.site, memory::limit, reporter)?.keeping_going(args.keep_going);
    let (mut found, mut names, mut without) = (Vec::new(), Vec::new(), Vec::new());
    let (mut refused, mut parts) = (Vec::new(), false);
    for (id, states) in job.each(&args.sls, reporter) {
        let has_parts = !args.keep_going && has_parts(&states);
        let made = match states {
            Ok(states) => {
                without.append(&mut left_out(id, &states, &mut refused, reporter));
                made(args, id, &states, &mut names, reporter)?
            }
            Err(errors) => Err(errors),
        };
        match made {
            Ok(mut files) => {
                for file in &files {
                    if let Content::Failed(error) = &file.content {
                        let error = error.as_ref().clone().note(file.description());
                        refused.push((id, error));
                    }
                }
                found.append(&mut files);
            }
            Err(errors) => {
                parts |= has_parts;
                refused.extend(errors.into_iter().map(|error| (id, error)));
            }
        }
    }
    let is_known = !found.is_empty() || !refused.is_empty();
    if let (Some(name), false) = (&args.name, is_known) {
        return Err(Failure::Usage(unknown_file(name, &names)));
    }
    print(args, &found, without, job.chosen.many)?;
    advise(parts, reporter);
    let errors = named_errors(&refused, job.chosen.many);
    reporter.errors(reporter.redact_all(&errors))?;
    incomplete(args, &found, reporter)
}

/// A file with its content.
struct FileContent {
    row: FileRow,
    content: Content,
}

impl FileContent {
    /// The file and its state, for messages.
    fn description(&self) -> String {
        let row = &self.row;
        format!(
            "{} of '{}' manages {} ({})",
            row.function, row.id, row.path, row.place
        )
    }
}

/// The files of a minion that are requested. The names of all its files are added to others.
fn made(
    args: &FileArgs,
    id: &str,
    states: &Highstate<'_>,
    names: &mut Vec<String>,
    reporter: &Reporter,
) -> Result<Result<Vec<FileContent>, Refused>, Failure> {
    reporter.warn(&reporter.redact_all(&states.warnings()))?;
    let low = match states.low_of_run() {
        Ok(low) => low,
        Err(errors) => return Ok(Err(errors)),
    };
    let of_states = FilesOfStates {
        minion: id,
        files: states.managed(&low),
        places: states.places(),
    };
    let is_match = |file: &ManagedFile| args.name.as_ref().is_none_or(|name| file.is_named(name));
    let all = of_states.files.all();
    for file in &all {
        let url = file.source.as_ref().and_then(|source| source.url.clone());
        names.extend(
            [file.path.clone(), file.state.id.clone()]
                .into_iter()
                .chain(url),
        );
    }
    let mut made = Vec::new();
    for file in all.iter().filter(|file| is_match(file)) {
        let (row, content) = of_states.row(file, reporter);
        made.push(FileContent { row, content });
    }
    reporter.warn(&reporter.redact_all(&of_states.files.warnings()))?;
    Ok(Ok(made))
}

fn print(
    args: &FileArgs,
    found: &[FileContent],
    left_out: Vec<LeftOutRow>,
    many: bool,
) -> Result<(), Failure> {
    if args.format == FileFormat::Json {
        let files = found.iter().map(|one| &one.row).collect();
        return output::write_json(&match args.keep_going {
            true => FilesDocument::Partial { left_out, files },
            false => FilesDocument::All(files),
        });
    }
    if args.name.is_none() || args.list {
        let of_minions = left_out.chunk_by(|a, b| a.minion == b.minion);
        for rows in of_minions {
            let before = if many {
                format!("{}: ", rows[0].minion)
            } else {
                String::new()
            };
            output::write_listing(&format!("{before}{}", left_out::listing(rows)))?;
        }
        return output::write_listing(&lists(found, many));
    }
    if let [one] = found {
        return match &one.content {
            Content::Bytes(bytes) => output::write_bytes(bytes),
            _ => Ok(()),
        };
    }
    for one in found {
        let of = if many {
            format!("{}: ", one.row.minion)
        } else {
            String::new()
        };
        output::write_listing(&format!("==> {of}{} <==\n", one.description()))?;
        if let Content::Bytes(bytes) = &one.content {
            output::write_bytes(bytes)?;
            if !bytes.ends_with(b"\n") {
                output::write("\n")?;
            }
        }
    }
    Ok(())
}

/// The lists of files, one for each minion.
fn lists(found: &[FileContent], many: bool) -> String {
    let rows: Vec<&FileRow> = found.iter().map(|one| &one.row).collect();
    if !many {
        return listing(&rows);
    }
    let lists = rows.chunk_by(|a, b| a.minion == b.minion);
    lists
        .map(|rows| format!("{}: {}", rows[0].minion, listing(rows)))
        .collect()
}

/// Say which of the files that were requested are not known.
fn incomplete(args: &FileArgs, found: &[FileContent], reporter: &Reporter) -> Result<(), Failure> {
    if args.name.is_none() || args.list {
        return Ok(());
    }
    let mut unknown = Vec::new();
    for one in found {
        if let Content::Unknown(why) = &one.content {
            if let Some(error) = &why.error {
                let error = error.as_ref().clone().note(one.description());
                reporter.report(reporter.redact_all([&error]));
            } else {
                reporter.say(&format!("{}: {}", one.description(), why.why));
            }
            unknown.push(&one.row);
        }
        if let (Content::Nothing, false) = (&one.content, args.format == FileFormat::Json) {
            reporter.note(&format!(
                "{}, which has no content: {}",
                one.description(),
                one.row.kind
            ));
        }
    }
    match &unknown[..] {
        [] => Ok(()),
        [one] => Err(Failure::Incomplete {
            message: format!("the bytes of {} are not known", one.path),
            status: 2,
        }),
        several => Err(Failure::Incomplete {
            message: format!("the bytes of {} files are not known", several.len()),
            status: 2,
        }),
    }
}
