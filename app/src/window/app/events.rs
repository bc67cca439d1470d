//! Converts the events of winit to [`Event`]s, updates the state, and carries out the effects.

use std::time::Instant;

use winit::{
    application::ApplicationHandler,
    event::{StartCause, WindowEvent},
    event_loop::{ActiveEventLoop, ControlFlow},
    window::WindowId,
};

use crate::window::{
    app::App, effect::Effect, event::Event, inbox::Wake, redraw::Redraw,
    workspace::closing::Closing,
};

impl ApplicationHandler<Wake> for App {
    fn new_events(&mut self, event_loop: &ActiveEventLoop, cause: StartCause) {
        self.begin();
        if matches!(cause, StartCause::ResumeTimeReached { .. }) {
            self.handle(Event::Tick, event_loop);
        }
    }

    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        self.begin();
        if self.surface.screen.is_none() {
            if let Err(error) = self.open_window(event_loop) {
                self.fail(error, event_loop);
            }
            self.surface.pacing.request(Redraw::Whole);
        }
    }

    fn user_event(&mut self, event_loop: &ActiveEventLoop, _: Wake) {
        self.begin();
        self.take_news(event_loop);
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        self.begin();
        if let Some(screen) = &self.surface.screen {
            self.system.access.event(&screen.window, &event);
        }
        if matches!(event, WindowEvent::Destroyed) {
            event_loop.exit();
        }
        if let WindowEvent::MouseWheel { delta, .. } = event
            && self.is_wheel_release(delta)
        {
            return;
        }
        if let Some(event) = Event::of(event) {
            self.handle(event, event_loop);
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        self.begin();
        let dropped = self.take_drop();
        self.surface.pacing.request(dropped);
        // winit calls this method after it has emptied the queue of the system's events.
        if std::mem::take(&mut self.surface.has_old_sizes)
            && let Some(screen) = &self.surface.screen
        {
            let size = screen.window.inner_size();
            let redraw = self.resized(size);
            self.surface.pacing.request(redraw);
        }
        if self.inbox.has_news() {
            // Handle waiting news now, so that no further wake-up is needed.
            self.take_news(event_loop);
        }
        let now = self.now;
        if self.surface.pacing.is_due(now) {
            self.paint(now);
        } else if self.workspace.names.are_due() && now >= self.names_due() {
            // Read the names only if no frame is due. winit sends a frame when it polls for events, and the slow
            // queries would delay it.
            let redraw = self.read_names(now);
            self.surface.pacing.request(redraw);
        }
        let effects = std::mem::take(&mut self.effects);
        self.carry_out(effects, event_loop);
        if let Some(error) = self.failure.take() {
            self.fail(error, event_loop);
        }
        let next = self.next_look();
        event_loop.set_control_flow(next.map_or(ControlFlow::Wait, ControlFlow::WaitUntil));
        self.lend(next);
    }
}

impl App {
    /// Prepares for an event: takes back the parts that were lent to the panes' readers, and reads the clock.
    fn begin(&mut self) {
        self.take_back();
        self.now = Instant::now();
    }

    /// Handles an event, and carries out the effects that it causes.
    fn handle(&mut self, event: Event, event_loop: &ActiveEventLoop) {
        let effects = self.update(self.now, event);
        self.carry_out(effects, event_loop);
    }

    fn take_news(&mut self, event_loop: &ActiveEventLoop) {
        let news = Box::new(self.inbox.take());
        self.handle(Event::News(news), event_loop);
    }

    /// Updates the window's state for an event that happened at `now`. Returns the effects that the system must carry
    /// out.
    pub(crate) fn update(&mut self, now: Instant, event: Event) -> Vec<Effect> {
        self.now = now;
        let redraw = self.dispatch(event);
        self.surface.pacing.request(redraw);
        std::mem::take(&mut self.effects)
    }

    /// Handles an event. Returns the frame that is due: a whole frame, unless the event's handler returns a smaller one.
    fn dispatch(&mut self, event: Event) -> Redraw {
        match event {
            Event::Close => {
                self.with_parts(|parts, cx| parts.overlays.close(Closing::Window, cx));
            }
            Event::Resized(_) if self.surface.has_old_sizes => return Redraw::No,
            Event::Resized(size) => return self.resized(size),
            Event::Scale(scale) => self.rescale(scale),
            Event::RedrawRequested => {
                self.open_first_panes_if_settled();
                self.surface.ask_whether_minimized();
                self.surface.redraw_whole();
            }
            Event::Theme => self.apply_theme(),
            Event::Occluded(occluded) => {
                self.surface.occlude(occluded);
                self.surface.report_shown(&self.mux);
                return Redraw::if_changed(!occluded);
            }
            Event::Focus(focused) => self.focus_changed(focused),
            Event::Modifiers(modifiers) => {
                self.input.modifiers = modifiers;
                return match self.input.pointer.position {
                    Some(_) => self.hover_again(),
                    None => Redraw::No,
                };
            }
            Event::Key(input) => return self.key(&input),
            Event::Ime(event) => return self.ime(event),
            Event::DroppedFile(path) => {
                self.input.dropped.push(path);
                return Redraw::No;
            }
            Event::PointerMoved(x, y) => return self.pointer_moved(x, y),
            Event::PointerLeft => self.pointer_left(),
            Event::Button(button, pressed) => self.mouse_button(button, pressed),
            Event::Wheel(delta) => return self.wheel(delta),
            Event::News(news) => return self.handle_news(*news),
            Event::Tick => return self.tick(),
        }
        Redraw::Whole
    }

    fn focus_changed(&mut self, focused: bool) {
        self.input.focused = focused;
        let place = self.input.pointer.position;
        self.input.pointer.focus_press.keyboard_moved(focused, place, self.now);
        self.surface.ask_whether_minimized();
        self.with_parts(|parts, cx| parts.system.notices.end_attention(cx));
        self.input.held.forget();
        self.input.taken.forget();
        self.input.sent.forget();
        self.input.sequence.end();
        self.overlays.menu = None;
        self.report_focus();
        if focused && self.surface.screen.is_some() {
            self.offer_restart();
        }
    }
}
