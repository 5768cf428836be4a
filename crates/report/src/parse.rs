//! How a source definition is understood.

use mapstack::matcher::{Definition, Mode, Spelling};
use mapstack::value::{Map, Value};

/// A definition in words.
pub fn text(definition: &Definition, mode: Mode) -> String {
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

/// A definition for programs.
pub fn row(definition: &Definition) -> Value {
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
    rows.into_iter().collect::<Map>().into()
}
