//! SHA-256 as hexadecimal digits.

use std::fmt::Write as _;

use ring::digest::{SHA256, digest};

/// The SHA-256 of a text, as 64 hexadecimal digits.
pub fn sha256(text: &str) -> String {
    hex(digest(&SHA256, text.as_bytes()).as_ref())
}

/// The first digits of the SHA-256 of a text. They identify the text, and are safe in subjects and keys.
pub fn sha256_prefix(text: &str, digits: usize) -> String {
    let mut name = sha256(text);
    name.truncate(digits);
    name
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        // Writing to memory can't fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sha256_matches_the_standards_example() {
        // The one-block example of FIPS 180-4.
        assert_eq!(
            sha256("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(sha256_prefix("abc", 12), "ba7816bf8f01");
    }
}
