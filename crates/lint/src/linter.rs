//! The entry point.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use mapstack::minion::{Minion, platforms};
use mapstack::secrets::{Redacted, Secrets};
use mapstack::value::{Key, Map, Value, json};
use mapstack::{Configuration, DataOptions, Diagnostic, Engine, Error, ErrorKind, Way};

use crate::Rule;
use crate::document::{Document, SourceFile};
use crate::finding::{Finding, Level};
use crate::mask;
use crate::rules::{self, Unanswered};
use crate::subject::{Looked, Subject};
use crate::suppress::Suppressions;

/// Checks formulas.
///
/// Without minions it looks at one of each built-in platform.
pub struct Linter<'e> {
    engine: &'e Engine,
    minions: Vec<Minion>,
    saltenv: String,
    options: DataOptions,
    levels: BTreeMap<Rule, Option<Level>>,
    secrets: Arc<Secrets>,
    schema: SchemaFrom,
}

/// Which schema formulas are checked against.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SchemaFrom {
    /// None.
    #[default]
    Nowhere,
    /// The formula's own: `schema.yaml`, `schema.yml` or `schema.json` in its folder.
    Formula,
    /// This one.
    File {
        /// What the file is called.
        name: String,
        /// JSON Schema, as YAML or JSON.
        text: String,
    },
}

/// What came of checking a formula.
#[derive(Debug, Clone)]
pub struct Report {
    /// What was found, by file and line.
    pub findings: Vec<Finding>,
    /// How many more comments in the files silenced.
    pub suppressed: usize,
    /// How many files the formula has.
    pub files: usize,
    /// How many of them were looked at, by kind.
    pub looked: Looked,
    /// How many minions the formula ran for.
    pub minions: usize,
    /// How many of them the formula is for, as its `FORMULA` file says: failures on the others do not count.
    pub supported: usize,
    /// Functions that templates call without an answer, with the minions on which the formula could
    /// not be followed further.
    pub unanswered: BTreeMap<String, Unanswered>,
    /// Files that no rule looked into, by their paths on the file server, with the reason.
    pub ignored: BTreeMap<String, String>,
    /// Files that fail for lack of facts which no minion here has, as a person would open them: what is behind the
    /// failure was not looked at.
    pub lacking: BTreeSet<String>,
    /// Files that hold secrets, with stars in their place; every byte stays where it was.
    masked: BTreeMap<String, Arc<str>>,
    secrets: Arc<Secrets>,
}

impl Report {
    /// Whether something does not work.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.findings
            .iter()
            .any(|finding| finding.level == Level::Error)
    }

    /// A text of one of the files with stars for what stands behind the names of secrets.
    #[must_use]
    pub fn starred(&self, text: &str) -> String {
        self.secrets.starred(text).into_owned()
    }

    /// A finding as a message, whose excerpts have no secrets.
    #[must_use]
    pub fn diagnostic(&self, finding: &Finding) -> Redacted<Diagnostic> {
        let mut diagnostic = finding.diagnostic();
        let places = diagnostic
            .place
            .iter_mut()
            .chain(diagnostic.trace.iter_mut().map(|step| &mut step.place));
        for place in places {
            if let Some(masked) = self
                .masked
                .get(&place.file)
                .filter(|masked| masked.len() == place.source.len())
            {
                place.source = masked.clone();
            }
        }
        self.secrets.redact(&diagnostic)
    }
}

impl<'e> Linter<'e> {
    /// A linter for formulas of an engine's file server, which runs them on every built-in platform.
    #[must_use]
    pub fn new(engine: &'e Engine) -> Self {
        let minions = platforms::all()
            .iter()
            .map(|platform| platform.minion().complete())
            .collect();
        let (saltenv, options) = ("base".into(), DataOptions::default());
        Linter {
            engine,
            minions,
            saltenv,
            options,
            levels: BTreeMap::new(),
            secrets: Arc::new(Secrets::numbered()),
            schema: SchemaFrom::Nowhere,
        }
    }

    /// Run formulas for these minions only.
    #[must_use]
    pub fn minions(mut self, minions: Vec<Minion>) -> Self {
        self.minions = minions;
        self
    }

    /// Look in another saltenv than `base`.
    #[must_use]
    pub fn saltenv(mut self, saltenv: impl Into<String>) -> Self {
        self.saltenv = saltenv.into();
        self
    }

    /// The arguments that the formula is used with.
    #[must_use]
    pub fn options(mut self, options: DataOptions) -> Self {
        self.options = options;
        self
    }

    /// How much a rule matters; `None` switches it off.
    #[must_use]
    pub fn level(mut self, rule: Rule, level: Option<Level>) -> Self {
        self.levels.insert(rule, level);
        self
    }

    /// What to keep back in messages and excerpts; by default what stands under the usual keys.
    #[must_use]
    pub fn secrets(mut self, secrets: Secrets) -> Self {
        self.secrets = Arc::new(secrets);
        self
    }

    /// Check values against a schema, too.
    #[must_use]
    pub fn schema(mut self, schema: SchemaFrom) -> Self {
        self.schema = schema;
        self
    }

    /// Check a formula.
    ///
    /// # Errors
    /// The formula's files cannot be listed or read, it has none, or it has no schema and is to be
    /// checked against its own.
    pub fn lint(&self, formula: &str) -> Result<Report, Error> {
        let subject = Subject::examine(
            self.engine,
            formula,
            &self.saltenv,
            &self.minions,
            &self.options,
            &self.secrets,
        )?;
        let made = subject.runs.iter().flat_map(|run| &run.secret_texts);
        let secrets = Arc::new(Secrets::clone(&self.secrets).derived(made));
        let schema = self.schema_of(&subject)?;
        let mut findings = rules::all(&subject);
        findings.extend(
            schema
                .iter()
                .flat_map(|schema| rules::schema(&subject, schema)),
        );
        let lines = Lines::of(&subject);
        distinct(&mut findings, &lines);
        let suppressions = Suppressions::read(subject.files.values().map(|file| &**file));
        findings.extend(suppressions.mistakes());
        let lacking = findings
            .iter()
            .filter(|finding| finding.lacks_facts)
            .map(|finding| finding.place.file.clone())
            .collect();
        let before = findings.len();
        findings.retain(|finding| !suppressions.silence(finding, lines.line(finding)));
        let suppressed = before - findings.len();
        findings.retain_mut(|finding| match self.levels.get(&finding.rule) {
            Some(None) => false,
            Some(Some(level)) => {
                finding.level = *level;
                true
            }
            None => true,
        });
        for finding in &mut findings {
            finding.message = secrets.scrubbed(&finding.message);
            finding
                .notes
                .iter_mut()
                .for_each(|note| *note = secrets.scrubbed(note));
            finding.help = finding.help.as_ref().map(|help| secrets.scrubbed(help));
            finding
                .related
                .iter_mut()
                .for_each(|step| step.what = secrets.scrubbed(&step.what));
        }
        findings.sort_by(|a, b| order(a).cmp(&order(b)));
        let masked = mask::masked(&subject, &secrets);
        let unanswered = rules::unanswered_calls(&subject);
        let (files, minions) = (subject.files.len(), self.minions.len());
        let supported = subject.runs.iter().filter(|run| run.supported).count();
        let (ignored, looked) = (subject.ignored.clone(), subject.looked());
        Ok(Report {
            findings,
            suppressed,
            files,
            looked,
            minions,
            supported,
            unanswered,
            ignored,
            lacking,
            masked,
            secrets,
        })
    }
}

impl Linter<'_> {
    /// A JSON Schema of a formula's layers on all minions: what types its keys have. For a formula without layers, it is
    /// that of what its `map.jinja` exports, without defaults, since these can differ between minions.
    ///
    /// ```
    /// use mapstack::{Engine, loader::MemoryFiles};
    /// use mapstack_lint::Linter;
    /// let files = MemoryFiles::new()
    ///     .file("base", "f/parameters/defaults.yaml", "values: {port: 22}")
    ///     .file("base", "f/parameters/os/Debian.yaml", "values: {port: null}");
    /// let engine = Engine::new(files);
    /// let schema = Linter::new(&engine).infer_schema("f").unwrap();
    /// let port = schema.as_map().unwrap().get("properties").unwrap().as_map().unwrap().get("port").unwrap();
    /// assert_eq!(port.repr(), "{'type': ['integer', 'null'], 'default': 22}");
    /// ```
    ///
    /// # Errors
    /// The formula's files cannot be read; or it has neither a parameter file with values nor a `map.jinja` that
    /// exports a mapping for any minion.
    pub fn infer_schema(&self, formula: &str) -> Result<Value, Error> {
        let subject = Subject::examine(
            self.engine,
            formula,
            &self.saltenv,
            &self.minions,
            &self.options,
            &self.secrets,
        )?;
        let values =
            |document: &'_ Document| document.at(&["values"]).map(|(values, _)| values.clone());
        let is_default = |document: &Document| {
            document.path.ends_with("/defaults.yaml")
                || document.path.ends_with("/defaults.yaml.jinja")
        };
        let (defaults, others): (Vec<_>, Vec<_>) =
            subject.layers().partition(|document| is_default(document));
        let mut defaults = defaults.into_iter().filter_map(values);
        let first = defaults.next().unwrap_or_else(Value::map);
        let others: Vec<Value> = defaults
            .chain(others.into_iter().filter_map(values))
            .collect();
        if others.is_empty() && first.as_map().is_none_or(Map::is_empty) {
            return self.infer_schema_of_map(formula);
        }
        let shows = |path: &[Key], value: &Value| !self.secrets.hide(path, false, value);
        let schema = mapstack_schema::infer(&subject.formula, &first, &others, shows);
        json::loads(&schema.to_string()).map_err(|e| Error::new(ErrorKind::Json, e.to_string()))
    }

    /// The schema of what a `map.jinja` exports.
    fn infer_schema_of_map(&self, formula: &str) -> Result<Value, Error> {
        let options = self.options.clone();
        let configuration = Configuration::of(self.engine, formula, &self.saltenv, options)?;
        if configuration.way() == Way::Data {
            let message = format!("the formula {formula} has no parameter file with values");
            let error = Error::new(ErrorKind::DataSource, message);
            return Err(
                error.help("it has no map.jinja either, so nothing shows what its keys are")
            );
        }
        let results = self.minions.iter().map(|minion| {
            let run = self.engine.run(minion).with_saltenv(self.saltenv.as_str());
            configuration.compute(&run)
        });
        let (mut values, mut failure) = (Vec::new(), None);
        for result in results {
            match result {
                Ok(value) if value.as_map().is_some() => values.push(value),
                Ok(_) => {}
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        if values.is_empty() {
            let message = format!("the map.jinja of {formula} exports no mapping for any minion");
            let error = Error::new(ErrorKind::DataSource, message);
            return Err(failure.unwrap_or(error));
        }
        let schema = mapstack_schema::infer(formula, &Value::map(), &values, |_, _| false);
        json::loads(&schema.to_string()).map_err(|e| Error::new(ErrorKind::Json, e.to_string()))
    }

    /// The schema that a formula is checked against.
    fn schema_of(&self, subject: &Subject<'_>) -> Result<Option<Arc<SourceFile>>, Error> {
        match &self.schema {
            SchemaFrom::Nowhere => Ok(None),
            SchemaFrom::File { name, text } => Ok(Some(Arc::new(SourceFile::new(
                name.as_str(),
                name.as_str(),
                text.as_str(),
            )))),
            SchemaFrom::Formula => {
                let names = ["schema.yaml", "schema.yml", "schema.json"];
                let found = names
                    .iter()
                    .find_map(|name| subject.files.get(&format!("{}/{name}", subject.formula)));
                found.cloned().map(Some).ok_or_else(|| {
                    let message = format!(
                        "the formula {} has no schema.yaml and no schema.json",
                        subject.formula
                    );
                    Error::new(ErrorKind::File, message)
                        .note("`mapstack schema` makes one to begin with")
                })
            }
        }
    }
}

fn order(finding: &Finding) -> (&str, usize, std::cmp::Reverse<Level>, Rule, &str) {
    let Finding {
        place,
        level,
        rule,
        message,
        ..
    } = finding;
    (
        &place.file,
        place.start,
        std::cmp::Reverse(*level),
        *rule,
        message,
    )
}

/// The lines of findings: files know where theirs start.
struct Lines<'s>(HashMap<&'s str, &'s SourceFile>);

impl<'s> Lines<'s> {
    fn of(subject: &'s Subject<'_>) -> Self {
        Lines(
            subject
                .files
                .values()
                .map(|file| (file.shown.as_str(), &**file))
                .collect(),
        )
    }

    fn line(&self, finding: &Finding) -> usize {
        let known = self.0.get(finding.place.file.as_str());
        known.map_or_else(
            || finding.place.line(),
            |file| file.line(finding.place.start),
        )
    }
}

/// Leave out what says again what another finding says: runs stumble over what files show.
fn distinct(findings: &mut Vec<Finding>, lines: &Lines<'_>) {
    findings.sort_by(|a, b| order(a).cmp(&order(b)));
    let place = |finding: &Finding| (finding.place.file.clone(), lines.line(finding));
    let of_files = || findings.iter().filter(|finding| !finding.of_run);
    let mut shown: HashMap<(String, usize), Level> = HashMap::new();
    for finding in of_files().filter(|finding| finding.rule.can_fail_a_run()) {
        let level = shown.entry(place(finding)).or_insert(finding.level);
        *level = finding.level.max(*level);
    }
    let bad_source = of_files().any(|finding| finding.rule == Rule::BadSource);
    // A file as a whole that is wrong is wrong at whichever line a run stumbled.
    let whole: HashSet<(String, Rule)> = of_files()
        .filter(|finding| finding.whole_file)
        .map(|finding| (finding.place.file.clone(), finding.rule))
        .collect();
    findings.retain(|finding| {
        let is_said = || {
            // What matters less does not stand for a failure.
            shown
                .get(&place(finding))
                .is_some_and(|level| *level >= finding.level)
                || whole.contains(&(finding.place.file.clone(), finding.rule))
                || (bad_source && finding.rule == Rule::BadSource)
        };
        !finding.of_run || !is_said()
    });
    findings.dedup_by(|b, a| {
        let same_place = a.place.file == b.place.file && a.place.start == b.place.start;
        a.rule == b.rule && same_place && a.message == b.message
    });
}
