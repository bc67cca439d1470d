//! What the panel lists, and what a choice does: commands, themes, tabs, shells, emoji and answers to agents.

use std::{path::Path, sync::Arc};

use unterm_mux::{OnExit, Spawn, TabId, input::Modifiers};
use unterm_renderer::Renderer;
use winit::event::KeyEvent;

use super::{
    App, emoji,
    geometry::Geometry,
    keys::Pressed,
    panel::{Item, Outcome, Panel},
};
use crate::{
    action::{ACTIONS, Action, Entry, Takes},
    config::{edit, theme},
};

/// Shells to offer if they are on `PATH`, besides those in `/etc/shells`.
const SHELLS: &[&str] = &["bash", "zsh", "fish", "nu", "pwsh", "elvish", "xonsh"];

#[derive(Clone)]
pub(super) enum Choice {
    Command(&'static Entry),
    Theme(String),
    Tab(TabId),
    /// The path of a program.
    Shell(String),
    /// Text to type into the pane.
    Text(String),
    Answer(String),
    /// The user wants to type the answer to an agent.
    OwnWords,
    /// The user declines to answer an agent.
    NoAnswer,
}

/// The open panel and its purpose.
pub(super) struct Picker {
    panel: Panel<Choice>,
    /// The action whose argument is typed.
    argument: Option<&'static Entry>,
    /// The tab that the action applies to; `None` for the active tab.
    target: Option<TabId>,
    /// The panel previews a theme that is not the configured one.
    previews: bool,
    /// For the emoji picker, the input at the last lookup by code point.
    code: Option<String>,
    /// The number of the agent's question to answer.
    answering: Option<u64>,
}

impl Picker {
    pub(super) fn panel(&self) -> &Panel<Choice> {
        &self.panel
    }

    /// Wraps the panel's text, before it is drawn.
    pub(super) fn wrap(&mut self, geometry: &Geometry, renderer: &mut Renderer) {
        self.panel.wrap(geometry, renderer);
    }
}

impl App {
    fn pick(&mut self, hint: &str, items: Vec<Item<Choice>>, marked: usize) {
        // An open list may preview a theme; closing it restores the configured theme.
        self.close_picker();
        let panel = Panel::new(hint, items, marked);
        self.picker = Some(Picker {
            panel,
            argument: None,
            target: None,
            previews: false,
            code: None,
            answering: None,
        });
        self.pacing.ask();
    }

    /// Asks for the argument of an action about a tab; the input starts with `text`, selected.
    pub(super) fn pick_argument(&mut self, action: &str, hint: &str, text: &str, target: TabId) {
        let entry = ACTIONS.iter().find(|entry| entry.name == action);
        self.pick(hint, Vec::new(), 0);
        if let Some(picker) = &mut self.picker {
            picker.panel.prefill(&text.replace('\\', r"\\"));
            picker.argument = entry;
            picker.target = Some(target);
        }
    }

    /// Shows an agent's question in full and lists the answers; without answers, the user types one.
    pub(super) fn pick_answer(
        &mut self,
        hint: &str,
        text: String,
        items: Vec<Item<Choice>>,
        number: u64,
    ) {
        self.pick(hint, Vec::new(), 0);
        if let Some(picker) = &mut self.picker {
            picker.panel = Panel::new(hint, items, 0).with_text(text);
            picker.answering = Some(number);
        }
    }

    pub(super) fn pick_emoji(&mut self) {
        self.pick("Type a name, a keyword or a code point such as U+263A", emoji::items(), 0);
        if let Some(picker) = &mut self.picker {
            picker.code = Some(String::new());
        }
    }

    pub(super) fn pick_command(&mut self) {
        let items = self.command_items();
        self.pick("Type a command", items, 0);
    }

    pub(super) fn pick_anything(&mut self) {
        let shells = shell_items().into_iter().map(|mut item| {
            item.title = format!("New tab with {}", item.title);
            item
        });
        let tabs = self.tab_items().into_iter().map(|mut item| {
            item.title = format!("Go to {}", item.title);
            item
        });
        let items = shells.chain(tabs).chain(self.command_items()).collect();
        self.pick("Open a shell, go to a tab or run a command", items, 0);
    }

    fn command_items(&self) -> Vec<Item<Choice>> {
        let is_list = |entry: &Entry| {
            matches!(entry.takes, Takes::Nothing(Action::CommandPalette | Action::Launcher))
        };
        ACTIONS
            .iter()
            .filter(|entry| !is_list(entry))
            .map(|entry| {
                let used = self.used_actions.iter().position(|name| *name == entry.name);
                action_item(entry)
                    .noted(self.keymap.keys_of(entry))
                    .used(used.map_or(0, |at| at as u32 + 1))
            })
            .collect()
    }

    /// Lists every theme, and previews the marked one.
    pub(super) fn pick_theme(&mut self) {
        let home = self.settings.home().to_owned();
        let current = self.config.theme.pick(self.is_light()).to_owned();
        let items: Vec<_> = theme::names(&home)
            .into_iter()
            .filter_map(|name| {
                let theme = theme::find(&name, &home).ok()?;
                let note = if theme.is_light() { "light" } else { "dark" };
                Some(Item::new(theme.shown(&name), Choice::Theme(name)).noted(note))
            })
            .collect();
        let is_current =
            |item: &Item<Choice>| matches!(&item.choice, Choice::Theme(name) if *name == current);
        let marked = items.iter().position(is_current).unwrap_or(0);
        self.pick("Choose a theme", items, marked);
    }

    pub(super) fn pick_tab(&mut self) {
        let items = self.tab_items();
        self.pick("Go to a tab", items, self.mux.layout().active);
    }

    fn tab_items(&self) -> Vec<Item<Choice>> {
        let layout = self.mux.layout();
        layout
            .tabs
            .iter()
            .enumerate()
            .map(|(index, tab)| {
                let label = self.tabs.iter().find(|label| label.id == tab.id);
                let title = label.map_or("", |label| &label.title);
                Item::new(title, Choice::Tab(tab.id)).noted(format!("tab {}", index + 1))
            })
            .collect()
    }

    pub(super) fn pick_shell(&mut self) {
        self.pick("New tab with a shell", shell_items(), 0);
    }

    /// Handles a key while the panel is open; the key does not reach the program.
    pub(super) fn picker_key(&mut self, pressed: Pressed, modifiers: Modifiers, event: &KeyEvent) {
        let Some(picker) = &mut self.picker else { return };
        let key = match pressed.unshifted {
            Some(c) if modifiers.contains(Modifiers::CTRL) => unterm_mux::input::Key::Char(c),
            _ => pressed.key,
        };
        let outcome = picker.panel.key(key, modifiers, event.text.as_deref());
        self.picked(outcome);
    }

    /// Inserts text from an input method or a paste.
    pub(super) fn picker_text(&mut self, text: &str) {
        if let Some(picker) = &mut self.picker {
            let outcome = picker.panel.insert(text);
            self.picked(outcome);
        }
    }

    /// Handles a click while the panel is open; a click outside the panel closes it.
    pub(super) fn picker_click(&mut self, x: f64, y: f64) {
        let Some(geometry) = self.screen.as_ref().map(|screen| screen.geometry) else { return };
        let Some(picker) = &mut self.picker else { return };
        let outcome = picker.panel.click(&geometry, x, y).unwrap_or(Outcome::Closed);
        self.picked(outcome);
    }

    pub(super) fn picker_pointed(&mut self, x: f64, y: f64) {
        let Some(geometry) = self.screen.as_ref().map(|screen| screen.geometry) else { return };
        if self.picker.as_mut().is_some_and(|picker| picker.panel.point(&geometry, x, y)) {
            self.pacing.ask();
        }
    }

    pub(super) fn picker_wheel(&mut self, up: bool) {
        if let Some(picker) = &mut self.picker {
            let outcome = picker.panel.wheel(up);
            self.picked(outcome);
        }
    }

    fn picked(&mut self, outcome: Outcome) {
        self.pacing.ask();
        match outcome {
            Outcome::Stay | Outcome::Edited => {}
            Outcome::Moved => self.preview(),
            Outcome::Closed => self.close_picker(),
            Outcome::Chosen => self.choose(),
        }
    }

    /// Previews the marked theme; in the emoji picker, looks up the input as a code point.
    fn preview(&mut self) {
        let Some(picker) = &mut self.picker else { return };
        if let Some(code) =
            picker.code.as_mut().filter(|code| code.as_str() != picker.panel.query())
        {
            picker.panel.query().clone_into(code);
            picker.panel.offer(emoji::by_code(code));
        }
        let Some(Choice::Theme(name)) = picker.panel.choice() else { return };
        if let Ok(theme) = theme::find(name, self.settings.home()) {
            picker.previews = true;
            // Errors in the configuration were reported when it was applied.
            let _ = self.apply_palette(Arc::new(theme.palette));
        }
    }

    /// Writes a theme to the configuration file; the file watchers apply it, in this window and all others.
    pub(super) fn set_theme(&mut self, name: &str) {
        let home = self.settings.home().to_owned();
        let key: &[&str] = match (&self.config.theme, self.is_light()) {
            (crate::config::ThemeChoice::One(_), _) => &["theme"],
            (_, Some(true)) => &["theme", "light"],
            _ => &["theme", "dark"],
        };
        if let Err(error) = edit::set(&home, key, name.into()) {
            self.complain("theme", format!("Can't set the theme.\n{error:#}"));
            self.apply_theme();
        }
    }

    fn close_picker(&mut self) {
        if self.picker.take().is_some_and(|picker| picker.previews) {
            self.apply_theme();
        }
    }

    fn choose(&mut self) {
        let Some(picker) = &mut self.picker else { return };
        if let Some(entry) = picker.argument {
            match entry.action(Some(picker.panel.query())) {
                Ok(action) => {
                    let target = picker.target;
                    self.picker = None;
                    self.act_by_choice(target, action);
                }
                Err(message) => picker.panel.complain(message),
            }
            return;
        }
        let Some(choice) = picker.panel.choice().cloned() else {
            // Without a list, the input is the answer.
            if let (Some(number), true) = (picker.answering, picker.panel.is_without_items()) {
                let answer = picker.panel.query().to_owned();
                self.picker = None;
                self.agent_answered(number, &answer);
            }
            return;
        };
        if let Choice::Command(entry) = choice {
            // Of two equal matches, the palette lists the more recently used first.
            self.used_actions.retain(|name| *name != entry.name);
            self.used_actions.push(entry.name);
        }
        match choice {
            Choice::Command(entry) => match &entry.takes {
                Takes::Nothing(action) => {
                    self.picker = None;
                    self.act_by_choice(None, action.clone());
                }
                Takes::Number { what, .. } | Takes::Text { what, .. } => {
                    picker.panel = Panel::new(format!("{}: {what}", entry.title), Vec::new(), 0);
                    picker.argument = Some(entry);
                }
            },
            Choice::Theme(name) => {
                self.picker = None;
                self.set_theme(&name);
            }
            Choice::Tab(tab) => {
                self.picker = None;
                self.report(self.mux.activate_tab(tab));
            }
            Choice::Answer(answer) => {
                if let Some(number) = self.picker.take().and_then(|picker| picker.answering) {
                    self.agent_answered(number, &answer);
                }
            }
            Choice::NoAnswer => {
                if let Some(number) = self.picker.take().and_then(|picker| picker.answering) {
                    self.leave_unanswered(number);
                }
            }
            Choice::OwnWords => {
                let asked = picker.panel.text().unwrap_or_default().to_owned();
                picker.panel = Panel::new("Your answer", Vec::new(), 0).with_text(asked);
            }
            Choice::Text(text) => {
                self.picker = None;
                self.type_character(&text);
            }
            Choice::Shell(program) => {
                self.picker = None;
                let spawn = Spawn { program: Some(program), ..self.spawn_beside() };
                self.report(self.mux.open_tab(spawn, None, OnExit::Close));
            }
        }
    }
}

fn action_item(entry: &'static Entry) -> Item<Choice> {
    Item::new(entry.title, Choice::Command(entry))
        .named(entry.name, entry.synonyms())
        .described(entry.summary())
}

fn shell_items() -> Vec<Item<Choice>> {
    shells()
        .into_iter()
        .map(|path| {
            let name = Path::new(&path).file_name().unwrap_or_default();
            Item::new(name.to_string_lossy(), Choice::Shell(path.clone())).noted(path)
        })
        .collect()
}

/// Paths of the installed shells, `$SHELL` first.
fn shells() -> Vec<String> {
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
        // Skips the same shell in another folder, as on systems that link /bin to /usr/bin.
        .filter(|path| {
            let name = Path::new(path).file_name().map(ToOwned::to_owned);
            seen.insert(name)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The action that Enter runs for this palette input.
    fn found(typed: &str) -> &'static str {
        let mut panel = Panel::new("", ACTIONS.iter().map(action_item).collect(), 0);
        panel.insert(typed);
        match panel.choice() {
            Some(Choice::Command(entry)) => entry.name,
            _ => "",
        }
    }

    #[test]
    fn each_action_is_found_by_its_title_its_name_and_its_synonyms() {
        for entry in ACTIONS {
            assert_eq!(found(entry.title), entry.name);
            assert_eq!(found(&entry.title.to_lowercase()), entry.name);
            assert_eq!(found(entry.name), entry.name);
            for synonym in entry.synonyms() {
                assert_eq!(found(synonym), entry.name, "{synonym}");
            }
        }
    }

    #[test]
    fn words_of_other_programs_find_what_they_mean() {
        for (typed, name) in [
            ("find", "search"),
            ("screenshot", "capture_window"),
            ("preferences", "settings"),
            ("vertical split", "split_right"),
            ("color scheme", "choose_theme"),
            ("reload", "open_config"),
            ("quit", "close_window"),
            ("resize", "resize_left"),
            ("Type into all panes", "broadcast_all"),
            ("ntab", "new_tab"),
            ("broadcast", "broadcast_tab"),
        ] {
            assert_eq!(found(typed), name, "{typed}");
        }
    }
}
