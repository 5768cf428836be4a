//! Turning flags into an engine, a minion, and keyword arguments.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use mapstack::loader::{Backends, Roots};
use mapstack::minion::{Minion, Part, platforms};
use mapstack::value::{Map, Value, json};
use mapstack::{Diagnostic, Engine, Error, ErrorKind, Run, yaml};
use mapstack_salt_config::fileserver::{self, Configured};
use mapstack_salt_config::{Config, Kind};

use crate::cli::{Facts, Files, Input, Layering, Merging, Target};
use crate::configuration;
use crate::functions;
use crate::minions::{self, Choice, Source};
use crate::report::{Failure, Reporter};

/// Everything a verb that looks at one minion needs.
pub struct Session {
    pub engine: Engine,
    pub minion: Minion,
    roots: Roots,
    saltenv: Option<String>,
}

impl Session {
    pub fn new(input: &Input, reporter: &Reporter) -> Result<Self, Failure> {
        let config = configuration::read(&input.files, input.facts.id.as_deref(), None, reporter)?;
        let minion = minion(input, config.as_ref(), reporter)?;
        reporter.knows(&minion);
        let missing = config
            .as_ref()
            .and_then(|config| configuration::missing_pillar(config, &minion));
        reporter.warn(&reporter.redact_all(&missing))?;
        let Served { files, roots } =
            served(&input.files, config.as_ref(), Some(&minion), reporter)?;
        let saltenv = input.files.saltenv.clone();
        let engine = functions::add(Engine::new(files), &input.functions)?;
        Ok(Session {
            engine,
            minion,
            roots,
            saltenv,
        })
    }

    /// The directories that serve a saltenv; the minion's, if none is named.
    pub fn directories(&self, saltenv: Option<&str>) -> Vec<String> {
        let configured = || {
            self.minion
                .opts
                .get("saltenv")
                .and_then(Value::as_str)
                .filter(|env| !env.is_empty())
        };
        let saltenv = saltenv
            .or(self.saltenv.as_deref())
            .or_else(configured)
            .unwrap_or("base");
        self.roots
            .directories(saltenv)
            .iter()
            .map(|root| root.display().to_string())
            .collect()
    }

    /// The path from the file server's root of a file that is given by its path on disk.
    pub fn served_path(&self, file: &Path) -> String {
        let given = file.display().to_string().replace('\\', "/");
        let given = given.strip_prefix("salt://").unwrap_or(&given);
        below(&self.directories(None), given).unwrap_or_else(|| given.to_owned())
    }

    pub fn run(&self) -> Run<'_> {
        let run = self.engine.run(&self.minion).following_secrets();
        match &self.saltenv {
            Some(saltenv) => run.with_saltenv(saltenv.as_str()),
            None => run,
        }
    }
}

/// The path of a file below one of some roots.
pub fn below(roots: &[String], given: &str) -> Option<String> {
    let inside = |root: &String| {
        let inside = Path::new(given)
            .strip_prefix(root)
            .ok()
            .map(Path::to_path_buf);
        let real = || {
            let (file, root) = (fs::canonicalize(given).ok()?, fs::canonicalize(root).ok()?);
            Some(file.strip_prefix(root).ok()?.to_path_buf())
        };
        inside.or_else(real)
    };
    roots
        .iter()
        .find_map(inside)
        .map(|path| path.display().to_string().replace('\\', "/"))
}

/// A file server, and the directories among what it serves.
pub struct Served {
    pub files: Backends,
    roots: Roots,
}

impl Served {
    /// The directories that serve a saltenv.
    pub fn directories(&self, saltenv: &str) -> Vec<String> {
        self.roots
            .directories(saltenv)
            .iter()
            .map(|root| root.display().to_string())
            .collect()
    }
}

/// The file server: of the roots that are given, else of the configuration, else of the minion's
/// options.
pub fn served(
    files: &Files,
    config: Option<&Config>,
    minion: Option<&Minion>,
    reporter: &Reporter,
) -> Result<Served, Failure> {
    match config.filter(|_| files.root.is_empty()) {
        Some(config) => {
            let options = configuration::file_options(Some(config), minion)?;
            let (served, warnings) = configured(files, config, options)?;
            reporter.warn(&reporter.redact_all(&warnings))?;
            Ok(served)
        }
        None => {
            let (roots, warnings) = named_roots(files, minion)?;
            let roots = roots.follow_outside_links(follows_outside_links(files, config));
            let missing = roots.missing_roots().into_iter().map(|root| {
                Diagnostic::warning(
                    ErrorKind::File,
                    format!("the root {} is not a directory", root.display()),
                )
                .with_help("it is ignored, as the reference ignores it")
            });
            let warnings: Vec<Diagnostic> = warnings.into_iter().chain(missing).collect();
            reporter.warn(&reporter.redact_all(&warnings))?;
            Ok(Served {
                files: Backends::new(vec![Box::new(roots.clone())]),
                roots,
            })
        }
    }
}

/// Whether links that leave a root are followed: a flag asks for it, or the configuration itself.
pub fn follows_outside_links(files: &Files, config: Option<&Config>) -> bool {
    let asked = |config: &Config| {
        config.is_set("fileserver_followsymlinks")
            && config
                .get("fileserver_followsymlinks")
                .is_some_and(Value::truthy)
    };
    files.follow_outside_links || config.is_some_and(asked)
}

/// The file server that a configuration describes.
fn configured(
    files: &Files,
    config: &Config,
    mut options: Map,
) -> Result<(Served, Vec<Diagnostic>), Failure> {
    // What Salt has built in does not count: grains choose paths, and a link would turn one into any file.
    if files.follow_outside_links || !config.is_set("fileserver_followsymlinks") {
        options.insert("fileserver_followsymlinks", files.follow_outside_links);
    }
    // The file server reads the same option, and warns of it.
    let (mut roots, _) = configuration::roots(&options)?;
    let missing = roots.missing_roots();
    if !config.is_set("file_roots") && missing.len() == roots.directories("base").len() {
        if !config.is_set("fileserver_backend") {
            return Err(Failure::Usage(format!(
                "{} sets no file_roots, and what is built in is not there ({}):\n\
                 say where the file server's files are with --root DIR",
                config.path(),
                missing
                    .iter()
                    .map(|root| root.display().to_string())
                    .collect::<Vec<_>>()
                    .join(", ")
            )));
        }
        // Nobody asked for the directories that are built in.
        options.insert("file_roots", Map::new());
        roots = Roots::new();
    }
    let uses_git = options
        .get("fileserver_backend")
        .is_some_and(|backends| backends.repr().contains("git"));
    let mirrors = if uses_git {
        configuration::mirrors(files.mirrors.as_deref())?
    } else {
        PathBuf::new()
    };
    let Configured { files, warnings } = fileserver::open(&options, &mirrors)?;
    Ok((Served { files, roots }, warnings))
}

fn named_roots(
    files: &Files,
    minion: Option<&Minion>,
) -> Result<(Roots, Vec<Diagnostic>), Failure> {
    if !files.root.is_empty() {
        let add = |roots: Roots, (env, directory): (&str, &str)| roots.root(env, directory);
        return Ok((root_flags(files).fold(Roots::new(), add), Vec::new()));
    }
    let options = configuration::file_options(None, minion)?;
    if options.get("file_roots").and_then(Value::as_map).is_none() {
        return Err(Failure::Usage(
            "no root given: say where the file server's files are with --root DIR (repeatable, earlier wins),\n\
             or give a configuration that does with --config FILE"
                .into(),
        ));
    }
    configuration::roots(&options)
}

/// The saltenvs and directories of `--root`.
pub fn root_flags(files: &Files) -> impl Iterator<Item = (&str, &str)> {
    let default_env = files.saltenv.as_deref().unwrap_or("base");
    files
        .root
        .iter()
        .map(move |root| split_root(root).unwrap_or((default_env, root)))
}

/// `ENV=DIR`, unless all of it names a directory.
fn split_root(root: &str) -> Option<(&str, &str)> {
    let (env, directory) = root.split_once('=')?;
    let is_env = !env.is_empty() && !env.contains(['/', '\\']);
    (is_env && !Path::new(root).is_dir()).then_some((env, directory))
}

fn minion(input: &Input, config: Option<&Config>, reporter: &Reporter) -> Result<Minion, Failure> {
    let others = input
        .functions
        .stub
        .iter()
        .chain(&input.custom_data)
        .chain(&input.files.config);
    minion_of(&input.facts, config, others.map(|file| &**file), reporter)
}

/// The minion of flags. `others` are more files that may be standard input.
fn minion_of<'f>(
    facts: &'f Facts,
    config: Option<&Config>,
    others: impl Iterator<Item = &'f Path>,
    reporter: &Reporter,
) -> Result<Minion, Failure> {
    let given = [&facts.minion, &facts.grains, &facts.pillar, &facts.opts];
    check_stdin(facts, others)?;
    if let Some(path) = &facts.minions {
        let given = Given::read(facts, config)?;
        let source = Source::open(path, given.pillarenv().as_deref(), reporter)?;
        return given.change(source.one(facts.id.as_deref())?, true);
    }
    if !facts.platform.is_empty() {
        let chosen = facts.id.as_deref().map_or(Choice::All, Choice::Id);
        return match <[Minion; 1]>::try_from(minions::of_platforms(&facts.platform, chosen)?) {
            Ok([minion]) => Given::read(facts, config)?.change(minion, true),
            Err(_) => Err(Failure::Usage(
                "one minion is looked at here: give --platform once".into(),
            )),
        };
    }
    if let (Some(cache), Some(id)) = (configuration::cache(config, facts), &facts.id) {
        let given = Given::read(facts, config)?;
        let cached =
            configuration::cached(cache, id, given.pillarenv().as_deref(), facts, reporter)?;
        return given.change(cached.unwrap_or_default(), true);
    }
    if let (Some(cache), true) = (
        configuration::cache(config, facts),
        facts.grains.is_none() && facts.set.is_empty(),
    ) {
        return Err(Failure::Usage(format!(
            "no minion given: say which one of the cache {cache} with --id NAME, or give --minion FILE or --grains FILE"
        )));
    }
    let described = config.is_some_and(|config| config.kind() != Kind::Master);
    if !described && given.iter().all(|f| f.is_none()) && facts.set.is_empty() && facts.id.is_none()
    {
        return Err(Failure::Usage(
            "no minion given: pass --minion FILE (one YAML document with id, grains, pillar, opts),\n\
             --platform debian-12 (or another one of `mapstack platforms`),\n\
             or --grains FILE; for the machine at hand:\n\
             \n    salt-call --local grains.items --out=json | mapstack … --grains -\n\
             \nor build one up: --id web1 --set grains.os_family=Debian"
                .into(),
        ));
    }
    let minion = match &facts.minion {
        Some(file) => Minion::parse(&read(file)?, &shown(file)).map_err(Error::from)?,
        None => Minion::default(),
    };
    Given::read(facts, config)?.change(minion, true)
}

/// No two files can be standard input.
fn check_stdin<'f>(
    facts: &'f Facts,
    others: impl Iterator<Item = &'f Path>,
) -> Result<(), Failure> {
    let given = [
        &facts.minion,
        &facts.minions,
        &facts.grains,
        &facts.pillar,
        &facts.opts,
    ];
    let all = given
        .iter()
        .filter_map(|file| file.as_deref())
        .chain(others);
    match all.filter(|file| *file == Path::new("-")).count() {
        0 | 1 => Ok(()),
        _ => Err(Failure::Usage(
            "standard input can be read once: only one file may be -".into(),
        )),
    }
}

/// The minions that are meant, each as far as it could be read.
pub struct Chosen {
    pub minions: Vec<(String, Result<Minion, Error>)>,
    /// Whether several were meant, even if there is one.
    pub many: bool,
}

impl Chosen {
    fn one(minion: Minion) -> Self {
        Chosen {
            minions: vec![(minion.id().to_string(), Ok(minion))],
            many: false,
        }
    }
}

/// The minions of `--minions` or of the master's cache that flags choose, or those of `--platform`;
/// without these the one that flags describe. `pillarenv` is the master's.
pub fn minions(
    (facts, target): (&Facts, &Target),
    config: Option<&Config>,
    pillarenv: Option<&str>,
    stubs: &[PathBuf],
    reporter: &Reporter,
) -> Result<Chosen, Failure> {
    let stubs = stubs.iter().map(|file| &**file);
    let choice = Choice::of(facts, target);
    let described = facts.id.is_some() || is_described(facts, target);
    let cache = configuration::cache(config, facts)
        .filter(|_| !described)
        .map(Path::new);
    let path = facts.minions.as_deref().or(cache);
    if path.is_none() && facts.platform.is_empty() {
        refuse_glob(target)?;
        return Ok(Chosen::one(minion_of(facts, config, stubs, reporter)?));
    }
    if let Some(cache) = cache.filter(|cache| !cache.is_dir()) {
        let what = "no minion given";
        return Err(Failure::Data(configuration::no_cache(
            &cache.display().to_string(),
            what,
        )));
    }
    check_stdin(facts, stubs)?;
    let given = Given::read(facts, config)?;
    let Some(path) = path else {
        let minions = minions::of_platforms(&facts.platform, choice)?;
        let many = facts.platform.len() > 1 || target.minion_glob.is_some();
        let named = minions
            .into_iter()
            .map(|minion| Ok((minion.id().to_string(), Ok(given.change(minion, !many)?))));
        return Ok(Chosen {
            minions: named.collect::<Result<_, Failure>>()?,
            many,
        });
    };
    let own = given.pillarenv();
    let source = Source::open(path, own.as_deref().or(pillarenv), reporter)?;
    let many = !matches!(choice, Choice::Id(_));
    let mut minions = Vec::new();
    for id in source.chosen_ids(choice)? {
        let read = match source.read(&id) {
            Ok(minion) => Ok(given.change(minion, !many)?),
            Err(error) if many && !source.is_cache() => {
                Err(error.note(format!("for the minion {id}")))
            }
            Err(error) => Err(error),
        };
        minions.push((id, read));
    }
    Ok(Chosen { minions, many })
}

/// Whether flags tell the facts of the only minion there is.
fn is_described(facts: &Facts, target: &Target) -> bool {
    target.minion_glob.is_none() && (facts.grains.is_some() || !facts.set.is_empty())
}

/// Nothing can be chosen of one minion.
fn refuse_glob(target: &Target) -> Result<(), Failure> {
    match &target.minion_glob {
        None => Ok(()),
        Some(glob) => Err(Failure::Usage(format!(
            "--minion-glob {glob} chooses among many minions: say where they are with --minions PATH, --platform,\n\
             or the --config of a master"
        ))),
    }
}

/// Many minions that are read one by one.
pub struct Many<'f> {
    given: Given<'f>,
    listed: Listed,
}

enum Listed {
    There(Source, Vec<String>),
    Here(Vec<Minion>),
}

impl<'f> Many<'f> {
    /// The same minions as [`minions`] has, of which none is read yet; `all` is every platform.
    pub fn list(
        (facts, target): (&'f Facts, &Target),
        config: Option<&'f Config>,
        others: &[PathBuf],
        reporter: &Reporter,
    ) -> Result<Self, Failure> {
        let choice = Choice::of(facts, target);
        let cache = configuration::cache(config, facts).map(Path::new);
        let described = is_described(facts, target);
        if let Some(path) = facts.minions.as_deref().or(cache.filter(|_| !described)) {
            if facts.minions.is_none() && !path.is_dir() {
                let what = "no minion given";
                return Err(Failure::Data(configuration::no_cache(
                    &path.display().to_string(),
                    what,
                )));
            }
            check_stdin(facts, others.iter().map(|file| &**file))?;
            let given = Given::read(facts, config)?;
            let source = Source::open(path, given.pillarenv().as_deref(), reporter)?;
            let ids = source.chosen_ids(choice)?;
            return Ok(Many {
                given,
                listed: Listed::There(source, ids),
            });
        }
        let every: Vec<String> = platforms::all()
            .iter()
            .map(|platform| platform.name.into())
            .collect();
        let platforms = if facts.platform == ["all"] {
            &every
        } else {
            &facts.platform
        };
        let minions = match platforms.is_empty() {
            false => minions::of_platforms(platforms, choice)?,
            true => {
                refuse_glob(target)?;
                vec![minion_of(
                    facts,
                    config,
                    others.iter().map(|file| &**file),
                    reporter,
                )?]
            }
        };
        Ok(Many {
            given: Given::read(facts, config)?,
            listed: Listed::Here(minions),
        })
    }

    /// The same, or every platform if nothing says which minions are meant.
    pub fn list_or_platforms(
        (facts, target): (&'f Facts, &Target),
        config: Option<&'f Config>,
        others: &[PathBuf],
        reporter: &Reporter,
    ) -> Result<Self, Failure> {
        if facts.name_minions() || configuration::cache(config, facts).is_some() {
            return Self::list((facts, target), config, others, reporter);
        }
        let every: Vec<String> = platforms::all()
            .iter()
            .map(|platform| platform.name.into())
            .collect();
        let minions = minions::of_platforms(&every, Choice::of(facts, target))?;
        Ok(Many {
            given: Given::read(facts, config)?,
            listed: Listed::Here(minions),
        })
    }

    /// The ids, in order.
    pub fn ids(&self) -> Vec<String> {
        match &self.listed {
            Listed::There(_, ids) => ids.clone(),
            Listed::Here(minions) => minions
                .iter()
                .map(|minion| minion.id().to_string())
                .collect(),
        }
    }

    /// One of them, as flags have it.
    pub fn read(&self, id: &str) -> Result<Minion, Error> {
        let alone = matches!(&self.listed, Listed::Here(minions) if minions.len() == 1);
        self.changed(self.unchanged(id)?, alone)
    }

    /// The same for who has read it before; only its name if that is no longer possible.
    pub fn read_or_name(&self, id: &str) -> Minion {
        self.read(id).unwrap_or_else(|_| Minion::new(id))
    }

    /// One of them, without what flags change in each of many.
    pub fn unchanged(&self, id: &str) -> Result<Minion, Error> {
        match &self.listed {
            Listed::There(source, _) => source.read(id),
            Listed::Here(minions) => {
                let found = minions.iter().find(|minion| minion.id().to_string() == id);
                Ok(found.cloned().unwrap_or_else(|| Minion::new(id)))
            }
        }
    }

    /// A minion of several, as flags have it.
    pub fn as_given(&self, minion: Minion) -> Result<Minion, Error> {
        self.changed(minion, false)
    }

    fn changed(&self, minion: Minion, alone: bool) -> Result<Minion, Error> {
        self.given
            .change(minion, alone)
            .map_err(|failure| match failure {
                Failure::Data(error) => error,
                other => Error::new(ErrorKind::Facts, other.to_string()),
            })
    }
}

/// What flags say otherwise about a minion.
struct Given<'f> {
    facts: &'f Facts,
    config: Option<&'f Config>,
    files: Vec<(Part, Vec<u8>, String)>,
}

impl<'f> Given<'f> {
    fn read(facts: &'f Facts, config: Option<&'f Config>) -> Result<Self, Failure> {
        let parts = [
            (&facts.grains, Part::Grains),
            (&facts.pillar, Part::Pillar),
            (&facts.opts, Part::Opts),
        ];
        let named = parts
            .into_iter()
            .filter_map(|(file, part)| Some((part, file.as_ref()?)));
        let files = named
            .map(|(part, file)| Ok((part, read(file)?, shown(file))))
            .collect::<Result<_, Failure>>()?;
        Ok(Given {
            facts,
            config,
            files,
        })
    }

    /// The option that says whose pillar a master's cache is to give. What is wrong with flags is
    /// found when they are used.
    fn pillarenv(&self) -> Option<String> {
        let mut minion = Minion::default();
        for (part, bytes, name) in self.files.iter().filter(|(part, ..)| *part == Part::Opts) {
            minion.load_part(*part, bytes, name).ok()?;
        }
        let set = self
            .facts
            .set
            .iter()
            .rev()
            .find_map(|change| change.strip_prefix("opts.pillarenv="));
        let set = set.and_then(|text| yaml::load(text).ok());
        let configured = || self.config.and_then(|config| config.get("pillarenv"));
        let name = set
            .as_ref()
            .or_else(|| minion.opts.get("pillarenv"))
            .or_else(configured)?;
        name.truthy().then(|| name.to_string())
    }

    /// The minion as the flags have it; one of several keeps its name.
    fn change(&self, mut minion: Minion, alone: bool) -> Result<Minion, Failure> {
        for (part, bytes, name) in &self.files {
            minion.load_part(*part, bytes, name).map_err(Error::from)?;
        }
        if let Some(config) = self.config.filter(|config| config.kind() != Kind::Master) {
            configuration::put_below(config, &mut minion)?;
        }
        if let Some(id) = self.facts.id.as_ref().filter(|_| alone) {
            minion.set_id(id.as_str());
        }
        for change in &self.facts.set {
            let (path, value) = change.split_once('=').ok_or_else(|| {
                Failure::Usage(format!(
                    "--set {change}: write PATH=YAML, such as grains.os=Debian"
                ))
            })?;
            let value = yaml_value(value, "--set")?;
            minion
                .set(path, value)
                .map_err(|e| Failure::Usage(format!("--set {change}: {e}")))?;
        }
        Ok(minion.complete())
    }
}

pub fn shown(file: &Path) -> String {
    if file == Path::new("-") {
        "<stdin>".into()
    } else {
        file.display().to_string()
    }
}

/// A facts file is small; more is a mistake.
const LARGEST: u64 = 64 << 20;

pub fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |e: std::io::Error| {
        Failure::Data(Error::new(
            ErrorKind::File,
            format!("cannot read {}: {e}", file.display()),
        ))
    };
    let mut bytes = Vec::new();
    let mut limited: Box<dyn Read> = if file == Path::new("-") {
        Box::new(std::io::stdin().lock().take(LARGEST + 1))
    } else {
        Box::new(std::fs::File::open(file).map_err(failed)?.take(LARGEST + 1))
    };
    limited.read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LARGEST {
        let message = format!("{} is larger than {} MiB", file.display(), LARGEST >> 20);
        return Err(Failure::Data(Error::new(ErrorKind::Limit, message)));
    }
    Ok(bytes)
}

/// The text of a file given by a flag, and what to call it.
pub fn text_file(file: &Path) -> Result<(String, String), Failure> {
    let bytes = read(file)?;
    let text = yaml::decode(&bytes).map_err(|e| bad_file(file, &e))?;
    Ok((text.to_string(), shown(file)))
}

fn yaml_value(text: &str, flag: &str) -> Result<Value, Failure> {
    yaml::load(text).map_err(|e| Failure::Usage(format!("{flag}: '{text}' is no YAML: {e}")))
}

/// A data file given by a flag.
pub fn data_file(file: &Path) -> Result<Value, Failure> {
    yaml::load(&text_file(file)?.0).map_err(|e| bad_file(file, &e))
}

fn bad_file(file: &Path, e: &yaml::Error) -> Failure {
    let at = e
        .mark()
        .map_or(String::new(), |m| format!(":{}:{}", m.line, m.column));
    Failure::Data(Error::new(
        ErrorKind::Yaml,
        format!("{}{at}: {e}", file.display()),
    ))
}

/// Keyword arguments under their reference names: those of `--kwargs`, then flags over them.
pub struct Kwargs(Map);

impl Kwargs {
    pub fn new(input: &Input) -> Result<Self, Failure> {
        let mut kwargs = match &input.kwargs {
            None => Map::new(),
            Some(text) => match json::loads(text) {
                Ok(Value::Map(map)) => map,
                Ok(other) => {
                    let what = other.kind().described();
                    return Err(Failure::Usage(format!(
                        "--kwargs is {what}, not a JSON object"
                    )));
                }
                Err(e) => return Err(Failure::Usage(format!("--kwargs is no JSON: {e}"))),
            },
        };
        if let Some(file) = &input.custom_data {
            kwargs.insert("custom_data", data_file(file)?);
        }
        Ok(Kwargs(kwargs))
    }

    /// An argument whose text is a YAML scalar.
    pub fn scalar(mut self, name: &str, given: Option<&String>) -> Result<Self, Failure> {
        if let Some(text) = given {
            let value = yaml_value(text, &format!("--{}", name.replace('_', "-")))?;
            self.0.insert(name, value);
        }
        Ok(self)
    }

    /// An argument that is text whatever it looks like.
    pub fn text(mut self, name: &str, given: Option<&String>) -> Self {
        if let Some(text) = given {
            self.0.insert(name, text);
        }
        self
    }

    /// A list argument.
    pub fn list(mut self, name: &str, given: &[String]) -> Self {
        if !given.is_empty() {
            let list: Value = given.iter().collect();
            self.0.insert(name, list);
        }
        self
    }

    /// A ready value.
    pub fn value(mut self, name: &str, given: Option<Value>) -> Self {
        if let Some(value) = given {
            self.0.insert(name, value);
        }
        self
    }

    pub fn merging(self, merging: &Merging) -> Result<Self, Failure> {
        self.list("parameter_dirs", &merging.parameter_dirs)
            .scalar(
                "default_merge_strategy",
                merging.default_merge_strategy.as_ref(),
            )?
            .scalar("default_merge_lists", merging.default_merge_lists.as_ref())?
            .scalar("config_get_strategy", merging.config_get_strategy.as_ref())
    }

    pub fn layering(self, layering: &Layering) -> Result<Self, Failure> {
        self.list("sources", &layering.sources)
            .merging(&layering.merging)?
            .scalar("post_map", layering.post_map.as_ref())?
            .scalar("post_map_template", layering.post_map_template.as_ref())?
            .scalar("cache", layering.cache.as_ref())
    }

    pub fn into_map(self) -> Map {
        self.0
    }
}
