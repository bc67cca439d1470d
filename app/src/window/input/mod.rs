//! Input: keys, the pointer, input methods, the clipboard and dropped files.
//!
//! Owns the held keys and buttons, composed text and pending input, and the conversion of events to values. Never
//! decides the effect of an event: the app offers each event to the overlays, then to bars and panes.

pub(crate) mod buffer;
pub(crate) mod clipboard;
pub(crate) mod clipboard_access;
pub(crate) mod dropped;
pub(crate) mod keys;
pub(crate) mod picture;
pub(crate) mod pointer;
pub(crate) mod send;
pub(crate) mod sequence;
pub(crate) mod transfer_folder;
pub(crate) mod typed_clipboard;

use std::{collections::HashMap, path::PathBuf};

use unterm_mux::PaneId;
use unterm_renderer::Preedit;
use winit::keyboard::ModifiersState;

use crate::window::input::{
    clipboard::Clipboard,
    clipboard_access::ClipboardAccess,
    keys::{HandledKeys, HeldModifiers, SentKeys},
    pointer::Pointer,
    sequence::Sequence,
};
use crate::window::redraw::Redraw;

pub(crate) struct Input {
    pub(crate) clipboard: Clipboard,
    /// What the user allowed and denied to the programs of each pane.
    pub(crate) clipboard_access: HashMap<PaneId, ClipboardAccess>,
    /// How often the user had typed in a pane when a file transfer was denied last.
    pub(crate) transfers_denied: HashMap<PaneId, u64>,
    pub(crate) modifiers: ModifiersState,
    pub(crate) held: HeldModifiers,
    pub(crate) taken: HandledKeys,
    pub(crate) sent: SentKeys,
    /// The keys pressed so far of an unfinished key sequence.
    pub(crate) sequence: Sequence,
    pub(crate) pointer: Pointer,
    /// The text that an input method is composing.
    pub(crate) preedit: Option<Preedit>,
    /// Dropped files that are collected to be pasted together.
    pub(crate) dropped: Vec<PathBuf>,
    /// Whether the window has the keyboard focus.
    pub(crate) focused: bool,
}

impl Input {
    pub(crate) fn new(clipboard: Clipboard) -> Self {
        Self {
            clipboard,
            clipboard_access: HashMap::new(),
            transfers_denied: HashMap::new(),
            modifiers: ModifiersState::empty(),
            held: HeldModifiers::default(),
            taken: HandledKeys::default(),
            sent: SentKeys::default(),
            sequence: Sequence::default(),
            pointer: Pointer::default(),
            preedit: None,
            dropped: Vec::new(),
            focused: false,
        }
    }

    /// Sets the text that an input method is composing. Returns the frame that is due.
    pub(crate) fn set_preedit(&mut self, preedit: Option<Preedit>) -> Redraw {
        let is_new = self.preedit != preedit;
        self.preedit = preedit;
        Redraw::if_changed(is_new)
    }
}
