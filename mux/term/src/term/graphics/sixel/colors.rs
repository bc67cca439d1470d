//! Color registers: initially those of a VT340, changed by `#`.

use crate::Rgb;

/// The VT340's colors, in percent of red, green and blue (VT330/VT340 Programmer Reference, volume 2, table 2-3).
const VT340: [[u32; 3]; 16] = [
    [0, 0, 0],
    [20, 20, 80],
    [80, 13, 13],
    [20, 80, 20],
    [80, 20, 80],
    [20, 80, 80],
    [80, 80, 20],
    [53, 53, 53],
    [26, 26, 26],
    [33, 33, 60],
    [60, 26, 26],
    [33, 60, 33],
    [60, 33, 60],
    [33, 60, 60],
    [60, 60, 33],
    [80, 80, 80],
];

/// The registers of an image.
pub(super) struct Registers(Vec<Rgb>);

impl Registers {
    /// `count` registers with their initial colors; at least one.
    pub fn new(count: u32) -> Self {
        let mut all: Vec<Rgb> = VT340.iter().map(|c| rgb(c[0], c[1], c[2])).collect();
        all.resize(count.max(1) as usize, Rgb::default());
        Self(all)
    }

    /// `count` registers with the colors that earlier images left.
    pub fn from(left: &[Rgb], count: u32) -> Self {
        let mut all = Self::new(count);
        for (own, left) in all.0.iter_mut().zip(left) {
            *own = *left;
        }
        all
    }

    pub fn as_slice(&self) -> &[Rgb] {
        &self.0
    }

    /// The register with the program's number `number`; numbers wrap around.
    pub fn get(&self, number: u32) -> Rgb {
        self.0[number as usize % self.0.len()]
    }

    /// Sets a register in a color space: 1 hue, lightness, saturation, 2 red, green, blue.
    pub fn set(&mut self, number: u32, space: u32, values: [u32; 3]) {
        let [x, y, z] = values;
        let color = match space {
            1 => hls(x % 361, y.min(100), z.min(100)),
            2 => rgb(x.min(100), y.min(100), z.min(100)),
            _ => return,
        };
        let count = self.0.len();
        self.0[number as usize % count] = color;
    }
}

/// A color from percentages.
fn rgb(r: u32, g: u32, b: u32) -> Rgb {
    let channel = |percent: u32| ((percent * 255 + 50) / 100) as u8;
    Rgb { r: channel(r), g: channel(g), b: channel(b) }
}

/// A color from hue in degrees (0 is blue, 120 red, 240 green), lightness and saturation in percent.
fn hls(hue: u32, lightness: u32, saturation: u32) -> Rgb {
    let (l, s) = (lightness as f32 / 100.0, saturation as f32 / 100.0);
    let chroma = (1.0 - (2.0 * l - 1.0).abs()) * s;
    let channel = |offset: u32| {
        // The distance of the hue from this channel's own, in sixths of the circle.
        let degrees = (hue + offset) % 360;
        let away = degrees.min(360 - degrees) as f32 / 60.0;
        let share = (2.0 - away).clamp(0.0, 1.0);
        ((l + chroma * (share - 0.5)) * 255.0 + 0.5).clamp(0.0, 255.0) as u8
    };
    Rgb { r: channel(240), g: channel(120), b: channel(0) }
}
