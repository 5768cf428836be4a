//! A git repository of which the input is one file.

use std::fs;
use std::io;
use std::path::Path;

use mapstack_loader::{FileServer, SaltPath};
use mapstack_salt_config::gitfs::{GitFs, Remote};

const COMMIT: &str = "1111111111111111111111111111111111111111";
const TREE: &str = "2222222222222222222222222222222222222222";
const BLOB: &str = "3333333333333333333333333333333333333333";

/// The repository's files without objects; the first byte of the input says which one the rest of it replaces.
const FILES: [(&str, &str); 4] = [
    ("HEAD", "ref: refs/heads/main\n"),
    (
        "config",
        "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
    ),
    (
        "packed-refs",
        "# pack-refs with: peeled fully-peeled sorted \n1111111111111111111111111111111111111111 refs/heads/main\n",
    ),
    ("refs/tags/v1", "1111111111111111111111111111111111111111\n"),
];

/// References, the configuration and the objects of a repository.
///
/// The first byte chooses the form of the rest: one of four files, or the text of a commit, a tree or a blob.
pub fn git(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory for temporary files");
    let _ = build(
        directory.path(),
        usize::from(*choice) % (FILES.len() + 3),
        rest,
    )
    .map(|()| read(directory.path()))
    .expect("a directory that can be written");
}

fn build(root: &Path, choice: usize, input: &[u8]) -> io::Result<()> {
    fs::create_dir_all(root.join("refs/heads"))?;
    fs::create_dir_all(root.join("refs/tags"))?;
    for (i, (name, text)) in FILES.iter().enumerate() {
        fs::write(
            root.join(name),
            if i == choice { input } else { text.as_bytes() },
        )?;
    }
    let commit = format!("tree {TREE}\nauthor A <a@b> 0 +0000\ncommitter A <a@b> 0 +0000\n\nc\n");
    let tree = [b"100644 a.yaml\0".as_slice(), &[0x33; 20]].concat();
    let objects: [(&str, &str, &[u8]); 3] = [
        (COMMIT, "commit", commit.as_bytes()),
        (TREE, "tree", &tree),
        (BLOB, "blob", b"a: 1\n"),
    ];
    for (i, (id, kind, content)) in objects.into_iter().enumerate() {
        let content = if FILES.len() + i == choice {
            input
        } else {
            content
        };
        let folder = root.join("objects").join(&id[..2]);
        fs::create_dir_all(&folder)?;
        fs::write(
            folder.join(&id[2..]),
            stored(&[format!("{kind} {}\0", content.len()).as_bytes(), content].concat()),
        )?;
    }
    Ok(())
}

/// Bytes as a zlib stream that compresses nothing.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let mut blocks = bytes.chunks(0xffff).peekable();
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        stream.push(u8::from(blocks.peek().is_none()));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(block);
    }
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in bytes {
        a = (a + u32::from(*byte)) % 65521;
        b = (b + a) % 65521;
    }
    stream.extend(((b << 16) | a).to_be_bytes());
    stream
}

/// Everything a file server reads of it.
fn read(root: &Path) {
    let remote = Remote {
        base: "main".into(),
        ..Remote::new("fuzz", root)
    };
    let Ok(server) = GitFs::open(vec![remote]) else {
        return;
    };
    for saltenv in server.envs() {
        for path in server
            .list(&saltenv, "")
            .unwrap_or_default()
            .into_iter()
            .take(50)
        {
            let _ = server
                .fetch(&SaltPath::from_relative(&path), &saltenv)
                .map_err(|error| error.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use mapstack_loader::Fetched;

    use super::*;

    /// Without a change the repository serves its file, so that targets get as far as that.
    #[test]
    fn the_repository_can_be_read() {
        let directory = tempfile::tempdir().unwrap();
        build(directory.path(), usize::MAX, b"").unwrap();
        let server = GitFs::open(vec![Remote {
            base: "main".into(),
            ..Remote::new("fuzz", directory.path())
        }])
        .unwrap();
        assert_eq!(server.list("base", "").unwrap(), ["a.yaml"]);
        let found = server
            .fetch(&SaltPath::from_relative("a.yaml"), "base")
            .unwrap();
        assert!(
            matches!(&found, Fetched::Found { bytes, .. } if **bytes == *b"a: 1\n"),
            "{found:?}"
        );
    }
}
