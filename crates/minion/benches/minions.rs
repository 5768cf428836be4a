//! The time to read a thousand minions, with 8 KB and with 20 KB of grains each.
//!
//! ```text
//! cargo bench -p mapstack-minion
//! ```

use std::fs;
use std::path::Path;

use mapstack_minion::minions::{CacheOptions, Minions};
use mapstack_minion::platforms;
use mapstack_value::json::{DumpOptions, dumps};
use mapstack_value::{Map, Value};
use rmp::encode;
use tempfile::TempDir;

fn main() {
    divan::main();
}

const MINIONS: usize = 1000;
/// Kilobytes of grains as JSON.
const SIZES: [usize; 2] = [8, 20];

/// The minions in one layout.
struct Layout {
    /// The file to read, below the directory.
    path: &'static str,
    put: fn(&Path, &[(String, Map)]),
}

#[divan::bench(args = SIZES, sample_count = 10)]
fn json_file(bencher: divan::Bencher<'_, '_>, kilobytes: usize) {
    read(
        bencher,
        kilobytes,
        &Layout {
            path: "minions.json",
            put: put_json,
        },
    );
}

#[divan::bench(args = SIZES, sample_count = 10)]
fn json_directory(bencher: divan::Bencher<'_, '_>, kilobytes: usize) {
    read(
        bencher,
        kilobytes,
        &Layout {
            path: "minions",
            put: put_directory,
        },
    );
}

#[divan::bench(args = SIZES, sample_count = 10)]
fn cache_3008(bencher: divan::Bencher<'_, '_>, kilobytes: usize) {
    read(
        bencher,
        kilobytes,
        &Layout {
            path: "",
            put: put_cache,
        },
    );
}

#[divan::bench(args = SIZES, sample_count = 10)]
fn cache_3006(bencher: divan::Bencher<'_, '_>, kilobytes: usize) {
    read(
        bencher,
        kilobytes,
        &Layout {
            path: "",
            put: put_older_cache,
        },
    );
}

#[divan::bench(args = SIZES, sample_count = 3)]
fn yaml_file(bencher: divan::Bencher<'_, '_>, kilobytes: usize) {
    read(
        bencher,
        kilobytes,
        &Layout {
            path: "minions.yaml",
            put: put_yaml,
        },
    );
}

fn read(bencher: divan::Bencher<'_, '_>, kilobytes: usize, layout: &Layout) {
    let directory = TempDir::new().expect("a temporary directory");
    (layout.put)(directory.path(), &minions(kilobytes));
    let path = directory.path().join(layout.path);
    bencher.bench(|| {
        let minions = Minions::open(&path, &CacheOptions::default()).expect("minions");
        let ids = minions.ids().expect("ids");
        assert_eq!(ids.len(), MINIONS);
        ids.iter()
            .map(|id| {
                minions
                    .minion(id)
                    .expect("a minion")
                    .expect("a minion")
                    .grains
                    .len()
            })
            .sum::<usize>()
    });
}

/// Minions of all platforms in turn, with more network interfaces the larger they are to be.
fn minions(kilobytes: usize) -> Vec<(String, Map)> {
    let platforms = platforms::all();
    let minion = |number: usize| {
        let id = format!("web{number:04}");
        let mut grains = platforms[number % platforms.len()].minion().grains;
        grains.insert("id", id.as_str());
        let mut addresses = Map::new();
        while json(&grains.clone().into()).len() + json(&addresses.clone().into()).len()
            < kilobytes << 10
        {
            let at = addresses.len();
            let inside = [
                ("address", Value::from(format!("192.0.2.{at}"))),
                ("up", true.into()),
                ("mtu", 1500.into()),
            ];
            addresses.insert(format!("eth{at}"), inside.into_iter().collect::<Map>());
        }
        grains.insert("interfaces", addresses);
        (id, grains)
    };
    (0..MINIONS).map(minion).collect()
}

fn json(value: &Value) -> String {
    dumps(
        value,
        &DumpOptions {
            indent: Some(4),
            ..DumpOptions::default()
        },
    )
    .expect("grains have JSON")
}

fn one(id: &str, grains: &Map) -> Value {
    [(id, grains.clone())].into_iter().collect::<Map>().into()
}

fn put_json(directory: &Path, minions: &[(String, Map)]) {
    let text: String = minions
        .iter()
        .map(|(id, grains)| json(&one(id, grains)) + "\n")
        .collect();
    fs::write(directory.join("minions.json"), text).expect("a written file");
}

fn put_yaml(directory: &Path, minions: &[(String, Map)]) {
    let options = mapstack_yaml::DumpOptions::output();
    let text: String = minions
        .iter()
        .map(|(id, grains)| mapstack_yaml::dump(&one(id, grains), &options))
        .collect();
    fs::write(directory.join("minions.yaml"), text).expect("a written file");
}

fn put_directory(directory: &Path, minions: &[(String, Map)]) {
    fs::create_dir(directory.join("minions")).expect("a directory");
    for (id, grains) in minions {
        let file = directory.join("minions").join(format!("{id}.json"));
        fs::write(file, json(&one("local", grains))).expect("a written file");
    }
}

fn put_cache(directory: &Path, minions: &[(String, Map)]) {
    for bank in ["grains", "pillar"] {
        fs::create_dir(directory.join(bank)).expect("a directory");
    }
    for (id, grains) in minions {
        fs::write(
            directory.join(format!("grains/{id}.p")),
            packed(&grains.clone().into()),
        )
        .expect("a written file");
        fs::write(directory.join(format!("pillar/{id}.p")), [0x80]).expect("a written file");
    }
}

fn put_older_cache(directory: &Path, minions: &[(String, Map)]) {
    for (id, grains) in minions {
        let home = directory.join("minions").join(id);
        fs::create_dir_all(&home).expect("a directory");
        fs::write(home.join("data.p"), packed(&one("grains", grains))).expect("a written file");
    }
}

fn packed(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    pack(value, &mut out);
    out
}

/// Pack the types that grains have, as the master does it.
fn pack(value: &Value, out: &mut Vec<u8>) {
    let length = |len: usize| u32::try_from(len).expect("a short value");
    match value {
        Value::None => encode::write_nil(out).expect("memory"),
        Value::Bool(flag) => encode::write_bool(out, *flag).expect("memory"),
        Value::Int(number) => {
            encode::write_sint(out, number.to_i64().expect("a small number"))
                .map(|_| ())
                .expect("memory");
        }
        Value::Map(map) => {
            encode::write_map_len(out, length(map.len()))
                .map(|_| ())
                .expect("memory");
            for (key, value) in map {
                pack(&key.to_value(), out);
                pack(value, out);
            }
        }
        other => match other.as_str() {
            Some(text) => encode::write_str(out, text).expect("memory"),
            None => {
                let items: Vec<&Value> = match other {
                    Value::Tuple(items) => items.iter().collect(),
                    list => list.as_list().expect("a list").iter().collect(),
                };
                encode::write_array_len(out, length(items.len()))
                    .map(|_| ())
                    .expect("memory");
                items.into_iter().for_each(|item| pack(item, out));
            }
        },
    }
}
