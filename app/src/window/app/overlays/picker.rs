//! Opens the panel with lists, and carries out the user's choice.

use std::sync::Arc;

use unterm_mux::{OnExit, Spawn, TabId, input::Modifiers};

use crate::window::{
    app::{App, overlays::layer::Layer},
    overlays::{
        canvas::Canvas,
        emoji,
        overlay::Press,
        palette,
        panel::{Panel, PanelOutcome, item::Item},
        picker::{Choice, Picker, shell_items},
        taker::Taker,
    },
    surface::plan::Drawn,
    system::errand::Done,
};
use crate::{
    action::ACTIONS,
    config::{
        NO_EMOJI_FONT, edit,
        listed::{Listed, SettingKind},
        theme,
    },
};

/// The topic of messages about settings.
const SETTING: &str = "setting";

/// The overlay of the command palette and similar lists.
pub(crate) struct PickerLayer;

impl Layer for PickerLayer {
    fn is_open(&self, app: &App) -> bool {
        app.overlays.picker.is_some()
    }

    fn has_mouse(&self) -> bool {
        true
    }

    fn taker(&self) -> Option<Taker> {
        Some(Taker::Panel)
    }

    fn key(&self, app: &mut App, press: &Press<'_>) -> bool {
        if !app.pastes_into_chrome(press) {
            app.picker_key(press);
        }
        true
    }

    fn text(&self, app: &mut App, text: &str) -> bool {
        app.picker_text(text);
        true
    }

    fn press(&self, app: &mut App) -> bool {
        let (x, y) = app.input.pointer.position.unwrap_or((-1.0, -1.0));
        app.picker_click(x, y);
        true
    }

    fn point(&self, app: &mut App, x: f64, y: f64) -> bool {
        app.picker_pointed(x, y);
        false
    }

    fn wheel(&self, app: &mut App, up: bool) {
        app.picker_wheel(up);
    }

    fn draw(&self, drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>) {
        let Some(picker) = &drawn.overlays.picker else { return };
        let (preedit, look) = (canvas.preedit_of(Taker::Panel), (canvas.geometry, canvas.colors));
        let at = picker.panel().draw(preedit, look, canvas.renderer, canvas.scene);
        canvas.caret = Some(at);
    }
}

impl App {
    pub(crate) fn pick(&mut self, hint: &str, items: Vec<Item<Choice>>, marked: usize) {
        // A list that is already open may preview a theme. Closing it restores the configured theme.
        self.close_picker();
        let panel = Panel::new(hint, items, marked);
        self.overlays.picker = Some(Picker {
            panel,
            argument: None,
            setting: None,
            target: None,
            previews: false,
            code: None,
            answering: None,
        });
        self.surface.pacing.ask();
    }

    /// Asks for the argument of an action on a tab. The input initially contains `text`, which is selected.
    pub(crate) fn pick_argument(&mut self, action: &str, hint: &str, text: &str, target: TabId) {
        let entry = ACTIONS.iter().find(|entry| entry.name == action);
        self.pick(hint, Vec::new(), 0);
        if let Some(picker) = &mut self.overlays.picker {
            picker.panel.prefill(&text.replace('\\', r"\\"));
            picker.argument = entry;
            picker.target = Some(target);
        }
    }

    /// Shows the full text of an agent's question, and lists the answers. If there are none, the user types an answer.
    pub(crate) fn pick_answer(
        &mut self,
        hint: &str,
        text: String,
        items: Vec<Item<Choice>>,
        number: u64,
    ) {
        self.pick(hint, Vec::new(), 0);
        if let Some(picker) = &mut self.overlays.picker {
            picker.panel = Panel::new(hint, items, 0).with_text(text);
            picker.answering = Some(number);
        }
    }

    pub(crate) fn pick_emoji(&mut self) {
        self.pick("Type a name, a keyword or a code point such as U+263A", emoji::items(), 0);
        if let Some(picker) = &mut self.overlays.picker {
            picker.code = Some(String::new());
            self.errand("emoji", || match unterm_renderer::has_emoji_font() {
                true => Done::Nothing,
                false => Done::Said("emoji", NO_EMOJI_FONT.to_owned()),
            });
        }
    }

    pub(crate) fn pick_command(&mut self) {
        let items = self.command_items();
        self.pick("Type a command", items, 0);
    }

    pub(crate) fn pick_anything(&mut self) {
        let shells = shell_items().into_iter().map(|mut item| {
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
        let items = self.profile_items().into_iter().chain(shell_items()).collect();
        self.pick("New tab with a profile or a shell", items, 0);
    }

    fn profile_items(&self) -> Vec<Item<Choice>> {
        let names = self.prefs.config.profile.keys();
        names.map(|name| Item::new(name, Choice::Profile(name.clone())).noted("profile")).collect()
    }

    /// Handles a key while the panel is open. The program does not receive this key.
    pub(crate) fn picker_key(&mut self, press: &Press<'_>) {
        let Press { pressed, modifiers, text } = *press;
        let Some(picker) = &mut self.overlays.picker else { return };
        let key = match pressed.unshifted {
            Some(c) if modifiers.contains(Modifiers::CTRL) => unterm_mux::input::Key::Char(c),
            _ => pressed.key,
        };
        let outcome = picker.panel.key(key, modifiers, text);
        self.picked(outcome);
    }

    /// Inserts text from an input method or a paste.
    pub(crate) fn picker_text(&mut self, text: &str) {
        if let Some(picker) = &mut self.overlays.picker {
            let outcome = picker.panel.insert(text);
            self.picked(outcome);
        }
    }

    /// Handles a click while the panel is open. A click outside the panel closes it.
    pub(crate) fn picker_click(&mut self, x: f64, y: f64) {
        let Some(geometry) = self.surface.geometry else {
            return;
        };
        let Some(picker) = &mut self.overlays.picker else { return };
        let outcome = picker.panel.click(&geometry, x, y).unwrap_or(PanelOutcome::Closed);
        self.picked(outcome);
    }

    pub(crate) fn picker_pointed(&mut self, x: f64, y: f64) {
        let Some(geometry) = self.surface.geometry else {
            return;
        };
        if self.overlays.picker.as_mut().is_some_and(|picker| picker.panel.point(&geometry, x, y)) {
            self.surface.pacing.ask();
        }
    }

    pub(crate) fn picker_wheel(&mut self, up: bool) {
        if let Some(picker) = &mut self.overlays.picker {
            let outcome = picker.panel.wheel(up);
            self.picked(outcome);
        }
    }

    fn picked(&mut self, outcome: PanelOutcome) {
        self.surface.pacing.ask();
        match outcome {
            PanelOutcome::Stay | PanelOutcome::Edited => {}
            PanelOutcome::Moved => self.preview(),
            PanelOutcome::Closed => self.close_picker(),
            PanelOutcome::Chosen => self.choose(),
        }
    }

    /// Previews the marked theme. In the emoji picker, looks up a character whose code point is the input.
    fn preview(&mut self) {
        let Some(picker) = &mut self.overlays.picker else { return };
        if let Some(code) =
            picker.code.as_mut().filter(|code| code.as_str() != picker.panel.query())
        {
            picker.panel.query().clone_into(code);
            picker.panel.offer(emoji::by_code(code));
        }
        let Some(Choice::Theme(name)) = picker.panel.choice() else { return };
        if let Ok(theme) = theme::find(name, self.prefs.settings.home()) {
            picker.previews = true;
            // Ignore the error: errors in the configuration were reported when it was applied.
            let _ = self.apply_palette(Arc::new(theme.palette));
        }
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

    /// Changes a setting from the palette: toggles a switch, or asks for the new value.
    fn change_setting(&mut self, setting: Listed) {
        match &setting.kind {
            SettingKind::Switch(on) => {
                let text = (!on).to_string();
                if let Err(why) = self.write_setting(&setting, &text) {
                    self.complain(SETTING, why);
                }
            }
            SettingKind::Choice(options) => {
                let current = setting.value.trim_matches('"');
                let marked = options.iter().position(|option| option == current).unwrap_or(0);
                let item = |option: &String| {
                    let note = if option == current { "now" } else { "" };
                    Item::new(option, Choice::Value(setting.clone(), option.clone())).noted(note)
                };
                let items = options.iter().map(item).collect();
                self.pick(&format!("{}: {}", setting.id(), setting.doc), items, marked);
            }
            SettingKind::Value => {
                self.pick(&format!("{}: {}", setting.id(), setting.doc), Vec::new(), 0);
                if let Some(picker) = &mut self.overlays.picker {
                    picker.panel.prefill(setting.value.trim_matches('"'));
                    picker.setting = Some(setting);
                }
            }
        }
    }

    /// Writes a setting to the configuration file, and shows the new value in a message. The file watchers then apply
    /// the setting.
    ///
    /// # Errors
    /// Returns a message for the user if the value is not valid.
    fn write_setting(&mut self, setting: &Listed, text: &str) -> Result<(), String> {
        let home = self.prefs.settings.home().to_owned();
        // Input that looks like a number or a switch may be meant as text, if the setting is a text.
        let value = match setting.value.starts_with('"') {
            true => text.into(),
            false => Listed::read(text),
        };
        let shown = value.to_string();
        edit::set(&home, &setting.path(), value).map_err(|error| format!("{error:#}"))?;
        self.notify(SETTING, format!("{} = {}", setting.id(), shown.trim()));
        Ok(())
    }

    fn close_picker(&mut self) {
        if self.overlays.picker.take().is_some_and(|picker| picker.previews) {
            self.apply_theme();
        }
    }

    fn choose(&mut self) {
        let Some(picker) = &mut self.overlays.picker else { return };
        if let Some(entry) = picker.argument {
            match entry.action(Some(picker.panel.query())) {
                Ok(action) => {
                    let target = picker.target;
                    self.overlays.picker = None;
                    self.act_by_choice(target, action);
                }
                Err(message) => picker.panel.complain(message),
            }
            return;
        }
        if let Some(setting) = picker.setting.clone() {
            let text = picker.panel.query().to_owned();
            match self.write_setting(&setting, &text) {
                Ok(()) => self.overlays.picker = None,
                Err(why) => {
                    if let Some(picker) = &mut self.overlays.picker {
                        picker.panel.complain(why);
                    }
                }
            }
            return;
        }
        let Some(choice) = picker.panel.choice().cloned() else {
            // If there is no list of answers, the input is the answer.
            if let (Some(number), true) = (picker.answering, picker.panel.is_without_items()) {
                let answer = picker.panel.query().to_owned();
                self.overlays.picker = None;
                self.agent_answered(number, &answer);
            }
            return;
        };
        let id = palette::id(&choice);
        if !id.is_empty() {
            // Record the choice: of two entries that match equally well, the palette lists the more recently used
            // entry first.
            self.overlays.used_entries.retain(|used| *used != id);
            self.overlays.used_entries.push(id);
        }
        match choice {
            Choice::Command(entry) => match entry.plain() {
                Some(action) => {
                    self.overlays.picker = None;
                    self.act_by_choice(None, action);
                }
                None => {
                    let title = format!("{}: {}", entry.title, entry.argument());
                    picker.panel = Panel::new(title, Vec::new(), 0);
                    picker.argument = Some(entry);
                }
            },
            Choice::Own(_, actions) => {
                self.overlays.picker = None;
                for action in actions {
                    self.act_by_choice(None, action);
                }
            }
            Choice::Setting(setting) => {
                self.overlays.picker = None;
                self.change_setting(setting);
            }
            Choice::Value(setting, value) => {
                self.overlays.picker = None;
                if let Err(why) = self.write_setting(&setting, &value) {
                    self.complain(SETTING, why);
                }
            }
            Choice::Page(topic) => {
                self.overlays.picker = None;
                self.show_manual(topic);
            }
            Choice::Layout(name) => {
                self.overlays.picker = None;
                self.open_layout(Some(&name));
            }
            Choice::Theme(name) => {
                self.overlays.picker = None;
                self.set_theme(&name);
            }
            Choice::Tab(tab) => {
                self.overlays.picker = None;
                self.report(self.mux.activate_tab(tab));
            }
            Choice::Answer(answer) => {
                if let Some(number) =
                    self.overlays.picker.take().and_then(|picker| picker.answering)
                {
                    self.agent_answered(number, &answer);
                }
            }
            Choice::NoAnswer => {
                if let Some(number) =
                    self.overlays.picker.take().and_then(|picker| picker.answering)
                {
                    self.leave_unanswered(number);
                }
            }
            Choice::OwnWords => {
                let asked = picker.panel.text().unwrap_or_default().to_owned();
                picker.panel = Panel::new("Your answer", Vec::new(), 0).with_text(asked);
            }
            Choice::Text(text) => {
                self.overlays.picker = None;
                self.type_character(&text);
            }
            Choice::Profile(name) => {
                self.overlays.picker = None;
                self.open_tab(Some(&name));
            }
            Choice::Shell(program) => {
                self.overlays.picker = None;
                let spawn = Spawn { program: Some(program), ..self.spawn_beside() };
                self.report(self.mux.open_tab(spawn, None, OnExit::Close));
            }
        }
    }
}
