//! Opens the panel with lists.

use unterm_mux::TabId;

use crate::window::{
    cx::Cx,
    overlays::{Overlays, choice::Choice, palette, panel::item::Item, picker::Picker, shells},
    wish::Wish,
};
use crate::{action::ACTIONS, config::theme};

impl Overlays {
    /// Opens a panel instead of the open one.
    pub(crate) fn open_picker(&mut self, picker: Picker, cx: &mut Cx<'_>) {
        // The open list may preview a theme. Closing it restores the configured theme.
        if self.picker.replace(picker).is_some_and(|before| before.previews()) {
            cx.wish(Wish::EndThemePreview);
        }
    }

    /// Lists items, of which the item with the index `marked` is marked.
    pub(crate) fn pick(
        &mut self,
        hint: &str,
        items: Vec<Item<Choice>>,
        marked: usize,
        cx: &mut Cx<'_>,
    ) {
        self.open_picker(Picker::new(hint, items, marked), cx);
    }

    /// Asks for the argument of an action on a tab. The input initially contains `text`, which is selected.
    pub(crate) fn pick_argument(
        &mut self,
        action: &str,
        hint: &str,
        text: &str,
        target: TabId,
        cx: &mut Cx<'_>,
    ) {
        if let Some(entry) = ACTIONS.iter().find(|entry| entry.name == action) {
            self.open_picker(Picker::argument(entry, hint, text, target), cx);
        }
    }

    pub(crate) fn pick_emoji(&mut self, cx: &mut Cx<'_>) {
        self.open_picker(Picker::emoji(), cx);
    }

    pub(crate) fn pick_command(&mut self, cx: &mut Cx<'_>) {
        let items = self.command_items(cx);
        self.pick("Type a command", items, 0, cx);
    }

    /// Lists profiles, shells, `tabs` and commands.
    pub(crate) fn pick_anything(&mut self, tabs: Vec<Item<Choice>>, cx: &mut Cx<'_>) {
        let titled = |prefix: &'static str| {
            move |mut item: Item<Choice>| {
                item.title = format!("{prefix} {}", item.title);
                item
            }
        };
        let shells = shells::items().into_iter().map(titled("New tab with"));
        let tabs = tabs.into_iter().map(titled("Go to"));
        let profiles = profile_items(cx).into_iter().map(titled("New tab with"));
        let items = profiles.chain(shells).chain(tabs).chain(self.command_items(cx)).collect();
        self.pick("Open a shell, go to a tab or run a command", items, 0, cx);
    }

    fn command_items(&self, cx: &Cx<'_>) -> Vec<Item<Choice>> {
        palette::entries(&cx.prefs.config, &cx.prefs.keymap, &self.used_entries)
    }

    /// Lists all themes, and previews the marked theme. `is_light` is set if the desktop's theme is light.
    pub(crate) fn pick_theme(&mut self, is_light: Option<bool>, cx: &mut Cx<'_>) {
        let home = cx.prefs.settings.home();
        let current = theme::listed(cx.prefs.config.theme.pick(is_light), home);
        let items: Vec<_> = theme::names(home)
            .into_iter()
            .filter_map(|name| {
                let theme = theme::find(&name, home).ok()?;
                let note = if theme.is_light() { "light" } else { "dark" };
                Some(Item::new(theme.shown(&name), Choice::Theme(name)).noted(note))
            })
            .collect();
        let is_current =
            |item: &Item<Choice>| matches!(&item.choice, Choice::Theme(name) if *name == current);
        let marked = items.iter().position(is_current).unwrap_or(0);
        self.pick("Choose a theme", items, marked, cx);
    }

    pub(crate) fn pick_tab(&mut self, tabs: Vec<Item<Choice>>, cx: &mut Cx<'_>) {
        let active = cx.mux.layout().active;
        self.pick("Go to a tab", tabs, active, cx);
    }

    pub(crate) fn pick_shell(&mut self, cx: &mut Cx<'_>) {
        let items = profile_items(cx).into_iter().chain(shells::items()).collect();
        self.pick("New tab with a profile or a shell", items, 0, cx);
    }

    /// Records that an entry of the palette was used. Of two entries that match equally well, the palette lists the
    /// more recently used entry first.
    pub(crate) fn record_entry(&mut self, id: String) {
        self.used_entries.retain(|used| *used != id);
        self.used_entries.push(id);
    }
}

fn profile_items(cx: &Cx<'_>) -> Vec<Item<Choice>> {
    let names = cx.prefs.config.profile.keys();
    names.map(|name| Item::new(name, Choice::Profile(name.clone())).noted("profile")).collect()
}
