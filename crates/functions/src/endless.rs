//! Functions of the tree that do not end, or give too much: they are asked for some minions, and then no more.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use mapstack_pyobject::{Error, ErrorKind};
use mapstack_sandbox::{FunctionJob, Loader};

/// The minions for which a function may reach a limit before it counts as one that always does. For a few it may loop on
/// what only they have.
const MOST: usize = 3;

/// The functions of the tree that reached a limit whenever they were asked, with the last error.
#[derive(Default)]
pub struct Endless(Mutex<HashMap<String, (usize, Box<Error>)>>);

impl Endless {
    /// The error of a function that always reaches a limit.
    pub(crate) fn known(&self, job: &FunctionJob) -> Option<Box<Error>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A module that does not load has no function that does.
        let names = [name_of(job), name(job.loader, &job.module, None)];
        let found = names.iter().filter_map(|name| known.get(name));
        let given_up = found.filter(|(times, _)| *times >= MOST);
        given_up.map(|(_, error)| error.clone()).next()
    }

    /// Learn how a function ended.
    pub(crate) fn learn<T>(&self, name: String, made: &mapstack_pyobject::Result<T>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match made {
            Err(error) if error.kind == ErrorKind::Limit => {
                let (times, last) = known.entry(name).or_insert_with(|| (0, error.clone()));
                (*times, *last) = (*times + 1, error.clone());
            }
            _ => drop(known.remove(&name)),
        }
    }
}

/// The name of what a job asks for.
pub(crate) fn name_of(job: &FunctionJob) -> String {
    name(job.loader, &job.module, job.function.as_deref())
}

fn name(loader: Loader, module: &str, function: Option<&str>) -> String {
    format!("{loader:?} {module}.{}", function.unwrap_or_default())
}

impl fmt::Debug for Endless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Endless")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_never_worked_is_given_up() {
        let job = FunctionJob {
            loader: Loader::Modules,
            module: "site".into(),
            function: Some("spin".into()),
            arguments: Vec::new(),
            keywords: Vec::new(),
        };
        let endless = Endless::default();
        let learn = |made| endless.learn(name_of(&job), &made);
        (0..MOST - 1).for_each(|_| learn(Err(Error::limit("too long"))));
        assert!(endless.known(&job).is_none());
        learn(Ok(()));
        (0..MOST).for_each(|_| learn(Err(Error::limit("too long"))));
        assert_eq!(endless.known(&job).unwrap().message, "too long");
        learn(Err(Error::value_error("no")));
        assert!(endless.known(&job).is_none());
    }
}
