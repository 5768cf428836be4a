//! libFuzzer's entry to the target `matcher`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mapstack_fuzz::targets::matcher(data));
