//! The window's icon, for task bars and window lists on X11. Wayland uses the icon of the desktop entry instead.
//!
//! Draws the shapes of `assets/settings/src/icon.svg` itself, because an SVG decoder would be large for a single icon.

use winit::window::Icon;

/// The width and height of the icon: `SIDE` in pixels, `UNITS` in the units of the SVG drawing.
const SIDE: u32 = 64;
const UNITS: f32 = 32.0;
const BACKGROUND: [u8; 3] = [0x1e, 0x1e, 0x2e];
const PROMPT: [u8; 3] = [0x89, 0xb4, 0xfa];
const CURSOR: [u8; 3] = [0xcd, 0xd6, 0xf4];
/// Half the width of a stroke, and the radius of the corners, in units of the SVG drawing.
const STROKE: f32 = 1.5;
const RADIUS: f32 = 7.0;

/// The icon of the window. `None` if the system accepts no icon of this size.
pub(crate) fn icon() -> Option<Icon> {
    Icon::from_rgba(pixels(), SIDE, SIDE).ok()
}

/// The icon's pixels, 4 bytes each: red, green, blue and alpha.
fn pixels() -> Vec<u8> {
    let scale = SIDE as f32 / UNITS;
    let mut out = Vec::with_capacity((SIDE * SIDE * 4) as usize);
    for y in 0..SIDE {
        for x in 0..SIDE {
            let at = ((x as f32 + 0.5) / scale, (y as f32 + 0.5) / scale);
            // Computes how much of the pixel a shape covers. A pixel at the edge of a shape is partly covered.
            let covered = |distance: f32| (0.5 - distance * scale).clamp(0.0, 1.0);
            let half = UNITS / 2.0 - RADIUS;
            let corner = ((at.0 - 16.0).abs() - half, (at.1 - 16.0).abs() - half);
            let outside = (corner.0.max(0.0).hypot(corner.1.max(0.0))) - RADIUS;
            let prompt =
                line(at, (8.0, 10.0), (15.0, 16.0)).min(line(at, (15.0, 16.0), (8.0, 22.0)));
            let cursor = line(at, (17.0, 23.0), (25.0, 23.0));
            let mut color = BACKGROUND.map(f32::from);
            for (distance, ink) in [(prompt, PROMPT), (cursor, CURSOR)] {
                let share = covered(distance - STROKE);
                for (part, ink) in color.iter_mut().zip(ink) {
                    *part += (f32::from(ink) - *part) * share;
                }
            }
            out.extend(color.map(|part| part.round() as u8));
            out.push((covered(outside) * 255.0).round() as u8);
        }
    }
    out
}

/// The distance of the point `at` from the line between `from` and `to`.
fn line(at: (f32, f32), from: (f32, f32), to: (f32, f32)) -> f32 {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let along = ((at.0 - from.0) * dx + (at.1 - from.1) * dy) / (dx * dx + dy * dy);
    let along = along.clamp(0.0, 1.0);
    (at.0 - from.0 - along * dx).hypot(at.1 - from.1 - along * dy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_icon_is_a_prompt_on_a_rounded_square() {
        let pixels = pixels();
        let at = |x: u32, y: u32| {
            let start = ((y * SIDE + x) * 4) as usize;
            &pixels[start..start + 4]
        };
        assert_eq!(at(0, 0)[3], 0, "the corner is clear");
        assert_eq!(at(32, 8), [0x1e, 0x1e, 0x2e, 255]);
        assert_eq!(at(29, 32), [0x89, 0xb4, 0xfa, 255]);
        assert_eq!(at(42, 46), [0xcd, 0xd6, 0xf4, 255]);
        assert!(icon().is_some());
    }
}
