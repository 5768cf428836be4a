//! libFuzzer's entry to the target `json`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mapstack_fuzz::targets::json(data));
