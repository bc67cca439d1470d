//! OSC 0, 1 and 2, and the title stack of XTWINOPS 22 and 23.

use super::text::clean;
use crate::Event;
use crate::hex::unhex;
use crate::term::Term;

/// Maximum bytes of a title.
const TITLE_CAP: usize = 4096;
/// Maximum titles on the stack, as in xterm.
const STACK_CAP: usize = 10;

/// The stack of XTWINOPS 22 and 23. When it is full, a push drops the oldest entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TitleStack {
    /// The icon's label and the title, each if the push included it.
    slots: [(Option<String>, Option<String>); STACK_CAP],
    /// Pushes not popped yet.
    used: usize,
}

/// A title that was set, even if it did not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TitleSet {
    /// The title.
    pub title: String,
    /// No command was running, according to the shell's marks (OSC 133): the shell was at its prompt, or about to show
    /// it.
    pub at_prompt: bool,
}

/// Titles set since they were last taken.
#[derive(Debug, Default)]
pub(crate) struct TitlesSet {
    /// How many titles were set in total.
    count: u64,
    /// The last title set at a prompt and the last set by a command since they were last taken, in order.
    last: Vec<TitleSet>,
}

impl Term {
    /// How many times a title was set, even if it did not change.
    pub fn titles_set(&self) -> u64 {
        self.titles_set.count
    }

    /// Takes the titles set since the last call, in order: the last set at a prompt, and the last set while a command
    /// ran or without a shell's marks.
    pub fn take_titles_set(&mut self) -> Vec<TitleSet> {
        std::mem::take(&mut self.titles_set.last)
    }

    /// OSC 0 and 2 set the title; OSC 0 and 1 set the icon's label.
    pub(super) fn set_titles(&mut self, number: u16, text: &[u8]) {
        let Some(title) = self.title_of(text) else { return };
        if number != 2 {
            self.icon_title.clone_from(&title);
        }
        if number != 1 {
            self.change_title(title);
        }
    }

    /// A title without control characters. Logs and returns `None` if it is longer than 4 KiB, or is not hexadecimal
    /// although XTSMTITLE requires that.
    fn title_of(&mut self, text: &[u8]) -> Option<String> {
        let decoded;
        let text = if self.titles_come_in_hex() {
            let Some(bytes) = unhex(text) else {
                tracing::debug!(length = text.len(), "a title that is not in hexadecimal");
                return None;
            };
            decoded = bytes;
            &decoded
        } else {
            text
        };
        clean(&mut self.caps, text, TITLE_CAP, "title")
    }

    /// Sets the title. Sends an event only if the title changed.
    pub(crate) fn change_title(&mut self, title: String) {
        let at_prompt = self.commands.last().is_some_and(|last| !last.is_running());
        self.titles_set.count += 1;
        self.titles_set.last.retain(|set| set.at_prompt != at_prompt);
        self.titles_set.last.push(TitleSet { title: title.clone(), at_prompt });
        if title != self.title {
            self.title = title;
            self.event(Event::Title);
        }
    }

    /// XTWINOPS 22: 0 pushes both titles, 1 the icon's label, 2 the title. A `place` from 1 on stores them there, not
    /// on top.
    pub(crate) fn push_title(&mut self, which: u16, place: u16) {
        if which > 2 {
            return;
        }
        let icon = (which != 2).then(|| self.icon_title.clone());
        let title = (which != 1).then(|| self.title.clone());
        let place = match place {
            0 => {
                if self.titles.used == STACK_CAP {
                    self.caps.oldest_dropped("title put aside", STACK_CAP);
                    self.titles.slots.rotate_left(1);
                } else {
                    self.titles.used += 1;
                }
                self.titles.used - 1
            }
            place => place as usize - 1,
        };
        self.titles.slots[place % STACK_CAP] = (icon, title);
    }

    /// XTWINOPS 23: pops titles, chosen as in XTWINOPS 22. A title that the push did not include comes from the entry
    /// below.
    pub(crate) fn pop_title(&mut self, which: u16, place: u16) {
        let at = match place {
            0 if self.titles.used == 0 => return,
            0 => {
                self.titles.used -= 1;
                self.titles.used
            }
            place => place as usize - 1,
        };
        let slots = &mut self.titles.slots;
        let below = |n: usize| (at + STACK_CAP - n) % STACK_CAP;
        let icon = (0..STACK_CAP).find_map(|n| slots[below(n)].0.clone());
        let title = (0..STACK_CAP).find_map(|n| slots[below(n)].1.clone());
        if place == 0 {
            slots[at % STACK_CAP] = (None, None);
        }
        if let Some(icon) = icon.filter(|_| which != 2) {
            self.icon_title = icon;
        }
        if let Some(title) = title.filter(|_| which != 1) {
            self.change_title(title);
        }
    }

    /// Writes the titles and their stack as sequences. For [`Term::to_vt`].
    pub(crate) fn write_titles(&self, mut osc: impl FnMut(String), mut raw: impl FnMut(&str)) {
        for (place, (icon, title)) in (1..).zip(&self.titles.slots) {
            let is_on_stack = place <= self.titles.used;
            let which = match (icon, title) {
                (Some(_), Some(_)) => 0,
                (Some(_), None) => 1,
                (None, None) if !is_on_stack => continue,
                _ => 2,
            };
            osc(format!("1;{}", icon.as_deref().unwrap_or_default()));
            osc(format!("2;{}", title.as_deref().unwrap_or_default()));
            raw(&match is_on_stack {
                true => format!("\x1b[22;{which}t"),
                false => format!("\x1b[22;{which};{place}t"),
            });
        }
        osc(format!("1;{}", self.icon_title));
        osc(format!("2;{}", self.title));
    }

    /// XTTITLEPOS: reports the entries on the stack and its capacity.
    pub(crate) fn report_title_stack(&mut self) {
        let used = self.titles.used;
        self.reply(format!("\x1b[{used};{STACK_CAP}#S").as_bytes());
    }
}
