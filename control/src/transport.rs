//! The transport: how bytes reach the server, and how they become messages.
//!
//! Owns accepting connections ([`listen`]), the limits on connections that have not logged in ([`limits`]), framing
//! ([`framing`]), and the life of a connection ([`connection`]): reading, answering in order or concurrently, writing,
//! events, and the end. A connection is generic over its two byte streams, its framing and its dialect. The transport
//! never parses a message, because the dialect does that (`crate::dialect`).

pub mod connection;
pub mod contract;
pub mod framing;
pub mod limits;
pub mod listen;
pub mod listener;
pub mod peer;
pub mod reserved_descriptor;
pub mod stdio;
pub mod tcp;
pub mod throttle;
pub mod turn;
pub mod unix;
