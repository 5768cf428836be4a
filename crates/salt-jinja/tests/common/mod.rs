//! Files for templates, and records of the reference.

use std::sync::Arc;

use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Result};
use mapstack_salt_jinja::{Host, Vm};
use mapstack_value::{Map, Value};

/// A host of files by name, without functions.
pub struct Files(pub Map);

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

/// Each recorded template has to do what it did, but those that are listed with their reason, which
/// must not. The check says what is wrong.
pub fn assert_repeated(
    cases: &[Value],
    differences: &[(&str, &str)],
    mut check: impl FnMut(&Map) -> Option<String>,
) {
    assert!(!cases.is_empty(), "nothing is recorded");
    let mut problems = Vec::new();
    for case in cases {
        let case = case.as_map().unwrap();
        let template = case.get("template").unwrap().to_string();
        let expected = differences.iter().any(|(known, _)| *known == template);
        match check(case) {
            None if expected => {
                problems.push(format!("{template}: is equal now; strike it from the list"));
            }
            Some(problem) if !expected => problems.push(format!("{template}\n    {problem}")),
            _ => {}
        }
    }
    assert!(
        problems.is_empty(),
        "{} of {} differ:\n{}",
        problems.len(),
        cases.len(),
        problems.join("\n")
    );
}
