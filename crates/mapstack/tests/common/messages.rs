//! Messages with all their lines, and files of them.

use std::fmt::Write as _;
use std::path::Path;

use mapstack_diagnostic::{Diagnostic, Place, Severity};
use snapbox::{Assert, Data};

/// A message with its places, the text there, notes and advice.
pub fn told(diagnostic: &Diagnostic) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut lines = format!("{severity}: {}\n", diagnostic.message);
    let place = diagnostic.place.iter().map(at);
    let notes = diagnostic.notes.iter().map(|note| format!("note: {note}"));
    let help = diagnostic.help.iter().map(|help| format!("help: {help}"));
    let trace = diagnostic.trace.iter();
    let trace = trace.map(|step| format!("{}: {}", step.what, at(&step.place)));
    for line in place.chain(notes).chain(help).chain(trace) {
        let line = line.replace('\n', "\n    ").replace("    \n", "\n");
        let _ = writeln!(lines, "  {line}");
    }
    lines
}

/// The line and column of a place, and the start of the text there, if it is not just a point.
fn at(place: &Place) -> String {
    let marked = place.source.get(place.start..place.end);
    match marked.and_then(|marked| marked.lines().next()) {
        Some(line) => format!("{place} {:?}", line.chars().take(60).collect::<String>()),
        None => place.to_string(),
    }
}

/// Compare a text with a file among the tests of this crate; `SNAPSHOTS=overwrite` writes it again.
pub fn assert_recorded(file: &str, shown: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(file);
    let recorded = Data::read_from(&file, None).raw();
    let assert = Assert::new().action_env("SNAPSHOTS");
    let assert = assert.normalize_paths(false);
    assert.eq(Data::text(shown).raw(), recorded);
}
