//! Runs the fuzz body `plugin` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    unterm_tests::fuzz::Body::named("plugin").expect("a body").run(input);
});
