//! The managed files of a minion, in both states of the formula's files.

use mapstack_files::{Content, FileOfMinion};

use crate::states::kind_of;

/// The comparison of the files of some states.
#[derive(Debug, Default)]
pub(crate) struct Files {
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

impl Files {
    /// Compare the files of states that are the same, whatever their order.
    pub fn of(before: &[FileOfMinion], after: &[FileOfMinion]) -> Self {
        let mut files = Files::default();
        for (before, after) in in_order(before).into_iter().zip(in_order(after)) {
            files.add(before, after);
        }
        files
    }

    /// Files that show the whole map, with the key `map_jinja` that `map.data` adds: the map is compared itself.
    pub fn of_map(files: &[FileOfMinion]) -> Self {
        Files {
            of_map: files.len(),
            ..Files::default()
        }
    }

    fn add(&mut self, before: &FileOfMinion, after: &FileOfMinion) {
        match (&before.made.content, &after.made.content) {
            (Content::Nothing, Content::Nothing) => {}
            (Content::Bytes(a), Content::Bytes(b)) if a == b => self.same += 1,
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
