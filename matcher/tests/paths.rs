//! Paths as text, at their edges: suffixes as Python's `pathlib` sees them, and slashes.

use mapstack_matcher::{has_file_suffix, join, variants};

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
