//! The template stage: Jinja as Salt speaks it, over Python's objects.
//!
//! The crate does not know about file servers, minions, strategies or layers.
//!
#![doc = include_str!("../README.md")]

mod language;
pub mod pipe;
#[cfg(feature = "tera")]
mod tera;

#[cfg(feature = "tera")]
pub use language::Tera;
pub use language::{Jinja, Language, Mako};
pub use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Result, TemplatePlace};

/// A template's request, its host and its result: the part of [`mapstack_salt_jinja`] that callers need.
pub mod jinja {
    pub use mapstack_salt_jinja::{
        Dialect, Host, Jinja2, Limits, NoHost, OutputOrigin, PillarStack, RenderResult, Request,
        Salt, SourceMap, Syntax, TemplateCache, Vm, render, request,
    };
}
