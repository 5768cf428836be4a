//! `pkg.version_cmp` and `lowpkg.version_cmp`: which of two versions of a package is newer, by the rules of the
//! minion's packages.

pub mod dpkg;
pub mod rpm;

use std::cmp::Ordering;

use mapstack_diagnostic::{Diagnostic, ErrorKind};
use mapstack_pyobject::{CallArgs, Error, Obj, Result, required};
use mapstack_salt_jinja::Vm;
use mapstack_value::Value;

use super::{ModuleTable, refused, truth_or};
use crate::Context;

pub(super) const TABLE: ModuleTable = &[
    ("lowpkg.version_cmp", |run, vm, args| {
        let args = Versions::of(args, "lowpkg.version_cmp", ["ver1", "ver2"])?;
        warn_of_master(run, "lowpkg.version_cmp");
        match packages(run) {
            Packages::Redhat | Packages::Suse => args.compared(vm, rpm::compare),
            Packages::Debian | Packages::Other => Err(not_here(run, "lowpkg.version_cmp")),
        }
    }),
    ("pkg.version_cmp", |run, vm, args| {
        const NAME: &str = "pkg.version_cmp";
        let (names, compare): (_, Compare) = match packages(run) {
            Packages::Debian => (["pkg1", "pkg2"], dpkg::compare),
            Packages::Redhat => (["pkg1", "pkg2"], rpm::compare),
            Packages::Suse => (["ver1", "ver2"], rpm::compare),
            Packages::Other => return Err(not_here(run, NAME)),
        };
        // Other keywords are ignored.
        let (known, _): (Vec<_>, Vec<_>) = args
            .named
            .into_iter()
            .partition(|(name, _)| names.contains(&&**name) || **name == *"ignore_epoch");
        let args = CallArgs {
            positional: args.positional,
            named: known,
        };
        warn_of_master(run, NAME);
        Versions::of(args, NAME, names)?.compared(vm, compare)
    }),
];

/// Compares two versions; `None` where the package manager refuses one.
type Compare = fn(&str, &str) -> Option<Ordering>;

/// The family of a minion's package manager, as far as versions go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Packages {
    Debian,
    Redhat,
    Suse,
    Other,
}

/// Systems whose packages are those of Red Hat, by the grain `os` in lower case.
const LIKE_REDHAT: [&str; 8] = [
    "amazon",
    "issabel pbx",
    "openeuler",
    "virtuozzo",
    "virtuozzolinux",
    "vmware photon os",
    "xcp",
    "xenserver",
];

/// The module that Salt loads as `pkg` (`__virtual__` of aptpkg, yumpkg and zypperpkg).
fn packages(run: &dyn Context) -> Packages {
    let grain = |name| run.grain(name).map(|grain| grain.to_string());
    let family = grain("os_family").unwrap_or_default();
    match &*family {
        "Debian" => return Packages::Debian,
        "Suse" => return Packages::Suse,
        _ => {}
    }
    let os = grain("os").unwrap_or_default().to_lowercase();
    match family.to_lowercase() == "redhat" || LIKE_REDHAT.contains(&&*os) {
        true => Packages::Redhat,
        false => Packages::Other,
    }
}

/// In a pillar, the package tools are those of the master's machine, of which nothing is known here.
fn warn_of_master(run: &dyn Context, name: &str) {
    if !run.is_elsewhere() {
        return;
    }
    let family = run.grain("os_family").unwrap_or_default();
    let message = format!(
        "{name} in a pillar needs the package tools of the family {family} on the master; without them, Salt fails"
    );
    let warning = Diagnostic::warning(ErrorKind::Lookup, message);
    run.warn(
        warning.with_help("compare versions in a state, or in a map, where the minion does it"),
    );
}

fn not_here(run: &dyn Context, name: &str) -> Box<Error> {
    let family = run.grain("os_family").unwrap_or_default();
    let message = format!("Salt has no '{name}' on a minion of the os_family '{family}'");
    refused(message).with_help(
        "pkg.version_cmp exists for the families Debian, RedHat and Suse, lowpkg.version_cmp for the last two",
    )
}

/// The arguments of a comparison.
struct Versions {
    first: String,
    second: String,
}

impl Versions {
    fn of(args: CallArgs, function: &str, names: [&str; 2]) -> Result<Self> {
        let [first, second, ignore_epoch] =
            args.bind(function, [names[0], names[1], "ignore_epoch"])?;
        let ignore_epoch = truth_or(ignore_epoch, false)?;
        let text = |given: Option<Obj>, name: &str| -> Result<String> {
            let text = required(given, function, name)?.to_value()?.to_string();
            Ok(match text.split_once(':') {
                Some((_, rest)) if ignore_epoch => rest.to_owned(),
                _ => text,
            })
        };
        Ok(Versions {
            first: text(first, names[0])?,
            second: text(second, names[1])?,
        })
    }

    fn compared(&self, vm: &Vm<'_>, compare: Compare) -> Result<Obj> {
        vm.burn((self.first.len() + self.second.len()) / 16)?;
        let order = compare(&self.first, &self.second).map(|order| order as i64);
        Ok(Obj::from(order.map_or(Value::None, Value::from)))
    }
}
