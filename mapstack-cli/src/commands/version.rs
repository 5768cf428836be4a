//! `mapstack --version`.

use mapstack::sandbox;
use mapstack_report::sandbox::walls;

use crate::{build, output};
use mapstack_frontend::console::Failure;

pub fn run(verbose: bool) -> Result<(), Failure> {
    let mut text = format!("mapstack {}\n", env!("CARGO_PKG_VERSION"));
    if verbose {
        text += &build::described();
        let found = sandbox::walls();
        let found = found.as_ref();
        text += &walls(found.map_err(|why| (&*why.message, why.help.as_deref())));
    }
    output::write_listing(&text)
}
