//! Python modules that the file server hands to minions, by what their sources say.

use mapstack::Engine;
use mapstack::loader::{Fetched, SaltPath};

/// Modules of some kinds, by the names of their files, with their texts.
///
/// ```
/// use mapstack::{Engine, loader::MemoryFiles};
/// use mapstack_states::OwnModules;
/// let files = MemoryFiles::new().file("base", "_states/web.py", "def present(name):\n    return {}");
/// let own = OwnModules::of(&Engine::new(files), &["_states/"]);
/// assert!(own.has("web", "present") && !own.has("web", "absent") && !own.has_module("db"));
/// assert_eq!(own.watches("web"), Some(false));
/// ```
#[derive(Debug, Clone, Default)]
pub struct OwnModules(Vec<(String, String)>);

impl OwnModules {
    /// The modules of all saltenvs that lie in some folders, such as `_modules/`.
    #[must_use]
    pub fn of(engine: &Engine, folders: &[&str]) -> Self {
        let files = engine.files();
        let read = |(saltenv, path): (&str, String)| {
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
        let envs = files.envs();
        let listed = |saltenv: &String| {
            let folders = folders.iter();
            let paths = folders.flat_map(|folder| files.list(saltenv, folder).unwrap_or_default());
            paths.collect::<Vec<String>>()
        };
        let all = envs.iter().flat_map(|env| {
            let paths = listed(env).into_iter();
            paths.map(move |path| (env.as_str(), path))
        });
        OwnModules(all.filter_map(read).collect())
    }

    /// True if one of them can have a function.
    #[must_use]
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
    #[must_use]
    pub fn has_module(&self, module: &str) -> bool {
        self.named(module).next().is_some()
    }

    /// The names of their files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &**name)
    }

    /// True if a state module does something about what it watches; nothing if none of them has the name.
    #[must_use]
    pub fn watches(&self, module: &str) -> Option<bool> {
        let is_there = self.has_module(module);
        is_there.then(|| self.has(module, "mod_watch"))
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
