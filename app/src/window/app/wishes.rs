//! Carries out the requests of the window's parts.

use unterm_mux::{OnExit, PaneId, Spawn};

use crate::window::{
    app::App,
    effect::Effect,
    input::{buffer::Buffer, send::send},
    overlays::{
        agent_answers::{agent_answered, leave_unanswered},
        answer::Answer,
        clipboard_requests,
        confirm::Confirm,
        tour,
    },
    system::{
        editing::edit_file,
        notices::{short, with_line},
        open_link::{open_link, open_target},
        pager::show_manual,
    },
    ui::geometry::SidebarSize,
    wish::Wish,
    workspace::{blocks::actions::act_on, panes::spawn_beside},
};

impl App {
    /// Shows a message that expires.
    pub(crate) fn notify(&mut self, about: &'static str, text: String) {
        self.overlays.toasts.notify(about, text, self.now);
    }

    /// Shows a message about a pane. A click on the message shows the pane.
    pub(crate) fn notify_of(&mut self, pane: PaneId, about: &'static str, text: String) {
        self.overlays.toasts.notify_of(pane, about, text, self.now);
    }

    /// Shows a message that is not an error, and that stays.
    pub(crate) fn keep_saying(&mut self, about: &'static str, text: String) {
        self.overlays.toasts.keep(about, text);
    }

    /// Shows an error.
    pub(crate) fn complain(&mut self, about: &'static str, text: String) {
        self.overlays.toasts.complain(about, text);
    }

    /// Shows why an action is not possible now.
    pub(crate) fn refuse(&mut self, about: &'static str, why: String) {
        self.overlays.toasts.refuse(about, why, self.now);
    }

    /// The number and the title of the tab that contains a pane. `None` if there is only one tab.
    pub(crate) fn tab_named(&self, pane: PaneId) -> Option<String> {
        let layout = self.mux.layout();
        let index = layout.tab_of(pane).filter(|_| layout.tabs.len() > 1)?;
        let title = self.chrome.tabs.title(layout.tabs[index].id);
        let title = title.map_or(String::new(), |title| format!(": {}", short(title)));
        Some(format!("Tab {}{title}", index + 1))
    }

    /// Focuses a pane, and requests the keyboard focus for the window.
    pub(crate) fn bring_to_front(&mut self, pane: PaneId) {
        if self.mux.layout().tab_of(pane).is_some() {
            self.report(self.mux.focus(pane));
        }
        self.effect(Effect::Raise);
    }

    /// Carries out the effect of the button that the user pressed.
    pub(crate) fn answered(&mut self, answer: Answer) {
        match answer {
            Answer::Nothing => {}
            Answer::Close(what) => self.close_now(what),
            Answer::Copy(text) => self.store(Buffer::Clipboard, text),
            Answer::ClipboardRead { pane, read, access } => {
                self.with_parts(|parts, cx| {
                    let allowed = &mut *parts.clipboard_access;
                    clipboard_requests::read_answered(pane, *read, access, allowed, cx);
                });
            }
            Answer::Transfer { pane, handle, folder } => {
                self.transfer_answered(pane, handle, folder);
            }
            Answer::Tour(step) => {
                self.with_parts(|parts, cx| tour::show(step, parts.overlays, cx));
            }
            Answer::Paste { receivers, text, joined } => {
                self.paste_asked(&receivers, &text, joined);
            }
        }
    }

    /// Queues a question for the user.
    pub(crate) fn ask(&mut self, confirm: Confirm) {
        self.with_parts(|parts, cx| parts.overlays.ask(confirm, cx));
    }

    /// Carries out the request of a part.
    pub(crate) fn grant(&mut self, wish: Wish) {
        match wish {
            Wish::Act(tab, action) => self.act_by_choice(tab, action),
            Wish::ActByKey(action, modifiers) => drop(self.act_by_key(action, modifiers)),
            Wish::Announce(mut note) => {
                note.body = with_line(note.body, self.tab_named(note.key.pane()));
                self.effect(Effect::Notify(*note));
            }
            Wish::Answer(answer) => self.answered(answer),
            Wish::AnswerAgent(number, Some(answer)) => {
                self.with_parts(|_, cx| agent_answered(number, &answer, cx));
            }
            Wish::AnswerAgent(number, None) => {
                self.with_parts(|_, cx| leave_unanswered(number, cx));
            }
            Wish::Command(pane, command, part) => {
                if let Some(pane) = self.mux.pane(pane) {
                    self.with_parts(|_, cx| act_on(&pane, command, part, cx));
                }
            }
            Wish::Complain(about, text) => self.complain(about, text),
            Wish::Close(what) => {
                self.with_parts(|parts, cx| parts.overlays.close(what, cx));
            }
            Wish::CloseNow(what) => self.close_now(what),
            Wish::Edit(pane, file) => {
                self.with_parts(|_, cx| edit_file(pane, &file, cx));
            }
            Wish::Enter(pane, bytes) => {
                let Some(pane) = self.mux.pane(pane) else { return };
                pane.touch();
                self.before_input(pane.id());
                send(&pane, &bytes);
            }
            Wish::EndCopySearch => self.overlays.search.close_of_copy_mode(),
            Wish::EndThemePreview => self.apply_theme(),
            Wish::Inbox(request) => {
                self.with_parts(|parts, cx| parts.overlays.inbox_asks(request, cx));
            }
            Wish::KeepSidebarSize => self.keep_tab_bar(&["sidebar_width", "sidebar_folded"]),
            Wish::NextMatch { pane, at, forward, count } => {
                self.with_parts(|parts, cx| {
                    parts.overlays.search.next_match(pane, at, forward, count, cx);
                });
            }
            Wish::Notify(about, text) => self.notify(about, text),
            Wish::OpenLink(link) => self.with_parts(|_, cx| open_link(&link, cx)),
            Wish::OpenMainMenu => self.open_main_menu(),
            Wish::OpenShell(program) => {
                let spawn = Spawn { program: Some(program), ..spawn_beside(&self.mux) };
                self.report(self.mux.open_tab(spawn, None, OnExit::Close));
            }
            Wish::OpenTab => self.open_tab(None),
            Wish::OpenTabMenu(tab, at) => self.open_tab_menu(tab, at),
            Wish::OpenTarget(uri) => self.with_parts(|_, cx| open_target(&uri, cx)),
            Wish::Paste(pane, text) => self.paste_text(pane, &text),
            Wish::PreviewTheme(palette) => {
                // Ignore the error: errors in the configuration were reported when it was applied.
                let _ = self.apply_palette(palette);
            }
            Wish::RecordEntry(id) => self.overlays.record_entry(id),
            Wish::Refuse(about, why) => self.refuse(about, why),
            Wish::Report(error) => self.report::<()>(Err(error)),
            Wish::SearchFrom { pane, origin, forward } => {
                self.overlays.search.open_from_copy_mode(pane, origin, forward);
            }
            Wish::SetTheme(name) => self.set_theme(&name),
            Wish::ShowAnswers => {
                self.with_parts(|parts, cx| parts.overlays.answer_agent(None, cx));
            }
            Wish::ShowNotification(key, text) => {
                self.overlays.toasts.show_notification(key, text, self.now);
            }
            Wish::ShowManual(topic) => self.with_parts(|_, cx| show_manual(topic, cx)),
            Wish::ShowPane(pane) => self.bring_to_front(pane),
            Wish::SizeSidebar(SidebarSize { columns, is_folded }) => {
                self.change_tab_bar(|bar| {
                    (bar.sidebar_width, bar.sidebar_folded) = (columns, is_folded);
                });
            }
            Wish::Type(pane, bytes) => {
                if let Some(pane) = self.mux.pane(pane) {
                    self.type_bytes(&pane, &bytes);
                }
            }
            Wish::TypeCharacter(text) => self.type_character(&text),
        }
    }
}
