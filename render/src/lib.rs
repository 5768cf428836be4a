//! The template stage.

pub mod jinja;
