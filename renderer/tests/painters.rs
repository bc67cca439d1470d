//! Both painters produce the same picture, and painting only the damage gives the same picture as painting everything.

use std::sync::Arc;

use crate::support::{Run, gpu, pane, row, run, scene, snapshot};
use proptest::prelude::*;
use unterm_renderer::{
    Blending, CpuPainter, FontOptions, Label, LabelAlign, PaneScene, PixelRect, Preedit, Quad,
    Renderer, TextOptions,
};
use unterm_term::{
    Attrs, Color, Cursor, CursorShape, ExtraCursor, ExtraCursorColor, LineId, LineSize, Modes,
    Palette, Point, Rgb, Snapshot, Style, TextRange, Underline,
};

/// The largest allowed difference per channel. Both painters round `below·(1−a) + above·a`. A pixel is blended only a
/// few times (fill, underline, glyph, quad, label), with one rounding each time.
const TOLERANCE: u8 = 3;

fn compare(cpu: &[u32], gpu: &[u32], width: u32) -> Result<(), String> {
    if cpu.len() != gpu.len() {
        return Err(format!("{} pixels and {} pixels", cpu.len(), gpu.len()));
    }
    for (i, (a, b)) in cpu.iter().zip(gpu).enumerate() {
        let worst = [24, 16, 8, 0]
            .into_iter()
            .map(|shift| ((a >> shift) as u8).abs_diff((b >> shift) as u8))
            .max();
        if worst > Some(TOLERANCE) {
            let (x, y) = (i as u32 % width, i as u32 / width);
            return Err(format!("at {x},{y} the CPU has {a:08x}, the GPU {b:08x}"));
        }
    }
    Ok(())
}

const WORDS: &[&str] = &[
    "ls -la ",
    "fn main() {",
    "    ",
    "=> != ",
    "héllo ",
    "e\u{301}a\u{30a} ",
    "中文 ",
    "日本 ",
    "┌──┐",
    "║═╬",
    "▀▄█░▒▓",
    "⣿⡇",
    "\u{e0b0}",
    "🎉",
    "👩\u{200d}💻",
    "❤\u{fe0f}",
    "x",
];

fn style() -> impl Strategy<Value = Style> {
    let color = || {
        prop_oneof![
            4 => Just(Color::Default),
            2 => any::<u8>().prop_map(Color::Indexed),
            1 => any::<u32>().prop_map(|rgb| Color::Rgb(Rgb::hex(rgb))),
        ]
    };
    let underline = prop_oneof![
        6 => Just(Underline::None),
        1 => Just(Underline::Single),
        1 => Just(Underline::Double),
        1 => Just(Underline::Curly),
        1 => Just(Underline::Dotted),
        1 => Just(Underline::Dashed),
    ];
    let attrs = prop_oneof![3 => Just(0u16), 2 => any::<u16>()];
    (color(), color(), color(), attrs, underline).prop_map(
        |(foreground, background, underline_color, attrs, underline)| Style {
            foreground,
            background,
            underline_color,
            attrs: Attrs::from_bits_truncate(attrs),
            underline,
            ..Style::default()
        },
    )
}

fn runs() -> impl Strategy<Value = Vec<Run>> {
    let words = prop::collection::vec(prop::sample::select(WORDS), 0..4);
    prop::collection::vec((words, style()), 0..5).prop_map(|runs| {
        runs.into_iter().map(|(words, style)| run(&words.concat(), style)).collect()
    })
}

const COLS: u16 = 24;
const ROWS: u16 = 6;

fn screen() -> impl Strategy<Value = Vec<Vec<Run>>> {
    prop::collection::vec(runs(), usize::from(ROWS)..=usize::from(ROWS))
}

/// Everything in a scene besides the text of its pane.
#[derive(Clone, Debug)]
struct Extras {
    cursor: Cursor,
    more_cursors: Vec<ExtraCursor>,
    cursor_color: ExtraCursorColor,
    selection: Option<TextRange>,
    focused: bool,
    blink_on: bool,
    reversed: bool,
    dim: bool,
    preedit: bool,
    panel: Option<(i32, f32)>,
    label: bool,
    origin: i32,
    /// Size of each row.
    sizes: Vec<LineSize>,
    text: TextOptions,
    opacity: f32,
}

fn extras() -> impl Strategy<Value = Extras> {
    let point =
        || (0..u64::from(ROWS), 0..COLS).prop_map(|(line, col)| Point { line: LineId(line), col });
    let selection = (point(), point(), any::<bool>()).prop_map(|(a, b, block)| TextRange {
        start: a.min(b),
        end: a.max(b),
        block,
    });
    let shape = prop::sample::select(&[
        CursorShape::Default,
        CursorShape::Block,
        CursorShape::Underline,
        CursorShape::Bar,
    ]);
    let cursor = (0..ROWS, 0..COLS, shape, any::<bool>(), any::<bool>()).prop_map(
        |(row, col, shape, visible, blinking)| Cursor { row, col, visible, shape, blinking },
    );
    let size = prop_oneof![
        5 => Just(LineSize::Single),
        1 => Just(LineSize::DoubleWidth),
        1 => Just(LineSize::DoubleTop),
        1 => Just(LineSize::DoubleBottom),
    ];
    let shape = prop::sample::select(&[
        None,
        Some(CursorShape::Block),
        Some(CursorShape::Underline),
        Some(CursorShape::Bar),
    ]);
    let more = (0..u64::from(ROWS), 0..COLS, shape).prop_map(|(line, col, shape)| ExtraCursor {
        line: LineId(line),
        col,
        shape,
    });
    let more = prop::collection::vec(more, 0..5).prop_map(|mut more| {
        more.sort_by_key(|cursor| (cursor.line, cursor.col));
        more
    });
    let color = prop::sample::select(&[
        ExtraCursorColor::Main,
        ExtraCursorColor::Reverse,
        ExtraCursorColor::Indexed(9),
    ]);
    (
        cursor,
        (more, color),
        prop::option::of(selection),
        any::<[bool; 5]>(),
        prop::option::of((-20..120i32, 0.0..12.0f32)),
        any::<bool>(),
        4..12i32,
        prop::collection::vec(size, usize::from(ROWS)..=usize::from(ROWS)),
        (any::<bool>(), prop_oneof![3 => Just(1.0f32), 1 => 1.0..12.0f32]),
        prop_oneof![3 => Just(1.0f32), 1 => 0.0..1.0f32],
    )
        .prop_map(
            |(cursor, more, selection, flags, panel, label, origin, sizes, text, opacity)| Extras {
                cursor,
                more_cursors: more.0,
                cursor_color: more.1,
                selection,
                focused: flags[0],
                blink_on: flags[1],
                reversed: flags[2],
                dim: flags[3],
                preedit: flags[4],
                panel,
                label,
                origin,
                sizes,
                text: TextOptions {
                    blending: if text.0 { Blending::Linear } else { Blending::Native },
                    minimum_contrast: text.1,
                    bidi: true,
                    palette_contrast: text.1,
                },
                opacity,
            },
        )
}

/// Builds the renderer's next frame from the pane and the extras.
fn build(renderer: &mut Renderer, shown: &Snapshot, extras: &Extras) -> (u32, u32) {
    let mut shown = shown.clone();
    shown.cursor = extras.cursor;
    shown.extra_cursors.clone_from(&extras.more_cursors);
    shown.extra_cursor_colors.cursor = extras.cursor_color;
    shown.modes.set(Modes::REVERSE_SCREEN, extras.reversed);
    let preedit = Preedit { text: "かなa".into(), cursor: Some((6, 7)) };
    let metrics = renderer.metrics();
    // Scrolled by pixels, with one row more than fits the pane.
    let shift = if extras.reversed { 7 } else { 0 };
    let area = pane(&shown, metrics).area;
    if shift > 0 {
        shown.size.rows -= 1;
    }
    let base = pane(&shown, metrics);
    let pane = PaneScene {
        area,
        shift,
        origin: (extras.origin, extras.origin),
        focused: extras.focused,
        blink_on: extras.blink_on,
        selection: extras.selection,
        highlights: &[],
        preedit: extras.preedit.then_some(&preedit),
        dim: if extras.dim { 0.1 } else { 0.0 },
        opacity: extras.opacity,
        ..base
    };
    let mut scene = scene(pane);
    scene.height += 9;
    if let Some((at, radius)) = extras.panel {
        let rect = PixelRect { x: at, y: at / 2, width: 90, height: 41 };
        scene.quads.push(Quad { rect, color: Rgb::hex(0x89b4fa), alpha: 0.7, radius });
    }
    if extras.label {
        scene.labels.push(Label {
            rect: PixelRect { x: 30, y: 10, width: 100, height: 24 },
            text: "Title ✓ that is too long".into(),
            color: Rgb::hex(0xffffff),
            size: 13.0,
            bold: extras.dim,
            align: LabelAlign::Center,
            ..Label::default()
        });
    }
    if let (Some((at, _)), true) = (extras.panel, extras.label) {
        // A menu over both the panel and the label.
        scene.raise();
        let rect = PixelRect { x: 20 + at, y: 8, width: 50, height: 30 };
        scene.quads.push(Quad { rect, color: Rgb::hex(0x313244), alpha: 1.0, radius: 4.0 });
        scene.labels.push(Label {
            rect,
            text: "Menu".into(),
            color: Rgb::hex(0xcdd6f4),
            size: 12.0,
            ..Label::default()
        });
    }
    let size = (scene.width, scene.height);
    renderer.set_text(extras.text);
    renderer.frame(&scene);
    size
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// A buffer that is only updated from damage, through any number of frames, equals a buffer that is painted whole.
    /// This also holds for two buffers used in turn.
    #[test]
    fn painting_the_damage_equals_painting_everything(
        first in screen(),
        edits in prop::collection::vec((0..usize::from(ROWS), runs(), extras(), 0..3u8), 1..6),
        age in 1..=2u8,
    ) {
        let mut renderer = Renderer::new(FontOptions::default());
        let mut painter = CpuPainter::new();
        let mut shown = snapshot(COLS, &first);
        let mut buffers: Vec<Vec<u32>> = Vec::new();
        for (revision, (at, runs, extras, scroll)) in edits.iter().enumerate() {
            // Rows that moved up keep their line and revision. The last rows are new.
            for _ in 0..*scroll {
                let next = shown.rows[usize::from(ROWS) - 1].line.0 + 1;
                shown.rows.remove(0);
                shown.rows.push(row(next, revision as u64 + 2, COLS, runs));
            }
            let line = shown.rows[*at].line.0;
            shown.rows[*at] = row(line, revision as u64 + 100, COLS, runs);
            shown.rows[*at].size = extras.sizes[*at];
            let (width, height) = build(&mut renderer, &shown, extras);
            let size = (width * height) as usize;
            let turn = revision % usize::from(age);
            let known = if turn < buffers.len() { age } else { 0 };
            if known == 0 {
                buffers.push(vec![0xdead_beef; size]);
            }
            painter.paint(&mut renderer, &mut buffers[turn], known);
            let whole = CpuPainter::picture(&mut renderer);
            prop_assert!(buffers[turn] == whole, "frame {revision} differs");
        }
    }
}

/// Text that scrolls up or down is moved instead of painted, and looks the same as if painted. Tested for a pane as
/// wide as the surface, and for two panes side by side.
#[test]
fn scrolled_text_looks_painted() {
    for panes in [1, 2] {
        let mut renderer = Renderer::new(FontOptions::default());
        let metrics = renderer.metrics();
        let mut painter = CpuPainter::new();
        let lines: Vec<_> = (0..40u64)
            .map(|line| row(line, 1, COLS, &[run(&format!("line {line} 中 ┼─"), Style::default())]))
            .collect();
        let mut buffer = Vec::new();
        for (i, top) in [0, 1, 2, 5, 4, 3, 9, 0, 20, 21].into_iter().enumerate() {
            let mut shown = snapshot(COLS, &[]);
            shown.rows = lines[top..top + 12].to_vec();
            shown.size.rows = 12;
            shown.cursor = Cursor { row: 11, col: i as u16, visible: true, ..Cursor::default() };
            let left = pane(&shown, metrics);
            let mut scene = scene(left);
            scene.height += 30;
            scene.panes[0].area.y += 30;
            scene.panes[0].origin.1 += 30;
            let still = snapshot(COLS, &[vec![run("still", Style::default())]]);
            if panes == 2 {
                let mut right = scene.panes[0];
                right.id = 2;
                right.snapshot = &still;
                right.area.x += left.area.width as i32 + 1;
                right.origin.0 += left.area.width as i32 + 1;
                scene.width = scene.width * 2 + 1;
                scene.panes.push(right);
            }
            renderer.frame(&scene);
            buffer.resize((scene.width * scene.height) as usize, 0);
            painter.paint(&mut renderer, &mut buffer, u8::from(i > 0));
            let whole = CpuPainter::picture(&mut renderer);
            assert!(buffer == whole, "{panes} panes, line {top} at the top");
        }
    }
}

/// Compares the pictures of both painters over a series of random screens, without resetting the painters in between.
#[test]
fn gpu_frame_equals_cpu_frame() {
    let Some(mut gpu) = gpu() else { return };
    let mut renderer = Renderer::new(FontOptions::default());
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let (gpu, renderer) =
        (std::cell::RefCell::new(&mut gpu), std::cell::RefCell::new(&mut renderer));
    let revision = std::cell::Cell::new(0);
    runner
        .run(&(screen(), extras()), |(rows, extras)| {
            let (mut gpu, mut renderer) = (gpu.borrow_mut(), renderer.borrow_mut());
            let mut shown = snapshot(COLS, &rows);
            revision.set(revision.get() + 1);
            shown.rows.iter_mut().for_each(|row| row.revision = revision.get());
            for (row, size) in shown.rows.iter_mut().zip(&extras.sizes) {
                row.size = *size;
            }
            let (width, _) = build(&mut renderer, &shown, &extras);
            gpu.paint(&mut renderer);
            let picture = gpu.read().map_err(|error| TestCaseError::fail(error.to_string()))?;
            let expected = CpuPainter::picture(&mut renderer);
            compare(&expected, &picture, width).map_err(TestCaseError::fail)
        })
        .unwrap_or_else(|error| panic!("on {}: {error}", gpu.borrow().adapter()));
}

/// A pane covers the panes before it: in both painters, and also if only the lower or only the upper pane has changed.
#[test]
fn a_pane_covers_earlier_panes() {
    let mut gpu = gpu();
    let mut renderer = Renderer::new(FontOptions::default());
    let metrics = renderer.metrics();
    let (mut cpu, mut buffer) = (CpuPainter::new(), Vec::new());
    let line = |at: u64, revision: u64, text: &str| {
        row(at, revision, COLS, &[run(text, Style::default())])
    };
    let mut below = snapshot(COLS, &[]);
    below.rows = (0..12).map(|at| line(at, 1, "below below below")).collect();
    below.size.rows = 12;
    let mut above = snapshot(COLS, &[]);
    above.rows = (0..4).map(|at| line(at, 1, "above")).collect();
    above.size.rows = 4;
    for (step, opacity) in [1.0, 1.0, 1.0, 1.0, 0.6].into_iter().enumerate() {
        match step {
            1 => below.rows[5] = line(5, 2, "changed below, on both sides"),
            2 => above.rows[1] = line(1, 2, "changed"),
            // The pane below scrolls.
            3 => below.rows.rotate_left(2),
            _ => {}
        }
        let mut scene = scene(pane(&below, metrics));
        let mut over = PaneScene { id: 2, ..pane(&above, metrics) };
        over.opacity = opacity;
        over.area.width = scene.width / 2;
        over.area.x += 30;
        over.area.y += 45;
        over.origin = (over.origin.0 + 30, over.origin.1 + 45);
        scene.panes.push(over);
        renderer.frame(&scene);
        buffer.resize((scene.width * scene.height) as usize, 0);
        cpu.paint(&mut renderer, &mut buffer, u8::from(step > 0));
        let whole = CpuPainter::picture(&mut renderer);
        assert!(buffer == whole, "step {step}: painting the damage left something out");
        // In the area of the upper pane, the picture equals the picture of that pane alone.
        let covered = over.area;
        scene.panes.remove(0);
        renderer.frame(&scene);
        let alone = CpuPainter::picture(&mut renderer);
        let at = |x: i32, y: i32| (y as u32 * scene.width + x as u32) as usize;
        for y in covered.y..covered.y + covered.height as i32 {
            let row = at(covered.x, y)..at(covered.x + covered.width as i32, y);
            assert!(whole[row.clone()] == alone[row], "step {step}: line {y} shows what is below");
        }
        scene.panes.insert(0, pane(&below, metrics));
        renderer.frame(&scene);
        if let Some(gpu) = &mut gpu {
            gpu.paint(&mut renderer);
            compare(&whole, &gpu.read().unwrap(), scene.width)
                .unwrap_or_else(|error| panic!("step {step}: {error}"));
        }
    }
}

/// A rounded corner hardly covers its outermost pixels. Blended as light over a clear background, such a pixel is so
/// dark that rounding its coverage to 8 bits would be visible.
#[test]
fn both_painters_draw_faint_corners_alike() {
    let Some(mut gpu) = gpu() else { return };
    let mut renderer = Renderer::new(FontOptions::default());
    renderer.set_text(TextOptions { blending: Blending::Linear, ..TextOptions::default() });
    let shown = snapshot(COLS, &[vec![]]);
    for hundredths in (800..900).step_by(4) {
        let mut pane = pane(&shown, renderer.metrics());
        pane.opacity = 0.0;
        let mut scene = scene(pane);
        scene.quads.push(Quad {
            rect: PixelRect { x: 0, y: 0, width: 90, height: 41 },
            color: Rgb::hex(0x89b4fa),
            alpha: 0.7,
            radius: hundredths as f32 / 100.0,
        });
        renderer.frame(&scene);
        gpu.paint(&mut renderer);
        let expected = CpuPainter::picture(&mut renderer);
        compare(&expected, &gpu.read().unwrap(), scene.width)
            .unwrap_or_else(|error| panic!("a radius of {hundredths}/100: {error}"));
    }
}

/// Paints more and larger glyphs than an atlas starts with, at two sizes, then changes the font.
#[test]
fn gpu_atlas_grows_and_starts_over() {
    let Some(mut gpu) = gpu() else { return };
    let mut renderer = Renderer::new(FontOptions { size: 40.0, ..FontOptions::default() });
    let mut painter = |renderer: &mut Renderer, first: u32| {
        let rows: Vec<_> = (0..8)
            .map(|line| {
                let chars = (0..40).filter_map(|i| char::from_u32(first + line * 40 + i));
                vec![run(&chars.collect::<String>(), Style::default())]
            })
            .collect();
        let mut shown = snapshot(40, &rows);
        shown.rows.iter_mut().for_each(|row| row.revision = u64::from(first));
        shown.palette = Arc::new(Palette::default());
        renderer.frame(&scene(pane(&shown, renderer.metrics())));
        gpu.paint(renderer);
        let expected = CpuPainter::picture(renderer);
        compare(&expected, &gpu.read().unwrap(), renderer.last_frame().width).unwrap();
    };
    // Latin, Greek and Cyrillic, then box drawing and braille.
    for first in [0x21, 0x180, 0x370, 0x4b0, 0x2500, 0x2800] {
        painter(&mut renderer, first);
    }
    renderer.set_fonts(FontOptions { size: 17.0, scale: 2.0, ..FontOptions::default() });
    painter(&mut renderer, 0x41);
}
