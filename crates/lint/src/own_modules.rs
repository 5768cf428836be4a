//! Python modules that the file server hands to minions, by what their sources say.

use mapstack::Engine;
use mapstack::loader::{Fetched, SaltPath};

/// Modules of some kinds, by the names of their files, with their texts.
pub(crate) struct OwnModules(Vec<(String, String)>);

impl OwnModules {
    /// The modules of a saltenv that lie in some folders, such as `_modules/`.
    pub fn of(engine: &Engine, saltenv: &str, folders: &[&str]) -> Self {
        let files = engine.files();
        let read = |path: String| {
            let inside = path.split_once('/')?.1.strip_suffix(".py")?;
            let inside = inside.strip_suffix("/__init__").unwrap_or(inside);
            match files.fetch(&SaltPath::from_relative(&path), saltenv) {
                Ok(Fetched::Found { bytes, .. }) => {
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    Some((inside.to_owned(), text))
                }
                _ => None,
            }
        };
        let listed = folders.iter();
        let listed = listed.flat_map(|folder| files.list(saltenv, folder).unwrap_or_default());
        OwnModules(listed.filter_map(read).collect())
    }

    /// True if one of them can have a function.
    pub fn has(&self, module: &str, function: &str) -> bool {
        let imports = |text: &str| {
            let mut lines = text.lines();
            lines.any(|line| line.contains("import ") && line.contains(function))
        };
        let has = |text: &str| {
            text.contains(&format!("def {function}("))
                || text.contains(&format!("{function} ="))
                || text.contains("__func_alias__")
                || text.contains("setattr(")
                || imports(text)
        };
        self.named(module).any(has)
    }

    /// True if one of them has a name.
    pub fn has_module(&self, module: &str) -> bool {
        self.named(module).next().is_some()
    }

    /// The names of their files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &**name)
    }

    /// The texts of those of a name, which is that of the file or the virtual one.
    fn named(&self, module: &str) -> impl Iterator<Item = &str> {
        let is_named = move |name: &str, text: &str| {
            let is_quoted = |quote| text.contains(&format!("{quote}{module}{quote}"));
            name == module || text.contains("__virtual") && ['"', '\''].into_iter().any(is_quoted)
        };
        let named = self
            .0
            .iter()
            .filter(move |(name, text)| is_named(name, text));
        named.map(|(_, text)| &**text)
    }
}
