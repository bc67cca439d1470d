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

/// Where two characters meet, the pixels on both sides of the edge are the same: no gap and no step.
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

/// Every character that is drawn by code draws something, and never outside its cell.
#[test]
fn every_sprite_draws() {
    let m = metrics(9, 19, 1);
    let chars = ('\u{2500}'..='\u{259f}')
        .chain('\u{2801}'..='\u{28ff}')
        .chain('\u{e0b0}'..='\u{e0bf}')
        .chain('\u{1fb00}'..='\u{1fb3b}');
    for c in chars {
        let picture = sprite(c, &m);
        assert_eq!(picture.len(), 9 * 19);
        assert!(picture.iter().any(|pixel| *pixel > 0), "{c} (U+{:04X})", c as u32);
    }
    assert!(sprite('\u{2800}', &m).iter().all(|pixel| *pixel == 0));
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

/// A curly underline goes on in the next cell where it left this one: it leaves at the height it came in.
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
