//! libFuzzer's entry to the target `yaml`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mapstack_fuzz::targets::yaml(data));
