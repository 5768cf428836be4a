//! The tests of the crate, in one program: each one more would link everything once more.

mod common;

mod config;
mod deployed;
mod diff;
mod diff_pillars;
mod diff_stacks;
mod errors;
mod estate;
mod examples;
mod explain;
mod explain_pillar;
mod fetch;
mod fleet;
mod functions;
mod gitfs;
mod impact;
mod limits;
mod lint;
mod map;
mod minions;
mod pillar;
mod pipelines;
mod project;
mod readme;
mod render;
mod sandbox;
mod schemas;
mod secrets;
mod sources_pillar;
mod test;
mod tree_grains;
mod tree_modules;
mod usage;
mod warnings;
mod watch;
