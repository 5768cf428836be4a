//! This machine as an answer to calls out of templates, behind permissions.
//!
//! `salt['cmd.run']`, `salt['file.read']` and filters such as `which` look at the machine that a
//! template is rendered on. mapstack renders for a minion, which is another machine as a rule, so
//! each of these is refused unless it is permitted by name. The module does not know about templates, layers or minions.
//!
//! ```
//! use mapstack::{Call, Functions};
//! use mapstack_frontend::host::{Host, Permissions};
//!
//! let host = Host::new(Permissions::parse(["file.*"]).unwrap());
//! let call = Call::new("file.directory_exists").arg("/");
//! assert_eq!(host.call(&call).unwrap().unwrap(), true.into());
//! assert!(host.call(&Call::new("cmd.run").arg("id")).is_none());
//! ```
//!
//! | part | functions |
//! |---|---|
//! | files, read only | `file.*`, the filters `file_hashsum`, `is_bin_file`, `is_empty`, `is_text_file`, `list_files` |
//! | programs | `cmd.*`, the filter `which` |
//! | keys | `gpg.decrypt` |
//! | the environment | `environ.*` |
//! | users and groups | `user.*`, `group.*`, the filter `get_uid` |
//! | the network | `network.*`, `dnsutil.*`, `http.query`, the filters `dns_check`, `http_query` |
//! | everything a Salt on this machine has | [`SaltCall`] |
//!
//! Functions have Salt's names, arguments and results. They exist on Unix only.

#[cfg(unix)]
mod args;
#[cfg(unix)]
mod cmd;
#[cfg(unix)]
mod environ;
#[cfg(unix)]
mod file;
#[cfg(unix)]
mod find;
#[cfg(unix)]
mod gpg;
#[cfg(unix)]
mod hash;
#[cfg(all(unix, feature = "http"))]
mod http;
pub mod mine;
#[cfg(all(unix, not(feature = "http")))]
mod no_http;
#[cfg(all(unix, not(feature = "http")))]
use no_http as http;
#[cfg(unix)]
mod network;
mod permissions;
mod process;
mod salt_call;
#[cfg(unix)]
mod stat;
mod table;
#[cfg(unix)]
mod users;
#[cfg(unix)]
mod which;

use mapstack::value::Value;
use mapstack::{Call, CallError, Functions, Means};

pub use permissions::{Permissions, UnknownName};
pub use salt_call::{SaltCall, UnreadableCommand};

use table::{FunctionTable, MachineCall};

#[cfg(unix)]
const TABLES: &[FunctionTable] = &[
    cmd::TABLE,
    environ::TABLE,
    file::TABLE,
    find::TABLE,
    gpg::TABLE,
    hash::TABLE,
    http::TABLE,
    network::TABLE,
    stat::TABLE,
    users::TABLE,
    which::TABLE,
];
#[cfg(not(unix))]
const TABLES: &[Table] = &[];

/// Every name that can be permitted.
fn names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().copied().flatten().map(|(name, _)| *name)
}

fn find_function(name: &str) -> Option<MachineCall> {
    TABLES
        .iter()
        .copied()
        .flatten()
        .find(|(known, _)| *known == name)
        .map(|(_, function)| *function)
}

/// The functions of this machine that templates may call.
#[derive(Debug, Clone, Default)]
pub struct Host {
    permissions: Permissions,
}

impl Host {
    /// The functions that are permitted. Without any, nothing is answered, and the message says
    /// which permission a call needs.
    #[must_use]
    pub fn new(permissions: Permissions) -> Self {
        Host { permissions }
    }
}

impl Functions for Host {
    fn has(&self, name: &str) -> bool {
        self.permissions.allow(name) && find_function(name).is_some()
    }

    fn has_module(&self, module: &str) -> bool {
        names().any(|name| {
            name.split_once('.').is_some_and(|(m, _)| m == module) && self.permissions.allow(name)
        })
    }

    fn call(&self, call: &Call) -> Option<Result<Value, CallError>> {
        let function = find_function(&call.name).filter(|_| self.permissions.allow(&call.name))?;
        Some(function(call))
    }

    fn advice(&self, call: &Call) -> Option<String> {
        let permissible =
            find_function(&call.name).is_some() && !self.permissions.allow(&call.name);
        permissible.then(|| {
            format!(
                "{} answers it on this machine, which need not be the minion",
                Means::Permission(Some(&call.name))
            )
        })
    }
}
