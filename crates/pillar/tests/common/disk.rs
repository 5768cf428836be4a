//! Files in a directory.

use std::fs;
use std::path::Path;

/// Write files below a directory, by their paths there.
pub fn write<T: AsRef<str>>(root: &Path, files: &[(&str, T)]) {
    for (name, text) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.as_ref()).unwrap();
    }
}

/// A directory with files.
pub fn written(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), files);
    directory
}
