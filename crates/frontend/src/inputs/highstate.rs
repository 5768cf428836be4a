//! The states of minions, compiled as Salt does.

use mapstack::loader::Snapshot;
use mapstack::minion::Minion;
use mapstack::value::{Map, Value};
use mapstack::{Diagnostic, Engine, ErrorKind, nearest};
use mapstack_files::ManagedFiles;
use mapstack_pyobject::{Budget, Obj};
use mapstack_report::states::StateRow;
use mapstack_states::compile::{
    Compiler, LowDataError, LowState, Refusal, limit_reached, low_data,
};
use mapstack_states::{Gatherer, HighData, LeftOut, Partial, Places, TopOptions};

use crate::inputs::deployed::with_roots;
use crate::inputs::flags::{EngineFlags, SiteFlags};
use crate::inputs::functions::{MemoryOf, engine};
use crate::inputs::minions::{SelectedMinions, minions, pillar_changes};
use crate::inputs::pillars::{Configured, ConfiguredPillars};
use crate::inputs::served::Served;
use crate::inputs::state_facts::{Refused, give_pillar, top_options, wanted};
use crate::inputs::{InputError, WarningSink, configuration};

/// The minions of flags, and what compiles their states.
pub struct HighstateJob {
    /// The minions.
    pub chosen: SelectedMinions,
    engine: Engine,
    options: TopOptions,
    pillars: Option<ConfiguredPillars>,
    /// Values of pillars that flags set.
    changes: Vec<(String, Value)>,
    /// True if the sls that compile are enough.
    keeps_going: bool,
}

impl HighstateJob {
    /// The minions and files of flags.
    ///
    /// # Errors
    /// Flags name no minion or no files, or some that cannot be read.
    pub fn new(
        site: &SiteFlags,
        memory: MemoryOf,
        warn: &dyn WarningSink,
    ) -> Result<Self, InputError> {
        let SiteFlags {
            target,
            facts,
            files,
            functions,
        } = site;
        let config = configuration::read(files, facts.id.as_deref(), None, warn)?;
        let config = config.as_ref();
        let pillars =
            ConfiguredPillars::of(config, EngineFlags { files, functions }, memory, warn)?;
        let by = Configured::later(config);
        let chosen = minions(facts, target, by, None, &functions.stub, warn)?;
        let served = Served::new(files, config, None, warn)?.files;
        let engine = engine(Snapshot::new(served), functions, memory)?;
        let engine = with_roots(engine, files, config);
        let chosen = chosen.selected(&engine, target)?;
        if let (Some(config), None) = (config, &pillars) {
            let read = chosen
                .minions
                .iter()
                .filter_map(|(_, minion)| minion.as_ref().ok());
            let missing = read.filter_map(|minion| configuration::missing_pillar(config, minion));
            warn.warn_of(&missing.take(1).collect::<Vec<_>>())?;
        }
        Ok(HighstateJob {
            chosen,
            engine,
            options: top_options(config, files),
            pillars,
            changes: pillar_changes(facts)?,
            keeps_going: false,
        })
    }

    /// The same with the states of the sls that compile, where Salt refuses the whole.
    #[must_use]
    pub fn keeping_going(mut self, keeps_going: bool) -> Self {
        self.keeps_going = keeps_going;
        self
    }

    /// The id of each minion with its states: those of some sls, or without any those that top files give. An error says
    /// that the minion cannot be read, its pillar has errors, or the top files cannot be used.
    pub fn each<'j>(
        &'j self,
        sls: &'j [String],
        warn: &'j dyn WarningSink,
    ) -> impl Iterator<Item = (&'j str, Result<Highstate<'j>, Refused>)> {
        let gatherer = Gatherer::new(&self.engine, self.options.clone());
        self.chosen.minions.iter().map(move |(id, minion)| {
            let states = match minion {
                Ok(minion) => self.states(&gatherer, minion, sls, warn),
                Err(error) => Err(vec![error.clone()]),
            };
            (id.as_str(), states)
        })
    }

    fn states<'j>(
        &'j self,
        gatherer: &Gatherer<'_>,
        minion: &Minion,
        sls: &[String],
        warn: &dyn WarningSink,
    ) -> Result<Highstate<'j>, Refused> {
        let mut minion = self.engine.with_tree_grains(minion).into_owned();
        give_pillar(&mut minion, self.pillars.as_ref(), &self.changes)?;
        warn.knows(&minion);
        let wanted = wanted(sls, &self.options);
        let Partial { high, left_out } = match self.keeps_going {
            true => gatherer.partial(&minion, wanted),
            false => Partial {
                high: gatherer.high(&minion, wanted),
                left_out: Vec::new(),
            },
        };
        let high = high.with_usable_top().map_err(|e| vec![e])?;
        Ok(Highstate {
            engine: &self.engine,
            minion,
            high,
            left_out,
            is_of_sls: !sls.is_empty(),
        })
    }
}

/// The states of a list, and their low data.
pub struct RowsAndLow {
    /// The rows.
    pub rows: Vec<StateRow>,
    /// The chunk of low data of each.
    pub low: Vec<Value>,
}

/// The high data of a minion, from which the rest is made.
pub struct Highstate<'s> {
    engine: &'s Engine,
    minion: Minion,
    high: HighData,
    left_out: Vec<LeftOut>,
    /// True if sls were named, so that top files do not count.
    is_of_sls: bool,
}

/// The steps that high data goes through.
#[derive(Clone, Copy)]
enum HighDataStage {
    /// Those of `state.show_sls`.
    Verified,
    /// Those of a state run.
    Run,
    /// Those of `state.show_lowstate`.
    Lowstate,
    /// Those of `state.show_low_sls`.
    LowSls,
}

impl Highstate<'_> {
    /// The warnings of top files and templates, each once.
    #[must_use]
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let of_top = self.high.top.iter().flatten();
        let of_sls = self.high.sls.iter().map(|sls| &sls.rendered.warnings);
        let all = of_top.map(|top| &top.warnings).chain(of_sls).flatten();
        let about_all = self.nothing_given();
        let mut warnings: Vec<Diagnostic> = about_all.into_iter().collect();
        for warning in all {
            if !warnings.contains(warning) {
                warnings.push(warning.clone());
            }
        }
        warnings
    }

    /// A warning where top files give the minion nothing.
    fn nothing_given(&self) -> Option<Diagnostic> {
        let top = self.high.top.as_ref()?.as_ref().ok()?;
        if top.entries.values().any(|entries| !entries.is_empty()) {
            return None;
        }
        let id = self.minion.id();
        let message = match top.is_there {
            true => format!("no target of the top files matches '{id}', so it gets no states"),
            false => format!("no top file was found, so '{id}' gets no states"),
        };
        let warning = Diagnostic::warning(ErrorKind::Lookup, message);
        Some(warning.with_help("`mapstack highstate SLS` compiles the states of an sls"))
    }

    /// The sls that are left out, if the job [keeps going](HighstateJob::keeping_going).
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The number of sls that are rendered.
    #[must_use]
    pub fn count(&self) -> usize {
        self.high.sls.len()
    }

    /// The sls that top files give, by saltenv (Salt: `state.show_top`).
    #[must_use]
    pub fn top(&self) -> Value {
        let top = self.high.top.iter().flatten().flat_map(|top| &top.entries);
        let entries = top.map(|(saltenv, entries)| {
            let names: Value = entries.iter().map(|entry| entry.sls.as_str()).collect();
            (saltenv.as_str(), names)
        });
        Value::from(entries.collect::<Map>())
    }

    /// The high data (Salt: `state.show_highstate` and `state.show_sls`).
    ///
    /// # Errors
    /// The faults for which Salt refuses the states.
    pub fn data(&self) -> Result<Value, Refused> {
        match (self.is_of_sls, &self.high.refusals[..]) {
            (true, _) => drop(self.compiled(HighDataStage::Verified)?),
            (false, []) => {}
            (false, refusals) => return Err(self.errors(refusals)),
        }
        Ok(self.high.data.clone())
    }

    /// The low data (Salt: `state.show_lowstate` and `state.show_low_sls`).
    ///
    /// # Errors
    /// The faults for which Salt refuses the states.
    pub fn low(&self) -> Result<Value, Refused> {
        let chunks = self.values(match self.is_of_sls {
            true => HighDataStage::LowSls,
            false => HighDataStage::Lowstate,
        })?;
        Ok(chunks.into_iter().collect())
    }

    /// The states as a run has them, in order.
    ///
    /// # Errors
    /// The faults for which Salt refuses the states.
    pub fn rows(&self) -> Result<Vec<StateRow>, Refused> {
        let low = self.compiled(HighDataStage::Run)?;
        let places = Places::new(self.engine, &self.high.sls);
        Ok(low.iter().map(|state| row(&places, state)).collect())
    }

    /// The same, and beside each its chunk of low data.
    ///
    /// # Errors
    /// The faults for which Salt refuses the states.
    pub fn rows_and_low(&self) -> Result<RowsAndLow, Refused> {
        let states = self.compiled(HighDataStage::Run)?;
        let places = self.places();
        let rows = states.iter().map(|state| row(&places, state)).collect();
        let low = low_data(states).map_err(|e| vec![e])?;
        Ok(RowsAndLow { rows, low })
    }

    /// The low data of a run, chunk by chunk.
    ///
    /// # Errors
    /// The faults for which Salt refuses the states.
    pub fn low_of_run(&self) -> Result<Vec<Value>, Refused> {
        self.values(HighDataStage::Run)
    }

    /// The files that low data manages.
    #[must_use]
    pub fn managed<'m>(&'m self, low: &'m [Value]) -> ManagedFiles<'m> {
        ManagedFiles::new(self.engine, self.high.minion_of_files(&self.minion), low)
    }

    /// Finds the places of states.
    #[must_use]
    pub fn places(&self) -> Places<'_> {
        Places::new(self.engine, &self.high.sls)
    }

    fn values(&self, form: HighDataStage) -> Result<Vec<Value>, Refused> {
        low_data(self.compiled(form)?).map_err(|e| vec![e])
    }

    fn compiled(&self, form: HighDataStage) -> Result<Vec<LowState>, Refused> {
        let budget = Budget::new(self.high.limits, None);
        let watches = |module: &str| self.high.watches(module);
        let options = self.high.compile_options(&self.minion, &watches);
        let compiler = Compiler::new(options, &budget).after(self.high.refusals.clone());
        let high = Obj::from_shared(&self.high.data);
        let made = match form {
            HighDataStage::Verified => compiler.verify(&high).map(|()| Vec::new()),
            HighDataStage::Run => compiler.low(&high),
            HighDataStage::Lowstate => compiler.shown_lowstate(&high),
            HighDataStage::LowSls => compiler.shown_low_sls(&high),
        };
        made.map_err(|failed| match failed {
            LowDataError::Refused(refusals) => self.errors(&refusals),
            LowDataError::Limit(error) => vec![limit_reached(&error)],
        })
    }

    fn errors(&self, refusals: &[Refusal]) -> Refused {
        Places::new(self.engine, &self.high.sls).errors(refusals)
    }
}

/// The message for a name that no file of a minion has, of which these are the names.
#[must_use]
pub fn unknown_file(name: &str, names: &[String]) -> String {
    let near = nearest(name, names.iter().map(String::as_str));
    let near = near.map(|near| format!(": did you mean '{near}'?"));
    let near = near.unwrap_or_else(|| "; `mapstack file` without a name lists them".into());
    format!("no state manages a file of the name '{name}'{near}")
}

/// A state of low data as a row of a list.
fn row(places: &Places<'_>, state: &LowState) -> StateRow {
    let text = |name: &str| {
        let value = state.chunk.get_str(name).unwrap_or_default();
        value
            .as_str()
            .map_or_else(|| format!("{value:?}"), ToString::to_string)
    };
    let (place, _) = places.of_id(&text("__sls__"), &text("__env__"), &text("__id__"));
    let mut after: Vec<(&'static str, Vec<usize>)> = Vec::new();
    for (position, requisite) in &state.after {
        let name = requisite.name();
        match after.iter_mut().find(|(known, _)| *known == name) {
            Some((_, positions)) => positions.push(*position),
            None => after.push((name, vec![*position])),
        }
    }
    let check = state.chunk.get_str("check_cmd");
    StateRow {
        check: check.and_then(|command| Some(command.as_str()?.to_string())),
        files: Vec::new(),
        function: format!("{}.{}", text("state"), text("fun")),
        name: text("name"),
        place,
        after,
        is_test: state.is_test,
    }
}
