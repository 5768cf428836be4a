//! The sandbox of Linux: Landlock and seccomp.

use std::collections::BTreeMap;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetStatus,
    Scope,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

/// The newest rules that are requested; an older kernel has those that it knows.
const RULES: ABI = ABI::V6;

/// From here on, no file or port can be opened, and no signal sent to other programs.
pub(super) fn close_files() -> io::Result<()> {
    let restricted = || {
        Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(RULES))?
            .handle_access(AccessNet::from_all(RULES))?
            .scope(Scope::from_all(RULES))?
            .create()?
            .restrict_self()
    };
    let status = restricted()
        .map_err(|error: landlock::RulesetError| io::Error::other(error.to_string()))?;
    match status.ruleset {
        RulesetStatus::NotEnforced => Err(io::Error::other(
            "the kernel does not have it, or has it switched off",
        )),
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
    }
}

/// The system calls that no process here ever makes: one that tries is ended.
const NEVER: [i64; 17] = [
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_bind,
    libc::SYS_bpf,
    libc::SYS_connect,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_io_uring_setup,
    libc::SYS_keyctl,
    libc::SYS_listen,
    libc::SYS_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_perf_event_open,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_socket,
];

/// The system calls of a session: its streams, memory, time, random numbers, its signals, the end.
const ALWAYS_IN_SESSION: [i64; 21] = [
    libc::SYS_brk,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_madvise,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_read,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_yield,
    libc::SYS_sigaltstack,
    libc::SYS_write,
];

/// True if the kernel took the first filter.
static CAN_FORBID: AtomicBool = AtomicBool::new(false);

/// No new program, no network and no look into other processes, from now on.
pub(super) fn forbid() -> io::Result<()> {
    apply(&forbidding(&NEVER)?)?;
    CAN_FORBID.store(true, Ordering::Relaxed);
    session_filter().map(|_| ())
}

/// True if calls can be filtered: where they cannot, the greeting says so.
pub(super) fn can_forbid() -> bool {
    CAN_FORBID.load(Ordering::Relaxed)
}

/// The filter of all sessions. Compiling it takes as long as a small template, so it is made before they fork.
static SESSION_FILTER: OnceLock<BpfProgram> = OnceLock::new();

fn session_filter() -> io::Result<&'static BpfProgram> {
    if let Some(made) = SESSION_FILTER.get() {
        return Ok(made);
    }
    let made = allowing()?;
    Ok(SESSION_FILTER.get_or_init(|| made))
}

/// Leave a session what it needs. Everything else is refused; what no process does still ends it.
pub(super) fn filter_calls() -> io::Result<()> {
    // A process ends itself by a signal, and sends none to others. The strictest of all filters counts.
    let to_others = rule(0, SeccompCmpOp::Ne, std::process::id().into())?;
    let signals = Rules::from([(libc::SYS_tgkill, vec![to_others])]);
    apply(&program(signals, SeccompAction::Allow, refuse())?)?;
    apply(session_filter()?)
}

/// The filter that allows a session its calls.
fn allowing() -> io::Result<BpfProgram> {
    let mut rules: Rules = ALWAYS_IN_SESSION
        .into_iter()
        .map(|call| (call, Vec::new()))
        .collect();
    // Memory that can be written or read, and never run.
    let not_to_run = || {
        rule(
            2,
            SeccompCmpOp::MaskedEq(libc::PROT_EXEC.unsigned_abs().into()),
            0,
        )
    };
    rules.insert(libc::SYS_mmap, vec![not_to_run()?]);
    rules.insert(libc::SYS_mprotect, vec![not_to_run()?]);
    rules.insert(libc::SYS_mremap, Vec::new());
    rules.insert(libc::SYS_tgkill, Vec::new());
    program(rules, refuse(), SeccompAction::Allow)
}

fn refuse() -> SeccompAction {
    SeccompAction::Errno(libc::EPERM.unsigned_abs())
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn rule(argument: u8, operator: SeccompCmpOp, value: u64) -> io::Result<SeccompRule> {
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value);
    condition
        .and_then(|condition| SeccompRule::new(vec![condition]))
        .map_err(io::Error::other)
}

fn forbidding(calls: &[i64]) -> io::Result<BpfProgram> {
    let rules = calls.iter().map(|call| (*call, Vec::new())).collect();
    program(rules, SeccompAction::Allow, SeccompAction::KillProcess)
}

fn program(
    rules: Rules,
    otherwise: SeccompAction,
    matching: SeccompAction,
) -> io::Result<BpfProgram> {
    let arch = std::env::consts::ARCH
        .try_into()
        .map_err(io::Error::other)?;
    let filter = SeccompFilter::new(rules, otherwise, matching, arch).map_err(io::Error::other)?;
    filter.try_into().map_err(io::Error::other)
}

fn apply(program: &BpfProgram) -> io::Result<()> {
    seccompiler::apply_filter(program).map_err(io::Error::other)
}
