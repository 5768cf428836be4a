//! libFuzzer's entry to the target `jinja`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mapstack_fuzz::targets::jinja(data));
