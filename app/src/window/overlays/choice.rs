//! What an item of the panel does when the user chooses it.

use unterm_mux::TabId;

use crate::action::{Action, Entry};
use crate::config::settings_list::Listed;
use crate::window::overlays::panel::item::Item;

/// The effect of an item of the panel.
#[derive(Clone)]
pub(crate) enum Choice {
    Command(&'static Entry),
    /// An entry that the user configured: its title and its actions.
    Own(String, Vec<Action>),
    /// An action with its argument.
    Act(Action),
    /// A setting to change.
    Setting(Listed),
    /// A value of a setting, written as TOML.
    Value(Listed, String),
    /// A page of the manual.
    Page(&'static str),
    /// The name of a layout.
    Layout(String),
    Theme(String),
    Tab(TabId),
    /// The name of a profile.
    Profile(String),
    /// The path of a program.
    Shell(String),
    /// Text to type into the pane.
    Text(String),
    Answer(String),
    /// The user wants to type an answer to an agent, instead of choosing one.
    OwnWords,
    /// The user declines to answer an agent's question.
    NoAnswer,
}

pub(crate) fn action_item(entry: &'static Entry) -> Item<Choice> {
    Item::new(entry.title, Choice::Command(entry))
        .named(entry.name)
        .also(entry.synonyms.iter().copied())
        .described(entry.summary())
}
