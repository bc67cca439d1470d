//! SHA-256 as hexadecimal digits, and random names.

use std::fmt::Write as _;

use ring::{
    digest::{SHA256, digest},
    rand::{SecureRandom as _, SystemRandom},
};

/// The SHA-256 of a text, as 64 hexadecimal digits.
pub fn sha256(text: &str) -> String {
    hex(digest(&SHA256, text.as_bytes()).as_ref())
}

/// The first digits of the SHA-256 of a text. They identify the text, and are safe in subjects and keys.
pub fn short(text: &str, digits: usize) -> String {
    let mut name = sha256(text);
    name.truncate(digits);
    name
}

/// Random bytes, each written as two hexadecimal digits.
///
/// # Errors
/// The system provides no random numbers.
pub fn random<const BYTES: usize>() -> anyhow::Result<String> {
    let mut bytes = [0; BYTES];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| anyhow::anyhow!("the system provides no random numbers"))?;
    Ok(hex(&bytes))
}

fn hex(bytes: &[u8]) -> String {
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
    fn digests_are_those_of_the_standard() {
        // The one-block example of FIPS 180-4.
        assert_eq!(
            sha256("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(short("abc", 12), "ba7816bf8f01");
        assert_ne!(random::<8>().unwrap(), random::<8>().unwrap());
        assert_eq!(random::<8>().unwrap().len(), 16);
    }
}
