//! The entry point.

use std::collections::BTreeSet;
use std::sync::Arc;

use mapstack::minion::{Minion, platforms};
use mapstack::secrets::Secrets;
use mapstack::value::{Key, Map, Value, json};
use mapstack::{
    Configuration, ConfigurationMethod, DataOptions, Diagnostic, Engine, Error, ErrorKind, Means,
};

use crate::Rule;
use crate::document::{Document, SourceFile};
use crate::estate::Estate;
use crate::finding::{Finding, Level};
use crate::grains::GrainWarnings;
use crate::levels::Levels;
use crate::report::{LintReport, Sources};
use crate::rules;
use crate::subject::FormulaSubject;

/// Checks formulas.
///
/// Without minions it looks at one of each built-in platform.
pub struct Linter<'e> {
    engine: &'e Engine,
    minions: Vec<Minion>,
    saltenv: String,
    options: DataOptions,
    levels: Levels,
    secrets: Arc<Secrets>,
    schema: SchemaFrom,
}

/// The schema that values are checked against.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SchemaFrom {
    /// None.
    #[default]
    Nowhere,
    /// The own one of what is checked: `schema.yaml`, `schema.yml` or `schema.json` in a formula's folder, or in a root
    /// of the pillar.
    Own,
    /// This one.
    File {
        /// The name of the file.
        name: String,
        /// JSON Schema, as YAML or JSON.
        text: String,
    },
}

impl SchemaFrom {
    /// The names of the files of own schemas, in the order in which they are looked for.
    pub const NAMES: [&str; 3] = ["schema.yaml", "schema.yml", "schema.json"];
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
            levels: Levels::default(),
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

    /// Set the level of a rule; `None` switches it off.
    #[must_use]
    pub fn level(mut self, rule: Rule, level: Option<Level>) -> Self {
        self.levels.set(rule, level);
        self
    }

    /// Set the levels of rules.
    #[must_use]
    pub fn levels(mut self, levels: Levels) -> Self {
        self.levels = levels;
        self
    }

    /// Set the secrets to keep back in messages and excerpts; by default the values under the usual keys.
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

    fn examine<'f>(
        &'f self,
        formula: &str,
        minions: &'f [Minion],
    ) -> Result<FormulaSubject<'f>, Error> {
        FormulaSubject::examine(
            self.engine,
            formula,
            &self.saltenv,
            minions,
            &self.options,
            &self.secrets,
        )
    }

    /// Check a formula.
    ///
    /// # Errors
    /// The formula's files cannot be listed or read, it has none, or it has no schema and is to be
    /// checked against its own.
    pub fn lint(&self, formula: &str) -> Result<LintReport, Error> {
        let _busy = self.engine.limits().run.map(|run| run.busy_with(formula));
        let minions = self.minions_with_grains();
        let subject = self.examine(formula, &minions)?;
        let made = subject.runs.iter().flat_map(|run| &run.secret_texts);
        let secrets = Arc::new(Secrets::clone(&self.secrets).derived(made));
        let schema = self.schema_of(&subject)?;
        let (mut findings, unfinished) = rules::all(&subject);
        findings.extend(
            schema
                .iter()
                .flat_map(|schema| rules::schema(&subject, schema)),
        );
        let mut report = self.report(&subject, findings, unfinished, secrets);
        report.supported = subject.runs.iter().filter(|run| run.supported).count();
        Ok(report)
    }

    /// The report of findings, with how much was looked at.
    fn report(
        &self,
        subject: &FormulaSubject<'_>,
        findings: Vec<Finding>,
        unfinished: usize,
        secrets: Arc<Secrets>,
    ) -> LintReport {
        let sources = Sources {
            files: subject.files.values().map(|file| &**file).collect(),
            documents: subject.documents.iter().collect(),
        };
        let mut report = LintReport::of(findings, &sources, &self.levels, secrets);
        report.looked = subject.looked();
        report.unfinished = unfinished;
        report.minions = subject.runs.len();
        report.supported = subject.runs.len();
        report.unanswered = rules::unanswered_calls(subject);
        report.ignored.clone_from(&subject.ignored);
        report.remarks.extend(with_others(subject));
        report.remarks.extend(of_other_saltenvs(subject));
        report
    }
}

/// The remarks on sls of saltenvs that this run does not look at.
fn of_other_saltenvs<'s>(subject: &'s FormulaSubject<'_>) -> impl Iterator<Item = String> + 's {
    subject.of_other_saltenvs.iter().map(|(saltenv, names)| {
        format!(
            "not looked at: {} sls of the saltenv '{saltenv}' that minions get (this run looks at '{}')",
            names.len(),
            subject.saltenv
        )
    })
}

/// The remark on sls that were not compiled by themselves.
fn with_others(subject: &FormulaSubject<'_>) -> Option<String> {
    let number = subject.compiled_with_others;
    let were = if number == 1 { "was" } else { "were" };
    let remark = format!(
        "{number} sls {were} compiled only with others that include the same sls, not by {}",
        if number == 1 { "itself" } else { "themselves" }
    );
    (number > 0).then_some(remark)
}

impl Linter<'_> {
    /// Check all states of one saltenv of an estate: those that its top files give the minions, then the others.
    ///
    /// # Errors
    /// The files cannot be listed or read.
    pub fn lint_estate(&self, estate: &Estate) -> Result<LintReport, Error> {
        self.lint_saltenv(&self.saltenv, estate, &[])
    }

    /// Check all states of several saltenvs of an estate, each in its saltenv. What is found in one is not found again in
    /// the next, which may have the same roots.
    pub fn lint_saltenvs<'l>(
        &'l self,
        saltenvs: &'l [String],
        estate: &'l Estate,
    ) -> impl Iterator<Item = Result<LintReport, Error>> + 'l {
        let mut said: BTreeSet<(Rule, String, usize, String)> = BTreeSet::new();
        saltenvs.iter().map(move |saltenv| {
            let mut report = self.lint_saltenv(saltenv, estate, saltenvs)?;
            let key = |found: &Finding| {
                let place = &found.place;
                (
                    found.rule,
                    place.file.clone(),
                    place.start,
                    found.message.clone(),
                )
            };
            report.findings.retain(|found| !said.contains(&key(found)));
            said.extend(report.findings.iter().map(key));
            Ok(report)
        })
    }

    fn lint_saltenv(
        &self,
        saltenv: &str,
        estate: &Estate,
        looked_at: &[String],
    ) -> Result<LintReport, Error> {
        let _busy = self.engine.limits().run.map(|run| run.busy_with("states"));
        let minions = self.minions_with_grains();
        let (mut subject, reached) =
            FormulaSubject::of_estate(self.engine, saltenv, estate, &minions, &self.secrets)?;
        let others = &mut subject.of_other_saltenvs;
        others.retain(|saltenv, _| !looked_at.contains(saltenv));
        let (findings, unfinished) = rules::all(&subject);
        let mut report = self.report(&subject, findings, unfinished, self.secrets.clone());
        report.reached = Some(reached);
        Ok(report)
    }

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
        let minions = self.minions_with_grains();
        let subject = self.examine(formula, &minions)?;
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
        let schema = crate::schema::infer(&subject.formula, &first, &others, shows);
        json::loads(&schema.to_string()).map_err(|e| Error::new(ErrorKind::Json, e.to_string()))
    }

    /// Warnings about the grains that the tree does not compute for minions, each once with its minions.
    #[must_use]
    pub fn warnings_of_grains(&self) -> Vec<Diagnostic> {
        let mut all = GrainWarnings::default();
        for minion in &self.minions {
            let warnings = self.engine.warnings_of_grains(minion);
            all.add(&minion.id().to_string(), warnings);
        }
        all.of_minions(self.minions.len())
    }

    /// The minions with the grains that the tree computes.
    fn minions_with_grains(&self) -> Vec<Minion> {
        let minions = self.minions.iter();
        minions
            .map(|minion| self.engine.with_tree_grains(minion).into_owned())
            .collect()
    }

    /// The schema of what a `map.jinja` exports.
    fn infer_schema_of_map(&self, formula: &str) -> Result<Value, Error> {
        let options = self.options.clone();
        let configuration = Configuration::of(self.engine, formula, &self.saltenv, options)?;
        if configuration.way() == ConfigurationMethod::Data {
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
        let schema = crate::schema::infer(formula, &Value::map(), &values, |_, _| false);
        json::loads(&schema.to_string()).map_err(|e| Error::new(ErrorKind::Json, e.to_string()))
    }

    /// The schema that a formula is checked against.
    fn schema_of(&self, subject: &FormulaSubject<'_>) -> Result<Option<Arc<SourceFile>>, Error> {
        match &self.schema {
            SchemaFrom::Nowhere => Ok(None),
            SchemaFrom::File { name, text } => Ok(Some(Arc::new(SourceFile::new(
                name.as_str(),
                name.as_str(),
                text.as_str(),
            )))),
            SchemaFrom::Own => {
                let found = SchemaFrom::NAMES
                    .iter()
                    .find_map(|name| subject.files.get(&format!("{}/{name}", subject.formula)));
                found.cloned().map(Some).ok_or_else(|| {
                    let message = format!(
                        "the formula {} has no schema.yaml and no schema.json",
                        subject.formula
                    );
                    Error::new(ErrorKind::File, message)
                        .note(format!("{} makes one to begin with", Means::Schema))
                })
            }
        }
    }
}
