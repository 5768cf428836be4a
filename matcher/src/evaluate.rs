//! The paths that a definition leads to, over whatever its matchers find.

use crate::{Definition, Matcher, MatcherKind, join};

/// The rules that make paths of the values of a chain of matchers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathRules {
    /// True if a path has the query of each matcher before its value: `os_family/Debian`.
    pub include_query: bool,
    /// True if the query of a matcher that finds nothing is the part of the path.
    pub fallback_to_query: bool,
}

impl PathRules {
    /// The rules of layers.
    pub const LAYERS: PathRules = PathRules {
        include_query: true,
        fallback_to_query: false,
    };
}

/// The relative paths of a definition, or why there are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Paths<'d> {
    /// Paths in order; the last matcher varies fastest.
    Relative(Vec<String>),
    /// The first matcher that found nothing.
    Absent(&'d Matcher),
}

/// A chain of matchers leads to more than [`MAX_PATHS`] paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a chain of matchers leads to {so_far} × {found} paths, more than {MAX_PATHS}")]
pub struct TooManyPaths {
    /// The number of paths of the matchers so far.
    so_far: usize,
    /// The number of values of the matcher behind them.
    found: usize,
}

/// The most paths of one definition, because facts decide how many there are.
pub const MAX_PATHS: usize = 100_000;

impl Definition {
    /// The paths that the definition leads to below each parameter directory; `find` has the values of a matcher.
    /// `None` if a matcher finds nothing.
    ///
    /// ```
    /// use mapstack_matcher::{Definition, MatcherKind};
    ///
    /// let definition: Definition = "Y!G@os_family|I@roles".parse()?;
    /// let paths = definition.paths(|matcher| match (matcher.kind(), matcher.query()) {
    ///     (MatcherKind::Grains, "os_family") => Some(vec!["Debian".to_owned()]),
    ///     (MatcherKind::Pillar, "roles") => Some(vec!["web".to_owned(), "db".to_owned()]),
    ///     _ => None,
    /// })?;
    /// assert_eq!(paths.unwrap(), ["os_family/Debian/roles/web", "os_family/Debian/roles/db"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The values lead to more than [`MAX_PATHS`] paths.
    pub fn paths(
        &self,
        mut find: impl FnMut(&Matcher) -> Option<Vec<String>>,
    ) -> Result<Option<Vec<String>>, TooManyPaths> {
        let found = self.paths_by(PathRules::LAYERS, |matcher| Ok(find(matcher)))?;
        Ok(match found {
            Paths::Relative(paths) => Some(paths),
            Paths::Absent(_) => None,
        })
    }

    /// The same by other rules, for look-ups that can fail (saltext-formula: `Renderer.render_path`).
    ///
    /// # Errors
    /// A look-up fails, or the values lead to more than [`MAX_PATHS`] paths.
    pub fn paths_by<E: From<TooManyPaths>>(
        &self,
        rules: PathRules,
        mut find: impl FnMut(&Matcher) -> Result<Option<Vec<String>>, E>,
    ) -> Result<Paths<'_>, E> {
        let mut parts: Vec<Vec<String>> = Vec::with_capacity(self.matchers().len());
        let mut count: usize = 1;
        for matcher in self.matchers() {
            let query = matcher.query();
            let found = match matcher.kind() {
                MatcherKind::Static => vec![join([query])],
                _ => match find(matcher)? {
                    Some(found) if rules.include_query => {
                        found.iter().map(|part| join([query, part])).collect()
                    }
                    Some(found) => found,
                    None if rules.fallback_to_query => vec![query.to_owned()],
                    None => return Ok(Paths::Absent(matcher)),
                },
            };
            let (so_far, found_count) = (count, found.len());
            count = so_far.saturating_mul(found_count);
            if count > MAX_PATHS {
                let found = found_count;
                return Err(TooManyPaths { so_far, found }.into());
            }
            parts.push(found);
        }
        let all = (0..count).map(|number| join(chosen(&parts, number)));
        Ok(Paths::Relative(all.collect()))
    }
}

/// One text of each list, for the combination with this number. The last list varies fastest.
fn chosen(parts: &[Vec<String>], number: usize) -> impl Iterator<Item = &str> {
    let mut below: usize = parts.iter().map(Vec::len).product();
    parts.iter().filter_map(move |list| {
        below = below.checked_div(list.len())?;
        list.get(number.checked_div(below)? % list.len())
            .map(String::as_str)
    })
}
