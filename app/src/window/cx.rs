//! The context of a part while it handles an event: everything that all parts need, borrowed from the app.

use std::{sync::Arc, time::Duration};

use unterm_mux::{Mux, MuxError, PaneId};
use unterm_renderer::PixelRect;
use winit::window::CursorIcon;

use crate::window::{
    effect::Effect,
    inbox::Inbox,
    input::{buffer::Buffer, clipboard::Request, pointer::Pointer},
    prefs::Prefs,
    ui::geometry::Geometry,
    wish::Wish,
    workspace::view::Views,
};

/// The context of a part while it handles an event.
pub(crate) struct Cx<'a> {
    /// The time for animated images. `None` if motion is off.
    pub(crate) clock: Option<Duration>,
    pub(crate) mux: &'a Arc<Mux>,
    pub(crate) inbox: &'a Arc<Inbox>,
    pub(crate) prefs: &'a Prefs,
    /// The window's measures; `None` until the window is created.
    pub(crate) geometry: Option<Geometry>,
    pub(crate) views: &'a mut Views,
    pub(crate) pointer: &'a mut Pointer,
    /// The searched pane, and the bar of the search, if it is open.
    pub(crate) search_bar: Option<(PaneId, PixelRect)>,
    /// The effects that the event has caused so far.
    pub(crate) effects: &'a mut Vec<Effect>,
    /// The requests of the part to the app.
    pub(crate) wishes: Vec<Wish>,
    /// Whether the overlay that handles the event closes.
    pub(crate) closes: bool,
}

impl Cx<'_> {
    /// Requests something that only the app can do. The app does it after the part has finished.
    pub(crate) fn wish(&mut self, wish: Wish) {
        self.wishes.push(wish);
    }

    /// Closes the overlay that handles the event, before the app carries out its wishes.
    pub(crate) fn close(&mut self) {
        self.closes = true;
    }

    /// Shows the error if the mux returned one.
    pub(crate) fn report<T>(&mut self, result: Result<T, MuxError>) {
        if let Err(error) = result {
            self.wish(Wish::Report(error));
        }
    }

    /// The pane that receives keys.
    pub(crate) fn focused(&self) -> Option<PaneId> {
        Some(self.mux.layout().active_tab()?.focused)
    }

    /// Stores text on the clipboard or the primary selection.
    pub(crate) fn store(&mut self, buffer: Buffer, text: String) {
        self.effects.push(Effect::Clipboard(Request::Store(buffer, text)));
    }

    /// Sets the shape of the mouse pointer.
    pub(crate) fn set_icon(&mut self, icon: CursorIcon) {
        if std::mem::replace(&mut self.pointer.icon, icon) != icon {
            self.effects.push(Effect::PointerShape(icon));
        }
    }
}
