//! Mako, the language of MakoStack's templates.

use mapstack_render::jinja::{Rendered, Request};

use crate::diagnostic::{Error, ErrorKind, Result};
use crate::files::File;

/// Whether a text has anything for Mako to do.
pub(super) fn has_marks(text: &str) -> bool {
    let of_a_line = |line: &str| {
        let line = line.trim_start_matches([' ', '\t']);
        line.starts_with('%') || line.starts_with("##") || line.ends_with('\\')
    };
    text.contains("${") || text.contains("<%") || text.contains("</%") || text.lines().any(of_a_line)
}

/// Whether Mako is built in.
///
/// # Errors
/// It is not.
pub(super) fn require(file: &File) -> Result<()> {
    let message = format!("{} is a Mako template, and Mako is not built in", file.shown);
    Err(Error::new(ErrorKind::Unsupported, message).help("build with the feature `mako`"))
}

/// Run a template.
///
/// # Errors
/// What the template raises.
pub(super) fn render(request: Request<'_>) -> mapstack_render::Result<Rendered> {
    mapstack_render::jinja::render(request)
}

#[cfg(test)]
mod tests {
    use super::has_marks;

    #[test]
    fn plain_text_is_told_from_templates() {
        for (text, marked) in [
            ("a: 1\nb: 50%\n", false),
            ("a: ${x}", true),
            ("% for x in y:\n", true),
            ("a: 1\n  % if x:\n", true),
            ("## note\n", true),
            ("# note\n", false),
            ("a: 1\\\nb", true),
            ("<%def name='x()'>", true),
            ("", false),
        ] {
            assert_eq!(has_marks(text), marked, "{text:?}");
        }
    }
}
