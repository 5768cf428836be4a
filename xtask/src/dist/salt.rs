//! The Salt extension and its native module, as wheels, in a masterless minion.

use serde_json::Value;
use std::path::Path;

use xshell::cmd;

use super::package::Package;
use super::wheel;
use super::workshop::Workshop;
use crate::{Result, project_root};

/// The distribution of the native module, and the directory of its crate.
pub const MODULE: &str = "mapstack-native";
pub const DIRECTORY: &str = "salt/native";

/// The version of Salt that the extension is tried in.
const SALT: &str = "salt==3008.3";

/// A masterless minion's files and pillar; its grains and the data of the pillar are those of a minion of the examples.
const MINION: &str = "\
file_client: local
file_roots: {base: [EXAMPLES/site, EXAMPLES/formulas]}
pillar_roots: {base: [ROOT/pillar]}
root_dir: ROOT
";
const PILLAR: &str = "{% import_yaml 'minion.yaml' as minion %}{{ minion.pillar | json }}\n";

/// Make both wheels; import the module in a new virtual environment; install the extension there, and ask a minion.
///
/// # Errors
/// A wheel is not what it says, or what it installs does not work.
pub fn run(workshop: &Workshop) -> Result<Package> {
    workshop.build_wheel(DIRECTORY)?;
    let mut seen = vec![wheel::inspect(workshop, MODULE)?];
    seen.push(build_extension(workshop)?);
    let (sh, dist) = (workshop.sh, &workshop.dist);
    let environment = workshop.fresh("salt")?;
    cmd!(sh, "python3 -m venv {environment}").run()?;
    let pip = environment.join("bin/pip");
    cmd!(
        sh,
        "{pip} install --quiet --no-index --find-links {dist} {MODULE}"
    )
    .run()?;
    import(workshop, &environment)?;
    seen.push("the module is installed without an index, and imported".into());
    cmd!(sh, "{pip} install --quiet {SALT}").run()?;
    cmd!(
        sh,
        "{pip} install --quiet --no-index --find-links {dist} saltext-mapstack"
    )
    .run()?;
    ask_minion(workshop, &environment.join("bin/salt-call"))?;
    seen.push(format!(
        "the extension answers map.data in a masterless minion, {SALT}, as recorded"
    ));
    Ok(Package::Done(seen))
}

/// Import the native module in a virtual environment.
///
/// # Errors
/// It does not exist, or is of another version.
pub fn import(workshop: &Workshop, environment: &Path) -> Result {
    let (sh, python) = (workshop.sh, environment.join("bin/python"));
    let version = cmd!(
        sh,
        "{python} -c 'import mapstack; print(mapstack.__version__)'"
    )
    .read()?;
    if version == workshop.version {
        return Ok(());
    }
    Err(format!("the native module says that it is {version:?}").into())
}

/// Make the extension's sources and its wheel from them, away from what was built in its folder before.
fn build_extension(workshop: &Workshop) -> Result<String> {
    let (sh, dist, uv) = (workshop.sh, &workshop.dist, workshop.tool("uv"));
    let (directory, python) = (workshop.fresh("extension")?, workshop.tool("python"));
    let src = sh.create_dir(directory.join("src"))?;
    cmd!(sh, "cp -rL salt/saltext-mapstack/src/saltext {src}").run()?;
    for part in [
        "pyproject.toml",
        "README.md",
        "LICENSE-APACHE",
        "LICENSE-MIT",
    ] {
        cmd!(sh, "cp -rL salt/saltext-mapstack/{part} {directory}").run()?;
    }
    cmd!(
        sh,
        "{uv} build --quiet --no-create-gitignore --python {python} --out-dir {dist} {directory}"
    )
    .run()?;
    let wheel = workshop.made(&format!("saltext_mapstack-{}-", workshop.version), ".whl")?;
    Ok(format!("{}: built from its sources", wheel::name(&wheel)))
}

/// Ask a masterless minion for the configuration of a formula.
fn ask_minion(workshop: &Workshop, salt_call: &Path) -> Result {
    let (sh, examples) = (workshop.sh, project_root().join("examples"));
    let root = workshop.fresh("minion")?;
    let described = sh.read_file(examples.join("minions/web1.yaml"))?;
    let minion = MINION
        .replace("EXAMPLES", &examples.to_string_lossy())
        .replace("ROOT", &root.to_string_lossy());
    sh.write_file(root.join("minion"), minion)?;
    sh.write_file(root.join("minion.d/web1.conf"), &described)?;
    sh.write_file(root.join("pillar/minion.yaml"), &described)?;
    sh.write_file(root.join("pillar/top.sls"), "base: {'*': [all]}\n")?;
    sh.write_file(root.join("pillar/all.sls"), PILLAR)?;
    let said = cmd!(
        sh,
        "{salt_call} --config-dir {root} --local --out=json map.data users"
    )
    .read()?;
    let said: Value = serde_json::from_str(&said)?;
    let recorded: Value =
        serde_json::from_str(&sh.read_file(examples.join("expected/web1.json"))?)?;
    if said["local"] == recorded {
        return Ok(());
    }
    Err(format!(
        "map.data in a minion does not return what examples/expected/web1.json has, but\n{said:#}"
    )
    .into())
}
