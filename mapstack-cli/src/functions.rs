//! Who answers calls of `salt['…']` that are not built in.

use std::time::Duration;

use mapstack::{Deadline, Engine, Limits, Stubs};
use mapstack_host::{Host, Permissions, SaltCall};

use crate::cli::{Functions, LimitFlags};
use crate::inputs::text_file;
use crate::memory;
use crate::report::Failure;

/// What templates may spend.
fn limits(given: LimitFlags) -> Limits {
    let time =
        (given.max_time > 0).then(|| Deadline::after(Duration::from_secs(given.max_time.into())));
    let bytes = usize::try_from(given.max_memory)
        .unwrap_or(usize::MAX)
        .saturating_mul(1 << 20);
    let memory = (given.max_memory > 0)
        .then(|| memory::limit(bytes))
        .flatten();
    Limits {
        time,
        memory,
        ..Limits::default()
    }
}

/// Give an engine the answers, the limits and permissions that were asked for.
pub fn add(engine: Engine, given: &Functions) -> Result<Engine, Failure> {
    let mut stubs = Stubs::default();
    for file in &given.stub {
        let (text, name) = text_file(file)?;
        stubs = stubs.or(Stubs::parse(&text, &name)?);
    }
    let permissions =
        Permissions::parse(&given.allow).map_err(|e| Failure::Usage(format!("--allow: {e}")))?;
    // Without permissions it answers nothing, and says which one a call needs.
    let engine = engine
        .with_limits(limits(given.limits))
        .with_stubs(stubs)
        .with_functions(Host::new(permissions));
    Ok(match &given.salt_call {
        None => engine,
        Some(command) => {
            let bridge = SaltCall::new(command);
            engine.with_functions(
                bridge.map_err(|e| Failure::Usage(format!("--salt-call '{command}': {e}")))?,
            )
        }
    })
}
