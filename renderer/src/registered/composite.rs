//! How two pictures are combined (W3C, "Compositing and Blending Level 1").

use unterm_term::CompositeMode;

/// Red, green, blue, premultiplied, and alpha, 0 to 1. The colors are coded values, as in the W3C's recommendation.
pub(super) type Pixel = [f32; 4];

type Color = [f32; 3];

/// A pixel over another.
pub(super) fn over(above: Pixel, below: Pixel) -> Pixel {
    std::array::from_fn(|i| above[i] + below[i] * (1.0 - above[3]))
}

/// Combines the pixels of a source and of a backdrop.
pub(super) fn combine(mode: CompositeMode, source: Pixel, backdrop: Pixel) -> Pixel {
    let (above, below) = (source[3], backdrop[3]);
    // How much of the source and of the backdrop remains (Porter and Duff).
    let (keeps_source, keeps_backdrop) = match mode {
        CompositeMode::Clear => (0.0, 0.0),
        CompositeMode::Source => (1.0, 0.0),
        CompositeMode::Destination => (0.0, 1.0),
        CompositeMode::SourceOver => (1.0, 1.0 - above),
        CompositeMode::DestinationOver => (1.0 - below, 1.0),
        CompositeMode::SourceIn => (below, 0.0),
        CompositeMode::DestinationIn => (0.0, above),
        CompositeMode::SourceOut => (1.0 - below, 0.0),
        CompositeMode::DestinationOut => (0.0, 1.0 - above),
        CompositeMode::SourceAtop => (below, 1.0 - above),
        CompositeMode::DestinationAtop => (1.0 - below, above),
        CompositeMode::Xor => (1.0 - below, 1.0 - above),
        CompositeMode::Plus => (1.0, 1.0),
        _ => return blended(mode, source, backdrop),
    };
    let mixed = |i: usize| source[i] * keeps_source + backdrop[i] * keeps_backdrop;
    std::array::from_fn(|i| mixed(i).clamp(0.0, 1.0))
}

/// Combines with a mode that mixes the colors where both pictures are opaque.
fn blended(mode: CompositeMode, source: Pixel, backdrop: Pixel) -> Pixel {
    let (above, below) = (source[3], backdrop[3]);
    let mixed = mix(mode, color(source), color(backdrop));
    std::array::from_fn(|i| match mixed.get(i) {
        Some(mixed) => {
            source[i] * (1.0 - below) + backdrop[i] * (1.0 - above) + above * below * mixed
        }
        None => above + below - above * below,
    })
}

/// The color of a pixel, no longer premultiplied.
fn color(pixel: Pixel) -> Color {
    let scale = if pixel[3] > 0.0 { 1.0 / pixel[3] } else { 0.0 };
    std::array::from_fn(|i| (pixel[i] * scale).clamp(0.0, 1.0))
}

fn mix(mode: CompositeMode, source: Color, backdrop: Color) -> Color {
    let each = |mix: fn(f32, f32) -> f32| std::array::from_fn(|i| mix(source[i], backdrop[i]));
    match mode {
        CompositeMode::Screen => each(screen),
        CompositeMode::Overlay => each(|s, b| hard_light(b, s)),
        CompositeMode::Darken => each(f32::min),
        CompositeMode::Lighten => each(f32::max),
        CompositeMode::ColorDodge => each(|s, b| match (b <= 0.0, s >= 1.0) {
            (true, _) => 0.0,
            (false, true) => 1.0,
            (false, false) => (b / (1.0 - s)).min(1.0),
        }),
        CompositeMode::ColorBurn => each(|s, b| match (b >= 1.0, s <= 0.0) {
            (true, _) => 1.0,
            (false, true) => 0.0,
            (false, false) => 1.0 - ((1.0 - b) / s).min(1.0),
        }),
        CompositeMode::HardLight => each(hard_light),
        CompositeMode::SoftLight => each(soft_light),
        CompositeMode::Difference => each(|s, b| (s - b).abs()),
        CompositeMode::Exclusion => each(|s, b| s + b - 2.0 * s * b),
        CompositeMode::Multiply => each(|s, b| s * b),
        CompositeMode::Hue => {
            with_luminosity(with_saturation(source, saturation(backdrop)), luminosity(backdrop))
        }
        CompositeMode::Saturation => {
            with_luminosity(with_saturation(backdrop, saturation(source)), luminosity(backdrop))
        }
        CompositeMode::Color => with_luminosity(source, luminosity(backdrop)),
        CompositeMode::Luminosity => with_luminosity(backdrop, luminosity(source)),
        _ => source,
    }
}

fn screen(s: f32, b: f32) -> f32 {
    s + b - s * b
}

fn hard_light(s: f32, b: f32) -> f32 {
    if s <= 0.5 { b * 2.0 * s } else { screen(2.0 * s - 1.0, b) }
}

fn soft_light(s: f32, b: f32) -> f32 {
    if s <= 0.5 {
        return b - (1.0 - 2.0 * s) * b * (1.0 - b);
    }
    let d = if b <= 0.25 { ((16.0 * b - 12.0) * b + 4.0) * b } else { b.sqrt() };
    b + (2.0 * s - 1.0) * (d - b)
}

fn luminosity([r, g, b]: Color) -> f32 {
    0.3 * r + 0.59 * g + 0.11 * b
}

fn bounds(color: Color) -> (f32, f32) {
    let least = color.into_iter().fold(f32::INFINITY, f32::min);
    (least, color.into_iter().fold(f32::NEG_INFINITY, f32::max))
}

fn saturation(color: Color) -> f32 {
    let (least, most) = bounds(color);
    most - least
}

fn with_luminosity(color: Color, wanted: f32) -> Color {
    let by = wanted - luminosity(color);
    let moved = color.map(|value| value + by);
    let (light, (least, most)) = (luminosity(moved), bounds(moved));
    moved.map(|value| {
        let mut value = value;
        if least < 0.0 {
            value = light + (value - light) * light / (light - least);
        }
        if most > 1.0 {
            value = light + (value - light) * (1.0 - light) / (most - light);
        }
        value
    })
}

fn with_saturation(color: Color, wanted: f32) -> Color {
    let (least, most) = bounds(color);
    let scale = if most > least { wanted / (most - least) } else { 0.0 };
    color.map(|value| (value - least) * scale)
}
