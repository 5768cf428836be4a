//! A formula as rules look at it: its files, and what many runs made of them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use mapstack::loader::{Fetched, SaltPath};
use mapstack::minion::Minion;
use mapstack::secrets::Secrets;
use mapstack::trace::{Event, TracedRequest};
use mapstack::value::{Extent, Key, Map, Str, Value};
use mapstack::{DataOptions, Engine, Error, ErrorKind, MapForm, Place, Run, Survey, yaml};
use mapstack_lineage::{Explain, LayerKind, Lineage, MAX_VALUES, SoughtFiles, WhyNot};
use mapstack_salt_jinja::ast::{Expr, ExprKind};

use crate::compiled::Fault;
use crate::document::{Content, Document, SourceFile};
use crate::estate::Estate;
use crate::misuse::Misuse;
use crate::origins::salt_function;
use crate::states::{self, Library, RenderTarget, SlsOfMinions};
use crate::templates::Templates;
use crate::work::folded;

/// The way in which a formula comes by its configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `salt['map.data']`.
    MapData,
    /// A library of templates in the formula itself, which reads the same parameter files.
    Libmapstack,
    /// A separate `map.jinja`.
    MapJinja,
}

/// A formula, its files and its runs.
pub(crate) struct FormulaSubject<'s> {
    pub engine: &'s Engine,
    pub formula: String,
    pub saltenv: String,
    pub options: DataOptions,
    pub dialect: Dialect,
    pub survey: Survey,
    /// The templates of the survey as trees.
    pub templates: Templates,
    /// Every readable text below the formula's folder, by its path.
    pub files: BTreeMap<String, Arc<SourceFile>>,
    pub runs: Vec<ExaminedMinion<'s>>,
    /// Its states, rendered.
    pub states: Vec<SlsOfMinions>,
    /// Files of the formula that nothing looks at, with the reason.
    pub ignored: BTreeMap<String, String>,
    /// The files that the first successful run looked for.
    pub(crate) sought: OnceLock<Option<SoughtFiles>>,
    /// The directories with parameter files.
    pub directories: BTreeSet<String>,
    /// Data files as YAML, each text once.
    pub documents: Vec<Document>,
    /// Files without templates that are not YAML.
    pub broken: Vec<(Arc<SourceFile>, yaml::Error)>,
    /// The secrets that no message may contain.
    pub secrets: &'s Secrets,
    /// The names in top files that do not exist; of an estate.
    pub problems: Vec<TopProblem>,
    /// The faults for which a state run would refuse states.
    pub faults: Vec<Fault>,
    /// The number of sls that were compiled only with others that include the same sls.
    pub compiled_with_others: usize,
    /// The sls that minions get from other saltenvs, by saltenv. Nothing looks at them.
    pub of_other_saltenvs: BTreeMap<String, BTreeSet<String>>,
    /// States that their functions cannot run.
    pub misuses: Vec<Misuse>,
    /// The estate, if the subject is all states of one and not a formula.
    pub estate: Option<Estate>,
}

/// Something that top files name and that does not exist, or that keeps them from being used.
#[derive(Debug)]
pub(crate) struct TopProblem {
    /// The problem.
    pub what: TopFault,
    /// The minions for which it is so.
    pub minions: Vec<String>,
}

impl TopProblem {
    /// The sls that does not exist.
    pub fn sls(&self) -> Option<&str> {
        match &self.what {
            TopFault::Missing { sls, .. } => Some(sls),
            _ => None,
        }
    }
}

/// The kind of a problem with top files.
#[derive(Debug)]
pub(crate) enum TopFault {
    /// They cannot be rendered or merged.
    Failed(Error),
    /// Something in them probably means something else.
    Doubtful(mapstack::Diagnostic),
    /// An sls does not exist.
    Missing {
        /// Its name.
        sls: String,
        /// The place that names it, if the text has it.
        place: Option<Place>,
    },
}

/// The number of files of each kind that were looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileCounts {
    /// Sls that were rendered.
    pub states: usize,
    /// Parameter files.
    pub parameters: usize,
    /// Other files with data, such as `osfamilymap.yaml`.
    pub data: usize,
    /// Other templates.
    pub templates: usize,
}

/// The result of the layers, with its lineage.
pub(crate) type LayeredResult = Result<(Value, Lineage), Error>;

/// The name of a formula, as its folder has it.
fn name_of(formula: &str) -> Result<String, Error> {
    let formula = formula
        .strip_prefix("./")
        .unwrap_or(formula)
        .trim_end_matches('/');
    if formula.is_empty() || formula.contains('/') || formula == "." || formula == ".." {
        let message =
            format!("'{formula}' is not a formula: give the name of its folder below a root");
        return Err(Error::new(ErrorKind::File, message));
    }
    Ok(formula.to_owned())
}

/// The results of the formula on one minion.
pub(crate) struct ExaminedMinion<'s> {
    pub minion: &'s Minion,
    /// True if the formula says that it is for such systems.
    pub supported: bool,
    /// Its layers, if it has parameter files and their values are few enough for the rules. Minions that differ in nothing
    /// of them share them.
    pub layered: Option<Arc<LayeredResult>>,
    /// The reason for which it has no layers despite its parameter files.
    pub too_large: Option<String>,
    /// The error of its `map.jinja`.
    pub map_error: Option<Error>,
    /// The variables of its `map.jinja`, as text.
    pub map_text: String,
    pub events: Vec<Event>,
    /// The secrets on the minion, and texts that templates made of them.
    pub secret_texts: Vec<Str>,
}

impl ExaminedMinion<'_> {
    pub fn data(&self) -> Option<(&Value, &Lineage)> {
        let layered = self.layered.as_deref()?;
        let (data, lineage) = layered.as_ref().ok()?;
        Some((data, lineage))
    }

    pub fn errors(&self) -> impl Iterator<Item = &Error> {
        self.layered
            .iter()
            .filter_map(|layered| (**layered).as_ref().err())
            .chain(&self.map_error)
    }

    /// Share the layers of one of these runs, if they are the same.
    fn sharing(mut self, earlier: &[Self]) -> Self {
        let same = self.data().and_then(|(_, lineage)| {
            let known = earlier
                .iter()
                .find(|one| one.data().is_some_and(|(_, known)| known.is_same(lineage)));
            known?.layered.clone()
        });
        self.layered = same.or(self.layered);
        self
    }
}

/// Folders whose files are not configuration of the formula.
const NOT_CONFIGURATION: [&str; 6] = [
    "files",
    "templates",
    "test",
    "tests",
    "_mapdata",
    "_modules",
];

impl<'s> FormulaSubject<'s> {
    pub fn examine(
        engine: &'s Engine,
        formula: &str,
        saltenv: &'s str,
        minions: &'s [Minion],
        options: &DataOptions,
        secrets: &'s Secrets,
    ) -> Result<Self, Error> {
        let formula = name_of(formula)?;
        let survey = engine.survey(&formula, saltenv)?;
        let files = read_files(engine, &formula, saltenv)?;
        if files.is_empty() {
            let message = format!("salt://{formula}/ has no files in saltenv {saltenv}");
            return Err(
                Error::new(ErrorKind::File, message).note("check the formula's name and the roots")
            );
        }
        let dialect = Dialect::of(&survey, &files, &formula);
        let supported = SupportedSystems::read(engine, saltenv, &files, minions);
        let templates = Templates::read(engine, saltenv, &survey);
        let mut subject = FormulaSubject {
            engine,
            options: called_with(&templates, &formula, options)
                .unwrap_or_else(|| dialect.options(options, &files, &formula)),
            formula,
            saltenv: saltenv.into(),
            dialect,
            survey,
            templates,
            files,
            runs: Vec::new(),
            states: Vec::new(),
            ignored: BTreeMap::new(),
            sought: OnceLock::new(),
            directories: BTreeSet::new(),
            documents: Vec::new(),
            broken: Vec::new(),
            secrets,
            problems: Vec::new(),
            faults: Vec::new(),
            compiled_with_others: 0,
            of_other_saltenvs: BTreeMap::new(),
            misuses: Vec::new(),
            estate: None,
        };
        let has_parameters = dialect != Dialect::MapJinja || options.parameter_dirs.is_some();
        let map = format!("{}/map.jinja", subject.formula);
        let form = subject
            .files
            .contains_key(&map)
            .then(|| MapForm::of(&subject.survey, &subject.formula, None));
        subject.runs = subject.runs_of(minions, has_parameters, form.as_ref(), &supported)?;
        subject.render_states()?;
        subject.compile_formula()?;
        subject.forget_variables_of_importers();
        subject.name_large_results();
        subject.find_directories();
        subject.read_other_directories()?;
        subject.read_documents();
        subject.find_ignored();
        Ok(subject)
    }

    /// The runs of the formula on each minion.
    fn runs_of(
        &self,
        minions: &'s [Minion],
        has_parameters: bool,
        form: Option<&MapForm>,
        supported: &SupportedSystems,
    ) -> Result<Vec<ExaminedMinion<'s>>, Error> {
        let minions: Vec<&Minion> = minions.iter().collect();
        let examined = |&minion: &&'s Minion| {
            let run = || {
                let run = self.engine.run(minion).with_saltenv(&*self.saltenv);
                run.following_secrets()
            };
            let of_layers = has_parameters.then(run);
            let (layered, too_large, events) = of_layers
                .as_ref()
                .map(|run| self.layered(run))
                .unwrap_or_default();
            let of_map = form.map(|form| (run(), form));
            let of_map = of_map.as_ref();
            let (map_error, map_text) = of_map
                .map(|(run, form)| map_of(run, form))
                .unwrap_or_default();
            let runs = of_layers.iter().chain(of_map.map(|(run, _)| run));
            let secret_texts: Vec<Str> = runs.flat_map(Run::secret_texts).collect();
            ExaminedMinion {
                minion,
                supported: supported.has(minion),
                layered,
                too_large,
                map_error,
                map_text,
                events,
                secret_texts,
            }
        };
        folded(&minions, examined, |earlier, run| run.sharing(earlier))
    }

    /// Render every sls of the formula that a state run could ask for.
    fn render_states(&mut self) -> Result<(), Error> {
        let loaded = self.templates.loaded();
        let (mut files, mut ignored) = (Vec::new(), BTreeMap::new());
        for file in self
            .files
            .values()
            .filter(|file| file.name().ends_with(".sls"))
        {
            match states::why_not_rendered(file, &loaded) {
                Some(why) => drop(ignored.insert(file.path.clone(), why.to_owned())),
                None => files.push(file.clone()),
            }
        }
        let map = format!("{}/map.jinja", self.formula);
        let library = Library {
            engine: self.engine,
            saltenv: &self.saltenv,
            templates: &self.templates,
            imports: &self.survey.imports,
            calls: &self.survey.calls,
            map: &map,
            secrets: self.secrets,
            paths: &self.files,
        };
        // True if templates import nothing but the map's only variable.
        let sites = || {
            self.survey
                .imports
                .iter()
                .filter(|site| site.template.as_deref() == Some(&*map))
        };
        let names: BTreeSet<&str> = sites()
            .flat_map(|site| &site.names)
            .map(|name| &**name)
            .collect();
        let is_all = names.len() <= 1 && sites().all(|site| !site.names.is_empty());
        let target = |run: &ExaminedMinion<'s>| RenderTarget {
            minion: run.minion,
            is_supported: run.supported,
            map: is_all.then(|| run.map_text.clone()),
        };
        let targets: Vec<RenderTarget<'_>> = self.runs.iter().map(target).collect();
        let states = library.render(&files, &targets)?;
        for state in &states {
            if let Some(error) = state.unsupported() {
                ignored.insert(state.file.path.clone(), error.diagnostic().message.clone());
            }
        }
        (self.states, self.ignored) = (states, ignored);
        Ok(())
    }

    /// A map that states import with their context may use variables that they set: alone, it fails for lack of these.
    fn forget_variables_of_importers(&mut self) {
        let map = format!("{}/map.jinja", self.formula);
        let sets = |state: &SlsOfMinions, name: &str| {
            let loads = |path: &str| {
                let mut imports = self.survey.imports.iter();
                imports.any(|site| {
                    site.with_context
                        && site.place.file == state.file.shown
                        && site.template.as_deref() == Some(path)
                })
            };
            let parsed = self.templates.get(&state.file.path);
            loads(&map) && parsed.is_some_and(|parsed| parsed.binds(name) > 0)
        };
        let works = |number: usize, name: &str| {
            let mut states = self.states.iter();
            states.any(|state| state.is_rendered(number) && sets(state, name))
        };
        let is_fixed = |(number, run): (usize, &ExaminedMinion<'_>)| {
            let error = run.map_error.as_ref()?;
            let message = error.diagnostic().message.strip_suffix("' is undefined")?;
            let (_, name) = message.split_once('\'')?;
            works(number, name).then_some(number)
        };
        let fixed: Vec<usize> = self.runs.iter().enumerate().filter_map(is_fixed).collect();
        for number in fixed {
            self.runs[number].map_error = None;
        }
    }

    /// The number of files of each kind that rules looked at.
    pub fn looked(&self) -> FileCounts {
        let of_states: BTreeSet<&str> = self.states.iter().map(|state| &*state.file.path).collect();
        let documents = self.documents.iter().map(|one| &*one.path);
        let broken = self.broken.iter().map(|(one, _)| &*one.path);
        let of_data: BTreeSet<&str> = documents.chain(broken).collect();
        let mut looked = FileCounts::default();
        let own = self.files.values();
        for file in own.filter(|file| !self.ignored.contains_key(&file.path)) {
            let kind = if of_states.contains(&*file.path) {
                &mut looked.states
            } else if self.is_parameter_file(&file.path) {
                &mut looked.parameters
            } else if self.survey.templates.contains(&file.path) {
                &mut looked.templates
            } else if of_data.contains(&*file.path) {
                &mut looked.data
            } else {
                continue;
            };
            *kind += 1;
        }
        looked
    }

    /// Find the files that no rule looks into.
    pub(crate) fn find_ignored(&mut self) {
        let documents: BTreeSet<&str> = self
            .documents
            .iter()
            .map(|document| &*document.path)
            .collect();
        let broken: BTreeSet<&str> = self.broken.iter().map(|(file, _)| &*file.path).collect();
        let refused: BTreeSet<&str> = self
            .survey
            .errors
            .iter()
            .filter_map(|error| Some(&*error.diagnostic().place.as_ref()?.file))
            .collect();
        let rendered: BTreeSet<&str> = self.states.iter().map(|state| &*state.file.path).collect();
        let is_read = |file: &SourceFile| {
            self.survey.templates.contains(&file.path)
                || rendered.contains(&*file.path)
                || documents.contains(&*file.path)
                || broken.contains(&*file.path)
                || refused.contains(&*file.shown)
                || self.is_parameter_file(&file.path)
        };
        let unread: Vec<_> = self
            .files
            .values()
            .filter(|file| !is_read(file) && !file.text.trim().is_empty())
            .collect();
        let why = |file: &SourceFile| match self.survey.skipped.get(&file.path) {
            Some(why) => why.clone(),
            None => "it is not a template, and no template names it as data".to_owned(),
        };
        let unread: Vec<_> = unread
            .into_iter()
            .map(|file| (file.path.clone(), why(file)))
            .collect();
        for (path, why) in unread {
            self.ignored.entry(path).or_insert(why);
        }
    }

    /// The errors of a run, with the sls that they are of.
    pub fn errors(&self, run: usize) -> impl Iterator<Item = (Option<&SlsOfMinions>, &Error)> {
        let own = self
            .runs
            .get(run)
            .into_iter()
            .flat_map(ExaminedMinion::errors)
            .map(|error| (None, error));
        let of_states = self
            .states
            .iter()
            .filter_map(move |state| Some((Some(state), state.error(run)?)));
        own.chain(of_states)
    }

    /// The layers of a run, or why they are too large; and what it looked at. Results of which a few aliases make very
    /// many values are not gone through, and those of all minions would not fit into memory.
    fn layered(&self, run: &Run<'_>) -> (Option<Arc<LayeredResult>>, Option<String>, Vec<Event>) {
        let result = run.explain(&self.formula, &self.options);
        let why = result.as_ref().ok().and_then(|(data, _)| too_large(data));
        let layered = why.is_none().then(|| Arc::new(result));
        (layered, why, run.events())
    }

    /// Report that results of layers are too large to check.
    fn name_large_results(&mut self) {
        let large = self.runs.iter().rev().find_map(|run| run.too_large.clone());
        if let Some(why) = large {
            self.ignored.insert("what its layers come to".into(), why);
        }
    }

    fn find_directories(&mut self) {
        let own = format!("{}/parameters", self.formula);
        let mut found: BTreeSet<String> = BTreeSet::new();
        for (data, _) in self.results() {
            let meta = data
                .as_map()
                .and_then(|data| data.get("map_jinja"))
                .and_then(Value::as_map);
            let listed = meta
                .and_then(|meta| meta.get("parameter_dirs"))
                .and_then(Value::as_list);
            let listed = listed.into_iter().flatten().filter_map(Value::as_str);
            found.extend(listed.map(|directory| directory.trim_matches('/').to_owned()));
        }
        if self.dialect != Dialect::MapJinja {
            found.insert(own);
        }
        self.directories = found;
    }

    /// Read the files of directories with parameters that lie elsewhere.
    fn read_other_directories(&mut self) -> Result<(), Error> {
        let own = format!("{}/", self.formula);
        for directory in self
            .directories
            .iter()
            .filter(|directory| !directory.is_empty() && !directory.starts_with(&own))
        {
            self.files
                .extend(read_files(self.engine, directory, &self.saltenv)?);
        }
        Ok(())
    }

    /// The different results of its layers.
    pub fn results(&self) -> impl Iterator<Item = (&Value, &Lineage)> {
        let mut seen = HashSet::new();
        let is_new = move |run: &&ExaminedMinion<'_>| {
            let layered = run.layered.as_ref().map(Arc::as_ptr);
            layered.is_some_and(|layered| seen.insert(layered))
        };
        self.runs.iter().filter(is_new).filter_map(|run| run.data())
    }

    /// The files that the first successful and explained run looked up.
    pub fn sought(&self) -> Option<&SoughtFiles> {
        let of_first = || {
            let (run, (data, _)) = self.runs.iter().find_map(|run| Some((run, run.data()?)))?;
            let of_run = self.engine.run(run.minion);
            of_run.sought(data, &self.options).ok()
        };
        self.sought.get_or_init(of_first).as_ref()
    }

    /// True if a source leads to a file that no run asked for, on some minion or another.
    pub fn is_led_to(&self, path: &str) -> bool {
        let answer = self.sought().map(|sought| sought.why_not(path));
        !matches!(
            answer,
            Some(Ok(WhyNot::NoSource { .. } | WhyNot::Elsewhere { .. }))
        )
    }

    /// The file with the configuration's settings, for findings without a place.
    pub fn main_file(&self) -> Place {
        let names = [
            "parameters/map_jinja.yaml",
            "parameters/defaults.yaml",
            "map.jinja",
        ];
        let named = names
            .iter()
            .find_map(|name| self.files.get(&format!("{}/{name}", self.formula)));
        match named.or_else(|| self.files.values().next()) {
            Some(file) => file.place(0, 0),
            None => Place {
                file: self.formula.clone(),
                source: "".into(),
                start: 0,
                end: 0,
            },
        }
    }

    /// True if a file lies where parameters do.
    pub fn is_parameter_file(&self, path: &str) -> bool {
        self.directories.iter().any(|directory| {
            path.strip_prefix(&**directory)
                .is_some_and(|rest| rest.starts_with('/'))
        })
    }

    /// True if a file's data is configuration of the formula.
    fn is_data_file(&self, file: &SourceFile) -> bool {
        let has_suffix = [".yaml", ".yml", ".yaml.jinja", ".yml.jinja"]
            .iter()
            .any(|suffix| file.name().ends_with(suffix));
        let inside = file.path.strip_prefix(&*self.formula).unwrap_or(&file.path);
        let mut folders = inside.split('/').filter(|part| !part.is_empty());
        folders.next_back();
        // A file that no template names may be anything.
        let is_loaded = || {
            let others = self.files.values().filter(|other| other.path != file.path);
            others
                .into_iter()
                .any(|other| other.text.contains(file.name()))
        };
        if self.estate.is_some() {
            // Templates name what they read, and the rest of an estate may be anything.
            let mut loads = self.survey.used_files();
            return has_suffix && loads.any(|(path, _)| path == file.path);
        }
        let mut is_configuration =
            || !folders.any(|folder| NOT_CONFIGURATION.contains(&folder)) && is_loaded();
        has_suffix && (self.is_parameter_file(&file.path) || is_configuration())
    }

    /// Read each text of a data file once: of templates what they printed, of others the file.
    pub(crate) fn read_documents(&mut self) {
        let mut seen: HashSet<(String, String)> = HashSet::new();
        let mut read = Vec::new();
        for (_, lineage) in self.results() {
            for (index, layer) in lineage.layers().iter().enumerate() {
                let (LayerKind::File { path, .. }, Some(text)) = (&layer.kind, lineage.text(index))
                else {
                    continue;
                };
                if !text.is_rendered() || !seen.insert((path.clone(), text.as_str().into())) {
                    continue;
                }
                // It was read once already.
                read.extend(Document::parse(path, Content::Rendered(text.clone())));
            }
        }
        let mut broken = Vec::new();
        for file in self
            .files
            .values()
            .filter(|file| self.is_data_file(file) && !file.is_template())
        {
            match Document::parse(&file.path, Content::Plain(file.clone())) {
                Ok(document) => read.push(document),
                Err(error) => broken.push((file.clone(), error)),
            }
        }
        let mut documents = Vec::new();
        for document in read {
            match too_large(&document.value) {
                None => documents.push(document),
                Some(why) => drop(self.ignored.insert(document.path, why)),
            }
        }
        documents.sort_by(|a, b| a.path.cmp(&b.path));
        (self.documents, self.broken) = (documents, broken);
    }

    /// True if the formula reads the same sources with its library where `map.data` is missing.
    /// The library knows only the old form.
    pub fn has_fallback(&self) -> bool {
        let has_library = || {
            self.files
                .values()
                .any(|file| matches!(file.name(), "libmapstack.jinja" | "libmatchers.jinja"))
        };
        self.survey.asks_for("map.data") && has_library()
    }

    /// The parameter files that took part in some run.
    pub fn merged(&self) -> BTreeSet<&str> {
        let layers = self.results().flat_map(|(_, lineage)| lineage.layers());
        let paths = layers.filter_map(|layer| match &layer.kind {
            LayerKind::File { path, .. } => Some(path.as_str()),
            _ => None,
        });
        paths.collect()
    }

    /// The documents that are data sources, those of `map_jinja.yaml` left out.
    pub fn layers(&self) -> impl Iterator<Item = &Document> {
        self.documents
            .iter()
            .filter(|document| self.is_parameter_file(&document.path) && !is_meta(&document.path))
    }

    /// The documents of `map_jinja.yaml`.
    pub fn meta(&self) -> impl Iterator<Item = &Document> {
        self.documents
            .iter()
            .filter(|document| self.is_parameter_file(&document.path) && is_meta(&document.path))
    }

    /// The files that some run asked for.
    pub fn requested_files(&self) -> BTreeSet<&str> {
        let events = self.runs.iter().flat_map(|run| &run.events);
        let paths = events.filter_map(|event| match &event.asked {
            TracedRequest::File { path, .. } => Some(path.as_str()),
            _ => None,
        });
        paths.collect()
    }
}

/// Why some data is not checked value by value, if it is that large.
fn too_large(data: &Value) -> Option<String> {
    let values = Extent::of(data).values;
    (values > MAX_VALUES).then(|| {
        format!(
            "it expands to {values} keys and values, repeated aliases included, and rules look at {MAX_VALUES} at most"
        )
    })
}

pub(crate) fn is_meta(path: &str) -> bool {
    path.rsplit('/')
        .next()
        .is_some_and(|name| matches!(name, "map_jinja.yaml" | "map_jinja.yaml.jinja"))
}

/// The result of a formula's `map.jinja`: its error, and all of it as text.
fn map_of(run: &Run<'_>, form: &MapForm) -> (Option<Error>, String) {
    match run.map_of(form, None) {
        Ok(exported) => (
            None,
            format!("{}={}", exported.variable, exported.value.repr()),
        ),
        Err(error) => {
            let text = error.to_string();
            // The variable that is missing does not matter here.
            (
                Some(error).filter(|error| error.kind() != ErrorKind::Lookup),
                text,
            )
        }
    }
}

pub(crate) fn read_files(
    engine: &Engine,
    formula: &str,
    saltenv: &str,
) -> Result<BTreeMap<String, Arc<SourceFile>>, Error> {
    let mut files = BTreeMap::new();
    let prefix = match formula {
        "" => String::new(),
        formula => format!("{formula}/"),
    };
    for path in engine.list(saltenv, &prefix)? {
        let fetched = engine.fetch(&SaltPath::from_relative(&path), saltenv)?;
        let Fetched::Found { on_disk, bytes } = fetched else {
            continue;
        };
        let Ok(text) = std::str::from_utf8(&bytes) else {
            continue;
        };
        let file = SourceFile::new(path.as_str(), on_disk.display().to_string(), text);
        files.insert(path, Arc::new(file));
    }
    Ok(files)
}

impl Dialect {
    fn of(survey: &Survey, files: &BTreeMap<String, Arc<SourceFile>>, formula: &str) -> Self {
        let calls = |name: &str| {
            survey
                .calls
                .iter()
                .any(|call| call.function.as_deref() == Some(name))
        };
        let parameters = format!("{formula}/parameters/");
        let has_parameters = files.keys().any(|path| path.starts_with(&parameters));
        let has_map = files.contains_key(&format!("{formula}/map.jinja"));
        if calls("map.data") || calls("map.stack") || (has_parameters && !has_map) {
            Dialect::MapData
        } else if has_parameters {
            Dialect::Libmapstack
        } else {
            Dialect::MapJinja
        }
    }

    /// The sources of a formula whose library reads them its own way.
    fn options(
        self,
        given: &DataOptions,
        files: &BTreeMap<String, Arc<SourceFile>>,
        formula: &str,
    ) -> DataOptions {
        let mut options = given.clone();
        let says = files
            .keys()
            .any(|path| path.starts_with(formula) && is_meta(path));
        if self == Dialect::Libmapstack && options.sources.is_none() && !says {
            let named = files
                .get(&format!("{formula}/parameters/defaults.yaml"))
                .and_then(|file| named_sources(file));
            let names = named.unwrap_or_else(|| LIBMAPSTACK.map(String::from).into());
            options.sources = Some(names.iter().map(|name| definition(name, formula)).collect());
        }
        options
    }
}

/// The arguments of the one call of `map.data` in a formula's `map.jinja`, if they are literals and no others are given.
fn called_with(templates: &Templates, formula: &str, given: &DataOptions) -> Option<DataOptions> {
    if *given != DataOptions::default() {
        return None;
    }
    let parsed = templates.get(&format!("{formula}/map.jinja"))?;
    let expressions = parsed.expressions().into_iter();
    let mut calls = expressions.filter_map(|e| match &e.kind {
        ExprKind::Call { callee, args } => {
            (salt_function(callee) == Some("map.data")).then_some(args)
        }
        _ => None,
    });
    let (args, None) = (calls.next()?, calls.next()) else {
        return None;
    };
    let named = args.named.iter();
    let named = named.map(|(name, e)| Some((Key::from(&**name), literal(e)?)));
    DataOptions::from_kwargs(&named.collect::<Option<Map>>()?).ok()
}

/// The value of an expression of literals.
fn literal(e: &Expr) -> Option<Value> {
    match &e.kind {
        ExprKind::Const(value) => Some(value.clone()),
        ExprKind::List(items) | ExprKind::Tuple(items) => {
            items.iter().map(literal).collect::<Option<Value>>()
        }
        _ => None,
    }
}

/// The sources of template-formula's library by the names that its first version had for them.
const LIBMAPSTACK: [&str; 7] = [
    "osarch",
    "os_family",
    "os",
    "osfinger",
    "config_get_lookup",
    "config_get",
    "id",
];

/// The list that the first version read from `map_jinja:sources` of the defaults.
fn named_sources(defaults: &SourceFile) -> Option<Vec<String>> {
    let value = yaml::load(&defaults.text).ok()?;
    let top = value.as_map()?;
    let meta = top
        .get("map_jinja")
        .or_else(|| top.get("values")?.as_map()?.get("map_jinja"))?;
    let sources = meta.as_map()?.get("sources")?.as_list()?;
    Some(sources.iter().map(ToString::to_string).collect())
}

/// A source by its old name, or a definition as it is.
fn definition(name: &str, formula: &str) -> String {
    match name {
        "config_get" => format!("C@{formula}"),
        "config_get_lookup" => format!("C@{formula}:lookup"),
        name if name.contains(['@', '.', ':']) => name.to_owned(),
        grain => format!("Y!G@{grain}"),
    }
}

/// The systems that a formula's FORMULA file says it is for.
#[derive(Debug, Default)]
struct SupportedSystems {
    names: Vec<String>,
}

impl SupportedSystems {
    /// Read the file beside the formula's folder. It is ignored if it matches no minion.
    fn read(
        engine: &Engine,
        saltenv: &str,
        files: &BTreeMap<String, Arc<SourceFile>>,
        minions: &[Minion],
    ) -> Self {
        let path = SaltPath::from_relative("FORMULA");
        let own = |on_disk: &Path| {
            let beside = |file: &Arc<SourceFile>| {
                Path::new(&file.shown)
                    .strip_prefix(on_disk.parent()?)
                    .ok()
                    .map(|_| ())
            };
            files
                .values()
                .next()
                .is_some_and(|file| beside(file).is_some())
        };
        let bytes = match engine.files().fetch(&path, saltenv) {
            Ok(Fetched::Found { on_disk, bytes }) if own(&on_disk) => bytes,
            _ => return SupportedSystems::default(),
        };
        let value = std::str::from_utf8(&bytes)
            .ok()
            .and_then(|text| yaml::load(text).ok())
            .unwrap_or_default();
        let listed = ["os", "os_family"]
            .iter()
            .filter_map(|key| value.as_map()?.get(*key))
            .flat_map(|names| match names {
                Value::List(names) => names.iter().map(ToString::to_string).collect(),
                other => other
                    .to_string()
                    .split(',')
                    .map(|name| name.trim().to_owned())
                    .collect::<Vec<_>>(),
            });
        let names = listed
            .map(|name| name.to_lowercase())
            .filter(|name| !name.is_empty())
            .collect();
        let supported = SupportedSystems { names };
        if minions.iter().any(|minion| supported.has(minion)) {
            supported
        } else {
            SupportedSystems::default()
        }
    }

    fn has(&self, minion: &Minion) -> bool {
        let grain = |name: &str| {
            minion
                .grains
                .get(name)
                .map(|value| value.to_string().to_lowercase())
        };
        let own = [grain("os"), grain("os_family")];
        self.names.is_empty() || own.iter().flatten().any(|name| self.names.contains(name))
    }
}
