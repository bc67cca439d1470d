//! Runs the fuzz body `osc` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    unterm_tests::fuzz::Body::named("osc").expect("a body").run(input);
});
