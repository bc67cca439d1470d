//! What happened in a terminal that someone beside the grid must hear of.

use crate::{LineId, Notification};

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
    CommandStart {
        /// Its id, 0 where none was kept; read it by [`crate::Term::command`].
        command: u64,
    },
    /// A command has ended (OSC 133 D), with its exit code if it was said.
    CommandEnd {
        /// Its id, 0 where none was kept.
        command: u64,
        /// The exit code.
        exit_code: Option<i32>,
        /// The pane's shell reports it, by the terminal's nonce. Any program can report the end of a command of its own.
        is_authentic: bool,
    },
    /// Colours changed (OSC 4, 5, 10–19, 21 and their resets).
    Palette,
    /// A program asks for a clipboard (OSC 52); [`crate::Term::answer_clipboard`] answers, nobody else does.
    ClipboardQuery {
        /// Which one.
        target: ClipboardTarget,
    },
    /// A program wants something shown (OSC 9, 99, 777).
    Notification(Box<Notification>),
    /// A program takes a notification back (OSC 99).
    NotificationClosed {
        /// Which one.
        handle: u64,
    },
    /// Progress changed (OSC 9;4); read it from the `Term`.
    Progress,
    /// What programs say they do changed (OSC 7501); read it from the `Term`.
    ProgramStatus,
    /// A program set a variable (OSC 1337 SetUserVar).
    UserVar {
        /// Its name, at most 128 bytes.
        name: String,
        /// Its value, at most 4 KiB without control characters.
        value: String,
    },
    /// A program marked a line to come back to (OSC 1337 SetMark).
    Mark {
        /// The line.
        line: LineId,
    },
    /// The tab's colour changed (OSC 6;1;bg); read it from the `Term`.
    TabColor,
    /// The mouse pointer's shape changed (OSC 22); read it from the `Term`.
    PointerShape,
    /// The program asked something of its window (XTWINOPS, DECCOLM, DECSLPP).
    Window(WindowRequest),
}

/// What a program asked of its window (XTWINOPS), where [`crate::Allow::WINDOW_OPS`] let it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowRequest {
    /// The terminal has this size now; the pty and the window should follow.
    Resize(crate::Size),
    /// Move the window's top left corner, in pixels of the screen.
    Move {
        /// From the left.
        x: u16,
        /// From the top.
        y: u16,
    },
    /// To an icon, or back.
    Iconify(bool),
    /// In front of other windows.
    Raise,
    /// Behind other windows.
    Lower,
}
