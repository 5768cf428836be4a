//! The functions of `file.*` that only look at paths as text.

use mapstack_pyobject::{Error, Obj, Result, required};
use mapstack_value::{Str, posixpath};

use super::ModuleTable;

pub(super) const TABLE: ModuleTable = &[
    ("file.basename", |_, _, args| {
        let [path] = args.bind("file.basename", ["path"])?;
        let path = path_text(&required(path, "file.basename", "path")?)?;
        Ok(Obj::from(posixpath::split(&path).1))
    }),
    ("file.dirname", |_, _, args| {
        let [path] = args.bind("file.dirname", ["path"])?;
        let path = path_text(&required(path, "file.dirname", "path")?)?;
        Ok(Obj::from(dirname(&path)))
    }),
    ("file.join", |_, _, args| {
        if let Some((name, _)) = args.named.first() {
            return Err(Error::type_error(format!(
                "file.join() got an unexpected keyword argument '{name}'"
            )));
        }
        if args.positional.is_empty() {
            return Err(Error::type_error(
                "file.join() missing 1 required positional argument: 'a'",
            ));
        }
        let parts: Vec<_> = args
            .positional
            .iter()
            .map(path_text)
            .collect::<Result<_>>()?;
        Ok(Obj::from(
            parts
                .iter()
                .fold(String::new(), |joined, part| posixpath::join(&joined, part)),
        ))
    }),
    ("file.normpath", |_, _, args| {
        let [path] = args.bind("file.normpath", ["path"])?;
        let path = path_text(&required(path, "file.normpath", "path")?)?;
        Ok(Obj::from(posixpath::normpath(&path)))
    }),
];

fn path_text(path: &Obj) -> Result<Str> {
    path.as_str().cloned().ok_or_else(|| {
        Error::type_error(format!(
            "expected str, bytes or os.PathLike object, not {}",
            path.type_name()
        ))
    })
}

/// `os.path.dirname`.
pub(super) fn dirname(path: &str) -> &str {
    posixpath::split(path).0
}
