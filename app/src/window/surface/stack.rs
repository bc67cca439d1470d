//! The overlays over the panes, as one stack. They are painted from the lowest to the topmost. Keys, text and the
//! mouse go from the topmost overlay down, until an open overlay handles them.
//!
//! Owns the order of overlays. A new overlay needs an [`Overlay`] and a [`Place`] in [`STACK`]; there is no other list of
//! overlays. `app/overlays/stack.rs` offers input to the overlays.

use unterm_mux::PaneId;

use crate::window::{
    chrome::Chrome,
    input::Input,
    overlays::{Overlays, canvas::Canvas, overlay::Overlay},
    surface::plan::Drawn,
    workspace::view::Views,
};

/// A place in the stack.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    CopyMode,
    Link,
    Search,
    Hints,
    Tooltip,
    Toasts,
    Sequence,
    Picker,
    Menu,
    Debug,
    Questions,
}

/// All overlays, from the lowest to the topmost.
pub(crate) const STACK: [Place; 11] = [
    Place::CopyMode,
    Place::Link,
    Place::Search,
    Place::Hints,
    Place::Tooltip,
    Place::Toasts,
    Place::Sequence,
    Place::Picker,
    Place::Menu,
    Place::Debug,
    Place::Questions,
];

/// The parts of the window that contain overlays.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) views: &'a Views,
    pub(crate) input: &'a Input,
    pub(crate) overlays: &'a Overlays,
    pub(crate) chrome: &'a Chrome,
    /// The pane that receives keys.
    pub(crate) focused: Option<PaneId>,
}

impl<'a> Parts<'a> {
    /// The overlay at a place. `None` if it is not open.
    pub(crate) fn overlay(self, place: Place) -> Option<&'a dyn Overlay> {
        let Self { views, input, overlays, chrome, focused } = self;
        Some(match place {
            Place::CopyMode => views.get(&focused?).filter(|view| view.is_copying())?,
            Place::Link => overlays.hovered.as_ref()?,
            Place::Search => overlays.search.as_ref()?,
            Place::Hints => overlays.hints.as_ref()?,
            Place::Tooltip => &chrome.status_bar,
            Place::Toasts => &overlays.toasts,
            Place::Sequence => Some(&input.sequence).filter(|sequence| sequence.has_begun())?,
            Place::Picker => overlays.picker.as_ref()?,
            Place::Menu => overlays.menu.as_ref()?,
            Place::Debug => overlays.debug.as_ref()?,
            Place::Questions => overlays.open_questions()?,
        })
    }
}

/// The overlay at a place, if it is open and handles input.
pub(crate) fn overlay_mut(overlays: &mut Overlays, place: Place) -> Option<&mut dyn Overlay> {
    Some(match place {
        Place::Search => overlays.search.as_mut()?,
        Place::Hints => overlays.hints.as_mut()?,
        Place::Toasts => &mut overlays.toasts,
        Place::Picker => overlays.picker.as_mut()?,
        Place::Menu => overlays.menu.as_mut()?,
        Place::Questions => &mut overlays.questions,
        Place::CopyMode | Place::Link | Place::Tooltip | Place::Sequence | Place::Debug => {
            return None;
        }
    })
}

pub(crate) fn draw(drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>) {
    let parts = Parts {
        views: &drawn.workspace.views,
        input: drawn.input,
        overlays: drawn.overlays,
        chrome: drawn.chrome,
        focused: drawn.plan.panes.focused,
    };
    for overlay in STACK.into_iter().filter_map(|place| parts.overlay(place)) {
        let below = (canvas.scene.quads.len(), canvas.scene.labels.len());
        overlay.draw(canvas);
        let above = (canvas.scene.quads.len(), canvas.scene.labels.len());
        if overlay.is_raised() && above != below {
            canvas.scene.raised.push(below);
        }
    }
}
