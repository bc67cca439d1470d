//! Changes an input slightly.

use super::{Random, dictionary};

/// The maximum length of a mutated input.
const LONGEST: usize = 96 << 10;

/// Changes `input` in a few places, sometimes with pieces of `other`.
pub fn mutate(input: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..=random.below(6) {
        let at = random.below(input.len() + 1);
        let end = (at + 1 + random.below(32)).min(input.len());
        match random.below(9) {
            0 if at < input.len() => input[at] ^= 1 << random.below(8),
            1 if at < input.len() => input[at] = random.next() as u8,
            2 if at < end => drop(input.drain(at..end)),
            3 if at < end => {
                let piece = input[at..end].repeat(1 + random.below_one_of(&[2, 2, 40]));
                input.splice(at..at, piece);
            }
            4 if !other.is_empty() => {
                let from = random.below(other.len());
                let to = (from + 1 + random.below(200)).min(other.len());
                input.splice(at..at, other[from..to].iter().copied());
            }
            5 => {
                let word = random.pick(dictionary::PIECES);
                input.splice(at..at, word.bytes());
            }
            6 => input.truncate(at),
            7 => number(input, at, random),
            _ => input.insert(at, random.pick(b"\x1b\x18\x1a\x07\n\r\x08\x9b\x9c;:?0\xf0\xe4")),
        }
    }
    input.truncate(LONGEST);
}

/// Replaces the next number in the input by another number.
fn number(input: &mut Vec<u8>, at: usize, random: &mut Random) {
    let Some(start) = input[at..].iter().position(u8::is_ascii_digit).map(|i| at + i) else {
        return;
    };
    let len = input[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = random.pick(dictionary::NUMBERS).to_string();
    input.splice(start..start + len, number.bytes());
}
