//! Dispatches winit's events.

use std::time::Instant;

use winit::{
    application::ApplicationHandler,
    dpi::PhysicalPosition,
    event::{StartCause, WindowEvent},
    event_loop::{ActiveEventLoop, ControlFlow},
    window::WindowId,
};

use crate::window::{app::App, inbox::Wake, input::keys::KeyInput, workspace::closing::Closing};

impl ApplicationHandler<Wake> for App {
    fn new_events(&mut self, _: &ActiveEventLoop, cause: StartCause) {
        self.take_back();
        if matches!(cause, StartCause::ResumeTimeReached { .. }) {
            self.tick(Instant::now());
        }
    }

    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        self.take_back();
        if self.surface.screen.is_none()
            && let Err(error) = self.open_window(event_loop)
        {
            self.fail(error, event_loop);
        }
    }

    fn user_event(&mut self, event_loop: &ActiveEventLoop, _: Wake) {
        self.take_back();
        self.take_news(event_loop);
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        self.take_back();
        if let Some(screen) = &self.surface.screen {
            self.system.access.event(&screen.window, &event);
        }
        match event {
            WindowEvent::CloseRequested => drop(self.close(Closing::Window)),
            WindowEvent::Destroyed => event_loop.exit(),
            WindowEvent::Resized(size) => self.resized(size),
            WindowEvent::ScaleFactorChanged { scale_factor, .. } => self.rescale(scale_factor),
            WindowEvent::RedrawRequested => {
                self.surface.ask_whether_minimized();
                self.surface.redraw_whole();
            }
            WindowEvent::ThemeChanged(_) => self.apply_theme(),
            WindowEvent::Occluded(occluded) => self.surface.occlude(occluded),
            WindowEvent::Focused(focused) => {
                self.input.focused = focused;
                let place = self.input.pointer.position;
                self.input.pointer.arrival.keyboard_moved(focused, place, Instant::now());
                self.surface.ask_whether_minimized();
                self.end_attention();
                self.input.held.forget();
                self.input.taken.forget();
                self.end_sequence();
                self.close_menu();
                self.tell_focus();
                self.surface.pacing.ask();
            }
            WindowEvent::ModifiersChanged(modifiers) => {
                self.input.modifiers = modifiers.state();
                if self.input.pointer.position.is_some() {
                    self.hover_again();
                }
            }
            WindowEvent::KeyboardInput { event, is_synthetic: false, .. } => {
                if let Some(input) = KeyInput::of(&event) {
                    self.key(&input);
                }
            }
            WindowEvent::Ime(event) => self.ime(event),
            WindowEvent::DroppedFile(path) => self.input.dropped.push(path),
            WindowEvent::CursorMoved { position: PhysicalPosition { x, y }, .. } => {
                self.pointer_moved(x, y)
            }
            WindowEvent::CursorLeft { .. } => self.pointer_left(),
            WindowEvent::MouseInput { state, button, .. } => {
                self.mouse_button(button, state.is_pressed())
            }
            WindowEvent::MouseWheel { delta, .. } => self.wheel(delta),
            _ => {}
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        self.take_back();
        self.take_drop();
        if self.inbox.has_news() {
            // Handle the news without a wake-up.
            self.take_news(event_loop);
        }
        let now = Instant::now();
        if self.surface.pacing.is_due(now) {
            self.paint(now);
        } else if self.are_names_due() && now >= self.names_due() {
            // Not right after a frame: winit sends it when it polls for events, and the queries would delay it.
            self.read_names(now);
        }
        if let Some(error) = self.failure.take() {
            self.fail(error, event_loop);
        }
        let next = self.next_look();
        event_loop.set_control_flow(next.map_or(ControlFlow::Wait, ControlFlow::WaitUntil));
        self.lend(next);
    }
}

impl App {
    fn take_news(&mut self, event_loop: &ActiveEventLoop) {
        let news = self.inbox.take();
        if self.hear(news).is_break() {
            event_loop.exit();
        }
    }
}
