//! How bytes reach the server, and how they become messages.
//!
//! Owns listening, accepting ([`listen`]), the bounds on connections that have not logged in ([`limits`]), framings
//! ([`framing`]), and the life of a connection ([`connection`]): reading, answering in order or at once, writing, events, the
//! end. A connection is generic over its two streams of bytes, its framing and its dialect. Never reads a message: its dialect
//! does (`crate::dialect`).

pub mod connection;
pub mod framing;
pub mod limits;
pub mod listen;
pub mod listener;
pub mod spare;
pub mod stdio;
pub mod tcp;
pub mod throttle;
pub mod unix;
