//! Paths as text.

use mapstack_value::Key;

/// The steps of a path: text between delimiters that are not escaped.
pub fn split(name: &str, delimiter: &str) -> Vec<Key> {
    let mut steps = Vec::new();
    let (mut start, mut from) = (0, 0);
    while let Some(found) = name[from..].find(delimiter).map(|at| from + at) {
        from = found + delimiter.len();
        if !name[..found].ends_with('\\') {
            steps.push(Key::from(&name[start..found]));
            start = from;
        }
    }
    steps.push(Key::from(&name[start..]));
    steps
}

/// A path as messages show it.
pub fn shown_path(path: &[Key]) -> String {
    let steps: Vec<String> = path.iter().map(ToString::to_string).collect();
    steps.join(":")
}
