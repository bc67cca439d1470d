//! From views to pixels: when to paint, where the panes are, and what a frame contains.

use std::time::{Duration, Instant};

use unterm_control::Server;
use unterm_mux::{Layout, PaneId, Rect};
use unterm_renderer::{Highlight, PainterKind, PaneScene, PixelRect, Scene};

use crate::window::{
    app::{
        App, BELL_MARK, BLINK,
        overlays::{layer::Shown, stack},
    },
    chrome::{
        status_bar::About,
        tab_bar::{TabBar, TabLabel},
        tab_marks::Marks,
    },
    overlays::{canvas::Canvas, debug, taker::Taker},
    prefs::default_cursor,
    surface::{look::PaneLook, wayland},
    system::notices::{draw_flash, is_flashing},
    ui::{colors::quad, geometry::pixels},
    workspace::{
        badge::draw_badges,
        title,
        work::{Fare, Work},
    },
};

/// Minimum interval between updates of titles while panes print.
const NAMES_AGE: Duration = Duration::from_millis(250);
/// How long to cache whether an unfocused window is minimised.
const MINIMIZED_AGE: Duration = Duration::from_secs(1);
/// The duration of a ring's full turn, and its number of steps.
const TURN: Duration = Duration::from_millis(1200);
const TURN_STEPS: u32 = 12;

impl App {
    /// The current look of panes; `None` without a window.
    pub(crate) fn pane_look(&self, layout: &Layout, blink_on: bool) -> Option<PaneLook> {
        Some(PaneLook {
            geometry: self.surface.screen.as_ref()?.geometry,
            focused: layout.active_tab().map(|tab| tab.focused),
            has_window_focus: self.input.focused,
            blink_on,
            dim: self.prefs.config.window.dim_unfocused,
            opacity: self.opacity(),
        })
    }

    /// Resizes every pane to its area.
    pub(crate) fn arrange(&mut self) {
        let layout = self.mux.layout();
        let has_tab_bar = self.wants_tab_bar(layout.tabs.len());
        let Some(screen) = &mut self.surface.screen else { return };
        screen.geometry.has_tab_bar = has_tab_bar;
        screen.geometry.has_status_bar = self.prefs.config.status_bar.show;
        screen.limit_size();
        let geometry = screen.geometry;
        self.mux.set_space(geometry.content(), geometry.spacing());
        for tab in &layout.tabs {
            for (id, area) in tab.place(geometry.content(), &geometry.spacing()) {
                let Some(pane) = self.mux.pane(id) else { continue };
                let view = self.workspace.views.entry(id).or_default();
                let size = geometry.grid(area);
                if pane.is_pinned() {
                    view.given = None;
                    continue;
                }
                if view.given.replace(size) != Some(size) {
                    view.repainted = Some(Instant::now());
                    view.resize(&pane, size);
                }
            }
        }
    }

    /// The visible panes and their areas.
    pub(crate) fn placed(&self, layout: &Layout) -> Vec<(PaneId, Rect)> {
        let Some(screen) = &self.surface.screen else { return Vec::new() };
        layout.active_tab().map_or_else(Vec::new, |tab| {
            tab.place(screen.geometry.content(), &screen.geometry.spacing())
        })
    }

    /// Makes the next frame check whether the window is minimised.
    pub(crate) fn ask_whether_minimized(&mut self) {
        if let Some(screen) = &mut self.surface.screen {
            screen.minimized = None;
        }
    }

    /// Whether the window is hidden. X11 reports covered windows, but not minimised ones. An unfocused window therefore
    /// checks once per second while it has something to draw.
    fn is_out_of_sight(&mut self, now: Instant) -> bool {
        let focused = self.input.focused;
        let Some(screen) = &mut self.surface.screen else { return true };
        if screen.occluded || focused {
            return screen.occluded;
        }
        if screen.minimized.is_none_or(|(_, asked)| now >= asked + MINIMIZED_AGE) {
            screen.minimized = Some((screen.window.is_minimized() == Some(true), now));
        }
        screen.minimized.is_some_and(|(minimized, _)| minimized)
    }

    /// Repaints the whole window after the system lost a part of it.
    pub(crate) fn redraw_whole(&mut self) {
        if let Some(screen) = &mut self.surface.screen {
            screen.painter.invalidate();
        }
        self.surface.pacing.ask();
    }

    /// Sets whether the window is hidden; a hidden window is not drawn.
    pub(crate) fn occlude(&mut self, occluded: bool) {
        if let Some(screen) = &mut self.surface.screen {
            screen.occluded = occluded;
            screen.minimized = None;
        }
        if !occluded {
            self.redraw_whole();
        }
    }

    /// Runs the tasks that the timer was set for.
    pub(crate) fn tick(&mut self, now: Instant) {
        if self.surface.timer.is_some_and(|time| now >= time) {
            self.surface.timer = self.show_waiting(now);
            self.keep_in_time(now).into_iter().for_each(|time| self.wake_at(time));
            self.drag_scroll();
            self.deferred_click(false);
            self.surface.pacing.ask();
        }
    }

    pub(crate) fn wake_at(&mut self, time: Instant) {
        self.surface.timer = Some(self.surface.timer.map_or(time, |timer| timer.min(time)));
    }

    /// Updates the views and paints a frame.
    pub(crate) fn paint(&mut self, now: Instant) {
        let is_whole = self.surface.pacing.is_whole();
        self.surface.pacing.painted(now);
        if self.is_out_of_sight(now) {
            self.surface.around = None;
            // A hidden window needs no frame, but lists of windows show its title.
            return self.retitle(&self.mux.layout());
        }
        if !is_whole && self.paint_text(now, false) {
            return;
        }
        self.surface.timer = None;
        self.deferred_click(false);
        let begun = Instant::now();
        let layout = self.mux.layout();
        let placed = self.placed(&layout);
        self.refresh_views(&placed, now);
        if self.overlays.hovered.is_some() && !self.input.pointer.is_selecting() {
            // The link may have scrolled away from the pointer.
            self.hover_again();
        }
        let blink_on = self.blink(&placed, now);
        let times = [
            self.overlays.toasts.expire(now),
            self.search_again(now),
            self.end_flashes(now),
            self.show_waiting(now),
            self.keep_in_time(now),
        ];
        times.into_iter().flatten().for_each(|time| self.wake_at(time));
        self.label_tabs(&layout, now);
        if self.input.pointer.is_selecting() {
            self.wake_at(now + Duration::from_millis(50));
        }
        if let Some(time) = self.read_bars(now) {
            self.wake_at(time);
        }
        self.follow_active_tab();
        let turn = self.turn(now);
        let caret = self.compose(&layout, &placed, blink_on, turn);
        self.debug_painted(begun);
        self.after_paint(&layout, &placed, caret);
        self.note_around(layout, placed);
    }

    /// Updates the views of visible panes, and sets the timer for the next frame of their images.
    pub(crate) fn refresh_views(&mut self, placed: &[(PaneId, Rect)], now: Instant) {
        let cursor = default_cursor(&self.prefs.config.cursor);
        let mut next_frame: Option<Duration> = None;
        let clock = self.clock(now);
        for (id, _) in placed {
            let Some(pane) = self.mux.pane(*id) else { continue };
            let view = self.workspace.views.entry(*id).or_default();
            let due = view.refresh(&pane, clock);
            next_frame = next_frame.into_iter().chain(due).min();
            view.shape_cursor(cursor);
            view.unseen = false;
        }
        if let Some(due) = next_frame {
            self.wake_at(self.surface.started + due);
        }
    }

    /// The rotation of rings for progress without a percentage, 0 to 1; sets the timer for the next step. On the CPU,
    /// or with reduced motion, rings do not turn.
    fn turn(&mut self, now: Instant) -> f32 {
        let gpu =
            self.surface.screen.as_ref().is_some_and(|s| s.painter.kind() == PainterKind::Gpu);
        if !gpu
            || self.stands_still()
            || !self.chrome.tabs.iter().any(|tab| tab.marks.work.is_some_and(Work::turns))
        {
            return 0.0;
        }
        self.wake_at(now + TURN / TURN_STEPS);
        let turned = (now - self.surface.started).as_nanos() % TURN.as_nanos();
        turned as f32 / TURN.as_nanos() as f32
    }

    /// Whether blinking cells and cursors are visible now; if there are any, sets the timer for the next change.
    pub(crate) fn blink(&mut self, placed: &[(PaneId, Rect)], now: Instant) -> bool {
        let blinks = |id: &PaneId| {
            self.workspace.views.get(id).is_some_and(|view| {
                let cursor = view.snapshot.cursor;
                cursor.visible && cursor.blinking || view.snapshot.blinks()
            })
        };
        if !self.input.focused || self.stands_still() || !placed.iter().any(|(id, _)| blinks(id)) {
            return true;
        }
        let halves = (now - self.surface.blink_since).as_nanos() / BLINK.as_nanos();
        self.wake_at(self.surface.blink_since + BLINK * (halves as u32 + 1));
        halves.is_multiple_of(2)
    }

    /// Reads the progress and the tab colour that a pane's programs report.
    pub(crate) fn read_work(&mut self, pane: PaneId) {
        let Some(pane) = self.mux.pane(pane) else { return };
        let view = self.workspace.views.entry(pane.id()).or_default();
        let term = pane.term();
        view.work = Work::of(&term);
        view.tab_color = term.tab_color();
        self.surface.pacing.ask();
    }

    /// Updates the tab bar's texts and marks.
    fn label_tabs(&mut self, layout: &Layout, now: Instant) {
        let mut labels = Vec::with_capacity(layout.tabs.len());
        let mut next: Option<Instant> = None;
        for (index, tab) in layout.tabs.iter().enumerate() {
            let mut label = TabLabel {
                id: tab.id,
                title: String::new(),
                marks: Marks {
                    zoomed: tab.zoomed,
                    broadcast: self.workspace.panes.broadcast.covers(tab.id),
                    ..Marks::default()
                },
                color: None,
            };
            let is_seen = index == layout.active && self.input.focused;
            for id in tab.panes() {
                let Some(pane) = self.mux.pane(id) else { continue };
                let view = self.workspace.views.entry(id).or_default();
                if let Some(rang) = view.bell {
                    if is_seen && now >= rang + BELL_MARK {
                        view.bell = None;
                    } else {
                        label.marks.bell = true;
                        let ends = is_seen.then_some(rang + BELL_MARK);
                        next = next.into_iter().chain(ends).min();
                    }
                }
                if is_seen && view.work.is_some_and(|work| work.fare == Fare::Done) {
                    view.work = None;
                }
                label.marks.work = label.marks.work.max(view.work);
                label.marks.unseen |= view.unseen;
                view.driver = self.server.as_ref().and_then(|server| server.driver(&pane));
                if let Some(driver) = &view.driver {
                    label.marks.driven = true;
                    next = next.into_iter().chain([driver.until]).min();
                }
                label.color = label.color.or(view.tab_color);
                if id == tab.focused {
                    label.color = view.tab_color.or(label.color);
                    if !view.are_names_known() {
                        view.read_names(&pane);
                    }
                    // Only the active tab's program is tracked.
                    if index == layout.active
                        && (view.program().is_empty()
                            || self.workspace.names.program_of.replace(id) != Some(id))
                    {
                        view.read_program(&pane);
                    }
                    tab.title.as_deref().unwrap_or(view.title()).clone_into(&mut label.title);
                }
            }
            labels.push(label);
        }
        self.chrome.tabs = labels;
        if let Some(time) = next {
            self.wake_at(time);
        }
    }

    /// When to read titles again after output.
    pub(crate) fn names_due(&self) -> Option<Instant> {
        let is_due = self.workspace.names.stale || self.workspace.names.again;
        is_due.then(|| {
            self.workspace.names.read.map_or(self.surface.started, |read| read + NAMES_AGE)
        })
    }

    /// Reads the titles again, which queries the system. A second read follows later, because a shell shows a command's
    /// line before it starts the program.
    pub(crate) fn read_names(&mut self, now: Instant) {
        self.workspace.names.again = std::mem::take(&mut self.workspace.names.stale);
        self.workspace.names.read = Some(now);
        let layout = self.mux.layout();
        for (index, tab) in layout.tabs.iter().enumerate() {
            let Some(pane) = self.mux.pane(tab.focused) else { continue };
            let view = self.workspace.views.entry(tab.focused).or_default();
            let is_active = index == layout.active;
            if view.read_names(&pane) | (is_active && view.read_program(&pane)) {
                self.surface.pacing.ask();
            }
        }
    }

    /// Paints the scene. Returns the caret of the panel or search.
    fn compose(
        &mut self,
        layout: &Layout,
        placed: &[(PaneId, Rect)],
        blink_on: bool,
        turn: f32,
    ) -> Option<PixelRect> {
        let highlights = self.highlights();
        let receivers = self.workspace.panes.broadcast.panes(layout);
        let badges: Vec<_> = placed
            .iter()
            .filter_map(|(id, area)| {
                let badges = self.workspace.views.get(id)?.badges(receivers.contains(id));
                Some((pixels(*area), badges))
            })
            .collect();
        let look = self.tab_bar_look(turn);
        let is_light = self.is_light();
        let hovered = self.overlays.debug.as_ref().and_then(|_| self.hovered_cell());
        let look_of_panes = self.pane_look(layout, blink_on)?;
        let focused = layout.active_tab().map(|tab| tab.focused);
        let view = focused.and_then(|id| self.workspace.views.get(&id));
        let colors =
            self.prefs.colors.of(view.map_or(&self.prefs.palette, |view| &view.snapshot.palette));
        let bars = self.bars(&colors);
        let taker = self.taker();
        let is_paused = self.are_agents_paused();
        let is_recorded = self.is_recording();
        let screen = self.surface.screen.as_mut()?;
        let geometry = screen.geometry;
        let mut scene = Scene {
            width: geometry.width,
            height: geometry.height,
            background: colors.divider,
            ..Scene::default()
        };
        for (id, area) in placed {
            let Some(view) = self.workspace.views.get(id) else { continue };
            let has_keys = Some(*id) == focused;
            let plain = look_of_panes.scene(*id, *area, view);
            scene.panes.push(PaneScene {
                highlights: if highlights.0 == Some(*id) { &highlights.1 } else { &[] },
                preedit: self.input.preedit.as_ref().filter(|_| has_keys && taker == Taker::Pane),
                dim: if receivers.contains(id) { 0.0 } else { plain.dim },
                ..plain
            });
        }
        scene.quads.extend(bars);
        if placed.len() > 1
            && let Some((_, area)) = placed.iter().find(|(id, _)| Some(*id) == focused)
        {
            // At the pane's top edge, within the padding: a line between two panes would be ambiguous.
            let height = geometry.px(2.0).min(geometry.px(geometry.padding)).max(1);
            scene.quads.push(quad(PixelRect { height, ..pixels(*area) }, colors.focus));
        }
        for (area, badges) in &badges {
            let look = (&geometry, &colors);
            draw_badges(badges, *area, look, &mut self.surface.renderer, &mut scene);
        }
        for (_, area) in placed.iter().filter(|(id, _)| is_flashing(&self.workspace.views, id)) {
            draw_flash(pixels(*area), &colors, &mut scene);
        }
        let active = layout.active_tab().map(|tab| tab.id);
        let strip = self.chrome.tab_hand.strip;
        TabBar::new(
            geometry,
            &self.chrome.tabs,
            active,
            strip,
            self.prefs.config.tab_bar.max_title,
        )
        .draw(&mut scene, &colors, look);
        let about = About {
            items: &self.prefs.config.status_bar.items,
            view,
            is_recorded,
            hides: !wayland::shows(&screen.window),
            has_proxy: self.prefs.has_proxy,
            is_paused,
            questions: self.overlays.asked.open,
            theme: self.prefs.config.theme.pick(is_light),
        };
        let tooltip_due = self.chrome.status_bar.show(
            &about,
            (&geometry, &colors),
            self.input.pointer.position,
            &mut self.surface.renderer,
            &mut scene,
        );
        let looked_at =
            hovered.and_then(|(id, col, row)| Some((self.workspace.views.get(&id)?, col, row)));
        let debug = self.overlays.debug.as_mut().map(|debug| {
            let focused = view.zip(focused.map(|id| id.0));
            let painter = screen.painter.adapter();
            (debug, debug::About { hovered: looked_at, focused, painter })
        });
        if let Some(picker) = &mut self.overlays.picker {
            picker.wrap(&geometry, &mut self.surface.renderer);
        }
        let mut shown = Shown {
            commands: &self.prefs.config.commands,
            matches: (highlights.0, &highlights.1),
            block_hover: self.overlays.block_hover,
            status_bar: &self.chrome.status_bar,
            hovered: self.overlays.hovered.as_ref(),
            search: self.overlays.search.as_ref(),
            hints: self.overlays.hints.as_ref(),
            picker: self.overlays.picker.as_ref(),
            menu: self.overlays.menu.as_ref(),
            debug,
            questions: &self.overlays.questions,
            toasts: &self.overlays.toasts,
        };
        let mut canvas = Canvas {
            geometry: &geometry,
            colors: &colors,
            placed,
            views: &self.workspace.views,
            pointer: self.input.pointer.position,
            renderer: &mut self.surface.renderer,
            scene: &mut scene,
            preedit: self.input.preedit.as_ref().map(|preedit| (taker, preedit)),
            caret: None,
        };
        stack::draw(&mut shown, &mut canvas);
        let caret = canvas.caret.filter(|_| matches!(taker, Taker::Panel | Taker::Search));
        self.surface.renderer.frame(&scene);
        if let Err(error) = screen.present(&mut self.surface.renderer) {
            self.failure = Some(error.into());
        }
        if let Some(due) = tooltip_due {
            self.wake_at(due);
        }
        caret
    }

    /// The searched pane, and its visible matches.
    pub(crate) fn highlights(&self) -> (Option<PaneId>, Vec<Highlight>) {
        let Some(search) = &self.overlays.search else { return (None, Vec::new()) };
        let view = self.workspace.views.get(&search.pane);
        let highlights = view.map(|view| search.in_sight(&view.snapshot.rows));
        (Some(search.pane), highlights.unwrap_or_default())
    }

    /// Updates what depends on a frame: window title, screen readers, and the input method's position.
    fn after_paint(
        &mut self,
        layout: &Layout,
        placed: &[(PaneId, Rect)],
        caret: Option<PixelRect>,
    ) {
        self.retitle(layout);
        self.tell_readers(layout, placed);
        self.tell_ime(layout, placed, caret);
    }

    /// Sets the window's title if it has changed.
    fn retitle(&mut self, layout: &Layout) {
        let title = self.title(layout);
        if let Some(screen) = &mut self.surface.screen
            && screen.title != title
        {
            screen.window.set_title(&title);
            screen.title = title;
        }
    }

    fn title(&self, layout: &Layout) -> String {
        let id = || self.server.as_ref().map_or_else(String::new, Server::instance_id);
        let instance = match &self.chrome.instance_title {
            Some(title) => title.clone(),
            None if self.chrome.instances > 1 => id(),
            None => String::new(),
        };
        let tab = layout.active_tab();
        let view = tab.and_then(|tab| self.workspace.views.get(&tab.focused));
        let (project, pane) = view.map_or(("", ""), |view| (view.project(), view.title()));
        let tab = tab.and_then(|tab| tab.title.as_deref()).unwrap_or(pane);
        title::window_title(tab, project, &instance)
    }
}
