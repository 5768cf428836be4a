//! A minion's pillar, with how it was made.

use mapstack::Error;
use mapstack::loader::FileServer as _;
use mapstack::minion::Minion;
use mapstack::secrets::Policy;
use mapstack_pillar::WholePillar;
use mapstack_salt_config::{Config, Kind};

use crate::inputs::flags::Input;
use crate::inputs::functions::MemoryOf;
use crate::inputs::minions::minion;
use crate::inputs::pillars::{Configured, ConfiguredPillars, NoWarnings};
use crate::inputs::served::Served;
use crate::inputs::{InputError, WarningSink, configuration};

/// A minion and its pillar, for questions about where values come from.
pub struct ExplainedPillar {
    /// The minion with its pillar.
    pub minion: Minion,
    /// The pillar.
    pub pillar: WholePillar,
    /// The policy about secrets of the flags.
    pub policy: Policy,
}

impl ExplainedPillar {
    /// The name by which a pillar is requested in place of a formula.
    pub const NAME: &str = "pillar";

    /// The message where a pillar is requested and none is compiled.
    pub(crate) const NOTHING_COMPILES: &str = "nothing says what compiles the pillar: give --config MASTER, a configuration that sets\n\
         pillar_roots, or name pillar_roots in .mapstack.yaml";

    /// The pillar of the minion of flags; `None` if nothing compiles pillars and there is a formula of that name.
    ///
    /// # Errors
    /// Flags name no minion or more than one, something cannot be read, or the pillar ends with an error.
    pub fn of(
        input: &Input,
        memory: MemoryOf,
        warn: &dyn WarningSink,
    ) -> Result<Option<Self>, InputError> {
        let id = input.facts.id.as_deref();
        let config = configuration::read(&input.files, id, Some(Kind::Master), warn)?;
        let flags = input.engine_flags();
        let Some(pillars) = ConfiguredPillars::of(config.as_ref(), flags, memory, warn)? else {
            return match has_formula(input, config.as_ref()) {
                true => Ok(None),
                false => Err(InputError::Usage(Self::NOTHING_COMPILES.into())),
            };
        };
        if input.facts.pillar.is_some() {
            let message =
                "--pillar gives the pillar, which is then not compiled and cannot be explained";
            return Err(InputError::Usage(message.into()));
        }
        let mut minion = minion(input, Configured::later(config.as_ref()), warn)?;
        // A given pillar is not what its master compiles.
        minion.pillar = Default::default();
        let pillar = pillars.explain(&minion)?;
        minion.pillar = pillar.data.clone();
        warn.knows(&minion);
        let policy = input.functions.policy.clone();
        Ok(Some(ExplainedPillar {
            minion,
            pillar,
            policy,
        }))
    }

    /// The errors of the pillar.
    pub fn errors(&self) -> Vec<Error> {
        self.pillar.failures()
    }
}

/// True if the file server has a formula of the name by which a pillar is requested.
fn has_formula(input: &Input, config: Option<&Config>) -> bool {
    let served = Served::new(&input.files, config, None, &NoWarnings).ok();
    let env = input.files.saltenv.as_deref().unwrap_or("base");
    let folder = format!("{}/", ExplainedPillar::NAME);
    served
        .and_then(|served| served.files.list(env, &folder).ok())
        .is_some_and(|files| !files.is_empty())
}
