//! Images between the layers of a pane, painted identically by both painters.

use crate::support::{gpu, pane, run, scene, snapshot, underlined};
use unterm_renderer::{CpuPainter, FontOptions, PaneScene, Renderer};
use unterm_term::{
    CellRect, Color, Cursor, LineId, Palette, PixelRect, Pixels, Point, Rgb, Snapshot,
    SnapshotImage, Style, TextRange, Underline,
};

/// A picture of one color.
fn flat(width: u32, height: u32, rgba: [u8; 4]) -> std::sync::Arc<Pixels> {
    let bytes = rgba.repeat((width * height) as usize);
    Pixels::new(width, height, bytes).expect("as many bytes as pixels")
}

/// An image that shows all of `pixels` over the given cells: left, top, columns, rows.
fn shown(pixels: &std::sync::Arc<Pixels>, cells: [f32; 4], z: i32) -> SnapshotImage {
    let source =
        PixelRect { x: 0.0, y: 0.0, width: pixels.width() as f32, height: pixels.height() as f32 };
    let [left, top, width, height] = cells;
    let area = CellRect { left, top, width, height };
    SnapshotImage { pixels: pixels.clone(), source, area, z, next_frame: None }
}

/// Two rows of full blocks, the first on the default background, the second on red.
fn blocks() -> Snapshot {
    let red = Style { background: Color::Rgb(Rgb::hex(0xff0000)), ..Style::default() };
    snapshot(4, &[vec![run("█  █", Style::default())], vec![run("█  █", red)]])
}

/// The pixel at the center of a cell.
fn at(picture: &[u32], renderer: &Renderer, col: u32, row: u32) -> u32 {
    let frame = renderer.last_frame();
    let (metrics, origin) = (renderer.metrics(), frame.panes[0].origin);
    let x = origin.0 as u32 + col * metrics.width + metrics.width / 2;
    let y = origin.1 as u32 + row * metrics.height + metrics.height / 2;
    picture[(y * frame.width + x) as usize] & 0xff_ffff
}

#[test]
fn images_are_layered_by_z_index() {
    const BLUE: u32 = 0x0000ff;
    let image = flat(3, 2, [0, 0, 255, 255]);
    let mut renderer = Renderer::new(FontOptions::default());
    let mut look = |z: i32| {
        let mut snapshot = blocks();
        snapshot.images = vec![shown(&image, [0.0, 0.0, 3.0, 2.0], z)];
        let metrics = renderer.metrics();
        renderer.frame(&scene(pane(&snapshot, metrics)));
        let picture = CpuPainter::picture(&mut renderer);
        [(0, 0), (1, 0), (0, 1), (1, 1), (3, 0)].map(|(c, r)| at(&picture, &renderer, c, r))
    };
    let text = look(i32::MIN)[0];
    assert_ne!(text, BLUE);
    // Text, default background, text, the cell's own background, and text beside the image.
    assert_eq!(look(i32::MIN), [text, BLUE, text, 0xff0000, text]);
    assert_eq!(look(-1), [text, BLUE, text, BLUE, text]);
    assert_eq!(look(0), [BLUE, BLUE, BLUE, BLUE, text]);
}

#[test]
fn images_are_clipped_to_the_cells() {
    let image = flat(1, 1, [0, 0, 255, 255]);
    let mut snapshot = blocks();
    snapshot.images = vec![shown(&image, [2.0, 0.0, 10.0, 10.0], 0)];
    let mut renderer = Renderer::new(FontOptions::default());
    let metrics = renderer.metrics();
    let mut pane = pane(&snapshot, metrics);
    pane.area.width += 40;
    pane.area.height += 40;
    let scene = scene(pane);
    renderer.frame(&scene);
    let frame = renderer.last_frame();
    let (width, origin) = (frame.width as usize, frame.panes[0].origin);
    let picture = CpuPainter::picture(&mut renderer);
    let blue = picture.iter().enumerate().filter(|(_, pixel)| **pixel & 0xff_ffff == 0xff);
    let right = blue.clone().map(|(at, _)| at % width).max();
    let bottom = blue.map(|(at, _)| at / width).max();
    assert_eq!(right, Some(origin.0 as usize + 4 * metrics.width as usize - 1));
    assert_eq!(bottom, Some(origin.1 as usize + 2 * metrics.height as usize - 1));
}

#[test]
fn marks_are_drawn_over_images_under_text() {
    const BLUE: u32 = 0x0000ff;
    let palette = Palette::default();
    let number = |color: Rgb| u32::from(color.r) << 16 | u32::from(color.g) << 8 | color.b as u32;
    let image = flat(4, 1, [0, 0, 255, 255]);
    let line = underlined(Underline::Single, Color::Rgb(Rgb::hex(0x00ff00)));
    let mut renderer = Renderer::new(FontOptions::default());
    let metrics = renderer.metrics();
    for (z, is_under) in [(-1, true), (0, false)] {
        let mut snapshot = snapshot(4, &[vec![run("   ", Style::default()), run(" ", line)]]);
        snapshot.images = vec![shown(&image, [0.0, 0.0, 4.0, 1.0], z)];
        snapshot.cursor = Cursor { visible: true, ..Cursor::default() };
        let second = Point { line: LineId(0), col: 1 };
        let selected = TextRange { start: second, end: second, block: false };
        let pane = PaneScene { selection: Some(selected), ..pane(&snapshot, metrics) };
        renderer.frame(&scene(pane));
        let picture = CpuPainter::picture(&mut renderer);
        let cells = [0, 1, 2, 3].map(|col| at(&picture, &renderer, col, 0));
        let frame = renderer.last_frame();
        let origin = frame.panes[0].origin;
        let (x, y) = (origin.0 as u32 + 3 * metrics.width, origin.1 as u32 + metrics.underline);
        let line = picture[(y * frame.width + x) as usize] & 0xff_ffff;
        if is_under {
            let marked = [palette.cursor.unwrap(), palette.selection.unwrap()].map(number);
            assert_eq!(cells, [marked[0], marked[1], BLUE, BLUE]);
            assert_eq!(line, 0x00ff00);
        } else {
            assert_eq!((cells, line), ([BLUE; 4], BLUE));
        }
    }
}

#[test]
fn both_painters_draw_changing_images_alike() {
    let Some(mut gpu) = gpu() else { return };
    let bytes: Vec<u8> = (0..40 * 30 * 4u32).map(|i| (i * 37 % 251) as u8).collect();
    let noise = Pixels::new(40, 30, bytes).expect("as many bytes as pixels");
    let veil = flat(2, 2, [0, 255, 0, 100]);
    let steps: [&[SnapshotImage]; 6] = [
        &[],
        &[shown(&noise, [0.5, 0.25, 2.5, 1.5], -1)],
        // Scaled images that extend beyond the pane on all sides, overlap, and lie in all layers.
        &[shown(&noise, [-1.5, -0.5, 9.0, 4.0], i32::MIN), shown(&veil, [1.0, 0.0, 2.0, 2.0], 0)],
        &[shown(&veil, [1.0, 0.0, 2.0, 2.0], 0), shown(&noise, [0.0, 1.0, 1.0, 1.0], 5)],
        &[shown(&noise, [0.0, 1.0, 1.0, 1.0], -5), shown(&veil, [0.0, 0.0, 4.0, 2.0], -5)],
        &[],
    ];
    let mut renderer = Renderer::new(FontOptions::default());
    let mut cpu = CpuPainter::new();
    let mut buffer = Vec::new();
    for (step, images) in steps.iter().enumerate() {
        let mut snapshot = blocks();
        snapshot.images = images.to_vec();
        let metrics = renderer.metrics();
        renderer.frame(&scene(pane(&snapshot, metrics)));
        let whole = CpuPainter::picture(&mut renderer);
        buffer.resize(whole.len(), 0);
        cpu.paint(&mut renderer, &mut buffer, (step > 0) as u8);
        assert!(buffer == whole, "step {step}: what changed is not what was painted");
        gpu.paint(&mut renderer);
        let other = gpu.read().expect("a picture");
        let far = whole.iter().zip(&other).position(|(a, b)| {
            [16, 8, 0].iter().any(|s| ((a >> s) as u8).abs_diff((b >> s) as u8) > 3)
        });
        let far = far.map(|i| (i, format!("{:06x} {:06x}", whole[i], other[i])));
        assert_eq!(far, None, "step {step}");
    }
}
