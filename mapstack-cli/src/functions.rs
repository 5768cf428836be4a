//! Who answers calls of `salt['…']` that are not built in.

use mapstack::{Engine, Stubs};
use mapstack_host::{Host, Permissions, SaltCall};

use crate::cli::Functions;
use crate::inputs::text_file;
use crate::report::Failure;

/// Give an engine the answers and permissions that were asked for.
pub fn add(engine: Engine, given: &Functions) -> Result<Engine, Failure> {
    let mut stubs = Stubs::default();
    for file in &given.stub {
        let (text, name) = text_file(file)?;
        stubs = stubs.or(Stubs::parse(&text, &name)?);
    }
    let permissions = Permissions::parse(&given.allow).map_err(|e| Failure::Usage(format!("--allow: {e}")))?;
    // Without permissions it answers nothing, and says which one a call needs.
    let engine = engine.with_stubs(stubs).with_functions(Host::new(permissions));
    Ok(match &given.salt_call {
        None => engine,
        Some(command) => {
            let bridge = SaltCall::new(command);
            engine.with_functions(bridge.map_err(|e| Failure::Usage(format!("--salt-call '{command}': {e}")))?)
        }
    })
}
