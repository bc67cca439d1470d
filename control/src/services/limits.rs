//! Limits on what clients may use at the same time: memory, connections, searches and pictures, divided between tokens.

pub mod connection_limit;
pub mod fair_share;
pub mod message_budget;
pub mod pictures;
pub mod search_limiter;

use self::{
    connection_limit::ConnectionLimit, message_budget::MessageBudget, pictures::Pictures,
    search_limiter::SearchLimiter,
};

/// The limits of an instance.
#[derive(Default)]
pub struct Limits {
    /// Limits the searches of clients.
    pub search_limiter: SearchLimiter,
    /// Limits the number of connections that have logged in.
    pub connections: ConnectionLimit,
    /// Limits the memory of long messages.
    pub message_budget: MessageBudget,
    /// Limits the number of pictures that are taken at the same time.
    pub pictures: Pictures,
}
