//! The parameters of a control sequence.

/// Parameters of a sequence that are kept. What comes behind them is left out and the rest is acted on, as in xterm (there 30:
/// charproc.c, `nparam < NPARAM` at `CASE_ESC_SEMI` and `CASE_ESC_COLON`); unlike there, its digits don't go on the last kept.
pub(crate) const MAX_PARAMS: usize = 32;

/// Numbers of a CSI, each a parameter of its own (`;`) or a part of the one before (`:`). There is at least one; an
/// absent number is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Params {
    values: [u16; MAX_PARAMS],
    len: u8,
    /// Bit i: value i continues the parameter before it.
    parts: u32,
    /// Bit i: value i was written, were it only as `0`.
    given: u32,
}

impl Params {
    #[inline]
    pub fn new() -> Self {
        Self { values: [0; MAX_PARAMS], len: 0, parts: 0, given: 0 }
    }

    /// Adds a number; false when there is no room.
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

    /// Memory for the numbers; [`Params::set_len`] says how many there are.
    #[inline]
    pub fn room(&mut self) -> &mut [u16; MAX_PARAMS] {
        &mut self.values
    }

    /// The first `len` numbers count; `parts`: bit i, number i continues the parameter before it.
    #[inline]
    pub fn set_len(&mut self, len: usize, parts: u32) {
        self.len = len.min(MAX_PARAMS) as u8;
        self.parts = parts;
    }

    /// Bit i of `given`: number i was written out.
    #[inline]
    pub fn set_given(&mut self, given: u32) {
        self.given = given;
    }

    /// All numbers, whatever they belong to.
    #[inline(always)]
    pub fn values(&self) -> &[u16] {
        &self.values[..self.len as usize]
    }

    /// Whether any number continues the parameter before it.
    #[inline(always)]
    pub fn has_parts(&self) -> bool {
        self.parts != 0
    }

    /// Whether number `i` continues the parameter before it.
    #[inline(always)]
    pub fn is_part(&self, i: usize) -> bool {
        self.parts >> i & 1 != 0
    }

    /// Number `i` where it was written; only XTWINOPS tells an absent number from 0.
    pub fn given(&self, i: usize) -> Option<u16> {
        let value = self.get(i);
        (value != 0 || (i < MAX_PARAMS && self.given >> i & 1 != 0)).then_some(value)
    }

    /// Number `i`, 0 when absent.
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
    /// `<`, `=`, `>` or `?`; 0 for none.
    pub private: u8,
    /// Its intermediate byte; 0 for none.
    pub intermediate: u8,
    /// Its final byte.
    pub end: u8,
    pub params: Params,
}
