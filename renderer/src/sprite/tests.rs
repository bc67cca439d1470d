use super::{Sprite, draw};
use crate::CellMetrics;

fn metrics(width: u32, height: u32, thickness: u32) -> CellMetrics {
    let baseline = height * 3 / 4;
    CellMetrics {
        width,
        height,
        baseline,
        underline: (baseline + 1).min(height - thickness),
        strike: height / 2,
        thickness,
    }
}

fn sizes() -> impl Iterator<Item = CellMetrics> {
    (5..28).flat_map(|width| {
        [(width * 2, 1), (width * 2 + 1, 1), (width * 9 / 5, 2)]
            .into_iter()
            .filter(move |(_, thickness)| width >= 6 * thickness)
            .map(move |(height, thickness)| metrics(width, height, thickness))
    })
}

fn sprite(c: char, metrics: &CellMetrics) -> Vec<u8> {
    draw(Sprite::of_char(c).unwrap(), metrics.width, metrics)
}

fn column(picture: &[u8], metrics: &CellMetrics, x: u32) -> Vec<u8> {
    (0..metrics.height).map(|y| picture[(y * metrics.width + x) as usize]).collect()
}

fn line(picture: &[u8], metrics: &CellMetrics, y: u32) -> Vec<u8> {
    picture[(y * metrics.width) as usize..][..metrics.width as usize].to_vec()
}

/// At the edge between two characters, the pixels on both sides are equal: no gap and no step.
#[test]
fn box_drawing_joins_without_seams() {
    for m in sizes() {
        let last = m.width - 1;
        for (left, right) in [
            "┌─", "─┐", "├─", "┼─", "─┤", "╭─", "─╮", "╰─", "─╯", "╔═", "═╗", "╠═", "╬═", "═╣",
            "╚═", "═╝", "╒═", "═╕", "╪═", "╞═", "┏━", "━┓", "╋━", "┍━", "┿━", "╟─", "─╢", "╫─",
            "╓─", "╼━", "─╼", "╦═", "═╩",
        ]
        .map(|pair| {
            let mut chars = pair.chars();
            (chars.next().unwrap(), chars.next().unwrap())
        }) {
            let (a, b) = (sprite(left, &m), sprite(right, &m));
            assert_eq!(column(&a, &m, last), column(&b, &m, 0), "{left}{right} at {m:?}");
        }
        let foot = m.height - 1;
        for (above, below) in [
            "┌│", "│└", "├│", "┼│", "│┴", "╭│", "│╰", "│╯", "╮│", "╔║", "║╚", "╠║", "╬║", "║╩",
            "╒│", "│╘", "╥║", "║╨", "╫║", "┏┃", "┃┗", "╋┃", "┰┃", "╟║", "╞│", "╽┃",
        ]
        .map(|pair| {
            let mut chars = pair.chars();
            (chars.next().unwrap(), chars.next().unwrap())
        }) {
            let (a, b) = (sprite(above, &m), sprite(below, &m));
            assert_eq!(line(&a, &m, foot), line(&b, &m, 0), "{above} over {below} at {m:?}");
        }
    }
}

/// Every character that is drawn in code draws something at every size, and nothing outside its cell. Only blank
/// braille is empty.
#[test]
fn every_sprite_draws() {
    for m in sizes().step_by(7) {
        let mut count = 0;
        for c in (0x2500..=0x1fbff).filter_map(char::from_u32) {
            let Some(picture) = Sprite::of_char(c).map(|_| sprite(c, &m)) else { continue };
            count += 1;
            assert_eq!(picture.len(), (m.width * m.height) as usize);
            let empty = picture.iter().all(|pixel| *pixel == 0);
            assert_eq!(empty, c == '\u{2800}', "{c} (U+{:04X}) at {m:?}", c as u32);
        }
        assert!(count > 1000, "{count}");
    }
}

/// The filled part of the cell, 0 to 1.
fn weight(c: char, m: &CellMetrics) -> f32 {
    let sum: u32 = sprite(c, m).iter().map(|pixel| u32::from(*pixel)).sum();
    sum as f32 / (255 * m.width * m.height) as f32
}

/// A character fills about the fraction of its cell that its Unicode name states.
#[test]
fn mosaics_fill_the_area_in_their_names() {
    for m in sizes().filter(|m| m.width > 7) {
        for (c, part) in [
            // Wedges: a third of the height over half the width, and so on.
            ('\u{1fb3c}', 1.0 / 12.0),
            ('\u{1fb3d}', 1.0 / 6.0),
            ('\u{1fb40}', 1.0 / 4.0),
            ('\u{1fb41}', 11.0 / 12.0),
            ('\u{1fb46}', 0.5),
            ('\u{1fb57}', 1.0 / 12.0),
            ('\u{1fb68}', 0.75),
            ('\u{1fb6c}', 0.25),
            ('\u{1fb82}', 0.25),
            ('\u{1fb8a}', 0.75),
            ('\u{1fb90}', 0.5),
            ('\u{1fb95}', 0.5),
            ('\u{1fb9a}', 0.5),
            ('\u{1fb9c}', 0.25),
            ('\u{1fbce}', 2.0 / 3.0),
            ('\u{1fbe4}', 0.25),
            ('\u{1cea0}', 0.125),
            ('\u{1cead}', 3.0 / 16.0),
            ('\u{1ce90}', 1.0 / 16.0),
            // One block of eight, and seven blocks of eight.
            ('\u{1cd00}', 0.125),
            ('\u{1cde5}', 0.875),
            ('\u{25e2}', 0.5),
        ] {
            let got = weight(c, &m);
            assert!((got - part).abs() < 0.09, "{c} (U+{:X}): {got} not {part} at {m:?}", c as u32);
        }
        for (a, b) in
            [('\u{1fb68}', '\u{1fb6c}'), ('\u{1fb3c}', '\u{1fb52}'), ('\u{1fb95}', '\u{1fb96}')]
        {
            let both = weight(a, &m) + weight(b, &m);
            assert!((both - 1.0).abs() < 0.02, "{a}{b} fill {both} at {m:?}");
        }
    }
}

/// Complementary blocks fill the cell together and don't overlap.
#[test]
fn blocks_complement_each_other() {
    for m in sizes() {
        for pair in ["▀▄", "▌▐", "▘▟", "▝▙", "▖▜", "▗▛", "▚▞", "🬂🬹"]
        {
            let mut chars = pair.chars();
            let (a, b) = (chars.next().unwrap(), chars.next().unwrap());
            for (a, b) in sprite(a, &m).into_iter().zip(sprite(b, &m)) {
                assert_eq!(a ^ b, 255, "{pair} at {m:?}");
            }
        }
    }
}

/// A curly underline continues smoothly in the next cell: it leaves a cell at the height at which it enters.
#[test]
fn curly_underline_joins() {
    for m in sizes() {
        let wave = draw(Sprite::Curly, m.width, &m);
        let height = |x: u32| {
            let column = column(&wave, &m, x);
            let weight: f32 = column.iter().map(|pixel| f32::from(*pixel)).sum();
            let sum: f32 =
                column.iter().zip(0u8..).map(|(p, y)| f32::from(*p) * f32::from(y)).sum();
            assert!(weight > 100.0, "nothing in column {x} at {m:?}");
            sum / weight
        };
        let step = (height(0) - height(m.width - 1)).abs();
        assert!(step <= 1.5, "a step of {step} pixels at {m:?}");
        let two = draw(Sprite::Curly, m.width * 2, &m);
        for y in 0..m.height {
            let wide = &two[(y * m.width * 2) as usize..][..m.width as usize * 2];
            assert_eq!(wide, line(&wave, &m, y).repeat(2));
        }
    }
}
