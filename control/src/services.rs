//! What methods of every wire share: the state of a session, and commands that are run and waited for. Services know the
//! mux and nothing of wires, names of methods or JSON.

pub mod audit;
pub mod bytes;
pub mod changes;
pub mod clients;
pub mod door;
pub mod drivers;
pub mod events;
pub mod leases;
pub mod output;
pub mod policy;
pub mod proxy;
pub mod recording;
pub mod run;
pub mod shell;
pub mod wait;
pub mod workspace;

use regex_automata::meta::{BuildError, Regex};

/// A caller's pattern as a regular expression; a small one.
pub fn regex(pattern: &str) -> Result<Regex, Box<BuildError>> {
    let config = Regex::config().nfa_size_limit(Some(1 << 20));
    Regex::builder().configure(config).build(pattern).map_err(Box::new)
}
