//! Recording other data in a file changes only the lines that change.

use mapstack::value::{Map, Value};
use mapstack::yaml::load;
use mapstack_expect::{ExpectationForm, RecordedExpectation};
use mapstack_fleet::changes;
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn parsed(form: ExpectationForm, text: &str) -> RecordedExpectation {
    RecordedExpectation::parse(form, text, "x.yaml").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one row for each way a file is written"
)]
fn other_lines_stay_as_they_are() {
    for (form, before, data, after) in [
        // Values are replaced in their places, with the comments behind them.
        (
            ExpectationForm::Plain,
            "# head\na:   22    # why\n\"b\": {x: 1} # c\n",
            "{a: 23, b: {x: [2]}}",
            "# head\na:   23    # why\n\"b\": {x: [2]} # c\n",
        ),
        (
            ExpectationForm::Plain,
            "a: 'x # y' # c\nb: # list\n  - 1\n",
            "{a: z, b: {c: 1}}",
            "a: z # c\nb: # list\n  c: 1\n",
        ),
        // Keys are added at the end of their mapping, and removed with their lines.
        (
            ExpectationForm::Plain,
            "a:\n    b: 1\n    # of c\n    c: 2\n# of d\nd: 3\n",
            "{a: {b: 1, e: [x]}, f: 1, d: 3}",
            "a:\n    b: 1\n    # of c\n    e:\n    - x\n# of d\nd: 3\nf: 1\n",
        ),
        (
            ExpectationForm::Mapdata,
            "---\nvalues:\n  a:\n    - x # one\n    - y # two\n    # three\n    - k: 1\n      l: 2\n  b: 1\n",
            "{a: [x, z, {k: 1, l: 3}, w], b: 1}",
            "---\nvalues:\n  a:\n    - x # one\n    - z # two\n    # three\n    - k: 1\n      l: 3\n    - w\n  b: 1\n",
        ),
        (
            ExpectationForm::Plain,
            "a:\n- x\n# of y\n- y\n- z\n",
            "{a: [y, z]}",
            "a:\n# of y\n- y\n- z\n",
        ),
        // A `#` in a text is not a comment.
        (
            ExpectationForm::Plain,
            "a: |\n  x\n  # y\n\nb: |\n  # z\n",
            "{a: \"x\\n# y\\n\", b: 1, c: 2}",
            "a: |\n  x\n  # y\n\nb: 1\nc: 2\n",
        ),
        // Line ends, and a file that ends without one.
        (
            ExpectationForm::Plain,
            "a: 1 # c\r\nb:\r\n  c: 1",
            "{a: 2, b: {c: 1, d: 2}}",
            "a: 2 # c\r\nb:\r\n  c: 1\r\n  d: 2",
        ),
        // Nothing at all becomes something, and the other way round.
        (
            ExpectationForm::Plain,
            "a: # c\nb: {}\nc:\n  d: 1\n",
            "{a: 1, b: {x: 1}, c: {}}",
            "a: 1 # c\nb: {x: 1}\nc: {}\n",
        ),
        (
            ExpectationForm::Plain,
            "a:\n- [] # none\n- x # one\n",
            "{a: [[y], x]}",
            "a:\n- [y] # none\n- x # one\n",
        ),
        // Aliases and merge keys bring in values without a place: everything is written again.
        (
            ExpectationForm::Plain,
            "# head\na: &x {k: 1}\nb: *x # c\n",
            "{a: {k: 2}, b: {k: 1}}",
            "# head\na:\n  k: 2\nb:\n  k: 1\n",
        ),
        (
            ExpectationForm::Plain,
            "# head\n{a: 1, # c\n b: 2}\n",
            "{a: 1, b: 3}",
            "# head\na: 1\nb: 3\n",
        ),
    ] {
        let again = parsed(form, before).with_data(&load(data).unwrap());
        assert_eq!(again, after, "{before}");
        let (again, wanted) = (parsed(form, &again), load(data).unwrap());
        assert!(changes(&again.data, &again.settled(&wanted)).is_empty());
    }
}

/// A part of a document and how it is written.
#[derive(Debug, Clone)]
enum Node {
    /// On one line, with or without a comment behind it.
    Short(&'static str, bool),
    /// `|` or `>`, and lines.
    Text(&'static str, &'static str),
    Map(Vec<(&'static str, Node)>, Style),
    List(Vec<Node>, Style),
}

/// The indentation of a collection's content, and true if comments are before its parts.
#[derive(Debug, Clone, Copy)]
struct Style {
    indent: usize,
    comments: bool,
}

const KEYS: [&str; 7] = ["a", "bb", "'c d'", "\"e\"", "7", "yes", "x#y"];
const SHORT: [&str; 18] = [
    "1",
    "1.5",
    "yes",
    "",
    "~",
    "plain text",
    "'a: b'",
    "'x # y'",
    "\"q\\n#\"",
    "0644",
    "'0644'",
    "[1, 'two # x']",
    "{k: v, l: [3]}",
    "[]",
    "{}",
    "x#y",
    "'it''s'",
    "2024-01-01",
];

fn style() -> impl Strategy<Value = Style> {
    (1..4usize, any::<bool>()).prop_map(|(indent, comments)| Style { indent, comments })
}

fn node() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        6 => (select(&SHORT[..]), any::<bool>()).prop_map(|(text, comment)| Node::Short(text, comment)),
        1 => (select(&["|", ">", "|-", "|+"][..]), select(&["x", "x\n# y", "x\n\n  y"][..]))
            .prop_map(|(head, text)| Node::Text(head, text)),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            2 => map(inner.clone()),
            1 => (proptest::collection::vec(inner, 1..4), style())
                .prop_map(|(items, style)| Node::List(items, style)),
        ]
    })
}

fn map(inner: impl Strategy<Value = Node>) -> impl Strategy<Value = Node> {
    let keys = proptest::sample::subsequence(&KEYS[..], 1..5);
    (keys, proptest::collection::vec(inner, 5), style())
        .prop_map(|(keys, values, style)| Node::Map(keys.into_iter().zip(values).collect(), style))
}

impl Node {
    /// Write the node behind a key or a dash at column `at`.
    fn write(&self, at: usize, text: &mut String) {
        let comment = |own: &Style, at: usize, text: &mut String| {
            if own.comments {
                let number = text.len();
                text.push_str(&format!("{:at$}# comment {number}\n", ""));
            }
        };
        match self {
            Node::Short(own, has_comment) => {
                let comment = if *has_comment { " # behind" } else { "" };
                text.push_str(&format!(" {own}{comment}\n"));
            }
            Node::Text(head, lines) => {
                text.push_str(&format!(" {head}\n"));
                for line in lines.lines() {
                    text.push_str(&format!("{:1$}{line}\n", "", at + 1));
                }
            }
            Node::Map(entries, style) => {
                text.push('\n');
                let at = at + style.indent;
                for (key, value) in entries {
                    comment(style, at, text);
                    text.push_str(&format!("{:at$}{key}:", ""));
                    value.write(at, text);
                }
            }
            Node::List(items, style) => {
                text.push('\n');
                let at = at + style.indent;
                for item in items {
                    comment(style, at, text);
                    text.push_str(&format!("{:at$}-", ""));
                    item.write(at, text);
                }
            }
        }
    }

    /// The text of a document.
    fn document(&self) -> String {
        let mut text = String::from("top:");
        self.write(0, &mut text);
        format!("{text}# last\n")
    }
}

/// A value in which some parts are those of another.
fn mixed(one: &Value, other: &Value, choices: &mut impl Iterator<Item = usize>) -> Value {
    let choice = choices.next().unwrap_or_default();
    match (one, other) {
        (Value::Map(map), Value::Map(others)) => {
            let mut mixed = Map::new();
            for (key, value) in map {
                match choices.next().unwrap_or_default() {
                    0 => {}
                    1..3 => {
                        let other = others.get(key).or_else(|| others.values().next());
                        mixed.insert(
                            key.clone(),
                            self::mixed(value, other.unwrap_or(value), choices),
                        );
                    }
                    _ => drop(mixed.insert(key.clone(), value.clone())),
                }
            }
            for (key, value) in others {
                if choices.next().unwrap_or_default() < 2 && !map.contains_key(key) {
                    mixed.insert(key.clone(), value.clone());
                }
            }
            mixed.into()
        }
        (Value::List(items), Value::List(others)) if choice > 2 => {
            let kept = items.iter().filter(|_| choices.next() != Some(0));
            kept.chain(others.iter().take(1)).cloned().collect()
        }
        _ if choice > 3 => one.clone(),
        _ => other.clone(),
    }
}

/// The lines of each key of the mapping `top`.
fn chunks(recorded: &RecordedExpectation, text: &str) -> Vec<(Value, String)> {
    let Some(Value::Map(top)) = recorded.data.as_map().and_then(|map| map.get("top")) else {
        return Vec::new();
    };
    let (_, marks) = mapstack::yaml::load_marked(text, &mapstack::yaml::Limits::default()).unwrap();
    let marks = marks.child(0).unwrap();
    let line = |index: usize| marks.key(index).map(|mark| mark.line as usize - 1);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let chunk = |index: usize| {
        let own = &lines[line(index).unwrap()..line(index + 1).unwrap_or(lines.len() - 1)];
        own.concat()
    };
    let keys = top.keys().enumerate();
    keys.map(|(index, key)| (key.to_value(), chunk(index)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn edited_files_say_what_is_wanted(
        one in map(node()),
        other in map(node()),
        choices in proptest::collection::vec(any::<Index>(), 40),
    ) {
        let text = one.document();
        let recorded = parsed(ExpectationForm::Plain, &text);
        let other = load(&other.document()).unwrap();
        let mut choices = choices.iter().map(|index| index.index(6));
        let top_of = |value: &Value| value.as_map().and_then(|map| map.get("top")).cloned().unwrap_or_default();
        let top = mixed(&top_of(&recorded.data), &top_of(&other), &mut choices);
        let wanted: Value = Map::from_iter([("top", top.clone()), ("added", 1.into())]).into();
        let again = recorded.with_data(&recorded.settled(&wanted));
        let read = parsed(ExpectationForm::Plain, &again);
        let found = changes(&read.data, &read.settled(&wanted));
        prop_assert!(found.is_empty(), "{found:?}\n{text}\n{again}");
        prop_assert!(again.contains("# last\n"), "{text}\n{again}");
        // The keys that stay have their lines, with the comments before the next key.
        let (Some(Value::Map(before)), Value::Map(after)) = (recorded.data.as_map().and_then(|map| map.get("top")), &top) else {
            return Ok(());
        };
        for (key, lines) in chunks(&recorded, &text) {
            let same = before.iter().find(|(own, _)| own.to_value().is_same(&key)).is_some_and(|(own, value)| {
                after.get(own).is_some_and(|now| changes(value, now).is_empty())
            });
            prop_assert!(!same || again.contains(lines.trim_end()), "{lines}\n{text}\n{again}");
        }
    }
}
