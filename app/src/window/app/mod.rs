//! The app: connects the parts of the window, and carries out their requests.
//!
//! Owns state that concerns several parts. No part imports this module. `events.rs` handles the events of winit,
//! `news.rs` the news of other threads, and `run.rs` the actions. `lend.rs` lends the parts what they need, and
//! `wishes.rs` carries out what they request. A folder contains the code that needs several parts, around the part of
//! the same name.

pub(crate) mod act;
pub(crate) mod effects;
pub(crate) mod events;
pub(crate) mod input;
pub(crate) mod lend;
pub(crate) mod news;
pub(crate) mod no_effect;
pub(crate) mod overlays;
pub(crate) mod preferences;
pub(crate) mod run;
#[cfg(test)]
mod script;
pub(crate) mod start;
pub(crate) mod surface;
pub(crate) mod system;
pub(crate) mod text_frames;
pub(crate) mod wishes;
pub(crate) mod workspace;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use unterm_control::Server;
use unterm_mux::{Mux, MuxError, Pane, input as mux_input};
use unterm_term::Palette;
use winit::{dpi::PhysicalSize, event_loop::ActiveEventLoop};

use crate::window::{
    chrome::Chrome,
    echo::{Echo, loan::Loan},
    effect::Effect,
    inbox::Inbox,
    input::{Input, clipboard::Clipboard, send::send},
    overlays::Overlays,
    prefs::{self, Prefs},
    redraw::Redraw,
    surface::Surface,
    system::System,
    ui::colors::KnownColors,
    workspace::{Workspace, view::View},
};
use crate::{
    args::Args,
    config::{
        Settings,
        keys::{Keymap, MouseMap},
    },
    copy_command::CopyKeys,
};

/// The app and its window.
pub(crate) struct App {
    mux: Arc<Mux>,
    server: Option<Server>,
    inbox: Arc<Inbox>,
    prefs: Prefs,
    workspace: Workspace,
    input: Input,
    overlays: Overlays,
    chrome: Chrome,
    surface: Loan<Surface>,
    echo: Echo,
    system: System,
    /// The time of the event that is handled now, or of the frame that is painted now. Only `events.rs` reads the
    /// clock.
    now: Instant,
    /// The effects that the current event has caused so far.
    effects: Vec<Effect>,
    /// An error that ends the app.
    failure: Option<anyhow::Error>,
}

impl App {
    fn new(
        args: &Args,
        mux: Arc<Mux>,
        server: Option<Server>,
        inbox: Arc<Inbox>,
        settings: Arc<Settings>,
        palette: Arc<Palette>,
    ) -> Self {
        let config = settings.get();
        let fonts = prefs::fonts(&config, args);
        Self {
            server,
            workspace: Workspace::default(),
            input: Input::new(Clipboard::start(Arc::clone(&inbox))),
            overlays: Overlays::default(),
            chrome: Chrome::default(),
            surface: Loan::new(Surface::new(prefs::renderer(&config, &fonts))),
            echo: Echo::new(&mux),
            system: System::default(),
            now: Instant::now(),
            inbox,
            mux,
            prefs: Prefs {
                args: args.clone(),
                keymap: Keymap::new(&config.keys),
                mouse_map: MouseMap::new(&config.mouse_bindings),
                copy_keys: CopyKeys::new(&config.copy_mode_keys),
                palette,
                colors: KnownColors::default(),
                has_proxy: crate::proxy::is_enabled(settings.home()).unwrap_or(false),
                config,
                fonts,
                settings,
            },
            effects: Vec::new(),
            failure: None,
        }
    }

    /// Adopts the scale factor of the screen that shows the window.
    fn rescale(&mut self, scale: f64) {
        if (self.prefs.fonts.scale - scale as f32).abs() > f32::EPSILON {
            self.prefs.fonts.scale = scale as f32;
            self.apply_fonts();
        }
    }

    /// Applies changed fonts or a changed scale, and measures the cell again.
    fn apply_fonts(&mut self) {
        self.surface.renderer.set_fonts(self.prefs.fonts.clone());
        let cell = self.surface.renderer.metrics();
        let Surface { geometry, renderer, .. } = &mut *self.surface;
        if let Some(geometry) = geometry {
            geometry.cell = cell;
            geometry.scale = self.prefs.fonts.scale;
            geometry.measure(renderer);
        }
        self.arrange();
    }

    /// Whether automatic motion is off: blinking, turning rings and animated images.
    fn stands_still(&self) -> bool {
        self.system.appearance.is_still(&self.prefs)
    }

    /// The time for animated images. `None` if motion is off.
    fn clock(&self) -> Option<Duration> {
        let since_start = self.now.saturating_duration_since(self.surface.started);
        self.system.appearance.clock(&self.prefs, since_start)
    }

    /// The pane that receives keys.
    fn focused_pane(&self) -> Option<Arc<Pane>> {
        let layout = self.mux.layout();
        self.mux.pane(layout.active_tab()?.focused)
    }

    /// The view of a pane, after updating it from the terminal. The last frame may show an older state, if output is
    /// fast or the pane is hidden.
    fn fresh_view(&mut self, pane: &Pane) -> Option<&mut View> {
        let clock = self.clock();
        let view = self.workspace.views.get_mut(&pane.id())?;
        view.refresh(pane, clock);
        Some(view)
    }

    /// Reports to programs that their pane gained or lost the focus (mode 1004).
    fn report_focus(&mut self) {
        let now = if self.input.focused { self.focused_pane().map(|pane| pane.id()) } else { None };
        let before = std::mem::replace(&mut self.workspace.reported_focus, now);
        if before == now {
            return;
        }
        for (pane, focused) in [(before, false), (now, true)] {
            let Some(pane) = pane.and_then(|id| self.mux.pane(id)) else { continue };
            let modes = pane.term().modes();
            let bytes = mux_input::encode_focus(focused, modes);
            if !bytes.is_empty() {
                send(&pane, bytes);
            }
        }
    }

    /// Shows an error that the mux returned.
    fn report<T>(&mut self, result: Result<T, MuxError>) {
        match result {
            Ok(_) => {}
            Err(MuxError::NoRoom { axis, .. }) => {
                let needs = axis.split_needs();
                let why = format!("The pane is too small to split.\nEach part needs {needs}.");
                self.refuse("split", why);
            }
            Err(error) => {
                tracing::error!("{error}");
                self.complain("panes", format!("Can't change tabs or panes.\n{error}"));
            }
        }
    }

    /// Adopts a new size of the window. Returns the frame that is due.
    fn resized(&mut self, size: PhysicalSize<u32>) -> Redraw {
        let Some(geometry) = &mut self.surface.geometry else { return Redraw::No };
        let (width, height) = (size.width.max(1), size.height.max(1));
        if (geometry.width, geometry.height) == (width, height) {
            return Redraw::No;
        }
        (geometry.width, geometry.height) = (width, height);
        if let Some(screen) = &mut self.surface.screen {
            screen.painter.resize(width, height);
        }
        // The user resized the window. Panes whose size a client had fixed follow the window again.
        for pane in self.mux.panes() {
            pane.set_pinned(false);
        }
        self.arrange();
        Redraw::Whole
    }

    fn fail(&mut self, error: anyhow::Error, event_loop: &ActiveEventLoop) {
        self.failure.get_or_insert(error);
        event_loop.exit();
    }
}
