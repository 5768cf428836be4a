//! libyaml-safer as the judge: the same events, the same positions, and the same errors at the same places, over texts put
//! together at random and over changed ones.
//!
//! If libyaml-safer differs from libyaml or panics, libyaml is right, and `tests/events.rs` has the text.

use std::panic::catch_unwind;

use libyaml_safer::{Encoding, EventData, Parser, ScalarStyle};
use mapstack_yaml::events::{EventKind, Events, Mark, Node, Style};

/// The events of a text, one to a line, and the error behind them, if there is one.
fn ours(text: &str) -> Vec<String> {
    let events = match Events::of(text) {
        Ok(events) => events,
        Err(error) => return vec![format!("{:?}", error.phase)],
    };
    let mut lines = Vec::new();
    for event in events {
        lines.push(match event {
            Ok(event) => line(
                &mark(event.start),
                &mark(event.end),
                &described(&event.kind),
            ),
            Err(error) => {
                let context = error
                    .context
                    .map(|context| (context.what, mark(context.start)));
                refused(
                    &format!("{:?}", error.phase),
                    context,
                    error.problem,
                    &mark(error.mark),
                )
            }
        });
    }
    lines
}

fn mark(mark: Mark) -> String {
    format!("{}:{}:{}", mark.offset, mark.line, mark.column)
}

fn line(start: &str, end: &str, description: &str) -> String {
    // In libyaml, an event without a token has no length: a document without `---`, the end of the mapping in
    // `[key: value]`, and that of a list which is not deeper than its key.
    let has_length = !matches!(
        description,
        "document true" | "end of mapping" | "end of list"
    );
    let end = if has_length { end } else { start };
    format!("{start}-{end} {description}")
}

fn refused(phase: &str, context: Option<(&str, String)>, problem: &str, at: &str) -> String {
    let (what, start) = context.unwrap_or_default();
    format!("{phase}: {what} {start} {problem} {at}")
}

fn described(kind: &EventKind<'_>) -> String {
    match kind {
        EventKind::DocumentStart { implicit } => format!("document {implicit}"),
        EventKind::DocumentEnd { implicit } => format!("end of document {implicit}"),
        EventKind::Alias(name) => format!("alias {name}"),
        EventKind::Scalar(scalar) => {
            let style = match scalar.style {
                Style::Plain => "plain",
                Style::SingleQuoted => "single",
                Style::DoubleQuoted => "double",
                Style::Literal => "literal",
                Style::Folded => "folded",
            };
            let properties = properties(&scalar.node);
            format!(
                "scalar {properties} {:?} {style} {}",
                scalar.value, scalar.implicit
            )
        }
        EventKind::SequenceStart(node) => format!("list {}", properties(node)),
        EventKind::SequenceEnd => "end of list".to_owned(),
        EventKind::MappingStart(node) => format!("mapping {}", properties(node)),
        EventKind::MappingEnd => "end of mapping".to_owned(),
    }
}

fn properties(node: &Node<'_>) -> String {
    named(node.anchor, node.tag.as_deref())
}

fn named(anchor: Option<&str>, tag: Option<&str>) -> String {
    format!(
        "&{} !{}",
        anchor.unwrap_or_default(),
        tag.unwrap_or_default()
    )
}

/// The same by libyaml-safer; none where it panics.
fn theirs(text: &str) -> Option<Vec<String>> {
    catch_unwind(|| {
        let mut parser = Parser::new();
        parser.set_encoding(Encoding::Utf8);
        parser.set_input(text.as_bytes());
        let mut lines = Vec::new();
        loop {
            let event = match parser.parse() {
                Ok(event) => event,
                Err(error) => {
                    lines.push(their_refusal(&error));
                    return lines;
                }
            };
            let (start, end) = (their_mark(event.start_mark), their_mark(event.end_mark));
            match event.data {
                EventData::StreamStart { .. } => {}
                EventData::StreamEnd => return lines,
                data => lines.push(line(&start, &end, &their_description(data))),
            }
        }
    })
    .ok()
}

fn their_mark(mark: libyaml_safer::Mark) -> String {
    format!("{}:{}:{}", mark.index, mark.line, mark.column)
}

fn their_refusal(error: &libyaml_safer::Error) -> String {
    let phase = format!("{:?}", error.kind());
    let Some(at) = error.problem_mark() else {
        return phase;
    };
    let start = error.context_mark().map(their_mark);
    let context = error.context().zip(start);
    refused(&phase, context, error.problem(), &their_mark(at))
}

fn their_description(data: EventData) -> String {
    match data {
        EventData::DocumentStart { implicit, .. } => format!("document {implicit}"),
        EventData::DocumentEnd { implicit } => format!("end of document {implicit}"),
        EventData::Alias { anchor } => format!("alias {anchor}"),
        EventData::Scalar {
            anchor,
            tag,
            value,
            plain_implicit,
            style,
            ..
        } => {
            let style = match style {
                ScalarStyle::SingleQuoted => "single",
                ScalarStyle::DoubleQuoted => "double",
                ScalarStyle::Literal => "literal",
                ScalarStyle::Folded => "folded",
                _ => "plain",
            };
            let properties = named(anchor.as_deref(), tag.as_deref());
            format!("scalar {properties} {value:?} {style} {plain_implicit}")
        }
        EventData::SequenceStart { anchor, tag, .. } => {
            format!("list {}", named(anchor.as_deref(), tag.as_deref()))
        }
        EventData::SequenceEnd => "end of list".to_owned(),
        EventData::MappingStart { anchor, tag, .. } => {
            format!("mapping {}", named(anchor.as_deref(), tag.as_deref()))
        }
        EventData::MappingEnd => "end of mapping".to_owned(),
        EventData::StreamStart { .. } | EventData::StreamEnd => String::new(),
    }
}

/// Compare one text: true if it was accepted, and `None` if it cannot be compared.
fn compare(text: &str) -> Option<bool> {
    // libyaml-safer takes a byte order mark for a character.
    let text = text.trim_start_matches('\u{feff}');
    if has_empty_key_before_bracket(text) {
        return None;
    }
    let theirs = theirs(text)?;
    let ours = ours(text);
    assert_eq!(ours, theirs, "of {text:?}");
    Some(
        ours.last()
            .is_none_or(|line| line.contains("end of document")),
    )
}

/// True if `?` is right before `]`, as in `[a, ?]`. libyaml-safer takes the bracket for the key.
fn has_empty_key_before_bracket(text: &str) -> bool {
    text.split('?').skip(1).any(|rest| {
        let mut rest = rest.trim_start();
        while let Some(comment) = rest.strip_prefix('#') {
            rest = comment
                .split_once('\n')
                .map_or("", |(_, after)| after.trim_start());
        }
        rest.starts_with(']')
    })
}

/// Pieces that texts are put together from.
const PIECES: &[&str] = &[
    "a",
    "key",
    "two words",
    "é",
    "ü ä",
    "\u{2003}",
    "𝄞",
    "12",
    "~",
    "x#y",
    " #c",
    "# comment\n",
    ": ",
    ":",
    "- ",
    "-",
    "? ",
    "?",
    ",",
    ", ",
    "[",
    "]",
    "{",
    "}",
    "|",
    ">",
    "|-\n",
    ">+\n",
    "|2\n",
    ">-1\n",
    "| # c\n",
    "&a ",
    "*a",
    "*a ",
    "&b-1 ",
    "!",
    "! ",
    "!!str ",
    "!t ",
    "!<tag:x,1> ",
    "!e!x ",
    "%YAML 1.1\n",
    "%YAML 1.3\n",
    "%TAG !e! tag:e,1:\n",
    "%x\n",
    "---",
    "---\n",
    "--- ",
    "...\n",
    "...",
    "'",
    "''",
    "\"",
    "\\",
    "\\n",
    "\\x41",
    "\\u00e9",
    "\\\n",
    "\\ud800",
    "@",
    "`",
    "%",
    "\n",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\u{feff}",
    " ",
    " ",
    "  ",
    "    ",
    "\t",
    " \t",
    "\n  ",
    "\n    ",
    "\n- ",
    "\n  - ",
    "\na: ",
    "\n  b: ",
    "\nk:\n  ",
    "'q' ",
    "\"q\": ",
    "{a: b}",
    "[a, b]",
    "<<",
    "\u{7}",
];

/// Texts with something of everything, to be changed.
const TEXTS: &[&str] = &[
    "values:\n  port: 8080\n  names: [web, 'db', \"c\\td\"]\n  motd: |\n    Hello\n      there\n\n    you\n  last: end\n",
    "strategy: smart\nmerge_lists: true\nvalues:\n  - a: 1\n    b: {c: d, e: [f, g: h]}\n  -\n    - x\n    - y\n- z\n",
    "base: &base\n  k: v\nother:\n  <<: *base\n  long: a plain value\n    over lines\n\n    and one more\n? complex\n: value\n",
    "%YAML 1.1\n%TAG !e! tag:example.org,2024:\n---\na: !e!thing {b: !!str 1}\n...\n---\n- >-\n  folded\n  text\n\n   more\n\n- \"q\n\n  r\\\n   s\"\n",
];

fn random_text(random: &mut fastrand::Rng) -> String {
    let length = random.usize(1..24);
    (0..length)
        .map(|_| PIECES[random.usize(..PIECES.len())])
        .collect()
}

fn changed_text(random: &mut fastrand::Rng) -> String {
    let mut text = TEXTS[random.usize(..TEXTS.len())].to_owned();
    for _ in 0..random.usize(1..5) {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let Some(&at) = places.get(random.usize(..=places.len())) else {
            continue;
        };
        let piece = PIECES[random.usize(..PIECES.len())];
        match random.u8(..3) {
            0 => text.insert_str(at, piece),
            1 => drop(text.remove(at)),
            _ => {
                let rest = text.split_off(at);
                text.push_str(&rest[rest.chars().next().map_or(0, char::len_utf8)..]);
                text.insert_str(at, piece);
            }
        }
    }
    text
}

/// Texts compared by each test; a longer run sets `YAML_EVENTS_TEXTS`.
fn rounds() -> usize {
    let given = std::env::var("YAML_EVENTS_TEXTS").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(3_000)
}

fn compare_many(make: fn(&mut fastrand::Rng) -> String) {
    // Panics of the judge are expected, and say nothing.
    std::panic::set_hook(Box::new(|info| {
        if info
            .location()
            .is_some_and(|place| !place.file().contains("libyaml"))
        {
            eprintln!("{info}");
        }
    }));
    let mut random = fastrand::Rng::with_seed(3);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..rounds() {
        match compare(&make(&mut random)) {
            Some(true) => accepted += 1,
            Some(false) => refused += 1,
            None => {}
        }
    }
    println!("{accepted} accepted, {refused} refused, of {}", rounds());
    assert!(accepted > rounds() / 30, "{accepted} accepted");
    assert!(refused > rounds() / 30, "{refused} refused");
}

#[test]
fn random_texts_have_the_same_events() {
    compare_many(random_text);
}

#[test]
fn changed_texts_have_the_same_events() {
    compare_many(changed_text);
}

#[test]
fn texts_with_something_of_everything_have_the_same_events() {
    for text in TEXTS {
        compare(text);
    }
    assert_eq!(compare(TEXTS[0]), Some(true));
    assert_eq!(compare(TEXTS[3]), Some(true));
}
