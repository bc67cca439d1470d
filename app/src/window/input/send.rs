//! Sends bytes to the programs of panes.

use unterm_mux::Pane;

/// Queues bytes for a pane's program. If the queue is full because the program does not read, the bytes are lost and a
/// warning is logged.
pub(crate) fn send(pane: &Pane, bytes: &[u8]) {
    if let Err(error) = pane.write(bytes) {
        tracing::warn!("input for pane {} is lost: {error}", pane.id().0);
    }
}
