//! `cargo xtask ci`: everything a change has to pass, quickest first.

use clap::Parser;
use xshell::{Shell, cmd};

use crate::{Result, tidy};

#[derive(Parser)]
pub struct Args {}

pub fn run(sh: &Shell, _: &Args) -> Result {
    cmd!(sh, "cargo fmt --all -- --check").run()?;
    tidy::run(sh, &tidy::Args {})?;
    cmd!(sh, "cargo clippy --workspace --all-targets -- -D warnings").run()?;
    // The README's own command.
    cmd!(sh, "cargo test --workspace").run()?;
    {
        let _many = sh.push_env("MAPSTACK_MUTANTS", "10000");
        cmd!(sh, "cargo test --workspace --test mutations").run()?;
    }
    // The tests have the features of the whole workspace; these have not.
    cmd!(sh, "cargo clippy -p mapstack-cli -- -D warnings").run()?;
    cmd!(
        sh,
        "cargo clippy -p mapstack-cli --no-default-features -- -D warnings"
    )
    .run()?;
    // A separate workspace, so that nothing above reaches it.
    cmd!(sh, "cargo check --manifest-path benchmarks/Cargo.toml").run()?;
    cmd!(
        sh,
        "cargo run --manifest-path fuzz/Cargo.toml --target-dir target -- --seconds 30"
    )
    .run()?;
    if cmd!(sh, "cargo deny --version")
        .quiet()
        .ignore_stdout()
        .ignore_stderr()
        .run()
        .is_ok()
    {
        cmd!(sh, "cargo deny check licenses bans sources").run()?;
    }
    let _denied = sh.push_env("RUSTDOCFLAGS", "-D warnings");
    cmd!(sh, "cargo doc --workspace --no-deps").run()?;
    // The packages to publish; the tests above have compiled them.
    cmd!(sh, "cargo package --workspace --no-verify --quiet").run()?;
    Ok(())
}
