//! Searches over bytes that the compiler turns into SIMD: how far text goes.

const LANES: usize = 32;

/// Bytes of printable ASCII (0x20–0x7e) at the start of `bytes`.
#[inline]
pub(crate) fn ascii_run(bytes: &[u8]) -> usize {
    run(bytes, |b| b.wrapping_sub(0x20) < 0x5f)
}

/// Bytes that are neither C0 controls nor DEL at the start of `bytes`.
#[inline]
pub(crate) fn text_run(bytes: &[u8]) -> usize {
    run(bytes, |b| b >= 0x20 && b != 0x7f)
}

/// Bytes that are not C0 controls at the start of `bytes`: how far a string goes at least.
#[inline]
pub(crate) fn string_run(bytes: &[u8]) -> usize {
    run(bytes, |b| b >= 0x20)
}

#[inline(always)]
fn run(bytes: &[u8], inside: impl Fn(u8) -> bool) -> usize {
    let mut at = 0;
    for chunk in bytes.chunks_exact(LANES) {
        if !chunk.iter().fold(true, |all, &b| all & inside(b)) {
            break;
        }
        at += LANES;
    }
    at + bytes[at..].iter().take_while(|&&b| inside(b)).count()
}
