//! Templates that a caller has as texts, with further variables, as Salt hands them to its renderers.

use mapstack_minion::Part;
use mapstack_pyobject::Obj;
use mapstack_salt_jinja::{self as jinja, Names, Request, request};
use mapstack_value::{Key, Map, Str, Value};

use crate::host::RunHost;
use crate::run::Run;

/// A template in Salt's dialect of Jinja. It has no name, as in Salt: places in it say `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct JinjaText<'t> {
    /// Its text.
    pub source: &'t str,
    /// Variables besides `salt`, `grains`, `pillar`, `opts` and `saltenv`, which they override.
    pub variables: Map,
}

/// The output of a template, and its changes in place.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateOutput {
    /// The text.
    pub text: String,
    /// Changes of the grains.
    pub grains: Changes,
    /// Changes of the pillar. Functions do not see them: Salt gives renderers a pillar of their own.
    pub pillar: Changes,
}

/// The entries of a mapping that changed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Changes {
    /// Those that have another value, or none before.
    pub set: Map,
    /// Those that are gone.
    pub gone: Vec<Key>,
}

impl Changes {
    /// The changes between two states.
    #[must_use]
    pub fn between(before: &Map, now: &Map) -> Self {
        if now.ptr_eq(before) {
            return Changes::default();
        }
        let is_new = |(key, value): &(&Key, &Value)| {
            !before
                .get(*key)
                .is_some_and(|old| old.is_same(value) || old == *value)
        };
        let set = now.iter().filter(is_new);
        let gone = before.keys().filter(|key| !now.contains_key(*key));
        Changes {
            set: set
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
            gone: gone.cloned().collect(),
        }
    }
}

impl Run<'_> {
    /// Render a template that is not on the file server (Salt: `render_jinja_tmpl`). It loads other templates from the
    /// saltenv of the run. With a variable `sls`, `jinja_sls_env` is the option that counts, and otherwise `jinja_env`.
    ///
    /// ```
    /// use mapstack::{Engine, JinjaText, loader::MemoryFiles, minion::Minion};
    /// let files = MemoryFiles::new().file("base", "web/map.jinja", "{% set port = 80 %}");
    /// let engine = Engine::new(files);
    /// let template = JinjaText {
    ///     source: "{% from 'web/map.jinja' import port %}{{ grains.id }} {{ sls }}: {{ port }}",
    ///     variables: [("sls", "web")].into_iter().collect(),
    /// };
    /// let printed = engine.run(&Minion::new("web1").complete()).jinja_text(&template).unwrap();
    /// assert_eq!(printed.text, "web1 web: 80");
    /// assert!(printed.grains.set.is_empty());
    /// ```
    ///
    /// # Errors
    /// The template fails, or puts something into the facts that is not data.
    pub fn jinja_text(
        &self,
        template: &JinjaText<'_>,
    ) -> mapstack_pyobject::Result<TemplateOutput> {
        let is_sls = template
            .variables
            .get("sls")
            .is_some_and(|sls| *sls != Value::from(""));
        let host = RunHost::new(self);
        let pillar = self.copied_facts(Part::Pillar);
        let mut variables = self.common_variables(&self.saltenv);
        variables.insert("pillar".into(), pillar.clone());
        variables.extend(named(&template.variables));
        let before = {
            let facts = self.facts.unchanged();
            (facts.grains.clone(), facts.pillar.clone())
        };
        let syntax = match is_sls {
            true => self.jinja_options("jinja_sls_env"),
            false => self.jinja.syntax.clone(),
        };
        let rendered = jinja::render(Request {
            dialect: &jinja::Salt,
            variables,
            syntax,
            strict: self.jinja.strict,
            limits: self.allowance.limits,
            cache: Some(&self.engine.templates),
            fuel: Some(&self.allowance.fuel),
            taint: self.taint(),
            ..request(template.source, &host)
        })?;
        self.sync_facts()?;
        let pillar = match pillar.to_value_unread()? {
            Value::Map(now) => Changes::between(&before.1, &now),
            _ => Changes::default(),
        };
        Ok(TemplateOutput {
            text: rendered.text,
            grains: Changes::between(&before.0, &self.facts.unchanged().grains),
            pillar,
        })
    }
}

fn named(variables: &Map) -> Names {
    let object =
        |(name, value): (&Key, &Value)| (Str::from(name.to_string()), Obj::from(value.clone()));
    variables.iter().map(object).collect()
}

#[cfg(test)]
mod tests {
    use super::Changes;
    use mapstack_value::{Map, Value};

    #[test]
    fn only_entries_that_differ_are_changes() {
        let map = |pairs: &[(&str, i64)]| -> Map {
            let pairs = pairs.iter().map(|(key, value)| (*key, Value::from(*value)));
            pairs.collect()
        };
        let before = map(&[("a", 1), ("b", 2), ("c", 3)]);
        let changes = Changes::between(&before, &map(&[("c", 3), ("b", 4), ("d", 5)]));
        assert_eq!(changes.set, map(&[("b", 4), ("d", 5)]));
        assert_eq!(changes.gone, ["a".into()]);
        assert_eq!(Changes::between(&before, &before), Changes::default());
    }
}
