//! Programs' requests to the clipboards (OSC 5522).
//!
//! Decides who may read and write: a program may write, as with OSC 52. The user decides whether a program may read,
//! unless it asks only for the list of types, or shows a password that the user allowed or that a paste gave it. A pane
//! that the window does not show can read only by such a password.

use std::collections::HashMap;

use unterm_control::shortened;
use unterm_mux::{Pane, PaneId};
use unterm_term::{ClipboardError, ClipboardRead, ClipboardWrite};

use crate::window::{
    cx::Cx,
    effect::Effect,
    input::{buffer::Buffer, clipboard::Request, clipboard_access::ClipboardAccess},
    overlays::{
        Overlays,
        answer::{Answer, ReadAccess},
        confirm::Confirm,
    },
};

/// The maximum number of characters of the types and of the pane's title that a question shows.
const TYPES_SHOWN: usize = 120;
const TITLE_SHOWN: usize = 80;

/// What the user allowed and denied to the programs of each pane.
pub(crate) type Allowed = HashMap<PaneId, ClipboardAccess>;

impl Overlays {
    /// Handles a program's request to read a clipboard. `is_in_sight` is set if the window shows the pane. Returns true
    /// if it asks the user.
    pub(crate) fn clipboard_read_asked(
        &mut self,
        pane: PaneId,
        read: ClipboardRead,
        allowed: &mut Allowed,
        is_in_sight: bool,
        cx: &mut Cx<'_>,
    ) -> bool {
        let Some(own) = cx.mux.pane(pane) else { return false };
        let access = allowed.entry(pane).or_default();
        // A list must not use up the password of a paste.
        if is_in_sight && read.is_list() || access.allows(&read, cx.now) {
            read_clipboard(pane, read, cx);
            return false;
        }
        let refusal = if !is_in_sight || access.is_denied(own.touches()) {
            ClipboardError::Denied
        } else if self.questions.are_full() || self.questions.asks_for_clipboard(pane) {
            ClipboardError::Busy
        } else {
            self.ask(question(&own, &read), cx);
            return true;
        };
        cx.mux.answer_clipboard_read(pane, read.handle, Err(refusal));
        false
    }
}

/// Carries out the user's answer to a question about a clipboard.
pub(crate) fn read_answered(
    pane: PaneId,
    read: ClipboardRead,
    access: ReadAccess,
    allowed: &mut Allowed,
    cx: &mut Cx<'_>,
) {
    let Some(touches) = cx.mux.pane(pane).map(|pane| pane.touches()) else { return };
    let memory = allowed.entry(pane).or_default();
    match access {
        ReadAccess::Denied => {
            memory.deny(touches);
            let denied = Err(ClipboardError::Denied);
            return cx.mux.answer_clipboard_read(pane, read.handle, denied);
        }
        ReadAccess::Always => memory.allow_always(&read),
        ReadAccess::Once => {}
    }
    read_clipboard(pane, read, cx);
}

fn read_clipboard(pane: PaneId, read: ClipboardRead, cx: &mut Cx<'_>) {
    let ClipboardRead { handle, target, types, .. } = read;
    let request = Request::Read { pane, handle, from: target.into(), types };
    cx.effects.push(Effect::Clipboard(request));
}

/// Puts data that a program wrote on a clipboard.
pub(crate) fn write(pane: PaneId, write: ClipboardWrite, cx: &mut Cx<'_>) {
    let ClipboardWrite { handle, target, data } = write;
    let request = Request::Write { pane, handle, to: target.into(), data };
    cx.effects.push(Effect::Clipboard(request));
}

/// The question whether a program may read a clipboard. The button that denies it is marked, and no letter allows
/// it, because the question can appear while the user types.
fn question(pane: &Pane, read: &ClipboardRead) -> Confirm {
    let what = match Buffer::from(read.target) {
        Buffer::Clipboard => "the clipboard",
        Buffer::Primary => "the selected text (primary selection)",
    };
    let title = shortened(&pane.title(), TITLE_SHOWN);
    let name = match &read.requester {
        Some(requester) => format!(" It calls itself “{}”.", requester.name),
        None => String::new(),
    };
    let types: Vec<&str> = read.data_types().collect();
    let types = shortened(&types.join(", "), TYPES_SHOWN);
    let about = format!(
        "The program in the pane “{title}” asks for {types}.{name} If it runs on another machine, what it reads goes there."
    );
    let (pane, read) = (pane.id(), Box::new(read.clone()));
    let has_name = read.requester.is_some();
    let answer = |access| Answer::ClipboardRead { pane, read: read.clone(), access };
    let mut confirm = Confirm::new(format!("Let a program read {what}?"), about)
        .button_without_key("Allow once", answer(ReadAccess::Once));
    if has_name {
        confirm = confirm.button_without_key("Always allow it", answer(ReadAccess::Always));
    }
    confirm.marked_last("Deny", answer(ReadAccess::Denied))
}
