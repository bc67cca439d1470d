//! Random names.

use ring::rand::{SecureRandom as _, SystemRandom};

use crate::sha256::hex;

/// Random bytes, each written as two hexadecimal digits.
///
/// # Errors
/// The system provides no random numbers.
pub fn random_hex<const BYTES: usize>() -> anyhow::Result<String> {
    let mut bytes = [0; BYTES];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| anyhow::anyhow!("the system provides no random numbers"))?;
    Ok(hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_names_differ() {
        assert_ne!(random_hex::<8>().unwrap(), random_hex::<8>().unwrap());
        assert_eq!(random_hex::<8>().unwrap().len(), 16);
    }
}
