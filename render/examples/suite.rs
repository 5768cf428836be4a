//! Renders templates given as lines of JSON, for the comparison with Jinja's own tests.
//!
//! A question is `{"source": …, "options": {…}, "strict": …, "templates": {…}, "variables": …}`, where the variables
//! are a tree of `{"type": …, "value": …}`; a `range` has its three numbers. The answer is `{"text": …}` or `{"error": …}`.

use std::error::Error;
use std::io::{BufRead, Write};
use std::sync::Arc;

use mapstack_render::jinja::{Host, NoHost, Vm, render, request};
use mapstack_render::{CallArgs, Error as RenderError, ErrorKind, Obj, Result as RenderResult};
use mapstack_value::{Key, Set, Value, json};
use serde_json::{Map, Value as Json};

/// The files a template may load.
struct Files<'q>(&'q Map<String, Json>);

impl Host for Files<'_> {
    fn template(&self, path: &str) -> RenderResult<Option<Arc<str>>> {
        Ok(self.0.get(path).and_then(Json::as_str).map(Arc::from))
    }

    fn has_function(&self, _: &str) -> bool {
        false
    }

    fn has_module(&self, _: &str) -> bool {
        false
    }

    fn call_function(&self, _: &Vm<'_>, name: &str, _: CallArgs) -> RenderResult<Obj> {
        Err(RenderError::new(ErrorKind::Salt, name))
    }

    fn log(&self, _: &str, _: &str) {}
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let question: Json = serde_json::from_str(&line?)?;
        writeln!(out, "{}", answer(&question)?)?;
    }
    Ok(())
}

fn answer(question: &Json) -> Result<Json, Box<dyn Error>> {
    let missing = |name: &str| format!("the question has no '{name}'");
    let files = Files(
        question["templates"]
            .as_object()
            .ok_or_else(|| missing("templates"))?,
    );
    let source = question["source"]
        .as_str()
        .ok_or_else(|| missing("source"))?;
    let mut request = request(source, &files);
    request.strict = question["strict"]
        .as_bool()
        .ok_or_else(|| missing("strict"))?;
    for (name, value) in question["options"]
        .as_object()
        .ok_or_else(|| missing("options"))?
    {
        if let Err(problem) = request.syntax.set(name, &json::loads(&value.to_string())?) {
            return Ok(serde_json::json!({"error": problem}));
        }
    }
    for pair in children(&question["variables"]) {
        let name = pair[0]["value"].as_str().ok_or_else(|| missing("name"))?;
        request.variables.insert(name.into(), object(&pair[1])?);
    }
    Ok(match render(request) {
        Ok(rendered) => serde_json::json!({"text": rendered.text}),
        Err(error) => serde_json::json!({"error": error.to_string()}),
    })
}

/// `range(start, stop, step)`, as a template makes it.
fn range(numbers: Vec<Obj>) -> Result<Obj, Box<dyn Error>> {
    let mut request = request("{% set made = range(*numbers) %}", &NoHost);
    request
        .variables
        .insert("numbers".into(), Obj::list(numbers));
    let made = render(request)?.exports.shift_remove("made");
    made.ok_or_else(|| "a template makes no range".into())
}

/// The object that a tree describes.
fn object(tree: &Json) -> Result<Obj, Box<dyn Error>> {
    let value = &tree["value"];
    let text = || {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let objects = || {
        children(tree)
            .iter()
            .map(object)
            .collect::<Result<Vec<_>, _>>()
    };
    Ok(match tree["type"].as_str().unwrap_or_default() {
        "null" => Obj::None,
        "bool" => Obj::Bool(value.as_bool().unwrap_or_default()),
        "int" => Obj::Int(
            text()
                .parse()
                .map_err(|_| format!("{value} is not an integer"))?,
        ),
        "float" => Obj::Float(text().parse()?),
        "str" => Obj::from(text()),
        "markup" => Obj::Markup(text().into()),
        "range" => range(objects()?)?,
        "list" => Obj::list(objects()?),
        "tuple" => Obj::tuple(objects()?),
        "map" => {
            let entries = children(tree)
                .iter()
                .map(|pair| Ok((key(&pair[0])?, object(&pair[1])?)));
            Obj::dict(entries.collect::<Result<Vec<_>, Box<dyn Error>>>()?)
        }
        "set" => Obj::from(Value::Set(
            children(tree).iter().map(key).collect::<Result<Set, _>>()?,
        )),
        "bytes" => Obj::Bytes(bytes(&text())?.into()),
        other => return Err(format!("no object of type '{other}'").into()),
    })
}

fn key(tree: &Json) -> Result<Key, Box<dyn Error>> {
    Ok(Key::try_from(&object(tree)?.to_value()?)?)
}

fn children(tree: &Json) -> &[Json] {
    tree["value"].as_array().map_or(&[], Vec::as_slice)
}

fn bytes(hex: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let digits: Vec<char> = hex.chars().collect();
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16);
    Ok(digits.chunks(2).map(byte).collect::<Result<_, _>>()?)
}
