//! `mapstack config`.

use mapstack::secrets::Secrets;
use mapstack::value::{Map, Value};
use mapstack_inputs::flags::Files;
use mapstack_report::config::{as_value, rows, text};
use mapstack_report::values::as_yaml;

use crate::cli::{Config as Arguments, Printed};
use crate::output;
use crate::report::{Failure, Reporter};

pub fn run(args: &Arguments, reporter: &Reporter) -> Result<(), Failure> {
    let Some(config) =
        mapstack_inputs::configuration::read(&args.files, args.id.as_deref(), None, reporter)?
    else {
        let message =
            "no configuration given: pass --config FILE, such as --config /etc/salt/master";
        return Err(Failure::Usage(message.into()));
    };
    // What is in force is compared between machines, so there are no digests.
    let secrets = Secrets::without_digests().shown_anyway(reporter.shows_secrets());
    let flags = by_flags(&args.files);
    let rows = rows(&args.options, args.all, flags, &config, &secrets)?;
    match args.format {
        Printed::Text => output::write_listing(&text(&rows)),
        Printed::Yaml => output::write(&as_yaml(&as_value(&rows))),
        Printed::Json => output::write_json(&as_value(&rows)),
    }
}

/// Options that flags stand for, and the flags.
fn by_flags(files: &Files) -> Vec<(&'static str, Value, &'static str)> {
    let mut flags = Vec::new();
    if !files.root.is_empty() {
        let mut roots = Map::new();
        for (env, directory) in mapstack_inputs::root_flags(files) {
            let mut directories = roots
                .get(env)
                .and_then(Value::as_list)
                .unwrap_or_default()
                .to_vec();
            directories.push(directory.into());
            roots.insert(env, Value::from_iter(directories));
        }
        flags.push(("file_roots", roots.into(), "--root"));
    }
    if let Some(saltenv) = &files.saltenv {
        flags.push(("saltenv", saltenv.into(), "--saltenv"));
    }
    flags
}
