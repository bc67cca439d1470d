//! OSC 66: text of another size (kitty's "The text sizing protocol").

use crate::TextSize;
use crate::term::Term;

/// Maximum bytes of a text.
const TEXT_CAP: usize = 4096;

impl Term {
    /// `key=value : … ; text`: prints the text. As in kitty, a number above its range is clamped to the maximum, and
    /// malformed metadata prints nothing.
    pub(super) fn print_text_size(&mut self, rest: &[u8]) {
        let Some(at) = rest.iter().position(|&byte| byte == b';') else {
            tracing::debug!("OSC 66 without a text");
            return;
        };
        let (metadata, text) = (&rest[..at], &rest[at + 1..]);
        if text.len() > TEXT_CAP {
            return self.caps.dropped("text of OSC 66", TEXT_CAP);
        }
        let Some(size) = parse(metadata) else {
            tracing::debug!("OSC 66 with malformed metadata");
            return;
        };
        // The protocol allows no controls in the text. As in kitty, the text is printed without them.
        let text: String =
            String::from_utf8_lossy(text).chars().filter(|c| !c.is_control()).collect();
        self.print_sized(&text, size);
    }
}

/// The size described by metadata; `None` if it is malformed.
fn parse(metadata: &[u8]) -> Option<TextSize> {
    let (mut scale, mut width) = (1, 0);
    let (mut numerator, mut denominator) = (0, 0);
    let (mut vertical, mut horizontal) = (0, 0);
    for pair in metadata.split(|&byte| byte == b':').filter(|_| !metadata.is_empty()) {
        let (key, value) = match pair {
            [key, b'=', value @ ..] => (key, number(value)?),
            _ => return None,
        };
        *match key {
            b's' => &mut scale,
            b'w' => &mut width,
            b'n' => &mut numerator,
            b'd' => &mut denominator,
            b'v' => &mut vertical,
            b'h' => &mut horizontal,
            _ => return None,
        } = value;
    }
    let size = TextSize::scaled(scale).with_width(width);
    Some(size.with_fraction(numerator, denominator).with_alignment(vertical, horizontal))
}

/// A decimal number.
fn number(digits: &[u8]) -> Option<u32> {
    let is_number = (1..=10).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()
}
