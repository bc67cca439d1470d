//! What the product calls itself on every wire.

/// The version that instances and replies state.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The name of the terminal's engine that replies state.
pub const ENGINE: &str = "Unterm";
