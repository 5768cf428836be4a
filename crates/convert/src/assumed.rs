//! Answers for functions that look at a machine, where there is none.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use mapstack::value::Value;
use mapstack::{Call, CallError, Functions, is_in_salt};

/// Answers each function of Salt that nothing else answers with a text that depends on the call alone. Two states of a
/// formula get the same answers, so what they make of them can be compared.
///
/// ```
/// use mapstack::{Engine, loader::MemoryFiles, minion::Minion};
/// use mapstack_convert::Assumed;
/// let files = MemoryFiles::new().file("base", "web.sls", "user: {{ salt['cmd.run']('id -un') }}");
/// let assumed = Assumed::default();
/// let engine = Engine::new(files).with_functions(assumed.clone());
/// let sls = engine.run(&Minion::new("web1").complete()).sls("web.sls").unwrap();
/// assert!(sls.repr().starts_with("{'user': 'cmd_run_"));
/// assert_eq!(assumed.names(), ["cmd.run"]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Assumed(Arc<Mutex<BTreeSet<String>>>);

impl Assumed {
    /// The functions that were answered.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.iter().cloned().collect()
    }
}

impl Functions for Assumed {
    fn has(&self, name: &str) -> bool {
        is_in_salt(name)
    }

    fn has_module(&self, module: &str) -> bool {
        is_in_salt(module)
    }

    fn call(&self, call: &Call) -> Option<Result<Value, CallError>> {
        if !self.has(&call.name) {
            return None;
        }
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.insert(call.name.to_string());
        // A word that no template can take for something else.
        let text = call.to_string();
        let sum = text.bytes().fold(0_u32, |sum, byte| {
            sum.wrapping_mul(31).wrapping_add(byte.into())
        });
        Some(Ok(format!("{}_{sum:x}", call.name.replace('.', "_")).into()))
    }
}
