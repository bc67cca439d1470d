//! Programs' requests to the clipboards (OSC 5522).
//!
//! Decides who may read and write: a program may write, as with OSC 52. The user decides whether a program may read,
//! unless it asks only for the list of types, or shows a password that the user allowed or that a paste gave it. A pane
//! that the window does not show can read only by such a password.

use unterm_control::shortened;
use unterm_mux::PaneId;
use unterm_term::{ClipboardData, ClipboardError, ClipboardRead, ClipboardWrite};

use crate::window::{
    app::App,
    effect::Effect,
    input::{buffer::Buffer, clipboard::Request},
    overlays::{
        answer::{Answer, ReadAccess},
        confirm::Confirm,
    },
};

/// The maximum number of characters of the types and of the pane's title that a question shows.
const TYPES_SHOWN: usize = 120;
const TITLE_SHOWN: usize = 80;

impl App {
    /// Handles a program's request to read a clipboard.
    pub(crate) fn clipboard_read_asked(&mut self, pane: PaneId, read: ClipboardRead) {
        let Some(touches) = self.mux.pane(pane).map(|pane| pane.touches()) else { return };
        let is_in_sight = self.is_in_sight(pane);
        let access = self.input.clipboard_access.entry(pane).or_default();
        // A list must not use up the password of a paste.
        if is_in_sight && read.is_list() || access.allows(&read, self.now) {
            return self.read_clipboard(pane, read);
        }
        if !is_in_sight || access.is_denied(touches) {
            return self.answer_clipboard_read(pane, read.handle, Err(ClipboardError::Denied));
        }
        if self.overlays.questions.are_full() || self.overlays.questions.asks_for_clipboard(pane) {
            return self.answer_clipboard_read(pane, read.handle, Err(ClipboardError::Busy));
        }
        let question = self.clipboard_question(pane, read);
        self.ask(question);
        self.with_parts(|parts, cx| parts.system.notices.ask_attention(cx));
    }

    /// The question whether a program may read a clipboard. The button that denies it is marked, and no letter allows
    /// it, because the question can appear while the user types.
    fn clipboard_question(&self, pane: PaneId, read: ClipboardRead) -> Confirm {
        let what = match Buffer::from(read.target) {
            Buffer::Clipboard => "the clipboard",
            Buffer::Primary => "the selected text (primary selection)",
        };
        let title = self.mux.pane(pane).map(|pane| pane.title()).unwrap_or_default();
        let title = shortened(&title, TITLE_SHOWN);
        let name = match &read.requester {
            Some(requester) => format!(" It calls itself “{}”.", requester.name),
            None => String::new(),
        };
        let types: Vec<&str> = read.data_types().collect();
        let types = shortened(&types.join(", "), TYPES_SHOWN);
        let about = format!(
            "The program in the pane “{title}” asks for {types}.{name} If it runs on another machine, what it reads goes there."
        );
        let answer = |access| Answer::ClipboardRead { pane, read: Box::new(read.clone()), access };
        let mut confirm = Confirm::new(format!("Let a program read {what}?"), about)
            .button_without_key("Allow once", answer(ReadAccess::Once));
        if read.requester.is_some() {
            confirm = confirm.button_without_key("Always allow it", answer(ReadAccess::Always));
        }
        confirm.marked_last("Deny", answer(ReadAccess::Denied))
    }

    /// Carries out the user's answer.
    pub(crate) fn clipboard_read_answered(
        &mut self,
        pane: PaneId,
        read: ClipboardRead,
        access: ReadAccess,
    ) {
        let Some(touches) = self.mux.pane(pane).map(|pane| pane.touches()) else { return };
        let memory = self.input.clipboard_access.entry(pane).or_default();
        match access {
            ReadAccess::Denied => {
                memory.deny(touches);
                return self.answer_clipboard_read(pane, read.handle, Err(ClipboardError::Denied));
            }
            ReadAccess::Always => memory.allow_always(&read),
            ReadAccess::Once => {}
        }
        self.read_clipboard(pane, read);
    }

    fn read_clipboard(&mut self, pane: PaneId, read: ClipboardRead) {
        let ClipboardRead { handle, target, types, .. } = read;
        self.effect(Effect::Clipboard(Request::Read { pane, handle, from: target.into(), types }));
    }

    /// Handles data that a program wrote to a clipboard.
    pub(crate) fn clipboard_written(&mut self, pane: PaneId, write: ClipboardWrite) {
        let ClipboardWrite { handle, target, data } = write;
        self.effect(Effect::Clipboard(Request::Write { pane, handle, to: target.into(), data }));
    }

    /// Sends the clipboard's data to the program that asked for it.
    pub(crate) fn answer_clipboard_read(
        &self,
        pane: PaneId,
        handle: u64,
        data: Result<ClipboardData, ClipboardError>,
    ) {
        self.mux.answer_clipboard_read(pane, handle, data.as_ref().map_err(|error| *error));
    }

    /// Reports to the program whether its data was put on the clipboard.
    pub(crate) fn answer_clipboard_write(
        &self,
        pane: PaneId,
        handle: u64,
        outcome: Result<(), ClipboardError>,
    ) {
        if let Some(pane) = self.mux.pane(pane) {
            pane.answer_clipboard_write(handle, outcome);
        }
    }

    /// Whether the window shows a pane, as far as the system reports.
    pub(crate) fn is_in_sight(&self, pane: PaneId) -> bool {
        let screen = self.surface.screen.as_ref();
        let is_hidden = screen.is_some_and(|screen| screen.is_hidden());
        !is_hidden && self.surface.placed(&self.mux.layout()).iter().any(|(id, _)| *id == pane)
    }
}
