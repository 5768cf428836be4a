//! Mako, the language of MakoStack's templates.

use mapstack_render::jinja::{Rendered, Request};
use mapstack_value::Value;

/// Whether a text has anything for Mako to do.
pub(super) fn has_marks(text: &str) -> bool {
    let of_a_line = |line: &str| {
        let line = line.trim_start_matches([' ', '\t']);
        line.starts_with('%') || line.starts_with("##") || line.ends_with('\\')
    };
    text.contains("${") || text.contains("<%") || text.contains("</%") || text.lines().any(of_a_line)
}

/// Run a template as MakoStack does, and take over what it changed in the data stacked so far.
///
/// # Errors
/// What the template raises, or that Mako is not built in.
#[cfg(feature = "python")]
pub(super) fn render(request: &Request<'_>, stack: &mut Value) -> mapstack_render::Result<Rendered> {
    let options = mapstack_render::mako::Options::stack();
    let (rendered, changed) = mapstack_render::mako::render_as(request, options, request.name.as_deref(), &["stack"])?;
    if let Some((_, value)) = changed.into_iter().next()
        && value != *stack
    {
        *stack = value;
    }
    Ok(rendered)
}

/// Say that this build has no Mako.
#[cfg(not(feature = "python"))]
pub(super) fn render(_: &Request<'_>, _: &mut Value) -> mapstack_render::Result<Rendered> {
    let error = mapstack_render::Error::new(mapstack_render::ErrorKind::Nested, "Mako is not built in");
    Err(error.with_help("build with the feature `python`"))
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
