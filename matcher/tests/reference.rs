//! Every recorded reading of a definition by the reference, and the laws of the grammar.

use mapstack_matcher::{Definition, Mode};
use proptest::prelude::*;
use serde_json::Value;

#[test]
fn definitions_are_read_as_the_reference_reads_them() {
    let records: Vec<Value> = serde_json::from_str(include_str!("data/matcher_parse.json")).unwrap();
    assert_eq!(records.len(), 402);
    for record in &records {
        let text = record["definition"].as_str().unwrap();
        let mode = if record["for_path_rendering"] == true { Mode::Path } else { Mode::Layer };
        match (Definition::parse(text, mode), record.get("error")) {
            (Ok(parsed), None) => {
                assert_eq!(parsed.yaml, record["renderer"] == "yaml", "{text}");
                let matchers: Vec<Value> = parsed
                    .matchers
                    .iter()
                    .map(|m| {
                        serde_json::json!({
                            "type": m.kind.letter().to_string(),
                            "query": m.query,
                            "options": m.options,
                            "delimiter": m.delimiter,
                        })
                    })
                    .collect();
                assert_eq!(Value::from(matchers), record["matchers"], "{text} {mode:?}");
                let last = parsed.matchers.last().unwrap();
                let finished = last.kind == mapstack_matcher::MatcherKind::Static
                    && mapstack_matcher::has_file_suffix(&last.query);
                assert_eq!(finished, record["chain_finished"] == true, "{text}");
            }
            (Err(e), Some(class)) => assert_eq!(e.reference_class(), class, "{text} {mode:?}"),
            (Ok(_), Some(class)) => panic!("{text} {mode:?}: the reference raises {class}"),
            (Err(e), None) => panic!("{text} {mode:?}: the reference accepts it: {e}"),
        }
    }
}

#[test]
fn slips_are_told_what_was_meant() {
    let table = [
        ("y!G@os", "Y!G@os"),
        ("g@os", "G@os"),
        (" G@os", "G@os"),
        ("G @os", "G@os"),
        ("Y!Y!G@os", "Y!G@os"),
        ("Y!G@a|Y!G@b", "Y!G@a|G@b"),
        ("os|roles", "os|C@roles"),
        ("Y!G@os|Y:I@roles", "Y!G@os|I@roles"),
        ("C@a | M@b", "C@a|M@b"),
        ("G@a||G@b", "G@a|G@b"),
    ];
    for (wrong, meant) in table {
        let error = wrong.parse::<Definition>().unwrap_err();
        assert_eq!(error.suggestion(), Some(meant), "{wrong}: {error}");
    }
    let error = Definition::parse("Y!G@os", Mode::Path).unwrap_err();
    assert_eq!(error.suggestion(), Some("G@os"));
}

#[test]
fn errors_name_the_column() {
    let error = "Y!G@os|x@b".parse::<Definition>().unwrap_err();
    assert_eq!((error.column(), &error.text()[error.span()]), (8, "x"));
    assert_eq!(error.to_string(), "cannot read the source definition 'Y!G@os|x@b': column 8: 'x' is no matcher type");
    let error = "é|X@b".parse::<Definition>().unwrap_err();
    assert_eq!(error.column(), 3);
}

#[test]
fn the_old_form_has_a_modern_spelling() {
    let table = [
        ("Y:G@os", "Y!G@os"),
        ("Y@roles", "Y!C@roles"),
        ("Y:G:!@dns!domain", "Y!G::!@dns!domain"),
        ("Y:C::@roles", "Y!C@roles"),
        ("Y:G@a|I@b", "Y!G@a|I@b"),
        ("roles", "roles"),
    ];
    for (old, new) in table {
        let old: Definition = old.parse().unwrap();
        assert_eq!(old.modern().to_string(), new);
    }
}

fn definition_text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "Y!", "Y", "C", "G", "I", "M", "U", "P", ":", "::", "@", "|", "SUB", ",", "!", "!!", "os", "roles", ".yaml",
        ".jinja", "x.y", "/", " ", "é", "lookup", "",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn parsing_never_panics(text in ".*") {
        for mode in [Mode::Layer, Mode::Path] {
            if let Err(e) = Definition::parse(&text, mode) {
                prop_assert!(text.get(e.span()).is_some());
                let _ = (e.to_string(), e.help());
            }
        }
    }

    #[test]
    fn printing_parses_back(text in definition_text()) {
        for mode in [Mode::Layer, Mode::Path] {
            if let Ok(parsed) = Definition::parse(&text, mode) {
                let printed = parsed.to_string();
                prop_assert_eq!(Definition::parse(&printed, mode), Ok(parsed), "{} printed as {}", text, printed);
            }
        }
    }

    #[test]
    fn the_modern_spelling_means_the_same(text in definition_text()) {
        if let Ok(parsed) = text.parse::<Definition>() {
            let modern: Definition = parsed.modern().to_string().parse().unwrap();
            prop_assert_eq!((modern.yaml, modern.matchers), (parsed.yaml, parsed.matchers));
        }
    }

    #[test]
    fn suggestions_parse(text in definition_text()) {
        if let Err(e) = text.parse::<Definition>()
            && let Some(suggestion) = e.suggestion()
        {
            prop_assert!(suggestion.parse::<Definition>().is_ok(), "{} suggests {}", text, suggestion);
        }
    }
}
