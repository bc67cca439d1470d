//! The title of a pane: the pane's name, or else the title of the foreground program.
//!
//! Owns the search for the foreground program whenever a title is set or read. [`Titles`](super::titles::Titles)
//! chooses between titles.

use unterm_term::{Event, TitleSet};

use super::{Pane, titles::ForegroundProgram};
use crate::Foreground;

impl Pane {
    fn front(&self) -> ForegroundProgram {
        let group = match self.process.group_in_front() {
            None => return ForegroundProgram::Unknown,
            group if group == self.process.pid() => return ForegroundProgram::Own,
            Some(group) => group,
        };
        let needs_above = self.titles.lock().has_only_others(group);
        let above = if needs_above { self.process.groups_above(group) } else { None };
        ForegroundProgram::Other { group, above }
    }

    /// Records new titles. `count` is the number of titles set so far. Adds a title event if the shown title changes.
    pub(super) fn record_titles(&self, set: Vec<TitleSet>, count: u64, events: &mut Vec<Event>) {
        if set.is_empty() {
            return;
        }
        let front = self.front();
        let mut titles = self.titles.lock();
        set.into_iter().for_each(|set| titles.set(set, &front));
        titles.count = titles.count.max(count);
        titles.report(&front, events);
    }

    /// Handles the end of a shell's prompt, where its input begins. Adds a title event if the shown title changes.
    pub(super) fn settle_title(&self, events: &mut Vec<Event>) {
        let front = self.forget_ended();
        let mut titles = self.titles.lock();
        titles.settle(&front);
        titles.report(&front, events);
    }

    /// Drops the titles of programs that have ended. Returns the program in the foreground.
    fn forget_ended(&self) -> ForegroundProgram {
        let mut ended: Vec<i32> =
            self.titles.lock().others.iter().map(|(group, _)| *group).collect();
        ended.retain(|group| !self.process.has_group(*group));
        if !ended.is_empty() {
            self.titles.lock().others.retain(|(group, _)| !ended.contains(group));
        }
        self.front()
    }

    /// The pane's title: its name ([`Pane::set_name`]), or else the title of the foreground program, or else the title
    /// of the pane's own program. `None` if no title was set or the title is empty.
    pub fn own_title(&self) -> Option<String> {
        if let Some(name) = self.name.lock().clone() {
            return Some(name);
        }
        let (newest, count) = {
            let term = self.term.lock();
            (term.title().to_owned(), term.titles_set())
        };
        let front = self.forget_ended();
        let title = {
            let titles = self.titles.lock();
            // The reader has not yet recorded which program set the newest title, so show the newest title.
            if titles.count < count { newest } else { titles.shown(&front).to_owned() }
        };
        Some(title).filter(|title| !title.is_empty())
    }

    /// The title that the foreground program has set. `None` if it has set no title, or if it is the pane's own
    /// program.
    pub fn foreground_title(&self) -> Option<String> {
        let (newest, count) = {
            let term = self.term.lock();
            (term.title().to_owned(), term.titles_set())
        };
        let front = self.forget_ended();
        let titles = self.titles.lock();
        let title = match titles.of_front(&front) {
            // The reader has not yet recorded which program set the newest title, so show the newest title.
            Some(_) if titles.count < count => newest,
            title => title?.to_owned(),
        };
        Some(title).filter(|title| !title.is_empty())
    }

    /// The title to show: the [pane's own title](Pane::own_title), or else the base name of the foreground process, or
    /// else the base name of the pane's program.
    pub fn title(&self) -> String {
        self.own_title().unwrap_or_else(|| self.program_name())
    }

    /// Like [`Pane::title`], for a caller that has already looked at the foreground.
    pub fn title_before(&self, foreground: Option<&Foreground>) -> String {
        self.own_title().unwrap_or_else(|| self.name_of_program(foreground))
    }
}
