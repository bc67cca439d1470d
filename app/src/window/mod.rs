//! The window: winit's events in, keys and mouse to the mux, pictures of its panes out.
//!
//! Everything here runs on the main thread. It owns the window, the renderer and the painter, and for each pane a
//! [`View`]; it takes a pane's terminal briefly to snapshot and to select, and never waits for anything.

mod access;
mod act;
mod asks;
mod badge;
mod blocks;
mod blur;
mod chrome;
mod clipboard;
mod close;
mod confirm;
mod copy;
mod copy_mode;
mod debug;
mod draw;
mod dropped;
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
mod motion;
mod news;
mod notices;
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
mod scrollbar;
mod search;
mod selection;
mod status_bar;
mod tab_bar;
mod tab_marks;
mod tabs;
mod targets;
mod title;
mod toast;
mod view;
mod wayland;
mod x_server;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use unterm_control::{Approval, Changes, Server, ServerOptions, Topic};
use unterm_mux::{Mux, MuxError, Pane, PaneId, input};
use unterm_renderer::{FontOptions, PixelRect, Preedit, Renderer, WindowPainter};
use unterm_term::Palette;
use winit::{
    dpi::PhysicalSize,
    event_loop::{ActiveEventLoop, DeviceEvents, EventLoop},
    keyboard::ModifiersState,
    window::{Fullscreen, Window},
};

use crate::{
    args::Args,
    config::{BarPosition, Config, Settings, WindowStart, keys::Keymap, wire::told_page},
    copy_command::CopyKeys,
    environment,
    last_session::LastSession,
    ready::Ready,
    signals,
};
use access::Access;
use chrome::KnownColors;
use clipboard::Clipboard;
use confirm::Questions;
use debug::Debug;
use geometry::Geometry;
use hints::Hints;
use host::WindowHost;
use hover::Hovered;
use inbox::{Inbox, Wake};
use keys::{Held, Taken};
use menu::Menu;
use motion::Motion;
use notices::Notices;
use pacing::Pacing;
use picker::Picker;
use pointer::Pointer;
use search::SearchBar;
use status_bar::StatusBar;
use tab_bar::TabLabel;
use toast::Toasts;
use view::View;

pub(crate) use targets::compile as compile_pattern;

/// Runs until the last tab closes or the process is told to stop.
pub(crate) fn run(args: &Args) -> Result<()> {
    if args.quake && quake::toggle_running(&unterm_control::home()) {
        return Ok(());
    }
    let event_loop = EventLoop::<Wake>::with_user_event().build().context(
        "cannot open a window; without a display, start with --headless or set DISPLAY or WAYLAND_DISPLAY",
    )?;
    // The window's own events tell everything; those of devices would wake it for what happens in other windows.
    event_loop.listen_device_events(DeviceEvents::Never);
    let inbox = Inbox::new(event_loop.create_proxy());
    let stop = Arc::clone(&inbox);
    signals::on_stop(move |_| stop.post(|news| news.stop = true))?;

    let (settings, complaints) = Settings::read(unterm_control::home());
    let (told, beside) = (Arc::clone(&inbox), Arc::clone(&inbox));
    let home = settings.home().to_owned();
    let changes = Arc::new(Changes::default());
    let page = (Arc::clone(&changes), Arc::clone(&changes));
    let settings = settings.watch(
        move |change| {
            page.0.tell(Topic::Settings);
            told.post(|news| news.settings = Some(change));
        },
        move |path| {
            told_page(&page.1, path);
            status_bar::file_written(&home, path, &beside);
        },
    );
    let mux = Mux::new(environment::mux_options(true, args.allow()));
    let palette = environment::palette(&settings.get(), settings.home(), None);
    environment::apply(&mux, &settings.get(), settings.home(), &palette);
    mux.observe(Arc::clone(&inbox) as Arc<dyn unterm_mux::Observer>);
    let ready = Ready::new();
    let approval = args.approval(&settings.get());
    let server = start_server(&mux, &inbox, &changes, &ready, settings.home(), approval);
    let last = LastSession::read(settings.home());
    let mut problems = Vec::new();
    if let Some(complaint) = quake::open_layout(&mux, args, &settings, last.as_ref()) {
        problems.push(("layout", complaint));
    }
    if mux.layout().tabs.is_empty()
        && let Some(complaint) = first_tab::open(&mux, args)?
    {
        problems.push(("shell", complaint));
    }
    ready.set();

    let mut app = App::new(args, mux, server, inbox, settings, palette);
    app.last = last;
    for (about, complaint) in problems {
        app.complain(about, complaint);
    }
    if !complaints.is_empty() {
        app.complain_of_settings(&complaints, "the defaults are in force");
    }
    app.tell_missing_fonts();
    event_loop.run_app(&mut app).context("the window's event loop failed")?;
    app.finish()
}

/// Starts the control server. A person can use the window without it, so an error is said and not fatal.
fn start_server(
    mux: &Arc<Mux>,
    inbox: &Arc<Inbox>,
    changes: &Arc<Changes>,
    ready: &Arc<Ready>,
    home: &Path,
    approval: Approval,
) -> Option<Server> {
    let start = || -> Result<Server> {
        let home = home.to_owned();
        let host = Arc::new(WindowHost { inbox: Arc::clone(inbox), changes: Arc::clone(changes) });
        let options = ServerOptions { mux: Arc::clone(mux), host, home, approval };
        Ok(Server::start_gated(options, vec![ready.clone()])?)
    };
    match start() {
        Ok(server) => {
            environment::announce(mux, &server);
            Some(server)
        }
        Err(error) => {
            tracing::error!("agents can't reach this window: {error:#}");
            None
        }
    }
}

/// The window's own things, from its creation on.
struct Screen {
    window: Arc<Window>,
    painter: WindowPainter<Arc<Window>>,
    geometry: Geometry,
    title: String,
    occluded: bool,
    /// Whether it is minimised, and when the system was last asked: it does not tell by itself.
    minimized: Option<(bool, Instant)>,
    /// Where the input method was last told that text goes.
    ime_area: Option<PixelRect>,
}

/// The app with its window.
struct App {
    mux: Arc<Mux>,
    server: Option<Server>,
    inbox: Arc<Inbox>,
    clipboard: Clipboard,
    /// What the command line said.
    args: Args,
    settings: Arc<Settings>,
    /// The preferences in force.
    config: Arc<Config>,
    keymap: Keymap,
    /// Copy mode's keys.
    copy_keys: CopyKeys,
    /// The theme's colours.
    palette: Arc<Palette>,
    colors: KnownColors,
    fonts: FontOptions,
    toasts: Toasts,
    status_bar: StatusBar,
    /// Whether programs go through a proxy.
    has_proxy: bool,
    notices: Notices,
    /// The debug overlay, while it is open.
    debug: Option<Debug>,
    /// Errands under way.
    errands: usize,
    /// What the last window left.
    last: Option<LastSession>,
    /// The window can be seen through.
    is_transparent: bool,
    /// The search, while it is open.
    search: Option<SearchBar>,
    /// Labels to choose from, while they are shown.
    hints: Option<Hints>,
    /// The link under the pointer.
    hovered: Option<Hovered>,
    /// The command whose buttons are shown.
    block_hover: Option<(PaneId, u64)>,
    /// The panel, while it is open.
    picker: Option<Picker>,
    questions: Questions,
    /// Questions of agents, as they were last shown.
    asked: asks::Asked,
    access: Access,
    motion: Motion,
    /// What an input method composes.
    preedit: Option<Preedit>,
    /// Files that were dropped and are to be pasted, together, with [`App::take_drop`].
    dropped: Vec<PathBuf>,
    /// The menu, while it is open.
    menu: Option<Menu>,
    renderer: Renderer,
    screen: Option<Screen>,
    views: HashMap<PaneId, View>,
    tabs: Vec<TabLabel>,
    tab_hand: tabs::Hand,
    pane_hand: panes::Hand,
    /// The scrollbar's thumb, while the mouse holds it.
    bar_drag: Option<scrollbar::Drag>,
    modifiers: ModifiersState,
    held: Held,
    taken: Taken,
    pointer: Pointer,
    /// The window has the keyboard.
    focused: bool,
    /// The pane that was last told it has the focus.
    told_focus: Option<PaneId>,
    instance_title: Option<String>,
    /// Output came since titles were last read: a program may have started or ended.
    names_stale: bool,
    pacing: Pacing,
    /// When to look again though nothing happens: a blink, a bell's mark, a title.
    timer: Option<Instant>,
    blink_since: Instant,
    /// What the clock of animated images counts from.
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
            is_transparent: false,
            search: None,
            hints: None,
            hovered: None,
            block_hover: None,
            picker: None,
            questions: Questions::default(),
            asked: asks::Asked::default(),
            access: Access::default(),
            motion: Motion::default(),
            preedit: None,
            dropped: Vec::new(),
            menu: None,
            screen: None,
            views: HashMap::new(),
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
            pacing: Pacing::default(),
            timer: None,
            blink_since: Instant::now(),
            started: Instant::now(),
            failure: None,
            settings,
        }
    }

    /// After the event loop: takes the instance out of the registry and ends every program.
    fn finish(mut self) -> Result<()> {
        self.keep_session();
        // The window goes first: what follows may take a moment.
        self.screen = None;
        if let Some(server) = self.server.take() {
            server.stop();
        }
        self.mux.shutdown();
        self.failure.map_or(Ok(()), Err)
    }

    /// Creates the window and paints its first frame before showing it.
    fn open_window(&mut self, event_loop: &ActiveEventLoop) -> Result<()> {
        let monitor =
            event_loop.primary_monitor().or_else(|| event_loop.available_monitors().next());
        self.fonts.scale = monitor.as_ref().map_or(1.0, |monitor| monitor.scale_factor() as f32);
        self.renderer.set_fonts(self.fonts.clone());
        let mut geometry = Geometry {
            width: 0,
            height: 0,
            scale: self.fonts.scale,
            cell: self.renderer.metrics(),
            ui_column: 1.0,
            padding: self.config.window.padding,
            has_tab_bar: self.wants_tab_bar(self.mux.layout().tabs.len()),
            tab_bar_at_foot: self.config.tab_bar.position == BarPosition::Bottom,
            has_status_bar: self.config.status_bar.show,
        };
        geometry.measure(&mut self.renderer);
        let (columns, rows) = (self.config.window.columns, self.config.window.rows);
        let attributes = Window::default_attributes().with_title("Unterm").with_visible(false);
        let (attributes, last_size) = self.as_last(attributes, event_loop);
        let wanted = |geometry: &Geometry| {
            let size = last_size.unwrap_or_else(|| geometry.window_for(columns, rows));
            quake::within(size, monitor.as_ref())
        };
        if let Some(monitor) = &monitor {
            self.pacing.set_refresh_rate(monitor.refresh_rate_millihertz());
        }
        self.is_transparent = self.config.window.opacity < 1.0;
        let mut attributes = attributes
            .with_inner_size(wayland::size(event_loop, wanted(&geometry), geometry.scale))
            .with_transparent(self.is_transparent);
        if wayland::is_used(event_loop) {
            attributes = attributes.with_theme(Some(self.frame_theme()));
        }
        if self.args.quake {
            let share = self.config.window.quake_height;
            attributes = quake::hang(attributes, monitor.as_ref(), share, event_loop)?;
        }
        let starts_maximized = self.config.window.start == WindowStart::Maximized;
        let is_maximized = !self.args.quake && (attributes.maximized || starts_maximized);
        let window = event_loop
            .create_window(named(attributes, event_loop))
            .context("the window can't be created")?;
        let window = Arc::new(window);
        let size = window.inner_size();
        (geometry.width, geometry.height) = (size.width.max(1), size.height.max(1));
        let mut painter = WindowPainter::new(Arc::clone(&window), self.args.painter.into())?;
        painter.resize(geometry.width, geometry.height);
        if self.is_transparent && wayland::is_opaque(&window, painter.kind()) {
            self.is_transparent = false;
            window.set_transparent(false);
            self.notify("opacity", wayland::OPAQUE.to_owned());
        }
        window.set_ime_allowed(true);
        if self.config.window.accessibility {
            self.access = Access::start(event_loop, &window, &self.inbox);
        }
        if !self.args.quake && self.config.window.start == WindowStart::Fullscreen {
            window.set_fullscreen(Some(Fullscreen::Borderless(None)));
        }
        if self.config.window.blur {
            self.apply_blur(&window);
        }
        self.screen = Some(Screen {
            window: Arc::clone(&window),
            painter,
            geometry,
            title: String::new(),
            occluded: false,
            minimized: None,
            ime_area: None,
        });
        let guessed = geometry.scale;
        self.rescale(window.scale_factor());
        if let Some(geometry) = self.told_scale(guessed) {
            // A whole number was the first guess, on Wayland.
            let size = wayland::size(event_loop, wanted(&geometry), geometry.scale);
            if let Some(size) = window.request_inner_size(size) {
                self.resized(size);
            }
        }
        if self.is_light().is_some() {
            self.apply_theme();
        }
        self.arrange();
        self.paint(Instant::now());
        window.set_visible(true);
        if is_maximized {
            // Not before: X11's window managers pass over it for a window that they have not been asked to show.
            window.set_maximized(true);
        }
        self.ask_for_motion();
        Ok(())
    }

    /// Follows the scale of the screen the window is on.
    fn rescale(&mut self, scale: f64) {
        if (self.fonts.scale - scale as f32).abs() > f32::EPSILON {
            self.fonts.scale = scale as f32;
            self.apply_fonts();
        }
    }

    /// The window's measures, where a new one has another scale than was guessed. 1 may mean that it was not told yet.
    fn told_scale(&self, guessed: f32) -> Option<Geometry> {
        let geometry = self.screen.as_ref()?.geometry;
        let is_other = (geometry.scale - guessed).abs() > f32::EPSILON;
        (is_other && geometry.scale > 1.0 && !self.args.quake).then_some(geometry)
    }

    /// Measures the cell anew after a change of font or scale.
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

    /// The pane that keys go to.
    fn focused_pane(&self) -> Option<Arc<Pane>> {
        let layout = self.mux.layout();
        self.mux.pane(layout.active_tab()?.focused)
    }

    /// Tells panes of a change of focus (mode 1004).
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

    /// Says an error of the mux.
    fn report<T>(&mut self, result: Result<T, MuxError>) {
        match result {
            Ok(_) => {}
            Err(MuxError::NoRoom { axis, .. }) => self.refuse_split(axis),
            Err(error) => {
                tracing::error!("{error}");
                self.complain("panes", format!("That can't be done.\n{error}"));
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
        // The person sizes the window now: grids that a caller fixed follow it again.
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

/// Queues bytes for a pane's program; a program that does not read loses them, and that is said.
fn send(pane: &Pane, bytes: &[u8]) {
    if let Err(error) = pane.write(bytes) {
        tracing::warn!("input for pane {} is lost: {error}", pane.id().0);
    }
}

#[cfg(all(unix, not(target_os = "macos")))]
fn named(
    attributes: winit::window::WindowAttributes,
    event_loop: &ActiveEventLoop,
) -> winit::window::WindowAttributes {
    use winit::platform::{wayland::WindowAttributesExtWayland, x11::WindowAttributesExtX11};
    if wayland::is_used(event_loop) {
        WindowAttributesExtWayland::with_name(attributes, "unterm", "")
    } else {
        WindowAttributesExtX11::with_name(attributes, "unterm", "unterm")
    }
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
fn named(
    attributes: winit::window::WindowAttributes,
    _: &ActiveEventLoop,
) -> winit::window::WindowAttributes {
    attributes
}

/// Half a period of a blinking cursor.
const BLINK: Duration = Duration::from_millis(530);
/// How long the bell's mark stays on the active tab.
const BELL_MARK: Duration = Duration::from_secs(1);
/// How long after its start, or a change of its size or colours, what a pane prints is an answer to that.
const REPAINTING: Duration = Duration::from_millis(500);
