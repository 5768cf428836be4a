//! The trial of an installed command: print the results that the examples record, find a mistake, run Mako.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use xshell::{Shell, cmd};

use crate::{Result, project_root};

/// The path to search for programs that are not part of the package, without a developer's own.
const BARE_PATH: &str = "/usr/bin:/bin:/usr/sbin:/sbin";

/// The command as it was installed, and the examples as it sees them.
pub struct Trial<'t> {
    pub sh: &'t Shell,
    /// The command that starts it, such as `chroot DIRECTORY mapstack`.
    pub command: Vec<OsString>,
    /// The directory with the folder `examples`, for the command.
    pub directory: &'t Path,
}

impl Trial<'_> {
    /// Run what is to be seen of every package. The result is the time of the first `lint`.
    ///
    /// # Errors
    /// Something is not as recorded.
    pub fn run(&self) -> Result<Duration> {
        let start = Instant::now();
        let linted = self.answer(&["lint", "users", "--root", "examples/broken"], 1)?;
        let took = start.elapsed();
        expect("lint", &linted, "error[yaml-syntax]")?;
        let version = self.answer(&["--version", "-v"], 0)?;
        expect("--version -v", &version, "\nmapstack-python ")?;
        let data = "data users --root examples/site --root examples/formulas --minion examples/minions/web1.yaml";
        self.prints(data, "web1.yaml")?;
        let makostack = "pillar --makostack=examples/pillars/makostack/stack.cfg \
                         --minions=examples/pillars/minions --id=web1.example.org";
        self.prints(makostack, "pillar-makostack-web1.yaml")?;
        Ok(took)
    }

    fn prints(&self, arguments: &str, recorded: &str) -> Result {
        let arguments: Vec<_> = arguments.split_whitespace().collect();
        let printed = self.answer(&arguments, 0)?;
        let recorded = project_root().join("examples/expected").join(recorded);
        if printed.trim_end() == self.sh.read_file(&recorded)?.trim_end() {
            return Ok(());
        }
        Err(format!(
            "{arguments:?} does not print {}, but\n{printed}",
            recorded.display()
        )
        .into())
    }

    /// The output of the command to both streams, for this exit status.
    fn answer(&self, arguments: &[&str], status: i32) -> Result<String> {
        let (sh, command) = (self.sh, &self.command);
        let _in = sh.push_dir(self.directory);
        let (program, before) = command.split_first().ok_or("the command to try is empty")?;
        let output = cmd!(sh, "{program} {before...} {arguments...}")
            .quiet()
            .env("PATH", BARE_PATH)
            .env_remove("MAPSTACK_PYTHON")
            .ignore_status()
            .output()?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let (ended, said) = (output.status, text(output.stderr));
        let printed = text(output.stdout);
        if ended.code() == Some(status) {
            return Ok(printed);
        }
        Err(format!("{command:?} {arguments:?}: {ended}, and not {status}\n{printed}{said}").into())
    }
}

fn expect(what: &str, text: &str, part: &str) -> Result {
    if text.contains(part) {
        return Ok(());
    }
    Err(format!("{what} does not print {part:?}:\n{text}").into())
}
