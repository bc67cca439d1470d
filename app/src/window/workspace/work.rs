//! The progress or status that a program reports for its tab.

use unterm_control::{ReportedState, Server, WorkState, escaped};
use unterm_mux::Pane;
use unterm_term::{Rgb, Term};

use crate::window::ui::colors::{Colors, readable};

/// The maximum length of a message, in characters.
const MESSAGE: usize = 200;

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

/// The result of the last command in a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LastCommand {
    /// The exit code, if the shell reported it.
    pub(crate) exit_code: Option<i32>,
    /// How long the command ran, in milliseconds.
    pub(crate) took: Option<u64>,
}

impl LastCommand {
    /// The last command in a terminal. `None` while a command runs.
    pub(crate) fn of(term: &Term) -> Option<Self> {
        let mut commands = term.commands().rev().take_while(|command| !command.is_running());
        let last = commands.find(|command| command.end_seq != 0)?;
        Some(Self { exit_code: last.exit_code, took: last.duration() })
    }
}

impl Fare {
    /// The name of the state for the user.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Works => "working",
            Self::Waits => "needs you",
            Self::Failed => "failed",
        }
    }

    /// The color of the state in the tab bar.
    pub(crate) fn color(self, colors: &Colors) -> Rgb {
        match self {
            Self::Done => colors.success,
            Self::Works => colors.accent,
            Self::Waits => colors.bell,
            Self::Failed => colors.danger,
        }
    }

    /// The color of the state's name, and of its mark in the sidebar, on a background. Work that goes on is muted, so
    /// that it does not distract from what needs the user.
    pub(crate) fn text_color(self, colors: &Colors, ground: Rgb) -> Rgb {
        let color = match self {
            Self::Done => colors.success,
            Self::Works => colors.muted,
            Self::Waits => colors.accent,
            Self::Failed => colors.danger,
        };
        readable(color, ground)
    }
}

impl Work {
    /// The work in a pane, and the newest message about it. The message is safe to show, and empty if there is none.
    /// Without a control server, only the pane's terminal is asked.
    pub(crate) fn of(pane: &Pane, server: Option<&Server>) -> Option<(Self, String)> {
        let reported = match server {
            Some(server) => server.reported_state(pane),
            None => ReportedState::of_term(&pane.term()),
        };
        let reported = reported?;
        let message = reported.message.as_deref().and_then(|message| message.lines().next());
        let message = message.map_or_else(String::new, escaped).chars().take(MESSAGE).collect();
        Some((Self::reported(&reported)?, message))
    }

    fn reported(reported: &ReportedState) -> Option<Self> {
        let fare = match reported.state {
            WorkState::Idle => return None,
            WorkState::Done => Fare::Done,
            WorkState::Working => Fare::Works,
            WorkState::NeedsYou => Fare::Waits,
            WorkState::Failed => Fare::Failed,
        };
        Some(Self { fare, percent: reported.progress })
    }

    pub(crate) fn turns(self) -> bool {
        self.fare == Fare::Works && self.percent.is_none()
    }
}

#[cfg(test)]
mod tests {
    use unterm_term::{Options, Parser, Size, Term};

    use super::*;

    fn work(bytes: &str) -> Option<Work> {
        let mut term = Term::new(Size::cells(10, 5), Options::default());
        Parser::new().advance(&mut term, bytes.as_bytes());
        ReportedState::of_term(&term).as_ref().and_then(Work::reported)
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
