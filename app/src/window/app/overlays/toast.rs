//! Shows messages (toasts) to the user.

use std::time::Instant;

use unterm_mux::{Layout, PaneId, Rect};
use unterm_renderer::PixelRect;

use crate::desktop::Key;
use crate::window::{
    app::{App, overlays::layer::Layer},
    echo::text_frame::cursor_place,
    overlays::{
        asks,
        canvas::Canvas,
        search::SearchBar,
        toast::{TIME, Toast},
    },
    surface::plan::{Drawn, Plan},
    ui::geometry::{Geometry, contains, pixels},
    workspace::view::Views,
};

/// The overlay of messages.
pub(crate) struct ToastsLayer;

impl Layer for ToastsLayer {
    /// Messages can always receive presses, but handle only presses on them.
    fn is_open(&self, _: &App) -> bool {
        true
    }

    fn lies_over_text(&self, app: &App) -> bool {
        !app.overlays.toasts.is_empty()
    }

    fn press(&self, app: &mut App) -> bool {
        app.input.pointer.position.is_some_and(|(x, y)| app.dismiss_toast(x, y))
    }

    fn draw(&self, drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>) {
        let kept = kept_clear(drawn, canvas.geometry);
        drawn.overlays.toasts.draw((canvas.geometry, canvas.colors), &kept, canvas.scene);
    }
}

/// The rectangles that messages must not cover in a frame: the row in which the user types, and the bar of the search.
pub(crate) fn kept_clear(drawn: &Drawn<'_>, geometry: &Geometry) -> Vec<PixelRect> {
    let Plan { layout, placed, .. } = drawn.plan;
    let search = drawn.overlays.search.as_ref();
    rows_in_use(layout, placed, &drawn.workspace.views, search, geometry)
}

fn rows_in_use(
    layout: &Layout,
    placed: &[(PaneId, Rect)],
    views: &Views,
    search: Option<&SearchBar>,
    geometry: &Geometry,
) -> Vec<PixelRect> {
    let area = |pane| placed.iter().find(|(id, _)| *id == pane).map(|(_, area)| pixels(*area));
    let cursor = cursor_place(layout, placed, views, geometry);
    let pane = layout.active_tab().and_then(|tab| area(tab.focused));
    // A pane that is scrolled back has its cursor below its area.
    let row = cursor.zip(pane).map(|(cursor, pane)| {
        PixelRect { x: pane.x, width: pane.width, ..cursor }.intersection(&pane)
    });
    let bar = search.filter(|search| area(search.pane).is_some());
    row.into_iter().chain(bar.map(|search| search.places.get().bar)).collect()
}

impl App {
    /// Shows a message that expires.
    pub(crate) fn notify(&mut self, about: &'static str, text: String) {
        self.add_toast(Toast { until: Some(Instant::now() + TIME), ..Toast::of(about, text) });
    }

    /// Shows a message about a pane. A click on the message shows the pane.
    pub(crate) fn notify_of(&mut self, pane: PaneId, about: &'static str, text: String) {
        let (until, pane) = (Some(Instant::now() + TIME), Some(pane));
        self.add_toast(Toast { until, pane, ..Toast::of(about, text) });
    }

    /// Shows a notification as a message that expires. Only a newer version of the same notification replaces the
    /// message.
    pub(crate) fn show_in_window(&mut self, notification: Key, text: String) {
        let (until, pane) = (Some(Instant::now() + TIME), Some(notification.pane()));
        let notification = Some(notification);
        self.add_toast(Toast { until, pane, notification, ..Toast::of("notification", text) });
    }

    /// Shows a message that is not an error. The message stays until [`App::settle`] removes it.
    pub(crate) fn keep_saying(&mut self, about: &'static str, text: String) {
        self.add_toast(Toast::of(about, text));
    }

    /// Shows an error. The message stays until the user dismisses it or [`App::settle`] removes it.
    pub(crate) fn complain(&mut self, about: &'static str, text: String) {
        self.overlays.toasts.complaint = Some(text.clone());
        self.add_toast(Toast { is_error: true, ..Toast::of(about, text) });
    }

    fn add_toast(&mut self, toast: Toast) {
        self.overlays.toasts.add(toast);
        self.surface.pacing.ask();
    }

    /// Shows why an action is not possible now, in a message that expires. Also records the text for a caller that
    /// requests it.
    pub(crate) fn refuse(&mut self, about: &'static str, why: String) {
        self.overlays.toasts.complaint = Some(why.clone());
        self.notify(about, why);
    }

    /// Removes the messages about a problem that no longer exists. Returns false if there were none.
    pub(crate) fn settle(&mut self, about: &'static str) -> bool {
        let before = self.overlays.toasts.shown.len();
        self.overlays.toasts.shown.retain(|toast| toast.about != about);
        self.surface.pacing.ask();
        self.overlays.toasts.shown.len() < before
    }

    pub(crate) fn dismiss_toasts(&mut self) {
        self.overlays.toasts.shown.clear();
        self.surface.pacing.ask();
    }

    /// Runs `does`, and returns the error that it showed. For callers that don't see the window.
    pub(crate) fn complaint_of<T>(
        &mut self,
        does: impl FnOnce(&mut Self) -> T,
    ) -> Result<T, String> {
        self.overlays.toasts.complaint = None;
        let done = does(self);
        self.overlays.toasts.complaint.take().map_or(Ok(done), Err)
    }

    /// The messages in the window, with their rectangles and lines.
    pub(crate) fn placed_toasts(&self) -> Vec<(&Toast, PixelRect, Vec<String>)> {
        let Some(geometry) = &self.surface.geometry else { return Vec::new() };
        let layout = self.mux.layout();
        let (placed, search) = (self.surface.placed(&layout), self.overlays.search.as_ref());
        let kept = rows_in_use(&layout, &placed, &self.workspace.views, search, geometry);
        self.overlays.toasts.placed(geometry, &kept)
    }

    /// Dismisses the message under the pointer. Then shows the pane or opens the question that the message is about.
    /// Returns false if no message is there.
    pub(crate) fn dismiss_toast(&mut self, x: f64, y: f64) -> bool {
        let hit = self
            .placed_toasts()
            .into_iter()
            .find(|(_, rect, _)| contains(*rect, x, y))
            .map(|(toast, ..)| (toast.about, toast.notification, toast.pane));
        match hit {
            Some((asks::ABOUT, ..)) => self.answer_agent(),
            Some((about, notification, pane)) => {
                let is_hit =
                    |toast: &Toast| (toast.about, toast.notification) == (about, notification);
                self.overlays.toasts.shown.retain(|toast| !is_hit(toast));
                if let Some(pane) = pane {
                    self.bring_to_front(pane);
                }
                self.surface.pacing.ask();
                true
            }
            None => false,
        }
    }
}
