//! Times reading YAML in mapstack and in others, on one thread of one process, in turns.
//!
//!     bench-yaml DIRECTORY                         every text, as one JSON object
//!     bench-yaml DIRECTORY texts FOLDER            write the texts into a folder, for readers that are programs of their own
//!     bench-yaml DIRECTORY names                   the names of the texts
//!     bench-yaml DIRECTORY READER TEXT TURNS WORK  one text so many times, for a profiler; the work is `events` or `values`
//!
//! The text `examples` is each YAML file below the directory, one after another; the others are made here. `events` is
//! the grammar alone, `values` is data that is ready for use, with positions where the reader has them.

use std::fmt::Write;
use std::path::Path;

use mapstack_benchmarks::{Result, fastest, times};
use saphyr::LoadableYamlNode;
use serde::de::IgnoredAny;
use serde_json::json;

/// Texts that are read one after another.
struct Texts {
    name: &'static str,
    texts: Vec<String>,
}

/// Each reader reads a text up to its events, and up to values.
trait Reader {
    fn events(&self, text: &str) -> Result;
    fn values(&self, text: &str) -> Result;
}

/// Values with positions, in Salt's dialect.
struct Mapstack;

impl Reader for Mapstack {
    fn events(&self, text: &str) -> Result {
        for event in mapstack_yaml::events::Events::of(text).map_err(|e| e.to_string())? {
            std::hint::black_box(event.map_err(|e| e.to_string())?);
        }
        Ok(())
    }

    fn values(&self, text: &str) -> Result {
        let limits = mapstack_yaml::Limits::default();
        std::hint::black_box(mapstack_yaml::load_marked(text, &limits)?);
        Ok(())
    }
}

/// Values with positions.
struct Saphyr;

impl Reader for Saphyr {
    fn events(&self, text: &str) -> Result {
        for event in saphyr_parser::Parser::new_from_str(text) {
            std::hint::black_box(event?);
        }
        Ok(())
    }

    fn values(&self, text: &str) -> Result {
        std::hint::black_box(saphyr::MarkedYaml::load_from_str(text)?);
        Ok(())
    }
}

/// libyaml in Rust; values without positions.
struct YamlSerde;

impl Reader for YamlSerde {
    fn events(&self, text: &str) -> Result {
        yaml_serde::from_str::<IgnoredAny>(text)?;
        Ok(())
    }

    fn values(&self, text: &str) -> Result {
        std::hint::black_box(yaml_serde::from_str::<yaml_serde::Value>(text)?);
        Ok(())
    }
}

const READERS: [(&str, &dyn Reader); 3] = [
    ("mapstack", &Mapstack),
    ("saphyr", &Saphyr),
    ("yaml_serde", &YamlSerde),
];

fn main() -> Result {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, rest @ ..] = &arguments[..] else {
        return Err("a directory with YAML files".into());
    };
    let all = all(Path::new(directory))?;
    match rest {
        [] => println!("{}", measured(&all)),
        [what] if what == "names" => {
            let names: Vec<&str> = all.iter().map(|texts| texts.name).collect();
            println!("{}", json!(names));
        }
        [what, folder] if what == "texts" => {
            for Texts { name, texts } in &all {
                for (number, text) in texts.iter().enumerate() {
                    std::fs::write(
                        Path::new(folder).join(format!("{name}-{number}.yaml")),
                        text,
                    )?;
                }
            }
        }
        [reader, name, turns, work] => {
            let reader = READERS.iter().find(|(name, _)| name == reader);
            let texts = all.iter().find(|texts| texts.name == name);
            let (Some((_, reader)), Some(texts)) = (reader, texts) else {
                return Err("no such reader or text".into());
            };
            for _ in 0..turns.parse::<u32>()? {
                texts.read(*reader, work)?;
            }
        }
        _ => return Err("arguments of another form".into()),
    }
    Ok(())
}

impl Texts {
    fn made(
        name: &'static str,
        make: impl Fn(&mut String, usize) -> std::fmt::Result,
    ) -> Result<Self> {
        let mut text = String::new();
        (0..200).try_for_each(|number| make(&mut text, number))?;
        let texts = vec![text];
        Ok(Texts { name, texts })
    }

    fn read(&self, reader: &dyn Reader, work: &str) -> Result {
        self.texts.iter().try_for_each(|text| match work {
            "events" => reader.events(text),
            "values" => reader.values(text),
            other => Err(format!("no work {other}").into()),
        })
    }
}

fn all(directory: &Path) -> Result<Vec<Texts>> {
    let mut examples = Vec::new();
    below(directory, &mut examples)?;
    Ok(vec![
        Texts {
            name: "examples",
            texts: examples,
        },
        Texts::made("formula", formula)?,
        Texts::made("users", users)?,
        Texts::made("brackets", brackets)?,
        Texts::made("prose", prose)?,
        Texts::made("numbers", numbers)?,
    ])
}

/// A file that is not YAML before its templates run is left out.
fn below(directory: &Path, texts: &mut Vec<String>) -> Result {
    let mut paths: Vec<_> = std::fs::read_dir(directory)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    paths.sort_unstable();
    for path in paths {
        if path.is_dir() {
            below(&path, texts)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            let text = std::fs::read_to_string(&path)?;
            let is_read = |(_, reader): &(_, &dyn Reader)| reader.values(&text).is_ok();
            if READERS.iter().all(is_read) {
                texts.push(text);
            }
        }
    }
    Ok(())
}

/// Parameters with comments, as formulas have them.
fn formula(text: &mut String, number: usize) -> std::fmt::Result {
    write!(
        text,
        "# What holds everywhere, part {number}.\nservice{number}:\n  pkg:\n    name: package-{number}\n    # The latest that \
         was tried.\n    version: 1.{number}\n  config: /etc/service{number}/main.conf\n  enabled: true\n  mode: '0640'\n  \
         listen:\n    - address: 127.0.0.1\n      port: {}\n    - address: '::1'\n      port: 8443\n  rootgroup: root\n",
        8000 + number
    )
}

/// Accounts, as pillars have them.
fn users(text: &mut String, number: usize) -> std::fmt::Result {
    write!(
        text,
        "user{number}:\n  fullname: \"Jane Doe {number}\"\n  uid: {}\n  shell: /bin/bash\n  groups: [adm, sudo, users]\n  \
         ssh_auth:\n    - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB0qS7fJqgW3y5m2uT6cXxk1kqv8v0o3mWmW9nJ4b{number} jane@host\n  \
         sudo: yes\n",
        2000 + number
    )
}

/// The layout that programs write: JSON.
fn brackets(text: &mut String, number: usize) -> std::fmt::Result {
    let opening = if number == 0 { "[" } else { "" };
    let closing = if number == 199 { "]\n" } else { ",\n" };
    write!(
        text,
        "{opening}{{\"id\": {number}, \"name\": \"minion-{number}\", \"grains\": {{\"os\": \"Debian\", \"osmajorrelease\": 12, \
         \"roles\": [\"web\", \"db\"]}}, \"up\": true, \"load\": 0.25, \"note\": null}}{closing}"
    )
}

/// Long text in quotes, in blocks and over several lines.
fn prose(text: &mut String, number: usize) -> std::fmt::Result {
    write!(
        text,
        "motd{number}: |\n  Welcome to host {number}.\n  All that is done here is written down: please be kind.\n\n  The \
         operators\nnote{number}: >-\n  A line that is folded\n  into another one.\nquoted{number}: 'It''s quoted, with: a \
         colon # and a hash'\nescaped{number}: \"tab\\t and \\u00e9, line\\n\"\nplain{number}: words that go on\n  over two \
         lines, naïvely\n"
    )
}

/// Short values of all types.
fn numbers(text: &mut String, number: usize) -> std::fmt::Result {
    writeln!(
        text,
        "- [{number}, {number}.5, 0x{number:x}, 1e3, yes, ~, 2026-01-02, 1:30, -7, .inf]\n- k{number}: {number}\n- off"
    )
}

fn measured(all: &[Texts]) -> serde_json::Value {
    let of = |texts: &Texts| {
        let bytes: usize = texts.texts.iter().map(String::len).sum();
        let works = ["events", "values"].map(|work| (work.to_owned(), compared(texts, work)));
        let mut row = serde_json::Map::from_iter(works);
        row.insert("bytes".to_owned(), bytes.into());
        (texts.name.to_owned(), row.into())
    };
    serde_json::Map::from_iter(all.iter().map(of)).into()
}

/// The nanoseconds of each reader's fastest turn, which depend least on what else the machine does.
fn compared(texts: &Texts, work: &str) -> serde_json::Value {
    let [ours, saphyr, yaml_serde] = READERS.map(|(_, reader)| {
        move || {
            texts
                .read(reader, work)
                .expect("all readers read all texts")
        }
    });
    let turns = times([&ours, &saphyr, &yaml_serde]);
    let rows = READERS.iter().enumerate();
    let rows = rows.map(|(at, (name, _))| ((*name).to_owned(), json!(fastest(&turns, at))));
    serde_json::Map::from_iter(rows).into()
}
