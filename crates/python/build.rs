//! Gathers the modules that templates may import, for the compiler to freeze.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/sandbox/modules");
    if let Err(error) = python::gather() {
        panic!("the Python modules could not be gathered: {error}");
    }
}

mod python {
    use std::path::{Path, PathBuf};
    use std::{env, fs, io};

    /// Modules of Python's library that are taken as they are: each works on its arguments alone.
    const FROZEN: &[&str] = &[
        "_collections_abc.py",
        "_pydatetime.py",
        "_strptime.py",
        "_weakrefset.py",
        "abc.py",
        "base64.py",
        "bisect.py",
        "calendar.py",
        "collections/__init__.py",
        "collections/_defaultdict.py",
        "copy.py",
        "datetime.py",
        "enum.py",
        "functools.py",
        "hashlib.py",
        "heapq.py",
        "html/__init__.py",
        "html/entities.py",
        "json/__init__.py",
        "json/decoder.py",
        "json/encoder.py",
        "json/scanner.py",
        "keyword.py",
        "operator.py",
        "random.py",
        "re/__init__.py",
        "re/_casefix.py",
        "re/_compiler.py",
        "re/_constants.py",
        "re/_parser.py",
        "reprlib.py",
        "string/__init__.py",
        "struct.py",
        "types.py",
        "weakref.py",
    ];

    /// Modules that can run for long on small arguments; the engine compiles them itself, with a meter.
    const METERED: &[&str] = &["ipaddress.py", "textwrap.py"];

    pub fn gather() -> io::Result<()> {
        let library = Path::new(rustpython_pylib::LIB_PATH);
        let out = PathBuf::from(env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("no OUT_DIR"))?);
        let (frozen, metered) = (out.join("python"), out.join("metered"));
        for directory in [&frozen, &metered] {
            if directory.exists() {
                fs::remove_dir_all(directory)?;
            }
            fs::create_dir_all(directory)?;
        }
        for (names, directory) in [(FROZEN, &frozen), (METERED, &metered)] {
            for name in names {
                copy(&library.join(name), &directory.join(name))?;
            }
        }
        for entry in fs::read_dir("src/sandbox/modules")? {
            let entry = entry?;
            copy(&entry.path(), &frozen.join(entry.file_name()))?;
        }
        fs::write(out.join("frozen.rs"), "rustpython_vm::py_freeze!(dir = \"python\")\n")
    }

    fn copy(from: &Path, to: &Path) -> io::Result<()> {
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::copy(from, to)
            .map(drop)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", from.display())))
    }
}
