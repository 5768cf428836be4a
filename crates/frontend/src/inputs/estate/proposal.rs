//! The `.mapstack.yaml` that says what was found in a checkout, to be corrected by hand.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use mapstack::nearest;

use super::ids::{inside, read_inside};
use super::top_text::sls_names;
use crate::inputs::project::Project;

/// Text as YAML writes it: plain where that is the same text.
fn scalar(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    let starts_plain =
        text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '.'));
    match starts_plain && text.chars().all(is_plain) && text != "." && !text.starts_with("..") {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "''")),
    }
}

/// The last parts of the names of sls in a folder.
fn sls_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let name = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        match name.strip_suffix(".sls") {
            Some(name) => Some(name.to_owned()),
            None => entry.path().join("init.sls").is_file().then_some(name),
        }
    };
    entries.filter_map(name).collect()
}

impl Project {
    /// The text of a `.mapstack.yaml` with what was found of the project.
    ///
    /// ```
    /// # use mapstack_frontend::inputs::Project;
    /// let text = Project::default().proposal();
    /// assert!(text.starts_with("# The layout of this checkout"));
    /// ```
    #[must_use]
    pub fn proposal(&self) -> String {
        let mut text = String::from(
            "# The layout of this checkout. All keys are optional: mapstack finds the values of missing ones.\n",
        );
        if !self.roots.is_empty() {
            text.push_str("\n# Roots of the file server, earlier ones win.\n");
            self.propose_roots(&mut text, "roots", &self.roots);
        }
        if !self.pillar_roots.is_empty() {
            text.push_str("\n# Roots of the pillar.\n");
            self.propose_roots(&mut text, "pillar_roots", &self.pillar_roots);
        }
        self.propose_paths(&mut text);
        self.propose_elsewhere(&mut text);
        self.propose_minions(&mut text);
        text
    }

    /// A path as the file has it.
    fn written(&self, path: &Path) -> String {
        let inside = match self.directory == Path::new(".") {
            true => path.strip_prefix(".").unwrap_or(path),
            false => path.strip_prefix(&self.directory).unwrap_or(path),
        };
        match inside.as_os_str().is_empty() || inside == Path::new(".") {
            true => ".".into(),
            false => scalar(&inside.display().to_string()),
        }
    }

    fn propose_roots(&self, text: &mut String, key: &str, roots: &[(String, PathBuf)]) {
        let mut envs: Vec<&str> = Vec::new();
        for (env, _) in roots {
            if !envs.contains(&&**env) {
                envs.push(env);
            }
        }
        let of = |env: &str| -> String {
            let own = roots.iter().filter(|(of, _)| of == env);
            let paths: Vec<String> = own.map(|(_, path)| self.written(path)).collect();
            paths.join(", ")
        };
        if envs == ["base"] {
            let _ = writeln!(text, "{key}: [{}]", of("base"));
            return;
        }
        let _ = writeln!(text, "{key}:");
        for env in envs {
            let _ = writeln!(text, "  {}: [{}]", scalar(env), of(env));
        }
    }

    fn propose_paths(&self, text: &mut String) {
        let config = self.estate.as_ref().and_then(|estate| {
            let path = Path::new(estate.config.files().first()?);
            path.is_file().then(|| self.written(path))
        });
        text.push_str("\n# The master's configuration, for the options that count; the paths in it are deployed paths.\n");
        match config {
            Some(config) => drop(writeln!(text, "config: {config}")),
            None => text.push_str("# config: etc/salt/master\n"),
        }
        if !self.deployed.is_empty() {
            text.push_str("\n# Where these folders are on the master.\ndeployed:\n");
            for (path, folder) in &self.deployed {
                let _ = writeln!(text, "  {}: {}", scalar(path), self.written(folder));
            }
        }
    }

    fn propose_elsewhere(&self, text: &mut String) {
        text.push_str("\n# Formulas in other repositories: `mapstack fetch` mirrors them.\n");
        match &self.formulas[..] {
            [] => text.push_str(
                "# formulas:\n#   - {git: https://example.org/users-formula, ref: v1.2.0}\n",
            ),
            formulas => {
                text.push_str("formulas:\n");
                for formula in formulas {
                    let reference = formula.reference.as_deref().unwrap_or("HEAD");
                    let (git, reference) = (scalar(&formula.git), scalar(reference));
                    let _ = writeln!(text, "  - {{git: {git}, ref: {reference}}}");
                }
            }
        }
        text.push_str(
            "\n# Sls and files that are kept elsewhere, such as private ones: they count as empty.\n",
        );
        let absent = match &self.absent[..] {
            [] => self.missing_from_pillar(),
            absent => absent.to_vec(),
        };
        if absent.is_empty() {
            text.push_str("# absent: [secrets.*]\n");
            return;
        }
        if self.absent.is_empty() {
            text.push_str("# Top files of the pillar name these, and no root has them.\n");
        }
        let absent: Vec<String> = absent.iter().map(|pattern| scalar(pattern)).collect();
        let _ = writeln!(text, "absent: [{}]", absent.join(", "));
    }

    /// The sls that top files of the pillar name and no root has, with a pattern in place of those of a folder that no
    /// root has. A name that is nearly that of another sls beside it may be a slip, and is not among them.
    fn missing_from_pillar(&self) -> Vec<String> {
        let roots = self.relative(&self.pillar_roots);
        let folder = |path: &str| -> Vec<PathBuf> {
            let folders = roots.iter().map(|root| root.join(path));
            folders
                .filter_map(|folder| inside(&self.directory, &folder))
                .filter(|folder| folder.is_dir())
                .collect()
        };
        let tops = roots.iter().map(|root| root.join("top.sls"));
        let texts = tops.filter_map(|top| read_inside(&self.directory, &top));
        let mut missing: Vec<String> = Vec::new();
        for name in texts.flat_map(|text| sls_names(&text)) {
            let path = name.replace('.', "/");
            let (above, last) = path.rsplit_once('/').unwrap_or(("", &path));
            let beside: Vec<String> = folder(above).iter().flat_map(|it| sls_in(it)).collect();
            if beside.iter().any(|one| one == last) || nearest(last, &beside).is_some() {
                continue;
            }
            let mut folders = path.match_indices('/').map(|(at, _)| &path[..at]);
            let pattern = match folders.find(|path| folder(path).is_empty()) {
                Some(folder) => format!("{}.*", folder.replace('/', ".")),
                None => name,
            };
            if !missing.contains(&pattern) {
                missing.push(pattern);
            }
        }
        missing
    }

    fn propose_minions(&self, text: &mut String) {
        text.push_str("\n# The minions and their assumed grains; `mapstack minions` lists them.\n");
        let found = self.find_minions().unwrap_or_default();
        let sources = found.sources.iter().filter(|(source, _)| {
            let path = self.directory.join(source);
            source.contains('*') || path.is_file() && !source.ends_with("top.sls")
        });
        let sources: Vec<String> = sources.map(|(source, _)| scalar(source)).collect();
        if found.all.is_empty() {
            text.push_str("# minions:\n#   from: [web1.example.org, db1.example.org]\n#   platform: debian-12\n");
            return;
        }
        text.push_str("minions:\n");
        // Without a key for minions, those of top files are found.
        let hidden = match found.sources.len() == sources.len() {
            true => "",
            false => "# ",
        };
        let _ = match &sources[..] {
            [] => writeln!(text, "  # from: pillar/minions/*.sls"),
            [one] => writeln!(text, "  {hidden}from: {one}"),
            several => writeln!(text, "  {hidden}from: [{}]", several.join(", ")),
        };
        let _ = writeln!(text, "  platform: {}", found.platform());
        text.push_str("  # grains: {roles: [web]}\n  # grains_from: pillar:grains\n");
    }
}
