//! Templates and modules that were compiled, kept for all threads.
//!
//! Each text is compiled in a separate session, which has nothing but this text: so the result depends on
//! that text alone, and one minion's render cannot change another's.

use std::sync::{Arc, LazyLock};

use crate::protocol::{CompileJob, Compiled, Job, JobOutcome, Language, Names, Purity};
use mapstack_pyobject::{Error, ErrorKind, Result};
use mapstack_value::Str;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::{Interpreter, Limits, session};

/// Name, text, language, and whether names are strict.
type Key = (Option<Str>, Arc<str>, Language, bool);

/// The most bytes that are kept.
const MAX_BYTES: u64 = 32 << 20;
/// About how many texts these are.
const USUAL_TEXTS: usize = 1_000;

static KEPT: LazyLock<Cache<Key, Arc<Compiled>, Size>> =
    LazyLock::new(|| Cache::with_weighter(USUAL_TEXTS, MAX_BYTES, Size));

/// The weight of a text: its bytes and those of its code.
#[derive(Clone)]
struct Size;

impl Weighter<Key, Arc<Compiled>> for Size {
    fn weight(&self, key: &Key, compiled: &Arc<Compiled>) -> u64 {
        // A weight of zero would never be given up.
        (compiled.code.len() + key.1.len()).max(1) as u64
    }
}

/// The result of compiling a text.
///
/// # Errors
/// The text is wrong, or compiling it reaches a limit.
pub(super) fn of(
    job: CompileJob,
    interpreter: &Interpreter,
    limits: &Limits,
) -> Result<Arc<Compiled>> {
    let key = (
        job.name.clone(),
        job.source.clone(),
        job.language,
        job.strict,
    );
    if let Some(found) = KEPT.get(&key) {
        return Ok(found);
    }
    let JobOutcome::Compiled(compiled) = session::alone(interpreter, limits, &Job::Compile(job))??
    else {
        return Err(Error::new(
            ErrorKind::Nested,
            "the Python interpreter failed: it did not compile what it should",
        ));
    };
    let compiled = Arc::new(compiled);
    KEPT.insert(key, compiled.clone());
    Ok(compiled)
}

/// True if code with these variables and functions can share an interpreter.
pub(super) fn is_pure(purity: &Purity, variables: &Names, functions: &[Str]) -> bool {
    purity.required.iter().all(|name| {
        functions.contains(name)
            || (!matches!(&**name, "salt" | "__salt__")
                && variables.iter().any(|(given, _)| given == name))
    })
}

/// True if code that may share an interpreter can look at a variable.
pub(super) fn reads(purity: &Purity, name: &str) -> bool {
    let mut names = purity.required.iter().chain(&purity.optional);
    names.any(|known| &**known == name)
}
