//! From views to pixels: when to paint, where the panes are, and what a frame contains.

use std::time::{Duration, Instant};

use unterm_control::Server;
use unterm_mux::{Layout, PaneId, Rect};
use unterm_renderer::{
    Highlight, PainterError, PainterKind, PaneScene, PixelRect, Renderer, Scene,
};

use super::{
    App, BELL_MARK, BLINK, Screen,
    badge::draw_badges,
    chrome::quad,
    debug,
    geometry::{Geometry, pixels},
    ime::Taker,
    notices::{draw_flash, is_flashing},
    overlay::{Canvas, Shown},
    preferences::default_cursor,
    status_bar::About,
    tab_bar::{TabBar, TabLabel},
    tab_marks::{Fare, Marks, Work},
    title,
    view::View,
    wayland,
};

/// Minimum columns and rows of a window, as for its size in the configuration.
const LEAST_COLUMNS: u16 = 10;
const LEAST_ROWS: u16 = 3;
/// Minimum interval between updates of titles while panes print.
const NAMES_AGE: Duration = Duration::from_millis(250);
/// How long to cache whether an unfocused window is minimised.
const MINIMIZED_AGE: Duration = Duration::from_secs(1);
/// The duration of a ring's full turn, and its number of steps.
const TURN: Duration = Duration::from_millis(1200);
const TURN_STEPS: u32 = 12;

/// The settings that all panes of a frame share.
pub(super) struct PaneLook {
    geometry: Geometry,
    /// The pane with the keyboard.
    focused: Option<PaneId>,
    has_window_focus: bool,
    blink_on: bool,
    /// How much the panes without the keyboard are dimmed.
    dim: f32,
    opacity: f32,
}

impl PaneLook {
    /// A pane's scene, made from its view.
    pub(super) fn scene<'a>(&self, id: PaneId, area: Rect, view: &'a View) -> PaneScene<'a> {
        let has_keys = Some(id) == self.focused;
        PaneScene {
            shift: view.shift,
            focused: has_keys && self.has_window_focus,
            blink_on: self.blink_on,
            selection: view.selection.and_then(|selection| selection.range),
            hovered_link: view.hovered_link.as_ref(),
            dim: if has_keys { 0.0 } else { self.dim },
            opacity: self.opacity,
            ..PaneScene::new(id.0, &view.snapshot, pixels(area), self.geometry.origin(area))
        }
    }
}

impl Screen {
    /// Sets the window's minimum size.
    fn limit_size(&mut self) {
        let least = self.geometry.window_for(LEAST_COLUMNS, LEAST_ROWS);
        if std::mem::replace(&mut self.least, least) != least {
            let size = wayland::size_of(&self.window, least, self.geometry.scale);
            self.window.set_min_inner_size(Some(size));
        }
    }

    /// Presents the last frame.
    fn present(&mut self, renderer: &mut Renderer) -> Result<(), PainterError> {
        self.window.pre_present_notify();
        self.painter.paint(renderer)
    }

    /// Presents the last frame. On a pane's reader thread, presents only a small change. Returns false if nothing was
    /// presented.
    pub(super) fn present_text(
        &mut self,
        renderer: &mut Renderer,
        on_reader: bool,
    ) -> Result<bool, PainterError> {
        match on_reader {
            true => self.painter.paint_small(renderer),
            false => self.present(renderer).map(|()| true),
        }
    }
}

impl App {
    /// The current look of panes; `None` without a window.
    pub(super) fn pane_look(&self, layout: &Layout, blink_on: bool) -> Option<PaneLook> {
        Some(PaneLook {
            geometry: self.screen.as_ref()?.geometry,
            focused: layout.active_tab().map(|tab| tab.focused),
            has_window_focus: self.focused,
            blink_on,
            dim: self.config.window.dim_unfocused,
            opacity: self.opacity(),
        })
    }

    /// Resizes every pane to its area.
    pub(super) fn arrange(&mut self) {
        let layout = self.mux.layout();
        let has_tab_bar = self.wants_tab_bar(layout.tabs.len());
        let Some(screen) = &mut self.screen else { return };
        screen.geometry.has_tab_bar = has_tab_bar;
        screen.geometry.has_status_bar = self.config.status_bar.show;
        screen.limit_size();
        let geometry = screen.geometry;
        self.mux.set_space(geometry.content(), geometry.spacing());
        for tab in &layout.tabs {
            for (id, area) in tab.place(geometry.content(), &geometry.spacing()) {
                let Some(pane) = self.mux.pane(id) else { continue };
                let view = self.views.entry(id).or_default();
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
    pub(super) fn placed(&self, layout: &Layout) -> Vec<(PaneId, Rect)> {
        let Some(screen) = &self.screen else { return Vec::new() };
        layout.active_tab().map_or_else(Vec::new, |tab| {
            tab.place(screen.geometry.content(), &screen.geometry.spacing())
        })
    }

    /// Makes the next frame check whether the window is minimised.
    pub(super) fn ask_whether_minimized(&mut self) {
        if let Some(screen) = &mut self.screen {
            screen.minimized = None;
        }
    }

    /// Whether the window is hidden. X11 reports covered windows, but not minimised ones. An unfocused window therefore
    /// checks once per second while it has something to draw.
    fn is_out_of_sight(&mut self, now: Instant) -> bool {
        let focused = self.focused;
        let Some(screen) = &mut self.screen else { return true };
        if screen.occluded || focused {
            return screen.occluded;
        }
        if screen.minimized.is_none_or(|(_, asked)| now >= asked + MINIMIZED_AGE) {
            screen.minimized = Some((screen.window.is_minimized() == Some(true), now));
        }
        screen.minimized.is_some_and(|(minimized, _)| minimized)
    }

    /// Repaints the whole window after the system lost a part of it.
    pub(super) fn redraw_whole(&mut self) {
        if let Some(screen) = &mut self.screen {
            screen.painter.invalidate();
        }
        self.pacing.ask();
    }

    /// Sets whether the window is hidden; a hidden window is not drawn.
    pub(super) fn occlude(&mut self, occluded: bool) {
        if let Some(screen) = &mut self.screen {
            screen.occluded = occluded;
            screen.minimized = None;
        }
        if !occluded {
            self.redraw_whole();
        }
    }

    /// Runs the tasks that the timer was set for.
    pub(super) fn tick(&mut self, now: Instant) {
        if self.timer.is_some_and(|time| now >= time) {
            self.timer = self.show_waiting(now);
            self.keep_in_time(now).into_iter().for_each(|time| self.wake_at(time));
            self.drag_scroll();
            self.deferred_click(false);
            self.pacing.ask();
        }
    }

    pub(super) fn wake_at(&mut self, time: Instant) {
        self.timer = Some(self.timer.map_or(time, |timer| timer.min(time)));
    }

    /// Updates the views and paints a frame.
    pub(super) fn paint(&mut self, now: Instant) {
        let is_whole = self.pacing.is_whole();
        self.pacing.painted(now);
        if self.is_out_of_sight(now) {
            self.around = None;
            // A hidden window needs no frame, but lists of windows show its title.
            return self.retitle(&self.mux.layout());
        }
        if !is_whole && self.paint_text(now, false) {
            return;
        }
        self.timer = None;
        self.deferred_click(false);
        let begun = Instant::now();
        let layout = self.mux.layout();
        let placed = self.placed(&layout);
        self.refresh_views(&placed, now);
        if self.hovered.is_some() && !self.pointer.is_selecting() {
            // The link may have scrolled away from the pointer.
            self.hover_again();
        }
        let blink_on = self.blink(&placed, now);
        let times = [
            self.toasts.expire(now),
            self.search_again(now),
            self.end_flashes(now),
            self.show_waiting(now),
            self.keep_in_time(now),
        ];
        times.into_iter().flatten().for_each(|time| self.wake_at(time));
        self.label_tabs(&layout, now);
        if self.pointer.is_selecting() {
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
    pub(super) fn refresh_views(&mut self, placed: &[(PaneId, Rect)], now: Instant) {
        let cursor = default_cursor(&self.config.cursor);
        let mut next_frame: Option<Duration> = None;
        let clock = self.clock(now);
        for (id, _) in placed {
            let Some(pane) = self.mux.pane(*id) else { continue };
            let view = self.views.entry(*id).or_default();
            let due = view.refresh(&pane, clock);
            next_frame = next_frame.into_iter().chain(due).min();
            view.shape_cursor(cursor);
            view.unseen = false;
        }
        if let Some(due) = next_frame {
            self.wake_at(self.started + due);
        }
    }

    /// The rotation of rings for progress without a percentage, 0 to 1; sets the timer for the next step. On the CPU,
    /// or with reduced motion, rings do not turn.
    fn turn(&mut self, now: Instant) -> f32 {
        let gpu = self.screen.as_ref().is_some_and(|s| s.painter.kind() == PainterKind::Gpu);
        if !gpu
            || self.stands_still()
            || !self.tabs.iter().any(|tab| tab.marks.work.is_some_and(Work::turns))
        {
            return 0.0;
        }
        self.wake_at(now + TURN / TURN_STEPS);
        let turned = (now - self.started).as_nanos() % TURN.as_nanos();
        turned as f32 / TURN.as_nanos() as f32
    }

    /// Whether blinking cells and cursors are visible now; if there are any, sets the timer for the next change.
    pub(super) fn blink(&mut self, placed: &[(PaneId, Rect)], now: Instant) -> bool {
        let blinks = |id: &PaneId| {
            self.views.get(id).is_some_and(|view| {
                let cursor = view.snapshot.cursor;
                cursor.visible && cursor.blinking || view.snapshot.blinks()
            })
        };
        if !self.focused || self.stands_still() || !placed.iter().any(|(id, _)| blinks(id)) {
            return true;
        }
        let halves = (now - self.blink_since).as_nanos() / BLINK.as_nanos();
        self.wake_at(self.blink_since + BLINK * (halves as u32 + 1));
        halves.is_multiple_of(2)
    }

    /// Reads the progress and the tab colour that a pane's programs report.
    pub(super) fn read_work(&mut self, pane: PaneId) {
        let Some(pane) = self.mux.pane(pane) else { return };
        let view = self.views.entry(pane.id()).or_default();
        let term = pane.term();
        view.work = Work::of(&term);
        view.tab_color = term.tab_color();
        self.pacing.ask();
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
                    broadcast: self.pane_hand.broadcast.covers(tab.id),
                    ..Marks::default()
                },
                color: None,
            };
            let is_seen = index == layout.active && self.focused;
            for id in tab.panes() {
                let Some(pane) = self.mux.pane(id) else { continue };
                let view = self.views.entry(id).or_default();
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
                        && (view.program().is_empty() || self.program_of.replace(id) != Some(id))
                    {
                        view.read_program(&pane);
                    }
                    tab.title.as_deref().unwrap_or(view.title()).clone_into(&mut label.title);
                }
            }
            labels.push(label);
        }
        self.tabs = labels;
        if let Some(time) = next {
            self.wake_at(time);
        }
    }

    /// When to read titles again after output.
    pub(super) fn names_due(&self) -> Option<Instant> {
        let is_due = self.names_stale || self.names_again;
        is_due.then(|| self.names_read.map_or(self.started, |read| read + NAMES_AGE))
    }

    /// Reads the titles again, which queries the system. A second read follows later, because a shell shows a command's
    /// line before it starts the program.
    pub(super) fn read_names(&mut self, now: Instant) {
        self.names_again = std::mem::take(&mut self.names_stale);
        self.names_read = Some(now);
        let layout = self.mux.layout();
        for (index, tab) in layout.tabs.iter().enumerate() {
            let Some(pane) = self.mux.pane(tab.focused) else { continue };
            let view = self.views.entry(tab.focused).or_default();
            let is_active = index == layout.active;
            if view.read_names(&pane) | (is_active && view.read_program(&pane)) {
                self.pacing.ask();
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
        let receivers = self.pane_hand.broadcast.panes(layout);
        let badges: Vec<_> = placed
            .iter()
            .filter_map(|(id, area)| {
                let badges = self.views.get(id)?.badges(receivers.contains(id));
                Some((pixels(*area), badges))
            })
            .collect();
        let look = self.tab_bar_look(turn);
        let is_light = self.is_light();
        let hovered = self.debug.as_ref().and_then(|_| self.hovered_cell());
        let look_of_panes = self.pane_look(layout, blink_on)?;
        let focused = layout.active_tab().map(|tab| tab.focused);
        let view = focused.and_then(|id| self.views.get(&id));
        let colors = self.colors.of(view.map_or(&self.palette, |view| &view.snapshot.palette));
        let bars = self.bars(&colors);
        let taker = self.taker();
        let is_paused = self.are_agents_paused();
        let is_recorded = self.is_recording();
        let screen = self.screen.as_mut()?;
        let geometry = screen.geometry;
        let mut scene = Scene {
            width: geometry.width,
            height: geometry.height,
            background: colors.divider,
            ..Scene::default()
        };
        for (id, area) in placed {
            let Some(view) = self.views.get(id) else { continue };
            let has_keys = Some(*id) == focused;
            let plain = look_of_panes.scene(*id, *area, view);
            scene.panes.push(PaneScene {
                highlights: if highlights.0 == Some(*id) { &highlights.1 } else { &[] },
                preedit: self.preedit.as_ref().filter(|_| has_keys && taker == Taker::Pane),
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
            draw_badges(badges, *area, look, &mut self.renderer, &mut scene);
        }
        for (_, area) in placed.iter().filter(|(id, _)| is_flashing(&self.views, id)) {
            draw_flash(pixels(*area), &colors, &mut scene);
        }
        let active = layout.active_tab().map(|tab| tab.id);
        let strip = self.tab_hand.strip;
        TabBar::new(geometry, &self.tabs, active, strip, self.config.tab_bar.max_title)
            .draw(&mut scene, &colors, look);
        let about = About {
            items: &self.config.status_bar.items,
            view,
            is_recorded,
            hides: !wayland::shows(&screen.window),
            has_proxy: self.has_proxy,
            is_paused,
            questions: self.asked.open,
            theme: self.config.theme.pick(is_light),
        };
        let tooltip_due = self.status_bar.show(
            &about,
            (&geometry, &colors),
            self.pointer.position,
            &mut self.renderer,
            &mut scene,
        );
        let looked_at = hovered.and_then(|(id, col, row)| Some((self.views.get(&id)?, col, row)));
        let debug = self.debug.as_mut().map(|debug| {
            let focused = view.zip(focused.map(|id| id.0));
            let painter = screen.painter.adapter();
            (debug, debug::About { hovered: looked_at, focused, painter })
        });
        if let Some(picker) = &mut self.picker {
            picker.wrap(&geometry, &mut self.renderer);
        }
        let mut shown = Shown {
            commands: &self.config.commands,
            matches: (highlights.0, &highlights.1),
            block_hover: self.block_hover,
            status_bar: &self.status_bar,
            hovered: self.hovered.as_ref(),
            search: self.search.as_ref(),
            hints: self.hints.as_ref(),
            picker: self.picker.as_ref(),
            menu: self.menu.as_ref(),
            debug,
            questions: &self.questions,
            toasts: &self.toasts,
        };
        let mut canvas = Canvas {
            geometry: &geometry,
            colors: &colors,
            placed,
            views: &self.views,
            pointer: self.pointer.position,
            renderer: &mut self.renderer,
            scene: &mut scene,
            preedit: self.preedit.as_ref().map(|preedit| (taker, preedit)),
            caret: None,
        };
        shown.draw(&mut canvas);
        let caret = canvas.caret.filter(|_| matches!(taker, Taker::Panel | Taker::Search));
        self.renderer.frame(&scene);
        if let Err(error) = screen.present(&mut self.renderer) {
            self.failure = Some(error.into());
        }
        if let Some(due) = tooltip_due {
            self.wake_at(due);
        }
        caret
    }

    /// The searched pane, and its visible matches.
    pub(super) fn highlights(&self) -> (Option<PaneId>, Vec<Highlight>) {
        let Some(search) = &self.search else { return (None, Vec::new()) };
        let view = self.views.get(&search.pane);
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
        if let Some(screen) = &mut self.screen
            && screen.title != title
        {
            screen.window.set_title(&title);
            screen.title = title;
        }
    }

    fn title(&self, layout: &Layout) -> String {
        let id = || self.server.as_ref().map_or_else(String::new, Server::instance_id);
        let instance = match &self.instance_title {
            Some(title) => title.clone(),
            None if self.instances > 1 => id(),
            None => String::new(),
        };
        let tab = layout.active_tab();
        let view = tab.and_then(|tab| self.views.get(&tab.focused));
        let (project, pane) = view.map_or(("", ""), |view| (view.project(), view.title()));
        let tab = tab.and_then(|tab| tab.title.as_deref()).unwrap_or(pane);
        title::window_title(tab, project, &instance)
    }
}
