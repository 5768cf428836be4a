//! The file server and the facts of a minion.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use mapstack::loader::{Link, NotServed, SaltPath, Unserved};
use mapstack::minion::Minion;
use mapstack::{Engine, Error, Run, scheme};
use mapstack_value::pytext::codec;
use mapstack_value::{Map, Value};

use crate::content::{Content, of_error};
use crate::plan::ContentPlan;
use crate::source::path_and_saltenv;
use crate::unknown::{Reason, Unknown};

/// Calls a function in a saltenv, with its arguments.
type Caller<'w> = dyn Fn(&str, &str, &[Value], &Map) -> Result<Value, Error> + 'w;

/// The file server and the facts of a minion.
pub(crate) struct MinionFiles<'w> {
    engine: &'w Engine,
    caller: Box<Caller<'w>>,
    is_windows: bool,
    /// The names in each saltenv, which all minions of the engine share.
    listed: Arc<AllListed>,
}

/// The mode of a file of an engine's file server, with four digits; nothing if it is not known.
pub(crate) fn mode_of(engine: &Engine, url: &str, saltenv: &str) -> Option<String> {
    let asked = SaltPath::parse(url).ok()?;
    let saltenv = asked.saltenv().unwrap_or(saltenv).to_owned();
    let mode = engine.files().mode(&asked, &saltenv).ok().flatten()?;
    Some(format!("{:04o}", mode & 0o7777))
}

/// The names in all saltenvs, listed on demand.
#[derive(Default)]
pub(crate) struct AllListed(Mutex<HashMap<String, Arc<SaltenvNames>>>);

impl AllListed {
    /// The files of a saltenv. A saltenv that cannot be listed counts as empty: reading its files fails
    /// later.
    pub fn of(&self, engine: &Engine, saltenv: &str) -> Arc<SaltenvNames> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let listed = known.entry(saltenv.to_owned()).or_insert_with(|| {
            let mut files = engine.list(saltenv, "").unwrap_or_default();
            files.extend(dangling(engine, saltenv));
            files.sort_unstable();
            let above = |path: &String| -> Vec<String> {
                let slashes = path.match_indices('/');
                slashes.map(|(at, _)| path[..at].to_owned()).collect()
            };
            let directories = files.iter().flat_map(above).collect();
            Arc::new(SaltenvNames { files, directories })
        });
        listed.clone()
    }
}

/// The broken links. Salt lists them like files, and then does not find what they lead to.
fn dangling(engine: &Engine, saltenv: &str) -> impl Iterator<Item = String> {
    let unserved = engine.files().unserved(saltenv, "").unwrap_or_default();
    let is_link = |one: &Unserved| one.why != NotServed::NotUtf8;
    unserved.into_iter().filter(is_link).map(|one| one.path)
}

/// The names in a saltenv.
pub(crate) struct SaltenvNames {
    pub files: Vec<String>,
    pub directories: HashSet<String>,
}

impl<'w> MinionFiles<'w> {
    /// The files of a minion, with a new run for each function call.
    pub fn new(engine: &'w Engine, minion: &'w Minion) -> Self {
        MinionFiles {
            engine,
            caller: Box::new(move |saltenv, name, args, kwargs| {
                run(engine, minion, saltenv).call_function(name, args, kwargs)
            }),
            is_windows: is_windows(minion),
            listed: engine.extension(),
        }
    }

    /// The files of a minion, with one run for all function calls.
    pub fn in_run<'r: 'w>(run: &'w Run<'r>, is_windows: bool) -> Self {
        MinionFiles {
            engine: run.engine(),
            caller: Box::new(move |_, name, args, kwargs| run.call_function(name, args, kwargs)),
            is_windows,
            listed: run.engine().extension(),
        }
    }

    /// The files of a saltenv.
    pub fn listed(&self, saltenv: &str) -> Arc<SaltenvNames> {
        self.listed.of(self.engine, saltenv)
    }

    /// The path of a URL and the saltenv that it names, as the version of Salt reads it.
    pub fn path_and_saltenv(&self, url: &str) -> (String, Option<String>) {
        let (path, saltenv) = path_and_saltenv(url);
        let behaviour = self.engine.salt_version().behaviour();
        let keeps_slash = url.starts_with("salt:///") && !behaviour.urls_take_off_slashes;
        (
            if keeps_slash {
                format!("/{path}")
            } else {
                path
            },
            saltenv,
        )
    }

    /// The mode of a file of the file server, with four digits (Salt: `cp.stat_file`).
    pub fn mode(&self, url: &str, saltenv: &str) -> Result<String, Unknown> {
        mode_of(self.engine, url, saltenv).ok_or_else(|| {
            Unknown::new(
                Reason::NotBuiltIn,
                format!("the mode of {url} is not known"),
            )
        })
    }

    /// The links of the file server below a path; `None` if it cannot list links.
    pub fn links(&self, saltenv: &str, prefix: &str) -> Option<Vec<Link>> {
        self.engine.files().links(saltenv, prefix).ok().flatten()
    }

    /// Call a function.
    pub fn call(
        &self,
        saltenv: &str,
        name: &str,
        args: &[Value],
        kwargs: &Map,
    ) -> Result<Value, ContentPlan> {
        let called = (self.caller)(saltenv, name, args, kwargs);
        called.map_err(|error| match of_error(error) {
            Content::Unknown(unknown) => ContentPlan::Unknown(unknown),
            Content::Failed(error) => ContentPlan::Failed(error.diagnostic().message.clone()),
            Content::Bytes(_) | Content::Nothing => ContentPlan::Nothing,
        })
    }

    /// True if the minion runs Windows.
    pub fn is_on_windows(&self) -> bool {
        self.is_windows
    }

    /// The end of a line in texts that states make.
    pub fn line_end(&self) -> &'static str {
        match self.is_on_windows() {
            true => "\r\n",
            false => "\n",
        }
    }

    /// True if a path is absolute on the minion, or in a home directory (`~`).
    pub fn is_absolute(&self, path: &str) -> bool {
        let mut characters = path.chars();
        let has_drive = || {
            characters.next().is_some_and(|c| c.is_ascii_alphabetic())
                && characters.next() == Some(':')
                && characters.next().is_some_and(|c| c == '\\' || c == '/')
        };
        match self.is_on_windows() {
            true => {
                let mut has_drive = has_drive;
                has_drive() || path.starts_with("\\\\") || path.starts_with('~')
            }
            false => path.starts_with(['/', '~']),
        }
    }
}

/// A run of a minion in a saltenv.
pub(crate) fn run<'e>(engine: &'e Engine, minion: &Minion, saltenv: &str) -> Run<'e> {
    let run = engine.run(minion).with_saltenv(saltenv);
    run.following_secrets()
}

pub(crate) fn is_windows(minion: &Minion) -> bool {
    let kernel = minion.grains.get("kernel");
    kernel.and_then(Value::as_str) == Some("Windows")
}

/// A text in an encoding, as Python writes it.
pub(crate) fn encoded(text: &str, encoding: &str, errors: &str) -> Result<Vec<u8>, ContentPlan> {
    codec::encode(text, encoding, errors).map_err(|e| match e.class {
        // Python has many more encodings.
        "LookupError" => {
            let why =
                format!("the encoding '{encoding}' or its errors '{errors}' are not built in");
            ContentPlan::Unknown(Unknown::new(Reason::NotBuiltIn, why))
        }
        _ => ContentPlan::Failed(e.message),
    })
}

/// True for a URL of the file server.
pub(crate) fn is_of_file_server(url: &str) -> bool {
    scheme(url).as_deref() == Some("salt")
}
