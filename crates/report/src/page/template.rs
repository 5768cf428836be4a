//! The template of every page, below a head that lets a browser run only our script.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use tera::{Context, Tera};

use crate::page::{PageError, failed};

const HEAD: &str = include_str!("head.html");

/// A page without its content.
pub(crate) struct Template {
    /// The template. It includes `head.html`.
    pub text: &'static str,
    pub styles: &'static [&'static str],
    pub script: &'static str,
}

impl Template {
    /// The page of a title, made by a verb of the command, with what the template reads.
    pub fn render(
        &self,
        title: &str,
        verb: &str,
        mut context: Context,
    ) -> Result<String, PageError> {
        // Their names say that what is printed is escaped.
        let name = "page.html";
        let mut tera = Tera::default();
        let texts = [("head.html", HEAD), (name, self.text)];
        tera.add_raw_templates(texts).map_err(failed)?;
        context.insert("title", title);
        context.insert("verb", verb);
        context.insert("style", &self.styles.join("\n"));
        context.insert("script", self.script);
        context.insert("script_hash", &STANDARD.encode(Sha256::digest(self.script)));
        tera.render(name, &context).map_err(failed)
    }
}
