//! The fleet: panes of many machines through one hub.
//!
//! Owns the hub, which serves agents, the connector, which serves the hub on each machine, and what they say to each other.
//! Distribution is NATS's: requests, presence, buckets and streams. Hubs keep no state of their own, so that several can serve
//! one fleet. Connectors only dial out. What a connector types passes the authority of its instance, as any agent's call does, so
//! the pause, lease and secrets of the person at that machine win over the hub.

pub mod connector;
mod digest;
mod files;
pub mod hub;
mod identity;
mod jwt;
mod nats;
pub mod nats_server;
pub mod protocol;
pub mod signature;

pub use identity::{MachineId, machine_key_public, machine_name};
pub use nats::Credentials;
