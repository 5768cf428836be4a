//! The `#jinja2: {…}` line, which sets options for one template.

use mapstack_value::{Value, json};

use super::vm::Request;
use crate::error::Result;

/// Apply and remove the header, if the template has one: on the first line, or on the second after
/// a `#!renderer` line (Salt: `render_jinja_tmpl`).
pub(super) fn apply(request: &mut Request<'_>) -> Result<()> {
    const HEADER: &str = "#jinja2:";
    if !request.source.contains(HEADER) {
        return Ok(());
    }
    let mut lines: Vec<&str> = request.source.split_inclusive('\n').collect();
    let index = usize::from(lines.first().is_some_and(|l| l.starts_with("#!") && !l.starts_with("#!/")));
    let Some(payload) = lines.get(index).and_then(|line| line.strip_prefix(HEADER)) else { return Ok(()) };
    if payload.trim().is_empty() {
        return Ok(());
    }
    match json::loads(payload.trim()) {
        Ok(Value::Map(options)) => {
            for (name, value) in &options {
                if let Err(problem) = request.syntax.set(&name.to_string().to_lowercase(), value) {
                    request.host.log("warning", &problem);
                }
            }
        }
        Ok(_) | Err(_) => {
            request.host.log("warning", &format!("ignoring the malformed '{HEADER}' header: {}", payload.trim()));
            return Ok(());
        }
    }
    // An empty line in its place would be printed; without it, lines count one less, as in Salt.
    lines.remove(index);
    request.source = lines.concat().into();
    Ok(())
}
