//! The Glyph Protocol (APC `25a1`): programs register outlines for code points of Unicode's private use areas.
//!
//! Owns the registered glyphs and the sequences `ESC _ 25a1 ; … ESC \`. Decodes outlines and paint graphs, and draws
//! nothing. The cells keep the code points: selection, search and copied text never contain anything else. Both screens
//! show the same glyphs. Only RIS and the program remove them; DECSTR keeps them.
//!
//! Source: <https://github.com/raphamorim/rio/blob/main/specs/glyph-protocol.md>, version 1.11. It leaves the lowest y
//! of a glyph's extent open. Here that is 0, as in ghostty.

mod color;
mod coverage;
mod error;
mod outline;
mod paint;
mod placement;
mod registry;
mod table;

use std::fmt::Write;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

pub(crate) use coverage::CoverageQuery;
pub use coverage::FontCoverage;
pub use outline::{GlyphOutline, OutlinePoint};
pub use paint::{
    ColorExtend, ColorLine, ColorPicture, ColorStop, CompositeMode, GlyphColor, GlyphFill,
    GlyphPaint, GlyphPicture,
};
pub use placement::{GlyphAlign, GlyphPlacement, GlyphScale};
pub use registry::{RegisteredGlyph, RegisteredGlyphs};

use crate::term::Term;
use error::GlyphError;
use registry::{GlyphFormat, is_private};

/// Maximum bytes of a payload (the protocol's section 6.2).
const PAYLOAD_CAP: usize = 64 << 10;

/// Accepts base64 with and without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The parameters of a request. Unknown ones are ignored, and of several with one name, the last counts.
struct Parameters<'a>(&'a str);

impl<'a> Parameters<'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        let parts = self.0.rsplit(';').filter_map(|part| part.split_once('='));
        let mut values = parts.filter(|(key, _)| key.trim() == name);
        values.next().map(|(_, value)| value.trim())
    }

    /// The number of the code point. It need not be one of Unicode.
    fn code(&self) -> Option<u32> {
        let digits = self.get("cp").filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()));
        digits.and_then(|digits| u32::from_str_radix(digits, 16).ok())
    }
}

/// The code point for which a program may register a glyph.
fn private(code: u32) -> Result<char, GlyphError> {
    let code = Some(code).filter(|code| is_private(*code));
    code.and_then(char::from_u32).ok_or(GlyphError::OutOfNamespace)
}

impl Term {
    /// Handles a request: the text after `25a1`.
    pub(crate) fn glyph_protocol(&mut self, request: &[u8]) {
        let request = std::str::from_utf8(request).ok().and_then(|text| text.strip_prefix(';'));
        let Some(request) = request else { return tracing::debug!("invalid glyph request") };
        let (verb, rest) = request.split_once(';').unwrap_or((request, ""));
        match verb.trim() {
            "s" => {
                let formats = GlyphFormat::ALL.map(GlyphFormat::name).join(",");
                self.reply_text(format!("\x1b_25a1;s;fmt={formats}\x1b\\"));
            }
            "q" => self.query_glyph(&Parameters(rest)),
            "r" => self.register_glyph(rest),
            "c" => self.clear_glyphs(&Parameters(rest)),
            _ => tracing::debug!("unknown verb of a glyph request"),
        }
    }

    /// Reports who draws a code point.
    fn query_glyph(&mut self, parameters: &Parameters<'_>) {
        let Some(c) = parameters.code().and_then(char::from_u32) else {
            return tracing::debug!("glyph query without a code point");
        };
        match &self.fonts {
            Some(fonts) => {
                let query = CoverageQuery::new(fonts.clone(), c);
                self.look_up_apart(query);
            }
            None => self.report_glyph(c, false),
        }
    }

    /// Answers a query whose fonts have been asked.
    pub(crate) fn finish_glyph_query(&mut self, query: &CoverageQuery) {
        let (c, covers) = query.answer();
        self.report_glyph(c, covers);
    }

    fn report_glyph(&mut self, c: char, is_in_font: bool) {
        let status = match (is_in_font, self.glyphs.get(c).is_some()) {
            (false, false) => "",
            (true, false) => "system",
            (false, true) => "glossary",
            (true, true) => "system,glossary",
        };
        self.reply_text(format!("\x1b_25a1;q;cp={:x};status={status}\x1b\\", u32::from(c)));
    }

    fn register_glyph(&mut self, rest: &str) {
        let (parameters, payload) = rest.rsplit_once(';').unwrap_or(("", rest));
        let parameters = Parameters(parameters);
        let Some(code) = parameters.code() else {
            return tracing::debug!("glyph without a code point");
        };
        let made = private(code).and_then(|c| Ok((c, glyph(&parameters, payload)?)));
        let reply = parameters.get("reply");
        match made {
            Ok((c, glyph)) => {
                Arc::make_mut(&mut self.glyphs).insert(c, glyph, &mut self.caps);
                if !matches!(reply, Some("0" | "2")) {
                    self.reply_text(format!("\x1b_25a1;r;cp={code:x};status=0\x1b\\"));
                }
            }
            Err(error) => {
                let reason = error.reason();
                tracing::debug!(reason, "glyph rejected");
                if reply != Some("0") {
                    self.reply_text(format!(
                        "\x1b_25a1;r;cp={code:x};status=1;reason={reason}\x1b\\"
                    ));
                }
            }
        }
    }

    fn clear_glyphs(&mut self, parameters: &Parameters<'_>) {
        let code = parameters.get("cp").map(|_| parameters.code().unwrap_or(0));
        match code.map(private).transpose() {
            Ok(None) => self.forget_glyphs(),
            Ok(Some(c)) if self.glyphs.get(c).is_some() => {
                Arc::make_mut(&mut self.glyphs).remove(c);
            }
            Ok(Some(_)) => {}
            Err(error) => {
                let reason = error.reason();
                return self.reply_text(format!("\x1b_25a1;c;status=1;reason={reason}\x1b\\"));
            }
        }
        self.reply(b"\x1b_25a1;c;status=0\x1b\\");
    }

    /// Removes all registered glyphs.
    pub(crate) fn forget_glyphs(&mut self) {
        if !self.glyphs.is_empty() {
            Arc::make_mut(&mut self.glyphs).clear();
        }
    }

    /// Writes the sequences that register the glyphs again. For [`Term::to_vt`].
    pub(crate) fn write_glyphs(&self, out: &mut String) {
        for (c, glyph) in self.glyphs.iter() {
            let (code, format, placement) = (u32::from(c), glyph.format.name(), glyph.placement());
            let payload = BASE64.encode(&glyph.payload);
            let _ = write!(
                out,
                "\x1b_25a1;r;cp={code:x};fmt={format};reply=0;{placement};{payload}\x1b\\"
            );
        }
    }

    /// The registered glyphs as text, for [`Term::dump`].
    pub(crate) fn dump_glyphs(&self, out: &mut String) {
        let mut text = String::new();
        self.write_glyphs(&mut text);
        if !text.is_empty() {
            let _ = writeln!(out, "glyphs {}", text.replace('\x1b', ""));
        }
    }
}

/// The glyph that the parameters and the payload of a registration describe.
fn glyph(parameters: &Parameters<'_>, payload: &str) -> Result<RegisteredGlyph, GlyphError> {
    let format = match parameters.get("fmt") {
        None => GlyphFormat::Glyf,
        Some(name) => {
            let known = GlyphFormat::ALL.into_iter().find(|format| format.name() == name);
            known.ok_or(GlyphError::MalformedPayload)?
        }
    };
    let placement = GlyphPlacement::new(|name| parameters.get(name))?;
    let payload = BASE64.decode(payload.trim()).map_err(|_| GlyphError::MalformedPayload)?;
    if payload.len() > PAYLOAD_CAP {
        return Err(GlyphError::PayloadTooLarge);
    }
    RegisteredGlyph::new(format, placement, payload)
}
