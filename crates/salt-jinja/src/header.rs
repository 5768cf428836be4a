//! The `#jinja2: {…}` line, which sets options for one template.

use std::sync::Arc;

use mapstack_value::{Value, json};

use mapstack_jinja::Syntax;

/// Apply and remove the header, if the template has one: on the first line, or on the second after
/// a `#!renderer` line (Salt: `render_jinja_tmpl`). Problems with it are reported to `warn`.
pub(super) fn apply(source: &mut Arc<str>, syntax: &mut Syntax, warn: &dyn Fn(&str)) {
    const HEADER: &str = "#jinja2:";
    if syntax.ignores_header || !source.contains(HEADER) {
        return;
    }
    let mut lines: Vec<&str> = source.split_inclusive('\n').collect();
    let index = usize::from(
        lines
            .first()
            .is_some_and(|l| l.starts_with("#!") && !l.starts_with("#!/")),
    );
    let Some(payload) = lines.get(index).and_then(|line| line.strip_prefix(HEADER)) else {
        return;
    };
    if payload.trim().is_empty() {
        return;
    }
    match json::loads(payload.trim()) {
        Ok(Value::Map(options)) => {
            for (name, value) in &options {
                if let Err(problem) = syntax.set(&name.to_string().to_lowercase(), value) {
                    warn(&problem);
                }
            }
        }
        Ok(_) | Err(_) => {
            warn(&format!(
                "ignoring the malformed '{HEADER}' header: {}",
                payload.trim()
            ));
            return;
        }
    }
    if index == 0 {
        // It stays where errors quote the source, so that they count lines as the file does.
        syntax.has_header = true;
        return;
    }
    lines.remove(index);
    *source = lines.concat().into();
}
