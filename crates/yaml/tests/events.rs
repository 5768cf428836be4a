//! The events of libyaml itself, as PyYAML shows them, recorded by `cargo xtask reference --record`.

use mapstack_yaml::events::{EventKind, Events, Mark, Node, Phase, Style};
use serde_json::{Value as Json, json};

/// libyaml finds an unknown escape in a backslash at the end of the text. Here a quote is missing, which is what there is
/// to say.
const ENDS_IN_BACKSLASH: &str = "a: \"b\\";

fn place(mark: Mark) -> String {
    format!("{}:{}", mark.line, mark.column)
}

fn described(kind: &EventKind<'_>) -> Vec<Json> {
    let with_node =
        |name: &str, node: &Node<'_>| vec![json!(name), json!(node.anchor), json!(node.tag)];
    match kind {
        EventKind::DocumentStart { implicit } => vec![json!("document"), json!(!implicit)],
        EventKind::DocumentEnd { implicit } => vec![json!("end of document"), json!(!implicit)],
        EventKind::Alias(name) => vec![json!("alias"), json!(name)],
        EventKind::Scalar(scalar) => {
            let style = match scalar.style {
                Style::Plain => "plain",
                Style::SingleQuoted => "'",
                Style::DoubleQuoted => "\"",
                Style::Literal => "|",
                Style::Folded => ">",
            };
            let mut parts = with_node("scalar", &scalar.node);
            parts.extend([json!(scalar.value), json!(style), json!(scalar.implicit)]);
            parts
        }
        EventKind::SequenceStart(node) => with_node("list", node),
        EventKind::SequenceEnd => vec![json!("end of list")],
        EventKind::MappingStart(node) => with_node("mapping", node),
        EventKind::MappingEnd => vec![json!("end of mapping")],
    }
}

fn refusal(error: &mapstack_yaml::events::Error) -> Json {
    let class = match error.phase {
        Phase::Reader => return json!(["ReaderError"]),
        Phase::Scanner => "ScannerError",
        Phase::Parser => "ParserError",
    };
    let context = error
        .context
        .map(|context| json!([context.what, place(context.start)]));
    json!([class, context, error.problem, place(error.mark)])
}

/// The events of a text in the recorded form, and the error behind them.
fn read(text: &str) -> (Vec<Json>, Option<Json>) {
    let events = match Events::of(text) {
        Ok(events) => events,
        Err(error) => return (Vec::new(), Some(refusal(&error))),
    };
    let mut read = Vec::new();
    for event in events {
        match event {
            Ok(event) => {
                let mut parts = described(&event.kind);
                parts.extend([json!(place(event.start)), json!(place(event.end))]);
                read.push(Json::Array(parts));
            }
            Err(error) => return (read, Some(refusal(&error))),
        }
    }
    (read, None)
}

#[test]
fn recorded_events() {
    let records: Vec<Json> = serde_json::from_str(include_str!("data/events.json")).unwrap();
    let is_refused = |record: &Json| record["error"].is_array();
    assert!(records.iter().any(is_refused) && !records.iter().all(is_refused));
    for record in &records {
        let text = record["text"].as_str().unwrap();
        let (events, error) = read(text);
        assert_eq!(Json::Array(events), record["events"], "{text:?}");
        assert_eq!(error.as_ref(), record.get("error"), "{text:?}");
    }
}

#[test]
fn a_backslash_at_the_end() {
    let (_, error) = read(ENDS_IN_BACKSLASH);
    let context = json!(["while scanning a quoted scalar", "0:3"]);
    let expected = json!([
        "ScannerError",
        context,
        "found unexpected end of stream",
        "0:6"
    ]);
    assert_eq!(error, Some(expected));
}

#[test]
fn scalars_borrow_from_the_text() {
    let text = "plain: 'in quotes'\nlonger words: \"x\"\n";
    let borrowed = Events::of(text)
        .unwrap()
        .filter(|event| match &event.as_ref().unwrap().kind {
            EventKind::Scalar(scalar) => matches!(scalar.value, std::borrow::Cow::Borrowed(_)),
            _ => false,
        });
    assert_eq!(borrowed.count(), 4);
}

/// Time grows with the length of a text, however deep.
#[test]
fn depth_is_no_recursion() {
    let text = "[".repeat(100_000);
    assert_eq!(
        Events::of(&text).unwrap().filter(Result::is_ok).count(),
        100_001
    );
    let text = "{a: ".repeat(100_000);
    assert!(Events::of(&text).unwrap().filter(Result::is_ok).count() > 200_000);
    let text = "- ".repeat(100_000);
    assert_eq!(Events::of(&text).unwrap().count(), 200_003);
}
