//! libFuzzer's entry to the target `states`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mapstack_fuzz::targets::states(data));
