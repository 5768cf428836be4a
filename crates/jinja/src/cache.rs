//! Templates that were parsed before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::syntax::Syntax;
use crate::syntax::ast::Template;
use foldhash::fast::RandomState;
use mapstack_pyobject::Result;
use mapstack_value::Str;

/// Parsed templates by source, shared between renders and threads.
#[derive(Debug, Default)]
pub struct TemplateCache(Mutex<HashMap<Arc<str>, Vec<CachedTemplate>, RandomState>>);

/// The name of a dialect, and whether undefined values are errors.
type Environment = (&'static str, bool);

/// One parse of a source: files of several names can have the same text.
#[derive(Debug)]
struct CachedTemplate {
    environment: Environment,
    syntax: Syntax,
    template: Arc<Template>,
}

impl TemplateCache {
    /// The template of a source in an environment, which `parse` makes if it does not exist yet.
    pub(super) fn get_or_parse(
        &self,
        environment: Environment,
        name: Option<&Str>,
        source: &Arc<str>,
        syntax: &Syntax,
        parse: impl FnOnce() -> Result<Arc<Template>>,
    ) -> Result<Arc<Template>> {
        let is_it = |c: &&CachedTemplate| {
            c.template.name.as_ref() == name && c.environment == environment && c.syntax == *syntax
        };
        if let Some(known) = self.lock().get(source)
            && let Some(found) = known.iter().find(is_it)
        {
            return Ok(found.template.clone());
        }
        let template = parse()?;
        let cached = CachedTemplate {
            environment,
            syntax: syntax.clone(),
            template: template.clone(),
        };
        self.lock().entry(source.clone()).or_default().push(cached);
        Ok(template)
    }

    /// A panic elsewhere leaves nothing half-written here.
    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Vec<CachedTemplate>, RandomState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
