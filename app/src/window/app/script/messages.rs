//! Tests of messages and notifications: their texts, and the effect of clicks on them.

use std::time::Duration;

use unterm_mux::PaneId;
use unterm_renderer::PixelRect;
use winit::event::MouseButton;

use crate::desktop::{Key, Note};
use crate::window::{
    app::{App, script::Script},
    effect::Effect,
    overlays::toast::{Toast, rows_in_use},
    system::notices::{EndedCommand, NoticeEvent},
};

impl App {
    /// The messages in the window, with their rectangles and lines.
    fn placed_toasts(&self) -> Vec<(&Toast, PixelRect, Vec<String>)> {
        let Some(geometry) = &self.surface.geometry else { return Vec::new() };
        let layout = self.mux.layout();
        let search = self.overlays.search.bar();
        let search = search.map(|search| (search.pane, search.bar()));
        let placed = self.surface.placed(&layout);
        let kept = rows_in_use(&layout, &placed, &self.workspace.views, search, geometry);
        self.overlays.toasts.placed(geometry, &kept)
    }
}

/// A window with two tabs, of which the second is active. In the first tab, a command has run.
fn with_a_command() -> Script {
    let mut script = Script::new();
    let marks = "\x1b]133;A\x07$ \x1b]133;B\x07make all\r\n\x1b]133;C\x07x\r\n\x1b]133;D;2\x07";
    script.print(marks);
    script.print("\x1b]2;builds\x07");
    script.key("ctrl+shift+t");
    script.frame();
    script
}

/// The notifications that the window requested from the desktop.
fn notes(script: &mut Script) -> Vec<Note> {
    let effects = std::mem::take(&mut script.effects);
    let note = |effect| if let Effect::Notify(note) = effect { Some(note) } else { None };
    effects.into_iter().filter_map(note).collect()
}

fn end(script: &mut Script, exit_code: Option<i32>) -> Note {
    let ended = EndedCommand { command: 1, exit_code, took: Duration::from_secs(83) };
    script.app.inbox.post(|news| news.system.notices.push(NoticeEvent::Ended(PaneId(0), ended)));
    script.handle_news();
    notes(script).pop().expect("a notification")
}

#[test]
fn a_commands_end_names_exit_code_duration_and_tab() {
    let mut script = with_a_command();
    for (code, body) in [
        (Some(2), "Failed with exit code 2 after 1 min 23 s.\nTab 1: builds"),
        (Some(0), "Finished with exit code 0 after 1 min 23 s.\nTab 1: builds"),
        (None, "Finished after 1 min 23 s.\nTab 1: builds"),
    ] {
        let note = end(&mut script, code);
        assert_eq!((note.title.as_str(), note.body.as_str()), ("make all", body));
    }
}

#[test]
fn a_click_on_a_message_shows_its_pane() {
    let mut script = with_a_command();
    assert_eq!(script.app.focused_pane().map(|pane| pane.id()), Some(PaneId(1)));
    let (key, now) = (Key::Command(PaneId(0)), script.app.now);
    script.app.overlays.toasts.show_notification(key, "make all\nFailed".to_owned(), now);
    assert!(script.frame().contains("label make all\n"));
    let rect = script.app.placed_toasts()[0].1;
    script.click(f64::from(rect.x) + 20.0, f64::from(rect.y) + 20.0, MouseButton::Left);
    assert_eq!(script.app.focused_pane().map(|pane| pane.id()), Some(PaneId(0)));
    assert!(script.effects_contain("raise"));
    assert!(!script.frame().contains("label make all\n"), "the message is gone");
    // A click on a message without a pane does not switch the tab.
    script.key("ctrl+tab");
    script.app.notify("other", "something else".to_owned());
    script.frame();
    let rect = script.app.placed_toasts()[0].1;
    script.click(f64::from(rect.x) + 20.0, f64::from(rect.y) + 20.0, MouseButton::Left);
    assert_eq!(script.app.focused_pane().map(|pane| pane.id()), Some(PaneId(1)));
}

#[test]
fn a_message_leaves_the_row_of_the_cursor_free() {
    let mut script = Script::new();
    script.app.complain("test", "An error.\nIt has a second line.".to_owned());
    for row in 1..=22 {
        script.print(&format!("\x1b[{row};1H"));
        script.frame();
        let (_, y) = script.cell(0, row - 1);
        let rect = script.app.placed_toasts()[0].1;
        let is_beside = f64::from(rect.y) > y || f64::from(rect.y) + f64::from(rect.height) <= y;
        assert!(is_beside, "{rect:?} covers row {row}");
        // A click reaches the message where it is drawn.
        script.app.input.pointer.position = Some((f64::from(rect.x) + 20.0, y));
        assert!(!script.app.overlay_press(), "{row}");
    }
    // If the pane is scrolled back, its cursor is out of sight, and the message is at its usual place.
    let free = script.app.placed_toasts()[0].1;
    script.print(&"line\r\n".repeat(100));
    script.key("shift+page_up");
    script.frame();
    assert!(script.app.placed_toasts()[0].1.y > free.y);
}
