//! `mapstack explain`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use mapstack::value::Value;
use mapstack::{ConfigurationMethod, Run};
use mapstack_files::Content;
use mapstack_frontend::inputs::flags::{Input, Layering, ResultFlags};
use mapstack_frontend::inputs::{
    ExplainedFile, ExplainedHighstate, ExplainedPillar, Kwargs, WarningSink as _,
};
use mapstack_lineage::{Explain as _, ExplainedStates, explain_pillar};
use mapstack_report::explain::{self, ExplainReport, argument_paths, check_size, line_path};
use mapstack_report::terminal::Styled;

use crate::memory;
use crate::output::{self, key_path};
use crate::wiring::{reported, session};
use mapstack_frontend::console::{Failure, Reporter};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack explain users shell --root examples/site --root examples/formulas --minion examples/minions/web1.yaml
      which file set a value, why it is used, and what it overrode
  mapstack explain users --root examples/site --root examples/formulas --minion examples/minions/web1.yaml
      the whole configuration, each line with its origin
  mapstack explain users --why-not examples/formulas/users/parameters/os_family/RedHat.yaml \\
    --root examples/site --root examples/formulas --minion examples/minions/web1.yaml
      why a file is not used
  mapstack explain pillar users --config /etc/salt/master --id web1
      the same for the pillar that a master compiles: the sls, the top file, and what they overrode
  mapstack explain highstate /etc/motd:contents --minion examples/minions/web1.yaml
      why a minion gets a state, and where one of its arguments comes from
  mapstack explain file /etc/motd:3 --minion examples/minions/web1.yaml
      where a line of a managed file comes from: the template's line, and the values of its expressions

Values of the pillar, and values under keys such as *password*, are masked by numbers: different
numbers for different values.")]
pub struct Explain {
    /// The formula: its folder below a root, or the tpldir of a template in it [default: the only one there is]; or
    /// `pillar`, where pillars are compiled; `highstate`; or `file`
    pub formula: Option<String>,
    /// The key to explain, as in users:tom:shell; numbers pick items of lists. For states: ID or ID:ARGUMENT. For files:
    /// PATH or PATH:LINE, of the minion, or of a template on disk or as salt://PATH
    pub key: Option<String>,
    /// The key to explain, as a flag
    #[arg(long, value_name = "KEY", conflicts_with_all = ["key", "why_not"])]
    pub get: Option<String>,
    /// Show why a file is not used for the configuration: a parameter file, or one that a map.jinja could load
    #[arg(long, value_name = "PATH", conflicts_with = "key", value_hint = ValueHint::FilePath)]
    pub why_not: Option<PathBuf>,
    /// For highstate and file: explain the states of these sls (repeatable), not those that top files give
    #[arg(long, value_name = "SLS")]
    pub sls: Vec<String>,
    /// text, blame (the data with an origin on each line), json, or html (one page for a browser)
    #[arg(short = 'o', long = "output", visible_alias = "format", value_enum, default_value_t = ExplainFormat::Text, value_name = "FORMAT")]
    pub format: ExplainFormat,
    /// Write one HTML page with all values, their histories and the lines they come from
    #[cfg(feature = "html")]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "why_not"], value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub result: ResultFlags,
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub layering: Layering,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExplainFormat {
    Text,
    Blame,
    Json,
    #[cfg(feature = "html")]
    Html,
}

pub fn run(args: &Explain, reporter: &Reporter) -> Result<(), Failure> {
    let is_estate = args.input.files.is_estate_with_pillar();
    let name = args.formula.as_deref();
    let name = name.or(is_estate.then_some(ExplainedPillar::NAME));
    if name == Some(ExplainedPillar::NAME)
        && args.result.way().is_none()
        && args.why_not.is_none()
        && let Some(made) = ExplainedPillar::of(&args.input, memory::limit, reporter)?
    {
        return pillar(args, &made, reporter);
    }
    if name == Some(ExplainedHighstate::NAME) && args.why_not.is_none() {
        return highstate(args, reporter);
    }
    if let Some(asked) = file_of(args) {
        return file(args, asked, reporter);
    }
    if !args.sls.is_empty() {
        let message = "--sls is for `explain highstate` and `explain file`";
        return Err(Failure::Usage(message.into()));
    }
    let options = Kwargs::data_options(&args.input, &args.layering)?;
    let elsewhere = args.layering.is_elsewhere() || args.input.kwargs.is_some();
    let session = session(&args.input, reporter)?;
    let formula = session.existing_formula(args.formula.as_ref(), elsewhere)?;
    let run = session.run();
    reporter.knows(&session.minion);
    let configuration = session.configuration(&formula, options, &args.result)?;
    if let Some(path) = &args.why_not {
        let served = session.served_path(path);
        let answer = reported(&run, reporter, |run| {
            run.why_not_of(&configuration, &served)
        })?;
        return output::write_listing(&explain::why_not(
            &served,
            &answer,
            &session.minion,
            &reporter.secrets(),
        ));
    }
    let explain = |run: &Run<'_>| run.explain_configuration(&configuration);
    let (data, mut lineage) = reported(&run, reporter, explain)?;
    if let Some(pillar) = session.explained_pillar()?
        && let Some(pillar) = explain_pillar(&pillar, &session.minion, session.engine.policy())
    {
        lineage = lineage.with_pillar(pillar);
    }
    if configuration.way() == ConfigurationMethod::Data {
        session.note_other_map(&formula, &data, &run, reporter);
    }
    let secrets = reporter.secrets();
    let report = ExplainReport::new(&lineage, &secrets, &session.minion, &formula);
    print(args, &data, &report, reporter)
}

/// Explain a minion's pillar, as far as there is one.
fn pillar(args: &Explain, made: &ExplainedPillar, reporter: &Reporter) -> Result<(), Failure> {
    reporter.warn(&reporter.redact_all(&made.pillar.warnings))?;
    if let Some(lineage) = explain_pillar(&made.pillar, &made.minion, &made.policy) {
        let (data, secrets) = (made.pillar.data.clone().into(), reporter.secrets());
        let report = ExplainReport::of_pillar(&lineage, &secrets, &made.minion);
        print(args, &data, &report, reporter)?;
    }
    reporter.errors(reporter.redact_all(&made.errors()))
}

/// The file that is requested, if one is.
fn file_of(args: &Explain) -> Option<&str> {
    if args.why_not.is_some() || args.result.way().is_some() {
        return None;
    }
    let key = args.key.as_deref().or(args.get.as_deref());
    match (args.formula.as_deref()?, key) {
        (ExplainedFile::NAME, key) => key,
        (name, None) => Some(name).filter(|name| ExplainedFile::is_named(name)),
        _ => None,
    }
}

/// Explain the lines of a minion's file.
fn file(args: &Explain, asked: &str, reporter: &Reporter) -> Result<(), Failure> {
    let made = ExplainedFile::of(&args.input, &args.sls, asked, memory::limit, reporter)?;
    reporter.knows(&made.minion);
    for (lines, _) in &made.files {
        reporter.knows_texts(lines.explained.lineage.secret_texts());
        reporter.warn(&reporter.redact_all(&lines.explained.warnings))?;
    }
    print_files(args, &made, reporter)?;
    reporter.errors(reporter.redact_all(&made.refused))?;
    let mut errors = Vec::new();
    let mut unknown = None;
    for (path, content) in made.unknown {
        match content {
            Content::Failed(error) => errors.push(error.note(format!("in the file {path}"))),
            Content::Unknown(why) => {
                unknown = Some(format!("the lines of {path} are not known: {}", why.why));
            }
            Content::Nothing | Content::Bytes(_) => {
                unknown = Some(format!("{path} has no lines that a state makes"));
            }
        }
    }
    reporter.errors(reporter.redact_all(&errors))?;
    match unknown {
        Some(message) => Err(Failure::Incomplete { message, status: 2 }),
        None => Ok(()),
    }
}

fn print_files(args: &Explain, made: &ExplainedFile, to: &Reporter) -> Result<(), Failure> {
    let secrets = to.secrets();
    let mut text = Styled::default();
    for (lines, numbers) in &made.files {
        let report = ExplainReport::of_file(&lines.explained.lineage, &secrets, &made.minion);
        let below = match &numbers[..] {
            [one] => line_path(lines, *one),
            _ => line_path(lines, 0)[..1].to_vec(),
        };
        #[cfg(feature = "html")]
        if let Some(file) = &args.html {
            return output::write_file(file, &report.html(&below)?);
        }
        match args.format {
            ExplainFormat::Json => {
                output::write_json(&report.file_rows(&lines.explained, &below))?;
                continue;
            }
            #[cfg(feature = "html")]
            ExplainFormat::Html => return output::write(&report.html(&below)?),
            ExplainFormat::Text | ExplainFormat::Blame => {}
        }
        let is_whole = numbers.is_empty() || args.format == ExplainFormat::Blame;
        match is_whole {
            true => text.append(&report.file(lines)),
            false => numbers
                .iter()
                .for_each(|number| text.append(&report.file_line(lines, *number))),
        }
    }
    output::write_styled(&text, to.colors_output())
}

/// Explain a minion's states, as far as there are any.
fn highstate(args: &Explain, reporter: &Reporter) -> Result<(), Failure> {
    let key = args.key.as_deref().or(args.get.as_deref());
    let made = ExplainedHighstate::of(&args.input, &args.sls, key, memory::limit, reporter)?;
    reporter.knows(&made.minion);
    reporter.knows_texts(made.states.lineage.secret_texts());
    reporter.warn(&reporter.redact_all(&made.states.warnings))?;
    let secrets = reporter.secrets();
    let report = ExplainReport::of_states(&made.states.lineage, &secrets, &made.minion);
    print_states(args, &made, &report, reporter)?;
    reporter.errors(reporter.redact_all(&made.errors()))
}

fn print_states(
    args: &Explain,
    made: &ExplainedHighstate,
    report: &ExplainReport<'_>,
    to: &Reporter,
) -> Result<(), Failure> {
    let ExplainedStates { data, .. } = &made.states;
    check_size(data)?;
    let paths = match &made.asked {
        None => vec![Vec::new()],
        Some((id, None)) => vec![vec![id.clone()]],
        Some((id, Some(below))) => argument_paths(data, id, &key_path(below)?)?,
    };
    let below = match &paths[..] {
        [one] => &one[..],
        several => several
            .first()
            .and_then(|path| path.get(..1))
            .unwrap_or_default(),
    };
    #[cfg(feature = "html")]
    if let Some(file) = &args.html {
        return output::write_file(file, &report.html(below)?);
    }
    let mut text = Styled::default();
    match (args.format, &made.asked) {
        (ExplainFormat::Json, _) => {
            return output::write_json(&report.state_rows(&made.states, below));
        }
        #[cfg(feature = "html")]
        (ExplainFormat::Html, _) => return output::write(&report.html(below)?),
        (ExplainFormat::Text, Some((id, None))) => text = report.state(&made.states, id),
        (ExplainFormat::Text, Some(_)) => {
            for (number, path) in paths.iter().enumerate() {
                if number > 0 {
                    text.plain("\n");
                }
                text.append(&report.text(data, Some(path), false));
            }
        }
        _ => text = report.text(data, Some(below), true),
    }
    output::write_styled(&text, to.colors_output())
}

fn print(
    args: &Explain,
    data: &Value,
    report: &ExplainReport<'_>,
    to: &Reporter,
) -> Result<(), Failure> {
    check_size(data)?;
    let key = args.key.as_deref().or(args.get.as_deref());
    let path = key
        .map(|key| -> Result<_, Failure> { Ok(explain::path(data, &key_path(key)?)?) })
        .transpose()?;
    let below = path.as_deref().unwrap_or_default();
    #[cfg(feature = "html")]
    if let Some(file) = &args.html {
        return output::write_file(file, &report.html(below)?);
    }
    let blame = match args.format {
        ExplainFormat::Json => return output::write_json(&report.rows(below)),
        #[cfg(feature = "html")]
        ExplainFormat::Html => return output::write(&report.html(below)?),
        ExplainFormat::Text => false,
        ExplainFormat::Blame => true,
    };
    let colored = to.colors_output();
    output::write_styled(&report.text(data, path.as_deref(), blame), colored)
}
