//! The grains, pillar and options that templates, functions and targets see, and the options that a pillar shows.
//! Before Salt 3008, each had its own.

use mapstack::{MasterSide, Run};
use mapstack_diagnostic::{Diagnostic, ErrorKind, Result};
use mapstack_minion::{Behaviour, Minion};
use mapstack_value::{Map, Value};

use super::renders::Renders;
use super::top::{Top, TopMatches};
use super::{CompileState, PillarCompile};

/// The grains and pillar of templates and targets, if functions see the grains that the minion asks with, and no
/// pillar.
pub(super) struct Views {
    /// The grains and the pillar of templates, which change them in place for later templates.
    pub templates: [Map; 2],
    /// The pillar of external pillars that came first, which the options have then.
    external: Option<Map>,
}

impl CompileState {
    /// True if the facts that functions read are those that templates read, so that the answers to both are the same.
    pub(super) fn can_share(&self) -> bool {
        let has_external = |views: &Views| views.external.is_some();
        !self.views.as_ref().is_some_and(has_external)
    }

    /// Let templates and targets see the pillar so far, of external pillars.
    pub(super) fn show_external(&mut self) {
        let pillar = self.map();
        if let Some(views) = &mut self.views {
            views.templates[1] = pillar.clone();
            views.external = Some(pillar);
        }
    }
}

impl PillarCompile<'_> {
    /// The behaviour of the version of Salt that is followed.
    pub(super) fn behaviour(&self) -> &'static Behaviour {
        self.engine.salt_version().behaviour()
    }

    /// The state before a compile.
    pub(super) fn state(&self) -> CompileState {
        let grains = &self.minion.grains;
        let views = || Views {
            templates: [grains.clone(), Map::new()],
            external: None,
        };
        CompileState {
            grains: grains.clone(),
            views: (!self.behaviour().functions_share_facts).then(views),
            ..CompileState::default()
        }
    }

    /// A run for templates that see the pillar so far.
    pub(super) fn run(&self, state: &CompileState) -> Run<'_> {
        let minion = Minion {
            pillar: match &state.views {
                None => state.map(),
                Some(_) => Map::new(),
            },
            grains: state.grains.clone(),
            ..self.minion.clone()
        };
        self.engine.run_on_master(&minion, self.side(state))
    }

    fn side(&self, state: &CompileState) -> MasterSide {
        let views = state.views.as_ref();
        MasterSide {
            minion_id: self.settings.id.clone(),
            opts: self.settings.templates.clone(),
            pillar_files: self.files.server(),
            facts: views.map(|views| views.templates.clone()),
            opts_have_pillar: views.is_some_and(|views| views.external.is_some()),
            pillar_of_targets: views.map(|_| listed(&self.settings.functions)),
            // By then, the options that the function gives the matchers lack the pillar.
            pillar_of_functions: views.is_none().then(|| Map::new().into()),
        }
    }

    /// The side of the master for external pillars and their templates, who see other data than functions.
    pub(super) fn side_of_external(&self, state: &CompileState) -> MasterSide {
        MasterSide {
            opts_have_pillar: false,
            ..self.side(state)
        }
    }

    /// The sls of the targets that match the minion.
    pub(super) fn matches(
        &self,
        renders: &Renders<'_>,
        top: &mut Top,
        state: &mut CompileState,
    ) -> Result<TopMatches> {
        let reader = self.reader(renders);
        let Some(views) = &state.views else {
            return top.matches(&reader, renders.run());
        };
        // The reference copies the options for them when it begins, and again once there are external pillars.
        let (grains, pillar) = match &views.external {
            None => (&self.minion.grains, Map::new()),
            Some(pillar) => (&views.templates[0], pillar.clone()),
        };
        let minion = Minion {
            grains: grains.clone(),
            pillar,
            ..self.minion.clone()
        };
        let has_pillar = views.external.is_some();
        let side = MasterSide {
            facts: None,
            pillar_of_targets: (!has_pillar).then(|| listed(&self.settings.templates)),
            ..self.side(state)
        };
        let run = self.engine.run_on_master(&minion, side);
        let matches = top.matches(&reader, &run)?;
        state.hear(run.warnings());
        Ok(matches)
    }

    /// The master's options as the pillar shows them.
    pub(super) fn shown_options(&self, state: &mut CompileState) -> Map {
        let has_grains = self.behaviour().pillar_opts_have_grains;
        let hidden: &[&str] = match has_grains {
            true => &["pillar", "__context__", "functions", "matchers", "rend"],
            false => &["grains"],
        };
        let mut all = self.settings.templates.clone();
        if let Some(pillar) = state.views.as_ref().and_then(|it| it.external.as_ref()) {
            all.insert("pillar", pillar.clone());
        }
        let entries = all.into_iter();
        let mut options: Map = entries
            .filter(|(name, _)| !name.as_str().is_some_and(|name| hidden.contains(&name)))
            .collect();
        let version = self.engine.salt_version();
        options.insert("saltversion", version.release());
        if version != Default::default() {
            let message = format!(
                "`master` in the pillar has the defaults of Salt {}, not those of {version}",
                mapstack_minion::SaltVersion::default()
            );
            let warning = Diagnostic::warning(ErrorKind::Options, message);
            state.hear(vec![warning.with_help(
                "set the options that the pillar needs, or turn pillar_opts off",
            )]);
        }
        options
    }
}

/// The external pillars that options list.
fn listed(options: &Map) -> Value {
    options.get("ext_pillar").cloned().unwrap_or_default()
}
