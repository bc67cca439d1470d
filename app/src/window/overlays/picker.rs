//! The open panel and its purpose: a list of commands, themes, tabs, shells, emoji, or answers to an agent.
//!
//! Owns the choice: a part of it changes the panel itself, such as a command that needs an argument. The app carries out
//! the rest.

use std::sync::Arc;

use unterm_mux::{TabId, input::Key};
use unterm_renderer::Renderer;

use crate::action::{Action, Entry};
use crate::config::{
    edit,
    settings_list::{Listed, SettingKind},
    theme,
};
use crate::window::{
    cx::Cx,
    overlays::{
        canvas::Canvas,
        choice::Choice,
        emoji,
        overlay::{Handled, Overlay, Press},
        palette,
        panel::{Panel, PanelOutcome, item::Item},
        pasting,
        text_target::TextTarget,
    },
    redraw::Redraw,
    ui::geometry::Geometry,
    wish::Wish,
};

/// The topic of messages about settings.
const SETTING: &str = "setting";

/// What the input of the panel is for, in addition to filtering the items.
enum Purpose {
    /// Only the items matter.
    List,
    /// The user types the argument of an action, which applies to the given tab, or to the active tab.
    Argument(&'static Entry, Option<TabId>),
    /// The user types the value of a setting.
    Setting(Listed),
    /// The input may be the code point of a character. The value is the last input that was looked up.
    Emoji(String),
    /// The user answers the agents' question with this number. If there are no items, the user types the answer.
    Answer(u64),
}

/// The open panel and its purpose.
pub(crate) struct Picker {
    panel: Panel<Choice>,
    purpose: Purpose,
    /// Whether the panel previews a theme other than the configured theme.
    previews: bool,
}

impl Picker {
    /// Creates a list, with the item of this number marked.
    pub(crate) fn new(hint: &str, items: Vec<Item<Choice>>, marked: usize) -> Self {
        Self { panel: Panel::new(hint, items, marked), purpose: Purpose::List, previews: false }
    }

    /// Creates a panel in which the user types the argument of an action on a tab. The input initially contains `text`,
    /// which is selected.
    pub(crate) fn argument(entry: &'static Entry, hint: &str, text: &str, tab: TabId) -> Self {
        let mut picker = Self::new(hint, Vec::new(), 0);
        picker.panel.prefill(&text.replace('\\', r"\\"));
        picker.purpose = Purpose::Argument(entry, Some(tab));
        picker
    }

    /// Creates a panel with the full text of an agent's question, and the answers. If there are none, the user types
    /// an answer.
    pub(crate) fn answer(hint: &str, text: String, items: Vec<Item<Choice>>, number: u64) -> Self {
        let panel = Panel::new(hint, items, 0).with_text(text);
        Self { panel, purpose: Purpose::Answer(number), previews: false }
    }

    /// Creates the list of emoji.
    pub(crate) fn emoji() -> Self {
        let hint = "Type a name, a keyword or a code point such as U+263A";
        Self { purpose: Purpose::Emoji(String::new()), ..Self::new(hint, emoji::items(), 0) }
    }

    pub(crate) fn panel(&self) -> &Panel<Choice> {
        &self.panel
    }

    /// Whether the panel previews a theme other than the configured theme.
    pub(crate) fn previews(&self) -> bool {
        self.previews
    }

    /// Wraps the text in the panel. Must be called before the panel is drawn.
    pub(crate) fn wrap(&mut self, geometry: &Geometry, renderer: &mut Renderer) {
        self.panel.wrap(geometry, renderer);
    }

    fn finish(&mut self, outcome: PanelOutcome, cx: &mut Cx<'_>) {
        match outcome {
            PanelOutcome::Stay | PanelOutcome::Edited => {}
            PanelOutcome::Moved => self.preview(cx),
            PanelOutcome::Closed => {
                cx.close();
                if self.previews {
                    cx.wish(Wish::EndThemePreview);
                }
            }
            PanelOutcome::Chosen => self.choose(cx),
        }
    }

    /// Previews the marked theme. In the emoji picker, looks up a character whose code point is the input.
    fn preview(&mut self, cx: &mut Cx<'_>) {
        if let Purpose::Emoji(code) = &mut self.purpose
            && code.as_str() != self.panel.query()
        {
            self.panel.query().clone_into(code);
            self.panel.offer(emoji::by_code(code));
        }
        let Some(Choice::Theme(name)) = self.panel.choice() else { return };
        if let Ok(theme) = theme::find(name, cx.prefs.settings.home()) {
            self.previews = true;
            cx.wish(Wish::PreviewTheme(Arc::new(theme.palette)));
        }
    }

    fn choose(&mut self, cx: &mut Cx<'_>) {
        match &self.purpose {
            Purpose::Argument(entry, tab) => {
                match entry.action(Some(self.panel.query())) {
                    Ok(action) => {
                        cx.close();
                        cx.wish(Wish::Act(*tab, action));
                    }
                    Err(message) => self.panel.complain(message),
                }
                return;
            }
            Purpose::Setting(setting) => {
                match write_setting(setting, self.panel.query(), cx) {
                    Ok(()) => cx.close(),
                    Err(why) => self.panel.complain(why),
                }
                return;
            }
            Purpose::List | Purpose::Emoji(_) | Purpose::Answer(_) => {}
        }
        let Some(choice) = self.panel.choice().cloned() else {
            // If there is no list of answers, the input is the answer.
            if let (Purpose::Answer(number), true) = (&self.purpose, self.panel.is_without_items())
            {
                cx.close();
                cx.wish(Wish::AnswerAgent(*number, Some(self.panel.query().to_owned())));
            }
            return;
        };
        let id = palette::id(&choice);
        if !id.is_empty() {
            cx.wish(Wish::RecordEntry(id));
        }
        self.carry_out(choice, cx);
    }

    /// Changes the panel as an item requires, or closes it and requests what the item does.
    fn carry_out(&mut self, choice: Choice, cx: &mut Cx<'_>) {
        match choice {
            Choice::Command(entry) => match entry.plain() {
                Some(action) => {
                    cx.close();
                    cx.wish(Wish::Act(None, action));
                }
                None => {
                    let title = format!("{}: {}", entry.title, entry.argument());
                    self.panel = Panel::new(title, Vec::new(), 0);
                    self.purpose = Purpose::Argument(entry, None);
                }
            },
            Choice::Own(_, actions) => {
                cx.close();
                actions.into_iter().for_each(|action| cx.wish(Wish::Act(None, action)));
            }
            Choice::Setting(setting) => self.change_setting(setting, cx),
            Choice::Value(setting, value) => set(&setting, &value, cx),
            Choice::OwnWords => {
                let asked = self.panel.text().unwrap_or_default().to_owned();
                self.panel = Panel::new("Your answer", Vec::new(), 0).with_text(asked);
            }
            Choice::Answer(answer) => self.give_answer(Some(answer), cx),
            Choice::NoAnswer => self.give_answer(None, cx),
            Choice::Page(topic) => request(Wish::ShowManual(topic), cx),
            Choice::Act(action) => request(Wish::Act(None, action), cx),
            Choice::Layout(name) => request(Wish::Act(None, Action::OpenLayout(Some(name))), cx),
            Choice::Theme(name) => request(Wish::SetTheme(name), cx),
            Choice::Tab(tab) => {
                cx.close();
                cx.report(cx.mux.activate_tab(tab));
            }
            Choice::Text(text) => request(Wish::TypeCharacter(text), cx),
            Choice::Profile(name) => request(Wish::Act(None, Action::NewTab(Some(name))), cx),
            Choice::Shell(program) => request(Wish::OpenShell(program), cx),
        }
    }

    fn give_answer(&mut self, answer: Option<String>, cx: &mut Cx<'_>) {
        cx.close();
        if let Purpose::Answer(number) = self.purpose {
            cx.wish(Wish::AnswerAgent(number, answer));
        }
    }

    /// Changes a setting from the palette: toggles a switch, or asks for the new value.
    fn change_setting(&mut self, setting: Listed, cx: &mut Cx<'_>) {
        let hint = format!("{}: {}", setting.id(), setting.doc);
        match &setting.kind {
            SettingKind::Switch(on) => set(&setting, &(!on).to_string(), cx),
            SettingKind::Choice(options) => {
                let current = setting.value.trim_matches('"');
                let marked = options.iter().position(|option| option == current).unwrap_or(0);
                let item = |option: &String| {
                    let note = if option == current { "now" } else { "" };
                    Item::new(option, Choice::Value(setting.clone(), option.clone())).noted(note)
                };
                *self = Self::new(&hint, options.iter().map(item).collect(), marked);
            }
            SettingKind::Value => {
                *self = Self::new(&hint, Vec::new(), 0);
                self.panel.prefill(setting.value.trim_matches('"'));
                self.purpose = Purpose::Setting(setting);
            }
        }
    }
}

/// Closes the panel, and requests what an item does.
fn request(wish: Wish, cx: &mut Cx<'_>) {
    cx.close();
    cx.wish(wish);
}

/// Closes the panel, and writes a setting. Shows an error in a message.
fn set(setting: &Listed, value: &str, cx: &mut Cx<'_>) {
    cx.close();
    if let Err(why) = write_setting(setting, value, cx) {
        cx.wish(Wish::Complain(SETTING, why));
    }
}

/// Writes a setting to the configuration file, and shows the new value in a message. The file watchers then apply the
/// setting.
///
/// # Errors
/// Returns a message for the user if the value is not valid.
fn write_setting(setting: &Listed, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
    // Input that looks like a number or a switch may be meant as text, if the setting is a text.
    let value = match setting.value.starts_with('"') {
        true => text.into(),
        false => Listed::read(text),
    };
    let shown = value.to_string();
    let home = cx.prefs.settings.home();
    edit::set(home, &setting.path(), value).map_err(|error| format!("{error:#}"))?;
    cx.wish(Wish::Notify(SETTING, format!("{} = {}", setting.id(), shown.trim())));
    Ok(())
}

impl Overlay for Picker {
    fn has_mouse(&self) -> bool {
        true
    }

    fn text_target(&self) -> Option<TextTarget> {
        Some(TextTarget::Panel)
    }

    fn key(&mut self, press: &Press<'_>, cx: &mut Cx<'_>) -> Handled {
        // A held Enter may belong to what was open before this panel.
        let is_held_enter =
            press.is_repeat && matches!(press.pressed.key, Key::Enter | Key::KeypadEnter);
        if !is_held_enter && !pasting::requests_paste(press, cx) {
            let outcome = self.panel.key(press.command_key(), press.modifiers, press.text);
            self.finish(outcome, cx);
        }
        Handled::Yes
    }

    fn text(&mut self, text: &str, cx: &mut Cx<'_>) -> Handled {
        let outcome = self.panel.insert(text);
        self.finish(outcome, cx);
        Handled::Yes
    }

    /// A click outside the panel closes it.
    fn press(&mut self, cx: &mut Cx<'_>) -> Handled {
        let (x, y) = cx.pointer.position.unwrap_or((-1.0, -1.0));
        if let Some(geometry) = cx.geometry {
            let outcome = self.panel.click(&geometry, x, y).unwrap_or(PanelOutcome::Closed);
            self.finish(outcome, cx);
        }
        Handled::Yes
    }

    fn point(&mut self, x: f64, y: f64, cx: &mut Cx<'_>) -> (Handled, Redraw) {
        let moves = cx.geometry.is_some_and(|geometry| self.panel.point(&geometry, x, y));
        (Handled::No, Redraw::if_changed(moves))
    }

    fn wheel(&mut self, up: bool, cx: &mut Cx<'_>) {
        let outcome = self.panel.wheel(up);
        self.finish(outcome, cx);
    }

    fn draw(&self, canvas: &mut Canvas<'_, '_>) {
        let (preedit, look) =
            (canvas.preedit_of(TextTarget::Panel), (canvas.geometry, canvas.colors));
        let caret = self.panel.draw(preedit, look, canvas.renderer, canvas.scene);
        canvas.caret = Some(caret);
    }
}
