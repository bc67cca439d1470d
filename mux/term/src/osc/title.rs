//! OSC 0 and 2, and the title stack of XTWINOPS 22 and 23.

use crate::Event;
use crate::term::Term;

/// Bytes of a title.
const TITLE_CAP: usize = 4096;
/// Titles on the stack; xterm keeps ten.
const STACK_CAP: usize = 10;

impl Term {
    /// Sets the title, without control characters and cut to 4 KiB.
    pub(super) fn set_title(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        let mut title: String = text.chars().filter(|c| !c.is_control() && !is_bidi(*c)).collect();
        let cut = (0..=TITLE_CAP.min(title.len())).rev().find(|&i| title.is_char_boundary(i));
        title.truncate(cut.unwrap_or(0));
        self.change_title(title);
    }

    fn change_title(&mut self, title: String) {
        if title != self.title {
            self.title = title;
            self.event(Event::Title);
        }
    }

    /// XTWINOPS 22.
    pub(crate) fn push_title(&mut self) {
        if self.titles.len() == STACK_CAP {
            self.titles.remove(0);
        }
        self.titles.push(self.title.clone());
    }

    /// XTWINOPS 23.
    pub(crate) fn pop_title(&mut self) {
        if let Some(title) = self.titles.pop() {
            self.change_title(title);
        }
    }
}

/// Characters that would change the order of the text around the title (UAX #9 explicit formatting).
fn is_bidi(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}
