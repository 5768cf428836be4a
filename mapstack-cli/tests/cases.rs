//! The cases below `tests/cases`: a folder for each verb, in the form that `console.rs` describes.

use crate::common::repository;
use crate::console::run_cases;

/// A test for each folder, so that they run beside each other and can be named.
macro_rules! folders {
    ($($folder:ident)*) => {
        $(
            #[test]
            fn $folder() {
                run_cases(stringify!($folder));
            }
        )*

        #[test]
        fn every_folder_is_run() {
            let folders = std::fs::read_dir(repository().join("mapstack-cli/tests/cases")).unwrap();
            for folder in folders {
                let name = folder.unwrap().file_name().into_string().unwrap();
                assert!([$(stringify!($folder)),*].contains(&&*name), "{name}");
            }
        }
    };
}

folders! { config convert deployed diff diff_pillars diff_stacks diff_states estate examples explain fetch file fleet functions gitfs highstate impact lint map messages minions modules pillar project render test usage }
