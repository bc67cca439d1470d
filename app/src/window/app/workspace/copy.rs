//! Copies a selection, as plain text or with its colors and styles.

use unterm_mux::Pane;

use crate::window::{
    app::App,
    effect::Effect,
    input::{buffer::Buffer, clipboard::Request},
    workspace::copy::{Form, ansi, html, lines, plain},
};

impl App {
    /// Copies the focused pane's selection in a format with colors. Returns false if nothing is selected.
    pub(crate) fn copy_as(&mut self, form: Form) -> bool {
        let Some(pane) = self.focused_pane() else { return false };
        let view = self.workspace.views.get(&pane.id());
        let Some(range) = view.and_then(|view| view.selection?.range) else { return false };
        let (lines, snapshot) = lines(&pane, range, self.prefs.config.mouse.trim_copied);
        match form {
            Form::Html => {
                let html = html(&lines, &snapshot.palette);
                self.effect(Effect::Clipboard(Request::StoreHtml(html, plain(&lines))));
            }
            Form::Ansi => self.store(Buffer::Clipboard, ansi(&lines)),
        }
        self.workspace.end_selection(pane.id());
        true
    }

    /// The selected text of a pane.
    pub(crate) fn selected_text(&self, pane: &Pane) -> Option<String> {
        let range = self.workspace.views.get(&pane.id())?.selection?.range?;
        let text = match self.prefs.config.mouse.trim_copied {
            true => pane.term().text(range),
            false => plain(&lines(pane, range, false).0),
        };
        Some(text).filter(|text| !text.is_empty())
    }
}
