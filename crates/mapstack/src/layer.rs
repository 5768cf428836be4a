//! Rendering and parsing data-source files.

use std::sync::Arc;

use mapstack_diagnostic::Result;
use mapstack_value::Value;
use mapstack_yaml::{Limits, Lines, TouchedScalars, load_marked};

use crate::hooks::LayerTemplate;
use crate::layer_file::LayerFile;
use crate::render::TemplateStage;
use crate::run::Run;
use crate::text::Text;

impl Run<'_> {
    /// Render and parse a data-source file. Its template can change `stack` in place.
    pub(crate) fn load_layer<'f>(
        &self,
        template: &LayerTemplate<'f>,
        stack: &mut Value,
    ) -> Result<(Arc<LayerFile>, Text<'f>)> {
        let file = template.file;
        let source = file.text()?;
        if !self.has_template_marks(source) {
            let text = Text::plain(file, source);
            let layer = self.engine.parsed_layer(source, || self.parse(&text))?;
            self.note_secrets(layer.values.as_ref());
            return Ok((layer, text));
        }
        let text = self.render(file, &source.into(), &TemplateStage::Layer(template), stack)?;
        let layer = self
            .engine
            .parsed_layer(text.as_str(), || self.parse(&text))?;
        self.note_printed_secrets(&layer, &text);
        Ok((layer, text))
    }

    /// Note the secrets of a layer: values under secret names, and scalars for which its template printed a secret.
    fn note_printed_secrets(&self, layer: &LayerFile, text: &Text<'_>) {
        let Some(taint) = self.observed.taint.get() else {
            return;
        };
        self.note_secrets(layer.values.as_ref());
        if text.secret().is_empty() {
            return;
        }
        let Ok((whole, marks)) = load_marked(text.as_str(), &Limits::default()) else {
            return;
        };
        let lines = Lines::of(text.as_str());
        let offset = |mark| lines.offset(text.as_str(), mark);
        let leaves = TouchedScalars::of(&whole, &marks, text.secret(), offset);
        leaves.visit(&whole, &marks, &mut |leaf| taint.add(leaf));
    }
}

impl Run<'_> {
    fn parse(&self, text: &Text<'_>) -> Result<LayerFile> {
        let loaded = match self.has_observed_values() {
            true => load_marked(
                text.as_str(),
                &mapstack_salt_jinja::yaml_limits(&self.allowance.limits),
            )
            .map(|(value, marks)| (value, Some(marks))),
            false if text.may_have_aliases() => {
                mapstack_yaml::load(text.as_str()).map(|value| (value, None))
            }
            false => self.engine.skeletons.load(text).map(|value| (value, None)),
        };
        let (value, marks) = loaded.map_err(|e| text.yaml_error(&e))?;
        let Value::Map(map) = &value else {
            return Err(text.not_a_mapping(&value));
        };
        let mut layer = LayerFile::of(map).ok_or_else(|| text.wrong_key(map))?;
        if text.may_have_aliases() {
            layer = layer.with_aliases();
        }
        Ok(match marks {
            Some(marks) => layer.with_marks(map, &marks),
            None => layer,
        })
    }
}
