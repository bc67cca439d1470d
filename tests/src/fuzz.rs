//! Fuzz bodies: properties that the engine and the plugins must keep for any input bytes. [`servers`] does the same for
//! the servers of running programs.
//!
//! Owns the bodies (plain functions over bytes, [`BODIES`]), the generator and mutator of their inputs, and the
//! minimizer. Never inspects the internals: a body uses a `Term` like a pane and its viewers, and a plugin like a host.
//! `src/bin/fuzz.rs` is the driver, `tests/fuzz.rs` is the short fixed run in every CI run, and `fuzz/cargo-fuzz` uses
//! the same bodies.

mod corpus;
mod dictionary;
mod generate;
mod minimize;
mod mutate;
mod play;
mod plugin;
mod random;
mod requests;
pub mod servers;
mod viewer;

pub use corpus::{Corpus, regressions};
pub use minimize::minimize;
pub use mutate::mutate;
pub use random::Random;

use play::{Plan, play};

/// The number of bytes at the start of an input that determine how the rest is played: the terminal's size, where the
/// stream is split, and what happens between the pieces. The remaining bytes are a program's output.
pub const HEADER: usize = 8;

/// One fuzz body.
pub struct Body {
    /// The body's name on the driver's command line, and in the folder of regressions.
    pub name: &'static str,
    generate: fn(&mut Random, &mut Vec<u8>),
    play: fn(&[u8]),
}

/// All bodies.
pub static BODIES: &[Body] = &[
    Body { name: "engine", generate: generate::anything, play: |input| play(input, &Plan::ENGINE) },
    Body { name: "osc", generate: generate::osc, play: |input| play(input, &Plan::ENGINE) },
    Body {
        name: "graphics",
        generate: generate::graphics,
        play: |input| play(input, &Plan::IMAGES),
    },
    Body { name: "sixel", generate: generate::sixel, play: |input| play(input, &Plan::IMAGES) },
    Body { name: "reflow", generate: generate::reflow, play: |input| play(input, &Plan::REFLOW) },
    Body { name: "plugin", generate: plugin::statement, play: plugin::play },
    Body { name: "screen", generate: generate::anything, play: plugin::classify },
];

impl Body {
    /// The body with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        BODIES.iter().find(|body| body.name == name)
    }

    /// Plays `input`. An input shorter than [`HEADER`] counts as padded with zeros.
    ///
    /// # Panics
    ///
    /// If a property does not hold. The panic is the finding.
    pub fn run(&self, input: &[u8]) {
        (self.play)(input);
    }

    /// Generates a new input for this body.
    pub fn generate(&self, random: &mut Random) -> Vec<u8> {
        let mut input = random.next().to_le_bytes().to_vec();
        let pieces = 1 + random.below_one_of(&[4, 16, 64, 200]);
        for _ in 0..pieces {
            (self.generate)(random, &mut input);
        }
        input
    }
}
