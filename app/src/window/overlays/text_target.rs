//! The part of the window that receives composed and pasted text.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextTarget {
    /// A question, a menu, hint labels or copy mode is open. These react to keys only.
    Nobody,
    Panel,
    Search,
    Pane,
}
