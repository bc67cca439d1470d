//! Tests of frames: which rows are reused, where cursors and selections lie, and what is drawn for which text.

use std::sync::Arc;

use crate::support::{
    Run, attrs, colored, pane, plain, row, run, scene, skip, snapshot, underlined,
};
use unterm_renderer::{
    Adjust, CellMetrics, CpuPainter, Damage, Fill, FontOptions, Frame, FrameRow, GlyphInstance,
    Label, LabelAlign, PaneScene, PixelRect, Preedit, Quad, Renderer, TextOptions,
};
use unterm_term::{
    Attrs, Cell, Color, Cursor, CursorShape, ExtraCursor, ExtraCursorColor, ExtraCursorColors,
    LineId, LineSize, Link, Modes, Palette, Point, Rgb, Size, Snapshot, Style, StyleRun, TextRange,
    Underline,
};

fn renderer() -> Renderer {
    Renderer::new(FontOptions::default())
}

fn frame(renderer: &mut Renderer, pane: PaneScene<'_>) -> Arc<Frame> {
    renderer.frame(&scene(pane));
    renderer.last_frame().clone()
}

fn versions(frame: &Frame) -> Vec<u64> {
    frame.panes[0].rows.iter().map(|row| row.version).collect()
}

/// The frame's row for one row of text.
fn drawn(runs: Vec<Run>) -> (FrameRow, CellMetrics, Palette) {
    let mut renderer = renderer();
    let snapshot = snapshot(40, &[runs]);
    let frame = {
        let m = renderer.metrics();
        frame(&mut renderer, pane(&snapshot, m))
    };
    ((*frame.panes[0].rows[0]).clone(), renderer.metrics(), (*snapshot.palette).clone())
}

fn at(line: u64, col: u16) -> Point {
    Point { line: LineId(line), col }
}

fn range(start: Point, end: Point, block: bool) -> TextRange {
    TextRange { start, end, block }
}

fn text(lines: &[&str]) -> Snapshot {
    let rows: Vec<_> = lines.iter().map(|line| vec![plain(line)]).collect();
    snapshot(20, &rows)
}

/// The rows of `after` that differ from those of `before`.
fn changed(before: &Frame, after: &Frame) -> Vec<usize> {
    let pairs = versions(before).into_iter().zip(versions(after)).enumerate();
    pairs.filter(|(_, (a, b))| a != b).map(|(i, _)| i).collect()
}

#[test]
fn a_cell_of_the_bundled_font_is_whole_pixels() {
    let metrics = |size, scale| {
        let options = FontOptions { size, scale, ..FontOptions::default() };
        Renderer::new(options).metrics()
    };
    // JetBrains Mono: 600 of 1000 units wide, 1320 high, 1020 of them above the baseline.
    let one = metrics(12.0, 1.0);
    assert_eq!((one.width, one.height, one.baseline, one.thickness), (10, 21, 16, 1));
    let two = metrics(12.0, 2.0);
    assert_eq!((two.width, two.height, two.baseline), (19, 42, 33));
    for size in 3..40 {
        for scale in [1.0, 1.25, 1.5, 2.0, 3.0] {
            let m = metrics(size as f32, scale);
            assert!(m.baseline < m.height && m.thickness >= 1, "{m:?}");
            assert!(m.underline + m.thickness <= m.height, "{m:?}");
            assert!(m.strike > 0 && m.strike + m.thickness <= m.baseline, "{m:?}");
        }
    }
}

/// After adjusting the cell, the text stays inside it. In a larger cell, the text stays centered.
#[test]
fn a_cell_can_be_adjusted() {
    let metrics = |adjust| {
        let options = FontOptions { adjust, scale: 2.0, ..FontOptions::default() };
        Renderer::new(options).metrics()
    };
    let plain = metrics(Adjust::default());
    let amount = |text: &str| text.parse().unwrap();
    let tall = metrics(Adjust { cell_height: amount("5px"), ..Adjust::default() });
    assert_eq!((tall.height, tall.baseline), (plain.height + 10, plain.baseline + 5));
    assert_eq!(tall.underline, plain.underline + 5);
    let wide = metrics(Adjust { cell_width: amount("50%"), ..Adjust::default() });
    assert_eq!(wide.width, plain.width + plain.width.div_ceil(2));
    let raised = metrics(Adjust { baseline: amount("1"), ..Adjust::default() });
    assert_eq!((raised.height, raised.baseline), (plain.height, plain.baseline - 2));
    let thick = metrics(Adjust { underline_thickness: amount("2"), ..Adjust::default() });
    assert_eq!(thick.thickness, plain.thickness + 4);
    for text in ["-1000", "1000", "-500%"] {
        let all = amount(text);
        let m = metrics(Adjust {
            cell_width: all,
            cell_height: all,
            baseline: all,
            underline_position: all,
            underline_thickness: all,
        });
        assert!(m.width > 0 && m.baseline < m.height && m.underline + m.thickness <= m.height);
    }
}

#[test]
fn absurd_sizes_do_not_panic() {
    for (size, scale) in [(f32::NAN, 1.0), (0.0, 0.0), (-3.0, f32::INFINITY), (1e9, 1e9)] {
        let families = vec!["No Such Font".into()];
        let options = FontOptions { families, size, scale, ..FontOptions::default() };
        let mut renderer = Renderer::new(options);
        let shown = text(&["a中🎉"]);
        {
            let m = renderer.metrics();
            frame(&mut renderer, pane(&shown, m))
        };
    }
}

#[test]
fn unchanged_rows_are_reused() {
    let mut renderer = renderer();
    let mut shown = text(&["one", "two", "three", "four"]);
    let metrics = renderer.metrics();
    let first = frame(&mut renderer, pane(&shown, metrics));
    let again = frame(&mut renderer, pane(&shown, metrics));
    assert_eq!(changed(&first, &again), []);
    assert!(Damage::between(&first, &again).is_empty());

    shown.rows[2] = row(2, 9, 20, &[plain("THREE")]);
    let edited = frame(&mut renderer, pane(&shown, metrics));
    assert_eq!(changed(&again, &edited), [2]);
    let damage = Damage::between(&again, &edited);
    let [rect] = damage.rects[..] else { panic!("{damage:?}") };
    assert!(edited.panes[0].row_rect(2).contains(&rect));
    assert!(rect.width <= 5 * metrics.width, "the letters, not the row: {rect:?}");

    let selected =
        PaneScene { selection: Some(range(at(1, 1), at(2, 0), false)), ..pane(&shown, metrics) };
    let selected = frame(&mut renderer, selected);
    assert_eq!(changed(&edited, &selected), [1, 2]);
    // If few rows changed, only their changed parts are damaged. If many changed, whole rows form one rectangle.
    assert_eq!(Damage::between(&edited, &selected).rects.len(), 2);
    let all =
        PaneScene { selection: Some(range(at(0, 0), at(3, 1), false)), ..pane(&shown, metrics) };
    let all = frame(&mut renderer, all);
    assert_eq!(changed(&edited, &all), [0, 1, 2, 3]);
    assert_eq!(Damage::between(&edited, &all).rects.len(), 1);

    let plain_again = frame(&mut renderer, pane(&shown, metrics));
    shown.cursor = Cursor { visible: true, row: 3, ..Cursor::default() };
    let cursor = frame(&mut renderer, pane(&shown, metrics));
    assert_eq!(changed(&plain_again, &cursor), [3]);
    shown.cursor.row = 0;
    let moved = frame(&mut renderer, pane(&shown, metrics));
    assert_eq!(changed(&cursor, &moved), [0, 3]);
}

#[test]
fn a_scrolled_row_keeps_its_picture() {
    let mut renderer = renderer();
    let mut shown = text(&["one", "two", "three"]);
    let metrics = renderer.metrics();
    let before = versions(&frame(&mut renderer, pane(&shown, metrics)));
    shown.rows.remove(0);
    shown.rows.push(row(3, 5, 20, &[plain("four")]));
    let after = versions(&frame(&mut renderer, pane(&shown, metrics)));
    assert_eq!(after[..2], before[1..]);
    assert!(!before.contains(&after[2]));
}

#[test]
fn blinking_redraws_only_rows_that_blink() {
    let mut renderer = renderer();
    let shown = snapshot(
        20,
        &[vec![plain("steady")], vec![run("blinking", attrs(Attrs::BLINK))], vec![plain("x")]],
    );
    let metrics = renderer.metrics();
    let on = frame(&mut renderer, pane(&shown, metrics));
    let off = frame(&mut renderer, PaneScene { blink_on: false, ..pane(&shown, metrics) });
    assert_eq!(changed(&on, &off), [1]);
    assert_eq!(on.panes[0].rows[1].glyphs.len(), 8);
    assert_eq!(off.panes[0].rows[1].glyphs.len(), 0);
}

#[test]
fn a_new_palette_or_dim_redraws_the_pane() {
    let mut renderer = renderer();
    let mut shown = text(&["one", "two"]);
    let metrics = renderer.metrics();
    let before = frame(&mut renderer, pane(&shown, metrics));
    let dimmed = frame(&mut renderer, PaneScene { dim: 0.1, ..pane(&shown, metrics) });
    assert_eq!(changed(&before, &dimmed), [0, 1]);
    let palette = Palette { foreground: Rgb::hex(0x123456), ..Palette::default() };
    shown.palette = Arc::new(palette);
    let recolored = frame(&mut renderer, pane(&shown, metrics));
    assert_eq!(recolored.panes[0].rows[0].glyphs[0].color, Rgb::hex(0x123456));
}

#[test]
fn cursors_have_the_right_shape_and_position() {
    let mut renderer = renderer();
    let m = renderer.metrics();
    let (w, h) = (m.width, m.height);
    let mut look = |shape, col, focused| {
        let mut shown = text(&["ab中d"]);
        shown.cursor = Cursor { row: 0, col, visible: true, shape, blinking: false };
        let shown = frame(&mut renderer, PaneScene { focused, ..pane(&shown, m) });
        (*shown.panes[0].rows[0]).clone()
    };
    let cursor = Palette::default().cursor.unwrap();
    let text_color = Palette::default().cursor_text.unwrap();

    let block = look(CursorShape::Block, 1, true);
    let cell = Fill { x: w as i32, y: 0, width: w, height: h, color: cursor };
    assert_eq!(block.under, [cell]);
    assert_eq!(block.glyphs[1].color, text_color);
    assert_eq!(block.over, []);

    // On either column of a wide character, the cursor covers both columns.
    let wide = Fill { x: 2 * w as i32, y: 0, width: 2 * w, height: h, color: cursor };
    assert_eq!(look(CursorShape::Default, 2, true).under, [wide]);
    assert_eq!(look(CursorShape::Default, 3, true).under, [wide]);

    let bar = look(CursorShape::Bar, 1, true);
    assert_eq!(bar.under, []);
    assert_eq!((bar.over[0].x, bar.over[0].height, bar.over.len()), (w as i32, h, 1));
    assert!(bar.over[0].width < w / 2);

    let line = look(CursorShape::Underline, 1, true).over[0];
    assert_eq!((line.x, line.width, line.y + line.height as i32), (w as i32, w, h as i32));

    // Without focus, the cursor is the outline of the cell: four sides and nothing inside.
    for shape in [CursorShape::Block, CursorShape::Bar, CursorShape::Underline] {
        let hollow = look(shape, 1, false);
        assert_eq!(hollow.under, []);
        let area: u32 = hollow.over.iter().map(|fill| fill.width * fill.height).sum();
        assert_eq!(area, 2 * m.thickness * (w + h - 2 * m.thickness));
    }
}

fn extra(line: u64, col: u16, shape: Option<CursorShape>) -> ExtraCursor {
    ExtraCursor { line: LineId(line), col, shape }
}

#[test]
fn extra_cursors_have_their_own_shapes_and_shared_colors() {
    let mut renderer = renderer();
    let m = renderer.metrics();
    let (w, h) = (m.width, m.height);
    let (red, blue) = (Rgb::hex(0xff0000), Rgb::hex(0x0000ff));
    let mut shown = snapshot(
        20,
        &[vec![run("a", colored(1, 2)), plain("bcdef")], vec![run("main", colored(3, 4))]],
    );
    shown.cursor = Cursor { row: 1, col: 1, visible: false, ..Cursor::default() };
    shown.extra_cursors = vec![
        extra(0, 0, Some(CursorShape::Block)),
        extra(0, 2, Some(CursorShape::Bar)),
        extra(0, 4, Some(CursorShape::Underline)),
        extra(0, 5, None),
    ];
    let mut look = |shown: &Snapshot, focused| {
        let frame = frame(&mut renderer, PaneScene { focused, ..pane(shown, m) });
        (*frame.panes[0].rows[0]).clone()
    };
    let block = |col: u32, color| Fill { x: (col * w) as i32, y: 0, width: w, height: h, color };
    let columns = |fills: &[Fill]| fills.iter().map(|fill| fill.x / w as i32).collect::<Vec<_>>();
    let palette = Palette::default();
    let main = palette.cursor.unwrap();

    // Extra cursors are shown although the main cursor is hidden. They have its colors and, in one case, its shape.
    let row = look(&shown, true);
    assert_eq!(row.under, [block(0, main), block(5, main)]);
    assert_eq!(columns(&row.over), [2, 4]);
    assert!(row.over.iter().all(|fill| fill.color == main));
    assert_eq!(row.glyphs[0].color, palette.cursor_text.unwrap());
    shown.cursor.shape = CursorShape::Underline;
    assert_eq!(columns(&look(&shown, true).over), [2, 4, 5]);
    assert_eq!(look(&shown, false).under, [], "without focus, all are hollow");

    // Extra cursors can have their own colors: a palette color or a direct color.
    shown.extra_cursor_colors = ExtraCursorColors {
        text: ExtraCursorColor::Rgb(blue),
        cursor: ExtraCursorColor::Indexed(5),
    };
    let row = look(&shown, true);
    assert_eq!(row.under, [block(0, palette.colors[5])]);
    assert_eq!(row.over[0].color, palette.colors[5]);
    assert_eq!(row.glyphs[0].color, blue);

    // With reverse video, each extra cursor uses the colors of its cell.
    shown.extra_cursor_colors =
        ExtraCursorColors { text: ExtraCursorColor::Rgb(blue), cursor: ExtraCursorColor::Reverse };
    let row = look(&shown, true);
    assert_eq!(row.under, [block(0, palette.colors[1])]);
    assert_eq!(row.glyphs[0].color, palette.colors[2]);
    shown.extra_cursor_colors =
        ExtraCursorColors { text: ExtraCursorColor::Reverse, cursor: ExtraCursorColor::Rgb(red) };
    let row = look(&shown, true);
    assert_eq!((row.under[0], row.glyphs[0].color), (block(0, red), palette.colors[2]));

    // If the main cursor uses the colors of its cell, the extra cursors do the same.
    shown.extra_cursor_colors = ExtraCursorColors::default();
    shown.palette = Arc::new(Palette { cursor: None, cursor_text: None, ..Palette::default() });
    let row = look(&shown, true);
    assert_eq!(row.under, [block(0, palette.colors[3])]);
    assert_eq!((row.over[0].color, row.glyphs[0].color), (palette.colors[3], palette.colors[4]));

    // In the cell of the main cursor, only the main cursor is shown.
    shown.cursor = Cursor { row: 0, col: 2, visible: true, ..Cursor::default() };
    assert_eq!(look(&shown, true).under.len(), 3);
    assert_eq!(columns(&look(&shown, true).over), [4]);
}

#[test]
fn only_rows_whose_cursors_change_are_drawn_again() {
    let mut renderer = renderer();
    let m = renderer.metrics();
    let mut shown = text(&["one", "two", "three", "four"]);
    let mut next =
        |shown: &Snapshot, blink_on| frame(&mut renderer, PaneScene { blink_on, ..pane(shown, m) });
    let none = next(&shown, true);
    shown.extra_cursors = vec![extra(0, 1, None), extra(2, 3, None)];
    let set = next(&shown, true);
    assert_eq!(changed(&none, &set), [0, 2]);
    assert_eq!(Damage::between(&none, &set).rects.len(), 2);
    shown.extra_cursors[1].line = LineId(3);
    let moved = next(&shown, true);
    assert_eq!(changed(&set, &moved), [2, 3]);
    shown.extra_cursor_colors.cursor = ExtraCursorColor::Indexed(1);
    let colored = next(&shown, true);
    assert_eq!(changed(&moved, &colored), [0, 3]);
    // Extra cursors blink like the main cursor.
    assert_eq!(changed(&colored, &next(&shown, false)), []);
    shown.cursor.blinking = true;
    let off = next(&shown, false);
    assert_eq!(changed(&colored, &off), [0, 3]);
    shown.extra_cursors.clear();
    assert_eq!(changed(&off, &next(&shown, false)), []);
    assert_eq!(changed(&off, &next(&shown, true)), []);
}

#[test]
fn a_selection_covers_whole_characters() {
    let mut renderer = renderer();
    let m = renderer.metrics();
    let shown = text(&["a中b", "second", "third"]);
    let mut fills = |selection| {
        let pane = PaneScene { selection: Some(selection), ..pane(&shown, m) };
        let frame = frame(&mut renderer, pane);
        let columns = |fill: &Fill| (fill.x / m.width as i32, fill.width / m.width);
        frame.panes[0]
            .rows
            .iter()
            .map(|row| row.under.iter().map(columns).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    // A selection that begins at the second half of a wide character contains the whole character, up to the end of the
    // line.
    assert_eq!(fills(range(at(0, 2), at(1, 1), false)), [vec![(1, 19)], vec![(0, 2)], vec![]]);
    assert_eq!(fills(range(at(0, 1), at(0, 1), false)), [vec![(1, 2)], vec![], vec![]]);
    assert_eq!(
        fills(range(at(0, 3), at(2, 1), true)),
        [vec![(1, 3)], vec![(1, 3)], vec![(1, 3)]],
        "a block"
    );
}

#[test]
fn attributes_become_colors_and_lines() {
    let palette = Palette::default();
    let (reverse, m, _) = drawn(vec![run("x", attrs(Attrs::REVERSE))]);
    assert_eq!(reverse.backgrounds[0].color, palette.foreground);
    assert_eq!(reverse.glyphs[0].color, palette.background);

    let (dim, ..) = drawn(vec![run("x", attrs(Attrs::DIM))]);
    let color = dim.glyphs[0].color;
    assert!(color.r < palette.foreground.r && color.r > palette.background.r);

    let (hidden, ..) =
        drawn(vec![run("x", attrs(Attrs::HIDDEN | Attrs::STRIKE)), run("y", attrs(Attrs::HIDDEN))]);
    assert_eq!((hidden.glyphs.len(), hidden.over.len()), (0, 0));

    let (lines, ..) = drawn(vec![run("xy", attrs(Attrs::STRIKE | Attrs::OVERLINE))]);
    assert_eq!(lines.over.len(), 4);
    assert!(lines.over.iter().any(|fill| fill.y == 0));
    assert!(lines.over.iter().any(|fill| fill.y == m.strike as i32));

    let red = Color::Rgb(Rgb::hex(0xff0000));
    let (single, ..) = drawn(vec![run("x", underlined(Underline::Single, red))]);
    let line = Fill {
        x: 0,
        y: m.underline as i32,
        width: m.width,
        height: m.thickness,
        color: Rgb::hex(0xff0000),
    };
    assert_eq!(single.under, [line]);
    let (double, ..) = drawn(vec![run("x", underlined(Underline::Double, Color::Default))]);
    assert_eq!(double.under.len(), 2);
    assert!(double.under[0].y + (m.thickness as i32) < double.under[1].y);
    for form in [Underline::Curly, Underline::Dotted, Underline::Dashed] {
        let (row, ..) = drawn(vec![run("x", underlined(form, red))]);
        assert_eq!(row.glyphs.len(), 2, "{form:?}");
        assert_eq!(row.glyphs[0].color, Rgb::hex(0xff0000), "{form:?}");
    }
}

/// Bold text keeps its color, because bold-as-bright is off.
#[test]
fn bold_is_not_bright() {
    let mut style = colored(1, 0);
    style.attrs = Attrs::BOLD;
    let (row, _, palette) = drawn(vec![run("x", style)]);
    assert_eq!(row.glyphs[0].color, palette.colors[1]);
}

#[test]
fn adjacent_equal_backgrounds_are_one_fill() {
    let (row, m, palette) =
        drawn(vec![run("abc", colored(7, 1)), run("de", colored(3, 1)), plain("f")]);
    let fill = Fill { x: 0, y: 0, width: 5 * m.width, height: m.height, color: palette.colors[1] };
    assert_eq!((row.backgrounds, row.under), (vec![fill], vec![]));
}

#[test]
fn a_reversed_screen_swaps_the_defaults() {
    let mut renderer = renderer();
    let mut shown = text(&["x"]);
    shown.modes.insert(Modes::REVERSE_SCREEN);
    let frame = {
        let m = renderer.metrics();
        frame(&mut renderer, pane(&shown, m))
    };
    assert_eq!(frame.panes[0].background, shown.palette.foreground);
    assert_eq!(frame.panes[0].rows[0].glyphs[0].color, shown.palette.background);
}

#[test]
fn the_hovered_link_is_underlined_whole() {
    let link = Arc::new(Link { id: String::new(), uri: "https://example.org".into() });
    let mut linked = plain("link");
    linked.link = Some(link.clone());
    let shown = snapshot(20, &[vec![plain("a "), linked], vec![plain("none")]]);
    let mut renderer = renderer();
    let m = renderer.metrics();
    let plain = frame(&mut renderer, pane(&shown, m));
    let hovered = frame(&mut renderer, PaneScene { hovered_link: Some(&link), ..pane(&shown, m) });
    assert_eq!(changed(&plain, &hovered), [0]);
    let xs: Vec<_> =
        hovered.panes[0].rows[0].under.iter().map(|fill| fill.x / m.width as i32).collect();
    assert_eq!(xs, [2, 3, 4, 5]);
}

#[test]
fn composed_text_stands_at_the_cursor_and_stays_in_the_row() {
    let mut renderer = renderer();
    let m = renderer.metrics();
    let preedit = Preedit { text: "かな".into(), cursor: Some((6, 6)) };
    let mut look = |col| {
        let mut shown = text(&["01234567890123456789"]);
        shown.cursor = Cursor { row: 0, col, visible: true, ..Cursor::default() };
        let shown = frame(&mut renderer, PaneScene { preedit: Some(&preedit), ..pane(&shown, m) });
        let row = &shown.panes[0].rows[0];
        (row.under[0].x / m.width as i32, row.under[0].width / m.width, row.glyphs.len())
    };
    assert_eq!(look(3), (3, 4, 18));
    // The composed text moves left instead of passing the last column.
    assert_eq!(look(19), (16, 4, 18));
}

/// An emoji of several code points is one picture in its two cells, if the system has a color font.
#[test]
fn an_emoji_sequence_is_one_picture() {
    let mut renderer = renderer();
    let m = renderer.metrics();
    for text in [
        "👩\u{200d}💻",
        "👨\u{200d}👩\u{200d}👧\u{200d}👦",
        "🏳\u{fe0f}\u{200d}🌈",
        "🇩🇪",
        "❤\u{fe0f}",
        "👍🏽",
    ] {
        let shown = snapshot(20, &[vec![plain(text)]]);
        let frame = frame(&mut renderer, pane(&shown, m));
        let glyphs = &frame.panes[0].rows[0].glyphs;
        let Some(first) = glyphs.first() else { panic!("{text} draws nothing") };
        let picture = renderer.glyphs().get(first.glyph);
        if !picture.color {
            skip("this machine has no color font");
            return;
        }
        assert_eq!(glyphs.len(), 1, "{text}");
        assert!(first.x >= 0 && first.x as u32 + picture.width <= 2 * m.width, "{text}");
        assert!(first.y >= 0 && first.y as u32 + picture.height <= m.height, "{text}");
    }
}

/// If no font has a single picture for an emoji sequence, its first two pictures are drawn in one column each. An emoji
/// in text presentation is not a picture.
#[test]
fn unknown_emoji_sequences_stay_in_their_cells() {
    let mut renderer = renderer();
    let m = renderer.metrics();
    let rows = ["👽\u{200d}🚒", "👽\u{200d}🚒\u{200d}🎉", "❤\u{fe0e}", "1\u{fe0f}\u{20e3}"];
    let shown = snapshot(20, &rows.map(|text| vec![plain(text)]));
    let frame = frame(&mut renderer, pane(&shown, m));
    let glyphs = |row: usize| &frame.panes[0].rows[row].glyphs;
    let picture = |glyph: &GlyphInstance| renderer.glyphs().get(glyph.glyph);
    if !picture(&glyphs(0)[0]).color {
        skip("this machine has no color font");
        return;
    }
    for (row, text) in rows.iter().enumerate().take(2) {
        let columns: Vec<_> = glyphs(row).iter().map(|g| g.x / m.width as i32).collect();
        assert_eq!(columns, [0, 1], "{text}");
        for glyph in glyphs(row) {
            let right = glyph.x + i32::from(glyph.width) - 1;
            assert_eq!(right / m.width as i32, glyph.x / m.width as i32, "{glyph:?}");
        }
    }
    assert!(!picture(&glyphs(2)[0]).color, "text presentation");
    assert!(picture(&glyphs(3)[0]).color && glyphs(3).len() == 1, "a keycap");
}

/// An icon from a font made for other cell sizes keeps its size before a blank, and shrinks to its cell before text.
#[test]
fn icons_extend_over_a_following_blank() {
    let mut renderer = renderer();
    let m = renderer.metrics();
    let mut grew = false;
    for icon in ["\u{f000}", "\u{f001}", "\u{f400}", "\u{f401}", "\u{f6c5}"] {
        let rows = [" ", "x"].map(|next| vec![plain(&format!("{icon}{next}"))]);
        let mut shown = snapshot(20, &rows);
        shown
            .rows
            .iter_mut()
            .for_each(|row| row.revision = u64::from(icon.chars().next().unwrap()));
        let frame = frame(&mut renderer, pane(&shown, m));
        let right = |row: usize| {
            let glyph = frame.panes[0].rows[row].glyphs[0];
            glyph.x + i32::from(glyph.width)
        };
        let (over_blank, beside_text) = (right(0), right(1));
        assert!(beside_text <= m.width as i32 + 1, "{}", icon.escape_unicode());
        assert!(over_blank <= 2 * m.width as i32 + 1 && over_blank >= beside_text);
        grew |= over_blank > beside_text;
    }
    if !grew {
        skip("this machine has no font with wide icons");
    }
}

/// A cluster's marks don't push its neighbors: every glyph stays near its cell.
#[test]
fn combining_marks_stay_at_their_base() {
    let mut renderer = renderer();
    let m = renderer.metrics();
    let zalgo = format!("a{}b", "\u{351}\u{36b}\u{313}\u{36a}\u{302}\u{33d}".repeat(4));
    let shown = snapshot(20, &[vec![plain("e\u{301}x"), plain(&zalgo)]]);
    let frame = frame(&mut renderer, pane(&shown, m));
    for glyph in &frame.panes[0].rows[0].glyphs {
        assert!(glyph.x < 4 * m.width as i32, "{glyph:?}");
    }
}

/// A base character keeps its size under a mark from another font, even if that font's marks have a width.
#[test]
fn a_base_keeps_its_size_under_any_mark() {
    let height = |text: &str| {
        let mut renderer = renderer();
        let m = renderer.metrics();
        let shown = snapshot(20, &[vec![plain(text)]]);
        let frame = frame(&mut renderer, pane(&shown, m));
        let glyphs = &frame.panes[0].rows[0].glyphs;
        let right = glyphs.iter().map(|glyph| glyph.x).max().unwrap_or(0);
        assert!(right < m.width as i32, "{text}: {glyphs:?} leave the cell");
        let heights = glyphs.iter().map(|glyph| renderer.glyphs().get(glyph.glyph).height);
        heights.max().unwrap_or(0)
    };
    let bare = height("ö");
    for mark in ["\u{332}", "\u{310}", "\u{35c}", "\u{20dd}"] {
        let marked = height(&format!("ö{mark}"));
        assert!(marked * 4 >= bare * 3, "{}: {marked} of {bare} pixels", mark.escape_unicode());
    }
}

#[test]
fn damage_of_chrome_is_its_rectangles() {
    let mut renderer = renderer();
    let shown = text(&["a", "b"]);
    let m = renderer.metrics();
    let mut scene = scene(pane(&shown, m));
    let rect = PixelRect { x: 10, y: 5, width: 40, height: 20 };
    scene.labels.push(Label {
        rect,
        text: "tab".into(),
        color: Rgb::hex(0xffffff),
        size: 13.0,
        bold: false,
        align: LabelAlign::Left,
        ..Label::default()
    });
    renderer.frame(&scene);
    let before = renderer.last_frame().clone();
    renderer.frame(&scene);
    assert!(Damage::between(&before, renderer.last_frame()).is_empty());
    scene.labels[0].text = "other tab".into();
    renderer.frame(&scene);
    assert_eq!(Damage::between(&before, renderer.last_frame()).rects, [rect]);
    let before = renderer.last_frame().clone();
    let panel = PixelRect { x: 0, y: 0, width: 30, height: 30 };
    scene.quads.push(Quad { rect: panel, color: Rgb::hex(0), alpha: 0.5, radius: 4.0 });
    renderer.frame(&scene);
    assert_eq!(Damage::between(&before, renderer.last_frame()).rects, [panel]);
}

/// A raised rectangle hides the text below it, both in the picture and in the damage.
#[test]
fn raised_rectangles_cover_labels() {
    let mut renderer = renderer();
    let shown = text(&["a", "b"]);
    let m = renderer.metrics();
    let mut scene = scene(pane(&shown, m));
    let rect = PixelRect { x: 10, y: 5, width: 40, height: 20 };
    let title = Label {
        rect,
        text: "title".into(),
        color: Rgb::hex(0xffffff),
        size: 13.0,
        ..Label::default()
    };
    let menu = Quad { rect, color: Rgb::hex(0x123456), alpha: 1.0, radius: 0.0 };
    scene.labels.push(title);
    scene.quads.push(menu);
    renderer.frame(&scene);
    let below = renderer.last_frame().clone();
    let inside = |picture: Vec<u32>, width: u32| {
        let plain = |x: i32, y: i32| picture[(y * width as i32 + x) as usize] == 0xff12_3456;
        (rect.y..rect.y + 20).all(|y| (rect.x..rect.x + 40).all(|x| plain(x, y)))
    };
    assert!(
        !inside(CpuPainter::picture(&mut renderer), scene.width),
        "the label is over its layer"
    );
    scene.quads.clear();
    scene.raise();
    scene.quads.push(menu);
    renderer.frame(&scene);
    assert!(inside(CpuPainter::picture(&mut renderer), scene.width));
    assert_eq!(Damage::between(&below, renderer.last_frame()).rects, [rect]);
}

#[test]
fn chrome_stays_when_only_pane_text_changes() {
    let mut renderer = renderer();
    let m = renderer.metrics();
    let (before, mut after) = (text(&["some text", ""]), text(&["some text", "more"]));
    after.rows[1].revision += 1;
    let show = |renderer: &mut Renderer, shown: &Snapshot| {
        let mut scene = scene(pane(shown, m));
        let rect = PixelRect { x: 3, y: 4, width: 30, height: 20 };
        let label = Label { rect, text: "over".into(), size: 13.0, ..Label::default() };
        scene.labels.push(Label { color: Rgb::hex(0xff00ff), ..label });
        renderer.frame(&scene);
        renderer.last_frame().clone()
    };
    let first = show(&mut renderer, &before);
    let mut painter = CpuPainter::new();
    let mut picture = vec![0; (first.width * first.height) as usize];
    painter.paint(&mut renderer, &mut picture, 0);
    renderer.frame_with_panes(&[pane(&after, m)]);
    let damage = painter.paint(&mut renderer, &mut picture, 1);
    let second_row = first.panes[0].row_rect(1);
    assert!(
        !damage.is_empty() && damage.iter().all(|rect| second_row.contains(rect)),
        "{damage:?} {second_row:?}"
    );
    show(&mut renderer, &after);
    assert!(picture == CpuPainter::picture(&mut renderer), "as if all were built anew");
}

#[test]
fn labels_are_cut_with_an_ellipsis() {
    let mut renderer = renderer();
    let whole = renderer.label_width("a rather long title", 13.0, false);
    let short = renderer.label_width("a", 13.0, false);
    assert!(whole > 15.0 * short && short > 0.0);
    let shown = text(&["a"]);
    let mut scene = scene(pane(&shown, renderer.metrics()));
    scene.labels.push(Label {
        rect: PixelRect { x: 0, y: 0, width: (whole / 2.0) as u32, height: 20 },
        text: "a rather long title\nwith a second line".into(),
        color: Rgb::hex(0xffffff),
        size: 13.0,
        bold: false,
        align: LabelAlign::Left,
        ..Label::default()
    });
    let label = &renderer.frame(&scene).chrome.labels[0];
    let runs: Vec<_> = label.buffer.layout_runs().collect();
    assert_eq!(runs.len(), 1);
    assert!(runs[0].text.ends_with('…'), "{}", runs[0].text);
    assert!(runs[0].line_w <= whole / 2.0);
}

/// Inconsistent data may draw anything, but never panics.
#[test]
fn hostile_snapshots_do_not_panic() {
    let mut renderer = renderer();
    let m = renderer.metrics();
    let mut shown = text(&["abc", "def"]);
    shown.rows[0].cells.truncate(2);
    shown.rows[1].styles.push(StyleRun {
        start: 15,
        end: u16::MAX,
        style: colored(1, 2),
        link: None,
    });
    // A wide cell in the last column, a cluster without text, and an invalid code point.
    let last = shown.rows[1].cells.len() - 1;
    shown.rows[1].cells[last] = Cell(1 << 22 | u64::from('中'));
    shown.rows[1].cells[0] = Cell(1 << 21 | 77);
    shown.rows[1].cells[1] = Cell(0xd800);
    shown.rows.push(row(u64::MAX, 1, 3, &[plain("x")]));
    shown.cursor = Cursor { row: 900, col: 900, visible: true, ..Cursor::default() };
    let selection = range(at(u64::MAX, u16::MAX), at(u64::MAX, u16::MAX), true);
    let preedit = Preedit { text: "\u{7}漢字".repeat(50), cursor: Some((3, 1)) };
    for (row, col) in [(900, 900), (1, 19), (1, 0)] {
        shown.cursor.row = row;
        shown.cursor.col = col;
        let pane = PaneScene {
            selection: Some(selection),
            highlights: &[],
            preedit: Some(&preedit),
            origin: (-100, -5),
            dim: f32::NAN,
            ..pane(&shown, m)
        };
        renderer.frame(&scene(pane));
        CpuPainter::picture(&mut renderer);
    }
    shown.size = Size { cols: 1, rows: 1, cell_width: 0, cell_height: 0 };
    renderer.frame(&scene(pane(&shown, m)));
    CpuPainter::picture(&mut renderer);
}

#[test]
fn a_png_is_the_picture() {
    let mut renderer = renderer();
    let shown = text(&["x"]);
    {
        let m = renderer.metrics();
        frame(&mut renderer, pane(&shown, m))
    };
    let png = CpuPainter::png(&mut renderer).unwrap();
    let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    assert_eq!(reader.info().color_type, png::ColorType::Indexed, "it has few colors");
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut bytes).unwrap();
    let expected: Vec<u8> = CpuPainter::picture(&mut renderer)
        .into_iter()
        .flat_map(|pixel| [(pixel >> 16) as u8, (pixel >> 8) as u8, pixel as u8])
        .collect();
    assert_eq!(bytes, expected);
}

/// DECDWL and DECDHL: everything in a row is twice as wide. At double height, each row shows one half.
#[test]
fn double_rows_are_twice_as_large() {
    let mut renderer = renderer();
    let m = renderer.metrics();
    let (w, h) = (m.width as i32, m.height as i32);
    let underlined = Style { underline: Underline::Single, ..colored(7, 1) };
    let mut revision = 0;
    let mut look = |size, cursor: CursorShape, focused| {
        let mut shown = snapshot(9, &[vec![plain("aM"), run("Mj", underlined), plain("past")]]);
        revision += 1;
        shown.rows[0].revision = revision;
        shown.rows[0].size = size;
        shown.cursor = Cursor { visible: true, col: 1, shape: cursor, ..Cursor::default() };
        let pane = PaneScene { focused, ..pane(&shown, m) };
        let frame = frame(&mut renderer, pane);
        let row = (*frame.panes[0].rows[0]).clone();
        let sizes: Vec<_> = row.glyphs.iter().map(|g| renderer.glyphs().get(g.glyph)).collect();
        let sizes: Vec<_> = sizes.iter().map(|g| (g.width as i32, g.height as i32)).collect();
        (row, sizes)
    };
    let (single, plain_sizes) = look(LineSize::Single, CursorShape::Block, true);
    let (wide, wide_sizes) = look(LineSize::DoubleWidth, CursorShape::Block, true);
    let (top, top_sizes) = look(LineSize::DoubleTop, CursorShape::Block, true);
    let (bottom, _) = look(LineSize::DoubleBottom, CursorShape::Block, true);
    // Five cells of the nine columns are visible, the last one by half.
    assert_eq!((single.glyphs.len(), wide.glyphs.len(), top.glyphs.len()), (8, 5, 5));
    for ((plain, wide), tall) in plain_sizes.iter().zip(&wide_sizes).zip(&top_sizes) {
        assert!((wide.0 - 2 * plain.0).abs() <= 2 && wide.1 == plain.1, "{plain:?} {wide:?}");
        assert!((tall.0 - wide.0).abs() <= 2 && (tall.1 - 2 * plain.1).abs() <= 2, "{tall:?}");
    }
    let fills = |row: &FrameRow| -> Vec<_> {
        row.under.iter().chain(&row.backgrounds).map(|f| (f.x, f.y, f.width, f.height)).collect()
    };
    let (w2, h1, line) = (2 * m.width, m.height, m.thickness);
    // The cursor's block, and the background of two cells. The lower half shows the underline.
    let boxes = [(2 * w, 0, w2, h1), (4 * w, 0, 2 * w2, h1)];
    assert_eq!(fills(&top), boxes);
    assert!(fills(&wide).contains(&(4 * w, m.underline as i32, w2, line)));
    let low = fills(&bottom);
    assert!(low.contains(&(4 * w, 2 * m.underline as i32 - h, w2, 2 * line)), "{low:?}");
    assert_eq!(top.glyphs[0].y - bottom.glyphs[0].y, h);

    // A cursor of any shape is visible in its own row.
    for size in [LineSize::DoubleWidth, LineSize::DoubleTop, LineSize::DoubleBottom] {
        let (bar, _) = look(size, CursorShape::Bar, true);
        assert_eq!((bar.over[0].x, bar.over[0].height), (2 * w, h1), "{size:?}");
        let (foot, _) = look(size, CursorShape::Underline, true);
        let foot = foot.over.last().unwrap();
        assert_eq!((foot.x, foot.width, foot.y + foot.height as i32), (2 * w, w2, h), "{size:?}");
        let (hollow, _) = look(size, CursorShape::Block, false);
        assert_eq!(hollow.over.len(), 4, "{size:?}");
    }
}

/// A minimum contrast steps text and box-drawing lines away from their background. Blocks and powerline shapes keep
/// their colors, because they must match those of other cells.
#[test]
fn minimum_contrast_applies_to_text_and_lines() {
    let mut renderer = renderer();
    let m = renderer.metrics();
    let gray = Style { foreground: Color::Rgb(Rgb::hex(0x333344)), ..Style::default() };
    let shown = snapshot(9, &[vec![run("a\u{2588}\u{e0b0}\u{4e2d}\u{2502}", gray)]]);
    let mut colors = |minimum_contrast| {
        renderer.set_text(TextOptions { minimum_contrast, ..TextOptions::default() });
        let frame = frame(&mut renderer, pane(&shown, m));
        frame.panes[0].rows[0].glyphs.iter().map(|glyph| glyph.color).collect::<Vec<_>>()
    };
    let own = Rgb::hex(0x333344);
    assert_eq!(colors(1.0), [own; 5]);
    let stepped = colors(4.5);
    assert!(stepped[0].r > 0x60 && stepped[3..] == [stepped[0]; 2], "{stepped:?}");
    assert_eq!(stepped[1..3], [own; 2]);
}

/// Only the pane's own background is translucent; text and cell backgrounds stay opaque.
#[test]
fn opacity_applies_only_to_the_background() {
    let mut renderer = renderer();
    let m = renderer.metrics();
    let shown = snapshot(4, &[vec![plain(" "), run(" ", colored(7, 1)), plain("\u{2588}")]]);
    renderer.frame(&scene(PaneScene { opacity: 0.5, ..pane(&shown, m) }));
    let picture = CpuPainter::picture(&mut renderer);
    let frame = renderer.last_frame();
    let at = |col: u32| {
        let (x, y) = (8 + col * m.width + m.width / 2, 8 + m.height / 2);
        picture[(y * frame.width + x) as usize]
    };
    let background = Palette::default().background;
    assert_eq!(at(0) >> 24, 128);
    assert!((at(0) & 0xff).abs_diff(u32::from(background.b) / 2) <= 1);
    assert_eq!((at(1) >> 24, at(2) >> 24), (255, 255));
}
