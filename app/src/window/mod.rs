//! The window: reads winit's events, sends keys and mouse to the mux, and paints the panes.
//!
//! Runs on the main thread, except that a pane's reader may paint an echo (`echo.rs`). Owns the window, the renderer,
//! the painter and a [`View`] per pane. Locks a terminal only briefly, to snapshot and to select, and never blocks.

mod access;
mod act;
mod appearance;
mod asks;
mod badge;
mod blocks;
mod blur;
mod chrome;
mod clipboard;
mod close;
mod confirm;
mod context_menu;
mod copy;
mod copy_mode;
mod debug;
mod draw;
mod dropped;
mod echo;
mod editing;
mod emoji;
mod errand;
mod events;
mod export;
mod first_tab;
mod folder;
mod folds;
mod geometry;
mod hints;
mod host;
mod hover;
mod ime;
mod inbox;
mod keyboard;
mod keys;
mod line;
mod main_menu;
mod menu;
mod news;
mod no_effect;
mod notices;
mod open;
mod overlay;
mod pacing;
mod panel;
mod panes;
mod paste;
mod picker;
mod pointer;
mod preferences;
mod quake;
mod recording;
mod screenshot;
mod scroll;
mod scroll_text;
mod scrollbar;
mod search;
mod selection;
mod start;
mod status_bar;
mod tab_bar;
mod tab_marks;
mod tabs;
mod targets;
mod text_only;
mod title;
mod toast;
mod view;
mod wayland;
mod x_server;

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use unterm_control::Server;
use unterm_mux::{Mux, MuxError, Pane, PaneId, input};
use unterm_renderer::{FontOptions, PixelRect, Preedit, Renderer, WindowPainter};
use unterm_term::Palette;
use winit::{
    dpi::{PhysicalPosition, PhysicalSize},
    event_loop::ActiveEventLoop,
    keyboard::ModifiersState,
    window::Window,
};

use crate::{
    args::Args,
    config::{Config, Settings, keys::Keymap},
    copy_command::CopyKeys,
    last_session::LastSession,
};
use access::Access;
use appearance::Appearance;
use chrome::KnownColors;
use clipboard::Clipboard;
use confirm::Questions;
use debug::Debug;
use geometry::Geometry;
use hints::Hints;
use hover::Hovered;
use inbox::Inbox;
use keys::{Held, Taken};
use menu::Menu;
use notices::Notices;
use pacing::Pacing;
use picker::Picker;
use pointer::Pointer;
use search::SearchBar;
use status_bar::StatusBar;
use tab_bar::TabLabel;
use text_only::Around;
use toast::Toasts;
use view::{View, Views};

pub(crate) use start::run;

/// The state that exists from the window's creation on.
struct Screen {
    window: Arc<Window>,
    painter: WindowPainter<Arc<Window>>,
    geometry: Geometry,
    title: String,
    /// The minimum size of the window.
    least: (u32, u32),
    occluded: bool,
    /// Whether the window is minimised, and when the system was last asked: the system sends no event for it.
    minimized: Option<(bool, Instant)>,
    /// The cursor area last reported to the input method.
    ime_area: Option<PixelRect>,
    /// Whether the input method is enabled.
    is_ime_allowed: bool,
}

/// The app and its window.
struct App {
    mux: Arc<Mux>,
    server: Option<Server>,
    inbox: Arc<Inbox>,
    clipboard: Clipboard,
    /// The command-line arguments.
    args: Args,
    settings: Arc<Settings>,
    /// The preferences in force.
    config: Arc<Config>,
    keymap: Keymap,
    copy_keys: CopyKeys,
    /// The theme's colours.
    palette: Arc<Palette>,
    colors: KnownColors,
    fonts: FontOptions,
    toasts: Toasts,
    status_bar: StatusBar,
    /// Whether programs use a proxy.
    has_proxy: bool,
    notices: Notices,
    /// The debug overlay, if it is open.
    debug: Option<Debug>,
    /// The number of running errands.
    errands: usize,
    /// The state saved by the last window, or by this window since.
    last: Option<LastSession>,
    /// When to save the open tabs for the next window, after a change.
    keep_at: Option<Instant>,
    /// Whether the window's background is translucent.
    is_transparent: bool,
    /// The search, if it is open.
    search: Option<SearchBar>,
    /// The last search query.
    last_search: Option<search::Query>,
    /// The hint labels, if they are shown.
    hints: Option<Hints>,
    /// The link under the pointer.
    hovered: Option<Hovered>,
    /// The command whose buttons are shown.
    block_hover: Option<(PaneId, u64)>,
    /// The panel, if it is open.
    picker: Option<Picker>,
    /// Names of the actions that were chosen from a list, the latest last.
    used_actions: Vec<&'static str>,
    questions: Questions,
    /// The agents' questions, as last shown.
    asked: asks::Asked,
    access: Access,
    appearance: Appearance,
    /// The position of the window before it was hidden for a screenshot.
    hidden_at: Option<PhysicalPosition<i32>>,
    /// The text that an input method composes.
    preedit: Option<Preedit>,
    /// Dropped files that [`App::take_drop`] will paste together.
    dropped: Vec<PathBuf>,
    /// The menu, if it is open.
    menu: Option<Menu>,
    renderer: Renderer,
    screen: Option<Screen>,
    views: Views,
    tabs: Vec<TabLabel>,
    tab_hand: tabs::Hand,
    pane_hand: panes::Hand,
    /// The drag of a scrollbar's thumb.
    bar_drag: Option<scrollbar::Drag>,
    modifiers: ModifiersState,
    held: Held,
    taken: Taken,
    pointer: Pointer,
    /// Whether the window has the keyboard focus.
    focused: bool,
    /// The pane that last received a focus report.
    told_focus: Option<PaneId>,
    instance_title: Option<String>,
    /// Output arrived since titles were last read: a program may have started or ended.
    names_stale: bool,
    /// Titles must be read once more, for programs that start shortly after the output.
    names_again: bool,
    names_read: Option<Instant>,
    /// The pane whose program the status bar names.
    program_of: Option<PaneId>,
    /// The number of running instances, including this one.
    instances: usize,
    pacing: Pacing,
    /// The last frame's content around the panes' text, if the next frame can differ from it in text only.
    around: Option<Around>,
    /// When to wake without an event: for a blink, the bell's mark or a save.
    timer: Option<Instant>,
    /// When the event loop wakes if no event arrives.
    waits_until: Option<Instant>,
    blink_since: Instant,
    /// The zero point of the clock for animated images.
    started: Instant,
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
        let fonts = preferences::fonts(&config, args);
        Self {
            mux,
            server,
            clipboard: Clipboard::start(Arc::clone(&inbox)),
            inbox,
            args: args.clone(),
            keymap: Keymap::new(&config.keys),
            copy_keys: CopyKeys::new(&config.copy_mode_keys),
            palette,
            colors: KnownColors::default(),
            renderer: preferences::renderer(&config, &fonts),
            config,
            fonts,
            toasts: Toasts::default(),
            status_bar: StatusBar::default(),
            has_proxy: crate::proxy::is_enabled(settings.home()).unwrap_or(false),
            notices: Notices::default(),
            debug: None,
            errands: 0,
            last: None,
            keep_at: None,
            is_transparent: false,
            search: None,
            last_search: None,
            hints: None,
            hovered: None,
            block_hover: None,
            picker: None,
            used_actions: Vec::new(),
            questions: Questions::default(),
            asked: asks::Asked::default(),
            access: Access::default(),
            appearance: Appearance::default(),
            hidden_at: None,
            preedit: None,
            dropped: Vec::new(),
            menu: None,
            screen: None,
            views: Views::default(),
            tabs: Vec::new(),
            tab_hand: tabs::Hand::default(),
            pane_hand: panes::Hand::default(),
            bar_drag: None,
            modifiers: ModifiersState::empty(),
            held: Held::default(),
            taken: Taken::default(),
            pointer: Pointer::default(),
            focused: false,
            told_focus: None,
            instance_title: None,
            names_stale: true,
            names_again: false,
            names_read: None,
            program_of: None,
            instances: 1,
            pacing: Pacing::default(),
            around: None,
            timer: None,
            waits_until: None,
            blink_since: Instant::now(),
            started: Instant::now(),
            failure: None,
            settings,
        }
    }

    /// Adopts the scale of the screen that shows the window.
    fn rescale(&mut self, scale: f64) {
        if (self.fonts.scale - scale as f32).abs() > f32::EPSILON {
            self.fonts.scale = scale as f32;
            self.apply_fonts();
        }
    }

    /// Measures the cell again after a change of font or scale.
    fn apply_fonts(&mut self) {
        self.renderer.set_fonts(self.fonts.clone());
        let cell = self.renderer.metrics();
        if let Some(screen) = &mut self.screen {
            screen.geometry.cell = cell;
            screen.geometry.scale = self.fonts.scale;
            screen.geometry.measure(&mut self.renderer);
        }
        self.arrange();
        self.pacing.ask();
    }

    /// The pane that receives keys.
    fn focused_pane(&self) -> Option<Arc<Pane>> {
        let layout = self.mux.layout();
        self.mux.pane(layout.active_tab()?.focused)
    }

    /// A pane's view, refreshed from its terminal: the last frame may be older if output is fast or the pane is hidden.
    fn fresh_view(&mut self, pane: &Pane) -> Option<&mut View> {
        let clock = self.clock(Instant::now());
        let view = self.views.get_mut(&pane.id())?;
        view.refresh(pane, clock);
        Some(view)
    }

    /// Reports changes of the focus to panes (mode 1004).
    fn tell_focus(&mut self) {
        let now = if self.focused { self.focused_pane().map(|pane| pane.id()) } else { None };
        let before = std::mem::replace(&mut self.told_focus, now);
        if before == now {
            return;
        }
        for (pane, focused) in [(before, false), (now, true)] {
            let Some(pane) = pane.and_then(|id| self.mux.pane(id)) else { continue };
            let modes = pane.term().modes();
            let bytes = input::encode_focus(focused, modes);
            if !bytes.is_empty() {
                send(&pane, bytes);
            }
        }
    }

    /// Shows an error of the mux.
    fn report<T>(&mut self, result: Result<T, MuxError>) {
        match result {
            Ok(_) => {}
            Err(MuxError::NoRoom { axis, .. }) => self.refuse_split(axis),
            Err(error) => {
                tracing::error!("{error}");
                self.complain("panes", format!("That failed.\n{error}"));
            }
        }
    }

    fn resized(&mut self, size: PhysicalSize<u32>) {
        let Some(screen) = &mut self.screen else { return };
        let (width, height) = (size.width.max(1), size.height.max(1));
        if (screen.geometry.width, screen.geometry.height) == (width, height) {
            return;
        }
        (screen.geometry.width, screen.geometry.height) = (width, height);
        screen.painter.resize(width, height);
        // The user resizes the window: grids that a client fixed follow the window again.
        for pane in self.mux.panes() {
            pane.set_pinned(false);
        }
        self.arrange();
        self.pacing.ask();
    }

    fn fail(&mut self, error: anyhow::Error, event_loop: &ActiveEventLoop) {
        self.failure.get_or_insert(error);
        event_loop.exit();
    }
}

/// Queues bytes for a pane's program. If the program does not read, the bytes are lost and a warning is logged.
fn send(pane: &Pane, bytes: &[u8]) {
    if let Err(error) = pane.write(bytes) {
        tracing::warn!("input for pane {} is lost: {error}", pane.id().0);
    }
}

/// Half the period of a blinking cursor.
const BLINK: Duration = Duration::from_millis(530);
/// How long the active tab shows the bell's mark.
const BELL_MARK: Duration = Duration::from_secs(1);
/// For how long after a start, a resize or a change of colours a pane's output counts as a repaint.
const REPAINTING: Duration = Duration::from_millis(500);
