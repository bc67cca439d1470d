//! OSC 7: the program's working directory, as a `file://` URI.

use crate::Event;
use crate::term::Term;

/// Bytes of a working directory's URI; a longer one is dropped.
const CWD_CAP: usize = 8192;

impl Term {
    pub(super) fn set_cwd(&mut self, uri: &[u8]) {
        let cwd = match std::str::from_utf8(uri) {
            Ok("") => None,
            Ok(uri)
                if uri.len() <= CWD_CAP
                    && uri.starts_with("file://")
                    && !uri.contains(char::is_control) =>
            {
                Some(uri.to_owned())
            }
            _ => {
                tracing::debug!(length = uri.len(), "OSC 7 is no file URI");
                return;
            }
        };
        if cwd != self.cwd {
            self.cwd = cwd;
            self.event(Event::Cwd);
        }
    }
}
