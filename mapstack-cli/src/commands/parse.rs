//! `mapstack parse`.

use mapstack::matcher::{Definition, Mode, Spelling};
use mapstack::value::{Map, Value};

use crate::cli::{Listing, Parse};
use crate::output;
use crate::report::Failure;

pub fn run(args: &Parse) -> Result<(), Failure> {
    let mode = if args.path { Mode::Path } else { Mode::Layer };
    let definition = mapstack::parse_definition(&args.definition, mode)?;
    match args.format {
        Listing::Text => output::write_listing(&text(&definition, mode)),
        Listing::Json => output::write(&output::as_json(&as_value(&definition).into())?),
    }
}

fn text(definition: &Definition, mode: Mode) -> String {
    let mut text = format!("{definition}\n");
    for (i, line) in definition.describe().lines().enumerate() {
        let line = if i == 0 && mode == Mode::Path {
            "builds paths"
        } else {
            line
        };
        text.push_str(&format!("  {line}\n"));
    }
    if definition.spelling() == Spelling::Legacy {
        text.push_str(&format!(
            "  the Y: form is deprecated; write {}\n",
            definition.modern()
        ));
    }
    text
}

fn as_value(definition: &Definition) -> Map {
    let matchers: Value = definition
        .matchers()
        .iter()
        .map(|m| {
            let row: [(&str, Value); 4] = [
                ("type", m.kind().letter().to_string().into()),
                ("query", m.query().into()),
                ("options", m.options().iter().collect()),
                ("delimiter", m.delimiter().into()),
            ];
            Value::from(row.into_iter().collect::<Map>())
        })
        .collect();
    let rows: [(&str, Value); 4] = [
        ("definition", definition.to_string().into()),
        ("yaml", definition.leads_to_files().into()),
        (
            "deprecated",
            (definition.spelling() == Spelling::Legacy).into(),
        ),
        ("matchers", matchers),
    ];
    rows.into_iter().collect()
}
