//! Reads numbers of OpenType tables, which are big-endian.

use super::error::GlyphError;

/// The bytes of a table. Reading beyond their end is an error.
#[derive(Clone, Copy)]
pub(super) struct Table<'a>(pub(super) &'a [u8]);

impl<'a> Table<'a> {
    fn array<const N: usize>(self, at: usize) -> Result<[u8; N], GlyphError> {
        let bytes = self.0.get(at..).and_then(|rest| rest.first_chunk());
        bytes.copied().ok_or(GlyphError::MalformedPayload)
    }

    pub(super) fn u8(self, at: usize) -> Result<u8, GlyphError> {
        self.array::<1>(at).map(|[byte]| byte)
    }

    pub(super) fn u16(self, at: usize) -> Result<u16, GlyphError> {
        self.array(at).map(u16::from_be_bytes)
    }

    pub(super) fn i16(self, at: usize) -> Result<i16, GlyphError> {
        self.array(at).map(i16::from_be_bytes)
    }

    pub(super) fn u24(self, at: usize) -> Result<usize, GlyphError> {
        self.array(at).map(|[a, b, c]| u32::from_be_bytes([0, a, b, c]) as usize)
    }

    pub(super) fn u32(self, at: usize) -> Result<usize, GlyphError> {
        self.array(at).map(|bytes| u32::from_be_bytes(bytes) as usize)
    }

    /// A number with 14 bits after the point.
    pub(super) fn f2dot14(self, at: usize) -> Result<f32, GlyphError> {
        self.i16(at).map(|value| f32::from(value) / 16_384.0)
    }

    /// A number with 16 bits after the point.
    pub(super) fn fixed(self, at: usize) -> Result<f32, GlyphError> {
        self.array(at).map(|bytes| (f64::from(i32::from_be_bytes(bytes)) / 65_536.0) as f32)
    }

    /// The `len` bytes from `at` on.
    pub(super) fn slice(self, at: usize, len: usize) -> Result<&'a [u8], GlyphError> {
        let end = at.checked_add(len).ok_or(GlyphError::MalformedPayload)?;
        self.0.get(at..end).ok_or(GlyphError::MalformedPayload)
    }
}
