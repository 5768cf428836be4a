//! Any bytes from the other side: a decoder refuses what is not a message, and reads what is one.

use std::sync::Arc;

use mapstack_sandbox::protocol::{
    Bounds, Chunk, CommandAnswer, Comparison, CompileJob, Compiled, CompiledTemplate, Control,
    DecodeError, FailureKind, FrameError, FunctionAnswer, FunctionFiles, FunctionJob, Hello,
    HelloError, Job, JobFailure, JobOutcome, JobUsage, Language, Loader, Lookup, LookupExpr,
    MAX_FRAME, Message, ModuleJob, NotedPlace, PlanStep, ProgramReport, Purity, Refusal,
    RefusalKind, RenderJob, SandboxPart, SessionEnd, SessionMessage, Span, TemplateJob,
    TemplatePlan, TemplateSource, TracedText, Unit, UnitSource, UnitSpan, VERSION, read_frame,
    write_frame,
};
use mapstack_value::{Int, Key, Map, MapKind, Value};
use proptest::prelude::*;

fn key() -> impl Strategy<Value = Key> {
    let leaf = prop_oneof![
        Just(Key::None),
        any::<bool>().prop_map(Key::Bool),
        int().prop_map(Key::Int),
        any::<f64>()
            .prop_filter("a nan is not equal to itself", |f| !f.is_nan())
            .prop_map(Key::Float),
        ".{0,8}".prop_map(|text| Key::Str(text.into())),
        prop::collection::vec(any::<u8>(), 0..8).prop_map(|bytes| Key::Bytes(bytes.into())),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop::collection::vec(inner, 0..3).prop_map(|items| Key::Tuple(items.into()))
    })
}

fn int() -> impl Strategy<Value = Int> {
    let big = "-?[1-9a-f][0-9a-f]{0,40}"
        .prop_map(|digits| Int::from_str_radix(&digits, 16).expect("digits"));
    prop_oneof![any::<i64>().prop_map(Int::from), big]
}

fn value() -> impl Strategy<Value = Value> {
    key()
        .prop_map(|key| key.to_value())
        .prop_recursive(4, 64, 6, |inner| {
            let kind = prop_oneof![
                Just(MapKind::Dict),
                Just(MapKind::Ordered),
                Just(MapKind::Aggregate),
                Just(MapKind::Bunch)
            ];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6)
                    .prop_map(|items| Value::List(items.into())),
                prop::collection::vec(inner.clone(), 0..6)
                    .prop_map(|items| Value::Tuple(items.into())),
                prop::collection::vec(key(), 0..6)
                    .prop_map(|items| Value::Set(items.into_iter().collect())),
                (prop::collection::vec((key(), inner), 0..6), kind).prop_map(|(entries, kind)| {
                    Value::Map(entries.into_iter().collect::<Map>().with_kind(kind))
                }),
            ]
        })
}

fn round<M: Message + PartialEq + std::fmt::Debug>(message: &M) -> Result<(), TestCaseError> {
    let bytes = message.to_bytes();
    prop_assert_eq!(
        &M::from_bytes(&bytes).map_err(|e: DecodeError| TestCaseError::fail(e.to_string()))?,
        message
    );
    // Every shorter text is refused, and so is a longer one.
    for end in 0..bytes.len() {
        prop_assert!(M::from_bytes(&bytes[..end]).is_err());
    }
    let longer = [&bytes[..], &[0xc0]].concat();
    prop_assert!(M::from_bytes(&longer).is_err());
    Ok(())
}

/// Read bytes as everything that either side says.
fn read_all(bytes: &[u8]) {
    let _ = SessionMessage::from_bytes(bytes);
    let _ = CommandAnswer::from_bytes(bytes);
    let _ = Job::from_bytes(bytes);
    let _ = ProgramReport::from_bytes(bytes);
    let _ = Control::from_bytes(bytes);
    let _ = Bounds::from_bytes(bytes);
    let _ = CompiledTemplate::from_bytes(bytes);
    let _ = Hello::from_bytes(bytes);
    let mut stream = bytes;
    while let Ok(frame) = read_frame(&mut stream) {
        let _ = SessionMessage::from_bytes(&frame);
    }
}

#[expect(clippy::too_many_lines, reason = "one message of each kind")]
fn said() -> Vec<Vec<u8>> {
    let units = vec![
        Unit {
            name: Some("t".into()),
            source: UnitSource::Job,
        },
        Unit {
            name: None,
            source: UnitSource::Text("x".into()),
        },
    ];
    let place = UnitSpan {
        unit: 1,
        span: Span { start: 2, end: 9 },
    };
    let printed = TracedText {
        text: "text".to_owned(),
        units: units.clone(),
        chunks: vec![Chunk {
            start: 1,
            place,
            exact: true,
        }],
    };
    let failure = JobFailure {
        kind: FailureKind::Raised("KeyError".to_owned()),
        message: "m".to_owned(),
        help: Some("h".to_owned()),
        units,
        place: Some(place),
        trace: vec![("in 'f'".to_owned(), place)],
    };
    let value = Value::from_iter([Value::from(1), Value::map(), Value::from("x")]);
    let names = vec![(Arc::from("n"), value.clone())];
    let done = |outcome| SessionMessage::Done(Box::new(outcome), JobUsage::default()).to_bytes();
    vec![
        SessionMessage::Template("u".to_owned()).to_bytes(),
        SessionMessage::Call("f".to_owned(), vec![value.clone()], names.clone()).to_bytes(),
        SessionMessage::Find(Loader::Modules, "m.f".to_owned()).to_bytes(),
        SessionMessage::Fact("__grains__".to_owned()).to_bytes(),
        done(JobOutcome::Function {
            answer: FunctionAnswer::Value(value.clone()),
            changed: vec![(1, value.clone())],
        }),
        done(JobOutcome::Function {
            answer: FunctionAnswer::Text("x: 1".to_owned()),
            changed: vec![],
        }),
        done(JobOutcome::Function {
            answer: FunctionAnswer::Names(vec!["f".into()]),
            changed: Vec::new(),
        }),
        done(JobOutcome::Function {
            answer: FunctionAnswer::Missing(Some("why".to_owned())),
            changed: Vec::new(),
        }),
        done(JobOutcome::Value {
            value,
            changed: names.clone(),
        }),
        done(JobOutcome::Text {
            printed,
            changed: names.clone(),
        }),
        done(JobOutcome::Failed {
            failure,
            changed: names,
        }),
        done(JobOutcome::Compiled(Compiled {
            code: Arc::from(&b"code"[..]),
            purity: Some(Purity {
                required: vec!["a".into()],
                optional: vec!["len".into()],
            }),
            plan: Some(plan()),
        })),
        ProgramReport::Ended(SessionEnd {
            status: None,
            signal: Some(9),
            said: "s".to_owned(),
            noted: Some(NotedPlace {
                sent: Some(1),
                span: Span { start: 2, end: 3 },
            }),
        })
        .to_bytes(),
    ]
}

/// A plan with every kind of step and expression.
fn plan() -> TemplatePlan {
    let one = || LookupExpr::Variable(0);
    let two = || Box::new([one(), LookupExpr::Value(Value::from(1))]);
    let looks = vec![
        LookupExpr::Item(two()),
        LookupExpr::Slice(Box::new([one(), one(), one()])),
        LookupExpr::Call {
            of: Box::new(one()),
            method: 1,
            arguments: vec![one()],
        },
        LookupExpr::Compare(Comparison::NotIn, two()),
        LookupExpr::IsNone(Box::new(one())),
        LookupExpr::Not(Box::new(one())),
        LookupExpr::And(vec![one()]),
        LookupExpr::Or(vec![one(), one()]),
        LookupExpr::Choice(Box::new([one(), one(), one()])),
        LookupExpr::Sum(two()),
    ];
    let print = |what| PlanStep::Print {
        what,
        span: Span { start: 0, end: 1 },
        exact: true,
    };
    let body: Vec<PlanStep> = looks.into_iter().map(print).collect();
    TemplatePlan {
        given: vec!["a".into()],
        variables: 2,
        steps: vec![
            PlanStep::For {
                variable: 1,
                items: one(),
                body: body.clone(),
            },
            PlanStep::If {
                test: one(),
                then: body,
                otherwise: Vec::new(),
            },
        ],
    }
}

#[expect(clippy::too_many_lines, reason = "one message of each kind")]
fn answers(value: &Value) -> Vec<Vec<u8>> {
    let refusal = Refusal {
        number: 7,
        kind: RefusalKind::Forbidden,
        message: "m".to_owned(),
    };
    vec![
        CommandAnswer::Value(Ok(value.clone())).to_bytes(),
        CommandAnswer::Value(Err(refusal.clone())).to_bytes(),
        CommandAnswer::Template(Err(refusal.clone())).to_bytes(),
        CommandAnswer::Found(Err(Refusal {
            kind: RefusalKind::Unanswered,
            ..refusal
        }))
        .to_bytes(),
        CommandAnswer::Found(Ok(FunctionFiles {
            sources: vec![TemplateSource {
                name: "_modules/n.py".into(),
                text: "t".into(),
            }],
            is_known: true,
        }))
        .to_bytes(),
        Job::Render(RenderJob {
            renderer: Some("own".into()),
            source: "x: 1".into(),
            name: Some("a.sls".into()),
            data: Some(value.clone()),
            saltenv: "base".into(),
            sls: "a".into(),
            keywords: vec![("k".into(), value.clone())],
        })
        .to_bytes(),
        Job::Function(FunctionJob {
            loader: Loader::Utils,
            module: "m".into(),
            function: Some("f".into()),
            arguments: vec![value.clone()],
            keywords: vec![("k".into(), value.clone())],
        })
        .to_bytes(),
        CommandAnswer::Template(Ok(Some(TemplateSource {
            name: "n".into(),
            text: "t".into(),
        })))
        .to_bytes(),
        Job::Module(ModuleJob {
            source: "s".into(),
            name: None,
            variables: vec![("v".into(), value.clone())],
            changed: vec!["v".into()],
            is_pure: true,
            compiled: Some(Arc::from(&b"code"[..])),
        })
        .to_bytes(),
        Job::Template(TemplateJob {
            source: "s".into(),
            name: Some("n".into()),
            uri: None,
            strict: true,
            lookup: Lookup::Salt,
            variables: vec![("v".into(), value.clone())],
            functions: vec!["salt".into()],
            changed: Vec::new(),
            is_pure: true,
            compiled: Some(Arc::from(&b"code"[..])),
        })
        .to_bytes(),
        Job::Compile(CompileJob {
            language: Language::Python,
            source: "s".into(),
            name: None,
            strict: false,
        })
        .to_bytes(),
    ]
}

/// Change, insert, remove or repeat bytes.
fn mutated(bytes: &[u8], changes: &[(usize, u8, u8)]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (at, byte, how) in changes {
        let at = at % (bytes.len() + 1);
        match how % 4 {
            0 if at < bytes.len() => bytes[at] = *byte,
            1 if at < bytes.len() => drop(bytes.remove(at)),
            2 => bytes.truncate(at),
            _ => bytes.insert(at, *byte),
        }
    }
    bytes
}

fn changes() -> impl Strategy<Value = Vec<(usize, u8, u8)>> {
    // Bytes that begin something large are likelier than others.
    let byte = prop_oneof![
        any::<u8>(),
        prop::sample::select(vec![0xd4, 0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0xc6, 0xc9, 0xff])
    ];
    prop::collection::vec((any::<usize>(), byte, any::<u8>()), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn values_cross_with_their_types(value in value()) {
        round(&value)?;
        let back = Value::from_bytes(&value.to_bytes()).unwrap();
        prop_assert!(back.is_same(&value), "{} {}", back.repr(), value.repr());
    }

    #[test]
    fn a_hostile_program_is_refused(which in any::<usize>(), changes in changes()) {
        let said = said();
        read_all(&mutated(&said[which % said.len()], &changes));
    }

    #[test]
    fn a_hostile_command_is_refused(which in any::<usize>(), changes in changes(), value in value()) {
        let answers = answers(&value);
        read_all(&mutated(&answers[which % answers.len()], &changes));
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        read_all(&bytes);
    }
}

#[test]
fn what_is_announced_takes_no_memory() {
    // A list, a mapping, bytes and a text of four thousand million parts each.
    for start in [0xdd, 0xdf, 0xc6, 0xdb] {
        let bytes = [start, 0xff, 0xff, 0xff, 0xff, 0xc0];
        assert_eq!(
            Value::from_bytes(&bytes).unwrap_err().what,
            "the message ends too early"
        );
    }
    let mut frame = u32::MAX.to_le_bytes().to_vec();
    frame.push(0);
    assert!(matches!(
        read_frame(&mut &frame[..]),
        Err(FrameError::TooLong(_))
    ));
    let cut = u32::try_from(MAX_FRAME).unwrap().to_le_bytes();
    assert!(matches!(read_frame(&mut &cut[..]), Err(FrameError::Cut)));
}

#[test]
fn depth_and_number_are_bounded() {
    let mut nested = vec![0x91; 100_000];
    nested.push(0xc0);
    assert_eq!(
        Value::from_bytes(&nested).unwrap_err().what,
        "the value is nested too deeply"
    );
    let mut many = vec![0xdd, 0, 0x80, 0, 0];
    many.extend(std::iter::repeat_n(0xc0, 0x80_0000));
    assert_eq!(
        Value::from_bytes(&many).unwrap_err().what,
        "the message has too many values"
    );
}

#[test]
fn what_cannot_be_is_refused() {
    // A mapping as a key; an unknown extension; a chunk before the one before it.
    for bytes in [
        &[0x81, 0x80, 0xc0][..],
        &[0xd4, 0x63, 0],
        &[0xd4, 1, 0, 0xa1, b'z'],
        &[0xc1],
    ] {
        assert!(Value::from_bytes(bytes).is_err(), "{bytes:?}");
    }
    let place = |unit| UnitSpan {
        unit,
        span: Span { start: 0, end: 0 },
    };
    let text = |chunks| {
        let units = vec![Unit {
            name: None,
            source: UnitSource::Job,
        }];
        TracedText {
            text: "\u{fc}b".to_owned(),
            units,
            chunks,
        }
    };
    let chunk = |start, unit| Chunk {
        start,
        place: place(unit),
        exact: false,
    };
    for (printed, why) in [
        (
            text(vec![chunk(2, 0), chunk(0, 0)]),
            "a chunk starts where none can",
        ),
        (text(vec![chunk(1, 0)]), "a chunk starts where none can"),
        (text(vec![chunk(9, 0)]), "a chunk starts where none can"),
        (text(vec![chunk(0, 1)]), "a place is in no source"),
    ] {
        assert_eq!(
            TracedText::from_bytes(&printed.to_bytes())
                .unwrap_err()
                .what,
            why
        );
    }
}

#[test]
fn another_version_is_distinguished_from_another_program() {
    let hello = Hello {
        release: "1.2.3".to_owned(),
        walls: vec![SandboxPart {
            name: "w".to_owned(),
            missing: Some("m".to_owned()),
        }],
    };
    assert_eq!(Hello::from_bytes(&hello.to_bytes()), Ok(hello.clone()));
    assert_eq!(
        Hello::from_bytes(&hello.to_bytes_of(VERSION + 1)),
        Err(HelloError::Version(VERSION + 1))
    );
    assert_eq!(
        Hello::from_bytes(b"Python 3.11.2"),
        Err(HelloError::Stranger)
    );
}

#[test]
fn frames_come_as_they_were_written() {
    let mut stream = Vec::new();
    let messages = [Vec::new(), vec![1, 2, 3], vec![7; 200_000]];
    for message in &messages {
        write_frame(&mut stream, message).unwrap();
    }
    let mut rest = &stream[..];
    for message in &messages {
        assert_eq!(read_frame(&mut rest).unwrap(), *message);
    }
    assert!(matches!(read_frame(&mut rest), Err(FrameError::Closed)));
    assert!(matches!(
        read_frame(&mut &stream[..2]),
        Err(FrameError::Cut)
    ));
}
