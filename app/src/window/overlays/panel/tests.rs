//! Tests of the panel.

use crate::window::overlays::panel::*;

fn panel(titles: &[&str]) -> Panel<usize> {
    let items =
        titles.iter().enumerate().map(|(choice, title)| Item::new(*title, choice)).collect();
    Panel::new("Type", items, 0)
}

fn press(panel: &mut Panel<usize>, key: Key) -> PanelOutcome {
    panel.key(key, Modifiers::empty(), None)
}

#[test]
fn typing_narrows_the_list_to_what_matches_best_first() {
    let mut panel = panel(&["Close tab", "New tab", "Paste", "Next tab"]);
    panel.insert("ntab");
    let titles: Vec<_> = panel.shown.iter().map(|shown| &panel.items[shown.item].title).collect();
    assert_eq!(titles, ["New tab", "Next tab"]);
    assert_eq!(panel.shown[0].accents, [0..1, 4..7]);
    assert_eq!(panel.choice(), Some(&1));
    panel.key(Key::Char('u'), Modifiers::CTRL, None);
    assert_eq!(panel.shown.len(), 4);
    panel.insert("zzz");
    assert_eq!(panel.choice(), None);
    assert_eq!(press(&mut panel, Key::Down), PanelOutcome::Stay);
}

#[test]
fn the_mark_goes_round_and_stays_in_sight() {
    let titles: Vec<String> = (0..40).map(|i| format!("item {i}")).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let mut panel = panel(&titles);
    press(&mut panel, Key::Up);
    assert_eq!(panel.choice(), Some(&39));
    assert_eq!(panel.first, 40 - ROWS);
    press(&mut panel, Key::Down);
    assert_eq!((panel.choice(), panel.first), (Some(&0), 0));
    press(&mut panel, Key::PageDown);
    assert_eq!(panel.choice(), Some(&ROWS));
}

#[test]
fn without_a_list_what_to_type_stays_in_sight() {
    let mut asks = Panel::<usize>::new("The title", Vec::new(), 0);
    assert_eq!(asks.hints(), ("", "The title"));
    let before = asks.place(&Geometry::TEST);
    assert!(before.message.height > 0);
    asks.insert("x");
    asks.complain("No title".to_owned());
    assert_eq!(asks.place(&Geometry::TEST).rect, before.rect, "nothing moves");
    assert_eq!(panel(&["a"]).hints(), ("Type", ""));
}

#[test]
fn a_text_scrolls_to_its_end_and_leaves_room_for_answers() {
    let text: String = (0..200).map(|n| format!("line {n}\n")).collect();
    for (width, height) in [(1200, 700), (500, 300), (300, 200), (1, 1)] {
        let geometry = Geometry { width, height, ..Geometry::TEST };
        let mut panel = panel(&["once", "always", "deny"]).with_text(text.clone());
        let wrap = |panel: &mut Panel<usize>| {
            let body = panel.text.as_ref().unwrap();
            body.wrap((400, 50), |line| line.len() as f32);
            let rows = panel.place(&geometry).text_rows;
            panel.text.as_mut().unwrap().set_rows(rows);
            rows
        };
        let rows = wrap(&mut panel);
        let place = panel.place(&geometry);
        if height >= 300 {
            assert_eq!(place.rows.len(), 3, "{width}x{height}");
            assert!(place.rect.y + place.rect.height as i32 <= height as i32);
            assert!(rows >= FEWEST_TEXT_ROWS);
        }
        assert_eq!(press(&mut panel, Key::End), PanelOutcome::Edited);
        let last = panel.text.as_ref().unwrap().in_sight(rows.max(1));
        assert_eq!(last.last().map(String::as_str), Some("line 199⏎"), "{width}x{height}");
        assert_eq!(panel.choice(), Some(&0), "the mark stays");
        panel.wheel(true);
        press(&mut panel, Key::PageUp);
        press(&mut panel, Key::Home);
        assert_eq!(panel.text.as_ref().unwrap().in_sight(1), ["line 0⏎"]);
        assert_eq!(press(&mut panel, Key::Down), PanelOutcome::Moved);
        assert_eq!(panel.choice(), Some(&1));
    }
}

#[test]
fn it_fits_into_any_window_and_a_click_chooses_the_row_it_hits() {
    for (width, height) in [(1200, 700), (200, 120), (1, 1)] {
        let geometry = Geometry { width, height, ..Geometry::TEST };
        let mut panel = panel(&["a", "b", "c"]);
        let place = panel.place(&geometry);
        if height > 100 {
            assert!(place.rect.y + place.rect.height as i32 <= height as i32, "{width}x{height}");
        }
        if let Some(row) = place.rows.get(1) {
            let (x, y) = (f64::from(row.x) + 5.0, f64::from(row.y) + 5.0);
            assert_eq!(panel.click(&geometry, x, y), Some(PanelOutcome::Chosen));
            assert_eq!(panel.choice(), Some(&1));
        }
        assert_eq!(panel.click(&geometry, -5.0, -5.0), None);
    }
}
