//! Scripts of events: a test feeds keys, output, clicks and settings to the window's state, and compares the scene as
//! text. Needs no window, no display and no program.

use std::{
    io,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use clap::Parser as _;
use parking_lot::{Condvar, Mutex};
use unterm_mux::{
    ExitStatus, Foreground, Mux, OnExit, PaneId, Process, ReadOutcome, Signal, Spawn, SpawnError,
    Spawner,
    input::{Key, KeyAction, Modifiers},
};
use unterm_renderer::{CpuPainter, Scene};
use unterm_term::{Content, Parser, Size};
use winit::{
    event::{MouseButton, MouseScrollDelta},
    keyboard::{ModifiersState, NativeKeyCode, PhysicalKey},
};

use crate::window::{
    app::{App, surface::draw},
    inbox::Inbox,
    input::keys::{KeyInput, Pressed},
    surface::plan::Drawn,
    ui::geometry::Geometry,
};
use crate::{
    action::Chord,
    args::Args,
    config::{FILE, Settings},
    environment,
};

/// A program that prints nothing, and records its input.
#[derive(Default)]
struct Silent {
    /// How it was started.
    spawn: Spawn,
    typed: Mutex<Vec<u8>>,
    has_ended: Mutex<bool>,
    ended: Condvar,
}

impl Silent {
    fn end(&self) {
        *self.has_ended.lock() = true;
        self.ended.notify_all();
    }
}

impl Process for Silent {
    fn read(&self, _: &mut [u8], deadline: Option<Instant>) -> io::Result<ReadOutcome> {
        let mut has_ended = self.has_ended.lock();
        while !*has_ended {
            match deadline {
                None => self.ended.wait(&mut has_ended),
                Some(deadline) => {
                    if self.ended.wait_until(&mut has_ended, deadline).timed_out() {
                        return Ok(ReadOutcome::TimedOut);
                    }
                }
            }
        }
        Ok(ReadOutcome::Ended)
    }

    fn stop_reading(&self) {
        self.end();
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        Ok(self.try_write(bytes))
    }

    fn try_write(&self, bytes: &[u8]) -> usize {
        self.typed.lock().extend_from_slice(bytes);
        bytes.len()
    }

    fn detach(&self) {}

    fn attach(&self) {}

    fn resize(&self, _: Size) -> io::Result<()> {
        Ok(())
    }

    fn signal(&self, _: Signal) -> io::Result<()> {
        Ok(())
    }

    fn kill(&self) {
        self.end();
    }

    fn foreground(&self) -> Option<Foreground> {
        None
    }

    fn cwd(&self) -> Option<PathBuf> {
        None
    }

    fn echo(&self) -> Option<bool> {
        None
    }

    fn reads_secret(&self) -> bool {
        false
    }

    fn tty(&self) -> Option<PathBuf> {
        None
    }

    fn program(&self) -> &str {
        "/bin/script"
    }

    fn pid(&self) -> Option<i32> {
        None
    }

    fn exit_status(&self) -> Option<ExitStatus> {
        None
    }
}

#[derive(Default)]
struct Programs(Mutex<Vec<Arc<Silent>>>);

impl Spawner for Programs {
    fn spawn(&self, spawn: &Spawn, _: Size) -> Result<Arc<dyn Process>, SpawnError> {
        let program = Arc::new(Silent { spawn: spawn.clone(), ..Silent::default() });
        self.0.lock().push(Arc::clone(&program));
        Ok(program)
    }
}

/// A window's state with one tab, fed by a test.
struct Script {
    app: App,
    programs: Arc<Programs>,
    now: Instant,
    home: tempfile::TempDir,
}

impl Script {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let (settings, complaints) = Settings::read(home.path().to_owned());
        assert!(complaints.is_empty(), "{complaints:?}");
        let programs = Arc::new(Programs::default());
        let args = Args::parse_from(["unterm"]);
        let options = environment::mux_options(true, args.allow());
        let mux = Mux::with_spawner(options, Arc::clone(&programs) as Arc<dyn Spawner>);
        let inbox = Inbox::new(|| {});
        mux.observe(Arc::clone(&inbox) as Arc<dyn unterm_mux::Observer>);
        let palette = environment::palette(&settings.get(), home.path(), None);
        let mut app = App::new(&args, mux, None, inbox, Arc::new(settings), palette);
        app.input.focused = true;
        app.surface.geometry = Some(Geometry { width: 800, height: 480, ..Geometry::TEST });
        let mut script = Self { app, programs, now: Instant::now(), home };
        script.app.mux.open_tab(Spawn::default(), None, OnExit::Close).expect("a tab");
        script.hear();
        script
    }

    /// Applies what the mux reported.
    fn hear(&mut self) {
        let news = self.app.inbox.take();
        assert!(self.app.hear(news).is_continue());
    }

    /// Presses and releases a key, given as in the configuration: `ctrl+shift+t`.
    fn key(&mut self, chord: &str) {
        let Chord { modifiers, key } = chord.parse().expect("a chord");
        let text = match key {
            Key::Char(c) if !modifiers.intersects(Modifiers::CTRL | Modifiers::ALT) => {
                Some(c.to_string())
            }
            _ => None,
        };
        let unshifted = if let Key::Char(c) = key { Some(c) } else { None };
        let mut state = ModifiersState::empty();
        state.set(ModifiersState::CONTROL, modifiers.contains(Modifiers::CTRL));
        state.set(ModifiersState::SHIFT, modifiers.contains(Modifiers::SHIFT));
        state.set(ModifiersState::ALT, modifiers.contains(Modifiers::ALT));
        self.app.input.modifiers = state;
        for action in [KeyAction::Press, KeyAction::Release] {
            self.app.key(&KeyInput {
                pressed: Pressed { key, unshifted, base: unshifted },
                physical: PhysicalKey::Unidentified(NativeKeyCode::Unidentified),
                action,
                text: text.as_deref().filter(|_| action == KeyAction::Press),
            });
        }
        self.app.input.modifiers = ModifiersState::empty();
        self.hear();
    }

    /// Presses and releases a mouse button at a point of the window.
    fn click(&mut self, x: f64, y: f64, button: MouseButton) {
        self.app.pointer_moved(x, y);
        for pressed in [true, false] {
            self.app.mouse_button(button, pressed);
        }
        self.hear();
    }

    fn type_text(&mut self, text: &str) {
        text.chars().for_each(|c| self.key(&c.to_string()));
    }

    /// The program of the focused pane prints.
    fn print(&mut self, bytes: &str) -> PaneId {
        let pane = self.app.focused_pane().expect("a pane");
        Parser::new().advance(&mut pane.term(), bytes.as_bytes());
        self.app.notice_output(&[pane.id()].into());
        pane.id()
    }

    fn configure(&mut self, text: &str) {
        std::fs::write(self.home.path().join(FILE), text).expect("a file");
        let (settings, complaints) = Settings::read(self.home.path().to_owned());
        assert!(complaints.is_empty(), "{complaints:?}");
        self.app.settings_changed(Ok(settings.get()));
        self.hear();
    }

    /// What was typed into the program of this number, from 0.
    fn typed(&self, program: usize) -> String {
        let bytes = std::mem::take(&mut *self.programs.0.lock()[program].typed.lock());
        String::from_utf8(bytes).expect("text")
    }

    /// Paints a whole frame, and returns its scene as text.
    fn frame(&mut self) -> String {
        let plan = self.app.update(self.now).expect("measures");
        let text = {
            let App { workspace, input, overlays, chrome, prefs, surface, .. } = &mut self.app;
            let drawn = Drawn { plan: &plan, workspace, input, overlays, chrome, prefs };
            let (scene, _) = draw::scene(&drawn, &mut surface.renderer);
            surface.renderer.frame(&scene);
            dump(&scene)
        };
        self.app.surface.pacing.painted(self.now);
        self.app.note_around(plan.layout, plan.placed);
        text
    }

    /// Whether the next frame may be one of text alone. If so, its picture must equal that of a whole frame.
    fn takes_fast_path(&mut self) -> bool {
        let is_whole = self.app.surface.pacing.is_whole();
        if is_whole || !self.app.build_text(self.now) {
            return false;
        }
        let fast = CpuPainter::picture(&mut self.app.surface.renderer);
        self.frame();
        let whole = CpuPainter::picture(&mut self.app.surface.renderer);
        assert!(fast == whole, "the fast path left something out");
        true
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.app.mux.shutdown();
    }
}

/// The panes' rows, then the labels of the chrome and the overlays.
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

#[test]
fn tabs_open_switch_and_close_by_keys() {
    let mut script = Script::new();
    script.print("first");
    script.key("ctrl+shift+t");
    script.print("second");
    let two = script.frame();
    assert!(two.starts_with("pane 1 focused\n  second\n"), "{two}");
    assert_eq!(script.app.chrome.tabs.len(), 2);
    script.key("ctrl+shift+tab");
    assert!(script.frame().starts_with("pane 0 focused\n  first\n"));
    script.key("x");
    assert_eq!((script.typed(0), script.typed(1)), ("x".to_owned(), String::new()));
}

#[test]
fn the_highest_overlay_takes_the_keys() {
    let mut script = Script::new();
    script.print("some text");
    script.key("ctrl+shift+f");
    script.type_text("text");
    assert!(script.frame().contains("label text\n"), "the search shows its pattern");
    script.key("ctrl+shift+p");
    script.type_text("zoom");
    let both = script.frame();
    assert!(both.contains("label zoom\n") && both.contains("label text\n"), "{both}");
    script.key("escape");
    script.type_text("s");
    assert!(script.frame().contains("label texts\n"), "the search is the highest again");
    script.key("escape");
    script.key("a");
    assert_eq!(script.typed(0), "a");
}

#[test]
fn output_takes_the_fast_path_only_where_nothing_lies_over_it() {
    let mut script = Script::new();
    script.print("$ ");
    script.frame();
    for c in "ls -l".chars() {
        script.key(&c.to_string());
        script.print(&c.to_string());
        assert!(script.takes_fast_path(), "{c:?} is text alone");
    }
    for open in ["ctrl+shift+f", "ctrl+shift+p", "ctrl+shift+l"] {
        script.key(open);
        script.print("x");
        assert!(!script.takes_fast_path(), "{open} opened something");
        script.frame();
        script.print("y");
        assert!(!script.takes_fast_path(), "{open} lies over it");
        script.key(if open == "ctrl+shift+l" { "ctrl+shift+l" } else { "escape" });
        script.frame();
        script.print("z");
        assert!(script.takes_fast_path(), "nothing is left of {open}");
    }
    script.app.notify("test", "A message.".to_owned());
    script.frame();
    script.print("x");
    assert!(!script.takes_fast_path(), "a message lies over it");
    script.app.dismiss_toasts();
    script.frame();
    // Lines that leave the screen move marks and the scrollbar.
    script.print(&"line\r\n".repeat(100));
    assert!(!script.takes_fast_path(), "the history grew");
    script.frame();
    script.print("x");
    assert!(script.takes_fast_path());
}

#[test]
fn settings_apply_with_the_next_frame() {
    let mut script = Script::new();
    script.frame();
    script.configure("[status_bar]\nshow = true\n[tab_bar]\nshow = 'never'\n");
    let geometry = script.app.surface.geometry.expect("measures");
    assert!(geometry.has_status_bar && !geometry.has_tab_bar);
    script.print("x");
    assert!(!script.takes_fast_path(), "more than text is new");
}

#[test]
fn a_message_goes_by_itself() {
    let mut script = Script::new();
    script.app.notify("test", "A message.".to_owned());
    assert!(script.frame().contains("label A message.\n"));
    script.now += Duration::from_secs(10);
    assert!(!script.frame().contains("A message."));
}

#[test]
fn keys_may_follow_each_other() {
    let mut script = Script::new();
    script.configure(
        "[keys]\nleader = 'ctrl+a'\n'leader>c' = 'new_tab'\n'leader>b>x' = 'send_text:both'\n\
         'f5' = ['send_text:one ', 'send_text:two']\n",
    );
    script.key("ctrl+a");
    assert!(script.frame().contains("label Ctrl+A …\n"));
    script.key("b");
    assert!(script.frame().contains("label Ctrl+A B …\n"));
    script.key("x");
    assert!(!script.frame().contains('…'));
    script.key("f5");
    assert_eq!(script.typed(0), "bothone two");
    // Nothing is bound to what follows, so the program gets all keys.
    script.key("ctrl+a");
    script.key("b");
    script.key("z");
    assert_eq!(script.typed(0), "\x01bz");
    script.key("ctrl+a");
    script.key("escape");
    script.key("c");
    assert_eq!(script.typed(0), "c", "Escape discards the sequence");
    // A key that is bound alone still does its work.
    script.key("ctrl+a");
    script.key("f5");
    assert_eq!(script.typed(0), "\x01one two");
    script.key("ctrl+a");
    script.key("c");
    assert_eq!(script.app.mux.layout().tabs.len(), 2);
    // An overlay takes the next key.
    script.key("ctrl+a");
    script.app.open_search();
    script.key("c");
    assert_eq!((script.app.mux.layout().tabs.len(), script.typed(1)), (2, String::new()));
    assert!(!script.frame().contains('…'));
}

#[test]
fn mouse_buttons_and_the_wheel_run_what_they_are_bound_to() {
    let mut script = Script::new();
    script.configure(
        "[mouse_bindings]\n'back' = 'send_text:back'\n'ctrl+wheel_up' = ['send_text:up', 'send_text:!']\n\
         'right' = 'none'\n",
    );
    script.print("text");
    script.frame();
    script.click(100.0, 200.0, MouseButton::Back);
    assert_eq!(script.typed(0), "back");
    script.click(100.0, 200.0, MouseButton::Right);
    assert!(!script.app.has_overlay(), "the right button opens no menu");
    script.app.wheel(MouseScrollDelta::LineDelta(0.0, 1.0));
    assert_eq!(script.typed(0), "", "without Ctrl, it scrolls");
    script.app.input.modifiers = ModifiersState::CONTROL;
    script.app.wheel(MouseScrollDelta::LineDelta(0.0, 2.0));
    script.app.wheel(MouseScrollDelta::LineDelta(0.0, -1.0));
    assert_eq!(script.typed(0), "up!up!");
    // A program that uses the mouse gets the button, unless Shift is held.
    script.app.input.modifiers = ModifiersState::empty();
    script.print("\x1b[?1000h\x1b[?1006h");
    script.click(100.0, 200.0, MouseButton::Back);
    assert!(!script.typed(0).contains("back"));
    script.app.input.modifiers = ModifiersState::SHIFT;
    script.click(100.0, 200.0, MouseButton::Back);
    assert_eq!(script.typed(0), "back");
}

#[test]
fn a_profile_says_what_a_tab_runs() {
    let mut script = Script::new();
    script.configure(
        "[profile.work]\nshell = 'worksh'\nargs = ['-l']\nenv = { JOB = 'work' }\ncwd = '/'\ntheme = 'nord-light'\n\
         [keys]\n'f5' = 'new_tab:work'\n'f6' = 'new_tab:wrok'\n",
    );
    script.key("f5");
    let spawn = |script: &Script, at: usize| script.programs.0.lock()[at].spawn.clone();
    let work = spawn(&script, 1);
    assert_eq!((work.program.as_deref(), &work.args[..]), (Some("worksh"), &["-l".to_owned()][..]));
    assert_eq!(work.cwd, Some("/".into()));
    assert!(work.env.contains(&("JOB".to_owned(), "work".to_owned())));
    let theme = |script: &Script| {
        let pane = script.app.focused_pane().expect("a pane");
        pane.term().palette().background
    };
    let light = theme(&script);
    assert_ne!(light, script.app.prefs.palette.background);
    // A split has the profile of its neighbour, a new tab has none.
    script.frame();
    script.key("ctrl+shift+e");
    assert_eq!((spawn(&script, 2).program.as_deref(), theme(&script)), (Some("worksh"), light));
    script.key("ctrl+shift+t");
    assert_eq!(spawn(&script, 3).program, None);
    assert_ne!(theme(&script), light);
    script.key("f6");
    let frame = script.frame();
    assert!(frame.contains("There is no profile \"wrok\". There are work."), "{frame}");
}

#[test]
fn what_was_closed_comes_back() {
    let mut script = Script::new();
    script.configure(
        "[keys]\n'f5' = 'undo_close'\n'f6' = 'close_other_tabs'\n[tab_bar]\nnumbers = true\n",
    );
    script.print("first");
    script.key("ctrl+shift+t");
    script.print("second");
    assert!(script.frame().contains("label 2  "), "tabs have numbers");
    script.key("f6");
    assert!(script.frame().starts_with("pane 1 focused\n  second\n"));
    assert_eq!(script.app.mux.layout().tabs.len(), 1);
    script.key("f5");
    assert!(script.frame().starts_with("pane 0 focused\n  first\n"));
    script.key("x");
    assert_eq!(script.typed(0), "x", "the program runs on");
    script.key("f5");
    assert!(script.frame().contains("label Nothing was closed in the last 30 s.\n"));
}

#[test]
fn the_tour_has_five_steps_and_can_be_skipped() {
    let mut script = Script::new();
    script.app.welcome();
    assert!(script.frame().contains("label Split the window (1 of 5)\n"));
    for step in 2..=5 {
        script.key("enter");
        assert!(script.frame().contains(&format!("({step} of 5)")), "{step}");
    }
    script.key("enter");
    assert!(!script.frame().contains("of 5)"));
    script.app.welcome();
    assert!(!script.frame().contains("of 5)"), "it comes by itself only once");
    script.configure(
        "[keys]\n'f5' = 'tour'\n'f6' = 'about'\n'ctrl+shift+e' = 'none'\n'f7' = 'split_right'\n",
    );
    script.key("f5");
    assert!(script.frame().contains("F7 opens a pane"), "it names the keys in force");
    script.key("escape");
    script.key("x");
    assert_eq!(script.typed(0), "x", "Esc skips the rest");
    script.key("f6");
    let about = script.frame();
    assert!(about.contains(&format!("label Unterm {}\n", env!("CARGO_PKG_VERSION"))), "{about}");
}
