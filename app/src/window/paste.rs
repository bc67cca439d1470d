//! Pasting: from the clipboards to the program, in order with typed input, after a question if the text could do harm.
//!
//! Owns a paste from the request to the bytes. `clipboard.rs` reads the clipboards, and the mux assesses the risk of
//! the text.

use std::sync::Arc;

use unterm_mux::{
    PaneId,
    input::{self, PasteRisk},
};

use super::{
    App,
    clipboard::Buffer,
    confirm::{Answer, Confirm, Preview},
};
use crate::config::ConfirmPaste;

/// Lines of the text in the question's preview, and characters per line.
const PREVIEW: usize = 8;
const PREVIEW_LINE: usize = 160;

/// A pane that receives a paste.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    pane: PaneId,
    /// Input typed after the paste was requested, to be sent behind it.
    behind: Vec<u8>,
}

impl App {
    /// Requests text to paste into a pane, and holds the pane's input until it arrives: no Enter may overtake it.
    pub(super) fn paste(&mut self, buffer: Buffer, pane: PaneId) {
        self.paste_into(buffer, vec![pane]);
    }

    /// Requests one text to paste into several panes.
    pub(super) fn paste_into(&mut self, buffer: Buffer, panes: Vec<PaneId>) {
        if !self.clipboard.paste(buffer, panes.clone()) {
            let why = "Nothing was pasted.\nThe clipboard does not answer.";
            return self.refuse("paste", why.to_owned());
        }
        for pane in panes {
            self.views.entry(pane).or_default().pastes_due += 1;
        }
    }

    /// Requests text to paste into the panel or the search.
    pub(super) fn paste_into_chrome(&mut self, buffer: Buffer) {
        if let Some(pane) = self.focused_pane() {
            self.paste(buffer, pane.id());
        }
    }

    /// Handles the requested text, or its absence. An open panel or search takes the text instead of the panes.
    pub(super) fn pasted(&mut self, panes: &[PaneId], text: Option<&str>) {
        let mut receivers = Vec::new();
        for pane in panes {
            let Some(view) = self.views.get_mut(pane) else { continue };
            view.pastes_due = view.pastes_due.saturating_sub(1);
            let behind = match view.pastes_due {
                0 => std::mem::take(&mut view.typed_ahead),
                _ => Vec::new(),
            };
            receivers.push(Receiver { pane: *pane, behind });
        }
        if receivers.is_empty() {
            return;
        }
        let text = match text {
            Some(text) if self.overlay_text(text) => None,
            text => text,
        };
        self.paste_to(receivers, text.unwrap_or_default());
    }

    /// Pastes text into a pane; asks first if the text could do harm.
    pub(super) fn paste_text(&mut self, pane: PaneId, text: &str) {
        self.paste_to(vec![Receiver { pane, behind: Vec::new() }], text);
    }

    /// Pastes text into panes, followed by the input held for each. If the text could do harm in any of them, asks once
    /// for all.
    fn paste_to(&mut self, mut receivers: Vec<Receiver>, text: &str) {
        receivers.retain(|receiver| self.mux.pane(receiver.pane).is_some());
        let risk = PasteRisk::of(text);
        let wants_asking = |receiver: &Receiver| {
            let pane = self.mux.pane(receiver.pane);
            pane.is_some_and(|pane| risk.wants_asking(pane.term().modes()))
        };
        let asks = match self.config.paste.confirm {
            ConfirmPaste::Never => false,
            ConfirmPaste::Unsafe => receivers.iter().any(wants_asking),
            ConfirmPaste::Always => !risk.is_none(),
        };
        if asks && !receivers.is_empty() {
            return self.ask(question(receivers, text, risk));
        }
        self.paste_now(&receivers, text);
    }

    /// Pastes after the user agreed, as it is or joined to one line.
    pub(super) fn paste_asked(&mut self, receivers: &[Receiver], text: &str, joined: bool) {
        match joined {
            true => self.paste_now(receivers, &input::join_lines(text)),
            false => self.paste_now(receivers, text),
        }
    }

    /// Sends the text to each pane, bracketed if its program enabled that, and reports panes whose write failed.
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

    /// Prepares a pane's view for input: shows the live screen and clears the selection, so that the next Ctrl+C
    /// interrupts.
    pub(super) fn before_input(&mut self, pane: PaneId) {
        self.end_copy_mode(pane);
        let Some(view) = self.views.get_mut(&pane) else { return };
        if view.scroll_to_live() | view.selection.take().is_some() {
            self.pacing.ask();
        }
    }
}

/// The question before a risky paste.
fn question(receivers: Vec<Receiver>, text: &str, risk: PasteRisk) -> Confirm {
    let ends_line = text.ends_with(['\r', '\n']);
    let title = title(risk.line_ends + usize::from(!ends_line), receivers.len());
    let mut about = Vec::new();
    if risk.ends_bracket {
        about.push(
            "The text contains the sequence that ends a paste, so that what follows would be typed. The sequence was removed.",
        );
    } else if risk.controls > 0 {
        about.push("The text contains control characters, which are left out.");
    }
    match risk.line_ends {
        0 => {}
        1 if ends_line => {
            about.push("The text ends with a line break, so the program may run it at once.")
        }
        _ => about.push("The program may run each line as a command."),
    }
    let (whole, receivers): (Arc<str>, Arc<[Receiver]>) = (text.into(), receivers.into());
    let answer = |joined| {
        let (text, receivers) = (Arc::clone(&whole), Arc::clone(&receivers));
        Answer::Paste { receivers, text, joined }
    };
    let confirm = Confirm::new(title, about.join(" "));
    let confirm = confirm.preview(preview(text)).button("Paste", 'p', answer(false));
    match risk.line_ends {
        0 => confirm.cancel(),
        _ => confirm.button("As one line", 'l', answer(true)).cancel(),
    }
}

/// The question's title.
fn title(lines: usize, panes: usize) -> String {
    let what = match lines {
        1 => "this line".to_owned(),
        lines => format!("{lines} lines"),
    };
    match panes {
        1 => format!("Paste {what}?"),
        panes => format!("Paste {what} into each of {panes} panes?"),
    }
}

/// The first lines of a text, with control characters in caret notation (`^[`).
fn preview(text: &str) -> Vec<Preview> {
    let text = text.trim_end_matches(['\r', '\n']);
    // A CR that does not end a line is shown as a control character.
    let mut lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let mut shown: Vec<Preview> = lines.by_ref().take(PREVIEW).map(preview_line).collect();
    match lines.count() {
        0 => {}
        // The last line gives way to the count of hidden lines.
        more => {
            let text = format!("… {} more lines", more + 1);
            shown[PREVIEW - 1] = Preview { text, odd: Vec::new() };
        }
    }
    shown
}

fn preview_line(line: &str) -> Preview {
    let mut shown = Preview::default();
    for (index, char) in line.chars().enumerate() {
        if index == PREVIEW_LINE {
            shown.text.push('…');
            break;
        }
        let start = shown.text.len();
        match char {
            '\t' => shown.text.push_str("    "),
            '\u{7f}' => shown.text.push_str("^?"),
            '\0'..='\x1f' => shown.text.extend(['^', char::from(char as u8 + b'@')]),
            char if char.is_control() => {
                shown.text.push_str(&format!("<{:02x}>", char as u32));
            }
            char => shown.text.push(char),
        }
        if char.is_control() && char != '\t' {
            match shown.odd.last_mut() {
                Some(last) if last.end == start => last.end = shown.text.len(),
                _ => shown.odd.push(start..shown.text.len()),
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_says_into_how_many_panes() {
        assert_eq!(title(1, 1), "Paste this line?");
        assert_eq!(title(3, 1), "Paste 3 lines?");
        assert_eq!(title(1, 12), "Paste this line into each of 12 panes?");
        assert_eq!(title(3, 12), "Paste 3 lines into each of 12 panes?");
    }

    #[test]
    fn a_preview_shows_what_does_not_show_by_itself() {
        let lines = preview("ls\tx\r\n\x1b[201~rm\x03\u{9b}\n");
        assert_eq!(lines[0], Preview { text: "ls    x".to_owned(), odd: Vec::new() });
        assert_eq!(
            lines[1],
            Preview { text: "^[[201~rm^C<9b>".to_owned(), odd: vec![0..2, 9..15] }
        );
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn a_long_text_is_cut_and_says_by_how_much() {
        let lines = preview(&"line\n".repeat(100));
        assert_eq!(lines.len(), PREVIEW);
        assert_eq!(lines[PREVIEW - 1].text, "… 93 more lines");
        let lines = preview(&"x".repeat(1 << 20));
        assert_eq!(lines[0].text.chars().count(), PREVIEW_LINE + 1);
    }
}
