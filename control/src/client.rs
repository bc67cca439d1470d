//! The client side: finds a running instance, and calls its methods.
//!
//! Never starts an instance, and never waits for one to start. A [`Remote`] calls methods from asynchronous code. A
//! [`Client`] calls them from code that may block.

mod blocking;
mod blocking_stream;
mod connection;
mod discover;
mod error;
mod remote;
mod stream;
mod tools;

pub use self::{
    blocking::Client,
    blocking_stream::BlockingStream,
    discover::{Endpoint, find, find_by_name, instances_folder, live, running},
    error::ClientError,
    remote::Remote,
    tools::Tools,
};

/// The method of the notification that a relay of the Model Context Protocol sends when its client will send no more
/// requests. The session ends once every request is answered.
pub const LAST: &str = "notifications/unterm/last";
