//! `mapstack highstate`.

use clap::{Args, ValueEnum};
use mapstack::Error;
use mapstack::value::{Map, Value};
use mapstack_frontend::inputs::flags::SiteFlags;
use mapstack_frontend::inputs::{Highstate as States, HighstateJob, Refused, RowsAndLow};
use mapstack_report::left_out::{self, document};
#[cfg(feature = "html")]
use mapstack_report::page::{StatesOf, StatesPage};
use mapstack_report::pillar::of_one_or_many;
use mapstack_report::states::{StateRow, graph, listing};

use crate::forms::Format;
use crate::memory;
use crate::output;
use crate::wiring::advise;
use mapstack_frontend::console::{
    Failure, FilesOfStates, Reporter, has_parts, left_out, named_errors,
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack highstate --minion examples/minions/web1.yaml
      in a checkout: the states that top files give a minion, in the order in which they run
  mapstack highstate users --root examples/formulas --minion examples/minions/web1.yaml
      those of an sls and of what it includes
  mapstack highstate users --low -o yaml --root examples/formulas --minion examples/minions/web1.yaml
      its low data, as state.show_low_sls prints it")]
pub struct Highstate {
    /// The sls [default: those that top files give]
    #[arg(value_name = "SLS", value_delimiter = ',')]
    pub sls: Vec<String>,
    /// Print the low data, with -o yaml or json: state.show_lowstate, or state.show_low_sls
    #[arg(long, conflicts_with = "top")]
    pub low: bool,
    /// Print the sls that top files give: state.show_top
    #[arg(long, conflicts_with = "sls")]
    pub top: bool,
    /// Print a graph of the states and their requisites, for Graphviz: mapstack highstate --graph | dot -Tsvg; -o html is a page
    #[arg(long, conflicts_with_all = ["low", "top"])]
    pub graph: bool,
    /// If Salt refuses the states, show those of the sls that compile; with -o yaml or json below `states`, beside `left_out`
    #[arg(long, conflicts_with = "top")]
    pub keep_going: bool,
    #[command(flatten)]
    pub site: SiteFlags,
    /// Output format
    #[arg(short = 'o', long = "output", visible_alias = "format", value_enum, default_value_t = HighstateFormat::Text, value_name = "FORMAT", help_heading = "Output")]
    pub format: HighstateFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HighstateFormat {
    /// A line for each state
    Text,
    /// The data that Salt has, as YAML
    Yaml,
    /// The same as JSON
    Json,
    /// The list as one page for a browser, with links between states that require each other
    #[cfg(feature = "html")]
    Html,
}

pub fn run(args: &Highstate, reporter: &Reporter) -> Result<(), Failure> {
    check_form(args)?;
    let job =
        HighstateJob::new(&args.site, memory::limit, reporter)?.keeping_going(args.keep_going);
    let many = job.chosen.many;
    let (mut all, mut lists) = (Map::new(), String::new());
    #[cfg(feature = "html")]
    let mut page = StatesPage::default();
    let (mut refused, mut parts) = (Vec::new(), false);
    for (id, states) in job.each(&args.sls, reporter) {
        let has_parts = !args.keep_going && has_parts(&states);
        let made = match states {
            Ok(states) => made(args, id, many, &states, &mut refused, reporter)?,
            Err(errors) => Err(errors),
        };
        match made {
            Ok(MinionOutput::List(list)) => lists.push_str(&list),
            #[cfg(feature = "html")]
            Ok(MinionOutput::Page(states)) => page.minions.push(states),
            Ok(MinionOutput::Data(data)) => drop(all.insert(id, data)),
            Err(errors) => {
                parts |= has_parts;
                if many {
                    all.insert(id, errors_of(&errors, reporter));
                }
                refused.extend(errors.into_iter().map(|error| (id, error)));
            }
        }
    }
    match args.format {
        HighstateFormat::Text if !args.top => output::write_listing(&lists)?,
        #[cfg(feature = "html")]
        HighstateFormat::Html if page.minions.is_empty() => {}
        #[cfg(feature = "html")]
        HighstateFormat::Html => output::write(&page.to_html()?)?,
        _ if all.is_empty() && !refused.is_empty() => {}
        format => {
            let format = if format == HighstateFormat::Json {
                Format::Json
            } else {
                Format::Yaml
            };
            output::write(&output::text(&of_one_or_many(all, many), format)?)?;
        }
    }
    advise(parts, reporter);
    let errors = named_errors(&refused, many);
    reporter.errors(reporter.redact_all(&errors))
}

/// Refuse flags that do not go together.
fn check_form(args: &Highstate) -> Result<(), Failure> {
    let is_data = matches!(args.format, HighstateFormat::Yaml | HighstateFormat::Json);
    let usage = |message: &str| Err(Failure::Usage(message.into()));
    match args.format {
        _ if args.low && !is_data => usage("--low prints data: add -o yaml or -o json"),
        _ if args.graph && is_data => usage("--graph has a form of its own: leave -o out"),
        #[cfg(feature = "html")]
        HighstateFormat::Html if args.top => usage("--top prints data: leave -o html out"),
        _ => Ok(()),
    }
}

/// The output for a minion.
enum MinionOutput {
    List(String),
    #[cfg(feature = "html")]
    Page(StatesOf),
    Data(Value),
}

/// The result for a minion. Warnings are reported, whether there is one or not, and the errors of the sls that are left out
/// are added to others.
fn made<'i>(
    args: &Highstate,
    id: &'i str,
    many: bool,
    states: &States<'_>,
    refused: &mut Vec<(&'i str, Error)>,
    reporter: &Reporter,
) -> Result<Result<MinionOutput, Refused>, Failure> {
    reporter.warn(&reporter.redact_all(&states.warnings()))?;
    let left_out = left_out(id, states, refused, reporter);
    let data = |data| match args.keep_going {
        true => MinionOutput::Data(document(&left_out, data)),
        false => MinionOutput::Data(data),
    };
    Ok(match args.format {
        // The sls of top files have one form.
        _ if args.top => Ok(MinionOutput::Data(states.top())),
        #[cfg(feature = "html")]
        HighstateFormat::Html => match states.rows_and_low() {
            Ok(made) => {
                let rows = rows_with_files(id, states, made, reporter)?;
                Ok(MinionOutput::Page(StatesOf::new(id, &rows, &left_out)))
            }
            Err(errors) => Err(errors),
        },
        HighstateFormat::Text if args.graph => {
            let graph = |rows: Vec<StateRow>| graph(id, &rows, &left_out);
            states.rows().map(|rows| MinionOutput::List(graph(rows)))
        }
        HighstateFormat::Text => match states.rows_and_low() {
            Ok(made) => {
                let list = list(id, many, states, made, reporter)?;
                Ok(MinionOutput::List(match left_out.is_empty() {
                    true => list,
                    false => {
                        let before = before(id, many);
                        format!("{before}{}{list}", left_out::listing(&left_out))
                    }
                }))
            }
            Err(errors) => Err(errors),
        },
        _ if args.low => states.low().map(data),
        _ => states.data().map(data),
    })
}

/// The beginning of a list of one of many minions.
fn before(id: &str, many: bool) -> String {
    match many {
        true => format!("{id}: "),
        false => String::new(),
    }
}

/// The list of the states of a minion.
fn list(
    id: &str,
    many: bool,
    states: &States<'_>,
    made: RowsAndLow,
    reporter: &Reporter,
) -> Result<String, Failure> {
    let rows = rows_with_files(id, states, made, reporter)?;
    let list = listing(&rows, states.count());
    Ok(format!("{}{list}", before(id, many)))
}

/// The states of a minion, with the files that they manage.
fn rows_with_files(
    id: &str,
    states: &States<'_>,
    RowsAndLow { mut rows, low }: RowsAndLow,
    reporter: &Reporter,
) -> Result<Vec<StateRow>, Failure> {
    let of_states = FilesOfStates {
        minion: id,
        files: states.managed(&low),
        places: states.places(),
    };
    for file in of_states.files.all() {
        if let Some(state) = rows.get_mut(file.state.position) {
            state.files.push(of_states.row(&file, reporter).0);
        }
    }
    reporter.warn(&reporter.redact_all(&of_states.files.warnings()))?;
    Ok(rows)
}

/// Errors in place of the states of one of many minions.
fn errors_of(errors: &[Error], reporter: &Reporter) -> Value {
    let texts = reporter.redact_all(errors).into_iter().map(|error| {
        let error = error.into_inner();
        let diagnostic = error.diagnostic();
        let mut text = vec![error.to_string()];
        text.extend(diagnostic.notes.iter().cloned());
        text.join("\n")
    });
    let texts: Value = texts.collect();
    Value::from(Map::from_iter([("_errors", texts)]))
}
