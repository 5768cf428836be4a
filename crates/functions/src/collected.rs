//! The calls of runs that go on without answers, and the placeholders for these.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;
use mapstack_diagnostic::line_and_column;
use mapstack_pyobject::{CallArgs, Interpreter, Iter, Obj, Object, Result, TemplatePlace};
use mapstack_value::{Str, Value};

use crate::{Call, UnansweredCall};

/// So many different calls are kept.
const MAX_CALLS: usize = 10_000;

/// Calls that nothing answers, each once.
#[derive(Debug, Default)]
pub struct UnansweredCalls(Mutex<Calls>);

#[derive(Debug, Default)]
struct Calls {
    /// By what each does, whoever makes it.
    all: IndexMap<String, UnansweredCall>,
    /// The last one, whose place is still to be heard of.
    last: Option<String>,
}

impl UnansweredCalls {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The calls so far.
    #[must_use]
    pub fn taken(&self) -> Vec<UnansweredCall> {
        let all = std::mem::take(&mut self.calls().all);
        all.into_values().collect()
    }

    /// Note a call, and return a placeholder for its answer.
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
            let known = calls
                .all
                .entry(key.clone())
                .or_insert_with(|| UnansweredCall {
                    call,
                    minions: BTreeSet::new(),
                    places: BTreeSet::new(),
                });
            known.minions.insert(minion);
            calls.last = Some(key);
        }
        Obj::native(PlaceholderAnswer)
    }

    /// Note where the last call of a function was made, in a template of this name.
    pub fn note_place(&self, function: &str, place: &TemplatePlace, shown: &str) {
        let place = placed(place, shown);
        let calls = &mut *self.calls();
        if let Some(known) = calls.last.take().and_then(|key| calls.all.get_mut(&key))
            && *known.call.name == *function
        {
            known.places.insert(place);
        }
    }
}

/// The text of an expression's place.
fn placed(place: &TemplatePlace, shown: &str) -> String {
    let (line, column) = line_and_column(&place.source, place.span.start as usize);
    format!("{shown}:{line}:{column}")
}

/// A placeholder for an answer: whatever a template does with it gives another one, as far as Python leaves a choice.
struct PlaceholderAnswer;

/// The text that it prints.
const TEXT: &str = "unanswered";

impl Object for PlaceholderAnswer {
    fn type_name(&self) -> &'static str {
        "answer"
    }

    fn to_str(&self) -> Result<String> {
        Ok(TEXT.into())
    }

    fn attr(&self, _: &dyn Interpreter, name: &str) -> Option<Obj> {
        Some(match name {
            "items" => Obj::native(Pairs),
            _ => Obj::native(PlaceholderAnswer),
        })
    }

    fn item(&self, _: &dyn Interpreter, _: &Obj) -> Result<Option<Obj>> {
        Ok(Some(Obj::native(PlaceholderAnswer)))
    }

    fn is_subscriptable(&self) -> bool {
        true
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, _: &dyn Interpreter, _: CallArgs) -> Result<Obj> {
        Ok(Obj::native(PlaceholderAnswer))
    }

    fn iter(&self) -> Option<Iter> {
        Obj::list(vec![Obj::native(PlaceholderAnswer)]).iter().ok()
    }

    fn len(&self) -> Option<usize> {
        Some(1)
    }

    fn contains(&self, _: &dyn Interpreter, _: &Obj) -> Option<Result<bool>> {
        Some(Ok(true))
    }

    fn slice(&self, _: &dyn Fn(usize) -> Result<[i64; 3]>) -> Option<Result<Obj>> {
        Some(Ok(Obj::native(PlaceholderAnswer)))
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
        let pair = Obj::tuple(vec![
            Obj::native(PlaceholderAnswer),
            Obj::native(PlaceholderAnswer),
        ]);
        Ok(Obj::list(vec![pair]))
    }
}
