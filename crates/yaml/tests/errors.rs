//! Texts that are refused: the words, the place, and the limits.

use mapstack_yaml::{Error, ErrorKind, Limits, Mark, decode, load, load_with};

fn refused(text: &str) -> Error {
    load(text).expect_err(text)
}

#[test]
#[expect(clippy::too_many_lines, reason = "one row for each error")]
fn errors_say_what_where_and_what_to_do() {
    for (text, message) in [
        (
            "a:\n\tb: 1",
            "line 2, column 1: a tab is used as indentation; indent with spaces",
        ),
        (
            "a: 1\nb: {a: 1, a: 2}",
            "line 2, column 11: the key 'a' was already set at line 2, column 5; keep one of the two",
        ),
        (
            "1: a\ntrue: b",
            "line 2, column 1: the key True was already set at line 1, column 1; keep one of the two",
        ),
        (
            "a: {{ name }}",
            "line 1, column 5: `{{` opens a mapping inside a mapping; \
             put a template expression in quotes, or render the template first",
        ),
        (
            "a: {{ name }}/x",
            "line 1, column 14: text follows the closing `}`; \
             put a template expression in quotes, or render the template first",
        ),
        (
            "{% if x %}\na: 1",
            "line 1, column 2: a plain value cannot start with `%`; \
             put a template expression in quotes, or render the template first",
        ),
        (
            "a: 1\n---\nb: 2",
            "line 2, column 1: a second document starts here, and only one is read; remove the `---`",
        ),
        (
            "a: !vault x",
            "line 1, column 4: the tag `!vault` is not known here; remove it, or quote a value that starts with `!`",
        ),
        (
            "a: *b",
            "line 1, column 4: undefined anchor `&b`; \
             define it before this alias, or quote a value that starts with `*`",
        ),
        (
            "a: 'it''s",
            "line 1, column 4: the quote opened here is never closed; close it",
        ),
        (
            "a: b: c",
            "line 1, column 5: the value of `a` has a `: ` in it; put the value in quotes",
        ),
        (
            "a: [b",
            "line 1, column 4: the `[` opened here is never closed; close it with `]`",
        ),
        (
            "a: @b",
            "line 1, column 4: a plain value cannot start with `@`; put the value in quotes",
        ),
        (
            "a: <<",
            "line 1, column 4: a bare `<<` is special and cannot be a value; put it in quotes",
        ),
        (
            "<<: [a]",
            "line 1, column 6: `<<` takes a mapping or a list of mappings, not a scalar; quote '<<' for an ordinary key",
        ),
        (
            "a: x\u{7}",
            "line 1, column 5: the character U+0007 is not allowed in YAML; \
             remove it, or write it as an escape in double quotes",
        ),
        (
            "&a [1, *a]",
            "line 1, column 8: the alias `*a` is inside its own anchor, so the value would contain itself; remove it",
        ),
    ] {
        assert_eq!(refused(text).to_string(), message, "{text}");
    }
}

/// The place where the text is refused, and the reason.
#[track_caller]
fn assert_told(text: &str, at: (u32, u32), words: &str) {
    let error = refused(text);
    let (line, column) = at;
    assert_eq!(error.mark(), Some(Mark { line, column }), "{text}");
    assert_eq!(error.kind().to_string(), words, "{text}");
}

#[test]
fn wrong_indentation_is_told_by_its_neighbours() {
    assert_told(
        "a:\n   pkg_manager: yum\n    repos:\n    - x\n    key: 1\n",
        (2, 4),
        "`repos:` continues the text begun on line 2; this line has 3 blanks; its neighbours have 4",
    );
    assert_told(
        "a:\n  b: 1\n  c: 1\n    d: 2\n",
        (4, 5),
        "`d:` continues the text begun on line 3; this line has 4 blanks; its neighbours have 2",
    );
    assert_told(
        "a:\n    b: 1\n  c: 2\n",
        (3, 3),
        "`c:` is indented differently from the lines above; this line has 2 blanks; its neighbours have 4, \
         and the block around them 0",
    );
    assert_told(
        "a:\n  - b\n    - c: 1\n",
        (3, 5),
        "`- c:` continues the text begun on line 2; this line has 4 blanks; its neighbours have 2",
    );
    assert_told(
        "a: |\n    x\n  y\nb: 1\n",
        (3, 3),
        "this line is neither a key nor part of the block above; this line has 2 blanks; the text of the block has 4",
    );
}

#[test]
fn keys_and_items_that_are_not_ones_are_told_apart() {
    const MISSING: &str =
        "add the missing `:`, or indent the line more if it continues the text above";
    let no_colon = |name: &str| format!("{name} has no `:`; {MISSING}");
    assert_told("a: 1\nb\nc: 2\n", (2, 1), &no_colon("`b`"));
    assert_told(
        "web:\n  pkg.installed\n    - name: x\n",
        (2, 3),
        &no_colon("`pkg.installed`"),
    );
    assert_told("a:\n  b 1\n  c: 2\n", (2, 3), &no_colon("this line"));
    let joined = "no blank follows `b:`; put a blank behind the `:` of a key";
    assert_told("a:\n  b:1\n  c: 2\n", (2, 3), joined);
    assert_told("a: 1\nb:2\nc: 3\n", (2, 1), joined);
    assert_told(
        "a: 1\nc:\u{a0}1\n",
        (2, 1),
        "<U+00A0> follows `c:`, where YAML needs a blank; put a blank behind the `:` of a key",
    );
    assert_told(
        "a = 1\nb: 2\n",
        (1, 1),
        "`a` is set with `=`; write a `:` and a blank instead",
    );
    assert_told(
        "a:\n  - b\n  -c\n",
        (3, 3),
        "no blank follows the `-` of a list item; put a blank behind it",
    );
    assert_told(
        "a:\n  b: 1\n  - c\n",
        (3, 3),
        "a list item is among the keys of a mapping; remove the `- `, or indent the item to put it below a key",
    );
    assert_told(
        "a:\n  - c\n  b: 1\n",
        (3, 3),
        "`b:` is among the items of a list; start the line with `- `, or indent it differently",
    );
}

#[test]
fn quotes_and_brackets_name_where_they_open() {
    assert_told(
        "a: \"x\nb: \"y\"\n",
        (1, 4),
        "the quote opened here is closed by the next quote on line 2; close it where the value ends",
    );
    assert_told(
        "a: 'it's'\n",
        (1, 8),
        "text follows the closing quote; write a quote inside the text twice, or use double quotes",
    );
    assert_told(
        "a: [1, 2\nb: 3\n",
        (1, 4),
        "the `[` opened here is not closed before `b:` on line 2; close it with `]`",
    );
    assert_told(
        "a: {b: [1,\n  2}\n",
        (2, 4),
        "`}` cannot close the `[` that was opened on line 1; write `]`",
    );
    assert_told(
        "a: [1]]\n",
        (1, 7),
        "a bracket is closed that was not opened; remove it, or put the whole value in quotes",
    );
}

#[test]
fn a_merge_conflict_is_one_and_nothing_else() {
    let error = refused("a:\n<<<<<<< HEAD\n  b: 1\n=======\n  b: 2\n>>>>>>> other\n");
    assert_eq!(error.mark(), Some(Mark { line: 2, column: 1 }));
    let words = error.kind().to_string();
    assert!(
        words.starts_with("a merge conflict is not resolved here; "),
        "{words}"
    );
}

#[test]
fn bytes_that_are_not_text_have_a_place() {
    let error = decode(b"a: 1\nb: caf\xe9\n").unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::NotUtf8 { offset: 11 });
    assert_eq!(error.mark(), Some(Mark { line: 2, column: 7 }));
    assert_eq!(error.reference_class(), "UnicodeDecodeError");
    assert_eq!(decode("\u{feff}é".as_bytes()), Ok("é"));
}

/// Each level names the one before ten times.
fn alias_bomb(levels: usize) -> String {
    let level = |i: usize| match i {
        0 => "l0: &l0 x\n".to_owned(),
        i => format!(
            "l{i}: &l{i} [{}]\n",
            vec![format!("*l{}", i - 1); 10].join(", ")
        ),
    };
    (0..=levels).map(level).collect()
}

#[test]
fn aliases_count_as_what_they_stand_for() {
    let limit = Limits::default().max_nodes;
    assert_eq!(
        refused(&alias_bomb(9)).kind(),
        &ErrorKind::TooLarge { limit }
    );
    assert!(load(&alias_bomb(4)).is_ok());
    assert!(
        load_with(
            "[1, 2]",
            &Limits {
                max_nodes: 3,
                ..Limits::default()
            }
        )
        .is_ok()
    );
    assert!(
        load_with(
            "[1, 2, 3]",
            &Limits {
                max_nodes: 3,
                ..Limits::default()
            }
        )
        .is_err()
    );
}

#[test]
fn depth_is_limited_through_aliases_too() {
    let limits = Limits {
        max_depth: 3,
        ..Limits::default()
    };
    assert!(load_with("[[[x]]]", &limits).is_ok());
    let too_deep = ErrorKind::TooDeep { limit: 3 };
    assert_eq!(
        load_with("[[[[x]]]]", &limits).unwrap_err().kind(),
        &too_deep
    );
    assert!(load_with("- &a [x]\n- [*a]", &limits).is_ok());
    assert_eq!(
        load_with("- &a [[x]]\n- [*a]", &limits).unwrap_err().kind(),
        &too_deep
    );
}

/// The deepest value allowed is loaded, compared, printed and dropped on a small stack.
#[test]
fn the_default_depth_is_safe() {
    let small_stack = std::thread::Builder::new().stack_size(2 << 20);
    let work = || {
        for deepest in [
            "[".repeat(128) + &"]".repeat(128),
            "{a: ".repeat(128) + &"}".repeat(128),
        ] {
            let value = load(&deepest).unwrap();
            assert_eq!(value, load(&deepest).unwrap());
            assert!(value.repr().len() >= 256);
            let printed = mapstack_yaml::dump(&value, &mapstack_yaml::DumpOptions::output());
            assert_eq!(load(&printed).unwrap(), value);
            assert!(load(&format!("[{deepest}]")).is_err());
        }
        let hostile = "[".repeat(1_000_000);
        assert!(load(&hostile).is_err());
    };
    small_stack.spawn(work).unwrap().join().unwrap();
}

#[test]
fn tag_directives_are_bounded() {
    let directives = |n: usize| {
        (0..n)
            .map(|i| format!("%TAG !{i}! tag:x,{i}:\n"))
            .collect::<String>()
    };
    assert!(load(&format!("{}--- 1\n", directives(100))).is_ok());
    let error = load(&format!("{}--- 1\n", directives(60_000))).unwrap_err();
    let message =
        "more than 100 %TAG directives before one document; remove those that no tag uses";
    assert_eq!(
        (
            error.kind().to_string().as_str(),
            error.mark().map(|mark| mark.line)
        ),
        (message, Some(101))
    );
    // The same lines as text, and before several documents.
    assert!(load(&format!("a: |\n{}", directives(200).replace('%', "  %"))).is_ok());
    let document = format!("{}--- 1\n...\n", directives(80));
    assert_eq!(
        mapstack_yaml::load_all(&document.repeat(3), &Limits::default())
            .unwrap()
            .len(),
        3
    );
}

#[test]
fn a_key_that_is_too_long_is_said_to_be() {
    let key = "k".repeat(1024);
    assert!(load(&format!("{key}: 1")).is_ok());
    let expected = "line 2, column 1028: a key has more than 1024 characters; \
         shorten it, or begin it with `? ` and the next line with `: `";
    assert_eq!(refused(&format!("a:\n  {key}k: 1")).to_string(), expected);
    assert!(load(&format!("? {key}k\n: 1")).is_ok());
}
