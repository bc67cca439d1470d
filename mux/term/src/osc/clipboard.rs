//! OSC 52: programs write clipboards. Reading is not answered.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::term::Term;
use crate::{ClipboardTarget, Event};

/// Programs pad or don't.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl Term {
    /// `selections ; base64`. The scanner's cap on strings bounds the text.
    pub(super) fn write_clipboard(&mut self, rest: &[u8]) {
        let Some(at) = rest.iter().position(|&b| b == b';') else { return };
        let (targets, data) = (&rest[..at], &rest[at + 1..]);
        if data == b"?" {
            tracing::debug!("OSC 52 read refused");
            return;
        }
        let target = match targets.first() {
            Some(b'p' | b's') => ClipboardTarget::Primary,
            _ => ClipboardTarget::Clipboard,
        };
        match BASE64.decode(data).map(String::from_utf8) {
            Ok(Ok(text)) => self.event(Event::Clipboard { target, text }),
            _ => tracing::debug!(length = data.len(), "OSC 52 is no base64 of UTF-8"),
        }
    }
}
