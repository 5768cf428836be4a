//! Mako templates, recorded from Mako itself: output, or the class and line of the error.

use std::sync::Arc;

use mapstack_pyobject::{Error, ErrorKind, Result};
use mapstack_sandbox::{
    Host, TemplateSource,
    mako::{Lookup, MakoOptions, Request, render},
};
use mapstack_value::{Map, Str, Value, json};

/// Records that differ on purpose: the template, and the reason.
const DIFFERENCES: &[(&str, &str)] = &[
    (
        "<% import nosuchmodule %>",
        "whether a module is installed is not known here, so the error says that it is not available",
    ),
    (
        "% for x in loop:\n% endfor\n",
        "the reference asks itself until Python's limit of recursion",
    ),
    (
        "<%\nx = 1\ny = (\n%>",
        "the parser reports an open bracket at the end of the code",
    ),
];

struct Files(Map);

impl Host for Files {
    fn template(&self, uri: &str) -> Result<Option<TemplateSource>> {
        Ok(self
            .0
            .get(uri)
            .and_then(Value::as_str)
            .map(|text| TemplateSource {
                name: uri.into(),
                text: text.into(),
            }))
    }

    fn has_function(&self, name: &str) -> bool {
        name == "test.echo"
    }

    fn has_module(&self, module: &str) -> bool {
        module == "test"
    }

    fn call(
        &self,
        name: &str,
        arguments: Vec<Value>,
        keywords: Vec<(Str, Value)>,
    ) -> Result<Value> {
        if keywords.iter().any(|(name, _)| &**name == "fail") {
            return Err(Error::new(ErrorKind::Salt, format!("{name} failed")));
        }
        Ok(arguments.into_iter().next().unwrap_or_default())
    }
}

/// The recorded outcome and ours.
fn both(record: &Map, context: &Map) -> (String, String) {
    let files = record
        .get("files")
        .and_then(Value::as_map)
        .cloned()
        .unwrap_or_default();
    let host = Files(files);
    let template: Arc<str> = record
        .get("template")
        .and_then(Value::as_str)
        .unwrap()
        .into();
    let mut request = Request::new(template, &host);
    let strict = record.get("strict").is_none_or(Value::truthy);
    request.options = MakoOptions {
        strict,
        lookup: Lookup::Stock,
    };
    request.uri = Some("/main.mako".into());
    request.name = Some("main".into());
    request.variables = context
        .iter()
        .map(|(k, v)| (k.as_str().unwrap().into(), v.clone()))
        .collect();
    let theirs = match (record.get("output"), record.get("error")) {
        (Some(output), _) => format!("printed {output}"),
        (None, Some(error)) => match record.get("line") {
            Some(line) => format!("{error} in line {line}"),
            None => format!("{error}"),
        },
        (None, None) => "not recorded".to_owned(),
    };
    let ours = match render(request) {
        Ok(rendered) => format!("printed {}", rendered.text),
        Err(error) => {
            let class = match error.kind {
                ErrorKind::Code(class) => class,
                ErrorKind::TemplateNotFound => "TemplateLookupException",
                ErrorKind::Security => "refused",
                ErrorKind::Limit => "limit",
                _ => "other",
            };
            let place = error.place.as_ref();
            match record.get("line") {
                Some(_) => format!(
                    "{class} in line {}",
                    place.map_or(0, mapstack_pyobject::TemplatePlace::line)
                ),
                None => class.to_owned(),
            }
        }
    };
    (theirs, ours)
}

#[test]
fn as_recorded() {
    let recorded = json::loads(include_str!("data/mako.json")).unwrap();
    let recorded = recorded.as_map().unwrap();
    let context = recorded.get("context").and_then(Value::as_map).unwrap();
    let records = recorded.get("records").and_then(Value::as_list).unwrap();
    assert!(!records.is_empty());
    let (mut wrong, mut differing) = (Vec::new(), Vec::new());
    for record in records {
        let record = record.as_map().unwrap();
        let template = record.get("template").and_then(Value::as_str).unwrap();
        let (theirs, ours) = both(record, context);
        let known = DIFFERENCES.iter().any(|(known, _)| *known == template);
        if known {
            differing.push((theirs != ours, template.to_owned()));
        } else if theirs != ours {
            wrong.push(format!(
                "{template:?}\n    Mako: {theirs:?}\n    here: {ours:?}"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} differ:\n{}",
        wrong.len(),
        records.len(),
        wrong.join("\n")
    );
    let same: Vec<_> = differing.iter().filter(|(differs, _)| !differs).collect();
    assert!(same.is_empty(), "no longer different: {same:?}");
}

/// A template without files and variables.
fn alone(template: &str) -> Result<String> {
    let host = Files(Map::new());
    let mut request = Request::new(template, &host);
    request.options = MakoOptions::stack();
    render(request).map(|rendered| rendered.text)
}

#[test]
fn an_open_tag_is_reported_where_it_opens() {
    let error = alone("\n<%def name=\"f()\">\ntext\n").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Code("SyntaxException"));
    assert_eq!(error.place.map(|place| place.line()), Some(2));
}

#[test]
fn quotes_in_a_comment_do_not_start_a_text() {
    let template = "<%\n    x = 7 # someone's '''comment\n    y = '''a\n    b'''\n    # someone else's\n%>${x} ${len(y)}";
    assert_eq!(alone(template).unwrap(), "7 7");
}

#[test]
fn there_is_no_cache() {
    let error = alone("<%def name=\"f()\" cached=\"True\">\n</%def>").unwrap_err();
    assert!(error.message.contains("needs a cache"), "{error}");
}

/// CPython 3.11 has at most 99 levels of indentation, of which Mako's frame takes two.
#[test]
fn there_are_so_many_levels_of_indentation() {
    let nested = |levels: usize| "% if 1:\n".repeat(levels) + "x\n" + &"% endif\n".repeat(levels);
    assert_eq!(alone(&nested(97)).unwrap(), "x\n");
    let error = alone(&nested(98)).unwrap_err();
    assert_eq!(
        error.message,
        "IndentationError: too many levels of indentation"
    );
    assert!(error.place.is_some());
}

/// The compiler's time grows with the square of what has no branch in it, so there are some in between.
#[test]
fn long_templates_print_all_of_their_parts() {
    let many = 5_000;
    assert_eq!(alone(&"${'a'}b".repeat(many)).unwrap(), "ab".repeat(many));
}
