//! The open panel and its purpose: a list of commands, themes, tabs, shells, emoji, or answers to an agent.

use std::path::Path;

use unterm_mux::TabId;
use unterm_renderer::Renderer;

use crate::action::{Action, Entry};
use crate::config::listed::Listed;
use crate::window::{
    overlays::panel::{Panel, item::Item},
    ui::geometry::Geometry,
};

/// Shells to offer in addition to those in `/etc/shells`, if they are on `PATH`.
const SHELLS: &[&str] = &["bash", "zsh", "fish", "nu", "pwsh", "elvish", "xonsh"];

#[derive(Clone)]
pub(crate) enum Choice {
    Command(&'static Entry),
    /// An entry that the user configured: its title and its actions.
    Own(String, Vec<Action>),
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

/// The open panel and its purpose.
pub(crate) struct Picker {
    pub(crate) panel: Panel<Choice>,
    /// The action whose argument the user types.
    pub(crate) argument: Option<&'static Entry>,
    /// The setting whose value the user types.
    pub(crate) setting: Option<Listed>,
    /// The tab that a chosen action applies to; `None` for the active tab.
    pub(crate) target: Option<TabId>,
    /// Whether the panel previews a theme other than the configured theme.
    pub(crate) previews: bool,
    /// In the emoji picker: the input for which a character was last looked up by code point.
    pub(crate) code: Option<String>,
    /// The number of the agent's question that the panel answers.
    pub(crate) answering: Option<u64>,
}

impl Picker {
    pub(crate) fn panel(&self) -> &Panel<Choice> {
        &self.panel
    }

    /// Wraps the text in the panel. Must be called before the panel is drawn.
    pub(crate) fn wrap(&mut self, geometry: &Geometry, renderer: &mut Renderer) {
        self.panel.wrap(geometry, renderer);
    }
}

pub(crate) fn action_item(entry: &'static Entry) -> Item<Choice> {
    Item::new(entry.title, Choice::Command(entry))
        .named(entry.name)
        .also(entry.synonyms.iter().copied())
        .described(entry.summary())
}

pub(crate) fn shell_items() -> Vec<Item<Choice>> {
    shells()
        .into_iter()
        .map(|path| {
            let name = Path::new(&path).file_name().unwrap_or_default();
            Item::new(name.to_string_lossy(), Choice::Shell(path.clone())).noted(path)
        })
        .collect()
}

/// The paths of the installed shells. The shell in `$SHELL` is first.
pub(crate) fn shells() -> Vec<String> {
    let own = std::env::var("SHELL").ok();
    let listed = std::fs::read_to_string("/etc/shells").unwrap_or_default();
    let listed = listed.lines().map(str::trim).filter(|line| line.starts_with('/'));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed: Vec<String> = SHELLS
        .iter()
        .filter_map(|name| {
            let mut folders = std::env::split_paths(&path);
            folders.find_map(|folder| {
                let file = folder.join(name);
                file.is_file().then(|| file.to_string_lossy().into_owned())
            })
        })
        .collect();
    let mut seen = std::collections::HashSet::new();
    own.into_iter()
        .chain(listed.map(str::to_owned))
        .chain(installed)
        .filter(|path| Path::new(path).is_file())
        // Skips a shell that was already found in another folder, for example if `/bin` is a link to `/usr/bin`.
        .filter(|path| {
            let name = Path::new(path).file_name().map(ToOwned::to_owned);
            seen.insert(name)
        })
        .collect()
}
