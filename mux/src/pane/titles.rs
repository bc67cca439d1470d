//! The titles that programs gave a pane, and which of them holds.
//!
//! Owns who set which title. A program is known by its process group, which was in the foreground when its title came: one
//! that it leaves behind when it ends (vim that was killed, ssh whose connection broke) or is suspended gives way to that
//! of the pane's own program. kitty and ghostty have their shells' integration set the title at each prompt; here what a
//! person sets there stays, and only a program's own gives way. Never asks the system what runs: [`Front`] says it.

use unterm_term::{Event, TitleSet};

/// Programs whose titles are kept; the oldest goes.
const CAP: usize = 16;

/// What is in the foreground.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Front {
    /// Nobody can tell.
    Unknown,
    /// The pane's own program.
    Own,
    /// Another process group.
    Other {
        group: i32,
        /// The groups that it was started from, the nearest first; `None`: nobody can tell, or it makes no difference.
        above: Option<Vec<i32>>,
    },
}

impl Front {
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
    /// That of the pane's own program.
    own: String,
    /// Those of others, one each process group, the newest last.
    pub(super) others: Vec<(i32, String)>,
    /// One that a shell set on the way to its prompt with another program in front: what that shell runs in (ssh), or what
    /// it makes its prompt with. Known when the prompt waits.
    pending: Option<String>,
    /// How many have been set.
    pub(super) count: u64,
    /// What was shown when somebody was last told.
    told: String,
    /// Whose that was, if another group's. It may have given way since, of which nobody is told without a marked prompt.
    told_of: Option<i32>,
}

impl Titles {
    /// Those of a pane whose terminal was built anew: it has `title` as the last of `count`. If it is not known which programs
    /// set titles, that one is the pane's own.
    pub(super) fn resumed(mut self, title: &str, count: u64) -> Self {
        if self.count == 0 {
            self.own = title.to_owned();
        }
        self.count = count;
        self
    }

    pub(super) fn set(&mut self, set: TitleSet, front: &Front) {
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

    /// A prompt waits: the shell that makes it is in front now.
    pub(super) fn settle(&mut self, front: &Front) {
        let Some(title) = self.pending.take() else { return };
        match front.group() {
            Some(group) => self.keep(group, title),
            None => self.own = title,
        }
    }

    /// The title that a process group has set.
    fn of(&self, group: i32) -> Option<&String> {
        self.others.iter().find(|(other, _)| *other == group).map(|(_, title)| title)
    }

    /// Whether others have set a title, and this group none.
    pub(super) fn has_only_others(&self, group: i32) -> bool {
        !self.others.is_empty() && self.of(group).is_none()
    }

    pub(super) fn shown(&self, front: &Front) -> &str {
        let pending = self.pending.as_ref();
        let newest = || self.others.last().map(|(_, title)| title);
        let shown = match front {
            Front::Own => pending,
            Front::Unknown => pending.or_else(newest),
            // One that has set none runs in another, such as in a shell within the shell.
            Front::Other { group, above } => self.of(*group).or(pending).or_else(|| match above {
                Some(above) => above.iter().find_map(|group| self.of(*group)),
                None => newest(),
            }),
        };
        shown.unwrap_or(&self.own)
    }

    /// Takes note of what is shown with this in front, and has it told where that is new.
    pub(super) fn tell(&mut self, front: &Front, events: &mut Vec<Event>) {
        let shown = self.shown(front).to_owned();
        let group = front.group();
        let has_left = self.told_of.is_some() && self.told_of != group;
        let is_new = has_left || shown != self.told;
        self.told_of = group.filter(|group| self.of(*group).is_some());
        self.told = shown;
        if is_new && !events.contains(&Event::Title) {
            events.push(Event::Title);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Front = Front::Own;
    const VIM: Front = Front::Other { group: 7, above: None };
    const SSH: Front = Front::Other { group: 8, above: None };

    fn set(titles: &mut Titles, title: &str, front: &Front) {
        titles.set(TitleSet { title: title.to_owned(), at_prompt: false }, front);
    }

    fn end(titles: &mut Titles, front: &Front) {
        titles.others.retain(|(group, _)| Some(*group) != front.group());
    }

    fn started_from(groups: &[i32]) -> Front {
        Front::Other { group: 9, above: Some(groups.to_vec()) }
    }

    #[test]
    fn a_program_takes_its_title_with_it_and_a_shells_stays() {
        let mut titles = Titles::default();
        // Set at the prompt, also by a command of the shell's own.
        set(&mut titles, "mine", &OWN);
        assert_eq!((titles.shown(&OWN), titles.shown(&VIM)), ("mine", "mine"));
        set(&mut titles, "vim", &VIM);
        assert_eq!(titles.shown(&VIM), "vim");
        // Suspended, and back again.
        assert_eq!(titles.shown(&OWN), "mine");
        assert_eq!(titles.shown(&VIM), "vim");
        // It took it away.
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
        // That of a program that was suspended belongs to no other.
        assert_eq!(titles.shown(&started_from(&[8, 1])), "inner");
        assert_eq!(titles.shown(&started_from(&[1])), "mine");
    }

    #[test]
    fn a_title_that_comes_again_is_told_again() {
        let mut titles = Titles::default();
        let told = |titles: &mut Titles, front: &Front| {
            let mut events = Vec::new();
            titles.tell(front, &mut events);
            events == [Event::Title]
        };
        set(&mut titles, "far", &SSH);
        assert!(told(&mut titles, &SSH) && !told(&mut titles, &SSH));
        end(&mut titles, &SSH);
        // Nobody was told that it had gone.
        let again = started_from(&[1]);
        set(&mut titles, "far", &again);
        assert!(told(&mut titles, &again) && !told(&mut titles, &again));
        assert!(told(&mut titles, &OWN) && !told(&mut titles, &OWN));
        // Not twice where the terminal has told of it.
        let mut events = vec![Event::Title];
        titles.tell(&again, &mut events);
        assert_eq!(events, [Event::Title]);
        assert!(!told(&mut titles, &again));
    }

    #[test]
    fn what_a_shell_sets_before_its_prompt_is_the_shells_that_then_waits() {
        let at_prompt = |title: &str| TitleSet { title: title.to_owned(), at_prompt: true };
        let helper = &started_from(&[]);
        // A program makes the prompt right behind the title.
        let mut titles = Titles::default();
        titles.set(at_prompt("mine"), helper);
        assert_eq!(titles.shown(helper), "mine");
        titles.settle(&OWN);
        assert_eq!(titles.shown(&OWN), "mine");
        // A shell far away makes its own.
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
            set(&mut titles, "title", &Front::Other { group, above: None });
        }
        assert_eq!(titles.others.len(), CAP);
        assert_eq!(titles.others.last().map(|(group, _)| *group), Some(99));
    }
}
