//! Scripts of events. A test feeds keys, clicks, output and settings to the window's state. It compares the scene as
//! text, the picture, and the effects that were requested from the system. Needs no window, no display and no program.

mod clipboard;
mod copy_mode;
mod floating;
mod loan;
mod messages;
mod mouse;
mod pastes;
mod program;
mod session;
mod sidebar;
mod tabs;
mod tests;

use std::{
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use clap::Parser as _;
use unterm_mux::{
    Mux, OnExit, PaneId, Spawn, Spawner, Tab,
    input::{Key, KeyAction, Modifiers},
};
use unterm_renderer::{CpuPainter, Scene};
use unterm_term::Content;
use winit::{
    event::MouseButton,
    keyboard::{ModifiersState, NativeKeyCode, PhysicalKey, SmolStr},
};

use crate::window::{
    app::{
        App,
        script::program::{Program, Programs},
    },
    effect::Effect,
    event::Event,
    inbox::Inbox,
    input::{
        clipboard::Request,
        keys::{KeyInput, Pressed},
    },
    surface::{
        plan::{Drawn, Plan},
        scene::scene,
    },
    ui::geometry::Geometry,
};
use crate::{
    action::Chord,
    args::Args,
    config::{FILE, Settings},
    environment,
};

/// The state of a window with one tab, to which a test feeds events.
struct Script {
    app: App,
    programs: Arc<Programs>,
    now: Instant,
    home: tempfile::TempDir,
    /// The effects that were requested, and that the test has not looked at yet.
    effects: Vec<Effect>,
    /// Receives a message for each wake-up of the event loop.
    wakes: mpsc::Receiver<()>,
}

impl Script {
    fn new() -> Self {
        Self::with(&["unterm"])
    }

    /// Starts a script for a window with these command-line arguments.
    fn with(args: &[&str]) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let (settings, complaints) = Settings::read(home.path().to_owned());
        assert!(complaints.is_empty(), "{complaints:?}");
        let programs = Arc::new(Programs::default());
        let args = Args::parse_from(args);
        let options = environment::mux_options(true, args.allow());
        let mux = Mux::with_spawner(options, Arc::clone(&programs) as Arc<dyn Spawner>);
        let (wake, wakes) = mpsc::channel();
        let inbox = Inbox::new(move || {
            let _ = wake.send(());
        });
        mux.observe(Arc::clone(&inbox) as Arc<dyn unterm_mux::Observer>);
        let palette = environment::palette(&settings.get(), home.path(), None);
        let mut app = App::new(&args, mux, None, inbox, Arc::new(settings), palette);
        app.input.focused = true;
        app.surface.geometry = Some(Geometry { width: 800, height: 480, ..Geometry::TEST });
        let now = app.now;
        let mut script = Self { app, programs, now, home, effects: Vec::new(), wakes };
        script.app.mux.open_tab(Spawn::default(), None, OnExit::Close).expect("a tab");
        script.handle_news();
        script
    }

    /// Feeds an event, and then the news that it caused in the mux.
    fn event(&mut self, event: Event) {
        let effects = self.app.update(self.now, event);
        self.effects.extend(effects);
        self.app.workspace.views.values_mut().for_each(|view| view.repainted = None);
        self.handle_news();
    }

    /// Feeds news from other threads, until no search is running.
    fn handle_news(&mut self) {
        loop {
            let news = Box::new(self.app.inbox.take());
            let effects = self.app.update(self.now, Event::News(news));
            assert!(!effects.iter().any(|effect| matches!(effect, Effect::End)));
            self.effects.extend(effects);
            if self.app.overlays.search.bar().is_none_or(|search| search.is_answered) {
                return;
            }
            self.wakes.recv_timeout(Duration::from_secs(60)).expect("the result of a search");
        }
    }

    /// Presses and releases a key, written as in the configuration: `ctrl+shift+t`.
    fn key(&mut self, chord: &str) {
        let Chord { modifiers, key } = chord.parse().expect("a chord");
        let text = match key {
            Key::Char(c) if !modifiers.intersects(Modifiers::CTRL | Modifiers::ALT) => {
                Some(SmolStr::new(c.to_string()))
            }
            _ => None,
        };
        let unshifted = if let Key::Char(c) = key { Some(c) } else { None };
        let mut state = ModifiersState::empty();
        state.set(ModifiersState::CONTROL, modifiers.contains(Modifiers::CTRL));
        state.set(ModifiersState::SHIFT, modifiers.contains(Modifiers::SHIFT));
        state.set(ModifiersState::ALT, modifiers.contains(Modifiers::ALT));
        self.event(Event::Modifiers(state));
        for action in [KeyAction::Press, KeyAction::Release] {
            self.event(Event::Key(KeyInput {
                pressed: Pressed { key, unshifted, base: unshifted },
                physical: PhysicalKey::Unidentified(NativeKeyCode::Unidentified),
                action,
                text: text.clone().filter(|_| action == KeyAction::Press),
            }));
        }
        self.event(Event::Modifiers(ModifiersState::empty()));
    }

    /// A point in the left half of a cell of the focused pane, in pixels of the window.
    fn cell(&self, col: u16, row: u16) -> (f64, f64) {
        let geometry = self.app.surface.geometry.expect("measures");
        let placed = self.app.surface.placed(&self.app.mux.layout());
        let focused = self.app.focused_pane().expect("a pane").id();
        let (_, area) = placed.into_iter().find(|(id, _)| *id == focused).expect("its place");
        let (x, y) = geometry.origin(area);
        let at =
            |from: i32, index: u16, size: u32| f64::from(from) + f64::from(index) * f64::from(size);
        (at(x, col, geometry.cell.width) + 2.0, at(y, row, geometry.cell.height) + 8.0)
    }

    /// Presses the left button at `from`, moves the pointer to `to`, and releases the button.
    fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.event(Event::PointerMoved(from.0, from.1));
        self.event(Event::Button(MouseButton::Left, true));
        // Move further than the distance at which a press becomes a drag.
        self.event(Event::PointerMoved((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0));
        self.event(Event::PointerMoved(to.0, to.1));
        self.event(Event::Button(MouseButton::Left, false));
    }

    /// Delivers text to a paste that the window has requested from the clipboard.
    fn paste(&mut self, text: &str) {
        let asked = std::mem::take(&mut self.effects);
        let panes = asked.into_iter().find_map(|effect| match effect {
            Effect::Clipboard(Request::Paste(_, panes)) => Some(panes),
            _ => None,
        });
        let panes = panes.expect("a request for text");
        let text = Some(text.to_owned());
        self.app.inbox.post(|news| news.clipboard.pastes.push((panes, text)));
        self.handle_news();
    }

    /// The panes of each tab: the number and the columns of each pane.
    fn panes(&self) -> Vec<Vec<(u64, u16)>> {
        let columns = |id| self.app.mux.pane(id).expect("a pane").term().size().cols;
        let layout = self.app.mux.layout();
        let panes = |tab: &Tab| tab.panes().into_iter().map(|id| (id.0, columns(id))).collect();
        layout.tabs.iter().map(panes).collect()
    }

    /// The first pane of each tab, in the order of the tabs.
    fn order(&self) -> Vec<u64> {
        self.panes().iter().map(|panes| panes[0].0).collect()
    }

    /// Opens tabs until there are `count`, of one pane each, and titles them `tab-0`, `tab-1` and so on.
    fn fill_tabs(&mut self, count: usize) {
        for number in 0..count {
            if number > 0 {
                self.key("ctrl+shift+t");
            }
            self.print(&format!("\x1b]2;tab-{number}\x07"));
        }
        self.frame();
    }

    /// Presses and releases a mouse button at a point of the window.
    fn click(&mut self, x: f64, y: f64, button: MouseButton) {
        self.event(Event::PointerMoved(x, y));
        for pressed in [true, false] {
            self.event(Event::Button(button, pressed));
        }
    }

    fn type_text(&mut self, text: &str) {
        text.chars().for_each(|c| self.key(&c.to_string()));
    }

    /// Makes the program of the focused pane print text.
    fn print(&mut self, text: &str) -> PaneId {
        let pane = self.app.focused_pane().expect("a pane").id();
        self.print_in(pane.0 as usize, text);
        pane
    }

    /// Makes a program print text. The first program has number 0.
    fn print_in(&mut self, number: usize, text: &str) {
        self.program(number).print(text.as_bytes());
        self.handle_news();
    }

    /// The program of this number, counted from 0. Its pane has an equal number.
    fn program(&self, number: usize) -> Arc<Program> {
        self.programs.get(number)
    }

    fn configure(&mut self, text: &str) {
        std::fs::write(self.home.path().join(FILE), text).expect("a file");
        let (settings, complaints) = Settings::read(self.home.path().to_owned());
        assert!(complaints.is_empty(), "{complaints:?}");
        self.app.inbox.post(|news| news.control.settings = Some(Ok(settings.get())));
        self.handle_news();
    }

    /// Removes and returns the input that a program has received. The first program has number 0.
    fn typed(&self, program: usize) -> String {
        let bytes = std::mem::take(&mut *self.program(program).typed.lock());
        String::from_utf8(bytes).expect("text")
    }

    /// Whether an effect was requested since the last call of [`Self::asked`].
    fn effects_contain(&self, wanted: &str) -> bool {
        self.effects.iter().filter_map(described).any(|asked| asked == wanted)
    }

    /// Removes and returns the effects that were requested since the last call. Each is described as the user would
    /// notice it.
    fn asked(&mut self) -> Vec<String> {
        std::mem::take(&mut self.effects).iter().filter_map(described).collect()
    }

    /// Paints the frame that is due, if any, on the fast path if possible. Returns whether the fast path was used.
    fn paint(&mut self) -> bool {
        let pacing = &mut self.app.surface.pacing;
        let (is_asked, is_whole) = (pacing.is_asked(), pacing.is_whole());
        pacing.painted(self.now);
        let is_fast = is_asked && !is_whole && self.app.build_text(self.now);
        if is_asked && !is_fast {
            self.frame();
        }
        is_fast
    }

    /// The picture of the last frame.
    fn picture(&mut self) -> Vec<u32> {
        CpuPainter::picture(&mut self.app.surface.renderer)
    }

    /// Paints a whole frame. Returns its scene as text.
    fn frame(&mut self) -> String {
        let plan = self.app.prepare(self.now).expect("measures");
        let text = self.draw(&plan);
        self.app.surface.pacing.painted(self.now);
        self.app.note_around(plan.layout, plan.placed);
        text
    }

    /// Builds the frame of a plan. Returns its scene as text.
    fn draw(&mut self, plan: &Plan) -> String {
        let App { workspace, input, overlays, chrome, prefs, surface, .. } = &mut self.app;
        let drawn = Drawn { plan, workspace, input, overlays, chrome, prefs };
        let (scene, _) = scene(&drawn, &mut surface.renderer);
        surface.renderer.frame(&scene);
        dump(&scene)
    }

    /// Whether the next frame can be a frame of text. If so, also checks that its picture equals that of a whole
    /// frame.
    fn takes_fast_path(&mut self) -> bool {
        let is_whole = self.app.surface.pacing.is_whole();
        if is_whole || !self.app.build_text(self.now) {
            return false;
        }
        let fast = self.picture();
        self.frame();
        let whole = self.picture();
        assert!(fast == whole, "the fast path left something out");
        true
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.app.mux.shutdown();
    }
}

/// Describes an effect as the user would notice it. `None` if the user does not notice it.
fn described(effect: &Effect) -> Option<String> {
    Some(match effect {
        Effect::PointerShape(icon) => format!("pointer {}", icon.name()),
        Effect::Attention(wanted) => format!("attention {wanted}"),
        Effect::Clipboard(Request::Store(buffer, text)) => format!("{buffer:?} {text:?}"),
        Effect::Clipboard(Request::Paste(buffer, _)) => format!("paste {buffer:?}"),
        Effect::Clipboard(Request::PasteTypes(buffer, _)) => format!("paste types of {buffer:?}"),
        Effect::Clipboard(Request::Read { from, types, .. }) => format!("read {from:?} {types:?}"),
        Effect::Clipboard(Request::Write { to, data, .. }) => {
            let types: Vec<&str> = data.iter().map(|(name, _)| name.as_str()).collect();
            format!("write {to:?} {types:?}")
        }
        Effect::Errand(about, _) => format!("errand {about}"),
        Effect::NewWindow(_) => "new window".to_owned(),
        Effect::Raise => "raise".to_owned(),
        _ => return None,
    })
}

/// The text of a scene: the rows of the panes, then the labels of bars and overlays.
fn dump(scene: &Scene<'_>) -> String {
    let mut text = String::new();
    for pane in &scene.panes {
        text.push_str(&format!("pane {}{}\n", pane.id, if pane.focused { " focused" } else { "" }));
        for row in &pane.snapshot.rows {
            let mut line = String::new();
            for cell in &row.cells {
                match cell.content() {
                    Content::Char(c) => line.push(c),
                    _ => line.push(' '),
                }
            }
            if !line.trim_end().is_empty() {
                text.push_str(&format!("  {}\n", line.trim_end()));
            }
        }
    }
    for label in scene.labels.iter().filter(|label| !label.text.is_empty()) {
        text.push_str(&format!("label {}\n", label.text));
    }
    text
}
