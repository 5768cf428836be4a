//! Filling a skeleton gives the same value as parsing the text.

use mapstack_yaml::{Limits, Skeleton, load, load_rendered};
use proptest::prelude::*;

/// Marks a hole. It has no meaning in YAML.
const MARK: char = '§';

fn with_holes(text: &str) -> (String, usize) {
    let mut holes = 0;
    let mut next = || {
        holes += 1;
        Skeleton::hole(holes - 1).unwrap()
    };
    let text = text
        .chars()
        .map(|c| if c == MARK { next() } else { c })
        .collect();
    (text, holes)
}

fn with_words(text: &str, words: &[&str]) -> String {
    let mut words = words.iter();
    text.split_inclusive(MARK)
        .map(|part| {
            part.strip_suffix(MARK).map_or(part.into(), |before| {
                format!("{before}{}", words.next().unwrap())
            })
        })
        .collect()
}

/// True if there is a skeleton that accepts the words. If so, its value must be correct.
fn fits(text: &str, words: &[&str]) -> bool {
    let (holed, holes) = with_holes(text);
    let words = &words[..holes.min(words.len())];
    let Some(filled) = Skeleton::parse(&holed, holes).and_then(|skeleton| skeleton.fill(words))
    else {
        return false;
    };
    let plain = with_words(text, words);
    let loaded =
        load(&plain).unwrap_or_else(|e| panic!("{plain:?} has a skeleton but is invalid: {e}"));
    assert!(
        loaded.is_same(&filled),
        "{plain:?}: {} is not {}",
        filled.repr(),
        loaded.repr()
    );
    let rendered = Skeleton::parse_rendered(&holed, holes).and_then(|known| known.fill(words));
    let loaded = load_rendered(&plain, &Limits::default()).unwrap().value;
    assert!(rendered.is_some_and(|rendered| rendered.is_same(&loaded)));
    true
}

#[test]
fn words_fill_holes() {
    for (text, words) in [
        ("a: §", &["web1.example.org"][..]),
        ("a: 1\nb:\n  - x\n  - {c: §, d: [§]}\n", &["0644", "1:30"]),
        (
            "a: '§'\nb: \"x §\"\nc: |\n  §\n  y\nd: >-\n  §\n   y\n",
            &["1", "2", "3", "4"],
        ),
        ("a: §§\nb: 1§\nc: §.§", &["1", "2", "0", "10", "0"]),
        ("a: §\nb: §\nc: §", &["true", "null", "fe80::1"]),
        ("a: - §", &["x"]),
        ("§", &["2024-01-01"]),
        ("a: x §\n  § y", &["SLES 15", "b"]),
    ] {
        let expected = load(&with_words(text, words)).is_ok();
        assert_eq!(fits(text, words), expected, "{text:?}");
    }
}

#[test]
fn texts_that_words_could_change_have_no_skeleton() {
    for text in [
        "§: 1",
        "{§: 1}",
        "? §\n: 1",
        "[§]: 1",
        "a: 1 # §",
        "a: !x§ 1",
        "a: !!int §",
        "a: &§ 1",
        "a: &x §\nb: *x",
        "a: *§",
        "<<: {a: §}",
        "a: \"\\§\"",
        "a: |§\n   x",
        "%YAML 1.§\n---\na",
        "a: '§",
        "a: \"\\ue000\" # §",
        "a: {b: §",
        "= : §",
    ] {
        assert!(!fits(text, &["2"]), "{text:?}");
    }
    let long = format!("{}: §", "x".repeat(600));
    assert!(!fits(&long, &["2"]) && !fits("{a: §}", &[&"x".repeat(2000)]));
    for word in [
        "", " ", "a ", "a: b", "-a", "a -b", "a #b", "a\nb", "a,b", "é", "a:", "'a'", "[a]",
        "a  b", "{a}", "a\"b",
    ] {
        assert!(
            !Skeleton::accepts(word) && !fits("a: §", &[word]),
            "{word:?}"
        );
    }
    assert!(Skeleton::hole(100_000).is_none());
    assert!(
        fits("a: §", &["x"])
            && Skeleton::parse("a: x", 1).is_none()
            && Skeleton::parse("a: \u{e000}", 0).is_none()
    );
}

/// Pieces of texts, most of which have a meaning in YAML.
#[expect(
    clippy::too_many_lines,
    reason = "a list of the pieces that texts are made of"
)]
fn piece() -> impl Strategy<Value = &'static str> {
    let pieces = [
        "§",
        "§",
        "§",
        "§",
        "a",
        "b: ",
        "c: §",
        "- ",
        "\n",
        "\n  ",
        "\n    ",
        "\n- ",
        "\n  - ",
        ": ",
        ":",
        ", ",
        ",",
        "[",
        "]",
        "{",
        "}",
        "'",
        "\"",
        "#",
        " #",
        " ",
        "&x ",
        "*x",
        "!!str ",
        "!",
        "|\n  ",
        ">-\n  ",
        "|2",
        "? ",
        "---\n",
        "\n---",
        "...",
        "--",
        "-",
        ".",
        "%YAML 1.1\n",
        "<<: ",
        "=",
        "~",
        "0",
        "1",
        "0x",
        "1:",
        "_",
        "\\",
        "\\x",
        "\t",
        "é",
        "\u{e001}",
        "\r\n",
        "\u{2028}",
        "§: 1",
        "`",
        "@",
        "%",
    ];
    prop::sample::select(pieces.to_vec())
}

fn word() -> impl Strategy<Value = String> {
    let picked = [
        "1",
        "0644",
        "0",
        "true",
        "null",
        "no",
        "1:30",
        "2024-01-01",
        "1.5",
        "1e3",
        "0x1f",
        "a",
        "web1.example.org",
        "a b",
        "a:b",
        "x_1",
        "a--b",
        "fe80::1",
        "u0041",
        "n",
        "x41",
        "3+4",
        "e9",
        "9",
    ];
    let wild = r"[a-c0-2 .:\-/+@=_#,']{1,6}";
    prop_oneof![12 => prop::sample::select(picked.to_vec()).prop_map(str::to_owned), 1 => wild]
}

/// Mostly valid texts: nested mappings and lists with scalars of all kinds.
fn document() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        4 => Just("§".to_owned()), 1 => Just("x".into()), 1 => Just("12".into()), 1 => Just("'a §'".into()), 1 => Just("\"§\\t§\"".into()),
        1 => Just("x§".into()), 1 => Just("§.5".into()), 1 => Just("1§".into()), 1 => Just("0§".into()), 1 => Just("§ § #x".into()), 1 => Just("-§".into()),
        1 => Just("[§, 'b', {c: §}]".into()), 1 => Just("{d: §, e: [§ , x:§]}".into()), 1 => Just("§:x".into()), 1 => Just(":§".into()), 1 => Just("?§".into()),
    ];
    let line = (
        0..3usize,
        prop_oneof![
            Just("- "),
            Just("k: "),
            Just("l: "),
            Just("'m': "),
            Just("n:\n   "),
            Just("o: |\n       "),
            Just("p: >\n       ")
        ],
        scalar,
    );
    prop::collection::vec(line, 1..8).prop_map(|lines| {
        let mut number = 0;
        let lines = lines.into_iter().map(|(indent, key, scalar)| {
            number += 1;
            format!(
                "{}{}{scalar}\n",
                "  ".repeat(indent),
                key.replace(": ", &format!("{number}: "))
                    .replace("n:", &format!("n{number}:"))
            )
        });
        lines.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn a_skeleton_of_arbitrary_pieces_is_correct_if_it_exists(
        pieces in prop::collection::vec(piece(), 0..14),
        words in prop::collection::vec(word(), 60),
    ) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        fits(&pieces.concat(), &words);
    }

    #[test]
    fn a_skeleton_of_a_document_is_correct(text in document(), words in prop::collection::vec(word(), 60)) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        fits(&text, &words);
    }
}
