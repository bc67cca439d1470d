//! Runs each fuzz body with a small, fixed number of inputs, and with all earlier findings.

use std::time::Duration;

use unterm_tests::fuzz::{BODIES, Body, Corpus, Random, regressions, servers};

/// The number of inputs per body. All take a few seconds in total. `src/bin/fuzz.rs` can run longer.
const INPUTS: u64 = 150;

fn run(name: &str) {
    let body = Body::named(name).expect("a body of that name");
    for (path, input) in regressions(body).expect("the regressions can be read") {
        eprintln!("{}", path.display());
        body.run(&input);
    }
    let mut corpus = Corpus::new(body).expect("the corpus can be read");
    for seed in 0..INPUTS {
        // If the test fails, this line shows how to reach the same input: `fuzz --body … --seed 0 --inputs …`.
        eprintln!("input {seed} of seed 0");
        body.run(&corpus.next(&mut Random::new(seed)));
    }
}

#[test]
fn every_fuzz_body_has_a_test() {
    let names: Vec<_> = BODIES.iter().map(|body| body.name).collect();
    assert_eq!(names, ["engine", "osc", "graphics", "sixel", "reflow", "plugin", "screen"]);
}

#[test]
fn engine() {
    run("engine");
}

#[test]
fn osc() {
    run("osc");
}

#[test]
fn graphics() {
    run("graphics");
}

#[test]
fn sixel() {
    run("sixel");
}

#[test]
fn reflow() {
    run("reflow");
}

#[test]
fn plugin() {
    run("plugin");
}

#[test]
fn screen() {
    run("screen");
}

#[test]
fn servers_stay_healthy() {
    servers::run(Duration::ZERO, 1).expect("both programs are healthy");
}
