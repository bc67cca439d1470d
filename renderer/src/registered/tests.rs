//! Tests of coverage, gradients and combined pictures.

use unterm_term::{
    ColorExtend, ColorLine, ColorStop, CompositeMode, GlyphColor, GlyphFill, GlyphOutline,
    GlyphPaint, Rgb,
};

use super::composite::combine;
use super::coverage::Mask;
use super::gradient::Shade;
use super::matrix::{after, inverse, map};
use super::{Canvas, ColorPicture, Painter, Pixel};

const IDENTITY: [f32; 6] = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

fn polygon(corners: &[(f32, f32)]) -> Vec<f32> {
    let mut mask = Mask::new(4, 3);
    mask.polygon(corners);
    mask.coverage()
}

fn color(rgb: u32, alpha: f32) -> GlyphColor {
    GlyphColor { color: Some(Rgb::hex(rgb)), alpha }
}

/// From black at 0 to white at 1.
fn gray(extend: ColorExtend) -> ColorLine {
    let stop = |offset, rgb| ColorStop { offset, color: color(rgb, 1.0) };
    ColorLine { extend, stops: vec![stop(0.0, 0x000000), stop(1.0, 0xffffff)] }
}

/// The brightness of a fill at a point, in percent.
fn percent(fill: &GlyphFill, at: (f32, f32)) -> Option<i32> {
    let pixel = Shade::new(fill, [0.0; 3])?.at(Some(at))?;
    Some((pixel[0] * 100.0).round() as i32)
}

#[test]
fn coverage_is_exact() {
    let whole = polygon(&[(0.0, 0.0), (4.0, 0.0), (4.0, 3.0), (0.0, 3.0)]);
    assert_eq!(whole, [1.0; 12]);
    // A polygon in the opposite direction, with edges inside pixels.
    let part = polygon(&[(0.5, 0.25), (0.5, 2.0), (3.25, 2.0), (3.25, 0.25)]);
    let expected = [0.375, 0.75, 0.75, 0.1875, 0.5, 1.0, 1.0, 0.25, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(part, expected);
    // A diagonal edge covers half of each pixel that it crosses.
    let half = polygon(&[(0.0, 0.0), (3.0, 3.0), (0.0, 3.0)]);
    let expected = [0.5, 0.0, 0.0, 0.0, 1.0, 0.5, 0.0, 0.0, 1.0, 1.0, 0.5, 0.0];
    assert!(half.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-5), "{half:?}");
    // A flat edge crosses several pixels of one row.
    let flat = polygon(&[(0.0, 0.0), (4.0, 1.0), (0.0, 1.0)]);
    let expected = [0.875, 0.625, 0.375, 0.125];
    assert!(flat.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-5), "{flat:?}");
}

#[test]
fn distant_edges_count_only_where_visible() {
    for far in [1e3f32, 1e9, 1e30] {
        let all = polygon(&[(-far, -far), (far, -far), (far, far), (-far, far)]);
        assert!(all.iter().all(|coverage| *coverage == 1.0), "{far} {all:?}");
        let none = polygon(&[(4.0, -far), (far, -far), (far, far), (4.0, far)]);
        assert!(none.iter().all(|coverage| *coverage == 0.0), "{far} {none:?}");
    }
    // A nearly flat edge whose middle is in the picture: half of the first row is below it.
    let flat = polygon(&[(-1000.0, 0.0), (1004.0, 1.0), (1004.0, 3.0), (-1000.0, 3.0)]);
    assert!(flat[..4].iter().all(|coverage| (coverage - 0.5).abs() < 0.01), "{flat:?}");
    assert!(flat[4..].iter().all(|coverage| *coverage > 0.999), "{flat:?}");
    for odd in [f32::NAN, f32::INFINITY, f32::MAX, f32::MIN] {
        let coverage = polygon(&[(odd, 0.0), (1.0, odd), (odd, odd), (2.0, 2.0)]);
        assert!(coverage.iter().all(|c| (0.0..=1.0).contains(c)), "{odd} {coverage:?}");
    }
}

#[test]
fn matrices_are_undone_by_their_inverse() {
    let matrix = [2.0, 1.0, -0.5, 3.0, 7.0, -9.0];
    let back = inverse(&matrix).expect("an inverse");
    let both = after(&back, &matrix);
    let (x, y) = map(&both, (5.0, -3.0));
    assert!((x - 5.0).abs() < 1e-4 && (y + 3.0).abs() < 1e-4, "{both:?}");
    assert_eq!(inverse(&[1.0, 2.0, 2.0, 4.0, 0.0, 0.0]), None);
    assert_eq!(inverse(&[f32::NAN; 6]), None);
}

#[test]
fn linear_gradients_follow_their_points() {
    let points = [(10.0, 0.0), (20.0, 0.0), (10.0, 5.0)];
    let fill = |extend, points| GlyphFill::Linear { colors: gray(extend), points };
    let pad = fill(ColorExtend::Pad, points);
    let at = |x| percent(&pad, (x, 99.0));
    assert_eq!(
        [at(5.0), at(10.0), at(12.5), at(20.0), at(30.0)].map(Option::unwrap),
        [0, 0, 25, 100, 100]
    );
    let repeat = fill(ColorExtend::Repeat, points);
    assert_eq!(percent(&repeat, (22.5, 0.0)), Some(25));
    assert_eq!(percent(&repeat, (7.5, 0.0)), Some(75));
    let reflect = fill(ColorExtend::Reflect, points);
    assert_eq!(percent(&reflect, (22.5, 0.0)), Some(75));
    assert_eq!(percent(&reflect, (7.5, 0.0)), Some(25));
    // The third point turns the lines of equal color.
    let turned = fill(ColorExtend::Pad, [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)]);
    assert_eq!(percent(&turned, (5.0, 0.0)), Some(50));
    assert_eq!(percent(&turned, (8.0, 3.0)), Some(50));
    // Without a direction, nothing is drawn.
    for points in [[(1.0, 1.0); 3], [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]] {
        assert_eq!(percent(&fill(ColorExtend::Pad, points), (0.5, 0.0)), None);
    }
}

#[test]
fn radial_and_sweep_gradients_go_around_their_centers() {
    let radial = |radii, to| GlyphFill::Radial {
        colors: gray(ColorExtend::Pad),
        centers: [(0.0, 0.0), to],
        radii,
    };
    let rings = radial([0.0, 10.0], (0.0, 0.0));
    assert_eq!(percent(&rings, (0.0, 2.5)), Some(25));
    assert_eq!(percent(&rings, (-3.0, 4.0)), Some(50));
    assert_eq!(percent(&rings, (30.0, 0.0)), Some(100));
    // Two equal circles: a strip, and nothing beside it.
    let strip = radial([5.0, 5.0], (20.0, 0.0));
    assert_eq!(percent(&strip, (5.0, 0.0)), Some(50));
    assert_eq!(percent(&strip, (10.0, 6.0)), None);
    let sweep =
        |angles, extend| GlyphFill::Sweep { colors: gray(extend), center: (0.0, 0.0), angles };
    let full = sweep([0.0, 360.0], ColorExtend::Pad);
    assert_eq!(percent(&full, (0.0, 1.0)), Some(25));
    assert_eq!(percent(&full, (-1.0, 0.0)), Some(50));
    assert_eq!(percent(&full, (0.0, -1.0)), Some(75));
    let quarter = sweep([90.0, 90.0], ColorExtend::Pad);
    assert_eq!(
        (percent(&quarter, (1.0, 0.1)), percent(&quarter, (-1.0, 0.0))),
        (Some(0), Some(100))
    );
    assert_eq!(percent(&sweep([90.0, 90.0], ColorExtend::Repeat), (1.0, 0.0)), None);
}

#[test]
fn modes_combine_as_specified() {
    let red: Pixel = [0.5, 0.0, 0.0, 0.5];
    let blue: Pixel = [0.0, 0.0, 1.0, 1.0];
    let clear: Pixel = [0.0; 4];
    let cases = [
        (CompositeMode::Clear, red, blue, clear),
        (CompositeMode::Source, red, blue, red),
        (CompositeMode::Destination, red, blue, blue),
        (CompositeMode::SourceOver, red, blue, [0.5, 0.0, 0.5, 1.0]),
        (CompositeMode::DestinationOver, red, blue, blue),
        (CompositeMode::SourceIn, blue, red, [0.0, 0.0, 0.5, 0.5]),
        (CompositeMode::SourceOut, blue, red, [0.0, 0.0, 0.5, 0.5]),
        (CompositeMode::DestinationIn, red, blue, [0.0, 0.0, 0.5, 0.5]),
        (CompositeMode::DestinationOut, red, blue, [0.0, 0.0, 0.5, 0.5]),
        (CompositeMode::SourceAtop, red, blue, [0.5, 0.0, 0.5, 1.0]),
        (CompositeMode::Xor, red, blue, [0.0, 0.0, 0.5, 0.5]),
        (CompositeMode::Plus, blue, blue, blue),
        (CompositeMode::Multiply, [1.0; 4], blue, blue),
        (CompositeMode::Screen, [0.0, 0.0, 0.0, 1.0], blue, blue),
        (CompositeMode::Difference, [1.0; 4], blue, [1.0, 1.0, 0.0, 1.0]),
        (CompositeMode::Luminosity, [1.0; 4], blue, [1.0; 4]),
        (CompositeMode::Saturation, [0.5, 0.5, 0.5, 1.0], blue, [0.11, 0.11, 0.11, 1.0]),
    ];
    for (mode, source, backdrop, expected) in cases {
        let found = combine(mode, source, backdrop);
        let is_equal = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4);
        assert!(is_equal, "{mode:?}: {found:?} instead of {expected:?}");
    }
}

/// The color of a pixel that lies completely inside the painted area.
fn painted(paint: GlyphPaint) -> Pixel {
    let picture =
        ColorPicture { outlines: vec![GlyphOutline::default()], paint, uses_foreground: false };
    let mut layer = vec![[0.0; 4]];
    let canvas = Canvas { width: 1, height: 1 };
    Painter { picture: &picture, canvas, foreground: [0.0, 1.0, 0.0] }.paint(
        &picture.paint,
        &IDENTITY,
        &mut layer,
    );
    layer[0]
}

#[test]
fn nodes_are_painted_in_order_and_inside_their_masks() {
    let solid = |rgb, alpha| GlyphPaint::Fill(GlyphFill::Solid(color(rgb, alpha)));
    let layers = GlyphPaint::Layers(vec![solid(0x0000ff, 1.0), solid(0xff0000, 0.5)]);
    assert_eq!(painted(layers.clone()), [0.5, 0.0, 0.5, 1.0]);
    let foreground = GlyphColor { color: None, alpha: 1.0 };
    let text = GlyphPaint::Fill(GlyphFill::Solid(foreground));
    assert_eq!(painted(text), [0.0, 1.0, 0.0, 1.0]);
    let clip = |bounds, paint| GlyphPaint::Clip { bounds, paint: Box::new(paint) };
    assert_eq!(painted(clip([0, 0, 1, 1], layers.clone())), [0.5, 0.0, 0.5, 1.0]);
    assert_eq!(painted(clip([1, 0, 2, 1], layers.clone())), [0.0; 4]);
    // A transform that makes the painted area cover only half of the pixel.
    let half = GlyphPaint::Transform {
        matrix: [0.5, 0.0, 0.0, 1.0, 0.0, 0.0],
        paint: Box::new(clip([0, 0, 1, 1], layers)),
    };
    assert_eq!(painted(half), [0.25, 0.0, 0.25, 0.5]);
    // An outline without contours hides everything.
    let outline = GlyphPaint::Outline { outline: 0, paint: Box::new(solid(0xff0000, 1.0)) };
    assert_eq!(painted(outline), [0.0; 4]);
    let mode = CompositeMode::Multiply;
    let (source, backdrop) = (Box::new(solid(0xff00ff, 1.0)), Box::new(solid(0x00ffff, 1.0)));
    assert_eq!(painted(GlyphPaint::Composite { mode, source, backdrop }), [0.0, 0.0, 1.0, 1.0]);
}
