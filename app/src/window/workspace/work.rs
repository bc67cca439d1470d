//! The progress or status that a program reports for its tab.

use unterm_term::{ProgramState, Progress, Rgb, Term};

use crate::window::ui::colors::Colors;

/// The state of a program's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fare {
    /// The program has finished, and the user has not seen that yet.
    Done,
    Works,
    /// The program is waiting, or blocked until the user acts.
    Waits,
    Failed,
}

/// The work that a program reports (OSC 9;4, OSC 7501). If there are two reports, the greater value is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Work {
    pub(crate) fare: Fare,
    /// The progress in percent, if the program reports it.
    pub(crate) percent: Option<u8>,
}

impl Work {
    /// The most urgent work that the programs in a terminal report.
    pub(crate) fn of(term: &Term) -> Option<Self> {
        let work = |fare, percent| Some(Self { fare, percent });
        let progress = match term.progress() {
            Progress::None => None,
            Progress::Percent(percent) => work(Fare::Works, Some(percent)),
            Progress::Indeterminate => work(Fare::Works, None),
            Progress::Paused(percent) => work(Fare::Waits, percent),
            Progress::Error(percent) => work(Fare::Failed, percent),
        };
        let status = term.program_status().and_then(|status| match status.state {
            ProgramState::Idle => None,
            ProgramState::Done => work(Fare::Done, None),
            ProgramState::Working => work(Fare::Works, status.progress),
            ProgramState::Blocked(_) => work(Fare::Waits, status.progress),
            ProgramState::Error => work(Fare::Failed, None),
        });
        progress.max(status)
    }

    pub(crate) fn turns(self) -> bool {
        self.fare == Fare::Works && self.percent.is_none()
    }

    pub(crate) fn color(self, colors: &Colors) -> Rgb {
        match self.fare {
            Fare::Done => colors.success,
            Fare::Works => colors.accent,
            Fare::Waits => colors.bell,
            Fare::Failed => colors.danger,
        }
    }
}

#[cfg(test)]
mod tests {
    use unterm_term::{Options, Parser, Size};

    use super::*;

    fn work(bytes: &str) -> Option<Work> {
        let mut term = Term::new(Size::cells(10, 5), Options::default());
        Parser::new().advance(&mut term, bytes.as_bytes());
        Work::of(&term)
    }

    #[test]
    fn the_most_urgent_of_what_programs_say_counts() {
        let is = |fare, percent| Some(Work { fare, percent });
        assert_eq!(work(""), None);
        assert_eq!(work("\x1b]9;4;1;40\x07"), is(Fare::Works, Some(40)));
        assert_eq!(work("\x1b]9;4;3\x07"), is(Fare::Works, None));
        assert_eq!(work("\x1b]7501;state=done\x07"), is(Fare::Done, None));
        assert_eq!(work("\x1b]9;4;4;70\x07\x1b]7501;state=working\x07"), is(Fare::Waits, Some(70)));
        assert_eq!(work("\x1b]9;4;1;40\x07\x1b]7501;state=blocked\x07"), is(Fare::Waits, None));
        assert_eq!(work("\x1b]9;4;1;40\x07\x1b]7501;state=error\x07"), is(Fare::Failed, None));
    }
}
