//! The states of a minion for people, in the order in which they run.

use std::fmt::Write as _;

use crate::files::FileRow;
use crate::left_out::LeftOutRow;
use crate::terminal::printable;
use crate::words::{count, width};

/// A state that runs.
#[derive(Debug, Clone, Default)]
pub struct StateRow {
    /// The function, such as `pkg.installed`.
    pub function: String,
    /// The name that the function is given, which is mostly the ID.
    pub name: String,
    /// The file and line of the state, or as much of that as is known.
    pub place: String,
    /// The states that come before it by a requisite: its name, and their positions.
    pub after: Vec<(&'static str, Vec<usize>)>,
    /// True if it runs in test mode here, for a `prereq`.
    pub is_test: bool,
    /// The command that has to accept a file before it is written.
    pub check: Option<String>,
    /// The files that it manages.
    pub files: Vec<FileRow>,
}

/// The faults of a state with many files that are shown.
const MAX_FAULTS: usize = 3;

/// The widest column that is aligned.
const WIDEST: usize = 44;

/// The states, a line each. Below one that manages a file are its source and what is not known of it.
///
/// ```
/// use mapstack_report::states::{StateRow, listing};
/// let row = |function: &str, name: &str, after: &[(&'static str, Vec<usize>)]| StateRow {
///     function: function.into(),
///     name: name.into(),
///     place: "web.sls:1".into(),
///     after: after.to_vec(),
///     ..StateRow::default()
/// };
/// let rows = [row("pkg.installed", "nginx", &[]), row("service.running", "nginx", &[("watch", vec![0])])];
/// assert_eq!(
///     listing(&rows, 1),
///     "2 states of 1 sls, in the order in which they run\n\
///      1  pkg.installed    nginx  web.sls:1\n\
///      2  service.running  nginx  web.sls:1  watch 1\n"
/// );
/// ```
#[must_use]
pub fn listing(rows: &[StateRow], sls: usize) -> String {
    let states = count(rows.len(), "state");
    let files = rows.iter().flat_map(|row| &row.files);
    let files = match files.filter(|file| file.is_file()).count() {
        0 => String::new(),
        files => format!(" and {}", count(files, "file")),
    };
    let mut text = format!("{states} of {sls} sls{files}, in the order in which they run\n");
    let width = |column: fn(&StateRow) -> &str| {
        width(rows.iter().map(|row| printable(column(row))), WIDEST)
    };
    let widths = [
        width(|row| &row.function),
        width(|row| &row.name),
        width(|row| &row.place),
    ];
    let digits = rows.len().to_string().len();
    for (number, row) in (1..).zip(rows) {
        let [function, name, place] =
            [&row.function, &row.name, &row.place].map(|text| printable(text));
        let [of_function, of_name, of_place] = widths;
        let line = format!(
            "{number:>digits$}  {function:of_function$}  {name:of_name$}  {place:of_place$}  {}",
            relations(row)
        );
        let _ = writeln!(text, "{}", line.trim_end());
        for detail in details(row) {
            let detail = printable(&detail).replace('\n', " ");
            let indent = digits + of_function + 4;
            let _ = writeln!(text, "{:indent$}{detail}", "");
        }
    }
    text
}

/// The lines below a state: the sources of its files, and what is not known of them.
pub(crate) fn details(row: &StateRow) -> Vec<String> {
    match &row.files[..] {
        [] => Vec::new(),
        [one] => one.details(),
        several => {
            let files = several.iter().filter(|file| file.is_file()).count();
            let mut lines = vec![count(files, "file")];
            let faults = several.iter().flat_map(|file| {
                let faults = file.faults().into_iter();
                faults.map(|fault| format!("{}: {fault}", file.path))
            });
            let mut faults = faults.collect::<Vec<_>>();
            let more = faults.len().saturating_sub(MAX_FAULTS);
            faults.truncate(MAX_FAULTS);
            lines.append(&mut faults);
            if more > 0 {
                lines.push(format!("and {more} more"));
            }
            lines
        }
    }
}

/// The owner, group and mode of the files of a state, if all have the same.
fn owner(row: &StateRow) -> Option<String> {
    let mut owners = row.files.iter().map(FileRow::owner);
    let first = owners.next().filter(|owner| owner != "-")?;
    owners.all(|owner| owner == first).then_some(first)
}

/// The states as a graph in the language of Graphviz: an arrow leads to a state that comes before by a requisite. The
/// sls that are left out are in the graph's label.
///
/// ```
/// use mapstack_report::states::{StateRow, graph};
/// let row = |function: &str, after: &[(&'static str, Vec<usize>)]| StateRow {
///     function: function.into(),
///     name: "nginx".into(),
///     place: "web.sls:1".into(),
///     after: after.to_vec(),
///     ..StateRow::default()
/// };
/// let rows = [row("pkg.installed", &[]), row("service.running", &[("watch", vec![0])])];
/// assert_eq!(
///     graph("web1", &rows, &[]),
///     "digraph \"web1\" {\n  rankdir=RL\n  node [shape=box]\n\
///      \x20 1 [label=\"1 pkg.installed\\nnginx\\nweb.sls:1\"]\n\
///      \x20 2 [label=\"2 service.running\\nnginx\\nweb.sls:1\"]\n\
///      \x20 2 -> 1 [label=\"watch\"]\n}\n"
/// );
/// ```
#[must_use]
pub fn graph(minion: &str, rows: &[StateRow], left_out: &[LeftOutRow]) -> String {
    let quoted = |text: &str| printable(text).replace('\\', "\\\\").replace('"', "\\\"");
    let mut text = format!("digraph \"{}\" {{\n", quoted(minion));
    text.push_str("  rankdir=RL\n  node [shape=box]\n");
    if !left_out.is_empty() {
        let names: Vec<&str> = left_out.iter().map(|row| row.sls.as_str()).collect();
        let _ = writeln!(text, "  label=\"left out: {}\"", quoted(&names.join(", ")));
    }
    for (number, row) in (1..).zip(rows) {
        let [function, name, place] =
            [&row.function, &row.name, &row.place].map(|text| quoted(text));
        let test = if row.is_test { " in test mode" } else { "" };
        let label = format!("{number} {function}{test}\\n{name}\\n{place}");
        let _ = writeln!(text, "  {number} [label=\"{label}\"]");
    }
    for (number, row) in (1..).zip(rows) {
        for (requisite, positions) in &row.after {
            for position in positions {
                let other = position + 1;
                let _ = writeln!(text, "  {number} -> {other} [label=\"{requisite}\"]");
            }
        }
    }
    text.push_str("}\n");
    text
}

/// The owner and mode of what a state manages, and its requisites by number.
fn relations(row: &StateRow) -> String {
    let check = row.check.as_ref();
    let check = check.map(|command| format!("check {}", printable(command)));
    let mut parts: Vec<String> = owner(row).into_iter().chain(check).collect();
    if row.is_test {
        parts.push("in test mode".into());
    }
    for (requisite, positions) in &row.after {
        let numbers: Vec<String> = positions
            .iter()
            .map(|position| (position + 1).to_string())
            .collect();
        parts.push(format!("{requisite} {}", numbers.join(", ")));
    }
    parts.join("; ")
}
