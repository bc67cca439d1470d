//! Converts directories to and from `file://` URIs (RFC 8089), for OSC 7 and the control protocols.

use std::path::{Path, PathBuf};

/// The URI of a path, without a host. Percent-encodes all bytes except RFC 3986's `pchar` and the slash.
pub fn from_path(path: &Path) -> String {
    let path = path.as_os_str().as_encoded_bytes();
    format!("file://{}", percent_encode(path, "/!$&'()*+,;=:@"))
}

/// Percent-encodes bytes, except RFC 3986's unreserved characters and the ASCII characters in `kept`.
pub fn percent_encode(bytes: &[u8], kept: &str) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        let is_plain = byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
        if is_plain || kept.as_bytes().contains(byte) {
            text.push(*byte as char);
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

/// Decodes percent-encoded text. Returns `None` if an escape is invalid.
pub fn percent_decode(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => (digit(rest.next())? * 16 + digit(rest.next())?) as u8,
            byte => byte,
        });
    }
    Some(bytes)
}

/// The local path of a `file://` URI of this host. `None` for another host, and for any other URI.
pub fn to_local_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let (host, path) = rest.split_at(rest.find('/')?);
    is_local(host).then(|| path_of(percent_decode(path)?))?
}

/// Converts a reported `file://` URI of this host to the form of [`from_path`]. Returns other URIs unchanged.
pub fn normalize(uri: &str) -> String {
    to_local_path(uri).map_or_else(|| uri.to_owned(), |path| from_path(&path))
}

/// Whether a reported host name is this machine's name. An empty name counts as this machine.
pub(crate) fn is_local(host: &str) -> bool {
    host.is_empty() || host.eq_ignore_ascii_case("localhost") || is_this_host(host)
}

#[cfg(unix)]
fn is_this_host(host: &str) -> bool {
    let uname = rustix::system::uname();
    let own = uname.nodename().to_string_lossy();
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    // Compare without domains, but only if at most one of the names is fully qualified.
    host.eq_ignore_ascii_case(&own)
        || (short(host) == short(&own) && !(host.contains('.') && own.contains('.')))
}

#[cfg(not(unix))]
fn is_this_host(_host: &str) -> bool {
    false
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    (!bytes.contains(&0)).then(|| PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

#[cfg(not(unix))]
fn path_of(_bytes: Vec<u8>) -> Option<PathBuf> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_survives_the_way_there_and_back() {
        for path in ["/", "/home/a b", "/ä/100%", "/a+b~c/#?[x]", "/with\nline"] {
            let uri = from_path(Path::new(path));
            assert!(uri.is_ascii() && !uri.contains(' '), "{uri}");
            assert_eq!(to_local_path(&uri), Some(PathBuf::from(path)), "{uri}");
        }
        assert_eq!(from_path(Path::new("/a b/ä")), "file:///a%20b/%C3%A4");
    }

    #[test]
    fn a_folder_of_this_host_has_one_form() {
        let own = rustix::system::uname().nodename().to_string_lossy().into_owned();
        for uri in
            [&format!("file://{own}/a%2eb/%c3%a4"), "file://localhost/a.b/ä", "file:///a.b/ä"]
        {
            assert_eq!(normalize(uri), "file:///a.b/%C3%A4", "{uri}");
        }
        assert_eq!(normalize("file://far.example/a%2eb"), "file://far.example/a%2eb");
    }

    #[test]
    fn only_this_host_has_local_paths() {
        assert_eq!(to_local_path("file://localhost/tmp"), Some(PathBuf::from("/tmp")));
        let own = rustix::system::uname().nodename().to_string_lossy().into_owned();
        assert_eq!(to_local_path(&format!("file://{own}/tmp")), Some(PathBuf::from("/tmp")));
        for uri in
            ["file://elsewhere.example/tmp", "http:///tmp", "/tmp", "file://", "", "file:///%zz"]
        {
            assert_eq!(to_local_path(uri), None, "{uri}");
        }
        assert_eq!(to_local_path("file:///a%00b"), None);
    }
}
