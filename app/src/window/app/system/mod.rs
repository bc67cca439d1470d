//! Handles the reports of the desktop, of control clients and of slow tasks.

pub(crate) mod agents;
pub(crate) mod host;
