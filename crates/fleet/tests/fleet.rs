//! Many minions in parallel: results are in order and belong to their minions, whatever happens to some of them.

#[path = "../../mapstack/tests/serving.rs"]
mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::scope;

use common::Intercepted;
use mapstack::loader::{self, Fetched, FileServer, LoadError, MemoryFiles, SaltPath, Snapshot};
use mapstack::minion::Minion;
use mapstack::share::SharedFormula;
use mapstack::{Condition, DataOptions, Engine, Error, ErrorKind, Limits};
use mapstack_fleet::{Fleet, Pace, Report, Shard};

fn files() -> MemoryFiles {
    MemoryFiles::new()
        .file(
            "base",
            "plain/parameters/defaults.yaml",
            "values: {a: 1, list: [1]}\n",
        )
        .file(
            "base",
            "plain/parameters/os/Debian.yaml",
            "values: {a: 2}\n",
        )
        .file(
            "base",
            "plain/parameters/os/Arch.yaml",
            "strategy: smrat\nvalues: {b: {{ grains.num }}}\n",
        )
        .file(
            "base",
            "own/parameters/defaults.yaml",
            "values: {name: {{ grains.id }}, os: {{ grains.os }}}\n",
        )
        .file("base", "loop/parameters/defaults.yaml", LOOP)
}

/// Does not end within any limit on minions that ask for it.
const LOOP: &str = "values: {n: {% if grains.endless is defined %}{% set s = 'x' * 1000000 %}\
    {% for a in range(9999) %}{{ '' if 'y' in s }}{% endfor %}{% endif %}1}\n";

fn minion(n: usize) -> Minion {
    let os = ["Debian", "Arch", "SLES"][n * 7 % 3];
    let endless = if n % 1000 == 500 {
        ", endless: yes"
    } else {
        ""
    };
    let text = format!(
        "{{id: m{n:05}, grains: {{os: {os}, num: {}, serial: {n}{endless}}}}}",
        n % 5
    );
    Minion::parse(text.as_bytes(), "minion").unwrap().complete()
}

/// One in a thousand is broken.
fn minions(count: usize) -> impl Iterator<Item = mapstack::Result<Minion>> + Send {
    (0..count).map(|n| match n % 1000 {
        700 => Err(Error::new(ErrorKind::Facts, format!("m{n:05} is broken"))),
        _ => Ok(minion(n)),
    })
}

fn limits() -> Limits {
    Limits {
        fuel: 200_000,
        ..Limits::default()
    }
}

fn reported(report: &Report) -> Vec<String> {
    match &report.outcomes {
        Err(e) => vec![format!("{e:?}")],
        Ok(outcomes) => outcomes
            .iter()
            .map(|outcome| format!("{:?} {:?}", outcome.result, outcome.warnings))
            .collect(),
    }
}

#[test]
fn threads_share_results_and_each_minion_gets_its_own() {
    let shared = Engine::new(Snapshot::new(files())).with_limits(limits());
    let fleet = Fleet::new(&shared)
        .formula("plain")
        .formula("own")
        .formula("loop");
    let count = 1_800;
    let reports: Vec<Report> = scope(|s| {
        fleet
            .reports(
                s,
                minions(count),
                Pace {
                    threads: 4,
                    window: 64,
                },
            )
            .collect()
    });
    assert_eq!(reports.len(), count);
    let alone = Engine::new(files()).with_limits(limits());
    for (n, report) in reports.iter().enumerate() {
        match n % 1000 {
            700 => assert!(reported(report)[0].contains(&format!("m{n:05} is broken"))),
            rest => {
                assert_eq!(report.id, format!("m{n:05}"));
                assert_eq!(report.is_whole(), rest != 500);
                let outcomes = ["plain", "own", "loop"].map(|formula| {
                    let run = alone.run(&minion(n));
                    let result = run.data(formula, &DataOptions::default());
                    format!("{result:?} {:?}", run.warnings())
                });
                assert_eq!(reported(report), outcomes, "{n}");
            }
        }
    }
    assert_eq!(
        reports.iter().filter(|report| !report.is_whole()).count(),
        4
    );
}

#[test]
fn conditions_and_shards_leave_minions_out() {
    let engine = Engine::new(files());
    let shard: Shard = "1/2".parse().unwrap();
    let some = minions(600).filter(|minion| {
        minion
            .as_ref()
            .is_ok_and(|minion| shard.has(&minion.id.to_string()))
    });
    let condition =
        Condition::parse("grains.os == 'Arch' and grains.serial.foo == 1 or grains.os == 'SLES'")
            .unwrap();
    let fleet = Fleet::new(&engine).formula("plain").only(condition);
    let reports: Vec<Report> = scope(|s| fleet.reports(s, some, Pace::threads(2)).collect());
    assert!((70..140).contains(&reports.len()), "{}", reports.len());
    for report in &reports {
        // An integer has no attributes; to compare one of them with something is not an error in Jinja.
        assert!(report.is_whole() && shard.has(&report.id), "{report:?}");
        assert!(
            minion(report.id[1..].parse().unwrap())
                .grains
                .get("os")
                .unwrap()
                .as_str()
                == Some("SLES")
        );
    }
}

/// A file server whose files vanish after many requests; between, requests fail.
fn vanishing(files: MemoryFiles) -> impl FileServer {
    let requests = AtomicUsize::new(0);
    let vanishing = Intercepted::new(files, move |path: &SaltPath| {
        match requests.fetch_add(1, Ordering::SeqCst) {
            0..=400 => None,
            401..=600 => Some(Err(LoadError::Io {
                path: path.to_string().into(),
                source: std::io::ErrorKind::NotFound.into(),
            })),
            _ => Some(Ok(Fetched::Missing)),
        }
    });
    vanishing.without_names()
}

#[test]
fn vanishing_files_are_errors_for_some_minions_or_unnoticed() {
    // As it is at each moment: some fail, later ones have nothing, and the work comes to its end.
    let engine = Engine::new(vanishing(files()));
    let formula = SharedFormula::new(&engine, "own", DataOptions::default()).with_memory(0);
    let fleet = Fleet::new(&engine).shared_formula(formula);
    let reports: Vec<Report> =
        scope(|s| fleet.reports(s, minions(400), Pace::threads(3)).collect());
    let failed = reports.iter().filter(|report| !report.is_whole()).count();
    assert!(
        reports.len() == 400 && (1..300).contains(&failed),
        "{failed}"
    );
    // The threads decide which minions come first. What has a name at all has its own.
    let mut named = reports
        .iter()
        .filter(|r| reported(r)[0].contains("'name': "));
    assert!(named.clone().count() > 0);
    assert!(named.all(|report| reported(report)[0].contains(&format!("'name': '{}'", report.id))));

    // A snapshot has what it has seen: every file there is, by then.
    let few = |count| {
        (0..count).map(|n| {
            Ok(Minion::new("same").with(mapstack::minion::Part::Grains, minion(n % 3).grains))
        })
    };
    let engine = Engine::new(Snapshot::new(vanishing(files())));
    let fleet = Fleet::new(&engine).formula("plain");
    let reports: Vec<Report> = scope(|s| fleet.reports(s, few(5_000), Pace::threads(3)).collect());
    assert!(reports.iter().all(Report::is_whole));
}
