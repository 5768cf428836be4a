//! Mako templates and Python modules of Salt, run in a sandbox.
//!
//! The crate does not know about files, minions, strategies or layers.
//!
#![doc = include_str!("../README.md")]

#[cfg(feature = "client")]
mod client;
pub mod protocol;

#[cfg(feature = "client")]
pub use client::{
    Chunk, FunctionAnswer, FunctionFiles, FunctionJob, Host, Interpreter, Limits, Loader,
    ModuleHost, NoHost, RenderJob, Request, SandboxReport, TemplateSource, TreeCall, call_tree,
    mako, render_by_tree, require_walls, run, run_as, walls,
};
