//! The options that change delimiters and whitespace.

use mapstack_jinja::syntax::Syntax;
use mapstack_value::Value;

#[test]
fn names_are_caseless_and_values_are_checked() {
    let mut syntax = Syntax::default();
    syntax.set("LSTRIP_BLOCKS", &1.into()).unwrap();
    syntax.set("Block_Start_String", &"<%".into()).unwrap();
    syntax.set("line_comment_prefix", &"##".into()).unwrap();
    syntax.set("line_comment_prefix", &Value::None).unwrap();
    syntax.set("newline_sequence", &"\n".into()).unwrap();
    let expected = Syntax {
        lstrip_blocks: true,
        block_start: "<%".into(),
        ..Syntax::default()
    };
    assert_eq!(syntax, expected);

    for (option, value, message) in [
        (
            "block_end_string",
            Value::from(""),
            "the Jinja option 'block_end_string' cannot be empty",
        ),
        (
            "comment_end_string",
            3.into(),
            "the Jinja option 'comment_end_string' must be text, not",
        ),
        (
            "newline_sequence",
            "x".into(),
            "the Jinja option 'newline_sequence' must be '\\n', '\\r\\n' or '\\r', not 'x'",
        ),
        (
            "lstrip",
            true.into(),
            "unknown Jinja option 'lstrip'; did you mean 'lstrip_blocks'?",
        ),
        (
            "undefined",
            true.into(),
            "unknown Jinja option 'undefined'; known are block_start_string, ",
        ),
    ] {
        let error = syntax.set(option, &value).unwrap_err();
        assert!(error.starts_with(message), "{error}");
    }
    assert_eq!(syntax, expected);
}
