//! How preferences and focus change text: its cursor, its order, its motion.

use unterm_renderer::TextOptions;
use unterm_term::CursorShape;

/// What preferences and focus say about text.
#[derive(Clone, Copy)]
pub(crate) struct TextStyle {
    /// The shape of the cursor, and whether it blinks, unless a program says otherwise.
    pub(crate) cursor: (CursorShape, bool),
    pub(crate) options: TextOptions,
    /// Whether images move, and cursors and cells blink.
    pub(crate) has_motion: bool,
    /// Whether the window has the focus. Without it, nothing blinks.
    pub(crate) has_focus: bool,
}
