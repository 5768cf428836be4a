//! `mapstack render`.

use mapstack::loader::SaltPath;
use mapstack::value::{Map, MapKind, Value};
use mapstack::{Error, ErrorKind, Run, TemplateOptions, yaml};
use mapstack_inputs::{Session, data_file};

use super::{reported, session};
use crate::cli::{Format, Output, Render, Rendered};
use crate::output;
use crate::report::{Failure, Reporter};

pub fn run(args: &Render, reporter: &Reporter) -> Result<(), Failure> {
    let is_sls = is_sls(args);
    check_flags(args, is_sls)?;
    let options = TemplateOptions {
        engine: args.template.clone(),
        name: args.name.clone(),
        context: variables("--context", args.context.as_deref())?,
        defaults: variables("--defaults", args.defaults.as_deref())?,
    };
    let session = session(&args.input, reporter)?;
    let format = match args.format {
        Rendered::Yaml => Format::Yaml,
        Rendered::Json => Format::Json,
        Rendered::Text => {
            let text = |run: &Run<'_>| {
                if is_sls {
                    run.sls_text(&args.path)
                } else {
                    run.template(&args.path, &options)
                }
            };
            let text = reported(&session.run(), reporter, |run| {
                text(run).map_err(|e| looked_in(e, &args.path, &session))
            })?;
            return output::write(&text);
        }
    };
    let data = reported(&session.run(), reporter, |run| {
        run.sls(&args.path)
            .map_err(|e| looked_in(e, &args.path, &session))
    })?;
    output::print(
        &data,
        &Output {
            format,
            get: args.get.clone(),
        },
    )
}

/// Whether the file goes through a pipe: its name says so, and no engine is asked for.
fn is_sls(args: &Render) -> bool {
    let path = args.path.split('?').next().unwrap_or_default();
    path.ends_with(".sls") && args.template.is_none()
}

fn check_flags(args: &Render, is_sls: bool) -> Result<(), Failure> {
    let usage = |message: &str| Err(Failure::Usage(message.into()));
    if is_sls && (args.context.is_some() || args.defaults.is_some() || args.name.is_some()) {
        return usage(
            "--context, --defaults and --name are for managed files; an sls has none of them, unless --template makes it one",
        );
    }
    if !is_sls && args.format != Rendered::Text {
        return usage(
            "only an sls has data to print; leave -o out, or name a file that ends in .sls",
        );
    }
    if args.format == Rendered::Text && args.get.is_some() {
        return usage("--get picks from data: add -o yaml or -o json");
    }
    if args.input.kwargs.is_some() || args.input.custom_data.is_some() {
        return usage(
            "--kwargs and --custom-data are for map.data and its siblings; pass variables with --context",
        );
    }
    Ok(())
}

/// Variables given as a mapping, or as a file that holds one: as in a state, whose YAML Salt reads into `OrderedDict`s.
fn variables(flag: &str, given: Option<&str>) -> Result<Map, Failure> {
    let value = match given {
        None => return Ok(Map::new()),
        Some(text) if text.trim_start().starts_with('{') => yaml::load(text)
            .map_err(|e| Failure::Usage(format!("{flag}: '{text}' is not YAML: {e}")))?,
        Some(file) => data_file(file.as_ref())?,
    };
    match value {
        Value::Map(map) => Ok(map
            .iter()
            .map(|(name, value)| (name.clone(), value.with_map_kind(MapKind::Ordered)))
            .collect()),
        Value::None => Ok(Map::new()),
        other => Err(Failure::Usage(format!(
            "{flag} is {}, not a mapping of variables",
            other.kind().described()
        ))),
    }
}

/// Say where a file was looked for that is not there.
fn looked_in(e: Error, path: &str, session: &Session) -> Error {
    if e.kind() != ErrorKind::File || !e.diagnostic().message.starts_with("there is no file ") {
        return e;
    }
    let asked = SaltPath::parse(path).ok();
    match &*session.directories(asked.as_ref().and_then(SaltPath::saltenv)) {
        [] => e.note("that saltenv has no directory; give it one with --root"),
        directories => e.note(format!("looked in {}", directories.join(", "))),
    }
}
