//! Limits on what clients may use at the same time: memory, connections, searches and pictures, divided between tokens.

pub mod connection_limit;
pub mod fair_share;
pub mod message_budget;
pub mod pictures;
pub mod search_limiter;
