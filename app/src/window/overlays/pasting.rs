//! Pastes into the panel and the search.

use crate::action::Action;
use crate::window::{
    cx::Cx,
    effect::Effect,
    input::{buffer::Buffer, clipboard::Request},
    overlays::overlay::Press,
};

/// If a key is bound to pasting, requests text to paste into the topmost overlay that receives text.
pub(crate) fn requests_paste(press: &Press<'_>, cx: &mut Cx<'_>) -> bool {
    let buffer = match cx.prefs.bound(press.pressed, press.modifiers) {
        Some(Action::Paste) => Buffer::Clipboard,
        Some(Action::PastePrimary) => Buffer::Primary,
        _ => return false,
    };
    if let Some(pane) = cx.focused() {
        // If the overlay is closed before the text arrives, the pane receives the text.
        cx.views.entry(pane).or_default().pastes.due += 1;
        cx.effects.push(Effect::Clipboard(Request::Paste(buffer, vec![pane])));
    }
    true
}
