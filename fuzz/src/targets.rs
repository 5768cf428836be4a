//! The targets, one function each.

use std::fs;

use mapstack::{DataOptions, Engine, parse_definition};
use mapstack_expect::{ExpectationForm, RecordedExpectation};
use mapstack_lint::Linter;
use mapstack_loader::MemoryFiles;
use mapstack_matcher::{Definition, Mode};
use mapstack_merge::{Options, Strategy, merge as merge_values, stack};
use mapstack_minion::minions::Minions;
use mapstack_minion::{Minion, cache, platforms};
use mapstack_pillar::{Compiler, ExtPillars, StackKind};
use mapstack_pyobject::Obj;
use mapstack_render::{Language as _, Tera};
use mapstack_salt_config::{Config, Kind};
use mapstack_salt_jinja::{self as jinja_engine, Limits, NoHost, Request};
use mapstack_states::{Gatherer, TopOptions};
use mapstack_value::{Value, json as json_text};
use mapstack_yaml::{DumpOptions, decode, dump, load, load_marked, loose_scalar};

pub use crate::git::git;

/// One way input comes in.
pub struct Target {
    /// Its name, which is also that of its folder of seeds.
    pub name: &'static str,
    /// The function that reads the input.
    pub run: fn(&[u8]),
}

/// Every target.
pub const ALL: &[Target] = &[
    Target {
        name: "yaml",
        run: yaml,
    },
    Target {
        name: "json",
        run: json,
    },
    Target {
        name: "matcher",
        run: matcher,
    },
    Target {
        name: "msgpack",
        run: msgpack,
    },
    Target {
        name: "minions",
        run: minions,
    },
    Target {
        name: "merge",
        run: merge,
    },
    Target {
        name: "jinja",
        run: jinja,
    },
    Target {
        name: "tera",
        run: tera,
    },
    Target {
        name: "config",
        run: config,
    },
    Target {
        name: "git",
        run: git,
    },
    Target {
        name: "expect",
        run: expect,
    },
    Target {
        name: "lint",
        run: lint,
    },
    Target {
        name: "states",
        run: states,
    },
    Target {
        name: "stack",
        run: stack_files,
    },
];

/// YAML in Salt's dialect; what is loaded prints so that it loads back.
pub fn yaml(data: &[u8]) {
    let Ok(text) = decode(data) else { return };
    let plain = load(&text);
    let marked = load_marked(&text, &mapstack_yaml::Limits::default());
    assert_eq!(
        plain.as_ref().ok().map(Value::repr),
        marked.as_ref().ok().map(|(value, _)| value.repr())
    );
    let _ = loose_scalar(&text);
    let Ok(value) = plain else { return };
    let _ = (
        dump(&value, &DumpOptions::filter(true)),
        dump(&value, &DumpOptions::serializer()),
    );
    // A tuple comes back as a list, so that one round settles what it is.
    let printed = dump(&value, &DumpOptions::output());
    if let Ok(settled) = load(&printed) {
        assert_eq!(dump(&settled, &DumpOptions::output()), printed, "{value:?}");
    }
}

/// JSON as Python reads and writes it.
pub fn json(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(value) = json_text::loads(&text) else {
        return;
    };
    let options = json_text::DumpOptions {
        indent: data.first().map(|byte| usize::from(byte % 5)),
        ..Default::default()
    };
    let printed = json_text::dumps(&value, &options).expect("what was read prints");
    let back = json_text::loads(&printed).expect("what was printed reads back");
    assert_eq!(back.repr(), value.repr());
}

/// Definitions of sources, and what is suggested for broken ones.
pub fn matcher(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for mode in [Mode::Layer, Mode::Path] {
        match Definition::parse(&text, mode) {
            Ok(read) => {
                let printed = read.to_string();
                assert_eq!(
                    Definition::parse(&printed, mode).as_ref(),
                    Ok(&read),
                    "{printed}"
                );
                let modern = read.modern().to_string();
                assert!(Definition::parse(&modern, mode).is_ok(), "{modern}");
            }
            Err(error) => {
                assert!(text.get(error.span()).is_some());
                if let Some(suggestion) = error.suggestion() {
                    assert!(Definition::parse(suggestion, mode).is_ok(), "{suggestion}");
                }
            }
        }
        let _ = parse_definition(&text, mode).map_err(|error| error.to_string());
    }
}

/// The files of a master's cache.
pub fn msgpack(data: &[u8]) {
    let _ = cache::unpack(data)
        .map(|value| value.repr())
        .map_err(|error| error.to_string());
}

/// Documents of one minion and of many.
pub fn minions(data: &[u8]) {
    let _ = Minion::parse(data, "minion")
        .map(Minion::complete)
        .map_err(|error| error.to_string());
    let Ok(minions) = Minions::from_text(data, "minions") else {
        return;
    };
    for id in minions.ids().unwrap_or_default() {
        let _ = minions.minion(&id).map_err(|error| error.to_string());
    }
}

/// Two values over each other by every strategy: `{}` over a mapping changes nothing, and a second time changes nothing.
pub fn merge(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Some((base, overlay)) = text.split_once("\n---\n") else {
        return;
    };
    let (Ok(base), Ok(overlay)) = (load(base), load(overlay)) else {
        return;
    };
    let strategies = [
        "smart",
        "recurse",
        "overwrite",
        "aggregate",
        "list",
        "none",
        "bogus",
    ];
    for strategy in strategies.map(|name| Strategy::from(&Value::from(name))) {
        for merge_lists in [false, true] {
            let options = Options {
                strategy: strategy.clone(),
                merge_lists,
            };
            let Ok(merged) = merge_values(base.clone(), &overlay, &options) else {
                continue;
            };
            if merged.as_map().is_some()
                && overlay.as_map().is_some()
                && strategy != Strategy::List
                && !has_nan(&overlay)
            {
                let twice =
                    merge_values(merged.clone(), &overlay, &options).expect("it merged once");
                assert_eq!(twice.repr(), merged.repr(), "{options:?}");
                let same =
                    merge_values(merged.clone(), &Value::map(), &options).expect("a mapping");
                assert_eq!(same.repr(), merged.repr(), "{options:?}");
            }
        }
    }
    if let (Value::Map(base), Value::Map(overlay)) = (base, overlay) {
        let _ = stack::merge(base, &overlay).map_err(|error| error.to_string());
    }
}

/// NaN equals nothing, so that an appended one is appended again.
fn has_nan(value: &Value) -> bool {
    value.repr().contains("nan")
}

/// Steps that a fuzzed template may take.
const FUEL: u64 = 200_000;

fn request(source: &str) -> Request<'static> {
    let mut request = jinja_engine::request(source, &NoHost);
    request.limits = limits();
    request
        .variables
        .insert("list".into(), Obj::list([Obj::from(1), Obj::from("a")]));
    request.variables.insert(
        "grains".into(),
        Obj::from(load("{os: Debian, ips: [10.0.0.1], n: 1.5}").expect("YAML")),
    );
    request
}

/// Templates in Jinja, with the filters and methods of Salt.
pub fn jinja(data: &[u8]) {
    let _ = jinja_engine::render(request(&String::from_utf8_lossy(data)))
        .map_err(|error| error.to_string());
}

/// Templates in Tera.
pub fn tera(data: &[u8]) {
    let _ = Tera
        .render(request(&String::from_utf8_lossy(data)))
        .map_err(|error| error.to_string());
}

/// The configuration of a master and of a minion.
pub fn config(data: &[u8]) {
    for kind in [Kind::Master, Kind::Minion] {
        let _ = Config::parse(data, "config", kind).map_err(|error| error.to_string());
    }
}

/// Recorded expectations, in both forms; what is written over them reads back.
pub fn expect(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    for form in [ExpectationForm::Mapdata, ExpectationForm::Plain] {
        let Ok(recorded) = RecordedExpectation::parse(form, text, "recorded.yaml") else {
            continue;
        };
        let written = recorded.with_data(&recorded.data);
        let back = RecordedExpectation::parse(form, &written, "written.yaml")
            .unwrap_or_else(|error| panic!("{error}\n{written}"));
        // Recorded data is written with its keys sorted.
        let sorted = |data: &Value| {
            dump(
                data,
                &DumpOptions {
                    sort_keys: true,
                    ..DumpOptions::output()
                },
            )
        };
        assert_eq!(sorted(&back.data), sorted(&recorded.data), "{written}");
    }
}

/// A top file and two sls, compiled to low data. What is compiled again gives the same.
pub fn states(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let parts: Vec<&str> = text.splitn(3, "\n---\n").collect();
    let names = ["top.sls", "web/init.sls", "web/config.sls"];
    let files = names.iter().zip(parts);
    let files = files.fold(MemoryFiles::new(), |files, (name, text)| {
        files.file("base", name, text)
    });
    let engine = Engine::new(files).with_limits(limits());
    let minion = platforms::all()[0].minion().complete();
    let compiled = || {
        let gatherer = Gatherer::new(&engine, TopOptions::default());
        let compiled = gatherer.compiled(&minion);
        compiled.map_or_else(
            |error| error.to_string(),
            |compiled| format!("{:?} {:?}", compiled.states, compiled.errors),
        )
    };
    assert_eq!(compiled(), compiled());
}

/// The configuration file of a PillarStack and one of its data files.
pub fn stack_files(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (config, layer) = text.split_once("\n---\n").unwrap_or((&text, ""));
    let directory = tempfile::tempdir().expect("a directory for temporary files");
    let write = |name: &str, text: &str| fs::write(directory.path().join(name), text);
    write("stack.cfg", config)
        .and_then(|()| write("core.yml", layer))
        .expect("a directory that can be written");
    let engine = Engine::new(MemoryFiles::new()).with_limits(limits());
    let minion = platforms::all()[0].minion().complete();
    let config = directory.path().join("stack.cfg").display().to_string();
    let compiler = Compiler::new(ExtPillars::new().with_stack(StackKind::PillarStack, [config]));
    let _ = compiler
        .run(&engine, &minion)
        .compile()
        .map(|compiled| compiled.external.len())
        .map_err(|error| error.to_string());
}

/// The limits of a fuzzed run.
fn limits() -> Limits {
    Limits {
        fuel: FUEL,
        ..Limits::default()
    }
}

/// A layer of a formula under the eyes of every rule, with its comments.
pub fn lint(data: &[u8]) {
    let files = MemoryFiles::new().file("base", "f/parameters/defaults.yaml", data.to_vec());
    let engine = Engine::new(files).with_limits(limits());
    let minions: Vec<Minion> = platforms::all()
        .iter()
        .take(1)
        .map(|platform| platform.minion().complete())
        .collect();
    let linter = Linter::new(&engine)
        .minions(minions)
        .options(DataOptions::default());
    let _ = linter
        .lint("f")
        .map(|report| report.has_errors())
        .map_err(|error| error.to_string());
}
