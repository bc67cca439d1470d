//! Runs the fuzz body `reflow` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    unterm_tests::fuzz::Body::named("reflow").expect("a body").run(input);
});
