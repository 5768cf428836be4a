//! The tests of the crate, in one program: each one more would link everything once more.

#[path = "../../mapstack/tests/common/mod.rs"]
mod common;
#[path = "../../pillar/tests/common/disk.rs"]
mod disk;
mod edits;
mod files;
mod lineage;
mod maps;
mod pillars;
mod states;
#[path = "../../pillar/tests/common/whole_pillar.rs"]
mod whole_pillar;
