//! How colors mix where one partly covers another: as coded values or as light.
//!
//! Owns the arithmetic that both painters follow. The GPU painter repeats it in `shader.wgsl`.

use std::sync::{Arc, LazyLock};

use rustc_hash::FxHashMap;
use unterm_term::Rgb;

/// The space in which colors are blended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Blending {
    /// Blends coded values (sRGB), as most programs do.
    #[default]
    Native,
    /// Blends linear light, which leaves no dark fringes between colors. Text coverage is corrected for the luminance of text and
    /// background, so that text is as bold as with [`Blending::Native`].
    Linear,
}

/// Full coverage, on the finer scale that light needs because dark colors lie close together there.
pub(crate) const WHOLE: u32 = 0xffff;

/// `0xffRRGGBB`.
pub(crate) fn pack(color: Rgb) -> u32 {
    0xff00_0000 | u32::from(color.r) << 16 | u32::from(color.g) << 8 | u32::from(color.b)
}

/// A color with this opacity as a `0xAARRGGBB` pixel, its channels multiplied by the opacity.
pub(crate) fn premultiplied(color: Rgb, opacity: u8) -> u32 {
    blend_pixel(0, pack(color), u32::from(opacity))
}

/// Mixes `a` toward `b` by `amount` of 255.
pub(crate) fn mix(a: Rgb, b: Rgb, amount: u8) -> Rgb {
    let channel = |a: u8, b: u8| blend(a, b, amount);
    Rgb { r: channel(a.r, b.r), g: channel(a.g, b.g), b: channel(a.b, b.b) }
}

/// Blends `above` over `below` with `alpha` of 255, rounded.
pub(crate) fn blend(below: u8, above: u8, alpha: u8) -> u8 {
    let alpha = u32::from(alpha);
    ((u32::from(below) * (255 - alpha) + u32::from(above) * alpha + 127) / 255) as u8
}

/// Blends `above` over `below` with `alpha` of 255. Rounds each channel as [`blend`] does, and processes
/// two channels at once, sixteen bits each.
#[inline]
pub(crate) fn blend_pixel(below: u32, above: u32, alpha: u32) -> u32 {
    const LANES: u32 = 0x00ff_00ff;
    // x / 255, rounded, without a division; x is at most 255 · 255.
    let divide = |x: u32| {
        let x = x + 0x0080_0080;
        (x + (x >> 8 & LANES)) >> 8 & LANES
    };
    let rest = 255 - alpha;
    let red_blue = divide((below & LANES) * rest + (above & LANES) * alpha);
    let alpha_green = divide((below >> 8 & LANES) * rest + (above >> 8 & LANES) * alpha);
    red_blue | alpha_green << 8
}

/// sRGB to light and back (IEC 61966-2-1), 0 to 1.
fn to_light(coded: f32) -> f32 {
    if coded <= 0.04045 { coded / 12.92 } else { ((coded + 0.055) / 1.055).powf(2.4) }
}

fn to_coded(light: f32) -> f32 {
    if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 }
}

/// Low bits of light that are dropped to index [`Tables::coded`].
const COARSE: u32 = 3;

struct Tables {
    /// Light of each coded value, from 0 to [`WHOLE`].
    light: [u16; 256],
    /// Coded value of light, indexed by the light's upper bits.
    coded: Box<[u8]>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let whole = WHOLE as f32;
    let light =
        std::array::from_fn(|coded| (to_light(coded as f32 / 255.0) * whole).round() as u16);
    let coded = (0..=WHOLE >> COARSE)
        .map(|step| {
            let light = ((step << COARSE) as f32 + (1 << COARSE) as f32 / 2.0 - 0.5) / whole;
            (to_coded(light) * 255.0).round() as u8
        })
        .collect();
    Tables { light, coded }
});

/// Light of a coded value, 0 to 1.
pub(crate) fn light(coded: u8) -> f32 {
    f32::from(TABLES.light[usize::from(coded)]) / WHOLE as f32
}

/// Relative luminance of a color (WCAG 2), 0 to 1.
pub(crate) fn luminance(color: Rgb) -> f32 {
    0.2126 * light(color.r) + 0.7152 * light(color.g) + 0.0722 * light(color.b)
}

/// Blends `above` over `below` as light, with `alpha` of [`WHOLE`].
#[inline]
pub(crate) fn blend_light(below: u32, above: u32, alpha: u32) -> u32 {
    let tables = &*TABLES;
    let rest = WHOLE - alpha;
    let channel = |shift: u32| {
        let of = |pixel: u32| u32::from(tables.light[(pixel >> shift & 0xff) as usize]);
        let mixed = (u64::from(of(below)) * u64::from(rest)
            + u64::from(of(above)) * u64::from(alpha)
            + u64::from(WHOLE / 2))
            / u64::from(WHOLE);
        u32::from(tables.coded[mixed as usize >> COARSE]) << shift
    };
    let opacity = ((below >> 24) * rest + (above >> 24) * alpha + WHOLE / 2) / WHOLE;
    opacity << 24 | channel(16) | channel(8) | channel(0)
}

/// Maps each coverage of 255 to a coverage of [`WHOLE`].
pub(crate) type Coverage = [u16; 256];

/// Leaves coverage uncorrected.
pub(crate) static PLAIN: Coverage = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = (i * 257) as u16;
        i += 1;
    }
    table
};

/// Corrected text coverage, cached for each pair of text and background color.
#[derive(Default)]
pub(crate) struct Corrections {
    known: FxHashMap<(Rgb, Rgb), Arc<Coverage>>,
}

/// Pairs to cache before the cache is cleared.
const MAX_PAIRS: usize = 1 << 10;

impl Corrections {
    /// The coverage table for text of this color on this background.
    pub(crate) fn get(&mut self, text: Rgb, background: Rgb) -> Arc<Coverage> {
        if self.known.len() >= MAX_PAIRS {
            self.known.clear();
        }
        let make = || {
            let (above, below) = (luminance(text), luminance(background));
            Arc::new(std::array::from_fn(|i| {
                (corrected(i as f32 / 255.0, above, below) * WHOLE as f32).round() as u16
            }))
        };
        self.known.entry((text, background)).or_insert_with(make).clone()
    }
}

/// The coverage that, blended as light, gives the lightness that `coverage` gives blended as coded values. `above` is
/// the luminance of the text, `below` that of the background.
fn corrected(coverage: f32, above: f32, below: f32) -> f32 {
    if (above - below).abs() <= 0.001 {
        return coverage;
    }
    let mixed = to_coded(above) * coverage + to_coded(below) * (1.0 - coverage);
    ((to_light(mixed) - below) / (above - below)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blending a packed pixel equals blending each of its channels, for every coverage.
    #[test]
    fn packed_blending_is_exact() {
        for alpha in 0..=255u8 {
            for below in 0..=255u8 {
                for above in [0, 1, 77, 127, 128, 200, 254, 255, below, 255 - below] {
                    let (other_below, other_above) = (255 - below, above / 2);
                    let pixel = |a: u8, b: u8| u32::from_be_bytes([b, a, b, a]);
                    let blended = blend_pixel(
                        pixel(below, other_below),
                        pixel(above, other_above),
                        u32::from(alpha),
                    );
                    let expected =
                        pixel(blend(below, above, alpha), blend(other_below, other_above, alpha));
                    assert_eq!(blended, expected, "{below} {above} {alpha}");
                }
            }
        }
    }

    /// Blending with none or all of a color is exact, and half of white on black is half the light.
    #[test]
    fn linear_blending_mixes_light() {
        for value in 0..=255u32 {
            let (gray, other) = (0xff00_0000 | (value * 0x01_0101), 0xff12_3456);
            assert_eq!(blend_light(gray, other, 0), gray);
            assert_eq!(blend_light(other, gray, WHOLE), gray);
        }
        let half = blend_light(0xff00_0000, 0xffff_ffff, WHOLE / 2);
        assert_eq!(half, 0xffbc_bcbc);
    }

    /// Gray text on gray looks the same in both spaces: the correction restores what native blending shows.
    #[test]
    fn corrected_text_is_as_bold_as_native_text() {
        let mut corrections = Corrections::default();
        let gray = |v: u8| Rgb { r: v, g: v, b: v };
        for (text, background) in [(255, 0), (0, 255), (205, 30), (40, 250), (120, 121)] {
            let table = corrections.get(gray(text), gray(background));
            for coverage in (0..=255u8).step_by(5) {
                let alpha = u32::from(table[usize::from(coverage)]);
                let mixed = blend_light(pack(gray(background)), pack(gray(text)), alpha) as u8;
                let native = blend(background, text, coverage);
                assert!(mixed.abs_diff(native) <= 2, "{text} on {background}: {mixed} {native}");
            }
        }
    }

    #[test]
    fn opacity_is_multiplied_into_the_colors() {
        assert_eq!(premultiplied(Rgb::hex(0xff8000), 255), 0xffff_8000);
        assert_eq!(premultiplied(Rgb::hex(0xff8000), 0), 0);
        assert_eq!(premultiplied(Rgb::hex(0xff8000), 128), 0x8080_4000);
    }
}
