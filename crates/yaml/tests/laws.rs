//! Laws for every value: it is printed so that it loads back, types and all.

use mapstack_value::{Int, Key, Map, Set, Value};
use mapstack_yaml::{
    DumpOptions, Limits, decode, dump, load, load_marked, load_with, loose_scalar,
};
use proptest::prelude::*;

/// Text as people write it, and text made to be misread.
#[expect(
    clippy::too_many_lines,
    reason = "a list of texts that YAML is tempted to read as something else"
)]
fn text() -> impl Strategy<Value = String> {
    let tempting = [
        "",
        "yes",
        "No",
        "null",
        "~",
        "0644",
        "08",
        "0o17",
        "1:30",
        "01:30",
        "1e3",
        "1.5",
        ".inf",
        ".nan",
        "-",
        "---",
        "...",
        "=",
        "<<",
        "2001-12-14",
        "2001-12-14 21:59:43 Z",
        "a: b",
        "a #b",
        "#a",
        " a",
        "a ",
        "a\n",
        "\na",
        "a\n\nb ",
        "a \nb",
        "\ta",
        "- a",
        "? a",
        ": a",
        "a:",
        "!a",
        "&a",
        "*a",
        "{a",
        "]",
        "%a",
        "@a",
        "`a",
        "'",
        "\"",
        "\\",
        "a\u{85}b",
        "\u{2028}",
        "\n\u{2028}\n",
        "\u{feff}",
        "\u{a0}",
        "\0",
        "\u{7f}",
        "\r",
        "\u{fffe}",
        "😀",
        "漢字",
        "!t,",
        "0_",
        "None",
    ];
    prop_oneof![
        proptest::sample::select(tempting.to_vec()).prop_map(String::from),
        "[ a-c0-2:#,'\"\n-]{0,12}",
        "([a-z'é\\\\:#\u{1}-]{1,14} {1,2}){0,20}",
        "[x\u{e000}😀]{100,140}",
        any::<String>(),
    ]
}

fn key() -> impl Strategy<Value = Key> {
    prop_oneof![
        6 => text().prop_map(Key::from),
        1 => Just(Key::None),
        1 => any::<bool>().prop_map(Key::from),
        1 => any::<i64>().prop_map(Key::from),
        1 => any::<f64>().prop_filter("NaN is a key by identity", |f| !f.is_nan()).prop_map(Key::from),
        1 => bytes().prop_map(|b| Key::Bytes(b.into())),
    ]
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..120)
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => text().prop_map(Value::from),
        1 => Just(Value::None),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => "-?[1-9][0-9]{0,40}".prop_map(|digits| digits.parse::<Int>().unwrap().into()),
        1 => any::<f64>().prop_map(Value::from),
        1 => bytes().prop_map(|b| Value::Bytes(b.into())),
        1 => proptest::collection::vec(key(), 0..4).prop_map(|keys| Value::Set(keys.into_iter().collect::<Set>())),
    ]
}

/// Everything a document can hold; tuples as lists' items only come from `!!omap`.
fn value() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(5, 40, 5, |inner| {
        let entries = proptest::collection::vec((key(), inner.clone()), 0..5);
        prop_oneof![
            proptest::collection::vec(inner, 0..5).prop_map(|items| items.into_iter().collect()),
            entries.prop_map(|entries| Value::Map(entries.into_iter().collect::<Map>())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn output_loads_back(value in value()) {
        let printed = dump(&value, &DumpOptions::output());
        prop_assert!(printed.ends_with('\n'));
        let loaded = load(&printed).map_err(|e| TestCaseError::fail(format!("{e}\n{printed}")))?;
        // Python's `repr` tells types apart and keeps order.
        prop_assert_eq!(loaded.repr(), value.repr(), "{}", printed);
    }

    /// Neither do literal blocks and lines of any length.
    #[test]
    fn lines_load_back(value in value(), text in "[a-c #:-]{0,6}(\n{1,2}[ a-c#:|-]{0,6}){0,4}") {
        let value = Value::from_iter([value, text.into()]);
        for options in [DumpOptions::lines(), DumpOptions::line()] {
            let printed = dump(&value, &options);
            let loaded = load(&printed).map_err(|e| TestCaseError::fail(format!("{e}\n{printed}")))?;
            prop_assert_eq!(loaded.repr(), value.repr(), "{}", printed);
        }
    }

    /// Brackets, sorted keys, escapes and anchors change nothing but order.
    #[test]
    fn other_layouts_load_back(value in value(), flow: bool, width in 10_usize..200) {
        let twice = Value::from_iter([value.clone(), value]);
        let options = DumpOptions { width, final_break: true, ..DumpOptions::filter(flow) };
        let printed = dump(&twice, &options);
        let loaded = load(&printed).map_err(|e| TestCaseError::fail(format!("{e}\n{printed}")))?;
        let sorted = |v: &Value| dump(v, &DumpOptions { sort_keys: true, ..DumpOptions::output() });
        prop_assert_eq!(sorted(&loaded), sorted(&twice), "{}", printed);
    }

    /// Without its final break a text has lost the white space at its ends and nothing else.
    #[test]
    fn only_white_space_goes_with_the_final_break(value in value(), flow: bool) {
        let whole = dump(&value, &DumpOptions { final_break: true, ..DumpOptions::filter(flow) });
        prop_assert_eq!(dump(&value, &DumpOptions::filter(flow)), whole.trim());
    }

    /// No text, however broken, is more than an error; and marks change nothing.
    #[test]
    fn any_text_is_a_value_or_an_error(text in prop_oneof![any::<String>(), "[-ab:,!&*\\[\\]{}'\"|>?#%@ \n\t\\\\]{0,40}"]) {
        let limits = Limits::default();
        let plain = load_with(&text, &limits);
        let marked = load_marked(&text, &limits);
        prop_assert_eq!(plain.as_ref().map(Value::repr), marked.as_ref().map(|(value, _)| value.repr()));
        prop_assert_eq!(decode(text.as_bytes()).is_ok(), true);
        if let Some(loose) = loose_scalar(&text) {
            prop_assert_ne!(loose.repr(), Value::from(&text).repr());
        }
    }

    /// A plain word is read loosely as what the parser makes of it, whether the parser is asked or not.
    #[test]
    fn a_word_is_loosely_what_the_parser_reads(
        word in prop_oneof!["[a-zA-Z][a-zA-Z0-9_.+/~-]{0,12}", "(true|False|NULL|yes|No|on|OFF|y|inf|nan)[a-z]{0,2}"],
    ) {
        let read = load(&word).unwrap();
        let expected = (read != Value::from(&word)).then_some(read);
        prop_assume!(word != "None");
        prop_assert_eq!(loose_scalar(&word), expected);
    }
}

/// White space at the ends goes with the final break, even where a plain scalar ends in it, as in Salt: such text does
/// not load back as the same value.
#[test]
fn the_filter_strips_a_plain_scalar_of_white_space() {
    let value = Value::from_iter(["a", "\u{a0}"]);
    assert_eq!(
        dump(
            &value,
            &DumpOptions {
                final_break: true,
                ..DumpOptions::filter(false)
            }
        ),
        "- a\n- \u{a0}\n"
    );
    let stripped = dump(&value, &DumpOptions::filter(false));
    assert_eq!(stripped, "- a\n-");
    assert_eq!(load(&stripped).unwrap().repr(), "['a', None]");
}
