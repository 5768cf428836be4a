//! `mapstack pillar`.

use mapstack::Engine;
use mapstack::config::{Config, Kind};
use mapstack::loader::Backends;
use mapstack::pillar::{ExtPillars, FileOutcome, PillarEvent, StackKind};
use mapstack::value::{Map, Value};

use crate::cli::{Format, Pillar};
use crate::configuration;
use crate::functions;
use crate::inputs;
use crate::minions::Chosen;
use crate::output;
use crate::report::{Failure, Reporter};

pub fn run(args: &Pillar, reporter: &Reporter) -> Result<(), Failure> {
    let config = configuration::read(&args.files, args.facts.id.as_deref(), Some(Kind::Master), reporter)?;
    let pillars = pillars(args, config.as_ref())?;
    let Chosen { minions, broken, many } =
        inputs::minions(&args.facts, config.as_ref(), pillars.pillarenv(), &args.functions.stub, reporter)?;
    if reporter.is_strict() {
        reporter.errors(&broken)?;
    }
    // Few stacks look at files of the file server.
    let files = match args.files.root.is_empty() && !configuration::has_own_roots(config.as_ref()) {
        true => Backends::default(),
        false => inputs::served(&args.files, config.as_ref(), None, reporter)?.files,
    };
    let engine = functions::add(Engine::new(files), &args.functions)?;
    let (mut all, mut traced) = (Map::new(), Traced::default());
    for minion in &minions {
        let run = engine.pillar_run(minion, &pillars);
        let compiled = run.compile();
        let id = minion.id();
        traced.add(many.then(|| id.to_string()), run.events());
        let failed = compiled.as_ref().err().is_some();
        // What was done before a failure is what one wants to see then.
        if failed && args.trace {
            traced.print(args.output.format)?;
        }
        reporter.warn(&run.warnings())?;
        let compiled = compiled.map_err(|e| if many { e.note(format!("for the minion {id}")) } else { e })?;
        all.insert(id.to_string(), if args.merged { compiled.merged } else { compiled.external });
    }
    if args.trace {
        traced.print(args.output.format)?;
        return reporter.errors(&broken);
    }
    let result = match all.pop() {
        Some((_, one)) if !many => one,
        Some((id, last)) => {
            all.insert(id, last);
            all.into()
        }
        None => Value::map(),
    };
    // Where none can be read, there is nothing to print.
    if !minions.is_empty() || broken.is_empty() {
        output::print(&result, &args.output)?;
    }
    reporter.errors(&broken)
}

/// The external pillars of the configuration, then those of flags.
fn pillars(args: &Pillar, config: Option<&Config>) -> Result<ExtPillars, Failure> {
    let mut pillars = match config {
        Some(config) => ExtPillars::from_config(config)?,
        None => ExtPillars::new(),
    };
    for run in args.stacks.0.chunk_by(|(one, _), (next, _)| one == next) {
        let kind = run.first().map_or(StackKind::PillarStack, |(kind, _)| *kind);
        pillars = pillars.with_stack(kind, run.iter().map(|(_, config)| config.as_str()));
    }
    if pillars.is_empty() {
        let message = match config {
            Some(config) => {
                format!("{} has no ext_pillar; name a stack with --stack CFG or --makostack CFG", config.path())
            }
            None => "no external pillar given: pass --config MASTER, whose ext_pillar counts,\n\
                     or name a stack with --stack CFG or --makostack CFG"
                .into(),
        };
        return Err(Failure::Usage(message));
    }
    let pillars = pillars.keep_going(args.keep_going);
    Ok(args.stack_root.iter().fold(pillars, ExtPillars::with_directory))
}

/// What happened, by minion where there are several.
#[derive(Default)]
struct Traced(Vec<(Option<String>, Vec<PillarEvent>)>);

impl Traced {
    fn add(&mut self, minion: Option<String>, events: Vec<PillarEvent>) {
        self.0.push((minion, events));
    }

    fn print(&self, format: Format) -> Result<(), Failure> {
        match format {
            Format::Yaml => output::write(&self.text()),
            Format::Json => output::write(&output::as_json(&self.rows().map(Value::from).collect())?),
        }
    }

    fn text(&self) -> String {
        let mut lines = Vec::new();
        for (minion, events) in &self.0 {
            lines.extend(minion.clone());
            lines.extend(events.iter().map(line));
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn rows(&self) -> impl Iterator<Item = Map> {
        self.0.iter().flat_map(|(minion, events)| {
            events.iter().map(move |event| {
                let mut row = Map::new();
                if let Some(minion) = minion {
                    row.insert("minion", minion.as_str());
                }
                row.extend(entries(event));
                row
            })
        })
    }
}

fn line(event: &PillarEvent) -> String {
    match event {
        PillarEvent::Config { kind, path, selected_by, graft, found } => {
            let by = selected_by.as_ref().map(|by| format!("  {by}")).unwrap_or_default();
            let graft = graft.as_ref().map(|graft| format!("  below {graft}")).unwrap_or_default();
            let miss = if *found { "" } else { "  no such file" };
            format!("{}  {path}{by}{graft}{miss}", kind.name())
        }
        PillarEvent::File { item, path, outcome } => {
            let why = match outcome {
                FileOutcome::Missing | FileOutcome::Merged(_) => String::new(),
                FileOutcome::NoMapping(what) => format!("  {what}"),
                FileOutcome::Dropped(why) | FileOutcome::Failed(why) => format!("  {why}"),
            };
            format!("  {:<11}  {}{why}", word(outcome), path.as_ref().unwrap_or(item))
        }
    }
}

fn entries(event: &PillarEvent) -> Vec<(&'static str, Value)> {
    match event {
        PillarEvent::Config { kind, path, selected_by, graft, found } => vec![
            ("pillar", kind.name().into()),
            ("config", path.into()),
            ("selected_by", selected_by.as_deref().into()),
            ("graft", graft.as_deref().into()),
            ("found", (*found).into()),
        ],
        PillarEvent::File { item, path, outcome } => {
            let mut entries =
                vec![("item", item.into()), ("file", path.as_deref().into()), ("outcome", word(outcome).into())];
            match outcome {
                FileOutcome::NoMapping(what) => entries.push(("reason", (*what).into())),
                FileOutcome::Dropped(why) | FileOutcome::Failed(why) => entries.push(("reason", why.into())),
                FileOutcome::Missing | FileOutcome::Merged(_) => {}
            }
            entries
        }
    }
}

fn word(outcome: &FileOutcome) -> &'static str {
    match outcome {
        FileOutcome::Merged(strategy) => strategy.name(),
        FileOutcome::Missing => "miss",
        FileOutcome::NoMapping(_) => "ignored",
        FileOutcome::Dropped(_) => "left out",
        FileOutcome::Failed(_) => "failed",
    }
}
