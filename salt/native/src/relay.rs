//! The files of a caller, for work on several threads: the caller's own thread asks for each.

use std::io;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::thread;

use mapstack::loader::{Fetched, FileServer, LoadError, SaltPath};

use crate::files::ClientFiles;

/// A thread's question.
type Question = Box<dyn FnOnce() + Send>;

/// A file server that passes questions on to the thread that [`relayed`] was called on.
pub(crate) struct Relay {
    questions: Sender<Question>,
}

/// Do work on another thread, while this one, which works for a caller, answers its questions about files.
pub(crate) fn relayed<T: Send>(work: impl FnOnce(Relay) -> T + Send) -> T {
    let (questions, asked) = channel::<Question>();
    thread::scope(|scope| {
        let worker = scope.spawn(move || work(Relay { questions }));
        // It ends with the work, which owns all senders.
        for question in asked {
            question();
        }
        worker.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

impl Relay {
    /// The answer of the caller's files. An error only if its thread no longer answers.
    fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(ClientFiles) -> T + Send + 'static,
    ) -> Result<T, LoadError> {
        let (answer, answered) = sync_channel(1);
        let asked = self.questions.send(Box::new(move || {
            // Who asked may be gone.
            let _ = answer.send(question(ClientFiles));
        }));
        let gone = || LoadError::Io {
            path: PathBuf::new(),
            source: io::Error::other("the thread that fetches files has ended"),
        };
        asked.map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())
    }
}

impl FileServer for Relay {
    fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched, LoadError> {
        let (path, saltenv) = (path.clone(), saltenv.to_owned());
        self.ask(move |files| files.fetch(&path, &saltenv))?
    }

    fn find_all(&self, path: &SaltPath, saltenv: &str) -> Result<Vec<PathBuf>, LoadError> {
        let (path, saltenv) = (path.clone(), saltenv.to_owned());
        self.ask(move |files| files.find_all(&path, &saltenv))?
    }

    fn list(&self, saltenv: &str, prefix: &str) -> Result<Vec<String>, LoadError> {
        let (saltenv, prefix) = (saltenv.to_owned(), prefix.to_owned());
        self.ask(move |files| files.list(&saltenv, &prefix))?
    }

    fn envs(&self) -> Vec<String> {
        self.ask(|files| files.envs()).unwrap_or_default()
    }
}
