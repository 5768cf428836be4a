//! The matchers a chain can have, for definitions that are parsed and for definitions that are built.

use crate::problem::DefinitionProblem;
use crate::{Matcher, MatcherKind, Mode, Spelling};

/// Check that a chain can begin with a matcher.
pub(crate) fn begins(
    first: &Matcher,
    spelling: Spelling,
    mode: Mode,
) -> Result<(), DefinitionProblem> {
    match mode {
        Mode::Path if spelling != Spelling::Plain => Err(DefinitionProblem::YamlInPathMode),
        _ => stands_alone(first, mode),
    }
}

/// Check that a matcher is valid in its mode, whatever its neighbours: paths cannot name files.
pub(crate) fn stands_alone(matcher: &Matcher, mode: Mode) -> Result<(), DefinitionProblem> {
    match mode {
        Mode::Path if !matcher.is_typed() && matcher.kind == MatcherKind::Static => {
            Err(DefinitionProblem::YamlInPathMode)
        }
        _ => Ok(()),
    }
}

/// Check that a matcher can follow another.
pub(crate) fn follows(
    previous: &Matcher,
    next: &Matcher,
    mode: Mode,
) -> Result<(), DefinitionProblem> {
    if mode == Mode::Layer && !next.is_typed() {
        return Err(DefinitionProblem::YamlInsideChain);
    }
    if previous.is_file() {
        return Err(DefinitionProblem::AfterFile);
    }
    Ok(())
}
