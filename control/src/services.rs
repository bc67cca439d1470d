//! What methods of every wire share: the state of a session, and commands that are run and waited for. Services know the
//! mux and nothing of wires, names of methods or JSON.

pub mod audit;
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
