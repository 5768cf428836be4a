//! The matchers a chain can have, for definitions that are parsed and for definitions that are built.

use crate::problem::Problem;
use crate::{Matcher, MatcherKind, Mode, Spelling};

/// Check that a chain can begin with a matcher.
pub(crate) fn begins(first: &Matcher, spelling: Spelling, mode: Mode) -> Result<(), Problem> {
    match mode {
        Mode::Path if spelling != Spelling::Plain => Err(Problem::YamlInPathMode),
        _ => stands_alone(first, mode),
    }
}

/// Check that a matcher is valid in its mode, whatever its neighbours: paths cannot name files.
pub(crate) fn stands_alone(matcher: &Matcher, mode: Mode) -> Result<(), Problem> {
    match mode {
        Mode::Path if !matcher.is_typed() && matcher.kind == MatcherKind::Static => {
            Err(Problem::YamlInPathMode)
        }
        _ => Ok(()),
    }
}

/// Check that a matcher can follow another.
pub(crate) fn follows(previous: &Matcher, next: &Matcher, mode: Mode) -> Result<(), Problem> {
    if mode == Mode::Layer && !next.is_typed() {
        return Err(Problem::YamlInsideChain);
    }
    if previous.is_file() {
        return Err(Problem::AfterFile);
    }
    Ok(())
}
