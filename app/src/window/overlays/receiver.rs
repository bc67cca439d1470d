//! A pane that receives a paste, and the input that must follow the paste.

use unterm_mux::PaneId;

/// A pane that receives a paste.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    pub(crate) pane: PaneId,
    /// Input that the user typed after requesting the paste. It is sent after the paste.
    pub(crate) behind: Vec<u8>,
}
