//! Passes keys, text and the mouse to the overlays, from the highest to the lowest.

use unterm_mux::{
    PaneId,
    input::{Key, Modifiers},
};
use unterm_renderer::Highlight;
use winit::{event::KeyEvent, window::CursorIcon};

use crate::window::{
    app::App,
    chrome::status_bar::StatusBar,
    input::{clipboard::Buffer, keys::Pressed, pointer::wheel::whole_notches},
    overlays::{
        canvas::Canvas,
        confirm::Questions,
        debug::{self, Debug},
        hints::Hints,
        hover::Hovered,
        menu::Menu,
        picker::Picker,
        search::SearchBar,
        taker::Taker,
        toast::Toasts,
    },
    ui::geometry::pixels,
};
use crate::{action::Action, config::Commands};

/// An overlay over the panes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overlay {
    /// Copy mode's mark in the pane's corner.
    CopyMode,
    /// Marks and buttons of commands, and the sticky header.
    Blocks,
    /// The target of the link under the pointer.
    Link,
    Search,
    /// Hint labels.
    Hints,
    /// The description of the status bar's item under the pointer.
    Tooltip,
    Toasts,
    /// The palette and similar lists.
    Picker,
    Menu,
    Debug,
    Questions,
}

/// A pressed key.
pub(crate) struct Press<'a> {
    pub(crate) pressed: Pressed,
    pub(crate) modifiers: Modifiers,
    pub(crate) event: &'a KeyEvent,
}

impl Overlay {
    /// All overlays, the lowest first.
    pub(crate) const ALL: [Self; 11] = [
        Self::CopyMode,
        Self::Blocks,
        Self::Link,
        Self::Search,
        Self::Hints,
        Self::Tooltip,
        Self::Toasts,
        Self::Picker,
        Self::Menu,
        Self::Debug,
        Self::Questions,
    ];

    /// Whether the overlay starts a new layer, which also hides the text below it.
    fn is_raised(self) -> bool {
        !matches!(self, Self::CopyMode | Self::Blocks | Self::Link | Self::Search | Self::Hints)
    }

    /// Whether the overlay is open. If it belongs to a pane, that pane must have the focus.
    fn is_open(self, app: &App) -> bool {
        match self {
            Self::CopyMode => app.is_copying(),
            Self::Blocks => true,
            Self::Link => app.overlays.hovered.is_some(),
            Self::Search => app.is_searching(),
            Self::Hints => app.is_hinting(),
            Self::Picker => app.overlays.picker.is_some(),
            Self::Menu => app.overlays.menu.is_some(),
            Self::Debug => app.overlays.debug.is_some(),
            Self::Questions => app.overlays.questions.is_open(),
            Self::Tooltip | Self::Toasts => true,
        }
    }

    /// Whether the overlay, while open, keeps the mouse from everything below.
    fn has_mouse(self) -> bool {
        matches!(self, Self::Picker | Self::Menu | Self::Questions)
    }

    /// The receiver of input-method text while the overlay is open; `None`: an overlay below, or the pane.
    fn taker(self) -> Option<Taker> {
        match self {
            Self::Picker => Some(Taker::Panel),
            Self::Search => Some(Taker::Search),
            Self::CopyMode | Self::Hints | Self::Menu | Self::Questions => Some(Taker::Nobody),
            Self::Blocks | Self::Link | Self::Tooltip | Self::Debug | Self::Toasts => None,
        }
    }

    /// Handles a key; returns false to pass it to the overlays below.
    fn key(self, app: &mut App, press: &Press<'_>) -> bool {
        let Press { pressed, modifiers, event } = *press;
        let is_modifier = matches!(pressed.key, Key::Modifier(..));
        match self {
            Self::CopyMode if !is_modifier => {
                if !app.copy_mode_key(pressed, modifiers)
                    && let Some(bound) = app.bound(pressed, modifiers)
                {
                    app.act_by_key(bound, modifiers);
                }
            }
            Self::Search if !app.takes_for_search(pressed, modifiers) => return false,
            Self::Search | Self::Picker => match app.bound(pressed, modifiers) {
                Some(Action::Paste) => app.paste_into_chrome(Buffer::Clipboard),
                Some(Action::PastePrimary) => app.paste_into_chrome(Buffer::Primary),
                _ if self == Self::Picker => app.picker_key(pressed, modifiers, event),
                _ => app.search_key(pressed, modifiers, event),
            },
            Self::Hints if !is_modifier => app.hint_key(pressed, modifiers, event),
            Self::Menu => app.menu_key(pressed, modifiers),
            Self::Questions => app.confirm_key(pressed, modifiers),
            _ => return false,
        }
        true
    }

    /// Handles pasted or composed text; returns false to pass it to the overlays below.
    fn text(self, app: &mut App, text: &str) -> bool {
        match self {
            Self::Picker => app.picker_text(text),
            Self::Search => app.search_text(text),
            // Questions take no text, and keep it from everything below.
            Self::Questions => {}
            _ => return false,
        }
        true
    }

    /// Handles a press of a mouse button; returns false to pass it to the overlays below.
    fn press(self, app: &mut App) -> bool {
        let at = app.input.pointer.position;
        match self {
            Self::Toasts => return at.is_some_and(|(x, y)| app.dismiss_toast(x, y)),
            Self::Questions => app.confirm_click(),
            Self::Menu => return app.menu_pressed(),
            Self::Search => return at.is_some_and(|(x, y)| app.search_pressed(x, y)),
            Self::Picker => {
                let (x, y) = at.unwrap_or((-1.0, -1.0));
                app.picker_click(x, y);
            }
            _ => return false,
        }
        true
    }

    /// Handles a move of the mouse; returns false to pass it to the overlays below.
    fn point(self, app: &mut App, x: f64, y: f64) -> bool {
        match self {
            // The hovered button changes its colour.
            Self::Questions => app.surface.pacing.ask(),
            Self::Picker => app.picker_pointed(x, y),
            Self::Menu => {
                app.set_icon(CursorIcon::Default);
                app.menu_pointed(x, y);
                return true;
            }
            _ => {}
        }
        false
    }

    /// Handles one notch of the wheel.
    fn wheel(self, app: &mut App, up: bool) {
        match self {
            Self::Menu => app.menu_wheel(up),
            Self::Picker => app.picker_wheel(up),
            _ => {}
        }
    }
}

impl App {
    /// Calls `ask` for the open overlays, from the highest down, until it returns true; returns false if it never does.
    fn ask_overlays(&mut self, mut ask: impl FnMut(Overlay, &mut Self) -> bool) -> bool {
        Overlay::ALL.into_iter().rev().any(|overlay| overlay.is_open(self) && ask(overlay, self))
    }

    /// The highest open overlay that has the mouse.
    fn overlay_with_mouse(&self) -> Option<Overlay> {
        let mut all = Overlay::ALL.into_iter().rev();
        all.find(|overlay| overlay.has_mouse() && overlay.is_open(self))
    }

    /// Whether an overlay keeps the mouse from the panes.
    pub(crate) fn has_overlay(&self) -> bool {
        self.overlay_with_mouse().is_some()
    }

    /// The receiver of input-method text.
    pub(crate) fn taker(&self) -> Taker {
        let mut all = Overlay::ALL.into_iter().rev();
        all.find_map(|overlay| overlay.taker().filter(|_| overlay.is_open(self)))
            .unwrap_or(Taker::Pane)
    }

    /// Offers a key to the open overlays; returns whether one took it.
    pub(crate) fn overlay_key(&mut self, press: &Press<'_>) -> bool {
        self.ask_overlays(|overlay, app| overlay.key(app, press))
    }

    /// Offers text that no key typed to the open overlays; returns whether one took it.
    pub(crate) fn overlay_text(&mut self, text: &str) -> bool {
        self.ask_overlays(|overlay, app| overlay.text(app, text))
    }

    /// Offers a button press to the open overlays; returns whether one took it.
    pub(crate) fn overlay_press(&mut self) -> bool {
        self.ask_overlays(|overlay, app| overlay.press(app))
    }

    /// Offers a move of the mouse to the open overlays; returns whether one took it.
    pub(crate) fn overlay_point(&mut self, x: f64, y: f64) -> bool {
        self.has_overlay() && self.ask_overlays(|overlay, app| overlay.point(app, x, y))
    }

    /// Turns the wheel for the highest overlay that has the mouse; returns false if there is none. `y` is in notches or
    /// lines, 0 for a horizontal turn.
    pub(crate) fn overlay_wheel(&mut self, y: f64) -> bool {
        let Some(overlay) = self.overlay_with_mouse() else { return false };
        let steps = whole_notches(&mut self.input.pointer.wheel.1, y);
        for _ in 0..steps.unsigned_abs() {
            overlay.wheel(self, steps > 0);
        }
        true
    }
}

/// The overlays' current state.
pub(crate) struct Shown<'a> {
    pub(crate) commands: &'a Commands,
    /// The searched pane, and its visible matches.
    pub(crate) matches: (Option<PaneId>, &'a [Highlight]),
    pub(crate) block_hover: Option<(PaneId, u64)>,
    pub(crate) status_bar: &'a StatusBar,
    pub(crate) hovered: Option<&'a Hovered>,
    pub(crate) search: Option<&'a SearchBar>,
    pub(crate) hints: Option<&'a Hints>,
    pub(crate) picker: Option<&'a Picker>,
    pub(crate) menu: Option<&'a Menu>,
    pub(crate) debug: Option<(&'a mut Debug, debug::About<'a>)>,
    pub(crate) questions: &'a Questions,
    pub(crate) toasts: &'a Toasts,
}

impl Shown<'_> {
    /// Draws all overlays.
    pub(crate) fn draw(&mut self, canvas: &mut Canvas<'_, '_>) {
        for overlay in Overlay::ALL {
            let below = (canvas.scene.quads.len(), canvas.scene.labels.len());
            self.draw_one(overlay, canvas);
            let above = (canvas.scene.quads.len(), canvas.scene.labels.len());
            if overlay.is_raised() && above != below {
                canvas.scene.raised.push(below);
            }
        }
    }

    fn draw_one(&mut self, overlay: Overlay, canvas: &mut Canvas<'_, '_>) {
        let (geometry, colors, pointer) = (canvas.geometry, canvas.colors, canvas.pointer);
        let views = canvas.views;
        match overlay {
            Overlay::CopyMode => {
                for (id, area) in canvas.placed {
                    let is_searched = self.search.is_some_and(|search| search.pane == *id);
                    let copy = views.get(id).and_then(|view| view.copy.as_ref());
                    if let Some(copy) = copy.filter(|_| !is_searched) {
                        let seen = canvas.seen(*id, *area, None);
                        let place = (pixels(*area), &seen[..]);
                        copy.draw(geometry, place, colors, canvas.renderer, canvas.scene);
                    }
                }
            }
            Overlay::Blocks => {
                for (id, area) in canvas.placed {
                    let Some(view) = views.get(id) else { continue };
                    let hovered = self.block_hover.filter(|(pane, _)| pane == id);
                    let hovered = hovered.map(|(_, block)| block);
                    let matches = match self.matches {
                        (Some(pane), matches) if pane == *id => matches,
                        _ => &[],
                    };
                    // A target under the header may have a hint label.
                    let is_hinting = self.hints.is_some_and(|hints| hints.pane == *id);
                    let header = (self.commands.sticky_header && !is_hinting).then_some(matches);
                    let shows = (self.commands.marks, header);
                    let (area, look) = (pixels(*area), (geometry, colors));
                    view.draw_blocks(area, hovered, pointer, shows, look, canvas.scene);
                }
            }
            Overlay::Link => {
                let Some(hovered) = self.hovered else { return };
                // Since the pointer last moved, the pane may have closed, or its tab may have become inactive.
                let Some(area) = canvas.area(hovered.pane) else { return };
                let view = views.get(&hovered.pane).map(|view| (view, geometry.origin(area)));
                hovered.draw(view, geometry, colors, pointer, canvas.renderer, canvas.scene);
            }
            Overlay::Search => {
                if let Some(search) = self.search
                    && let Some(area) = canvas.area(search.pane)
                {
                    let seen = canvas.seen(search.pane, area, search.range());
                    let place = (pixels(area), &seen[..]);
                    let (preedit, look) = (canvas.preedit_of(Taker::Search), (geometry, colors));
                    let at = search.draw(preedit, look, place, canvas.renderer, canvas.scene);
                    canvas.caret = Some(at);
                }
            }
            Overlay::Hints => {
                if let Some(hints) = self.hints
                    && let Some(area) = canvas.area(hints.pane)
                    && let Some(view) = views.get(&hints.pane)
                {
                    hints.draw(view, geometry.origin(area), geometry, colors, canvas.scene);
                }
            }
            Overlay::Tooltip => {
                self.status_bar.draw_tooltip(colors, canvas.renderer, canvas.scene);
            }
            Overlay::Picker => {
                if let Some(picker) = self.picker {
                    let (preedit, look) = (canvas.preedit_of(Taker::Panel), (geometry, colors));
                    let at = picker.panel().draw(preedit, look, canvas.renderer, canvas.scene);
                    canvas.caret = Some(at);
                }
            }
            Overlay::Menu => {
                if let Some(menu) = self.menu {
                    menu.draw(geometry, colors, canvas.scene);
                }
            }
            Overlay::Debug => {
                if let Some((debug, about)) = &mut self.debug {
                    debug.show(about, (geometry, colors), canvas.renderer, canvas.scene);
                }
            }
            Overlay::Questions => self.questions.draw(geometry, colors, pointer, canvas.scene),
            Overlay::Toasts => self.toasts.draw(geometry, colors, canvas.scene),
        }
    }
}
