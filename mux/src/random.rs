//! Random names that nobody can guess: tokens, nonces of panes, and markers of commands.

use std::io;

/// A random UUID (RFC 9562, version 4): 122 random bits as `xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx`.
///
/// # Errors
/// If the system returns no random bytes.
pub fn uuid() -> io::Result<String> {
    let mut bytes = [0; 16];
    fill(&mut bytes)?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let n = u128::from_be_bytes(bytes);
    Ok(format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        n >> 96,
        n >> 80 & 0xffff,
        n >> 64 & 0xffff,
        n >> 48 & 0xffff,
        n & 0xffff_ffff_ffff
    ))
}

/// A random UUID without dashes: 32 hexadecimal digits.
///
/// # Errors
/// If the system returns no random bytes.
pub fn hex() -> io::Result<String> {
    Ok(uuid()?.replace('-', ""))
}

#[cfg(target_os = "linux")]
fn fill(bytes: &mut [u8]) -> io::Result<()> {
    use rustix::rand::{GetRandomFlags, getrandom};
    let mut filled = 0;
    while filled < bytes.len() {
        match getrandom(&mut bytes[filled..], GetRandomFlags::empty()) {
            Err(rustix::io::Errno::INTR) => {}
            count => filled += count?,
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn fill(bytes: &mut [u8]) -> io::Result<()> {
    io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, bytes)
}

#[cfg(test)]
mod tests {
    #[test]
    fn uuids_are_of_version_4_and_differ() {
        let (a, b) = (super::uuid().unwrap(), super::uuid().unwrap());
        assert_ne!(a, b);
        assert_eq!(a.len(), 36);
        assert_eq!(a.as_bytes()[14], b'4');
        assert!(matches!(a.as_bytes()[19], b'8' | b'9' | b'a' | b'b'));
        assert_eq!(super::hex().unwrap().len(), 32);
    }
}
