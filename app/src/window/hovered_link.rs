//! The link under the pointer, as a value.

use unterm_mux::PaneId;
use unterm_term::TextRange;

/// The link under the pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HoveredLink {
    pub(crate) pane: PaneId,
    pub(crate) uri: String,
    /// The cells of a link in plain text, for its underline. `None` for a hyperlink (OSC 8), which the renderer
    /// underlines.
    pub(crate) range: Option<TextRange>,
    /// Whether the link names a file, which opens in the user's editor.
    pub(crate) is_file: bool,
}
