//! Events in a terminal that concern more than its grid.

use crate::{ClipboardRead, ClipboardWrite, LineId, Notification, TransferCommand};

/// The clipboard named by an OSC 52 or OSC 5522.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClipboardTarget {
    /// In OSC 52 `c`, and every other letter except `p` and `s`.
    Clipboard,
    /// The primary selection: in OSC 52 `p` and `s`, in OSC 5522 `loc=primary`.
    Primary,
}

/// An event. Events are reported in the order of the output that caused them. Their number is bounded: see
/// [`crate::Term::take_events`].
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
        /// Which clipboard.
        target: ClipboardTarget,
        /// The text.
        text: String,
    },
    /// A prompt began (OSC 133 A).
    PromptStart,
    /// A prompt ended and the user may type (OSC 133 B).
    InputStart,
    /// A command started to run (OSC 133 C).
    CommandStart {
        /// The command's id, or 0 if no command was stored. Pass it to [`crate::Term::command`].
        command: u64,
    },
    /// A command ended (OSC 133 D), with its exit code if reported.
    CommandEnd {
        /// The command's id, or 0 if no command was stored.
        command: u64,
        /// The exit code.
        exit_code: Option<i32>,
        /// Whether the pane's own shell sent the report, which the terminal's nonce proves. Any program can report the
        /// end of its own commands.
        is_authentic: bool,
    },
    /// Colors changed (OSC 4, 5, 10–19, 21 and their resets).
    Palette,
    /// A program requested the contents of a clipboard (OSC 52). Only [`crate::Term::answer_clipboard`] replies.
    ClipboardQuery {
        /// Which clipboard.
        target: ClipboardTarget,
    },
    /// A program requested data of a clipboard (OSC 5522). [`crate::Term::take_clipboard_read`] replies.
    ClipboardRead(Box<ClipboardRead>),
    /// A program wrote data to a clipboard (OSC 5522). [`crate::Term::answer_clipboard_write`] replies.
    ClipboardWrite(Box<ClipboardWrite>),
    /// A program sent a command to transfer files (OSC 5113).
    Transfer(Box<TransferCommand>),
    /// A program sent a notification (OSC 9, 99, 777).
    Notification(Box<Notification>),
    /// A program withdrew a notification (OSC 99).
    NotificationClosed {
        /// The notification's handle.
        handle: u64,
    },
    /// Progress changed (OSC 9;4); read it from the `Term`.
    Progress,
    /// The status that programs report changed (OSC 7501); read it from the `Term`.
    ProgramStatus,
    /// Contexts changed (OSC 3008); read them from the `Term`.
    Context,
    /// A program set a variable (OSC 1337 SetUserVar).
    UserVar {
        /// The variable's name, at most 128 bytes.
        name: String,
        /// The variable's value, at most 4 KiB without control characters.
        value: String,
    },
    /// A program set a mark on a line (OSC 1337 SetMark).
    Mark {
        /// The line.
        line: LineId,
    },
    /// The tab's color changed (OSC 6;1;bg); read it from the `Term`.
    TabColor,
    /// The mouse pointer's shape changed (OSC 22); read it from the `Term`.
    PointerShape,
    /// The program sent a request to its window (XTWINOPS, DECCOLM, DECSLPP).
    Window(WindowRequest),
}

/// A program's request to its window (XTWINOPS). Sent only if [`crate::Allow::WINDOW_OPS`] is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowRequest {
    /// The terminal now has this size. The pty and the window must be resized to it.
    Resize(crate::Size),
    /// Move the window's top left corner, in screen pixels.
    Move {
        /// Distance from the left.
        x: u16,
        /// Distance from the top.
        y: u16,
    },
    /// Iconify the window, or restore it.
    Iconify(bool),
    /// Raise the window above others.
    Raise,
    /// Lower the window below others.
    Lower,
}
