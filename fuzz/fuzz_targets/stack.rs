//! libFuzzer's entry to the target `stack`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mapstack_fuzz::targets::stack_files(data));
