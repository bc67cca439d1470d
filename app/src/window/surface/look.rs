//! The appearance of panes in a frame: focus, blinking, dimming and opacity.

use unterm_mux::{PaneId, Rect};
use unterm_renderer::PaneScene;

use crate::window::{
    ui::geometry::{Geometry, pixels},
    workspace::view::View,
};

/// The appearance settings that all panes of a frame share.
pub(crate) struct PaneLook {
    pub(crate) geometry: Geometry,
    /// The pane with the keyboard focus.
    pub(crate) focused: Option<PaneId>,
    pub(crate) has_window_focus: bool,
    pub(crate) blink_on: bool,
    /// How strongly panes without the keyboard focus are dimmed; 0 means not at all.
    pub(crate) dim: f32,
    pub(crate) opacity: f32,
}

impl PaneLook {
    /// Builds a pane's scene from its view.
    pub(crate) fn scene<'a>(&self, id: PaneId, area: Rect, view: &'a View) -> PaneScene<'a> {
        let has_keys = Some(id) == self.focused;
        PaneScene {
            shift: view.shift,
            focused: has_keys && self.has_window_focus,
            blink_on: self.blink_on,
            selection: view.selection.and_then(|selection| selection.range),
            hovered_link: view.hovered_link.as_ref(),
            dim: if has_keys { 0.0 } else { self.dim },
            opacity: self.opacity,
            ..PaneScene::new(id.0, &view.snapshot, pixels(area), self.geometry.origin(area))
        }
    }
}
