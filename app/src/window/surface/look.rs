//! How panes look in a frame: focus, blink, dim and opacity.

use unterm_mux::{PaneId, Rect};
use unterm_renderer::PaneScene;

use crate::window::{
    ui::geometry::{Geometry, pixels},
    workspace::view::View,
};

/// The settings that all panes of a frame share.
pub(crate) struct PaneLook {
    pub(crate) geometry: Geometry,
    /// The pane with the keyboard.
    pub(crate) focused: Option<PaneId>,
    pub(crate) has_window_focus: bool,
    pub(crate) blink_on: bool,
    /// How much the panes without the keyboard are dimmed.
    pub(crate) dim: f32,
    pub(crate) opacity: f32,
}

impl PaneLook {
    /// A pane's scene, made from its view.
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
