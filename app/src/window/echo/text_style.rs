//! How preferences and window focus affect text: the cursor, the direction of text, and motion.

use unterm_renderer::TextOptions;
use unterm_term::CursorShape;

/// The preferences for text, and whether the window has the focus.
#[derive(Clone, Copy)]
pub(crate) struct TextStyle {
    /// The shape of the cursor, and whether it blinks. A program can override both.
    pub(crate) cursor: (CursorShape, bool),
    pub(crate) options: TextOptions,
    /// Whether animated images move, and cursors and cells blink.
    pub(crate) has_motion: bool,
    /// Whether the window has the focus. Without the focus, nothing blinks.
    pub(crate) has_focus: bool,
}
