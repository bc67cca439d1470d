//! The control data of a kitty graphics command: `key=value,…;payload`.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Accepts any padding: programs pad each chunk, only the last chunk, or none.
pub(crate) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// A command, with each field named after its key. The meaning of a key depends on the action; missing values are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Command {
    /// `a`: the action; 0 if missing.
    pub action: u8,
    /// `q`: which replies to suppress.
    pub quiet: u32,
    /// `i`, `I`, `p`: id of the image, its number, id of the placement.
    pub id: u32,
    pub number: u32,
    pub placement: u32,
    /// `d`: what to delete.
    pub delete: u8,
    /// `t`: medium; `o`: compression; `f`: format; 0 if missing.
    pub medium: u8,
    pub compression: u8,
    pub format: u32,
    /// `m`: more chunks follow.
    pub more: bool,
    /// `s`, `v`: size of the data; state and loops of an animation.
    pub s: u32,
    pub v: u32,
    /// `S`, `O`: part of a file.
    pub size: u32,
    pub offset: u32,
    pub x: u32,
    pub y: u32,
    pub w: u32,
    pub h: u32,
    /// `X`, `Y`.
    pub cell_x: u32,
    pub cell_y: u32,
    pub c: u32,
    pub r: u32,
    /// `C`: the cursor stays; a composition replaces instead of blending.
    pub stay: u32,
    /// `U`: a virtual placement.
    pub unicode: u32,
    pub z: i32,
    /// `P`, `Q`, `H`, `V`: parent of a relative placement.
    pub parent: u32,
    pub parent_placement: u32,
    pub parent_cols: i32,
    pub parent_rows: i32,
    /// `N`: usage hints, a set of bits.
    pub hints: u32,
}

/// The usage hint that an image is meant for a short time only.
const TRANSIENT: u32 = 1;

impl Command {
    /// Whether the data is meant for a short time only (kitty, "Usage hints").
    pub fn is_transient(&self) -> bool {
        self.hints & TRANSIENT != 0
    }

    /// Parses a command after `ESC _ G`. Returns it with its payload, still in base64, or `None` if a value is invalid
    /// for its key. Skips unknown keys.
    pub fn parse(string: &[u8]) -> Option<(Self, &[u8])> {
        let end = memchr::memchr(b';', string).unwrap_or(string.len());
        let payload = string.get(end + 1..).unwrap_or_default();
        let mut command = Self::default();
        for pair in string[..end].split(|&b| b == b',').filter(|pair| !pair.is_empty()) {
            let [key, b'=', value @ ..] = pair else { return None };
            command.set(*key, value)?;
        }
        Some((command, payload))
    }

    fn set(&mut self, key: u8, value: &[u8]) -> Option<()> {
        let field = match key {
            b'a' => return letter(value).map(|letter| self.action = letter),
            b'd' => return letter(value).map(|letter| self.delete = letter),
            b't' => return letter(value).map(|letter| self.medium = letter),
            b'o' => return letter(value).map(|letter| self.compression = letter),
            b'm' => return number::<u32>(value).map(|more| self.more = more != 0),
            b'z' => return number(value).map(|z| self.z = z),
            b'H' => return number(value).map(|cols| self.parent_cols = cols),
            b'V' => return number(value).map(|rows| self.parent_rows = rows),
            b'q' => &mut self.quiet,
            b'i' => &mut self.id,
            b'I' => &mut self.number,
            b'p' => &mut self.placement,
            b'f' => &mut self.format,
            b's' => &mut self.s,
            b'v' => &mut self.v,
            b'S' => &mut self.size,
            b'O' => &mut self.offset,
            b'x' => &mut self.x,
            b'y' => &mut self.y,
            b'w' => &mut self.w,
            b'h' => &mut self.h,
            b'X' => &mut self.cell_x,
            b'Y' => &mut self.cell_y,
            b'c' => &mut self.c,
            b'r' => &mut self.r,
            b'C' => &mut self.stay,
            b'U' => &mut self.unicode,
            b'P' => &mut self.parent,
            b'Q' => &mut self.parent_placement,
            b'N' => &mut self.hints,
            _ => {
                tracing::debug!(key, "unknown key of a graphics command");
                return Some(());
            }
        };
        *field = number(value)?;
        Some(())
    }
}

fn letter(value: &[u8]) -> Option<u8> {
    match value {
        [letter] if letter.is_ascii_alphabetic() => Some(*letter),
        _ => None,
    }
}

fn number<T: std::str::FromStr>(value: &[u8]) -> Option<T> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// Decodes a payload from base64; `None` if it is invalid.
pub(crate) fn payload(base64: &[u8]) -> Option<Vec<u8>> {
    BASE64.decode(base64).ok()
}
