//! Runs the fuzz body `sixel` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    unterm_tests::fuzz::Body::named("sixel").expect("a body").run(input);
});
