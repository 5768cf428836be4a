//! All calls that nothing answers, found in runs that go on without the answers.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;
use mapstack_functions::{Call, Unanswered};
use mapstack_render::{CallArgs, Interpreter, Iter, Obj, Object, Result, TemplatePlace};
use mapstack_value::{Str, Value};

use crate::engine::Engine;

/// So many different calls are kept.
const MAX_CALLS: usize = 10_000;

/// The calls so far.
#[derive(Debug, Default)]
pub(crate) struct Collected(Mutex<Calls>);

#[derive(Debug, Default)]
struct Calls {
    /// By what each does, whoever makes it.
    all: IndexMap<String, Unanswered>,
    /// The last one, whose place is still to be heard of.
    last: Option<String>,
}

impl Engine {
    /// The calls that nothing answers, all at once: where one would end a run, the runs of `work` go on with something
    /// that stands for its answer. What they come to is of no use, and `work` is to drop it.
    ///
    /// What a run does depends on answers, so calls that follow from others may be missing until these are answered.
    ///
    /// ```
    /// use mapstack::{Engine, loader::MemoryFiles, minion::Minion, stub_file};
    /// let sls = "{% for disk in salt['disk.usage']() %}{{ salt['cmd.run']('df /') }}{% endfor %}";
    /// let engine = Engine::new(MemoryFiles::new().file("base", "web.sls", sls));
    /// let (_, lacking) = engine.collecting(|engine| {
    ///     let _ = engine.run(&Minion::new("web1").complete()).sls("web.sls");
    /// });
    /// let names: Vec<_> = lacking.iter().map(|one| &*one.call.name).collect();
    /// assert_eq!(names, ["disk.usage", "cmd.run"]);
    /// assert!(stub_file(&lacking).contains("- args: [df /]"));
    /// ```
    pub fn collecting(mut self, work: impl FnOnce(&Engine)) -> (Self, Vec<Unanswered>) {
        self.collected = Some(Collected::default());
        work(&self);
        let collected = self.collected.take().unwrap_or_default();
        let lacking = std::mem::take(&mut collected.calls().all);
        (self, lacking.into_values().collect())
    }
}

impl Collected {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Note a call, and give what stands for its answer.
    pub fn note(&self, call: Call) -> Obj {
        let args: Vec<String> = call.args.iter().map(Value::repr).collect();
        let key = format!(
            "{}({}, {})",
            call.name,
            args.join(", "),
            Value::from(call.kwargs.clone()).repr()
        );
        let calls = &mut *self.calls();
        if calls.all.len() < MAX_CALLS || calls.all.contains_key(&key) {
            let minion = call.minion.clone();
            let known = calls.all.entry(key.clone()).or_insert_with(|| Unanswered {
                call,
                minions: BTreeSet::new(),
                places: BTreeSet::new(),
            });
            known.minions.insert(minion);
            calls.last = Some(key);
        }
        Obj::native(Answer)
    }

    /// Note where the last call of a function was made.
    pub fn note_place(&self, function: &str, place: String) {
        let calls = &mut *self.calls();
        if let Some(known) = calls.last.take().and_then(|key| calls.all.get_mut(&key))
            && *known.call.name == *function
        {
            known.places.insert(place);
        }
    }
}

/// Where an expression stands.
pub(crate) fn placed(place: &TemplatePlace, shown: &str) -> String {
    let before = place
        .source
        .get(..place.span.start as usize)
        .unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + 1;
    format!("{shown}:{line}:{column}")
}

/// What stands for an answer: whatever a template does with it gives another one, as far as Python leaves a choice.
struct Answer;

/// What it prints.
const TEXT: &str = "unanswered";

impl Object for Answer {
    fn type_name(&self) -> &'static str {
        "answer"
    }

    fn to_str(&self) -> Result<String> {
        Ok(TEXT.into())
    }

    fn attr(&self, _: &dyn Interpreter, name: &str) -> Option<Obj> {
        Some(match name {
            "items" => Obj::native(Pairs),
            _ => Obj::native(Answer),
        })
    }

    fn item(&self, _: &dyn Interpreter, _: &Obj) -> Result<Option<Obj>> {
        Ok(Some(Obj::native(Answer)))
    }

    fn is_subscriptable(&self) -> bool {
        true
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, _: &dyn Interpreter, _: CallArgs) -> Result<Obj> {
        Ok(Obj::native(Answer))
    }

    fn iter(&self) -> Option<Iter> {
        Obj::list(vec![Obj::native(Answer)]).iter().ok()
    }

    fn len(&self) -> Option<usize> {
        Some(1)
    }

    fn contains(&self, _: &dyn Interpreter, _: &Obj) -> Option<Result<bool>> {
        Some(Ok(true))
    }

    fn slice(&self, _: &dyn Fn(usize) -> Result<[i64; 3]>) -> Option<Result<Obj>> {
        Some(Ok(Obj::native(Answer)))
    }

    fn is_unknown(&self) -> bool {
        true
    }

    fn as_value(&self) -> Option<Result<Value>> {
        Some(Ok(Value::Str(Str::from(TEXT))))
    }
}

/// Its method `items`.
struct Pairs;

impl Object for Pairs {
    fn type_name(&self) -> &'static str {
        "method"
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, _: &dyn Interpreter, _: CallArgs) -> Result<Obj> {
        let pair = Obj::tuple(vec![Obj::native(Answer), Obj::native(Answer)]);
        Ok(Obj::list(vec![pair]))
    }
}
