//! OSC 8: hyperlinks ("Hyperlinks in Terminal Emulators").

use std::sync::Arc;

use crate::grid::link::Link;
use crate::term::Term;

/// Maximum bytes of a link's target, the limit of VTE and iTerm2. A longer target makes no link.
const URI_CAP: usize = 2083;
/// Maximum bytes of a link's id.
const ID_CAP: usize = 250;
/// Maximum bytes of the links of one screen with its history. Text beyond it has no link. Since each cell may have a link
/// of its own, rows alone do not bound them.
const SCREEN_CAP: usize = 32 << 20;
/// How many links are refused from one search for unused ones to the next.
const REFUSED_PER_SWEEP: u32 = 1024;

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
        let link = link.filter(|link| self.has_room_for(link));
        self.pen.set_link(link);
    }

    /// Whether the screen may have one more link.
    fn has_room_for(&mut self, link: &Link) -> bool {
        let is_full = |term: &Self| term.grid.link_bytes() + link.bytes() > SCREEN_CAP;
        if !is_full(self) {
            self.osc.refused_links = 0;
            return true;
        }
        if self.osc.refused_links.is_multiple_of(REFUSED_PER_SWEEP) {
            self.grid.sweep_links();
            if !is_full(self) {
                return true;
            }
        }
        self.osc.refused_links = self.osc.refused_links.wrapping_add(1);
        self.caps.dropped("link beyond the memory of its screen", SCREEN_CAP);
        false
    }
}
