//! Renders Mako templates given as lines of JSON, for the comparison with Mako's own tests.
//!
//! A question is `{"source": …, "uri": …, "strict": …, "lookup": …, "files": {…}, "variables": {…}}`. The answer is
//! `{"output": …}`, or the class of the error and, where the template cannot be read, its line.

use std::error::Error;
use std::io::{BufRead, Write};

use mapstack_render::{Error as RenderError, ErrorKind, Result as RenderResult, TemplatePlace};
use mapstack_sandbox::mako::{Lookup, MakoOptions, Request, render};
use mapstack_sandbox::{Host, TemplateSource};
use mapstack_value::{Map, Str, Value, json};

/// The templates of a lookup, by URI.
struct Files<'q>(&'q Map);

impl Host for Files<'_> {
    fn template(&self, uri: &str) -> RenderResult<Option<TemplateSource>> {
        let text = self
            .0
            .get(uri)
            .or_else(|| self.0.get(below(uri).as_str()))
            .and_then(Value::as_str);
        Ok(text.map(|text| TemplateSource {
            name: uri.into(),
            text: text.into(),
        }))
    }

    fn has_function(&self, _: &str) -> bool {
        false
    }

    fn has_module(&self, _: &str) -> bool {
        false
    }

    fn call(&self, name: &str, _: Vec<Value>, _: Vec<(Str, Value)>) -> RenderResult<Value> {
        Err(RenderError::new(ErrorKind::Salt, name))
    }
}

/// The path below the lookup's directory that a URI is.
fn below(uri: &str) -> String {
    let uri = uri.replace('\\', "/");
    let mut parts = Vec::new();
    for part in uri.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    format!("/{}", parts.join("/"))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let question = json::loads(&line?)?;
        let question = question.as_map().ok_or("the question is not an object")?;
        let answer: Map = answer(question).into_iter().collect();
        writeln!(
            out,
            "{}",
            json::dumps(&answer.into(), &json::DumpOptions::default())?
        )?;
    }
    Ok(())
}

fn answer(question: &Map) -> Vec<(&'static str, Value)> {
    let files = map(question, "files");
    let host = Files(&files);
    let flag = |name: &str| question.get(name).is_some_and(Value::truthy);
    let mut request = Request::new(text(question, "source").unwrap_or_default(), &host);
    request.uri = text(question, "uri").map(Str::from);
    let lookup = if flag("lookup") {
        Lookup::Stock
    } else {
        Lookup::None
    };
    request.options = MakoOptions {
        strict: flag("strict"),
        lookup,
    };
    request.variables = map(question, "variables")
        .iter()
        .map(|(k, v)| (k.to_string().into(), v.clone()))
        .collect();
    match render(request) {
        Ok(rendered) => vec![("output", rendered.text.into())],
        Err(error) => refusal(&error),
    }
}

fn refusal(error: &RenderError) -> Vec<(&'static str, Value)> {
    let class = match error.kind {
        ErrorKind::Code(class) => class,
        ErrorKind::TemplateNotFound => "TemplateLookupException",
        ErrorKind::Security => "refused",
        ErrorKind::Limit => "limit",
        _ => "other",
    };
    let line = error.place.as_ref().map_or(0, TemplatePlace::line);
    let line = i64::try_from(line).unwrap_or_default();
    vec![
        ("error", class.into()),
        ("line", line.into()),
        ("message", error.message.clone().into()),
    ]
}

fn text<'q>(question: &'q Map, name: &str) -> Option<&'q str> {
    question.get(name).and_then(Value::as_str)
}

fn map(question: &Map, name: &str) -> Map {
    question
        .get(name)
        .and_then(Value::as_map)
        .cloned()
        .unwrap_or_default()
}
