//! The parameters of a control sequence.

/// The maximum number of parameters of a sequence. Further parameters are ignored, and the sequence still takes effect,
/// as in xterm (whose limit is 30: charproc.c, `nparam < NPARAM` at `CASE_ESC_SEMI` and `CASE_ESC_COLON`). In xterm,
/// the digits of further parameters are added to the last stored parameter; here they are not.
pub(crate) const MAX_PARAMS: usize = 32;

/// The numbers of a CSI. Each is either a new parameter (after `;`) or a part of the previous parameter (after `:`).
/// There is at least one number. A missing number is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Params {
    values: [u16; MAX_PARAMS],
    len: u8,
    /// Bit i is set if value i continues the previous parameter.
    parts: u32,
    /// Bit i is set if value i is present in the sequence, even if only as `0`.
    given: u32,
}

impl Params {
    #[inline]
    pub fn new() -> Self {
        Self { values: [0; MAX_PARAMS], len: 0, parts: 0, given: 0 }
    }

    /// Adds a number. Returns false if there is no more room.
    #[inline]
    pub fn push(&mut self, value: u16, part: bool) -> bool {
        let i = self.len as usize;
        if i == MAX_PARAMS {
            return false;
        }
        self.values[i] = value;
        self.parts |= (part as u32) << i;
        self.len += 1;
        true
    }

    /// The memory of the numbers. Set their count afterward with [`Params::set_len`].
    #[inline]
    pub fn room(&mut self) -> &mut [u16; MAX_PARAMS] {
        &mut self.values
    }

    /// Sets the count of numbers to `len`. Bit i of `parts` is set if number i continues the previous parameter.
    #[inline]
    pub fn set_len(&mut self, len: usize, parts: u32) {
        self.len = len.min(MAX_PARAMS) as u8;
        self.parts = parts;
    }

    /// Bit i of `given` is set if number i is present in the sequence.
    #[inline]
    pub fn set_given(&mut self, given: u32) {
        self.given = given;
    }

    /// All numbers: parameters and their parts.
    #[inline(always)]
    pub fn values(&self) -> &[u16] {
        &self.values[..self.len as usize]
    }

    /// Whether any number continues the previous parameter.
    #[inline(always)]
    pub fn has_parts(&self) -> bool {
        self.parts != 0
    }

    /// Whether number `i` continues the previous parameter.
    #[inline(always)]
    pub fn is_part(&self, i: usize) -> bool {
        self.parts >> i & 1 != 0
    }

    /// Number `i`, if it is present. Only XTWINOPS distinguishes a missing number from 0.
    pub fn given(&self, i: usize) -> Option<u16> {
        let value = self.get(i);
        (value != 0 || (i < MAX_PARAMS && self.given >> i & 1 != 0)).then_some(value)
    }

    /// Number `i`. 0 if it is missing.
    #[inline(always)]
    pub fn get(&self, i: usize) -> u16 {
        self.values().get(i).copied().unwrap_or(0)
    }

    /// Number `i` as a count: at least 1.
    #[inline(always)]
    pub fn count(&self, i: usize) -> usize {
        self.get(i).max(1) as usize
    }
}

impl From<&vte::Params> for Params {
    fn from(params: &vte::Params) -> Self {
        let mut own = Self::new();
        for param in params {
            for (i, value) in param.iter().enumerate() {
                own.push(*value, i > 0);
            }
        }
        own
    }
}

/// A complete control sequence (ECMA-48 5.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Csi {
    /// `<`, `=`, `>` or `?`. 0 if there is none.
    pub private: u8,
    /// The intermediate byte. 0 if there is none.
    pub intermediate: u8,
    /// The final byte.
    pub end: u8,
    pub params: Params,
}
