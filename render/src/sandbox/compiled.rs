//! Templates that were compiled, kept for all threads.
//!
//! A template is compiled in a session of its own, which has nothing but its text: what comes of it is a function of
//! that text alone, so one minion's render cannot change what another one's runs.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use foldhash::fast::RandomState;
use mapstack_pyobject::{Error, ErrorKind, Result};
use mapstack_python_protocol::{CompileJob, Job, Outcome, TemplateJob};
use mapstack_value::Str;

use super::{Limits, client};

/// Name, text, and whether names are strict.
type Key = (Option<Str>, Arc<str>, bool);

#[derive(Default)]
struct Kept {
    templates: HashMap<Key, Arc<[u8]>, RandomState>,
    bytes: usize,
}

static KEPT: LazyLock<Mutex<Kept>> = LazyLock::new(Mutex::default);

/// The most bytes that are kept; behind them it starts over.
const MAX_BYTES: usize = 32 << 20;

/// What a template is compiled to.
///
/// # Errors
/// Its text is wrong, or compiling it reaches a limit.
pub(super) fn of(template: &TemplateJob, limits: &Limits) -> Result<Option<Arc<[u8]>>> {
    let key = (
        template.name.clone(),
        template.source.clone(),
        template.strict,
    );
    if let Some(found) = KEPT
        .lock()
        .ok()
        .and_then(|kept| kept.templates.get(&key).cloned())
    {
        return Ok(Some(found));
    }
    let job = CompileJob {
        source: key.1.clone(),
        name: key.0.clone(),
        strict: key.2,
    };
    let Outcome::Compiled(code) = client::alone(limits, &Job::Compile(job))?? else {
        return Err(Error::new(
            ErrorKind::Nested,
            "the Python interpreter failed: it did not compile what it should",
        ));
    };
    if let Ok(mut kept) = KEPT.lock() {
        let size = code.len() + key.1.len();
        if kept.bytes + size > MAX_BYTES {
            *kept = Kept::default();
        }
        kept.bytes += size;
        kept.templates.insert(key, code.clone());
    }
    Ok(Some(code))
}
