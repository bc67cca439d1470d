//! Runs the fuzz body `graphics` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    unterm_tests::fuzz::Body::named("graphics").expect("a body").run(input);
});
