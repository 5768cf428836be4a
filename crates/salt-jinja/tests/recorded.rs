//! Templates rendered by Salt, recorded: output, or the message of the error.

use std::sync::Arc;

use crate::common::assert_repeated;
use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Result};
use mapstack_salt_jinja::{Host, Vm, render, request, salt_object};
use mapstack_value::{Map, Value, json};

/// Records that differ on purpose: the template, and the reason.
const DIFFERENCES: &[(&str, &str)] = &[
    (
        "{{ 'a: b: c'|load_yaml }}",
        "bad YAML is reported in the same words everywhere",
    ),
    (
        "{% load_yaml as y %}a: b: c{% endload %}",
        "bad YAML is reported in the same words everywhere",
    ),
    (
        "{% import_yaml 'f/bad.yaml' as y %}",
        "bad YAML is reported in the same words everywhere",
    ),
    (
        "{% set l=[1] %}{% do l.append(l) %}{{ l|yaml }}",
        "what contains itself is not data",
    ),
    (
        "{{ salt['cmd.run']('echo $HOME | wc -l') }}",
        "templates run no commands",
    ),
];

/// The error of templates that Jinja2's compiler raises for: Salt fails itself while it reports that.
const SALT_FAILS: &str = "TypeError";

struct Recorded {
    files: Map,
}

impl Host for Recorded {
    fn template(&self, path: &str) -> Result<Option<Arc<str>>> {
        let plain = !path.starts_with('/')
            && !path.contains("://")
            && !path.split('/').any(|part| part == "..");
        Ok(self
            .files
            .get(path)
            .filter(|_| plain)
            .map(|text| text.to_string().into()))
    }

    fn has_function(&self, name: &str) -> bool {
        matches!(name, "grains.get" | "test.echo")
    }

    fn has_module(&self, module: &str) -> bool {
        matches!(module, "grains" | "test")
    }

    fn call_function(&self, vm: &Vm<'_>, name: &str, args: CallArgs) -> Result<Obj> {
        let [argument] = args.only_positional(name, 1)?;
        let argument = argument.unwrap_or_default();
        match name {
            "test.echo" => Ok(argument),
            "grains.get" => {
                let grains = vm
                    .variable("grains")
                    .ok_or_else(|| Error::new(ErrorKind::Salt, "no grains"))?;
                vm.get_key(&grains, &argument)
            }
            _ => Err(Error::new(ErrorKind::Salt, "unknown")),
        }
    }

    fn log(&self, _: &str, _: &str) {}
}

fn context(recorded: &Map) -> Vec<(String, Obj)> {
    let context = recorded.get("context").unwrap().as_map().unwrap();
    let mut names: Vec<(String, Obj)> = context
        .iter()
        .map(|(name, value)| {
            let value = match (name.as_str(), value) {
                // JSON has no tuples.
                (Some("tup" | "one"), Value::List(items)) => Value::Tuple(items.to_vec().into()),
                (_, value) => value.clone(),
            };
            (name.to_string(), Obj::from(value))
        })
        .collect();
    names.push(("salt".into(), salt_object()));
    names.push((
        "opts".into(),
        Obj::from(Value::from([("id", "m1")].into_iter().collect::<Map>())),
    ));
    names.push(("saltenv".into(), Obj::from("base")));
    names
}

#[test]
fn templates_print_what_salt_prints() {
    let Value::Map(recorded) = json::loads(include_str!("data/jinja_render.json")).unwrap() else {
        panic!()
    };
    let host = Recorded {
        files: recorded.get("files").unwrap().as_map().unwrap().clone(),
    };
    let cases = recorded.get("cases").unwrap().as_list().unwrap();
    assert_repeated(cases, DIFFERENCES, |case| {
        let template = case.get("template").unwrap().to_string();
        let mut request = request(template.as_str(), &host);
        request.variables = context(&recorded)
            .into_iter()
            .map(|(k, v)| (k.into(), v))
            .collect();
        match (render(request), case.get("output"), case.get("message")) {
            (Ok(got), Some(wanted), _) if got.text == wanted.to_string() => None,
            (Ok(got), Some(wanted), _) => Some(format!("got {:?}, wanted {wanted:?}", got.text)),
            (Err(e), ..) if case.get("error").and_then(Value::as_str) == Some(SALT_FAILS) => {
                let refused = e.kind == ErrorKind::Syntax && e.place.is_some();
                (!refused).then(|| format!("got {e} ({:?})", e.place))
            }
            (Err(e), None, Some(message)) => {
                let wanted = message.to_string();
                let wanted = wanted
                    .split("; line ")
                    .next()
                    .unwrap_or_default()
                    .to_string();
                (!wanted.starts_with(&e.to_string())).then(|| format!("got {e}, wanted {wanted}"))
            }
            (Ok(got), None, message) => Some(format!("got {:?}, wanted {message:?}", got.text)),
            (Err(e), ..) => Some(format!("got {e} ({:?})", e.place)),
        }
    });
}
