//! The entry point.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::schema::{Schema, infer};
use crate::{
    Content, Document, Levels, LintReport, SchemaFrom, SourceFile, Sources, Violations, read_schema,
};
use mapstack::minion::Minion;
use mapstack::secrets::Secrets;
use mapstack::value::{Value, json};
use mapstack::{Engine, Error, ErrorKind, Means};
use mapstack_fleet::{Pace, ordered};
use mapstack_pillar::{Master, PillarRequest};

use crate::pillar::examined::ExaminedPillar;
use crate::pillar::files::ReadablePillarFiles;
use crate::pillar::keys::PillarKeys;
use crate::pillar::rules::{self, PillarSubject};
use crate::pillar::seen::PillarRecord;

/// Checks the pillar of a master.
pub struct PillarLinter<'m> {
    master: &'m Master,
    engine: &'m Engine,
    levels: Levels,
    secrets: Arc<Secrets>,
    schema: SchemaFrom,
    assumes_grains: bool,
    missing_roots: Vec<String>,
}

/// The minions for which a pillar is checked.
#[derive(Debug, Clone)]
pub enum Minions {
    /// The real ones: what none of them gets, no minion gets.
    Known(Vec<Minion>),
    /// Examples, such as one of each platform: what none of them gets may well be for others.
    Examples(Vec<Minion>),
}

impl Minions {
    /// Real minions, or examples.
    #[must_use]
    pub fn given(minions: Vec<Minion>, are_known: bool) -> Self {
        match are_known {
            true => Minions::Known(minions),
            false => Minions::Examples(minions),
        }
    }

    fn all(&self) -> &[Minion] {
        match self {
            Minions::Known(minions) | Minions::Examples(minions) => minions,
        }
    }
}

impl<'m> PillarLinter<'m> {
    /// A linter for the pillar that a master compiles; functions of its templates are the engine's.
    #[must_use]
    pub fn new(master: &'m Master, engine: &'m Engine) -> Self {
        PillarLinter {
            master,
            engine,
            levels: Levels::default(),
            secrets: Arc::new(Secrets::numbered()),
            schema: SchemaFrom::Nowhere,
            assumes_grains: false,
            missing_roots: Vec::new(),
        }
    }

    /// Name roots of the pillar that are not here: an sls that is missing may lie in one.
    #[must_use]
    pub fn missing_roots(self, missing_roots: Vec<String>) -> Self {
        PillarLinter {
            missing_roots,
            ..self
        }
    }

    /// Say that the grains of the minions are assumed: what fails by them is a warning.
    #[must_use]
    pub fn assumes_grains(self, assumes_grains: bool) -> Self {
        PillarLinter {
            assumes_grains,
            ..self
        }
    }

    /// Set the levels of rules.
    #[must_use]
    pub fn levels(self, levels: Levels) -> Self {
        PillarLinter { levels, ..self }
    }

    /// Set the secrets to keep back in messages and excerpts; by default the values under the usual keys.
    #[must_use]
    pub fn secrets(self, secrets: Secrets) -> Self {
        let secrets = Arc::new(secrets);
        PillarLinter { secrets, ..self }
    }

    /// Check values against a schema, too.
    #[must_use]
    pub fn schema(self, schema: SchemaFrom) -> Self {
        PillarLinter { schema, ..self }
    }

    /// Check the pillar, and give minions without one the pillar that was compiled: as far as there is one, without
    /// `_errors`.
    ///
    /// # Errors
    /// The pillar's files cannot be listed; or it has no schema and is to be checked against its own.
    pub fn lint(&self, minions: &Minions) -> Result<(LintReport, Vec<Minion>), Error> {
        let files = ReadablePillarFiles::read(self.master)?;
        let source = self.source_of_schema(&files)?;
        let (schema, wrong) = match source.as_ref().map(read_schema).transpose() {
            Ok(schema) => (schema, None),
            Err(wrong) => (None, Some(*wrong)),
        };
        let violations = source
            .as_ref()
            .map(|source| Violations::new(source, &self.secrets, "the pillar"));
        let mut found = PillarFindings {
            seen: PillarRecord::default(),
            with_pillars: Vec::new(),
            violations,
            unchecked: 0,
            broken: BTreeSet::new(),
        };
        self.compile_all(minions.all(), schema.as_ref(), &mut found)?;
        let PillarFindings {
            seen,
            with_pillars,
            violations,
            unchecked,
            broken,
        } = found;
        let documents = documents(&seen, &files);
        let subject = PillarSubject {
            seen: &seen,
            files: &files,
            documents: &documents,
            secrets: &self.secrets,
            options: self.master.config().options(),
            is_fleet: matches!(minions, Minions::Known(_)),
            assumes_grains: self.assumes_grains,
            missing_roots: &self.missing_roots,
        };
        let sources = Sources {
            files: files.all.values().map(|file| &file.source).collect(),
            documents: documents.iter().collect(),
        };
        let mut findings = rules::all(&subject);
        findings.extend(wrong);
        let of_schema = violations.map(|violations| violations.finish(seen.minions));
        findings.extend(of_schema.into_iter().flatten());
        let mut report = LintReport::of(findings, &sources, &self.levels, self.secrets.clone());
        fill(&mut report, &subject);
        report.broken = broken;
        if unchecked > 0 {
            report.remarks.push(format!(
                "the schema was not checked for {unchecked} of {} minions: their pillars have errors",
                seen.minions
            ));
        }
        Ok((report, with_pillars))
    }

    /// A JSON Schema of the pillars of minions: what types their keys have, without values. Those with errors are left
    /// out, and counted beside it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use mapstack::{Engine, loader::MemoryFiles, minion::Minion};
    /// use mapstack_lint::pillar::PillarLinter;
    /// use mapstack_pillar::Master;
    /// use mapstack_salt_config::{Config, Kind};
    ///
    /// let config = Config::parse(b"pillar_roots: {base: [/srv/pillar]}", "master", Kind::Master).unwrap();
    /// let files = MemoryFiles::new()
    ///     .file("base", "top.sls", "base: {'*': [a], 'db*': [b]}")
    ///     .file("base", "a.sls", "port: 80")
    ///     .file("base", "b.sls", "port: null");
    /// let (master, engine) = (Master::new(config, Arc::new(files)), Engine::new(MemoryFiles::new()));
    /// let minions = ["web1", "db1"].map(|id| Minion::new(id).complete());
    /// let (schema, broken) = PillarLinter::new(&master, &engine).infer_schema(&minions).unwrap();
    /// let port = schema.as_map().unwrap().get("properties").unwrap().as_map().unwrap().get("port").unwrap();
    /// assert_eq!((port.repr().as_str(), broken), ("{'type': ['integer', 'null']}", 0));
    /// ```
    ///
    /// # Errors
    /// No minion has a pillar without errors: the first error.
    pub fn infer_schema(&self, minions: &[Minion]) -> Result<(Value, usize), Error> {
        let work = |minion: &Minion| {
            let ask = PillarRequest::of(minion);
            let whole = self.master.compile(self.engine, minion, &ask)?;
            match whole.errors.first() {
                None => Ok(Value::Map(whole.data)),
                Some(first) => Err(first.error.clone()),
            }
        };
        let (mut pillars, mut broken) = (Vec::new(), Vec::new());
        std::thread::scope(|scope| {
            for pillar in ordered(scope, minions.iter(), Pace::default(), work) {
                match pillar? {
                    Ok(pillar) => pillars.push(pillar),
                    Err(error) => broken.push(error),
                }
            }
            Ok::<_, Error>(())
        })?;
        if let (true, Some(first)) = (pillars.is_empty(), broken.first()) {
            return Err(first.clone().note("no minion has a pillar without errors"));
        }
        let schema = infer("pillar", &Value::map(), &pillars, |_, _| false);
        let schema = json::loads(&schema.to_string());
        let schema = schema.map_err(|e| Error::new(ErrorKind::Json, e.to_string()))?;
        Ok((schema, broken.len()))
    }

    /// Compile the pillars of minions side by side.
    fn compile_all(
        &self,
        minions: &[Minion],
        schema: Option<&Schema>,
        found: &mut PillarFindings<'_>,
    ) -> Result<(), Error> {
        // Values of the pillar are masked when they are reported.
        let (master, engine) = (self.master, self.engine);
        let work =
            |minion: &Minion| ExaminedPillar::of(master, engine, minion, engine.policy(), schema);
        std::thread::scope(|scope| {
            let all = ordered(scope, minions.iter(), Pace::default(), work);
            for (minion, examined) in minions.iter().zip(all) {
                found.add(&self.engine.with_tree_grains(minion), examined?);
            }
            Ok(())
        })
    }

    /// The schema that the pillar is checked against.
    fn source_of_schema(&self, files: &ReadablePillarFiles) -> Result<Option<SourceFile>, Error> {
        match &self.schema {
            SchemaFrom::Nowhere => Ok(None),
            SchemaFrom::File { name, text } => {
                let file = SourceFile::new(name.as_str(), name.as_str(), text.as_str());
                Ok(Some(file))
            }
            SchemaFrom::Own => {
                let found = SchemaFrom::NAMES.iter().find_map(|name| {
                    let mut all = files.all.values();
                    all.find(|file| file.source.path == *name)
                });
                let found = found.map(|file| Some(file.source.clone()));
                found.ok_or_else(|| {
                    let message = "the pillar has no schema.yaml and no schema.json in a root";
                    Error::new(ErrorKind::File, message)
                        .note(format!("{} makes one to begin with", Means::PillarSchema))
                })
            }
        }
    }
}

/// The findings minion by minion.
struct PillarFindings<'f> {
    seen: PillarRecord,
    with_pillars: Vec<Minion>,
    violations: Option<Violations<'f>>,
    /// The number of pillars that were not checked against the schema.
    unchecked: usize,
    /// The minions whose pillars have errors.
    broken: BTreeSet<String>,
}

impl PillarFindings<'_> {
    fn add(&mut self, minion: &Minion, mut examined: ExaminedPillar) {
        for (violation, place) in std::mem::take(&mut examined.violations) {
            let Some(violations) = &mut self.violations else {
                continue;
            };
            let id = examined.id.clone();
            match place {
                Some(place) => violations.add(&violation, place, Some(id)),
                None => violations.add_nowhere(&violation, id),
            }
        }
        let is_broken = examined.data.is_err() || !examined.errors.is_empty();
        if is_broken {
            self.broken.insert(examined.id.clone());
        }
        if self.violations.is_some() && is_broken {
            self.unchecked += 1;
        }
        let grains = minion.grains.keys().filter_map(|key| key.as_str());
        self.seen.grains.extend(grains.map(str::to_owned));
        let mut minion = minion.clone();
        if let (true, Ok(data)) = (minion.pillar.is_empty(), &examined.data) {
            minion.pillar = data.clone();
        }
        self.with_pillars.push(minion);
        self.seen.add(examined);
    }
}

/// The data of the sls, as minions read them; those that no minion gets as they are, if they are not templates.
fn documents(seen: &PillarRecord, files: &ReadablePillarFiles) -> Vec<Document> {
    let read = seen.texts.iter().map(|((shown, _), text)| {
        let path = files.all.get(shown).map(|file| file.source.path.as_str());
        Document::parse(path.unwrap_or(shown), Content::Rendered(text.clone()))
    });
    let unread = files
        .sls()
        .filter(|file| !seen.is_read(&file.source.shown) && !file.source.is_template());
    let plain = unread.map(|file| {
        let source = Arc::new(file.source.clone());
        Document::parse(&file.source.path, Content::Plain(source))
    });
    // A file that is not YAML is an error of the compile.
    read.chain(plain).filter_map(Result::ok).collect()
}

/// Write into a report what was looked at.
fn fill(report: &mut LintReport, subject: &PillarSubject<'_>) {
    let (seen, files) = (subject.seen, subject.files);
    report.is_pillar = true;
    report.files = files.sls().count();
    report.looked.states = seen.read.len();
    report.minions = seen.minions;
    report.supported = seen.minions;
    report.unanswered = rules::unanswered(seen);
    report.ignored = rules::unread(seen, files);
    report.remarks = remarks(subject);
    report.left_out = seen.externals.iter().cloned().collect();
    let externals = subject.options.get("ext_pillar");
    let has_externals = externals.is_some_and(Value::truthy);
    report.keys = Some(Arc::new(PillarKeys::read(files, has_externals)));
}

/// Remarks on parts that were not looked at, beside files.
fn remarks(subject: &PillarSubject<'_>) -> Vec<String> {
    let seen = subject.seen;
    let mut remarks = Vec::new();
    if !subject.is_fleet {
        remarks.push(format!(
            "targets that match no minion were not looked for: the minions of this run are examples; \
             {} gives those that there are",
            Means::Minions
        ));
    } else if seen.is_partial() {
        remarks.push(
            "which sls no minion gets was not looked at: the pillar of some minion ends with an error"
                .into(),
        );
    }
    for name in &seen.externals {
        remarks.push(format!(
            "what the external pillar '{name}' gives was not looked at: it failed, or is not built in"
        ));
    }
    let envs = subject.files.envs.iter();
    for env in envs.filter(|env| !seen.envs.contains(*env)) {
        remarks.push(format!(
            "the saltenv '{env}' was not looked at: no minion reads its top file"
        ));
    }
    remarks
}
