//! The frame that an event requires.

/// The frame that is due after an event. A later value requires more than an earlier value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Redraw {
    /// The window looks as before.
    No,
    /// Only the text of visible panes may have changed.
    Text,
    /// Anything may have changed.
    #[default]
    Whole,
}

impl Redraw {
    /// A whole frame if `changed` is set.
    pub(crate) fn if_changed(changed: bool) -> Self {
        if changed { Self::Whole } else { Self::No }
    }
}
