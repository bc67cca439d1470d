//! The names and the version of the product, for every wire.

/// The version in records of instances and in replies.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The name of the terminal engine in replies.
pub const ENGINE: &str = "Unterm";
