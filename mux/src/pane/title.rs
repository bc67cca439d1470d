//! What a pane is called: by the name it was given, else by the title of what runs in it.
//!
//! Owns the look at what runs in the foreground whenever a title is set or asked for. Never decides between titles:
//! [`Titles`](super::titles::Titles) does.

use unterm_term::{Event, TitleSet};

use super::{Pane, titles::Front};

impl Pane {
    fn front(&self) -> Front {
        let group = match self.process.group_in_front() {
            None => return Front::Unknown,
            group if group == self.process.pid() => return Front::Own,
            Some(group) => group,
        };
        let needs_above = self.titles.lock().has_only_others(group);
        let above = if needs_above { self.process.groups_above(group) } else { None };
        Front::Other { group, above }
    }

    /// Records titles that were just set; `count`: how many there have been. Where another is shown from now on, the
    /// events say so.
    pub(super) fn record_titles(&self, set: Vec<TitleSet>, count: u64, events: &mut Vec<Event>) {
        if set.is_empty() {
            return;
        }
        let front = self.front();
        let mut titles = self.titles.lock();
        set.into_iter().for_each(|set| titles.set(set, &front));
        titles.count = titles.count.max(count);
        titles.tell(&front, events);
    }

    /// A shell's prompt waits for a line. Where another title is shown from now on, the events say so.
    pub(super) fn settle_title(&self, events: &mut Vec<Event>) {
        let front = self.forget_ended();
        let mut titles = self.titles.lock();
        titles.settle(&front);
        titles.tell(&front, events);
    }

    /// Drops the titles of programs that have ended, and says what is in front.
    fn forget_ended(&self) -> Front {
        let mut ended: Vec<i32> =
            self.titles.lock().others.iter().map(|(group, _)| *group).collect();
        ended.retain(|group| !self.process.has_group(*group));
        if !ended.is_empty() {
            self.titles.lock().others.retain(|(group, _)| !ended.contains(group));
        }
        self.front()
    }

    /// The title that holds: given by [`Pane::set_name`], else set by what is in front, or by the pane's own program; `None`
    /// where none was set, or it was taken away.
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
            // Whose the newest is will be known in a moment.
            if titles.count < count { newest } else { titles.shown(&front).to_owned() }
        };
        Some(title).filter(|title| !title.is_empty())
    }

    /// What it is called: its [title](Pane::own_title), else the foreground process's name without its folder, else that of
    /// the program the pane was started with.
    pub fn title(&self) -> String {
        self.own_title().unwrap_or_else(|| {
            let foreground = self.foreground().map(|foreground| foreground.name);
            let name = foreground.as_deref().unwrap_or(self.process.program());
            name.rsplit('/').next().unwrap_or_default().to_owned()
        })
    }
}
