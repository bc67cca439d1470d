//! Rows with right-to-left text, compared with rows whose text is written in the order in which it is shown.

use crate::support::{colored, pane, plain, run, scene, skip, snapshot};
use unterm_renderer::{CpuPainter, FontOptions, FrameRow, PaneScene, Renderer, TextOptions};
use unterm_term::{Cursor, LineId, Modes, Point, Snapshot, TextRange};

/// The conditions under which a row is drawn.
#[derive(Clone, Copy, Default)]
struct RowOptions {
    cursor: Option<u16>,
    /// First and last selected column.
    selected: Option<(u16, u16)>,
    /// Whether the program arranges right-to-left text by itself.
    is_explicit: bool,
}

fn row(renderer: &mut Renderer, mut shown: Snapshot, bidi: bool, with: RowOptions) -> FrameRow {
    renderer.set_text(TextOptions { bidi, ..TextOptions::default() });
    if let Some(col) = with.cursor {
        shown.cursor = Cursor { visible: true, col, ..Cursor::default() };
    }
    shown.modes.set(Modes::EXPLICIT_BIDI, with.is_explicit);
    let point = |col| Point { line: LineId(0), col };
    let range = |(from, to)| TextRange { start: point(from), end: point(to), block: false };
    let metrics = renderer.metrics();
    let pane = PaneScene { selection: with.selected.map(range), ..pane(&shown, metrics) };
    let row = (*renderer.frame(&scene(pane)).panes[0].rows[0]).clone();
    FrameRow { version: 0, ..row }
}

fn text(text: &str) -> Snapshot {
    snapshot(24, &[vec![plain(text)]])
}

const ALEF_BET_GIMEL: &str = "ab \u{5d0}\u{5d1}\u{5d2}. (x)";
const SHOWN: &str = "ab \u{5d2}\u{5d1}\u{5d0}. (x)";

#[test]
fn right_to_left_rows_look_like_rows_in_display_order() {
    let mut renderer = Renderer::new(FontOptions::default());
    for (at, shown_at) in [(2, 2), (3, 5), (5, 3), (6, 6)] {
        let cursor = |col| RowOptions { cursor: Some(col), ..RowOptions::default() };
        let logical = row(&mut renderer, text(ALEF_BET_GIMEL), true, cursor(at));
        let visual = row(&mut renderer, text(SHOWN), false, cursor(shown_at));
        assert_eq!(logical, visual, "with the cursor in column {at}");
    }
    let selected = |from, to| RowOptions { selected: Some((from, to)), ..RowOptions::default() };
    let logical = row(&mut renderer, text(ALEF_BET_GIMEL), true, selected(4, 5));
    let visual = row(&mut renderer, text(SHOWN), false, selected(3, 4));
    assert_eq!(logical, visual);
    let (red, blue) = (colored(1, 0), colored(4, 0));
    let runs =
        |first: &str, second: &str| snapshot(24, &[vec![run(first, red), run(second, blue)]]);
    let logical = row(&mut renderer, runs("a\u{5d0}", "\u{5d1}b"), true, RowOptions::default());
    let mut visual = runs("a", "\u{5d1}\u{5d0}b");
    visual.rows[0].styles[0].end = 1;
    let style = visual.rows[0].styles[1].clone();
    visual.rows[0].styles.splice(
        1..2,
        [
            unterm_term::StyleRun { start: 1, end: 2, ..style.clone() },
            unterm_term::StyleRun { start: 2, end: 3, style: red, link: None },
            unterm_term::StyleRun { start: 3, end: 4, ..style },
        ],
    );
    assert_eq!(logical, row(&mut renderer, visual, false, RowOptions::default()));
}

#[test]
fn bidi_is_off_by_option_or_program() {
    let mut renderer = Renderer::new(FontOptions::default());
    let off = row(&mut renderer, text(ALEF_BET_GIMEL), false, RowOptions::default());
    let on = row(&mut renderer, text(ALEF_BET_GIMEL), true, RowOptions::default());
    assert_ne!(on, off);
    let explicit = RowOptions { is_explicit: true, ..RowOptions::default() };
    assert_eq!(row(&mut renderer, text(ALEF_BET_GIMEL), true, explicit), off);
}

/// The picture of a line of text, drawn by a new renderer, because a renderer reuses rows of the same number.
fn picture(line: &str) -> (Renderer, Vec<u32>) {
    let mut renderer = Renderer::new(FontOptions::default());
    row(&mut renderer, text(line), true, RowOptions::default());
    let picture = CpuPainter::picture(&mut renderer);
    (renderer, picture)
}

/// Letters take the forms that their neighbors require, and are shown from right to left.
#[test]
fn arabic_letters_join() {
    if picture("\u{628}").1 == picture("\u{645}").1 {
        return skip("no font has Arabic letters");
    }
    // Two joined letters touch at the edge between their cells.
    let (renderer, joined) = picture("\u{628}\u{628}");
    let (frame, cell) = (renderer.last_frame(), renderer.metrics().width as usize);
    let (width, boundary) = (frame.width as usize, frame.panes[0].origin.0 as usize + cell);
    let background = joined[width - 1];
    let has_ink = |x: usize| joined.iter().skip(x).step_by(width).any(|pixel| *pixel != background);
    assert!(has_ink(boundary - 1) && has_ink(boundary), "the letters stand apart");
    // LAM and ALEF form one glyph together. ALEF followed by LAM does not.
    assert!(picture("\u{644}\u{627}").1 != picture("\u{627}\u{644}").1);
}
