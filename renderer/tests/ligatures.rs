//! Ligatures of the bundled font, which defines them as contextual alternates.

use std::sync::Arc;

use crate::support::{Run, colored, pane, plain, run, scene, snapshot};
use unterm_renderer::{
    FontOptions, FrameRow, GlyphInstance, Ligatures, PaneScene, Renderer, SymbolRange,
};
use unterm_term::{Attrs, Cursor, LineId, LineSize, Palette, Point, Rgb, Style, TextRange};

/// A renderer, and the row it built for one row of text.
struct DrawnRow {
    renderer: Renderer,
    row: FrameRow,
}

/// The conditions under which a row is drawn.
#[derive(Clone, Default)]
struct RowOptions {
    cursor: Option<(u16, bool)>,
    /// First and last selected column.
    selected: Option<(u16, u16)>,
    size: LineSize,
}

fn look(options: FontOptions, runs: &[Run], with: &RowOptions) -> DrawnRow {
    let mut renderer = Renderer::new(options);
    let mut shown = snapshot(24, &[runs.to_vec()]);
    let selection_text = Some(Rgb::hex(0xff0000));
    shown.palette = Arc::new(Palette { selection_text, ..Palette::default() });
    shown.rows[0].size = with.size;
    if let Some((col, blinking)) = with.cursor {
        shown.cursor = Cursor { visible: true, col, blinking, ..Cursor::default() };
    }
    let point = |col| Point { line: LineId(0), col };
    let selection = with.selected.map(|(from, to)| TextRange {
        start: point(from),
        end: point(to),
        block: false,
    });
    let metrics = renderer.metrics();
    let pane = PaneScene { selection, blink_on: false, ..pane(&shown, metrics) };
    let row = (*renderer.frame(&scene(pane)).panes[0].rows[0]).clone();
    DrawnRow { renderer, row }
}

fn options(ligatures: Ligatures) -> FontOptions {
    FontOptions { ligatures, ..FontOptions::default() }
}

impl DrawnRow {
    /// Left and right edge of a glyph's drawn part, in pixels.
    fn reach(&self, glyph: &GlyphInstance) -> (i32, i32) {
        (glyph.x, glyph.x + i32::from(glyph.width))
    }

    /// The position and pixels of every glyph drawn.
    fn drawn(&self) -> Vec<(i32, i32, &[u8])> {
        let picture = |glyph: &GlyphInstance| &*self.renderer.glyphs().get(glyph.glyph).data;
        self.row.glyphs.iter().map(|glyph| (glyph.x, glyph.y, picture(glyph))).collect()
    }

    /// Whether any picture is wider than a cell.
    fn has_wide(&self) -> bool {
        let cell = self.renderer.metrics().width;
        let wide = |glyph: &&GlyphInstance| self.renderer.glyphs().get(glyph.glyph).width > cell;
        self.row.glyphs.iter().any(|glyph| wide(&glyph))
    }
}

#[test]
fn an_arrow_is_one_picture_over_its_cells() {
    for size in [LineSize::Single, LineSize::DoubleWidth, LineSize::DoubleTop] {
        let with = RowOptions { size, ..RowOptions::default() };
        let text = [plain("ab -> cd")];
        let ligated = look(options(Ligatures::Always), &text, &with);
        let apart = look(options(Ligatures::Never), &text, &with);
        assert_eq!((ligated.row.glyphs.len(), apart.row.glyphs.len()), (5, 6));
        let cell = apart.renderer.metrics().width as i32
            * if with.size == LineSize::Single { 1 } else { 2 };
        let arrow = ligated.row.glyphs.iter().find(|glyph| {
            let (left, right) = ligated.reach(glyph);
            left < 4 * cell && right > 4 * cell + cell / 2
        });
        let (left, right) = ligated.reach(arrow.expect("an arrow over both cells"));
        assert!(left >= 3 * cell && right <= 5 * cell, "{left}..{right} of cells of {cell}");
    }
}

#[test]
fn only_the_ligature_under_the_cursor_is_split() {
    let text = [plain("-> !=")];
    let with = |cursor| RowOptions { cursor: Some(cursor), ..RowOptions::default() };
    let count = |ligatures, cursor| look(options(ligatures), &text, &with(cursor)).row.glyphs.len();
    assert_eq!(count(Ligatures::Always, (0, false)), 3, "an arrow in two colors");
    assert_eq!(count(Ligatures::Always, (0, true)), 2);
    assert_eq!(count(Ligatures::Cursor, (2, false)), 2, "the cursor stands beside both");
    for col in [0, 1, 3, 4] {
        assert_eq!(count(Ligatures::Cursor, (col, false)), 3, "column {col}");
        assert_eq!(count(Ligatures::Cursor, (col, true)), 3, "column {col}, cursor blinked away");
    }
}

#[test]
fn each_ligature_part_has_its_cells_color() {
    let colors = |row: &DrawnRow| {
        let wide: Vec<_> = row.row.glyphs.iter().map(|g| (row.reach(g), g.color)).collect();
        wide
    };
    // One of the two cells is selected, or has another style.
    let selected = RowOptions { selected: Some((1, 1)), ..RowOptions::default() };
    let always = options(Ligatures::Always);
    let halves = look(always.clone(), &[plain("=>")], &selected);
    let styled = look(
        always.clone(),
        &[run("=", colored(1, 0)), run(">", colored(2, 0))],
        &RowOptions::default(),
    );
    let whole = look(always, &[plain("=>")], &RowOptions::default());
    let (left, right) = whole.reach(&whole.row.glyphs[0]);
    let cell = whole.renderer.metrics().width as i32;
    for parts in [colors(&halves), colors(&styled)] {
        let [(first, a), (second, b)] = parts[..] else { panic!("{parts:?}") };
        assert_eq!((first, second), ((left, cell), (cell, right)));
        assert_ne!(a, b);
    }
    let glyph = |look: &DrawnRow| look.row.glyphs.iter().map(|g| g.glyph).collect::<Vec<_>>();
    assert_eq!(glyph(&halves)[0], glyph(&halves)[1], "one picture, drawn in two parts");
}

#[test]
fn style_changes_and_features_split_ligatures() {
    let bold = Style { attrs: Attrs::BOLD, ..Style::default() };
    let always = options(Ligatures::Always);
    let faces = look(always.clone(), &[plain("="), run(">", bold)], &RowOptions::default());
    assert!(!faces.has_wide());
    let without = FontOptions { features: vec!["-calt".parse().unwrap()], ..always.clone() };
    assert!(look(always, &[plain("=>")], &RowOptions::default()).has_wide());
    assert!(!look(without, &[plain("=>")], &RowOptions::default()).has_wide());
}

/// A line of one repeated character is shaped in pieces, and stays on the grid.
#[test]
fn long_lines_of_signs_stay_on_the_grid() {
    let text = "=".repeat(3000);
    let mut renderer = Renderer::new(options(Ligatures::Always));
    let shown = snapshot(3000, &[vec![plain(&text)]]);
    let metrics = renderer.metrics();
    let row = renderer.frame(&scene(pane(&shown, metrics))).panes[0].rows[0].clone();
    let cell = metrics.width as i32;
    let right = row.glyphs.iter().map(|glyph| glyph.x + i32::from(glyph.width)).max();
    assert!(right.is_some_and(|right| right > 2999 * cell && right <= 3000 * cell + cell / 2));
    assert!(row.glyphs.iter().all(|glyph| glyph.x >= -cell / 2));
}

/// Plain words look the same with and without ligatures, and so does text that only resembles one.
#[test]
fn plain_text_is_unaffected_by_ligatures() {
    for text in ["The quick brown fox 0123", "ab-cd", "- >", "中文 ->中", "──>", "a.b"] {
        let with = look(options(Ligatures::Always), &[plain(text)], &RowOptions::default());
        let without = look(options(Ligatures::Never), &[plain(text)], &RowOptions::default());
        if !text.contains("->") {
            assert_eq!(with.drawn(), without.drawn(), "{text}");
        }
    }
}

#[test]
fn features_select_alternate_glyphs() {
    let pixels = |features: &[&str]| {
        let features = features.iter().map(|text| text.parse().unwrap()).collect();
        let look = look(
            FontOptions { features, size: 30.0, ..FontOptions::default() },
            &[plain("0")],
            &RowOptions::default(),
        );
        look.renderer.glyphs().get(look.row.glyphs[0].glyph).data.clone()
    };
    assert_ne!(pixels(&[]), pixels(&["zero"]), "a slashed zero");
    assert_eq!(pixels(&[]), pixels(&["zero", "-zero"]), "the later one wins");
    for wrong in ["", "zeroes", "calt[1:2]", "!"] {
        assert!(wrong.parse::<unterm_renderer::FontFeature>().is_err(), "{wrong}");
    }
}

/// For its code point, a chosen family comes before the first family, and before characters drawn in code.
#[test]
fn symbols_use_the_configured_family() {
    let list = SymbolRange::list("U+2500-2503, 2665", "JetBrains Mono").unwrap();
    assert_eq!((list[0].chars.clone(), list[1].chars.clone()), (0x2500..=0x2503, 0x2665..=0x2665));
    let options = FontOptions { symbols: list, ..FontOptions::default() };
    let cell = |options: FontOptions, text: &str| {
        let look = look(options, &[plain(text)], &RowOptions::default());
        look.renderer.glyphs().get(look.row.glyphs[0].glyph).clone()
    };
    assert_ne!(cell(options.clone(), "─"), cell(FontOptions::default(), "─"));
    assert_eq!(cell(options, "┌"), cell(FontOptions::default(), "┌"));
    for wrong in ["", "U+110000", "9-1", "x"] {
        assert!(SymbolRange::list(wrong, "x").is_err(), "{wrong}");
    }
}
