//! What happened in a terminal that someone beside the grid must hear of.

/// The clipboard an OSC 52 names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClipboardTarget {
    /// `c`, and everything that is not `p`.
    Clipboard,
    /// `p` and `s`: the primary selection.
    Primary,
}

/// An event, in the order of the output that caused it. Bounded: see [`crate::Term::take_events`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// BEL.
    Bell,
    /// The title changed (OSC 0, 2, the title stack); read it from the `Term`.
    Title,
    /// The working directory changed (OSC 7); read it from the `Term`.
    Cwd,
    /// A program wrote to a clipboard (OSC 52).
    Clipboard {
        /// Which one.
        target: ClipboardTarget,
        /// The text.
        text: String,
    },
    /// A prompt begins (OSC 133 A).
    PromptStart,
    /// A prompt has ended and the user may type (OSC 133 B).
    InputStart,
    /// A command begins to run (OSC 133 C).
    CommandStart,
    /// A command has ended (OSC 133 D), with its exit code if it was said.
    CommandEnd {
        /// The exit code.
        exit_code: Option<i32>,
    },
    /// Colours changed (OSC 4, 10, 11, 12, 104, 110–112).
    Palette,
}
