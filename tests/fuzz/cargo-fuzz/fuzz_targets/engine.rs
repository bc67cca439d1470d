//! Runs the fuzz body `engine` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    unterm_tests::fuzz::Body::named("engine").expect("a body").run(input);
});
