//! The context of a part while it handles an event: everything that all parts need, borrowed from the app.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use unterm_control::Server;
use unterm_mux::{Mux, MuxError, Pane, PaneId, Rect};
use unterm_renderer::PixelRect;
use winit::{keyboard::ModifiersState, window::CursorIcon};

use crate::window::{
    effect::Effect,
    errand::ErrandResult,
    inbox::Inbox,
    input::{buffer::Buffer, clipboard::Request, pointer::Pointer},
    prefs::Prefs,
    ui::geometry::Geometry,
    wish::Wish,
    workspace::view::{View, Views},
};

/// The context of a part while it handles an event.
pub(crate) struct Cx<'a> {
    /// The time of the event.
    pub(crate) now: Instant,
    /// The time for animated images. `None` if motion is off.
    pub(crate) clock: Option<Duration>,
    pub(crate) mux: &'a Arc<Mux>,
    pub(crate) inbox: &'a Arc<Inbox>,
    /// The control server, if it is running.
    pub(crate) server: Option<&'a Server>,
    pub(crate) prefs: &'a Prefs,
    /// The window's measures; `None` until the window is created.
    pub(crate) geometry: Option<Geometry>,
    pub(crate) views: &'a mut Views,
    pub(crate) pointer: &'a mut Pointer,
    /// The modifiers that the user holds.
    pub(crate) modifiers: ModifiersState,
    /// Whether the window has the keyboard focus.
    pub(crate) has_focus: bool,
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

    /// Shows a message that expires: its topic and its text.
    pub(crate) fn notify(&mut self, about: &'static str, text: impl Into<String>) {
        self.wish(Wish::Notify(about, text.into()));
    }

    /// Shows an error: its topic and its text.
    pub(crate) fn complain(&mut self, about: &'static str, text: impl Into<String>) {
        self.wish(Wish::Complain(about, text.into()));
    }

    /// Shows why an action is not possible now: the topic and the reason.
    pub(crate) fn refuse(&mut self, about: &'static str, why: impl Into<String>) {
        self.wish(Wish::Refuse(about, why.into()));
    }

    /// Runs a slow task on its own thread. Its result arrives through the inbox.
    pub(crate) fn errand(
        &mut self,
        about: &'static str,
        work: impl FnOnce() -> ErrandResult + Send + 'static,
    ) {
        self.effects.push(Effect::Errand(about, Box::new(work)));
    }

    /// The pane that receives keys.
    pub(crate) fn focused(&self) -> Option<PaneId> {
        Some(self.mux.layout().active_tab()?.focused)
    }

    /// The pane that receives keys.
    pub(crate) fn focused_pane(&self) -> Option<Arc<Pane>> {
        self.mux.pane(self.focused()?)
    }

    /// The visible panes and their areas. A pane covers earlier panes of the list.
    pub(crate) fn placed(&self) -> Vec<(PaneId, Rect)> {
        self.geometry.map_or_else(Vec::new, |geometry| geometry.placed(&self.mux.layout()))
    }

    /// The width and height of a cell, in pixels.
    pub(crate) fn cell(&self) -> (u32, u32) {
        self.geometry.map_or((1, 1), |geometry| geometry.cell_size())
    }

    /// The view of a pane, after updating it from the terminal. The last frame may show an older state, if output is
    /// fast or the pane is hidden.
    pub(crate) fn fresh_view(&mut self, pane: &Pane) -> Option<&mut View> {
        let view = self.views.get_mut(&pane.id())?;
        view.refresh(pane, self.clock);
        Some(view)
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
