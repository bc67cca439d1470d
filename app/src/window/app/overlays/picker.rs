//! Opens the panel with lists.

use unterm_mux::TabId;

use crate::window::{
    app::App,
    overlays::{choice::Choice, palette, panel::item::Item, picker::Picker, shells},
    system::errand::ErrandResult,
};
use crate::{
    action::ACTIONS,
    config::{NO_EMOJI_FONT, edit, theme},
};

impl App {
    /// Opens a panel instead of the open one.
    pub(crate) fn open_picker(&mut self, picker: Picker) {
        // The open list may preview a theme. Closing it restores the configured theme.
        if self.overlays.picker.replace(picker).is_some_and(|before| before.previews()) {
            self.apply_theme();
        }
    }

    pub(crate) fn pick(&mut self, hint: &str, items: Vec<Item<Choice>>, marked: usize) {
        self.open_picker(Picker::new(hint, items, marked));
    }

    /// Asks for the argument of an action on a tab. The input initially contains `text`, which is selected.
    pub(crate) fn pick_argument(&mut self, action: &str, hint: &str, text: &str, target: TabId) {
        if let Some(entry) = ACTIONS.iter().find(|entry| entry.name == action) {
            self.open_picker(Picker::argument(entry, hint, text, target));
        }
    }

    pub(crate) fn pick_emoji(&mut self) {
        self.open_picker(Picker::emoji());
        self.errand("emoji", || match unterm_renderer::has_emoji_font() {
            true => ErrandResult::Nothing,
            false => ErrandResult::Said("emoji", NO_EMOJI_FONT.to_owned()),
        });
    }

    pub(crate) fn pick_command(&mut self) {
        let items = self.command_items();
        self.pick("Type a command", items, 0);
    }

    pub(crate) fn pick_anything(&mut self) {
        let shells = shells::items().into_iter().map(|mut item| {
            item.title = format!("New tab with {}", item.title);
            item
        });
        let tabs = self.tab_items().into_iter().map(|mut item| {
            item.title = format!("Go to {}", item.title);
            item
        });
        let profiles = self.profile_items().into_iter().map(|mut item| {
            item.title = format!("New tab with {}", item.title);
            item
        });
        let items = profiles.chain(shells).chain(tabs).chain(self.command_items()).collect();
        self.pick("Open a shell, go to a tab or run a command", items, 0);
    }

    fn command_items(&self) -> Vec<Item<Choice>> {
        let used = &self.overlays.used_entries;
        palette::entries(&self.prefs.config, &self.prefs.keymap, used)
    }

    /// Lists all themes, and previews the marked theme.
    pub(crate) fn pick_theme(&mut self) {
        let home = self.prefs.settings.home().to_owned();
        let current = theme::listed(self.prefs.config.theme.pick(self.is_light()), &home);
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

    pub(crate) fn pick_tab(&mut self) {
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
                let label = self.chrome.tabs.iter().find(|label| label.id == tab.id);
                let title = label.map_or("", |label| &label.title);
                Item::new(title, Choice::Tab(tab.id)).noted(format!("tab {}", index + 1))
            })
            .collect()
    }

    pub(crate) fn pick_shell(&mut self) {
        let items = self.profile_items().into_iter().chain(shells::items()).collect();
        self.pick("New tab with a profile or a shell", items, 0);
    }

    fn profile_items(&self) -> Vec<Item<Choice>> {
        let names = self.prefs.config.profile.keys();
        names.map(|name| Item::new(name, Choice::Profile(name.clone())).noted("profile")).collect()
    }

    /// Writes the theme's name to the configuration file. The file watchers then apply the theme in all windows.
    pub(crate) fn set_theme(&mut self, name: &str) {
        let home = self.prefs.settings.home().to_owned();
        let key: &[&str] = match (&self.prefs.config.theme, self.is_light()) {
            (crate::config::ThemeChoice::One(_), _) => &["theme"],
            (_, Some(true)) => &["theme", "light"],
            _ => &["theme", "dark"],
        };
        if let Err(error) = edit::set(&home, key, name.into()) {
            self.complain("theme", format!("Can't set the theme.\n{error:#}"));
            self.apply_theme();
        }
    }
}
