//! What the tab bar and the sidebar show of a tab.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr as _;
use unterm_control::escaped;
use unterm_mux::TabId;
use unterm_term::Rgb;

use crate::window::{
    chrome::{tab_marks::Marks, tab_titles::cut_apart},
    workspace::{
        blocks::about::span,
        view::{Signals, View},
        work::{Fare, LastCommand},
    },
};

/// The maximum length of a client's name, in characters.
const NAME: usize = 24;
/// The separator between the parts of a line.
const SEPARATOR: &str = " · ";

/// The contents of a tab in the tab bar and in the sidebar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TabLabel {
    pub(crate) id: TabId,
    pub(crate) title: String,
    pub(crate) marks: Marks,
    /// The color that a program set (OSC 6;1;bg).
    pub(crate) color: Option<Rgb>,
    /// Empty while the sidebar is hidden.
    pub(crate) details: TabDetails,
}

/// What only the sidebar shows of a tab. Programs choose the message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TabDetails {
    /// The name of the project; empty if the directory is in no project.
    pub(crate) project: String,
    /// The branch of the project; empty if unknown.
    branch: String,
    /// The newest message of the programs; empty if they reported none.
    message: String,
    /// The agent that drives a pane of the tab; empty if there is none.
    driver: String,
    /// The last command of the focused pane, if no command runs there.
    last: Option<LastCommand>,
    /// The TCP ports on which programs of the tab listen, in ascending order.
    ports: Vec<u16>,
}

/// A line about a tab, and the state whose color its first part has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DetailLine {
    pub(crate) text: String,
    /// The length of the first part, in bytes.
    pub(crate) state_length: usize,
    pub(crate) fare: Option<Fare>,
}

/// The titles of all tabs, each cut to `columns` so that it differs from the others.
pub(crate) fn cut_titles(tabs: &[TabLabel], columns: usize) -> Vec<Cow<'_, str>> {
    let titles: Vec<&str> = tabs.iter().map(|tab| tab.title.as_str()).collect();
    cut_apart(&titles, columns)
}

/// The title of the tab at an index, as [`cut_titles`] cuts it.
pub(crate) fn cut_title(tabs: &[TabLabel], index: usize, columns: usize) -> Cow<'_, str> {
    let title = &tabs[index].title;
    match title.width() <= columns {
        true => title.into(),
        false => cut_titles(tabs, columns).swap_remove(index),
    }
}

impl LastCommand {
    /// How the command ended, and how long it took.
    fn result(self) -> (Option<Fare>, String) {
        let how = match self.exit_code {
            Some(code) => format!("exit code {code}"),
            None => "ended".to_owned(),
        };
        let has_failed = self.exit_code.is_some_and(|code| code != 0);
        let took = self.took.map_or_else(String::new, |took| format!("{SEPARATOR}{}", span(took)));
        (has_failed.then_some(Fare::Failed), how + &took)
    }
}

impl TabLabel {
    /// The label of a tab with this title, and nothing else.
    pub(crate) fn new(id: TabId, title: String) -> Self {
        Self { id, title, marks: Marks::default(), color: None, details: TabDetails::default() }
    }

    /// Adds the marks and the color of a pane of the tab.
    pub(crate) fn add(&mut self, signals: &Signals, is_focused: bool) {
        self.marks.bell |= signals.bell.is_some();
        self.marks.unseen |= signals.unseen;
        self.marks.driven |= signals.driver.is_some();
        self.marks.work = self.marks.work.max(signals.work);
        self.color = match is_focused {
            true => signals.tab_color.or(self.color),
            false => self.color.or(signals.tab_color),
        };
    }

    /// Adds what only the sidebar shows of a pane of the tab. Must be called before [`Self::add`], which changes the state
    /// to which the message belongs.
    pub(crate) fn add_details(&mut self, view: &View, is_focused: bool) {
        let Signals { work, message, driver, surroundings, last_command, .. } = &view.signals;
        if *work > self.marks.work {
            self.details.message.clone_from(message);
        }
        if let Some(driver) = driver.as_ref().filter(|_| self.details.driver.is_empty()) {
            self.details.driver = escaped(&driver.client).chars().take(NAME).collect();
        }
        self.details.ports.extend(&surroundings.ports);
        self.details.ports.sort_unstable();
        self.details.ports.dedup();
        if is_focused {
            self.details.project = escaped(view.project());
            self.details.branch.clone_from(&surroundings.branch);
            self.details.last = *last_command;
        }
    }

    /// The parts that the sidebar shows below the title, the most important first. If `has_project` is not set, the
    /// name of the project is left out.
    pub(crate) fn detail_line(&self, has_project: bool) -> DetailLine {
        let (fare, state) = self.state();
        let state_length = state.len();
        let project = Some(self.details.project.clone()).filter(|_| has_project);
        let parts =
            [Some(state), self.driver(), self.ports(), project, Some(self.details.branch.clone())];
        let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
        DetailLine { text: parts.collect::<Vec<_>>().join(SEPARATOR), state_length, fare }
    }

    /// The state of the programs with their newest message. If they report no state, how the last command ended. Empty if
    /// nothing is known.
    fn state(&self) -> (Option<Fare>, String) {
        let Some(work) = self.marks.work else {
            return self.details.last.map_or((None, String::new()), LastCommand::result);
        };
        let percent = work.percent.map_or_else(String::new, |percent| format!(" {percent} %"));
        let state = format!("{}{percent}", work.fare.name());
        let text = match self.details.message.as_str() {
            "" => state,
            message => format!("{state}: {message}"),
        };
        (Some(work.fare), text)
    }

    fn driver(&self) -> Option<String> {
        let driver = &self.details.driver;
        (!driver.is_empty()).then(|| format!("{driver} drives"))
    }

    fn ports(&self) -> Option<String> {
        let ports: Vec<_> = self.details.ports.iter().map(|port| format!(":{port}")).collect();
        (!ports.is_empty()).then(|| ports.join(" "))
    }

    /// The lines of the tooltip: the title, and each part that is known.
    pub(crate) fn tooltip(&self) -> Vec<String> {
        let TabDetails { project, branch, ports, .. } = &self.details;
        let place = [project.as_str(), branch.as_str()].into_iter().filter(|part| !part.is_empty());
        let place = place.collect::<Vec<_>>().join(SEPARATOR);
        let listens = (!ports.is_empty()).then(|| {
            let ports: Vec<_> = ports.iter().map(u16::to_string).collect();
            format!("listens on {}", ports.join(", "))
        });
        let state = self.state().1;
        let lines = [Some(self.title.clone()), Some(state), self.driver(), Some(place), listens];
        lines.into_iter().flatten().filter(|line| !line.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::workspace::work::Work;

    fn tab(work: Option<(Fare, Option<u8>)>, details: TabDetails) -> TabLabel {
        let work = work.map(|(fare, percent)| Work { fare, percent });
        let marks = Marks { work, ..Marks::default() };
        TabLabel { marks, details, ..TabLabel::new(TabId(0), "vim".to_owned()) }
    }

    fn line(tab: &TabLabel) -> (String, String, Option<Fare>) {
        let DetailLine { text, state_length, fare } = tab.detail_line(true);
        (text[..state_length].to_owned(), text[state_length..].to_owned(), fare)
    }

    #[test]
    fn the_state_comes_first_and_unknown_parts_are_left_out() {
        assert_eq!(tab(None, TabDetails::default()).detail_line(true), DetailLine::default());
        let details = TabDetails {
            project: "atlas".to_owned(),
            branch: "main".to_owned(),
            message: "Run it?".to_owned(),
            driver: "claude".to_owned(),
            ports: vec![80, 3000],
            ..TabDetails::default()
        };
        let waits = tab(Some((Fare::Waits, None)), details.clone());
        let rest = " · claude drives · :80 :3000 · atlas · main".to_owned();
        assert_eq!(line(&waits), ("needs you: Run it?".to_owned(), rest, Some(Fare::Waits)));
        assert_eq!(
            waits.tooltip(),
            ["vim", "needs you: Run it?", "claude drives", "atlas · main", "listens on 80, 3000"]
        );
        let idle = tab(None, TabDetails { driver: String::new(), ports: Vec::new(), ..details });
        assert_eq!(line(&idle), (String::new(), "atlas · main".to_owned(), None));
        assert_eq!(idle.detail_line(false).text, "main");
    }

    #[test]
    fn a_state_counts_more_than_the_last_command() {
        let ended = |exit_code, took| Some(LastCommand { exit_code, took });
        let of = |work, last| line(&tab(work, TabDetails { last, ..TabDetails::default() }));
        let works = Some((Fare::Works, Some(40)));
        let is = |text: &str, fare| (text.to_owned(), String::new(), fare);
        assert_eq!(of(works, ended(Some(1), None)), is("working 40 %", Some(Fare::Works)));
        assert_eq!(
            of(None, ended(Some(1), Some(83_000))),
            is("exit code 1 · 1 min 23 s", Some(Fare::Failed))
        );
        assert_eq!(of(None, ended(Some(0), Some(1200))), is("exit code 0 · 1.2 s", None));
        assert_eq!(of(None, ended(None, None)), is("ended", None));
    }
}
