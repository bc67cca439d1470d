//! The fleet: the panes of many machines, which agents use through one hub.
//!
//! This crate owns the hub, which serves agents, the connector, which serves the hub on each machine, and the protocol
//! between them. NATS distributes the messages: requests, presence, buckets and streams. Hubs keep no state in memory
//! that others need, so that several hubs can serve one fleet. Connectors only open outgoing connections. The input of
//! a connector passes the authority of its instance, like the input of any other agent, so the pause, the lease and the
//! secrets of the user at that machine have priority over the hub.

pub mod connector;
mod files;
pub mod hub;
mod identity;
mod jwt;
mod nats;
pub mod nats_server;
pub mod protocol;
mod random;
mod sha256;
pub mod signature;

pub use identity::{MachineId, machine_key_public, machine_name};
pub use nats::Credentials;
