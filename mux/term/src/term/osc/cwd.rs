//! OSC 7: the program's working directory as a `file://` URI, and other sequences that report it as a path.

use std::fmt::Write as _;

use crate::Event;
use crate::term::Term;

/// Maximum bytes of a working directory's URI; a longer URI is dropped.
const CWD_CAP: usize = 8192;

impl Term {
    /// The host the program runs on, as it reported it: in the last OSC 7 with a URI (`None` if that had no host) or
    /// OSC 1337 RemoteHost, whichever came last. A directory without a host and a reset leave it unchanged.
    pub fn host(&self) -> Option<&str> {
        self.osc.host.as_deref()
    }

    /// OSC 7.
    pub(super) fn set_cwd_and_host(&mut self, uri: &[u8]) {
        if self.set_cwd(uri)
            && let Some(host) = self.cwd.as_deref().and_then(host_of)
        {
            self.osc.host = (!host.is_empty()).then(|| host.to_owned());
        }
    }

    /// Returns false if the URI is dropped.
    fn set_cwd(&mut self, uri: &[u8]) -> bool {
        if uri.len() > CWD_CAP {
            self.caps.dropped("working directory", CWD_CAP);
            return false;
        }
        let cwd = match std::str::from_utf8(uri) {
            Ok("") => None,
            Ok(uri)
                if (uri.starts_with("file://") || uri.starts_with("kitty-shell-cwd://"))
                    && !uri.contains(char::is_control) =>
            {
                // kitty's own form holds an unescaped path.
                match uri.strip_prefix("kitty-shell-cwd://").map(|rest| rest.split_once('/')) {
                    None => Some(uri.to_owned()),
                    Some(Some((host, path))) => Some(format!("file://{host}/{}", escape(path))),
                    Some(None) => return false,
                }
            }
            _ => {
                tracing::debug!(length = uri.len(), "OSC 7 is no file URI");
                return false;
            }
        };
        if cwd != self.cwd {
            self.cwd = cwd;
            self.event(Event::Cwd);
        }
        true
    }

    /// Sets the directory from a path (OSC 9;9, OSC 1337 CurrentDir, OSC 633 P), possibly in quotes.
    pub(super) fn set_cwd_path(&mut self, path: &[u8]) {
        let Ok(path) = std::str::from_utf8(path) else { return };
        let path = path.trim_matches('"');
        if path.starts_with("file://") {
            return self.set_cwd_and_host(path.as_bytes());
        }
        // In a URI, a Windows drive is a directory below the root.
        let is_drive = path.as_bytes().get(1) == Some(&b':');
        let path = if is_drive { format!("/{}", path.replace('\\', "/")) } else { path.to_owned() };
        if path.starts_with('/') {
            self.set_cwd(format!("file://{}", escape(&path)).as_bytes());
        } else {
            tracing::debug!("a working directory that is no absolute path");
        }
    }
}

/// The host of a `file://` URI, empty if it has none.
fn host_of(uri: &str) -> Option<&str> {
    uri.strip_prefix("file://")?.split('/').next()
}

/// A path, escaped for a URI (RFC 3986).
fn escape(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~:".contains(&byte) {
            out.push(byte as char);
        } else {
            // Writing to a string never fails.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
