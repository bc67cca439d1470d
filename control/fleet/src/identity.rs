//! Keys of NATS (nkeys), and the id of a machine, which is computed from its key.

use std::fmt;

use anyhow::{Result, anyhow};
use nkeys::{KeyPair, KeyPairType};
use serde::{Deserialize, Serialize};

use crate::sha256::sha256_prefix;

/// The number of digits of a machine's id.
const DIGITS: usize = 12;

/// A machine's id: the first 12 hexadecimal digits of the SHA-256 of its public key. So no machine can choose its id,
/// and a machine can be paired only with the id of its own key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MachineId(String);

impl MachineId {
    /// The id of the machine with this public key.
    pub fn of_key(public_key: &str) -> Self {
        Self(sha256_prefix(public_key, DIGITS))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for MachineId {
    type Error = String;

    /// Parses an id as agents write it. Returns an error for everything else, which would be unsafe in a subject.
    fn try_from(text: String) -> Result<Self, String> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        match text.len() == DIGITS && text.bytes().all(is_digit) {
            true => Ok(Self(text)),
            false => Err(format!("a machine's id has {DIGITS} hexadecimal digits")),
        }
    }
}

impl From<MachineId> for String {
    fn from(id: MachineId) -> Self {
        id.0
    }
}

impl fmt::Display for MachineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of this machine that users see: its host name.
pub fn machine_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    unterm_control::escaped(&name)
}

/// The key pair with this seed.
///
/// # Errors
/// The text is not a seed.
pub fn key(seed: &str) -> Result<KeyPair> {
    KeyPair::from_seed(seed.trim()).map_err(|error| anyhow!("not a seed of an nkey: {error}"))
}

/// The public key of the machine with this seed.
///
/// # Errors
/// The text is not a seed.
pub fn machine_key_public(seed: &str) -> Result<String> {
    Ok(key(seed)?.public_key())
}

/// Whether a text is the public key of a user.
pub fn is_user_key(text: &str) -> bool {
    KeyPair::from_public_key(text).is_ok_and(|key| matches!(key.key_pair_type(), KeyPairType::User))
}

/// Creates a new seed of this kind.
///
/// # Errors
/// The system provides no random numbers.
pub fn new_seed(kind: KeyPairType) -> Result<String> {
    KeyPair::new(kind).seed().map_err(|error| anyhow!("no key could be made: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_id_is_derived_from_its_key_and_safe_in_subjects() {
        let pair = key(&new_seed(KeyPairType::User).unwrap()).unwrap();
        let id = MachineId::of_key(&pair.public_key());
        assert_eq!(MachineId::try_from(id.to_string()), Ok(id.clone()));
        assert!(is_user_key(&pair.public_key()));
        let account = key(&new_seed(KeyPairType::Account).unwrap()).unwrap();
        for no_user in [account.public_key().as_str(), "", "U", "UABC*>"] {
            assert!(!is_user_key(no_user), "{no_user}");
        }
        for wrong in ["", "*", ">", "1DF461750A3E", "1df461750a3", "1df461750a3e0", "1df461750a3."]
        {
            assert!(MachineId::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
