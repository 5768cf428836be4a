//! Sources as earlier versions of Salt look for them.

use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::{Minion, SaltVersion};
use mapstack_files::{Content, ManagedFiles};

/// A source with three slashes, alone, first of a list and as a directory, and a function that reads it. Salt 3006.29 and
/// 3007.16 say the same of these states.
const STATES: &str = "
- {state: file, fun: managed, name: /alone, source: 'salt:///a'}
- {state: file, fun: managed, name: /listed, source: ['salt:///a', 'salt://d/a']}
- {state: file, fun: recurse, name: /tree, source: 'salt:///d'}
- {state: file, fun: managed, name: /asked, source: 'salt://t', template: jinja}
";

#[test]
fn before_3008_a_source_with_three_slashes_is_missing() {
    let low = mapstack_yaml::load(STATES).unwrap();
    let minion = Minion::new("m").complete();
    let texts = |version| {
        let served = MemoryFiles::new()
            .file("base", "a", "of a")
            .file("base", "d/a", "of d")
            .file("base", "t", "{{ salt['cp.get_file_str']('salt:///a') }}");
        let engine = Engine::new(served).with_salt_version(version);
        let files = ManagedFiles::new(&engine, &minion, low.as_list().unwrap());
        let text = |content| match content {
            Content::Bytes(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
            Content::Failed(error) => error.to_string(),
            other => format!("{other:?}"),
        };
        let all = files.all();
        let rows = all
            .iter()
            .map(|file| format!("{}: {}", file.path, text(files.content(file))));
        rows.collect::<Vec<String>>()
    };
    for version in [SaltVersion::V3006, SaltVersion::V3007] {
        let expected = [
            "/alone: the source salt:///a does not exist in saltenv base (did you mean salt://a?)",
            "/listed: of d",
            "/tree: none of the sources is a directory of saltenv 'base': salt:///d",
            "/asked: False",
        ];
        assert_eq!(texts(version), expected, "{version}");
    }
    let expected = [
        "/alone: of a",
        "/listed: of a",
        "/tree: Nothing",
        "/tree/a: of d",
        "/asked: of a",
    ];
    assert_eq!(texts(SaltVersion::V3008), expected);
}
