//! The program that runs Mako templates and Python modules for the command `mapstack`.
//!
//! The crate does not know about minions, layers or the file server; templates ask the command.
//!
#![doc = include_str!("../README.md")]

mod error;
mod mako;
#[cfg(unix)]
mod nursery;
mod sandbox;
mod session;
pub mod walls;

#[cfg(unix)]
pub use nursery::serve;
pub use session::serve_once;

/// Native code of the interpreter nests on the stack; it refuses to go on where that ends.
const STACK: usize = 256 << 20;

/// Do work on a thread that has the stack which the interpreter needs.
fn on_large_stack(work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let thread = std::thread::Builder::new()
        .name("python".to_owned())
        .stack_size(STACK)
        .spawn(work)?;
    thread
        .join()
        .map_err(|_| std::io::Error::other("the interpreter did not start"))
}
