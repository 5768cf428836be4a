//! Pillars whose files name the renderer `pyobjects`, beside what the reference compiles.

use crate::common::{assert_repeated, records};
use crate::some_files::{error, shown};
use crate::whole_pillar;
use mapstack::loader::MemoryFiles;

/// Records whose result here differs on purpose, with the reason.
const DIFFERENCES: &[(&str, &str)] = &[];

#[test]
fn every_recorded_pillar_is_as_the_reference_has_it() {
    let records = records(include_str!("data/pyobjects_pillars.json"));
    assert_repeated(&records, DIFFERENCES, whole_pillar::check);
}

#[test]
fn states_that_a_machine_does_not_load_are_there() {
    let made = shown(&[("a.sls", "#!pyobjects\nSelinux.mode('enforcing')\n")]);
    assert!(made.contains("'selinux.mode': []"), "{made}");
}

#[test]
fn a_file_that_fails_leaves_nothing() {
    let made = shown(&[
        ("a.sls", "#!pyobjects\nPkg.installed('a')\nnosuch\n"),
        ("b.sls", "#!pyobjects\nPkg.installed('b')\n"),
    ]);
    assert!(
        made.contains("'b'") && !made.contains("'a': OrderedDict"),
        "{made}"
    );
}

#[test]
fn what_is_not_data_is_an_error() {
    let text = "#!pyobjects\nFile.managed('a', require=File.managed('z'))\n";
    let error = error(text, MemoryFiles::new());
    assert!(error.contains("class 'State' is not data"), "{error}");
}

#[test]
fn errors_of_python_name_the_line() {
    let served = || {
        MemoryFiles::new()
            .file("base", "m.py", "A = 1\nB = nosuch\n")
            .file("base", "n.py", "A = 1\n")
    };
    for (text, place, says) in [
        (
            "#!pyobjects\nx = {}\nFile.managed(x['k'])\n",
            "a.sls:3",
            "KeyError",
        ),
        (
            "#!pyobjects\nNosuch.x('a')\n",
            "a.sls:2",
            "'Nosuch' is not defined",
        ),
        (
            "#!pyobjects\nimport salt://n.py\n\nFile.nosuch('a')\n",
            "a.sls:4",
            "'nosuch' does not exist",
        ),
        (
            "#!pyobjects\nimport salt://m.py\n",
            "m.py:2",
            "'nosuch' is not defined",
        ),
        (
            "#!pyobjects\n\nimport salt://o.py\n",
            "a.sls:3",
            "Could not find the file 'salt://o.py'",
        ),
        (
            "#!pyobjects\nfrom salt://n.py import Z\n",
            "a.sls:2",
            "'Z' was not found",
        ),
        (
            "#!pyobjects\nopen('/etc/passwd')\n",
            "a.sls:2",
            "'open' of '/etc/passwd' is not available offline",
        ),
    ] {
        let error = error(text, served());
        assert!(
            error.contains(place) && error.contains(says),
            "{text}\n{error}"
        );
    }
}
