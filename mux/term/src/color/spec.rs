//! Colors as text: the forms of XParseColor(3), and kitty's alpha suffix, which is ignored.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::cie;
use crate::Rgb;

/// Maximum bytes of a color that are read; every form is shorter.
const SPEC_CAP: usize = 128;

/// X11's color names (rgb.txt), in lower case and without spaces.
static NAMES: LazyLock<FxHashMap<&str, Rgb>> = LazyLock::new(|| {
    include_str!("names.txt")
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(name, rgb)| Some((name, Rgb::hex(u32::from_str_radix(rgb, 16).ok()?))))
        .collect()
});

/// Parses a color: `#rgb` with one to four digits per channel, `rgb:r/g/b`, `rgba:r/g/b/a`, one of the forms of
/// [`cie`], or a name.
pub(crate) fn parse(spec: &[u8]) -> Option<Rgb> {
    let spec = std::str::from_utf8(spec.get(..SPEC_CAP).unwrap_or(spec)).ok()?.trim();
    let spec = spec.split_once('@').map_or(spec, |(color, _alpha)| color);
    if let Some(digits) = spec.strip_prefix('#') {
        return hash(digits);
    }
    let Some((form, channels)) = spec.split_once(':') else { return Rgb::named(spec) };
    match form.to_ascii_lowercase().as_str() {
        "rgb" => three(channels, scaled),
        "rgba" => {
            let (rgb, alpha) = channels.rsplit_once('/')?;
            scaled(alpha)?;
            three(rgb, scaled)
        }
        form => cie::parse(form, channels),
    }
}

/// Parses a color of OSC 21. Like [`parse`], except that the numbers of `rgbi:r/g/b` are fractions of the monitor's
/// values, clipped to 0–1 (kitty, "Color value encoding"). XParseColor takes them for intensities of light.
pub(crate) fn parse_control(spec: &[u8]) -> Option<Rgb> {
    let spec = spec.get(..SPEC_CAP).unwrap_or(spec).trim_ascii();
    match spec.split_at_checked(5) {
        Some((form, channels)) if form.eq_ignore_ascii_case(b"rgbi:") => {
            let channels = std::str::from_utf8(channels).ok()?;
            three(channels.split_once('@').map_or(channels, |(color, _alpha)| color), fraction)
        }
        _ => parse(spec),
    }
}

/// A number, of which 1 is full intensity.
fn fraction(number: &str) -> Option<u8> {
    let number: f64 = number.trim().parse().ok()?;
    (!number.is_nan()).then(|| (number.clamp(0.0, 1.0) * 255.0).round() as u8)
}

/// `#rgb`: the digits are the most significant digits of each channel, unlike in `rgb:`.
fn hash(digits: &str) -> Option<Rgb> {
    let each = digits.len() / 3;
    if !digits.is_ascii() || !digits.len().is_multiple_of(3) || !(1..=4).contains(&each) {
        return None;
    }
    let channel = |i: usize| {
        let value = hex(&digits[i * each..(i + 1) * each])?;
        Some((value << (16 - 4 * each) >> 8) as u8)
    };
    Some(Rgb { r: channel(0)?, g: channel(1)?, b: channel(2)? })
}

fn three(channels: &str, channel: fn(&str) -> Option<u8>) -> Option<Rgb> {
    let mut channels = channels.split('/').map(channel);
    let color = Rgb { r: channels.next()??, g: channels.next()??, b: channels.next()?? };
    channels.next().is_none().then_some(color)
}

/// One to four digits, scaled so that the highest number is full intensity.
fn scaled(digits: &str) -> Option<u8> {
    if !(1..=4).contains(&digits.len()) {
        return None;
    }
    let max = (1u32 << (4 * digits.len())) - 1;
    Some(((hex(digits)? * 255 + max / 2) / max) as u8)
}

fn hex(digits: &str) -> Option<u32> {
    // from_str_radix would accept a sign.
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

impl Rgb {
    /// The color with one of X11's names (rgb.txt), in any case and with or without spaces.
    pub fn named(name: &str) -> Option<Self> {
        let name: String =
            name.chars().filter(|c| *c != ' ').map(|c| c.to_ascii_lowercase()).collect();
        // The table spells the numbered grays only one way.
        let gray = name.strip_prefix("grey").map(|level| format!("gray{level}"));
        NAMES.get(name.as_str()).or_else(|| NAMES.get(gray?.as_str())).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rgbi_is_linear_in_osc_21() {
        for (spec, expected) in [
            ("rgbi:1/0.5/0", 0xff8000),
            ("RGBI:1e0/+.5/-0.25", 0xff8000),
            ("rgbi:2/0.2/0@0.5", 0xff3300),
            ("rgb:ff/80/00", 0xff8000),
            ("red", 0xff0000),
        ] {
            assert_eq!(parse_control(spec.as_bytes()), Some(Rgb::hex(expected)), "{spec}");
        }
        for spec in ["rgbi:", "rgbi:1/1", "rgbi:1/1/1/1", "rgbi:nan/0/0", "rgbi:a/b/c", "rgbi"] {
            assert_eq!(parse_control(spec.as_bytes()), None, "{spec}");
        }
        // XParseColor's intensities, for all other sequences.
        assert_ne!(parse(b"rgbi:0.5/0.5/0.5"), parse_control(b"rgbi:0.5/0.5/0.5"));
    }

    #[test]
    fn every_form_of_a_colour() {
        for (spec, expected) in [
            ("#f80", 0xf08000),
            ("#ff8000", 0xff8000),
            ("#ff08001ff", 0xff801f),
            ("#ffff80000000", 0xff8000),
            ("rgb:f/8/0", 0xff8800),
            ("rgb:ff/80/00", 0xff8000),
            ("RGB:fff/800/000", 0xff8000),
            ("rgb:ffff/8080/0", 0xff8000),
            ("rgba:ff/80/00/80", 0xff8000),
            ("red@0.5", 0xff0000),
            ("Navy Blue", 0x000080),
            ("navyblue", 0x000080),
            ("AntiqueWhite3", 0xcdc0b0),
            ("rebecca purple", 0x663399),
            ("gray50", 0x7f7f7f),
            ("grey50", 0x7f7f7f),
            ("grey100", 0xffffff),
        ] {
            assert_eq!(parse(spec.as_bytes()), Some(Rgb::hex(expected)), "{spec}");
        }
        for spec in [
            "",
            "#",
            "#ff",
            "#fffff",
            "#ggg",
            "#+f+f+f",
            "rgb:",
            "rgb:1/2",
            "rgb:1/2/3/4",
            "rgb:12345/0/0",
            "rgb:-1/0/0",
            "rgbi:a/b/c",
            "rgbi:nan/0/0",
            "rgba:1/2/3",
            "gray101",
            "gray+5",
            "nocolour",
            "#é",
            "?",
        ] {
            assert_eq!(parse(spec.as_bytes()), None, "{spec}");
        }
        assert_eq!(parse(&[b'f'; 100_000]), None);
        assert_eq!(parse(b"\xff\xff"), None);
    }
}
