//! Glyphs that programs register (the Glyph Protocol): where they are drawn, in which colors, and by both painters.

use std::sync::Arc;

use crate::support::{gpu, pane, plain, run, scene, snapshot};
use unterm_renderer::{CpuPainter, FontOptions, Frame, GlyphInstance, Renderer};
use unterm_term::{Color, Options, Parser, RegisteredGlyphs, Rgb, Size, Snapshot, Style, Term};

/// Base64 without padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = bytes.chunks(3).flat_map(|bytes| {
        let bits = bytes.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (24 - 8 * bytes.len());
        (0..=bytes.len()).map(move |i| char::from(DIGITS[(bits >> (18 - 6 * i)) as usize & 63]))
    });
    digits.collect()
}

/// A `glyf` record of a rectangle.
fn rectangle(left: i16, bottom: i16, right: i16, top: i16) -> Vec<u8> {
    let mut out = vec![0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 1, 1, 1, 1];
    let numbers = [left, 0, right - left, 0, bottom, top - bottom, 0, bottom - top];
    out.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
    out
}

/// The container of a picture whose left half is red and whose right half has the foreground color.
fn two_halves() -> Vec<u8> {
    let words = |words: &[u16]| words.iter().flat_map(|w| w.to_be_bytes()).collect::<Vec<_>>();
    let colr = words(&[0, 1, 0, 14, 0, 20, 2, 0, 0, 2, 0, 0, 1, 0xffff]);
    let cpal = [words(&[0, 1, 1, 1, 0, 14, 0]), vec![0, 0, 255, 255]].concat();
    let parts = [rectangle(0, 0, 500, 1000), rectangle(500, 0, 1000, 1000), colr, cpal];
    let sized = parts.iter().flat_map(|part| [words(&[part.len() as u16]), part.clone()].concat());
    words(&[2]).into_iter().chain(sized).collect()
}

/// The glyphs of a terminal after registrations of these payloads for U+E000, U+E001, …; each has its parameters.
fn registered(glyphs: &[(&str, Vec<u8>)]) -> Arc<RegisteredGlyphs> {
    let (mut term, mut parser) = (Term::new(Size::cells(4, 2), Options::default()), Parser::new());
    for (i, (parameters, payload)) in glyphs.iter().enumerate() {
        let (code, payload) = (0xe000 + i, base64(payload));
        let sequence = format!("\x1b_25a1;r;cp={code:x};reply=2{parameters};{payload}\x1b\\");
        parser.advance(&mut term, sequence.as_bytes());
        assert_eq!(String::from_utf8_lossy(&term.take_replies()), "");
    }
    let mut snapshot = Snapshot::default();
    term.snapshot(&mut snapshot, None);
    snapshot.glyphs
}

/// The frame of one row with this text, and the renderer that made it.
fn drawn(text: &str, glyphs: &Arc<RegisteredGlyphs>, style: Style) -> (Renderer, Arc<Frame>) {
    let mut renderer = Renderer::new(FontOptions::default());
    let mut shown = snapshot(20, &[vec![run(text, style)]]);
    shown.glyphs = glyphs.clone();
    let metrics = renderer.metrics();
    renderer.frame(&scene(pane(&shown, metrics)));
    let frame = renderer.last_frame().clone();
    (renderer, frame)
}

/// The rectangle of an instance: left, top, right, bottom, in pixels of the grid.
fn place(renderer: &Renderer, instance: &GlyphInstance) -> [i32; 4] {
    let height = renderer.glyphs().get(instance.glyph).height as i32;
    [instance.x, instance.y, instance.x + i32::from(instance.width), instance.y + height]
}

/// The rectangle of the only glyph of a text.
fn only(text: &str, parameters: &str, payload: Vec<u8>) -> [i32; 4] {
    let (renderer, frame) = drawn(text, &registered(&[(parameters, payload)]), Style::default());
    let [instance] = &frame.panes[0].rows[0].glyphs[..] else { panic!("not one glyph") };
    place(&renderer, instance)
}

#[test]
fn sizes_and_alignments_follow_the_specification() {
    let metrics = Renderer::new(FontOptions::default()).metrics();
    let (w, h) = (metrics.width as i32, metrics.height as i32);
    let em = || rectangle(0, 0, 1000, 1000);
    // By default, the glyph is scaled to the cell's height, centered, and wider than the cell.
    let [left, top, right, bottom] = only("  \u{e000}  ", "", em());
    assert_eq!((top, bottom, left + right), (0, h, 5 * w));
    assert!((h..=h + 1).contains(&(right - left)), "{left} to {right}");
    // The glyph is scaled to the cell's width.
    let [left, top, right, bottom] = only("  \u{e000}  ", ";size=advance", em());
    assert_eq!((left, right), (2 * w, 3 * w));
    assert!(
        (w..=w + 1).contains(&(bottom - top)) && (top + bottom - h).abs() <= 1,
        "{top} {bottom}"
    );
    let contained = only("  \u{e000}  ", ";size=contain", em());
    assert_eq!(contained, [left, top, right, bottom]);
    assert_eq!(only("  \u{e000}  ", ";size=cover", em()), only("  \u{e000}  ", "", em()));
    assert_eq!(only("  \u{e000}  ", ";size=stretch", em()), [2 * w, 0, 3 * w, h]);
    // The glyph spans two cells. After that, a glyph whose em has another size fills one cell.
    let wide = ";size=stretch;width=2";
    assert_eq!(only("  \u{e000}  ", wide, em()), [2 * w, 0, 4 * w, h]);
    let extent = ";size=stretch;aw=2000;lh=4000;upm=2000";
    assert_eq!(only("  \u{e000}  ", extent, rectangle(0, 0, 2000, 4000)), [2 * w, 0, 3 * w, h]);
    // The glyph is aligned to the edges of its cell.
    let [_, top, _, bottom] = only("  \u{e000}  ", ";size=advance;align=center,start", em());
    assert!(bottom == h && top >= h - w - 1, "{top} to {bottom}");
    let [_, top, _, bottom] = only("  \u{e000}  ", ";size=advance;align=center,end", em());
    assert!(top == 0 && bottom <= w + 1, "{top} to {bottom}");
    assert_eq!(only("  \u{e000}  ", ";align=start,center", em())[0], 2 * w);
    assert_eq!(only("  \u{e000}  ", ";align=end,center", em())[2], 3 * w);
    let base = only("  \u{e000}  ", ";size=advance;align=start,baseline", em())[3];
    assert_eq!(base, metrics.baseline as i32);
    // The glyph has padding on one side.
    let half = only("  \u{e000}  ", ";size=stretch;pad=0,0.5,0,0", em());
    assert_eq!(half, [2 * w, 0, 2 * w + (w + 1) / 2, h]);
}

#[test]
fn registered_glyphs_never_cover_other_text() {
    let metrics = Renderer::new(FontOptions::default()).metrics();
    let w = metrics.width as i32;
    let large = || ("", rectangle(-5000, 0, 5000, 1000));
    let columns = |text: &str| {
        let (renderer, frame) = drawn(text, &registered(&[large()]), Style::default());
        let glyphs = &frame.panes[0].rows[0].glyphs;
        let is_own = |instance: &&GlyphInstance| {
            renderer.glyphs().get(instance.glyph).height == metrics.height
        };
        let [left, _, right, _] = place(&renderer, glyphs.iter().find(is_own).expect("a glyph"));
        (left as f32 / w as f32, right as f32 / w as f32)
    };
    assert_eq!(columns("  \u{e000}  "), (1.0, 4.0));
    assert_eq!(columns("x \u{e000} x"), (1.0, 4.0));
    assert_eq!(columns(" x\u{e000} x"), (2.0, 4.0));
    assert_eq!(columns("  \u{e000}x"), (1.0, 3.0));
    assert_eq!(columns("xx\u{e000}xx"), (2.0, 3.0));
    assert_eq!(columns("\u{e000}"), (0.0, 2.0));
}

#[test]
fn outlines_have_the_color_of_text_and_pictures_their_own() {
    let glyphs = registered(&[
        (";size=stretch", rectangle(0, 0, 1000, 1000)),
        (";size=stretch;fmt=colrv0", two_halves()),
    ]);
    let blue = Style { foreground: Color::Rgb(Rgb::hex(0x0000ff)), ..Style::default() };
    let (mut renderer, frame) = drawn("\u{e000}\u{e001}", &glyphs, blue);
    let metrics = renderer.metrics();
    let pixels = CpuPainter::picture(&mut renderer);
    let at = |x: u32| pixels[((8 + metrics.height / 2) * frame.width + 8 + x) as usize] & 0xff_ffff;
    let (w, quarter) = (metrics.width, metrics.width / 4);
    assert_eq!(at(w / 2), 0x0000ff);
    assert_eq!(at(w + quarter), 0xff0000);
    assert_eq!(at(2 * w - quarter), 0x0000ff);
    // If the text gets another color, only the parts in the color of text change.
    let green = Style { foreground: Color::Rgb(Rgb::hex(0x00ff00)), ..Style::default() };
    let mut shown = snapshot(20, &[vec![run("\u{e000}\u{e001}", green)]]);
    shown.rows[0].revision = 2;
    shown.glyphs = glyphs;
    renderer.frame(&scene(pane(&shown, metrics)));
    let pixels = CpuPainter::picture(&mut renderer);
    let at = |x: u32| pixels[((8 + metrics.height / 2) * frame.width + 8 + x) as usize] & 0xff_ffff;
    assert_eq!([w / 2, w + quarter, 2 * w - quarter].map(at), [0x00ff00, 0xff0000, 0x00ff00]);
}

#[test]
fn rows_are_redrawn_when_a_glyph_is_registered() {
    let mut renderer = Renderer::new(FontOptions::default());
    let metrics = renderer.metrics();
    let mut shown = snapshot(20, &[vec![plain("abc")], vec![plain("a\u{e000}c")], vec![plain("")]]);
    let mut versions = |shown: &Snapshot| {
        renderer.frame(&scene(pane(shown, metrics)));
        let rows = &renderer.last_frame().panes[0].rows;
        rows.iter().map(|row| (row.version, row.glyphs.len())).collect::<Vec<_>>()
    };
    let first = versions(&shown);
    shown.glyphs = registered(&[(";size=stretch", rectangle(0, 0, 1000, 1000))]);
    let second = versions(&shown);
    let changed: Vec<_> = (0..3).filter(|row| first[*row].0 != second[*row].0).collect();
    assert_eq!(changed, [1]);
    assert_eq!(versions(&shown), second);
    shown.glyphs = registered(&[(";size=stretch", rectangle(0, 0, 500, 1000))]);
    assert_ne!(versions(&shown)[1], second[1]);
}

#[test]
fn both_painters_draw_the_same_glyphs() {
    let Some(mut painter) = gpu() else { return };
    let glyphs = registered(&[
        ("", rectangle(100, 50, 900, 930)),
        (";fmt=colrv0", two_halves()),
        (";fmt=colrv0;width=2;size=contain;pad=0.1,0.1,0.1,0.1", two_halves()),
        (";align=start,baseline", rectangle(-300, -250, 333, 777)),
    ]);
    let text = "x\u{e000} \u{e001} \u{e002}  \u{e003}x\u{e001}\u{e001}";
    let (mut renderer, frame) = drawn(text, &glyphs, Style::default());
    let cpu = CpuPainter::picture(&mut renderer);
    painter.paint(&mut renderer);
    let gpu = painter.read().expect("the picture");
    assert_eq!(cpu.len(), gpu.len());
    let worst = cpu.iter().zip(&gpu).flat_map(|(a, b)| {
        [16, 8, 0].map(|shift| ((a >> shift) as u8).abs_diff((b >> shift) as u8))
    });
    assert!(worst.max() <= Some(3), "{}x{}", frame.width, frame.height);
}

/// The container of a picture that fills the same half of its cell with the foreground color this many times.
fn many_layers(count: u16) -> Vec<u8> {
    let words = |words: &[u16]| words.iter().flat_map(|w| w.to_be_bytes()).collect::<Vec<_>>();
    let layers = words(&[0, 0xffff]).repeat(usize::from(count));
    let colr = [words(&[0, 1, 0, 14, 0, 20, count, 0, 0, count]), layers].concat();
    let parts = [rectangle(0, 0, 500, 1000), colr, Vec::new()];
    let sized = parts.iter().flat_map(|part| [words(&[part.len() as u16]), part.clone()].concat());
    words(&[1]).into_iter().chain(sized).collect()
}

/// A screen of one registered character, 10 to a row, each in another color.
fn colorful(rows: u32, glyphs: &Arc<RegisteredGlyphs>) -> Snapshot {
    let cell = |n| {
        let foreground = Color::Rgb(Rgb::hex(0xff_ff00 + n));
        run("\u{e000}", Style { foreground, ..Style::default() })
    };
    let rows: Vec<Vec<_>> =
        (0..rows).map(|row| (0..10).map(|col| cell(10 * row + col)).collect()).collect();
    let mut shown = snapshot(10, &rows);
    shown.glyphs = glyphs.clone();
    shown
}

#[test]
fn a_frame_draws_a_bounded_number_of_costly_pictures() {
    let glyphs = registered(&[(";size=stretch;fmt=colrv0", many_layers(1000))]);
    let start = |rows| {
        let shown = colorful(rows, &glyphs);
        let mut renderer = Renderer::new(FontOptions::default());
        let metrics = renderer.metrics();
        renderer.frame(&scene(pane(&shown, metrics)));
        (shown, renderer)
    };
    let (_, other) = start(8);
    let (shown, mut renderer) = start(4);
    let first = renderer.glyphs().len();
    assert!((1..40).contains(&first), "{first} pictures");
    assert_eq!(other.glyphs().len(), first, "a larger screen makes a frame draw more");
    // Each frame draws some more glyphs, until all are drawn.
    let mut before = first;
    while renderer.is_unfinished() {
        let metrics = renderer.metrics();
        renderer.frame(&scene(pane(&shown, metrics)));
        let drawn = renderer.glyphs().len() - before;
        assert!((1..=first).contains(&drawn), "{drawn} of {first} pictures");
        before += drawn;
    }
    assert_eq!(before, 40);
    let rows = &renderer.last_frame().panes[0].rows;
    assert!(rows.iter().all(|row| row.glyphs.len() == 10));
}

#[test]
fn a_complete_frame_has_every_glyph_at_once() {
    let glyphs = registered(&[(";size=stretch;fmt=colrv0", many_layers(1000))]);
    let shown = colorful(4, &glyphs);
    let mut renderer = Renderer::new(FontOptions::default());
    let metrics = renderer.metrics();
    renderer.complete_frame(&scene(pane(&shown, metrics)));
    assert_eq!((renderer.glyphs().len(), renderer.is_unfinished()), (40, false));
}

#[test]
fn pictures_of_one_color_are_drawn_once() {
    let glyphs = registered(&[(";size=stretch", rectangle(0, 0, 1000, 1000))]);
    let (shown, mut renderer) = (colorful(4, &glyphs), Renderer::new(FontOptions::default()));
    let metrics = renderer.metrics();
    renderer.frame(&scene(pane(&shown, metrics)));
    assert_eq!(renderer.glyphs().len(), 1, "an outline is drawn again in another color");
    assert!(!renderer.is_unfinished());
}
