//! A pillar of a few sls files, as tests have it: `top.sls`, targets, and files merged in order.

use mapstack::minion::Minion;
use mapstack::value::{Key, Map, Value};
use mapstack::{Condition, Engine, Error, ErrorKind, Means, loader::SaltPath};
use mapstack_merge::{Options, merge};

pub(crate) const FILE: &str = "top.sls";
pub(crate) const ENV: &str = "base";

/// The kinds of targets, and the functions that match them.
const KINDS: [(&str, &str); 9] = [
    ("compound", "compound"),
    ("glob", "glob"),
    ("grain", "grain"),
    ("grain_pcre", "grain_pcre"),
    ("ipcidr", "ipcidr"),
    ("list", "list"),
    ("pcre", "pcre"),
    ("pillar", "pillar"),
    ("pillar_pcre", "pillar_pcre"),
];

/// The pillar that an engine's files make (Salt: `Pillar.compile_pillar`). It has one saltenv, and
/// its files include no others.
pub(crate) fn pillar(engine: &Engine, minion: &Minion) -> Result<Map, Error> {
    let top = render(engine, minion, FILE)?;
    let mut pillar = Value::map();
    let options = Options::default();
    for name in names(engine, minion, &top)? {
        let path = name.replace('.', "/");
        let candidates = [format!("{path}.sls"), format!("{path}/init.sls")];
        let there = candidates.iter().find(|path| is_there(engine, path));
        let path = there.ok_or_else(|| {
            Error::new(
                ErrorKind::File,
                format!(
                    "{FILE} names '{name}', and neither {} exists",
                    candidates.join(" nor ")
                ),
            )
        })?;
        let data = render(engine, minion, path)?;
        if data
            .as_map()
            .is_some_and(|data| data.contains_key("include"))
        {
            let message =
                format!("{path} includes others, which is not built in for the pillars of tests");
            return Err(Error::new(ErrorKind::Unsupported, message)
                .note(format!("give the whole pillar with {}", Means::Pillar)));
        }
        if data.truthy() {
            pillar = merge(pillar, &data, &options)
                .map_err(|e| Error::new(ErrorKind::Merge, format!("{path}: {e}")))?;
        }
    }
    Ok(pillar.as_map().cloned().unwrap_or_default())
}

fn render(engine: &Engine, minion: &Minion, path: &str) -> Result<Value, Error> {
    engine.run(minion).with_saltenv(ENV).sls(path)
}

fn is_there(engine: &Engine, path: &str) -> bool {
    let fetched = engine.files().fetch(&SaltPath::from_relative(path), ENV);
    matches!(fetched, Ok(mapstack::loader::Fetched::Found { .. }))
}

/// The files that a minion gets, each once.
fn names(engine: &Engine, minion: &Minion, top: &Value) -> Result<Vec<String>, Error> {
    let wrong = |message: String| Error::new(ErrorKind::DataSource, format!("{FILE}: {message}"));
    let Some(envs) = top.as_map() else {
        return Err(wrong(format!(
            "it is {}, not a mapping of saltenvs",
            top.kind().described()
        )));
    };
    if let Some((env, _)) = envs.iter().find(|(env, _)| env.as_str() != Some(ENV)) {
        return Err(wrong(format!(
            "it has the saltenv '{env}', and the pillars of tests have only {ENV}"
        )));
    }
    let targets = envs
        .get(ENV)
        .and_then(Value::as_map)
        .into_iter()
        .flat_map(Map::iter);
    let mut names: Vec<String> = Vec::new();
    for (target, list) in targets {
        let list = list
            .as_list()
            .ok_or_else(|| wrong(format!("the value of '{target}' is not a list")))?;
        let kind = list
            .iter()
            .filter_map(Value::as_map)
            .find_map(|entry| entry.get("match"));
        let kind = kind.map_or_else(|| "compound".to_owned(), ToString::to_string);
        let (_, function) = KINDS
            .iter()
            .find(|(name, _)| *name == kind)
            .ok_or_else(|| {
                wrong(format!(
                    "'{target}' is matched by '{kind}', which is not built in"
                ))
            })?;
        if matches(engine, minion, function, target)? {
            names.extend(list.iter().filter_map(Value::as_str).map(str::to_owned));
        }
    }
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    Ok(names)
}

fn matches(engine: &Engine, minion: &Minion, function: &str, target: &Key) -> Result<bool, Error> {
    let target = Value::from(target.to_string()).repr();
    engine.holds(
        &Condition::parse(&format!("salt['match.{function}']({target})"))?,
        minion,
    )
}
