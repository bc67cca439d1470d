//! Text from programs, made safe to display: without control characters or direction marks, and of limited length.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::cap::Caps;

/// Accepts base64 with and without padding.
pub(super) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The text cleaned by [`fit`]. Logs and returns `None` if the result exceeds `cap` bytes.
pub(super) fn clean(
    caps: &mut Caps,
    text: &[u8],
    cap: usize,
    what: &'static str,
) -> Option<String> {
    let clean = fit(text, cap);
    if clean.is_none() {
        caps.dropped(what, cap);
    }
    clean
}

/// The text without control characters and direction marks; `None` if the result exceeds `cap` bytes.
pub(super) fn fit(text: &[u8], cap: usize) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let mut clean = String::new();
    for c in text.chars().filter(|c| !c.is_control() && !is_bidi(*c)) {
        if clean.len() + c.len_utf8() > cap {
            return None;
        }
        clean.push(c);
    }
    Some(clean)
}

/// Decodes base64 and cleans the text like `clean`. Also logs and returns `None` for invalid base64.
pub(super) fn clean_base64(
    caps: &mut Caps,
    encoded: &[u8],
    cap: usize,
    what: &'static str,
) -> Option<String> {
    let Ok(text) = BASE64.decode(encoded) else {
        tracing::debug!(what, "dropped: no base64");
        return None;
    };
    clean(caps, &text, cap, what)
}

/// Whether a character would change the order of surrounding text (UAX #9 explicit formatting).
fn is_bidi(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// An identifier as kitty's protocols define it. Returns `None` for anything else, which is never echoed.
pub(super) fn identifier(text: &str, cap: usize) -> Option<&str> {
    let is_fit = |b: u8| b.is_ascii_alphanumeric() || b"_-+.".contains(&b);
    ((1..=cap).contains(&text.len()) && text.bytes().all(is_fit)).then_some(text)
}

/// Decodes `%XX` in a text; invalid escapes stay unchanged.
pub(super) fn percent_decode(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, tail @ ..] = rest {
        if let (b'%', [high, low, ..]) = (first, tail)
            && let (Some(high), Some(low)) =
                ((*high as char).to_digit(16), (*low as char).to_digit(16))
        {
            out.push((high << 4 | low) as u8);
            rest = &tail[2..];
        } else {
            out.push(*first);
            rest = tail;
        }
    }
    out
}
