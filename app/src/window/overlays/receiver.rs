//! A pane that receives a paste, and the input that waits behind it.

use unterm_mux::PaneId;

/// A pane that receives a paste.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    pub(crate) pane: PaneId,
    /// Input typed after the paste was requested, to be sent behind it.
    pub(crate) behind: Vec<u8>,
}
