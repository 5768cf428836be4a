//! The minion's options as Salt's modules and templates see them.

use mapstack_value::{Int, Key, Map, Traverse, Value};

use crate::{Minion, Part, builtin};

impl Minion {
    /// All options: what Salt has built in, under the minion's own, under `id`, `grains` and
    /// `pillar`, which are options too.
    ///
    /// ```
    /// use mapstack_minion::Minion;
    /// let options = Minion::new("web1").complete().options();
    /// assert_eq!(options.get("state_top").unwrap().as_str(), Some("top.sls"));
    /// assert_eq!(options.get("grains").unwrap().repr(), "{'id': 'web1'}");
    /// ```
    #[must_use]
    pub fn options(&self) -> Map {
        let mut options = builtin::options().clone();
        options.extend(
            self.opts
                .iter()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        options.insert("id", self.id());
        options.insert(Part::Grains.name(), self.grains.clone());
        options.insert(Part::Pillar.name(), self.pillar.clone());
        options
    }

    /// One of [all options](Minion::options), without building them all.
    ///
    /// ```
    /// use mapstack_minion::Minion;
    /// use mapstack_value::Key;
    /// let top = Minion::new("web1").option(&Key::from("state_top"));
    /// assert_eq!(top.unwrap().as_str(), Some("top.sls"));
    /// ```
    #[must_use]
    pub fn option(&self, key: &Key) -> Option<Value> {
        match key.as_str() {
            Some(name) => self.option_named(name),
            None => self
                .opts
                .get(key)
                .or_else(|| builtin::options().get(key))
                .cloned(),
        }
    }

    /// [`option`](Minion::option) by a name that is text.
    ///
    /// ```
    /// use mapstack_minion::Minion;
    /// assert_eq!(Minion::new("web1").option_named("id").unwrap().as_str(), Some("web1"));
    /// ```
    #[must_use]
    pub fn option_named(&self, name: &str) -> Option<Value> {
        match name {
            "id" => Some(self.id()),
            "grains" => Some(self.grains.clone().into()),
            "pillar" => Some(self.pillar.clone().into()),
            _ => self
                .opts
                .get(name)
                .or_else(|| builtin::options().get(name))
                .cloned(),
        }
    }
}

/// All options as data to traverse, or what is found in them.
#[derive(Clone)]
pub(crate) enum OptionsView<'m> {
    All(&'m Minion),
    Inside(Value),
}

impl OptionsView<'_> {
    pub(crate) fn into_value(self) -> Value {
        match self {
            OptionsView::All(minion) => minion.options().into(),
            OptionsView::Inside(value) => value,
        }
    }

    fn inside(&self) -> Option<&Value> {
        match self {
            OptionsView::All(_) => None,
            OptionsView::Inside(value) => Some(value),
        }
    }
}

impl Traverse for OptionsView<'_> {
    fn list_len(&self) -> Option<usize> {
        self.inside()?.list_len()
    }

    fn list_item(&self, index: usize) -> Option<Self> {
        self.inside()?.list_item(index).map(OptionsView::Inside)
    }

    fn is_map(&self) -> bool {
        self.inside().is_none_or(Traverse::is_map)
    }

    fn map_entry(&self, key: &Key) -> Option<Self> {
        let found = match self {
            OptionsView::All(minion) => minion.option(key),
            OptionsView::Inside(value) => value.map_entry(key),
        };
        found.map(OptionsView::Inside)
    }

    fn sequence_item(&self, index: &Int) -> Option<Self> {
        self.inside()?.sequence_item(index).map(OptionsView::Inside)
    }
}
