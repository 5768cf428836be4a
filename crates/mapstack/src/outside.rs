//! Support for other folds: templates that belong to no formula, such as those of external pillars.

use std::path::PathBuf;
use std::sync::Arc;

use mapstack_diagnostic::Error;
use mapstack_functions::Call;
use mapstack_pyobject::Obj;
use mapstack_salt_jinja::{Dialect, Names, Request, request};
use mapstack_sandbox::Interpreter;
use mapstack_value::{Map, Str, Value};

use crate::file::File;
use crate::host::RunHost;
use crate::render::Language;
use crate::run::Run;
use crate::text::Text;

/// A template that belongs to no formula.
pub struct OtherTemplate<'o> {
    /// The file that contains the template.
    pub file: &'o File,
    /// The text of the template.
    pub source: &'o str,
    /// Variables that imported templates see as well.
    pub variables: Names,
    /// Variables that only this template sees.
    pub locals: Names,
    /// The dialect of the template.
    pub dialect: &'static dyn Dialect,
    /// Finds templates that this one loads.
    pub find: &'o dyn Fn(&str) -> mapstack_pyobject::Result<Option<Arc<str>>>,
}

impl Run<'_> {
    /// Make a request for a template that belongs to no formula, and run it with `work`. The template shares the
    /// limits and the functions of the run. [`sync_facts`](Run::sync_facts) applies its changes to the facts.
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
            limits: self.allowance.limits,
            cache: Some(&self.engine.templates),
            fuel: Some(&self.allowance.fuel),
            taint: self.taint(),
            tracer: None,
            ..request(template.source, &host)
        })
    }

    /// The data that functions from outside make of data, if they run such templates themselves
    /// ([`Functions::change`](crate::Functions::change)).
    pub fn changed_outside(&self, call: &Call) -> Option<mapstack_pyobject::Result<Value>> {
        let mut functions = self.engine.functions.iter();
        let changed = functions.find_map(|functions| functions.change(call))?;
        self.note_outside_input();
        Some(changed.map_err(Into::into))
    }

    /// The minion's id as it was given; on a master, that of the minion in question.
    pub fn given_id(&self) -> Value {
        match &self.master {
            Some(master) => master.minion_id.clone(),
            None => self.facts.given_id(),
        }
    }

    /// The object `salt` of templates.
    pub fn live_salt(&self) -> Obj {
        self.live.salt.clone()
    }

    /// The object `grains` of templates.
    pub fn live_grains(&self) -> Obj {
        self.live.of_templates()[0].clone()
    }

    /// The object `pillar` of templates.
    pub fn live_pillar(&self) -> Obj {
        self.live.of_templates()[1].clone()
    }

    /// The interpreter of the run's templates in Mako and Python.
    pub fn interpreter(&self) -> &Interpreter {
        &self.interpreter
    }

    /// The grains and the pillar of templates with their changes, if functions have others.
    ///
    /// # Errors
    /// They contain something other than data.
    pub fn facts_of_templates(&self) -> mapstack_pyobject::Result<Option<[Map; 2]>> {
        let Some(apart) = &self.live.apart else {
            return Ok(None);
        };
        let [grains, pillar] = &apart.live;
        let map = |live: &Obj| -> mapstack_pyobject::Result<Map> {
            let value = self.frozen(live)?;
            Ok(value.as_map().cloned().unwrap_or_default())
        };
        Ok(Some([map(grains)?, map(pillar)?]))
    }

    /// The pillar with the changes of templates.
    pub fn current_pillar(&self) -> Map {
        match self.facts_of_templates() {
            Ok(Some([_, pillar])) => pillar,
            _ => self.facts.all().pillar.clone(),
        }
    }

    /// Set the path on disk of a template, for error messages.
    pub fn note_on_disk(&self, name: &str, path: PathBuf) {
        self.journal.on_disk.borrow_mut().insert(name.into(), path);
    }

    /// The data of a text that is YAML, if texts that differ from it only in printed words were seen before.
    pub fn fill_yaml(&self, text: &Text<'_>) -> Option<Value> {
        self.engine.skeletons.fill(text)
    }

    /// The path on disk of a template.
    pub fn on_disk(&self, name: &str) -> Option<String> {
        Some(
            self.journal
                .on_disk
                .borrow()
                .get(name)?
                .display()
                .to_string(),
        )
    }

    /// Convert an error of a Mako template, with paths that a user can open.
    pub fn mako_error(&self, e: mapstack_pyobject::Error, file: &File, source: &str) -> Error {
        self.stage_error(e, Language::Mako, &Text::plain(file, source))
    }
}
