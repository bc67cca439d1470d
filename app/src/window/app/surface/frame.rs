//! Decides when to paint, places the panes, and updates the state before a frame.
//!
//! All changes for a frame happen here. Drawing (`draw.rs`) only reads the result.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use unterm_control::Server;
use unterm_mux::{Layout, PaneId, Rect};
use unterm_renderer::{PainterKind, PixelRect};

use crate::window::{
    app::App,
    chrome::status_bar::About,
    effect::Effect,
    overlays::canvas::Debugged,
    redraw::Redraw,
    surface::{access_tree::ReadContent, look::PaneLook, plan::Plan, wayland},
    system::recording::is_recording,
    ui::geometry::Geometry,
    workspace::{
        hit_test, selecting,
        title::{self, Naming},
        view::View,
        work::Work,
    },
};

/// The minimum time between updates of titles while panes print.
const NAMES_AGE: Duration = Duration::from_millis(250);
/// The time after which the ages of entries in the open inbox are drawn again.
const INBOX_AGE: Duration = Duration::from_secs(30);
/// The duration of a full turn of a progress ring, and the number of steps of a turn.
const TURN: Duration = Duration::from_millis(1200);
const TURN_STEPS: u32 = 12;

impl App {
    /// The current appearance of panes. `None` if there is no window.
    pub(crate) fn pane_look(&self, layout: &Layout, blink_on: bool) -> Option<PaneLook> {
        Some(PaneLook {
            geometry: self.surface.geometry?,
            focused: layout.active_tab().map(|tab| tab.focused),
            has_window_focus: self.input.focused,
            blink_on,
            dim: self.prefs.config.window.dim_unfocused,
            opacity: self.opacity(),
        })
    }

    /// Resizes every pane to its area.
    pub(crate) fn arrange(&mut self) {
        let (layout, now) = (self.mux.layout(), self.now);
        let tabs = self.tabs_soon();
        let has_tab_bar = self.prefs.wants_tab_bar(tabs);
        // While the first tabs are not open, they are counted already.
        let more = if self.workspace.first.is_some() { tabs } else { tabs + 1 };
        let has_bar_then = self.prefs.wants_tab_bar(more);
        let Some(geometry) = &mut self.surface.geometry else { return };
        geometry.has_tab_bar = has_tab_bar;
        geometry.has_status_bar = self.prefs.config.status_bar.show;
        let geometry = *geometry;
        if let Some(screen) = &mut self.surface.screen {
            screen.limit_size(&geometry);
        }
        self.mux.set_space(geometry.content(), geometry.spacing());
        let then = Geometry { has_tab_bar: has_bar_then, ..geometry };
        self.mux.set_space_of_new_tab(then.content());
        for tab in &layout.tabs {
            for (id, area) in tab.place(geometry.content(), &geometry.spacing()) {
                let Some(pane) = self.mux.pane(id) else { continue };
                let view = self.workspace.views.entry(id).or_default();
                let size = geometry.grid(area);
                if pane.is_pinned() {
                    view.sizes.given = None;
                    continue;
                }
                if view.sizes.given.replace(size) != Some(size) {
                    view.repainted = Some(now);
                    view.resize(&pane, size);
                }
            }
        }
        self.surface.report_shown(&self.mux);
    }

    /// The number of tabs, including the tabs that the start of the window is about to open.
    pub(crate) fn tabs_soon(&self) -> usize {
        match &self.workspace.first {
            Some(_) => self.workspace.first_tabs(&self.prefs),
            None => self.mux.layout().tabs.len(),
        }
    }

    /// Runs the tasks for which the timer was set. Returns the frame that is due.
    pub(crate) fn tick(&mut self) -> Redraw {
        let now = self.now;
        let is_due = self.surface.timer.is_some_and(|time| now >= time);
        if is_due {
            self.surface.timer = self.with_parts(|parts, cx| parts.system.notices.show_waiting(cx));
            let times = [
                self.keep_in_time(now),
                self.end_closed_in_time(now),
                self.open_first_panes_in_time(now),
                self.survey_in_time(now),
            ];
            times.into_iter().flatten().for_each(|time| self.surface.wake_at(time));
            self.with_parts(|_, cx| selecting::scroll_at_edge(cx));
            self.deferred_click(false);
        }
        Redraw::if_changed(is_due)
    }

    /// Paints a frame if the window is in sight. If only the panes' text has changed, paints a frame of text, and
    /// otherwise a whole frame.
    pub(crate) fn paint(&mut self, now: Instant) {
        let is_whole = self.surface.pacing.is_whole();
        self.surface.pacing.painted(now);
        if self.surface.is_out_of_sight(self.input.focused, &self.mux, now) {
            self.echo.last_frame = None;
            // A hidden window needs no frame, but the desktop's lists of windows still show its title.
            return self.retitle(&self.mux.layout());
        }
        if !is_whole && self.paint_text(now) {
            return;
        }
        let begun = Instant::now();
        let Some(plan) = self.prepare(now) else { return };
        let caret = self.draw(&plan);
        if let Some(debug) = &mut self.overlays.debug {
            debug.painted(begun, self.surface.renderer.last_frame());
        }
        self.after_paint(&plan.layout, &plan.placed, caret);
        if let Some(screen) =
            self.surface.screen.as_ref().filter(|_| self.workspace.first.is_some())
        {
            // On Wayland, this request is answered after the frame has been shown.
            screen.window.request_redraw();
        }
        self.note_around(plan.layout, plan.placed);
    }

    /// Updates the state for a whole frame, and sets the timer for the next frame. Returns `None` if there is no
    /// window.
    pub(crate) fn prepare(&mut self, now: Instant) -> Option<Plan> {
        self.now = now;
        self.surface.timer = None;
        self.deferred_click(false);
        let layout = self.mux.layout();
        let placed = self.surface.placed(&layout);
        let style = self.text_style();
        self.text_frame().refresh(&placed, style, now);
        if self.overlays.hovered.is_some() && !self.input.pointer.is_selecting() {
            // The link may have been scrolled away from the pointer.
            self.hover_again();
        }
        let blink_on = self.text_frame().blink(&placed, style, now);
        let times = [
            self.with_parts(|parts, cx| parts.overlays.search.run_again(cx)),
            self.workspace.end_flashes(now),
            self.with_parts(|parts, cx| parts.system.notices.show_waiting(cx)),
            self.keep_in_time(now),
            self.end_closed_in_time(now),
            self.survey_in_time(now),
            self.workspace.first.as_ref().and_then(|first| first.due),
            // The tasks above may show messages.
            self.overlays.toasts.expire(now),
        ];
        times.into_iter().flatten().for_each(|time| self.surface.wake_at(time));
        self.label_tabs(&layout, now);
        if self.input.pointer.is_selecting() {
            self.surface.wake_at(now + Duration::from_millis(50));
        }
        let is_covered = self.has_overlay();
        let marks_due =
            self.with_parts(|parts, cx| parts.chrome.scrollbars.read_marks(is_covered, cx));
        if let Some(time) = marks_due {
            self.surface.wake_at(time);
        }
        if self.overlays.inbox.is_some() {
            self.surface.wake_at(now + INBOX_AGE);
        }
        self.follow_tabs();
        let turn = self.turn(now);
        self.plan(layout, placed, blink_on, turn)
    }

    /// Scrolls the tabs to the active tab, and updates the tooltip of the sidebar.
    fn follow_tabs(&mut self) {
        let (due, pointed) = self.with_parts(|parts, cx| {
            let selected = parts.chrome.sidebar.selected();
            parts.chrome.tabs.follow_active(selected, cx);
            parts.chrome.sidebar.point(&parts.chrome.tabs, cx)
        });
        if let Some(time) = due {
            self.surface.wake_at(time);
        }
        if let Some(tab) = pointed {
            self.survey_tabs(|one| one == tab);
        }
    }

    /// Computes the values that a whole frame shows in addition to the state of the parts.
    fn plan(
        &mut self,
        layout: Arc<Layout>,
        placed: Vec<(PaneId, Rect)>,
        blink_on: bool,
        turn: f32,
    ) -> Option<Plan> {
        let geometry = self.surface.geometry?;
        let focused = layout.active_tab().map(|tab| tab.focused);
        let view = focused.and_then(|id| self.workspace.views.get(&id));
        let palette = view.map_or(&self.prefs.palette, |view| &view.snapshot.palette);
        let colors = self.prefs.colors.of(palette);
        self.update_status_bar(&geometry, focused);
        if let Some(picker) = &mut self.overlays.picker {
            picker.wrap(&geometry, &mut self.surface.renderer);
        }
        if let Some(debug) = &mut self.overlays.debug {
            debug.measure(self.now);
        }
        let painter = self.surface.screen.as_ref().map(|screen| screen.painter.adapter());
        let hovered = match self.overlays.debug {
            Some(_) => self.with_parts(|_, cx| hit_test::hovered_cell(cx)),
            None => None,
        };
        let debug = self
            .overlays
            .debug
            .as_ref()
            .map(|_| Debugged { painter: painter.unwrap_or_default(), cell: hovered });
        let is_covered = self.has_overlay();
        Some(Plan {
            geometry,
            colors,
            panes: self.pane_look(&layout, blink_on)?,
            tab_bar: self.with_parts(|parts, cx| parts.chrome.tabs.look(turn, cx)),
            scrollbars: self.with_parts(|parts, cx| {
                let search = &parts.overlays.search;
                parts.chrome.scrollbars.quads(&colors, search, is_covered, cx)
            }),
            matches: self.overlays.search.highlights(&self.workspace.views),
            receivers: self.workspace.broadcast.panes(&layout),
            text_target: self.text_target(),
            attention: self.who_waits(&layout).0,
            debug,
            layout,
            placed,
        })
    }

    /// Updates the status bar, and sets the timer for its tooltip.
    fn update_status_bar(&mut self, geometry: &Geometry, focused: Option<PaneId>) {
        let (is_light, is_paused) = (self.is_light(), self.are_agents_paused());
        let is_recorded = self.with_parts(|_, cx| is_recording(cx));
        let screen = self.surface.screen.as_ref();
        let about = About {
            items: &self.prefs.config.status_bar.items,
            pane: focused.map(|id| id.0),
            view: focused.and_then(|id| self.workspace.views.get(&id)),
            is_recorded,
            hides: screen.is_some_and(|screen| !wayland::shows(&screen.window)),
            has_proxy: self.prefs.has_proxy,
            is_paused,
            questions: self.overlays.asked.open,
            theme: self.prefs.config.theme.pick(is_light),
        };
        let (pointer, renderer) = (self.input.pointer.position, &mut self.surface.renderer);
        if let Some(due) =
            self.chrome.status_bar.update(&about, geometry, pointer, self.now, renderer)
        {
            self.surface.wake_at(due);
        }
    }

    /// The rotation of progress rings without a percentage, from 0 to 1. Sets the timer for the next step. Rings do
    /// not turn with the CPU painter or with reduced motion.
    fn turn(&mut self, now: Instant) -> f32 {
        let gpu =
            self.surface.screen.as_ref().is_some_and(|s| s.painter.kind() == PainterKind::Gpu);
        if !gpu
            || self.stands_still()
            || !self.chrome.tabs.labels().iter().any(|tab| tab.marks.work.is_some_and(Work::turns))
        {
            return 0.0;
        }
        self.surface.wake_at(now + TURN / TURN_STEPS);
        let turned = (now - self.surface.started).as_nanos() % TURN.as_nanos();
        turned as f32 / TURN.as_nanos() as f32
    }

    /// The time at which to read the titles again.
    pub(crate) fn names_due(&self) -> Instant {
        self.workspace.names.read.map_or(self.surface.started, |read| read + NAMES_AGE)
    }

    /// Reads the titles again. Returns the frame that is due.
    pub(crate) fn read_names(&mut self, now: Instant) -> Redraw {
        Redraw::if_changed(self.workspace.read_names(&self.mux.layout(), &self.mux, now))
    }

    /// Updates everything that depends on a painted frame: the window title, screen readers, and the position for the
    /// input method.
    fn after_paint(
        &mut self,
        layout: &Layout,
        placed: &[(PaneId, Rect)],
        caret: Option<PixelRect>,
    ) {
        self.retitle(layout);
        self.update_readers(layout, placed);
        self.place_ime(layout, placed, caret);
    }

    /// Sends the current content of the window to connected screen readers.
    pub(crate) fn update_readers(&mut self, layout: &Layout, placed: &[(PaneId, Rect)]) {
        let mut access = std::mem::take(&mut self.system.access);
        access.update(|sent| {
            let content = ReadContent {
                layout,
                placed,
                workspace: &self.workspace,
                overlays: &self.overlays,
                chrome: &self.chrome,
                geometry: self.surface.geometry,
                has_focus: self.input.focused,
                attention: self.who_waits(layout),
            };
            content.tree(sent)
        });
        self.system.access = access;
    }

    /// Sets the window's title if it has changed.
    fn retitle(&mut self, layout: &Layout) {
        let title = self.title(layout);
        let view = layout.active_tab().and_then(|tab| self.workspace.views.get(&tab.focused));
        let project = view.map_or("", View::project);
        if let Some(server) = &self.server
            && self.workspace.project.as_deref() != Some(project)
        {
            server.set_project(Some(project).filter(|project| !project.is_empty()));
            self.workspace.project = Some(project.to_owned());
        }
        if self.workspace.title != title {
            self.workspace.title.clone_from(&title);
            self.effect(Effect::Title(title));
        }
    }

    /// The window's title.
    pub(crate) fn title(&self, layout: &Layout) -> String {
        // The registry of instances follows the same rule: a caller's title comes before the command line's.
        if let Some(title) = self.prefs.args.title() {
            return self.chrome.instance_title.clone().unwrap_or(title);
        }
        let id = || self.server.as_ref().map_or_else(String::new, Server::instance_id);
        let instance = self.chrome.instance_title.clone().unwrap_or_else(id);
        let tab = layout.active_tab();
        let view = tab.and_then(|tab| self.workspace.views.get(&tab.focused));
        let directory = view.and_then(View::cwd).map_or("".into(), Path::to_string_lossy);
        let title = tab.and_then(|tab| tab.title.as_deref());
        let naming = Naming {
            instance: &instance,
            project: view.map_or("", View::project),
            title: title.or(view.map(View::title)).unwrap_or_default(),
            program: view.map_or("", View::program),
            directory: &directory,
            tab: &(layout.active + 1).to_string(),
        };
        let title = title::window_title(&self.prefs.config.window.title_format, &naming);
        match self.who_waits(layout).0 {
            0 => title,
            count => format!("({count}) {title}"),
        }
    }
}
