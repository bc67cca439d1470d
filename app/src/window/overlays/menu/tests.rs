//! Tests of a menu: the marked item, the choice and the position of the menu.

use crate::window::overlays::menu::*;

fn menu(anchor: PixelRect) -> Menu {
    let keymap = Keymap::new(&Default::default());
    let rows = vec![
        Item::new(Action::NewTab(None), &keymap).enabled(false).into(),
        Item::new(Action::CloseTab, &keymap).into(),
        Row::Line,
        Item::new(Action::ZoomPane, &keymap).into(),
        Item::new(Action::Paste, &keymap).into(),
    ];
    Menu { rows, marked: None, first: 0, anchor, width: 200, target: None, opened: None }
}

fn press(menu: &mut Menu, key: Key) -> MenuOutcome {
    menu.press_key(key, Modifiers::empty())
}

#[test]
fn an_item_is_named_as_its_action_is() {
    let menu = menu(PixelRect::default());
    let Row::Item(item) = &menu.rows[1] else { panic!("no item") };
    assert_eq!((item.title.as_str(), item.keys.as_str()), ("Close tab", "Ctrl+Shift+W"));
}

#[test]
fn keys_pass_over_what_can_not_be_chosen_and_go_round() {
    let mut menu = menu(PixelRect::default());
    assert_eq!(press(&mut menu, Key::Enter), MenuOutcome::Stay, "nothing is marked");
    press(&mut menu, Key::Down);
    assert_eq!(menu.marked, Some(1));
    press(&mut menu, Key::Down);
    assert_eq!(menu.marked, Some(3));
    press(&mut menu, Key::End);
    press(&mut menu, Key::Down);
    assert_eq!(menu.marked, Some(1));
    press(&mut menu, Key::Char('z'));
    assert_eq!(press(&mut menu, Key::Enter), MenuOutcome::Chosen(Choice::Act(Action::ZoomPane)));
    assert_eq!(press(&mut menu, Key::Escape), MenuOutcome::Closed);
}

#[test]
fn it_stays_inside_the_window_and_the_marked_row_in_sight() {
    let geometry = Geometry { width: 400, height: 300, ..Geometry::TEST };
    let corner = PixelRect { x: 390, y: 290, width: 0, height: 0 };
    let (rect, rows) = menu(corner).place(&geometry);
    assert_eq!((rect.x, rect.y + rect.height as i32), (200, 290), "above and to the left");
    assert_eq!(rows.len(), 5);
    let low = Geometry { height: 60, ..geometry };
    let mut menu = menu(PixelRect::default());
    menu.marked = Some(4);
    let (rect, rows) = menu.place(&low);
    assert!(rect.y >= 0 && rect.height <= 60);
    assert!(rows.iter().any(|(row, _)| *row == 4), "{rows:?}");
}

#[test]
fn the_pointer_highlights_only_selectable_items() {
    let geometry = Geometry { width: 400, height: 300, ..Geometry::TEST };
    let mut menu = menu(PixelRect::default());
    let (_, rows) = menu.place(&geometry);
    let middle = |row: usize| {
        let rect = rows[row].1;
        (f64::from(rect.x) + 20.0, f64::from(rect.y) + f64::from(rect.height) / 2.0)
    };
    for (row, marked) in [(0, None), (1, Some(1)), (2, None), (4, Some(4))] {
        let (x, y) = middle(row);
        assert!(menu.mark_at(&geometry, x, y));
        assert_eq!(menu.marked, marked, "row {row}");
    }
    assert!(!menu.mark_at(&geometry, 350.0, 20.0));
}
