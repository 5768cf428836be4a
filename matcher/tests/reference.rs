//! Every recorded reading of a definition by the reference, and the laws of the grammar.

use mapstack_matcher::{
    Definition, InvalidDefinition, Matcher, MatcherKind, Mode, Spelling, has_file_suffix,
};
use proptest::prelude::*;
use serde_json::Value;

#[test]
fn definitions_are_read_as_the_reference_reads_them() {
    let records: Vec<Value> =
        serde_json::from_str(include_str!("data/matcher_parse.json")).unwrap();
    assert!(!records.is_empty());
    for record in &records {
        let text = record["definition"].as_str().unwrap();
        let mode = if record["for_path_rendering"] == true {
            Mode::Path
        } else {
            Mode::Layer
        };
        match (Definition::parse(text, mode), record.get("error")) {
            (Ok(parsed), None) => {
                assert_eq!(
                    parsed.leads_to_files(),
                    record["renderer"] == "yaml",
                    "{text}"
                );
                let matchers: Vec<Value> = parsed
                    .matchers()
                    .iter()
                    .map(|m| {
                        serde_json::json!({
                            "type": m.kind().letter().to_string(),
                            "query": m.query(),
                            "options": m.options(),
                            "delimiter": m.delimiter(),
                        })
                    })
                    .collect();
                assert_eq!(Value::from(matchers), record["matchers"], "{text} {mode:?}");
                let last = parsed.matchers().last().unwrap();
                let finished = last.kind() == MatcherKind::Static && has_file_suffix(last.query());
                assert_eq!(finished, record["chain_finished"] == true, "{text}");
            }
            (Err(e), Some(class)) => assert_eq!(e.reference_class(), class, "{text} {mode:?}"),
            (Ok(_), Some(class)) => panic!("{text} {mode:?}: the reference raises {class}"),
            (Err(e), None) => panic!("{text} {mode:?}: the reference accepts it: {e}"),
        }
    }
}

#[test]
fn slips_get_what_was_meant_suggested() {
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
    assert_eq!(
        error.to_string(),
        "cannot read the source definition 'Y!G@os|x@b': column 8: 'x' is not a matcher type"
    );
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
        "Y!", "Y", "C", "G", "I", "M", "U", "P", ":", "::", "@", "|", "SUB", ",", "!", "!!", "os",
        "roles", ".yaml", ".jinja", "x.y", "/", " ", "é", "lookup", "",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Parts of definitions, most of which fit.
fn part() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "Y!", "Y", "C", ":", "@", "|", ",", "!", "os", "roles", ".yaml", ".jinja", "x.y", "/", " ",
        "é", "SUB", "",
    ]);
    prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

/// A matcher of any parts, or why there is none.
fn built_matcher() -> impl Strategy<Value = Result<Matcher, InvalidDefinition>> {
    let kind = prop::option::weighted(0.8, prop::sample::select(MatcherKind::ALL.to_vec()));
    let options = prop::option::of(prop::collection::vec(part(), 0..3));
    (kind, part(), options, prop::option::of(part())).prop_map(
        |(kind, query, options, delimiter)| {
            let mut matcher = match kind {
                Some(kind) => Matcher::new(kind, query)?,
                None => Matcher::untyped(query)?,
            };
            if let Some(options) = options {
                matcher = matcher.with_options(options)?;
            }
            if let Some(delimiter) = delimiter {
                matcher = matcher.with_delimiter(delimiter)?;
            }
            Ok(matcher)
        },
    )
}

fn mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(vec![Mode::Layer, Mode::Path])
}

fn spelling() -> impl Strategy<Value = Spelling> {
    prop::sample::select(vec![Spelling::Plain, Spelling::Prefix, Spelling::Legacy])
}

/// The same definition, built from the parts that another shows.
fn rebuilt(definition: &Definition) -> Result<Definition, InvalidDefinition> {
    let matcher = |matcher: &Matcher| match matcher.is_typed() {
        true => Matcher::new(matcher.kind(), matcher.query())?
            .with_options(matcher.options())?
            .with_delimiter(matcher.delimiter()),
        false => Matcher::untyped(matcher.query()),
    };
    let matchers = definition
        .matchers()
        .iter()
        .map(matcher)
        .collect::<Result<Vec<_>, _>>()?;
    Definition::new(matchers, definition.spelling(), definition.mode())
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one row for each thing that has no spelling"
)]
fn what_cannot_be_written_cannot_be_built() {
    let typed = |query: &str| Matcher::new(MatcherKind::Grains, query).unwrap();
    let untyped = |query: &str| Matcher::untyped(query).unwrap();
    let layer = |matchers: Vec<Matcher>, spelling| Definition::new(matchers, spelling, Mode::Layer);
    let file = Matcher::new(MatcherKind::Static, "a.yaml").unwrap();
    let table = [
        (
            layer(vec![], Spelling::Plain),
            "a definition needs at least one matcher",
        ),
        (
            Matcher::new(MatcherKind::Grains, "a|b@c").map(|_| unreachable!()),
            "the query 'a|b@c' has a '|', which separates the parts of a definition; nothing escapes it",
        ),
        (
            typed("os")
                .with_options(["SUB", "a,b"])
                .map(|_| unreachable!()),
            "the option 'a,b' has a ',', which separates the parts of a definition; nothing escapes it",
        ),
        (
            typed("os").with_delimiter("::").map(|_| unreachable!()),
            "the delimiter '::' has a ':', which separates the parts of a definition; nothing escapes it",
        ),
        (
            typed("os").with_delimiter("").map(|_| unreachable!()),
            "the delimiter is empty, which reads back as ':'; write ':'",
        ),
        (
            typed("os").with_options([""]).map(|_| unreachable!()),
            "a single empty option reads back as no option; leave it out",
        ),
        (
            untyped("os").with_options(["SUB"]).map(|_| unreachable!()),
            "the matcher 'os' is written without a type, so it has no place for options, delimiters or a 'Y:'",
        ),
        (
            layer(vec![untyped("os")], Spelling::Legacy),
            "the matcher 'os' is written without a type, so it has no place for options, delimiters or a 'Y:'",
        ),
        (
            layer(
                vec![typed("os").with_options(["SUB"]).unwrap()],
                Spelling::Legacy,
            ),
            "the old spelling 'Y:' has no place for options; write the prefix 'Y!'",
        ),
        (
            layer(vec![untyped("Y!os")], Spelling::Plain),
            "the query 'Y!os' begins as the prefix 'Y!' does; give the matcher a type",
        ),
        (
            layer(vec![typed("a"), untyped("b")], Spelling::Prefix),
            "'b' names YAML files, which only the first matcher of a chain can",
        ),
        (
            layer(vec![file, typed("b")], Spelling::Prefix),
            "'G@b' follows a file's name, which ends a chain",
        ),
        (
            Definition::new([typed("os")], Spelling::Prefix, Mode::Path),
            "'G@os' names YAML files where only paths are built",
        ),
        (
            Definition::new(
                [typed("os"), untyped("a.yaml")],
                Spelling::Plain,
                Mode::Path,
            ),
            "'a.yaml' names YAML files where only paths are built",
        ),
    ];
    for (outcome, message) in table {
        assert_eq!(outcome.unwrap_err().to_string(), message);
    }
}

proptest! {
    #[test]
    fn what_is_built_reads_back(
        matchers in prop::collection::vec(built_matcher(), 0..4),
        spelling in spelling(),
        mode in mode(),
    ) {
        let matchers: Vec<Matcher> = matchers.into_iter().filter_map(Result::ok).collect();
        match Definition::new(matchers.clone(), spelling, mode) {
            Ok(built) => {
                let text = built.to_string();
                prop_assert_eq!(Definition::parse(&text, mode), Ok(built), "{}", text);
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    /// The constructors refuse nothing that can be written.
    #[test]
    fn what_is_read_can_be_built(text in definition_text(), mode in mode()) {
        if let Ok(parsed) = Definition::parse(&text, mode) {
            prop_assert_eq!(rebuilt(&parsed), Ok(parsed), "{}", text);
        }
    }

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
            prop_assert_eq!(modern.leads_to_files(), parsed.leads_to_files());
            prop_assert_eq!(modern.matchers(), parsed.matchers());
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
