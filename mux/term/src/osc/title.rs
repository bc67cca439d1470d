//! OSC 0, 1 and 2, and the title stack of XTWINOPS 22 and 23.

use super::text::clean;
use crate::Event;
use crate::hex::unhex;
use crate::term::Term;

/// Bytes of a title.
const TITLE_CAP: usize = 4096;
/// Titles on the stack; xterm keeps ten.
const STACK_CAP: usize = 10;

/// The stack of XTWINOPS 22 and 23; the oldest entry makes room for an eleventh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TitleStack {
    /// The icon's label and the title, each if it was asked for.
    slots: [(Option<String>, Option<String>); STACK_CAP],
    /// Pushes that were not popped.
    used: usize,
}

/// A title that was set, also to what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TitleSet {
    /// The title.
    pub title: String,
    /// No command ran, as a shell's marks (OSC 133) say: that shell was at its prompt, or on the way there.
    pub at_prompt: bool,
}

/// Titles that were set.
#[derive(Debug, Default)]
pub(crate) struct TitlesSet {
    /// How many.
    count: u64,
    /// The last at a prompt and the last by a command since they were taken, in their order.
    last: Vec<TitleSet>,
}

impl Term {
    /// How many titles have been set, also to what it was.
    pub fn titles_set(&self) -> u64 {
        self.titles_set.count
    }

    /// Takes the titles that were set since the last call, in their order: of those at a prompt the last, and of those
    /// while a command ran, or without a shell's marks.
    pub fn take_titles_set(&mut self) -> Vec<TitleSet> {
        std::mem::take(&mut self.titles_set.last)
    }

    /// OSC 0 and 2: the title, and OSC 0 and 1: the icon's label.
    pub(super) fn set_titles(&mut self, number: u16, text: &[u8]) {
        let Some(title) = self.title_of(text) else { return };
        if number != 2 {
            self.icon_title.clone_from(&title);
        }
        if number != 1 {
            self.change_title(title);
        }
    }

    /// A title without control characters; `None`, and logged, where it is longer than 4 KiB, and where XTSMTITLE says that
    /// it comes in hexadecimal and it does not.
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

    /// Sets the title; of one that it was already nobody is told.
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

    /// XTWINOPS 22: 0 both titles, 1 the icon's label, 2 the title; `place` from 1 puts them there rather than on top.
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

    /// XTWINOPS 23, likewise; what was not pushed with the rest comes from the entry below.
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

    /// Titles and their stack as sequences, for [`Term::to_vt`].
    pub(crate) fn write_titles(&self, mut osc: impl FnMut(String), mut raw: impl FnMut(&str)) {
        for (icon, title) in &self.titles.slots[..self.titles.used] {
            let which = match (icon, title) {
                (Some(_), Some(_)) => 0,
                (Some(_), None) => 1,
                _ => 2,
            };
            osc(format!("1;{}", icon.as_deref().unwrap_or_default()));
            osc(format!("2;{}", title.as_deref().unwrap_or_default()));
            raw(&format!("\x1b[22;{which}t"));
        }
        osc(format!("1;{}", self.icon_title));
        osc(format!("2;{}", self.title));
    }

    /// XTTITLEPOS: entries on the stack, and how many it holds.
    pub(crate) fn report_title_stack(&mut self) {
        let used = self.titles.used;
        self.reply(format!("\x1b[{used};{STACK_CAP}#S").as_bytes());
    }
}
