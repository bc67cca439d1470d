//! Short codes that a user reads on one screen and types on another.

use anyhow::Result;

use crate::{random::random_hex, sha256::sha256};

/// The letters of codes: Crockford's base 32, without letters that look like others.
const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// The number of letters, of 5 bits each.
const LENGTH: usize = 8;

/// A new code, such as `7K2M-9QXA`.
///
/// # Errors
/// The system provides no random numbers.
pub fn new_code() -> Result<String> {
    let mut bits = u64::from_str_radix(&random_hex::<5>()?, 16)?;
    let mut code = String::new();
    for place in 0..LENGTH {
        if place == LENGTH / 2 {
            code.push('-');
        }
        code.push(char::from(LETTERS[(bits % 32) as usize]));
        bits /= 32;
    }
    Ok(code)
}

/// The key under which a code is stored. The user may have typed the code in other forms, such as in lower case.
pub fn key(code: &str) -> String {
    let plain = code.chars().filter(char::is_ascii_alphanumeric).take(2 * LENGTH);
    let plain = plain.map(|letter| match letter.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        letter => letter,
    });
    sha256(&plain.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_may_be_written_in_several_ways() {
        let code = new_code().unwrap();
        assert_eq!((code.len(), code.find('-')), (LENGTH + 1, Some(LENGTH / 2)));
        assert_ne!(code, new_code().unwrap());
        assert_eq!(key("10AB-CDEF"), key(" iOab cdef\n"));
        assert_ne!(key("10AB-CDEF"), key("10AB-CDEG"));
    }
}
