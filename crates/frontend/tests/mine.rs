//! Calls of `mine.get` beside the reference's answers from the same cache.

use std::path::{Path, PathBuf};

use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::{Map, Value, json};
use mapstack::{Call, CallError, Engine, Functions};
use mapstack_frontend::host::mine::Mine;

fn cache() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cache")
}

fn mine() -> Mine {
    Mine::open(cache()).unwrap().unwrap()
}

/// The call of a record: of the minion that asks, or of a master's runner.
fn call(record: &Map) -> Call {
    let call = match record.get("id").and_then(Value::as_str) {
        Some(id) => Call {
            minion: id.into(),
            ..Call::new("mine.get")
        },
        None => Call {
            on_master: true,
            minion: "web1".into(),
            ..Call::new("saltutil.runner").arg("mine.get")
        },
    };
    ["tgt", "fun", "tgt_type", "exclude_minion"]
        .into_iter()
        .filter_map(|name| Some((name, record.get(name)?.clone())))
        .fold(call, |call, (name, value)| call.kwarg(name, value))
}

#[test]
fn every_recorded_call_gives_what_the_reference_gives() {
    let records = json::loads(include_str!("data/mine.json")).unwrap();
    let records = records.as_list().unwrap();
    assert!(!records.is_empty());
    let mine = mine();
    for record in records {
        let record = record.as_map().unwrap();
        let made = mine.call(&call(record)).unwrap();
        assert_eq!(
            made.as_ref().ok(),
            record.get("result"),
            "{record:?}: {made:?}"
        );
    }
}

#[test]
fn other_calls_are_passed_on() {
    let mine = mine();
    let runner = Call::new("saltutil.runner").arg("jobs.list_jobs");
    let on_master = Call {
        on_master: true,
        ..runner.clone()
    };
    for call in [
        Call::new("mine.send"),
        Call::new("mine.update"),
        runner,
        on_master,
    ] {
        assert_eq!(mine.call(&call), None, "{call}");
    }
    assert!(mine.has("mine.get") && mine.has("saltutil.runner") && !mine.has("mine.send"));
}

fn refused(call: &Call) -> CallError {
    mine().call(call).unwrap().unwrap_err()
}

#[test]
fn a_master_that_looks_into_its_own_store_is_an_error_that_names_the_runner() {
    let call = Call {
        on_master: true,
        ..Call::new("mine.get").arg("*").arg("plain")
    };
    let error = refused(&call);
    assert!(
        error.to_string().contains("gives nothing in a pillar"),
        "{error}"
    );
}

#[test]
fn targets_that_need_more_than_the_cache_are_errors() {
    for (target, kind) in [
        ("N@webs", "compound"),
        ("web1 and I@env:prod", "compound"),
        ("J|@env|prod", "compound"),
        ("webs", "nodegroup"),
        ("%x", "range"),
        ("*", "nosuch"),
    ] {
        let error = refused(&Call::new("mine.get").arg(target).arg("plain").arg(kind));
        assert!(error.to_string().contains("cannot follow"), "{error}");
    }
    let error = refused(&Call::new("mine.get").arg("*"));
    assert_eq!(error.class(), Some("TypeError"));
}

#[test]
fn a_runner_takes_its_arguments_in_lists_as_well() {
    let call = |call: Call| {
        let call = Call {
            on_master: true,
            ..call
        };
        mine().call(&call).unwrap().unwrap().repr()
    };
    let runner = || Call::new("saltutil.runner").arg("mine.get");
    let wanted = "{'web2': 'text'}";
    let args: Value = ["web2", "plain"].into_iter().collect();
    let kwargs: Map = [("tgt", "web2"), ("fun", "plain")]
        .map(|(name, value)| (name, Value::from(value)))
        .into_iter()
        .collect();
    assert_eq!(call(runner().arg(args.clone())), wanted);
    assert_eq!(call(runner().kwarg("arg", args)), wanted);
    assert_eq!(call(runner().kwarg("kwarg", kwargs)), wanted);
    assert_eq!(
        call(runner().kwarg("tgt", "web2").kwarg("fun", "plain")),
        wanted
    );
}

#[test]
fn entries_of_older_masters_lie_beside_the_data_of_a_minion() {
    let home = tempfile::tempdir().unwrap();
    let of = |bank: &str| std::fs::read(cache().join(bank).join("web2.p")).unwrap();
    let minion = home.path().join("minions/web2");
    std::fs::create_dir_all(&minion).unwrap();
    // A mapping with the one key `grains`, as MessagePack.
    std::fs::write(
        minion.join("data.p"),
        [&b"\x81\xa6grains"[..], &of("grains")].concat(),
    )
    .unwrap();
    std::fs::write(minion.join("mine.p"), of("mine")).unwrap();
    let mine = Mine::open(home.path()).unwrap().unwrap();
    let call = Call::new("mine.get")
        .arg("os:Debian")
        .arg("plain")
        .arg("grain");
    assert_eq!(
        mine.call(&call).unwrap().unwrap().repr(),
        "{'web2': 'text'}"
    );
    std::fs::write(minion.join("mine.p"), b"\xc1").unwrap();
    let error = mine.call(&call).unwrap().unwrap_err();
    assert!(error.to_string().contains("mine.p"), "{error}");
}

#[test]
fn templates_of_a_formula_ask_the_mine() {
    let layer = "values: {ips: {{ salt['mine.get']('web*', 'network.ip_addrs') | json }}, own: {{ salt.mine.get('*', 'secret') | json }}}";
    let files = MemoryFiles::new().file("base", "f/parameters/defaults.yaml", layer);
    let engine = Engine::new(files);
    let data = |engine: &Engine| {
        let run = engine.run(&Minion::new("db1").complete());
        run.data("f", &mapstack::DataOptions::default())
    };
    let error = data(&engine).unwrap_err();
    assert!(error.to_string().contains("mine.get"), "{error}");
    let made = data(&engine.with_functions(mine())).unwrap();
    let made = made.as_map().unwrap().get("ips").unwrap().repr();
    assert_eq!(made, "{'web1': ['10.1.0.1'], 'web2': ['10.1.0.2']}");
}
