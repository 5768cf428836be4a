//! Absolute paths of the machine that files are deployed to, read from the folders of the checkout.

use mapstack_diagnostic::{Diagnostic, ErrorKind, Result};
use mapstack_functions::{
    OnMachine, PathBelowRoot, below_roots, look_on_machine, looks_on_machine,
};
use mapstack_loader::SaltPath;
use mapstack_pyobject::{CallArgs, Obj};
use mapstack_salt_jinja::Vm;
use mapstack_value::posixpath::normpath;

use crate::file::File;
use crate::host::RunHost;
use crate::run::Run;
use crate::trace::{FileRead, FileReadKind};

impl Run<'_> {
    /// The file or directory at an absolute path; `None` where no folder is deployed there.
    ///
    /// # Errors
    /// It cannot be read, or is a link out of the folders.
    pub fn on_machine(&self, path: &str) -> Result<Option<OnMachine>> {
        let deployed = self.engine.deployed();
        if deployed.local(path).is_some() {
            return self.at_deployed(path);
        }
        if let Some(path) = deployed.known_as(path) {
            return self.at_deployed(&path);
        }
        let Some((place, local)) = deployed.guess(path) else {
            return Ok(None);
        };
        // A missing file does not support a guessed place.
        let found = self.at_deployed(&local)?;
        let found = found.filter(|found| !matches!(found, OnMachine::Missing));
        if found.is_some() {
            let message =
                format!("{place} is taken for this checkout, where a file of this path is");
            let help = format!(
                "`deployed: {{{place}: .}}` in .mapstack.yaml says so, or what else is there"
            );
            self.warn(Diagnostic::warning(ErrorKind::File, message).with_help(help));
        }
        Ok(found)
    }

    /// The file or directory at a deployed path.
    fn at_deployed(&self, path: &str) -> Result<Option<OnMachine>> {
        let (deployed, files) = (self.engine.deployed(), &self.engine.deployed_files);
        let Some((found, kind)) = OnMachine::at(deployed, files, path)? else {
            return Ok(None);
        };
        let local = deployed.local(path).unwrap_or_default();
        self.note_on_machine(&normpath(path), &local, kind);
        Ok(Some(found))
    }

    /// A file at an absolute path, as a template that is called by this path.
    pub(crate) fn file_on_machine(&self, path: &str) -> Result<Option<File>> {
        Ok(match self.on_machine(path)? {
            Some(OnMachine::File { on_disk, bytes }) => {
                self.note_on_disk(path, on_disk.clone().into());
                Some(File {
                    path: path.into(),
                    shown: on_disk,
                    bytes,
                })
            }
            _ => None,
        })
    }

    /// Record an access: below a root as one of the root's own, elsewhere as one that belongs to no saltenv.
    fn note_on_machine(&self, path: &str, local: &str, kind: FileReadKind) {
        let mut is_below = false;
        let inside = |inside: &str| match kind {
            FileReadKind::List => format!("{inside}/"),
            _ => inside.to_owned(),
        };
        for below in below_roots(path, &self.option("file_roots")) {
            self.note_read(&below.saltenv, &inside(below.inside), kind);
            is_below = true;
        }
        if let Some(master) = &self.master {
            let roots = self.option("pillar_roots");
            for PathBelowRoot {
                saltenv,
                inside: path,
                ..
            } in below_roots(path, &roots)
            {
                // The files of a pillar record what they are asked for.
                let _ = match kind {
                    FileReadKind::List => {
                        master.pillar_files.list(&saltenv, &inside(path)).map(drop)
                    }
                    _ => {
                        let asked = SaltPath::from_relative(path);
                        master.pillar_files.fetch(&asked, &saltenv).map(drop)
                    }
                };
                is_below = true;
            }
        }
        if !is_below {
            self.note_read(FileRead::OF_NO_SALTENV, local, kind);
        }
    }
}

impl RunHost<'_, '_> {
    /// Answer a call that only looks at files below a deployed path.
    pub(crate) fn ask_deployed(
        &self,
        vm: &Vm<'_>,
        name: &str,
        args: &CallArgs,
    ) -> Option<mapstack_pyobject::Result<Obj>> {
        self.has_deployed(name)
            .then(|| look_on_machine(self.run, vm, name, args))
            .flatten()
    }

    /// True if calls of a function are answered for deployed paths.
    pub(crate) fn has_deployed(&self, name: &str) -> bool {
        !self.run.engine.deployed().is_empty() && looks_on_machine(name)
    }
}
