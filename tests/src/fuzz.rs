//! Fuzz bodies: what must hold of the engine whatever bytes it is given.
//!
//! Owns the bodies (plain functions over bytes, [`BODIES`]), the generator and the mutator that make inputs for them, and the
//! minimiser. Never looks inside the engine: a body drives a `Term` as a pane and its viewers do. The driver is
//! `src/bin/fuzz.rs`, the short fixed run of every CI `tests/fuzz.rs`, and `fuzz/cargo-fuzz` wraps the same bodies.

mod corpus;
mod generate;
mod minimise;
mod mutate;
mod play;
mod random;
mod viewer;
mod words;

pub use corpus::{Corpus, regressions};
pub use minimise::minimise;
pub use mutate::mutate;
pub use random::Random;

use play::Plan;

/// Bytes at the start of an input that say how the rest is played: the terminal's size, where the stream is split, what
/// happens between the pieces. The rest is what a program writes.
pub const HEADER: usize = 8;

/// One fuzz body.
pub struct Body {
    /// Its name on the driver's command line, and of its folder of regressions.
    pub name: &'static str,
    generate: fn(&mut Random, &mut Vec<u8>),
    plan: Plan,
}

/// All bodies.
pub static BODIES: &[Body] = &[
    Body { name: "engine", generate: generate::anything, plan: Plan::ENGINE },
    Body { name: "osc", generate: generate::osc, plan: Plan::ENGINE },
    Body { name: "graphics", generate: generate::graphics, plan: Plan::IMAGES },
    Body { name: "sixel", generate: generate::sixel, plan: Plan::IMAGES },
    Body { name: "reflow", generate: generate::reflow, plan: Plan::REFLOW },
];

impl Body {
    /// The body of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        BODIES.iter().find(|body| body.name == name)
    }

    /// Plays `input`; a shorter one than [`HEADER`] is taken as ending in zeros.
    ///
    /// # Panics
    ///
    /// When something that must hold does not: that is the finding.
    pub fn run(&self, input: &[u8]) {
        play::play(input, &self.plan);
    }

    /// A new input of the kind this body is about.
    pub fn generate(&self, random: &mut Random) -> Vec<u8> {
        let mut input = random.next().to_le_bytes().to_vec();
        let pieces = 1 + random.below_one_of(&[4, 16, 64, 200]);
        for _ in 0..pieces {
            (self.generate)(random, &mut input);
        }
        input
    }
}
