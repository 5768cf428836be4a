//! The tests of the crate, in one program: each one more would link everything once more.

#[path = "../../mapstack/tests/common/mod.rs"]
mod common;
#[path = "common/inventory.rs"]
mod common_inventory;
#[path = "common/disk.rs"]
mod disk;
#[path = "../../mapstack/tests/common/messages.rs"]
mod messages;
#[path = "common/some_files.rs"]
mod some_files;
#[path = "../../mapstack/tests/common/tables.rs"]
mod tables;
#[path = "common/whole_pillar.rs"]
mod whole_pillar;

mod external;
mod git;
mod pillar;
mod pyobjects;
mod reclass;
mod saltclass;
mod shared;
mod stacks;
mod stateconf;
mod versions;
mod whole;
