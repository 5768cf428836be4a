//! `mapstack impact`.

use std::path::Path;

use mapstack::Error;
use mapstack::loader::Snapshot;
use mapstack::minion::Part;
use mapstack::secrets::Redacted;
use mapstack::value::Key;
use mapstack_fleet::Minions as _;
use mapstack_fleet::impact::{Reach, What};
use mapstack_inputs::flags::SecretFlags;
use mapstack_inputs::{Many, Plan, Served, formulas};
use mapstack_report::impact;

use crate::cli::{Impact, Listing};
use crate::commands::engine;
use crate::output::{self, key_path};
use crate::report::{Failure, Reporter};

pub fn run(args: &Impact, reporter: &Reporter) -> Result<(), Failure> {
    let input = &args.input;
    let mut plan = Plan::new(input, &args.layering, args.select.as_deref())?;
    let config = input.config(reporter)?;
    let served = Served::new(&input.files, config.as_ref(), None, reporter)?;
    let roots = served.directories(plan.saltenv());
    let engine = engine(Snapshot::new(served.files), &input.functions)?;
    let known: Vec<String> = formulas::layered(engine.files(), plan.saltenv())?
        .into_iter()
        .collect();
    let what = asked(&args.what, &known, &roots)?;
    plan.formulas = match (&what, args.formula.is_empty()) {
        (What::Value(formula, _), _) => vec![formula.clone()],
        (_, true) => known,
        (_, false) => formulas::named(&args.formula),
    };
    let fleet = plan.fleet(&engine);
    let others = input.other_files();
    let minions = Many::list_or_platforms(
        (&input.facts, &args.target),
        config.as_ref(),
        &others,
        reporter,
    )?;
    let mut reach = Reach::new(&what, &fleet);
    let masking = reporter.masking(&SecretFlags::default())?;
    let mut broken: Vec<Redacted<Error>> = Vec::new();
    for id in minions.ids() {
        match minions.read(&id) {
            Ok(minion) => broken.extend(reach.look(&minion, &masking)),
            Err(error) => broken.push(reporter.redact(&error)),
        }
    }
    let impact = reach.impact(&masking);
    match args.format {
        Listing::Text => output::write_listing(&impact::text(&args.what, &what, &impact))?,
        Listing::Json => output::write_json(&impact::rows(&args.what, &impact))?,
    }
    reporter.errors(broken)
}

/// What is asked about. Of what is a file and a key, the file is meant.
fn asked(given: &str, formulas: &[String], roots: &[String]) -> Result<What, Failure> {
    if let Some(path) = given.strip_prefix("salt://") {
        return Ok(What::File(path.into()));
    }
    if Path::new(given).is_file() {
        let path = mapstack_inputs::below(roots, given).ok_or_else(|| {
            Failure::Usage(format!(
                "{given} lies below none of the roots: {}",
                roots.join(", ")
            ))
        })?;
        return Ok(What::File(path));
    }
    let usage = |what: &str| {
        Failure::Usage(format!(
            "{given}: {what}; write a file, FORMULA:KEY, grains:KEY, pillar:KEY or opts:KEY"
        ))
    };
    let (first, key) = given
        .split_once(':')
        .ok_or_else(|| usage("there is no such file"))?;
    let part = match first {
        "grains" => Some(Part::Grains),
        "pillar" => Some(Part::Pillar),
        "opts" => Some(Part::Opts),
        _ => None,
    };
    let path = key_path(key)?;
    match part {
        Some(part) => Ok(What::Fact(part, key.split(':').map(Key::from).collect())),
        None if formulas.iter().any(|formula| formula == first) => {
            Ok(What::Value(first.into(), path))
        }
        None => Err(match mapstack::nearest(first, formulas) {
            Some(near) => usage(&format!(
                "no formula '{first}' has parameter files; did you mean '{near}'?"
            )),
            None => usage(&format!("no formula '{first}' has parameter files")),
        }),
    }
}
