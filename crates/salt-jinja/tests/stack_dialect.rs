//! Templates in the environment that PillarStack sets up, recorded from it.

use crate::common::{Files, assert_repeated};
use mapstack_pyobject::Obj;
use mapstack_salt_jinja::{PillarStack, render, request};
use mapstack_value::{Map, Value, json};

/// Records that differ on purpose, or in words only: the template, and the reason.
const DIFFERENCES: &[(&str, &str)] = &[];

#[test]
fn templates_print_what_pillarstack_prints() {
    let Value::Map(recorded) = json::loads(include_str!("data/jinja_stack.json")).unwrap() else {
        panic!()
    };
    let host = Files(recorded.get("files").unwrap().as_map().unwrap().clone());
    let cases = recorded.get("cases").unwrap().as_list().unwrap();
    assert_repeated(cases, DIFFERENCES, |case| {
        let template = case.get("template").unwrap().to_string();
        let mut request = request(template.as_str(), &host);
        request.dialect = &PillarStack;
        request.strict = false;
        let stack = Value::from([("a", 1)].into_iter().collect::<Map>());
        request.variables.insert("g".into(), Obj::from("global"));
        request.locals.insert("stack".into(), Obj::from(stack));
        let got = render(request)
            .map(|done| done.text)
            .map_err(|e| e.message.clone());
        match (&got, case.get("output"), case.get("message")) {
            (Ok(got), Some(wanted), _) if *got == wanted.to_string() => None,
            (Err(got), None, Some(wanted))
                if wanted.to_string().starts_with(got.trim_end_matches('.')) =>
            {
                None
            }
            (_, wanted, message) => Some(format!("got {got:?}, wanted {:?}", wanted.or(message))),
        }
    });
}
