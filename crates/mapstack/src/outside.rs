//! What another fold needs of a run: templates that belong to no formula, such as those of external pillars.

use std::path::PathBuf;
use std::sync::Arc;

use mapstack_diagnostic::Error;
use mapstack_render::Obj;
use mapstack_render::jinja::{Dialect, Names, Request, request};
use mapstack_value::{Map, Str, Value};

use crate::engine::Run;
use crate::file::File;
use crate::host::RunHost;
use crate::render::Language;
use crate::text::Text;

/// A template that belongs to no formula.
pub struct OtherTemplate<'o> {
    /// The file that it stands in.
    pub file: &'o File,
    /// Its text.
    pub source: &'o str,
    /// Variables that imported templates have, too.
    pub variables: Names,
    /// Variables of its own.
    pub locals: Names,
    /// The environment it is written for.
    pub dialect: &'static dyn Dialect,
    /// Finds the templates that it loads.
    pub find: &'o dyn Fn(&str) -> mapstack_render::Result<Option<Arc<str>>>,
}

impl Run<'_> {
    /// Run a template that belongs to no formula, by whatever takes a request. It spends what the run may spend, and
    /// reaches the run's functions; [`sync_facts`](Run::sync_facts) takes over what it changed in the facts.
    pub fn with_request<T>(
        &self,
        template: OtherTemplate<'_>,
        work: impl FnOnce(Request<'_>) -> T,
    ) -> T {
        let host = RunHost::with_templates(self, template.find);
        work(Request {
            name: Some(Str::from(&*template.file.path)),
            variables: template.variables,
            locals: template.locals,
            dialect: template.dialect,
            strict: false,
            limits: self.limits,
            cache: Some(&self.engine.templates),
            fuel: Some(&self.fuel),
            taint: self.taint(),
            ..request(template.source, &host)
        })
    }

    /// The minion's name as it was given.
    pub fn given_id(&self) -> Value {
        self.facts.given_id()
    }

    /// The functions, as templates see them.
    pub fn live_salt(&self) -> Obj {
        self.live.salt.clone()
    }

    /// The grains, as templates see and change them.
    pub fn live_grains(&self) -> Obj {
        self.live.grains.clone()
    }

    /// The pillar, as templates see and change it.
    pub fn live_pillar(&self) -> Obj {
        self.live.pillar.clone()
    }

    /// The pillar as templates have left it.
    pub fn current_pillar(&self) -> Map {
        self.facts.all().pillar.clone()
    }

    /// Say where a template of some name lies, so that errors can.
    pub fn note_on_disk(&self, name: &str, path: PathBuf) {
        self.on_disk.borrow_mut().insert(name.into(), path);
    }

    /// Where a template of some name lies.
    pub fn on_disk(&self, name: &str) -> Option<String> {
        Some(self.on_disk.borrow().get(name)?.display().to_string())
    }

    /// What a template in Mako raised, with files a person can open.
    pub fn mako_error(&self, e: mapstack_render::Error, file: &File, source: &str) -> Error {
        self.stage_error(e, Language::Mako, &Text::plain(file, source))
    }
}
