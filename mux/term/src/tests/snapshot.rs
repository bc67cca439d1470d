//! Snapshots: an updated snapshot equals a new one.

use std::sync::Arc;

use proptest::prelude::*;

use super::Fixture;
use crate::{Content, LineId, Palette, ScreenKind, Size, Snapshot};

/// Everything that a viewer can see of a snapshot.
fn shown(snapshot: &Snapshot) -> String {
    format!("{snapshot:?}")
}

#[test]
fn rows_that_did_not_change_are_not_copied() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("a\r\nb\r\nc\r\nd");
    let mut snapshot = fixture.snapshot();
    // Set a marker in the viewer's copy. It disappears in rows that are copied.
    for row in &mut snapshot.rows {
        row.wrapped = true;
    }
    fixture.feed("\x1b[2;1HB");
    fixture.term.snapshot(&mut snapshot, None);
    let kept: Vec<bool> = snapshot.rows.iter().map(|row| row.wrapped).collect();
    assert_eq!(kept, [true, false, true, true]);
    // After scrolling by one row, only the new row is copied.
    for row in &mut snapshot.rows {
        row.wrapped = true;
    }
    fixture.feed("\x1b[4;1H\r\nnew");
    fixture.term.snapshot(&mut snapshot, None);
    let kept: Vec<bool> = snapshot.rows.iter().map(|row| row.wrapped).collect();
    assert_eq!(kept, [true, true, true, false]);
    // If nothing changed, the snapshot is not touched at all.
    snapshot.rows[0].cells.clear();
    fixture.term.snapshot(&mut snapshot, None);
    assert!(snapshot.rows[0].cells.is_empty());
}

#[test]
fn a_viewport_in_history_stays_while_output_goes_on() {
    let mut fixture = Fixture::new(10, 4);
    for i in 0..200 {
        fixture.feed(format!("\x1b[3{}m{i}\r\n", i % 8));
    }
    let mut snapshot = Snapshot::default();
    fixture.term.snapshot(&mut snapshot, Some(LineId(50)));
    assert_eq!(snapshot.rows[0].line, LineId(50));
    assert_eq!(snapshot.rows[0].cells[0].content(), Content::Char('5'));
    assert!(!snapshot.cursor.visible);
    let before = snapshot.rows.clone();
    fixture.feed("more\r\n");
    fixture.term.snapshot(&mut snapshot, Some(LineId(50)));
    assert_eq!(snapshot.rows, before);
    // Request a line that no longer exists, and a line that does not exist yet.
    fixture.feed("\x1b[3J");
    fixture.term.snapshot(&mut snapshot, Some(LineId(50)));
    assert_eq!(snapshot.rows[0].line, snapshot.live_top);
    fixture.term.snapshot(&mut snapshot, Some(LineId(u64::MAX)));
    assert_eq!(snapshot.rows[0].line, snapshot.live_top);
    assert_eq!(snapshot.rows.len(), 4);
}

#[test]
fn the_palette_is_the_same_arc_until_it_changes() {
    let mut fixture = Fixture::new(10, 4);
    let first = fixture.snapshot();
    fixture.feed("x");
    let mut second = fixture.snapshot();
    assert!(Arc::ptr_eq(&first.palette, &second.palette));
    fixture.feed("\x1b]11;#123456\x07");
    fixture.term.set_base_palette(Arc::new(Palette::new(
        [Default::default(); 16],
        Default::default(),
        Default::default(),
    )));
    fixture.term.snapshot(&mut second, None);
    assert_eq!(second.palette.background, crate::Rgb::hex(0x123456));
    assert_eq!(second.palette.foreground, Default::default());
}

#[test]
fn screens_do_not_mix() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("main");
    let mut snapshot = fixture.snapshot();
    fixture.feed("\x1b[?1049h");
    fixture.term.snapshot(&mut snapshot, None);
    assert_eq!(snapshot.screen, ScreenKind::Alternate);
    assert_eq!(shown(&snapshot), shown(&fixture.snapshot()));
    fixture.feed("\x1b[?1049l");
    fixture.term.snapshot(&mut snapshot, None);
    assert_eq!(snapshot.rows[0].cells[0].content(), Content::Char('m'));
}

#[test]
fn clusters_are_found_by_column() {
    let mut fixture = Fixture::new(10, 4);
    fixture.feed("ae\u{301}👩\u{200d}👧");
    let row = &fixture.snapshot().rows[0];
    assert_eq!(row.cluster(1), Some("e\u{301}"));
    assert_eq!(row.cluster(2), Some("👩\u{200d}👧"));
    assert_eq!(row.cluster(0), None);
    assert_eq!(row.cells[2].content(), Content::Cluster(1));
}

proptest! {
    #![proptest_config(super::cases(200))]

    #[test]
    fn an_updated_snapshot_is_a_full_one(
        steps in prop::collection::vec(
            (prop::collection::vec(super::oracle::piece(), 0..4), prop::option::of((2u16..30, 2u16..9)), 0u64..20),
            1..20),
    ) {
        let mut fixture = Fixture::new(20, 6);
        let mut live = Snapshot::default();
        let mut back = Snapshot::default();
        for (pieces, size, scrolled) in steps {
            fixture.feed(pieces.concat());
            if let Some((cols, rows)) = size.filter(|_| scrolled > 10) {
                fixture.term.resize(Size::cells(cols, rows));
            }
            fixture.term.snapshot(&mut live, None);
            prop_assert_eq!(shown(&live), shown(&fixture.snapshot()));
            let top = LineId(fixture.term.live_top().0.saturating_sub(scrolled));
            fixture.term.snapshot(&mut back, Some(top));
            let mut full = Snapshot::default();
            fixture.term.snapshot(&mut full, Some(top));
            prop_assert_eq!(shown(&back), shown(&full));
        }
    }
}
