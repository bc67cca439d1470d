//! The progress or status that a program reports for its tab.

use unterm_control::{ReportedState, Server, WorkState};
use unterm_mux::Pane;
use unterm_term::Rgb;

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

/// The work in a pane, as its programs and agents report it. If a tab has several panes, the greatest value is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Work {
    pub(crate) fare: Fare,
    /// The progress in percent, if the program reports it.
    pub(crate) percent: Option<u8>,
}

impl Work {
    /// The work in a pane. Without a control server, only the pane's terminal is asked.
    pub(crate) fn of(pane: &Pane, server: Option<&Server>) -> Option<Self> {
        let reported = match server {
            Some(server) => server.reported_state(pane),
            None => ReportedState::of_term(&pane.term()),
        };
        reported.and_then(Self::reported)
    }

    fn reported(ReportedState { state, progress }: ReportedState) -> Option<Self> {
        let fare = match state {
            WorkState::Idle => return None,
            WorkState::Done => Fare::Done,
            WorkState::Working => Fare::Works,
            WorkState::NeedsYou => Fare::Waits,
            WorkState::Failed => Fare::Failed,
        };
        Some(Self { fare, percent: progress })
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
    use unterm_term::{Options, Parser, Size, Term};

    use super::*;

    fn work(bytes: &str) -> Option<Work> {
        let mut term = Term::new(Size::cells(10, 5), Options::default());
        Parser::new().advance(&mut term, bytes.as_bytes());
        ReportedState::of_term(&term).and_then(Work::reported)
    }

    #[test]
    fn a_programs_status_counts_more_than_its_progress() {
        let is = |fare, percent| Some(Work { fare, percent });
        assert_eq!(work(""), None);
        assert_eq!(work("\x1b]9;4;1;40\x07"), is(Fare::Works, Some(40)));
        assert_eq!(work("\x1b]9;4;3\x07"), is(Fare::Works, None));
        assert_eq!(work("\x1b]7501;state=done\x07"), is(Fare::Done, None));
        assert_eq!(work("\x1b]9;4;4;70\x07"), is(Fare::Waits, Some(70)));
        assert_eq!(work("\x1b]9;4;4;70\x07\x1b]7501;state=working\x07"), is(Fare::Works, None));
        assert_eq!(work("\x1b]9;4;1;40\x07\x1b]7501;state=blocked\x07"), is(Fare::Waits, None));
        assert_eq!(work("\x1b]9;4;1;40\x07\x1b]7501;state=error\x07"), is(Fare::Failed, None));
        assert_eq!(work("\x1b]9;4;1;40\x07\x1b]7501;state=idle\x07"), None);
    }
}
