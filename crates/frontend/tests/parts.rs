//! Parts make what one run prints, and what does not make it is refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use mapstack::loader::{MemoryFiles, Snapshot};
use mapstack::minion::Minion;
use mapstack::secrets::Secrets;
use mapstack::value::Path as KeyPath;
use mapstack::{Condition, Engine, Error, ErrorKind};
use mapstack_fleet::{
    AnswerRecord, Fleet, MaskedFleet, Masking, Minions, Pace, RecordingFileServer, Shard, Summary,
};
use mapstack_frontend::outputs::{Output, Sink, write_fleet, write_minions};
use mapstack_frontend::parts::{End, PartSet, PartWriter, Run};
use mapstack_report::fleet::{FleetForm, FleetParts, Format};
use proptest::prelude::*;

/// The version that parts are written and read with.
const VERSION: &str = "1";

/// The facts of minions by their ids, some of which cannot be read.
#[derive(Debug, Clone)]
struct Facts(BTreeMap<String, &'static str>);

impl Minions for Facts {
    fn read(&self, id: &str) -> Result<Minion, Error> {
        let broken = || Error::new(ErrorKind::Facts, format!("the facts of {id} are broken"));
        let os = self.0.get(id).filter(|os| **os != "broken");
        let mut minion = Minion::new(id);
        let set = minion.set("grains.os", *os.ok_or_else(broken)?);
        set.map_err(|_| broken()).map(|()| minion)
    }
}

const KINDS: [&str; 5] = ["Debian", "Arch", "Odd", "Fails", "broken"];

fn files(shell: &str) -> MemoryFiles {
    let shell = format!("values: {{shell: {shell}, ports: [22, 2222]}}");
    MemoryFiles::new()
        .file("base", "users/parameters/defaults.yaml", &shell)
        .file(
            "base",
            "users/parameters/os/Arch.yaml",
            "values: {shell: \"a\\tb\", home: /home}",
        )
        .file(
            "base",
            "users/parameters/os/Odd.yaml",
            "values: {shell: {1: x, null: 2.5}, id: {{ grains.id }}}",
        )
        .file(
            "base",
            "users/parameters/os/Fails.yaml",
            "values: {{ nothing.at.all }}",
        )
        .file("base", "ntp/parameters/defaults.yaml", "values: {pkg: ntp}")
        .file(
            "base",
            "ntp/parameters/os/Debian.yaml",
            "strategy: no-such\nvalues: {pkg: chrony}",
        )
}

/// The work to compute and print.
#[derive(Debug, Clone)]
struct Job {
    facts: Facts,
    format: Format,
    table: Vec<&'static str>,
    counts: Vec<&'static str>,
    select: Option<&'static str>,
    shell: &'static str,
}

impl Job {
    fn of(kinds: &[&'static str]) -> Self {
        let named = kinds.iter().enumerate();
        Job {
            facts: Facts(named.map(|(n, kind)| (format!("web{n}"), *kind)).collect()),
            format: Format::Jsonl,
            table: Vec::new(),
            counts: Vec::new(),
            select: None,
            shell: "/bin/sh",
        }
    }

    fn form(&self) -> FleetForm {
        let keys = |keys: &[&str]| -> Vec<(String, KeyPath)> {
            let path = |key: &&str| ((*key).to_owned(), KeyPath::split(key, ":").unwrap());
            keys.iter().map(path).collect()
        };
        let what = FleetParts::of(keys(&self.table), keys(&self.counts), Some(self.format));
        FleetForm::new(self.format, what, false, vec!["users".into(), "ntp".into()])
    }

    /// Compute the minions of a part, or all, and hand them to an output that is made for the form.
    fn compute(&self, part: Option<(Shard, &Path)>) -> (Vec<u8>, String) {
        let seen = Arc::new(AnswerRecord::default());
        let files = RecordingFileServer::new(files(self.shell), "files", Some(seen.clone()));
        let engine = Engine::new(Snapshot::new(files));
        let mut fleet = Fleet::new(&engine).formula("users").formula("ntp");
        if let Some(select) = self.select {
            fleet = fleet.only(Condition::parse(select).unwrap());
        }
        let fleet = MaskedFleet::new(&fleet, Masking::new(Secrets::numbered()), false);
        let form = self.form();
        let all: Vec<String> = self.facts.0.keys().cloned().collect();
        let mut ids = all.clone();
        ids.retain(|id| part.is_none_or(|(shard, _)| shard.has(id)));
        let mut out = Vec::new();
        let end = |_| End::new(form.known_keys(), Vec::new(), seen.digests());
        let output: Box<dyn Output> = match part {
            Some((shard, directory)) => {
                let run = self.run(&all, &form);
                Box::new(PartWriter::new(directory, shard, run, &all, end).unwrap())
            }
            None => Box::new(Sink::stream(&form, &mut out).unwrap()),
        };
        let pace = Pace::threads(2);
        let written = write_fleet(&fleet, &self.facts, &ids, pace, &form, output, || true);
        assert!(written.output.is_none(), "{:?}", written.output);
        let said = said(&written.summary, &form);
        (out, said)
    }

    fn run(&self, all: &[String], form: &FleetForm) -> Run {
        Run {
            version: VERSION.into(),
            minions: all.len(),
            ids: Run::digest_of(all),
            options: String::new(),
            select: self.select.map(str::to_owned),
            strict: false,
            form: form.described(),
        }
    }

    fn write_parts(&self, parts: u64, directory: &Path) {
        for number in 1..=parts {
            self.compute(Some((Shard::new(number, parts).unwrap(), directory)));
        }
    }
}

/// All that is said beside what is printed.
fn said(summary: &Summary, form: &FleetForm) -> String {
    let counts = [
        summary.minions,
        summary.done,
        summary.failed,
        summary.left_out,
    ];
    let failures = summary.failures();
    let failures: Vec<_> = failures
        .iter()
        .map(|error| error.diagnostic().notes.join(" ") + &error.to_string())
        .collect();
    let warnings = summary.warnings();
    let warnings: Vec<_> = warnings
        .iter()
        .map(|one| one.notes.join(" ") + &one.to_string())
        .collect();
    let missing = form.missing_keys().len();
    format!(
        "{counts:?} {failures:#?} {warnings:#?} {missing} {}",
        form.is_blank()
    )
}

fn merged(directory: &Path) -> Result<(Vec<u8>, String), String> {
    let parts = PartSet::open(directory, VERSION).map_err(|e| e.to_string())?;
    let form = parts.form();
    let mut out = Vec::new();
    let sink = Sink::stream(&form, &mut out).unwrap();
    let written = parts.write(&form, Box::new(sink), || true);
    let written = written.map_err(|e| e.to_string())?;
    assert!(written.output.is_none());
    let said = said(&written.summary, &form);
    Ok((out, said))
}

fn forms() -> impl Strategy<Value = (Format, Vec<&'static str>, Vec<&'static str>)> {
    let keys = prop::sample::subsequence(vec!["shell", "ports", "home", "shell:1", "none"], 1..4);
    let none = || Just(Vec::new());
    prop_oneof![
        (
            prop::sample::select(vec![Format::Jsonl, Format::Json, Format::Yaml]),
            none(),
            none()
        ),
        (
            prop::sample::select(vec![Format::Jsonl, Format::Text]),
            keys.clone(),
            none()
        ),
        (
            prop::sample::select(vec![Format::Jsonl, Format::Text, Format::Html]),
            none(),
            keys
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Any fleet in any number of parts, in each form: the bytes, the counts and the messages of one run.
    #[test]
    fn parts_make_what_one_run_prints(
        minions in prop::collection::btree_map("[a-z]{1,6}", prop::sample::select(KINDS.to_vec()), 0..24),
        parts in 1_u64..=8,
        (format, table, counts) in forms(),
        select in prop::sample::select(vec![None, None, Some("grains.os == 'Arch'"), Some("grains.os == 'No'")]),
    ) {
        let job = Job { facts: Facts(minions), format, table, counts, select, shell: "/bin/sh" };
        let directory = tempfile::tempdir().unwrap();
        job.write_parts(parts, directory.path());
        let (bytes, said) = job.compute(None);
        let (merged_bytes, merged_said) = merged(directory.path()).unwrap();
        prop_assert_eq!(String::from_utf8_lossy(&merged_bytes), String::from_utf8_lossy(&bytes));
        prop_assert_eq!(merged_said, said);
    }

    /// A part that is cut off anywhere, or has any other byte anywhere, is refused.
    #[test]
    fn damaged_parts_are_refused(at in 0_usize..100_000, byte in any::<u8>(), cut in any::<bool>()) {
        let directory = tempfile::tempdir().unwrap();
        Job::of(&KINDS).write_parts(1, directory.path());
        let file = directory.path().join("1-of-1.part");
        let mut bytes = fs::read(&file).unwrap();
        let at = at % bytes.len();
        if cut {
            bytes.truncate(at);
        } else if bytes[at] == byte {
            return Ok(());
        } else {
            bytes[at] = byte;
        }
        fs::write(&file, bytes).unwrap();
        prop_assert!(merged(directory.path()).is_err());
    }

    #[test]
    fn no_bytes_make_it_panic(line in ".{0,80}", bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let directory = tempfile::tempdir().unwrap();
        Job::of(&KINDS).write_parts(1, directory.path());
        let file = directory.path().join("1-of-1.part");
        let text = fs::read_to_string(&file).unwrap();
        let header = text.lines().next().unwrap();
        for hostile in [bytes.clone(), [header.as_bytes(), b"\n", line.as_bytes(), b"\n", &bytes].concat()] {
            fs::write(&file, hostile).unwrap();
            prop_assert!(merged(directory.path()).is_err());
        }
    }
}

/// The error that refuses two parts, after some work on them.
fn refused(work: impl FnOnce(&Path)) -> String {
    let directory = tempfile::tempdir().unwrap();
    Job::of(&["Debian", "Arch", "Odd", "Debian", "Fails"]).write_parts(2, directory.path());
    work(directory.path());
    let shown = directory.path().display().to_string() + "/";
    merged(directory.path()).unwrap_err().replace(&shown, "")
}

/// Compute the second part of another job.
fn second(directory: &Path, change: impl FnOnce(&mut Job)) {
    let mut job = Job::of(&["Debian", "Arch", "Odd", "Debian", "Fails"]);
    change(&mut job);
    job.compute(Some((Shard::new(2, 2).unwrap(), directory)));
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one row for each way in which parts differ"
)]
fn what_does_not_belong_together_is_refused() {
    let first = |all: &Path| all.join("1-of-2.part");
    let last = |all: &Path| all.join("2-of-2.part");
    let different =
        "1-of-2.part and 2-of-2.part do not belong together: they were computed with different ";
    for (says, message) in [
        (
            "parts are missing: 1/2",
            refused(|all| fs::remove_file(first(all)).unwrap()),
        ),
        (
            "parts are missing: 2/2",
            refused(|all| fs::remove_file(last(all)).unwrap()),
        ),
        (
            "1-of-2.part and again.part are both part 1/2",
            refused(|all| assert!(fs::copy(first(all), all.join("again.part")).is_ok())),
        ),
        (
            "1-of-2.part and 2-of-2.part were computed from different revisions of the files: files base users/parameters/defaults.yaml is not the same",
            refused(|all| second(all, |job| job.shell = "/bin/bash")),
        ),
        (
            &format!("{different}options"),
            refused(|all| second(all, |job| job.select = Some("true"))),
        ),
        (
            &format!("{different}formulas, keys or forms of output"),
            refused(|all| second(all, |job| job.format = Format::Yaml)),
        ),
        (
            &format!("{different}minions"),
            refused(|all| {
                second(all, |job| {
                    assert!(job.facts.0.insert("zoo".into(), "Arch").is_none());
                });
            }),
        ),
        (
            &format!("{different}versions of mapstack"),
            refused(|all| {
                let text = fs::read_to_string(last(all)).unwrap();
                fs::write(
                    last(all),
                    text.replace("\"version\":\"1\"", "\"version\":\"2\""),
                )
                .unwrap();
            }),
        ),
        (
            "x.part is not a part of a fleet that this version can read",
            refused(|all| fs::write(all.join("x.part"), "{}\n").unwrap()),
        ),
    ] {
        assert_eq!(message, says);
    }
    let empty = tempfile::tempdir().unwrap();
    let message = merged(empty.path()).unwrap_err();
    assert!(
        message.ends_with("does not contain any parts; their files are named like 1-of-4.part"),
        "{message}"
    );
}

#[test]
fn parts_of_another_version_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    Job::of(&KINDS).write_parts(2, directory.path());
    let error = PartSet::open(directory.path(), "2").err().unwrap();
    let says = "the parts were computed by mapstack 1, and this is 2";
    assert_eq!(error.to_string(), says);
}

#[test]
fn a_part_that_is_not_whole_leaves_the_file_that_was_there() {
    let directory = tempfile::tempdir().unwrap();
    let job = Job::of(&KINDS);
    job.write_parts(1, directory.path());
    let file = directory.path().join("1-of-1.part");
    let before = fs::read(&file).unwrap();
    let all: Vec<String> = job.facts.0.keys().cloned().collect();
    let run = job.run(&all, &job.form());
    let shard = Shard::new(1, 1).unwrap();
    let writer = PartWriter::new(directory.path(), shard, run, &all, |_| End::default());
    let mut writer: Box<dyn Output> = Box::new(writer.unwrap());
    writer.leave_out("web0").unwrap();
    writer.finish(false).unwrap();
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_eq!(directory.path().read_dir().unwrap().count(), 1);
}

/// A disk without room for the part: the file is a device that takes nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_part_that_cannot_be_written_counts_no_minion() {
    let directory = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", directory.path().join("1-of-1.part")).unwrap();
    let job = Job::of(&KINDS);
    let (all, form) = (job.facts.0.keys().cloned().collect::<Vec<_>>(), job.form());
    let (shard, run) = (Shard::new(1, 1).unwrap(), job.run(&all, &form));
    let writer = PartWriter::new(directory.path(), shard, run, &all, |_| End::default());
    let minions = all.iter().map(|id| Ok::<_, ()>((id, None)));
    let output: Box<dyn Output> = Box::new(writer.unwrap());
    let summary = Summary::new(all.len(), form.formulas());
    let written = write_minions(minions, summary, output, || true).unwrap();
    let ended = written.output.unwrap();
    assert_eq!(ended.kept, Some(0));
    assert!(
        ended.error.to_string().contains("1-of-1.part: "),
        "{ended:?}"
    );
}
