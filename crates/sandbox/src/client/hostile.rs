//! Streams that are not what the protocol says, to the command and to the real program: neither is hurt.

use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use crate::protocol::{
    Bounds, Chunk, CommandAnswer, CompileJob, Compiled, FailureKind, Job, JobFailure, JobOutcome,
    JobUsage, Language, Lookup, Message, ModuleJob, SessionMessage, Span, TemplateJob, TracedText,
    Unit, UnitSource, UnitSpan, write_frame,
};
use fastrand::Rng;
use mapstack_value::Value;

use super::process::{Process, Session};
use super::session::JobSession;
use super::{Limits, NoHost, find};

const STREAMS: usize = 1000;
const TIMEOUT: Duration = Duration::from_secs(20);

fn limits() -> Limits {
    Limits {
        fuel: 10_000,
        output: 1 << 20,
        depth: 100,
        time: Duration::from_secs(5),
        memory: 256 << 20,
    }
}

fn bounds() -> Bounds {
    Bounds {
        fuel: 10_000,
        output: 1 << 20,
        depth: 100,
        time: 1_000,
        memory: 256 << 20,
    }
}

fn job() -> TemplateJob {
    TemplateJob {
        source: "${a}: ${b['c']}\n".into(),
        name: Some("t.mako".into()),
        uri: None,
        strict: true,
        lookup: Lookup::Salt,
        variables: vec![
            ("a".into(), Value::from(1)),
            ("b".into(), Value::from_iter(["x", "y"])),
        ],
        functions: vec!["salt".into()],
        changed: vec!["b".into()],
        is_pure: false,
        compiled: None,
    }
}

/// The messages that a program may send in a session.
fn said() -> Vec<Vec<u8>> {
    let units = vec![Unit {
        name: Some("t.mako".into()),
        source: UnitSource::Job,
    }];
    let place = UnitSpan {
        unit: 0,
        span: Span { start: 0, end: 4 },
    };
    let printed = TracedText {
        text: "1: x\n".to_owned(),
        units: units.clone(),
        chunks: vec![Chunk {
            start: 0,
            place,
            exact: false,
        }],
    };
    let failure = JobFailure {
        kind: FailureKind::Refused(0),
        message: "m".to_owned(),
        help: None,
        units,
        place: Some(place),
        trace: vec![("in 'f'".to_owned(), place)],
    };
    let changed = vec![("b".into(), Value::from(2))];
    let done = |outcome| SessionMessage::Done(Box::new(outcome), JobUsage::default()).to_bytes();
    vec![
        SessionMessage::HasFunction("f".to_owned()).to_bytes(),
        SessionMessage::Template("u".to_owned()).to_bytes(),
        SessionMessage::Call("f".to_owned(), vec![Value::from(1)], Vec::new()).to_bytes(),
        done(JobOutcome::Text {
            printed,
            changed: changed.clone(),
        }),
        done(JobOutcome::Failed { failure, changed }),
        done(JobOutcome::Compiled(Compiled {
            code: [1, 2, 3].into(),
            purity: None,
            plan: None,
        })),
    ]
}

/// The messages that a command may send in a session, behind the bounds.
fn asked() -> Vec<Vec<u8>> {
    let module = ModuleJob {
        source: "def run():\n    return salt['f'](1)\n".into(),
        name: None,
        variables: vec![("a".into(), Value::from(1))],
        changed: Vec::new(),
        is_pure: false,
        compiled: None,
    };
    let compile = CompileJob {
        language: Language::Mako,
        source: "${a}".into(),
        name: None,
        strict: false,
    };
    let compiled = TemplateJob {
        compiled: Some(vec![0x93, 0xc4, 2, 1, 2, 0x90, 0x90].into()),
        ..job()
    };
    vec![
        Job::Template(job()).to_bytes(),
        Job::Template(compiled).to_bytes(),
        Job::Module(module).to_bytes(),
        Job::Compile(compile).to_bytes(),
        CommandAnswer::Flag(true).to_bytes(),
        CommandAnswer::Value(Ok(Value::from(1))).to_bytes(),
    ]
}

/// Some messages in a row as a stream, with bytes changed, cut or put in, lengths among them.
fn stream(rng: &mut Rng, messages: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..rng.usize(1..5) {
        write_frame(&mut bytes, &messages[rng.usize(..messages.len())]).unwrap();
    }
    // Some are left as they are, so that what comes after them is reached.
    for _ in 0..rng.usize(..4) {
        let at = rng.usize(..=bytes.len());
        match rng.u8(..4) {
            0 if at < bytes.len() => bytes[at] = rng.u8(..),
            1 => bytes.truncate(at),
            2 => bytes.insert(at, rng.choice([0xdd, 0xdf, 0xc6, 0xdb, 0xff, 0]).unwrap()),
            _ => bytes.extend((0..rng.usize(..20)).map(|_| rng.u8(..))),
        }
    }
    bytes
}

#[test]
fn a_program_that_says_anything_does_not_hurt_the_command() {
    let (messages, mut rng) = (said(), Rng::with_seed(1));
    let (limits, job) = (limits(), Job::Template(job()));
    let mut understood = 0;
    for _ in 0..STREAMS {
        let bytes = stream(&mut rng, &messages);
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let said = thread::spawn(move || {
            let _ = theirs.write_all(&bytes);
            let _ = theirs.shutdown(Shutdown::Write);
            // Read the command's messages, so that it need not wait.
            let _ = std::io::copy(&mut theirs, &mut std::io::sink());
        });
        let mut talk = JobSession::new(&NoHost, &limits, &job);
        let outcome = talk.speak(&mut Session::over(ours));
        understood += usize::from(outcome.is_ok_and(|done| talk.outcome(done).is_ok()));
        said.join().unwrap();
    }
    assert!(
        understood > 0,
        "no stream was a conversation, so this shows little"
    );
    assert!(
        understood < STREAMS / 2,
        "{understood} were, so this shows little"
    );
}

#[test]
fn a_command_that_says_anything_does_not_hurt_the_program() {
    let (messages, mut rng) = (asked(), Rng::with_seed(2));
    let mut process = Process::start(&find::find().unwrap(), false).unwrap();
    let mut answered = 0;
    for number in 0..STREAMS {
        let bytes = stream(&mut rng, &messages);
        let mut session = process.session().unwrap();
        // One in ten has other bounds than there are.
        if number % 10 != 0 {
            session.write(&[bounds().to_bytes()], TIMEOUT).unwrap();
        }
        session.hang_up_after(&bytes);
        while let Ok(frame) = session.read(TIMEOUT) {
            answered += usize::from(SessionMessage::from_bytes(&frame).is_ok());
        }
        assert!(
            process.learn_end().is_some(),
            "the program ended in stream {number}"
        );
    }
    assert!(answered > STREAMS / 20, "{answered} answers show little");
    // It is as good as new.
    let mut session = process.session().unwrap();
    session
        .write(
            &[bounds().to_bytes(), Job::Template(job()).to_bytes()],
            TIMEOUT,
        )
        .unwrap();
    let said = SessionMessage::from_bytes(&session.read(TIMEOUT).unwrap()).unwrap();
    assert!(matches!(said, SessionMessage::Done(..)), "{said:?}");
}
