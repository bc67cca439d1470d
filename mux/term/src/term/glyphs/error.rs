//! Why a registration fails, by the names of the protocol.

/// A reason to reject a request (the protocol's section 6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GlyphError {
    /// The code point is not in a private use area.
    OutOfNamespace,
    /// An outline consists of other outlines.
    CompositeUnsupported,
    /// An outline contains instructions, which would be executed.
    HintingUnsupported,
    /// A parameter or the payload is not valid, or a paint graph exceeds a limit.
    MalformedPayload,
    /// The payload exceeds [`super::PAYLOAD_CAP`].
    PayloadTooLarge,
    /// The outlines have more than [`super::outline::POINTS_CAP`] points.
    OutlineTooLarge,
}

impl GlyphError {
    /// The protocol's name of the reason.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::OutOfNamespace => "out_of_namespace",
            Self::CompositeUnsupported => "composite_unsupported",
            Self::HintingUnsupported => "hinting_unsupported",
            Self::MalformedPayload => "malformed_payload",
            Self::PayloadTooLarge => "payload_too_large",
            Self::OutlineTooLarge => "outline_too_large",
        }
    }
}
