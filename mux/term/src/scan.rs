//! Searches bytes for the end of a run of text, 16 bytes at a time if the processor supports it.

/// The number of bytes of printable ASCII (0x20–0x7e) at the start of `bytes`.
#[inline]
pub(crate) fn ascii_run(bytes: &[u8]) -> usize {
    run::<ASCII>(bytes)
}

/// The number of bytes at the start of `bytes` that are neither C0 controls nor DEL.
#[inline]
pub(crate) fn text_run(bytes: &[u8]) -> usize {
    run::<TEXT>(bytes)
}

/// The number of bytes at the start of `bytes` that are not C0 controls. A string contains at least these bytes.
#[inline]
pub(crate) fn string_run(bytes: &[u8]) -> usize {
    run::<STRING>(bytes)
}

const ASCII: u8 = 0;
const TEXT: u8 = 1;
const STRING: u8 = 2;

#[inline(always)]
fn inside<const SET: u8>(byte: u8) -> bool {
    match SET {
        ASCII => byte.wrapping_sub(0x20) < 0x5f,
        TEXT => byte >= 0x20 && byte != 0x7f,
        _ => byte >= 0x20,
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn run<const SET: u8>(bytes: &[u8]) -> usize {
    use std::arch::x86_64::*;
    const LANES: usize = 16;
    let mut at = 0;
    while at + LANES <= bytes.len() {
        // SAFETY: SSE2 is part of x86-64; the 16 bytes read lie inside `bytes`.
        let outside = unsafe {
            let x = _mm_loadu_si128(bytes.as_ptr().add(at).cast());
            // The comparison is signed, so bytes from 0x80 on count as negative.
            let control = _mm_cmplt_epi8(x, _mm_set1_epi8(0x20));
            let delete = _mm_cmpeq_epi8(x, _mm_set1_epi8(0x7f));
            let high = _mm_movemask_epi8(x);
            match SET {
                ASCII => _mm_movemask_epi8(_mm_or_si128(control, delete)),
                TEXT => _mm_movemask_epi8(control) & !high | _mm_movemask_epi8(delete),
                _ => _mm_movemask_epi8(control) & !high,
            }
        };
        if outside != 0 {
            return at + outside.trailing_zeros() as usize;
        }
        at += LANES;
    }
    at + bytes[at..].iter().take_while(|&&b| inside::<SET>(b)).count()
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn run<const SET: u8>(bytes: &[u8]) -> usize {
    const LANES: usize = 16;
    let mut at = 0;
    for chunk in bytes.chunks_exact(LANES) {
        // Use no branch in the loop, so that it compiles to vector instructions.
        if !chunk.iter().fold(true, |all, &b| all & inside::<SET>(b)) {
            break;
        }
        at += LANES;
    }
    at + bytes[at..].iter().take_while(|&&b| inside::<SET>(b)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place_ends_the_runs_it_should() {
        for byte in 0..=255u8 {
            for at in 0..40 {
                let mut bytes = [b'a'; 40];
                bytes[at] = byte;
                let expected = |ends: bool| if ends { at } else { 40 };
                assert_eq!(ascii_run(&bytes), expected(!(0x20..0x7f).contains(&byte)));
                assert_eq!(text_run(&bytes), expected(byte < 0x20 || byte == 0x7f));
                assert_eq!(string_run(&bytes), expected(byte < 0x20));
            }
        }
    }
}
