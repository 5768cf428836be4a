//! `mapstack render`.

use clap::{Args, ValueEnum};
use mapstack::loader::{LoadError, SaltPath};
use mapstack::{Error, Run, TemplateOptions};
use mapstack_frontend::inputs::flags::Input;
use mapstack_frontend::inputs::{Session, variables};

use crate::forms::{Format, Output};
use crate::output;
use crate::wiring::{reported, session};
use mapstack_frontend::console::{Failure, Reporter};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mapstack render users/init.sls --root examples/formulas --minion examples/minions/web1.yaml
      what the templates of an sls print
  mapstack render users/init.sls -o yaml --get users-sudoers --root examples/formulas --minion examples/minions/web1.yaml
      its states, or one of them
  mapstack render salt://users/files/default/etc/sudoers.d/10-admins.jinja --context '{sudo: {group: wheel}}' --root examples/formulas --minion examples/minions/web1.yaml
      a file as file.managed writes it")]
pub struct Render {
    /// The file: salt://f/files/x.conf or its path below a root, or else its path on disk; ?saltenv= names another saltenv
    pub path: String,
    /// The engine, as in file.managed: jinja, tera [default: an sls goes through its pipe, else jinja]
    #[arg(long, value_name = "ENGINE")]
    pub template: Option<String>,
    /// Variables of a managed file: {a: 1} as YAML or JSON, or a file
    #[arg(long, value_name = "DATA|FILE")]
    pub context: Option<String>,
    /// Variables that --context overrides
    #[arg(long, value_name = "DATA|FILE")]
    pub defaults: Option<String>,
    /// The file to be managed: the variable `name`
    #[arg(long, value_name = "PATH")]
    pub name: Option<String>,
    #[command(flatten)]
    pub input: Input,
    /// Output format
    #[arg(short = 'o', long = "output", visible_alias = "format", value_enum, default_value_t = RenderFormat::Text, value_name = "FORMAT", help_heading = "Output")]
    pub format: RenderFormat,
    /// Print only the value under a key of an sls, with : between steps; needs -o yaml or json
    #[arg(long, value_name = "KEY", help_heading = "Output")]
    pub get: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RenderFormat {
    /// The text that the templates print
    Text,
    /// The data of an sls, as YAML
    Yaml,
    /// The data of an sls, as JSON
    Json,
}

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
    let path = match session.in_root(&args.path) {
        Some((root, path)) => {
            reporter.note(&format!(
                "{} is salt://{path}, of the root {root}",
                args.path
            ));
            path
        }
        None => args.path.clone(),
    };
    let format = match args.format {
        RenderFormat::Yaml => Format::Yaml,
        RenderFormat::Json => Format::Json,
        RenderFormat::Text => {
            let text = |run: &Run<'_>| {
                if is_sls {
                    run.sls_text(&path)
                } else {
                    run.template(&path, &options)
                }
            };
            let text = reported(&session.run(), reporter, |run| {
                text(run).map_err(|e| looked_in(e, &path, args, &session))
            })?;
            return output::write_data(&text);
        }
    };
    let data = reported(&session.run(), reporter, |run| {
        run.sls(&path)
            .map_err(|e| looked_in(e, &path, args, &session))
    })?;
    output::print(
        &data,
        &Output {
            format,
            get: args.get.clone(),
        },
    )
}

/// True if the file goes through a pipe: its name says so, and no engine is requested.
fn is_sls(args: &Render) -> bool {
    args.template.is_none() && mapstack::is_sls(&args.path)
}

fn check_flags(args: &Render, is_sls: bool) -> Result<(), Failure> {
    let usage = |message: &str| Err(Failure::Usage(message.into()));
    if is_sls && (args.context.is_some() || args.defaults.is_some() || args.name.is_some()) {
        return usage(
            "--context, --defaults and --name are for managed files; an sls has none of them, unless --template makes it one",
        );
    }
    if !is_sls && args.format != RenderFormat::Text {
        return usage(
            "only an sls has data to print; leave -o out, or name a file that ends in .sls",
        );
    }
    if args.format == RenderFormat::Text && args.get.is_some() {
        return usage("--get picks from data: add -o yaml or -o json");
    }
    if args.input.kwargs.is_some() || args.input.custom_data.is_some() {
        return usage(
            "--kwargs and --custom-data are for map.data and its siblings; pass variables with --context",
        );
    }
    Ok(())
}

/// Name the directories in which a missing file was looked for.
fn looked_in(e: Error, path: &str, args: &Render, session: &Session) -> Error {
    if !matches!(e.diagnostic().caused(), Some(LoadError::Missing { .. })) {
        return e;
    }
    let asked = SaltPath::parse(path).ok();
    let own = asked.as_ref().and_then(SaltPath::saltenv);
    match &*session.directories(own) {
        // A warning has said so of the saltenv of the flag.
        [] if own.is_none() && args.input.files.saltenv.is_some() => e,
        [] => e.note("that saltenv has no directory; give it one with --root"),
        directories => e.note(format!("looked in {}", directories.join(", "))),
    }
}
