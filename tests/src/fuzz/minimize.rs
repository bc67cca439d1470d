//! Minimizes a failing input.

use super::HEADER;

/// The maximum number of runs.
const TRIES: usize = 4000;

/// Finds a short input for which `fails` is true. Removes pieces of the stream, large pieces first, and then replaces
/// bytes by plain ones.
pub fn minimize(input: &[u8], mut fails: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut best = input.to_vec();
    let mut tries = 0;
    let mut try_one = |candidate: &[u8]| {
        tries += 1;
        (tries <= TRIES).then(|| fails(candidate))
    };
    let mut piece = best.len().saturating_sub(HEADER).next_power_of_two();
    while piece > 0 {
        let mut at = HEADER;
        let mut any = false;
        while at < best.len() {
            let end = (at + piece).min(best.len());
            let candidate = [&best[..at], &best[end..]].concat();
            match try_one(&candidate) {
                Some(true) => {
                    best = candidate;
                    any = true;
                }
                Some(false) => at = end,
                None => return best,
            }
        }
        // After a removal, another piece of the same size may be removable.
        if !any || piece > 64 {
            piece /= 2;
        }
    }
    for at in 0..best.len() {
        let byte = std::mem::replace(&mut best[at], b'x');
        if byte != b'x' && try_one(&best) != Some(true) {
            best[at] = byte;
        }
    }
    best
}
