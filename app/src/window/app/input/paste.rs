//! Pastes text from the clipboards into programs, in order with typed input. Asks the user first if the text may do
//! harm. A program that handles pastes itself (mode 5522) receives the list of the clipboard's types instead.

use unterm_mux::{
    PaneId,
    input::{self, PasteRisk},
    random,
};
use unterm_term::{ClipboardTarget, Modes};

use crate::config::ConfirmPaste;
use crate::window::{
    app::App,
    effect::Effect,
    inbox::PasteEvent,
    input::{buffer::Buffer, clipboard::Request},
    overlays::{copy_mode, paste_question::question, receiver::Receiver},
    redraw::Redraw,
};

impl App {
    /// Requests text to paste into a pane. The pane's input is held back until the text arrives, so that an Enter that
    /// was pressed later can't arrive before the text.
    pub(crate) fn paste(&mut self, buffer: Buffer, pane: PaneId) {
        self.paste_into(buffer, vec![pane]);
    }

    /// Pastes into the focused pane and into every pane that receives its input.
    pub(crate) fn paste_to_all(&mut self, buffer: Buffer, focused: PaneId) {
        let listeners = self
            .workspace
            .broadcast
            .listeners(focused, &self.mux)
            .into_iter()
            .map(|pane| pane.id());
        self.paste_into(buffer, listeners.chain([focused]).collect());
    }

    /// Requests text to paste into several panes. For panes whose programs handle pastes themselves, requests the list
    /// of the clipboard's types.
    pub(crate) fn paste_into(&mut self, buffer: Buffer, panes: Vec<PaneId>) {
        let handles_pastes = |pane: &PaneId| {
            let pane = self.mux.pane(*pane);
            pane.is_some_and(|pane| pane.term().modes().contains(Modes::PASTE_EVENTS))
        };
        let (events, texts): (Vec<_>, Vec<_>) = panes.into_iter().partition(handles_pastes);
        self.request_paste(texts, |panes| Request::Paste(buffer, panes));
        self.request_paste(events, |panes| Request::PasteTypes(buffer, panes));
    }

    fn request_paste(&mut self, panes: Vec<PaneId>, request: impl FnOnce(Vec<PaneId>) -> Request) {
        if panes.is_empty() {
            return;
        }
        for pane in &panes {
            self.workspace.views.entry(*pane).or_default().pastes.due += 1;
        }
        self.effect(Effect::Clipboard(request(panes)));
    }

    /// Handles the requested text; `None` if there is no text. If the panel or the search is open, it receives the
    /// text instead of the panes.
    pub(crate) fn pasted(&mut self, panes: &[PaneId], text: Option<&str>) {
        let receivers = self.paste_receivers(panes);
        if receivers.is_empty() {
            return;
        }
        let text = match text {
            Some(text) if self.overlay_text(text) => None,
            text => text,
        };
        self.paste_to(receivers, text.unwrap_or_default());
    }

    /// Reports a paste to panes whose programs handle pastes themselves: the clipboard's types, and a password for one
    /// read of their data. In each pane, the input that was held back follows.
    pub(crate) fn paste_types_found(&mut self, event: PasteEvent) {
        let target = ClipboardTarget::from(event.buffer);
        let mut lost = Vec::new();
        for Receiver { pane: id, behind } in self.paste_receivers(&event.panes) {
            let Some(pane) = self.mux.pane(id) else { continue };
            // The program may have left the mode meanwhile. It would take the report for keys.
            let is_wanted = pane.term().modes().contains(Modes::PASTE_EVENTS);
            if let Some(types) = event.types.as_ref().filter(|_| is_wanted) {
                pane.touch();
                self.before_input(id);
                let report = match random::uuid() {
                    Ok(password) => {
                        let report = pane.report_paste(target, types, &password);
                        let access = self.input.clipboard_access.entry(id).or_default();
                        access.allow_once(password, target, self.now);
                        report.map_err(|error| error.to_string())
                    }
                    Err(error) => Err(format!("no random password: {error}")),
                };
                lost.extend(report.err().map(|error| format!("{}: {error}", pane.title())));
            }
            if !behind.is_empty()
                && let Err(error) = pane.write(&behind)
            {
                lost.push(format!("{}: {error}", pane.title()));
            }
        }
        if !lost.is_empty() {
            self.complain("paste", format!("Paste failed.\n{}", lost.join("\n")));
        }
    }

    /// Counts a paste as received. Returns the panes with the input that follows it.
    fn paste_receivers(&mut self, panes: &[PaneId]) -> Vec<Receiver> {
        let mut receivers = Vec::new();
        for pane in panes {
            let Some(view) = self.workspace.views.get_mut(pane) else { continue };
            view.pastes.due = view.pastes.due.saturating_sub(1);
            let behind = match view.pastes.due {
                0 => std::mem::take(&mut view.pastes.typed_behind),
                _ => Vec::new(),
            };
            receivers.push(Receiver { pane: *pane, behind });
        }
        receivers
    }

    /// Pastes text into a pane. Asks the user first if the text may do harm.
    pub(crate) fn paste_text(&mut self, pane: PaneId, text: &str) {
        self.paste_to(vec![Receiver { pane, behind: Vec::new() }], text);
    }

    /// Pastes text into panes. In each pane, the input that was held back follows. If the text may do harm in any of
    /// these panes, asks a single question for all of them.
    fn paste_to(&mut self, mut receivers: Vec<Receiver>, text: &str) {
        receivers.retain(|receiver| self.mux.pane(receiver.pane).is_some());
        let risk = PasteRisk::of(text);
        let wants_asking = |receiver: &Receiver| {
            let pane = self.mux.pane(receiver.pane);
            pane.is_some_and(|pane| risk.wants_asking(pane.term().modes()))
        };
        let asks = match self.prefs.config.paste.confirm {
            ConfirmPaste::Never => false,
            ConfirmPaste::Unsafe => receivers.iter().any(wants_asking),
            ConfirmPaste::Always => !risk.is_none(),
        };
        if asks && !receivers.is_empty() {
            return self.ask(question(receivers, text, risk));
        }
        self.paste_now(&receivers, text);
    }

    /// Pastes text after the user agreed. If `joined` is set, the lines are joined into one.
    pub(crate) fn paste_asked(&mut self, receivers: &[Receiver], text: &str, joined: bool) {
        match joined {
            true => self.paste_now(receivers, &input::join_lines(text)),
            false => self.paste_now(receivers, text),
        }
    }

    /// Sends the text to each pane, as a bracketed paste if the pane's program enabled that. Shows a message if
    /// writing to a pane failed.
    fn paste_now(&mut self, receivers: &[Receiver], text: &str) {
        let mut lost = Vec::new();
        for Receiver { pane: id, behind } in receivers {
            let Some(pane) = self.mux.pane(*id) else { continue };
            let mut bytes = Vec::new();
            if !text.is_empty() {
                pane.touch();
                self.before_input(*id);
                bytes = input::encode_paste(text, pane.term().modes());
            }
            bytes.extend_from_slice(behind);
            if !bytes.is_empty()
                && let Err(error) = pane.write(&bytes)
            {
                lost.push(format!("{}: {error}", pane.title()));
            }
        }
        if !lost.is_empty() {
            self.complain("paste", format!("Paste failed.\n{}", lost.join("\n")));
        }
    }

    /// Prepares a pane's view for input: shows the live screen, and clears the selection, so that the next Ctrl+C
    /// interrupts the program instead of copying. Returns the frame that is due.
    pub(crate) fn before_input(&mut self, pane: PaneId) -> Redraw {
        let ended = copy_mode::end(pane, &mut self.workspace.views, &mut self.overlays.search);
        let Some(view) = self.workspace.views.get_mut(&pane) else { return Redraw::No };
        let changed = view.scroll_to_live() | view.selection.take().is_some();
        Redraw::if_changed(changed || ended)
    }
}
