//! Who receives composed and pasted text.

/// The receiver of text input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taker {
    /// A question, a menu, hint labels or copy mode: they react to keys only.
    Nobody,
    Panel,
    Search,
    Pane,
}
