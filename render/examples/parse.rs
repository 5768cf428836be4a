//! Check in bulk if templates parse: JSON lines on stdin, one answer a line on stdout.
//!
//! ```text
//! {"path": "a.sls", "source": "{{ 1 }}"}      {"ok":true}
//! {"path": "b.sls", "source": "{% if %}"}     {"error":"…","line":1}
//! ```
//!
//! `path` names the template and may be left out. A line that is not such a question has an answer
//! with an `error` and no `line`.
//!
//! ```text
//! cargo run --package mapstack-render --example parse < questions
//! ```

use std::io::{self, BufRead, Write};

use mapstack_salt_jinja::{Syntax, parse};
use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        writeln!(out, "{}", answer(&line?))?;
    }
    out.flush()
}

fn answer(line: &str) -> Value {
    let question: Value = match serde_json::from_str(line) {
        Ok(question) => question,
        Err(error) => return json!({"error": format!("not JSON: {error}")}),
    };
    let Some(source) = question["source"].as_str() else {
        return json!({"error": "`source` is not a text"});
    };
    match parse(source, question["path"].as_str(), &Syntax::default()) {
        Ok(_) => json!({"ok": true}),
        Err(error) => {
            json!({"error": error.message, "line": error.line, "start": error.span.start})
        }
    }
}
