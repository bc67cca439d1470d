//! Colors as six hexadecimal digits: `#{c:red}`.

/// The names of the first eight colors, in their order.
const NAMES: [&str; 8] = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
/// xterm's 16 colors, as in tmux.
const FIRST: [u32; 16] = [
    0x00_0000, 0x80_0000, 0x00_8000, 0x80_8000, 0x00_0080, 0x80_0080, 0x00_8080, 0xc0_c0c0,
    0x80_8080, 0xff_0000, 0x00_ff00, 0xff_ff00, 0x00_00ff, 0xff_00ff, 0x00_ffff, 0xff_ffff,
];

/// The color of a name (`red`, `brightred`), of an index (`colour123`) or of digits (`#ff0000`). `None` for another
/// text.
pub fn hexadecimal(name: &str) -> Option<String> {
    if let Some(digits) = name.strip_prefix('#') {
        let is_color = digits.len() == 6 && digits.chars().all(|char| char.is_ascii_hexdigit());
        return is_color.then(|| digits.to_ascii_lowercase());
    }
    let name = name.to_ascii_lowercase();
    let index = name.strip_prefix("colour").or_else(|| name.strip_prefix("color"));
    let color = match index {
        Some(index) => of_index(index.parse().ok()?),
        None => {
            let (name, bright) = match name.strip_prefix("bright") {
                Some(name) => (name, 8),
                None => (name.as_str(), 0),
            };
            of_index(u8::try_from(NAMES.iter().position(|known| *known == name)?).ok()? + bright)
        }
    };
    Some(format!("{color:06x}"))
}

/// xterm's color with this index: 16 colors, a cube of 6×6×6 colors, and 24 grays.
fn of_index(index: u8) -> u32 {
    match index {
        0..16 => FIRST[usize::from(index)],
        16..232 => {
            let index = u32::from(index) - 16;
            let level = |level: u32| if level == 0 { 0 } else { 55 + 40 * level };
            level(index / 36) << 16 | level(index / 6 % 6) << 8 | level(index % 6)
        }
        232.. => 0x01_0101 * (8 + 10 * (u32::from(index) - 232)),
    }
}
