//! The managed files of a minion, in both states of the formula's files.

use mapstack::value::{Value, json};
use mapstack::yaml;
use mapstack_files::{Content, FileOfMinion};

use crate::states::kind_of;

/// The comparison of the files of some states.
#[derive(Debug, Default)]
pub(crate) struct ManagedComparison {
    /// Files with the same bytes.
    pub same: usize,
    /// Files whose bytes the machine decides.
    pub unknown: usize,
    /// Files that fail in the same way before and after.
    pub fail: usize,
    /// Files that show the whole map.
    pub of_map: usize,
    /// The others: the file, and the first line before and after.
    pub differ: Vec<[String; 3]>,
}

impl ManagedComparison {
    /// Compare the files of states that are the same, whatever their order. `metas` are the values of the maps' key `map_jinja`.
    pub fn of(
        before: &[FileOfMinion],
        after: &[FileOfMinion],
        metas: &dyn Fn() -> [Value; 2],
    ) -> Self {
        let mut files = ManagedComparison::default();
        for (before, after) in in_order(before).into_iter().zip(in_order(after)) {
            files.add(before, after, metas);
        }
        files
    }

    /// Files that show the whole map, with the key `map_jinja` that `map.data` adds: the map is compared itself.
    pub fn of_map(files: &[FileOfMinion]) -> Self {
        ManagedComparison {
            of_map: files.len(),
            ..ManagedComparison::default()
        }
    }

    fn add(&mut self, before: &FileOfMinion, after: &FileOfMinion, metas: &dyn Fn() -> [Value; 2]) {
        match (&before.made.content, &after.made.content) {
            (Content::Nothing, Content::Nothing) => {}
            (Content::Bytes(a), Content::Bytes(b)) if a == b => self.same += 1,
            (Content::Bytes(a), Content::Bytes(b)) if show_map([a, b], metas) => self.of_map += 1,
            (Content::Unknown(_), Content::Unknown(_)) => self.unknown += 1,
            (Content::Failed(a), Content::Failed(b)) if kind_of(a) == kind_of(b) => self.fail += 1,
            (a, b) => {
                let what = format!("the file {}", before.file.path);
                let [a, b] = first_difference(a, b);
                self.differ.push([what, a, b]);
            }
        }
    }
}

/// True if two files differ only where they show the map's key `map_jinja`.
fn show_map(files: [&[u8]; 2], metas: &dyn Fn() -> [Value; 2]) -> bool {
    let [Ok(before), Ok(after)] = files.map(std::str::from_utf8) else {
        return false;
    };
    if ![before, after].iter().all(|text| text.contains(META)) {
        return false;
    }
    let [of_before, of_after] = metas();
    without_meta(before, &of_before) == without_meta(after, &of_after)
}

/// The key with the sources of a map.
const META: &str = "map_jinja";

/// A text without the value of the key `map_jinja`, in the forms in which templates show a map.
fn without_meta(text: &str, meta: &Value) -> String {
    let sorted = json::DumpOptions {
        sort_keys: true,
        ..json::DumpOptions::default()
    };
    let inline = [
        json::dumps(meta, &sorted).ok(),
        json::dumps(meta, &json::DumpOptions::default()).ok(),
        Some(meta.repr()),
    ];
    let mut text = text.to_owned();
    for form in inline.into_iter().flatten() {
        text = text.replace(&form, "");
    }
    let block = yaml::dump(meta, &yaml::DumpOptions::output());
    let mut left = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        left.push(line);
        if line.trim() == format!("{META}:") {
            for of_meta in block.lines() {
                lines.next_if(|next| next.trim() == of_meta.trim());
            }
        }
    }
    left.join("\n")
}

fn in_order(files: &[FileOfMinion]) -> Vec<&FileOfMinion> {
    let mut files: Vec<&FileOfMinion> = files.iter().collect();
    files.sort_by(|a, b| {
        let key = |one: &FileOfMinion| (one.file.path.clone(), one.file.state.id.clone());
        key(a).cmp(&key(b))
    });
    files
}

/// The first line that differs, or what there is in place of lines.
fn first_difference(before: &Content, after: &Content) -> [String; 2] {
    if let (Content::Bytes(a), Content::Bytes(b)) = (before, after) {
        let [a, b] = [a, b].map(|bytes| String::from_utf8_lossy(bytes));
        let mut lines = (a.lines().map(Some).chain([None]))
            .zip(b.lines().map(Some).chain([None]))
            .enumerate();
        let shown = |number: usize, line: Option<&str>| match line {
            Some(line) => format!("line {}: {line}", number + 1),
            None => format!("no line {}", number + 1),
        };
        if let Some((number, (a, b))) = lines.find(|(_, (a, b))| a != b) {
            return [shown(number, a), shown(number, b)];
        }
    }
    [before, after].map(|content| match content {
        Content::Bytes(bytes) => format!("{} bytes", bytes.len()),
        Content::Nothing => "no content".into(),
        Content::Unknown(unknown) => unknown.why.clone(),
        Content::Failed(error) => {
            let text = error.to_string();
            text.lines().next().unwrap_or_default().to_owned()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_show_the_map_are_compared_without_its_sources() {
        let metas = || {
            ["Y:G@os", "Y!G@os"].map(|source| {
                yaml::load(&format!("{{sources: [{source:?}, 'C@ntp']}}")).expect("YAML")
            })
        };
        let shown = |text: &str| {
            let [before, after] = ["Y:G@os", "Y!G@os"].map(|source| text.replace("SOURCE", source));
            show_map([before.as_bytes(), after.as_bytes()], &metas)
        };
        for same in [
            "a {\"map_jinja\": {\"sources\": [\"SOURCE\", \"C@ntp\"]}, \"pkg\": \"ntp\"}\n",
            "a {'map_jinja': {'sources': ['SOURCE', 'C@ntp']}}\n",
            "ntp:\n  map_jinja:\n    sources:\n    - SOURCE\n    - C@ntp\n  pkg: ntp\n",
        ] {
            assert!(shown(same), "{same}");
        }
        for other in [
            "map_jinja SOURCE\n",
            "{\"map_jinja\": {\"sources\": [\"SOURCE\", \"C@ntp\"]}, \"pkg\": \"SOURCE\"}\n",
        ] {
            assert!(!shown(other), "{other}");
        }
    }
}
