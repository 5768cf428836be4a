//! Fixes, and the findings that are left alone because a fix could do harm.

use mapstack::{Engine, loader::MemoryFiles};
use mapstack_lint::{Linter, fix};

/// The file after every fix; as it was, if no finding has one.
fn fixed(path: &str, text: &str) -> String {
    let files = MemoryFiles::new()
        .file("base", "f/init.sls", "{{ salt['map.data']('f') }}")
        .file("base", path, text);
    let engine = Engine::new(files);
    let report = Linter::new(&engine).lint("f").unwrap();
    let files = fix::fixed(&report.findings);
    files
        .get(path)
        .map_or_else(|| text.to_owned(), |file| file.after.clone())
}

#[test]
fn only_what_cannot_do_harm_is_fixed() {
    let meta = "f/parameters/map_jinja.yaml";
    let layer = "f/parameters/os/Debian.yaml";
    for (path, text, wanted) in [
        (
            meta,
            "values: {sources: ['Y:G@os', Y:G@id]}",
            "values: {sources: ['Y!G@os', Y!G@id]}",
        ),
        (meta, "values: {source: []}", "values: {sources: []}"),
        (
            meta,
            "values:\n  source: [a]\n  sorces: [b]\n",
            "values:\n  source: [a]\n  sorces: [b]\n",
        ),
        (
            layer,
            "stratgy: recurse\nvalues: {}\n",
            "strategy: recurse\nvalues: {}\n",
        ),
        (
            layer,
            "strategy: 'recursive'\r\nvalues: {}\r\n",
            "strategy: 'recursive'\r\nvalues: {}\r\n",
        ),
        (
            layer,
            "strategy: recursive\r\nvalues: {}\r\n",
            "strategy: recurse\r\nvalues: {}\r\n",
        ),
        (layer, "value: {a: 1}\n", "values: {a: 1}\n"),
        (
            layer,
            "value: {a: 1}\nvaluess: {b: 1}\n",
            "value: {a: 1}\nvaluess: {b: 1}\n",
        ),
        (
            layer,
            "values: {}\nvalue: {a: 1}\n",
            "values: {}\nvalue: {a: 1}\n",
        ),
        (
            layer,
            "values:\n\ta: 1\n\tb: 2\n",
            "values:\n  a: 1\n  b: 2\n",
        ),
        // The width of a tab decides the nesting.
        (
            layer,
            "values:\n    a:\n        b: 1\n\tc: 2\n",
            "values:\n    a:\n        b: 1\n\tc: 2\n",
        ),
        // Tabs of a text are the text's.
        (
            layer,
            "values:\n\ta: |\n\t  all:\n\t  \techo\n",
            "values:\n\ta: |\n\t  all:\n\t  \techo\n",
        ),
        (layer, "values:\n  mode: 0644\n", "values:\n  mode: 0644\n"),
    ] {
        assert_eq!(fixed(path, text), wanted, "{text:?}");
    }
}

#[test]
fn a_text_is_fixed_by_all_its_changes_once() {
    let files = MemoryFiles::new().file(
        "base",
        "f/parameters/map_jinja.yaml",
        "values: {sources: ['Y:G@os'], parameter_dir: []}",
    );
    let engine = Engine::new(files);
    let report = Linter::new(&engine).lint("f").unwrap();
    let files = fix::fixed(&report.findings);
    let file = files.values().next().unwrap();
    assert_eq!(
        (file.findings, &*file.after),
        (2, "values: {sources: ['Y!G@os'], parameter_dirs: []}")
    );
}
