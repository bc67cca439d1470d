//! The inbox panel: everything that needs the user in all instances, newest first, and the question of the marked entry
//! with its answers.
//!
//! Owns the entries as last reported, the mark and the shown question. No key answers a question that the user has not
//! seen:
//!
//! - The mark never moves by itself, and an answer goes only to the question that the panel shows.
//! - If a question appears or changes without a request of the user, the next answer only confirms that the user has read
//!   it. A held key gives no answer.
//! - If a question disappears while the user types an answer to it, the rest of the line is ignored.
//! - A question of an agent is answered here only if all of its rows are visible.
//!
//! `requests.rs` reads questions and gives answers, through the instances that own them.

pub(crate) mod button;
pub(crate) mod cells;
pub(crate) mod draw;
pub(crate) mod message;
pub(crate) mod question;
pub(crate) mod requests;
pub(crate) mod scroll;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use tokio::task::AbortHandle;
use unterm_mux::input::{Key, Modifiers};

use crate::action::Action;
use crate::config::keys::KeyMatch;
use crate::inboxes::{Change, Listed, sort};
use crate::window::{
    cx::Cx,
    overlays::{
        canvas::Canvas,
        inbox_panel::{
            button::Button,
            message::{InboxRequest, Reply},
            question::{Receiver, ShownQuestion},
            scroll::Scroll,
        },
        overlay::{Handled, Overlay, Press},
        pasting,
        text_target::TextTarget,
    },
    redraw::Redraw,
    ui::{geometry::Geometry, line::Line},
    wish::Wish,
};

/// How long the first entry of an empty list counts as requested by the user, who has just opened the panel.
const OPENING: Duration = Duration::from_secs(1);

const GONE: &str = "This question was answered or has changed.";
const UNREAD: &str = "The question has changed. Read it, and press the key again to answer.";
const TOO_LONG: &str = "The question is longer than this panel. Enter shows it alone.";
const WAITS: &str = "The answer is on its way.";
const ANSWERED: &str = "Answered.";
const UNCLEAR: &str =
    "No choice on the screen clearly means this. Press the number of a choice, or type an answer.";
const DISMISSED: &str = "Dismissed, until it is asked again.";
const SNOOZED: &str = "Snoozed for 10 minutes.";

/// The task that reports changes of the inboxes. Dropping this ends the task.
#[derive(Debug)]
pub(crate) struct Following(pub(crate) AbortHandle);

impl Drop for Following {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A line below the question.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Message {
    text: String,
    is_error: bool,
}

/// The consequence of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "there is one value for each input")]
enum InputResult {
    Stay,
    Close,
    Ask(InboxRequest),
}

impl InputResult {
    fn carry_out(self, cx: &mut Cx<'_>) {
        match self {
            Self::Stay => {}
            Self::Close => cx.close(),
            Self::Ask(request) => {
                if matches!(request, InboxRequest::Go(_)) {
                    cx.close();
                }
                cx.wish(Wish::Inbox(request));
            }
        }
    }
}

/// The open panel.
pub(crate) struct InboxPanel {
    /// The id of this instance. Entries of other instances show the name of their instance.
    own: String,
    by_instance: HashMap<String, Vec<Listed>>,
    /// All entries, newest first.
    entries: Vec<Listed>,
    /// The marked entry. `None` after the entry has gone.
    marked: Option<Listed>,
    /// The row of the mark, or of the entry that has gone.
    row: usize,
    /// The question of the marked entry, once it is read.
    shown: Option<ShownQuestion>,
    /// The line that the user types as an answer.
    typed: Option<Line>,
    /// Whether the user may still be typing an answer to a question that has disappeared.
    is_deaf: bool,
    opened: Instant,
    /// Whether the entry was marked without a request of the user.
    is_marked_unasked: bool,
    message: Option<Message>,
    /// The message to show when the marked entry disappears.
    farewell: &'static str,
    /// Whether an answer was sent and its result is unknown. No other answer can be given meanwhile.
    is_answering: bool,
    scroll: Scroll,
    /// An entry that a screen reader has not announced yet: the newest entry that arrived while the panel was open.
    arrived: Option<String>,
    _following: Option<Following>,
}

impl InboxPanel {
    /// Creates the panel of the instance `own`, without entries.
    pub(crate) fn new(own: String, following: Option<Following>) -> Self {
        Self {
            own,
            by_instance: HashMap::new(),
            entries: Vec::new(),
            marked: None,
            row: 0,
            shown: None,
            typed: None,
            is_deaf: false,
            opened: Instant::now(),
            is_marked_unasked: false,
            message: None,
            farewell: GONE,
            is_answering: false,
            scroll: Scroll::default(),
            arrived: None,
            _following: following,
        }
    }

    /// Adopts a change of an inbox. Returns the request that follows from it.
    pub(crate) fn change(&mut self, change: Change) -> Option<InboxRequest> {
        let is_first = self.by_instance.is_empty();
        match change {
            Change::Entries(instance, entries) => drop(self.by_instance.insert(instance, entries)),
            Change::Ended(instance) => drop(self.by_instance.remove(&instance)),
            Change::Unreachable(instance, why) => {
                // An instance that was asked before is about to end. Its process may be left for a moment.
                if self.by_instance.remove(&instance).is_none() {
                    self.say(format!("{instance} can't be asked: {why}"), true);
                    return None;
                }
            }
        }
        let before = std::mem::take(&mut self.entries);
        self.entries = self.by_instance.values().flatten().cloned().collect();
        sort(&mut self.entries);
        let is_new = |entry: &&Listed| !before.iter().any(|other| entry.is_same(other));
        if let Some(new) = self.entries.iter().find(is_new).filter(|_| !is_first) {
            self.arrived = Some(format!("{}: {}", new.entry.title, new.entry.question));
        }
        match &self.marked {
            Some(marked) => {
                match self.entries.iter().position(|entry| entry.is_same(marked)) {
                    Some(row) => self.row = row,
                    None => self.lose(self.farewell),
                }
                None
            }
            // In a list that was empty, the user can mean no other entry. Later, only the user moves the mark.
            None if before.is_empty() && self.message.is_none() => {
                let request = self.mark(0);
                self.is_marked_unasked = self.opened.elapsed() > OPENING;
                request
            }
            None => None,
        }
    }

    /// Marks the entry in a row, if there is one. Returns the request for its question.
    fn mark(&mut self, row: usize) -> Option<InboxRequest> {
        let row = row.min(self.entries.len().saturating_sub(1));
        let listed = self.entries.get(row)?.clone();
        (self.row, self.marked) = (row, Some(listed.clone()));
        (self.shown, self.typed, self.message) = (None, None, None);
        self.is_marked_unasked = false;
        self.farewell = GONE;
        self.scroll = Scroll::default();
        Some(InboxRequest::Show(listed))
    }

    /// Removes the mark, because the entry has gone.
    fn lose(&mut self, why: &str) {
        self.is_deaf |= self.typed.is_some();
        (self.marked, self.shown, self.typed) = (None, None, None);
        self.is_answering = false;
        let more = match self.entries.is_empty() {
            true => "",
            false => " An arrow key marks another one.",
        };
        self.say(format!("{why}{more}"), false);
    }

    pub(crate) fn say(&mut self, text: String, is_error: bool) {
        self.message = Some(Message { text, is_error });
    }

    /// Whether an entry is the marked one.
    pub(crate) fn has_marked(&self, listed: &Listed) -> bool {
        self.marked.as_ref().is_some_and(|marked| marked.is_same(listed))
    }

    /// Shows the question of the marked entry.
    pub(crate) fn show(&mut self, question: ShownQuestion) {
        let is_other = self.shown.as_ref().is_some_and(|shown| !shown.is_same(&question));
        let is_unread = question.is_unread
            || is_other
            || std::mem::take(&mut self.is_marked_unasked)
            || self.shown.as_ref().is_some_and(|shown| shown.is_unread);
        self.shown = Some(ShownQuestion { is_unread, ..question });
    }

    /// Adopts the result of an answer: the text of the refusal and the present question, or `Ok` if it was typed.
    pub(crate) fn answered(&mut self, outcome: Result<(), (String, Option<ShownQuestion>)>) {
        self.is_answering = false;
        match outcome {
            Ok(()) => self.lose(ANSWERED),
            Err((why, question)) => {
                if let Some(question) = question {
                    self.shown = Some(ShownQuestion { is_unread: true, ..question });
                    self.is_deaf |= self.typed.take().is_some();
                }
                self.say(format!("Nothing was typed: {why}."), true);
            }
        }
    }

    /// Moves the mark by `by` entries. Wraps around at the ends. If the marked entry has gone, marks the entry in its
    /// place.
    fn step(&mut self, by: isize) -> InputResult {
        let count = self.entries.len() as isize;
        match &self.marked {
            _ if count == 0 => InputResult::Stay,
            Some(_) => self.go_to_row((self.row as isize + by).rem_euclid(count) as usize),
            None => self.go_to_row(self.row),
        }
    }

    /// Marks the entry in a row. The mark stays while an answer to the marked entry is on its way.
    fn go_to_row(&mut self, row: usize) -> InputResult {
        match self.is_answering {
            true => InputResult::Stay,
            false => self.mark(row).map_or(InputResult::Stay, InputResult::Ask),
        }
    }

    /// The buttons of the marked entry.
    fn buttons(&self) -> Vec<Button> {
        let Some(marked) = &self.marked else { return Vec::new() };
        let mut buttons = vec![Button::Go];
        if let Some(shown) = &self.shown {
            buttons.extend(shown.approve.map(|_| Button::Approve));
            buttons.extend(shown.deny.map(|_| Button::Deny));
            buttons.extend((1..=shown.choices.len().min(9)).map(Button::Choice));
            buttons.extend(shown.takes_text.then_some(Button::Type));
        }
        // A question of an agent stays until it is answered.
        if marked.entry.number.is_none() {
            buttons.extend([Button::Dismiss, Button::Snooze]);
        }
        buttons
    }

    /// Carries out a button, if the panel shows it.
    fn press_button(&mut self, button: Button) -> InputResult {
        let Some(marked) = self.marked.clone() else { return InputResult::Stay };
        if !self.buttons().contains(&button) {
            if let Some(ShownQuestion { receiver: Receiver::Elsewhere(why), .. }) = &self.shown {
                self.say(format!("{why}. Enter shows the pane."), true);
            } else if self.shown.is_some() && matches!(button, Button::Approve | Button::Deny) {
                self.say(UNCLEAR.to_owned(), true);
            }
            return InputResult::Stay;
        }
        match button {
            Button::Go => InputResult::Ask(InboxRequest::Go(marked)),
            Button::Dismiss => {
                self.farewell = DISMISSED;
                InputResult::Ask(InboxRequest::Dismiss(marked))
            }
            Button::Snooze => {
                self.farewell = SNOOZED;
                InputResult::Ask(InboxRequest::Snooze(marked))
            }
            Button::Type => {
                self.typed = Some(Line::default());
                InputResult::Stay
            }
            Button::Approve => self.answer(Reply::Approve),
            Button::Deny => self.answer(Reply::Deny),
            Button::Choice(number) => self.answer(Reply::Choice(number as u64)),
        }
    }

    /// Answers the shown question.
    fn answer(&mut self, reply: Reply) -> InputResult {
        let (Some(listed), Some(shown)) = (self.marked.clone(), &mut self.shown) else {
            return InputResult::Stay;
        };
        if self.is_answering {
            self.say(WAITS.to_owned(), false);
            return InputResult::Stay;
        }
        if std::mem::take(&mut shown.is_unread) {
            self.say(UNREAD.to_owned(), true);
            return InputResult::Stay;
        }
        if matches!(shown.receiver, Receiver::Agent(..)) && self.scroll.hides_rows() {
            self.say(TOO_LONG.to_owned(), true);
            return InputResult::Stay;
        }
        let request = match &shown.receiver {
            Receiver::Elsewhere(_) => None,
            Receiver::Program(dialog) => {
                let dialog = dialog.clone();
                Some(InboxRequest::Answer { listed, dialog, reply })
            }
            Receiver::Agent(number, answers) => {
                let chosen = |at: Option<usize>| answers.get(at?.checked_sub(1)?).cloned();
                let answer = match reply {
                    Reply::Approve => chosen(shown.approve),
                    Reply::Deny => chosen(shown.deny),
                    Reply::Choice(number) => chosen(usize::try_from(number).ok()),
                    Reply::Text(text) => Some(text),
                };
                let number = *number;
                answer.map(|answer| InboxRequest::AnswerAgent { listed, number, answer })
            }
        };
        let Some(request) = request else { return InputResult::Stay };
        (self.is_answering, self.typed) = (true, None);
        self.say(WAITS.to_owned(), false);
        InputResult::Ask(request)
    }

    /// Handles a click.
    fn click(&mut self, geometry: &Geometry, x: f64, y: f64) -> InputResult {
        let layout = self.layout(geometry);
        if !layout.contains(x, y) {
            InputResult::Close
        } else if let Some(row) = layout.row_at(x, y) {
            self.go_to_row(row)
        } else {
            layout.button_at(x, y).map_or(InputResult::Stay, |button| self.press_button(button))
        }
    }

    /// Handles a key. `typed` is the text that the key types.
    fn handle_key(&mut self, key: Key, modifiers: Modifiers, typed: Option<&str>) -> InputResult {
        if self.is_deaf {
            let is_over =
                matches!(key, Key::Escape | Key::Enter | Key::KeypadEnter | Key::Up | Key::Down);
            self.is_deaf = !is_over;
            return InputResult::Stay;
        }
        match &mut self.typed {
            None => self.list_key(key, modifiers),
            Some(line) => match key {
                Key::Escape => {
                    self.typed = None;
                    InputResult::Stay
                }
                Key::Enter | Key::KeypadEnter => {
                    let text = line.text().to_owned();
                    self.answer(Reply::Text(text))
                }
                key => {
                    line.edit(key, modifiers, typed);
                    InputResult::Stay
                }
            },
        }
    }

    /// Handles a key while the user types no answer.
    fn list_key(&mut self, key: Key, modifiers: Modifiers) -> InputResult {
        let ctrl = modifiers.contains(Modifiers::CTRL);
        let back = modifiers.contains(Modifiers::SHIFT);
        match (key, ctrl) {
            (Key::Escape, _) | (Key::Char('c' | 'g'), true) => InputResult::Close,
            (Key::Up, _) | (Key::Char('p'), true) | (Key::Char('k'), _) => self.step(-1),
            (Key::Down, _) | (Key::Char('n'), true) | (Key::Char('j'), _) => self.step(1),
            (Key::Tab, _) => self.step(if back { -1 } else { 1 }),
            (Key::Home, _) => self.go_to_row(0),
            (Key::End, _) => self.go_to_row(usize::MAX),
            (Key::PageUp | Key::PageDown, _) => {
                self.scroll.page(if key == Key::PageUp { -1 } else { 1 });
                InputResult::Stay
            }
            (key, false) if !modifiers.intersects(Modifiers::ALT | Modifiers::SUPER) => {
                let button = Button::ALL_KEYS.into_iter().find(|button| button.has_key(key));
                button.map_or(InputResult::Stay, |button| self.press_button(button))
            }
            _ => InputResult::Stay,
        }
    }

    /// The content for screen readers: the entries, with the index of the marked entry; the question with its choices;
    /// and the message, or the entry that has arrived.
    pub(crate) fn spoken(&self) -> (Vec<String>, Option<usize>, String, String) {
        let entries = self.entries.iter().map(|listed| self.spoken_entry(listed)).collect();
        let question = self.shown.as_ref().map_or_else(String::new, |shown| {
            let choices = shown.choices.iter().enumerate();
            let choices = choices.map(|(at, label)| format!("\n{}: {label}", at + 1));
            shown.cells.text() + &choices.collect::<String>()
        });
        let said = match (&self.message, &self.arrived) {
            (Some(message), _) => message.text.clone(),
            (None, Some(arrived)) => arrived.clone(),
            (None, None) => String::new(),
        };
        (entries, self.marked.as_ref().map(|_| self.row), question, said)
    }

    fn spoken_entry(&self, listed: &Listed) -> String {
        let name = self.name_of(listed);
        let kind = listed.entry.kind.map_or("", |kind| kind.name());
        let parts = [&*name, kind, &*listed.entry.question];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }

    /// The title of an entry. If it belongs to another instance, the instance comes first.
    fn name_of(&self, Listed { instance, entry }: &Listed) -> String {
        let title = match (entry.title.is_empty(), entry.session) {
            (false, _) => entry.title.clone(),
            (true, Some(pane)) => format!("pane {pane}"),
            (true, None) => "Agent".to_owned(),
        };
        if *instance == self.own { title } else { format!("{instance}: {title}") }
    }
}

impl Overlay for InboxPanel {
    fn has_mouse(&self) -> bool {
        true
    }

    fn text_target(&self) -> Option<TextTarget> {
        Some(if self.typed.is_some() { TextTarget::Panel } else { TextTarget::Nobody })
    }

    fn key(&mut self, press: &Press<'_>, cx: &mut Cx<'_>) -> Handled {
        let bound = cx.prefs.found(&[], press.pressed, press.modifiers);
        let may_repeat = self.typed.is_some()
            || matches!(press.pressed.key, Key::Up | Key::Down | Key::PageUp | Key::PageDown);
        let outcome = match bound {
            _ if press.is_repeat && !may_repeat => InputResult::Stay,
            Some((_, KeyMatch::Actions([Action::Inbox]))) => InputResult::Close,
            _ if self.typed.is_some() && pasting::requests_paste(press, cx) => InputResult::Stay,
            _ => self.handle_key(press.command_key(), press.modifiers, press.text),
        };
        outcome.carry_out(cx);
        Handled::Yes
    }

    fn text(&mut self, text: &str, _: &mut Cx<'_>) -> Handled {
        if let Some(line) = &mut self.typed {
            line.insert(text);
        }
        Handled::Yes
    }

    /// A click on an entry marks it, and a click on a button presses it. A click outside the panel closes it.
    fn press(&mut self, cx: &mut Cx<'_>) -> Handled {
        let (Some((x, y)), Some(geometry)) = (cx.pointer.position, cx.geometry) else {
            return Handled::Yes;
        };
        self.click(&geometry, x, y).carry_out(cx);
        Handled::Yes
    }

    /// A button changes its color while the pointer is on it, so the move requires a new frame.
    fn point(&mut self, _: f64, _: f64, _: &mut Cx<'_>) -> (Handled, Redraw) {
        (Handled::No, Redraw::Whole)
    }

    fn wheel(&mut self, up: bool, _: &mut Cx<'_>) {
        self.scroll.lines(if up { -3 } else { 3 });
    }

    fn draw(&self, canvas: &mut Canvas<'_, '_>) {
        self.draw_panel(canvas);
    }
}
