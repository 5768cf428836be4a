//! Paths as text, at their edges: suffixes as Python's `pathlib` sees them, and slashes.

use mapstack_matcher::{Definition, Matcher, has_file_suffix, join, variants};

#[test]
fn a_suffix_is_that_of_pythons_path() {
    // `[(p, bool(PurePosixPath(p).suffix)) for p in …]`
    let table = [
        ("a.yaml", true),
        ("a.b/c", false),
        ("a/b.c", true),
        ("a.", false),
        ("a..", false),
        ("a.b.", false),
        (".a", false),
        (".a.b", true),
        ("..a", true),
        ("...", false),
        ("a.b/", true),
        ("a.b//", true),
        ("a.b/.", true),
        ("a.b/./", true),
        ("a.b/..", false),
        (".", false),
        ("..", false),
        ("/", false),
        ("///", false),
        ("", false),
        ("a .b", true),
        ("a. ", true),
        ("é.ü", true),
    ];
    for (path, has) in table {
        assert_eq!(has_file_suffix(path), has, "{path:?}");
    }
}

#[test]
fn files_follow_from_the_suffix() {
    assert_eq!(variants("a.yaml."), ["a.yaml..yaml", "a.yaml..yaml.jinja"]);
    assert_eq!(variants("a.yaml/"), ["a.yaml/", "a.yaml/.jinja"]);
    assert_eq!(variants(".yaml"), [".yaml.yaml", ".yaml.yaml.jinja"]);
    assert_eq!(variants("a.txt"), ["a.txt.yaml", "a.txt.yaml.jinja"]);
    assert_eq!(variants("a.jinja"), ["a.jinja"]);
    assert_eq!(variants(""), [".yaml", ".yaml.jinja"]);
}

#[test]
fn joining_strips_slashes_and_keeps_parts_of_nothing_else() {
    let table: [(&[&str], &str); 10] = [
        (&[], ""),
        (&["", ""], ""),
        (&["a"], "a"),
        (&["/a/"], "a"),
        (&["a", "b"], "a/b"),
        (&["a", "", "b"], "a/b"),
        (&["a//b", "c"], "a//b/c"),
        // Slashes alone become an empty component.
        (&["a", "/", "b"], "a//b"),
        (&["/", "b"], "/b"),
        (&["a", "//"], "a/"),
    ];
    for (parts, joined) in table {
        assert_eq!(join(parts), joined, "{parts:?}");
    }
}

#[test]
fn every_choice_comes_once_and_the_last_varies_fastest() {
    let definition: Definition = "Y!G@a|P@b|I@c".parse().unwrap();
    let texts = |texts: &[&str]| Some(texts.iter().map(|&text| text.to_owned()).collect());
    let values = |matcher: &Matcher| match matcher.query() {
        "a" => texts(&["1", "2"]),
        _ => texts(&["3", "4", "5"]),
    };
    assert_eq!(
        definition.paths(values).unwrap().unwrap(),
        [
            "a/1/b/c/3",
            "a/1/b/c/4",
            "a/1/b/c/5",
            "a/2/b/c/3",
            "a/2/b/c/4",
            "a/2/b/c/5"
        ]
    );
    assert_eq!(
        definition.paths(|_| Some(Vec::new())).unwrap(),
        Some(Vec::new())
    );
    assert_eq!(definition.paths(|_| None).unwrap(), None);
}

#[test]
fn too_many_paths_are_an_error() {
    let definition: Definition = "Y!G@a|I@c".parse().unwrap();
    let many = |_: &Matcher| Some(vec![String::new(); 1000]);
    assert_eq!(
        definition.paths(many).unwrap_err().to_string(),
        "a chain of matchers leads to 1000 × 1000 paths, more than 100000"
    );
}
