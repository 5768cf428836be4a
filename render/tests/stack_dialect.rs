//! Templates in the environment that PillarStack sets up, recorded from it.

use std::sync::Arc;

use mapstack_render::jinja::{Dialect, Host, Request, Syntax, Vm, render};
use mapstack_render::{CallArgs, Error, ErrorKind, Obj, Result};
use mapstack_value::{Map, Value, json};

/// Records that differ on purpose, or in words only: the template, and the reason.
const DIFFERENCES: &[(&str, &str)] = &[];

struct Files(Map);

impl Host for Files {
    fn template(&self, path: &str) -> Result<Option<Arc<str>>> {
        Ok(self.0.get(path).map(|text| text.to_string().into()))
    }

    fn has_function(&self, _: &str) -> bool {
        false
    }

    fn has_module(&self, _: &str) -> bool {
        false
    }

    fn call_function(&self, _: &Vm<'_>, name: &str, _: CallArgs) -> Result<Obj> {
        Err(Error::new(ErrorKind::Salt, name))
    }

    fn log(&self, _: &str, _: &str) {}
}

#[test]
fn templates_print_what_pillarstack_prints() {
    let Value::Map(recorded) = json::loads(include_str!("data/jinja_stack.json")).unwrap() else { panic!() };
    let host = Files(recorded.get("files").unwrap().as_map().unwrap().clone());
    let cases = recorded.get("cases").unwrap().as_list().unwrap();
    assert!(cases.len() > 170, "{}", cases.len());
    let mut problems = Vec::new();
    for case in cases {
        let case = case.as_map().unwrap();
        let template = case.get("template").unwrap().to_string();
        let mut request = Request::new(template.as_str(), &host);
        request.syntax = Syntax { dialect: Dialect::Stack, ..Syntax::default() };
        request.strict = false;
        let stack = Value::from([("a", 1)].into_iter().collect::<Map>());
        request.variables.insert("g".into(), Obj::from("global"));
        request.locals.insert("stack".into(), Obj::from(stack));
        let got = render(request).map(|done| done.text).map_err(|e| e.message.clone());
        let problem = match (&got, case.get("output"), case.get("message")) {
            (Ok(got), Some(wanted), _) if *got == wanted.to_string() => None,
            (Err(got), None, Some(wanted)) if wanted.to_string().starts_with(got.trim_end_matches('.')) => None,
            (_, wanted, message) => Some(format!("got {got:?}, wanted {:?}", wanted.or(message))),
        };
        let expected = DIFFERENCES.iter().any(|(known, _)| *known == template);
        match problem {
            None if expected => problems.push(format!("{template}: is equal now; strike it from the list")),
            Some(problem) if !expected => problems.push(format!("{template}\n    {problem}")),
            _ => {}
        }
    }
    assert!(problems.is_empty(), "{} of {} differ:\n{}", problems.len(), cases.len(), problems.join("\n"));
}
