//! The environment of a run's templates: the file server and `salt[...]` functions.

use std::rc::Rc;
use std::sync::Arc;

use mapstack_loader::SaltPath;
use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Result, Undefined};
use mapstack_salt_jinja::{Host, Names, Vm};
use mapstack_value::{Str, Value, weight};

use crate::file::File;
use crate::master_side::MasterSide;
use crate::render::{Language, TemplateStage};
use crate::run::Run;
use crate::runner::RUNNER;
use crate::text::in_file;
use mapstack_diagnostic::{Diagnostic, ErrorKind as Kind, Means};
use mapstack_functions::{Call, Functions, OnMachine, entry_for, is_for_masters, why_not_in_tree};

/// A run as its templates see it.
///
/// Stubs answer calls first, because the user wrote them for this purpose; then functions that replace others, the
/// tree's modules, which replace Salt's, built-in functions, and those that were added to the engine.
pub(crate) struct RunHost<'r, 'e> {
    pub(crate) run: &'r Run<'e>,
    templates: Templates<'r>,
}

/// The place that templates load other templates from.
enum Templates<'r> {
    /// A saltenv of the file server.
    Saltenv(&'r str),
    /// A saltenv of the pillar's own file server.
    Pillar(&'r MasterSide, &'r str),
    /// A function that finds templates.
    Elsewhere(&'r dyn Fn(&str) -> Result<Option<Arc<str>>>),
}

impl<'r, 'e> RunHost<'r, 'e> {
    /// The host of templates that load others from the run's saltenv.
    pub fn new(run: &'r Run<'e>) -> Self {
        RunHost::in_saltenv(run, &run.saltenv)
    }

    /// The host of templates that load others from a given saltenv.
    pub fn in_saltenv(run: &'r Run<'e>, saltenv: &'r str) -> Self {
        RunHost {
            run,
            templates: Templates::Saltenv(saltenv),
        }
    }

    /// The host of a template. It loads others from the pillar's roots if the master itself renders it for a pillar,
    /// which one of its variables says (Salt: `render_jinja_tmpl`), and not if a function does.
    pub fn of_template(run: &'r Run<'e>, variables: &Names, saltenv: &'r str) -> Self {
        let is_of_pillar = variables
            .get("_pillar_rend")
            .is_some_and(|said| said.truthy().unwrap_or(true));
        let templates = match &run.master {
            Some(master) if is_of_pillar => Templates::Pillar(master, saltenv),
            _ => Templates::Saltenv(saltenv),
        };
        RunHost { run, templates }
    }

    /// The host of templates that load others by a function.
    pub fn with_templates(
        run: &'r Run<'e>,
        find: &'r dyn Fn(&str) -> Result<Option<Arc<str>>>,
    ) -> Self {
        RunHost {
            run,
            templates: Templates::Elsewhere(find),
        }
    }

    /// The functions for calls that are not built in.
    pub(crate) fn others(&self) -> impl Iterator<Item = &dyn Functions> {
        self.run
            .engine
            .functions
            .iter()
            .map(|functions| &**functions)
    }

    /// True if stubs or functions from outside answer a name.
    pub(crate) fn answers_elsewhere(&self, name: &str) -> bool {
        self.run.engine.stubs.has(name) || self.others().any(|functions| functions.has(name))
    }

    /// The functions that answer a name instead of what is built in or in the tree.
    fn replacing(&self, name: &str) -> Option<&dyn Functions> {
        self.others().find(|functions| functions.replaces(name))
    }

    pub(crate) fn call(&self, name: &str, args: &CallArgs) -> Result<Call> {
        let facts = &self.run.facts;
        let tells_apart = self.run.engine.stubs.tell_minions_apart(name);
        let own = match tells_apart {
            true => facts.given_id(),
            false => facts.unchanged().id.clone(),
        };
        let id = match &self.run.master {
            Some(master) => master.minion_id.clone(),
            None => own,
        };
        let minion = match &id {
            Value::Str(id) => id.clone(),
            other => Str::from(other.to_string()),
        };
        let on_master = self.run.is_in_pillar();
        Call::of(name, args, minion).map(|call| Call { on_master, ..call })
    }

    /// Note that the result depends on something other than files and facts.
    fn note_outside_input(&self) {
        self.run.note_outside_input();
    }

    /// Let `functions` answer a call, and charge the template for the answer.
    pub(crate) fn ask(
        &self,
        vm: &Vm<'_>,
        functions: &dyn Functions,
        call: &Call,
    ) -> Option<Result<Obj>> {
        if let Err(e) = vm.burn(COST) {
            return Some(Err(e));
        }
        let answer = functions.call(call)?;
        Some(answer.map_err(Into::into).and_then(|value| {
            vm.burn(weight(&value) / 64)?;
            Ok(Obj::from(value))
        }))
    }

    fn ask_others(&self, vm: &Vm<'_>, call: &Call) -> Option<Result<Obj>> {
        let mut able = self
            .others()
            .filter(|functions| functions.has(&call.name))
            .peekable();
        if able.peek().is_some() {
            self.note_outside_input();
        }
        able.find_map(|f| self.ask(vm, f, call))
    }

    /// Let functions from outside run a post-map template that is not Jinja (saltext-formula: `map.data`).
    pub(crate) fn change(
        &self,
        language: Language,
        file: &File,
        stage: &TemplateStage<'_>,
        mapdata: &Value,
    ) -> Option<Result<Value>> {
        let (TemplateStage::PostMap { tpldir, tplroot }, Some(renderer)) =
            (stage, language.python())
        else {
            return None;
        };
        let call = Call::new("cp.get_template")
            .arg(format!("salt://{}", file.path))
            .arg("")
            .kwarg("template", renderer)
            .kwarg("tpldir", *tpldir)
            .kwarg("tplroot", *tplroot)
            .kwarg("mapdata", mapdata.clone());
        self.run.changed_outside(&call)
    }

    /// Advice on how to get an answer to a call.
    pub(crate) fn advice(&self, call: &Call) -> String {
        // The advice can depend on the minion, which is part of the call.
        self.note_outside_input();
        let grains = "the minion's own addresses are in its grains, such as grains.ip4_interfaces";
        let has_grains =
            call.name.starts_with("network.") && self.run.why_not_in_pillar(&call.name).is_some();
        let mut ways: Vec<String> = has_grains.then(|| grains.into()).into_iter().collect();
        ways.extend(self.others().filter_map(|functions| functions.advice(call)));
        if let Some(path) = machine_path(call) {
            let folder = mapstack_value::posixpath::split(path).0;
            ways.push(format!(
                "{} says which folder is at {folder}",
                Means::Deployed
            ));
        }
        let stub = entry_for(call);
        ways.push(format!(
            "to write the answer down, put this in a file for {} and fill in `return`:\n\n{}",
            Means::Stub,
            stub.trim_end()
        ));
        ways.join("\n")
    }

    /// The result of a call that nothing answers: an error, or a placeholder where these calls are collected.
    pub(crate) fn lacks_answer(&self, call: Call) -> Result<Obj> {
        match &self.run.engine.collected {
            None => Err(self.unanswered_call(&call)),
            Some(collected) => {
                // Minions that share results would not be named.
                self.note_outside_input();
                Ok(collected.note(call))
            }
        }
    }

    /// True if calls of a function are collected as unanswered, and the render continues.
    fn is_collected(&self, name: &str) -> bool {
        self.run.engine.collected.is_some() && mapstack_functions::is_in_salt(name)
    }

    pub(crate) fn unanswered_call(&self, call: &Call) -> Box<Error> {
        let name = mapstack_value::quote_str(&call.name);
        let error = Error::new(
            ErrorKind::Undefined,
            match why_not_in_tree(self, &call.name) {
                Some(why) => format!("salt[{name}] is undefined: {why}"),
                None if is_for_masters(&call.name) => {
                    format!("salt[{name}] is undefined: only templates of a pillar can look for its files")
                }
                None => match self.run.why_not_in_pillar(&call.name) {
                    Some(why) => format!("salt[{name}] is undefined: {why}"),
                    None => format!("salt[{name}] is undefined: nothing answers {call}"),
                },
            },
        )
        .of_missing(&*call.name);
        let similar = self.run.engine.built_in.similar(&call.name);
        let is_slip =
            |near: &&str| **near != *call.name && !mapstack_functions::is_in_salt(&call.name);
        error.with_help(match similar.filter(is_slip) {
            Some(near) => format!("did you mean salt['{near}']?\n{}", self.advice(call)),
            None => self.advice(call),
        })
    }

    /// A warning about the answer to a question whether Salt has a function, which Salt may answer with yes.
    fn warning_of_no(
        &self,
        name: &str,
        place: Option<mapstack_pyobject::TemplatePlace>,
    ) -> Diagnostic {
        let message = format!(
            "a template asks whether Salt has {name}; nothing answers it here, so the answer is no"
        );
        let place = place.map(|place| {
            let shown = match &place.template {
                Some(path) => self.run.shown(path),
                None => "a template".to_owned(),
            };
            in_file(place, shown)
        });
        let help = format!(
            "where the minion has it, Salt says yes: an entry in a file for {} makes it yes here as well",
            Means::Stub
        );
        Diagnostic {
            place,
            ..Diagnostic::warning(Kind::Lookup, message).with_help(help)
        }
    }
}

/// The path of the machine that a call is about: the first argument of a function that reads files.
fn machine_path(call: &Call) -> Option<&str> {
    let module = call.name.split('.').next()?;
    let path = call.args.first()?.as_str()?;
    let path = path.strip_prefix("file://").unwrap_or(path);
    (matches!(module, "file" | "cp" | "slsutil" | "hashutil") && path.starts_with('/'))
        .then_some(path)
}

/// Steps that each call to outside functions costs.
const COST: usize = 100;

impl Host for RunHost<'_, '_> {
    fn template(&self, path: &str) -> Result<Option<Arc<str>>> {
        if let Templates::Elsewhere(find) = self.templates {
            return find(path);
        }
        let failed = |e: crate::Error| Error::new(ErrorKind::TemplateNotFound, e.to_string());
        if path.starts_with('/') {
            let found = self.run.file_on_machine(path).map_err(failed)?;
            return found
                .map(|file| Ok(file.text().map_err(failed)?.into()))
                .transpose();
        }
        let asked = SaltPath::from_relative(path);
        let found = match self.templates {
            Templates::Pillar(master, saltenv) => self.run.fetch_on_master(master, &asked, saltenv),
            Templates::Saltenv(saltenv) => self.run.fetch_from(&asked, saltenv),
            Templates::Elsewhere(_) => return Ok(None),
        };
        match found.map_err(failed)? {
            Some(file) => Ok(Some(file.text().map_err(failed)?.into())),
            None => Ok(None),
        }
    }

    fn missing_template_help(&self, path: &str) -> String {
        if path.starts_with('/') {
            let folder = mapstack_value::posixpath::split(path).0;
            return format!(
                "Salt looks for an absolute path on its own machine: {} says which folder is at {folder}; \
                 a file of the file server is named without the slash in front",
                Means::Deployed
            );
        }
        match &self.templates {
            Templates::Pillar(_, saltenv) => format!(
                "no file {path} in the pillar roots of saltenv '{saltenv}', where templates of a pillar load others from"
            ),
            Templates::Saltenv(_) if self.run.master.is_some() => format!(
                "no file salt://{path} on the file server, where functions and Mako load templates from even in a pillar"
            ),
            _ => format!("no file salt://{path} on the file server"),
        }
    }

    fn has_function(&self, name: &str) -> bool {
        // Names without a dot belong to filters.
        let is_known = || match self.replacing(name) {
            Some(functions) => functions.has(name),
            None => self.tree_has(name).unwrap_or_else(|| {
                self.run.engine.built_in.find(name).is_some()
                    || self.has_deployed(name)
                    || self.others().any(|functions| functions.has(name))
                    || (name == RUNNER && self.runs_runners())
            }),
        };
        name.contains('.')
            && (self.run.engine.stubs.has(name) || is_known() || self.is_collected(name))
    }

    fn is_elsewhere(&self, name: &str) -> bool {
        mapstack_functions::is_in_salt(name)
            && self.replacing(name).is_none()
            && self.tree_has(name).is_none()
    }

    fn has_module(&self, module: &str) -> bool {
        self.run.engine.built_in.has_module(module)
            || self.run.engine.stubs.has_module(module)
            || self.others().any(|functions| functions.has_module(module))
            || (self.replacing(module).is_none() && self.tree_has_module(module))
            || self.is_collected(module)
    }

    fn call_function(&self, vm: &Vm<'_>, name: &str, args: CallArgs) -> Result<Obj> {
        // Functions see the changes that templates made in the facts.
        self.run.follow_facts();
        let stubs = &self.run.engine.stubs;
        if stubs.has(name)
            && let Some(answer) = self.ask(vm, stubs, &self.call(name, &args)?)
        {
            return answer;
        }
        if let Some(functions) = self.replacing(name) {
            self.note_outside_input();
            if let Some(answer) = self.ask(vm, functions, &self.call(name, &args)?) {
                return answer;
            }
        }
        if let Some(answer) = self.ask_tree(vm, name, &args) {
            return answer;
        }
        if let Some(answer) = self.ask_deployed(vm, name, &args) {
            return answer;
        }
        if name == RUNNER
            && let Some(answer) = self.ask_runner(vm, &args)
        {
            return answer;
        }
        if let Some(function) = self.run.built_in(name, &args) {
            let missing = missing_argument(&args);
            // Report the undefined argument, instead of the error that the function raises because of it.
            return function
                .call(self.run, vm, args)
                .map_err(|error| match missing {
                    Some(missing) if is_about_arguments(&error) => missing.error(),
                    _ => error,
                });
        }
        let call = self.call(name, &args)?;
        self.ask_others(vm, &call).unwrap_or_else(|| {
            // The expression is heard of when it ends.
            if self.run.engine.collected.is_some() {
                vm.note_missing_function(&call.name);
            }
            self.lacks_answer(call)
        })
    }

    fn on_machine(&self, path: &str) -> Option<Result<Value>> {
        Some(match self.run.on_machine(path) {
            Err(error) => Err(Error::new(ErrorKind::Nested, error.to_string())),
            Ok(None) => return None,
            Ok(Some(OnMachine::Missing)) => Ok(false.into()),
            Ok(Some(OnMachine::File { bytes, .. })) => Ok(Value::Bytes(bytes)),
            Ok(Some(OnMachine::Directory(entries))) => {
                let names = entries.iter().map(|entry| Value::from(entry.name()));
                Ok(names.collect())
            }
        })
    }

    fn note_missing_function(&self, name: &str, place: Option<mapstack_pyobject::TemplatePlace>) {
        if let Some(collected) = &self.run.engine.collected {
            if let Some(place) = place {
                let shown = match &place.template {
                    Some(path) => self.run.shown(path),
                    None => "a template".to_owned(),
                };
                collected.note_place(name, &place, &shown);
            }
            return;
        }
        if mapstack_functions::is_in_salt(name) {
            self.run.warn(self.warning_of_no(name, place));
        }
    }

    fn missing_function_help(&self, name: &str) -> Option<String> {
        Some(self.run.engine.built_in.help(name))
    }

    fn unanswered(&self, name: &str, args: &CallArgs) -> Option<Box<Error>> {
        Some(
            self.call(name, args)
                .map_or_else(|e| e, |call| self.unanswered_call(&call)),
        )
    }

    fn host_filter(
        &self,
        vm: &Vm<'_>,
        name: &str,
        args: CallArgs,
        refusal: Box<Error>,
    ) -> Result<Obj> {
        let call = self.call(name, &args)?;
        let stubbed = self.ask(vm, &self.run.engine.stubs, &call);
        stubbed
            .or_else(|| self.ask_others(vm, &call))
            .unwrap_or_else(|| match self.run.engine.collected {
                Some(_) => {
                    vm.note_missing_function(&call.name);
                    self.lacks_answer(call)
                }
                None => Err(refusal.with_help(self.advice(&call))),
            })
    }

    fn log(&self, level: &str, message: &str) {
        if matches!(level, "warning" | "error" | "critical") {
            self.run.warn(Diagnostic::warning(Kind::Template, message));
        }
    }
}

/// The first strictly undefined argument.
fn missing_argument(args: &CallArgs) -> Option<Rc<Undefined>> {
    let all = args
        .positional
        .iter()
        .chain(args.named.iter().map(|(_, value)| value));
    all.filter_map(|argument| match argument {
        Obj::Undefined(undefined) if undefined.strict => Some(undefined.clone()),
        _ => None,
    })
    .next()
}

/// True if the error comes from the function itself, and not from a template or file that it processed.
fn is_about_arguments(error: &Error) -> bool {
    error.place.is_none() && matches!(error.kind, ErrorKind::Python(_) | ErrorKind::Salt)
}
