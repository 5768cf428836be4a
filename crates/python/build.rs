//! Gathers the modules that templates may import, and what is there besides, for the compiler to freeze.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/sandbox/modules");
    for part in python::PRELUDE {
        println!("cargo::rerun-if-changed={part}");
    }
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
        "_pydecimal.py",
        "_strptime.py",
        "_weakrefset.py",
        "abc.py",
        "base64.py",
        "bisect.py",
        "calendar.py",
        "collections/__init__.py",
        "collections/_defaultdict.py",
        "configparser.py",
        "contextlib.py",
        "contextvars.py",
        "copy.py",
        "copyreg.py",
        "csv.py",
        "dataclasses.py",
        "datetime.py",
        "decimal.py",
        "difflib.py",
        "enum.py",
        "fnmatch.py",
        "fractions.py",
        "functools.py",
        "genericpath.py",
        "graphlib.py",
        "hashlib.py",
        "heapq.py",
        "hmac.py",
        "html/__init__.py",
        "html/entities.py",
        "ipaddress.py",
        "json/__init__.py",
        "json/decoder.py",
        "json/encoder.py",
        "json/scanner.py",
        "keyword.py",
        "ntpath.py",
        "numbers.py",
        "operator.py",
        "pathlib/__init__.py",
        "pathlib/_os.py",
        "pprint.py",
        "random.py",
        "re/__init__.py",
        "re/_casefix.py",
        "re/_compiler.py",
        "re/_constants.py",
        "re/_parser.py",
        "reprlib.py",
        "shlex.py",
        "stat.py",
        "statistics.py",
        "string/__init__.py",
        "struct.py",
        "textwrap.py",
        "types.py",
        "typing.py",
        "urllib/__init__.py",
        "urllib/parse.py",
        "uuid.py",
        "weakref.py",
    ];

    /// The code that runs before any template. Templates cannot import it.
    pub const PRELUDE: &[&str] = &[
        "src/sandbox/prelude.py",
        "src/mako/runtime.py",
        "src/sandbox/imports.py",
        "src/sandbox/library.py",
        "src/sandbox/packages.py",
        "src/sandbox/saltlib.py",
        "src/sandbox/extmods.py",
        "src/sandbox/objects.py",
    ];

    pub fn gather() -> io::Result<()> {
        let library = Path::new(rustpython_pylib::LIB_PATH);
        let out =
            PathBuf::from(env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("no OUT_DIR"))?);
        let (frozen, prelude) = (out.join("python"), out.join("prelude"));
        for folder in [&frozen, &prelude] {
            if folder.exists() {
                fs::remove_dir_all(folder)?;
            }
            fs::create_dir_all(folder)?;
        }
        for part in PRELUDE {
            let part = Path::new(part);
            copy(part, &prelude.join(part.file_name().unwrap_or_default()))?;
        }
        let mut names: Vec<String> = FROZEN.iter().map(|file| name_of(file)).collect();
        for file in FROZEN {
            copy(&library.join(file), &frozen.join(file))?;
        }
        for entry in fs::read_dir("src/sandbox/modules")? {
            let entry = entry?;
            names.push(name_of(&entry.file_name().to_string_lossy()));
            copy(&entry.path(), &frozen.join(entry.file_name()))?;
        }
        fs::write(out.join("names.rs"), format!("{names:?}"))?;
        for folder in ["python", "prelude"] {
            let freeze = format!("rustpython_vm::py_freeze!(dir = \"{folder}\")\n");
            fs::write(out.join(folder).with_extension("rs"), freeze)?;
        }
        Ok(())
    }

    /// The module that a file holds.
    fn name_of(file: &str) -> String {
        file.trim_end_matches(".py")
            .trim_end_matches("/__init__")
            .replace('/', ".")
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
