//! The titles that programs set in a pane, and the rule that selects one of them.
//!
//! Records which program set which title. A program is identified by the process group that was in the foreground when
//! the title was set. If that program is suspended or ends without resetting its title (a killed vim, a broken ssh
//! connection), the title of the pane's own program returns. The shell integrations of kitty and ghostty set the title
//! at each prompt instead, which would overwrite a title that the user sets at the prompt. Never asks the system which
//! program runs: the caller passes [`ForegroundProgram`].

use unterm_term::{Event, TitleSet};

/// The number of programs whose titles are stored. If there are more, the oldest title is dropped.
const CAP: usize = 16;

/// The program in the foreground.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ForegroundProgram {
    /// The system does not report it.
    Unknown,
    /// The pane's own program.
    Own,
    /// Another process group.
    Other {
        group: i32,
        /// The process groups that started this one, the nearest first. `None` if unknown or not needed.
        above: Option<Vec<i32>>,
    },
}

impl ForegroundProgram {
    fn group(&self) -> Option<i32> {
        match self {
            Self::Unknown | Self::Own => None,
            Self::Other { group, .. } => Some(*group),
        }
    }
}

/// The titles of a pane.
#[derive(Clone, Debug, Default)]
pub(super) struct Titles {
    /// The title of the pane's own program.
    own: String,
    /// The titles of other process groups, one per group, the newest last.
    pub(super) others: Vec<(i32, String)>,
    /// A title that a shell set before its prompt while another process group was in the foreground. That group may be
    /// the program around the shell (ssh) or a helper that builds the prompt. The title is assigned to a group when the
    /// prompt is ready.
    pending: Option<String>,
    /// How many titles have been set.
    pub(super) count: u64,
    /// The title that the last title event announced.
    reported: String,
    /// The process group that set the announced title, if it is not the pane's own program. The group may have ended
    /// since. Without a marked prompt, its end sends no event.
    reported_of: Option<i32>,
}

impl Titles {
    /// The titles for a rebuilt terminal. `title` is the terminal's last title, and `count` the number of titles set so
    /// far. If no title was ever recorded, `title` belongs to the pane's own program.
    pub(super) fn resumed(mut self, title: &str, count: u64) -> Self {
        if self.count == 0 {
            self.own = title.to_owned();
        }
        self.count = count;
        self
    }

    pub(super) fn set(&mut self, set: TitleSet, front: &ForegroundProgram) {
        match front.group() {
            Some(_) if set.at_prompt => self.pending = Some(set.title),
            Some(group) => self.keep(group, set.title),
            None => {
                self.own = set.title;
                self.pending = None;
            }
        }
    }

    fn keep(&mut self, group: i32, title: String) {
        self.others.retain(|(other, _)| *other != group);
        if self.others.len() == CAP {
            self.others.remove(0);
        }
        self.others.push((group, title));
    }

    /// Assigns the pending title, because the prompt is ready and its shell is in the foreground now.
    pub(super) fn settle(&mut self, front: &ForegroundProgram) {
        let Some(title) = self.pending.take() else { return };
        match front.group() {
            Some(group) => self.keep(group, title),
            None => self.own = title,
        }
    }

    /// The title set by a process group.
    fn of(&self, group: i32) -> Option<&String> {
        self.others.iter().find(|(other, _)| *other == group).map(|(_, title)| title)
    }

    /// The title set by the process group in the foreground, unless that group is the pane's own program.
    pub(super) fn of_front(&self, front: &ForegroundProgram) -> Option<&str> {
        self.of(front.group()?).map(String::as_str)
    }

    /// Whether other groups have set a title and this group has not.
    pub(super) fn has_only_others(&self, group: i32) -> bool {
        !self.others.is_empty() && self.of(group).is_none()
    }

    pub(super) fn shown(&self, front: &ForegroundProgram) -> &str {
        let pending = self.pending.as_ref();
        let newest = || self.others.last().map(|(_, title)| title);
        let shown = match front {
            ForegroundProgram::Own => pending,
            ForegroundProgram::Unknown => pending.or_else(newest),
            // A program that set no title runs inside another program, for example a shell started by the shell.
            ForegroundProgram::Other { group, above } => {
                self.of(*group).or(pending).or_else(|| match above {
                    Some(above) => above.iter().find_map(|group| self.of(*group)),
                    None => newest(),
                })
            }
        };
        shown.unwrap_or(&self.own)
    }

    /// Records the title that is shown with this group in the foreground. Adds an event if the title has changed.
    pub(super) fn report(&mut self, front: &ForegroundProgram, events: &mut Vec<Event>) {
        let shown = self.shown(front).to_owned();
        let group = front.group();
        let has_left = self.reported_of.is_some() && self.reported_of != group;
        let is_new = has_left || shown != self.reported;
        self.reported_of = group.filter(|group| self.of(*group).is_some());
        self.reported = shown;
        if is_new && !events.contains(&Event::Title) {
            events.push(Event::Title);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: ForegroundProgram = ForegroundProgram::Own;
    const VIM: ForegroundProgram = ForegroundProgram::Other { group: 7, above: None };
    const SSH: ForegroundProgram = ForegroundProgram::Other { group: 8, above: None };

    fn set(titles: &mut Titles, title: &str, front: &ForegroundProgram) {
        titles.set(TitleSet { title: title.to_owned(), at_prompt: false }, front);
    }

    fn end(titles: &mut Titles, front: &ForegroundProgram) {
        titles.others.retain(|(group, _)| Some(*group) != front.group());
    }

    fn started_from(groups: &[i32]) -> ForegroundProgram {
        ForegroundProgram::Other { group: 9, above: Some(groups.to_vec()) }
    }

    #[test]
    fn a_program_takes_its_title_with_it_and_a_shells_stays() {
        let mut titles = Titles::default();
        // A title set at the prompt, for example by a shell builtin.
        set(&mut titles, "mine", &OWN);
        assert_eq!((titles.shown(&OWN), titles.shown(&VIM)), ("mine", "mine"));
        set(&mut titles, "vim", &VIM);
        assert_eq!(titles.shown(&VIM), "vim");
        // vim is suspended and then resumed.
        assert_eq!(titles.shown(&OWN), "mine");
        assert_eq!(titles.shown(&VIM), "vim");
        // vim removes its title.
        set(&mut titles, "", &VIM);
        assert_eq!((titles.shown(&VIM), titles.shown(&OWN)), ("", "mine"));
        end(&mut titles, &VIM);
        assert_eq!(titles.shown(&SSH), "mine", "another program has set none");
        set(&mut titles, "mine too", &OWN);
        assert_eq!(titles.shown(&OWN), "mine too");
    }

    #[test]
    fn a_shell_in_a_shell_keeps_its_title_while_its_programs_run() {
        let mut titles = Titles::default();
        set(&mut titles, "far", &SSH);
        assert_eq!(titles.shown(&VIM), "far");
        set(&mut titles, "vim", &VIM);
        assert_eq!((titles.shown(&VIM), titles.shown(&SSH)), ("vim", "far"));
        end(&mut titles, &VIM);
        end(&mut titles, &SSH);
        assert_eq!(titles.shown(&OWN), "");
    }

    #[test]
    fn a_program_without_a_title_has_that_of_what_started_it() {
        let mut titles = Titles::default();
        set(&mut titles, "mine", &OWN);
        set(&mut titles, "inner", &SSH);
        set(&mut titles, "vim", &VIM);
        // The title of a suspended program is not used for other programs.
        assert_eq!(titles.shown(&started_from(&[8, 1])), "inner");
        assert_eq!(titles.shown(&started_from(&[1])), "mine");
    }

    #[test]
    fn a_repeated_title_is_reported_again() {
        let mut titles = Titles::default();
        let reported = |titles: &mut Titles, front: &ForegroundProgram| {
            let mut events = Vec::new();
            titles.report(front, &mut events);
            events == [Event::Title]
        };
        set(&mut titles, "far", &SSH);
        assert!(reported(&mut titles, &SSH) && !reported(&mut titles, &SSH));
        end(&mut titles, &SSH);
        // The end of the program sent no event.
        let again = started_from(&[1]);
        set(&mut titles, "far", &again);
        assert!(reported(&mut titles, &again) && !reported(&mut titles, &again));
        assert!(reported(&mut titles, &OWN) && !reported(&mut titles, &OWN));
        // An event that the terminal already sent is not repeated.
        let mut events = vec![Event::Title];
        titles.report(&again, &mut events);
        assert_eq!(events, [Event::Title]);
        assert!(!reported(&mut titles, &again));
    }

    #[test]
    fn settings_made_before_a_prompt_belong_to_the_shell() {
        let at_prompt = |title: &str| TitleSet { title: title.to_owned(), at_prompt: true };
        let helper = &started_from(&[]);
        // A helper program builds the prompt after the title was set.
        let mut titles = Titles::default();
        titles.set(at_prompt("mine"), helper);
        assert_eq!(titles.shown(helper), "mine");
        titles.settle(&OWN);
        assert_eq!(titles.shown(&OWN), "mine");
        // A remote shell builds its own prompt.
        titles.set(at_prompt("far"), &SSH);
        titles.settle(&SSH);
        assert_eq!(titles.shown(&SSH), "far");
        end(&mut titles, &SSH);
        assert_eq!(titles.shown(&OWN), "mine");
    }

    #[test]
    fn titles_of_many_programs_do_not_grow_without_end() {
        let mut titles = Titles::default();
        for group in 0..100 {
            set(&mut titles, "title", &ForegroundProgram::Other { group, above: None });
        }
        assert_eq!(titles.others.len(), CAP);
        assert_eq!(titles.others.last().map(|(group, _)| *group), Some(99));
    }
}
