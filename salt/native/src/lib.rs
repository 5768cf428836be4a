//! mapstack as a Python module.
//!
//! The module wraps the public interface of the workspace's crates. Values go both ways as Python's own objects, Rust
//! works without the interpreter's lock, and what it needs from Python (functions of a live Salt, files of a remote
//! file server) is asked on the thread of the caller.
//!
//! The crate does not know about Salt's loader, its dunders, or where a minion keeps its options: `saltext-mapstack`
//! does.

mod convert;
mod engine;
mod errors;
mod facts;
mod files;
mod frame;
mod known;
mod live;
#[cfg(feature = "panics")]
mod panics;
mod pillar;
mod questions;
mod relay;

use pyo3::prelude::*;

/// The native part of the package `mapstack`.
#[pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use super::engine::Engine;
    #[pymodule_export]
    use super::facts::Facts;
    #[pymodule_export]
    use super::pillar::ExtPillar;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        #[cfg(feature = "panics")]
        module.add_function(wrap_pyfunction!(super::panics::panic, module)?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
