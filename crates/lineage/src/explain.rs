//! The trait that adds questions about origins to a run.

use std::rc::Rc;

use mapstack::{Configuration, ConfigurationMethod, DataOptions, Run, StackOptions};
use mapstack_diagnostic::{Diagnostic, ErrorKind, Result};
use mapstack_minion::FactPlaces;
use mapstack_value::Value;

use crate::flow::ValueTracer;
use crate::tracker::{Follower, Tracker};
use crate::why_not::{SoughtFiles, WhyNot, why_not, why_not_in_map};
use crate::{Lineage, Secrets};

/// Questions about where the data of a [`Run`] comes from.
pub trait Explain {
    /// Compute `map.data` and the origin of each value.
    ///
    /// # Errors
    /// As [`Run::data`].
    fn explain(&self, tpldir: &str, options: &DataOptions) -> Result<(Value, Lineage)>;

    /// Compute `map.stack` and the origin of each value.
    ///
    /// # Errors
    /// As [`Run::stack`].
    fn explain_stack(
        &self,
        tpldir: &str,
        sources: &Value,
        options: &StackOptions,
    ) -> Result<(Value, Lineage)>;

    /// Compute a formula's configuration and the origin of each value: by its layers, or through its `map.jinja`.
    ///
    /// ```
    /// use mapstack::{Configuration, DataOptions, Engine, loader::MemoryFiles, minion::Minion, value::Key};
    /// use mapstack_lineage::Explain;
    /// let map = "{% import_yaml 'ntp/os.yaml' as os %}{% set ntp = salt['grains.filter_by'](os) %}";
    /// let files = MemoryFiles::new().file("base", "ntp/map.jinja", map).file("base", "ntp/os.yaml", "Debian: {pkg: ntpsec}");
    /// let minion = Minion::parse(b"{id: web1, grains: {os_family: Debian}}", "m").unwrap().complete();
    /// let engine = Engine::new(files);
    /// let configuration = Configuration::of(&engine, "ntp", "base", DataOptions::default()).unwrap();
    /// let (_, lineage) = engine.run(&minion).explain_configuration(&configuration).unwrap();
    /// let known = lineage.at(&[Key::from("pkg")]).unwrap();
    /// assert_eq!(known.spot.to_string(), "ntp/os.yaml:1:15");
    /// assert_eq!(lineage.layers()[known.layer].because[0].matcher, "G@os_family");
    /// ```
    ///
    /// # Errors
    /// As [`Configuration::compute`].
    fn explain_configuration(&self, configuration: &Configuration) -> Result<(Value, Lineage)>;

    /// Explain why a file is not part of a formula's data. `path` is relative to the file server's root.
    ///
    /// ```
    /// use mapstack::{DataOptions, Engine, loader::MemoryFiles, minion::Minion};
    /// use mapstack_lineage::{Explain, WhyNot};
    /// let files = MemoryFiles::new().file("base", "f/parameters/osfinger/Rocky-9.yaml", "values: {}");
    /// let minion = Minion::parse(b"grains: {osfinger: Rocky Linux-9}", "m").unwrap().complete();
    /// let engine = Engine::new(files);
    /// let run = engine.run(&minion);
    /// let answer = run.why_not("f", &DataOptions::default(), "f/parameters/osfinger/Rocky-9.yaml").unwrap();
    /// let WhyNot::Others { sources } = answer else { panic!("{answer:?}") };
    /// assert_eq!(sources[0].differs, [("G@osfinger".into(), vec!["Rocky Linux-9".into()], "Rocky-9".into())]);
    /// ```
    ///
    /// # Errors
    /// As [`Run::data`].
    fn why_not(&self, tpldir: &str, options: &DataOptions, path: &str) -> Result<WhyNot>;

    /// Explain why a file has no part in a formula's configuration: in its layers, or in what its `map.jinja` exports.
    ///
    /// ```
    /// use mapstack::{Configuration, DataOptions, Engine, loader::MemoryFiles, minion::Minion};
    /// use mapstack_lineage::{Explain, WhyNot};
    /// let map = "{% if grains.os == 'Arch' %}{% import_yaml 'f/arch.yaml' as f %}{% else %}{% set f = {} %}{% endif %}";
    /// let files = MemoryFiles::new().file("base", "f/map.jinja", map).file("base", "f/arch.yaml", "a: 1");
    /// let minion = Minion::parse(b"grains: {os: Debian}", "m").unwrap().complete();
    /// let engine = Engine::new(files);
    /// let configuration = Configuration::of(&engine, "f", "base", DataOptions::default()).unwrap();
    /// let answer = engine.run(&minion).why_not_of(&configuration, "f/arch.yaml").unwrap();
    /// let WhyNot::NotReached { places } = answer else { panic!("{answer:?}") };
    /// assert_eq!(places[0].to_string(), "f/map.jinja:1:29");
    /// ```
    ///
    /// # Errors
    /// As [`Configuration::compute`].
    fn why_not_of(&self, configuration: &Configuration, path: &str) -> Result<WhyNot>;

    /// The files that the run which returned `data` looked for; they explain why it looked for no other.
    ///
    /// # Errors
    /// A source that is not a definition.
    fn sought(&self, data: &Value, options: &DataOptions) -> Result<SoughtFiles>;
}

/// Layers that a run merges, and where each value of them comes from.
fn followed(run: &Run<'_>, merge: impl FnOnce() -> Result<Value>) -> Result<(Value, Lineage)> {
    run.follow_secrets();
    let follower = Rc::new(Follower::new());
    let data = run.with_hooks(follower.clone(), merge)?;
    let facts = FactPlaces::new(&run.minion());
    let secrets = Secrets {
        texts: run.secret_texts(),
        policy: run.engine().policy().clone(),
    };
    let lineage = Lineage::new(follower.take(), data.clone(), facts, secrets);
    Ok((data, lineage))
}

/// The values of a map were not followed to the end.
fn not_followed(configuration: &Configuration, why: &str) -> Diagnostic {
    let formula = configuration.formula();
    let what = format!("the values of the formula '{formula}' could not be followed: {why}");
    let mut warning = Diagnostic::warning(ErrorKind::Limit, what);
    warning.notes = vec!["they are right, but where they come from is not known".into()];
    warning
}

impl Explain for Run<'_> {
    fn explain(&self, tpldir: &str, options: &DataOptions) -> Result<(Value, Lineage)> {
        followed(self, || self.data(tpldir, options))
    }

    fn explain_stack(
        &self,
        tpldir: &str,
        sources: &Value,
        options: &StackOptions,
    ) -> Result<(Value, Lineage)> {
        followed(self, || self.stack(tpldir, sources, options))
    }

    fn explain_configuration(&self, configuration: &Configuration) -> Result<(Value, Lineage)> {
        if configuration.way() == ConfigurationMethod::Data {
            return self.explain(configuration.formula(), configuration.options());
        }
        self.follow_secrets();
        let minion = self.minion().clone();
        let facts = FactPlaces::new(&minion);
        let tracer = Rc::new(ValueTracer::new(minion, self.engine().limits()));
        let data = self.with_hooks(tracer.clone(), || configuration.compute(self))?;
        let secrets = Secrets {
            texts: self.secret_texts(),
            policy: self.engine().policy().clone(),
        };
        if let Some(why) = tracer.ended() {
            self.warn(not_followed(configuration, &why));
        }
        let Some(traced) = tracer.take() else {
            // The formula has no files, so its configuration is empty.
            let lineage = Lineage::new(Tracker::default(), data.clone(), facts, secrets);
            return Ok((data, lineage));
        };
        let shown = |path: &str| self.shown(path);
        let lineage = Lineage::of_map(traced, data.clone(), facts, secrets).with_shown(&shown);
        Ok((data, lineage))
    }

    fn why_not(&self, tpldir: &str, options: &DataOptions, path: &str) -> Result<WhyNot> {
        let before = self.events().len();
        let (data, lineage) = self.explain(tpldir, options)?;
        let events = self.events();
        match why_not(&lineage, events.get(before..).unwrap_or_default(), path) {
            Some(answer) => Ok(answer),
            None => self.sought(&data, options)?.why_not(path),
        }
    }

    fn why_not_of(&self, configuration: &Configuration, path: &str) -> Result<WhyNot> {
        let formula = configuration.formula();
        // The sources say more about a parameter file, also where a map reads them.
        let is_parameters = path.starts_with(&format!("{formula}/parameters/"));
        match configuration.way() {
            ConfigurationMethod::Map if !is_parameters => why_not_in_map(self, configuration, path),
            _ => self.why_not(formula, configuration.options(), path),
        }
    }

    fn sought(&self, data: &Value, options: &DataOptions) -> Result<SoughtFiles> {
        SoughtFiles::of(self, data, options)
    }
}
