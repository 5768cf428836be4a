//! Interpreters: which jobs share one.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use mapstack_pyobject::Result;

use super::lost::{LostJob, STARTS};
use super::{Limits, Process, Session, find, policy};

/// The interpreter of one minion's templates, for as long as its run lasts.
///
/// No other minion's templates have touched it, and none will. Of one minion's templates, those share a process that
/// neither leave anything in an interpreter nor see what is there; each of the others has a process to itself.
///
/// ```no_run
/// use mapstack_salt_jinja::{NoHost, request};
/// use mapstack_sandbox::mako::{MakoOptions, render_as};
/// use mapstack_sandbox::Interpreter;
/// let interpreter = Interpreter::new();
/// for source in ["${1 + 1}", "${'a'.upper()}"] {
///     render_as(&request(source, &NoHost), MakoOptions::stack(), None, &[], &interpreter).unwrap();
/// }
/// ```
#[derive(Debug)]
pub struct Interpreter(u64);

impl Interpreter {
    /// An interpreter that nothing has run in. The program is started when the first job needs it.
    #[must_use]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Interpreter(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Default for Interpreter {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Interpreter {
    /// End the interpreter's sessions, so that the programs prepare the next ones meanwhile.
    fn drop(&mut self) {
        // If the thread is ending, its programs end, too.
        let _ = PROGRAMS.try_with(|programs| {
            for program in programs.borrow_mut().iter_mut() {
                if program.is_shared_by(self) {
                    program.end();
                }
            }
        });
    }
}

/// A process that several jobs share has this fraction of the memory that a job may have. A job that fails there is
/// repeated in a separate process, which has all of it, so no job fails because of the others.
const SHARE: usize = 2;

/// A program, and the session that is open for further jobs.
pub(super) struct Program {
    pub(super) process: Process,
    shared: Option<SharedProcesses>,
    is_usable: bool,
}

struct SharedProcesses {
    owner: u64,
    session: Session,
    memory: usize,
}

thread_local! {
    static PROGRAMS: RefCell<Vec<Program>> = const { RefCell::new(Vec::new()) };
}

/// A session for a job, and whether others shared or will share it.
pub(super) struct OpenedSession {
    pub(super) program: Program,
    pub(super) session: Session,
    pub(super) shared: Option<Sharing>,
}

/// Who shares a session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sharing {
    owner: u64,
    /// The bytes that the session may add to the memory.
    pub(super) memory: usize,
}

impl Program {
    fn is_shared_by(&self, interpreter: &Interpreter) -> bool {
        self.shared
            .as_ref()
            .is_some_and(|shared| shared.owner == interpreter.0)
    }

    /// End the session that is open, if there is one.
    fn end(&mut self) {
        if self.shared.take().is_some() {
            self.is_usable = self.process.end();
        }
    }

    /// Keep the program for the next job.
    pub(super) fn keep(self) {
        // If the thread is ending, the program ends, too.
        let _ = PROGRAMS.try_with(|programs| programs.borrow_mut().push(self));
    }

    pub(super) fn new(process: Process) -> Self {
        Program {
            process,
            shared: None,
            is_usable: true,
        }
    }
}

/// An idle program, or a new one, whatever its sandbox. `is_for_all`: its job needs more than templates do. A program
/// with this interpreter's session is preferred.
pub(super) fn program(interpreter: &Interpreter, is_for_all: bool) -> Result<Program> {
    let idle = PROGRAMS.with_borrow_mut(|programs| {
        programs.retain(|program| program.is_usable);
        let own = programs
            .iter()
            .position(|program| program.is_shared_by(interpreter));
        let free = || {
            programs
                .iter()
                .rposition(|program| program.shared.is_none())
        };
        let at = own.or_else(free).or(programs.len().checked_sub(1))?;
        Some(programs.swap_remove(at))
    });
    if let Some(program) = idle {
        return Ok(program);
    }
    let path = find::find()?;
    let mut starts = 1;
    loop {
        match Process::start(&path, is_for_all) {
            // It was killed from outside.
            Err(LostJob::Ended(_)) if starts < STARTS => starts += 1,
            started => return started.map(Program::new).map_err(LostJob::without_job),
        }
    }
}

/// Open a session in a program with the required sandbox, or reuse the session that the interpreter's jobs
/// share. `is_pure`: the job needs no more than templates do.
pub(super) fn open(
    interpreter: &Interpreter,
    shares: bool,
    is_pure: bool,
    limits: &Limits,
) -> Result<std::result::Result<OpenedSession, (Program, LostJob)>> {
    let mut program = program(interpreter, !is_pure)?;
    policy::check(&program.process.hello)?;
    let memory = limits.memory / SHARE;
    if shares && program.is_shared_by(interpreter) {
        // A sandbox cannot be changed once it is set up.
        match program.shared.take() {
            Some(shared) if shared.memory <= limits.memory => {
                let sharing = Sharing {
                    owner: shared.owner,
                    memory: shared.memory,
                };
                return Ok(Ok(OpenedSession {
                    program,
                    session: shared.session,
                    shared: Some(sharing),
                }));
            }
            shared => program.shared = shared,
        }
    }
    program.end();
    if !is_pure && let Err(lost) = program.process.prepare_for_all() {
        return Ok(Err((program, lost)));
    }
    let shared = shares.then_some(Sharing {
        owner: interpreter.0,
        memory,
    });
    Ok(match program.process.session() {
        Ok(session) => Ok(OpenedSession {
            program,
            session,
            shared,
        }),
        Err(lost) => Err((program, lost)),
    })
}

impl OpenedSession {
    /// The job is done; the session stays open for the next one if it is shared, and ends otherwise.
    pub(super) fn done(self) {
        let OpenedSession {
            mut program,
            session,
            shared,
        } = self;
        match shared {
            Some(Sharing { owner, memory }) => {
                program.shared = Some(SharedProcesses {
                    owner,
                    session,
                    memory,
                });
                program.keep();
            }
            None => {
                drop(session);
                if program.process.end() {
                    program.keep();
                }
            }
        }
    }
}

#[cfg(all(unix, test))]
mod tests {
    use mapstack_pyobject::Obj;
    use mapstack_value::{Map, Value};

    use super::*;
    use crate::client::bridge::CompiledJob;
    use crate::client::mako::MakoOptions;
    use crate::client::run_as;
    use mapstack_salt_jinja::{NoHost, request};

    const GRAINS: &str = "__grains__";

    /// Run a template or a module; true if the session stays open for others, and the outcome.
    fn ran(source: &str, interpreter: &Interpreter) -> (bool, std::result::Result<String, String>) {
        let mut request = request(source, &NoHost);
        let grains = Map::from_iter([("os", "Debian")]);
        request
            .variables
            .insert(GRAINS.into(), Obj::from(Value::Map(grains)));
        request
            .variables
            .insert("minion_id".into(), Obj::from("web1"));
        let made = if source.contains("def run()") {
            run_as(&request, &[], interpreter).map(|(value, _)| value.repr())
        } else {
            CompiledJob::of(&request, MakoOptions::stack(), None, interpreter)
                .and_then(|asked| asked.interpreted(&[]).0)
                .map(|it| it.text)
        };
        let is_open = PROGRAMS.with_borrow(|programs| {
            programs
                .iter()
                .any(|program| program.is_shared_by(interpreter))
        });
        (is_open, made.map_err(|error| error.message.clone()))
    }

    #[test]
    fn code_that_computes_shares_a_session() {
        let interpreter = Interpreter::new();
        for (source, expected) in [
            ("${minion_id}", "web1"),
            ("${minion_id.upper()[:2]}${__grains__['os']}", "WEDebian"),
            ("${__grains__.get('nosuch', 'none') | trim, h}", "none"),
            (
                "${'{:>5}'.format(minion_id)}${'%s' % 1}${f'{1 + 1}'}",
                " web112",
            ),
            (
                "% if minion_id.startswith('web'):\nyes\n% else:\nno\n% endif\n",
                "yes\n",
            ),
            (
                "% for x in sorted([2, 1]):\n${loop.index}${x}\n% endfor\n",
                "01\n12\n",
            ),
            (
                "<% x = {}\nx['a'] = [y * 2 for y in range(3)]\nx['a'].append(1) %>${x}",
                "{'a': [0, 2, 4, 1]}",
            ),
            ("<%\ndef f(n):\n    return n and f(n - 1)\n%>${f(3)}", "0"),
            (
                "<%!\nimport json\nfrom re import sub\n%>${json.dumps({'a': sub('b', 'c', 'ab')})}",
                "{\"a\": \"ac\"}",
            ),
            (
                "<%def name=\"twice(x)\">${x}${x}</%def>${twice(minion_id)}",
                "web1web1",
            ),
            (
                "<%\ntry:\n    x = {}['a']\nexcept KeyError:\n    x = 'caught'\n%>${x}",
                "caught",
            ),
            ("${(lambda a, b=2: a + b)(1)}", "3"),
            (
                "import re\nX = 2\ndef run():\n    return {'a': X, 'os': __grains__['os'].lower()}\n",
                "{'a': 2, 'os': 'debian'}",
            ),
        ] {
            assert_eq!(
                ran(source, &interpreter),
                (true, Ok(expected.to_owned())),
                "{source}"
            );
        }
    }

    /// Objects that other code could find again, and ways to them.
    #[test]
    fn code_that_reaches_the_interpreter_has_a_session_to_itself() {
        for source in [
            // Modules, classes and what they keep.
            "<% import json\njson.x = 1 %>",
            "<% import json as j\nj.dumps.x = 1 %>",
            "<% import sys %>${len(sys.modules)}",
            "<% import random\nrandom.seed(1) %>",
            "<% import locale\nlocale.x = 1 %>",
            "<% from json import decoder\ndecoder.x = 1 %>",
            "<% import os.path %>",
            "<%\nclass A:\n    x = 1\n%>",
            "<% x = type('A', (), {}) %>",
            "${dict.__base__}",
            "<% [].__class__ %>",
            // Builtins that reach further than their arguments.
            "<% setattr(minion_id, 'x', 1) %>",
            "${getattr(minion_id, 'upper')()}",
            "<% eval('1') %>",
            "<% exec('x = 1') %>",
            "${sorted(globals())}",
            "${vars()}",
            "${id(minion_id)}",
            "<% __builtins__['len'] = None %>",
            "<% __import__('json').x = 1 %>",
            "<% len.__self__ %>",
            "<%\nglobal x\nx = 1\n%>",
            // Frames, by generators and by what formats.
            "${(x for x in [1]).gi_frame.f_builtins}",
            "${'{0.gi_frame.f_builtins}'.format(x for x in [1])}",
            "${'{0[a]}'.format({'a': 1})}",
            "<% f = '{0.real}'.format %>${f(1)}",
            "${'{:{0.real}}'.format(1)}",
            "<%\ndef f():\n    yield 1\n%>${list(f())}",
            // Mako's own objects, by every way to say their names.
            "${context.get('minion_id')}",
            "<% context._data.clear() %>",
            "${self.name}",
            "${local.uri}",
            "<% _mk.x = 1 %>",
            "${_mk_at}",
            "${minion_id | decode.__getattr__.__globals__.clear}",
            "<%! runtime.capture = None %>",
            "<%! filters.trim = None %>",
            "${(lambda: [runtime for x in [1]])()}",
            "${capture(lambda: 1)}",
            "<% import re as _mk %>",
            "<% __M_writer = None %>",
            "<% \u{ff3f}mk.x = 1 %>",
            "${UNDEFINED}",
            // A name that means two things.
            "${[open for open in [1]]}${open}",
            "<% setattr = 1 %>${(lambda: setattr)()}",
            // A name that is not given may be anything.
            "${nosuch or 1}",
            "<%page args=\"**names\"/>${sorted(names)}",
            "<%\nwith minion_id as x:\n    pass\n%>",
            "<%def name=\"f()\" decorator=\"str\"></%def>",
            "<%block name=\"b\" cached=\"False\">${self.b}</%block>",
            "import sys\ndef run():\n    return sys.version\n",
            "import json\njson.x = 1\ndef run():\n    return 1\n",
            "def f(x=[]):\n    f.__defaults__[0].append(1)\ndef run():\n    return f()\n",
            "import functools\n@functools.lru_cache\ndef run():\n    return 1\n",
        ] {
            let interpreter = Interpreter::new();
            // The outcome of the first does not matter.
            let (is_open, made) = ran(source, &interpreter);
            assert!(!is_open, "{source}: {made:?}");
        }
    }

    #[test]
    fn a_session_is_one_interpreters_alone() {
        let (first, second) = (Interpreter::new(), Interpreter::new());
        let open = |source: &str, interpreter: &Interpreter| ran(source, interpreter).0;
        assert!(open("${1}", &first));
        // An impure job ends the shared session, and runs in a separate one.
        assert!(!open("<% import sys %>", &first));
        assert!(open("${2}", &first));
        assert!(open("${3}", &second));
        let is_open = |interpreter: &Interpreter| {
            PROGRAMS.with_borrow(|programs| {
                programs
                    .iter()
                    .any(|program| program.is_shared_by(interpreter))
            })
        };
        assert!(
            !is_open(&first),
            "two interpreters share a program, but never a session"
        );
        let (all, number) = (PROGRAMS.with_borrow(Vec::len), second.0);
        drop(second);
        assert!(!is_open(&Interpreter(number)));
        assert_eq!(PROGRAMS.with_borrow(Vec::len), all, "the program is kept");
        // An error ends a session, too.
        let (is_open, made) = ran("${1 / 0}", &first);
        assert!(!is_open);
        assert!(made.unwrap_err().starts_with("ZeroDivisionError"));
    }

    #[test]
    fn what_fails_for_want_of_memory_is_done_again_with_all_of_it() {
        // More than the half that a shared session has.
        let source = format!("${{len(bytes({}))}}", 600 << 20);
        let interpreter = Interpreter::new();
        assert_eq!(
            ran(&source, &interpreter),
            (false, Ok((600 << 20).to_string()))
        );
    }

    #[test]
    fn a_session_that_was_killed_is_opened_again() {
        let interpreter = Interpreter::new();
        for _ in 0..3 {
            assert_eq!(
                ran("${minion_id}", &interpreter),
                (true, Ok("web1".to_owned()))
            );
            PROGRAMS.with_borrow_mut(|programs| {
                let program = programs
                    .iter_mut()
                    .find(|program| program.is_shared_by(&interpreter));
                program.unwrap().process.kill_session();
            });
            // The job that finds it dead is repeated in a separate session.
            assert_eq!(
                ran("${minion_id}", &interpreter),
                (false, Ok("web1".to_owned()))
            );
        }
    }
}
