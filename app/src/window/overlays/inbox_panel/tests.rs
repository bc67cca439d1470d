//! Tests of the inbox panel's state: the mark, the answers and the layout.

use serde_json::json;
use unterm_control::methods::inbox::ShowReply;

use super::*;
use crate::window::overlays::inbox_panel::cells::Cells;

fn listed(instance: &str, session: u64, question: &str) -> Listed {
    let entry = json!({"session": session, "title": "make", "kind": "permission",
        "question": question, "source": "report", "key": "0",
        "since": format!("2026-11-30T10:00:0{session}.000Z")});
    Listed { instance: instance.to_owned(), entry: serde_json::from_value(entry).unwrap() }
}

fn question(dialog: &str) -> ShownQuestion {
    let shown: ShowReply = serde_json::from_value(json!({
        "id": 1, "dialog": dialog, "kind": "permission", "question": "Run it?", "seq": 7,
        "rows": ["Run it?", "> 1. Yes", "  2. No"], "approve": 1, "deny": 2,
        "choices": [{"number": 1, "label": "Yes"}, {"number": 2, "label": "No"}],
    }))
    .unwrap();
    let cells = Cells::plain(shown.rows.iter().map(String::as_str));
    ShownQuestion::of_program(&shown, cells)
}

/// A panel of the instance `alpha` with these entries of it.
fn panel(entries: &[Listed]) -> InboxPanel {
    let mut panel = InboxPanel::new("alpha".to_owned(), None);
    let change = Change::Entries("alpha".to_owned(), entries.to_vec());
    let asks = panel.change(change);
    assert_eq!(asks, entries.last().cloned().map(InboxRequest::Show), "the newest is marked");
    panel
}

fn press(panel: &mut InboxPanel, key: Key) -> InputResult {
    let text = if let Key::Char(char) = key { Some(char.to_string()) } else { None };
    panel.handle_key(key, Modifiers::empty(), text.as_deref())
}

fn message(panel: &InboxPanel) -> &str {
    panel.message.as_ref().map_or("", |message| &message.text)
}

#[test]
fn an_answer_names_the_dialog_that_is_shown() {
    let (one, two) = (listed("alpha", 1, "Run it?"), listed("alpha", 2, "Stop it?"));
    let mut panel = panel(&[one.clone(), two.clone()]);
    assert_eq!(press(&mut panel, Key::Char('y')), InputResult::Stay, "no question is shown yet");
    panel.show(question("5f"));
    let answer = |reply| {
        InputResult::Ask(InboxRequest::Answer {
            listed: two.clone(),
            dialog: "5f".to_owned(),
            reply,
        })
    };
    assert_eq!(press(&mut panel, Key::Char('y')), answer(Reply::Approve));
    assert_eq!(press(&mut panel, Key::Char('y')), InputResult::Stay, "one answer at a time");
    assert_eq!(press(&mut panel, Key::Down), InputResult::Stay, "the mark stays until it arrived");
    panel.answered(Err(("a lease".to_owned(), None)));
    assert!(message(&panel).contains("a lease"));
    assert_eq!(press(&mut panel, Key::Char('n')), answer(Reply::Deny));
    panel.answered(Ok(()));
    // The next entry is marked only by the user.
    assert_eq!(press(&mut panel, Key::Char('y')), InputResult::Stay);
    panel.change(Change::Entries("alpha".to_owned(), vec![one.clone()]));
    assert_eq!(press(&mut panel, Key::Char('y')), InputResult::Stay);
    assert_eq!(press(&mut panel, Key::Down), InputResult::Ask(InboxRequest::Show(one)));
}

#[test]
fn a_question_that_has_changed_must_be_read_first() {
    let one = listed("alpha", 1, "Run it?");
    let mut panel = panel(&[one]);
    panel.show(question("5f"));
    assert!(matches!(press(&mut panel, Key::Char('2')), InputResult::Ask(_)));
    panel.answered(Err(("it has changed".to_owned(), Some(question("6a")))));
    assert_eq!(press(&mut panel, Key::Char('2')), InputResult::Stay);
    assert_eq!(message(&panel), UNREAD);
    let InputResult::Ask(InboxRequest::Answer { dialog, reply, .. }) =
        press(&mut panel, Key::Char('2'))
    else {
        panic!("no answer")
    };
    assert_eq!((dialog.as_str(), reply), ("6a", Reply::Choice(2)));
}

#[test]
fn a_question_that_comes_unasked_must_be_read_first() {
    let one = listed("alpha", 1, "Run it?");
    let mut panel = panel(std::slice::from_ref(&one));
    panel.show(question("5f"));
    // A late reply shows another question in place of the one that the user reads.
    panel.show(question("6a"));
    assert_eq!(press(&mut panel, Key::Char('y')), InputResult::Stay);
    assert_eq!(message(&panel), UNREAD);
    assert!(matches!(press(&mut panel, Key::Char('y')), InputResult::Ask(_)));
    // An entry arrives in a panel that has been empty for a while.
    let mut panel = InboxPanel::new("alpha".to_owned(), None);
    panel.opened = panel.opened.checked_sub(2 * OPENING).unwrap();
    panel.change(Change::Entries("alpha".to_owned(), vec![one]));
    panel.show(question("5f"));
    assert_eq!(press(&mut panel, Key::Char('y')), InputResult::Stay);
    assert!(matches!(press(&mut panel, Key::Char('y')), InputResult::Ask(_)));
}

#[test]
fn the_rest_of_an_answer_to_a_withdrawn_question_is_ignored() {
    let (one, two) = (listed("alpha", 1, "Run it?"), listed("alpha", 2, "Stop it?"));
    let mut panel = panel(&[one.clone(), two]);
    panel.show(question("5f"));
    press(&mut panel, Key::Char('t'));
    press(&mut panel, Key::Char('o'));
    panel.change(Change::Entries("alpha".to_owned(), vec![one.clone()]));
    for key in ['k', 'y', '1'] {
        assert_eq!(press(&mut panel, Key::Char(key)), InputResult::Stay, "{key}");
    }
    assert_eq!(press(&mut panel, Key::Enter), InputResult::Stay);
    assert_eq!(press(&mut panel, Key::Down), InputResult::Ask(InboxRequest::Show(one)));
}

#[test]
fn an_agents_question_is_answered_only_if_all_of_it_is_visible() {
    let mut panel = panel(&[listed("alpha", 1, "Run it?")]);
    let rows: Vec<String> = (0..100).map(|row| format!("row {row}")).collect();
    panel.show(ShownQuestion {
        cells: Cells::plain(rows.iter().map(String::as_str)),
        receiver: Receiver::Agent(7, vec!["once".to_owned(), "deny".to_owned()]),
        ..question("5f")
    });
    panel.layout(&Geometry { width: 800, height: 600, ..Geometry::TEST });
    assert_eq!(press(&mut panel, Key::Char('y')), InputResult::Stay);
    assert_eq!(message(&panel), TOO_LONG);
}

#[test]
fn an_entry_that_arrives_or_goes_does_not_move_the_mark() {
    let (one, two) = (listed("alpha", 1, "Run it?"), listed("bravo", 2, "Stop it?"));
    let mut panel = panel(std::slice::from_ref(&one));
    panel.show(question("5f"));
    assert_eq!(panel.change(Change::Entries("bravo".to_owned(), vec![two.clone()])), None);
    assert_eq!((panel.row, panel.has_marked(&one)), (1, true), "the newer entry is above it");
    let (entries, marked, _, said) = panel.spoken();
    assert_eq!(entries, ["bravo: make, permission, Stop it?", "make, permission, Run it?"]);
    assert_eq!((marked, said.as_str()), (Some(1), "make: Stop it?"), "a reader announces it");
    panel.change(Change::Entries("alpha".to_owned(), Vec::new()));
    assert!(panel.marked.is_none() && message(&panel).starts_with(GONE));
    assert_eq!(press(&mut panel, Key::Enter), InputResult::Stay);
    panel.change(Change::Ended("bravo".to_owned()));
    assert!(panel.entries.is_empty());
}

#[test]
fn entries_of_an_instance_that_can_not_be_asked_go() {
    let (one, two) = (listed("alpha", 1, "Run it?"), listed("bravo", 2, "Stop it?"));
    let mut panel = panel(std::slice::from_ref(&one));
    panel.change(Change::Entries("bravo".to_owned(), vec![two]));
    let unreachable = |id: &str| Change::Unreachable(id.to_owned(), "old".to_owned());
    panel.change(unreachable("bravo"));
    assert!(panel.entries == [one], "{:?}", panel.entries);
    // An instance that never answered has no entries, so a message says why.
    panel.change(unreachable("charlie"));
    assert_eq!(message(&panel), "charlie can't be asked: old");
}

#[test]
fn enter_goes_there_and_d_and_s_put_aside() {
    let one = listed("alpha", 1, "Run it?");
    let mut panel = panel(std::slice::from_ref(&one));
    let asks = |request: fn(Listed) -> InboxRequest| InputResult::Ask(request(one.clone()));
    assert_eq!(press(&mut panel, Key::Enter), asks(InboxRequest::Go));
    assert_eq!(press(&mut panel, Key::Char('s')), asks(InboxRequest::Snooze));
    assert_eq!(press(&mut panel, Key::Char('d')), asks(InboxRequest::Dismiss));
    panel.change(Change::Entries("alpha".to_owned(), Vec::new()));
    assert_eq!(message(&panel), DISMISSED);
    assert_eq!(press(&mut panel, Key::Escape), InputResult::Close);
}

#[test]
fn a_typed_answer_is_sent_by_enter_and_left_by_escape() {
    let mut panel = panel(&[listed("alpha", 1, "Run it?")]);
    panel.show(question("5f"));
    for key in ['t', 'y', 'd'] {
        assert_eq!(press(&mut panel, Key::Char(key)), InputResult::Stay);
    }
    assert_eq!(press(&mut panel, Key::Escape), InputResult::Stay);
    press(&mut panel, Key::Char('t'));
    panel.handle_key(Key::Char('n'), Modifiers::empty(), Some("no"));
    let InputResult::Ask(InboxRequest::Answer { reply, .. }) = press(&mut panel, Key::Enter) else {
        panic!("no answer")
    };
    assert_eq!(reply, Reply::Text("no".to_owned()));
}

#[test]
fn passwords_are_not_answered_here() {
    let mut panel = panel(&[listed("alpha", 1, "Password:")]);
    let shown: ShowReply = serde_json::from_value(json!({"id": 1, "dialog": "5f", "seq": 1,
        "kind": "password", "question": "Password:", "rows": ["Password:"], "choices": []}))
    .unwrap();
    panel.show(ShownQuestion::of_program(&shown, Cells::plain(["Password:"])));
    for key in ['y', 't', '1'] {
        assert_eq!(press(&mut panel, Key::Char(key)), InputResult::Stay);
        assert!(panel.typed.is_none() && message(&panel).contains("Passwords"), "{key}");
    }
}

#[test]
fn the_panel_fits_into_every_window() {
    let entries: Vec<_> = (0..9).map(|pane| listed("alpha", pane, "Run it?")).collect();
    let mut panel = panel(&entries);
    panel.show(question("5f"));
    for (width, height) in [(1600, 1000), (800, 480), (400, 300), (300, 240)] {
        for scale in [1.0, 2.0] {
            let (width, height) = ((width as f32 * scale) as u32, (height as f32 * scale) as u32);
            let geometry =
                Geometry { width, height, scale, ui_column: 7.2 * scale, ..Geometry::TEST };
            let window = unterm_renderer::PixelRect { x: 0, y: 0, width, height };
            let layout = panel.layout(&geometry);
            for rect in layout.parts() {
                assert!(window.contains(&rect), "{rect:?} in {width}×{height}");
            }
            assert!(layout.shows(panel.row), "the marked entry, in {width}×{height}");
        }
    }
}
