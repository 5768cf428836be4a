//! The pillars of the minions that flags name: whole ones, or the external ones alone.

use std::path::PathBuf;

use mapstack::loader::{Backends, Snapshot};
use mapstack::minion::Minion;
use mapstack::value::Map;
use mapstack::{Diagnostic, Engine, Error};
use mapstack_pillar::{Compiler, PillarEvent};
use mapstack_salt_config::Kind;

use crate::inputs::flags::{EngineFlags, SiteFlags};
use crate::inputs::functions::{MemoryOf, engine};
use crate::inputs::minions::{SelectedMinions, minions};
use crate::inputs::pillars::ConfiguredPillars;
use crate::inputs::served::{Served, unserved};
use crate::inputs::stacks::{Stacks, ext_pillars};
use crate::inputs::{InputError, WarningSink, configuration, deployed};

/// The pillars to compile.
#[derive(Debug, Clone, Copy)]
pub struct PillarFlags<'f> {
    /// Stacks that are named, which are compiled alone.
    pub stacks: &'f Stacks,
    /// More directories of stacked files.
    pub stack_root: &'f [PathBuf],
    /// True if errors stay in the pillar.
    pub keep_going: bool,
    /// True if external pillars are merged into the pillar that minions are given with.
    pub merged: bool,
    /// True if what happens is wanted.
    pub trace: bool,
}

/// The minions of flags, and what compiles their pillars.
pub struct PillarJob {
    /// The minions.
    pub chosen: SelectedMinions,
    made_by: MadeBy,
}

enum MadeBy {
    Stacks(Box<StackPillars>),
    Whole(Box<ConfiguredPillars>),
}

/// External pillars alone.
struct StackPillars {
    engine: Engine,
    compiler: Compiler,
    merged: bool,
    trace: bool,
}

/// The result of compiling one minion's pillar.
pub struct MadePillar {
    /// The pillar, or why it could not be compiled.
    pub pillar: Result<Map, Error>,
    /// The errors that the pillar keeps.
    pub failures: Vec<Error>,
    /// The warnings.
    pub warnings: Vec<Diagnostic>,
    /// The events, in order.
    pub events: Vec<PillarEvent>,
    /// True if the pillar is whole: its errors do not end the work for other minions.
    pub is_whole: bool,
}

impl PillarJob {
    /// The whole pillars, if the configuration sets `pillar_roots` and neither a stack nor a pillar is named; otherwise
    /// the external ones.
    ///
    /// # Errors
    /// Flags name no minion or no external pillar, or something that cannot be read.
    pub fn new(
        flags: &PillarFlags<'_>,
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
        let config = configuration::read(files, facts.id.as_deref(), Some(Kind::Master), warn)?;
        let config = config.as_ref();
        let stubs = &functions.stub;
        if flags.stacks.0.is_empty()
            && facts.pillar.is_none()
            && let Some(pillars) =
                ConfiguredPillars::of(config, EngineFlags { files, functions }, memory, warn)?
        {
            let chosen = minions(facts, target, config, None, stubs, warn)?;
            let pillars = pillars
                .with_events(flags.trace)
                .with_directories(flags.stack_root);
            let chosen = chosen.selected(pillars.engine(), target)?;
            let (of_pillar, engine) = (pillars.master().files(), pillars.engine());
            let envs = [of_pillar.envs(), engine.files().envs()].concat();
            let asked = files.saltenv.as_deref();
            let unserved = asked.and_then(|asked| unserved(asked, envs));
            warn.warn_of(&Vec::from_iter(unserved))?;
            return Ok(PillarJob {
                chosen,
                made_by: MadeBy::Whole(Box::new(pillars)),
            });
        }
        let pillars =
            ext_pillars(flags.stacks, flags.stack_root, config)?.keep_going(flags.keep_going);
        let chosen = minions(facts, target, config, pillars.pillarenv(), stubs, warn)?;
        // Few stacks look at files of the file server.
        let served = match files.root.is_empty() && !configuration::has_own_roots(config) {
            true => Backends::default(),
            false => Served::new(files, config, None, warn)?.files,
        };
        let engine = engine(Snapshot::new(served), functions, memory)?;
        let engine = deployed::with_roots(engine, files, config);
        let chosen = chosen.selected(&engine, target)?;
        Ok(PillarJob {
            chosen,
            made_by: MadeBy::Stacks(Box::new(StackPillars {
                engine,
                compiler: Compiler::new(pillars),
                merged: flags.merged,
                trace: flags.trace,
            })),
        })
    }

    /// The pillar of one of the minions.
    pub fn compile(&self, minion: &Minion) -> MadePillar {
        match &self.made_by {
            MadeBy::Stacks(stacked) => {
                let run = stacked.compiler.run(&stacked.engine, minion);
                let run = run.tracing(stacked.trace);
                let compiled = run.compile();
                let wanted = |compiled: mapstack_pillar::Compiled| match stacked.merged {
                    true => compiled.merged,
                    false => compiled.external,
                };
                MadePillar {
                    pillar: compiled.map(wanted),
                    failures: run.failures(),
                    warnings: run.warnings(),
                    events: run.events(),
                    is_whole: false,
                }
            }
            MadeBy::Whole(pillars) => match pillars.compile(minion) {
                Ok(whole) => MadePillar {
                    failures: whole.failures(),
                    pillar: Ok(whole.data),
                    warnings: whole.warnings,
                    events: whole.events,
                    is_whole: true,
                },
                Err(error) => MadePillar {
                    pillar: Err(error),
                    failures: Vec::new(),
                    warnings: Vec::new(),
                    events: Vec::new(),
                    is_whole: true,
                },
            },
        }
    }
}
