//! Runs the fuzz body `screen` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    unterm_tests::fuzz::Body::named("screen").expect("a body").run(input);
});
