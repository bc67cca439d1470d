//! The overlays over the panes, as one stack. They are painted from the lowest to the topmost. Keys, text and the
//! mouse go from the topmost overlay down, until an open overlay handles them.
//!
//! Owns the order of overlays. A new overlay needs an [`Overlay`] and a [`OverlayPlace`] in [`STACK`]; there is no
//! other list of overlays. `app/overlays/stack.rs` offers input to the overlays.

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
pub(crate) enum OverlayPlace {
    CopyMode,
    Link,
    Search,
    Hints,
    Sidebar,
    Tooltip,
    Toasts,
    Sequence,
    Inbox,
    Picker,
    Menu,
    Debug,
    Questions,
}

/// All overlays, from the lowest to the topmost.
pub(crate) const STACK: [OverlayPlace; 13] = [
    OverlayPlace::CopyMode,
    OverlayPlace::Link,
    OverlayPlace::Search,
    OverlayPlace::Hints,
    OverlayPlace::Sidebar,
    OverlayPlace::Tooltip,
    OverlayPlace::Toasts,
    OverlayPlace::Sequence,
    OverlayPlace::Inbox,
    OverlayPlace::Picker,
    OverlayPlace::Menu,
    OverlayPlace::Debug,
    OverlayPlace::Questions,
];

/// The parts of the window that contain overlays.
#[derive(Clone, Copy)]
pub(crate) struct OverlayParts<'a> {
    pub(crate) views: &'a Views,
    pub(crate) input: &'a Input,
    pub(crate) overlays: &'a Overlays,
    pub(crate) chrome: &'a Chrome,
    /// The pane that receives keys.
    pub(crate) focused: Option<PaneId>,
}

impl<'a> OverlayParts<'a> {
    /// The overlay at a place. `None` if it is not open.
    pub(crate) fn overlay(self, place: OverlayPlace) -> Option<&'a dyn Overlay> {
        let Self { views, input, overlays, chrome, focused } = self;
        Some(match place {
            OverlayPlace::CopyMode => views.get(&focused?).filter(|view| view.is_copying())?,
            OverlayPlace::Link => overlays.hovered.as_ref()?,
            OverlayPlace::Search => overlays.search.bar()?,
            OverlayPlace::Hints => overlays.hints.as_ref()?,
            OverlayPlace::Sidebar => &chrome.sidebar,
            OverlayPlace::Tooltip => &chrome.status_bar,
            OverlayPlace::Toasts => &overlays.toasts,
            OverlayPlace::Sequence => {
                Some(&input.sequence).filter(|sequence| sequence.has_begun())?
            }
            OverlayPlace::Inbox => overlays.inbox.as_ref()?,
            OverlayPlace::Picker => overlays.picker.as_ref()?,
            OverlayPlace::Menu => overlays.menu.as_ref()?,
            OverlayPlace::Debug => overlays.debug.as_ref()?,
            OverlayPlace::Questions => overlays.open_questions()?,
        })
    }
}

/// The overlay at a place, if it is open and handles input.
pub(crate) fn overlay_mut<'a>(
    overlays: &'a mut Overlays,
    chrome: &'a mut Chrome,
    place: OverlayPlace,
) -> Option<&'a mut dyn Overlay> {
    Some(match place {
        OverlayPlace::Search => overlays.search.bar_mut()?,
        OverlayPlace::Hints => overlays.hints.as_mut()?,
        OverlayPlace::Sidebar => &mut chrome.sidebar,
        OverlayPlace::Toasts => &mut overlays.toasts,
        OverlayPlace::Inbox => overlays.inbox.as_mut()?,
        OverlayPlace::Picker => overlays.picker.as_mut()?,
        OverlayPlace::Menu => overlays.menu.as_mut()?,
        OverlayPlace::Questions => &mut overlays.questions,
        OverlayPlace::CopyMode
        | OverlayPlace::Link
        | OverlayPlace::Tooltip
        | OverlayPlace::Sequence
        | OverlayPlace::Debug => {
            return None;
        }
    })
}

/// Closes the overlay at a place. Overlays without content of their own are never closed.
pub(crate) fn close(overlays: &mut Overlays, place: OverlayPlace) {
    match place {
        OverlayPlace::Search => overlays.search.close(),
        OverlayPlace::Hints => overlays.hints = None,
        OverlayPlace::Inbox => overlays.inbox = None,
        OverlayPlace::Picker => overlays.picker = None,
        OverlayPlace::Menu => overlays.menu = None,
        OverlayPlace::CopyMode
        | OverlayPlace::Link
        | OverlayPlace::Sidebar
        | OverlayPlace::Tooltip
        | OverlayPlace::Toasts
        | OverlayPlace::Sequence
        | OverlayPlace::Debug
        | OverlayPlace::Questions => {}
    }
}

pub(crate) fn draw(drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>) {
    let parts = OverlayParts {
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
