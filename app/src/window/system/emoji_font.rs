//! Checks whether a font for emoji is installed.

use crate::config::NO_EMOJI_FONT;
use crate::window::{cx::Cx, errand::ErrandResult};

/// Shows a message if no font for emoji is installed. The search for fonts is slow, so it runs on a thread.
pub(crate) fn warn_if_missing(cx: &mut Cx<'_>) {
    cx.errand("emoji", || match unterm_renderer::has_emoji_font() {
        true => ErrandResult::Nothing,
        false => ErrandResult::Said("emoji", NO_EMOJI_FONT.to_owned()),
    });
}
