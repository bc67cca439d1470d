//! Panes: their events, output, live views, leases and plugins, and waiting for their conditions.

pub mod adapters;
pub mod bytes;
pub mod classification;
pub mod drivers;
pub mod events;
pub mod hidden;
pub mod leases;
pub mod plugin_calls;
pub mod proxy;
pub mod reports;
pub mod texts;
pub mod viewers;
pub mod wait;
