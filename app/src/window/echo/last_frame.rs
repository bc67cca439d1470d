//! The parts of the window around the panes' text. A frame may draw only new text if these parts are unchanged.

use std::sync::Arc;

use unterm_mux::{Layout, PaneId, Rect};
use unterm_term::{LineId, Palette, ScreenKind, Size};

use crate::window::{echo::text_style::TextStyle, surface::look::PaneLook, workspace::view::View};

/// Everything that the last whole frame showed, except the panes' text.
pub(crate) struct LastFrame {
    pub(crate) layout: Arc<Layout>,
    pub(crate) placed: Vec<(PaneId, Rect)>,
    pub(crate) outlines: Vec<Outline>,
    pub(crate) look: PaneLook,
    pub(crate) style: TextStyle,
}

impl LastFrame {
    /// Whether the last whole frame showed a pane.
    pub(crate) fn has(&self, pane: PaneId) -> bool {
        self.placed.iter().any(|(id, _)| *id == pane)
    }
}

/// The properties of a pane that bars, marks and colors depend on, if the pane is not scrolled.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outline {
    screen: ScreenKind,
    size: Size,
    /// The first line of the pane's history, and the first line of its screen.
    lines: (LineId, LineId),
    /// A counter that grows with each change of the visible commands.
    blocks: u64,
    palette: Arc<Palette>,
}

impl View {
    pub(crate) fn outline(&self) -> Option<Outline> {
        let snapshot = &self.snapshot;
        let is_plain = self.top.is_none()
            && self.copy.is_none()
            && !self.signals.has_lost_copy_mode
            && self.folds.is_empty()
            && self.signals.flash.is_none();
        is_plain.then(|| Outline {
            screen: snapshot.screen,
            size: snapshot.size,
            lines: (snapshot.oldest, snapshot.live_top),
            blocks: self.blocks.changes(),
            palette: Arc::clone(&snapshot.palette),
        })
    }
}
