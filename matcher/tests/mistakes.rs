//! The names of mistakes in definitions, and the advice about them.

use mapstack_matcher::{Definition, Matcher, Mode};

/// A definition, what is wrong with it, and what to do.
const MISTAKES: &[(Mode, &str, &str, &str)] = &[
    (
        Mode::Layer,
        "y!G@os",
        "column 1: 'y!G' is not a matcher type",
        "did you mean Y!G@os?",
    ),
    (
        Mode::Layer,
        "G@os|Y!G@x",
        "column 6: 'Y!G' is not a matcher type",
        "did you mean Y!G@os|G@x?",
    ),
    (
        Mode::Layer,
        "Y!Y!G@os",
        "column 3: 'Y!G' is not a matcher type",
        "did you mean Y!G@os?",
    ),
    (
        Mode::Layer,
        "X@a",
        "column 1: 'X' is not a matcher type",
        "types are C (config.get), G (grains), I (pillar), M (merged data), U (custom data), P (a path)",
    ),
    (
        Mode::Layer,
        "@a",
        "column 1: a type was expected before '@'",
        "did you mean a?",
    ),
    (
        Mode::Layer,
        "é@a",
        "column 1: 'é' is not a matcher type",
        "types are C (config.get), G (grains), I (pillar), M (merged data), U (custom data), P (a path)",
    ),
    (
        Mode::Layer,
        "G@os | G@x",
        "column 7: ' G' is not a matcher type",
        "did you mean G@os|G@x?",
    ),
    (
        Mode::Layer,
        "! G@os",
        "column 1: '! G' is not a matcher type",
        "did you mean G@os?",
    ),
    (
        Mode::Layer,
        "g@os",
        "column 1: 'g' is not a matcher type",
        "did you mean G@os?",
    ),
    (
        Mode::Layer,
        "G@os|foo",
        "column 6: 'foo' names YAML files, which only the first matcher of a chain can",
        "did you mean G@os|C@foo?",
    ),
    (
        Mode::Layer,
        "G@os|foo.yaml",
        "column 6: 'foo.yaml' names YAML files, which only the first matcher of a chain can",
        "did you mean G@os|P@foo.yaml?",
    ),
    (
        Mode::Layer,
        "G@os|x.jinja",
        "column 6: 'x.jinja' names YAML files, which only the first matcher of a chain can",
        "did you mean G@os|P@x.jinja?",
    ),
    (
        Mode::Layer,
        "G@os|Y:SUB@a",
        "column 8: 'SUB' is not a matcher type",
        "types are C (config.get), G (grains), I (pillar), M (merged data), U (custom data), P (a path)",
    ),
    (
        Mode::Layer,
        "G@os|Y@a",
        "column 6: 'Y@a' names YAML files, which only the first matcher of a chain can",
        "did you mean G@os|C@a?",
    ),
    (
        Mode::Layer,
        "G@os||I@x",
        "column 6: a matcher was expected",
        "did you mean G@os|I@x?",
    ),
    (
        Mode::Layer,
        "G@os|",
        "column 6: a matcher was expected",
        "did you mean G@os?",
    ),
    (
        Mode::Layer,
        "P@a.yaml|G@os",
        "column 10: 'G@os' follows a file's name, which ends a chain",
        "put the file's name last",
    ),
    (
        Mode::Layer,
        "Y!P@a.yaml|G@os",
        "column 12: 'G@os' follows a file's name, which ends a chain",
        "put the file's name last",
    ),
    (
        Mode::Layer,
        "Y:C@x|Y:C@y",
        "column 7: 'Y:C@y' names YAML files, which only the first matcher of a chain can",
        "did you mean Y:C@x|C@y?",
    ),
    (
        Mode::Layer,
        "G@os|Y:",
        "column 6: 'Y:' names YAML files, which only the first matcher of a chain can",
        "did you mean G@os|C@Y:?",
    ),
    (
        Mode::Layer,
        "G@os|Y:SUB:G@x",
        "column 8: 'SUB' is not a matcher type",
        "types are C (config.get), G (grains), I (pillar), M (merged data), U (custom data), P (a path)",
    ),
    (
        Mode::Path,
        "Y!G@os",
        "column 1: 'Y!' names YAML files where only paths are built",
        "did you mean G@os?",
    ),
    (
        Mode::Path,
        "Y!os",
        "column 1: 'Y!' names YAML files where only paths are built",
        "did you mean C@os?",
    ),
    (
        Mode::Path,
        "Y:C@os",
        "column 1: 'Y:C@os' names YAML files where only paths are built",
        "did you mean C@os?",
    ),
    (
        Mode::Path,
        "Y@os",
        "column 1: 'Y@os' names YAML files where only paths are built",
        "did you mean C@os?",
    ),
    (
        Mode::Path,
        "defaults.yaml",
        "column 1: 'defaults.yaml' names YAML files where only paths are built",
        "did you mean P@defaults.yaml?",
    ),
    (
        Mode::Path,
        "y!G@os",
        "column 1: 'y!G' is not a matcher type",
        "types are C (config.get), G (grains), I (pillar), M (merged data), U (custom data), P (a path)",
    ),
    (
        Mode::Path,
        "Q@x",
        "column 1: 'Q' is not a matcher type",
        "types are C (config.get), G (grains), I (pillar), M (merged data), U (custom data), P (a path)",
    ),
];

#[test]
fn mistakes_are_named_and_repaired() {
    for (mode, text, problem, help) in MISTAKES {
        let error = Definition::parse(text, *mode).unwrap_err();
        let message = format!("cannot read the source definition '{text}': {problem}");
        assert_eq!(error.to_string(), message);
        assert_eq!(error.help().as_deref(), Some(*help), "{text}");
        // The suggestion parses, and the error points at a part of the text.
        if let Some(offered) = error.suggestion() {
            assert!(Definition::parse(offered, *mode).is_ok(), "{offered}");
        }
        assert!(text.get(error.span()).is_some(), "{text}");
        assert_eq!(error.text(), *text);
    }
}

#[test]
fn the_option_sub_is_known_among_others() {
    let matchers = |text: &str| {
        Definition::parse(text, Mode::Layer)
            .unwrap()
            .matchers()
            .to_vec()
    };
    let subs = |text: &str| {
        matchers(text)
            .iter()
            .map(Matcher::has_sub)
            .collect::<Vec<_>>()
    };
    assert_eq!(subs("I:SUB@a|G@b"), [true, false]);
    assert_eq!(subs("I:SUBS@a"), [false]);
}
