//! OSC 8: hyperlinks ("Hyperlinks in Terminal Emulators").

use std::sync::Arc;

use crate::snapshot::Link;
use crate::term::Term;

/// Maximum bytes of a link's target, the limit of VTE and iTerm2. A longer target makes no link.
const URI_CAP: usize = 2083;
/// Maximum bytes of a link's id.
const ID_CAP: usize = 250;

impl Term {
    /// `params ; URI`: links text printed from now on; an empty URI ends the link.
    pub(super) fn set_link(&mut self, rest: &[u8]) {
        let Some((params, uri)) = std::str::from_utf8(rest).ok().and_then(|s| s.split_once(';'))
        else {
            tracing::debug!("OSC 8 without a target");
            return;
        };
        let id = params.split(':').find_map(|param| param.strip_prefix("id=")).unwrap_or("");
        let is_fit = if uri.len() > URI_CAP {
            self.caps.dropped("target of a link", URI_CAP);
            false
        } else if id.len() > ID_CAP {
            self.caps.dropped("id of a link", ID_CAP);
            false
        } else {
            !uri.contains(char::is_control)
        };
        let link = (is_fit && !uri.is_empty())
            .then(|| Arc::new(Link { id: id.to_owned(), uri: uri.to_owned() }));
        self.pen.set_link(link);
    }
}
